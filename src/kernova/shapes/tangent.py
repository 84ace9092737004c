"""Tangent space of shapes: projecting aligned specimens onto the plane at the consensus."""

import numpy as np
from numpy.typing import ArrayLike

from kernova.errors import InputError
from kernova.typing import Coordinates

__all__ = ["tangent_projection"]


def tangent_projection(aligned: ArrayLike, consensus: ArrayLike) -> Coordinates:
    """Tangent coordinates: aligned specimens, projected onto the plane at the consensus.

    Specimens of unit size lie on a curved surface; linear statistics such as principal components
    and the Procrustes ANOVA need a plane. With the consensus c centred and scaled to unit size,
    a specimen x becomes x - (x'c) c + c, the orthogonal projection onto the tangent plane at c
    (Rohlf 1999; ``Proj=TRUE`` of the R package geomorph).

    Parameters
    ----------
    aligned : array-like of shape (n_specimens, n_landmarks, dimensions)
        Specimens aligned by generalized Procrustes analysis with scaling, or their rows
        [x1 y1 x2 y2 ...].
    consensus : array-like of shape (n_landmarks, dimensions)
        The consensus, in the orientation of the specimens; its size does not matter.

    Returns
    -------
    ndarray
        Tangent coordinates, in the shape of ``aligned``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import GeneralizedProcrustes
    >>> from kernova.shapes.tangent import tangent_projection
    >>> triangles = np.array([[[0.0, 0.0], [4.0, 0.0], [1.0, 1.0]],
    ...                       [[0.0, 0.0], [4.0, 0.0], [2.0, 1.5]]])
    >>> procrustes = GeneralizedProcrustes().fit(triangles)
    >>> projected = tangent_projection(procrustes.transform(triangles), procrustes.consensus_)
    >>> pole = procrustes.consensus_ / np.linalg.norm(procrustes.consensus_)
    >>> np.round((projected * pole).sum(axis=(1, 2)), 12)
    array([1., 1.])
    """
    specimens = np.asarray(aligned, dtype=np.float64)
    mean = np.asarray(consensus, dtype=np.float64)
    n_columns = int(np.prod(specimens.shape[1:]))
    if mean.ndim != 2 or specimens.ndim not in (2, 3) or n_columns != mean.size:
        raise InputError(
            f"aligned has shape {specimens.shape} and consensus {mean.shape}; give specimens × "
            "landmarks × dimensions, and landmarks × dimensions."
        )
    centred = mean - mean.mean(axis=0)
    size = float(np.linalg.norm(centred))
    if not (np.isfinite(specimens).all() and np.isfinite(size) and size > 0):
        raise InputError(
            "aligned or consensus has missing or infinite coordinates, or all landmarks of the "
            "consensus coincide. Project specimens that GeneralizedProcrustes has aligned."
        )
    pole = (centred / size).reshape(-1)
    rows = specimens.reshape(len(specimens), -1)
    return np.asarray((rows + np.outer(1 - rows @ pole, pole)).reshape(specimens.shape))
