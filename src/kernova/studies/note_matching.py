"""Which found note is which true one: by onset, by overlap, and frame by frame."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.load.segments import EDGE_TOLERANCE_SECONDS, Segment

NO_NOTE = -1
# Times come from files with nine decimals; two onsets just the tolerance apart belong together.
_ROUNDING = 1e-9


class Pair(NamedTuple):
    """The places of a true note and of the found one that answers to it."""

    true: int
    found: int


def onset_pairs(true_onsets: ArrayLike, found_onsets: ArrayLike, tolerance: float) -> list[Pair]:
    """Pair onsets no further apart than the tolerance, each used once, as many as can be.

    Both are gone through in order of time, and the earliest two that may be paired are: among
    points on a line with one tolerance for all, no other way gives more pairs.

    Parameters
    ----------
    true_onsets, found_onsets : array-like of float
        Seconds, in any order.
    tolerance : float
        Seconds.

    Returns
    -------
    list of Pair
        In order of time.

    Examples
    --------
    >>> from kernova.studies.note_matching import onset_pairs
    >>> onset_pairs([1.0, 1.03], [1.02, 0.99, 7.0], tolerance=0.02)
    [Pair(true=0, found=1), Pair(true=1, found=0)]
    """
    true, found = np.asarray(true_onsets, float), np.asarray(found_onsets, float)
    true_order, found_order = np.argsort(true, kind="stable"), np.argsort(found, kind="stable")
    pairs = []
    i = j = 0
    while i < len(true) and j < len(found):
        late = found[found_order[j]] - true[true_order[i]]
        if abs(late) <= tolerance + _ROUNDING:
            pairs.append(Pair(int(true_order[i]), int(found_order[j])))
        i, j = i + (late >= -tolerance - _ROUNDING), j + (late <= tolerance + _ROUNDING)
    return pairs


def overlap_pairs(truth: Sequence[Segment], found: Sequence[Segment]) -> list[Pair]:
    """Pair notes that share time, whatever their labels: the longest shared time first.

    Each note is used once. Neither the true notes nor the found ones may overlap one another.

    Examples
    --------
    >>> from kernova.load.segments import Segment
    >>> from kernova.studies.note_matching import overlap_pairs
    >>> overlap_pairs([Segment(0, 1, "a")], [Segment(0, 0.2, "b"), Segment(0.3, 0.9, "c")])
    [Pair(true=0, found=1)]
    """
    pairs = _meetings(truth, found)
    shared = [
        min(truth[i].end, found[j].end) - max(truth[i].start, found[j].start) for i, j in pairs
    ]
    taken_true, taken_found, chosen = set(), set(), []
    for place in np.argsort(-np.array(shared), kind="stable"):
        pair = pairs[place]
        if pair.true not in taken_true and pair.found not in taken_found:
            chosen.append(pair)
            taken_true.add(pair.true)
            taken_found.add(pair.found)
    return sorted(chosen)


def _meetings(truth: Sequence[Segment], found: Sequence[Segment]) -> list[Pair]:
    """Give all pairs that share time, in one walk along both."""
    true_order = sorted(range(len(truth)), key=lambda place: truth[place].start)
    found_order = sorted(range(len(found)), key=lambda place: found[place].start)
    pairs = []
    i = j = 0
    while i < len(truth) and j < len(found):
        true_place, found_place = true_order[i], found_order[j]
        one, other = truth[true_place], found[found_place]
        if max(one.start, other.start) < min(one.end, other.end):
            pairs.append(Pair(true_place, found_place))
        if one.end <= other.end:
            i += 1
        else:
            j += 1
    return pairs


def frame_labels(
    segments: Iterable[Segment], classes: Sequence[str], n_frames: int, hop_seconds: float
) -> NDArray[np.intp]:
    """Give the class number of each frame, by what lies at its middle; -1 where no class does.

    Examples
    --------
    >>> from kernova.load.segments import Segment
    >>> from kernova.studies.note_matching import frame_labels
    >>> frame_labels([Segment(0.002, 0.006, "b"), Segment(0.006, 0.008, "x")], ["a", "b"], 5, 0.002)
    array([-1,  1,  1, -1, -1])
    """
    labels = np.full(n_frames, NO_NOTE, dtype=np.intp)
    number_of = {name: number for number, name in enumerate(classes)}
    for segment in segments:
        # Half-way borders fall to the later frame; rounding must not move them.
        first, stop = (
            max(0, int(np.ceil(round(time / hop_seconds - 0.5, 6))))
            for time in (segment.start, segment.end)
        )
        labels[first:stop] = number_of.get(segment.label, NO_NOTE)
    return labels


def without_rounding_overlaps(segments: Iterable[Segment]) -> list[Segment]:
    """Let a note end where the next begins, if it reaches into it by a hundredth second at most.

    Examples
    --------
    >>> from kernova.load.segments import Segment
    >>> from kernova.studies.note_matching import without_rounding_overlaps
    >>> [note[:2] for note in without_rounding_overlaps([Segment(0, 0.51, "a"),
    ...                                                  Segment(0.5, 1, "b")])]
    [(0, 0.5), (0.5, 1)]
    """
    notes = sorted(segments, key=lambda segment: (segment.start, segment.end))
    for place, (earlier, later) in enumerate(pairwise(list(notes))):
        reaches = earlier.end - later.start
        if 0 < reaches <= EDGE_TOLERANCE_SECONDS + _ROUNDING and earlier.start < later.start:
            notes[place] = earlier._replace(end=later.start)
    return notes
