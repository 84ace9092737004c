"""The directions in which rows differ most."""

import numpy as np

from kernova.typing import Matrix

# Below this share of the largest, a principal component is rounding.
_ROUNDING_SHARE = 1e-12


def principal_directions(centred: Matrix, n_components: int) -> Matrix:
    """Give the first principal directions as orthonormal columns; fewer if there are not so many.

    The largest entry of each is positive, so that the same specimens give the same picture.
    """
    if len(centred) > centred.shape[1]:  # the triangle has the same directions in fewer rows
        centred = np.linalg.qr(centred).R
    _, strength, right = np.linalg.svd(centred, full_matrices=False)
    n_real = max(1, int(np.sum(strength > _ROUNDING_SHARE * strength[0])))
    directions = right[: min(n_components, n_real)].T
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return np.asarray(directions * np.where(largest < 0, -1.0, 1.0))
