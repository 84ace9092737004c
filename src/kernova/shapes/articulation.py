"""Articulated structures: rotating a part about its joint to the same angle in all specimens.

A jaw that is open in one specimen and closed in another is no difference of shape (Adams 1999,
Evolutionary Ecology Research 1: 959-970).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernova.errors import InputError
from kernova.typing import Coordinates, Matrix, Vector


class FixedAngle(NamedTuple):
    """Specimens with one angle at the joint, and the angles that they had."""

    coordinates: Coordinates  # shape (n, p, 2)
    angle: float  # the common angle, in radians, from the reference to the rotating part
    angles: Vector  # those measured, in radians, from -pi to pi; shape (n,)


def fixed_angle(
    coordinates: ArrayLike,
    *,
    joint: int,
    reference: int | Sequence[int],
    rotating: int | Sequence[int],
    ray: int | Sequence[int] | None = None,
    angle: float | None = None,
) -> FixedAngle:
    """Rotate a part of each specimen about a joint, so that the angle at the joint is constant.

    The angle is that between two rays from the joint, to the centroid of the reference landmarks
    and to that of the rotating part. It is positive from the first axis towards the second.

    Parameters
    ----------
    coordinates : array-like of shape (n_specimens, n_landmarks, 2)
        Complete specimens in the plane, none mirrored. Landmarks are counted from 0.
    joint : int
        The landmark at the joint.
    reference : int or sequence of int
        The landmark or landmarks of the fixed part that define the first ray.
    rotating : int or sequence of int
        The landmarks that are rotated.
    ray : int or sequence of int, default=None
        The landmark or landmarks of the rotating part that define the second ray; None takes all
        of them.
    angle : float, default=None
        The angle that all specimens receive, in radians; None takes the mean angle.

    Returns
    -------
    fixed : FixedAngle
        The input is not changed.

    Notes
    -----
    With the mean angle, aligned specimens are those of ``fixed.angle`` in the R package geomorph,
    which shifts the joint to the origin and whose ``angle`` is added to the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.articulation import fixed_angle
    >>> closed = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
    >>> opened = np.array([[0.0, 0.0], [2.0, 0.0], [-1.0, 1.0]])
    >>> fixed = fixed_angle([closed, opened], joint=0, reference=1, rotating=2)
    >>> np.degrees(fixed.angles).round(), round(np.degrees(fixed.angle))
    (array([ 45., 135.]), 90)
    >>> fixed.coordinates[:, 2].round(3) + 0.0
    array([[0.   , 1.414],
           [0.   , 1.414]])
    """
    specimens = _plane_specimens(coordinates)
    n_landmarks = specimens.shape[1]
    hinge = _landmarks(joint, "joint", n_landmarks)
    fixed = _landmarks(reference, "reference", n_landmarks)
    part = _landmarks(rotating, "rotating", n_landmarks)
    direction = part if ray is None else _landmarks(ray, "ray", n_landmarks)
    _check_parts(hinge, fixed, part, direction)
    center = specimens[:, hinge[0]]
    first = _ray(specimens, center, fixed, "reference")
    second = _ray(specimens, center, direction, "rotating" if ray is None else "ray")
    turns = second * np.conj(first)
    turns /= np.abs(turns)
    wanted = _mean_angle(turns) if angle is None else _finite_angle(angle)
    rotations = np.exp(1j * wanted) / turns
    moved = specimens.copy()
    offsets = _as_complex(specimens[:, part] - center[:, None]) * rotations[:, None]
    moved[:, part] = center[:, None] + np.stack([offsets.real, offsets.imag], axis=-1)
    return FixedAngle(moved, wanted, np.angle(turns))


def _plane_specimens(coordinates: ArrayLike) -> Coordinates:
    specimens = np.asarray(coordinates, dtype=np.float64)
    if specimens.ndim == 3 and specimens.shape[2] == 3:
        raise InputError(
            "Angles at a joint are fixed in the plane only; the landmarks have 3 coordinates. "
            "Give the two coordinates of the plane in which the part rotates."
        )
    if specimens.ndim != 3 or specimens.shape[2] != 2 or not specimens.size:
        raise InputError(
            f"coordinates must be specimens × landmarks × 2; got an array of shape "
            f"{specimens.shape}."
        )
    is_complete = np.isfinite(specimens).all(axis=(1, 2))
    if not is_complete.all():
        raise InputError(
            f"{np.count_nonzero(~is_complete)} of {len(specimens)} specimens lack landmarks. "
            "Estimate them first with GeneralizedProcrustes, or leave these specimens out."
        )
    return specimens


def _landmarks(given: int | Sequence[int], name: str, n_landmarks: int) -> list[int]:
    landmarks = [int(landmark) for landmark in np.atleast_1d(given)]
    if not landmarks or len(set(landmarks)) != len(landmarks):
        raise InputError(f"{name} must hold one or more landmarks, each once; got {landmarks}.")
    if min(landmarks) < 0 or max(landmarks) >= n_landmarks:
        raise InputError(
            f"{name} must hold landmarks from 0 to {n_landmarks - 1}; got {landmarks}."
        )
    return landmarks


def _check_parts(
    joint: list[int], reference: list[int], rotating: list[int], ray: list[int]
) -> None:
    both = sorted(set(reference) & set(rotating))
    if both:
        raise InputError(
            f"Landmarks {both} belong to both reference and rotating. Keep each in one of them."
        )
    outside = sorted(set(ray) - set(rotating))
    if outside:
        raise InputError(
            f"ray must hold landmarks of the rotating part; {outside} are not in rotating."
        )
    if len(joint) != 1 or joint in (reference, ray):
        raise InputError(
            f"joint must be one landmark, and another than reference and ray; got {joint}."
        )


def _ray(specimens: Coordinates, center: Matrix, landmarks: list[int], name: str) -> Vector:
    """Return the vector from the joint to the centroid of landmarks, as a complex number."""
    rays = _as_complex(specimens[:, landmarks].mean(axis=1) - center)
    sizes = np.abs(_as_complex(specimens - center[:, None])).max(axis=1)
    is_short = np.abs(rays) <= 1e-12 * sizes
    if is_short.any():
        raise InputError(
            f"In specimen {int(np.argmax(is_short))} (counted from 0) the joint lies on the "
            f"centroid of {name}, so there is no angle. Give other landmarks, or leave it out."
        )
    return rays


def _as_complex(points: Coordinates) -> Vector:
    return np.asarray(points[..., 0] + 1j * points[..., 1])


def _mean_angle(turns: Vector) -> float:
    """Return the arithmetic mean of angles, each taken within half a turn of their direction."""
    middle = turns.sum()
    if np.abs(middle) < 1e-9 * len(turns):
        raise InputError("The angles at the joint have no mean direction. Give the angle wanted.")
    middle /= np.abs(middle)
    mean = float(np.angle(middle) + np.angle(turns / middle).mean())
    return float(np.angle(np.exp(1j * mean)))


def _finite_angle(angle: float) -> float:
    if not np.isfinite(angle) or abs(angle) > 2 * np.pi:
        raise InputError(f"angle must lie from -2 pi to 2 pi radians; got {angle}.")
    return float(angle)
