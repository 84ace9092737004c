"""Decoding of frame scores: from scores per frame and class to notes with borders and class.

:func:`decode_six_steps` is the published decision of the paper on data description by kernel
Mahalanobis distance (MDD-KM). :func:`decode_viterbi` searches for the best sequence of notes with
shortest and longest durations, which also separates notes that follow each other without a gap.

In that search, ``sums[t, c]`` is the total of frames 0 to t - 1 if they all belong to class c. A
note of class c from frame u to frame t - 1 then adds ``sums[t, c] - sums[u, c]``, less the cost of
a note.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter1d

from kernova.errors import InputError, quoted
from kernova.typing import Indices, Matrix, Vector

# Frames that are searched first for the start of a note.
_FIRST_REACH = 1024

NO_NOTE = -1
# Frames in the paper's six steps: shortest note, and length from which a run is decided.
PAPER_SHORT, PAPER_SURE = 35, 60


class Durations(NamedTuple):
    """Limits of the length of notes of each class, and of the gap between two, in frames."""

    shortest: Indices  # at least 1; shape (n_classes,)
    longest: Indices | None  # none for no limit; shape (n_classes,) or None
    gap: int  # at least 0


class Note(NamedTuple):
    """First frame of a note, the frame after its last, and its class."""

    start: int
    stop: int
    label: int


class _Group(NamedTuple):
    """Classes with the same limits of their length."""

    classes: slice | Indices
    shortest: int
    longest: int


class _Heads:
    """Best total before a note that starts at each frame, and the best start for each end."""

    def __init__(self, sums: Matrix, durations: Durations) -> None:
        self.sums = sums
        self.durations = durations
        self._groups = _groups(durations)
        # No note starts before the first frame.
        self._n_padding = max(group.longest for group in self._groups) + 1
        self._values = np.full((self._n_padding + len(sums), sums.shape[1]), -np.inf)

    def learn(self, begin: int, end: int, totals: Vector) -> None:
        """Add the next frames at which notes may start."""
        heads = self._at(begin, end, totals)
        first = self._n_padding + begin
        if self.durations.longest is None:
            # Without a limit the best start only ever gets better.
            heads = np.maximum.accumulate(np.maximum(heads, self._values[first - 1]), axis=0)
        self._values[first : first + len(heads)] = heads

    def best(self, begin: int, end: int) -> Matrix:
        """Return the best total before notes with these ends, within the limits of the length."""
        found = np.empty((end - begin, self.sums.shape[1]))
        for classes, shortest, longest in self._groups:
            width = longest - shortest + 1
            first, last = self._n_padding + begin - longest, self._n_padding + end - shortest
            starts = self._values[first:last, classes]
            if width > 1:
                starts = maximum_filter1d(starts, width, axis=0)[width // 2 :]
            found[:, classes] = starts[: end - begin]
        return found

    def latest_best_start(self, stop: int, label: int, totals: Vector) -> int:
        """Return the start of the best note of a class that ends here."""
        value = self.best(stop, stop + 1)[0, label]
        last = stop - int(self.durations.shortest[label])
        reach = _FIRST_REACH
        while True:
            first = max(last + 1 - reach, 0)
            matches = np.flatnonzero(self._at(first, last + 1, totals)[:, label] == value)
            if len(matches):
                return first + int(matches[-1])
            reach *= 2

    def _at(self, begin: int, end: int, totals: Vector) -> Matrix:
        frames = np.arange(begin, end)
        return totals[np.maximum(frames - self.durations.gap, 0)][:, None] - self.sums[begin:end]


class FrameSegment(NamedTuple):
    """One note, in frames."""

    start: int  # first frame, and the frame after the last
    stop: int
    label: int  # class number: the column of the scores
    score: float  # mean score of the class over the segment


class Decoding(NamedTuple):
    """Result of decoding frame scores."""

    labels: Indices  # class number of each frame, -1 for none; shape (n_frames,)
    # Notes in order of time. Adjacent notes may have the same label and no gap.
    segments: list[FrameSegment]


class _Runs(NamedTuple):
    """Maximal runs of equal values in one sequence."""

    starts: Indices
    stops: Indices

    @property
    def lengths(self) -> Indices:
        return self.stops - self.starts

    def spread(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the value of its run for every frame."""
        return np.repeat(values, self.lengths)


