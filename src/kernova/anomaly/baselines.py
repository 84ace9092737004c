"""Baseline outlier factors: local density (LDF) and local peculiarity (LPF)."""

from collections.abc import Iterable, Iterator
from functools import reduce

import numpy as np

from kernova.anomaly.local_densities import LARGEST_U, DensitySettings, bounded_exp
from kernova.anomaly.local_factor import (
    DensityRatioDetector,
    LocalFactorDetector,
    upper_fence,
)
from kernova.anomaly.parameters import checked_exponent, checked_positive
from kernova.neighbors.neighborhoods import NeighborBlock, neighbor_blocks
from kernova.typing import Indices, Matrix, Vector

# Stands for log 0, below all other logarithms: the neighbours are all duplicates of the row.
_LOG_OF_NONE = -1e5
_LARGEST_LOG = 1e300


class LocalDensityFactor(DensityRatioDetector):
    """Local density factor (LDF): a Gaussian density over reachability distances, bounded.

    ``LDF(p) = m / (lde(p) + c m)``, where lde is the local density estimate and m its mean over
    the neighbours: ``1 / (1 + c)`` inside a cluster, at most ``1 / c`` far from everything.

    Parameters
    ----------
    n_neighbors : int, list of int or "auto", default="auto"
        Number of neighbours, k; of several, ``m / lde`` is the geometric mean over them. "auto" is
        as in :class:`RobustKernelOutlierFactor`.
    bandwidth : float, default=1.0
        Width of a neighbour's kernel in units of its k-th distance, h.
    c : float, default=0.1
        The largest factor is ``1 / c``.
    contamination, novelty, algorithm, n_jobs
        As in :class:`RobustKernelOutlierFactor`, with the rule for kernels other than "volcano".

    Attributes
    ----------
    negative_outlier_factor_, offset_, n_neighbors_, algorithm_, neighbor_recall_, n_features_in_
        As in :class:`RobustKernelOutlierFactor`.

    References
    ----------
    Latecki, Lazarevic and Pokrajac, "Outlier Detection with Kernel Density Functions", MLDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import LocalDensityFactor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [20.0]])
    >>> -LocalDensityFactor(n_neighbors=3).fit(X).negative_outlier_factor_.round(2)
    array([ 0.93,  0.88,  0.94,  0.88,  0.93, 10.  ])
    """

    def __init__(
        self,
        n_neighbors: "int | Iterable[int] | str" = "auto",
        bandwidth: float = 1.0,
        c: float = 0.1,
        contamination: "str | float" = "auto",
        novelty: bool = False,
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.c = c
        super().__init__(n_neighbors, contamination, novelty, algorithm, n_jobs)

    def _settings(self, n_columns: int) -> DensitySettings:
        checked_positive("c", self.c)
        width = checked_positive("bandwidth", self.bandwidth)
        nearest = min(1 / width, LARGEST_U)

        def gaussian_of_reachability(u: Vector) -> Vector:
            # max(|p - o|, k-dist(o)) in units of the width h k-dist(o)
            return -0.5 * np.maximum(u, nearest) ** 2

        return DensitySettings(gaussian_of_reachability, width, 1.0, n_columns, np.inf)

    def _factors(self, log_factors: Vector) -> Vector:
        with np.errstate(over="ignore"):  # a density beyond all numbers: the factor is 0
            return 1 / (np.exp(-log_factors) + max(self.c, np.finfo(np.float64).tiny))


class LocalPeculiarityFactor(LocalFactorDetector):
    """Local peculiarity factor (LPF): how much a row's values differ from its neighbours'.

    ``LPF(p)`` is the sum over the neighbours o and the columns j of ``|p_j - o_j| ** alpha``. It
    is zero for a row whose neighbours are all duplicates of it, and grows with k.

    Parameters
    ----------
    n_neighbors : int, list of int or "auto", default="auto"
        Number of neighbours, k; of several, and of "auto", see :class:`RobustKernelOutlierFactor`.
    alpha : float, default=0.5
        Below 1, many small differences count for more than one large one.
    contamination, novelty, algorithm, n_jobs
        As in :class:`RobustKernelOutlierFactor`; "auto" calls rows outliers whose factor is above
        the upper quartile by more than one and a half times the interquartile range.

    Attributes
    ----------
    negative_outlier_factor_, offset_, n_neighbors_, algorithm_, neighbor_recall_, n_features_in_
        As in :class:`LocalDensityFactor`.

    References
    ----------
    Yang, Zhong, Zhang and Li, "Local peculiarity factor and its application in outlier
    detection", KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import LocalPeculiarityFactor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [20.0]])
    >>> -LocalPeculiarityFactor(n_neighbors=2).fit(X).negative_outlier_factor_.round(1)
    array([2.4, 2. , 2. , 2. , 2.4, 8.1])
    """

    def __init__(
        self,
        n_neighbors: "int | Iterable[int] | str" = "auto",
        alpha: float = 0.5,
        contamination: "str | float" = "auto",
        novelty: bool = False,
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        super().__init__(n_neighbors, contamination, novelty, algorithm, n_jobs)

    def _check_parameters(self) -> None:
        checked_exponent("alpha", self.alpha)

    def _learn(self, numbers: Indices) -> Matrix:
        self._numbers = numbers
        logs = np.empty((len(numbers), len(self._index.rows)))
        # One pass, nothing cached: k may be in the thousands.
        for block in neighbor_blocks(self._index, int(numbers.max())):
            logs[:, block.numbers] = self._log_factors(block, self._index.rows)
        return logs

    def _log_factors(self, block: NeighborBlock, queries: Matrix) -> Matrix:
        blocks = (block.nearest(int(k)) for k in self._numbers)
        log_unit = self._index.exponent * np.log(2)
        return np.array(
            [
                _log_peculiarities(one, queries, self._index.rows, self.alpha, log_unit)
                for one in blocks
            ]
        )

    def _factors(self, log_factors: Vector) -> Vector:
        return np.where(log_factors > _LOG_OF_NONE, bounded_exp(log_factors), 0.0)

    def _offset(self, logs: Vector, fraction: float | None) -> float:
        if fraction is not None:
            return super()._offset(logs, fraction)
        # For a sum of differences the fence is taken without logarithms, unlike for a ratio.
        return -upper_fence(-self.negative_outlier_factor_)


def _log_peculiarities(
    block: NeighborBlock, queries: Matrix, rows: Matrix, alpha: float, log_unit: float
) -> Vector:
    """Return the log of the sum of powers of differences, in units of each row's largest one.

    Powers of other units would overflow or vanish where alpha is large.
    """
    numbers = block.spread(block.numbers)

    def differences() -> Iterator[Vector]:  # a few columns, not many rows
        for own, others in zip(queries.T, rows.T, strict=True):
            yield np.abs(own[numbers] - others[block.indices])

    largest = block.maxima(reduce(np.maximum, differences()))
    unit = block.spread(np.where(largest > 0, largest, 1))
    powers = sum((one / unit) ** alpha for one in differences())
    sums = block.sums(powers if block.weights is None else powers * block.weights)
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(sums) + alpha * (np.log(np.where(largest > 0, largest, 1)) + log_unit)
        return np.where(sums > 0, np.minimum(logs, _LARGEST_LOG), _LOG_OF_NONE)
