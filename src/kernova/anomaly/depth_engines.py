"""Engines of kernelized spatial depth: exact, low-rank and sparse, and plain spatial depth.

Let δ_i be the distance in feature space from a query x to the i-th of n reference rows, and
z_i = 1/δ_i (zero where δ_i is zero). The paper's sum over pairs of unit vectors,

    Q = Σ_ij z_i z_j (k(x,x) + k(x_i,x_j) - k(x,x_i) - k(x,x_j)),     depth = 1 - √Q / N,

with N = n, or n - 1 if x is one of the rows, needs distances only: the bracket is
(δ_i² + δ_j² - Δ_ij) / 2, where Δ_ij is the squared distance of rows i and j. So

    Q = s t - z'Δz / 2,        s = Σ z_i,  t = Σ δ_i.

This form does not cancel at large bandwidths, where k is 1 up to rounding, and does not depend on
where a kernel has its origin.

The low-rank engine replaces Δ by a low-rank factor, with a proven error bound.

The sparse engine is for kernels that reach few rows. Beyond some radius a stationary kernel is
below any ε. Setting it to zero there makes the kernel matrix K of the reference rows sparse, and
the inverse distances z of a query constant but for its few neighbours: z = a + c with a = 1/√2 and
c sparse. In the notation above,

    Q = s t - s² + z'Kz,     z'Kz = a² 1'K1 + 2a c'K1 + c'Kc,

and every term is a sum over neighbours only.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from sklearn import get_config

from kernova.errors import InputError
from kernova.kernels.functions import KernelLike, Linear, Stationary
from kernova.kernels.gram import CentredGram, certified, distance_quadratic_forms, growing_factors
from kernova.neighbors.index import in_unit, unit_exponent
from kernova.parallel import cached_blocks, in_threads, row_blocks
from kernova.progress import track
from kernova.typing import Matrix, Vector

# Number of rows whose depths estimate the spread of all depths and the errors of a plan.
_SAMPLE = 256
# Cost of one kernel value, in multiplications of a matrix product (measured).
_KERNEL_COST = 400
# A query farther away than this, relative to the spread of the known rows, has depth 0.
_FAR = 1e100
# Rounding errors above this fraction of a sum are avoided by summing differences.
_CANCELLED = 1e-13
# The direction towards a known row nearer than this, relative to the mean, is rounding error.
_TOO_NEAR = 1e-15
# Rounding error of a sum of n products, relative to its terms. It dominates near duplicates of a
# row, whose weights are very large.
_ROUNDING = 1e-14
# a: the inverse distance of rows beyond the kernel's reach
_FAR_WEIGHT = 1 / np.sqrt(2)
# In more columns a large enough ball holds nearly all rows, and trees do not help.
_MOST_COLUMNS = 8
# Neighbours per row, as a fraction of all rows, up to which the sparse engine is fastest.
_MOST_NEIGHBOURS = 1 / 40
# An index and a distance in a record, and again as sparse rows.
_BYTES_PER_PAIR = 48
_MOST_TRIES = 4


class Directions(NamedTuple):
    """Sums over the unit vectors from reference rows to some queries, as a depth needs them."""

    inverse_distances: Matrix  # z_i, one row per query
    sum_of_inverses: Vector  # s
    sum_of_distances: Vector  # t
    n_others: Vector  # N: reference rows that are not the query itself


def _directions_to(queries: Matrix, reference: Matrix, kernel: KernelLike) -> Directions:
    """Invert the feature-space distances of each query to all reference rows."""
    Z = np.empty((len(queries), len(reference)))
    s, t, is_row = np.empty(len(Z)), np.empty(len(Z)), np.empty(len(Z))

    def invert(block: slice) -> None:
        distances = np.asarray(kernel.squared_distance(queries[block], reference))
        np.sqrt(distances, out=distances)
        t[block] = distances.sum(axis=1)
        is_duplicate = distances == 0.0
        is_row[block] = is_duplicate.any(axis=1)
        distances[is_duplicate] = np.inf  # S(0) = 0
        np.divide(1.0, distances, out=Z[block])
        s[block] = Z[block].sum(axis=1)

    in_threads(invert, cached_blocks(*Z.shape))
    return Directions(Z, s, t, len(reference) - is_row)


def _depths_from(squared_resultants: Vector, n_others: Vector) -> Vector:
    """Return 1 - √Q / N, within [0, 1]; 1 if the reference is the query itself and nothing else."""
    if not np.isfinite(squared_resultants).all():
        raise InputError(
            "The kernel gives infinite or undefined values for these rows. "
            "Rescale the columns, or take another kernel."
        )
    lengths = np.sqrt(np.maximum(squared_resultants, 0.0))  # rounding leaves -1e-13 at a median
    return np.clip(1.0 - lengths / np.maximum(n_others, 1.0), 0.0, 1.0)


def exact_depths(queries: Matrix, reference: Matrix, kernel: KernelLike) -> Vector:
    """Return the depth of each query by blocked matrix products, m n² multiplications."""
    depths = np.empty(len(queries))
    # Every block of queries forms all of Δ again, so blocks are as large as memory allows.
    blocks = row_blocks(len(queries), len(reference), share=0.5)
    for block in track(blocks, "depth (exact)"):
        Z, s, t, n_others = _resolved(_directions_to(queries[block], reference, kernel))
        squared = s * t - 0.5 * distance_quadratic_forms(Z, reference, kernel)
        depths[block] = _depths_from(squared, n_others)
    return depths


def _resolved(directions: Directions) -> Directions:
    """Leave out unit vectors towards rows so near that their direction is rounding error.

    Each of them still counts in N, so that the error of a depth is at most 1/N.
    """
    Z, s, t, _ = directions
    limit = Z.shape[1] / _TOO_NEAR
    for query in np.flatnonzero(s * t > limit):
        Z[query, Z[query] * t[query] > limit] = 0.0
        s[query] = Z[query].sum()
    return directions


class DepthIntervals(NamedTuple):
    """Approximate depths and their largest possible errors."""

    depths: Vector
    errors: Vector


def _low_rank_intervals(directions: Directions, gram: CentredGram) -> DepthIntervals:
    """Return depths with a proven error bound, by n (r + 4) multiplications per query at rank r.

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
    # Rounding moves the eigenvalues of R too, even below zero, by a fraction of the trace of G
    # that grows with the rank.
    moved = (_ROUNDING + gram.rank * np.finfo(float).eps) * gram.diagonal.sum()
    rounding = _ROUNDING * sum(terms) + squared_length * moved
    slack = squared_length * gram.residual_norm
    guess = squares @ left - 2 * mean * (Z @ left) + mean**2 * left.sum()
    between = lowest - rounding, lowest + slack + rounding
    return _interval_around(lowest + np.clip(guess, 0.0, slack), between, n_others)


