"""From a file of any known ending to one Arrow table, through the format's own reader.

Nothing is judged here beyond "can this file be read": which columns are features, and whether
their values can be used, is decided in :mod:`kernova.load.tables`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.load.file_text import open_file
from kernova.load.raw import RawTable, empty_file, reading
from kernova.load.separated_text import read_separated


def read_raw(source: str, id_column: str | None = None) -> RawTable:
    r"""Read the file named ``source``; a column named ``id_column`` is text, as written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.load.formats import read_raw
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("id,length\n007,1.5\n008,2.5\n")
    >>> read_raw(str(path), "id").columns.to_pydict()
    {'id': ['007', '008'], 'length': [1.5, 2.5]}
    """
    first_byte = _first_byte(source)
    read = _reader_for(source)
    if not first_byte:
        raise empty_file(source)
    return read(source, id_column)


def _first_byte(source: str) -> bytes:
    with open_file(source or ".") as stream:
        return stream.read(1)


def _reader_for(source: str) -> Callable[[str, str | None], RawTable]:
    for ending, read in _READERS.items():
        if source.lower().endswith(ending):
            return read
    ending = Path(source).suffix
    got = f"ends in {ending}" if ending else "has no ending"
    raise InputError(
        f"{source} {got}, which is no known table format; save the table as one of "
        f"{', '.join(_READERS)}."
    )


# --- separated text --------------------------------------------------------------------------


def _read_commas(source: str, id_column: str | None) -> RawTable:
    return read_separated(source, id_column, ",;")


def _read_tabs(source: str, id_column: str | None) -> RawTable:
    return read_separated(source, id_column, "\t")


# --- Parquet and Arrow -----------------------------------------------------------------------


def _read_parquet(source: str, _id_column: str | None) -> RawTable:
    with reading(source, "Parquet"), pyarrow.parquet.ParquetFile(source) as stored:
        return _checked(stored.read())


def _read_arrow(source: str, _id_column: str | None) -> RawTable:
    with reading(source, "Arrow"), pa.OSFile(source) as stream:
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        reader = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
        return _checked(reader.read_all())


def _checked(table: pa.Table) -> RawTable:
    """Set a saved pandas index aside: whoever saved it did not count it as a column."""
    # Damaged offsets would otherwise be followed into foreign memory, and damaged text kept.
    table.validate(full=True)
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    # A range that was not stored as a column is described by a dictionary.
    index = {name for name in stored if isinstance(name, str)}
    return RawTable(table, aside=frozenset(table.column_names) & index)


# --- NumPy -----------------------------------------------------------------------------------


def _read_npy(source: str, _id_column: str | None) -> RawTable:
    with reading(source, "NPY"), _refusing_pickles(source), Path(source).open("rb") as stream:
        array = np.load(stream, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("an archive, not an array")
    return RawTable(_table_of(array, None, source))


def _read_npz(source: str, _id_column: str | None) -> RawTable:
    with reading(source, "NPZ"), _refusing_pickles(source), Path(source).open("rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("an array, not an archive")
        arrays = {name: archive[name] for name in archive.files}
    features = _features_in(arrays, source)
    table = _table_of(features, arrays.get("feature_names"), source)
    beside = [name for name in ("ids", "y") if name in arrays]
    for name in beside:
        table = table.append_column(name, _beside(arrays[name], name, len(features), source))
    return RawTable(
        table,
        own_id="ids" if "ids" in beside else None,
        own_label="y" if "y" in beside else None,
        aside=frozenset(beside),
    )


@contextmanager
def _refusing_pickles(source: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if "Object arrays" not in str(error):
            raise
        raise InputError(
            f"{source} holds Python objects, which are not read because they can run code; "
            "save numbers or plain text."
        ) from error


def _features_in(arrays: dict[str, NDArray[Any]], source: str) -> NDArray[Any]:
    if "X" in arrays:
        return arrays["X"]
    candidates = [name for name in arrays if name not in ("y", "ids", "feature_names")]
    if len(candidates) == 1:
        return arrays[candidates[0]]
    found = f"the arrays {', '.join(candidates)}" if candidates else "no array of features"
    raise InputError(f"{source} holds {found}; save the table of features under the name X.")


def _table_of(array: NDArray[Any], names: NDArray[Any] | None, source: str) -> pa.Table:
    if array.ndim != 2:
        raise InputError(
            f"{source} holds an array of shape {array.shape}; a table needs two dimensions, "
            "rows and columns."
        )
    native = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}.get(array.dtype.kind)
    if native is None:
        raise InputError(f"{source} holds values of type {array.dtype}; save numbers.")
    if names is None:
        names = np.array([f"x{j}" for j in range(array.shape[1])])
    if names.shape != (array.shape[1],):
        raise InputError(
            f"{source} has {names.size} feature names for {array.shape[1]} columns; "
            "give one name per column."
        )
    names = _whole_letters(names, "feature names", source)
    columns: NDArray[Any] = np.asfortranarray(array.astype(native))
    return pa.Table.from_arrays(
        [pa.array(columns[:, j]) for j in range(columns.shape[1])], names=[str(n) for n in names]
    )


def _beside(array: NDArray[Any], name: str, n_rows: int, source: str) -> pa.Array:
    if array.shape != (n_rows,) or array.dtype.kind not in "biufUS":
        raise InputError(
            f"{source} has {name} of shape {array.shape} and type {array.dtype} for {n_rows} rows; "
            "save one number or text per row."
        )
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    return pa.array(_whole_letters(array, name, source).tolist())


def _whole_letters(array: NDArray[Any], name: str, source: str) -> NDArray[Any]:
    """Refuse halves of characters, which NumPy keeps and no text can hold."""
    try:
        "".join(map(str, array.tolist())).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{source} has {name} that are no text; save them as UTF-8.") from error
    return array


_READERS: dict[str, Callable[[str, str | None], RawTable]] = {
    ".csv": _read_commas,
    ".csv.gz": _read_commas,
    ".tsv": _read_tabs,
    ".tsv.gz": _read_tabs,
    ".txt": _read_tabs,
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".npy": _read_npy,
    ".npz": _read_npz,
}
