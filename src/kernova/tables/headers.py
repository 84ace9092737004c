"""Sizes in the headers of binary tables: what NPY, Parquet and Arrow files unpack to.

A reader that trusts these formats allocates what their headers ask for. The functions here find
the sizes first, in the file's own bytes, so that they can be compared with its memory budget.
"""

import math
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

import numpy as np

# --- NumPy --------------------------------------------------------------------------------------


class ArrayHeader(NamedTuple):
    """Shape and type of a stored array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_items(self) -> int:
        """Number of elements; an array without any counts as if no side were 0."""
        return math.prod(max(length, 1) for length in self.shape)

    @property
    def n_bytes(self) -> int:
        """Bytes of the array."""
        return self.n_items * max(self.dtype.itemsize, 1)


def array_header(stream: BinaryIO) -> ArrayHeader:
    """Read the header of an NPY file; the stream then stands at its first element."""
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"NPY version {version}")
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded")  # as numpy.load would say
    return ArrayHeader(shape, dtype)


# --- ZIP ----------------------------------------------------------------------------------------

_ENTRY_BYTES: Final = 46  # at least, in the file
_ENTRY_OBJECT_BYTES: Final = 1_000
_LONGEST_END: Final = 66_000


def zip_directory_bytes(stream: BinaryIO) -> int:
    """Return the memory that the list of a ZIP archive's entries takes, at most."""
    stream.seek(0, 2)
    stream.seek(-min(stream.tell(), _LONGEST_END), 2)
    end = stream.read()
    sizes = [0]
    for mark, offset, kind in ((b"PK\x05\x06", 12, "<I"), (b"PK\x06\x06", 40, "<Q")):
        at = end.rfind(mark)
        if 0 <= at <= len(end) - offset - struct.calcsize(kind):
            sizes += struct.unpack_from(kind, end, at + offset)
    # An archive of more than 4 GB writes this in the first field, and the size in the second.
    known = [size for size in sizes if size != 0xFFFFFFFF]
    stream.seek(0)
    return max(known) // _ENTRY_BYTES * _ENTRY_OBJECT_BYTES


# --- Parquet ------------------------------------------------------------------------------------

_DICTIONARY_PAGE: Final = 2
_DELTA_BYTE_ARRAY: Final = 7
# Writers make pages of 20 kB to 1 MB.
_FEW_PAGES: Final = 20_000
_BYTES_PER_PAGE: Final = 1_000


class ColumnPages(NamedTuple):
    """Pages of one column in one row group.

    ``dictionary_bytes`` and ``page_bytes`` are the unpacked sizes of the dictionary and of the
    largest page. Where ``has_prefixes``, a value may be as long as its page, however few bytes it
    takes there.
    """

    dictionary_bytes: int
    page_bytes: int
    n_values: int
    has_prefixes: bool
    is_nested: bool


def parquet_footer_bytes(content: memoryview) -> int:
    """Return the size of a Parquet file's footer."""
    (size,) = struct.unpack_from("<I", content, len(content) - 8)
    if size > len(content) - 12:
        raise ValueError("a footer longer than the file")
    return int(size)


def parquet_pages(content: memoryview) -> Iterator[list[ColumnPages]]:
    """Yield for each row group the pages of its columns, from the headers of the pages themselves.

    The sizes in the file's footer are not used: they need not be true. Nor is pyarrow's view of the
    footer, which ends the process for some damaged ones.
    """
    footer, _ = _thrift_fields(content, len(content) - 8 - parquet_footer_bytes(content))
    remaining = _FEW_PAGES + len(content) // _BYTES_PER_PAGE
    for row_group in footer[4]:
        columns = []
        for chunk in row_group[1]:
            headers = list(_page_headers(content, chunk[3], remaining))
            remaining -= len(headers)
            columns.append(_summary(headers, is_nested=len(chunk[3][3]) > 1))
        yield columns


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


def _summary(headers: list[dict[int, Any]], *, is_nested: bool) -> ColumnPages:
    dictionary, pages = 0, 0
    for header in headers:
        if header[1] == _DICTIONARY_PAGE:
            dictionary += _whole(header[2])
        else:
            pages = max(pages, _whole(header[2]))
    encodings = {_data_page(header).get(2 if 5 in header else 4) for header in headers}
    n_values = sum(map(_n_values, headers))
    return ColumnPages(dictionary, pages, n_values, _DELTA_BYTE_ARRAY in encodings, is_nested)


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


def _thrift_fields(content: memoryview, position: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a structure in Thrift's compact form, and the position after it."""
    fields: dict[int, Any] = {}
    number = 0
    while kind := content[position]:
        position += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, position = _signed(content, position)
        fields[number], position = _thrift_value(content, position, kind & 15)
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


# --- Arrow --------------------------------------------------------------------------------------

_CONTINUED: Final = 0xFFFFFFFF
_DICTIONARY_BATCH: Final = 2
_RECORD_BATCH: Final = 3


class ArrowBatch(NamedTuple):
    """Unpacked size of the buffers of one message, and whether it holds rows."""

    n_bytes: int
    has_rows: bool


def arrow_batches(content: memoryview, position: int) -> Iterator[ArrowBatch]:
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
            yield ArrowBatch(_unpacked_bytes(content, batch, body), kind == _RECORD_BATCH)
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