def best_notes(sums: Matrix, durations: Durations, note_cost: float) -> list[Note]:
    """Return the sequence of notes with the largest total, in order of time.

    Ties are resolved for notes that end earlier, then for shorter notes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.notes.decoding import Durations, best_notes
    >>> sums = np.cumsum([[0.0], [1.0], [1.0], [-9.0], [2.0], [2.0]], axis=0)
    >>> best_notes(sums, Durations(np.array([2]), None, 0), note_cost=0.5)
    [Note(start=0, stop=2, label=0), Note(start=3, stop=5, label=0)]
    """
    heads = _Heads(sums, durations)
    totals = _best_totals(heads, note_cost)
    raises = np.flatnonzero(totals[1:] > totals[:-1]) + 1
    notes: list[Note] = []
    end = len(totals) - 1
    while n_raises := int(np.searchsorted(raises, end, side="right")):
        stop = int(raises[n_raises - 1])
        values = sums[stop] + heads.best(stop, stop + 1)[0]
        label = int(values.argmax())
        start = heads.latest_best_start(stop, label, totals)
        notes.append(Note(start, stop, label))
        end = max(start - durations.gap, 0)
    return notes[::-1]


def decode_six_steps(
    scores: ArrayLike,
    threshold: float,
    *,
    n_short: int = PAPER_SHORT,
    n_sure: int = PAPER_SURE,
) -> Decoding:
    """Decode by the six steps of the paper.

    1. Scores below the threshold become 0. 2. In each class, runs of other scores shorter than
    ``n_short`` become 0. 3. Where one class is strictly the largest for more than ``n_sure``
    frames, it is decided. 4. In each run of undecided frames with a score that is not 0, every
    class has its mean, and 5. the run goes to the largest. 6. Runs of one label shorter than
    ``n_short`` become none.

    Notes without a gap between them merge unless each is largest for more than ``n_sure`` frames.

    Parameters
    ----------
    scores : array-like of shape (n_frames, n_classes)
        Score of each frame for each class; 0 if there is no evidence.
    threshold : float
        Scores below it are set to 0.
    n_short : int, default=35
        Length of the shortest note, in frames.
    n_sure : int, default=60
        Runs of one largest class that are longer than this are decided at once.

    Returns
    -------
    Decoding
        Labels of the frames, and notes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.notes.decoding import decode_six_steps
    >>> scores = np.zeros((200, 2))
    >>> scores[20:90, 1] = 3.0
    >>> decode_six_steps(scores, threshold=1.0).segments
    [FrameSegment(start=20, stop=90, label=1, score=3.0)]
    """
    S = _checked_scores(scores)
    kept = _long_enough(np.where(threshold <= S, S, 0.0), n_short)
    labels = _decided_runs(kept, n_sure)
    _decide_by_means(labels, kept)
    runs = _runs(labels)
    labels = np.asarray(
        runs.spread(np.where(runs.lengths < n_short, NO_NOTE, labels[runs.starts])), dtype=np.intp
    )
    runs = _runs(labels)
    notes = labels[runs.starts] != NO_NOTE
    found = zip(runs.starts[notes].tolist(), runs.stops[notes].tolist(), strict=True)
    return Decoding(labels, [_segment(S, a, b, int(labels[a])) for a, b in found])


def decode_viterbi(
    scores: ArrayLike,
    threshold: float,
    *,
    shortest: int | Sequence[int] = PAPER_SHORT,
    longest: int | Sequence[int] | None = None,
    gap: int = 0,
    note_cost: float | None = None,
) -> Decoding:
    """Decode by a search for the best sequence of notes.

    Each frame of a note adds its class's score minus the threshold, each note costs
    ``note_cost``, and frames of no note add nothing; the sequence with the largest sum is found
    exactly (a semi-Markov Viterbi search). Notes last from ``shortest`` to ``longest`` frames and
    may follow each other without a gap.

    Parameters
    ----------
    scores : array-like of shape (n_frames, n_classes)
        Score of each frame for each class.
    threshold : float
        The score at which a frame is as likely to belong to no note.
    shortest : int or sequence of int, default=35
        Length of the shortest note in frames, of all classes or of each. The search takes that
        many frames at a time, so larger values are faster.
    longest : int or sequence of int, optional
        Length of the longest note in frames; no limit by default.
    gap : int, default=0
        Smallest number of frames between two notes.
    note_cost : float, optional
        Cost of each note; by default the gain of half a shortest note at twice the threshold, so
        that ambiguous scores are not cut into small notes.

    Returns
    -------
    Decoding
        As for :func:`decode_six_steps`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.notes.decoding import decode_viterbi
    >>> scores = np.repeat([[0, 0], [0, 3], [3, 0], [0, 0]], [20, 50, 50, 80], axis=0)
    >>> decode_viterbi(scores, threshold=1.0).segments
    [FrameSegment(start=20, stop=70, label=1, score=3.0),
     FrameSegment(start=70, stop=120, label=0, score=3.0)]
    """
    S = _checked_scores(scores)
    durations = _checked_durations(S.shape[1], shortest, longest, gap)
    if note_cost is None:
        scale = abs(threshold) or float(np.abs(S).max(initial=0.0))
        note_cost = scale * float(durations.shortest.min()) / 2
    sums = np.zeros((len(S) + 1, S.shape[1]))
    np.cumsum(S - threshold, axis=0, out=sums[1:])
    found = best_notes(sums, durations, note_cost)
    labels = np.full(len(S), NO_NOTE, dtype=np.intp)
    for note in found:
        labels[note.start : note.stop] = note.label
    return Decoding(labels, [_segment(S, *note) for note in found])