def _interval_around(
    squared_resultants: Vector, between: tuple[Vector, Vector], n_others: Vector
) -> DepthIntervals:
    """Return depths and their largest errors if Q lies anywhere in the interval ``between``."""
    depths = _depths_from(squared_resultants, n_others)
    deepest, shallowest = (_depths_from(end, n_others) for end in between)
    return DepthIntervals(depths, np.maximum(deepest - depths, depths - shallowest))


class LowRankPlan(NamedTuple):
    """A factor that meets the tolerance, and the tolerance in units of depth."""

    gram: CentredGram
    largest_error: float


def plan_low_rank(
    reference: Matrix,
    kernel: KernelLike,
    tolerance: float,
    max_rank: int,
    random_state: np.random.RandomState,
) -> LowRankPlan | None:
    """Find the smallest rank that meets the tolerance for enough reference rows; None if none does.

    ``tolerance`` is relative to the spread of depths, from the 5 % to the 95 % quantile of a
    sample of reference rows. Rows that miss it are scored exactly later: enough meet it when
    that costs no more than everything else.
    """
    sample = random_state.choice(len(reference), min(_SAMPLE, len(reference)), replace=False)
    directions = _directions_to(reference[sample], reference, kernel)
    for step in growing_factors(reference, kernel, max_rank, random_state):
        if _wanted_error(directions, step.gram, tolerance) is None:
            continue
        gram = certified(step, reference, kernel)
        largest_error = _wanted_error(directions, gram, tolerance)
        if largest_error is not None:
            return LowRankPlan(gram, largest_error)
    return None


def _wanted_error(directions: Directions, gram: CentredGram, tolerance: float) -> float | None:
    """Return the allowed error in units of depth if enough rows meet it, else None."""
    depths, errors = _low_rank_intervals(directions, gram)
    low, high = np.quantile(depths, [0.05, 0.95])
    allowed = float(tolerance * (high - low))
    cost_of_missed = np.mean(errors > allowed) * len(gram.diagonal) / 2
    return allowed if cost_of_missed <= gram.rank + _KERNEL_COST else None


