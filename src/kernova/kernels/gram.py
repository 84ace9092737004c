"""Gram matrices of kernels: sums over all pairs of rows in tiles, and low-rank factors.

The n x n matrix of squared distances is never held in memory. A low-rank factor of the centred
Gram matrix grows until it is accurate enough. Its columns are chosen in blocks, at random with
probabilities proportional to the residual diagonal (randomly pivoted Cholesky). The residual R
stays positive semidefinite, so its norms bound its largest eigenvalue, and with it every error
made by leaving R out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from kernova.kernels.functions import KernelLike
from kernova.parallel import cached_blocks, in_threads, slices
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

# Below this fraction of the largest, a principal component is rounding.
_ROUNDING_FRACTION = 1e-12


def principal_directions(centred: Matrix, n_components: int) -> Matrix:
    """Return the first principal directions as orthonormal columns, fewer if the rank is lower.

    The largest entry of each is positive, so that the same rows give the same picture.
    """
    if len(centred) > centred.shape[1]:  # the triangle has the same directions in fewer rows
        centred = np.linalg.qr(centred).R
    _, strength, right = np.linalg.svd(centred, full_matrices=False)
    n_real = max(1, int(np.sum(strength > _ROUNDING_FRACTION * strength[0])))
    directions = right[: min(n_components, n_real)].T
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return np.asarray(directions * np.where(largest < 0, -1.0, 1.0))


# Columns of a tile: wide enough for BLAS to run at full speed, narrow enough that the upper
# triangle of tiles is little more than half of the square (measured: best from 400 to 1,000).
_TILE_COLUMNS = 512
# Columns that are added to a factor at a time.
_BLOCK_COLUMNS = 64
# Rank grows by this factor between two estimates of the error, so that estimating stays cheap.
_STRIDE = 1.2
# A pivot that has fallen to this fraction of the diagonal depends linearly on earlier ones.
_DEPENDENT = 1e-12
# Rounding error of an entry of G, relative to the mean distances it is computed from.
_ENTRY_ROUNDING = 1e-14
# Number of columns of the residual that are sampled to estimate its norm while the factor grows.
_WATCHED_COLUMNS = 256
# The maximum over all rows exceeds the maximum over the sampled ones by about this factor
# (measured).
_HIGHER_THAN_WATCHED = 1.3


class Strip(NamedTuple):
    """Some columns of Δ, down to and including their square on the diagonal."""

    rows: slice
    columns: slice
    squared_distances: Matrix


def _distance_strips(X: Matrix, kernel: KernelLike, task: str | None = None) -> Iterator[Strip]:
    """Yield the upper triangle of Δ_ij, the kernel's squared distances, one strip at a time.

    Pairs above a strip's square on the diagonal come once; inside the square they come twice.
    Progress is reported under the name ``task``, if there is one.
    """
    strips = slices(len(X), _TILE_COLUMNS)
    for columns in track(strips, task) if task else strips:
        squared = np.empty((columns.stop, columns.stop - columns.start))
        _fill_with_distances(squared, X, X[columns], kernel)
        yield Strip(slice(0, columns.stop), columns, squared)


def _fill_with_distances(squared: Matrix, X: Matrix, Y: Matrix, kernel: KernelLike) -> None:
    def fill(block: slice) -> None:
        squared[block] = kernel.squared_distance(X[block], Y)

    in_threads(fill, cached_blocks(*squared.shape))


def distance_quadratic_forms(Z: Matrix, X: Matrix, kernel: KernelLike) -> Vector:
    """Return z'Δz for each row z of ``Z``; Δ_ij is the kernel's squared distance of rows i and j.

    Δ is symmetric, so its upper triangle suffices: half of the multiplications of Z @ Δ.
    """
    forms = np.zeros(len(Z))
    for rows, columns, squared in _distance_strips(X, kernel):
        squared[: columns.start] *= 2.0
        forms += np.einsum("ij,ij->i", Z[:, rows] @ squared, Z[:, columns])
    return forms


def _mean_squared_distances(X: Matrix, kernel: KernelLike) -> Vector:
    """Return each row's mean squared feature-space distance to all rows, itself included."""
    totals = np.zeros(len(X))
    for rows, columns, squared in _distance_strips(X, kernel, "mean distances"):
        totals[rows] += squared.sum(axis=1)
        totals[columns] += squared[: columns.start].sum(axis=0)
    return totals / len(X)


@dataclass(frozen=True)
class CentredGram:
    """G = LL' + R, the inner products of the reference rows around their mean in feature space."""

    # Mean squared distance in feature space of each row to all rows; shape (n,).
    mean_distances: Vector
    factor: Matrix  # L; shape (n, rank)
    residual_diagonal: Vector  # the diagonal of R; shape (n,)
    residual_norm: float  # the largest eigenvalue of R, or an upper bound of it once certified

    @property
    def rank(self) -> int:
        """Number of columns of the factor."""
        return self.factor.shape[1]

    @property
    def diagonal(self) -> Vector:
        """The diagonal of G = -½ JΔJ, from the row means of Δ alone."""
        return np.maximum(self.mean_distances - 0.5 * self.mean_distances.mean(), 0.0)

    def centre(
        self, squared_distances: Matrix, rows: Indices | slice, columns: Indices | slice
    ) -> Matrix:
        """Turn a piece of Δ into the same piece of G, in place."""
        squared_distances -= self.mean_distances[rows][:, None]
        squared_distances -= self.mean_distances[columns]
        squared_distances += self.mean_distances.mean()
        squared_distances *= -0.5
        return squared_distances


