"""Index for neighbour searches: distinct rows, and the engine that is fastest on them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from kernova._sklearn import openmp_effective_n_threads
from kernova.errors import InputError
from kernova.neighbors.approximate import InvertedLists, require_faiss
from kernova.neighbors.duplicates import distinct_rows
from kernova.parallel import cached_blocks, in_threads
from kernova.typing import Indices, Matrix, Vector

_ALGORITHMS = ("auto", "kd_tree", "brute", "approximate")

# Up to this number of columns the tree is always faster; for few rows, in more columns too.
_FEW_COLUMNS = 3
_FEW_ROWS = 500
_FEW_COLUMNS_OF_FEW_ROWS = 20
# Up to this number of rows exact search takes no more than a few seconds.
_FEW_ROWS_TO_APPROXIMATE = 5000
# Sample on which the number of rows that a tree search visits is counted.
_SAMPLED_ROWS = 64
_LEAF_SIZE = 16
# A tree's distances are sums of squared differences; this covers their rounding.
_TREE_ROUNDING = 1e-13
# Queries are clipped to this, in units of the rows' extent, so that squares stay finite.
_FARTHEST = 2.0**400


class Candidates(NamedTuple):
    """For each query the nearest rows, sorted by distance; nothing unlisted is within reach."""

    distances: Matrix
    indices: Indices
    reach: Vector


class Pairs(NamedTuple):
    """Some pairs of a query and a row, by number, and how far apart they are."""

    queries: Indices
    indices: Indices
    distances: Vector


@dataclass(frozen=True)
class NeighborIndex:
    """Distinct rows in units of a power of two, so that squares neither overflow nor vanish.

    Differences below 1e-150 of the largest number count as none.
    """

    # Each row once, divided by ``2**exponent``; in the tree's own order, for the cache's sake;
    # shape (n_distinct, n_features).
    rows: Matrix
    counts: NDArray[np.int64]  # number of occurrences of each; shape (n_distinct,)
    inverse: Indices  # position of each given row among the distinct ones; shape (n_rows,)
    exponent: int  # the unit's exponent
    engine: str  # "kd_tree", "brute" or "approximate"
    # Threads for the tree; brute force uses what scikit-learn's compiled parts use.
    n_jobs: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows given, duplicates included."""
        return len(self.inverse)

    @property
    def has_duplicates(self) -> bool:
        """Whether any row occurs more than once."""
        return len(self.rows) < len(self.inverse)

    @property
    def recall(self) -> float:
        """Fraction of the true neighbours that are found: 1, or as measured on a sample."""
        return 1.0 if self.engine != "approximate" else self._approximate.recall

    def in_units(self, queries: Matrix) -> Matrix:
        """Return new rows in this index's unit, clipped where they are extremely far away."""
        with np.errstate(over="ignore"):
            scaled = np.ldexp(queries, -self.exponent)
        return np.clip(scaled, -_FARTHEST, _FARTHEST)

    def without_duplicates(self) -> "NeighborIndex":
        """Return the same index with each distinct row counted once."""
        n_distinct = len(self.rows)
        return replace(
            self, counts=np.ones(n_distinct, dtype=np.int64), inverse=np.arange(n_distinct)
        )

    def nearest(self, queries: Matrix, n_wanted: int) -> Candidates:
        """Return the nearest ``n_wanted`` distinct rows of each query, all if there are fewer."""
        n_wanted = min(n_wanted, len(self.rows))
        if self.engine == "kd_tree":
            return self._nearest_by_tree(queries, n_wanted)
        if self.engine == "brute":
            return self._nearest_by_products(queries, n_wanted)
        indices = self._approximate.nearest(queries, n_wanted)
        distances = self.distances_to(queries, indices)
        # What the approximate search missed is not searched for again.
        return _sorted(distances, indices, np.full(len(queries), np.inf))

    def within(self, queries: Matrix, radii: Vector) -> Pairs:
        """Return all distinct rows within each query's radius, by differences, sorted by row."""
        if self.engine == "kd_tree":
            found = self._tree.query_ball_point(
                queries, radii * (1 + _TREE_ROUNDING), workers=self.n_workers, return_sorted=True
            )
            lengths = np.array([len(part) for part in found], dtype=np.intp)
            columns = np.concatenate([np.asarray(part, dtype=np.intp) for part in found])
            numbers = np.repeat(np.arange(len(queries)), lengths)
        else:
            is_near = cdist(queries, self.rows) <= (radii * (1 + _TREE_ROUNDING))[:, None]
            numbers, columns = np.nonzero(is_near)
        distances = np.empty(len(numbers))
        for block in cached_blocks(len(numbers), 1):
            own = (column[numbers[block]] for column in queries.T)  # one column at a time
            distances[block] = self._distances(own, columns[block])
        return Pairs(numbers, columns, distances)

    def distances_to(self, queries: Matrix, indices: Indices) -> Matrix:
        """Return distances computed from differences: expanded products would cancel."""
        distances = np.empty(indices.shape)

        def fill(block: slice) -> None:
            distances[block] = self._distances(queries[block].T[:, :, None], indices[block])

        _ = self._columns, self._varies  # before several threads ask for them
        in_threads(fill, cached_blocks(*indices.shape), self.n_threads)
        return distances

    def _distances(self, query_columns: Iterable[Vector], indices: Indices) -> Matrix:
        """Sum over columns one after the other: ten times as fast as over few columns at once."""
        squares = np.zeros(indices.shape)
        for own, others, varies in zip(query_columns, self._columns, self._varies, strict=True):
            if not varies and (own == others[0]).all():
                continue  # it would add zeros
            difference = others[indices]
            difference -= own
            difference *= difference
            squares += difference
        return np.sqrt(squares, out=squares)

    def _nearest_by_tree(self, queries: Matrix, n_wanted: int) -> Candidates:
        ranks = np.arange(1, n_wanted + 1)
        found, indices = self._tree.query(queries, ranks, workers=self.n_workers)
        # Recomputed, distances have the same bits whatever the engine.
        distances = self.distances_to(queries, indices)
        return _sorted(distances, indices, self._reach(found[:, -1], n_wanted))

    def _nearest_by_products(self, queries: Matrix, n_wanted: int) -> Candidates:
        # Constant columns add the same to all distances of a query: they need no products.
        from_centre = queries - self._centre
        constant, centred = from_centre[:, ~self._varies], from_centre[:, self._varies]
        found, indices = self._products.kneighbors(centred, n_wanted)
        distances = self.distances_to(queries, indices)
        # |q|² + |x|² - 2qx is off by at most so much, for any row x no farther than the last.
        lengths = np.sqrt(np.einsum("ij,ij->i", from_centre, from_centre))
        squares = found[:, -1] ** 2 + np.einsum("ij,ij->i", constant, constant)
        rounding = (2 * queries.shape[1] + 8) * np.finfo(np.float64).eps
        error = rounding * (lengths**2 + (lengths + np.sqrt(squares)) ** 2)
        reach = np.sqrt(np.maximum(squares - error, 0))
        return _sorted(distances, indices, self._reach(reach, n_wanted))

    def _reach(self, distances: Vector, n_wanted: int) -> Vector:
        if n_wanted == len(self.rows):
            return np.full(len(distances), np.inf)
        return distances * (1 - _TREE_ROUNDING)

    @property
    def n_workers(self) -> int:
        """Number of threads that search a tree."""
        return int(effective_n_jobs(self.n_jobs))

    @property
    def n_threads(self) -> int | None:
        """Number of threads that process the neighbours; None for as many as products use."""
        return self.n_workers if self.engine == "kd_tree" else None

    @cached_property
    def _tree(self) -> Any:
        return cKDTree(self.rows, leafsize=_LEAF_SIZE)

    @cached_property
    def _columns(self) -> Matrix:
        return np.ascontiguousarray(self.rows.T)

    @cached_property
    def _varies(self) -> NDArray[np.bool_]:
        varies = self.rows.min(axis=0) < self.rows.max(axis=0)
        varies[0] |= not varies.any()  # of one row only, some column must do
        return varies

    @cached_property
    def _centre(self) -> Vector:
        # Near the centre, products cancel least. A mean may be rounded; a constant must not be.
        return np.where(self._varies, self.rows.mean(axis=0), self.rows[0])

    @cached_property
    def _products(self) -> NearestNeighbors:
        centred = (self.rows - self._centre)[:, self._varies]
        return NearestNeighbors(algorithm="brute").fit(centred)

    @cached_property
    def _approximate(self) -> InvertedLists:
        return InvertedLists(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        # Search structures are not stored; they are built again from the rows when needed.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def build_index(
    X: Matrix, algorithm: str = "auto", n_jobs: int | None = None, k: int = 1
) -> NeighborIndex:
    """Build an index for neighbour searches: rows scaled to a common unit, duplicates counted.

    Rows that are near one another in space are put near in memory: searching them one after the
    other is then twice as fast, and so is looking up what is known about neighbours.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    algorithm : {"auto", "kd_tree", "brute", "approximate"}
        The engine. "auto" takes the exact one with the lower estimated cost; both exact engines
        agree to the last bit. "approximate" is exact up to 5,000 distinct rows, and beyond them
        searches a part of the rows only.
    n_jobs : int or None
        Threads for the tree.
    k : int
        Number of neighbours that will be searched.

    Examples
    --------
    >>> import numpy as np
    >>> build_index(np.array([[0.0], [8.0], [8.0]])).counts
    array([1, 2])
    """
    if algorithm not in _ALGORITHMS:
        raise InputError(
            f"There is no algorithm named {algorithm!r}. Use one of {', '.join(_ALGORITHMS)}."
        )
    exponent = int(np.frexp(np.abs(X).max())[1]) if X.size else 0
    rows, counts, inverse = distinct_rows(np.ldexp(X, -exponent))
    # With tight nodes a tree of unit vectors, as one-hot columns give, takes n^3 steps to build.
    order = cKDTree(rows, leafsize=_LEAF_SIZE, compact_nodes=False).indices
    position = np.empty(len(rows), dtype=np.intp)
    position[order] = np.arange(len(rows))
    index = NeighborIndex(
        rows[order], counts[order], position[inverse], exponent, "kd_tree", n_jobs
    )
    return replace(index, engine=_engine(index, algorithm, k))


