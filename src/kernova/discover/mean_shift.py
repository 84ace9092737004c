"""Mean shift with a Gaussian kernel: where each starting point ends when it climbs the density.

The density is a sum of Gaussian bumps on the reference rows. A point climbs by stepping to the
mean of the rows, weighted by the kernel around it, until a step is short.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from kernova.blocks import in_threads, slices

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# exp(-r^2 / 2) beyond these radii is less than rounding in double and in single precision.
RADIUS_DOUBLE = 8.6
RADIUS_SINGLE = 5.9
# How far a centre may move, in bandwidths, before its neighbourhood is gathered again.
_DRIFT = 1.2
# Around so few rows a centre is climbed in double precision: symmetric pairs decide by rounding.
FEW_ROWS = 96
_MAX_STEPS = 1000
# Centres per piece of work: fixed, so that results do not depend on the number of threads.
_CENTRES_PER_BLOCK = 256


class Runs(NamedTuple):
    """Reference rows in tree order, eight to a run, with a ball around each run."""

    rows: NDArray[np.float64]  # run x column x 8, the columns padded to a multiple of four
    bias: NDArray[np.float64]  # run x 8: -log2 of the weight, the largest weight at 0
    count: NDArray[np.float64]  # run x 8: the weight itself, 0 where a run is not full
    center: Matrix
    radius: Vector
    group_center: Matrix
    group_radius: Vector


class Settings(NamedTuple):
    """What the compiled climb needs to know, all lengths in the units of the rows."""

    bandwidth: float
    shortest_step: float
    drift: float
    radius_single: float
    radius_double: float
    few_rows: int
    max_steps: int


class Desk(NamedTuple):
    """Scratch memory of one thread."""

    y: Vector
    at: NDArray[np.float32]
    minus_two_at: NDArray[np.float32]
    mean: Vector
    q: NDArray[np.float32]
    found: NDArray[np.int64]
    near: NDArray[np.float32]


class Climb(NamedTuple):
    """Where the starting points ended, and how long their paths were."""

    ends: Matrix
    paths: Vector


class Reference:
    """Rows that make the density, prepared for many climbs at many bandwidths."""

    def __init__(self, rows: Matrix, weights: Vector | None = None) -> None:
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        self.n_columns = rows.shape[1]
        self.order = _tree_order(rows)
        self.runs = _runs(rows[self.order], weights[self.order])

    def climb(
        self,
        starts: Matrix,
        bandwidth: float,
        *,
        tol: float = 1e-4,
        few_rows: int = FEW_ROWS,
        n_jobs: int | None = None,
    ) -> Climb:
        """Let each start climb until a step is at most ``tol`` bandwidths long."""
        from kernova.discover.compiled import climb

        starts = self._padded(starts)
        ends = np.empty_like(starts)
        paths = np.empty(len(starts))
        settings = Settings(
            bandwidth, tol * bandwidth, _DRIFT * bandwidth, RADIUS_SINGLE * bandwidth,
            RADIUS_DOUBLE * bandwidth, few_rows, _MAX_STEPS,
        )  # fmt: skip

        def work(block: slice) -> None:
            desk = self._desk()
            climb(starts, block.start, block.stop, self.runs, settings, desk, ends, paths)

        in_threads(work, slices(len(starts), _CENTRES_PER_BLOCK), effective_n_jobs(n_jobs))
        return Climb(np.ascontiguousarray(ends[:, : self.n_columns]), paths)

    def kernel_sums(
        self, centers: Matrix, owner: NDArray[np.int64], bandwidth: float, n_jobs: int | None = None
    ) -> "KernelSums":
        """Sum exp(-|x - p|^2 / 2 h^2) over rows and centres; ``owner`` names each row's centre."""
        from kernova.discover.compiled import RUN, add_kernel_sums

        centers = self._padded(centers)
        n_runs = len(self.runs.radius)
        owner_in_runs = np.full(n_runs * RUN, -1)
        owner_in_runs[: len(self.order)] = owner[self.order]
        own, everyone = np.zeros(len(centers)), np.zeros(len(centers))
        # Each block adds to a sheet of its own: sums in a fixed order, whatever the threads do.
        blocks = slices(len(centers), max(_CENTRES_PER_BLOCK, math.ceil(len(centers) / 8)))
        sheets = np.zeros((len(blocks), n_runs, RUN))

        def work(numbered: tuple[int, slice]) -> None:
            number, block = numbered
            add_kernel_sums(
                centers, block.start, block.stop, bandwidth, RADIUS_DOUBLE * bandwidth, self.runs,
                owner_in_runs.reshape(-1, RUN), np.empty(n_runs, dtype=np.int64), np.empty(RUN),
                own, everyone, sheets[number],
            )  # fmt: skip

        in_threads(work, list(enumerate(blocks)), effective_n_jobs(n_jobs))
        by_row = np.empty(len(self.order))
        by_row[self.order] = sheets.sum(axis=0).ravel()[: len(self.order)]
        return KernelSums(own, everyone, by_row)

    def _padded(self, points: Matrix) -> Matrix:
        width = self.runs.rows.shape[1]
        padded = np.zeros((len(points), width))
        padded[:, : points.shape[1]] = points
        return padded

    def _desk(self) -> Desk:
        from kernova.discover.compiled import RUN

        n_runs, width, _ = self.runs.rows.shape
        n_tiles = math.ceil(n_runs / 32)
        return Desk(
            y=np.empty(width), at=np.empty(width, np.float32),
            minus_two_at=np.empty(width, np.float32), mean=np.empty(width),
            q=np.empty(32 * RUN, np.float32), found=np.empty(n_runs, np.int64),
            near=np.empty((n_tiles, width + 1, 32, RUN), np.float32),
        )  # fmt: skip


