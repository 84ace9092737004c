"""Text files: opening, decoding, lines and numbers, with a message for each way to fail.

Programs write any line end and the encodings of three decades; all of them are read here.
"""

import codecs
import io
import math
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kernova.errors import InputError, quoted, shortened

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

# No header is longer, so a whole table need not be split to see it.
_LONGEST_LINE = 1 << 16

# Possessive, so that a number of a million digits is rejected in one pass.
_NUMBER = re.compile(r"[-+]?(?:\d++(?:[.,]\d*+)?|[.,]\d++)(?:[eE][-+]?\d++)?", re.ASCII)


def open_file(path: str | Path) -> BinaryIO:
    """Open a file to read its bytes; the error says why it cannot be read."""
    try:
        mode = Path(path).stat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            return Path(path).open("rb")
    except IsADirectoryError as error:
        raise InputError(f"{shortened(path)} is a folder; name a file in it.") from error
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise InputError(
            f"There is no file {shortened(path)}; check its name and folder."
        ) from error
    except OSError as error:
        raise InputError(
            f"{shortened(path)} cannot be read: {error.strerror}. Make it readable, or name "
            "another file."
        ) from error
    # Reading a pipe would wait for its writer, and some devices never end.
    raise InputError(f"{shortened(path)} is a pipe or device, not a regular file; name a file.")


def read_text(path: str | Path) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte order mark.

    Line ends stay as they are.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.textfiles import read_text
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.txt"
    >>> _ = path.write_text("ä", encoding="utf-16")
    >>> read_text(path)
    'ä'
    """
    with open_file(path) as stream:
        content = stream.read()
    encoding = "utf-8"
    for mark, marked_encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            content, encoding = content.removeprefix(mark), marked_encoding
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path} is not {encoding[:6].upper()} text: line {line} holds the byte "
            f"0x{content[error.start]:02x}; save it as UTF-8."
        ) from error
    if "\0" in text:
        raise InputError(f"{path} holds binary data, not text; name a file of annotations.")
    return text


def lines_in(text: str) -> Iterator[str]:
    r"""Yield the lines of a text, split at its line ends and nowhere else.

    ``str.splitlines`` would also split at form feeds and at Unicode's line separators, which may
    be part of a label.

    Examples
    --------
    >>> from kernova.textfiles import lines_in
    >>> list(lines_in("a\r\nb\n"))
    ['a', 'b']
    """
    for line in io.StringIO(text, newline=None):
        yield line.removesuffix("\n")


def first_line(text: str) -> str:
    """Return the first line that is not blank, without the blanks before it."""
    return next(lines_in(text.lstrip()[:_LONGEST_LINE]), "")


def is_number(text: str) -> bool:
    """Return whether a text is a number, with a decimal point or a decimal comma."""
    return _NUMBER.fullmatch(text.strip()) is not None


def number_in(text: str) -> float | None:
    """Return the finite number that a text stands for, None if there is none.

    Examples
    --------
    >>> from kernova.textfiles import number_in
    >>> number_in("1,5"), number_in("1e400"), number_in("1_000"), number_in("0x1F"), number_in("٣")
    (1.5, None, None, None, None)
    """
    stripped = text.strip()
    if not _NUMBER.fullmatch(stripped):
        return None
    value = float(stripped.replace(",", "."))
    return value if math.isfinite(value) else None


def parse_number(text: str, what: str, where: object) -> float:
    """Return the number that a text stands for, with a decimal point or a decimal comma.

    Examples
    --------
    >>> from kernova.textfiles import parse_number
    >>> parse_number("1,5", "the start", "Line 2 of song.txt")
    1.5
    """
    value = number_in(text)
    if value is None:
        raise InputError(
            f"{where} has {quoted(text)} as {what}, which is not a number; correct it."
        )
    return value


class Line(NamedTuple):
    """A line that is not blank: its number, from 1, and its text without outer blanks."""

    number: int
    text: str


def read_lines(source: str) -> Iterator[Line]:
    r"""Yield the lines of a file that are not blank.

    The text may be UTF-8, with or without a byte order mark, or in the one-byte encoding of
    Western Windows programs (latin-1 and its extension).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_bytes(b"LM=0\r\n\r\n ID=Andr\xe9")
    >>> list(read_lines(str(path)))
    [Line(number=1, text='LM=0'), Line(number=3, text='ID=André')]
    """
    for number, text in enumerate(lines_in(_decoded(_content(source), source)), 1):
        if stripped := text.strip():
            yield Line(number, stripped)


def _content(source: str) -> bytes:
    with open_file(source or ".") as stream:
        return stream.read()


def _decoded(content: bytes, source: str) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source} is text in UTF-16; save it as UTF-8.")
    # DOS programs end a file with the control character 26.
    content = content.rstrip(b"\x1a")
    if b"\0" in content:
        raise InputError(f"{source} holds binary data, not text; name a text file.")
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")
