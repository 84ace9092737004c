"""Very many rows as fewer, weighted ones, with every row assigned.

Half of the micro-clusters begin at rows drawn by lot, which follow the bulk. The other half begin
at rows drawn in proportion to their squared distance from the first half, which follow what the
bulk leaves out: a group of fifty rows, far from a million others, gets micro-clusters of its own.
Every row then joins the nearest beginning, and a micro-cluster stands at the mean of its rows.
"""

from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin_min

from kernova.neighbors.duplicates import distinct_rows
from kernova.typing import Indices, Matrix, Vector

# A k-d tree beats products up to about so many columns.
_COLUMNS_FOR_A_TREE = 12


class MicroClusters(NamedTuple):
    """Where the micro-clusters stand, which one each row joined, and how far it is from it."""

    centers: Matrix
    assigned: Indices
    distance: Vector

    @property
    def error(self) -> float:
        """Root of the mean squared distance between a row and what stands for it."""
        return float(np.sqrt(np.mean(self.distance**2)))


def micro_clusters(
    rows: Matrix, n_clusters: int, *, n_jobs: int | None = None, random_state: int = 0
) -> MicroClusters:
    """Represent rows by at most so many micro-clusters.

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


def _far_rows(chance: Vector, n_wanted: int, rng: np.random.Generator) -> Indices:
    """Draw rows without replacement in proportion to their chance; those without one never."""
    candidates = np.flatnonzero(chance > 0)
    if len(candidates) <= n_wanted:
        return candidates
    # The smallest of exponential waiting times, each with a row's chance as its rate.
    waiting = rng.exponential(size=len(candidates)) / (chance[candidates] / chance.max())
    return np.sort(candidates[np.argpartition(waiting, n_wanted)[:n_wanted]])


def _nearest(rows: Matrix, points: Matrix, n_jobs: int | None) -> tuple[Indices, Vector]:
    if rows.shape[1] <= _COLUMNS_FOR_A_TREE:
        distance, nearest = cKDTree(points).query(rows, workers=effective_n_jobs(n_jobs))
        return nearest, distance
    nearest, distance = pairwise_distances_argmin_min(rows, points)
    return nearest, distance


def _means(rows: Matrix, group: Indices, weights: Vector) -> Matrix:
    total = np.bincount(group, weights=weights)
    return np.column_stack([np.bincount(group, weights=weights * c) / total for c in rows.T])


def _distances(rows: Matrix, others: Matrix) -> Vector:
    return np.asarray(np.sqrt(((rows - others) ** 2).sum(axis=1)))
