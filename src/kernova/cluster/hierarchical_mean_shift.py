"""Hierarchical mean shift (HMS), as a scikit-learn clusterer, and its micro-clusters.

Very many rows are represented by micro-clusters, a coreset of weighted points. Half of them start
at random rows, which represent the bulk. The other half start at rows sampled in proportion to
their squared distance from the first half, which represent what the bulk leaves out: a group of
fifty rows far from a million others gets micro-clusters of its own. Every row joins the nearest
start, and a micro-cluster is the mean of its rows.
"""

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import Interval, StrOptions, validate_data
from kernova.cluster.levels import Hierarchy, Rules, build_hierarchy, outlierness
from kernova.cluster.standardize import Standardization, fit_standardizer
from kernova.errors import InputError
from kernova.neighbors.index import distinct_rows
from kernova.tables.fill_values import check_no_cell_hides_others
from kernova.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    import pandas as pd


# A k-d tree is faster than matrix products up to about this many columns.
_MAX_TREE_COLUMNS = 12


class MicroClusters(NamedTuple):
    """Centres of the micro-clusters, the one of each row, and the distance to it."""

    centers: Matrix
    assigned: Indices
    distance: Vector

    @property
    def error(self) -> float:
        """Root mean squared distance between a row and its micro-cluster."""
        return float(np.sqrt(np.mean(self.distance**2)))


