"""Text for messages and reports: lists of names, numbers with their nouns, single values.

Nothing here needs pandas before a value of a table has to be written, so that the command line
may import it for its help texts.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import accumulate
from numbers import Real
from typing import Any

from kernova.errors import LONGEST_ECHO, quoted, shortened

_MAX_NAMES = 20
_FEW_DIGITS = 4
_ALL_DIGITS = 17
_MAX_LETTERS = 32
# Characters without a picture of their own: Unicode's default ignorable ones.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200c\u200d"
_VIRAMA = 9  # Unicode's combining class of the marks that join consonants
# Whole numbers up to here are written out; beyond, a float no longer holds each of them.
_LARGEST_WHOLE = 1e15


def listed(names: Iterable[object], most: int = _MAX_NAMES) -> str:
    """Return the names in quotation marks, as many of the first twenty as fit 200 characters.

    Examples
    --------
    >>> from kernova.text import listed
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    given = list(names)
    return _joined([quoted(name) for name in given[:most]], len(given))


def counted(counts: Mapping[str, int]) -> str:
    """Return the names that occur at least once, each with its count.

    Examples
    --------
    >>> from kernova.text import counted
    >>> counted({"a": 2, "b": 0})
    "'a' 2"
    """
    return first_few([f"{quoted(name)} {count}" for name, count in counts.items() if count])


