"""Where density falls off steeply: counts of neighbours, and how they change nearby."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.blocks import row_blocks, slices
from kernova.discover.questions import Rows
from kernova.kernels.distances import squared_distances
from kernova.progress import track

Matrix = NDArray[np.float64]

# Pairs looked at for one question: a quarter of a second's work. Up to 4,400 rows these are all.
_MOST_PAIRS: Final = 20_000_000
_ROWS_AT_ONCE: Final = 64
# Of more rows than this, a sample stands for all centres of balls, and a tree counts neighbours.
_MANY_ROWS: Final = 10_000
_SAMPLED_CENTRES: Final = 2_000


class DensityScale(NamedTuple):
    """How dense it is around every row, seen through a window for clusters of one size.

    Attributes
    ----------
    size : int
        How many rows a cluster is thought to have.
    radius : float
        The smallest ball around a row that holds so many, itself included.
    counts : array of int
        Rows within that radius of each row, itself included.
    """

    size: int
    radius: float
    counts: Rows


class Steepest(NamedTuple):
    """The row where most neighbours are lost nearby, and how many."""

    row: int
    step: int


def density_scales(Z: Matrix, sizes: Sequence[int]) -> list[DensityScale]:
    """Give the densest radius for each size, and the rows within it around every row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.density_steps import density_scales
    >>> (scale,) = density_scales(np.array([[0.0], [0.1], [0.25], [3.0]]), [3])
    >>> scale.radius, scale.counts.tolist()
    (0.15, [2, 3, 2, 1])
    """
    wanted = [min(size, len(Z)) for size in sizes]
    limits = _densest_balls(Z, wanted)
    counts = _counts_within(Z, np.sqrt(limits))
    return [
        DensityScale(size, float(np.sqrt(limit)), counts[which])
        for which, (size, limit) in enumerate(zip(wanted, limits, strict=True))
    ]


def _densest_balls(Z: Matrix, sizes: Sequence[int]) -> NDArray[np.float64]:
    """Give for each size the smallest squared radius around a row that holds so many rows."""
    places = np.unique([size - 1 for size in sizes])
    nearest = np.full(len(places), np.inf)
    centres = Z[:: max(1, len(Z) // _SAMPLED_CENTRES)] if len(Z) > _MANY_ROWS else Z
    for block in track(row_blocks(len(centres), 2 * len(Z)), "distances"):
        squared = np.partition(squared_distances(centres[block], Z), places, axis=1)[:, places]
        nearest = np.minimum(nearest, squared.min(axis=0))
    # Distances come out a little different in other blocks: the ball must hold its own edge.
    found: NDArray[np.float64] = nearest[np.searchsorted(places, np.subtract(sizes, 1))]
    return found * (1 + 1e-9)


def _counts_within(Z: Matrix, radii: NDArray[np.float64]) -> NDArray[np.intp]:
    """Count the rows within each radius of every row."""
    counts = np.empty((len(radii), len(Z)), dtype=np.intp)
    if len(Z) > _MANY_ROWS:
        tree = cKDTree(Z)
        for which in track(range(len(radii)), "counting neighbours"):
            counts[which] = tree.query_ball_point(Z, radii[which], return_length=True)
        return counts
    for block in track(row_blocks(len(Z), 2 * len(Z)), "counting neighbours"):
        squared = squared_distances(Z[block], Z)
        for which, radius in enumerate(radii):
            counts[which, block] = np.count_nonzero(squared <= radius**2 * (1 + 1e-12), axis=1)
    return counts


def steepest_row(
    Z: Matrix, scale: DensityScale, reach: float, is_open: NDArray[np.bool_]
) -> Steepest:
    """Find the open row whose count exceeds the lowest count within ``reach`` by most.

    Rows with high counts are looked at first, and no more of them than can still win.
    """
    open_rows = np.flatnonzero(is_open)
    counts = scale.counts
    order = open_rows[np.argsort(-counts[open_rows], kind="stable")]
    order = order[: max(_ROWS_AT_ONCE, _MOST_PAIRS // len(Z))]
    floor = counts.min()
    best = Steepest(int(order[0]), -1)
    for block in slices(len(order), _ROWS_AT_ONCE):
        rows = order[block]
        if counts[rows[0]] - floor <= best.step:
            break
        within = squared_distances(Z[rows], Z) <= reach**2
        steps = counts[rows] - np.where(within, counts, len(Z) + 1).min(axis=1)
        found = int(np.argmax(steps))
        if steps[found] > best.step:
            best = Steepest(int(rows[found]), int(steps[found]))
    return best
