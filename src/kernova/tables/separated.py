"""Separated text: CSV and TSV files as programs and people write them, read by Arrow.

Text is UTF-8, or UTF-16 with a byte order mark, or the one-byte encoding of Western Windows
programs; the separator is the one that splits the header and the first rows alike. What was
assumed is noted in a sentence. Files that Arrow would accept or report badly get a message of their
own.
"""

import codecs
import gzip
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

from kernova.budget import Budget, budget_of
from kernova.errors import InputError
from kernova.tables.columnar import held_bytes, table_bytes
from kernova.tables.first_lines import codes_in, comment_note, find_header, names_in

# The texts that pandas reads as missing values, too.
_MISSING_TEXTS = [
    *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
]

_BLOCK_BYTES = 1 << 24  # the longest line that can be read
# Measured: Arrow has lists of missing and true values for each column while it reads text, so wide
# tables are read some columns at a time, in a few passes.
_BYTES_PER_TEXT_READER = 12_000
_COLUMNS_AT_ONCE = 2_000
_MOST_PASSES = 20
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


class SeparatedText(NamedTuple):
    """Columns of a file, whether the first is an unnamed row index, and what was assumed."""

    columns: pa.Table
    has_index: bool
    notes: tuple[str, ...]


def read_separated(
    source: str,
    separator: str,
    id_column: str | None = None,
    texts: Collection[str] = (),
    *,
    codes: bool = False,
) -> SeparatedText:
    """Read text with a header line.

    Parameters
    ----------
    source : str
        The path of the file.
    separator : str
        The separator that the file's extension stands for.
    id_column : str, optional
        A column that stays text exactly as written.
    texts : collection of str
        Further columns of text, such as categories whose names are numbers.
    codes : bool
        Whether columns of digits with zeros before them, such as 01067, are texts, too.
    """
    budget = budget_of(source)
    content, notes = _utf8_content(source, budget)
    header = find_header(content, separator, source)
    chosen = header.separator
    passes = _passes(header.line, chosen)
    _check_separated(content, header.line, chosen, budget, len(passes))
    wanted = {name.strip() for name in (id_column, *texts) if name is not None}
    wanted.update(name.strip() for name in (codes_in(content, header) if codes else ()))
    as_written = [name for name in header.names if name.strip() in wanted]
    table, n_comments = _parsed(content, chosen, as_written, source, passes)
    notes += header.notes
    if n_comments + header.n_comments:
        notes.append(comment_note(n_comments + header.n_comments, source))
    budget.check(held_bytes(table))
    _reject_open_quote(table, content, source)
    _reject_numbers_as_names(table.column_names, source)
    table = _within_range(table, content, chosen, source)
    if table.column_names[-1] == "" and pa.types.is_null(table.columns[-1].type):
        # Every line ends in a separator.
        table = table.remove_column(table.num_columns - 1)
    table = _without_missing_texts(table, id_column)
    return SeparatedText(table, _starts_with_unnamed_row_numbers(table), tuple(notes))


@contextmanager
def reading_as(source: str, kind: str) -> Iterator[None]:
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


def empty_file(source: str) -> InputError:
    """Return the error for a file without content."""
    return InputError(f"{source} is empty; a table needs column names and at least one row.")


# --- encodings ----------------------------------------------------------------------------------


def _utf8_content(source: str, budget: Budget) -> tuple[bytearray, list[str]]:
    """Return the file's bytes, unpacked, as UTF-8 text; and a note if they were something else."""
    with reading_as(source, "gzip" if source.lower().endswith(".gz") else "text"):
        opener = gzip.open if source.lower().endswith(".gz") else open
        with opener(source, "rb") as stream:
            content = budget.read(stream, per_byte=2.0)
    notes: list[str] = []
    if encoding := _UTF16.get(bytes(content[:2])):
        content = _recoded_utf16(content, encoding, source, budget)
    if b"\0" in content:
        raise InputError(
            f"{source} holds binary data, not text; save the table as text, or give the file the "
            "extension of its format."
        )
    place = _not_utf8(content)
    if place is not None:
        content = _recoded_windows_text(content, place, source)
        line = content.count(b"\n", 0, place) + 1
        notes.append(
            f"{source} is not UTF-8 text (line {line} is the first that is not); its letters were "
            "read as Windows-1252 (Latin-1). If names look wrong, save it as UTF-8."
        )
    if content.startswith(codecs.BOM_UTF8):
        del content[:3]
    if not content or content.isspace():
        raise empty_file(source)
    if not content.endswith(b"\n"):  # the reader ignores a header line without a line end
        content += b"\n"
    return content, notes


