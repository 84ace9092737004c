"""Object symmetry of landmarks: symmetric and asymmetric components of shapes.

A symmetric object, such as a skull, has paired landmarks left and right and unpaired ones on the
midline. Each specimen is aligned together with its mirror image, in which paired landmarks have
exchanged their numbers (Klingenberg, Barluenga and Meyer 2002, Evolution 56: 1909-1920).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from kernova.errors import InputError
from kernova.shapes.procrustes import GeneralizedProcrustes, fit_similarity
from kernova.shapes.tangent import tangent_projection
from kernova.typing import Coordinates, Indices, Matrix

Pair = tuple[int, int]

# Landmarks that miss their mirror images by more than this fraction of the distance to the nearest
# other landmark have not found a partner.
_LARGEST_RESIDUAL = 0.3
_N_REFINEMENTS = 10
_N_CANDIDATES = 8


class SymmetricComponents(NamedTuple):
    """Components of shape; their sum is the aligned specimen. Each has shape (n, p, d)."""

    symmetric: Coordinates  # the mean of a specimen and its mirror image: a symmetric shape
    asymmetric: Coordinates  # half their difference: a deviation, zero for symmetric specimens


class SymmetryGuess(NamedTuple):
    """Paired landmarks that a mirror image of the consensus suggests, counted from 0.

    ``residual`` is the root mean square distance of landmarks from the mirror images of their
    partners, as a fraction of the typical distance of a landmark to the nearest other one.
    """

    pairs: list[Pair]
    midline: list[int]
    residual: float
    is_symmetric: bool


def symmetric_components(
    coordinates: ArrayLike, pairs: Sequence[Pair], *, tangent: bool = True
) -> SymmetricComponents:
    """Return the symmetric and the asymmetric component of each specimen's shape.

    Parameters
    ----------
    coordinates : array-like of shape (n_specimens, n_landmarks, 2 or 3)
        Complete specimens, aligned or not.
    pairs : sequence of pairs of int
        Landmarks on the left and on the right, counted from 0. All others lie on the midline.
    tangent : bool, default=True
        Project aligned specimens on the tangent space at the consensus.

    Returns
    -------
    components : SymmetricComponents
        In the frame of the joint consensus, ``symmetric.mean(axis=0)``.

    Notes
    -----
    The components are those of ``bilat.symmetry`` in the R package geomorph, which adds the
    consensus to the asymmetric one. The mean of the asymmetric component is directional asymmetry,
    the deviations from that mean are fluctuating asymmetry.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.symmetry import symmetric_components
    >>> kite = np.array([[0.0, 0.0], [2.0, 1.0], [2.0, -1.0], [6.0, 0.0]])
    >>> bent = kite + [[0, 0], [0.5, 0], [0, 0], [0, 0]]
    >>> symmetric, asymmetric = symmetric_components([kite, bent], [(1, 2)])
    >>> np.abs(asymmetric).max(axis=(1, 2)).round(3)
    array([0.  , 0.05])
    """
    specimens = _complete_specimens(coordinates)
    mirrored = _mirror_images(specimens, _partners(pairs, specimens.shape[1]))
    both = np.concatenate([specimens, mirrored])
    aligned = GeneralizedProcrustes(dimensions=both.shape[2]).fit_transform(both)
    if tangent:
        aligned = tangent_projection(aligned, aligned.mean(axis=0))
    own, other = aligned[: len(specimens)], aligned[len(specimens) :]
    return SymmetricComponents((own + other) / 2, (own - other) / 2)


def guess_pairs(consensus: ArrayLike) -> SymmetryGuess:
    """Return the paired landmarks of a roughly symmetric consensus.

    Mirror lines (in space: planes) between every two landmarks and across every principal axis
    are tried, and the best ones refined. Check the result: a shape may be symmetric about another
    plane than that between left and right.

    Parameters
    ----------
    consensus : array-like of shape (n_landmarks, 2 or 3)
        A mean shape, such as ``consensus_`` of
        :class:`~kernova.shapes.procrustes.GeneralizedProcrustes`.

    Returns
    -------
    guess : SymmetryGuess
        ``is_symmetric`` is false if the residual is above 0.3 or no two landmarks form a pair.

    Examples
    --------
    >>> from kernova.shapes.symmetry import guess_pairs
    >>> kite = [[0.0, 0.0], [2.0, 1.0], [2.1, -1.0], [6.0, 0.0]]
    >>> guess = guess_pairs(kite)
    >>> guess.pairs, guess.midline, guess.is_symmetric
    ([(1, 2)], [0, 3], True)
    """
    shape = _complete_specimens(np.asarray(consensus, dtype=np.float64)[None])[0]
    shape = shape - shape.mean(axis=0)
    guesses = [_refined_guess(shape, normal) for normal in _candidate_normals(shape)]
    return min(guesses, key=lambda guess: (not guess.pairs, guess.residual))


def _complete_specimens(coordinates: ArrayLike) -> Coordinates:
    specimens = np.asarray(coordinates, dtype=np.float64)
    if specimens.ndim != 3 or specimens.shape[2] not in (2, 3) or not specimens.size:
        raise InputError(
            "Symmetry needs specimens × landmarks × 2 (or 3) coordinates; got an array of shape "
            f"{specimens.shape}."
        )
    is_complete = np.isfinite(specimens).all(axis=(1, 2))
    if not is_complete.all():
        raise InputError(
            f"{np.count_nonzero(~is_complete)} of {len(specimens)} specimens lack landmarks. "
            "Estimate them first with GeneralizedProcrustes, or leave these specimens out."
        )
    return specimens


def _partners(pairs: Sequence[Pair], n_landmarks: int) -> Indices:
    """Return for each landmark the one on the other side, itself if it is on the midline."""
    partners = np.arange(n_landmarks)
    listed = [int(landmark) for pair in pairs for landmark in pair]
    if any(len(pair) != 2 for pair in pairs) or len(set(listed)) != len(listed) or not listed:
        raise InputError(
            "pairs must hold two landmarks each, none of them twice, and at least one pair; got "
            f"{list(pairs)}."
        )
    if min(listed) < 0 or max(listed) >= n_landmarks:
        raise InputError(
            f"pairs must hold landmarks from 0 to {n_landmarks - 1}; got {min(listed)} to "
            f"{max(listed)}."
        )
    left, right = np.array(pairs).T
    partners[left], partners[right] = right, left
    return partners


def _mirror_images(specimens: Coordinates, partners: Indices) -> Coordinates:
    mirrored = specimens[:, partners].copy()
    mirrored[:, :, 0] *= -1
    return mirrored


def _candidate_normals(shape: Matrix) -> Matrix:
    """Return unit normals of mirrors through the centroid, the most promising first."""
    first, second = np.triu_indices(len(shape), 1)
    apart = shape[second] - shape[first]
    distances = np.linalg.norm(apart, axis=1)
    is_apart = distances > 1e-9 * np.linalg.norm(shape)
    axes = np.linalg.eigh(shape.T @ shape)[1].T
    normals = np.vstack([axes, apart[is_apart] / distances[is_apart, None]])
    misses = [np.square(_mirror_distances(shape, normal).min(axis=1)).sum() for normal in normals]
    promising = np.argsort(misses, kind="stable")[:_N_CANDIDATES]
    return normals[promising]


def _mirror_distances(shape: Matrix, normal: Matrix) -> Matrix:
    mirrored = shape - 2 * np.outer(shape @ normal, normal)
    return np.asarray(np.linalg.norm(shape[:, None] - mirrored, axis=2))


def _refined_guess(shape: Matrix, normal: Matrix) -> SymmetryGuess:
    """Match landmarks with their mirror images and fit the mirror to the matches, alternately."""
    partners = _matches(_mirror_distances(shape, normal))
    for _ in range(_N_REFINEMENTS):
        mirrored = _fitted_mirror(shape, partners)
        better = _matches(np.linalg.norm(shape[:, None] - mirrored, axis=2))
        if np.array_equal(better, partners):
            break
        partners = better
    misses = np.linalg.norm(_fitted_mirror(shape, partners)[partners] - shape, axis=1)
    gaps = np.linalg.norm(shape[:, None] - shape, axis=2) + np.diag(np.full(len(shape), np.inf))
    spacing = float(np.median(gaps.min(axis=1))) or float(np.linalg.norm(shape))
    residual = float(np.sqrt(np.square(misses).mean())) / spacing
    pairs = [(i, int(j)) for i, j in enumerate(partners) if i < j]
    midline = [i for i, j in enumerate(partners) if i == j]
    return SymmetryGuess(pairs, midline, residual, bool(pairs) and residual <= _LARGEST_RESIDUAL)


def _fitted_mirror(shape: Matrix, partners: Indices) -> Matrix:
    """Return the mirror image, placed so that landmarks are closest to those of their partners."""
    flipped = shape * np.array([-1.0] + [1.0] * (shape.shape[1] - 1))
    fitted = fit_similarity(flipped[partners], shape)
    return fitted.apply(flipped)


def _matches(distances: Matrix) -> Indices:
    """Return each landmark's partner: the assignment with the least squared distances.

    An assignment may go round in circles; within these, the closest two become partners first.
    """
    squares = np.square(distances)
    squares = (squares + squares.T) / 2
    assigned = linear_sum_assignment(squares)[1]
    partners = np.where(assigned[assigned] == np.arange(len(assigned)), assigned, -1)
    left = np.flatnonzero(partners < 0)
    while len(left):
        among = squares[np.ix_(left, left)]
        i, j = np.unravel_index(np.argmin(among), among.shape)
        partners[left[i]], partners[left[j]] = left[j], left[i]
        left = left[partners[left] < 0]
    return np.asarray(partners)