class GrowthStep(NamedTuple):
    """A growing factor with an estimated norm; ``weights`` help to prove a bound."""

    gram: CentredGram
    weights: Vector


def growing_factors(
    X: Matrix, kernel: KernelLike, max_rank: int, random_state: np.random.RandomState
) -> Iterator[GrowthStep]:
    """Yield factors of rising accuracy of the centred Gram matrix, from rank 0 to ``max_rank``.

    Their ``residual_norm`` is an estimate; :func:`certified` turns it into a bound.
    """
    gram = CentredGram(_mean_squared_distances(X, kernel), np.empty((len(X), 0)), np.empty(0), 0.0)
    gram = replace(gram, residual_diagonal=gram.diagonal)
    n_watched = min(_WATCHED_COLUMNS, len(X))
    watched = random_state.choice(len(X), n_watched, replace=False)
    residual_columns = gram.centre(kernel.squared_distance(X, X[watched]), slice(None), watched)
    negligible = _DEPENDENT * gram.diagonal.sum()
    next_estimate = 0
    is_last = False
    while True:
        is_last |= gram.rank >= max_rank or gram.residual_diagonal.sum() <= negligible
        if is_last or gram.rank >= next_estimate:
            yield _estimated(gram, residual_columns, watched)
            next_estimate = max(gram.rank + _BLOCK_COLUMNS, int(_STRIDE * gram.rank))
        if is_last:
            return
        new = _next_columns(gram, X, kernel, random_state)
        is_last = new.shape[1] == 0  # the residual is rounding error
        residual_columns -= new @ new[watched].T
        left = gram.residual_diagonal - np.einsum("ij,ij->i", new, new)
        gram = replace(
            gram,
            factor=np.hstack([gram.factor, new]),
            residual_diagonal=np.maximum(left, 0.0),  # rounding leaves -1e-17 at a pivot
        )


def certified(step: GrowthStep, X: Matrix, kernel: KernelLike) -> CentredGram:
    """Replace the estimated norm of the residual by a proven bound, from all pairs.

    R is positive semidefinite: its largest eigenvalue is at most its trace, its Frobenius norm,
    and, for any positive weights w, the largest of (|R| w)_i / w_i. The smallest is taken.
    """
    gram, weights = step
    sum_of_squares = np.float64(0.0)
    weighted_sums = np.zeros(len(X))
    for rows, columns, squared in _distance_strips(X, kernel, "proving the error"):
        residual = gram.centre(squared, rows, columns)
        residual -= gram.factor[rows] @ gram.factor[columns].T
        above = residual[: columns.start]  # pairs that stand once here and count twice
        sum_of_squares += np.vdot(residual, residual) + np.vdot(above, above)
        np.abs(residual, out=residual)
        weighted_sums[rows] += residual @ weights[columns]
        weighted_sums[columns] += weights[: columns.start] @ above
    bounds = (
        gram.residual_diagonal.sum(),
        np.sqrt(sum_of_squares),
        np.max(weighted_sums / weights),
    )
    return replace(gram, residual_norm=float(min(bounds)))


def _estimated(gram: CentredGram, residual_columns: Matrix, watched: Indices) -> GrowthStep:
    """Estimate from some columns of R the norm that :func:`certified` will find on all of them."""
    n, n_watched = residual_columns.shape
    magnitudes = np.abs(residual_columns)
    # Row sums of |R| lean towards its leading eigenvector, for which the bound is sharpest; the
    # floor keeps rows that few watched columns touch from dominating it.
    row_means = magnitudes.mean(axis=1)
    weights = row_means + 0.3 * row_means.mean() + np.finfo(float).tiny
    weighted = np.max(weights @ magnitudes / weights[watched]) * _HIGHER_THAN_WATCHED
    frobenius = np.sqrt(np.vdot(residual_columns, residual_columns) * n / n_watched)
    norm = min(gram.residual_diagonal.sum(), frobenius, weighted)
    return GrowthStep(replace(gram, residual_norm=float(norm)), weights)


def _next_columns(
    gram: CentredGram, X: Matrix, kernel: KernelLike, random_state: np.random.RandomState
) -> Matrix:
    """Return up to a block of further columns of L; none if the residual is rounding error."""
    n_candidates = min(_BLOCK_COLUMNS, int(np.count_nonzero(gram.residual_diagonal)))
    probabilities = gram.residual_diagonal / gram.residual_diagonal.sum()
    pivots = random_state.choice(len(X), n_candidates, replace=False, p=probabilities)
    columns = gram.centre(kernel.squared_distance(X, X[pivots]), slice(None), pivots)
    columns -= gram.factor @ gram.factor[pivots].T
    # A pivoted factor of the small square leaves out candidates that depend on the others, or
    # whose pivot is noise, which a division by it would spread over all rows.
    square = columns[pivots]
    noise = _ENTRY_ROUNDING * float(gram.mean_distances[pivots].max())
    tolerance = max(_DEPENDENT * float(np.trace(square)), noise, np.finfo(float).tiny)
    if square.diagonal().max() <= tolerance:
        return np.empty((len(X), 0))
    packed, order, rank, _ = dpstrf(square, lower=1, tol=tolerance)
    kept = order[:rank] - 1
    triangle = np.tril(packed[:rank, :rank])
    return solve_triangular(triangle, columns[:, kept].T, lower=True, check_finite=False).T
