"""Robust kernel outlier factor (RKOF), for one or for many numbers of neighbours."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_array

from kernova.anomaly.local_densities import DensitySettings, bounded_exp
from kernova.anomaly.local_factor import DensityRatioDetector, learnt_factors
from kernova.anomaly.parameters import (
    automatic_neighbor_numbers,
    checked_exponent,
    checked_neighbor_numbers,
    checked_positive,
)
from kernova.kernels.functions import Profile, profile_named
from kernova.neighbors.index import build_index
from kernova.typing import Vector

if TYPE_CHECKING:
    import pandas as pd


# As scikit-learn's LocalOutlierFactor has it: the Volcano factor too is about 1 in a cluster.
_AUTO_OFFSET_OF_VOLCANO = -1.5
_OR_DIMENSION = ' or "dimension"'


class RobustKernelOutlierFactor(DensityRatioDetector):
    """Robust kernel outlier factor (RKOF): how much sparser a row is than its neighbourhood.

    The factor is about 1 inside a cluster, whatever the cluster's density, and larger for a row in
    a sparser region than its neighbours. Unlike the local outlier factor (LOF), it gives less
    weight to neighbours in sparse regions, so that a small group of outliers does not hide itself,
    and its Volcano kernel keeps factors inside a cluster near 1.

    Duplicate rows, ties, constant columns and more neighbours than rows are ordinary input:
    factors are always finite. A row with ``n_neighbors`` duplicates or more has a k-th distance of
    zero; the smallest positive one replaces it, so that duplicate rows are not outliers. Factors
    beyond e^600 are compressed, so that they stay finite and in order.

    Parameters
    ----------
    n_neighbors : int, list of int or "auto", default="auto"
        Number of neighbours, k. With several, the factor is the geometric mean over them, from one
        neighbour search. Groups of outliers are found if k exceeds their size. "auto" is 80 and
        320, but at most a third of the rows, and beyond 200,000 rows at most 64 million divided by
        their number.
    kernel : {"volcano", "gaussian", "epanechnikov"} or callable, default="volcano"
        The kernel's profile; a function takes an array of u = distance / width and returns
        values of zero or more.
    alpha : float, default=1.0
        A neighbour's width is ``scale * k_distance ** alpha``. With 1, factors do not change if
        all columns are multiplied by a constant.
    gamma : float or "dimension", default=2.0
        A neighbour's term in a density is divided by its width to this power; "dimension" is the
        number of columns, as in a proper density.
    scale : float, default=1.0
        See ``alpha``.
    sigma : float, default=1.0
        How fast neighbours in sparser regions lose weight; at infinity all weights are equal.
    contamination : "auto" or float in (0, 0.5], default="auto"
        Fraction of the rows that are called outliers. "auto" calls rows with a factor above 1.5
        outliers if the kernel is "volcano", and otherwise those whose log factor is above the
        upper quartile by more than one and a half times the interquartile range.
    novelty : bool, default=False
        False to detect outliers among the training rows (``fit_predict``); True to score new rows
        against them (``score_samples``, ``decision_function``, ``predict``).
    algorithm : {"auto", "kd_tree", "brute", "approximate"}, default="auto"
        Neighbour search. "auto" takes the exact engine that costs less on these rows;
        "approximate" needs the extra ``fast``, and ``neighbor_recall_`` is its measured recall.
    n_jobs : int or None, default=None
        Threads for searching a tree; brute force uses what scikit-learn's compiled parts use.

    Attributes
    ----------
    negative_outlier_factor_ : ndarray of shape (n_samples,)
        The negated factors of the training rows; high for inliers.
    offset_ : float
        Rows with a score below it are called outliers.
    n_neighbors_ : int or ndarray
        The numbers of neighbours in use: at most the number of other rows.
    algorithm_ : str
        The engine in use.
    neighbor_recall_ : float
        Fraction of the true neighbours that were found; 1 for exact engines.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    References
    ----------
    Gao, Hu, Zhang, Zhang and Wu, "RKOF: Robust Kernel-Based Local Outlier Detection", PAKDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import RobustKernelOutlierFactor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [20.0]])
    >>> detector = RobustKernelOutlierFactor(n_neighbors=3)
    >>> detector.fit_predict(X)
    array([ 1,  1,  1,  1,  1, -1])
    >>> detector.negative_outlier_factor_.round(1)
    array([  -0.9,   -1. ,   -1.2,   -1. ,   -0.9, -356.7])
    """

    def __init__(
        self,
        n_neighbors: "int | Iterable[int] | str" = "auto",
        kernel: "str | Profile" = "volcano",
        alpha: float = 1.0,
        gamma: "float | str" = 2.0,
        scale: float = 1.0,
        sigma: float = 1.0,
        contamination: "str | float" = "auto",
        novelty: bool = False,
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_neighbors, contamination, novelty, algorithm, n_jobs)
        self.kernel = kernel
        self.alpha = alpha
        self.gamma = gamma
        self.scale = scale
        self.sigma = sigma

    def _settings(self, n_columns: int) -> DensitySettings:
        is_dimension = isinstance(self.gamma, str) and self.gamma == "dimension"
        return DensitySettings(
            profile_named(self.kernel),
            checked_positive("scale", self.scale),
            checked_exponent("alpha", self.alpha),
            n_columns if is_dimension else checked_exponent("gamma", self.gamma, _OR_DIMENSION),
            checked_positive("sigma", self.sigma, or_infinite=True),
        )

    def _offset(self, logs: Vector, fraction: float | None) -> float:
        if fraction is None and isinstance(self.kernel, str) and self.kernel == "volcano":
            return _AUTO_OFFSET_OF_VOLCANO
        return super()._offset(logs, fraction)


def outlier_factor_path(
    X: ArrayLike, n_neighbors: "Iterable[int] | str", *, algorithm: str = "auto", **parameters: Any
) -> "pd.DataFrame":
    """Return robust kernel outlier factors for many numbers of neighbours, from one search.

    A small k finds single outliers only; a large k finds groups of outliers too, but blurs small
    clusters. Rows that rank first over a range of k are safe to report;
    :func:`kernova.report.figures.rank_stability_figure` shows them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    n_neighbors : list of int or "auto"
        The numbers of neighbours; those beyond the number of other rows count as that number.
        "auto" is as in :class:`RobustKernelOutlierFactor`.
    algorithm : str, default="auto"
        As in :class:`RobustKernelOutlierFactor`.
    **parameters : dict
        Other parameters of :class:`RobustKernelOutlierFactor`, such as ``kernel`` or ``sigma``.

    Returns
    -------
    DataFrame of shape (n_samples, number of different k)
        Factors (high for outliers), one column for each k in increasing order, with the index of
        ``X`` if it is a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import outlier_factor_path
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [20.0], [20.5]])
    >>> outlier_factor_path(X, [1, 3]).round(1).iloc[-1].to_list()
    [1.0, 131.2]
    """
    import pandas as pd

    wanted = checked_neighbor_numbers(n_neighbors)
    detector = RobustKernelOutlierFactor(n_neighbors, algorithm=algorithm, **parameters)
    detector._check_parameters()
    labels = X.index if isinstance(X, pd.DataFrame) else None
    rows = check_array(X, dtype=np.float64, order="C")
    numbers = np.unique(automatic_neighbor_numbers(len(rows)) if wanted is None else wanted)
    reachable = np.minimum(numbers, max(1, len(rows) - 1))
    index = build_index(rows, algorithm, detector.n_jobs, int(reachable.max()))
    path = learnt_factors(index, np.unique(reachable), detector._settings(rows.shape[1]))
    factors = {known.k: bounded_exp(logs)[index.inverse] for known, logs in path}
    columns = {int(k): factors[int(used)] for k, used in zip(numbers, reachable, strict=True)}
    return pd.DataFrame(columns, index=labels).rename_axis(columns="n_neighbors")
