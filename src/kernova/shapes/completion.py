"""Completing specimens: missing landmarks estimated in the units of the file.

Estimates are made on aligned specimens (:mod:`kernova.shapes.missing`) and moved back to the
position, size and direction of each specimen.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernova.errors import InputError
from kernova.shapes.missing import ShapeModel, better_estimates
from kernova.shapes.procrustes import GeneralizedProcrustes, fit_similarity
from kernova.typing import Coordinates, Mask


class CompletedSpecimens(NamedTuple):
    """Specimens without missing landmarks, and how these were estimated."""

    coordinates: Coordinates  # in the units of the input; known landmarks are unchanged
    is_estimated: Mask  # specimens × landmarks
    # Specimens whose landmarks a thin-plate spline estimates; the others have conditional means.
    is_spline: Mask


def complete_specimens(coordinates: ArrayLike) -> CompletedSpecimens:
    """Estimate missing landmarks by the better of two estimates, in the units of the input.

    One estimate is the conditional mean, given the other landmarks of the specimen and the
    covariance in all specimens; the other is a thin-plate spline from the mean of similar
    specimens, as in ``estimate.missing`` of the R package geomorph. For each set of missing
    landmarks, the one with the smaller error is taken, on complete specimens in which the same
    landmarks are held out.

    Parameters
    ----------
    coordinates : array-like of shape (n_specimens, n_landmarks, 2 or 3)
        NaN where a landmark is missing.

    Returns
    -------
    CompletedSpecimens
        Completed specimens; the input is not changed.

    Raises
    ------
    InputError
        If a specimen has too few landmarks to be aligned, or a landmark is missing in all.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes import complete_specimens
    >>> kite = np.array([[0.0, 0.0], [2.0, 1.0], [6.0, 0.0], [2.0, -1.0]])
    >>> gappy = np.stack([kite, 3 * kite, kite + 7])
    >>> gappy[2, 1] = np.nan
    >>> complete_specimens(gappy).coordinates[2].round(3) - 7
    array([[ 0.,  0.],
           [ 2.,  1.],
           [ 6.,  0.],
           [ 2., -1.]])
    """
    specimens = np.asarray(coordinates, dtype=np.float64)
    if specimens.ndim != 3 or specimens.shape[2] not in (2, 3) or not len(specimens):
        raise InputError(
            f"coordinates has shape {specimens.shape}; give specimens × landmarks × 2 (or 3), one "
            "specimen or more."
        )
    is_known = np.asarray(np.isfinite(specimens).all(axis=2))
    is_spline = np.zeros(len(specimens), dtype=np.bool_)
    rows = np.flatnonzero(~is_known.all(axis=1))
    if not len(rows):
        return CompletedSpecimens(specimens.copy(), ~is_known, is_spline)
    procrustes = GeneralizedProcrustes(specimens.shape[2]).fit(specimens)
    model = ShapeModel(procrustes.consensus_, procrustes.precision_, procrustes.examples_)
    aligned = procrustes.align(specimens[rows]).coordinates
    better = better_estimates(model, aligned, is_known[rows], scaling=True)
    is_spline[rows] = better.is_spline
    completed = specimens.copy()
    for row, shape in zip(rows, better.coordinates, strict=True):
        known = is_known[row]
        back = fit_similarity(shape[known], specimens[row, known])
        completed[row, ~known] = back.apply(shape[~known])
    return CompletedSpecimens(completed, ~is_known, is_spline)
