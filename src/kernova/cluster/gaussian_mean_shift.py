"""Gaussian mean shift at one bandwidth, as a scikit-learn clusterer, with two bandwidth rules."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import Interval, StrOptions, validate_data
from kernova.cluster.levels import unit_and_origin
from kernova.cluster.mean_shift import RADIUS_SINGLE, Reference, groups_within
from kernova.neighbors.index import distinct_rows
from kernova.neighbors.neighborhoods import nearest_distances
from kernova.tables.fill_values import check_no_cell_hides_others
from kernova.typing import Indices, Matrix, Vector

# Lower bound of a density, reached by a row far from all others.
_SMALLEST_SUM = 1e-300
# New rows are clipped at this multiple of the extent of the training rows.
_HORIZON = 1e9
_LARGEST = float(np.finfo(np.float64).max)
# Smallest width, as a fraction of the extent of the rows.
_NARROWEST = 1e-30


def silverman_width(rows: Matrix, counts: Vector) -> float:
    """Return Silverman's width for normal data: sigma (4 / ((d + 2) n))^(1 / (d + 4)).

    If all rows are equal, the width is 1.

    Examples
    --------
    >>> import numpy as np
    >>> round(silverman_width(np.array([[-1.0], [1.0]]), np.array([50.0, 50.0])), 3)
    0.424
    """
    n, n_columns = counts.sum(), rows.shape[1]
    center = counts @ rows / n
    variance = float((counts @ (rows - center) ** 2 / max(n - 1, 1)).mean())
    factor = float((4 / ((n_columns + 2) * n)) ** (1 / (n_columns + 4)))
    return float(np.sqrt(variance)) * factor or 1.0


def likelihood_width(rows: Matrix, counts: Vector) -> float:
    """Return the width with the highest leave-one-out likelihood.

    Duplicate rows are used once; their likelihood would grow without bound as the width shrinks.
    """
    if len(rows) < 2:
        return 1.0
    reference = Reference(rows)
    nearest = nearest_distances(rows)
    owner = np.arange(len(rows))

    def negative_log_likelihood(log_width: float) -> float:
        width = float(np.exp(log_width))
        sums = reference.kernel_sums(rows, owner, width, nearest_row=nearest)
        others = np.maximum(sums.everyone - 1, _SMALLEST_SUM)
        return -float(np.log(others).sum() - len(rows) * rows.shape[1] * log_width)

    low = np.log(np.median(nearest[nearest > 0]) / 4)
    high = np.log(max(2 * silverman_width(rows, np.ones(len(rows))), 4 * np.exp(low)))
    best = minimize_scalar(negative_log_likelihood, bounds=(low, high), options={"xatol": 0.01})
    return float(np.exp(best.x))


class GaussianMeanShift(ClusterMixin, BaseEstimator):
    """Mean shift clustering with a Gaussian kernel; the number of clusters is not needed.

    Every row climbs the kernel density to a mode, and rows with the same mode form a cluster.
    Unlike a flat kernel, the Gaussian gives a smooth density, so that modes do not depend on where
    a climb is stopped.

    Parameters
    ----------
    bandwidth : float, "silverman" or "likelihood-cv", default="silverman"
        Standard deviation of the kernel, in the units of the columns: bring these to one scale
        first. "silverman" is the rule of thumb for normal data, which smooths strongly;
        "likelihood-cv" maximises the leave-one-out likelihood of the rows.
    tol : float, default=1e-4
        A row stops when its step is at most this many bandwidths.
    merge : float, default=1e-2
        Rows that end within this many bandwidths are in one cluster.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : float
    cluster_centers_ : array of shape (n_clusters, n_columns)
        The modes, in order of decreasing cluster size.
    labels_ : array of shape (n_rows,)

    See Also
    --------
    HierarchicalMeanShift : All bandwidths at once.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import GaussianMeanShift
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.2]])
    >>> model = GaussianMeanShift(bandwidth=0.5).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1])
    >>> model.predict([[4.0]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"silverman", "likelihood-cv"}),
        ],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "merge": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        bandwidth: float | str = "silverman",
        *,
        tol: float = 1e-4,
        merge: float = 1e-2,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tol = tol
        self.merge = merge
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the mode of every row."""
        self._validate_params()
        X = np.asarray(validate_data(self, X, dtype=np.float64))
        check_no_cell_hides_others(X)
        self._unit, self._origin = unit_and_origin(X)
        distinct = distinct_rows(X / self._unit - self._origin)
        self._rows, self._counts = distinct.rows, distinct.counts.astype(float)
        self._relative_width = width = self._width(distinct.rows, self._counts)
        self.bandwidth_ = (
            min(float(width) * float(self._unit), _LARGEST)
            if isinstance(self.bandwidth, str)
            else float(self.bandwidth)
        )
        climb = self._reference().climb(distinct.rows, width, tol=self.tol, n_jobs=self.n_jobs)
        groups = np.unique(groups_within(climb.ends, self.merge * width), return_inverse=True)[1]
        self._arrange(climb.ends, groups, distinct.inverse)
        return self

    def _width(self, rows: Matrix, counts: Matrix) -> float:
        if isinstance(self.bandwidth, str):
            rule = silverman_width if self.bandwidth == "silverman" else likelihood_width
            return rule(rows, counts)
        # Beyond these widths each row is a cluster, or all are one.
        return min(max(float(self.bandwidth) / self._unit, _NARROWEST), 1 / _NARROWEST)

    def _reference(self) -> Reference:
        return Reference(self._rows, self._counts)

    def _arrange(self, ends: Matrix, groups: Indices, inverse: Indices) -> None:
        """Sort clusters by decreasing size; a mode is the mean of the ends of its rows."""
        size = np.bincount(groups, weights=self._counts)
        order = np.argsort(-size, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.labels_ = rank[groups][inverse]
        modes = np.column_stack(
            [np.bincount(groups, weights=self._counts * column) / size for column in ends.T]
        )[order]
        self._modes = modes
        # A mode may round to a number beyond the largest.
        with np.errstate(over="ignore"):
            centers = (modes + self._origin) * self._unit
        self.cluster_centers_ = np.clip(centers, -_LARGEST, _LARGEST)

    def predict(self, X: ArrayLike) -> Indices:
        """Return the cluster of new rows, by climbing the density of the training rows."""
        check_is_fitted(self)
        X = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        width = self._relative_width
        ends = (
            self._reference()
            .climb(self._starts(X, width), width, tol=self.tol, n_jobs=self.n_jobs)
            .ends
        )
        return np.asarray(cKDTree(self._modes).query(ends)[1])

    def _starts(self, X: Matrix, width: float) -> Matrix:
        """Return the starts of climbs; a row out of reach starts at the nearest training row."""
        with np.errstate(over="ignore"):
            points = np.clip(X / self._unit - self._origin, -_HORIZON, _HORIZON)
        distance, nearest = cKDTree(self._rows).query(points)
        is_out_of_reach = distance > RADIUS_SINGLE * width
        return np.where(is_out_of_reach[:, None], self._rows[nearest], points)
