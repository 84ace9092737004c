"""Formulas of shape features: lengths, angles and areas between landmarks, and arithmetic.

A formula takes points (specimens × landmarks × 2 or 3) and returns one number per specimen. It
has a set of landmarks and a unit, the power of a length: 1 for a length, 2 for an area, 0 for an
angle or a ratio of two lengths. :func:`parse_formula` reads this grammar::

    sum       = product { ("+" | "-") product }
    product   = factor { ("*" | "/") factor }
    factor    = NUMBER | length | angle | area | "(" sum ")"
    length    = "|" LANDMARK "-" LANDMARK "|"
    angle     = "angle" "(" direction "," direction ")"
              | "angle" "(" LANDMARK "," LANDMARK "," LANDMARK ")"
    direction = LANDMARK "-" LANDMARK | "vertical" | "horizontal"
    area      = "area" "(" LANDMARK "," LANDMARK "," LANDMARK { "," LANDMARK } ")"
"""

import re
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from kernova.typing import Coordinates, Mask, Vector

_AXES = {"horizontal": 0, "vertical": 1}

_TOKEN = re.compile(
    r"\s*+(?:(?P<number>[0-9]++(?:\.[0-9]++)?)|(?P<name>[A-Za-z_]++)|(?P<mark>[-+*/|(),]))"
)
# Dashes and signs of word processors and papers.
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})
# Longer formulas would exceed the recursion limit.
_MAX_TOKENS = 300
_LARGEST_LANDMARK = 99_999
_KINDS = {0: "a number without unit", 1: "a length", 2: "an area"}


class UndefinedMeasureError(Exception):
    """A formula has no value for a specimen."""

    def __init__(self, is_undefined: Mask, reason: str) -> None:
        super().__init__(reason)
        self.specimen = int(np.argmax(is_undefined))
        self.reason = reason


class FormulaError(Exception):
    """A formula cannot be parsed; ``rest`` is the text from the error on."""

    def __init__(self, rest: str, problem: str) -> None:
        super().__init__(problem)
        self.rest = rest
        self.problem = problem


class Formula(Protocol):
    """A measurable quantity."""

    @property
    def landmarks(self) -> frozenset[int]:
        """The numbers of the landmarks that it needs, from 1."""

    @property
    def length_power(self) -> int:
        """The power of a length: doubling the size multiplies the value by 2**power."""

    @property
    def uses_axis(self) -> bool:
        """Whether it depends on the orientation of the specimen."""

    def values(self, points: Coordinates) -> Vector:
        """Measure every specimen."""


def _at(points: Coordinates, landmark: int) -> Coordinates:
    return points[:, landmark - 1]


@dataclass(frozen=True)
class Number:
    """A plain number."""

    value: float
    landmarks: frozenset[int] = frozenset()
    length_power: int = 0
    uses_axis: bool = False

    def values(self, points: Coordinates) -> Vector:
        """Return the number for every specimen."""
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

    def values(self, points: Coordinates) -> Vector:
        """Measure every specimen."""
        return np.asarray(np.linalg.norm(_at(points, self.end) - _at(points, self.start), axis=1))

    def __str__(self) -> str:
        return f"|{self.start}-{self.end}|"


@dataclass(frozen=True)
class Direction:
    """The direction from one landmark to another."""

    start: int
    end: int
    uses_axis: bool = False

    @property
    def landmarks(self) -> frozenset[int]:
        """The two ends."""
        return frozenset({self.start, self.end})

    def units(self, points: Coordinates) -> Coordinates:
        """Return a unit vector per specimen."""
        steps = _at(points, self.end) - _at(points, self.start)
        # Scaling first: the square of a tiny or huge step would underflow or overflow.
        largest = np.abs(steps).max(axis=1, initial=0.0)
        if np.any(largest == 0):
            reason = f"landmarks {self.start} and {self.end} coincide"
            raise UndefinedMeasureError(largest == 0, f"{reason} and have no direction")
        steps = steps / largest[:, None]
        return np.asarray(steps / np.linalg.norm(steps, axis=1, keepdims=True))

    def __str__(self) -> str:
        return f"{self.start}-{self.end}"


@dataclass(frozen=True)
class Axis:
    """The direction to the right (horizontal) or up (vertical)."""

    name: str
    landmarks: frozenset[int] = frozenset()
    uses_axis: bool = True

    def units(self, points: Coordinates) -> Coordinates:
        """Return a unit vector per specimen."""
        units = np.zeros((len(points), points.shape[2]))
        units[:, _AXES[self.name]] = 1.0
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

    def values(self, points: Coordinates) -> Vector:
        """Measure every specimen."""
        u, v = self.first.units(points), self.second.units(points)
        # An arc cosine loses half of the digits near 0 and 180 degrees.
        apart, along = np.linalg.norm(u - v, axis=1), np.linalg.norm(u + v, axis=1)
        return np.asarray(np.degrees(2.0 * np.arctan2(apart, along)))

    def __str__(self) -> str:
        return f"angle({self.first}, {self.second})"