def _engine(index: NeighborIndex, algorithm: str, k: int) -> str:
    if algorithm == "approximate":
        require_faiss()  # also for few rows, so that code which runs on few rows runs on many
        if len(index.rows) > _FEW_ROWS_TO_APPROXIMATE:
            return algorithm
    elif algorithm != "auto":
        return algorithm
    return "kd_tree" if _is_tree_faster(index, k) else "brute"


def _is_tree_faster(index: NeighborIndex, k: int) -> bool:
    """Compare the estimated costs of the engines, which depend on how the rows lie.

    The costs, in nanoseconds, were fitted to both engines on one thread
    (``benchmarks/neighbor_engines.py``); only their ratio matters.
    """
    n_rows, n_columns = index.rows.shape
    if n_columns <= _FEW_COLUMNS or n_rows <= _FEW_ROWS:
        return n_columns <= _FEW_COLUMNS_OF_FEW_ROWS
    tree = (10 + 1.3 * n_columns) * _rows_visited(index, k) + 20 * k * n_columns
    brute_force = (4.5 + 0.07 * n_columns) * n_rows + 700 * k
    return bool(tree / index.n_workers < brute_force / openmp_effective_n_threads())


def _rows_visited(index: NeighborIndex, k: int) -> float:
    """Return the number of rows that a tree visits for one query, averaged over a sample.

    These are the rows in leaves that reach into the ball of the k nearest. Rows stand in the
    tree's order, so runs of them are as good as its leaves.
    """
    starts = np.arange(0, len(index.rows), _LEAF_SIZE)
    lowest = np.minimum.reduceat(index.rows, starts)
    highest = np.maximum.reduceat(index.rows, starts)
    sample = index.rows[np.linspace(0, len(index.rows) - 1, _SAMPLED_ROWS).astype(np.intp)]
    # By products, because in many columns the tree itself may be costly to build.
    radii = replace(index, engine="brute").nearest(sample, k + 2).distances[:, -1]
    n_visited = 0
    for query, radius in zip(sample, radii, strict=True):
        gaps = np.maximum(np.maximum(lowest - query, query - highest), 0)
        n_visited += int(np.sum(np.einsum("ij,ij->i", gaps, gaps) <= radius**2))
    return n_visited * _LEAF_SIZE / _SAMPLED_ROWS


def _sorted(distances: Matrix, indices: Indices, reach: Vector) -> Candidates:
    """Sort by distance, and by row index where distances are equal: one order for all engines."""
    is_falling = distances[:, 1:] < distances[:, :-1]
    is_swapped = (distances[:, 1:] == distances[:, :-1]) & (indices[:, 1:] < indices[:, :-1])
    rows = np.flatnonzero((is_falling | is_swapped).any(axis=1))
    if len(rows):
        order = np.lexsort((indices[rows], distances[rows]), axis=1)
        distances[rows] = np.take_along_axis(distances[rows], order, axis=1)
        indices[rows] = np.take_along_axis(indices[rows], order, axis=1)
    return Candidates(distances, indices, reach)
