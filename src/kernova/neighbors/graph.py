"""Graph of nearest neighbours among all distinct rows of a table, of up to millions of rows.

Few rows, or few columns, are searched exactly. Of others nearly all neighbours are found: rows are
compared within the leaves of random trees, and then with the neighbours of their neighbours, until
enough of the true neighbours of a sample are among those found. The reasons are in
``docs/decisions/040-neighbours-of-neighbours.md``.
"""

from typing import Final, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernova.neighbors.index import (
    DistinctRows,
    build_index,
    distinct_rows,
    from_unit,
    in_unit,
    unit_exponent,
)
from kernova.parallel import in_threads, slices
from kernova.progress import track
from kernova.typing import Indices, Mask, Matrix

# Up to either number, exact search takes a second or two, or as long as approximate search.
_FEW_ROWS: Final = 20_000
_FEW_COLUMNS: Final = 5
_BLOCK: Final = 4096
# Twelve trees, and as many again until the recall on a sample of rows is this good, or to the most.
_TREES: Final = 12
_MOST_TREES: Final = 36
_WANTED_RECALL: Final = 0.9
_SAMPLED_ROWS: Final = 100
_LEAF_SIZE: Final = 64
_LEAF_PER_NEIGHBOR: Final = 3
# Neighbours of neighbours are compared until a round brings less than this fraction of new ones.
_FEW_CHANGES: Final = 0.05
_MOST_ROUNDS: Final = 6
_BLOCKS: Final = 32  # of a pass over all rows; each takes one number per row
_COLUMNS_AT_ONCE: Final = 4
_ROUNDING: Final = 1e-9


class NeighborGraph(NamedTuple):
    """The nearest distinct rows of each distinct row, nearest first, without itself."""

    distances: Matrix  # shape (n_distinct, k); fewer columns if there are fewer other rows
    indices: NDArray[np.int32]  # positions among the distinct rows; shape (n_distinct, k)
    # Position of each row among the distinct ones, which stand in the order of first appearance;
    # shape (n_rows,).
    inverse: Indices
    firsts: Indices  # the row at which each distinct one appears first; shape (n_distinct,)
    counts: NDArray[np.int64]  # how often each occurs; shape (n_distinct,)
    recall: float  # fraction of the true neighbours found: 1, or measured on a sample


class Nearest(NamedTuple):
    """The neighbours of each row, nearest first, as far as they are found."""

    indices: NDArray[np.int32]
    squared: Matrix  # squared distances
    recall: float = 1.0  # fraction of the true neighbours that are among them


def neighbor_graph(Z: Matrix, k: int, n_jobs: int | None = None) -> NeighborGraph:
    """Find the k nearest distinct rows of every distinct row; of many rows, nearly all of them.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Finite numbers.
    k : int
        Number of neighbours, at least 1.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    NeighborGraph
        Exact up to 20,000 distinct rows, and up to five columns. Distances are exact in any case.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.neighbors.graph import neighbor_graph
    >>> graph = neighbor_graph(np.array([[0.0], [1.0], [1.0], [5.0]]), 2)
    >>> graph.distances.tolist(), graph.inverse.tolist()
    ([[1.0, 5.0], [1.0, 4.0], [4.0, 5.0]], [0, 1, 1, 2])
    """
    exponent = unit_exponent(Z)
    distinct = distinct_rows(in_unit(Z, exponent))
    k = min(k, len(distinct.rows) - 1)
    is_exact = len(distinct.rows) <= _FEW_ROWS or Z.shape[1] <= _FEW_COLUMNS
    if k < 1:
        shape = (len(distinct.rows), 0)
        found = Nearest(np.empty(shape, dtype=np.int32), np.empty(shape))
    elif is_exact:
        found = _exact(distinct.rows, k, n_jobs)
    else:
        found = nearly_nearest(distinct.rows, k, n_jobs)
    distances = from_unit(np.sqrt(found.squared), exponent)
    firsts = _firsts(distinct)
    return NeighborGraph(
        distances, found.indices, distinct.inverse, firsts, distinct.counts, found.recall
    )


def _firsts(distinct: DistinctRows) -> Indices:
    firsts = np.empty(len(distinct.rows), dtype=np.intp)
    firsts[distinct.inverse[::-1]] = np.arange(len(distinct.inverse))[::-1]
    return firsts


def _exact(rows: Matrix, k: int, n_jobs: int | None) -> Nearest:
    """Search all rows; those that differ by less than the index resolves count as duplicates."""
    index = build_index(rows, n_jobs=n_jobs, k=k + 1)
    given = np.empty(len(index.rows), dtype=np.int32)
    given[index.inverse[::-1]] = np.arange(len(rows), dtype=np.int32)[::-1]
    found = Nearest(np.empty((len(rows), k), dtype=np.int32), np.empty((len(rows), k)))
    for block in track(slices(len(rows), _BLOCK), "finding neighbours"):
        # In the order of the tree, so that one search is near the last.
        own = np.arange(block.start, min(block.stop, len(index.rows)))
        nearest = index.nearest(index.rows[own], k + 1)
        is_other = nearest.indices != own[:, None]
        is_other[is_other.all(axis=1), -1] = False
        shape = (len(own), -1)
        found.indices[given[own]] = given[nearest.indices[is_other]].reshape(shape)
        found.squared[given[own]] = (
            np.ldexp(nearest.distances[is_other], index.exponent).reshape(shape) ** 2
        )
    return found


