"""All factors that the RKOF paper compares, for many numbers of neighbours from one search.

Scores are high for strange rows. Those of RKOF and LDF are logarithms of the factors, which rank
rows as the factors do but are not rounded to the same number far out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from kernova.blocks import row_blocks
from kernova.neighbors.index import NeighborIndex, build_index
from kernova.neighbors.neighborhoods import (
    TIE,
    NeighborBlock,
    Neighborhoods,
    find_neighborhoods,
    neighbor_blocks,
)
from kernova.progress import track
from kernova.score.baselines import LocalDensityFactor
from kernova.score.local_densities import DensitySettings, known_log_factors, learn_densities
from kernova.score.profiles import PROFILES

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

LPF_EXPONENT: Final = 0.5
# What scikit-learn's LOF adds to mean distances so that it can divide by them.
_LOF_ROUNDING: Final = 1e-10


class RankedRows(NamedTuple):
    """What one method says about every row, for one number of neighbours; high is strange."""

    method: str
    k: int
    scores: Vector


def rkof_settings(kernel: str = "volcano", sigma: float = 1.0) -> DensitySettings:
    """Give the paper's own parameters: C = 1, alpha = 1, gamma = 2."""
    return DensitySettings(PROFILES[kernel], 1.0, 1.0, 2.0, sigma)


def ldf_settings(n_columns: int) -> DensitySettings:
    """Give those of the local density factor: h = 1, and a power of as many as there are columns.

    Its c does not matter here: it bounds the factors, and keeps their order.
    """
    return LocalDensityFactor()._settings(n_columns)


def density_factors(
    neighborhoods: Neighborhoods, numbers: Sequence[int], methods: Mapping[str, DensitySettings]
) -> list[RankedRows]:
    """Rank all rows by each ratio of densities, for each k up to the one searched for."""
    inverse = neighborhoods.index.inverse
    ranked = []
    for k in track(numbers, "densities, each k"):
        narrowed = _narrowed(neighborhoods, k)
        learnt = {}
        for method, settings in methods.items():
            kernel = settings._replace(sigma=np.inf)  # densities do not depend on the weights
            if kernel not in learnt:
                learnt[kernel] = learn_densities(narrowed, k, settings)
            logs = known_log_factors(narrowed, learnt[kernel], settings)
            ranked.append(RankedRows(method, k, logs[inverse]))
    return ranked


def _narrowed(neighborhoods: Neighborhoods, k: int) -> Neighborhoods:
    """Cut all neighbourhoods to a smaller k once, rather than in every pass over them."""
    kept = tuple(block.nearest(k) for block in neighborhoods.kept)
    return replace(neighborhoods, k=k, kept=kept)


def peculiarity_factors(
    neighborhoods: Neighborhoods, numbers: Sequence[int], method: str = "LPF"
) -> list[RankedRows]:
    """Rank all rows by their local peculiarity, for each k, with each difference taken once."""
    index = neighborhoods.index
    sums = np.zeros((len(numbers), len(index.rows)))
    for block in neighborhoods.blocks():
        powers = _powers(block, neighborhoods.queries, index.rows)
        for line, k in enumerate(numbers):
            sums[line, block.numbers] = block.sums(_within(block, k, powers))
    return [
        RankedRows(method, k, line[index.inverse]) for k, line in zip(numbers, sums, strict=True)
    ]


def peculiarities_of(X: Matrix, rows: Indices, k: int) -> Vector:
    """Give the local peculiarity of some rows among all, for a k of any size; nothing is kept."""
    index = build_index(X, k=k)
    places = index.inverse[rows]
    queries = index.rows[places]
    sums = np.empty(len(rows))
    for block in neighbor_blocks(index, k, queries, places, f"LPF, k = {k:,}"):
        powers = _powers(block, queries, index.rows)
        sums[block.numbers] = block.sums(_within(block, k, powers))
    return sums


def _powers(block: NeighborBlock, queries: Matrix, rows: Matrix) -> Vector:
    """Sum |p_j - o_j|^alpha over the columns, for every pair of a row and a neighbour."""
    numbers = block.spread(block.numbers)
    powers = np.zeros(len(block.indices))
    for own, others in zip(queries.T, rows.T, strict=True):
        powers += np.abs(own[numbers] - others[block.indices]) ** LPF_EXPONENT
    return powers if block.weights is None else powers * block.weights


def _within(block: NeighborBlock, k: int, powers: Vector) -> Vector:
    if k == block.k:
        return powers
    kth = block.nearest(k).kth_distances
    return np.where(block.distances <= block.spread(kth) * (1 + TIE), powers, 0.0)


class SortedNeighbors(NamedTuple):
    """The nearest rows of every row, as scikit-learn's LOF finds them: so many, ties or not."""

    distances: Matrix
    indices: Indices


def sorted_neighbors(X: Matrix, k: int) -> SortedNeighbors:
    """Search once as scikit-learn's LOF does; the first columns serve every smaller k."""
    return SortedNeighbors(*NearestNeighbors(n_neighbors=k).fit(X).kneighbors())


def local_outlier_factors(neighbors: SortedNeighbors, k: int, sigma: float = np.inf) -> Vector:
    """Give scikit-learn's local outlier factor, or one with RKOF's weights in its last mean.

    Parameters
    ----------
    neighbors : SortedNeighbors
        From a search for ``k`` neighbours or more.
    k : int
        The number of neighbours.
    sigma : float
        How fast neighbours in sparser places lose weight, as in RKOF; infinity is LOF itself.
    """
    distances, indices = neighbors.distances[:, :k], neighbors.indices[:, :k]
    kth = np.ascontiguousarray(distances[:, -1])
    blocks = row_blocks(len(kth), 4 * k, share=1 / 16)
    densities = np.empty(len(kth))
    for rows in blocks:
        reach = np.maximum(distances[rows], kth[indices[rows]])
        densities[rows] = 1 / (reach.mean(axis=1) + _LOF_ROUNDING)
    factors = np.empty(len(kth))
    for rows in blocks:
        means = _weighted_means(densities[indices[rows]], kth, indices[rows], sigma)
        factors[rows] = means / densities[rows]
    return factors


def _weighted_means(densities: Matrix, kth: Vector, indices: Indices, sigma: float) -> Vector:
    if np.isinf(sigma):
        return densities.mean(axis=1)
    positive = kth[kth > 0]
    widths = np.maximum(kth, positive.min() if len(positive) else 1.0)[indices]
    ratios = widths / widths.min(axis=1, keepdims=True)
    weights = np.exp(-0.5 * ((ratios - 1) / sigma) ** 2)
    return (weights * densities).sum(axis=1) / weights.sum(axis=1)


def searched(X: Matrix, k: int) -> Neighborhoods:
    """Find the neighbourhoods, ties and copies counted, that RKOF, LDF and LPF look at."""
    index: NeighborIndex = build_index(X, k=k)
    return find_neighborhoods(index, k)
