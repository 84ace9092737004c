"""Squared Euclidean distances, accurate for near duplicates too."""

import numpy as np
from scipy.spatial.distance import cdist

from kernova.typing import Matrix

# Up to here summing squared differences is as fast as the expanded product (measured: 0.05 s
# against 0.04 s for 2,000 x 5,000 pairs in ten dimensions), and it never cancels.
_FEW_COLUMNS = 24

# |x|^2 + |y|^2 - 2xy loses about eps (|x|^2 + |y|^2) / |x - y|^2: below this ratio of squared
# distance to squared norms, the pair is taken again from its differences.
_CANCELLATION_RATIO = 1e-3

# When more than this fraction of pairs cancels, taking all of them from differences is cheaper.
_MANY_PAIRS = 0.1


def squared_distances(X: Matrix, Y: Matrix) -> Matrix:
    """Return the squared Euclidean distance of every row of ``X`` to every row of ``Y``.

    Zero exactly where two rows are equal, and accurate to a few units in the last place
    wherever they are close.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[1e8, 0.0]]), np.array([[1e8, 0.0], [1e8, 1e-8]]))
    array([[0.e+00, 1.e-16]])
    """
    if X.shape[1] <= _FEW_COLUMNS:
        return cdist(X, Y, "sqeuclidean")
    return _expanded_squared_distances(X, Y)


def _expanded_squared_distances(X: Matrix, Y: Matrix) -> Matrix:
    """Expand the squares by one matrix product, and recompute the pairs that cancel."""
    centre = Y.mean(axis=0)  # near the origin the norms are small, and little cancels
    X_norms = np.einsum("ij,ij->i", X - centre, X - centre)
    Y_norms = np.einsum("ij,ij->i", Y - centre, Y - centre)
    squared = (X - centre) @ (Y - centre).T
    squared *= -2.0
    squared += X_norms[:, None]
    squared += Y_norms[None, :]
    cancelled = squared <= _CANCELLATION_RATIO * (X_norms[:, None] + Y_norms[None, :])
    n_cancelled = np.count_nonzero(cancelled)
    if n_cancelled > _MANY_PAIRS * squared.size:
        return cdist(X, Y, "sqeuclidean")
    if n_cancelled:
        rows, columns = np.nonzero(cancelled)
        # In slices, so that the gathered differences stay small in memory.
        for start in range(0, n_cancelled, 4096):
            pair = slice(start, start + 4096)
            difference = X[rows[pair]] - Y[columns[pair]]
            squared[rows[pair], columns[pair]] = np.einsum("ij,ij->i", difference, difference)
    return squared