def low_rank_depths(
    queries: Matrix, reference: Matrix, kernel: KernelLike, gram: CentredGram
) -> DepthIntervals:
    """Return depths and their largest errors, from a factor of the centred Gram matrix."""
    depths, errors = np.empty(len(queries)), np.empty(len(queries))
    for block in track(row_blocks(len(queries), 3 * len(reference)), "depth (low rank)"):
        directions = _directions_to(queries[block], reference, kernel)
        depths[block], errors[block] = _low_rank_intervals(directions, gram)
    return DepthIntervals(depths, errors)


def euclidean_depths(queries: Matrix, reference: Matrix) -> Vector:
    """Return the plain spatial depth of each query, by summing the unit vectors themselves."""
    # Dividing by a power of two is exact and turns no direction; squares then stay in range.
    exponent = unit_exponent(reference)
    X = in_unit(reference, exponent)
    depths = np.empty(len(queries))
    for block in track(row_blocks(len(queries), 2 * len(X)), "spatial depth"):
        near = _pulled_in(queries[block], X.mean(axis=0), -exponent)
        directions = _directions_to(near, X, Linear())
        resultants = _sums_of_unit_vectors(near, X, directions)
        depths[block] = _depths_from(np.sum(resultants**2, axis=1), directions.n_others)
    return depths


def _pulled_in(queries: Matrix, scaled_centre: Vector, exponent: int) -> Matrix:
    """Scale the queries, and move those whose distance would overflow towards the rows.

    From both positions all known rows lie in one direction: the depth is 0.
    """
    with np.errstate(over="ignore"):
        scaled = np.ldexp(queries, exponent)
    is_far = np.abs(scaled).max(axis=1) > _FAR
    if is_far.any():
        offsets = queries[is_far] / np.abs(queries[is_far]).max(axis=1, keepdims=True)
        scaled[is_far] = scaled_centre + _FAR * offsets
    return scaled


def _sums_of_unit_vectors(queries: Matrix, X: Matrix, directions: Directions) -> Matrix:
    """Return Σ_i (x - x_i) / |x - x_i| as s x - ZX, by differences where that would cancel."""
    Z, s, _, _ = directions
    centre = X.mean(axis=0)
    resultants = s[:, None] * (queries - centre) - Z @ (X - centre)
    # The two terms are as long as s times the distance from the centre, their difference at most n.
    rounding = np.finfo(float).eps * s * (1.0 + np.abs(queries - centre).max(axis=1))
    for query in np.flatnonzero(rounding > _CANCELLED * len(X)):
        resultants[query] = Z[query] @ (queries[query] - X)
    return resultants


class SparsePlan(NamedTuple):
    """The kernel matrix of the reference rows without its small entries, and its tolerance."""

    gram: csr_array
    row_sums: Vector
    cut: float  # ε: entries below it were left out
    largest_error: float


def plan_sparse(
    reference: Matrix,
    kernel: Stationary,
    tolerance: float,
    random_state: np.random.RandomState,
) -> SparsePlan | None:
    """Find the radius that meets the tolerance; None if its neighbourhoods are too large.

    ``tolerance`` is relative to the spread of depths, from the 5 % to the 95 % quantile of a
    sample of reference rows.
    """
    if reference.shape[1] > _MOST_COLUMNS:
        return None
    rows = kernel.rescaled(reference)
    tree = cKDTree(rows)
    sample = rows[random_state.choice(len(rows), min(_SAMPLE, len(rows)), replace=False)]
    cut = tolerance / len(rows)  # depths differ by about one neighbour among all rows
    for _ in range(_MOST_TRIES):
        if not _is_sparse_enough(tree, sample, _radius(kernel, cut)):
            return None
        plan = sparse_plan(tree, kernel, cut)
        depths, errors = _block_intervals(sample, tree, kernel, plan)
        allowed = tolerance * float(np.subtract(*np.quantile(depths, [0.95, 0.05])))
        if errors.max() <= allowed:
            return plan._replace(largest_error=allowed)
        cut *= 0.5 * allowed / float(errors.max())
        if cut < np.finfo(float).eps:
            return None
    return None


def sparse_depths(
    queries: Matrix, reference: Matrix, kernel: Stationary, plan: SparsePlan
) -> DepthIntervals:
    """Return depths and their largest errors, from the neighbours of each query alone."""
    tree = cKDTree(kernel.rescaled(reference))
    depths, errors = np.empty(len(queries)), np.empty(len(queries))
    rows = kernel.rescaled(queries)
    for block in track(_query_blocks(rows, tree, kernel, plan), "depth (sparse)"):
        depths[block], errors[block] = _block_intervals(rows[block], tree, kernel, plan)
    return DepthIntervals(depths, errors)


