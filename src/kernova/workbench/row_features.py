"""Unusual values of a row: percentiles and rarity against all rows of the table.

:meth:`Population.unusual_values` summarises them for a terminal;
:mod:`kernova.workbench.feature_drawings` adds what a page needs to draw them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from kernova.text import format_pair, format_value
from kernova.typing import Indices, Vector

# Width, in characters, of the strip that shows a value's percentile.
_STRIP = 15
# The range of a column may overflow.
_LARGEST = float(np.finfo(np.float64).max)
# Up to so many columns are bisected one by one.
_FEW_COLUMNS: Final = 100


class FeatureSummary(NamedTuple):
    """One value of a row, and its position among those of all rows.

    The fraction of rows with values as unusual is ``2 ** -surprise``; ``distance`` counts from the
    median in interquartile ranges.
    """

    name: str
    value: str
    usual: str
    place: str  # the percentile, or the percentage of rows with the same category
    strip: str
    surprise: float
    distance: float


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Column of numbers: its values in ascending order, median and interquartile range."""

    name: str
    numbers: Vector
    usual: float
    spread: float

    def summary(self, value: Any) -> FeatureSummary:
        """Summarise one value against all of them."""
        if pd.isna(value):
            usual = format_value(self.usual)
            return FeatureSummary(self.name, format_value(None), usual, "missing", "", 0.0, 0.0)
        n_below = int(self.numbers.searchsorted(value, "left"))
        n_up_to = int(self.numbers.searchsorted(value, "right"))
        n_rows = len(self.numbers)
        percentile = 50 * (n_below + n_up_to) / n_rows
        fraction = min(1.0, 2 * min(n_up_to, n_rows - n_below) / n_rows)
        return FeatureSummary(
            self.name,
            *format_pair(value, self.usual),
            format_percent(percentile),
            _strip(percentile),
            0.0 - log2(fraction),
            min(abs(float(value) - self.usual), _LARGEST) / self.spread,
        )


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """Column of categories: number of rows of each, the most frequent first."""

    name: str
    counts: "pd.Series[int]"
    n_rows: int

    def summary(self, value: Any) -> FeatureSummary:
        """Summarise one value against all of them."""
        usual = format_value(self.counts.index[0]) if len(self.counts) else format_value(None)
        if pd.isna(value):
            return FeatureSummary(self.name, format_value(None), usual, "missing", "", 0.0, 0.0)
        fraction = int(self.counts[value]) / self.n_rows
        as_rare = int(self.counts[self.counts <= self.counts[value]].sum()) / self.n_rows
        n_cells = round(fraction * _STRIP)
        strip = "━" * n_cells + "─" * (_STRIP - n_cells)
        place = f"{format_percent(100 * fraction)} % have it"
        return FeatureSummary(
            self.name, format_value(value), usual, place, strip, 0.0 - log2(as_rare), 0.0
        )


Column = NumberColumn | CategoryColumn


class UnusualValue(NamedTuple):
    """An unusual value, and the position of its column in the table."""

    column: int
    value: Any


