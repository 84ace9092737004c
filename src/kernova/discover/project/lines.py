"""Lines of a project file: a header, and checksummed lines that are only ever appended.

The first line names the format and the project, and counts the entries::

    kernova-project 3 8f0e…c1 000000000002 4be2…07

Every other line has a kind, a number, the length of its content, a checksum, and its content as
JSON::

    e 2 97 91d2…5a {"at": "2026-03-01T10:20:30.456+00:00", "by": "Anna", ...}

Rows that were added stand in one write: their ids and digests, the source they were read from, and
last the entry that adds them. Without that entry, as after a kill, the others count for nothing.

The checksum covers the project's id, the kind, the number and the content. A line that was
changed, moved, or copied from another project therefore does not pass, and the lines before and
after it are found again: they are read by their length, and after damage by the next line that
passes. A checksum also identifies the one bit whose change makes a short line pass again.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

FORMAT: Final = 3
HEAD, COLUMNS, ROWS, SOURCE, ENTRY = "h", "c", "r", "s", "e"

_HEADER: Final = re.compile(rb"kernova-project 3 ([0-9a-f]{32}) (\d{12}) ([0-9a-f]{16})\n")
_ANY_FORMAT: Final = re.compile(rb"kernova-project (\d{1,9}) ")
HEADER_LENGTH: Final = len("kernova-project 3 ") + 32 + 1 + 12 + 1 + 16 + 1
_LINE: Final = re.compile(rb"([a-z]) (\d{1,12}) (\d{1,12}) ([0-9a-f]{16}) ")
# A longer line, or a further one, is not searched for its wrong bit, which would take seconds.
_LONGEST_CORRECTED: Final = 4096
_MOST_CORRECTED: Final = 20
# A forged file may promise a line at every byte; searching ends after hashing this many times it.
_SEARCH_FACTOR: Final = 8
_SEARCH_FLOOR: Final = 1 << 26


class Header(NamedTuple):
    """First line of a project: its id, and the number of its entries that are on disk."""

    project: str
    n_entries: int

    def to_bytes(self) -> bytes:
        """Return the line; it always has the same length."""
        text = f"kernova-project {FORMAT} {self.project} {self.n_entries:012d} ".encode()
        return text + _checksum(b"", text) + b"\n"


class Line(NamedTuple):
    """A line that passed its checksum; ``was_corrected`` if one bit of it was wrong."""

    kind: str
    number: int
    content: bytes
    begin: int
    end: int  # of the content; a line end follows
    was_corrected: bool = False

    def to_bytes(self, project: str) -> bytes:
        """Return the line of a project, with its line end."""
        start = f"{self.kind} {self.number} ".encode()
        checksum = _checksum(project.encode(), start + self.content)
        return b"%s%d %s %s\n" % (start, len(self.content), checksum, self.content)


class Gap(NamedTuple):
    """Bytes that are no line of the project."""

    begin: int
    end: int


def new_line(kind: str, number: int, content: str, project: str) -> bytes:
    r"""Return the bytes of a new line.

    Examples
    --------
    >>> from kernova.discover.project.lines import new_line
    >>> new_line("e", 1, "{}", project="8f0e")
    b'e 1 2 128f7b5df78ed998 {}\n'
    """
    return Line(kind, number, content.encode(), 0, 0).to_bytes(project)


def has_header(data: bytes) -> bool:
    """Return whether the data begin as a project of this or a later format."""
    return format_of(data) is not None or read_header(data) is not None


def format_of(data: bytes) -> int | None:
    """Return the format that the first line names, or None."""
    found = _ANY_FORMAT.match(data)
    return None if found is None else int(found[1])


def read_header(data: bytes) -> tuple[Header, bool] | None:
    """Return the header and whether a bit of it was corrected; None if it is not readable."""
    header = _header(data[:HEADER_LENGTH])
    if header is not None:
        return header, False
    if len(data) >= HEADER_LENGTH:
        for candidate in _one_bit_changed(data[:HEADER_LENGTH]):
            header = _header(candidate)
            if header is not None:
                return header, True
    return None


def _header(data: bytes) -> Header | None:
    found = _HEADER.fullmatch(data)
    if found is None or _checksum(b"", data[: found.start(3)]) != found[3]:
        return None
    return Header(found[1].decode(), int(found[2]))


def read_lines(data: bytes, begin: int, project: str) -> Iterator[Line | Gap]:
    """Return the lines from a position to the end, and gaps where there is something else.

    A gap that becomes a line when one bit of it is changed is returned as that line.
    """
    search = _Search(data, project)
    n_corrected = 0
    while begin < len(data):
        line = search.line_at(begin)
        if line is not None:
            yield line
            begin = line.end + (data[line.end : line.end + 1] == b"\n")
            continue
        end = search.next_line(begin)
        corrected = None
        if n_corrected < _MOST_CORRECTED and end - begin <= _LONGEST_CORRECTED:
            n_corrected += 1
            corrected = _corrected(data[begin:end], project)
        yield Gap(begin, end) if corrected is None else _moved(corrected, begin)
        begin = end


def find_project(data: bytes) -> str | None:
    """Return the project whose checksum the settings pass, without help of the header."""
    for found in _LINE.finditer(data, 0, min(len(data), 1 << 16)):
        if found[1] == HEAD.encode():
            project = re.search(
                rb'"project": "([0-9a-f]{32})"', data[found.end() : found.end() + 4096]
            )
            if project and _line_at(data, found.start(), project[1].decode()) is not None:
                return project[1].decode()
    return None


class _Search:
    """Lines of some data, with a limit on the bytes hashed."""

    def __init__(self, data: bytes, project: str) -> None:
        self._data, self._project = data, project
        self._left = _SEARCH_FLOOR + _SEARCH_FACTOR * len(data)

    def line_at(self, begin: int) -> Line | None:
        return _line_at(self._data, begin, self._project)

    def next_line(self, begin: int) -> int:
        """Return the position of the next line that passes its checksum, or the end."""
        for found in _LINE.finditer(self._data, begin):
            self._left -= min(int(found[3]), len(self._data))
            if self._left < 0:
                break
            if self.line_at(found.start()) is not None:
                return found.start()
        return len(self._data)


def _line_at(data: bytes, begin: int, project: str) -> Line | None:
    found = _LINE.match(data, begin)
    if found is None:
        return None
    end = found.end() + int(found[3])
    if end > len(data):
        return None
    content = data[found.end() : end]
    if _checksum(project.encode(), data[begin : found.start(3)] + content) != found[4]:
        return None
    return Line(found[1].decode(), int(found[2]), content, begin, end)


def _corrected(data: bytes, project: str) -> Line | None:
    """Return the one line that the data become when one bit is changed."""
    for candidate in _one_bit_changed(data):
        line = _line_at(candidate, 0, project)
        if line is not None and len(data) - line.end <= 1:
            return line
    return None


def _moved(line: Line, begin: int) -> Line:
    return line._replace(begin=begin, end=begin + line.end, was_corrected=True)


def _one_bit_changed(data: bytes) -> Iterator[bytes]:
    candidate = bytearray(data)
    for position in range(len(candidate)):
        for bit in range(8):
            candidate[position] ^= 1 << bit
            yield bytes(candidate)
            candidate[position] ^= 1 << bit


def _checksum(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8, key=key).hexdigest().encode()
