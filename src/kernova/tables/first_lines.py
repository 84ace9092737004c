"""The first lines of separated text: comments, the header, and what separates the fields.

The separator is the one that splits the header and the first rows alike. Where the header has none
and most fields are numbers, blanks separate them. Some programs write comments, or a line "sep=;",
before the header, and others a separator at the end of each row but not of the header.
"""

import csv
import io
import re
from typing import Final, NamedTuple

from kernova.errors import InputError
from kernova.text import plural, quantity

_SEPARATOR_NAMES: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
# Separators that need no remark, by the one that a file's extension stands for.
EXPECTED: Final = {",": ",;", "\t": "\t"}
_FIRST_LINES: Final = 20  # that must have as many separators as the header
_LONGEST_START: Final = 1 << 20
_MARKUP: Final = {
    "HTML or XML": re.compile(r"\s*<(?:!doctype|html|\?xml|table)", re.IGNORECASE),
    "JSON": re.compile(r'\s*(?:\[\s*[\[{]|\{\s*")'),
}
_SEPARATOR_LINE: Final = re.compile(rb'"?sep=([,;\t|])"?\r?\n')
_COMMENT: Final = re.compile(rb"[\r\n]*#[^\r\n]*[\r\n]+")
_NUMBER: Final = re.compile(r'\s*"?[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?"?\s*')


class Header(NamedTuple):
    """The header line, the separator, and how many lines of comments come before."""

    line: str
    separator: str
    n_comments: int
    notes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns; none if the header ends inside quotation marks."""
        return names_in(self.line, self.separator)


def find_header(content: bytearray, expected: str, source: str) -> Header:
    """Find the header line, and bring ``content`` into a form that Arrow reads.

    Parameters
    ----------
    content : bytearray
        The text in UTF-8. Lines before the header are removed; blanks that separate fields become
        tabs.
    expected : str
        The separator that the file's extension stands for.
    source : str
        The path of the file, for messages.
    """
    _reject_markup(content, source)
    declared = _remove_separator_line(content)
    n_comments = _remove_comments(content)
    header = _first_line(content)
    if declared:
        return Header(header, declared, n_comments, ())
    if _is_separated_by_blanks(content, header):
        content[:] = b"\n".join(b"\t".join(line.split()) for line in content.split(b"\n"))
        note = f"{source} is separated by blanks, and was read so."
        return Header(_first_line(content), "\t", n_comments, (note,))
    chosen = _separator_of(content, header, expected)
    header = _with_last_separator(content, header, chosen)
    if chosen in EXPECTED[expected]:
        return Header(header, chosen, n_comments, ())
    note = f"{source} is separated by {_SEPARATOR_NAMES[chosen]}, and was read so."
    return Header(header, chosen, n_comments, (note,))


def comment_note(n_comments: int, source: str) -> str:
    """Return the sentence that comments were left out."""
    verb = plural(n_comments, "begins", "begin")
    return f"{quantity(n_comments, 'line')} of {source} that {verb} with # left out."


def codes_in(content: bytearray, header: Header) -> list[str]:
    """Return the columns of digits in which numbers begin with zeros: 01067 is a code.

    Only the start of the text is looked at.
    """
    mark = re.escape(header.separator.encode())
    start = bytes(content[:_LONGEST_START])
    if not re.search(rb'(?:%b|[\n"])0[0-9]+(?:%b|[\r\n"])' % (mark, mark), start):
        return []
    text = start.decode("utf-8", "ignore")
    rows = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]), delimiter=header.separator)
    names, codes, others = next(rows, []), set[int](), set[int]()
    try:
        for row in rows:
            for position, cell in enumerate(row):
                if position in others or not (digits := cell.strip()):
                    continue
                if not (digits.isascii() and digits.isdigit()):
                    others.add(position)
                elif len(digits) > 1 and digits[0] == "0":
                    codes.add(position)
    except csv.Error:
        return []
    return [names[position] for position in sorted(codes - others) if position < len(names)]


def names_in(header: str, separator: str) -> list[str]:
    """Return the names of the columns, none if the header ends inside quotation marks."""
    try:
        return next(csv.reader([header], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def _reject_markup(content: bytearray, source: str) -> None:
    start = bytes(content[:200]).decode("utf-8", "ignore")
    for kind, pattern in _MARKUP.items():
        if pattern.match(start):
            raise InputError(f"{source} holds {kind}, not separated text; save the table as CSV.")


def _first_line(content: bytearray) -> str:
    found = re.match(rb"[\r\n]*([^\r\n]*)", content)
    return found[1].decode() if found else ""


def _lines(content: bytearray) -> list[str]:
    """Return the first lines that are not empty."""
    start = bytes(content[:_LONGEST_START]).decode("utf-8", "ignore")
    lines = re.split(r"[\r\n]+", start.strip("\r\n"), maxsplit=_FIRST_LINES + 1)
    return [line for line in lines if line][: _FIRST_LINES + 1]


def _remove_separator_line(content: bytearray) -> str:
    """Remove the line "sep=;" that Excel reads, and return its separator, "" without one."""
    found = _SEPARATOR_LINE.match(content)
    if found is None:
        return ""
    separator, end = found[1].decode(), found.end()
    del content[:end]
    return separator


def _remove_comments(content: bytearray) -> int:
    """Remove the lines before the header that begin with #, and return their number."""
    starts, end = [], 0
    while found := _COMMENT.match(content, end):
        starts.append(end)
        end = found.end()
    if not starts or end == len(content):
        return 0
    if _is_header(_first_line(content[starts[-1] : end]), _first_line(content[end:])):
        end = starts.pop()
    del content[:end]
    return len(starts)


