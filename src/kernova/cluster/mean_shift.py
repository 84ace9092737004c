"""Mean shift with a Gaussian kernel: the modes that points reach by climbing the density.

The density is a sum of Gaussian kernels at the reference rows. A point moves to the mean of the
rows, weighted by the kernel around it, until a step is short.
"""

import math
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from kernova.files import process_folder
from kernova.parallel import in_threads, slices
from kernova.progress import track
from kernova.typing import Indices, Matrix, Single, Vector

# Beyond these radii exp(-r^2 / 2) is less than rounding in double and in single precision.
_RADIUS_DOUBLE = 8.6
RADIUS_SINGLE = 5.9
# Distance, in bandwidths, that a centre may move before its neighbourhood is gathered again.
_DRIFT = 1.2
# Up to this many neighbours a centre climbs in double precision: rounding would break ties.
FEW_ROWS = 96
_MAX_STEPS = 1000
# Shape of the blocks; the compiled loops use the same constants.
_BLOCK, _BLOCKS_PER_GROUP, _TILE = 64, 16, 256
# Coordinate of the padding rows in the last block; its square is finite.
_PADDING = 1e15
# Upper bound of search radii, below the padding; rows have an extent of about one.
_LARGEST_RADIUS = 1e12
# -log2 of the weight of a padding row.
_PADDING_BIAS = 1e4
# Centres per task: fixed, so that results do not depend on the number of threads.
_CENTRES_PER_BLOCK = 256


@cache
def compiled() -> ModuleType:
    """Return the compiled loops; importing numba takes half a second, so only a climb does it."""
    try:
        return import_module("kernova.cluster._compiled")
    except RuntimeError:  # neither the package folder nor the user's cache is writable
        import numba

        numba.config.CACHE_DIR = str(process_folder())  # type: ignore[attr-defined]
        return import_module("kernova.cluster._compiled")


def warm_up() -> None:
    """Compile the loops now, with a progress bar: on a new machine it takes some seconds."""
    if compiled().climb.signatures:
        return
    two = Reference(np.array([[0.0], [1.0]]))
    nearest = np.zeros(2)
    for part in track(["climb", "criteria"], "compiling, once"):
        if part == "climb":
            groups_within(two.climb(np.array([[0.0], [1.0]]), 1.0).ends, 0.1)
        else:
            two.kernel_sums(np.array([[0.0], [1.0]]), np.arange(2), 1.0, nearest_row=nearest)


class Blocks(NamedTuple):
    """Reference rows in tree order, 64 per block, with a box around each block and group."""

    columns: Matrix  # column x row, padded with zero columns to a multiple of four
    bias: Vector  # -log2 of the weight; the largest weight has 0
    weight: Vector
    offsets: Single  # relative to the centre of the block, by column within 32 rows
    bias_single: Single
    center: Matrix
    low: Matrix
    high: Matrix
    group_low: Matrix
    group_high: Matrix


class Settings(NamedTuple):
    """Settings of the compiled climb; all lengths in the units of the rows."""

    bandwidth: float
    shortest_step: float
    drift: float
    radius_single: float
    radius_double: float
    few_rows: int
    max_steps: int


class ScratchMemory(NamedTuple):
    """Scratch memory of one thread, in single and in double precision."""

    y: Vector
    mean: Vector
    local: Single
    found: NDArray[np.int64]
    chosen: NDArray[np.int64]
    at: Single
    q: Single
    near: Single
    at_double: Vector
    q_double: Vector
    near_double: NDArray[np.float64]


class Climb(NamedTuple):
    """Ends and path lengths of the climbs."""

    ends: Matrix
    paths: Vector


