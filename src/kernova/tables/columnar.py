"""Columnar formats: Parquet and Arrow files, read within the memory budget of the file.

A reader that trusts these formats allocates what their headers ask for. Here the headers are read
first, in the file's own bytes, and compared with the budget; then the file is read in batches.
"""

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from kernova.budget import Budget

# Measured: a column of numbers is held as it was read and as features, ids are texts, and each
# column of a Parquet file has a reader of its own.
_BYTES_PER_CELL: Final = 20
_BYTES_PER_ROW: Final = 20
_BYTES_PER_COLUMN: Final = 4_000
_BYTES_PER_TEXT_COLUMN: Final = 8_000
_BYTES_PER_PARQUET_READER: Final = 6_000
_BYTES_PER_FOOTER_BYTE: Final = 40
_BATCH_ROWS: Final = 1 << 16
_TEXT_KINDS: Final = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def table_bytes(n_rows: int, n_columns: int, n_cells: int | None = None) -> int:
    """Return the memory that a table of numbers takes while it is read."""
    n_cells = n_rows * n_columns if n_cells is None else n_cells
    return _BYTES_PER_CELL * n_cells + _BYTES_PER_ROW * n_rows + _BYTES_PER_COLUMN * n_columns


def held_bytes(table: pa.Table) -> int:
    """Return the memory that a table takes as features; columns of text take more than numbers."""
    types = pa.types
    n_numbers = sum(types.is_primitive(kind) or types.is_null(kind) for kind in table.schema.types)
    n_texts = table.num_columns - n_numbers
    return table_bytes(table.num_rows, table.num_columns) + _BYTES_PER_TEXT_COLUMN * n_texts


# --- Parquet -------------------------------------------------------------------------------------