# --- approximate ---------------------------------------------------------------------------------


class _Search(NamedTuple):
    rows: Matrix  # in the order of the first tree, which puts near rows near in memory
    starts: Indices  # where leaves begin, and where the last one ends
    most: int  # rows of a leaf
    n_threads: int


def nearly_nearest(rows: Matrix, k: int, n_jobs: int | None = None) -> Nearest:
    """Return nearly all of the k nearest rows of each; there must be more than k rows."""
    from kernova.neighbors import _forest

    most = max(_LEAF_SIZE, _LEAF_PER_NEIGHBOR * k)
    padded = np.zeros((len(rows), -(-rows.shape[1] // _COLUMNS_AT_ONCE) * _COLUMNS_AT_ONCE))
    padded[:, : rows.shape[1]] = rows - np.median(rows, axis=0)
    order = np.arange(len(rows))
    _forest.grow(padded, order, most, 0)
    search = _Search(
        padded[order], _leaf_starts(len(rows), most), most, int(effective_n_jobs(n_jobs))
    )
    del padded
    shape = (len(rows), k)
    found = Nearest(np.full(shape, -1, dtype=np.int32), np.full(shape, np.inf))
    recall = 0.0
    for n_trees in range(0, _MOST_TREES, _TREES):
        before = found.indices.copy()
        _compare_in_leaves(search, found, range(n_trees, n_trees + _TREES))
        _compare_with_next_but_one(search, found, before)
        recall = _recall(search.rows, found)
        if recall >= _WANTED_RECALL:
            break
    return _in_given_order(found, order)._replace(recall=recall)


def _leaf_starts(n_rows: int, most: int) -> Indices:
    """Return where the leaves begin that halving all nodes of more than ``most`` rows leads to."""
    sizes = np.array([n_rows])
    while (sizes > most).any():
        halves = np.column_stack([sizes // 2, sizes - sizes // 2])
        is_split = sizes > most
        halves[~is_split] = np.column_stack([sizes, np.zeros_like(sizes)])[~is_split]
        sizes = halves[halves > 0]
    return np.concatenate([[0], np.cumsum(sizes)])


def _compare_in_leaves(search: _Search, found: Nearest, trees: range) -> None:
    """Compare the rows in the leaves of some trees; the seed of a tree is its number."""
    from kernova.neighbors import _forest

    n_leaves = len(search.starts) - 1
    blocks = slices(n_leaves, max(1, -(-n_leaves // _BLOCKS)))
    for some in track(slices(len(trees), search.n_threads), "finding neighbours"):
        orders = {tree: np.arange(len(search.rows)) for tree in trees[some]}

        def grow(tree: int, orders: dict[int, Indices] = orders) -> None:
            if tree > 0:  # the rows are in the order of the first
                _forest.grow(search.rows, orders[tree], search.most, tree)

        in_threads(grow, list(orders), search.n_threads)
        for order in orders.values():

            def join(block: slice, order: Indices = order) -> None:
                starts = search.starts[block.start : block.stop + 1]
                _forest.join_leaves(search.rows, order, starts, found.indices, found.squared)

            in_threads(join, blocks, search.n_threads)


def _compare_with_next_but_one(search: _Search, found: Nearest, before: NDArray[np.int32]) -> None:
    """Compare rows with the neighbours of their neighbours, as long as that brings nearer ones."""
    from kernova.neighbors import _forest

    n_rows, k = found.indices.shape
    is_new: Mask = np.empty(found.indices.shape, dtype=np.bool_)
    blocks = slices(n_rows, max(_BLOCK, -(-n_rows // _BLOCKS)))
    n_new = dict.fromkeys([block.start for block in blocks], 0)
    for _ in track(range(_MOST_ROUNDS), "finding neighbours"):
        _forest.mark_new(before, found.indices, is_new)
        before[:] = found.indices

        def search_block(block: slice) -> None:
            own = found.indices[block], found.squared[block]
            places = block.start, block.stop
            n_new[block.start] = _forest.descend(search.rows, before, is_new, *places, k, *own)

        in_threads(search_block, blocks, search.n_threads)
        if sum(n_new.values()) <= _FEW_CHANGES * found.indices.size:
            break


def _recall(rows: Matrix, found: Nearest) -> float:
    """Return the fraction of the true neighbours of a sample that are found."""
    n_rows, k = found.indices.shape
    sample = np.linspace(0, n_rows - 1, min(n_rows, _SAMPLED_ROWS)).astype(np.intp)
    n_found = 0
    for row in sample:
        squared = cdist(rows[row : row + 1], rows, "sqeuclidean")[0]
        kth = np.partition(squared, k)[k]  # the row itself is nearest
        n_found += int(np.count_nonzero(found.squared[row] <= kth * (1 + _ROUNDING)))
    return float(n_found / (len(sample) * k))


def _in_given_order(found: Nearest, order: Indices) -> Nearest:
    """Return the neighbours with rows numbered as they were given."""
    position = np.empty(len(order), dtype=np.intp)
    position[order] = np.arange(len(order))
    return Nearest(order.astype(np.int32)[found.indices[position]], found.squared[position])
