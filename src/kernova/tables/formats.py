"""Table formats: reading a file of any known ending into an Arrow table, and writing results.

Reading stops at "can this file be read": which columns are features, and whether their values can
be used, is decided in :mod:`kernova.tables.table`. CSV and TSV are read in
:mod:`kernova.tables.separated`, Parquet and Arrow in :mod:`kernova.tables.columnar`, NumPy's files
here. Tables in memory (pandas, Arrow, polars, SciPy's sparse matrices) take the same form.
"""

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, issparse

from kernova.budget import ArrayHeader, Budget, array_header, budget_of, zip_directory_bytes
from kernova.errors import InputError
from kernova.files import check_ending, replacing
from kernova.tables.columnar import read_arrow, read_parquet, table_bytes
from kernova.tables.separated import empty_file, read_separated, reading_as
from kernova.tables.spreadsheets import save_separated
from kernova.text import first_few, is_missing, listed
from kernova.textfiles import open_file

_SEPARATORS = {".csv": ",", ".tsv": "\t"}  # of files that are written
# A letter takes up to four bytes in each of the copies that are held at once.
_BYTES_PER_LETTER = 20
_BESIDE_FEATURES = ("y", "ids", "feature_names")  # in an NPZ archive
_SPARSE_PARTS = {"format", "shape", "data"}  # in an archive of a sparse matrix
_SPARSE_FORMATS: dict[str, Any] = {"csr": csr_matrix, "csc": csc_matrix, "coo": coo_matrix}
IN_MEMORY = "the table"  # the source of a table that is no file, for messages


class RawTable(NamedTuple):
    """Contents of a file before any check of its values.

    ``own_id`` and ``own_label`` are columns that the format itself marks as such; ``aside`` are
    columns that are not features by default, such as a saved row index; ``notes`` are sentences on
    what the reader had to assume.
    """

    columns: pa.Table
    own_id: str | None = None
    own_label: str | None = None
    aside: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def read_raw(
    source: str,
    id_column: str | None = None,
    texts: Collection[str] = (),
    *,
    codes: bool = False,
) -> RawTable:
    r"""Read the file named ``source``; a column named ``id_column`` is text, as written.

    So are the columns ``texts`` of a file of separated text, and with ``codes`` its columns of
    digits with zeros before them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.tables.formats import read_raw
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "two.csv").write_text("id,length\n007,1.5\n008,2.5\n")
    >>> read_raw(str(folder / "two.csv"), "id").columns.to_pydict()
    {'id': ['007', '008'], 'length': [1.5, 2.5]}
    """
    first_byte = _first_byte(source)
    read = _reader_for(source)
    if not first_byte:
        raise empty_file(source)
    if read is _read_text:
        return _read_text(source, id_column, texts, codes=codes)
    return read(source, id_column)


def raw_of(data: object) -> RawTable:
    """Return a table in memory: of pandas, Arrow or polars, an array, or a sparse matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.formats import raw_of
    >>> raw_of(pd.DataFrame({"length": [1.5, 2.5]})).columns.to_pydict()
    {'length': [1.5, 2.5]}
    """
    if issparse(data):
        if len(data.shape) != 2:  # type: ignore[attr-defined]
            raise _no_table(data.shape, IN_MEMORY)  # type: ignore[attr-defined]
        n_rows, n_columns = data.shape  # type: ignore[attr-defined]
        Budget(IN_MEMORY, _sparse_bytes(data)).check(table_bytes(n_rows, n_columns))
        data = data.toarray()  # type: ignore[attr-defined]
    if isinstance(data, pd.DataFrame):
        return RawTable(_arrow_of_frame(data))
    if isinstance(data, pa.Table):
        return RawTable(data)
    if isinstance(data, np.ndarray | list):
        return RawTable(_arrow_of_array(_array_of(data)))
    if hasattr(data, "__arrow_c_stream__") and not isinstance(data, pd.Series):
        return RawTable(pa.table(data))
    if hasattr(data, "to_arrow"):
        return RawTable(data.to_arrow())
    raise InputError(
        f"A table is a file, a data frame of pandas, Arrow or polars, or a matrix; got a "
        f"{type(data).__name__}."
    )


