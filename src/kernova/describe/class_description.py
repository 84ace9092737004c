"""One class, described: how well its rows explain any other row.

With r_i = exp(-|x - x_i|^2 / ell^2) over the rows of the class and R their matrix plus the ridge,
q(x) = r' R^-1 r is the share of a row's variance that the class explains: 1 on the class, 0 far
from it, and d(x) = sigma^2 (1 - q). What is computed is q, since 1 - q loses every rank once q is
below rounding.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from kernova.blocks import row_blocks
from kernova.kernels.distances import squared_distances

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class ClassDescription:
    """The rows of a class, the Cholesky factor of their matrix, and how each row is left out.

    ``left_out`` is q of each of the class's own rows, described by the others alone; NaN where
    there are no others.
    """

    rows: Matrix
    length_scale: float
    ridge: float
    factor: Matrix
    inverse_diagonal: Vector
    left_out: Vector

    def membership(self, X: Matrix) -> Vector:
        """Return q for each row, between 0 and 1."""
        return np.exp(self.log_membership(X))

    def log_membership(self, X: Matrix) -> Vector:
        """Return log q for each row: it keeps its rank where q itself is below all numbers."""
        log_q = np.empty(len(X))
        for block in row_blocks(len(X), 2 * len(self.rows)):
            r = squared_distances(self.rows, X[block])
            np.divide(r, self.length_scale**2, out=r)
            nearest = r.min(axis=0)
            # r' R^-1 r with the largest affinity taken out of r, and put back as a logarithm.
            np.exp(np.subtract(nearest, r, out=r), out=r)
            explained = solve_triangular(
                self.factor, r, lower=True, check_finite=False, overwrite_b=True
            )
            log_q[block] = np.log(np.einsum("ij,ij->j", explained, explained)) - 2 * nearest
        # Even on m copies of a row, a share of ridge / (m + ridge) stays unexplained.
        return np.minimum(log_q, np.log1p(-self.ridge / (len(self.rows) + self.ridge)))


def affinities(A: Matrix, B: Matrix, length_scale: float) -> Matrix:
    """Return exp(-|a - b|^2 / ell^2)."""
    squared = squared_distances(A, B)
    np.divide(squared, -(length_scale**2), out=squared)
    return np.asarray(np.exp(squared, out=squared))


def describe_class(
    rows: Matrix, length_scale: float, ridge: float, groups: Indices | None = None
) -> ClassDescription:
    """Describe a class by all of its rows; rows of one group are left out together."""
    R = affinities(rows, rows, length_scale)
    R[np.diag_indices_from(R)] = 1 + ridge
    factor = cholesky(R, lower=True, check_finite=False)
    inverse = inverse_from_factor(factor)
    left_out = leave_one_out(R, inverse) if groups is None else leave_group_out(R, inverse, groups)
    return ClassDescription(rows, length_scale, ridge, factor, np.diag(inverse).copy(), left_out)


def leave_one_out(R: Matrix, inverse: Matrix) -> Vector:
    """Return q of each row under the others, from the inverse of the whole matrix.

    With A = R^-1: R_-i^-1 r_i = -A_-i,i / A_ii, hence q = -sum_{j != i} R_ij A_ij / A_ii. Summing
    the products keeps the smallest q exact, which 1 - (1 / A_ii - ridge) would round away.
    """
    if len(R) == 1:
        return np.full(1, np.nan)
    diagonal = np.diag(inverse)
    products = R * inverse
    np.fill_diagonal(products, 0.0)
    return np.clip(-products.sum(axis=1) / diagonal, 0.0, 1.0)


def leave_group_out(R: Matrix, inverse: Matrix, groups: Indices) -> Vector:
    """Return q of each row under the rows of other groups; NaN if there are none."""
    q = np.full(len(R), np.nan)
    for group in np.unique(groups):
        inside = groups == group
        if inside.all():
            break
        # The same identity, with a block in place of a number.
        A_gg = inverse[np.ix_(inside, inside)]
        toward = np.linalg.solve(A_gg, inverse[np.ix_(inside, ~inside)])
        q[inside] = -np.einsum("ij,ij->i", toward, R[np.ix_(inside, ~inside)])
    return np.clip(q, 0.0, 1.0)


def leave_group_out_of_others(
    description: ClassDescription, r: Matrix, groups: Indices, groups_of_others: Indices
) -> Vector:
    """Return q of rows that describe nothing, without the describing rows of their own group.

    ``r`` holds their affinities, a column each. With G the rows of the group, the inverse without
    them is A - A_:G A_GG^-1 A_G:, so that q falls by u' A_GG^-1 u with u = A_G: r.
    """
    factor = description.factor
    q = np.einsum("ij,ij->j", *[solve_triangular(factor, r, lower=True, check_finite=False)] * 2)
    inverse = inverse_from_factor(factor)
    for group in np.intersect1d(groups, groups_of_others):
        inside, them = groups == group, groups_of_others == group
        u = inverse[inside] @ r[:, them]
        q[them] -= np.einsum("ij,ij->j", u, np.linalg.solve(inverse[np.ix_(inside, inside)], u))
    return np.clip(q, 0.0, 1.0)


def extended(description: ClassDescription, rows: Matrix) -> ClassDescription:
    """Add rows to a class by growing its factor; as a new description would be, but cheaper."""
    old, ridge, ell = description.rows, description.ridge, description.length_scale
    across = affinities(old, rows, ell)
    within = affinities(rows, rows, ell)
    within[np.diag_indices_from(within)] = 1 + ridge
    lower = solve_triangular(description.factor, across, lower=True, check_finite=False)
    corner = cholesky(within - lower.T @ lower, lower=True, check_finite=False)
    n, k = len(old), len(rows)
    factor = np.zeros((n + k, n + k))
    factor[:n, :n], factor[n:, :n], factor[n:, n:] = description.factor, lower.T, corner
    # The diagonal of the inverse grows by that of W S^-1 W', with W = R^-1 R_12 and S = corner^2.
    W = solve_triangular(description.factor, lower, lower=True, trans="T", check_finite=False)
    grown = solve_triangular(corner, W.T, lower=True, check_finite=False)
    old_diagonal = description.inverse_diagonal + np.einsum("ij,ij->j", grown, grown)
    S_inverse = cho_solve((corner, True), np.eye(k), check_finite=False)
    diagonal = np.concatenate([old_diagonal, np.diag(S_inverse)])
    left_out = np.clip(1 + ridge - 1 / diagonal, 0.0, 1.0)
    all_rows = np.vstack([old, rows])
    return ClassDescription(all_rows, ell, ridge, factor, diagonal, left_out)


def inverse_from_factor(factor: Matrix) -> Matrix:
    """Return the inverse of L L'."""
    inverse, _ = dpotri(factor, lower=True)
    lower = np.tril(inverse)
    return lower + np.tril(lower, -1).T