class KernelSums(NamedTuple):
    """Sums of e(x, p): per centre over its own rows and over all, per row over all centres."""

    own: Vector
    everyone: Vector
    by_row: Vector


def groups_within(points: Matrix, radius: float) -> NDArray[np.int64]:
    """Name each point by the first of those it is linked to by hops of at most ``radius``.

    Examples
    --------
    >>> import numpy as np
    >>> groups_within(np.array([[0.0], [5.0], [0.9], [1.8]]), radius=1.0)
    array([0, 1, 0, 0])
    """
    from kernova.discover.compiled import groups_of_close_points

    widest = int(np.argmax(np.ptp(points, axis=0))) if points.size else 0
    columns = np.r_[widest, np.delete(np.arange(points.shape[1]), widest)]
    points = np.ascontiguousarray(points[:, columns])
    order = np.argsort(points[:, 0], kind="stable")
    return np.asarray(groups_of_close_points(points, order, radius))


def _tree_order(rows: Matrix) -> NDArray[np.intp]:
    if len(rows) <= 8:
        return np.arange(len(rows))
    return np.asarray(KDTree(rows, leaf_size=8).get_arrays()[1])


def _runs(rows: Matrix, weights: Vector) -> Runs:
    n, n_columns = rows.shape
    n_runs, width = math.ceil(n / 8), 4 * math.ceil(n_columns / 4)
    padded = np.zeros((n_runs * 8, width))
    padded[:n, :n_columns] = rows
    padded[n:, :n_columns] = rows[-1]  # stays inside the last ball, and weighs nothing
    count = np.zeros(n_runs * 8)
    count[:n] = weights
    bias = np.full(n_runs * 8, 1e4)
    bias[:n] = np.log2(weights.max()) - np.log2(weights)
    in_runs = padded.reshape(n_runs, 8, width)
    center, radius = _balls(in_runs)
    n_groups = math.ceil(n_runs / 16)
    in_groups = np.concatenate([padded, np.repeat(padded[-1:], n_groups * 128 - len(padded), 0)])
    group_center, group_radius = _balls(in_groups.reshape(n_groups, 128, width))
    return Runs(
        np.ascontiguousarray(in_runs.transpose(0, 2, 1)), bias.reshape(-1, 8),
        count.reshape(-1, 8), center, radius, group_center, group_radius,
    )  # fmt: skip


def _balls(pieces: NDArray[Any]) -> tuple[Matrix, Vector]:
    center = (pieces.max(axis=1) + pieces.min(axis=1)) / 2
    radius = np.sqrt(((pieces - center[:, None]) ** 2).sum(axis=2).max(axis=1))
    return center, radius * (1 + 1e-12)
