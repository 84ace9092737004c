"""Audacity labels: start, end and text separated by tabs, without a header line.

A second line that begins with a backslash holds the frequencies of the label above it, if they were
exported; a negative frequency is none. An empty file is a label track without labels.
"""

from collections.abc import Sequence

from kernova.audio.annotations.fields import (
    SegmentBudget,
    SourceLine,
    checked_segment,
    frequency_text,
    one_line,
    require_one_file,
    time_text,
)
from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError
from kernova.textfiles import lines_in, parse_number


def read_audacity(text: str, source: str) -> list[Segment]:
    r"""Read labels; a point label starts and ends at the same time.

    Examples
    --------
    >>> from kernova.audio.annotations.audacity import read_audacity
    >>> read_audacity("0.5\t0.75\ttrill\n\\\t2000\t-1\n", "labels.txt")
    [Segment(start=0.5, end=0.75, label='trill', score=None, low_hz=2000.0, high_hz=None,
             file=None)]
    """
    segments: list[Segment] = []
    budget = SegmentBudget(source, text)
    for i, line in enumerate(lines_in(text), start=1):
        if not line.strip():
            continue
        location = SourceLine(source, i)
        fields = line.split("\t", maxsplit=3)
        if fields[0] == "\\":
            if not segments:
                raise InputError(f"{location} holds frequencies before any label; add the label.")
            segments[-1] = _with_frequencies(segments[-1], fields, location)
        else:
            segments.append(_label(fields, location))
            budget.add_segment()
    return segments


def audacity_labels(segments: Sequence[Segment]) -> str:
    """Return the text of labels, with a line of frequencies if there are any; without scores."""
    require_one_file(segments, "A file of Audacity labels")
    return "".join(_lines(segment) for segment in segments)


def _label(fields: Sequence[str], location: SourceLine) -> Segment:
    if len(fields) < 2:
        raise InputError(
            f"{location} is not an Audacity label: it needs a start, an end and a text, separated "
            "by tabs."
        )
    start, end = (
        parse_number(field, what, location)
        for field, what in zip(fields[:2], ("the start", "the end"), strict=True)
    )
    return checked_segment(location, Segment(start, end, "\t".join(fields[2:])))


def _with_frequencies(segment: Segment, fields: Sequence[str], location: SourceLine) -> Segment:
    if len(fields) != 3:
        raise InputError(
            f"{location} begins with a backslash and needs a low and a high frequency, separated "
            "by tabs."
        )
    low, high = (
        parse_number(field, what, location)
        for field, what in zip(fields[1:], ("the low frequency", "the high frequency"), strict=True)
    )
    return segment._replace(
        low_hz=None if low < 0 else low,
        high_hz=None if high < 0 else high,
    )


def _lines(segment: Segment) -> str:
    label = f"{time_text(segment.start)}\t{time_text(segment.end)}\t{one_line(segment.label)}\n"
    if segment.low_hz is None and segment.high_hz is None:
        return label
    low, high = (
        "-1.0" if hertz is None else frequency_text(hertz)
        for hertz in (segment.low_hz, segment.high_hz)
    )
    return f"{label}\\\t{low}\t{high}\n"
