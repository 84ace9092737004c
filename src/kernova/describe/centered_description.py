"""One class described with the kernel centred over it: the kernel Mahalanobis distance.

k~(a, b) = k(a, b) - mean_i k(a, x_i) - mean_i k(x_i, b) + mean_ij k(x_i, x_j), over the rows of
the class. The uncertainty d(x) = k~(x, x) - k~' (K~ + ridge)^-1 k~ is then, up to a factor, the
regularised Mahalanobis distance in feature space. No row has more than d = 1 + mean_ij k, so
membership is measured from there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from kernova.blocks import row_blocks
from kernova.describe.class_description import affinities, inverse_from_factor

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Below this, 1 - d is rounding.
_LEAST = 1e-16


@dataclass(frozen=True)
class CenteredDescription:
    """The rows of a class, their centred factor, and what centring takes off.

    ``left_out`` keeps the centre where all rows put it, and leaves out the row's own part.
    """

    rows: Matrix
    length_scale: float
    ridge: float
    factor: Matrix
    row_means: Vector
    overall_mean: float
    left_out: Vector

    def membership(self, X: Matrix) -> Vector:
        """Return q for each row, between 0 and 1."""
        return np.exp(self.log_membership(X))

    def log_membership(self, X: Matrix) -> Vector:
        """Return log q for each row, with q = 1 - d / (1 + mean_ij k)."""
        q = np.empty(len(X))
        for block in row_blocks(len(X), 2 * len(self.rows)):
            r = affinities(self.rows, X[block], self.length_scale)
            own_means = r.mean(axis=0)
            r -= own_means + self.row_means[:, None] - self.overall_mean
            explained = solve_triangular(self.factor, r, lower=True, check_finite=False)
            variance = 1 - 2 * own_means + self.overall_mean
            d = variance - np.einsum("ij,ij->j", explained, explained)
            q[block] = 1 - d / (1 + self.overall_mean)
        return np.log(np.clip(q, _LEAST, 1 - self.ridge / (len(self.rows) + self.ridge)))


def describe_centered(rows: Matrix, length_scale: float, ridge: float) -> CenteredDescription:
    """Describe a class by all of its rows, with the kernel centred over them."""
    K = affinities(rows, rows, length_scale)
    np.fill_diagonal(K, 1.0)
    row_means = K.mean(axis=1)
    overall = float(row_means.mean())
    K -= row_means + row_means[:, None] - overall
    K[np.diag_indices_from(K)] += ridge
    factor = cholesky(K, lower=True, check_finite=False)
    left_out = np.full(len(rows), np.nan)
    if len(rows) > 1:
        d = 1 / np.diag(inverse_from_factor(factor)) - ridge
        left_out = np.clip(1 - d / (1 + overall), 0.0, 1.0)
    return CenteredDescription(rows, length_scale, ridge, factor, row_means, overall, left_out)
