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
from kernova.errors import InputError, quoted
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
# Numbers this many powers of two above the spread of the columns do not set the unit.
_FAR_EXPONENT = 350
_ROWS_FOR_SPREAD = 1000


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

    Differences below 1e-150 of the largest number count as none. Where that is more than 1e105
    times the spread of the columns, the rows that have such numbers are drawn in instead.
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
        return in_unit(queries, self.exponent)

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
        has_far_rows = bool(np.abs(self.rows).max() > 1)
        middle = np.median(self.rows, axis=0) if has_far_rows else self.rows.mean(axis=0)
        return np.where(self._varies, middle, self.rows[0])

    @cached_property
    def _products(self) -> NearestNeighbors:
        centred = (self.rows - self._centre)[:, self._varies]
        return NearestNeighbors(algorithm="brute").fit(centred)

    @cached_property
    def _approximate(self) -> "InvertedLists":
        return InvertedLists(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        # Search structures are not stored; they are built again from the rows when needed.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def unit_exponent(X: Matrix) -> int:
    """Return the exponent of a power of two that brings numbers near 1.

    It is that of the largest number, unless the columns' spread would vanish beside it.

    Examples
    --------
    >>> import numpy as np
    >>> unit_exponent(np.array([[1.0], [6.0]])), unit_exponent(np.array([[1.0], [2.0], [1e300]]))
    (3, 351)
    """
    if not X.size:
        return 0
    largest = int(np.frexp(np.abs(X).max())[1])
    sample = X[:: max(1, len(X) // _ROWS_FOR_SPREAD)] / 2
    away = np.abs(sample - np.median(sample, axis=0))
    away = np.sort(away[away > 0])
    spread = int(np.frexp(away[(len(away) - 1) // 2])[1]) + 1 if len(away) else largest
    return min(largest, spread + _FAR_EXPONENT)


def in_unit(X: Matrix, exponent: int) -> Matrix:
    """Return rows divided by ``2**exponent``, clipped where they are extremely far away."""
    with np.errstate(over="ignore"):
        scaled = np.ldexp(X, -exponent)
    return np.clip(scaled, -_FARTHEST, _FARTHEST)


def from_unit(numbers: Vector, exponent: int) -> Vector:
    """Multiply by ``2**exponent``; numbers that would overflow become the largest one."""
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(numbers, exponent), -largest, largest)


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
            f"There is no algorithm named {quoted(algorithm)}. Use one of {', '.join(_ALGORITHMS)}."
        )
    exponent = unit_exponent(X)
    rows, counts, inverse = distinct_rows(in_unit(X, exponent))
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


# --- duplicate rows: each distinct one once, with its number of occurrences ----------------------

# Odd constants with bits all over, for mixing the columns of a row into one number.
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class DistinctRows(NamedTuple):
    """Distinct rows in the order of first appearance; ``rows[inverse]`` is the whole table."""

    rows: Matrix
    counts: NDArray[np.int64]
    inverse: NDArray[np.intp]


def distinct_rows(X: Matrix) -> DistinctRows:
    """Find duplicate rows by sorting one hash per row instead of whole rows.

    Examples
    --------
    >>> import numpy as np
    >>> distinct_rows(np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 1.0]])).counts
    array([2, 1])
    """
    X = np.ascontiguousarray(X) + 0.0  # which turns -0.0 into 0.0: equal rows have equal bits
    hashes = row_hashes(X)
    order = np.argsort(hashes, kind="stable")
    is_first = np.ones(len(X), dtype=bool)
    is_first[1:] = np.diff(hashes[order]) != 0
    if is_first.all():
        return DistinctRows(X, np.ones(len(X), dtype=np.int64), np.arange(len(X)))
    group = np.cumsum(is_first) - 1
    firsts = order[is_first]  # stable sorting puts the earliest duplicate first
    if not np.array_equal(X[order], X[firsts][group]):
        return _distinct_by_sorting(X)  # two different rows with one hash
    return _in_order_of_appearance(X, firsts, order, group)


def _in_order_of_appearance(
    X: Matrix, firsts: NDArray[np.intp], order: NDArray[np.intp], group: NDArray[np.intp]
) -> DistinctRows:
    position = np.empty(len(firsts), dtype=np.intp)
    position[np.argsort(firsts)] = np.arange(len(firsts))
    inverse = np.empty(len(X), dtype=np.intp)
    inverse[order] = position[group]
    return DistinctRows(X[np.sort(firsts)], np.bincount(inverse), inverse)


def row_hashes(X: Matrix) -> NDArray[np.uint64]:
    """Return a number for each row; equal rows, without minus zeros, have equal ones."""
    bits = X.view(np.uint64)
    hashes = np.zeros(len(X), dtype=np.uint64)
    for column in bits.T:
        hashes = (hashes ^ column) * _MIXERS[0]
        hashes = (hashes ^ (hashes >> np.uint64(32))) * _MIXERS[1]
    return hashes


def _distinct_by_sorting(X: Matrix) -> DistinctRows:
    _, firsts, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.ravel()  # one release of NumPy gave it a second axis
    order = np.argsort(inverse, kind="stable")
    return _in_order_of_appearance(X, firsts, order, inverse[order])


# --- approximate neighbours, by faiss (the extra ``fast``) ---------------------------------------

# Rows are sorted into lists around centres, about this many times sqrt(n).
_LISTS_PER_ROOT = 2
_TRAINING_ROWS_PER_LIST = 64
# More and more lists are searched until the recall on a sample is this good, or all are searched.
_WANTED_RECALL = 0.95
_SAMPLED_QUERIES = 128
_SEED = 0
_ROUNDING = 1e-12


class InvertedLists:
    """Inverted file index: rows in lists around centres; a query searches the nearest lists only.

    Attributes
    ----------
    recall : float
        Fraction of the true nearest other rows that the last tuned search finds, measured on a
        sample of the rows; a row as near as the true one is as good. 0 before the first search.
    """

    recall: float = 0.0

    def __init__(self, rows: Matrix) -> None:
        faiss = require_faiss()
        self._rows = rows
        n_rows, n_columns = rows.shape
        self._centre = rows.mean(axis=0)  # single precision is finest around zero
        n_lists = max(1, min(n_rows // 8, round(_LISTS_PER_ROOT * n_rows**0.5)))
        self._index: Any = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_columns), n_columns, n_lists)
        self._index.cp.seed = _SEED
        self._index.cp.min_points_per_centroid = 1  # few rows are no reason for a warning
        self._index.train(self._single(self._sample(_TRAINING_ROWS_PER_LIST * n_lists)))
        self._index.add(self._single(rows))
        self._tuned_for = 0

    def nearest(self, queries: Matrix, n_wanted: int) -> Indices:
        """Return about the nearest rows of each query; missing ones are found by exact search."""
        if n_wanted > self._tuned_for:
            self._tune(n_wanted)
        indices = self._found(queries, n_wanted)
        is_short = (indices < 0).any(axis=1)  # the lists searched held too few rows
        for number in np.flatnonzero(is_short):
            distances = self._distances(queries[number])
            indices[number] = np.argpartition(distances, n_wanted - 1)[:n_wanted]
        return indices

    def _tune(self, n_wanted: int) -> None:
        sample = self._sample(_SAMPLED_QUERIES)
        radii = [np.partition(self._distances(one), n_wanted - 1)[n_wanted - 1] for one in sample]
        while True:
            self.recall = self._recall_on(sample, n_wanted, radii)
            if self.recall >= _WANTED_RECALL or self._index.nprobe >= self._index.nlist:
                break
            self._index.nprobe = min(2 * self._index.nprobe, self._index.nlist)
        self._tuned_for = n_wanted

    def _recall_on(self, sample: Matrix, n_wanted: int, radii: list[float]) -> float:
        n_found = 0
        for one, indices, radius in zip(sample, self._found(sample, n_wanted), radii, strict=True):
            distances = self._distances(one, indices[indices >= 0])
            # The row itself is always found.
            n_found += int(np.count_nonzero(distances <= radius * (1 + _ROUNDING))) - 1
        return n_found / (len(sample) * max(1, n_wanted - 1))

    def _distances(self, query: Vector, indices: "Indices | slice" = slice(None)) -> Vector:
        return cdist(query[None, :], self._rows[indices])[0]

    def _found(self, queries: Matrix, n_wanted: int) -> Indices:
        return self._index.search(self._single(queries), n_wanted)[1]

    def _sample(self, n_wanted: int) -> Matrix:
        random = np.random.RandomState(_SEED)
        n_rows = len(self._rows)
        return self._rows[random.choice(n_rows, min(n_wanted, n_rows), replace=False)]

    def _single(self, rows: Matrix) -> NDArray[np.float32]:
        limit = float(np.sqrt(np.finfo(np.float32).max)) / 1e4
        return np.ascontiguousarray(np.clip(rows - self._centre, -limit, limit), np.float32)


def require_faiss() -> Any:
    """Return the library, or raise InputError with how to install it."""
    try:
        import faiss
    except ImportError:
        raise InputError(
            'algorithm="approximate" needs faiss, which is not installed. '
            'Install it with pip install "kernova[fast]", or take another algorithm.'
        ) from None
    return faiss
