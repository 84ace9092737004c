"""All rows in two dimensions: by their main axes at once, and by their neighbours where it pays.

The map of all rows: at once by their axes, then by their neighbours, coloured by category.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.neighbors.duplicates import distinct_rows
from kernova.progress import track
from kernova.typing import Matrix
from kernova.workbench.shared import BackgroundJob, Desk

Points = NDArray[np.float32]

# Axes of more columns than this are found without a full decomposition.
_MANY_COLUMNS: Final = 400
# Up to so many times the radius that holds nearly all rows, a map keeps all proportions.
_PLAIN_REACH: Final = 3.0
_NEARLY_ALL: Final = 0.98

# A map of neighbours: of so many each; chosen among others by how many of them stay near, on the
# tables named in the tests.
MOST_ROWS: Final = 100_000
_FEWEST_ROWS: Final = 50
_NEIGHBOURS: Final = 10
_STRENGTH: Final = 7.0
_FIRST_RATE: Final = 0.3
_EXTENT: Final = 10.0
# Up to here a map gets the best that pays; beyond, it would take too long.
_FEW_ROWS: Final = 20_000
# Neighbours are first looked for along the strongest axes, then among neighbours of neighbours.
_SEARCH_AXES: Final = 6
_DISTANCE_AXES: Final = 50
_SEARCH_ROUNDS: Final = 8
_FEW_CHANGES: Final = 0.002
_JITTER: Final = 1e-6
_ROWS_COMPARED: Final = 1000


@dataclass(frozen=True, eq=False)
class RowMap:
    """Every row as a point.

    Attributes
    ----------
    kind : {"axes", "neighbours"}
        What nearness on the map stands for.
    points : ndarray of shape (n_rows, 2)
        Single precision, each number within -1 and 1.
    words : str
        What a reader of the map should know.
    """

    kind: Literal["axes", "neighbours"]
    points: Points
    words: str


def axes_map(encoded: Matrix) -> RowMap:
    """Draw the rows along the two axes in which they differ most (principal components, PCA).

    Rows far out are drawn nearer, in their direction, where they would squeeze all others.

    Parameters
    ----------
    encoded : array of shape (n_rows, n_columns)
        The rows as finite numbers.

    Returns
    -------
    RowMap
        The same for the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.row_map import axes_map
    >>> drawn = axes_map(np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    >>> drawn.points[:, 0].tolist()
    [-1.0, 0.0, 1.0]
    >>> drawn.words
    'The two axes along which rows differ most: 100 % of all differences.'
    """
    scores, share = main_axes(encoded, 2)
    points, is_bent = fitted_points(scores)
    words = f"The two axes along which rows differ most: {100 * share:.0f} % of all differences."
    if is_bent:
        words += " Rows far out are drawn nearer."
    return RowMap("axes", points, words)


def main_axes(encoded: Matrix, n_axes: int) -> tuple[Matrix, float]:
    """Give the rows along their strongest axes, and which share of all variance these hold."""
    largest = np.abs(encoded).max(initial=0.0)
    rows = encoded / (np.ldexp(1.0, int(np.clip(np.frexp(largest)[1], -1021, 1023))))
    rows = rows - rows.mean(axis=0)
    scores = np.zeros((len(rows), n_axes))
    total = float(np.einsum("ij,ij->", rows, rows))
    if total == 0:
        return scores, 1.0
    directions = _strongest_directions(rows, n_axes)
    found = rows @ directions
    scores[:, : found.shape[1]] = found
    return scores, min(1.0, float(np.einsum("ij,ij->", found, found)) / total)


def _strongest_directions(rows: Matrix, n_axes: int) -> Matrix:
    """Give directions with signs of their own: the column with the largest part counts up."""
    n_axes = min(n_axes, *rows.shape)
    if rows.shape[1] <= _MANY_COLUMNS:
        directions = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :n_axes]
    else:
        from sklearn.utils.extmath import randomized_svd

        directions = randomized_svd(rows, n_axes, random_state=0)[2].T
    strongest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[strongest, np.arange(n_axes)])
    return np.asarray(directions * signs)


def fitted_points(scores: Matrix) -> tuple[Points, bool]:
    """Fit points into the square from -1 to 1, and tell whether far ones had to be drawn nearer.

    Proportions stay as they are unless a few rows are so far out that nothing else could be seen;
    then distances from the middle grow by their logarithm beyond the radius of nearly all rows.
    """
    if len(scores) == 0:
        return np.zeros((0, 2), dtype=np.float32), False
    middle = np.median(scores, axis=0)
    offsets = scores - middle
    radii = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    usual, farthest = float(np.quantile(radii, _NEARLY_ALL)), float(radii.max())
    if farthest == 0:
        return np.zeros(scores.shape, dtype=np.float32), False
    usual = usual or float(radii[radii > 0].min())
    is_bent = farthest > _PLAIN_REACH * usual
    if is_bent:
        ratio = np.maximum(radii / usual, 1.0)
        offsets = offsets * ((1 + np.log(ratio)) / ratio)[:, None]
    # Centred by the extremes, so that the square is well used.
    low, high = offsets.min(axis=0), offsets.max(axis=0)
    centred = offsets - (low + high) / 2
    scaled = centred / np.abs(centred).max()
    return np.clip(scaled, -1, 1).astype(np.float32), is_bent


def neighbours_map(encoded: Matrix) -> RowMap | None:
    """Draw the rows so that neighbours stay neighbours, as far as two dimensions allow.

    Neighbours pull at one another and rows drawn by lot push, from where :func:`axes_map` puts
    them; in the manner of t-SNE, but in time that grows with the number of rows only.

    Parameters
    ----------
    encoded : array of shape (n_rows, n_columns)
        The rows as finite numbers.

    Returns
    -------
    RowMap or None
        The same for the same rows. None where it does not pay: for fewer than 50 or more than
        100,000 rows, or if no more neighbours stay near than on the map of the axes.

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
    if len(distinct.rows) < _FEWEST_ROWS or len(encoded) > MOST_ROWS:
        return None
    axes = axes_map(distinct.rows)
    neighbours = near_rows(distinct.rows, _NEIGHBOURS)
    points, is_bent = fitted_points(_drawn_together(axes.points, neighbours))
    stay, stay_on_axes = (_share_kept(one, neighbours) for one in (points, axes.points))
    if stay <= stay_on_axes:
        return None
    words = (
        f"Rows that are alike lie together: {100 * stay:.0f} % of each row's {_NEIGHBOURS} nearest "
        f"are among its nearest here ({100 * stay_on_axes:.0f} % on the map of the axes). "
        "Distances between far groups mean nothing."
    )
    if is_bent:
        words += " Rows far out are drawn nearer."
    return RowMap("neighbours", points[distinct.inverse], words)


def near_rows(Z: Matrix, k: int) -> NDArray[np.int32]:
    """Give nearly all of each row's ``k`` nearest, the nearest first; rows must differ.

    Examples
    --------
    >>> import numpy as np
    >>> near_rows(np.array([[0.0], [1.0], [3.0], [7.0]]), 2).tolist()
    [[1, 2], [0, 2], [1, 0], [2, 1]]
    """
    from kernova.workbench._layout import nearer_neighbours

    scores = main_axes(Z, min(_DISTANCE_AXES, Z.shape[1]))[0]
    rows = np.ascontiguousarray(scores / np.abs(scores).max(), dtype=np.float32)
    # Rows that differ along other axes only would make a tree with one huge leaf.
    jitter = np.random.default_rng(0).normal(size=(len(scores), min(_SEARCH_AXES, Z.shape[1])))
    strongest = rows[:, :_SEARCH_AXES] + _JITTER * jitter
    # With tight nodes a tree of rows that are nearly alike takes very long to build.
    tree = cKDTree(strongest, balanced_tree=False, compact_nodes=False)
    found = tree.query(strongest, k + 1)[1]
    is_self = found == np.arange(len(found))[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # rows alike on these axes may crowd a row out
    near = found[~is_self].reshape(len(found), k).astype(np.int32)
    squared = np.empty(near.shape, dtype=np.float32)
    for place in range(k):
        gaps = rows - rows[near[:, place]]
        squared[:, place] = np.einsum("ij,ij->i", gaps, gaps)
    order = np.argsort(squared, axis=1, kind="stable")
    near = np.take_along_axis(near, order, axis=1)
    squared = np.take_along_axis(squared, order, axis=1)
    for _ in track(range(_SEARCH_ROUNDS), "finding neighbours"):
        if nearer_neighbours(rows, near, squared) <= _FEW_CHANGES * near.size:
            break
    return near


def _drawn_together(points: Points, neighbours: NDArray[np.int32]) -> Matrix:
    from kernova.workbench._layout import drawn_together

    is_few = len(points) <= _FEW_ROWS
    n_rounds, n_pushes = (200, 15) if is_few else (100, 10)
    # Points that fall together would never part.
    jitter = np.random.default_rng(0).normal(scale=1e-3, size=points.shape)
    moved = (points * _EXTENT + jitter).astype(np.float32)
    state, strength = np.uint64(1), np.float32(_STRENGTH)
    for turn in track(range(n_rounds), "drawing the map"):
        rate = np.float32(_FIRST_RATE * (1 - turn / n_rounds))
        state = drawn_together(moved, neighbours, rate, strength, n_pushes, np.uint64(state))
    return moved.astype(np.float64)


def _share_kept(points: Points, neighbours: NDArray[np.int32]) -> float:
    """Measure on a sample of rows how many of their neighbours are among the nearest points."""
    n_rows, k = neighbours.shape
    sample = np.linspace(0, n_rows - 1, min(n_rows, _ROWS_COMPARED)).astype(np.intp)
    nearest = cKDTree(points).query(points[sample], k + 1)[1]
    is_kept = (nearest[:, :, None] == neighbours[sample][:, None, :]).any(axis=1)
    return float(is_kept.mean())


SKIPPED: Final = 65535  # how a row that was passed over is coloured


class MapOfRows:
    """Places and colours of all rows.

    Parameters
    ----------
    desk : Desk
        The session.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._axes: RowMap | None = None
        self._better: BackgroundJob[RowMap | None] = BackgroundJob(desk.changed)

    def prepare(self, after: BackgroundJob[Any]) -> None:
        """Draw the better map in the background, when what is more urgent is done."""

        def work() -> RowMap | None:
            after.wait()
            return neighbours_map(self._desk.discovery.encoded)

        self._better.start(work)

    def description(self) -> dict[str, Any]:
        """Say what the map shows, and whether a better one is being drawn."""
        shown = self._shown()
        step = self._better.step
        return {
            "kind": shown.kind,
            "words": shown.words,
            "rows": len(shown.points),
            "version": self._desk.version,
            "better": {
                "state": self._better_state(),
                "done": 0 if step is None else step.done,
                "total": 0 if step is None else step.total,
            },
        }

    def points(self, kind: str | None = None) -> bytes:
        """Give x and y of each row, as 32-bit floats, the lowest byte first."""
        shown = self._axes_map() if kind == "axes" else self._shown()
        return np.ascontiguousarray(shown.points, dtype="<f4").tobytes()

    def labels(self) -> tuple[bytes, int]:
        """Give each row's category: 0 none, else 1 and its place; and the version that holds."""
        with self._desk.lock:
            session, version = self._desk.session, self._desk.version
            codes = np.zeros(self._desk.n_rows, dtype="<u2")
            codes[session.asked_] = SKIPPED
            for place, rows in enumerate(session.categories_.values(), start=1):
                codes[list(rows)] = min(place, SKIPPED - 1)
        return codes.tobytes(), version

    def _axes_map(self) -> RowMap:
        if self._axes is None:
            self._axes = axes_map(self._desk.discovery.encoded)
        return self._axes

    def _shown(self) -> RowMap:
        return self._better.result or self._axes_map()

    def _better_state(self) -> str:
        if self._better.state == "ready" and self._better.result is None:
            return "none"  # too many rows for a better one
        return self._better.state
