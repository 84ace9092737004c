"""CSV and TSV: Arrow's reader, and clear words for what it would let pass or say badly."""

import gzip
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

from kernova.errors import InputError
from kernova.load.raw import RawTable, empty_file, reading

# The texts that pandas, too, reads as "no value".
MISSING_TEXTS = [
    *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan"),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
]

_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
_BLOCK_BYTES = 1 << 24  # the longest line that can be read


def read_separated(source: str, id_column: str | None, separators: str) -> RawTable:
    """Read UTF-8 text with a header line, by the first of ``separators`` that the header has."""
    content = _utf8_content(source)
    separator = _separator_in(_first_line(content), separators, source)
    table = _parsed(content, separator, id_column, source)
    _refuse_open_quote(table, content, source)
    _refuse_numbers_as_names(table.column_names, source)
    if table.column_names[-1] == "" and pa.types.is_null(table.columns[-1].type):
        # Every line ends in a separator.
        table = table.remove_column(table.num_columns - 1)
    table = _without_missing_texts(table, id_column)
    aside = frozenset({""}) if _starts_with_unnamed_row_numbers(table) else frozenset()
    return RawTable(table, aside=aside)


def _utf8_content(source: str) -> bytes:
    """Give the file's bytes, unpacked, once they are known to be UTF-8 text."""
    with reading(source, "gzip" if source.lower().endswith(".gz") else "text"):
        opener = gzip.open if source.lower().endswith(".gz") else open
        with opener(source, "rb") as stream:
            content = bytes(stream.read())
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source} is text in UTF-16; save it as UTF-8.")
    if b"\0" in content:
        raise InputError(
            f"{source} holds binary data, not text; save the table as text, or give the file the "
            "ending of its format."
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source} is not UTF-8 text: line {line} holds the byte 0x{content[error.start]:02x}; "
            "save it as UTF-8."
        ) from error
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content or content.isspace():
        raise empty_file(source)
    # A header line without an end would be no line at all to the reader.
    return content if content.endswith(b"\n") else content + b"\n"


def _first_line(content: bytes) -> str:
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
        f"{source} is separated by {_SEPARATOR_NAMES[present[0]]}, but its ending stands for "
        f"{_SEPARATOR_NAMES[separators[0]]}; give it the ending {wanted}."
    )


def _parsed(content: bytes, separator: str, id_column: str | None, source: str) -> pa.Table:
    ragged: list[Any] = []

    def remember(row: Any) -> str:
        ragged.append(row)
        return "error"

    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(content),
            # One thread, so that the reader can tell the number of a ragged row.
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=remember
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                null_values=MISSING_TEXTS,
                # "NA" is a fine id; other text columns get their missing values afterwards.
                strings_can_be_null=False,
                column_types={} if id_column is None else {id_column: pa.string()},
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


def _refuse_open_quote(table: pa.Table, content: bytes, source: str) -> None:
    """Refuse a file whose last row swallowed the rest of it; the reader takes it for one text."""
    if content.count(b'"') % 2 == 0 or table.num_rows == 0:
        return
    last_row = [column[-1].as_py() for column in table.columns]
    if any(isinstance(value, str) and "\n" in value for value in last_row):
        raise InputError(
            f"Row {table.num_rows} of {source} opens a quotation mark that is never closed; close "
            "it or remove it."
        )


def _refuse_numbers_as_names(names: list[str], source: str) -> None:
    """Refuse a first row taken for a header; true names that are numbers stand in order."""
    try:
        steps = np.diff([float(name) for name in names if name])
    except ValueError:
        return
    # A few measurements may well fall, as a flower's do; a spectrum's many wavenumbers, too.
    if not (np.all(steps > 0) or (len(steps) > 8 and np.all(steps < 0))):
        raise InputError(
            f"{source} has numbers where column names are expected; add a header line above its "
            "first row."
        )


def _without_missing_texts(table: pa.Table, id_column: str | None) -> pa.Table:
    missing = pa.array(MISSING_TEXTS)
    columns = [
        pyarrow.compute.if_else(pyarrow.compute.is_in(column, value_set=missing), None, column)
        if pa.types.is_string(column.type) and name != id_column
        else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _starts_with_unnamed_row_numbers(table: pa.Table) -> bool:
    """Tell whether the first column is a row index as pandas (from 0) and R (from 1) write it."""
    if table.column_names[:1] != [""] or not pa.types.is_int64(table.columns[0].type):
        return False
    numbers = table.columns[0].to_numpy()
    return any(np.array_equal(numbers, np.arange(len(numbers)) + start) for start in (0, 1))
