"""From the text of a formula to what it measures: a small grammar, and nothing beyond it.

::

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
from typing import NamedTuple

from kernova.represent.shape_formulas import (
    AXES,
    Angle,
    Area,
    Arithmetic,
    Axis,
    Direction,
    Formula,
    Length,
    Number,
)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[A-Za-z_]+)|(?P<mark>[-+*/|(),]))"
)
# Dashes and signs as word processors and papers write them.
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})
# Longer ones would exhaust the stack of calls before they measured anything sensible.
_MOST_TOKENS = 300
_LARGEST_LANDMARK = 99_999
_KINDS = {0: "a number without unit", 1: "a length", 2: "an area"}


class FormulaError(Exception):
    """A formula cannot be read; ``rest`` is where it breaks off."""

    def __init__(self, rest: str, problem: str) -> None:
        super().__init__(problem)
        self.rest = rest
        self.problem = problem


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


def parse_formula(text: str) -> Formula:
    """Read one formula.

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


class _Parser:
    """Looks one token ahead and never back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    @property
    def ahead(self) -> _Token:
        return self.tokens[self.at]

    def error(self, problem: str) -> FormulaError:
        return FormulaError(self.text[self.ahead.place :], problem)

    def next_if(self, *marks: str) -> str | None:
        """Step over the token ahead if it is one of these."""
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
            place = self.ahead.place
            right = self.product()
            if left.length_power != right.length_power:
                kinds = f"{_kind(left)} and {_kind(right)}"
                done = "added" if operator == "+" else "subtracted"
                raise FormulaError(self.text[place:], f"{kinds} cannot be {done}")
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
        number = int(self.ahead.text)
        self.at += 1
        return number

    def pair(self) -> tuple[int, int]:
        place = self.ahead.place
        start = self.landmark()
        self.expect("-")
        end = self.landmark()
        if start == end:
            raise FormulaError(self.text[place:], "the two landmarks must differ")
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
        axis = self.next_if(*AXES)
        if axis is not None:
            return Axis(axis)
        if self.ahead.kind != "number":
            raise self.error("expected a direction such as 1-2, vertical or horizontal")
        return Direction(*self.pair())

    def landmarks(self, fewest: int, most: int = _MOST_TOKENS) -> tuple[int, ...]:
        """Read landmarks up to the closing parenthesis."""
        place = self.ahead.place
        numbers = [self.landmark()]
        while self.next_if(","):
            numbers.append(self.landmark())
        self.expect(")")
        if not fewest <= len(numbers) <= most:
            wanted = f"exactly {fewest}" if most == fewest else f"at least {fewest}"
            raise FormulaError(self.text[place:], f"expected {wanted} landmarks")
        if len(set(numbers)) < len(numbers):
            raise FormulaError(self.text[place:], "the landmarks must differ")
        return tuple(numbers)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None or len(tokens) == _MOST_TOKENS:
            rest = text[place:].strip()
            long = f"the formula is longer than {_MOST_TOKENS} words and signs"
            raise FormulaError(rest, f"unexpected {rest[0]!r}" if found is None else long)
        kind = str(found.lastgroup)
        tokens.append(_Token(kind, found[kind], found.start(kind)))
        place = found.end()
    return [*tokens, _Token("end", "", len(text))]


def _kind(formula: Formula) -> str:
    power = formula.length_power
    return _KINDS.get(power, f"a length to the power {power}")
