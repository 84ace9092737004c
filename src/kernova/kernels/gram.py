"""Sums over a kernel's n x n distance matrix, tile by tile: the matrix itself is never held."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.blocks import cached_blocks, in_threads, slices
from kernova.kernels.functions import KernelLike
from kernova.progress import track

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Columns of a tile: wide enough for BLAS to run at full speed, narrow enough that the upper
# triangle of tiles is little more than half of the square (measured: best from 400 to 1,000).
_TILE_COLUMNS = 512


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