def _recoded_utf16(content: bytearray, encoding: str, source: str, budget: Budget) -> bytearray:
    budget.check(5 * len(content))  # the text, and up to three bytes for two
    try:
        return bytearray(content[2:].decode(encoding).encode())
    except UnicodeError as error:
        raise InputError(
            f"{source} begins as text in UTF-16, but is not; save it as UTF-8."
        ) from error


def _recoded_windows_text(content: bytearray, place: int, source: str) -> bytearray:
    """Return UTF-8 text; bytes that are none are letters of Windows-1252, block by block."""
    recoded = content[:place]
    try:
        if _CONTROLS.search(content):
            raise UnicodeError
        for start, end in _whole_characters(content, place):
            recoded += content[start:end].decode("utf-8", _WINDOWS_LETTERS).encode()
    except UnicodeError:
        line = content.count(b"\n", 0, place) + 1
        raise InputError(
            f"{source} is not UTF-8 text: line {line} holds the byte 0x{content[place]:02x}; "
            "save it as UTF-8."
        ) from None
    return recoded


def _windows_letters(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252"), error.end


_WINDOWS_LETTERS = "kernova-windows-1252"
codecs.register_error(_WINDOWS_LETTERS, _windows_letters)


def _not_utf8(content: bytearray) -> int | None:
    """Return the place of the first byte that is not UTF-8, None if there is none."""
    for start, end in _whole_characters(content, 0):
        try:
            content[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            return start + error.start
    return None


def _whole_characters(content: bytearray, start: int) -> Iterator[tuple[int, int]]:
    """Yield blocks that cut no character in two; a text of all bytes takes four times as much."""
    while start < len(content):
        end = min(start + _BLOCK_BYTES, len(content))
        while end < len(content) and content[end] & 0xC0 == 0x80 and end > start + 1:
            end -= 1
        yield start, end
        start = end


# --- parsing -------------------------------------------------------------------------------------


def _passes(header: str, separator: str) -> list[list[str]]:
    """Return the names of columns that are read at once; one empty list stands for all columns."""
    if header.count(separator) + 1 <= _COLUMNS_AT_ONCE:
        return [[]]
    names = names_in(header, separator)
    if not names or len(set(names)) < len(names):
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


def _parsed(
    content: bytearray,
    separator: str,
    texts: list[str],
    source: str,
    passes: list[list[str]],
) -> "_Parsed":
    parts = [_parsed_columns(content, separator, texts, source, names) for names in passes]
    columns = [column for part in parts for column in part.table.columns]
    names = [name for part in parts for name in part.table.column_names]
    return _Parsed(pa.Table.from_arrays(columns, names=names), parts[0].n_comments)


class _Parsed(NamedTuple):
    table: pa.Table
    n_comments: int  # lines among the rows that begin with # and are none


def _parsed_columns(
    content: bytearray, separator: str, texts: list[str], source: str, names: list[str]
) -> _Parsed:
    ragged: list[Any] = []
    comments: list[Any] = []

    def remember(row: Any) -> str:
        if row.text.startswith("#"):
            comments.append(row)
            return "skip"
        ragged.append(row)
        return "error"

    try:
        table = pyarrow.csv.read_csv(
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
        return _Parsed(table, len(comments))
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
    written = _parsed_columns(content, separator, names, source, names).table
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
