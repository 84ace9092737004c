"""How wide one Gaussian window should be, by two rules from density estimation.

Mean shift at one bandwidth, with a Gaussian kernel, as a scikit-learn clusterer.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova._sklearn import Interval, StrOptions
from kernova.cluster.levels import unit_and_origin
from kernova.cluster.mean_shift import RADIUS_SINGLE, Reference, groups_within
from kernova.neighbors.duplicates import distinct_rows
from kernova.neighbors.neighborhoods import nearest_distances
from kernova.typing import Indices, Matrix, Vector

# Densities are not told apart below this; a row that far from all others is as unlikely as can be.
_SMALLEST_SUM = 1e-300


def silverman_width(rows: Matrix, counts: Vector) -> float:
    """Return the best width for a normal bulk: sigma (4 / ((d + 2) n))^(1 / (d + 4)).

    Rows that are all alike have no scale, and get 1.

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
    """Return the width under which rows are likeliest, each judged by the others alone.

    Copies are taken once: they would be likeliest under no width at all.
    """
    if len(rows) < 2:
        return 1.0
    reference = Reference(rows)
    nearest = nearest_distances(rows)
    owner = np.arange(len(rows))

    def unlikelihood(log_width: float) -> float:
        width = float(np.exp(log_width))
        sums = reference.kernel_sums(rows, owner, width, nearest_row=nearest)
        others = np.maximum(sums.everyone - 1, _SMALLEST_SUM)
        return -float(np.log(others).sum() - len(rows) * rows.shape[1] * log_width)

    low = np.log(np.median(nearest[nearest > 0]) / 4)
    high = np.log(max(2 * silverman_width(rows, np.ones(len(rows))), 4 * np.exp(low)))
    best = minimize_scalar(unlikelihood, bounds=(low, high), options={"xatol": 0.01})
    return float(np.exp(best.x))


# New rows farther away than this many times the known ones' extent are all equally far.
_HORIZON = 1e9
# Widths are told apart from this share of the rows' extent on.
_NARROWEST = 1e-30


class GaussianMeanShift(ClusterMixin, BaseEstimator):
    """Clusters are the hills of a Gaussian kernel density; no number of clusters is needed.

    Every row climbs the density to a mode. Unlike a flat kernel, the Gaussian one makes a density
    without steps, so that modes do not depend on where the climb is cut off.

    Parameters
    ----------
    bandwidth : float, "silverman" or "likelihood-cv", default="silverman"
        The kernel's standard deviation, in the units of the columns: bring these to one scale
        first. "silverman" takes the rule of thumb for a normal bulk, which smooths much;
        "likelihood-cv" the width under which rows are likeliest when each is left out in turn.
    tol : float, default=1e-4
        A row stops when its step is at most so many bandwidths.
    merge : float, default=1e-2
        Rows that end so many bandwidths apart are in one cluster.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : float
    cluster_centers_ : array of shape (n_clusters, n_columns)
        The modes, that of the largest cluster first.
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
        """Let every row climb to its mode."""
        self._validate_params()
        X = np.asarray(validate_data(self, X, dtype=np.float64))
        self._unit, self._origin = unit_and_origin(X)
        distinct = distinct_rows(X / self._unit - self._origin)
        self._rows, self._counts = distinct.rows, distinct.counts.astype(float)
        self._relative_width = width = self._width(distinct.rows, self._counts)
        self.bandwidth_ = (
            width * self._unit if isinstance(self.bandwidth, str) else float(self.bandwidth)
        )
        climb = self._reference().climb(distinct.rows, width, tol=self.tol, n_jobs=self.n_jobs)
        groups = np.unique(groups_within(climb.ends, self.merge * width), return_inverse=True)[1]
        self._arrange(climb.ends, groups, distinct.inverse)
        return self

    def _width(self, rows: Matrix, counts: Matrix) -> float:
        if isinstance(self.bandwidth, str):
            rule = silverman_width if self.bandwidth == "silverman" else likelihood_width
            return rule(rows, counts)
        # Beyond these widths nothing changes: each row is a cluster, or all are one.
        return min(max(float(self.bandwidth) / self._unit, _NARROWEST), 1 / _NARROWEST)

    def _reference(self) -> Reference:
        return Reference(self._rows, self._counts)

    def _arrange(self, ends: Matrix, groups: Indices, inverse: Indices) -> None:
        """Name clusters by falling size, and let a mode be the mean of where its rows ended."""
        size = np.bincount(groups, weights=self._counts)
        order = np.argsort(-size, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self.labels_ = rank[groups][inverse]
        modes = np.column_stack(
            [np.bincount(groups, weights=self._counts * column) / size for column in ends.T]
        )[order]
        self._modes = modes
        self.cluster_centers_ = (modes + self._origin) * self._unit

    def predict(self, X: ArrayLike) -> Indices:
        """Let new rows climb the density of the known ones; return the cluster each ends in."""
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
        """Return where rows begin to climb: where no known row is felt, at the nearest one."""
        with np.errstate(over="ignore"):
            points = np.clip(X / self._unit - self._origin, -_HORIZON, _HORIZON)
        distance, nearest = cKDTree(self._rows).query(points)
        is_lost = distance > RADIUS_SINGLE * width
        return np.where(is_lost[:, None], self._rows[nearest], points)
