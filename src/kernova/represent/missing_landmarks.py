"""Where a missing landmark would have been, judged by all the others of its specimen.

Aligned specimens are taken as draws from a Gaussian around the consensus, and a missing landmark
as its conditional mean given the known ones. Position, size and direction of an incomplete
specimen are not known either, so its frame must not count as evidence: a flat prior lies on them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.blocks import row_blocks

Coordinates = NDArray[np.float64]
Matrix = NDArray[np.float64]

# The prior on position, size and direction is as good as flat: so many times the variance of all
# shapes. More would change nothing, and cost digits of the precision.
_FLAT = 100
# Keeps the covariance invertible where all specimens are alike; relative to the consensus.
_LEAST_VARIANCE = 1e-12


class ShapeModel(NamedTuple):
    """A Gaussian of shapes: its mean, and its precision with a flat prior on the frame.

    Attributes
    ----------
    consensus : ndarray of shape (p, d)
        The mean shape.
    precision : ndarray of shape (p * d, p * d)
        Inverse covariance of the rows [x1 y1 x2 y2 ...].
    """

    consensus: Coordinates
    precision: Matrix


def shape_model(aligned: Coordinates, consensus: Coordinates, *, scaling: bool) -> ShapeModel:
    """Learn from aligned specimens, gaps filled, which landmarks move together."""
    residuals = (aligned - consensus).reshape(len(aligned), -1)
    covariance = shrunk_covariance(residuals)
    covariance.flat[:: len(covariance) + 1] += _LEAST_VARIANCE * np.square(consensus).sum()
    frame = frame_directions(consensus, scaling=scaling)
    prior = _FLAT * np.trace(covariance)
    return ShapeModel(consensus, np.linalg.inv(covariance + prior * frame @ frame.T))


def shrunk_covariance(residuals: Matrix) -> Matrix:
    """Estimate a covariance that few rows cannot mislead (oracle approximating shrinkage).

    The fewer the rows, the more it is drawn towards equal variances without correlation; then
    the known landmarks say nothing of the missing ones, which fall on the consensus.
    """
    n_rows, n_columns = residuals.shape
    covariance = residuals.T @ residuals / n_rows
    mean_variance = np.trace(covariance) / n_columns
    squares, square = np.square(covariance).sum(), (n_columns * mean_variance) ** 2
    excess = (n_rows + 1 - 2 / n_columns) * (squares - square / n_columns)
    wanted = (1 - 2 / n_columns) * squares + square
    share = 1.0 if wanted >= excess else wanted / excess
    return np.asarray((1 - share) * covariance + share * mean_variance * np.eye(n_columns))


def frame_directions(consensus: Coordinates, *, scaling: bool) -> Matrix:
    """Give, as orthonormal columns, how a row changes when its specimen is moved or turned.

    With ``scaling`` also how it changes with the specimen's size.

    Examples
    --------
    >>> import numpy as np
    >>> frame_directions(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]), scaling=True).shape
    (6, 4)
    """
    n_landmarks, d = consensus.shape
    moves = [np.tile(axis, (n_landmarks, 1)) for axis in np.eye(d)]
    turns = []
    for i, j in zip(*np.triu_indices(d, 1), strict=True):
        turn = np.zeros_like(consensus)
        turn[:, i], turn[:, j] = -consensus[:, j], consensus[:, i]
        turns.append(turn)
    sizes = [consensus] if scaling else []
    directions = np.stack([one.ravel() for one in (*moves, *turns, *sizes)], axis=1)
    directions /= np.linalg.norm(directions, axis=0)
    left, strength, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(left[:, strength > 1e-9])


def fill_missing(
    specimens: Coordinates, is_known: NDArray[np.bool_], model: ShapeModel
) -> Coordinates:
    """Put each missing landmark at its conditional mean; the known ones stay.

    Parameters
    ----------
    specimens : ndarray of shape (n, p, d)
        Roughly aligned; what stands in missing places has no influence.
    is_known : ndarray of bool of shape (n, p)
        Which landmarks were measured.
    model : ShapeModel
        What shapes look like.

    Returns
    -------
    ndarray of shape (n, p, d)
        A filled copy.
    """
    n_rows, _, d = specimens.shape
    # The missing landmarks of each specimen first, as many of them as any specimen lacks.
    most_missing = int((~is_known).sum(axis=1).max(initial=0))
    first = np.argsort(is_known, axis=1, kind="stable")[:, :most_missing]
    columns = (first[..., None] * d + np.arange(d)).reshape(n_rows, -1)
    is_gap = np.repeat(~np.take_along_axis(is_known, first, axis=1), d, axis=1)
    filled = specimens.reshape(n_rows, -1).copy()
    mean = model.consensus.ravel()
    present = np.repeat(is_known, d, axis=1)
    for block in row_blocks(n_rows, 3 * (most_missing * d) ** 2):
        here, gap = columns[block], is_gap[block]
        residual = np.where(present[block], filled[block] - mean, 0)
        # With precision P: mean of the missing = -P_mm^-1 P_mk residual_k. A specimen that lacks
        # fewer is padded with the identity, so that all solve systems of one size at once.
        pull = gap * np.take_along_axis(residual @ model.precision, here, axis=1)
        systems = model.precision[here[:, :, None], here[:, None, :]]
        systems = np.where(gap[:, :, None] & gap[:, None, :], systems, np.eye(here.shape[1]))
        moved = np.linalg.solve(systems, pull[..., None])[..., 0]
        kept = np.take_along_axis(filled[block], here, axis=1)
        np.put_along_axis(filled[block], here, np.where(gap, mean[here] - moved, kept), axis=1)
    return filled.reshape(specimens.shape)
