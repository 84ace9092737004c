"""Micro-clusters: a coreset of weighted points for very many rows.

Half of the micro-clusters start at random rows, which represent the bulk. The other half start at
rows sampled in proportion to their squared distance from the first half, which represent what the
bulk leaves out: a group of fifty rows far from a million others gets micro-clusters of its own.
Every row joins the nearest start, and a micro-cluster is the mean of its rows.
"""

from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin_min

from kernova.neighbors.duplicates import distinct_rows
from kernova.typing import Indices, Matrix, Vector

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
