"""Compiled loops of approximate neighbours: trees of random splits, and neighbours of neighbours.

Numba compiles the loops on first use and caches them on disk; this module is imported only when
many rows are searched. Every call writes to memory of its own, so that results depend neither on
threads nor on blocks. All loops are in one file, since numba's cache does not notice changes in
another one.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernova.typing import Indices, Matrix

Neighbors = NDArray[np.int32]
Rows = NDArray[Any]  # float64; the number of columns is a multiple of four

# Knuth's linear congruential generator: deterministic, and good enough to draw rows.
_FACTOR, _SUMMAND = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HIGH_BITS = np.uint64(33)


@njit(cache=True, nogil=True)
def _squared_distance(Z: Rows, i: int, j: int) -> Any:
    """Return a squared distance, the same for both orders of the rows."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0  # four sums, which the processor adds at once
    for column in range(0, Z.shape[1], 4):
        one = Z[i, column] - Z[j, column]
        two = Z[i, column + 1] - Z[j, column + 1]
        three = Z[i, column + 2] - Z[j, column + 2]
        four = Z[i, column + 3] - Z[j, column + 3]
        a += one * one
        b += two * two
        c += three * three
        d += four * four
    return (a + b) + (c + d)


@njit(cache=True, nogil=True)
def _insert(found: Neighbors, squared: Matrix, i: int, other: int, gap: Any) -> bool:
    """Insert a neighbour by its distance, unless it is there; drop the farthest one."""
    rank = found.shape[1]
    while rank > 0 and squared[i, rank - 1] > gap:
        rank -= 1
    before = rank
    while before > 0 and squared[i, before - 1] == gap:
        before -= 1
        if found[i, before] == other:
            return False
    if rank == found.shape[1]:
        return False
    for place in range(found.shape[1] - 1, rank, -1):
        squared[i, place] = squared[i, place - 1]
        found[i, place] = found[i, place - 1]
    squared[i, rank] = gap
    found[i, rank] = other
    return True


@njit(cache=True, nogil=True)
def _select(values: Matrix, order: Indices, start: int, stop: int, middle: int) -> None:
    """Move the smaller values, and their rows, before the middle and the larger ones after it."""
    low, high = start, stop - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def grow(Z: Rows, order: Indices, most: int, seed: Any) -> None:
    """Sort rows so that leaves of at most ``most`` rows, at :func:`leaf_starts`, lie together.

    Every node is split at the median along the line through two of its rows.
    """
    values = np.empty(len(order))
    direction = np.empty(Z.shape[1])
    starts, stops = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    starts[0], stops[0], n_open = 0, len(order), 1
    state = np.uint64(seed) * _FACTOR + _SUMMAND
    while n_open > 0:
        n_open -= 1
        start, stop = starts[n_open], stops[n_open]
        size = stop - start
        if size <= most:
            continue
        state = state * _FACTOR + _SUMMAND
        first = np.int64((state >> _HIGH_BITS) % np.uint64(size))
        one = order[start + first]
        state = state * _FACTOR + _SUMMAND
        step = 1 + np.int64((state >> _HIGH_BITS) % np.uint64(size - 1))
        other = order[start + (first + step) % size]
        for column in range(Z.shape[1]):
            direction[column] = Z[one, column] - Z[other, column]
        for place in range(start, stop):
            row, total = order[place], 0.0
            for column in range(Z.shape[1]):
                total += Z[row, column] * direction[column]
            values[place] = total
        middle = start + size // 2
        _select(values, order, start, stop, middle)
        starts[n_open], stops[n_open] = start, middle
        starts[n_open + 1], stops[n_open + 1] = middle, stop
        n_open += 2


@njit(cache=True, nogil=True)
def join_leaves(
    Z: Rows, order: Indices, starts: Indices, found: Neighbors, squared: Matrix
) -> None:
    """Compare all rows of each leaf; ``starts`` has one entry more than there are leaves."""
    k = found.shape[1]
    for leaf in range(len(starts) - 1):
        for first in range(starts[leaf], starts[leaf + 1]):
            i = order[first]
            for second in range(first + 1, starts[leaf + 1]):
                j = order[second]
                gap = _squared_distance(Z, i, j)
                if gap < squared[i, k - 1]:
                    _insert(found, squared, i, j, gap)
                if gap < squared[j, k - 1]:
                    _insert(found, squared, j, i, gap)


@njit(cache=True, nogil=True)
def descend(
    Z: Rows,
    before: Neighbors,
    is_new: NDArray[np.bool_],
    start: int,
    stop: int,
    n_used: int,
    found: Neighbors,
    squared: Matrix,
) -> int:
    """Search the neighbours of some rows' neighbours for nearer ones; return the number found.

    ``found`` and ``squared`` hold the neighbours of these rows only, and are updated in place.
    Pairs are compared if one of their two steps is new.
    """
    k = found.shape[1]
    seen_by = np.full(len(Z), -1, dtype=np.int32)
    n_new = 0
    for i in range(start, stop):
        own = i - start
        seen_by[i] = i
        for rank in range(k):
            seen_by[before[i, rank]] = i
        for rank in range(n_used):
            middle = before[i, rank]
            is_first_new = is_new[i, rank]
            for place in range(n_used):
                if not (is_first_new or is_new[middle, place]):
                    continue
                other = before[middle, place]
                if seen_by[other] == i:
                    continue
                seen_by[other] = i
                gap = _squared_distance(Z, i, other)
                if gap < squared[own, k - 1] and _insert(found, squared, own, other, gap):
                    n_new += 1
    return n_new


@njit(cache=True, nogil=True)
def mark_new(before: Neighbors, found: Neighbors, is_new: NDArray[np.bool_]) -> None:
    """Mark the neighbours that were not among those found before."""
    n_rows, k = found.shape
    for i in range(n_rows):
        for rank in range(k):
            is_new[i, rank] = True
            for place in range(k):
                if before[i, place] == found[i, rank]:
                    is_new[i, rank] = False
                    break
