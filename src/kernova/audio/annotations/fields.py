"""What the formats share: fields of a line as numbers and words, and numbers as text."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kernova.audio.annotations.segments import Segment, in_words
from kernova.errors import InputError
from kernova.text import listed
from kernova.textfiles import number_in

# What a column can be about, in the words of `columns={...}`.
ROLES = ("start", "end", "label", "score", "low", "high", "file")
_REQUIRED_ROLES = ("start", "end", "label")

TIME_DECIMALS = 9
_FREQUENCY_DECIMALS = 3


class Place(NamedTuple):
    """A line of a file, for sentences."""

    source: str
    line: int

    def __str__(self) -> str:
        """Begin a sentence with it."""
        return f"Line {self.line} of {self.source}"


# --- reading ---------------------------------------------------------------------------------


def checked_segment(place: Place, segment: Segment) -> Segment:
    """Refuse times in the wrong order while the line they stand on is known."""
    if segment.start < 0:
        raise InputError(
            f"{place} begins before the recording, at {segment.start:.9g} s; correct it."
        )
    if segment.end < segment.start:
        raise InputError(
            f"{place} ends at {segment.end:.9g} s, before it begins at {segment.start:.9g} s; "
            "correct it."
        )
    return segment


def optional_number(text: str, what: str, place: Place) -> float | None:
    """Read a number; an empty field is none."""
    return number_in(text, what, place) if text.strip() else None


def columns_by_role(
    header: Sequence[str],
    usual: Mapping[str, Sequence[str]],
    chosen: Mapping[str, str] | None,
    source: str,
) -> dict[str, int]:
    """Find the column of each role: as chosen, or else the first usual name that is there.

    Parameters
    ----------
    header : sequence of str
        The names in the first line.
    usual : mapping of role to names
        In order of preference; their case does not matter.
    chosen : mapping of role to name, optional
        Names that somebody gave; they must be there as they are.
    source : str
        The file, for sentences.
    """
    chosen = chosen or {}
    _refuse_unknown_roles(chosen)
    names = [name.strip() for name in header]
    lower = [name.lower() for name in names]
    found: dict[str, int] = {}
    for role in ROLES:
        if role in chosen:
            if chosen[role] not in names:
                raise _no_column(chosen[role], names, source, "Name one of them.")
            found[role] = names.index(chosen[role])
            continue
        present = [name.lower() for name in usual[role] if name.lower() in lower]
        if present:
            found[role] = lower.index(present[0])
        elif role in _REQUIRED_ROLES:
            advice = f"Say which one holds the {role}: columns={{{role!r}: ...}}."
            raise _no_column(usual[role][0], names, source, advice)
    return found


def _refuse_unknown_roles(chosen: Mapping[str, str]) -> None:
    unknown = [role for role in chosen if role not in ROLES]
    if unknown:
        raise InputError(
            f"columns has no use for {listed(unknown)}; it takes {listed(ROLES)}, each with the "
            "name of a column."
        )


def _no_column(name: str, names: Sequence[str], source: str, advice: str) -> InputError:
    return InputError(f"{source} has no column {name!r}; its columns are {listed(names)}. {advice}")


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
    r"""Put a space for whatever would break a line or a field.

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
    # -0.0 and all that rounds to it is zero.
    text = f"{whole}.{part.rstrip('0') or '0'}"
    return "0.0" if text == "-0.0" else text


def writable(segment: Segment, sample_rate: float | None) -> Segment:
    """Refuse what no reader could follow; bring frequencies between zero and Nyquist's."""
    numbers = [segment.start, segment.end, segment.score, segment.low_hz, segment.high_hz]
    if not all(math.isfinite(number) for number in numbers if number is not None):
        raise InputError(f"Cannot write {in_words(segment)}: one of its numbers is not finite.")
    if not 0 <= segment.start <= segment.end:
        raise InputError(
            f"Cannot write {in_words(segment)}: a segment begins at 0 s or later and ends no "
            "sooner than it begins."
        )
    highest = math.inf if sample_rate is None else sample_rate / 2
    low, high = (
        None if hertz is None else min(max(0.0, hertz), highest)
        for hertz in (segment.low_hz, segment.high_hz)
    )
    return segment._replace(
        label=str(segment.label), low_hz=low, high_hz=high, file=segment.file or None
    )


def refuse_several_files(segments: Sequence[Segment], kind: str) -> None:
    """Refuse to mix recordings in a format that cannot tell them apart."""
    files = {segment.file for segment in segments}
    if len(files) > 1:
        raise InputError(
            f"{kind} describes one recording, and these segments belong to {len(files)}; write one "
            "file for each, or write 'csv' or 'raven'."
        )