class Population:
    """Distribution of every column of a table, to compare rows with.

    Parameters
    ----------
    features : DataFrame
        Numbers and texts.

    Attributes
    ----------
    columns : list of NumberColumn and CategoryColumn
        In the table's order.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workbench.row_features import Population
    >>> fish = pd.DataFrame({"length": [1.0, 2, 3, 4, 50], "sex": ["f", "f", "m", "m", "f"]})
    >>> for feature in Population(fish).unusual_values(4):
    ...     print(feature.name, feature.value, feature.usual, feature.place, feature.strip)
    length 50 3 90 ───────┼─────●─
    sex f f 60 % have it ━━━━━━━━━──────
    """

    def __init__(self, features: pd.DataFrame) -> None:
        # One by one: to look up a cell of a DataFrame takes ten times as long.
        self._cells = [features.iloc[:, position].array for position in range(features.shape[1])]
        is_number = np.array(
            [pd.api.types.is_numeric_dtype(kind) for kind in features.dtypes], dtype=np.bool_
        )
        self._numbers = _Numbers.of(features, np.flatnonzero(is_number))
        self._categories = _Categories.of(features, np.flatnonzero(~is_number))
        names = [str(name) for name in features.columns]
        by_position = self._numbers.columns(names) | self._categories.columns(names)
        self.columns = [by_position[position] for position in range(len(names))]

    def unusual_values(self, row: int, most: int = 6) -> list[FeatureSummary]:
        """Return the row's most unusual values, the most unusual first."""
        return [self.columns[one.column].summary(one.value) for one in self.most_unusual(row, most)]

    def value(self, row: int, column: int) -> Any:
        """Return the value of a row in a column, by its position."""
        return self._cells[column][row]

    def differences(self, rows: Sequence[int]) -> Vector:
        """Return how different rows are in each column, from 0 to 1.

        Of numbers it is the range of their percentiles over 100; of categories it is 0 if all rows
        have the same one, and 1 if all have others. A missing value differs from every other.

        Examples
        --------
        >>> import pandas as pd
        >>> from kernova.workbench.row_features import Population
        >>> fish = pd.DataFrame({"length": [1.0, 2, 3, 4], "sex": ["f", "f", "m", "m"]})
        >>> Population(fish).differences([0, 3]), Population(fish).differences([0, 1])
        (array([0.75, 1.  ]), array([0.25, 0.  ]))
        """
        found = np.zeros(len(self.columns))
        percentiles = np.array([self._numbers.percentiles(row) for row in rows])
        is_missing = np.isnan(percentiles)
        spread = np.where(is_missing, -1, percentiles).max(0) - np.where(
            is_missing, 2, percentiles
        ).min(0)
        is_mixed = is_missing.any(axis=0) & ~is_missing.all(axis=0)
        found[self._numbers.positions] = np.where(is_mixed, 1.0, np.maximum(spread, 0.0))
        codes = np.array([self._categories.codes_of(row) for row in rows])
        n_distinct = np.array([len(set(column)) for column in codes.T.tolist()], dtype=np.float64)
        found[self._categories.positions] = (n_distinct - 1) / max(1, len(rows) - 1)
        return found

    def most_unusual(self, row: int, most: int) -> list[UnusualValue]:
        """Return the row's most unusual values and their columns; ties in the table's order."""
        n_columns = len(self.columns)
        fraction, distance = np.ones(n_columns), np.zeros(n_columns)
        numbers, categories = self._numbers, self._categories
        fraction[numbers.positions], distance[numbers.positions] = numbers.extremeness(row)
        fraction[categories.positions] = categories.rarity(row)
        order = np.lexsort((-distance, fraction))[:most]
        return [UnusualValue(column, self._cells[column][row]) for column in order.tolist()]


class _Numbers(NamedTuple):
    """All numeric columns, vectorised: every question looks up thousands of them."""

    positions: Indices
    values: list[Vector]  # in the table's order, one array per column
    ascending: Vector  # of shape (n_columns, n_rows); missing values last
    n_there: Indices
    usual: Vector
    spread: Vector

    @classmethod
    def of(cls, features: pd.DataFrame, positions: Indices) -> "_Numbers":
        values = [
            features.iloc[:, position].to_numpy(dtype=np.float64, na_value=np.nan)
            for position in positions
        ]
        ascending = np.empty((len(positions), len(features)))
        for number, column in enumerate(values):
            ascending[number] = np.sort(column)
        n_there = len(features) - np.isnan(ascending).sum(axis=1)
        middles = [
            _middle_and_spread(column[:n])
            for column, n in zip(ascending, n_there.tolist(), strict=True)
        ]
        usual, spread = np.array(middles, dtype=np.float64).reshape(-1, 2).T
        return cls(positions, values, ascending, n_there, usual, spread)

    def columns(self, names: list[str]) -> dict[int, Column]:
        return {
            position: NumberColumn(names[position], numbers[:n_there], usual, spread)
            for position, numbers, n_there, usual, spread in zip(
                self.positions.tolist(),
                self.ascending,
                self.n_there.tolist(),
                self.usual.tolist(),
                self.spread.tolist(),
                strict=True,
            )
        }

    def extremeness(self, row: int) -> tuple[Vector, Vector]:
        """Return the fraction of rows as extreme, and the distance from the median."""
        values = np.array([column[row] for column in self.values], dtype=np.float64)
        is_there = ~np.isnan(values)
        n_there = np.maximum(self.n_there, 1)
        n_below = self._n_before(values, is_right=False)
        n_up_to = self._n_before(values, is_right=True)
        fraction = np.minimum(1.0, 2 * np.minimum(n_up_to, n_there - n_below) / n_there)
        with np.errstate(over="ignore"):
            distance = np.minimum(np.abs(values - self.usual), _LARGEST) / self.spread
        return np.where(is_there, fraction, 1.0), np.where(is_there, distance, 0.0)

    def percentiles(self, row: int) -> Vector:
        """Return the fraction of values below those of a row, equal ones counted half."""
        values = np.array([column[row] for column in self.values], dtype=np.float64)
        n_before = self._n_before(values, is_right=False) + self._n_before(values, is_right=True)
        fractions = n_before / np.maximum(self.n_there, 1) / 2
        return np.where(np.isnan(values), np.nan, fractions)

    def _n_before(self, values: Vector, *, is_right: bool) -> Indices:
        """Bisect all columns: one by one if they are few, else at once."""
        if len(values) <= _FEW_COLUMNS:
            side: Literal["left", "right"] = "right" if is_right else "left"
            pairs = zip(self.ascending, self.n_there.tolist(), values.tolist(), strict=True)
            found = [numbers[:n].searchsorted(value, side) for numbers, n, value in pairs]
            return np.array(found, dtype=self.n_there.dtype)
        low, high = np.zeros_like(self.n_there), self.n_there.copy()
        lines = np.arange(len(values))
        for _ in range(self.ascending.shape[1].bit_length()):
            middle = (low + high) // 2
            found = self.ascending[lines, np.minimum(middle, self.ascending.shape[1] - 1)]
            is_before = (found <= values if is_right else found < values) & (low < high)
            high = np.where(is_before, high, middle)
            low = np.where(is_before, middle + 1, low)
        return low