def _best_totals(heads: "_Heads", note_cost: float) -> Vector:
    """Return the largest total of the first 0, 1, 2, ... frames.

    A note that ends among the next ``shortest`` frames began before them, so that those frames
    are searched together.
    """
    sums = heads.sums
    n_frames, step = len(sums) - 1, int(heads.durations.shortest.min())
    totals = np.zeros(n_frames + 1)
    for begin in range(0, n_frames, step):
        heads.learn(max(begin - step + 1, 0), begin + 1, totals)
        end = min(begin + step, n_frames) + 1
        ends = (sums[begin + 1 : end] + heads.best(begin + 1, end)).max(axis=1) - note_cost
        totals[begin + 1 : end] = np.maximum.accumulate(np.maximum(ends, totals[begin]))
    return totals


def _groups(durations: Durations) -> list[_Group]:
    """Group classes by their limits; without an upper limit only the shortest length matters."""
    shortest = durations.shortest
    longest = shortest if durations.longest is None else durations.longest
    limits, member = np.unique(np.c_[shortest, longest], axis=0, return_inverse=True)
    if len(limits) == 1:
        return [_Group(slice(None), *limits[0].tolist())]
    member = member.ravel()
    return [_Group(np.flatnonzero(member == g), *pair.tolist()) for g, pair in enumerate(limits)]


def _runs(values: NDArray[np.generic]) -> _Runs:
    borders = np.flatnonzero(values[1:] != values[:-1]) + 1
    edges = np.r_[0, borders, len(values)] if len(values) else np.zeros(1, dtype=np.intp)
    return _Runs(edges[:-1], edges[1:])


def _long_enough(S: Matrix, n_short: int) -> Matrix:
    """Set short runs to 0: step 2."""
    kept = S.copy()
    for column in kept.T:
        runs = _runs(column != 0)
        column[np.asarray(runs.spread(runs.lengths < n_short), dtype=bool)] = 0.0
    return kept


def _decided_runs(S: Matrix, n_sure: int) -> Indices:
    """Return the class of every frame in a long run of one largest class: step 3."""
    best, largest = S.argmax(axis=1), S.max(axis=1)
    n_largest = (largest[:, None] == S).sum(axis=1)
    best[(n_largest > 1) | (largest <= 0)] = NO_NOTE
    runs = _runs(best)
    return np.where(runs.spread(runs.lengths > n_sure), best, NO_NOTE)


def _decide_by_means(labels: Indices, S: Matrix) -> None:
    """Assign undecided runs to the class of the largest mean, in place: steps 4 and 5."""
    is_open = (labels == NO_NOTE) & (S != 0).any(axis=1)
    runs = _runs(is_open)
    if not is_open.any():
        return
    # All classes of a run have the same number of frames: the largest sum is the largest mean.
    best = np.add.reduceat(S, runs.starts, axis=0).argmax(axis=1)
    labels[is_open] = runs.spread(best)[is_open]


def _segment(S: Matrix, start: int, stop: int, label: int) -> FrameSegment:
    return FrameSegment(start, stop, label, float(S[start:stop, label].mean()))


def _checked_scores(scores: ArrayLike) -> Matrix:
    S = np.asarray(scores, dtype=np.float64)
    if S.ndim != 2 or not S.shape[1]:
        raise InputError(
            f"The scores have shape {S.shape}; give one row per frame and one column per class."
        )
    if not np.isfinite(S).all():
        raise InputError("The scores have values that are NaN or infinite.")
    return S


def _checked_durations(
    n_classes: int,
    shortest: int | Sequence[int],
    longest: int | Sequence[int] | None,
    gap: int,
) -> Durations:
    for name, value in (("shortest", shortest), ("longest", longest)):
        if value is not None and np.shape(value) not in ((), (n_classes,)):
            raise InputError(
                f"{name} is {quoted(value)}; give one number of frames, or one for each of the "
                f"{n_classes} classes."
            )
    least = np.broadcast_to(np.asarray(shortest, dtype=np.intp), n_classes)
    most = None if longest is None else np.broadcast_to(np.asarray(longest, np.intp), n_classes)
    if least.min() < 1 or gap < 0:
        raise InputError(
            f"shortest is {quoted(shortest)} and gap is {quoted(gap)}; a note has at least 1 "
            "frame, a gap at least 0."
        )
    if most is not None and (most < least).any():
        raise InputError(
            f"shortest is {quoted(shortest)} and longest is {quoted(longest)}; shortest must not "
            "exceed longest."
        )
    return Durations(least, most, gap)
