"""Columns named in a sentence, however many there are.

How a value of a table is written where there is little room: in a sentence or a picture.
"""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import pandas as pd

_MOST_NAMES = 20


def listed(names: Iterable[object]) -> str:
    """Quote the names, the first twenty of them.

    Examples
    --------
    >>> from kernova.text import listed
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    return _first_few([repr(name) for name in names])


def counted(counts: Mapping[str, int]) -> str:
    """Quote the names that count at least one, each with its count.

    Examples
    --------
    >>> from kernova.text import counted
    >>> counted({"a": 2, "b": 0})
    "'a' 2"
    """
    return _first_few([f"{name!r} {count}" for name, count in counts.items() if count])


def _first_few(phrases: list[str]) -> str:
    extra = len(phrases) - _MOST_NAMES
    return ", ".join([*phrases[:_MOST_NAMES], *([f"and {extra} more"] if extra > 0 else [])])


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Return the noun for a number of things, without the number.

    Examples
    --------
    >>> from kernova.text import plural
    >>> plural(1, "row"), plural(2, "row"), plural(0, "category", "categories")
    ('row', 'rows', 'categories')
    """
    return noun if n == 1 else nouns or f"{noun}s"


def quantity(n: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> from kernova.text import quantity
    >>> quantity(1, "row"), quantity(1200, "row"), quantity(2, "category", "categories")
    ('1 row', '1,200 rows', '2 categories')
    """
    return f"{n:,} {plural(n, noun, nouns)}"


def percent(fraction: float) -> str:
    """Return a fraction as a whole percentage, as 75 %."""
    return f"{100 * fraction:.0f} %"


_FEW_DIGITS = 4
_ALL_DIGITS = 17
_MOST_LETTERS = 32
# Whole numbers up to here are written out; beyond, a float no longer holds each of them.
_LARGEST_WHOLE = 1e15


def truncate_middle(text: str, most: int = _MOST_LETTERS) -> str:
    """Leave out the middle of a long text: names that begin alike often differ at their ends.

    Examples
    --------
    >>> from kernova.text import truncate_middle
    >>> truncate_middle("mean_radius_of_the_left_ventricle", 20)
    'mean_radiu…ventricle'
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[-tail:]}"


def format_value(value: Any, beside: Any = None, most: int = _MOST_LETTERS) -> str:
    """Write one value in at most so many letters, or digits that tell it from the one beside it.

    Examples
    --------
    >>> from kernova.text import format_value
    >>> format_value(0.123456789), format_value(5.0), format_value("red"), format_value(None)
    ('0.1235', '5', 'red', 'missing')
    >>> format_value(1000.12, beside=1000.13), format_value(1000.13, beside=1000.12)
    ('1000.12', '1000.13')
    """
    if not _is_number(value):
        return "missing" if _is_missing(value) else truncate_middle(str(value), most) or "(empty)"
    if not _is_number(beside) or value == beside:
        return _number_words(float(value), _FEW_DIGITS)
    for digits in range(_FEW_DIGITS, _ALL_DIGITS):
        words = _number_words(float(value), digits)
        if words != _number_words(float(beside), digits):
            return words
    return _number_words(float(value), _ALL_DIGITS)


def _is_missing(value: Any) -> bool:
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not _is_missing(value)


def _number_words(number: float, digits: int) -> str:
    if abs(number) < _LARGEST_WHOLE:  # 1234567.8 is written 1234568, not 1.235e+06
        digits = max(digits, len(str(round(abs(number)))))
    return f"{number + 0.0:.{digits}g}"  # no minus zero