def _is_header(comment: str, row: str) -> bool:
    """Return whether a line that begins with # has the names of the next line's numbers."""
    for mark in _SEPARATOR_NAMES:
        n_marks = _count_outside(comment, mark)
        if n_marks and n_marks == _count_outside(row, mark):
            return any(map(_NUMBER.fullmatch, row.split(mark))) and not any(
                map(_NUMBER.fullmatch, comment.split(mark))
            )
    return False


def _is_separated_by_blanks(content: bytearray, header: str) -> bool:
    if any(mark in header for mark in _SEPARATOR_NAMES) or '"' in header:
        return False
    names = header.split()
    rows = [line.split() for line in _lines(content)[1:]]
    if len(names) < 2 or not rows or any(len(row) != len(names) for row in rows):
        return False
    n_numbers = sum(_NUMBER.fullmatch(cell) is not None for row in rows for cell in row)
    return 2 * n_numbers >= len(rows) * len(names) and b'"' not in content


def _separator_of(content: bytearray, header: str, expected: str) -> str:
    """Return the separator that the first lines have as often as the header.

    Where several do, or none, it is the one that the extension stands for, or else the first that
    the header has.
    """
    order = [expected, *(mark for mark in _SEPARATOR_NAMES if mark != expected)]
    counts = {mark: _count_outside(header, mark) for mark in order}
    present = [mark for mark in order if counts[mark]]
    if not present:
        return expected
    if len(present) == 1 and present[0] in EXPECTED[expected]:
        return present[0]
    lines = _lines(content)[1:]
    for mark in present:
        if lines and all(_count_outside(line, mark) == counts[mark] for line in lines):
            return mark
    return present[0] if present[0] != "|" else expected


def _with_last_separator(content: bytearray, header: str, separator: str) -> str:
    """Add a separator to the header if all rows, but not the header, end in one."""
    lines = _lines(content)[1:]
    wanted = _count_outside(header, separator) + 1
    if wanted == 1 or not lines:
        return header
    if all(
        line.rstrip(" ").endswith(separator) and _count_outside(line, separator) == wanted
        for line in lines
    ):
        end = content.index(header.encode()) + len(header.encode())
        content[end:end] = separator.encode()
        return header + separator
    return header


def _count_outside(line: str, mark: str) -> int:
    """Count a separator outside of quotation marks."""
    return re.sub(r'"[^"]*"', "", line).count(mark)
