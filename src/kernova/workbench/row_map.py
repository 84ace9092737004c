"""Maps of all rows in two dimensions: principal components, and a layout of nearest neighbours.

The map of principal components (PCA) is shown at once. A map that keeps neighbours together
replaces it when it is ready, if it is better. Points are coloured by category.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from kernova.neighbors.graph import nearly_nearest
from kernova.neighbors.index import distinct_rows
from kernova.progress import track
from kernova.text import percent
from kernova.typing import Indices, Matrix
from kernova.typing import Single as Points
from kernova.workbench.shared import BackgroundJob, JobState, Part, SharedState

MapKind = Literal["axes", "neighbours"]

# With more columns than this, the axes come from a randomised decomposition.
_MANY_COLUMNS: Final = 400
# Rows beyond this multiple of the radius that holds nearly all rows are drawn nearer.
_PLAIN_REACH: Final = 3.0
_NEARLY_ALL: Final = 0.98

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


class _Drawing(NamedTuple):
    """How long a map is drawn: rounds over all rows, and repulsions of each attraction."""

    n_rounds: int
    n_pushes: int


# Up to this number of rows the map gets more iterations; beyond, they would take too long.
_FEW_ROWS: Final = 20_000
_FEW, _MANY = _Drawing(200, 15), _Drawing(100, 10)
_ROWS_COMPARED: Final = 1000

SKIPPED: Final = 65535  # code of a skipped row
_BESIDE: Final = " Most rows are drawn amid the nearest of a sample of {:,}."
_BENT: Final = " Outlying rows are drawn nearer."


@dataclass(frozen=True)
class BetterMap:
    """Progress of the neighbour map."""

    state: JobState
    done: int
    total: int


@dataclass(frozen=True)
class MapReply:
    """Description of the map."""

    kind: Annotated[MapKind, "Principal components, or the layout of nearest neighbours."]
    words: Annotated[str, "Note for the reader of the map."]
    rows: int
    version: int
    better: Annotated[BetterMap, "Progress of the neighbour map."]


@dataclass(frozen=True, eq=False)
class RowMap:
    """Coordinates of every row.

    Attributes
    ----------
    kind : {"axes", "neighbours"}
        Principal components, or the layout of nearest neighbours.
    points : ndarray of shape (n_rows, 2)
        Single precision, between -1 and 1.
    words : str
        Note for the reader of the map.
    """

    kind: MapKind
    points: Points
    words: str


def axes_map(encoded: Matrix) -> RowMap:
    """Return the map of the first two principal components (PCA).

    Outlying rows are drawn nearer, in their direction, where they would squeeze all others.

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
    'The first two principal components: 100 % of the variance.'
    """
    scores, variance = _principal_scores(encoded, 2)
    points, is_bent = _fit_to_square(scores)
    words = f"The first two principal components: {percent(variance)} of the variance."
    return RowMap("axes", points, words + _BENT * is_bent)


def _principal_scores(encoded: Matrix, n_axes: int) -> tuple[Matrix, float]:
    """Return the scores on the first principal components, and their fraction of the variance."""
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
    """Return principal directions; the largest entry of each is positive.

    Unlike :func:`~kernova.kernels.gram.principal_directions`, it never factorises all rows: a
    table may have a million.
    """
    n_axes = min(n_axes, *rows.shape)
    if rows.shape[1] <= _MANY_COLUMNS:
        directions = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :n_axes]
    else:
        from sklearn.utils.extmath import randomized_svd

        directions = randomized_svd(rows, n_axes, random_state=0)[2].T
    strongest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[strongest, np.arange(n_axes)])
    return np.asarray(directions * signs)


def _fit_to_square(scores: Matrix) -> tuple[Points, bool]:
    """Scale points to the square from -1 to 1; return whether outlying ones were drawn nearer.

    Proportions are kept unless a few rows are so far out that nothing else could be seen. Then
    distances from the middle are logarithmic beyond the radius of nearly all rows.
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
    # Centred between the extremes, to use the whole square.
    low, high = offsets.min(axis=0), offsets.max(axis=0)
    centred = offsets - (low + high) / 2
    scaled = centred / np.abs(centred).max()
    return np.clip(scaled, -1, 1).astype(np.float32), is_bent


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
    points, is_bent = _fit_to_square(laid_out.points)
    kept, kept_on_axes = (_fraction_kept(one, neighbours) for one in (points, axes))
    if kept <= kept_on_axes:
        return None
    words = (
        f"Similar rows lie together: {percent(kept)} of each row's {_NEIGHBOURS} nearest "
        f"neighbours are among the nearest on this map ({percent(kept_on_axes)} on the map of "
        "principal components). Distances between distant groups have no meaning."
    )
    return RowMap("neighbours", points[distinct.inverse], words + laid_out.words + _BENT * is_bent)


