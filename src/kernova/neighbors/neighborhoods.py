"""Neighbourhoods N_k of rows: all other rows within the k-th distance, ties included."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.neighbors.index import NeighborIndex, build_index, from_unit
from kernova.parallel import in_threads, row_blocks, slices
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

# Distances this near to each other, relative to themselves, are tied.
TIE = 1e-12
# Candidates searched at a time, few enough for the processor's cache; but at least this many
# queries, unless their candidates are too many, for products to run at full speed.
_BLOCK_CANDIDATES = 1 << 18
_BLOCK_QUERIES = 4096
_MANY_CANDIDATES = 1 << 21
# Where ties reach beyond the rows searched, search these multiples of k, and then all rows.
_WIDER = (1, 2, 4)
# If every row is tied, a pair of rows takes some fifteen numbers, not one.
_TIED_FRACTION = 1 / 20
# A neighbourhood with more distinct rows than this many times k is not cached but found again.
_CACHED = 4


class NeighborBlock(NamedTuple):
    """The neighbourhoods of some queries, one after the other, each sorted by distance.

    ``starts`` has one entry more than there are queries: the neighbours of query ``numbers[i]``
    are those from ``starts[i]`` up to ``starts[i + 1]``. A duplicate row is listed once, and
    ``weights`` counts it (None if all weights are 1). Distances are in the index's unit.
    """

    k: int
    numbers: Indices
    starts: Indices
    indices: NDArray[np.int32]
    distances: Vector
    weights: Vector | None
    kth_distances: Vector

    @property
    def lengths(self) -> Indices:
        """Number of distinct neighbours of each query."""
        return np.diff(self.starts)

    @property
    def totals(self) -> Vector:
        """Number of neighbours of each query, duplicates counted: |N_k|."""
        return self.lengths.astype(np.float64) if self.weights is None else self.sums(self.weights)

    def sums(self, values: Vector) -> Vector:
        """Sum one value per neighbour over each neighbourhood."""
        return np.add.reduceat(values, self.starts[:-1])

    def maxima(self, values: Vector) -> Vector:
        """Return the largest value in each neighbourhood."""
        return np.maximum.reduceat(values, self.starts[:-1])

    def minima(self, values: Vector) -> Vector:
        """Return the smallest value in each neighbourhood."""
        return np.minimum.reduceat(values, self.starts[:-1])

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat one value per query for each of its neighbours."""
        return np.repeat(values, self.lengths)

    def nearest(self, k: int) -> "NeighborBlock":
        """Return the neighbourhoods of a smaller k, which these contain."""
        if k == self.k:
            return self
        kth = self.distances[self._kth_positions(k)]
        is_kept = self.distances <= self.spread(kth) * (1 + TIE)
        return NeighborBlock(
            k,
            self.numbers,
            _starts(np.add.reduceat(is_kept, self.starts[:-1], dtype=np.intp)),
            self.indices[is_kept],
            self.distances[is_kept],
            None if self.weights is None else self.weights[is_kept],
            kth,
        )

    def _kth_positions(self, k: int) -> Indices:
        firsts = self.starts[:-1]
        if self.weights is None:
            return firsts + (k - 1)
        running = np.cumsum(self.weights)
        return np.searchsorted(running, running[firsts] - self.weights[firsts] + k)


