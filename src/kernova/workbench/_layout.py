"""The loops of the map of neighbours, compiled by numba on first use and kept on disk.

It is imported only when such a map is drawn. The idea is that of t-SNE's kin which draw lots for
what is far apart (LargeVis, UMAP): neighbours pull at one another, rows drawn by lot push. All of
it stands in one file, since numba would not notice a change in another one.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Points = NDArray[np.float32]
Neighbours = NDArray[np.int32]

# The largest step of one pull or push.
_CLIP = np.float32(4.0)
_SOFTENING = np.float32(0.01)
_ONE, _TWO = np.float32(1.0), np.float32(2.0)
# Knuth's generator of lots: the same everywhere, and as good as is needed to push points about.
_FACTOR, _SUMMAND = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HIGH_BITS = np.uint64(33)


@njit(cache=True, nogil=True)
def _squared_distance(Z: Points, i: int, j: int, most: Any) -> Any:
    """Sum squares until they are more than is of interest."""
    total = np.float32(0.0)
    for column in range(Z.shape[1]):
        gap = Z[i, column] - Z[j, column]
        total += gap * gap
        if total >= most:
            break
    return total


@njit(cache=True, nogil=True)
def _insert(found: Neighbours, squared: Points, i: int, other: int, gap: Any) -> None:
    """Put a neighbour where it belongs; the farthest goes."""
    place = found.shape[1] - 1
    while place > 0 and squared[i, place - 1] > gap:
        squared[i, place] = squared[i, place - 1]
        found[i, place] = found[i, place - 1]
        place -= 1
    squared[i, place] = gap
    found[i, place] = other


@njit(cache=True, nogil=True)
def nearer_neighbours(Z: Points, found: Neighbours, squared: Points) -> int:
    """Look among the neighbours of every row's neighbours for nearer ones; count what is new.

    ``found`` and ``squared`` (distances) are put right in place, the nearest first.
    """
    n_rows, k = found.shape
    before = found.copy()
    seen_by = np.full(n_rows, -1, dtype=np.int64)
    n_new = 0
    for i in range(n_rows):
        seen_by[i] = i
        for place in range(k):
            seen_by[found[i, place]] = i
        for place in range(k * k):
            other = before[before[i, place // k], place % k]
            if seen_by[other] == i:
                continue
            seen_by[other] = i
            gap = _squared_distance(Z, i, other, squared[i, k - 1])
            if gap < squared[i, k - 1]:
                _insert(found, squared, i, other, gap)
                n_new += 1
    return n_new


@njit(cache=True, nogil=True)
def _clipped(step: Any) -> Any:
    return min(max(step, -_CLIP), _CLIP)


@njit(cache=True, nogil=True)
def _pull(points: Points, i: int, j: int, rate: Any) -> None:
    """Draw two neighbours together."""
    dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
    force = _TWO / (_ONE + dx * dx + dy * dy)
    step_x, step_y = rate * _clipped(force * dx), rate * _clipped(force * dy)
    points[i, 0] -= step_x
    points[i, 1] -= step_y
    points[j, 0] += step_x
    points[j, 1] += step_y


@njit(cache=True, nogil=True)
def _push(points: Points, i: int, j: Any, rate: Any, strength: Any) -> None:
    """Keep a point away from one drawn by lot."""
    dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
    squared = dx * dx + dy * dy
    force = _TWO * strength / ((_SOFTENING + squared) * (_ONE + squared))
    points[i, 0] += rate * _clipped(force * dx)
    points[i, 1] += rate * _clipped(force * dy)


@njit(cache=True, nogil=True)
def drawn_together(
    points: Points, neighbours: Neighbours, rate: Any, strength: Any, n_pushes: int, state: Any
) -> Any:
    """Let every row pull at its neighbours once, and be pushed by lots; give the lots' state.

    ``points`` are moved in place.
    """
    n_rows, k = neighbours.shape
    for i in range(n_rows):
        for place in range(k):
            _pull(points, i, neighbours[i, place], rate)
            for _ in range(n_pushes):
                state = state * _FACTOR + _SUMMAND
                other = np.int64((state >> _HIGH_BITS) % np.uint64(n_rows))
                if other != i:
                    _push(points, i, other, rate, strength)
    return state