def _array_of(data: "NDArray[Any] | list[Any]") -> NDArray[Any]:
    """Return an array with two dimensions; masked numbers are missing."""
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.filled(np.ma.asarray(data, dtype=np.float64), np.nan)
    try:
        return np.asarray(data)
    except ValueError as error:
        raise InputError(
            f"{IN_MEMORY} has rows of different lengths; give each row as many values."
        ) from error


def _arrow_of_array(array: NDArray[Any]) -> pa.Table:
    if array.dtype.kind not in "OU" or array.ndim != 2:
        return _table_of(array, None, IN_MEMORY)
    names = [f"x{j}" for j in range(array.shape[1])]
    return _arrow_of_frame(pd.DataFrame(array, columns=names).infer_objects())


def _sparse_bytes(matrix: Any) -> int:
    return int(16 * matrix.nnz)


def _arrow_of_frame(frame: pd.DataFrame) -> pa.Table:
    """Return the columns of a data frame; those of several Python types become text."""
    columns = []
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        kind = column.dtype
        if isinstance(kind, pd.CategoricalDtype):
            kind = kind.categories.dtype
        if isinstance(kind, pd.SparseDtype):
            column = pd.Series(np.asarray(column), name=column.name)
        elif isinstance(kind, pd.PeriodDtype):
            column = column.astype(kind).dt.to_timestamp()
        elif isinstance(kind, pd.IntervalDtype):
            column = column.astype(object).map(_text_or_none)
        try:
            columns.append(pa.array(column, from_pandas=True))
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            columns.append(pa.array(column.astype(object).map(_text_or_none), pa.string()))
    return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])


def _text_or_none(value: object) -> str | None:
    return None if is_missing(value) else str(value)


def check_table_path(path: str | os.PathLike[str]) -> None:
    """Raise before any work if no table can be written with this ending."""
    check_ending(path, (*_SEPARATORS, *_WRITERS), "a table")


def save_table(rows: pd.DataFrame, path: str | os.PathLike[str], *, raw: bool = False) -> None:
    """Write a table in the format of its ending; the file is either whole or absent.

    In CSV and TSV files, texts that a spreadsheet would run as formulas are marked with an
    apostrophe (:mod:`kernova.tables.spreadsheets`), unless ``raw`` is true.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from kernova.tables.formats import save_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "verdicts.csv"
    >>> save_table(pd.DataFrame({"id": ["a"], "verdict": ["usual"]}), path)
    >>> print(path.read_text())
    id,verdict
    a,usual
    """
    check_table_path(path)
    ending = Path(path).suffix.lower()
    with replacing(path) as scratch:
        if ending in _SEPARATORS:
            save_separated(rows, scratch, _SEPARATORS[ending], raw=raw)
        else:
            _WRITERS[ending](rows, scratch)


# --- opening ------------------------------------------------------------------------------------


def _first_byte(source: str) -> bytes:
    with open_file(source or ".") as stream:
        return stream.read(1)


def _reader_for(source: str) -> Callable[..., RawTable]:
    for ending, read in _READERS.items():
        if source.lower().endswith(ending):
            return read
    ending = Path(source).suffix
    got = f"ends in {ending}" if ending else "has no extension"
    raise InputError(
        f"{source} {got}, which is not a known table format; save the table as one of "
        f"{', '.join(_READERS)}."
    )


def _read_text(
    source: str, id_column: str | None, texts: Collection[str] = (), *, codes: bool = False
) -> RawTable:
    separator = "," if source.lower().removesuffix(".gz").endswith(".csv") else "\t"
    found = read_separated(source, separator, id_column, texts, codes=codes)
    return RawTable(
        found.columns, aside=frozenset({""} if found.has_index else ()), notes=found.notes
    )


