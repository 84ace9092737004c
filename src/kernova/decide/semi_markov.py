"""The search for the best sequence of notes: each lasts within limits, nothing lies between two.

``sums[t, c]`` is what frames 0 to t - 1 add if they all belong to class c. A note of class c from
frame u to frame t - 1 then adds ``sums[t, c] - sums[u, c]``, less what a note costs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Counts = NDArray[np.intp]


# How far back to look at first for the start of a note.
_FIRST_REACH = 1024


class Durations(NamedTuple):
    """How many frames notes of each class may last, and how many must lie between two.

    Attributes
    ----------
    shortest : ndarray of int of shape (n_classes,)
        At least 1.
    longest : ndarray of int of shape (n_classes,) or None
        None sets no limit.
    gap : int
        At least 0.
    """

    shortest: Counts
    longest: Counts | None
    gap: int


class Note(NamedTuple):
    """A note that was found: its first frame, the frame after its last, its class."""

    start: int
    stop: int
    label: int


def best_notes(sums: Matrix, durations: Durations, note_cost: float) -> list[Note]:
    """Give the sequence of notes with the largest total, in order of time.

    Where two sequences are equally good, notes end early and last short.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.decide.semi_markov import Durations, best_notes
    >>> sums = np.cumsum([[0.0], [1.0], [1.0], [-9.0], [2.0], [2.0]], axis=0)
    >>> best_notes(sums, Durations(np.array([2]), None, 0), note_cost=0.5)
    [Note(start=0, stop=2, label=0), Note(start=3, stop=5, label=0)]
    """
    heads = _Heads(sums, durations)
    totals = _best_totals(heads, note_cost)
    raises = np.flatnonzero(totals[1:] > totals[:-1]) + 1
    notes: list[Note] = []
    end = len(totals) - 1
    while place := int(np.searchsorted(raises, end, side="right")):
        stop = int(raises[place - 1])
        values = sums[stop] + heads.best(stop, stop + 1)[0]
        label = int(values.argmax())
        start = heads.latest_best_start(stop, label, totals)
        notes.append(Note(start, stop, label))
        end = max(start - durations.gap, 0)
    return notes[::-1]


def _best_totals(heads: "_Heads", note_cost: float) -> Vector:
    """Give the largest total that the first 0, 1, 2, ... frames allow.

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


class _Group(NamedTuple):
    """Classes whose notes have the same limits."""

    classes: slice | Counts
    shortest: int
    longest: int


class _Heads:
    """What notes that start at a frame have behind them, and the best start for each end."""

    def __init__(self, sums: Matrix, durations: Durations) -> None:
        self.sums = sums
        self.durations = durations
        self._groups = _groups(durations)
        # No note starts before the first frame.
        self._n_padding = max(group.longest for group in self._groups) + 1
        self._values = np.full((self._n_padding + len(sums), sums.shape[1]), -np.inf)

    def learn(self, begin: int, end: int, totals: Vector) -> None:
        """Take in the next frames at which notes may start."""
        heads = self._at(begin, end, totals)
        first = self._n_padding + begin
        if self.durations.longest is None:
            # Without a limit the best start only ever gets better.
            heads = np.maximum.accumulate(np.maximum(heads, self._values[first - 1]), axis=0)
        self._values[first : first + len(heads)] = heads

    def best(self, begin: int, end: int) -> Matrix:
        """Look back from these ends, between the shortest and the longest duration."""
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
        """Find where the best note of a class that ends here starts."""
        value = self.best(stop, stop + 1)[0, label]
        last = stop - int(self.durations.shortest[label])
        reach = _FIRST_REACH
        while True:
            first = max(last + 1 - reach, 0)
            places = np.flatnonzero(self._at(first, last + 1, totals)[:, label] == value)
            if len(places):
                return first + int(places[-1])
            reach *= 2

    def _at(self, begin: int, end: int, totals: Vector) -> Matrix:
        frames = np.arange(begin, end)
        return totals[np.maximum(frames - self.durations.gap, 0)][:, None] - self.sums[begin:end]


def _groups(durations: Durations) -> list[_Group]:
    """Put classes with the same limits together; without a limit only the shortest matters."""
    shortest = durations.shortest
    longest = shortest if durations.longest is None else durations.longest
    limits, member = np.unique(np.c_[shortest, longest], axis=0, return_inverse=True)
    if len(limits) == 1:
        return [_Group(slice(None), *limits[0].tolist())]
    member = member.ravel()
    return [_Group(np.flatnonzero(member == g), *pair.tolist()) for g, pair in enumerate(limits)]