class _Categories(NamedTuple):
    """All columns of categories: code and rarity of each row's value."""

    positions: Indices
    counts: list["pd.Series[int]"]
    codes: list[Indices]  # -1 is missing
    rare: list[Vector]  # fraction of rows with categories as rare; last 1, for missing values

    @classmethod
    def of(cls, features: pd.DataFrame, positions: Indices) -> "_Categories":
        counts, codes, rare = [], [], []
        for position in positions:
            column = features.iloc[:, position]
            counts.append(column.value_counts())
            of_rows, distinct = pd.factorize(column)
            sizes = np.bincount(of_rows[of_rows >= 0], minlength=len(distinct))
            ascending = np.sort(sizes)
            up_to = np.concatenate([[0], np.cumsum(ascending)])
            as_rare = up_to[np.searchsorted(ascending, sizes, "right")] / max(1, sizes.sum())
            codes.append(of_rows)
            rare.append(np.append(as_rare, 1.0))
        return cls(positions, counts, codes, rare)

    def columns(self, names: list[str]) -> dict[int, Column]:
        return {
            position: CategoryColumn(names[position], counts, max(1, int(counts.sum())))
            for position, counts in zip(self.positions.tolist(), self.counts, strict=True)
        }

    def codes_of(self, row: int) -> Indices:
        """Return the code of a row's category in each column; -1 is missing."""
        return np.array([codes[row] for codes in self.codes], dtype=np.intp)

    def rarity(self, row: int) -> Vector:
        pairs = zip(self.codes, self.rare, strict=True)
        return np.array([rare[codes[row]] for codes, rare in pairs], dtype=np.float64)


def _middle_and_spread(numbers: Vector) -> tuple[float, float]:
    """Return the median and the interquartile range; where that is 0, the range, or 1."""
    if len(numbers) == 0:
        return 0.0, 1.0
    first, median, third = np.quantile(numbers, [0.25, 0.5, 0.75], method="nearest").tolist()
    spread = third - first or float(numbers[-1]) - float(numbers[0]) or 1.0
    return median, min(spread, _LARGEST)


def format_percent(percent: float) -> str:
    """Return a short percentage, never rounded to 0 or 100, since extremes matter here.

    Examples
    --------
    >>> from kernova.workbench.row_features import format_percent
    >>> format_percent(99.999), format_percent(12.34)
    ('over 99.99', '12')
    """
    if percent in (0, 100) or 1 <= percent <= 99:
        return f"{percent:.0f}"
    if 0.01 <= percent <= 99.99:
        return f"{percent:.3g}" if percent < 1 else f"{percent:.4g}"
    return "under 0.01" if percent < 1 else "over 99.99"


def _strip(percentile: float) -> str:
    cells = ["─"] * _STRIP
    cells[_STRIP // 2] = "┼"
    cells[round(percentile / 100 * (_STRIP - 1))] = "●"
    return "".join(cells)
