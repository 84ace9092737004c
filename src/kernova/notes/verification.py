"""Verification of detections: which candidates belong to the class that they resemble.

One detection alone is weak evidence. But an unknown sound that resembles a known class usually
recurs in a recording, and its instances resemble each other more than they resemble the class. So
detections are clustered as tightly as the class's own rows are, and each cluster is compared as a
whole with the rows of its class that are nearest to it, a fixed fraction of them, so that a class
may have two variants:

    distance = |cluster mean - their mean|^2 / spread / (1/n_cluster + 1/n_nearest + drift)

It is about 1 if the cluster comes from the class: the means of n and m rows differ by 1/n + 1/m of
the spread, and recordings differ by a little more, the drift. The acceptance threshold lies in the
widest gap between the distances of a class's clusters. If no cluster is clearly in the class, the
class is taken to be absent from the recording and the strict threshold applies.
"""

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from kernova.kernels.functions import squared_distances
from kernova.typing import Indices, Matrix, Vector

# Largest mean distance within a cluster, as a fraction of the typical distance of two class rows.
_CLUSTER_WIDTH = 0.9
# Variation of a class's mean from recording to recording, as a fraction of its spread.
_DRIFT = 0.4
# Fraction of a class's rows that a cluster is compared with.
_NEAREST_FRACTION = 0.7
# Weight of the spread pooled over all classes, in rows.
_POOLED_ROWS = 3.0
# Expected distance of other classes, in units of a class's own spread. If they are farther, the
# few rows do not yet show how wide the class is; this prior counts as so many rows.
_EXPECTED_SEPARATION, _PRIOR_ROWS = 8.0, 2.0
# Fraction of the other classes' rows that a class's threshold may accept: a class so diffuse that
# it contains the others needs a stricter threshold.
_ACCEPTED_OTHERS = 0.1
# Bounds of the acceptance threshold; members of the class have an expected distance of 1.
ACCEPT, REJECT = 1.3, 3.2
# Linkage of n rows takes n^2 distances; more detections are clustered in several batches.
_ROWS_PER_BATCH = 2000


class KnownClass(NamedTuple):
    """Rows of a class, and their spread as squared distances."""

    rows: Matrix  # shape (n_rows, n_columns)
    n_nearest: int  # number of rows that a cluster is compared with
    # Expected squared distance of a row from the mean of its nearest rows, were these many.
    spread: float
    # Expected squared distance of a row from the class mean; two rows are twice as far apart.
    variance: float
    # Distance that most rows of the other classes exceed; infinite if there are none.
    rejection_limit: float = np.inf


def known_classes(rows: Matrix, codes: Indices) -> list[KnownClass]:
    """Estimate the spread of each class, shrunken to the pooled spread where rows are few.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    codes : array of shape (n_rows,)
        Their classes, counted from 0.
    """
    members = [rows[codes == code] for code in range(int(codes.max()) + 1)]
    n_nearest = [max(min(2, len(own)), round(_NEAREST_FRACTION * len(own))) for own in members]
    to_nearest = [_squares_to_nearest(own, k) for own, k in zip(members, n_nearest, strict=True)]
    sums = np.array([squares.sum() for squares in to_nearest])
    about_mean = np.array([((own - own.mean(axis=0)) ** 2).sum() for own in members])
    counts = np.array([len(own) for own in members])
    alone = _half_nearest_square(rows)
    spreads = _shrunken(sums, np.where(counts > 1, counts, 0), alone)
    variances = _shrunken(about_mean, counts - 1, alone)
    known = [
        KnownClass(*values) for values in zip(members, n_nearest, spreads, variances, strict=True)
    ]
    return [_with_other_classes(one, rows[codes != code]) for code, one in enumerate(known)]


def class_distances(rows: Matrix, codes: Indices, known: list[KnownClass]) -> Vector:
    """Return the distance of each detection's cluster from its class; class members have about 1.

    Parameters
    ----------
    rows : array of shape (n_detections, n_columns)
    codes : array of shape (n_detections,)
        Candidate class of each detection.
    known : list of KnownClass
    """
    distances = np.empty(len(rows))
    for code in np.unique(codes).tolist():
        inside, one = np.flatnonzero(codes == code), known[code]
        clusters = cluster_rows(rows[inside], _CLUSTER_WIDTH * np.sqrt(2 * one.variance))
        sizes = np.bincount(clusters).astype(np.float64)
        means = np.zeros((len(sizes), rows.shape[1]))
        np.add.at(means, clusters, rows[inside])
        means /= sizes[:, None]
        distances[inside] = _cluster_distances(means, sizes, one)[clusters]
    return distances


