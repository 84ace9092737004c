"""Local kernel densities with one width per neighbour, and their weighted means.

Densities are held as logarithms, since their range exceeds that of floating-point numbers.
"""

from typing import NamedTuple

import numpy as np

from kernova.kernels.functions import Profile
from kernova.neighbors.index import NeighborIndex
from kernova.neighbors.neighborhoods import NeighborBlock, Neighborhoods, nearest_distances
from kernova.typing import Vector

# Larger u and powers, and widths outside of these powers of e, are clipped, so that arithmetic
# stays finite.
LARGEST_U = 1e150
_LARGEST_POWER = 1e140
_LARGEST_LOG_WIDTH = 690.0
# Log factors beyond this are compressed, so that factors stay finite and in order.
_LOG_BEND = 600.0
_LOG_SPREAD = 100 / np.log(1e308 / _LOG_BEND)


class DensitySettings(NamedTuple):
    """Parameters of a local kernel density and of its weighted mean."""

    profile: Profile
    scale: float  # C
    alpha: float
    gamma: float
    sigma: float


class LocalDensities(NamedTuple):
    """Widths and densities of the training rows for one k, as needed to score other rows."""

    k: int
    kth_distances: Vector  # none of them zero
    inverse_widths: Vector  # 1 / w_o
    log_heights: Vector  # -gamma log w_o
    log_densities: Vector


def learn_densities(
    neighborhoods: Neighborhoods, k: int, settings: DensitySettings
) -> LocalDensities:
    """Return the log density of every distinct row, kde(p) in Definition 3 of the RKOF paper."""
    index = neighborhoods.index
    kth = _without_zeros(neighborhoods.kth_distances(k), index)
    # w_o = C k-dist(o)^alpha, in the index's unit.
    log_unit = index.exponent * np.log(2.0)
    alpha, gamma = min(settings.alpha, _LARGEST_POWER), min(settings.gamma, _LARGEST_POWER)
    log_widths = np.log(settings.scale) + alpha * np.log(kth) + (alpha - 1) * log_unit
    within_range = np.clip(log_widths, -_LARGEST_LOG_WIDTH, _LARGEST_LOG_WIDTH)
    known = LocalDensities(k, kth, np.exp(-within_range), -gamma * log_widths, np.empty(len(kth)))

    def fill(block: NeighborBlock) -> None:
        known.log_densities[block.numbers] = log_densities(block, known, settings)

    neighborhoods.for_each(k, fill)
    return known


def _without_zeros(kth_distances: Vector, index: NeighborIndex) -> Vector:
    """Replace k-th distances of zero, of rows with k or more duplicates, by the smallest other one.

    If all are zero, they are replaced by the smallest distance between two distinct rows; and if
    all rows are equal, by the machine epsilon.
    """
    is_zero = kth_distances == 0
    if not is_zero.any():
        return kth_distances
    if not is_zero.all():
        smallest = kth_distances[~is_zero].min()
    elif len(index.rows) > 1:
        smallest = nearest_distances(index.rows).min()
    else:
        smallest = 0.0
    return np.where(is_zero, smallest or np.finfo(np.float64).eps, kth_distances)


def log_densities(block: NeighborBlock, known: LocalDensities, settings: DensitySettings) -> Vector:
    """Return the log of the mean over N_k(p) of w_o^(-gamma) K(|p - o| / w_o)."""
    with np.errstate(over="ignore"):
        u = block.distances * known.inverse_widths[block.indices]
    terms = settings.profile(np.minimum(u, LARGEST_U)) + known.log_heights[block.indices]
    return _log_sums(block, terms) - np.log(block.totals)


def _log_weighted_means(block: NeighborBlock, known: LocalDensities, sigma: float) -> Vector:
    """Return log wde(p): the mean density of the neighbours, those in sparse regions count less."""
    densities = known.log_densities[block.indices]
    if np.isinf(sigma):
        return _log_sums(block, densities) - np.log(block.totals)
    kth = known.kth_distances[block.indices]
    smallest = block.minima(kth)
    with np.errstate(over="ignore"):
        log_weights = -0.5 * ((kth / block.spread(smallest) - 1) / sigma) ** 2
    # Some neighbour has the smallest k-th distance, so the largest weight is 1: no sum vanishes.
    weights = np.exp(log_weights)
    if block.weights is not None:
        weights *= block.weights
    return _log_sums(block, densities + log_weights) - np.log(block.sums(weights))


def log_factors(block: NeighborBlock, known: LocalDensities, settings: DensitySettings) -> Vector:
    """Return the log of RKOF(p) = wde(p) / kde(p) for rows that are not training rows."""
    means = _log_weighted_means(block, known, settings.sigma)
    return means - log_densities(block, known, settings)


def known_log_factors(
    neighborhoods: Neighborhoods, known: LocalDensities, settings: DensitySettings
) -> Vector:
    """Return the log of RKOF(p) for the distinct training rows, each without itself."""
    factors = np.empty(len(known.log_densities))

    def fill(block: NeighborBlock) -> None:
        factors[block.numbers] = _log_weighted_means(block, known, settings.sigma)

    neighborhoods.for_each(known.k, fill)
    return factors - known.log_densities


def bounded_exp(logarithms: Vector) -> Vector:
    """Return exponentials that neither overflow nor vanish: beyond e^±600 they are compressed.

    Examples
    --------
    >>> import numpy as np
    >>> print(bounded_exp(np.array([0.0, 1e3, 1e300, -1e3])))
    [1.00000000e+000 4.05747252e+260 7.37619242e+302 2.46458847e-261]
    """
    size = np.abs(logarithms)
    excess = np.log(np.maximum(size, _LOG_BEND) / _LOG_BEND)
    return np.exp(np.sign(logarithms) * (np.minimum(size, _LOG_BEND) + _LOG_SPREAD * excess))


def _log_sums(block: NeighborBlock, terms: Vector) -> Vector:
    """Return the log of the sum of exp(term) over each neighbourhood, duplicates counted."""
    largest = block.maxima(terms)
    values = np.exp(terms - block.spread(largest))
    if block.weights is not None:
        values *= block.weights
    return largest + np.log(block.sums(values))
