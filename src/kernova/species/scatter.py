"""Scatter of shapes within groups: pooled over groups, shrunk, and whitened.

A group of ten specimens says little about the covariance of forty coordinates; its fellow groups
say more. Scatter is therefore pooled: that of the groups in question, and that of the others with
a limited number of degrees of freedom.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.typing import Indices, Matrix

Labels = NDArray[np.str_]  # the group of each specimen

# Degrees of freedom lent by other groups, per column: enough to make a covariance invertible, and
# no more than two groups of ordinary size have. 1 and 2 do equally well in docs/decisions/033.
_LENT_PER_COLUMN = 2
# Keeps the covariance of identical specimens invertible; relative to the mean variance.
_MIN_VARIANCE = 1e-9


class Scatter(NamedTuple):
    """Summed squares and products of residuals from group means, and their degrees of freedom."""

    products: Matrix
    df: float

    def plus(self, other: "Scatter") -> "Scatter":
        """Return the scatter of both sets of groups together."""
        return Scatter(self.products + other.products, self.df + other.df)

    def minus(self, other: "Scatter") -> "Scatter":
        """Return the scatter without some of the groups."""
        return Scatter(self.products - other.products, self.df - other.df)

    def limited(self) -> "Scatter":
        """Return the scatter with at most twice as many degrees of freedom as columns."""
        df = min(self.df, _LENT_PER_COLUMN * len(self.products))
        return Scatter(self.products * (df / self.df), df) if self.df > 0 else self

    def without_last(self, n_columns: int) -> "Scatter":
        """Return the scatter of all columns but the last ones."""
        kept = len(self.products) - n_columns
        return Scatter(self.products[:kept, :kept], self.df)


def scatter_of(rows: Matrix) -> Scatter:
    """Return the scatter of one group about its mean."""
    residuals = rows - rows.mean(axis=0)
    return Scatter(residuals.T @ residuals, len(rows) - 1)


def scatter_within(rows: Matrix, groups: Labels) -> Scatter:
    """Return the scatter of all groups about their means."""
    _, member, counts = np.unique(groups, return_inverse=True, return_counts=True)
    means = group_means(rows, member.astype(np.intp), counts.astype(np.intp))
    residuals = rows - means[member]
    return Scatter(residuals.T @ residuals, len(rows) - len(counts))


def group_means(rows: Matrix, member: Indices, counts: Indices) -> Matrix:
    """Return the mean of each group; ``member`` numbers the group of each row."""
    order = np.argsort(member, kind="stable")
    sums = np.add.reduceat(rows[order], np.cumsum(counts) - counts)
    return np.asarray(sums / counts[:, None])


def shrunk_covariance(scatter: Scatter) -> Matrix:
    """Return the covariance, shrunk towards equal variances by the OAS formula.

    Oracle approximating shrinkage, Chen, Wiesel, Eldar and Hero (2010), equation (23).
    """
    n_columns = len(scatter.products)
    covariance = scatter.products / max(scatter.df, 1)
    mean_variance = float(np.trace(covariance)) / n_columns
    squares = float(np.square(covariance).mean())
    wanted = squares + mean_variance**2
    excess = (scatter.df + 1) * (squares - mean_variance**2 / n_columns)
    amount = 1.0 if wanted >= excess else wanted / excess
    covariance = (1 - amount) * covariance
    covariance.flat[:: n_columns + 1] += (amount + _MIN_VARIANCE) * mean_variance
    return np.asarray(covariance)


def whitening(scatter: Scatter) -> Matrix:
    """Return the matrix that makes the shrunk covariance of rows the identity."""
    variances, directions = np.linalg.eigh(shrunk_covariance(scatter))
    if variances[-1] <= 0:  # all specimens of a group are equal
        return np.eye(len(variances))
    return np.asarray(directions / np.sqrt(np.maximum(variances, 1e-12 * variances[-1])))