class _LaidOut(NamedTuple):
    points: Matrix
    words: str  # a sentence if only a sample was laid out by itself


def _laid_out(rows: Matrix, axes: Points, neighbours: NDArray[np.int32]) -> _LaidOut:
    """Return the points of distinct rows, before they are fitted to the square."""
    if len(rows) <= MOST_ROWS:
        settings = _FEW if len(rows) <= _FEW_ROWS else _MANY
        return _LaidOut(_layout(axes * np.float32(_EXTENT), neighbours, settings), "")
    sample = _sample_of(len(rows))
    near_in_sample = near_rows(rows[sample], _NEIGHBOURS)
    drawn = _layout(axes[sample] * np.float32(_EXTENT), near_in_sample, _MANY)
    points = _beside_sample(drawn, sample, neighbours, axes)
    return _LaidOut(points, _BESIDE.format(len(sample)))


def _sample_of(n_rows: int) -> Indices:
    return np.sort(np.random.RandomState(0).choice(n_rows, _SAMPLED_ROWS, replace=False))


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
    scores = _principal_scores(Z, min(_DISTANCE_AXES, Z.shape[1]))[0]
    return nearly_nearest(scores, k).indices


def _layout(start: Points, neighbours: NDArray[np.int32], settings: _Drawing) -> Matrix:
    from kernova.workbench._layout import layout_step

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


class _Codes(NamedTuple):
    """Category codes of all rows, made once per version."""

    version: int
    content: bytes


class MapOfRows(Part):
    """Coordinates and category codes of all rows, as the page draws them."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._axes: RowMap | None = None
        self._better: BackgroundJob[RowMap | None] = BackgroundJob(shared.changed)
        self._codes = _Codes(-1, b"")

    def prepare(self, after: BackgroundJob[Any]) -> None:
        """Compute the neighbour map in the background, after a more urgent job."""

        def work() -> RowMap | None:
            after.wait()
            return neighbours_map(self._shared.discovery.encoded)

        self._better.start(work)

    def wait(self, seconds: float) -> bool:
        """Wait for the neighbour map, with a timeout; return whether its computation has ended."""
        return self._better.wait(seconds)

    def description(self) -> MapReply:
        """Return what the map shows, and the progress of the neighbour map."""
        shown = self._shown()
        _, done, total = self._better.progress
        return MapReply(
            kind=shown.kind,
            words=shown.words,
            rows=len(shown.points),
            version=self._shared.version,
            better=BetterMap(self._better_state(), done, total),
        )

    def points(self, kind: str | None = None) -> bytes:
        """Return x and y of each row as little-endian 32-bit floats."""
        shown = self._axes_map() if kind == "axes" else self._shown()
        return np.ascontiguousarray(shown.points, dtype="<f4").tobytes()

    def labels(self) -> tuple[bytes, int]:
        """Return each row's category code and the version that they hold for.

        The code is 0 for unlabelled rows, else the position of the category, counted from 1.
        """
        with self._shared.lock:
            session, version = self._shared.session, self._shared.version
            if self._codes.version != version:
                codes = session.results_.codes(SKIPPED - 1)
                codes[codes < 0] = SKIPPED
                self._codes = _Codes(version, codes.astype("<u2").tobytes())
            return self._codes.content, version

    def _axes_map(self) -> RowMap:
        if self._axes is None:
            self._axes = axes_map(self._shared.discovery.encoded)
        return self._axes

    def _shown(self) -> RowMap:
        return self._better.result or self._axes_map()

    def _better_state(self) -> JobState:
        if self._better.state == "ready" and self._better.result is None:
            return "none"  # there is no better map of these rows
        return self._better.state
