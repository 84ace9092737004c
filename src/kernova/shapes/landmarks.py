"""Landmarks of specimens: the value that all readers return, and the parsing of coordinates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from kernova.errors import InputError, quoted
from kernova.text import listed
from kernova.textfiles import number_in
from kernova.typing import Coordinates, Mask, Matrix, Vector

Points = Matrix  # points × axes
Curves = tuple[Points, ...]
Value = TypeVar("Value")
Negative = Literal["values", "missing"]

_MISSING = frozenset({"na", "nan", "n/a", "null"})
_EMPTY: dict[str, object] = {
    "images": "",
    "variables": "",
    "comments": (),
    "curves": (),
    "outlines": (),
}


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Specimens with their landmarks, and further entries of their file.

    Attributes
    ----------
    ids : tuple of str
        One text per specimen; all differ.
    coordinates : array of shape (n_specimens, n_landmarks, 2 or 3)
        In the units of the file; all coordinates of a missing landmark are NaN.
    scales : array of shape (n_specimens,)
        Factors from file units to real units; NaN where the file has none.
    images, variables : tuple of str
        The texts of IMAGE and VARIABLES, empty where there are none.
    comments : tuple of tuple of str
        The texts of each COMMENT, specimen by specimen.
    curves, outlines : tuple of tuple of arrays
        Points along each open curve and closed outline, specimen by specimen.
    source : str
        The name of the file, for messages.
    notes : tuple of str
        Sentences on what reading left out or assumed, for the user.

    Only ``ids`` and ``coordinates`` are required; the others are empty by default.

    Examples
    --------
    >>> import numpy as np
    >>> fish = Landmarks(("a", "b"), np.zeros((2, 21, 2)))
    >>> len(fish), fish.n_landmarks, fish.n_dimensions
    (2, 21, 2)
    >>> fish.take([1]).ids
    ('b',)
    """

    ids: tuple[str, ...]
    coordinates: Coordinates
    scales: Vector = field(default_factory=lambda: np.empty(0))
    images: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    comments: tuple[tuple[str, ...], ...] = ()
    curves: tuple[Curves, ...] = ()
    outlines: tuple[Curves, ...] = ()
    source: str = "the specimens"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n_specimens = len(self.ids)
        self._set("ids", _distinct(self.ids))
        self._set("coordinates", _per_specimen(self.coordinates, self.ids))
        self._set("scales", _usable_scales(self.scales, self.ids))
        for name, empty in _EMPTY.items():
            values = tuple(getattr(self, name)) or (empty,) * n_specimens
            if len(values) != n_specimens:
                raise InputError(
                    f"Landmarks have {n_specimens} ids, but {len(values)} {name}; give one per "
                    "specimen."
                )
            self._set(name, values)
        self._set("curves", _checked_curves(self.curves, self.ids, self.n_dimensions))
        self._set("outlines", _checked_curves(self.outlines, self.ids, self.n_dimensions))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the class is frozen

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks of each specimen."""
        return self.coordinates.shape[1]

    @property
    def n_dimensions(self) -> int:
        """Number of coordinates of each landmark, 2 or 3."""
        return self.coordinates.shape[2]

    @property
    def is_missing(self) -> Mask:
        """Mask of missing landmarks, specimens × landmarks."""
        return np.asarray(np.isnan(self.coordinates).any(axis=2))

    def take(self, positions: ArrayLike) -> "Landmarks":
        """Select specimens by row index or mask.

        Parameters
        ----------
        positions : array of int or bool
            Row indices, in order, or a mask.
        """
        chosen = np.arange(len(self))[np.asarray(positions)].tolist()

        return replace(
            self,
            coordinates=self.coordinates[chosen],
            scales=self.scales[chosen],
            ids=_picked(self.ids, chosen),
            images=_picked(self.images, chosen),
            variables=_picked(self.variables, chosen),
            comments=_picked(self.comments, chosen),
            curves=_picked(self.curves, chosen),
            outlines=_picked(self.outlines, chosen),
        )

    def in_real_units(self) -> "Landmarks":
        """Multiply every coordinate by its specimen's scale; the new scales are 1.

        Raises
        ------
        InputError
            If a specimen has no scale.
        """
        without = [self.ids[k] for k in np.flatnonzero(np.isnan(self.scales))]
        if without:
            raise InputError(
                f"{len(without)} of {len(self)} specimens of {self.source} have no scale: "
                f"{listed(without)}; add SCALE= to each, or leave the scales unused."
            )
        return replace(
            self,
            coordinates=self.coordinates * self.scales[:, None, None],
            curves=_multiplied(self.curves, self.scales),
            outlines=_multiplied(self.outlines, self.scales),
            scales=np.ones(len(self)),
        )


def check_negative(negative: str) -> None:
    """Raise if the meaning of negative coordinates is not one of the choices."""
    if negative not in ("values", "missing"):
        raise InputError(f"negative is {quoted(negative)}; it must be 'values' or 'missing'.")


def coordinate(text: str) -> float | None:
    """Parse a coordinate: a number, NaN for a missing one, None for any other text.

    Examples
    --------
    >>> coordinate("4074,5"), coordinate("-1e3"), coordinate("NA"), coordinate("1,234.5")
    (4074.5, -1000.0, nan, None)
    """
    number = number_in(text)
    return math.nan if number is None and text.lower() in _MISSING else number


def _distinct(ids: Sequence[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in ids:
        if name == "" or name in seen:
            same = f"Two specimens have the same id {quoted(name)}"
            problem = same if name else "A specimen has no id"
            raise InputError(f"{problem}; ids must differ and not be empty.")
        seen.add(name)
    return tuple(ids)


def _per_specimen(coordinates: ArrayLike, ids: Sequence[str]) -> Coordinates:
    points = np.asarray(coordinates, dtype=np.float64)
    if points.ndim != 3 or points.shape[2] not in (2, 3) or len(points) != len(ids):
        raise InputError(
            f"Landmarks have {len(ids)} ids and coordinates of shape {points.shape}; the shape "
            "must be specimens × landmarks × 2 (or 3), one specimen per id."
        )
    is_bad = _is_infinite_or_half_missing(points)
    if is_bad.any():
        specimen, landmark = np.argwhere(is_bad)[0].tolist()
        raise InputError(
            f"Landmark {landmark + 1} of specimen {quoted(ids[specimen])} is infinite or half "
            f"missing: {points[specimen, landmark].tolist()}; correct it, or make all its "
            "coordinates NaN."
        )
    return points


def _is_infinite_or_half_missing(points: Points) -> Mask:
    if np.isfinite(points).all():
        return np.zeros(points.shape[:-1], dtype=bool)
    is_missing = np.isnan(points)
    is_half = is_missing.any(axis=-1) & ~is_missing.all(axis=-1)
    return np.asarray(is_half | np.isinf(points).any(axis=-1))


def _usable_scales(scales: ArrayLike, ids: Sequence[str]) -> Vector:
    numbers = np.asarray(scales, dtype=np.float64)
    if numbers.size == 0:
        return np.full(len(ids), np.nan)
    if numbers.shape != (len(ids),) or np.any(numbers <= 0) or np.any(np.isinf(numbers)):
        raise InputError(
            f"Landmarks of {len(ids)} specimens have the scales {quoted(numbers.tolist())}; give "
            "one number above 0 per specimen, NaN where it is not known."
        )
    return numbers


def _checked_curves(
    curves: tuple[Curves, ...], ids: Sequence[str], n_dimensions: int
) -> tuple[Curves, ...]:
    arrays = tuple(
        tuple(np.asarray(points, dtype=np.float64) for points in lines) for lines in curves
    )
    for name, lines in zip(ids, arrays, strict=True):
        for points in lines:
            is_table = points.ndim == 2 and points.shape[1] == n_dimensions
            if not is_table or _is_infinite_or_half_missing(points).any():
                raise InputError(
                    f"A curve of specimen {quoted(name)} has shape {points.shape} or a point that "
                    f"is infinite or half missing; give points × {n_dimensions} numbers."
                )
    return arrays


def _picked(values: tuple[Value, ...], chosen: list[int]) -> tuple[Value, ...]:
    return tuple(values[k] for k in chosen)


def _multiplied(lines: tuple[Curves, ...], scales: Vector) -> tuple[Curves, ...]:
    return tuple(
        tuple(points * scale for points in curves)
        for curves, scale in zip(lines, scales, strict=True)
    )
