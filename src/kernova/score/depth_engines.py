"""Kernelized spatial depth, computed three ways.

Let δ_i be the distance in feature space from a query x to the i-th of n reference rows, and
z_i = 1/δ_i (zero where δ_i is zero). The paper's sum over pairs of unit vectors,

    Q = Σ_ij z_i z_j (k(x,x) + k(x_i,x_j) - k(x,x_i) - k(x,x_j)),     depth = 1 - √Q / N,

with N = n, or n - 1 if x is one of the rows, needs distances only: the bracket is
(δ_i² + δ_j² - Δ_ij) / 2, where Δ_ij is the squared distance of rows i and j. So

    Q = s t - z'Δz / 2,        s = Σ z_i,  t = Σ δ_i.

This form does not cancel at large bandwidths, where k is 1 up to rounding, and does not depend on
where a kernel has its origin.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.blocks import cached_blocks, in_threads, row_blocks
from kernova.errors import InputError
from kernova.kernels.functions import KernelLike, Linear
from kernova.kernels.gram import distance_quadratic_forms
from kernova.kernels.low_rank import CentredGram, certified, growing_factors
from kernova.progress import track

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Rows whose depths tell how large a spread to expect, and whether a rank is high enough.
_SAMPLE = 256
# What one kernel value costs, in multiplications of a matrix product (measured).
_KERNEL_COST = 400
# So many times further away than the known rows are spread, a query sees them as one point.
_FAR = 1e100
# Rounding errors above this share of a sum are not put up with.
_CANCELLED = 1e-13
# A known row so much nearer than the average one lies in a direction that rounding has eaten.
_TOO_NEAR = 1e-15
# Error of a sum of n products, relative to its terms: what cancels between them is lost. Near
# copies of a row have weights so large that this decides.
ROUNDING = 1e-14


class Directions(NamedTuple):
    """What a depth needs to know of the unit vectors from reference rows to some queries."""

    inverse_distances: Matrix  # z_i, one row per query
    sum_of_inverses: Vector  # s
    sum_of_distances: Vector  # t
    n_others: Vector  # N: reference rows that are not the query itself


def directions_to(queries: Matrix, reference: Matrix, kernel: KernelLike) -> Directions:
    """Invert the feature-space distances of each query to all reference rows."""
    Z = np.empty((len(queries), len(reference)))
    s, t, is_row = np.empty(len(Z)), np.empty(len(Z)), np.empty(len(Z))

    def invert(block: slice) -> None:
        distances = np.asarray(kernel.squared_distance(queries[block], reference))
        np.sqrt(distances, out=distances)
        t[block] = distances.sum(axis=1)
        is_copy = distances == 0.0
        is_row[block] = is_copy.any(axis=1)
        distances[is_copy] = np.inf  # S(0) = 0
        np.divide(1.0, distances, out=Z[block])
        s[block] = Z[block].sum(axis=1)

    in_threads(invert, cached_blocks(*Z.shape))
    return Directions(Z, s, t, len(reference) - is_row)


def depths_from(squared_resultants: Vector, n_others: Vector) -> Vector:
    """1 - √Q / N, within [0, 1]; a reference of nothing but the query itself gives depth 1."""
    if not np.isfinite(squared_resultants).all():
        raise InputError(
            "The kernel gives infinite or undefined values for these rows. "
            "Rescale the columns, or take another kernel."
        )
    lengths = np.sqrt(np.maximum(squared_resultants, 0.0))  # rounding leaves -1e-13 at a median
    return np.clip(1.0 - lengths / np.maximum(n_others, 1.0), 0.0, 1.0)


def exact_depths(queries: Matrix, reference: Matrix, kernel: KernelLike) -> Vector:
    """Depth of each query by blocked matrix products, m n² multiplications for m queries."""
    depths = np.empty(len(queries))
    # Every block of queries forms all of Δ again, so blocks are as large as memory allows.
    blocks = row_blocks(len(queries), len(reference), share=0.5)
    for block in track(blocks, "depth (exact)"):
        Z, s, t, n_others = _told_apart(directions_to(queries[block], reference, kernel))
        squared = s * t - 0.5 * distance_quadratic_forms(Z, reference, kernel)
        depths[block] = depths_from(squared, n_others)
    return depths


def _told_apart(directions: Directions) -> Directions:
    """Leave out unit vectors towards rows so near that nothing but rounding would turn them.

    Each of them still counts in N, so a depth is wrong by 1/N at most; kept, it would be noise.
    """
    Z, s, t, _ = directions
    limit = Z.shape[1] / _TOO_NEAR
    for query in np.flatnonzero(s * t > limit):
        Z[query, Z[query] * t[query] > limit] = 0.0
        s[query] = Z[query].sum()
    return directions


class DepthIntervals(NamedTuple):
    """Approximate depths, and how far from the exact ones they can be at most."""

    depths: Vector
    errors: Vector


def low_rank_intervals(directions: Directions, gram: CentredGram) -> DepthIntervals:
    """Depths with a proven bound, n (r + 4) multiplications per query at rank r.

    Centring Δ on both sides gives the Gram matrix G of the reference rows around their mean in
    feature space: Δ_ij = g_i + g_j - 2 G_ij, with g its diagonal, and so

        Q = s t - s (z . g) + z'Gz.

    The rows of G sum to zero, so z'Gz = c'Gc with c = z - mean z. With G = LL' + R the part
    |L'c|² is cheap, and what is left lies in

        0 <= c'Rc <= |c|² λ_max(R).

    That is small when the rank is high *or* when z hardly varies, as at small bandwidths, where
    all rows are equally far. The diagonal part of c'Rc, a guess at it, obeys the same bound.
    """
    Z, s, t, n_others = directions
    mean = s / Z.shape[1]
    projected = Z @ gram.factor
    projected -= mean[:, None] * gram.factor.sum(axis=0)  # L'c
    terms = s * t, s * (Z @ gram.diagonal), np.einsum("ij,ij->i", projected, projected)
    lowest = terms[0] - terms[1] + terms[2]
    left = gram.residual_diagonal
    squares = np.square(Z)
    squared_length = np.maximum(squares.sum(axis=1) - s * mean, 0.0)  # |c|²
    # Rounding moves the eigenvalues of R too, even below zero, by a share of the trace of G that
    # grows with the rank.
    moved = (ROUNDING + gram.rank * np.finfo(float).eps) * gram.diagonal.sum()
    rounding = ROUNDING * sum(terms) + squared_length * moved
    slack = squared_length * gram.residual_norm
    guess = squares @ left - 2 * mean * (Z @ left) + mean**2 * left.sum()
    between = lowest - rounding, lowest + slack + rounding
    return interval_around(lowest + np.clip(guess, 0.0, slack), between, n_others)


def interval_around(
    squared_resultants: Vector, between: tuple[Vector, Vector], n_others: Vector
) -> DepthIntervals:
    """Give depths, and the larger distance to what the ends of an interval of Q would give."""
    depths = depths_from(squared_resultants, n_others)
    deepest, shallowest = (depths_from(end, n_others) for end in between)
    return DepthIntervals(depths, np.maximum(deepest - depths, depths - shallowest))


class LowRankPlan(NamedTuple):
    """A factor that is good enough, and what that means in units of depth."""

    gram: CentredGram
    largest_error: float


def plan_low_rank(
    reference: Matrix,
    kernel: KernelLike,
    tolerance: float,
    max_rank: int,
    random_state: np.random.RandomState,
) -> LowRankPlan | None:
    """Find the smallest rank that meets the tolerance for enough of the reference rows, if any.

    ``tolerance`` is relative to the spread of depths, from the 5 % to the 95 % quantile of a
    sample of reference rows. Rows that miss it are scored exactly later: enough meet it when
    that costs no more than everything else.
    """
    sample = random_state.choice(len(reference), min(_SAMPLE, len(reference)), replace=False)
    directions = directions_to(reference[sample], reference, kernel)
    for step in growing_factors(reference, kernel, max_rank, random_state):
        if _wanted_error(directions, step.gram, tolerance) is None:
            continue
        gram = certified(step, reference, kernel)
        largest_error = _wanted_error(directions, gram, tolerance)
        if largest_error is not None:
            return LowRankPlan(gram, largest_error)
    return None


def _wanted_error(directions: Directions, gram: CentredGram, tolerance: float) -> float | None:
    """Give the error allowed in units of depth if enough rows meet it, else None."""
    depths, errors = low_rank_intervals(directions, gram)
    low, high = np.quantile(depths, [0.05, 0.95])
    allowed = float(tolerance * (high - low))
    cost_of_missed = np.mean(errors > allowed) * len(gram.diagonal) / 2
    return allowed if cost_of_missed <= gram.rank + _KERNEL_COST else None


def low_rank_depths(
    queries: Matrix, reference: Matrix, kernel: KernelLike, gram: CentredGram
) -> DepthIntervals:
    """Depths and their largest possible errors, from a factor of the centred Gram matrix."""
    depths, errors = np.empty(len(queries)), np.empty(len(queries))
    for block in track(row_blocks(len(queries), 3 * len(reference)), "depth (low rank)"):
        directions = directions_to(queries[block], reference, kernel)
        depths[block], errors[block] = low_rank_intervals(directions, gram)
    return DepthIntervals(depths, errors)


def euclidean_depths(queries: Matrix, reference: Matrix) -> Vector:
    """Plain spatial depth: the unit vectors can be summed themselves, without any kernel."""
    # Dividing by a power of two is exact and turns no direction; squares then stay in range.
    exponent = -int(np.frexp(np.abs(reference).max())[1])
    X = np.ldexp(reference, exponent)
    depths = np.empty(len(queries))
    for block in track(row_blocks(len(queries), 2 * len(X)), "spatial depth"):
        near = _pulled_in(queries[block], X.mean(axis=0), exponent)
        directions = directions_to(near, X, Linear())
        resultants = _sums_of_unit_vectors(near, X, directions)
        depths[block] = depths_from(np.sum(resultants**2, axis=1), directions.n_others)
    return depths


def _pulled_in(queries: Matrix, scaled_centre: Vector, exponent: int) -> Matrix:
    """Scale the queries, and move those whose distance would overflow nearer, same direction.

    From there as from where they were, all known rows lie in one direction: the depth is 0.
    """
    with np.errstate(over="ignore"):
        scaled = np.ldexp(queries, exponent)
    is_far = np.abs(scaled).max(axis=1) > _FAR
    if is_far.any():
        offsets = queries[is_far] / np.abs(queries[is_far]).max(axis=1, keepdims=True)
        scaled[is_far] = scaled_centre + _FAR * offsets
    return scaled


def _sums_of_unit_vectors(queries: Matrix, X: Matrix, directions: Directions) -> Matrix:
    """Σ_i (x - x_i) / |x - x_i| as s x - ZX, by differences where that would cancel."""
    Z, s, _, _ = directions
    centre = X.mean(axis=0)
    resultants = s[:, None] * (queries - centre) - Z @ (X - centre)
    # The two terms are as long as s times the distance from the centre, their difference at most n.
    rounding = np.finfo(float).eps * s * (1.0 + np.abs(queries - centre).max(axis=1))
    for query in np.flatnonzero(rounding > _CANCELLED * len(X)):
        resultants[query] = Z[query] @ (queries[query] - X)
    return resultants
