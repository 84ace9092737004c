"""Compiled loops of the neighbour map: a sampling-based relative of t-SNE (LargeVis, UMAP).

Neighbours attract one another, randomly sampled rows repel. Numba compiles the loops on first use
and caches them on disk; this module is imported only when such a map is drawn. All loops are in one
file, since numba's cache does not notice changes in another one.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernova.typing import Single as Points

Neighbours = NDArray[np.int32]

# The largest step of one attraction or repulsion.
_CLIP = np.float32(4.0)
_SOFTENING = np.float32(0.01)
_ONE, _TWO = np.float32(1.0), np.float32(2.0)
# Knuth's linear congruential generator: deterministic, and good enough to sample rows.
_FACTOR, _SUMMAND = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HIGH_BITS = np.uint64(33)


@njit(cache=True, nogil=True)
def _clipped(step: Any) -> Any:
    return min(max(step, -_CLIP), _CLIP)


@njit(cache=True, nogil=True)
def _attract(points: Points, i: int, j: int, rate: Any) -> None:
    """Move two neighbours towards each other."""
    dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
    force = _TWO / (_ONE + dx * dx + dy * dy)
    step_x, step_y = rate * _clipped(force * dx), rate * _clipped(force * dy)
    points[i, 0] -= step_x
    points[i, 1] -= step_y
    points[j, 0] += step_x
    points[j, 1] += step_y


@njit(cache=True, nogil=True)
def _repel(points: Points, i: int, j: Any, rate: Any, strength: Any) -> None:
    """Move a point away from a randomly sampled one."""
    dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
    squared = dx * dx + dy * dy
    force = _TWO * strength / ((_SOFTENING + squared) * (_ONE + squared))
    points[i, 0] += rate * _clipped(force * dx)
    points[i, 1] += rate * _clipped(force * dy)


@njit(cache=True, nogil=True)
def layout_step(
    points: Points, neighbours: Neighbours, rate: Any, strength: Any, n_pushes: int, state: Any
) -> Any:
    """Attract each row to its neighbours once, and repel it from random rows.

    ``points`` are moved in place. Returns the state of the random generator.
    """
    n_rows, k = neighbours.shape
    for i in range(n_rows):
        for rank in range(k):
            _attract(points, i, neighbours[i, rank], rate)
            for _ in range(n_pushes):
                state = state * _FACTOR + _SUMMAND
                other = np.int64((state >> _HIGH_BITS) % np.uint64(n_rows))
                if other != i:
                    _repel(points, i, other, rate, strength)
    return state
