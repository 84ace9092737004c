"""Description of one class by a Gaussian process over its rows: membership of any other row.

With r_i = exp(-|x - x_i|^2 / ell^2) over the rows of the class and R their matrix plus the ridge,
q(x) = r' R^-1 r is the fraction of a row's variance that the class explains: 1 on the class, 0 far
from it, and d(x) = sigma^2 (1 - q). The membership q is computed, since 1 - q loses every rank
once q is below rounding.

With the kernel centred over the class, d is the kernel Mahalanobis distance:
k~(a, b) = k(a, b) - mean_i k(a, x_i) - mean_i k(x_i, b) + mean_ij k(x_i, x_j), over the rows of
the class. The uncertainty d(x) = k~(x, x) - k~' (K~ + ridge)^-1 k~ is then, up to a factor, the
regularised Mahalanobis distance in feature space. The largest possible d is 1 + mean_ij k, so
q = 1 - d / (1 + mean_ij k).

A class of many rows may be described by the most informative ones, chosen by pivoted Cholesky.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dpotri

from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.typing import Indices, Matrix, Vector

# A centred membership below this is rounding error.
_LEAST = 1e-16
# Pivots are searched among a random sample of this many times the number wanted.
_CANDIDATES = 20


@dataclass(frozen=True)
class _Description:
    """Rows of a class, and the Cholesky factor of the matrix of their kernel."""

    rows: Matrix
    length_scale: float
    ridge: float
    factor: Matrix

    def membership(self, X: Matrix) -> Vector:
        """Return q for each row, between 0 and 1."""
        return np.exp(self.log_membership(X))

    @abstractmethod
    def log_membership(self, X: Matrix) -> Vector:
        """Return log q for each row."""


@dataclass(frozen=True)
class ClassDescription(_Description):
    """Rows of a class, the Cholesky factor of their matrix, and leave-one-out memberships.

    ``left_out`` is q of each of the class's own rows under the others alone; NaN where there are
    no others.
    """

    inverse_diagonal: Vector
    left_out: Vector

    def log_membership(self, X: Matrix) -> Vector:
        """Return log q for each row, which keeps its rank where q underflows."""
        log_q = np.empty(len(X))
        for block in row_blocks(len(X), 2 * len(self.rows)):
            r = squared_distances(self.rows, X[block])
            np.divide(r, self.length_scale**2, out=r)
            nearest = r.min(axis=0)
            # r' R^-1 r with the largest affinity factored out of r, and added back as a logarithm.
            np.exp(np.subtract(nearest, r, out=r), out=r)
            explained = solve_triangular(
                self.factor, r, lower=True, check_finite=False, overwrite_b=True
            )
            log_q[block] = np.log(np.einsum("ij,ij->j", explained, explained)) - 2 * nearest
        # Even on m duplicates of a row, a fraction of ridge / (m + ridge) stays unexplained.
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
    inverse = _inverse_from_factor(factor)
    left_out = (
        _leave_one_out(R, inverse) if groups is None else _leave_group_out(R, inverse, groups)
    )
    return ClassDescription(rows, length_scale, ridge, factor, np.diag(inverse).copy(), left_out)


def _leave_one_out(R: Matrix, inverse: Matrix) -> Vector:
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


def _leave_group_out(R: Matrix, inverse: Matrix, groups: Indices) -> Vector:
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
    """Return q of rows outside the description, without the described rows of their own group.

    ``r`` holds their affinities, a column each. With G the rows of the group, the inverse without
    them is A - A_:G A_GG^-1 A_G:, so that q falls by u' A_GG^-1 u with u = A_G: r.
    """
    factor = description.factor
    q = np.einsum("ij,ij->j", *[solve_triangular(factor, r, lower=True, check_finite=False)] * 2)
    inverse = _inverse_from_factor(factor)
    for group in np.intersect1d(groups, groups_of_others):
        inside, them = groups == group, groups_of_others == group
        u = inverse[inside] @ r[:, them]
        q[them] -= np.einsum("ij,ij->j", u, np.linalg.solve(inverse[np.ix_(inside, inside)], u))
    return np.clip(q, 0.0, 1.0)


def extended(description: ClassDescription, rows: Matrix) -> ClassDescription:
    """Add rows to a class by growing its factor: equal to a new description, but cheaper."""
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


def _inverse_from_factor(factor: Matrix) -> Matrix:
    """Return the inverse of L L'."""
    inverse, _ = dpotri(factor, lower=True)
    lower = np.tril(inverse)
    return lower + np.tril(lower, -1).T


@dataclass(frozen=True)
class CenteredDescription(_Description):
    """Rows of a class, the factor of their centred matrix, and the means of the kernel.

    ``left_out`` leaves out each row's own part, but keeps the centre of all rows.
    """

    row_means: Vector
    overall_mean: float
    left_out: Vector

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
        d = 1 / np.diag(_inverse_from_factor(factor)) - ridge
        left_out = np.clip(1 - d / (1 + overall), 0.0, 1.0)
    return CenteredDescription(rows, length_scale, ridge, factor, row_means, overall, left_out)


def pivot_rows(
    rows: Matrix, n_wanted: int, length_scale: float, random_state: np.random.RandomState
) -> Indices:
    """Choose rows by pivoted Cholesky: largest residual variance first; of equal ones the first.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    >>> pivot_rows(rows, 3, 1.0, np.random.RandomState(0))
    array([0, 3, 4])
    """
    pool = np.arange(len(rows))
    if len(rows) > _CANDIDATES * n_wanted:
        pool = np.sort(random_state.choice(len(rows), _CANDIDATES * n_wanted, replace=False))
    candidates = rows[pool]
    n_wanted = min(n_wanted, len(pool))
    explained = np.zeros((n_wanted, len(pool)))
    residual = np.ones(len(pool))
    chosen: list[int] = []
    for step in range(n_wanted):
        pivot = int(np.argmax(residual))
        if residual[pivot] <= 1e-12:  # only duplicates are left
            break
        line = affinities(candidates[[pivot]], candidates, length_scale)[0]
        line -= explained[:step, pivot] @ explained[:step]
        explained[step] = line / np.sqrt(residual[pivot])
        residual -= explained[step] ** 2
        residual[pivot] = 0.0
        chosen.append(pivot)
    return pool[np.sort(chosen)]
