"""A few prototypes for many rows: a batch self-organizing map.

Prototypes sit on a small grid. Each row pulls its closest prototype and, less, that one's
neighbours on the grid; the neighbourhood shrinks from round to round. The grid starts spread over
the plane of the two largest principal components, so nothing is left to chance.
"""

import numpy as np
from numpy.typing import NDArray

from kernova.blocks import row_blocks
from kernova.kernels.distances import squared_distances

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

_ROUNDS = 30
# Neighbourhoods shrink from half of the grid's longer side to well below the next prototype.
_LAST_RADIUS = 0.5


def self_organizing_map(rows: Matrix, grid: tuple[int, int]) -> Matrix:
    """Return the prototypes of these rows, at most one for each place of the grid.

    Rows of no more different values than there are places are their own prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.describe.self_organizing_map import self_organizing_map
    >>> rows = np.repeat(np.linspace(0.0, 9.0, 10), 3)[:, None]
    >>> self_organizing_map(rows, (3, 1)).ravel().round(1)
    array([1.7, 4.5, 7.3])
    >>> self_organizing_map(rows[:6], (5, 5))
    array([[0.],
           [1.]])
    """
    different = np.unique(rows, axis=0)
    if len(different) <= grid[0] * grid[1]:
        return different
    places = grid_places(grid)
    prototypes = linear_start(rows, grid)
    first = max(max(grid) / 2, _LAST_RADIUS)
    for radius in np.geomspace(first, _LAST_RADIUS, _ROUNDS):
        pull = np.exp(-squared_distances(places, places) / (2 * radius**2))
        prototypes = batch_update(rows, closest(rows, prototypes), pull)
    return prototypes


def grid_places(grid: tuple[int, int]) -> Matrix:
    """Return the coordinates of the places of a grid, line by line."""
    return np.array(list(np.ndindex(*grid)), dtype=np.float64)


def linear_start(rows: Matrix, grid: tuple[int, int]) -> Matrix:
    """Spread a grid over two standard deviations of the two largest principal components."""
    center = rows.mean(axis=0)
    _, lengths, axes = np.linalg.svd(rows - center, full_matrices=False)
    # An axis may point either way; its largest coordinate decides.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    spreads = lengths / np.sqrt(len(rows))
    # The longer side of the grid lies along the longer axis.
    sides = np.argsort([-side for side in grid], kind="stable")
    start = np.tile(center, (grid[0] * grid[1], 1))
    for axis, side in zip(range(min(2, len(axes))), sides, strict=False):
        along = grid_places(grid)[:, side]
        unit = 2 * along / max(grid[side] - 1, 1) - (grid[side] > 1)
        start += 2 * spreads[axis] * unit[:, None] * axes[axis]
    return start


def closest(rows: Matrix, prototypes: Matrix) -> Indices:
    """Return which prototype is closest to each row; of equally close ones the first."""
    found = np.empty(len(rows), dtype=np.intp)
    for block in row_blocks(len(rows), len(prototypes)):
        found[block] = squared_distances(rows[block], prototypes).argmin(axis=1)
    return found


def batch_update(rows: Matrix, winners: Indices, pull: Matrix) -> Matrix:
    """Move each prototype to the mean of all rows, weighted by how near their winner is to it."""
    sums = np.zeros((len(pull), rows.shape[1]))
    np.add.at(sums, winners, rows)
    counts = np.bincount(winners, minlength=len(pull))
    return np.asarray((pull @ sums) / (pull @ counts)[:, None])
