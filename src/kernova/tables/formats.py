"""Table formats: reading a file of any known ending into an Arrow table, and writing results.

Reading stops at "can this file be read": which columns are features, and whether their values can
be used, is decided in :mod:`kernova.tables.table`. CSV and TSV are read by Arrow, with messages for
files that it would accept or report badly.
"""

import csv
import gzip
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
from numpy.typing import NDArray

from kernova.budget import ArrayHeader, Budget, array_header, budget_of, zip_directory_bytes
from kernova.errors import InputError
from kernova.files import check_ending, replacing
from kernova.tables.columnar import held_bytes, read_arrow, read_parquet, table_bytes
from kernova.tables.spreadsheets import save_separated
from kernova.text import first_few
from kernova.textfiles import open_file

# The texts that pandas reads as missing values, too.
_MISSING_TEXTS = [
    *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}  # of files that are written
_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
_BLOCK_BYTES = 1 << 24  # the longest line that can be read
# Measured: Arrow has lists of missing and true values for each column while it reads text, so wide
# tables are read some columns at a time, in a few passes.
_BYTES_PER_TEXT_READER = 12_000
_COLUMNS_AT_ONCE = 2_000
_MOST_PASSES = 20

# A letter takes up to four bytes in each of the copies that are held at once.
_BYTES_PER_LETTER = 20
_BESIDE_FEATURES = ("y", "ids", "feature_names")  # in an NPZ archive


class RawTable(NamedTuple):
    """Contents of a file before any check of its values.

    ``own_id`` and ``own_label`` are columns that the format itself marks as such; ``aside`` are
    columns that are not features by default, such as a saved row index.
    """

    columns: pa.Table
    own_id: str | None = None
    own_label: str | None = None
    aside: frozenset[str] = frozenset()


def read_raw(source: str, id_column: str | None = None) -> RawTable:
    r"""Read the file named ``source``; a column named ``id_column`` is text, as written.

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
        raise _empty_file(source)
    return read(source, id_column)


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


@contextmanager
def _reading(source: str, kind: str) -> Iterator[None]:
    """Turn any error of a reader into one message.

    Only the reader's own calls belong inside: a damaged file makes them raise anything (tokenizer
    and JSON errors, ``zlib.error``, ``MemoryError`` for a length of 2**60), so all is caught.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{source} cannot be read as {kind}; it is damaged, cut short, or another kind of file."
        ) from error


def _empty_file(source: str) -> InputError:
    return InputError(f"{source} is empty; a table needs column names and at least one row.")


def _first_byte(source: str) -> bytes:
    with open_file(source or ".") as stream:
        return stream.read(1)


def _reader_for(source: str) -> Callable[[str, str | None], RawTable]:
    for ending, read in _READERS.items():
        if source.lower().endswith(ending):
            return read
    ending = Path(source).suffix
    got = f"ends in {ending}" if ending else "has no extension"
    raise InputError(
        f"{source} {got}, which is not a known table format; save the table as one of "
        f"{', '.join(_READERS)}."
    )


# --- separated text -----------------------------------------------------------------------------


def _read_commas(source: str, id_column: str | None) -> RawTable:
    return _read_separated(source, id_column, ",;")


def _read_tabs(source: str, id_column: str | None) -> RawTable:
    return _read_separated(source, id_column, "\t")


def _read_separated(source: str, id_column: str | None, separators: str) -> RawTable:
    """Read UTF-8 text with a header line, by the first of ``separators`` that the header has."""
    budget = budget_of(source)
    content = _utf8_content(source, budget)
    header = _first_line(content)
    separator = _separator_in(header, separators, source)
    passes = _passes(header, separator)
    _check_separated(content, header, separator, budget, len(passes))
    table = _parsed(content, separator, id_column, source, passes)
    budget.check(held_bytes(table))
    _reject_open_quote(table, content, source)
    _reject_numbers_as_names(table.column_names, source)
    table = _within_range(table, content, separator, source)
    if table.column_names[-1] == "" and pa.types.is_null(table.columns[-1].type):
        # Every line ends in a separator.
        table = table.remove_column(table.num_columns - 1)
    table = _without_missing_texts(table, id_column)
    aside = frozenset({""}) if _starts_with_unnamed_row_numbers(table) else frozenset()
    return RawTable(table, aside=aside)


def _utf8_content(source: str, budget: Budget) -> bytearray:
    """Return the file's bytes, unpacked, checked to be UTF-8 text."""
    with _reading(source, "gzip" if source.lower().endswith(".gz") else "text"):
        opener = gzip.open if source.lower().endswith(".gz") else open
        with opener(source, "rb") as stream:
            content = budget.read(stream, per_byte=2.0)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source} is text in UTF-16; save it as UTF-8.")
    if b"\0" in content:
        raise InputError(
            f"{source} holds binary data, not text; save the table as text, or give the file the "
            "extension of its format."
        )
    _check_utf8(content, source)
    if content.startswith(b"\xef\xbb\xbf"):
        del content[:3]
    if not content or content.isspace():
        raise _empty_file(source)
    if not content.endswith(b"\n"):  # the reader ignores a header line without a line end
        content += b"\n"
    return content