def _query_blocks(rows: Matrix, tree: cKDTree, kernel: Stationary, plan: SparsePlan) -> list[slice]:
    """Cut the queries so that the neighbours of a block fit into memory."""
    counts = tree.query_ball_point(rows, _radius(kernel, plan.cut), return_length=True)
    blocks = np.cumsum(counts) // _most_pairs()
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    return [slice(*ends) for ends in pairwise([*starts.tolist(), len(rows)])]


def _radius(kernel: Stationary, cut: float) -> float:
    return kernel.reach(cut) * kernel.rescaled_bandwidth


def _is_sparse_enough(tree: cKDTree, sample: Matrix, radius: float) -> bool:
    counts = tree.query_ball_point(sample, radius, return_length=True)
    return bool(np.mean(counts) <= min(_MOST_NEIGHBOURS * tree.n, _most_pairs() / tree.n))


def _most_pairs() -> int:
    """Return the number of pairs of neighbours that fit into the working memory."""
    return int(get_config()["working_memory"] * 2**20 / _BYTES_PER_PAIR)


def sparse_plan(tree: cKDTree, kernel: Stationary, cut: float) -> SparsePlan:
    """Compute the kernel matrix of a tree's rows without the entries below ``cut``."""
    gram = _near_squared_distances(tree.data, tree, kernel, cut)
    gram.data = 1.0 - 0.5 * gram.data  # k = 1 - δ²/2
    return SparsePlan(gram, gram.sum(axis=1), cut, 0.0)


def _near_squared_distances(
    queries: Matrix, tree: cKDTree, kernel: Stationary, cut: float
) -> csr_array:
    """Return squared feature-space distances to the rows within reach; duplicates are zeros."""
    pairs = cKDTree(queries).sparse_distance_matrix(
        tree, _radius(kernel, cut), output_type="ndarray"
    )
    squared = kernel.squared_distance_at(np.square(pairs["v"] / kernel.rescaled_bandwidth))
    return csr_array((squared, (pairs["i"], pairs["j"])), shape=(len(queries), tree.n))


def _block_intervals(
    queries: Matrix, tree: cKDTree, kernel: Stationary, plan: SparsePlan
) -> DepthIntervals:
    n = tree.n
    near = _near_squared_distances(queries, tree, kernel, plan.cut)
    distances = np.sqrt(near.data)
    is_duplicate = distances == 0.0
    inverses = np.divide(1.0, distances, out=np.zeros_like(distances), where=~is_duplicate)

    def at_neighbours(values: Vector) -> csr_array:
        return csr_array((values, near.indices, near.indptr), shape=near.shape)

    c = at_neighbours(inverses - _FAR_WEIGHT)
    s = n * _FAR_WEIGHT + c.sum(axis=1)
    t = n * np.sqrt(2) + at_neighbours(distances - np.sqrt(2)).sum(axis=1)
    quadratic = (
        _FAR_WEIGHT**2 * plan.row_sums.sum()
        + 2 * _FAR_WEIGHT * (c @ plan.row_sums)
        + (c @ plan.gram).multiply(c).sum(axis=1)
    )
    squared = s * t - s * s + quadratic
    # Among many duplicates s, t and z'Kz are small differences of terms as large as n, n and n².
    rounding = _ROUNDING * (s * t + s * s + np.abs(quadratic) + n * n)
    n_others = n - (at_neighbours(is_duplicate.astype(float)).sum(axis=1) > 0)
    slack = _largest_change(s, t, n, plan) + rounding
    return _interval_around(squared, (squared - slack, squared + slack), n_others)


def _largest_change(s: Vector, t: Vector, n: int, plan: SparsePlan) -> Vector:
    """Bound what the entries below ε, left out, can change in Q.

    A row left out has k < ε: its z lies between a and a (1 + ε'), its distance between √2 (1 - ε)
    and √2. Each product in Q then changes by at most the terms below; z'Kz moreover loses at most
    ε for each pair.
    """
    growth = 1 / np.sqrt(1 - plan.cut) - 1  # ε'
    change_of_s, change_of_t = n * _FAR_WEIGHT * growth, n * np.sqrt(2) * plan.cut
    largest_s = s + change_of_s
    return (
        largest_s * change_of_t
        + t * change_of_s
        + 2 * largest_s * change_of_s
        + plan.cut * largest_s**2
        + 2 * _FAR_WEIGHT * growth * plan.row_sums.max() * largest_s
    )
