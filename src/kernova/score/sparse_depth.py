"""Kernelized spatial depth where the kernel reaches few rows: neighbourhoods instead of tables.

Beyond some radius a stationary kernel is below any ε. Setting it to zero there makes the kernel
matrix K of the reference rows sparse, and the inverse distances z of a query constant but for its
few neighbours: z = a + c with a = 1/√2 and c sparse. In the notation of ``depth_engines``,

    Q = s t - s² + z'Kz,     z'Kz = a² 1'K1 + 2a c'K1 + c'Kc,

and every term is a sum over neighbours only.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from sklearn import get_config

from kernova.kernels.functions import Stationary
from kernova.progress import track
from kernova.score.depth_engines import ROUNDING, DepthIntervals, interval_around

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_FAR_WEIGHT = 1 / np.sqrt(2)  # a: the inverse distance of rows that the kernel does not reach
# In more columns a ball that is large enough holds nearly all rows, and trees do not help.
_MOST_COLUMNS = 8
# Neighbours per row, as a share of all rows, up to which this beats the dense engines.
_MOST_NEIGHBOURS = 1 / 40
_SAMPLE = 256
_BYTES_PER_PAIR = 48  # an index and a distance in a record, and again as sparse rows
_MOST_TRIES = 4


class SparsePlan(NamedTuple):
    """The reference rows' kernel matrix without its small entries, and what that is good for."""

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
    """Find the radius that meets the tolerance, if neighbourhoods of that radius are small.

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
        plan = _with_cut(tree, kernel, cut)
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
    """Depths and their largest possible errors, from the neighbours of each query alone."""
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
    """How many pairs of neighbours may be held at a time."""
    return int(get_config()["working_memory"] * 2**20 / _BYTES_PER_PAIR)


def _with_cut(tree: cKDTree, kernel: Stationary, cut: float) -> SparsePlan:
    gram = _near_squared_distances(tree.data, tree, kernel, cut)
    gram.data = 1.0 - 0.5 * gram.data  # k = 1 - δ²/2
    return SparsePlan(gram, gram.sum(axis=1), cut, 0.0)


def _near_squared_distances(
    queries: Matrix, tree: cKDTree, kernel: Stationary, cut: float
) -> csr_array:
    """Squared feature-space distances to the rows within reach; copies are explicit zeros."""
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
    is_copy = distances == 0.0
    inverses = np.divide(1.0, distances, out=np.zeros_like(distances), where=~is_copy)  # S(0) = 0

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
    # Among many copies s, t and z'Kz are small differences of terms as large as n, n and n².
    rounding = ROUNDING * (s * t + s * s + np.abs(quadratic) + n * n)
    n_others = n - (at_neighbours(is_copy.astype(float)).sum(axis=1) > 0)
    slack = _largest_change(s, t, n, plan) + rounding
    return interval_around(squared, (squared - slack, squared + slack), n_others)


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