# --- Parquet and Arrow --------------------------------------------------------------------------


def _read_parquet(source: str, _id_column: str | None) -> RawTable:
    with reading_as(source, "Parquet"):
        return _without_index(read_parquet(source, budget_of(source)), source)


def _read_arrow(source: str, _id_column: str | None) -> RawTable:
    with reading_as(source, "Arrow"):
        return _without_index(read_arrow(source, budget_of(source)), source)


def _without_index(table: pa.Table, source: str) -> RawTable:
    """Set a saved pandas index aside: it was not a column there."""
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    # A range that was not stored as a column is described by a dictionary.
    index = [name for name in stored if name in table.column_names]
    note = f"The index of {source} is not used as features: {listed(index)}."
    return RawTable(table, aside=frozenset(index), notes=(note,) if index else ())


# --- NumPy --------------------------------------------------------------------------------------


def _read_npy(source: str, _id_column: str | None) -> RawTable:
    with reading_as(source, "NPY"), _rejecting_pickles(source), Path(source).open("rb") as stream:
        _check_array(array_header(stream), budget_of(source))
        stream.seek(0)
        array = np.load(stream, allow_pickle=False)
    return RawTable(_table_of(array, None, source))


def _read_npz(source: str, _id_column: str | None) -> RawTable:
    features, arrays = npz_arrays(source)
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


class NpzArrays(NamedTuple):
    """Arrays of an NPZ archive: the table, and those that belong to it."""

    features: NDArray[Any]
    beside: dict[str, NDArray[Any]]  # ``y``, ``ids`` and ``feature_names``, as far as there


def npz_arrays(source: str) -> NpzArrays:
    """Return the arrays of an NPZ archive, within its memory budget.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.tables.formats import npz_arrays
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.npz"
    >>> np.savez(path, X=np.zeros((2, 3)), ids=["a", "b"])
    >>> npz_arrays(str(path)).beside["ids"].tolist()
    ['a', 'b']
    """
    with reading_as(source, "NPZ"), _rejecting_pickles(source), Path(source).open("rb") as stream:
        _check_archive(stream, budget_of(source))
        stream.seek(0)
        archive = np.load(stream, allow_pickle=False)
        if set(archive.files) >= _SPARSE_PARTS:
            return NpzArrays(_read_sparse(archive, source), {})
        name = _name_of_features(archive.files, source)
        arrays = {one: archive[one] for one in archive.files if one in _BESIDE_FEATURES}
        return NpzArrays(archive[name], arrays)


