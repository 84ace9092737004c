"""Segments: labelled intervals of a recording, and checks of them."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from kernova.errors import InputError, quoted, shortened

# Annotated times are rounded, mostly to hundredths; a border this far past the end is the end.
EDGE_TOLERANCE_SECONDS = 0.01

_MAX_FAULTS = 5


class Segment(NamedTuple):
    """A note, call or other labelled interval; times in seconds from the recording's start.

    Attributes
    ----------
    start, end : float
        Start and end time, equal for a point in time.
    label : str
        Class, as text: ``"01"`` is not ``"1"``.
    score : float or None
        Confidence of a detector.
    low_hz, high_hz : float or None
        Frequency range, if there is one.
    file : str or None
        Recording, as written in a table of several recordings.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> Segment(1.063, 1.151, "0").label
    '0'
    """

    start: float
    end: float
    label: str
    score: float | None = None
    low_hz: float | None = None
    high_hz: float | None = None
    file: str | None = None


def describe_segment(segment: Segment) -> str:
    """Return label and times of a segment, for messages.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment, describe_segment
    >>> describe_segment(Segment(0.5, 1.25, "trill"))
    "'trill' from 0.5 s to 1.25 s"
    """
    where = "" if segment.file is None else f" in {shortened(segment.file, 80)}"
    return f"{quoted(str(segment.label))} from {segment.start:.9g} s to {segment.end:.9g} s{where}"


def segments_by_file(
    segments: Iterable[Segment], folder: str | Path | None = None
) -> dict[str | None, list[Segment]]:
    """Group the segments of one table by recording, in the order of first appearance.

    Parameters
    ----------
    segments : iterable of Segment
        Segments of several recordings; those without a file have the key None.
    folder : path, optional
        Folder of the table, to which the names of recordings are relative. The keys are then
        paths that can be opened.

    Returns
    -------
    dict of str or None to list of Segment
        The segments themselves are unchanged.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment, segments_by_file
    >>> table = [Segment(0, 1, "a", file="1.wav"), Segment(2, 3, "b", file="1.wav")]
    >>> {file: len(segments) for file, segments in segments_by_file(table, "songs").items()}
    {'songs/1.wav': 2}
    """
    by_file: dict[str | None, list[Segment]] = {}
    for segment in segments:
        file = segment.file
        if file is not None and folder is not None:
            file = str(Path(folder) / file)
        by_file.setdefault(file, []).append(segment)
    return by_file


def segment_faults(
    segments: Sequence[Segment], duration: float | None = None, *, may_overlap: bool = False
) -> list[str]:
    """Return the faults of segments, one sentence for each; empty if there is none.

    Parameters
    ----------
    segments : sequence of Segment
        Segments of one recording, or of several that are named in ``file``.
    duration : float, optional
        Length of the recording in seconds; without it, the end is not checked.
    may_overlap : bool, default=False
        Whether segments may overlap.

    Returns
    -------
    list of str
        Sentences without a full stop.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment, segment_faults
    >>> segment_faults([Segment(0.5, 1.5, "a"), Segment(1.0, 2.5, "b")], duration=2.0)
    ["'b' from 1 s to 2.5 s lies past the end of the recording (2 s)",
     "'a' from 0.5 s to 1.5 s and 'b' from 1 s to 2.5 s overlap"]
    """
    alone = [fault for segment in segments for fault in _faults_of(segment, duration)]
    if may_overlap:
        return alone
    return alone + [
        f"{describe_segment(earlier)} and {describe_segment(later)} overlap"
        for together in segments_by_file(segments).values()
        for earlier, later in _overlaps(together)
    ]


def check_segments(
    segments: Sequence[Segment],
    duration: float | None = None,
    *,
    source: str = "the annotation",
    may_overlap: bool = False,
) -> None:
    """Raise InputError if :func:`segment_faults` finds any fault.

    Parameters
    ----------
    segments, duration, may_overlap
        As for :func:`segment_faults`.
    source : str
        Name of the table in the message: its file.

    Raises
    ------
    InputError
        With the first five faults.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment, check_segments
    >>> check_segments([Segment(0.5, 0.5, "a")], source="song.txt")
    Traceback (most recent call last):
      ...
    kernova.errors.InputError: song.txt cannot be used: 'a' from 0.5 s to 0.5 s has no length.
    Correct it.
    """
    faults = segment_faults(segments, duration, may_overlap=may_overlap)
    if not faults:
        return
    extra = len(faults) - _MAX_FAULTS
    named = faults[:_MAX_FAULTS] + ([f"and {extra} more faults"] if extra > 0 else [])
    raise InputError(f"{shortened(source)} cannot be used: {'; '.join(named)}. Correct it.")


def _faults_of(segment: Segment, duration: float | None) -> list[str]:
    name = describe_segment(segment)
    if not (math.isfinite(segment.start) and math.isfinite(segment.end)):
        return [f"{name} has a time that is not finite"]
    faults = []
    if segment.start < 0:
        faults.append(f"{name} starts before the recording")
    if segment.end < segment.start:
        faults.append(f"{name} ends before it starts")
    if segment.end == segment.start:
        faults.append(f"{name} has no length")
    if duration is not None and segment.end > duration + EDGE_TOLERANCE_SECONDS:
        faults.append(f"{name} lies past the end of the recording ({duration:.9g} s)")
    return faults


def _overlaps(segments: Iterable[Segment]) -> list[tuple[Segment, Segment]]:
    """Return each pair of a segment and an earlier one that has not ended when it starts."""
    found = []
    latest: Segment | None = None
    for segment in sorted(segments, key=lambda segment: (segment.start, segment.end)):
        if latest is not None and segment.start < latest.end and segment.end > segment.start:
            found.append((latest, segment))
        if latest is None or segment.end > latest.end:
            latest = segment
    return found
