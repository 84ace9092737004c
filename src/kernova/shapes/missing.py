"""Where a missing landmark would have been, judged by all the others of its specimen.

Aligned specimens are taken as draws from a Gaussian around the consensus, and a missing landmark
as its conditional mean given the known ones. Position, size and direction of an incomplete
specimen are not known either, so its frame must not count as evidence: a flat prior lies on them.
Where there are enough complete specimens, the mean of the most similar ones takes the place of
the consensus, since specimens come in kinds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from kernova.parallel import row_blocks
from kernova.typing import Coordinates, Matrix

# The prior on position, size and direction is as good as flat: so many times the variance of all
# shapes. More would change nothing, and cost digits of the precision.
_FLAT = 100
# Keeps the covariance invertible where all specimens are alike; relative to the consensus.
_LEAST_VARIANCE = 1e-12
# So many similar specimens stand for a kind (4 to 10 were much alike on 2,197 cichlids, 30 worse).
_N_SIMILAR = 6
# Of fewer complete specimens, the most similar ones are not similar; of more, so many are kept,
# that time and memory grow with the number of specimens and not with its square.
_FEWEST_KEPT, _MOST_KEPT = 50, 2000


class ShapeModel(NamedTuple):
    """A Gaussian of shapes: its mean, and its precision with a flat prior on the frame.

    Attributes
    ----------
    consensus : ndarray of shape (p, d)
        The mean shape.
    precision : ndarray of shape (p * d, p * d)
        Inverse covariance of the rows [x1 y1 x2 y2 ...].
    examples : ndarray of shape (n, p, d)
        Complete specimens, aligned.
    """

    consensus: Coordinates
    precision: Matrix
    examples: Coordinates


def shape_model(
    aligned: Coordinates,
    consensus: Coordinates,
    is_complete: NDArray[np.bool_],
    *,
    scaling: bool,
) -> ShapeModel:
    """Learn from aligned specimens, gaps filled, which landmarks move together."""
    complete = np.flatnonzero(is_complete)
    step = -(-len(complete) // _MOST_KEPT) or 1
    precision = shape_precision(aligned, consensus, scaling=scaling)
    return ShapeModel(consensus, precision, aligned[complete[::step]])


def shape_precision(aligned: Coordinates, consensus: Coordinates, *, scaling: bool) -> Matrix:
    """Invert the covariance of aligned specimens, with a flat prior on their frames."""
    residuals = (aligned - consensus).reshape(len(aligned), -1)
    covariance = shrunk_covariance(residuals)
    covariance.flat[:: len(covariance) + 1] += _LEAST_VARIANCE * np.square(consensus).sum()
    frame = frame_directions(consensus, scaling=scaling)
    prior = _FLAT * np.trace(covariance)
    return np.asarray(np.linalg.inv(covariance + prior * frame @ frame.T))


def local_precision(model: ShapeModel, *, scaling: bool) -> Matrix | None:
    """Give the precision about the mean of similar specimens, if that foretells landmarks better.

    What tells is the variance that a landmark keeps when all the others are known.
    """
    if len(model.examples) < _FEWEST_KEPT:
        return None
    # The first of the similar ones is the specimen itself.
    deviations = model.examples - similar_means(model.examples, model.examples, n_skipped=1)
    precision = shape_precision(deviations + model.consensus, model.consensus, scaling=scaling)
    is_better = _kept_variance(precision, model) < _kept_variance(model.precision, model)
    return precision if is_better else None


def similar_means(
    specimens: Coordinates, examples: Coordinates, *, n_skipped: int = 0
) -> Coordinates:
    """Give for each specimen the mean of the six examples most similar to it."""
    flat = examples.reshape(len(examples), -1)
    search = NearestNeighbors(n_neighbors=_N_SIMILAR + n_skipped, algorithm="brute").fit(flat)
    similar = search.kneighbors(specimens.reshape(len(specimens), -1), return_distance=False)
    return np.asarray(examples[similar[:, n_skipped:]].mean(axis=1))


def _kept_variance(precision: Matrix, model: ShapeModel) -> float:
    n_landmarks, d = model.consensus.shape
    blocks = precision.reshape(n_landmarks, d, n_landmarks, d)
    own = blocks[np.arange(n_landmarks), :, np.arange(n_landmarks), :]
    return float(np.trace(np.linalg.inv(own), axis1=1, axis2=2).sum())


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
    # Landmarks on one line are not changed by turning about it.
    strengths = np.linalg.norm(directions, axis=0)
    is_change = strengths > 1e-9 * strengths.max()
    directions = directions[:, is_change] / strengths[is_change]
    left, strength, _ = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(left[:, strength > 1e-9])


def fill_missing(
    specimens: Coordinates, is_known: NDArray[np.bool_], mean: Coordinates, precision: Matrix
) -> Coordinates:
    """Put each missing landmark at its conditional mean; the known ones stay.

    Parameters
    ----------
    specimens : ndarray of shape (n, p, d)
        Roughly aligned; what stands in missing places has no influence.
    is_known : ndarray of bool of shape (n, p)
        Which landmarks were measured.
    mean : ndarray of shape (p, d) or (n, p, d)
        What the specimens are expected to be, all or each.
    precision : ndarray of shape (p * d, p * d)
        How they deviate from it.

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
    expected = np.broadcast_to(mean, specimens.shape).reshape(n_rows, -1)
    present = np.repeat(is_known, d, axis=1)
    for block in row_blocks(n_rows, 3 * (most_missing * d) ** 2):
        here, gap = columns[block], is_gap[block]
        residual = np.where(present[block], filled[block] - expected[block], 0)
        # With precision P: mean of the missing = -P_mm^-1 P_mk residual_k. A specimen that lacks
        # fewer is padded with the identity, so that all solve systems of one size at once.
        pull = gap * np.take_along_axis(residual @ precision, here, axis=1)
        systems = precision[here[:, :, None], here[:, None, :]]
        systems = np.where(gap[:, :, None] & gap[:, None, :], systems, np.eye(here.shape[1]))
        moved = np.linalg.solve(systems, pull[..., None])[..., 0]
        kept = np.take_along_axis(filled[block], here, axis=1)
        guess = np.take_along_axis(expected[block], here, axis=1) - moved
        np.put_along_axis(filled[block], here, np.where(gap, guess, kept), axis=1)
    return filled.reshape(specimens.shape)
