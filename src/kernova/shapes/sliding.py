"""Sliding semilandmarks: points on curves, moved along their tangents to correspond.

Files of sliders and the points of curves are in :mod:`kernova.shapes.curves`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from kernova.errors import InputError, check_count, quoted
from kernova.shapes.procrustes import lengths, rotations, shapeless_rows
from kernova.typing import Coordinates, Indices, Matrix, Vector

__all__ = ["SlidSpecimens", "SlidingModel", "fit_sliding", "slide_semilandmarks"]

Criterion = Literal["bending", "procrustes"]

# Singular values below this fraction of the largest count as zero in a generalized inverse.
_SINGULAR = float(np.sqrt(np.finfo(np.float64).eps))


class SlidSpecimens(NamedTuple):
    """Specimens aligned with their semilandmarks slid.

    As in geomorph, sliding is followed by a rotation alone: specimens are centred and of unit
    size before their points slide, and only nearly so afterwards.
    """

    coordinates: Coordinates  # shape (n, p, d)
    consensus: Matrix  # of unit size; shape (p, d)
    centroid_sizes: Vector  # before sliding, in the unit of the input; shape (n,)
    n_rounds: int  # rounds of sliding
    is_converged: bool  # whether the last round changed less than the tolerance


@dataclass(frozen=True, eq=False)
class SlidingModel:
    """A consensus against which semilandmarks of new specimens slide; see :func:`fit_sliding`.

    Attributes
    ----------
    reference : SlidSpecimens
        The specimens of the fit, slid, and their consensus.
    curves : ndarray of shape (n_sliders, 3)
        Rows [before, slide, after], counted from 0.
    criterion : {"bending", "procrustes"}
        What sliding minimises.
    tolerance : float
        A specimen is done when its squared Procrustes distance changes by no more than this.
    max_iter : int
        The maximum number of rounds.
    """

    reference: SlidSpecimens
    curves: Indices
    criterion: Criterion
    tolerance: float
    max_iter: int

    def slide(self, coordinates: ArrayLike) -> SlidSpecimens:
        """Slide new specimens against the stored consensus, each independently of the others.

        Parameters
        ----------
        coordinates : array-like of shape (n_specimens, n_landmarks, dimensions)
            Specimens with the landmarks of the reference, none missing.

        Returns
        -------
        SlidSpecimens
            Aligned specimens; ``consensus`` is the stored one, ``n_rounds`` the largest number
            of rounds that a specimen took.
        """
        consensus = self.reference.consensus
        specimens = _checked_specimens(coordinates)
        if specimens.shape[1:] != consensus.shape:
            raise InputError(
                f"The specimens have {specimens.shape[1]} landmarks in {specimens.shape[2]} "
                f"dimensions, the reference {consensus.shape[0]} in {consensus.shape[1]}. Give "
                "the same landmarks, in the same order."
            )
        frames = _unit_frames(specimens)
        placed = _rotated(frames.specimens, consensus)
        bending = bending_energy_matrix(consensus) if self.criterion == "bending" else None
        moving, n_rounds = np.arange(len(placed)), 0
        while len(moving) and n_rounds < self.max_iter:
            before = placed[moving]
            placed[moving] = _rotated(_slid(before, self.curves, consensus, bending), consensus)
            change = lengths(placed[moving] - consensus) ** 2 - lengths(before - consensus) ** 2
            moving = moving[np.abs(change) > self.tolerance]
            n_rounds += 1
        return SlidSpecimens(placed, consensus, frames.sizes, n_rounds, not len(moving))


class _Frames(NamedTuple):
    specimens: Coordinates
    sizes: Vector


def slide_semilandmarks(
    coordinates: ArrayLike,
    curves: ArrayLike,
    *,
    criterion: Criterion = "bending",
    tolerance: float = 1e-4,
    max_iter: int = 9,
    ids: Sequence[str] | None = None,
) -> SlidSpecimens:
    """Sliding semilandmarks: align specimens while points on curves slide along tangents.

    Points on a curve correspond only up to their position along it. In every round each of them
    moves along its tangent, the direction from the point before to the point after, so that the
    specimen differs least from the consensus, either in the bending energy of the thin-plate
    spline (Bookstein 1997) or in Procrustes distance (Rohlf 2010); then specimens are rotated to
    the consensus, and the consensus is computed anew. Defaults and the rule for stopping are
    those of ``gpagen`` of the R package geomorph (``ProcD=FALSE`` or ``TRUE``).

    Parameters
    ----------
    coordinates : array-like of shape (n_specimens, n_landmarks, dimensions)
        Landmarks and semilandmarks in two or three dimensions, none missing.
    curves : array-like of shape (n_sliders, 3)
        Rows [before, slide, after] of landmark indices, counted from 0; see
        :func:`kernova.shapes.curves.read_sliders`.
    criterion : {"bending", "procrustes"}, default="bending"
        Minimise bending energy or Procrustes distance.
    tolerance : float, default=1e-4
        Stop when the summed squares of the mean, times the number of specimens, change by no
        more than this.
    max_iter : int, default=9
        The maximum number of rounds of sliding; ``max.iter=10`` of geomorph counts the first
        rotation too.
    ids : sequence of str, optional
        Names of the specimens in errors; by default they are counted from 1.

    Returns
    -------
    SlidSpecimens
        Aligned specimens, their consensus, and their centroid sizes before sliding.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.sliding import slide_semilandmarks
    >>> arc = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, -2.0]])
    >>> shifted = arc + [[0, 0], [0.2, 0], [0, 0], [0, 0]]
    >>> slid = slide_semilandmarks([arc, shifted], [[0, 1, 2]], criterion="procrustes")
    >>> slid.coordinates.shape, slid.is_converged
    ((2, 4, 2), True)
    """
    _check_options(criterion, tolerance, max_iter)
    specimens = _checked_specimens(coordinates, ids)
    sliders = _checked_sliders(curves, specimens.shape[1])
    frames = _unit_frames(specimens)
    n = len(specimens)
    aligned = _rotated(frames.specimens, frames.specimens[0])
    # The first mean is not scaled to unit size, all later ones are: so it is in gpagen, and with
    # so coarse a tolerance it shows in the result.
    consensus = aligned.mean(axis=0)
    summed, change, n_rounds = n * float(np.square(consensus).sum()), np.inf, 0
    while change > tolerance and n_rounds < max_iter:
        bending = bending_energy_matrix(consensus) if criterion == "bending" else None
        slid = _slid(aligned, sliders, consensus, bending, ids)
        before, summed = summed, n * float(np.square(slid.mean(axis=0)).sum())
        aligned = _rotated(slid, consensus)
        mean = aligned.mean(axis=0)
        consensus = mean / np.linalg.norm(mean - mean.mean(axis=0))
        change = abs(before - summed)
        n_rounds += 1
    return SlidSpecimens(aligned, consensus, frames.sizes, n_rounds, change <= tolerance)


def fit_sliding(
    reference: ArrayLike,
    curves: ArrayLike,
    *,
    criterion: Criterion = "bending",
    tolerance: float = 1e-4,
    max_iter: int = 9,
) -> SlidingModel:
    """Sliding model: the consensus of a reference, against which new specimens slide.

    Parameters
    ----------
    reference : array-like of shape (n_specimens, n_landmarks, dimensions)
        Specimens that determine the consensus.
    curves, criterion, tolerance, max_iter
        As for :func:`slide_semilandmarks`.

    Returns
    -------
    SlidingModel
        Its ``reference`` holds the reference specimens, slid; its ``slide`` slides others.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.sliding import fit_sliding
    >>> arc = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, -2.0]])
    >>> wider = arc * [1.2, 1.0]
    >>> model = fit_sliding([arc, wider], [[0, 1, 2]], criterion="procrustes")
    >>> model.slide([arc + [[0, 0], [0.2, 0], [0, 0], [0, 0]]]).coordinates.shape
    (1, 4, 2)
    """
    slid = slide_semilandmarks(
        reference, curves, criterion=criterion, tolerance=tolerance, max_iter=max_iter
    )
    sliders = _checked_sliders(curves, slid.consensus.shape[0])
    return SlidingModel(slid, sliders, criterion, tolerance, max_iter)


def bending_energy_matrix(reference: Matrix) -> Matrix:
    """Bending energy matrix of the thin-plate spline, up to a constant factor.

    The upper left block of the inverse of [[K, Q], [Q', 0]], where Q = [1, reference] and K is
    r² log r in two dimensions and r in three, with r the distance between two landmarks
    (Bookstein 1989). Where landmarks coincide, the inverse is a generalized one.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> energy = bending_energy_matrix(square)
    >>> np.abs(energy @ square).max() < 1e-12
    np.True_
    """
    p, d = reference.shape
    distances = np.linalg.norm(reference[:, None] - reference[None], axis=2)
    kernel = distances
    if d == 2:
        kernel = distances**2 * np.log(np.where(distances > 0, distances, 1))
    affine = np.column_stack([np.ones(p), reference])
    whole = np.block([[kernel, affine], [affine.T, np.zeros((d + 1, d + 1))]])
    if np.linalg.cond(whole, 1) < 1 / np.finfo(np.float64).eps:
        return np.asarray(np.linalg.inv(whole)[:p, :p])
    return np.asarray(np.linalg.pinv(whole, rcond=_SINGULAR)[:p, :p])


def _slid(
    aligned: Coordinates,
    curves: Indices,
    reference: Matrix,
    bending: Matrix | None,
    ids: Sequence[str] | None = None,
) -> Coordinates:
    """Move the points of each specimen along their tangents, once."""
    points = curves[:, 1]
    tangents = _tangents(aligned, curves, ids)
    apart = aligned - reference
    if bending is None:
        moves = np.einsum("nmd,nmd->nm", tangents, apart[:, points])
    else:
        moves = _bending_moves(tangents, apart, points, bending)
    slid = aligned.copy()
    slid[:, points] -= moves[..., None] * tangents
    return slid


def _bending_moves(
    tangents: Coordinates, apart: Coordinates, points: Indices, bending: Matrix
) -> Matrix:
    """Return the moves along the tangents that minimise bending energy.

    With U the matrix of tangents and L the energy of one axis, they solve
    (U' L U) moves = U' L (specimen - consensus); a cell of U' L U is L_ij times the cosine of
    the angle between the tangents i and j.
    """
    energy, rows = bending[np.ix_(points, points)], bending[points]
    moves = np.empty(tangents.shape[:2])
    # One specimen at a time: the systems of all together may exceed the memory.
    for k, directions in enumerate(tangents):
        system = energy * (directions @ directions.T)
        target = np.einsum("md,md->m", directions, rows @ apart[k])
        try:
            moves[k] = np.linalg.solve(system, target)
        except np.linalg.LinAlgError:  # sliding along some direction costs no energy
            moves[k] = np.linalg.pinv(system, rcond=_SINGULAR) @ target
    return moves


def _tangents(aligned: Coordinates, curves: Indices, ids: Sequence[str] | None) -> Coordinates:
    """Return unit vectors from the point before to the point after, specimens × sliders."""
    chords = aligned[:, curves[:, 2]] - aligned[:, curves[:, 0]]
    sizes = np.linalg.norm(chords, axis=2)
    if not (sizes > 0).all():
        specimen, slider = np.argwhere(~(sizes > 0))[0].tolist()
        before, point, after = curves[slider].tolist()
        raise InputError(
            f"{_specimen(specimen, ids)}: point {point + 1} has no tangent: the points "
            f"{before + 1} and {after + 1} beside it coincide (counted from 1). Correct them, or "
            "leave the specimen out."
        )
    return np.asarray(chords / sizes[..., None])


def _rotated(specimens: Coordinates, target: Matrix) -> Coordinates:
    """Rotate each specimen to the target, without centring or scaling it."""
    covariances = np.matmul(specimens.transpose(0, 2, 1), target)
    return np.matmul(specimens, rotations(covariances))


def _unit_frames(specimens: Coordinates) -> _Frames:
    """Centre each specimen and divide it by its centroid size."""
    centred = specimens - specimens.mean(axis=1, keepdims=True)
    sizes = lengths(centred)
    return _Frames(centred / sizes[:, None, None], sizes)


def _checked_specimens(coordinates: ArrayLike, ids: Sequence[str] | None = None) -> Coordinates:
    specimens = np.asarray(coordinates, dtype=np.float64)
    if specimens.ndim != 3 or specimens.shape[2] not in (2, 3) or not len(specimens):
        raise InputError(
            f"coordinates has shape {specimens.shape}; give specimens × landmarks × 2 (or 3), "
            "one specimen or more."
        )
    if not np.isfinite(specimens).all():
        row = int(np.argwhere(~np.isfinite(specimens))[0, 0])
        raise InputError(
            f"{_specimen(row, ids)} has missing or infinite coordinates. Estimate missing "
            "landmarks first, with GeneralizedProcrustes, or leave the specimen out."
        )
    shapeless = shapeless_rows(specimens)
    if len(shapeless):
        raise InputError(
            f"{_specimen(int(shapeless[0]), ids)} has no shape: all of its landmarks coincide. "
            "Leave it out."
        )
    return specimens


def _specimen(row: int, ids: Sequence[str] | None) -> str:
    """Return the name of a specimen at the start of an error."""
    return f"Specimen {row + 1} (counted from 1)" if ids is None else f"Specimen {quoted(ids[row])}"


def _checked_sliders(curves: ArrayLike, n_landmarks: int) -> Indices:
    table = np.asarray(curves)
    if table.ndim != 2 or table.shape[1] != 3 or not len(table):
        raise InputError(
            f"curves has shape {table.shape}; give rows [before, slide, after], one or more."
        )
    if not np.issubdtype(table.dtype, np.integer):
        raise InputError(f"curves has the type {table.dtype}; give whole numbers.")
    outside = (table < 0) | (table >= n_landmarks)
    if outside.any():
        raise InputError(
            f"curves names landmark {table[outside][0]}, but the {n_landmarks} landmarks are "
            f"counted from 0 to {n_landmarks - 1}. Subtract 1 from numbers counted from 1."
        )
    for before, point, after in table.tolist():
        if len({before, point, after}) < 3:
            raise InputError(
                f"A row of curves is [{before + 1}, {point + 1}, {after + 1}], counted from 1; "
                "give three different landmarks."
            )
    points, counts = np.unique(table[:, 1], return_counts=True)
    if counts.max() > 1:
        raise InputError(
            f"Landmark {points[np.argmax(counts)] + 1} (counted from 1) slides in {counts.max()} "
            "rows of curves; a point slides along one curve. Leave out the others."
        )
    return table.astype(np.intp)


def _check_options(criterion: object, tolerance: object, max_iter: object) -> None:
    if criterion not in get_args(Criterion):
        raise InputError(
            f"criterion is {quoted(criterion)}; choose one of {', '.join(get_args(Criterion))}."
        )
    if not (isinstance(tolerance, Real) and 0 <= float(tolerance) < 1):
        raise InputError(f"tolerance must be at least 0 and below 1; got {quoted(tolerance)}.")
    check_count(max_iter, "max_iter", 1)