def first_few(phrases: Iterable[object], most: int = _MAX_NAMES) -> str:
    """Return the first phrases with commas between them, and the number of the others.

    Phrases are shortened, and left out if the list would have more than 200 characters.

    Examples
    --------
    >>> from kernova.text import first_few
    >>> first_few("abcd", most=2)
    'a, b, and 2 more'
    """
    given = list(phrases)
    return _joined([shortened(phrase, LONGEST_ECHO // 2) for phrase in given[:most]], len(given))


def _joined(texts: list[str], n_in_all: int) -> str:
    lengths = accumulate(len(text.strip("'")) for text in texts)  # of the input alone
    shown = texts[: sum(length <= LONGEST_ECHO for length in lengths)]
    extra = n_in_all - len(shown)
    return ", ".join([*shown, *([f"and {extra} more"] if extra > 0 else [])])


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Return the noun for a number of things, without the number.

    Examples
    --------
    >>> from kernova.text import plural
    >>> plural(1, "row"), plural(2, "row")
    ('row', 'rows')
    >>> plural(0, "category", "categories")
    'categories'
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


def percent(fraction: float, style: str = ".0f") -> str:
    """Return a fraction as a percentage.

    Examples
    --------
    >>> from kernova.text import percent
    >>> percent(0.754), percent(0.754, ".1f")
    ('75 %', '75.4 %')
    """
    return f"{100 * fraction:{style}} %"


def truncate_middle(text: str, most: int = _MAX_LETTERS) -> str:
    """Leave out the middle of a long text: names that begin alike often differ at their ends.

    Examples
    --------
    >>> from kernova.text import truncate_middle
    >>> truncate_middle("mean_radius_of_the_left_ventricle", 20)
    'mean_radiu…ventricle'
    """
    return shortened(" ".join(text.split()), most)


def format_value(value: Any, beside: Any = None, most: int = _MAX_LETTERS) -> str:
    """Return a value of a table as short text.

    A number gets four digits, or as many as distinguish it from the number ``beside`` it.

    Examples
    --------
    >>> from kernova.text import format_value
    >>> format_value(0.123456789), format_value(5.0), format_value("red"), format_value(None)
    ('0.1235', '5', 'red', 'missing')
    >>> format_value(1000.12, beside=1000.13), format_value(1000.13, beside=1000.12)
    ('1000.12', '1000.13')
    """
    if not _is_number(value):
        return "missing" if is_missing(value) else truncate_middle(str(value), most) or "(empty)"
    if not _is_number(beside) or value == beside:
        return _format_number(float(value), _FEW_DIGITS)
    for digits in range(_FEW_DIGITS, _ALL_DIGITS):
        text = _format_number(float(value), digits)
        if text != _format_number(float(beside), digits):
            return text
    return _format_number(float(value), _ALL_DIGITS)


def with_visible_marks(text: str) -> str:
    r"""Write invisible characters as escapes, except where a script or an emoji needs them.

    Two names that look alike are then alike. Joiners stay inside Arabic and Indic words and in
    emoji, variation selectors behind ideographs and symbols; characters that reverse the direction
    of the text never stay.

    Examples
    --------
    >>> from kernova.text import with_visible_marks
    >>> print(with_visible_marks("ca\u200brp"), with_visible_marks("\u202ecarp"))
    ca\u200brp \u202ecarp
    >>> with_visible_marks("می\u200cخواهم") == "می\u200cخواهم"
    True
    """
    return _INVISIBLE.sub(
        lambda found: found[0] if _is_needed(found) else escaped_letter(found[0]), text
    )


def escaped_letter(letter: str) -> str:
    """Return the escape sequence of a character, as Python writes it."""
    return letter.encode("unicode_escape").decode()


def _is_needed(found: re.Match[str]) -> bool:
    """Return whether the characters beside an invisible one need it."""
    text, start, stop = found.string, found.start(), found.end()
    before, after = text[max(0, start - 1) : start], text[stop : stop + 1]
    return bool(before) and (
        _joins(before, after) if found[0] in _JOINERS else _selects(found[0], before, after)
    )


def _joins(before: str, after: str) -> bool:
    is_indic = _VIRAMA in (unicodedata.combining(before), unicodedata.combining(after or " "))
    is_arabic = unicodedata.bidirectional(before) == "AL" or "ARABIC" in _name(before)
    is_emoji = unicodedata.category(after or " ") == "So" and (
        unicodedata.category(before) in ("So", "Sk") or before == "\ufe0f"
    )
    return is_indic or is_arabic or is_emoji


def _selects(mark: str, before: str, after: str) -> bool:
    if "\ufe00" <= mark <= "\ufe0f":
        is_symbol = unicodedata.category(before) in ("So", "Sm", "Lo") or before in "‼⁉〰ℹ"
        return is_symbol or after == "\u20e3"
    if "\u180b" <= mark <= "\u180f":
        return "MONGOLIAN" in _name(before)
    return mark >= "\U000e0100" and "CJK" in _name(before)


def _name(letter: str) -> str:
    return unicodedata.name(letter, "")


def format_pair(first: Any, second: Any) -> tuple[str, str]:
    """Return two values as short texts, numbers with as many digits as distinguish them.

    Examples
    --------
    >>> from kernova.text import format_pair
    >>> format_pair(1000.12, 1000.13), format_pair(5.0, 5.0)
    (('1000.12', '1000.13'), ('5', '5'))
    """
    if _is_number(first) and _is_number(second) and first != second:
        pair = float(first), float(second)
        for digits in range(_FEW_DIGITS, _ALL_DIGITS + 1):
            texts = _format_number(pair[0], digits), _format_number(pair[1], digits)
            if texts[0] != texts[1] or digits == _ALL_DIGITS:
                return texts
    return format_value(first, beside=second), format_value(second, beside=first)


def is_missing(value: Any) -> bool:
    """Return whether a cell of a table has no value: None, NaN, NaT or pandas' NA.

    Examples
    --------
    >>> from kernova.text import is_missing
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing([None])
    (True, True, False, False)
    """
    import pandas as pd

    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def _is_number(value: Any) -> bool:
    if isinstance(value, float):  # NumPy's and Python's own, without asking pandas
        return value == value
    return isinstance(value, Real) and not isinstance(value, bool) and not is_missing(value)


def _format_number(number: float, digits: int) -> str:
    if abs(number) < _LARGEST_WHOLE:  # 1234567.8 is written 1234568, not 1.235e+06
        digits = max(digits, len(str(round(abs(number)))))
    return f"{number + 0.0:.{digits}g}"  # no minus zero