class Reference:
    """Rows of the density, prepared for many climbs at many bandwidths."""

    def __init__(self, rows: Matrix, weights: Vector | None = None) -> None:
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        self.n_columns = rows.shape[1]
        self.order = _tree_order(rows)
        self.blocks = _blocks(rows[self.order], weights[self.order])
        # A heavier row reaches farther: w exp(-r^2 / 2) = exp(-R^2 / 2).
        self._far = 2 * math.log(weights.max() / weights.min())

    def climb(
        self,
        starts: Matrix,
        bandwidth: float,
        *,
        tol: float = 1e-4,
        few_rows: int = FEW_ROWS,
        n_jobs: int | None = None,
    ) -> Climb:
        """Climb from each start until a step is at most ``tol`` bandwidths long."""
        climb = compiled().climb
        starts = self._padded(starts)
        ends = np.empty_like(starts)
        paths = np.empty(len(starts))
        few_rows = min(few_rows, len(self.order))
        settings = Settings(
            bandwidth, tol * bandwidth, _DRIFT * bandwidth,
            min((self._radius(RADIUS_SINGLE) + _DRIFT) * bandwidth, _LARGEST_RADIUS),
            min((self._radius(_RADIUS_DOUBLE) + _DRIFT) * bandwidth, _LARGEST_RADIUS),
            few_rows, _MAX_STEPS,
        )  # fmt: skip

        def work(block: slice) -> None:
            scratch = self._scratch(few_rows)
            climb(starts, block.start, block.stop, self.blocks, settings, scratch, ends, paths)

        in_threads(work, slices(len(starts), _CENTRES_PER_BLOCK), effective_n_jobs(n_jobs))
        return Climb(np.ascontiguousarray(ends[:, : self.n_columns]), paths)

    def kernel_sums(
        self,
        centers: Matrix,
        owner: NDArray[np.int64],
        bandwidth: float,
        *,
        nearest_row: Vector,
        n_jobs: int | None = None,
    ) -> "KernelSums":
        """Sum exp(-|x - p|^2 / 2 h^2) over rows and centres; ``owner`` is the centre of each row.

        ``nearest_row`` is the distance from a centre at a row to the nearest other row, 0 for other
        centres: a centre without neighbours in reach needs no sum.
        """
        add_kernel_sums = compiled().add_kernel_sums
        centers = self._padded(centers)
        owner = owner[self.order]
        is_alone = nearest_row > _RADIUS_DOUBLE * bandwidth
        weight = np.bincount(owner, weights=self.blocks.weight, minlength=len(centers))
        own, everyone = np.where(is_alone, weight, 0.0), np.where(is_alone, weight, 0.0)
        # Each task adds to its own sheet: sums have a fixed order, independent of threads.
        pieces = slices(len(centers), max(_CENTRES_PER_BLOCK, math.ceil(len(centers) / 8)))
        sheets = np.zeros((len(pieces), len(self.order)))

        def work(numbered: tuple[int, slice]) -> None:
            number, piece = numbered
            add_kernel_sums(
                centers, is_alone, piece.start, piece.stop, bandwidth,
                min(_RADIUS_DOUBLE * bandwidth, _LARGEST_RADIUS), self.blocks, owner,
                self._scratch(0), own, everyone, sheets[number],
            )  # fmt: skip

        in_threads(work, list(enumerate(pieces)), effective_n_jobs(n_jobs))
        by_row = np.empty(len(self.order))
        by_row[self.order] = sheets.sum(axis=0) + is_alone[owner]
        return KernelSums(own, everyone, by_row)

    def _radius(self, radius: float) -> float:
        return math.sqrt(radius**2 + self._far)

    def _padded(self, points: Matrix) -> Matrix:
        padded = np.zeros((len(points), len(self.blocks.columns)))
        padded[:, : points.shape[1]] = points
        return padded

    def _scratch(self, few_rows: int) -> ScratchMemory:
        width, n = self.blocks.columns.shape
        return ScratchMemory(
            y=np.empty(width), mean=np.empty(width),
            local=np.empty(width, np.float32),
            found=np.empty(math.ceil(n / _BLOCK) + 1, np.int64), chosen=np.empty(n, np.int64),
            at=np.empty(2 * width, np.float32), q=np.empty(_TILE, np.float32),
            near=np.empty((math.ceil(1.04 * n / _TILE) + 1, width + 1, _TILE), np.float32),
            at_double=np.empty(2 * width), q_double=np.empty(_TILE),
            near_double=np.empty((math.ceil(few_rows / _TILE), width + 1, _TILE)),
        )  # fmt: skip


class KernelSums(NamedTuple):
    """Sums of e(x, p): per centre over its own rows and over all, per row over all centres."""

    own: Vector
    everyone: Vector
    by_row: Vector


def groups_within(points: Matrix, radius: float) -> NDArray[np.int64]:
    """Label each point by the first point it is linked to by steps of at most ``radius``.

    Examples
    --------
    >>> import numpy as np
    >>> groups_within(np.array([[0.0], [5.0], [0.9], [1.8]]), radius=1.0)
    array([0, 1, 0, 0])
    """
    widest = int(np.argmax(np.ptp(points, axis=0))) if points.size else 0
    columns = np.r_[widest, np.delete(np.arange(points.shape[1]), widest)]
    points = np.ascontiguousarray(points[:, columns])
    order = np.argsort(points[:, 0], kind="stable")
    return np.asarray(compiled().groups_of_close_points(points, order, radius))


def _tree_order(rows: Matrix) -> Indices:
    if len(rows) <= 8:
        return np.arange(len(rows))
    return np.asarray(KDTree(rows, leaf_size=8).get_arrays()[1])


def _blocks(rows: Matrix, weights: Vector) -> Blocks:
    n, n_columns = rows.shape
    n_blocks, width = math.ceil(n / _BLOCK), 4 * math.ceil(n_columns / 4)
    padded = np.zeros((n_blocks * _BLOCK, width))
    padded[:n, :n_columns] = rows
    padded[n:, :n_columns] = rows[-1]
    in_blocks = padded.reshape(n_blocks, _BLOCK, width)
    low, high = in_blocks.min(axis=1), in_blocks.max(axis=1)
    center = (low + high) / 2
    offsets = in_blocks - center[:, None]
    offsets.reshape(-1, width)[n:] = _PADDING
    bias = np.log2(weights.max()) - np.log2(weights)
    bias_single = np.full(len(padded), _PADDING_BIAS, dtype=np.float32)
    bias_single[:n] = bias
    firsts = np.arange(0, n_blocks, _BLOCKS_PER_GROUP)
    return Blocks(
        np.ascontiguousarray(padded[:n].T), bias, weights,
        offsets.reshape(-1, 32, width).transpose(0, 2, 1).astype(np.float32).ravel(),
        bias_single, center, low, high,
        np.minimum.reduceat(low, firsts), np.maximum.reduceat(high, firsts),
    )  # fmt: skip
