"""Praat TextGrid files in text form, long or short.

Like Praat, the reader takes a TextGrid as a sequence of free-standing values: texts in quotation
marks, numbers, and flags in angle brackets. Everything else ("xmin =", "intervals [3]:", comments
after an exclamation mark) is ignored, so that the long and the short form are the same.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kernova.audio.annotations.fields import (
    SegmentBudget,
    SourceLine,
    checked_segment,
    one_line,
    require_one_file,
    time_text,
)
from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError, quoted, shortened
from kernova.text import listed
from kernova.textfiles import is_number, parse_number

# Possessive: what a quotation mark opens is read once, whether it is closed or not.
_TOKEN = re.compile(r'"(?P<text>[^"]*+(?:""[^"]*+)*+)"|(?P<open>")|![^\n\r]*+|(?P<word>[^\s"]++)')
_HEAD = re.compile(
    r'\s*+(?:File type\s*+=\s*+)?"ooTextFile[^"]*+"\s++(?:Object class\s*+=\s*+)?"TextGrid"'
)
_MOST_DIGITS = 15
_FIRST_OF_A_VALUE = frozenset("+-.,0123456789<")
_TIER_NAME = "notes"


class _Value(NamedTuple):
    """A free-standing value and its position in the text."""

    kind: str  # "text", "number" or "flag"
    content: str
    start: int


class _Location(NamedTuple):
    """The line of a value; lines are counted only for messages."""

    source: str
    text: str
    start: int

    def __str__(self) -> str:
        """Return the start of a message."""
        return str(SourceLine(self.source, _n_line_ends(self.text[: self.start]) + 1))


class _Values:
    """Iterator over the values of a file."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.budget = SegmentBudget(source, text)
        self._values = _values(text, source)
        self._text = text
        self._start = 0

    def text(self, what: str) -> str:
        return self._next("text", what).content

    def number(self, what: str) -> float:
        return parse_number(self._next("number", what).content, what, self.location())

    def count(self, what: str) -> int:
        value = self._next("number", what)
        digits = value.content.lstrip("0") or "0"
        if not digits.isdecimal() or len(digits) > _MOST_DIGITS:
            raise InputError(
                f"{self.location()} has {shortened(value.content, 80)} as {what}, which is not a "
                "whole number; correct it."
            )
        return int(digits)

    def flag(self, what: str) -> str:
        return self._next("flag", what).content

    def location(self) -> _Location:
        """Return the line of the last value."""
        return _Location(self.source, self._text, self._start)

    def _next(self, kind: str, what: str) -> _Value:
        value = next(self._values, None)
        if value is None:
            raise InputError(
                f"{self.source} ends on line {_n_line_ends(self._text.rstrip()) + 1}, where {what} "
                "is expected: it is truncated, or a number of tiers or intervals in it is too high."
            )
        self._start = value.start
        if value.kind != kind:
            raise InputError(
                f"{self.location()} has the {value.kind} {quoted(value.content)} where {what} is "
                "expected; correct it."
            )
        return value


def read_textgrid(text: str, source: str, tier: str | None) -> list[Segment]:
    r"""Read the intervals and points that have a text, of one tier or of all, in order of time.

    Examples
    --------
    >>> from kernova.audio.annotations.textgrid import read_textgrid
    >>> grid = '"ooTextFile" "TextGrid" 0 2 <exists> 1 '
    >>> grid += '"IntervalTier" "notes" 0 2 2   0 0.5 ""   0.5 2 "a ""b"" c"'
    >>> read_textgrid(grid, "song.TextGrid", None)[0][:3]
    (0.5, 2.0, 'a "b" c')
    """
    if not _HEAD.match(text):
        raise InputError(
            f"{source} is not a TextGrid in text form; save it from Praat as a text file."
        )
    values = _Values(text, source)
    values.text("the file type")
    values.text("the object class")
    values.number("the start of the grid")
    values.number("the end of the grid")
    n_tiers = values.count("the number of tiers") if _has_tiers(values) else 0
    tiers = [_tier(values) for _ in range(n_tiers)]
    if tier is not None and tier not in [name for name, _ in tiers]:
        raise InputError(
            f"{source} has no tier {quoted(tier)}; its tiers are "
            f"{listed(name for name, _ in tiers)}. Name one of them."
        )
    wanted = [segment for name, found in tiers if tier in (None, name) for segment in found]
    return sorted(wanted, key=lambda segment: segment.start)


def textgrid(segments: Sequence[Segment], duration: float | None) -> str:
    """Return the text of a TextGrid in long form; gaps are intervals without text.

    Segments that overlap are written to one tier for each label, and points in time to a tier of
    points. Scores and frequencies are not written.
    """
    require_one_file(segments, "A TextGrid")
    if duration is None and not segments:
        raise InputError(
            "A TextGrid without notes spans its recording, whose length is not known; set duration."
        )
    # Times are compared as they are written.
    rounded = sorted(_as_written(segment) for segment in segments)
    end = max([0.0 if duration is None else _rounded(duration), *(s.end for s in rounded)])
    tiers = _interval_tiers([s for s in rounded if s.end > s.start])
    blocks = [_interval_lines(name, tier, end) for name, tier in tiers]
    points = _non_overlapping([s for s in rounded if s.end == s.start])
    blocks += [_point_lines(tier, end) for tier in points]
    lines = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0",
        f"xmax = {time_text(end)}",
        "tiers? <exists>",
        f"size = {len(blocks)}",
        "item []:",
    ]
    for i, block in enumerate(blocks, start=1):
        lines += [f"    item [{i}]:", *block]
    return "\n".join(lines) + "\n"


