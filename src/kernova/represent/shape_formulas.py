"""What can be measured between landmarks: lengths, angles, areas, and arithmetic with them.

Every formula takes points (specimens × landmarks × 2 or 3) and gives one number per specimen. It
knows which landmarks it needs, and which power of a length its value is: 1 for a length, 2 for an
area, 0 for an angle or a ratio of two lengths.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Values = NDArray[np.float64]

AXES = {"horizontal": 0, "vertical": 1}


class UndefinedMeasureError(Exception):
    """A formula has no value for a specimen."""

    def __init__(self, is_undefined: NDArray[np.bool_], reason: str) -> None:
        super().__init__(reason)
        self.specimen = int(np.argmax(is_undefined))
        self.reason = reason


class Formula(Protocol):
    """Something to measure."""

    @property
    def landmarks(self) -> frozenset[int]:
        """The numbers of the landmarks that it needs, from 1."""

    @property
    def length_power(self) -> int:
        """How it grows with size: the value of a specimen twice as large is 2**power times."""

    @property
    def uses_axis(self) -> bool:
        """Whether it changes as the specimen is turned."""

    def values(self, points: Points) -> Values:
        """Measure every specimen."""


def _at(points: Points, landmark: int) -> Points:
    return points[:, landmark - 1]


@dataclass(frozen=True)
class Number:
    """A plain number."""

    value: float
    landmarks: frozenset[int] = frozenset()
    length_power: int = 0
    uses_axis: bool = False

    def values(self, points: Points) -> Values:
        """Give the number for every specimen."""
        return np.full(len(points), self.value)

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True)
class Length:
    """The distance between two landmarks.

    Examples
    --------
    >>> Length(1, 2).values(np.array([[[0.0, 0.0], [3.0, 4.0]]]))
    array([5.])
    """

    start: int
    end: int
    length_power: int = 1
    uses_axis: bool = False

    @property
    def landmarks(self) -> frozenset[int]:
        """The two ends."""
        return frozenset({self.start, self.end})

    def values(self, points: Points) -> Values:
        """Measure every specimen."""
        return np.asarray(np.linalg.norm(_at(points, self.end) - _at(points, self.start), axis=1))

    def __str__(self) -> str:
        return f"|{self.start}-{self.end}|"


@dataclass(frozen=True)
class Direction:
    """The way from one landmark to another."""

    start: int
    end: int
    uses_axis: bool = False

    @property
    def landmarks(self) -> frozenset[int]:
        """The two ends."""
        return frozenset({self.start, self.end})

    def units(self, points: Points) -> Points:
        """Give a vector of length 1 per specimen."""
        steps = _at(points, self.end) - _at(points, self.start)
        # A step whose square is too small or too large for a number still has a direction.
        largest = np.abs(steps).max(axis=1, initial=0.0)
        if np.any(largest == 0):
            reason = f"landmarks {self.start} and {self.end} lie on each other"
            raise UndefinedMeasureError(largest == 0, f"{reason} and have no direction")
        steps = steps / largest[:, None]
        return np.asarray(steps / np.linalg.norm(steps, axis=1, keepdims=True))

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


@dataclass(frozen=True)
class Axis:
    """The way to the right (horizontal) or up (vertical) in the coordinates as they are."""

    name: str
    landmarks: frozenset[int] = frozenset()
    uses_axis: bool = True

    def units(self, points: Points) -> Points:
        """Give a vector of length 1 per specimen."""
        units = np.zeros((len(points), points.shape[2]))
        units[:, AXES[self.name]] = 1.0
        return units

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Angle:
    """The angle between two directions in degrees, from 0 to 180.

    Examples
    --------
    >>> points = np.array([[[0.0, 0.0], [1.0, 1.0]]])
    >>> Angle(Direction(1, 2), Axis("vertical")).values(points)
    array([45.])
    """

    first: Direction | Axis
    second: Direction | Axis
    length_power: int = 0

    @property
    def landmarks(self) -> frozenset[int]:
        """The ends of both."""
        return self.first.landmarks | self.second.landmarks

    @property
    def uses_axis(self) -> bool:
        """Whether one of the two is an axis."""
        return self.first.uses_axis or self.second.uses_axis

    def values(self, points: Points) -> Values:
        """Measure every specimen."""
        u, v = self.first.units(points), self.second.units(points)
        # An arc cosine would lose half of the digits near 0 and 180 degrees.
        apart, along = np.linalg.norm(u - v, axis=1), np.linalg.norm(u + v, axis=1)
        return np.asarray(np.degrees(2.0 * np.arctan2(apart, along)))

    def __str__(self) -> str:
        return f"angle({self.first}, {self.second})"


@dataclass(frozen=True)
class Area:
    """The area of a polygon whose corners are given in the order around it.

    Examples
    --------
    >>> Area((1, 2, 3)).values(np.array([[[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]]]))
    array([3.])
    """

    corners: tuple[int, ...]
    length_power: int = 2
    uses_axis: bool = False

    @property
    def landmarks(self) -> frozenset[int]:
        """The corners."""
        return frozenset(self.corners)

    def values(self, points: Points) -> Values:
        """Measure every specimen."""
        # Seen from a corner, a polygon far from the origin keeps its digits.
        corners = points[:, np.array(self.corners) - 1] - _at(points, self.corners[0])[:, None]
        u, v = corners[:, 1:-1], corners[:, 2:]
        if points.shape[2] == 2:
            twice = (u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]).sum(axis=1)
            return np.asarray(np.abs(twice) / 2.0)
        return np.asarray(np.linalg.norm(np.cross(u, v).sum(axis=1), axis=1) / 2.0)

    def __str__(self) -> str:
        return f"area({', '.join(map(str, self.corners))})"


@dataclass(frozen=True)
class Arithmetic:
    """Two formulas joined by one of ``+ - * /``."""

    left: Formula
    operator: str
    right: Formula

    @property
    def landmarks(self) -> frozenset[int]:
        """Those of both sides."""
        return self.left.landmarks | self.right.landmarks

    @property
    def uses_axis(self) -> bool:
        """Whether one of both sides does."""
        return self.left.uses_axis or self.right.uses_axis

    @property
    def length_power(self) -> int:
        """Powers add up in a product; a sum has that of its parts."""
        left, right = self.left.length_power, self.right.length_power
        return {"*": left + right, "/": left - right}.get(self.operator, left)

    def values(self, points: Points) -> Values:
        """Measure every specimen."""
        left, right = self.left.values(points), self.right.values(points)
        if self.operator == "+":
            return left + right
        if self.operator == "-":
            return left - right
        if self.operator == "*":
            return left * right
        if np.any(right == 0):
            raise UndefinedMeasureError(right == 0, f"it divides by {self.right}, which is 0")
        return left / right

    def __str__(self) -> str:
        return f"({self.left} {self.operator} {self.right})"