@dataclass(frozen=True)
class Area:
    """The area of a polygon whose corners are given in order.

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

    def values(self, points: Coordinates) -> Vector:
        """Measure every specimen."""
        # Relative to a corner, a polygon far from the origin loses no digits.
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
    """Two formulas combined by one of ``+ - * /``."""

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
        """The sum of powers for a product; the power of the parts for a sum."""
        left, right = self.left.length_power, self.right.length_power
        return {"*": left + right, "/": left - right}.get(self.operator, left)

    def values(self, points: Coordinates) -> Vector:
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


def parse_formula(text: str) -> Formula:
    """Parse one formula.

    Examples
    --------
    >>> str(parse_formula("|4−11| / |13−7|"))
    '(|4-11| / |13-7|)'
    """
    parser = _Parser(text.translate(_SIGNS))
    formula = parser.sum()
    if parser.ahead.kind != "end":
        raise parser.error("expected one of + - * / or the end")
    if not formula.landmarks:
        raise FormulaError(text, "it needs no landmark, so it is the same for every specimen")
    return formula


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


class _Parser:
    """A recursive-descent parser with one token of lookahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    @property
    def ahead(self) -> _Token:
        return self.tokens[self.at]

    def error(self, problem: str) -> FormulaError:
        return FormulaError(self.text[self.ahead.position :], problem)

    def next_if(self, *marks: str) -> str | None:
        """Consume the next token if it is one of these."""
        text = self.ahead.text
        if text not in marks:
            return None
        self.at += 1
        return text

    def expect(self, mark: str) -> None:
        if self.next_if(mark) is None:
            raise self.error(f"expected {mark!r}")

    def sum(self) -> Formula:
        left = self.product()
        while (operator := self.next_if("+", "-")) is not None:
            position = self.ahead.position
            right = self.product()
            if left.length_power != right.length_power:
                kinds = f"{_kind(left)} and {_kind(right)}"
                done = "added" if operator == "+" else "subtracted"
                raise FormulaError(self.text[position:], f"{kinds} cannot be {done}")
            left = Arithmetic(left, operator, right)
        return left

    def product(self) -> Formula:
        left = self.factor()
        while (operator := self.next_if("*", "/")) is not None:
            left = Arithmetic(left, operator, self.factor())
        return left

    def factor(self) -> Formula:
        if self.ahead.kind == "number":
            return self.number()
        if self.next_if("|"):
            length = Length(*self.pair())
            self.expect("|")
            return length
        if self.next_if("("):
            inner = self.sum()
            self.expect(")")
            return inner
        if self.next_if("angle"):
            return self.angle()
        if self.next_if("area"):
            return self.area()
        raise self.error("expected |1-2|, angle(...), area(...), a number or (")

    def number(self) -> Number:
        value = float(self.ahead.text)
        if value > 1e100:
            raise self.error("the number is too large")
        self.at += 1
        return Number(value)

    def landmark(self) -> int:
        is_whole = self.ahead.kind == "number" and self.ahead.text.isdigit()
        if not is_whole or not 1 <= float(self.ahead.text) <= _LARGEST_LANDMARK:
            raise self.error("expected the number of a landmark, from 1")
        number = int(float(self.ahead.text))  # int rejects thousands of leading zeros
        self.at += 1
        return number

    def pair(self) -> tuple[int, int]:
        position = self.ahead.position
        start = self.landmark()
        self.expect("-")
        end = self.landmark()
        if start == end:
            raise FormulaError(self.text[position:], "the two landmarks must differ")
        return start, end

    def angle(self) -> Angle:
        self.expect("(")
        if self.ahead.kind == "number" and self.tokens[self.at + 1].text == ",":
            start, vertex, end = self.landmarks(3, most=3)
            return Angle(Direction(vertex, start), Direction(vertex, end))
        first = self.direction()
        self.expect(",")
        second = self.direction()
        self.expect(")")
        return Angle(first, second)

    def area(self) -> Area:
        self.expect("(")
        return Area(self.landmarks(3))

    def direction(self) -> Direction | Axis:
        axis = self.next_if(*_AXES)
        if axis is not None:
            return Axis(axis)
        if self.ahead.kind != "number":
            raise self.error("expected a direction such as 1-2, vertical or horizontal")
        return Direction(*self.pair())

    def landmarks(self, fewest: int, most: int = _MAX_TOKENS) -> tuple[int, ...]:
        """Parse landmarks up to the closing parenthesis."""
        position = self.ahead.position
        numbers = [self.landmark()]
        while self.next_if(","):
            numbers.append(self.landmark())
        self.expect(")")
        if not fewest <= len(numbers) <= most:
            wanted = f"exactly {fewest}" if most == fewest else f"at least {fewest}"
            raise FormulaError(self.text[position:], f"expected {wanted} landmarks")
        if len(set(numbers)) < len(numbers):
            raise FormulaError(self.text[position:], "the landmarks must differ")
        return tuple(numbers)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    text = text.rstrip()
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or len(tokens) == _MAX_TOKENS:
            rest = text[position:].strip()
            long = f"the formula is longer than {_MAX_TOKENS} tokens"
            raise FormulaError(rest, f"unexpected {rest[0]!r}" if found is None else long)
        kind = str(found.lastgroup)
        tokens.append(_Token(kind, found[kind], found.start(kind)))
        position = found.end()
    return [*tokens, _Token("end", "", len(text))]


def _kind(formula: Formula) -> str:
    power = formula.length_power
    return _KINDS.get(power, f"a length to the power {power}")
