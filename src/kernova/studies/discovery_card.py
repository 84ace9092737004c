"""A row as an expert meets it: what stands out in it, against all rows of the table."""

from collections.abc import Callable
from math import log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.represent.value_words import value_words

# Cells of the strip that shows where a value lies, from the lowest row to the highest.
_STRIP = 15


class Feature(NamedTuple):
    """One value of a row, and where it lies among those of all rows."""

    name: str
    value: str
    usual: str
    place: str  # the percentile, or how many rows have the same category
    strip: str
    # How rare so odd a value is: its share of rows is 2 ** -surprise; then how far out it is.
    surprise: float
    distance: float


class Population:
    """All rows of a table, column by column, ready to be compared with.

    Parameters
    ----------
    features : DataFrame
        Numbers and texts.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.studies.discovery_card import Population
    >>> fish = pd.DataFrame({"length": [1.0, 2, 3, 4, 50], "sex": ["f", "f", "m", "m", "f"]})
    >>> for feature in Population(fish).standing_out(4):
    ...     print(feature.name, feature.value, feature.usual, feature.place, feature.strip)
    length 50 3 90 ───────┼─────●─
    sex f f 60 % have it ━━━━━━━━━──────
    """

    def __init__(self, features: pd.DataFrame) -> None:
        self._features = features
        self._looks: list[Callable[[Any], Feature]] = [
            _number_look(str(name), column)
            if pd.api.types.is_numeric_dtype(column)
            else _category_look(str(name), column)
            for name, column in features.items()
        ]

    def standing_out(self, row: int, most: int = 6) -> list[Feature]:
        """Give the row's oddest values, the oddest first."""
        values = self._features.iloc[row].tolist()
        seen = [look(value) for look, value in zip(self._looks, values, strict=True)]
        seen.sort(key=lambda feature: (-feature.surprise, -feature.distance))
        return seen[:most]


def _number_look(name: str, column: "pd.Series[Any]") -> Callable[[Any], Feature]:
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = np.sort(numbers[~np.isnan(numbers)])
    usual, spread = _middle_and_spread(numbers)

    def look(value: Any) -> Feature:
        if pd.isna(value):
            return Feature(name, value_words(None), value_words(usual), "missing", "", 0.0, 0.0)
        n_below = int(np.searchsorted(numbers, value, "left"))
        n_up_to = int(np.searchsorted(numbers, value, "right"))
        percentile = 50 * (n_below + n_up_to) / len(numbers)
        share = min(1.0, 2 * min(n_up_to, len(numbers) - n_below) / len(numbers))
        return Feature(
            name,
            value_words(value, beside=usual),
            value_words(usual, beside=value),
            _percent(percentile),
            _strip_at(percentile),
            -log2(share),
            abs(float(value) - usual) / spread,
        )

    return look


def _middle_and_spread(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Give the median and the interquartile range; where that is 0, the whole range, or 1."""
    if len(numbers) == 0:
        return 0.0, 1.0
    with np.errstate(over="ignore"):  # a range beyond all numbers is infinite, and that will do
        first, median, third = np.quantile(numbers, [0.25, 0.5, 0.75], method="nearest").tolist()
        return median, third - first or float(numbers[-1] - numbers[0]) or 1.0


def _category_look(name: str, column: "pd.Series[Any]") -> Callable[[Any], Feature]:
    counts = column.value_counts()
    n_rows = max(1, int(counts.sum()))
    usual = value_words(counts.index[0]) if len(counts) else value_words(None)

    def look(value: Any) -> Feature:
        if pd.isna(value):
            return Feature(name, value_words(None), usual, "missing", "", 0.0, 0.0)
        share = int(counts[value]) / n_rows
        as_rare = int(counts[counts <= counts[value]].sum()) / n_rows
        n_cells = round(share * _STRIP)
        strip = "━" * n_cells + "─" * (_STRIP - n_cells)
        place = f"{_percent(100 * share)} % have it"
        return Feature(name, value_words(value), usual, place, strip, -log2(as_rare), 0.0)

    return look


def _percent(percent: float) -> str:
    """Write it short, but never 0 or 100 for what is not quite: extremes are what it is about."""
    if percent in (0, 100) or 1 <= percent <= 99:
        return f"{percent:.0f}"
    if 0.01 <= percent <= 99.99:
        return f"{percent:.3g}" if percent < 1 else f"{percent:.4g}"
    return "under 0.01" if percent < 1 else "over 99.99"


def _strip_at(percentile: float) -> str:
    cells = ["─"] * _STRIP
    cells[_STRIP // 2] = "┼"
    cells[round(percentile / 100 * (_STRIP - 1))] = "●"
    return "".join(cells)