def _check_utf8(content: bytearray, source: str) -> None:
    """Raise for bytes that are not UTF-8; in blocks, for a text of all takes up to four times."""
    start = 0
    while start < len(content):
        end = min(start + _BLOCK_BYTES, len(content))
        while end < len(content) and content[end] & 0xC0 == 0x80 and end > start + 1:
            end -= 1  # a character is not cut in two
        try:
            content[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            line = content.count(b"\n", 0, at) + 1
            raise InputError(
                f"{source} is not UTF-8 text: line {line} holds the byte 0x{content[at]:02x}; "
                "save it as UTF-8."
            ) from error
        start = end


def _passes(header: str, separator: str) -> list[list[str]]:
    """Return the names of columns that are read at once; one empty list stands for all columns."""
    n_columns = header.count(separator) + 1
    if n_columns <= _COLUMNS_AT_ONCE:
        return [[]]
    try:
        names = next(csv.reader([header], delimiter=separator, strict=True))
    except csv.Error:
        return [[]]
    if len(set(names)) < len(names):
        return [[]]
    size = max(_COLUMNS_AT_ONCE, -(-len(names) // _MOST_PASSES))
    return [names[start : start + size] for start in range(0, len(names), size)]


def _check_separated(
    content: bytearray, header: str, separator: str, budget: Budget, n_passes: int
) -> None:
    n_columns = header.count(separator) + 1
    marks = [ord(separator), *b"\n\r"]
    needed = _separated_bytes([content.count(mark) for mark in marks], n_columns)
    if b'"' in content and 2 * len(content) + needed > budget.limit:
        needed = _separated_bytes(_counts_outside_quotes(content, marks), n_columns)
    readers = _BYTES_PER_TEXT_READER * -(-n_columns // n_passes)
    budget.check(2 * len(content) + needed + readers)


def _separated_bytes(counts: list[int], n_columns: int) -> int:
    n_separators, n_newlines, n_returns = counts
    n_rows = max(n_newlines, n_returns)
    return table_bytes(n_rows, n_columns, n_separators + n_rows)


def _counts_outside_quotes(content: bytearray, marks: list[int]) -> list[int]:
    counts, is_quoted = np.zeros(len(marks), dtype=np.int64), np.uint8(0)
    for start in range(0, len(content), _BLOCK_BYTES):
        block = np.frombuffer(content[start : start + _BLOCK_BYTES], np.uint8)
        inside = np.bitwise_xor.accumulate(block == ord('"')).view(np.uint8) ^ is_quoted
        counts += [np.count_nonzero((block == mark) & (inside == 0)) for mark in marks]
        is_quoted = inside[-1]
    return counts.tolist()


def _first_line(content: bytearray) -> str:
    found = re.match(rb"[\r\n]*([^\r\n]*)", content)
    return found[1].decode() if found else ""


def _separator_in(header: str, separators: str, source: str) -> str:
    bare = re.sub(r'"[^"]*"', "", header)
    present = [mark for mark in _SEPARATOR_NAMES if mark in bare]
    for mark in separators:
        if mark in present:
            return mark
    if not present:
        return separators[0]
    wanted = ".tsv" if present[0] == "\t" else ".csv"
    raise InputError(
        f"{source} is separated by {_SEPARATOR_NAMES[present[0]]}, but its extension stands for "
        f"{_SEPARATOR_NAMES[separators[0]]}; give it the extension {wanted}."
    )


def _parsed(
    content: bytearray,
    separator: str,
    id_column: str | None,
    source: str,
    passes: list[list[str]],
) -> pa.Table:
    texts = [] if id_column is None else [id_column]
    parts = [_parsed_columns(content, separator, texts, source, names) for names in passes]
    columns = [column for part in parts for column in part.columns]
    names = [name for part in parts for name in part.column_names]
    return pa.Table.from_arrays(columns, names=names)


def _parsed_columns(
    content: bytearray, separator: str, texts: list[str], source: str, names: list[str]
) -> pa.Table:
    ragged: list[Any] = []

    def remember(row: Any) -> str:
        ragged.append(row)
        return "error"

    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(pa.py_buffer(content)),
            # One thread, so that the reader knows the number of a ragged row.
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=remember
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=_MISSING_TEXTS,
                # "NA" is a valid id; other text columns get their missing values afterwards.
                strings_can_be_null=False,
                column_types=dict.fromkeys(texts, pa.string()),
                include_columns=names,
            ),
        )
    except (pa.ArrowException, ValueError) as error:
        if not ragged:
            raise InputError(
                f"{source} cannot be read as separated text; a line is too long, or a quotation "
                "mark is never closed."
            ) from error
        row = ragged[0]
        raise InputError(
            f"Row {row.number - 1} of {source} has {row.actual_columns} fields where the header "
            f"has {row.expected_columns}; correct it."
        ) from error


def _reject_open_quote(table: pa.Table, content: bytearray, source: str) -> None:
    """Raise if the last row contains the rest of the file; the reader accepts it as one text."""
    if content.count(b'"') % 2 == 0 or table.num_rows == 0:
        return
    last_row = [column[-1].as_py() for column in table.columns]
    if any(isinstance(value, str) and "\n" in value for value in last_row):
        raise InputError(
            f"Row {table.num_rows} of {source} opens a quotation mark that is never closed; close "
            "it or remove it."
        )


def _reject_numbers_as_names(names: list[str], source: str) -> None:
    """Raise if the first row of data was read as the header; real numeric names are in order."""
    try:
        steps = np.diff([float(name) for name in names if name])
    except ValueError:
        return
    # A few measurements may be in falling order by chance; the many wavenumbers of a spectrum are.
    if not (np.all(steps > 0) or (len(steps) > 8 and np.all(steps < 0))):
        raise InputError(
            f"{source} has numbers where column names are expected; add a header line above its "
            "first row."
        )


def _within_range(table: pa.Table, content: bytearray, separator: str, source: str) -> pa.Table:
    """Replace numbers beyond the floating-point range, such as 1e999, by the largest in it."""
    compute = pyarrow.compute
    names = [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(column.type) and compute.any(compute.is_inf(column)).as_py()
    ][:_COLUMNS_AT_ONCE]
    if not names or len(set(table.column_names)) < table.num_columns:
        return table
    written = _parsed_columns(content, separator, names, source, names)
    largest = np.finfo(np.float64).max
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name, texts in zip(names, written.columns, strict=True):
        is_infinite = compute.match_substring(texts, "inf", ignore_case=True).to_numpy()
        numbers = columns[name].to_numpy()
        numbers = np.where(is_infinite, numbers, np.clip(numbers, -largest, largest))
        columns[name] = pa.chunked_array([pa.array(numbers, from_pandas=True)])
    return pa.table(columns)


def _without_missing_texts(table: pa.Table, id_column: str | None) -> pa.Table:
    missing = pa.array(_MISSING_TEXTS)
    columns = [
        pyarrow.compute.if_else(pyarrow.compute.is_in(column, value_set=missing), None, column)
        if pa.types.is_string(column.type) and name != id_column
        else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _starts_with_unnamed_row_numbers(table: pa.Table) -> bool:
    """Return whether the first column is a row index as pandas (from 0) and R (from 1) write it."""
    if table.column_names[:1] != [""] or not pa.types.is_int64(table.columns[0].type):
        return False
    numbers = table.columns[0].to_numpy()
    return any(np.array_equal(numbers, np.arange(len(numbers)) + start) for start in (0, 1))


# --- Parquet and Arrow --------------------------------------------------------------------------


def _read_parquet(source: str, _id_column: str | None) -> RawTable:
    with _reading(source, "Parquet"):
        return _without_index(read_parquet(source, budget_of(source)))


def _read_arrow(source: str, _id_column: str | None) -> RawTable:
    with _reading(source, "Arrow"):
        return _without_index(read_arrow(source, budget_of(source)))


def _without_index(table: pa.Table) -> RawTable:
    """Set a saved pandas index aside: it was not a column there."""
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    # A range that was not stored as a column is described by a dictionary.
    index = {name for name in stored if isinstance(name, str)}
    return RawTable(table, aside=frozenset(table.column_names) & index)


# --- NumPy --------------------------------------------------------------------------------------


def _read_npy(source: str, _id_column: str | None) -> RawTable:
    with _reading(source, "NPY"), _rejecting_pickles(source), Path(source).open("rb") as stream:
        _check_array(array_header(stream), budget_of(source))
        stream.seek(0)
        array = np.load(stream, allow_pickle=False)
    return RawTable(_table_of(array, None, source))


def _read_npz(source: str, _id_column: str | None) -> RawTable:
    with _reading(source, "NPZ"), _rejecting_pickles(source), Path(source).open("rb") as stream:
        _check_archive(stream, budget_of(source))
        stream.seek(0)
        archive = np.load(stream, allow_pickle=False)
        name = _name_of_features(archive.files, source)
        wanted = {name, *_BESIDE_FEATURES}
        arrays = {name: archive[name] for name in archive.files if name in wanted}
    features = arrays[name]
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
    texts = _whole_letters(names, "feature names", source)
    columns: NDArray[Any] = array.astype(native, order="F", copy=False)
    return pa.Table.from_arrays(
        [pa.array(columns[:, j]) for j in range(columns.shape[1])], names=texts
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

_WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".parquet": lambda rows, path: rows.to_parquet(path, index=False),
    ".arrow": lambda rows, path: rows.to_feather(path),
    ".feather": lambda rows, path: rows.to_feather(path),
    ".json": lambda rows, path: rows.to_json(path, orient="records", date_format="iso", indent=2),
}
