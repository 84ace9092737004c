"""Maps that keep nearest neighbours together: of all rows, and a coarse one of a sample."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.neighbors.graph import nearly_nearest
from kernova.neighbors.index import distinct_rows
from kernova.progress import Stage, track
from kernova.text import percent
from kernova.typing import Indices, Matrix
from kernova.typing import Single as Points
from kernova.workbench.row_map.axes import (
    BENT,
    RowMap,
    axes_map,
    fit_to_square,
    principal_scores,
)

# Parameters of the neighbour map, chosen by the fraction of neighbours that stay near on the tables
# named in the tests.
MOST_ROWS: Final = 100_000
_FEWEST_ROWS: Final = 50
_NEIGHBOURS: Final = 10
_STRENGTH: Final = 7.0
_FIRST_RATE: Final = 0.3
_EXTENT: Final = 10.0
_DISTANCE_AXES: Final = 50
# Of more rows than MOST_ROWS, so many are laid out; each other row lies amid its neighbours. To
# move a million points by chance scatters them farther than their neighbours are away.
_SAMPLED_ROWS: Final = 50_000
_PLACING_ROUNDS: Final = 5
# The coarse map lays out so many rows in a second or two; each other row lies amid the rows of the
# sample that are nearest on the first axes.
COARSE_FROM: Final = 20_000
_COARSE_ROWS: Final = 4_000
_COARSE_AXES: Final = 5
_COARSE_NEIGHBOURS: Final = 3


class _Drawing(NamedTuple):
    """How long a map is drawn: rounds over all rows, and repulsions of each attraction."""

    n_rounds: int
    n_pushes: int


# Up to this number of rows the map gets more iterations; beyond, they would take too long.
_FEW_ROWS: Final = 20_000
_FEW, _MANY = _Drawing(200, 15), _Drawing(100, 10)
_ROWS_COMPARED: Final = 1000
# Seconds that a million rows, and one move of one point, take; only their ratio matters.
_SEARCHING: Final = 12e-6
_MOVING: Final = 1.1e-8

_BESIDE: Final = " Most rows are drawn amid the nearest of a sample of {:,}."
_COARSE: Final = (
    "A coarse map of a sample of {:,} rows, with all others amid the nearest of them: similar rows "
    "lie together."
)


def stages_of(n_rows: int) -> list[Stage]:
    """Return the tasks of the neighbour map of so many rows, and how long they take in relation.

    Examples
    --------
    >>> from kernova.workbench.row_map.neighbours import stages_of
    >>> [stage.task for stage in stages_of(1000)]
    ['finding neighbours', 'drawing the map']
    """
    n_drawn = n_rows if n_rows <= MOST_ROWS else _SAMPLED_ROWS
    settings = _settings(n_drawn)
    n_moves = n_drawn * settings.n_rounds * _NEIGHBOURS * (1 + settings.n_pushes)
    return [
        Stage("finding neighbours", _SEARCHING * n_rows),
        Stage("drawing the map", _MOVING * n_moves),
    ]


def neighbours_map(encoded: Matrix) -> RowMap | None:
    """Return a map that keeps neighbours together, as far as two dimensions allow.

    Starting from :func:`axes_map`, neighbours attract one another and randomly sampled rows repel,
    as in the sampling-based relatives of t-SNE (LargeVis, UMAP). The time is linear in the number
    of rows. Of more than 100,000 rows, a sample is laid out so, and the others amid it.

    Parameters
    ----------
    encoded : array of shape (n_rows, n_columns)
        The rows, as for :func:`axes_map`.

    Returns
    -------
    RowMap or None
        Deterministic. None for fewer than 50 rows, or if no more neighbours stay near than on the
        map of principal components.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.row_map import neighbours_map
    >>> rows = np.random.default_rng(0).normal(size=(300, 8))
    >>> drawn = neighbours_map(rows)
    >>> drawn.kind, drawn.points.shape
    ('neighbours', (300, 2))
    """
    distinct = distinct_rows(encoded)
    if len(distinct.rows) < _FEWEST_ROWS:
        return None
    axes = axes_map(distinct.rows).points
    neighbours = near_rows(distinct.rows, _NEIGHBOURS)
    laid_out = _laid_out(distinct.rows, axes, neighbours)
    points, is_bent = fit_to_square(laid_out.points)
    kept, kept_on_axes = (_fraction_kept(one, neighbours) for one in (points, axes))
    if kept <= kept_on_axes:
        return None
    words = (
        f"Similar rows lie together: {percent(kept)} of each row's {_NEIGHBOURS} nearest "
        f"neighbours are among the nearest on this map ({percent(kept_on_axes)} on the map of "
        "principal components). Distances between distant groups have no meaning."
    )
    return RowMap("neighbours", points[distinct.inverse], words + laid_out.words + BENT * is_bent)


def coarse_map(encoded: Matrix) -> RowMap | None:
    """Return a neighbour map of a sample with all other rows amid it, in a second or two.

    It is shown until :func:`neighbours_map` is ready.

    Parameters
    ----------
    encoded : array of shape (n_rows, n_columns)
        The rows, as for :func:`axes_map`.

    Returns
    -------
    RowMap or None
        Deterministic. None for so few rows that the whole map takes no longer, or if no more
        neighbours stay near than on the map of principal components.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.row_map import coarse_map
    >>> coarse_map(np.zeros((300, 8))) is None
    True
    """
    if len(encoded) <= COARSE_FROM:
        return None
    sample = _sample_of(len(encoded), _COARSE_ROWS)
    distinct = distinct_rows(encoded[sample])
    if len(distinct.rows) < _FEWEST_ROWS:
        return None
    axes = axes_map(encoded).points
    neighbours = near_rows(distinct.rows, _NEIGHBOURS)
    start = np.zeros((len(distinct.rows), 2), dtype=np.float32)
    start[distinct.inverse] = axes[sample]
    laid_out = _layout(start * np.float32(_EXTENT), neighbours, _FEW)
    drawn, drawn_axes = fit_to_square(laid_out)[0], fit_to_square(start.astype(np.float64))[0]
    if _fraction_kept(drawn, neighbours) <= _fraction_kept(drawn_axes, neighbours):
        return None
    amid = _amid_sample(encoded, sample, laid_out[distinct.inverse])
    points, is_bent = fit_to_square(amid)
    return RowMap("sample", points, _COARSE.format(len(sample)) + BENT * is_bent)


def _amid_sample(encoded: Matrix, sample: Indices, laid_out: Matrix) -> Matrix:
    """Return all points, each amid those of the sample that are nearest on the first axes."""
    scores = principal_scores(encoded, min(_COARSE_AXES, encoded.shape[1]))[0]
    k = min(_COARSE_NEIGHBOURS, len(sample))
    distances, near = cKDTree(scores[sample]).query(scores, k)
    distances, near = distances.reshape(len(scores), k), near.reshape(len(scores), k)
    nearness = 1 / np.maximum(distances, np.finfo(np.float64).tiny ** 0.25)
    nearness /= nearness.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ijk->ik", nearness, laid_out[near]))


class _LaidOut(NamedTuple):
    points: Matrix
    words: str  # a sentence if only a sample was laid out by itself


def _laid_out(rows: Matrix, axes: Points, neighbours: NDArray[np.int32]) -> _LaidOut:
    """Return the points of distinct rows, before they are fitted to the square."""
    if len(rows) <= MOST_ROWS:
        drawn = _layout(axes * np.float32(_EXTENT), neighbours, _settings(len(rows)))
        return _LaidOut(drawn, "")
    sample = _sample_of(len(rows), _SAMPLED_ROWS)
    near_in_sample = near_rows(rows[sample], _NEIGHBOURS)
    drawn = _layout(axes[sample] * np.float32(_EXTENT), near_in_sample, _MANY)
    points = _beside_sample(drawn, sample, neighbours, axes)
    return _LaidOut(points, _BESIDE.format(len(sample)))


def _settings(n_drawn: int) -> _Drawing:
    return _FEW if n_drawn <= _FEW_ROWS else _MANY


def _sample_of(n_rows: int, n_sampled: int) -> Indices:
    return np.sort(np.random.RandomState(0).choice(n_rows, n_sampled, replace=False))


def _beside_sample(
    laid_out: Matrix, sample: Indices, neighbours: NDArray[np.int32], axes: Points
) -> Matrix:
    """Return all points, where each row lies amid those of its neighbours that have a place."""
    placed = np.zeros((len(axes), 2))
    placed[sample] = laid_out
    is_placed = np.zeros(len(axes), dtype=np.bool_)
    is_placed[sample] = True
    for _ in range(_PLACING_ROUNDS):
        rows = np.flatnonzero(~is_placed)
        has_place = is_placed[neighbours[rows]]
        counts = has_place.sum(axis=1)
        weights = has_place / np.maximum(counts, 1)[:, None]
        amid = np.einsum("ij,ijk->ik", weights, placed[neighbours[rows]])
        placed[rows[counts > 0]] = amid[counts > 0]
        is_placed[rows[counts > 0]] = True
    # Groups without a row in the sample lie where the principal components have them.
    placed[~is_placed] = axes[~is_placed] * _EXTENT
    return placed


def near_rows(Z: Matrix, k: int) -> NDArray[np.int32]:
    """Return nearly all of each row's ``k`` nearest neighbours, nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> near_rows(np.array([[0.0], [1.0], [3.0], [7.0]]), 2).tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    """
    scores = principal_scores(Z, min(_DISTANCE_AXES, Z.shape[1]))[0]
    return nearly_nearest(scores, k).indices


def _layout(start: Points, neighbours: NDArray[np.int32], settings: _Drawing) -> Matrix:
    from kernova.workbench.row_map._layout import layout_step

    # Coinciding points would never separate.
    jitter = np.random.default_rng(0).normal(scale=1e-3, size=start.shape)
    moved = (start + jitter).astype(np.float32)
    state, strength = np.uint64(1), np.float32(_STRENGTH)
    for turn in track(range(settings.n_rounds), "drawing the map"):
        rate = np.float32(_FIRST_RATE * (1 - turn / settings.n_rounds))
        state = layout_step(moved, neighbours, rate, strength, settings.n_pushes, np.uint64(state))
    return moved.astype(np.float64)


def _fraction_kept(points: Points, neighbours: NDArray[np.int32]) -> float:
    """Return the fraction of neighbours that are among the nearest points, for a sample of rows."""
    n_rows, k = neighbours.shape
    sample = np.linspace(0, n_rows - 1, min(n_rows, _ROWS_COMPARED)).astype(np.intp)
    nearest = cKDTree(points).query(points[sample], k + 1)[1]
    is_kept = (nearest[:, :, None] == neighbours[sample][:, None, :]).any(axis=1)
    return float(is_kept.mean())
