"""The neighbourhood N_k of every row: all others within its k-th distance, ties included."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.neighbors.index import NeighborIndex, build_index
from kernova.parallel import in_threads, row_blocks, slices
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

# Distances this near to each other, relative to themselves, are tied.
TIE = 1e-12
# So many candidates are searched at a time, which stay in the processor's cache; but so many
# queries at least, unless their candidates are too many, for products to run at full speed.
_BLOCK_CANDIDATES = 1 << 18
_BLOCK_QUERIES = 4096
_MANY_CANDIDATES = 1 << 21
# Where ties reach beyond what was searched, look for so many times more, and then for all.
_WIDER = (1, 2, 4)
# If every row is tied, a pair of rows takes some fifteen numbers, not one.
_TIED_SHARE = 1 / 20
# A neighbourhood with more distinct rows than this many times k is not kept, but found again.
_KEPT = 4


class NeighborBlock(NamedTuple):
    """The neighbourhoods of some queries, one after the other, each sorted by distance.

    ``starts`` has one entry more than there are queries: neighbours of query ``numbers[i]`` stand
    from ``starts[i]`` up to ``starts[i + 1]``. A neighbour that stands several times is listed
    once; ``weights`` counts it (None if all weigh 1). Distances are in the index's unit.
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
        """How many distinct neighbours each query has."""
        return np.diff(self.starts)

    @property
    def totals(self) -> Vector:
        """How many neighbours each query has, copies counted: |N_k|."""
        return self.lengths.astype(np.float64) if self.weights is None else self.sums(self.weights)

    def sums(self, values: Vector) -> Vector:
        """Sum one value per neighbour over each neighbourhood."""
        return np.add.reduceat(values, self.starts[:-1])

    def maxima(self, values: Vector) -> Vector:
        """Give the largest value in each neighbourhood."""
        return np.maximum.reduceat(values, self.starts[:-1])

    def minima(self, values: Vector) -> Vector:
        """Give the smallest value in each neighbourhood."""
        return np.minimum.reduceat(values, self.starts[:-1])

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat one value per query for each of its neighbours."""
        return np.repeat(values, self.lengths)

    def nearest(self, k: int) -> "NeighborBlock":
        """Give the neighbourhoods of a smaller k, which these contain."""
        if k == self.k:
            return self
        kth = self.distances[self._kth_places(k)]
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

    def _kth_places(self, k: int) -> Indices:
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
        Which distance to the other rows bounds a neighbourhood, from 1 to their number.
    queries : ndarray, optional
        Rows in the index's unit. If None, the index's own distinct rows, each without itself.
    left_out : ndarray of shape (n_queries,), optional
        A distinct row of which each query is not to see one copy; -1 to see all.
    task : str
        Under which name to report progress.
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
    """Search wider for those queries whose ties may reach beyond what was found."""
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
                weights[is_kept] if index.has_copies else None,
                kth[is_complete],
            )
        numbers, kth = numbers[~is_complete], kth[~is_complete]
        if not len(numbers):
            return
    for block in row_blocks(len(numbers), len(index.rows), share=_TIED_SHARE):
        yield _found_within(index, k, queries, left_out, numbers[block], kth[block])


def _found_within(
    index: NeighborIndex,
    k: int,
    queries: Matrix,
    left_out: Indices,
    numbers: Indices,
    at_most: Vector,
) -> NeighborBlock:
    """Give neighbourhoods of which it is known only that no k-th distance is beyond a radius."""
    pairs = index.within(queries[numbers], at_most * (1 + 2 * TIE))
    order = np.lexsort((pairs.distances, pairs.queries))
    of_query, indices = pairs.queries[order], pairs.indices[order]
    weights = index.counts[indices] - (indices == left_out[numbers][of_query])
    is_seen = weights > 0
    block = NeighborBlock(
        0,  # as yet no k's: the radius may have been too wide
        numbers,
        _starts(np.bincount(of_query[is_seen], minlength=len(numbers))),
        indices[is_seen].astype(np.int32),
        pairs.distances[order][is_seen],
        weights[is_seen].astype(np.float64) if index.has_copies else None,
        at_most,
    )
    return block.nearest(k)


@dataclass(frozen=True)
class Neighborhoods:
    """The neighbourhoods of all queries, kept for several passes and for every smaller k.

    Those of a query with very many ties are not kept but found again in each pass, so that
    memory stays O(n k) whatever the data.
    """

    index: NeighborIndex
    k: int
    queries: Matrix
    left_out: Indices
    kept: tuple[NeighborBlock, ...]
    not_kept: Indices

    def blocks(self, k: int | None = None) -> Iterator[NeighborBlock]:
        """Go once over all queries, with neighbourhoods of the largest k or of a smaller one."""
        k = self.k if k is None else k
        yield from (block.nearest(k) for block in self.kept)
        yield from self._found_again(k)

    def _found_again(self, k: int) -> Iterator[NeighborBlock]:
        for rows in row_blocks(len(self.not_kept), len(self.index.rows), share=_TIED_SHARE):
            for block in _searched(
                self.index, self.k, self.queries, self.left_out, self.not_kept[rows]
            ):
                yield block.nearest(k)

    def for_each(self, k: int, work: Callable[[NeighborBlock], None]) -> None:
        """Work on all blocks, on several threads if the index has them."""
        in_threads(lambda block: work(block.nearest(k)), self.kept, self.index.n_threads)
        for block in self._found_again(k):
            work(block)

    def kth_distances(self, k: int | None = None) -> Vector:
        """Distance from each query to its k-th nearest other row, in the index's unit."""
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
    """Search once, and keep what was found; see :func:`neighbor_blocks`."""
    queries, left_out = _completed(index, queries, left_out)
    kept, not_kept = [], [np.empty(0, dtype=np.intp)]
    for block in neighbor_blocks(index, k, queries, left_out):
        if len(block.indices) <= _KEPT * (k + 2) * len(block.numbers):
            kept.append(block)
        else:
            not_kept.append(block.numbers)
    return Neighborhoods(index, k, queries, left_out, tuple(kept), np.concatenate(not_kept))


def nearest_distances(X: Matrix, *, is_copy_near: bool = True) -> Vector:
    """Distance of each row to the nearest other row; of two rows or more.

    A copy is at distance zero, unless ``is_copy_near`` is False: then the nearest row that differs
    is looked for, and there must be one.
    """
    index = build_index(X)
    distances = np.empty(len(index.rows))
    for block in neighbor_blocks(index if is_copy_near else index.without_copies(), 1):
        distances[block.numbers] = block.kth_distances
    return np.ldexp(distances[index.inverse], index.exponent)


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
    """How often each neighbour is seen: as often as it stands, less the copy left out."""
    if not index.has_copies:
        return (indices != left_out[:, None]).astype(np.float64)
    return (index.counts[indices] - (indices == left_out[:, None])).astype(np.float64)


def _kth_distances(distances: Matrix, weights: Vector, k: int) -> Vector:
    places = np.argmax(np.cumsum(weights, axis=1) >= k, axis=1)
    return np.take_along_axis(distances, places[:, None], axis=1)[:, 0]
