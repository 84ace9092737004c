"""A coordinate as it is written: with a decimal point or comma, or missing."""

import math
import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = frozenset({"na", "nan", "n/a", "null"})


def coordinate(text: str) -> float | None:
    """Give the number that a text stands for, NaN for a missing one, None if it is neither.

    Examples
    --------
    >>> coordinate("4074,5"), coordinate("-1e3"), coordinate("NA"), coordinate("1,234.5")
    (4074.5, -1000.0, nan, None)
    """
    if text.lower() in _MISSING:
        return math.nan
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text.replace(",", "."))
    return number if math.isfinite(number) else None
