"""Linear algebra: principal directions of centred rows."""

import numpy as np

from kernova.typing import Matrix

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
