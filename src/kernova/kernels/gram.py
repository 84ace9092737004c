"""Sums over a kernel's n x n distance matrix, tile by tile: the matrix itself is never held."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from kernova.kernels.functions import KernelLike
from kernova.kernels.threads import in_threads
from kernova.progress import track

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Columns of a tile: wide enough for BLAS to run at full speed, narrow enough that the upper
# triangle of tiles is little more than half of the square (measured: best from 400 to 1,000).
_TILE_COLUMNS = 512

# Elementwise work runs at twice the speed while its operands stay in the cache.
_CACHED_NUMBERS = 1 << 17


def row_blocks(n_rows: int, numbers_per_row: int, *, share: float = 0.25) -> list[slice]:
    """Cut ``n_rows`` so that a block fits into a share of scikit-learn's ``working_memory``.

    Examples
    --------
    >>> import sklearn
    >>> with sklearn.config_context(working_memory=1):
    ...     row_blocks(5, numbers_per_row=16384)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    budget = share * float(get_config()["working_memory"]) * 2**20 / 8
    height = max(1, int(budget // max(1, numbers_per_row)))
    return _slices(n_rows, height)


def cached_blocks(n_rows: int, numbers_per_row: int) -> list[slice]:
    """Cut ``n_rows`` so that elementwise work on a block stays in the processor's cache."""
    return _slices(n_rows, max(1, _CACHED_NUMBERS // max(1, numbers_per_row)))


def _slices(n_rows: int, height: int) -> list[slice]:
    return [slice(start, min(start + height, n_rows)) for start in range(0, n_rows, height)]


class Strip(NamedTuple):
    """Some columns of Δ, down to and including their square on the diagonal."""

    rows: slice
    columns: slice
    squared_distances: Matrix


def distance_strips(X: Matrix, kernel: KernelLike, task: str | None = None) -> Iterator[Strip]:
    """Give the upper triangle of Δ_ij, the kernel's squared distances, one strip at a time.

    Pairs above a strip's square on the diagonal come once; inside the square they come twice. A
    pass that takes long by itself has a ``task`` to report its progress under.
    """
    strips = _slices(len(X), _TILE_COLUMNS)
    for columns in track(strips, task) if task else strips:
        squared = np.empty((columns.stop, columns.stop - columns.start))
        _fill_with_distances(squared, X, X[columns], kernel)
        yield Strip(slice(0, columns.stop), columns, squared)


def _fill_with_distances(squared: Matrix, X: Matrix, Y: Matrix, kernel: KernelLike) -> None:
    def fill(block: slice) -> None:
        squared[block] = kernel.squared_distance(X[block], Y)

    in_threads(fill, cached_blocks(*squared.shape))


def distance_quadratic_forms(Z: Matrix, X: Matrix, kernel: KernelLike) -> Vector:
    """Give z'Δz for each row z of ``Z``; Δ_ij is the kernel's squared distance of rows i and j.

    Δ is symmetric, so its upper triangle does: half of the multiplications of Z @ Δ.
    """
    forms = np.zeros(len(Z))
    for rows, columns, squared in distance_strips(X, kernel):
        squared[: columns.start] *= 2.0
        forms += np.einsum("ij,ij->i", Z[:, rows] @ squared, Z[:, columns])
    return forms


def mean_squared_distances(X: Matrix, kernel: KernelLike) -> Vector:
    """Each row's mean squared distance in feature space to all rows, itself included."""
    totals = np.zeros(len(X))
    for rows, columns, squared in distance_strips(X, kernel, "mean distances"):
        totals[rows] += squared.sum(axis=1)
        totals[columns] += squared[: columns.start].sum(axis=0)
    return totals / len(X)
