"""How far apart the rows of a table lie, and how far they are from some of them."""

from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernova.blocks import slices
from kernova.discover.questions import Rows
from kernova.neighbors.copies import DistinctRows, distinct_rows
from kernova.neighbors.index import build_index
from kernova.progress import track

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Look = Literal["strangers", "crowds"]

# Each of these can be moved by half without moving the figures beyond chance.
_POWERS: Final[dict[Look, float]] = {"strangers": 1 / 2, "crowds": -2 / 3}
# The first question is about the row with the nearest tenth neighbour.
_BULK_NEIGHBOR: Final = 10
_BLOCK: Final = 4096
_TOGETHER: Final = 64


class Spacing(NamedTuple):
    """How far apart rows lie, row by row.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_axes)
        The standardised rows.
    spacing : ndarray of shape (n_rows,)
        Geometric mean of the distances to the two nearest rows that differ.
    closer, wider : ndarrays of shape (n_rows,)
        Share of rows with a smaller spacing, and with a larger one.
    densest : int
        The row whose tenth nearest is nearest.
    weights : dict
        What a row's novelty is multiplied with, for each look.
    distinct : DistinctRows
        The standardised rows without copies.
    """

    rows: Matrix
    spacing: Vector
    closer: Vector
    wider: Vector
    densest: int
    weights: dict[Look, Vector]
    distinct: DistinctRows


def spacing_of(Z: Matrix, n_jobs: int | None = None) -> Spacing:
    """Measure how far apart rows lie; copies of a row are no neighbours of it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.row_spacing import spacing_of
    >>> spacing_of(np.array([[0.0], [1.0], [1.0], [5.0]])).spacing.round(3)
    array([2.236, 2.   , 2.   , 4.472])
    """
    spacing, to_tenth = _neighbor_distances(Z, n_jobs)
    ascending = np.sort(spacing)
    closer = np.searchsorted(ascending, spacing) / len(Z)
    wider = 1 - np.searchsorted(ascending, spacing, side="right") / len(Z)
    weights = {look: spacing**power for look, power in _POWERS.items()}
    return Spacing(Z, spacing, closer, wider, int(np.argmin(to_tenth)), weights, distinct_rows(Z))


def _neighbor_distances(Z: Matrix, n_jobs: int | None) -> tuple[Vector, Vector]:
    """Give each row's spacing, and its distance to the tenth row that differs."""
    if np.ptp(Z, axis=0).max(initial=0.0) == 0:
        return np.ones(len(Z)), np.zeros(len(Z))
    index = build_index(Z, n_jobs=n_jobs, k=_BULK_NEIGHBOR)
    n_distinct = len(index.rows)
    tenth = min(_BULK_NEIGHBOR, max(1, n_distinct // 4))  # of few rows, the tenth is not near
    second = min(2, n_distinct - 1)
    spacing, to_tenth = np.empty(n_distinct), np.empty(n_distinct)
    for block in track(slices(n_distinct, _BLOCK), "spacing"):
        distances = index.nearest(index.rows[block], max(tenth, second) + 1).distances
        spacing[block] = np.sqrt(distances[:, 1]) * np.sqrt(distances[:, second])
        to_tenth[block] = distances[:, tenth]
    spacing = np.ldexp(spacing, index.exponent)
    return np.maximum(spacing, np.finfo(float).tiny)[index.inverse], to_tenth[index.inverse]


def nearest_of(Z: Matrix, rows: Rows) -> Vector:
    """Give the distance of every row to the nearest of some.

    Each distance is worked out as for a single row, so that it does not matter whether rows are
    named together or one by one.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_of(np.array([[0.0], [1.0], [5.0]]), np.array([0, 2]))
    array([0., 1., 0.])
    """
    nearest = np.full(len(Z), np.inf)
    for some in slices(len(rows), _TOGETHER):
        for block in slices(len(Z), _BLOCK):
            np.minimum(
                nearest[block], cdist(Z[block], Z[rows[some]]).min(axis=1), out=nearest[block]
            )
    return nearest