def _read_sparse(archive: Any, source: str) -> NDArray[Any]:
    """Return the rows of a matrix that SciPy's ``save_npz`` wrote, if there is room for zeros."""
    kind = archive["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    n_rows, n_columns = (int(size) for size in archive["shape"])
    budget_of(source).check(table_bytes(n_rows, n_columns) + 8 * n_rows * n_columns)
    if kind not in _SPARSE_FORMATS:
        raise InputError(
            f"{source} holds a sparse matrix in the format {kind}; convert it to one of "
            f"{', '.join(_SPARSE_FORMATS)} with asformat."
        )
    if kind == "coo":
        parts: Any = (archive["data"], (archive["row"], archive["col"]))
    else:
        parts = (archive["data"], archive["indices"], archive["indptr"])
    matrix = _SPARSE_FORMATS[kind](parts, shape=(n_rows, n_columns))
    if kind != "coo":
        matrix.check_format()
    return np.asarray(matrix.toarray())


def _check_archive(stream: BinaryIO, budget: Budget) -> None:
    """Raise if the arrays of an archive need more memory than there is, by what they claim."""
    budget.check(zip_directory_bytes(stream))
    with ZipFile(stream) as archive:
        entries = archive.infolist()
        if any(entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for entry in entries):
            raise ValueError("a compression that numpy does not use")
        budget.check(sum(entry.file_size for entry in entries))
        n_bytes = 0
        for entry in entries:
            if entry.filename.endswith(".npy"):
                with archive.open(entry) as content:
                    n_bytes += _check_array(array_header(content), budget)
    budget.check(n_bytes)


def _check_array(header: ArrayHeader, budget: Budget) -> int:
    """Return the bytes that a stored array takes as columns of a table, or raise."""
    n_rows, n_columns = header.shape if len(header.shape) == 2 else (header.n_items, 1)
    needed = table_bytes(n_rows, n_columns) + header.n_bytes
    if header.dtype.kind in "US":
        n_letters = header.n_bytes // (4 if header.dtype.kind == "U" else 1)
        needed += 100 * header.n_items + _BYTES_PER_LETTER * n_letters
    budget.check(needed)
    return needed


@contextmanager
def _rejecting_pickles(source: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if "Object arrays" not in str(error):
            raise
        raise InputError(
            f"{source} holds Python objects, which are not read because they can run code; "
            "save numbers or plain text."
        ) from error


def _name_of_features(names: list[str], source: str) -> str:
    if "X" in names:
        return "X"
    candidates = [name for name in names if name not in _BESIDE_FEATURES]
    if len(candidates) == 1:
        return candidates[0]
    found = f"the arrays {first_few(candidates)}" if candidates else "no array of features"
    raise InputError(f"{source} holds {found}; save the table of features under the name X.")


def _table_of(array: NDArray[Any], names: NDArray[Any] | None, source: str) -> pa.Table:
    if array.dtype.names is not None:
        raise InputError(
            f"{source} holds records with the fields {first_few(array.dtype.names)}; save them as "
            "one array of numbers, or the table as Parquet."
        )
    if array.ndim != 2:
        raise _no_table(array.shape, source)
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
    texts = _whole_letters(names, "feature names", source)
    columns: NDArray[Any] = array.astype(native, order="F", copy=False)
    return pa.Table.from_arrays(
        [pa.array(columns[:, j]) for j in range(columns.shape[1])], names=texts
    )


def _no_table(shape: tuple[int, ...], source: str) -> InputError:
    return InputError(
        f"{source} holds an array of shape {shape}; a table needs two dimensions, rows and columns."
    )


def _beside(array: NDArray[Any], name: str, n_rows: int, source: str) -> pa.Array:
    if array.shape != (n_rows,) or array.dtype.kind not in "biufUS":
        raise InputError(
            f"{source} has {name} of shape {array.shape} and type {array.dtype} for {n_rows} rows; "
            "save one number or text per row."
        )
    if array.dtype.kind == "S":
        return pa.array([text.decode("utf-8", "replace") for text in array.tolist()])
    if array.dtype.kind == "U":
        return pa.array(_whole_letters(array, name, source))
    return pa.array(array.tolist())


def _whole_letters(array: NDArray[Any], name: str, source: str) -> list[str]:
    """Return texts; raise for halves of characters, which NumPy stores but text cannot encode."""
    texts = [str(text) for text in array.tolist()]
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{source} has {name} that are not text; save them as UTF-8.") from error
    return texts


# --- readers and writers by ending --------------------------------------------------------------

_READERS: dict[str, Callable[..., RawTable]] = {
    ".csv": _read_text,
    ".csv.gz": _read_text,
    ".tsv": _read_text,
    ".tsv.gz": _read_text,
    ".txt": _read_text,
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".npy": _read_npy,
    ".npz": _read_npz,
}

_WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".parquet": lambda rows, path: rows.to_parquet(path, index=False),
    ".arrow": lambda rows, path: rows.to_feather(path),
    ".feather": lambda rows, path: rows.to_feather(path),
    ".json": lambda rows, path: rows.to_json(path, orient="records", date_format="iso", indent=2),
}
