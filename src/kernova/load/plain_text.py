"""Text files as people's programs write them: any line end, and the encodings of three decades."""

from typing import NamedTuple

from kernova.errors import InputError
from kernova.load.file_text import lines_of, open_file


class Line(NamedTuple):
    """A line that is not blank: its number as people count, and its text without outer blanks."""

    number: int
    text: str


def read_lines(source: str) -> list[Line]:
    r"""Read the lines of a file that are not blank.

    The text may be UTF-8, with or without a byte order mark, or in the one-byte encoding of
    Western Windows programs (latin-1 and its extension).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_bytes(b"LM=0\r\n\r\n ID=Andr\xe9")
    >>> read_lines(str(path))
    [Line(number=1, text='LM=0'), Line(number=3, text='ID=André')]
    """
    texts = lines_of(_decoded(_content(source), source))
    return [Line(number, text.strip()) for number, text in enumerate(texts, 1) if text.strip()]


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