def micro_clusters(
    rows: Matrix, n_clusters: int, *, n_jobs: int | None = None, random_state: int = 0
) -> MicroClusters:
    """Represent rows by at most ``n_clusters`` micro-clusters.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> rows[:5] += 30.0
    >>> small = micro_clusters(rows, 20)
    >>> len(small.centers), bool(small.centers[small.assigned[0]].min() > 20)
    (20, True)
    """
    rng = np.random.default_rng(random_state)
    distinct = distinct_rows(rows)
    n_distinct = len(distinct.rows)
    first = np.sort(rng.choice(n_distinct, min(max(n_clusters // 2, 1), n_distinct), replace=False))
    nearest, distance = _nearest(distinct.rows, distinct.rows[first], n_jobs)
    nearest = first[nearest]
    second = _far_rows(distance**2 * distinct.counts, n_clusters - len(first), rng)
    if len(second):
        again, nearer = _nearest(distinct.rows, distinct.rows[second], n_jobs)
        nearest = np.where(nearer < distance, second[again], nearest)
    _, joined = np.unique(nearest, return_inverse=True)
    centers = _means(distinct.rows, joined, distinct.counts.astype(float))
    assigned = joined[distinct.inverse]
    return MicroClusters(centers, assigned, _distances(rows, centers[assigned]))


def _far_rows(weight: Vector, n_wanted: int, rng: np.random.Generator) -> Indices:
    """Sample rows without replacement in proportion to their weight, if positive."""
    candidates = np.flatnonzero(weight > 0)
    if len(candidates) <= n_wanted:
        return candidates
    # The smallest of exponential waiting times, each with the weight of its row as rate.
    waiting = rng.exponential(size=len(candidates)) / (weight[candidates] / weight.max())
    return np.sort(candidates[np.argpartition(waiting, n_wanted)[:n_wanted]])


def _nearest(rows: Matrix, points: Matrix, n_jobs: int | None) -> tuple[Indices, Vector]:
    if rows.shape[1] <= _MAX_TREE_COLUMNS:
        distance, nearest = cKDTree(points).query(rows, workers=effective_n_jobs(n_jobs))
        return nearest, distance
    nearest, distance = pairwise_distances_argmin_min(rows, points)
    return nearest, distance


def _means(rows: Matrix, group: Indices, weights: Vector) -> Matrix:
    total = np.bincount(group, weights=weights)
    return np.column_stack([np.bincount(group, weights=weights * c) / total for c in rows.T])


def _distances(rows: Matrix, others: Matrix) -> Vector:
    return np.asarray(np.sqrt(((rows - others) ** 2).sum(axis=1)))


# An exact hierarchy takes an hour for this many rows; this many micro-clusters take a minute.
_MANY_ROWS = 50_000
_MICRO_CLUSTERS = 20_000


class HierarchicalMeanShift(ClusterMixin, BaseEstimator):
    """Hierarchical mean shift (HMS): clusters at every scale, by a growing bandwidth.

    Each row starts as a cluster of its own. The bandwidth grows by a constant factor, all centres
    climb the Gaussian density of the rows at that bandwidth, and those that meet are merged, until
    one is left. Clusters that persist long for their size, or that are compact and isolated, are
    candidates for a category.

    Parameters
    ----------
    growth : float, default=1.1
        Factor from one bandwidth to the next, above 1.
    reference : {"data", "weighted", "centres"}, default="data"
        Points of the density: the rows; the centres of the previous level, each weighted by its
        number of rows (two to six times faster, nearly the same compactness, other outlierness); or
        these centres unweighted (a literal reading of the paper, but chaotic).
    standardize : {"sphere", "half-sphere", "zscore", "none"}, default="sphere"
        How columns are standardised; see :mod:`kernova.cluster.standardize`.
    tol : float, default=1e-4
        A centre stops when its step is at most this many bandwidths.
    merge : float, default=1e-2
        Centres that end within this many bandwidths are merged; at least 100 times ``tol``.
    n_components : int, float or None, default=None
        Number of principal axes to keep, or the fraction of the variance they must explain; None
        keeps all. For tables with many columns, where a hierarchy of sphered data is nearly empty.
    precision : {"mixed", "double"}, default="mixed"
        "mixed" climbs in single precision where a centre has many neighbours, "double" always in
        double: two to three times slower, the same clusters but for one row in a thousand.
    coreset : int, "auto" or None, default="auto"
        Number of weighted micro-clusters that represent the rows, if there are more rows; every row
        is assigned at the end. "auto" uses 20,000 micro-clusters above 50,000 rows; None uses none.
        ``coreset_error_`` measures the approximation.
    random_state : int, default=0
        Seed of the micro-clusters; not used without a coreset.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Attributes
    ----------
    bandwidths_ : array of shape (n_levels,)
    n_clusters_ : array of shape (n_levels,)
    labels_ : array of shape (n_rows,)
        Clusters 0..K-1 at ``level_``.
    level_ : int
        The level with the most persistent clusters. A cluster of s of n rows counts s^2 (n - s)
        times its lifetime, and single rows count nothing; the last of tied levels is taken.
    nodes_ : DataFrame
        A line per cluster: the levels ``born`` and ``last``, ``size``, ``representative`` (the
        row with the shortest path), ``first_member``, ``lifetime`` in levels, ``outlierness``,
        ``compactness`` and ``isolation`` at ``ci_level``, where their sum
        ``compactness_isolation`` is largest, and ``parent`` (-1 for the root). Lines 0..n-1 are
        the single rows. With a coreset, micro-clusters of several rows follow as clusters of level
        0; their rows are no clusters, and have ``last`` = -1.
    outlierness_, compactness_isolation_ : arrays of shape (n_nodes,)
    modes_ : array of shape (n_nodes, n_axes)
        The centre of each node at its last level, in standardised coordinates.
    standardized_ : array of shape (n_rows, n_axes)
        The standardised rows.
    coreset_error_ : float
        Root mean squared distance between a row and its micro-cluster, in standardised units; 0 if
        the hierarchy is exact. Levels with a smaller bandwidth reflect the micro-clusters more than
        the rows.
    path_lengths_ : array of shape (n_rows,)
        Length of the path of each row over all levels.

    See Also
    --------
    CategoryDiscovery : Asks an expert about the clusters of this hierarchy.
    GaussianMeanShift : One bandwidth instead of all.

    References
    ----------
    Vatturi and Wong, "Category Detection Using Hierarchical Mean Shift", KDD 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import HierarchicalMeanShift
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    >>> model = HierarchicalMeanShift().fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 2])
    >>> int(model.n_clusters_[-1])
    1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "growth": [Interval(Real, 1, None, closed="neither")],
        "reference": [StrOptions({"data", "weighted", "centres"})],
        "standardize": [StrOptions({"sphere", "half-sphere", "zscore", "none"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "merge": [Interval(Real, 0, None, closed="neither")],
        "n_components": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
        ],
        "precision": [StrOptions({"mixed", "double"})],
        "coreset": [None, StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "random_state": [Integral],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        growth: float = 1.1,
        reference: str = "data",
        standardize: Standardization = "sphere",
        tol: float = 1e-4,
        merge: float = 1e-2,
        *,
        n_components: int | float | None = None,
        precision: str = "mixed",
        coreset: int | str | None = "auto",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.growth = growth
        self.reference = reference
        self.standardize = standardize
        self.tol = tol
        self.merge = merge
        self.n_components = n_components
        self.precision = precision
        self.coreset = coreset
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Build the hierarchy of these rows."""
        self._validate_params()
        X = np.asarray(validate_data(self, X, dtype=np.float64))
        check_no_cell_hides_others(X)
        rows = fit_standardizer(X, self.standardize, self.n_components)(X)
        if rows.shape[1] == 0:  # every column is constant: all rows are one point
            rows = np.zeros((len(rows), 1))
        rules = Rules(self.growth, self.reference, self.tol, self.merge, self.n_jobs)
        if self.precision == "double":
            rules = rules._replace(few_rows=len(rows))
        self.standardized_ = rows
        self.coreset_error_ = 0.0
        n_micro = _n_micro_clusters(len(rows), self.coreset)
        if n_micro is None:
            self._store(build_hierarchy(rows, rules))
        else:
            self._store_approximate(rows, n_micro, rules)
        return self

    def _store_approximate(self, rows: Matrix, n_micro: int, rules: Rules) -> None:
        small = micro_clusters(rows, n_micro, n_jobs=self.n_jobs, random_state=self.random_state)
        self.coreset_error_ = small.error
        hierarchy = build_hierarchy(small.centers[small.assigned], rules, away=small.distance)
        self._store(hierarchy)

    def _store(self, hierarchy: Hierarchy) -> None:
        nodes = hierarchy.nodes
        self.bandwidths_ = hierarchy.bandwidths
        self.n_clusters_ = hierarchy.n_clusters
        self.path_lengths_ = hierarchy.path
        self.modes_ = nodes.mode
        self._born, self._last, self._parent = nodes.born, nodes.last, nodes.parent
        self._size, self._first_member = nodes.size, nodes.first_member
        self._representative = nodes.representative
        self._compactness, self._isolation, self._ci_level = nodes.criteria
        self._lifetime = np.where(nodes.parent < 0, 0, nodes.last - nodes.born + 1)
        self.outlierness_ = outlierness(self._lifetime, nodes.size, self.growth)
        self.compactness_isolation_ = nodes.criteria.total
        self.level_ = _persistent_level(nodes.born, nodes.last, nodes.size, self._lifetime)
        self.labels_ = np.unique(self.labels_at(self.level_), return_inverse=True)[1]

    @property
    def nodes_(self) -> "pd.DataFrame":
        """The table of nodes, one line per cluster."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(
            {
                "born": self._born,
                "last": self._last,
                "size": self._size,
                "representative": self._representative,
                "first_member": self._first_member,
                "lifetime": self._lifetime,
                "outlierness": self.outlierness_,
                "compactness": self._compactness,
                "isolation": self._isolation,
                "compactness_isolation": self.compactness_isolation_,
                "ci_level": self._ci_level,
                "parent": self._parent,
            }
        )

    def nodes_at(self, level: int) -> Indices:
        """Return, for each row, the number of the node it belongs to at a level."""
        check_is_fitted(self)
        if not 0 <= level < len(self.bandwidths_):
            raise InputError(
                f"There is no level {level}: the hierarchy has levels 0 to "
                f"{len(self.bandwidths_) - 1}; give one of them."
            )
        node = np.arange(len(self.standardized_))
        for _ in range(level + 1):  # a node's parent persists for at least one more level
            is_over = self._last[node] < level
            if not is_over.any():
                break
            node[is_over] = self._parent[node[is_over]]
        return node

    def labels_at(self, level: int) -> Indices:
        """Return the cluster labels at a level; a label is the smallest member of its cluster."""
        return np.asarray(self._first_member[self.nodes_at(level)])

    def members_of(self, node: int) -> Indices:
        """Return the rows of a node, in ascending order."""
        check_is_fitted(self)
        if not 0 <= node < len(self._born):
            raise InputError(
                f"There is no node {node}: the hierarchy has nodes 0 to {len(self._born) - 1}; "
                "give one of them."
            )
        return np.flatnonzero(self.nodes_at(int(self._born[node])) == node)


def _n_micro_clusters(n_rows: int, coreset: int | str | None) -> int | None:
    """Return the number of micro-clusters; None for an exact hierarchy."""
    if coreset == "auto":
        return _MICRO_CLUSTERS if n_rows > _MANY_ROWS else None
    if coreset is None or n_rows <= int(coreset):
        return None
    return int(coreset)


def _persistent_level(born: Indices, last: Indices, size: Indices, lifetime: Indices) -> int:
    """Return the level with the most persistent clusters; of tied levels the last.

    A cluster of s of n rows counts s^2 (n - s) times its lifetime: more with the rows it joins and
    with the rows it separates them from. A cluster of almost all rows counts little however long it
    persists, and so does one of two rows; single rows count nothing.
    """
    fraction = size / size.max()
    counts = np.where(size > 1, fraction**2 * (1 - fraction) * lifetime, 0.0)
    change = np.zeros(int(last.max()) + 2)
    np.add.at(change, born, counts)
    np.add.at(change, last + 1, -counts)
    total = np.cumsum(change)[:-1]
    # Sums of the same numbers in another order may differ in the last digit.
    return int(np.flatnonzero(total >= total.max() * (1 - 1e-9))[-1])
