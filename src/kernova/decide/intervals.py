"""Of many candidate intervals that overlap, the ones that together gain most and do not."""

from array import array

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.blocks import slices
from kernova.errors import InputError

Positions = NDArray[np.intp]

# Candidates that are Python numbers at one time.
_CANDIDATES_PER_BLOCK = 1 << 16


def best_nonoverlapping(starts: ArrayLike, stops: ArrayLike, gains: ArrayLike) -> Positions:
    """Choose intervals without overlap whose gains have the largest sum.

    Weighted interval scheduling: exact, in O(n log n). An interval may start where another stops.
    Intervals that gain nothing are never chosen; where choices are equally good, the one whose
    last interval stops first is taken, and so on backwards; of equal intervals, the first given.

    Parameters
    ----------
    starts, stops : array-like of shape (n,)
        Where each interval begins and where it is over, in frames or in seconds.
    gains : array-like of shape (n,)
        What choosing it is worth.

    Returns
    -------
    ndarray of int
        Numbers of the chosen intervals, in order of time.

    Examples
    --------
    >>> from kernova.decide.intervals import best_nonoverlapping
    >>> best_nonoverlapping([0, 4, 5], [5, 9, 9], [2.0, 3.5, 2.0])
    array([0, 2])
    """
    starts, stops, gains = _checked_intervals(starts, stops, gains)
    useful = np.flatnonzero(gains > 0)
    order = useful[np.argsort(stops[useful], kind="stable")]
    # How many intervals, in order of their stops, are over when this one starts.
    n_before = np.searchsorted(stops[order], starts[order], side="right")
    best = _best_sums(n_before, gains[order])
    return order[_chosen(n_before, best)]


def _best_sums(n_before: Positions, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the largest sum among the first 0, 1, 2, ... intervals.

    Each sum needs earlier ones, so this is a loop over plain numbers: two million take less time
    than sorting them, and compiled code would not halve the whole.
    """
    sums = array("d", bytes(8 * (len(gains) + 1)))
    largest, i = 0.0, 0
    for block in slices(len(gains), _CANDIDATES_PER_BLOCK):
        for before, gain in zip(n_before[block].tolist(), gains[block].tolist(), strict=True):
            with_this = sums[before] + gain
            if with_this > largest:
                largest = with_this
            i += 1
            sums[i] = largest
    return np.frombuffer(sums, dtype=np.float64)


def _chosen(n_before: Positions, best: NDArray[np.float64]) -> Positions:
    """Walk back from the last interval that raised the sum."""
    raises = np.flatnonzero(best[1:] > best[:-1])
    # For each count of intervals, the last among them that raised the sum.
    place = np.searchsorted(raises, np.arange(len(best)))
    chosen: list[int] = []
    count = len(best) - 1
    while place[count]:
        last = int(raises[place[count] - 1])
        chosen.append(last)
        count = int(n_before[last])
    return np.array(chosen[::-1], dtype=np.intp)


def _checked_intervals(
    starts: ArrayLike, stops: ArrayLike, gains: ArrayLike
) -> tuple[NDArray[np.number], NDArray[np.number], NDArray[np.float64]]:
    starts, stops = np.asarray(starts), np.asarray(stops)
    gains = np.asarray(gains, dtype=np.float64)
    if not (starts.ndim == 1 and starts.shape == stops.shape == gains.shape):
        raise InputError(
            f"Intervals have starts, stops and gains of shapes {starts.shape}, {stops.shape} and "
            f"{gains.shape}; give three lists of one length."
        )
    if not all(np.isfinite(values).all() for values in (starts, stops, gains)):
        raise InputError("Intervals have starts, stops or gains that are NaN or infinite.")
    if not (starts < stops).all():
        i = int((starts >= stops).argmax())
        raise InputError(
            f"Interval {i} starts at {starts[i]} and stops at {stops[i]}; it must stop later than "
            "it starts."
        )
    return starts, stops, gains