def read_parquet(source: str, budget: Budget) -> pa.Table:
    """Read a Parquet file."""
    # A footer of a few bytes for each of many columns would take a hundred times as much.
    limits = {
        "thrift_string_size_limit": min(budget.limit // _BYTES_PER_FOOTER_BYTE, 2**31 - 1),
        "thrift_container_size_limit": min(budget.limit // 4_000, 2**31 - 1),
    }
    reading = _checked_batches(source, budget)
    with pyarrow.parquet.ParquetFile(source, **limits) as stored:
        schema = stored.schema_arrow
        budget.check(_parquet_bytes(stored.metadata.num_rows, len(schema)))
    texts = [] if reading.has_prefixes else _text_columns(schema)
    with pyarrow.parquet.ParquetFile(source, read_dictionary=texts, **limits) as stored:
        stored_batches = stored.iter_batches(reading.n_rows)
        batches = _decoded_batches(
            stored_batches, schema, budget, is_coded=not reading.has_prefixes
        )
        return _checked(pa.Table.from_batches(batches, schema=schema), budget)


def _parquet_bytes(n_rows: int, n_columns: int) -> int:
    return table_bytes(n_rows, n_columns) + _BYTES_PER_PARQUET_READER * n_columns


def _text_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of text; they are read as dictionaries, and decoded if there is room."""
    return [field.name for field in schema if field.type in _TEXT_KINDS]


def _checked_batches(source: str, budget: Budget) -> "_Batches":
    """Return how to read a Parquet file; raise if its pages need too much memory."""
    batches = _Batches(_BATCH_ROWS, has_prefixes=False)
    with _mapped(source) as content:
        n_bytes = 0
        for columns in _parquet_pages(content, _parquet_footer(content, budget)):
            budget.check(_parquet_bytes(0, len(columns)))
            n_bytes += sum(column.n_bytes for column in columns)
            budget.check(n_bytes)
            for column in columns:
                longest = max(column.dictionary_bytes, column.page_bytes * column.has_prefixes, 8)
                if column.is_nested:
                    budget.check(column.n_values * longest)
                if column.has_prefixes:
                    n_rows = max(1, budget.limit // (10 * longest))
                    batches = _Batches(min(batches.n_rows, n_rows), has_prefixes=True)
    return batches


class _Batches(NamedTuple):
    """Rows to read at once, and whether texts share prefixes and thus cannot be read as codes."""

    n_rows: int
    has_prefixes: bool


def _decoded_batches(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, budget: Budget, *, is_coded: bool
) -> Iterator[pa.RecordBatch]:
    """Yield the batches with their texts decoded, as long as there is room for all of them."""
    n_bytes = 0
    for batch in batches:
        n_bytes += sum(_frame_bytes(column) for column in batch.columns)
        budget.check(n_bytes if is_coded else 2 * n_bytes)
        columns = [
            column.cast(column.type.value_type).cast(field.type)
            if field.type in _TEXT_KINDS and field.type != column.type
            else column
            for field, column in zip(schema, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


_SCHEMA: Final = 2
_ROW_GROUPS: Final = 4
_DICTIONARY_PAGE: Final = 2
_DELTA_BYTE_ARRAY: Final = 7
_FIXED_LENGTH: Final = 7
# Writers make pages of 20 kB to 1 MB, and two of some hundred bytes for a column of a few rows.
_FEW_PAGES: Final = 20_000
_BYTES_PER_PAGE: Final = 100


class _ColumnPages(NamedTuple):
    """Pages of one column in one row group.

    ``dictionary_bytes`` and ``page_bytes`` are the unpacked sizes of the dictionary and of the
    largest page, ``all_bytes`` that of all pages, and ``width`` the bytes of a value where all have
    the same. Where ``has_prefixes``, a value may be as long as its page, however few bytes it takes
    there.
    """

    dictionary_bytes: int
    page_bytes: int
    all_bytes: int
    n_values: int
    width: int
    has_prefixes: bool
    is_nested: bool

    @property
    def n_bytes(self) -> int:
        """Memory that the values take, at least."""
        return max(self.all_bytes, self.n_values * self.width)


def _footer_bytes(content: memoryview) -> int:
    """Return the size of a Parquet file's footer."""
    (size,) = struct.unpack_from("<I", content, len(content) - 8)
    if size > len(content) - 12:
        raise ValueError("a footer longer than the file")
    return int(size)


def _parquet_footer(content: memoryview, budget: Budget) -> dict[int, Any]:
    """Return the fields of the footer up to its row groups, or raise if they need too much memory.

    Texts of other programs come after them, such as a description of the columns for pandas.
    """
    size = _footer_bytes(content)
    start, most = len(content) - 8 - size, budget.limit // _BYTES_PER_FOOTER_BYTE
    try:
        return _thrift_fields(content[: start + min(size, most)], start, last=_ROW_GROUPS)[0]
    except (IndexError, ValueError):
        budget.check(_BYTES_PER_FOOTER_BYTE * size)
        raise


def _parquet_pages(content: memoryview, footer: dict[int, Any]) -> Iterator[list[_ColumnPages]]:
    """Yield for each row group the pages of its columns, from the headers of the pages themselves.

    The sizes in the file's footer are not used: they need not be true. Nor is pyarrow's view of the
    footer, which ends the process for some damaged ones.
    """
    remaining = _FEW_PAGES + len(content) // _BYTES_PER_PAGE
    widths = _widths(footer[_SCHEMA])
    for row_group in footer[_ROW_GROUPS]:
        columns = []
        for chunk, width in zip(row_group[1], widths, strict=True):
            headers = list(_page_headers(content, chunk[3], remaining))
            remaining -= len(headers)
            columns.append(_summary(headers, width, is_nested=len(chunk[3][3]) > 1))
        yield columns


def _widths(schema: list[dict[int, Any]]) -> list[int]:
    """Return the bytes of a value for each column of values of one length; 0 for others."""
    columns = [element for element in schema if 1 in element]  # others are groups of columns
    return [_whole(column.get(2, 0)) if column[1] == _FIXED_LENGTH else 0 for column in columns]


def _page_headers(
    content: memoryview, chunk: dict[int, Any], most: int
) -> Iterator[dict[int, Any]]:
    n_wanted, length, first = _whole(chunk[5]), _whole(chunk[7]), _whole(chunk[9])
    first = _whole(chunk.get(11) or first) if 0 < (chunk.get(11) or 0) < first else first
    position, end, n_values = first, first + length, 0
    if end > len(content):
        raise ValueError("a column outside of the file")
    while position < end and n_values < n_wanted:
        header, position = _thrift_fields(content, position)
        position += _whole(header[3])
        n_values += _n_values(header)
        most -= 1
        if most < 0:
            raise ValueError("pages of a few bytes")
        yield header


def _summary(headers: list[dict[int, Any]], width: int, *, is_nested: bool) -> _ColumnPages:
    dictionary, pages = 0, 0
    for header in headers:
        if header[1] == _DICTIONARY_PAGE:
            dictionary += _whole(header[2])
        else:
            pages = max(pages, _whole(header[2]))
    encodings = {_data_page(header).get(2 if 5 in header else 4) for header in headers}
    return _ColumnPages(
        dictionary,
        pages,
        all_bytes=sum(_whole(header[2]) for header in headers),
        n_values=sum(map(_n_values, headers)),
        width=width,
        has_prefixes=_DELTA_BYTE_ARRAY in encodings,
        is_nested=is_nested,
    )


def _data_page(header: dict[int, Any]) -> dict[int, Any]:
    """Return the header of a data page of version 1 or 2; of others, nothing."""
    found = header.get(5) or header.get(8) or {}
    return found if isinstance(found, dict) else {}


def _n_values(header: dict[int, Any]) -> int:
    return _whole(_data_page(header).get(1, 0))


def _whole(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("a size below 0")
    return value


def _thrift_fields(
    content: memoryview, position: int, last: int | None = None
) -> tuple[dict[int, Any], int]:
    """Return the fields of a structure in Thrift's compact form, and the position after it.

    Those behind the field ``last`` are not read.
    """
    fields: dict[int, Any] = {}
    number = 0
    while kind := content[position]:
        position += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, position = _signed(content, position)
        fields[number], position = _thrift_value(content, position, kind & 15)
        if number == last:
            break
    return fields, position + 1


def _thrift_value(content: memoryview, position: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):
        return kind == 1, position
    if kind == 3:
        return content[position], position + 1
    if kind in (4, 5, 6):
        return _signed(content, position)
    if kind == 7:
        return None, position + 8
    if kind == 8:
        length, position = _unsigned(content, position)
        return None, position + length
    if kind in (9, 10):
        return _thrift_list(content, position)
    if kind == 12:
        return _thrift_fields(content, position)
    raise ValueError("a field that no Parquet file has")


def _thrift_list(content: memoryview, position: int) -> tuple[list[Any], int]:
    length, kind = content[position] >> 4, content[position] & 15
    position += 1
    if length == 15:
        length, position = _unsigned(content, position)
    if length > len(content) - position:
        raise ValueError("a list longer than the file")
    values = []
    for _ in range(length):
        # In a list, true and false take a byte; a field's kind is the value itself.
        value, position = _thrift_value(content, position, 3 if kind in (1, 2) else kind)
        values.append(value)
    return values, position


def _unsigned(content: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = content[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
    raise ValueError("a number without end")


def _signed(content: memoryview, position: int) -> tuple[int, int]:
    value, position = _unsigned(content, position)
    return (value >> 1) ^ -(value & 1), position


# --- Arrow ---------------------------------------------------------------------------------------


def read_arrow(source: str, budget: Budget) -> pa.Table:
    """Read an Arrow or Feather file."""
    with pa.OSFile(source) as stream:
        is_file = stream.read(6) == b"ARROW1"
        start = 8 if is_file else 0
        n_batches = _checked_arrow_batches(source, start, budget)
        stream.seek(0)
        if is_file and pa.ipc.open_file(stream).num_record_batches != n_batches:
            raise ValueError("batches that the file does not list")
        # A file holds a stream behind its first eight bytes. Its own list of batches is not used:
        # it may name other places than those that were checked.
        stream.seek(start)
        return _checked(pa.ipc.open_stream(stream).read_all(), budget)


def _checked_arrow_batches(source: str, start: int, budget: Budget) -> int:
    n_bytes = n_batches = 0
    with _mapped(source) as content:
        for batch in _arrow_batches(content, start):
            n_bytes += batch.n_bytes
            n_batches += batch.has_rows
            budget.check(n_bytes)
    return n_batches


_CONTINUED: Final = 0xFFFFFFFF
_DICTIONARY_BATCH: Final = 2
_RECORD_BATCH: Final = 3


class _ArrowBatch(NamedTuple):
    """Unpacked size of the buffers of one message, and whether it holds rows."""

    n_bytes: int
    has_rows: bool


def _arrow_batches(content: memoryview, position: int) -> Iterator[_ArrowBatch]:
    """Yield the sizes of the batches of an Arrow stream that begins at ``position``."""
    while position + 4 <= len(content):
        (length,) = struct.unpack_from("<I", content, position)
        position += 4
        if length == _CONTINUED:
            (length,) = struct.unpack_from("<I", content, position)
            position += 4
        if length == 0:
            return
        message = _FlatTable.at_root(content, position)
        kind, body = message.number(1, "B"), position + length
        batch = message.table(2)
        if kind == _DICTIONARY_BATCH:
            batch = batch.table(1)
        if kind in (_DICTIONARY_BATCH, _RECORD_BATCH):
            yield _ArrowBatch(_unpacked_bytes(content, batch, body), kind == _RECORD_BATCH)
        position = body + _whole(message.number(3, "q"))


def _unpacked_bytes(content: memoryview, batch: "_FlatTable", body: int) -> int:
    is_packed = batch.has(3)
    total = 0
    for offset, length in batch.pairs(2):
        if is_packed and length >= 8:
            # -1 stands for a buffer that is stored as it is.
            (unpacked,) = struct.unpack_from("<q", content, body + _whole(offset))
            length = unpacked if unpacked != -1 else length
        total += _whole(length)
    return total


class _FlatTable(NamedTuple):
    """A table of a FlatBuffer: its fields are found through a list of offsets."""

    content: memoryview
    position: int

    @classmethod
    def at_root(cls, content: memoryview, start: int) -> "_FlatTable":
        return cls(content, start)._follow(start)

    def _follow(self, position: int) -> "_FlatTable":
        (offset,) = struct.unpack_from("<I", self.content, position)
        return _FlatTable(self.content, position + offset)

    def _field(self, number: int) -> int:
        """Return the position of a field, 0 if it is absent."""
        (back,) = struct.unpack_from("<i", self.content, self.position)
        offsets = self.position - back
        if offsets < 0:
            raise ValueError("a table outside of the file")
        (size,) = struct.unpack_from("<H", self.content, offsets)
        if 4 + 2 * number >= size:
            return 0
        (offset,) = struct.unpack_from("<H", self.content, offsets + 4 + 2 * number)
        return self.position + offset if offset else 0

    def has(self, number: int) -> bool:
        """Return whether the table has this field."""
        return self._field(number) != 0

    def number(self, number: int, kind: str) -> int:
        """Return a number; an absent one is 0."""
        position = self._field(number)
        return struct.unpack_from(f"<{kind}", self.content, position)[0] if position else 0

    def table(self, number: int) -> "_FlatTable":
        """Return a table inside this one."""
        if not self.has(number):
            raise ValueError("a message without content")
        return self._follow(self._field(number))

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the pairs of whole numbers of a field."""
        if self.has(number):
            start = self._follow(self._field(number)).position
            (n_pairs,) = struct.unpack_from("<I", self.content, start)
            yield from struct.iter_unpack("<qq", self.content[start + 4 : start + 4 + 16 * n_pairs])


# --- both ----------------------------------------------------------------------------------------


@contextmanager
def _mapped(source: str) -> Iterator[memoryview]:
    """Yield the bytes of a file without reading all of them."""
    with (
        Path(source).open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
        memoryview(content) as view,
    ):
        yield view


def _checked(table: pa.Table, budget: Budget) -> pa.Table:
    budget.check(held_bytes(table))
    # Damaged offsets would otherwise point into foreign memory, and damaged text be accepted.
    table.validate(full=True)
    budget.check(sum(_frame_bytes(column) for column in table.columns))
    return table


def _frame_bytes(column: pa.Array | pa.ChunkedArray) -> int:
    """Return the bytes that a column takes as it is read and as features, decoded."""
    if isinstance(column, pa.ChunkedArray):
        return sum(_frame_bytes(chunk) for chunk in column.chunks)
    n_bytes = column.nbytes
    if pa.types.is_dictionary(column.type):
        n_bytes += _value_bytes(column)
    elif pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        # Each text is stored as its length and a place, which others may have, too.
        views = np.frombuffer(column.buffers()[1], np.int32).reshape(-1, 4)
        n_bytes += int(views[column.offset :, 0][: len(column)].sum(dtype=np.int64))
    return max(2 * n_bytes, _BYTES_PER_CELL * len(column))


def _value_bytes(column: pa.DictionaryArray) -> int:
    """Return the bytes of the values that a column of codes stands for; 0 for lists and such."""
    kind = column.dictionary.type
    if kind not in _TEXT_KINDS:
        is_fixed = pa.types.is_primitive(kind) or pa.types.is_fixed_size_binary(kind)
        return len(column) * kind.bit_width // 8 if is_fixed else 0
    lengths = pyarrow.compute.binary_length(column.dictionary)
    return pyarrow.compute.sum(lengths.take(column.indices)).as_py() or 0