def neighbor_blocks(
    index: NeighborIndex,
    k: int,
    queries: Matrix | None = None,
    left_out: Indices | None = None,
    task: str = "neighbours",
) -> Iterator[NeighborBlock]:
    """Find the k-neighbourhoods of queries block by block; every query comes exactly once.

    Parameters
    ----------
    index : NeighborIndex
        The rows among which to look.
    k : int
        Number of neighbours, from 1 to the number of other rows.
    queries : ndarray, optional
        Rows in the index's unit. If None, the index's own distinct rows, each without itself.
    left_out : ndarray of shape (n_queries,), optional
        A distinct row of which one occurrence is left out for each query; -1 to leave out none.
    task : str
        Name under which progress is reported.
    """
    queries, left_out = _completed(index, queries, left_out)
    n_wanted = min(k + 2, len(index.rows))
    height = min(_BLOCK_QUERIES, max(256, _MANY_CANDIDATES // n_wanted))
    height = max(height, _BLOCK_CANDIDATES // n_wanted)
    for block in track(slices(len(queries), height), task):
        yield from _searched(index, k, queries, left_out, np.arange(block.start, block.stop))


def _searched(
    index: NeighborIndex, k: int, queries: Matrix, left_out: Indices, numbers: Indices
) -> Iterator[NeighborBlock]:
    """Search more rows for those queries whose ties may reach beyond the rows found."""
    for wider in _WIDER:
        found = index.nearest(queries[numbers], wider * (k + 2))
        weights = _weights(index, found.indices, left_out[numbers])
        kth = _kth_distances(found.distances, weights, k)
        is_complete = kth * (1 + TIE) < found.reach
        if is_complete.any():
            is_kept = (found.distances <= kth[:, None] * (1 + TIE)) & is_complete[:, None]
            is_kept &= weights > 0
            yield NeighborBlock(
                k,
                numbers[is_complete],
                _starts(np.count_nonzero(is_kept[is_complete], axis=1)),
                found.indices[is_kept].astype(np.int32),
                found.distances[is_kept],
                weights[is_kept] if index.has_duplicates else None,
                kth[is_complete],
            )
        numbers, kth = numbers[~is_complete], kth[~is_complete]
        if not len(numbers):
            return
    for block in row_blocks(len(numbers), len(index.rows), share=_TIED_FRACTION):
        yield _found_within(index, k, queries, left_out, numbers[block], kth[block])


def _found_within(
    index: NeighborIndex,
    k: int,
    queries: Matrix,
    left_out: Indices,
    numbers: Indices,
    at_most: Vector,
) -> NeighborBlock:
    """Return neighbourhoods given only an upper bound of each k-th distance."""
    pairs = index.within(queries[numbers], at_most * (1 + 2 * TIE))
    order = np.lexsort((pairs.distances, pairs.queries))
    of_query, indices = pairs.queries[order], pairs.indices[order]
    weights = index.counts[indices] - (indices == left_out[numbers][of_query])
    is_seen = weights > 0
    block = NeighborBlock(
        0,  # of no k yet: the radius may have been too wide
        numbers,
        _starts(np.bincount(of_query[is_seen], minlength=len(numbers))),
        indices[is_seen].astype(np.int32),
        pairs.distances[order][is_seen],
        weights[is_seen].astype(np.float64) if index.has_duplicates else None,
        at_most,
    )
    return block.nearest(k)


@dataclass(frozen=True)
class Neighborhoods:
    """Neighbourhoods of all queries, cached for several passes and for every smaller k.

    Those of a query with very many ties are not cached but found again in each pass, so that
    memory stays O(n k) whatever the data.
    """

    index: NeighborIndex
    k: int
    queries: Matrix
    left_out: Indices
    cached: tuple[NeighborBlock, ...]
    not_cached: Indices

    def blocks(self, k: int | None = None) -> Iterator[NeighborBlock]:
        """Yield the neighbourhoods of all queries, of the largest k or of a smaller one."""
        k = self.k if k is None else k
        yield from (block.nearest(k) for block in self.cached)
        yield from self._found_again(k)

    def _found_again(self, k: int) -> Iterator[NeighborBlock]:
        for rows in row_blocks(len(self.not_cached), len(self.index.rows), share=_TIED_FRACTION):
            for block in _searched(
                self.index, self.k, self.queries, self.left_out, self.not_cached[rows]
            ):
                yield block.nearest(k)

    def for_each(self, k: int, work: Callable[[NeighborBlock], None]) -> None:
        """Call ``work`` with every block, on several threads if the index has them."""
        in_threads(lambda block: work(block.nearest(k)), self.cached, self.index.n_threads)
        for block in self._found_again(k):
            work(block)

    def kth_distances(self, k: int | None = None) -> Vector:
        """Return the distance of each query to its k-th nearest other row, in the index's unit."""
        distances = np.empty(len(self.queries))
        for block in self.blocks(k):
            distances[block.numbers] = block.kth_distances
        return distances


def find_neighborhoods(
    index: NeighborIndex,
    k: int,
    queries: Matrix | None = None,
    left_out: Indices | None = None,
) -> Neighborhoods:
    """Search once and cache the neighbourhoods; see :func:`neighbor_blocks`."""
    queries, left_out = _completed(index, queries, left_out)
    cached, not_cached = [], [np.empty(0, dtype=np.intp)]
    for block in neighbor_blocks(index, k, queries, left_out):
        if len(block.indices) <= _CACHED * (k + 2) * len(block.numbers):
            cached.append(block)
        else:
            not_cached.append(block.numbers)
    return Neighborhoods(index, k, queries, left_out, tuple(cached), np.concatenate(not_cached))


def nearest_distances(X: Matrix, *, skip_duplicates: bool = False) -> Vector:
    """Return the distance of each row to the nearest other row; there must be two rows or more.

    A duplicate is at distance zero, unless ``skip_duplicates`` is True: then the nearest row that
    differs is searched for, and there must be one.
    """
    index = build_index(X)
    distances = np.empty(len(index.rows))
    for block in neighbor_blocks(index.without_duplicates() if skip_duplicates else index, 1):
        distances[block.numbers] = block.kth_distances
    return from_unit(distances[index.inverse], index.exponent)


def _completed(
    index: NeighborIndex, queries: Matrix | None, left_out: Indices | None
) -> tuple[Matrix, Indices]:
    if queries is None:
        queries, left_out = index.rows, np.arange(len(index.rows))
    if left_out is None or index.n_rows == 1:  # a row that is alone is its own neighbour
        left_out = np.full(len(queries), -1)
    return queries, left_out


def _starts(lengths: Indices) -> Indices:
    return np.concatenate([[0], np.cumsum(lengths)])


def _weights(index: NeighborIndex, indices: Indices, left_out: Indices) -> Vector:
    """Return the weight of each neighbour: its occurrences, less the one left out."""
    if not index.has_duplicates:
        return (indices != left_out[:, None]).astype(np.float64)
    return (index.counts[indices] - (indices == left_out[:, None])).astype(np.float64)


def _kth_distances(distances: Matrix, weights: Vector, k: int) -> Vector:
    positions = np.argmax(np.cumsum(weights, axis=1) >= k, axis=1)
    return np.take_along_axis(distances, positions[:, None], axis=1)[:, 0]