def cluster_rows(rows: Matrix, distance: float) -> Indices:
    """Return the cluster number of each row, by average linkage up to the given distance."""
    clusters = np.zeros(len(rows), dtype=np.intp)
    n_clusters = 0
    for start in range(0, len(rows), _ROWS_PER_BATCH):
        batch = rows[start : start + _ROWS_PER_BATCH]
        if len(batch) == 1:
            numbers = np.zeros(1, dtype=np.intp)
        else:
            numbers = fcluster(linkage(batch, "average"), distance, "distance").astype(np.intp) - 1
        clusters[start : start + len(batch)] = n_clusters + numbers
        n_clusters += int(numbers.max()) + 1
    return clusters


def acceptance_threshold(distances: Vector, low: float = ACCEPT, high: float = REJECT) -> float:
    """Return the distance from which on detections of a class are rejected.

    Parameters
    ----------
    distances : array of shape (n_detections,)
        All detections of one class in a recording.
    low, high : float
        Detections below ``low`` are always accepted, those above ``high`` always rejected.

    Returns
    -------
    float
        The middle of the widest gap, by ratio, between the distances within the bounds; ``low`` if
        no distance lies below it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.notes.verification import acceptance_threshold
    >>> round(acceptance_threshold(np.array([0.8, 1.5, 2.9])), 3)
    2.086
    >>> acceptance_threshold(np.array([1.5, 2.9]))
    1.3
    """
    if not (distances <= low).any():
        return low
    inside = np.log(distances[(distances > low) & (distances < high)])
    marks = np.concatenate([[np.log(low)], np.sort(inside), [np.log(high)]])
    widest = int(np.diff(marks).argmax())
    return float(np.exp((marks[widest] + marks[widest + 1]) / 2))


def _with_other_classes(known: KnownClass, others: Matrix) -> KnownClass:
    """Use the rows of the other classes to set the width and the rejection limit of a class."""
    if len(others) == 0:
        return known
    ones = np.ones(len(others))
    apart = float(np.median(_cluster_distances(others, ones, known))) * known.spread
    n = len(known.rows) + _POOLED_ROWS
    spread = (n * known.spread + _PRIOR_ROWS * apart / _EXPECTED_SEPARATION) / (n + _PRIOR_ROWS)
    known = known._replace(spread=spread)
    distances = _cluster_distances(others, ones, known)
    return known._replace(rejection_limit=float(np.quantile(distances, _ACCEPTED_OTHERS)))


def _cluster_distances(means: Matrix, sizes: Vector, known: KnownClass) -> Vector:
    """Compare the means of clusters with the rows of a class that are nearest to each."""
    squared = squared_distances(means, known.rows)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, : known.n_nearest]
    apart = ((means - known.rows[nearest].mean(axis=1)) ** 2).sum(axis=1) / known.spread
    return np.asarray(apart / (1 / sizes + 1 / known.n_nearest + _DRIFT))


def _shrunken(sums: Vector, counts: Indices, alone: float) -> list[float]:
    """Return the mean of each class, shrunken to the mean of all classes by its number of rows."""
    pooled = sums.sum() / counts.sum() if counts.sum() else alone
    means = (sums + _POOLED_ROWS * pooled) / (counts + _POOLED_ROWS)
    return list(np.maximum(means, 1e-12).tolist())


def _squares_to_nearest(rows: Matrix, n_nearest: int) -> Vector:
    """Return the squared distance of each row from the mean of its nearest others, unbiased."""
    n_others = min(n_nearest, len(rows) - 1)
    if n_others < 1:
        return np.empty(0)
    squared = squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :n_others]
    apart = ((rows - rows[nearest].mean(axis=1)) ** 2).sum(axis=1)
    return np.asarray(apart / (1 + 1 / n_others))


def _half_nearest_square(rows: Matrix) -> float:
    """Return a spread for classes of one row each: half the squared distance of the nearest two."""
    if len(rows) < 2:
        return float((rows**2).sum() / 2) or 1.0
    squared = squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    return float(squared.min()) / 2
