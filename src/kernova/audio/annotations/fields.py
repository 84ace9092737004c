"""Fields shared by the annotation formats: parsing, checks, and text of numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kernova.audio.annotations.segments import Segment, describe_segment
from kernova.budget import Budget
from kernova.errors import InputError, quoted
from kernova.text import listed, plural
from kernova.textfiles import parse_number

# Roles of columns: the keys of `columns={...}`.
_ROLES = ("start", "end", "label", "score", "low", "high", "file")
_REQUIRED_ROLES = ("start", "end", "label")

# Bytes of memory of a segment with its numbers, a short label and its places in lists.
_BYTES_PER_SEGMENT = 400
_BYTES_PER_COLUMN = 250
_CHECKED_EACH = 1000

TIME_DECIMALS = 9
_FREQUENCY_DECIMALS = 3


class SourceLine(NamedTuple):
    """A line of a file, for error messages."""

    source: str
    line: int

    def __str__(self) -> str:
        """Return the start of a message."""
        return f"Line {self.line} of {self.source}"


# --- reading ---------------------------------------------------------------------------------


class SegmentBudget:
    """Number of segments read from a file, held to the memory budget of the file.

    Parameters
    ----------
    source : str
        The file, for error messages.
    text : str
        Its text, whose length stands for its size.
    """

    def __init__(self, source: str, text: str) -> None:
        self._budget = Budget(source, len(text))
        self._n_segments = 0

    def check_columns(self, n_columns: int) -> None:
        """Raise InputError if the names of so many columns need too much memory."""
        self._budget.check(n_columns * _BYTES_PER_COLUMN)

    def add_segment(self) -> None:
        """Count another segment; raise InputError if they need too much memory."""
        self._n_segments += 1
        if self._n_segments % _CHECKED_EACH == 0:
            self._budget.check(self._n_segments * _BYTES_PER_SEGMENT)


def checked_segment(location: object, segment: Segment) -> Segment:
    """Return the segment; raise InputError if its times are out of order."""
    if segment.start < 0:
        raise InputError(
            f"{location} starts before the recording, at {segment.start:.9g} s; correct it."
        )
    if segment.end < segment.start:
        raise InputError(
            f"{location} ends at {segment.end:.9g} s, before it starts at {segment.start:.9g} s; "
            "correct it."
        )
    return segment


def optional_number(text: str, what: str, location: SourceLine) -> float | None:
    """Read a number; an empty field is None."""
    return parse_number(text, what, location) if text.strip() else None


def columns_by_role(
    header: Sequence[str],
    default: Mapping[str, Sequence[str]],
    chosen: Mapping[str, str] | None,
    source: str,
) -> dict[str, int]:
    """Return the column of each role: the chosen one, or the first default name that is present.

    Parameters
    ----------
    header : sequence of str
        Names in the first line.
    default : mapping of role to names
        Default names in order of preference, without regard to case.
    chosen : mapping of role to name, optional
        Names chosen by the user, which must be present exactly.
    source : str
        The file, for error messages.
    """
    chosen = chosen or {}
    _check_roles(chosen)
    names = [name.strip() for name in header]
    lower = [name.lower() for name in names]
    found: dict[str, int] = {}
    for role in _ROLES:
        if role in chosen:
            if chosen[role] not in names:
                raise _no_column(chosen[role], names, source, "Name one of them.")
            found[role] = names.index(chosen[role])
            continue
        present = [name.lower() for name in default[role] if name.lower() in lower]
        if present:
            found[role] = lower.index(present[0])
        elif role in _REQUIRED_ROLES:
            advice = f"Name the column of the {role}: columns={{{role!r}: ...}}."
            raise _no_column(default[role][0], names, source, advice)
    return found


def _check_roles(chosen: Mapping[str, str]) -> None:
    unknown = [role for role in chosen if role not in _ROLES]
    if unknown:
        raise InputError(
            f"columns has the unknown {plural(len(unknown), 'key')} {listed(unknown)}; its keys "
            f"are {listed(_ROLES)}, each with the name of a column."
        )


def _no_column(name: str, names: Sequence[str], source: str, advice: str) -> InputError:
    return InputError(
        f"{source} has no column {quoted(name)}; its columns are {listed(names)}. {advice}"
    )


# --- writing ---------------------------------------------------------------------------------


def time_text(seconds: float) -> str:
    """Write a time to the nanosecond, always with a decimal point.

    Examples
    --------
    >>> from kernova.audio.annotations.fields import time_text
    >>> time_text(3), time_text(0.1 + 0.2)
    ('3.0', '0.3')
    """
    return _decimal_text(seconds, TIME_DECIMALS)


def frequency_text(hertz: float) -> str:
    """Write a frequency to the thousandth of a hertz, always with a decimal point."""
    return _decimal_text(hertz, _FREQUENCY_DECIMALS)


def score_text(score: float) -> str:
    """Write a score to six significant digits."""
    return f"{score:.6g}"


def one_line(label: str) -> str:
    r"""Replace tabs and line breaks by spaces.

    Examples
    --------
    >>> from kernova.audio.annotations.fields import one_line
    >>> one_line("two\nlines")
    'two lines'
    """
    return label.translate(_BREAKS)


_BREAKS = dict.fromkeys(map(ord, "\t\n\r\0"), " ")


def _decimal_text(value: float, decimals: int) -> str:
    whole, _, part = f"{value:.{decimals}f}".partition(".")
    # Values that round to -0.0 are zero.
    text = f"{whole}.{part.rstrip('0') or '0'}"
    return "0.0" if text == "-0.0" else text


def writable(segment: Segment, sample_rate: float | None) -> Segment:
    """Check that a segment can be written, and clip its frequencies to the Nyquist frequency."""
    name = describe_segment(segment)
    numbers = [segment.start, segment.end, segment.score, segment.low_hz, segment.high_hz]
    if not all(math.isfinite(number) for number in numbers if number is not None):
        raise InputError(f"Cannot write {name}: one of its numbers is not finite.")
    if not 0 <= segment.start <= segment.end:
        raise InputError(
            f"Cannot write {name}: a segment starts at 0 s or later and does not end before it "
            "starts."
        )
    highest = math.inf if sample_rate is None else sample_rate / 2
    low, high = (
        None if hertz is None else min(max(0.0, hertz), highest)
        for hertz in (segment.low_hz, segment.high_hz)
    )
    return segment._replace(
        label=str(segment.label), low_hz=low, high_hz=high, file=segment.file or None
    )


def require_one_file(segments: Sequence[Segment], kind: str) -> None:
    """Raise InputError for segments of several recordings in a format of one recording."""
    files = {segment.file for segment in segments}
    if len(files) > 1:
        raise InputError(
            f"{kind} describes one recording, but the segments belong to {len(files)}; write one "
            "file for each, or use the format 'csv' or 'raven'."
        )
