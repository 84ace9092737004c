"""Numbers as people write them: with units, thousands separators, decimal commas, currencies.

A text is a quantity if it is one number, with at most one unit: "70.1 kg", "12.3%", "$1,200",
"1 234,5", "(300)" and "$(300)" for -300, "$1.5M". Whether a comma separates thousands or decimals
is decided for a whole column: by decimal points if all of its texts can be read so, and by decimal
commas only if they cannot. Units of one column are converted only where they differ by a power of
ten, or are units of time.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from kernova.typing import Mask, Vector

Decimal = Literal["point", "comma"]

# Words for "no value" that stand in columns of numbers or dates, in lower case.
MISSING_WORDS: Final = frozenset(
    [
        *("", "-", "--", "---", "–", "—", ".", "..", "...", "?", "??", "<na>", "nat"),
        *("na", "n/a", "n.a.", "n.a", "n.d.", "n.d", "nd", "nan", "none", "null", "nil"),
        *("missing", "unknown", "not available", "not measured", "k.a.", "empty", "tbd"),
        *("#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!"),
        *("0000-00-00", "0000-00-00 00:00:00"),
    ]
)
# Those that name no category either; "unknown" and "none" may be one.
MISSING_CATEGORIES: Final = frozenset(
    [
        *("", "--", "---", "–", "—", "?", "??", "<na>", "n/a", "n.a.", "nan", "null"),
        *("#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!"),
    ]
)

_CURRENCIES: Final = "€$£¥₹₽₩"
_CODES: Final = (
    "EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|ZAR|MXN|KRW|SGD|HKD"
)
_BLANK: Final = r"[\s\x{00a0}\x{2009}\x{202f}]"
_GROUP_MARKS: Final = r" '’\x{00a0}\x{2009}\x{202f}"
_UNIT_START: Final = rf"[%‰°µμΩ{_CURRENCIES}\pL]"
_QUANTITY: Final = (
    rf"^{_BLANK}*(?P<first>[{_CURRENCIES}]?)(?P<opened>\(?)(?P<sign1>[-+−–]?){_BLANK}*"
    rf"(?P<before>(?:[{_CURRENCIES}]|(?:{_CODES}){_BLANK}?)?){_BLANK}*"
    r"(?P<sign2>[-+−–]?)"
    rf"(?P<digits>[0-9](?:[0-9.,{_GROUP_MARKS}]*[0-9])?[.,]?|[.,][0-9]+)"
    rf"(?P<power>(?:[eE][-+]?[0-9]+)?){_BLANK}*"
    rf"(?P<after>(?:{_UNIT_START}[\pL\d%‰°µμΩ/·*^²³⁻¹]{{0,11}})?)\.?(?P<closed>\)?){_BLANK}*$"
)
_POINT: Final = (
    rf"^(?:[0-9]+|[1-9][0-9]{{0,2}}(?:,[0-9]{{2,3}})*,[0-9]{{3}}"
    rf"|[1-9][0-9]{{0,2}}(?:[{_GROUP_MARKS}][0-9]{{3}})+)?(?:\.[0-9]*)?$"
)
_COMMA: Final = (
    rf"^(?:[0-9]+|[1-9][0-9]{{0,2}}(?:\.[0-9]{{3}})+"
    rf"|[1-9][0-9]{{0,2}}(?:[{_GROUP_MARKS}][0-9]{{3}})+)?(?:,[0-9]*)?$"
)
_LONGEST: Final = 60  # characters of a quantity
# Letters for thousands, millions and billions.
_MULTIPLES: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "B": 1e9, "bn": 1e9}
_MULTIPLE: Final = re.compile(
    rf"(?P<currency>[{_CURRENCIES}]?|(?:{_CODES})?)(?P<letter>{'|'.join(_MULTIPLES)})?"
)

_PREFIXES: Final = {
    **{"p": 1e-12, "n": 1e-9, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1},
    **{"": 1.0, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12},
}
_BASES: Final = (
    *("g", "m", "s", "l", "L", "W", "Wh", "V", "A", "Hz", "Pa", "J", "N", "B", "Ω", "mol"),
)
_OTHER_UNITS: Final = {
    **{"sec": ("s", 1.0), "min": ("s", 60.0), "h": ("s", 3600.0), "hr": ("s", 3600.0)},
    **{"t": ("g", 1e6), "kgs": ("g", 1e3), "Kg": ("g", 1e3), "KG": ("g", 1e3), "gr": ("g", 1.0)},
}
# Further units, in lower case, which are recognised and not converted.
_NAMED_UNITS: Final = frozenset(
    [
        *("%", "‰", "°", "°c", "°f", "k", "lb", "lbs", "oz", "in", "inch", "ft", "yd", "mi"),
        *("mile", "miles", "mph", "kmh", "d", "day", "days", "week", "weeks", "month", "months"),
        *("y", "yr", "yrs", "year", "years", "mins", "hrs", "hours", "bar", "psi", "mmhg", "ppm"),
        *("ppb", "db", "rpm", "px", "kcal", "cal", "ha", "bpm", "pcs", "m2", "m3", "m²", "m³"),
        *("cm2", "cm3", "cm²", "cm³", "mm2", "mm²", "mm3", "mm³", "km2", "km²"),
    ]
)


class Quantities(NamedTuple):
    """What texts stand for: a number for each decimal mark (NaN if there is none) and a unit."""

    by_point: Vector
    by_comma: Vector
    units: NDArray[np.object_]

    def numbers(self, decimal: Decimal) -> Vector:
        """Return the numbers read with this decimal mark."""
        return self.by_point if decimal == "point" else self.by_comma

    @property
    def is_quantity(self) -> Mask:
        """Mask of the texts that are numbers with either mark."""
        return np.isfinite(self.by_point) | np.isfinite(self.by_comma)


def quantities(texts: pa.Array) -> Quantities:
    """Read texts as numbers with units.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kernova.tables.quantities import quantities
    >>> found = quantities(pa.array(["70.1 kg", "1,234", "€ 12,50", "(300)", "carp"]))
    >>> found.by_point.tolist(), found.by_comma.tolist()
    ([70.1, 1234.0, nan, -300.0, nan], [nan, 1.234, 12.5, -300.0, nan])
    >>> found.units.tolist()
    ['kg', '', '€', '', '']
    """
    is_short = compute.less_equal(compute.utf8_length(texts), _LONGEST)
    fields = compute.extract_regex(compute.if_else(is_short, texts, None), _QUANTITY)
    # Fields of a text that does not match are missing.
    opened, sign, second, digits, power, first, before, after, closed = (
        compute.struct_field(fields, name)
        for name in
        ("opened", "sign1", "sign2", "digits", "power", "first", "before", "after", "closed")
    )  # fmt: skip
    signs = compute.binary_join_element_wise(sign, second, "")
    before = compute.binary_join_element_wise(first, before, "")
    is_multiple = compute.is_in(after, value_set=pa.array([*_MULTIPLES, ""]))
    is_whole = compute.and_(
        compute.equal(opened, compute.replace_substring(closed, ")", "(")),
        compute.and_(
            compute.less_equal(compute.utf8_length(signs), 1),
            compute.or_(compute.equal(before, ""), is_multiple),
        ),
    )
    is_negative = compute.or_(
        compute.match_substring_regex(signs, "[-−–]"), compute.equal(opened, "(")
    )
    units = compute.utf8_trim_whitespace(compute.binary_join_element_wise(before, after, ""))
    factor = np.where(_mask(is_negative), -1.0, 1.0)
    point, comma = (
        factor * _parsed(digits, power, is_whole, pattern, decimal)
        for pattern, decimal in ((_POINT, "."), (_COMMA, ","))
    )
    # "USD M" and "USD" are written with and without a blank.
    units = compute.replace_substring(units, " ", "")
    named = np.array(units.fill_null("").to_pylist(), dtype=object)
    return Quantities(point, comma, named)


def _mask(values: pa.Array) -> Mask:
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _parsed(
    digits: pa.Array, power: pa.Array, is_whole: pa.Array, pattern: str, decimal: str
) -> Vector:
    fits = compute.and_(is_whole, compute.match_substring_regex(digits, pattern))
    kept = compute.if_else(fits, digits, None)
    marks = rf"[{_GROUP_MARKS}{',' if decimal == '.' else '.'}]"
    plain = compute.replace_substring_regex(kept, marks, "")
    plain = compute.replace_substring(plain, ",", ".")
    plain = compute.binary_join_element_wise(plain, power, "")
    numbers = pd.to_numeric(plain.to_pandas(), errors="coerce")
    found = np.asarray(numbers, dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def missing_words(texts: pa.Array, words: frozenset[str] = MISSING_WORDS) -> Mask:
    """Return which texts stand for "no value", by default in a column of numbers."""
    lower = compute.utf8_lower(compute.utf8_trim_whitespace(texts))
    return _mask(compute.is_in(lower, value_set=pa.array(sorted(words))))


# --- units ---------------------------------------------------------------------------------------


class Conversion(NamedTuple):
    """The unit that a column is converted to, and the factor of each unit."""

    unit: str
    factors: dict[str, float]


def conversion(counts: Mapping[str, int], unit: str | None = None) -> Conversion | None:
    """Return how to bring the units of a column to one; None where that is not safe.

    Parameters
    ----------
    counts : mapping of str to int
        The units, each with its number of rows; "" for numbers without one, which are taken to
        have the same unit as the others.
    unit : str, optional
        The unit to convert to; the most frequent one by default.

    Examples
    --------
    >>> from kernova.tables.quantities import conversion
    >>> conversion({"kg": 5, "g": 2, "": 1})
    Conversion(unit='kg', factors={'kg': 1.0, 'g': 0.001, '': 1.0})
    >>> conversion({"kg": 5, "lb": 2}) is None
    True
    >>> conversion({"$k": 5, "$": 2})
    Conversion(unit='$', factors={'$k': 1000.0, '$': 1.0, '': 1.0})
    """
    named = [name for name in counts if name]
    multiples = _multiples(counts, unit)
    if multiples is not None:
        return multiples
    if unit is None:
        unit = max(named, key=lambda name: counts[name], default="")
    factors = {name: _factor(name, unit) for name in (*named, "")}
    if any(factor is None for factor in factors.values()):
        return None
    return Conversion(unit, {name: factor for name, factor in factors.items() if factor})


def _multiples(counts: Mapping[str, int], unit: str | None) -> Conversion | None:
    """Return the factors of "k", "$M" and the like, where they cannot be units themselves.

    Kelvin and bytes are alone in their column; thousands stand beside millions, or beside numbers
    without a letter, or behind a currency.
    """
    named = [name for name in counts if name]
    found = {name: _MULTIPLE.fullmatch(name) for name in named}
    parts = {name: match.groups("") for name, match in found.items() if match is not None}
    currencies = {currency for currency, _ in parts.values()}
    letters = {letter for _, letter in parts.values()} - {""}
    if len(parts) < len(named) or len(currencies) != 1 or not letters:
        return None
    currency = currencies.pop()
    is_sure = bool(currency) or "" in counts or len({_MULTIPLES[one] for one in letters}) > 1
    if (unit is None and not is_sure) or unit not in (None, currency):
        return None
    factors = {name: _MULTIPLES.get(letter, 1.0) for name, (_, letter) in parts.items()}
    return Conversion(currency, {**factors, "": 1.0})


def are_units(units: Collection[str]) -> bool:
    """Return whether these are known units; single letters alone may be parts of codes (12A, 3B).

    Examples
    --------
    >>> from kernova.tables.quantities import are_units
    >>> are_units(["kg", "lb"]), are_units(["A", "B"]), are_units(["Q1", "Q2"])
    (True, False, False)
    """
    is_sure = len(units) == 1 or any(len(unit) > 1 or not unit.isalpha() for unit in units)
    return bool(units) and is_sure and all(_is_unit(unit) for unit in units)


def _is_unit(unit: str) -> bool:
    first = re.split("[/·*]", unit)[0]
    match = _MULTIPLE.fullmatch(first)
    is_money = match is not None and bool(match["currency"])
    return is_money or first.lower() in _NAMED_UNITS or _si_unit(first) is not None


def _factor(unit: str, wanted: str) -> float | None:
    if not unit or unit == wanted:
        return 1.0
    own, other = _si_unit(unit), _si_unit(wanted)
    if own is not None and other is not None:
        return own[1] / other[1] if own[0] == other[0] else None
    # "Inch" and "inch" are one unit, "mW" and "MW" are not.
    return 1.0 if unit.lower() == wanted.lower() and own is None and other is None else None


def _si_unit(unit: str) -> tuple[str, float] | None:
    """Return the unit without its prefix, and what the prefix stands for."""
    if unit in _OTHER_UNITS:
        return _OTHER_UNITS[unit]
    for base in _BASES:
        prefix = unit.removesuffix(base)
        if prefix != unit and prefix in _PREFIXES:
            return base.replace("L", "l"), _PREFIXES[prefix]
    return None
