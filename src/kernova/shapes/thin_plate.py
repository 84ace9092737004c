"""Thin-plate spline: the smoothest deformation that maps landmarks onto others.

The spline is linear in the target landmarks, so one matrix of weights, which depends on the source
landmarks alone, deforms any number of specimens.
"""

from typing import NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.typing import Coordinates, Indices, Matrix

# Landmarks closer to one plane (or line) than this, relative to their extent, lie on it.
_FLAT = 1e-9


class SplineBasis(NamedTuple):
    """Thin-plate spline from some source landmarks, before the target is known.

    Columns of ``solution`` give coefficients for a target that is 1 at one landmark and 0 at the
    others: one row for each landmark, one for the constant and one for each axis.
    """

    source: Matrix  # distinct landmarks; shape (p, d)
    solution: Matrix  # shape (p + 1 + d, p)

    def weights(self, points: Matrix) -> Matrix:
        """Return the matrix that maps target landmarks to the deformed points.

        Examples
        --------
        >>> import numpy as np
        >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        >>> spline_basis(square).weights(np.array([[0.5, 0.5]]))
        array([[0.25, 0.25, 0.25, 0.25]])
        """
        squares = np.square(points[:, None] - self.source).sum(axis=2)
        basis = _kernel(squares, self.source.shape[1])
        terms = np.column_stack([basis, np.ones(len(points)), points])
        return np.asarray(terms @ self.solution)

    def gradients(self, points: Matrix) -> Coordinates:
        """Return the derivatives of the weights along each axis; shape (d, n_points, p).

        ``gradients(points) @ target`` holds, for each axis, the derivative of the deformed points.
        """
        n_landmarks, d = self.source.shape
        apart = points[:, None] - self.source
        slopes = _kernel_slope(np.square(apart).sum(axis=2), d)
        terms = np.zeros((d, len(points), n_landmarks + 1 + d))
        for axis in range(d):
            terms[axis, :, :n_landmarks] = slopes * apart[:, :, axis]
            terms[axis, :, n_landmarks + 1 + axis] = 1
        return np.asarray(terms @ self.solution)


def spline_basis(source: Matrix) -> SplineBasis:
    """Return the thin-plate spline from landmarks in the plane or in space.

    The kernel is r² log r² in the plane and r in space, after Bookstein (1989).

    Parameters
    ----------
    source : ndarray of shape (n_landmarks, 2 or 3)
        Distinct landmarks that do not lie on one line (in space: in one plane).

    Returns
    -------
    basis : SplineBasis

    Raises
    ------
    InputError
        If landmarks coincide or do not span the plane or the space.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.thin_plate import spline_basis
    >>> triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> spline_basis(triangle).weights(np.array([[1.0, 1.0]])) @ (2 * triangle)
    array([[2., 2.]])
    """
    n_landmarks, d = source.shape
    if d not in (2, 3):
        raise InputError(f"A thin-plate spline needs 2 or 3 coordinates per landmark; got {d}.")
    if not is_spanning(source):
        raise InputError(
            f"{n_landmarks} landmarks do not determine a thin-plate spline: some coincide, or all "
            f"lie {'on one line' if d == 2 else 'in one plane'}. Give {d + 1} or more that do not."
        )
    squares = np.square(source[:, None] - source).sum(axis=2)
    system = np.zeros((n_landmarks + 1 + d,) * 2)
    system[:n_landmarks, :n_landmarks] = _kernel(squares, d)
    system[:n_landmarks, n_landmarks:] = np.column_stack([np.ones(n_landmarks), source])
    system[n_landmarks:, :n_landmarks] = system[:n_landmarks, n_landmarks:].T
    goals = np.eye(n_landmarks + 1 + d)[:, :n_landmarks]
    return SplineBasis(source, np.asarray(np.linalg.solve(system, goals)))


def is_spanning(source: Matrix) -> bool:
    """Return whether landmarks determine a thin-plate spline.

    Examples
    --------
    >>> import numpy as np
    >>> is_spanning(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))
    False
    """
    n_landmarks, d = source.shape
    if n_landmarks <= d:
        return False
    centred = source - source.mean(axis=0)
    strengths = np.linalg.svd(centred, compute_uv=False)
    if not strengths[-1] > _FLAT * strengths[0]:
        return False
    squares = np.square(source[:, None] - source).sum(axis=2) + np.diag(
        np.full(n_landmarks, np.inf)
    )
    return bool(squares.min() > np.square(_FLAT * strengths[0]))


def spline_estimates(source: Matrix, specimens: Coordinates, missing: Indices) -> Coordinates:
    """Return estimates of missing landmarks: those of the source, deformed with the known ones.

    A spline commutes with translation, rotation and scaling of the specimen, which therefore
    needs no alignment.

    Parameters
    ----------
    source : ndarray of shape (p, d)
        A complete shape, such as the consensus.
    specimens : ndarray of shape (n, p, d)
        Specimens that lack the same landmarks, whose values are ignored.
    missing : ndarray of int
        The landmarks to estimate, counted from 0.

    Returns
    -------
    estimates : ndarray of shape (n, n_missing, d)

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.thin_plate import spline_estimates
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> spline_estimates(square, 3 * square[None], np.array([2]))
    array([[[3., 3.]]])
    """
    known = np.setdiff1d(np.arange(len(source)), missing)
    weights = spline_basis(source[known]).weights(source[missing])
    return np.asarray(np.matmul(weights, specimens[:, known]))


def _kernel(squares: Matrix, d: int) -> Matrix:
    """Return U(r) for squared distances; the limit at 0 is 0."""
    if d == 3:
        return np.asarray(np.sqrt(squares))
    return np.asarray(squares * np.log(np.where(squares > 0, squares, 1)))


def _kernel_slope(squares: Matrix, d: int) -> Matrix:
    """Return U'(r) / r; at a landmark itself 0, the mean over all directions."""
    safe = np.where(squares > 0, squares, 1)
    slope = 1 / np.sqrt(safe) if d == 3 else 2 * (np.log(safe) + 1)
    return np.asarray(np.where(squares > 0, slope, 0))