# --- reading ---------------------------------------------------------------------------------


def _values(text: str, source: str) -> Iterator[_Value]:
    for token in _TOKEN.finditer(text):
        word = token["word"]
        if word is not None and word[0] not in _FIRST_OF_A_VALUE:
            continue
        start = token.start()
        if token["open"]:
            raise InputError(
                f"{_Location(source, text, start)} opens a quotation mark that is not closed; "
                "close it."
            )
        if token["text"] is not None:
            yield _Value("text", token["text"].replace('""', '"'), start)
        elif word is not None and is_number(word):
            yield _Value("number", word, start)
        elif word in ("<exists>", "<absent>"):
            yield _Value("flag", word, start)


def _n_line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _has_tiers(values: _Values) -> bool:
    return values.flag("<exists>") == "<exists>"


def _tier(values: _Values) -> tuple[str, list[Segment]]:
    kind = values.text("the class of a tier")
    if kind not in ("IntervalTier", "TextTier"):
        raise InputError(
            f"{values.location()} has a tier of class {quoted(kind)}; a TextGrid has "
            "'IntervalTier' and 'TextTier'."
        )
    name = values.text("the name of a tier")
    values.number("the start of a tier")
    values.number("the end of a tier")
    segments = []
    for _ in range(values.count("the size of a tier")):
        start = values.number("a start")
        location = values.location()
        end = values.number("an end") if kind == "IntervalTier" else start
        label = values.text("a label")
        if label.strip():
            segments.append(checked_segment(location, Segment(start, end, label)))
            values.budget.add_segment()
    return name, segments


# --- writing ---------------------------------------------------------------------------------


def _rounded(seconds: float) -> float:
    return float(time_text(seconds))


def _as_written(segment: Segment) -> Segment:
    if not segment.label.strip():
        raise InputError(
            f"The segment from {segment.start:.9g} s to {segment.end:.9g} s has no label, which "
            "means silence in a TextGrid; set a label, or use another format."
        )
    return Segment(_rounded(segment.start), _rounded(segment.end), one_line(segment.label))


def _interval_tiers(segments: list[Segment]) -> list[tuple[str, list[Segment]]]:
    """Return one tier if nothing overlaps, even if it is empty, or else tiers by label."""
    together = _non_overlapping(segments)
    if len(together) < 2:
        return [(_TIER_NAME, segments)]
    labels = dict.fromkeys(segment.label for segment in segments)
    return [
        (label, tier)
        for label in labels
        for tier in _non_overlapping([segment for segment in segments if segment.label == label])
    ]


def _non_overlapping(segments: list[Segment]) -> list[list[Segment]]:
    """Distribute sorted segments over as few tiers without overlap as possible."""
    tiers: list[list[Segment]] = []
    for segment in segments:
        for tier in tiers:
            # Praat would merge two points at the same time.
            if tier[-1].end < segment.end and tier[-1].end <= segment.start:
                tier.append(segment)
                break
        else:
            tiers.append([segment])
    return tiers


def _interval_lines(name: str, tier: Sequence[Segment], end: float) -> list[str]:
    intervals: list[tuple[float, float, str]] = []
    reached = 0.0
    for segment in tier:
        if segment.start > reached:
            intervals.append((reached, segment.start, ""))
        intervals.append((segment.start, segment.end, segment.label))
        reached = segment.end
    if end > reached or not intervals:
        intervals.append((reached, end, ""))
    lines = _tier_head("IntervalTier", name, end, f"intervals: size = {len(intervals)}")
    for i, (begin, finish, label) in enumerate(intervals, start=1):
        lines += [
            f"        intervals [{i}]:",
            f"            xmin = {time_text(begin)}",
            f"            xmax = {time_text(finish)}",
            f"            text = {_quoted(label)}",
        ]
    return lines


def _point_lines(tier: Sequence[Segment], end: float) -> list[str]:
    lines = _tier_head("TextTier", "points", end, f"points: size = {len(tier)}")
    for i, point in enumerate(tier, start=1):
        lines += [
            f"        points [{i}]:",
            f"            number = {time_text(point.start)}",
            f"            mark = {_quoted(point.label)}",
        ]
    return lines


def _tier_head(kind: str, name: str, end: float, size: str) -> list[str]:
    return [
        f'        class = "{kind}"',
        f"        name = {_quoted(name)}",
        "        xmin = 0",
        f"        xmax = {time_text(end)}",
        f"        {size}",
    ]


def _quoted(label: str) -> str:
    doubled = label.replace('"', '""')
    return f'"{doubled}"'
