"""A row as an expert meets it: what stands out in it, against all rows of the table."""

from dataclasses import dataclass
from math import log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.represent.value_words import value_words

Vector = NDArray[np.float64]
Places = NDArray[np.intp]

# Cells of the strip that shows where a value lies, from the lowest row to the highest.
_STRIP = 15
# A range may be beyond all numbers.
_LARGEST = float(np.finfo(np.float64).max)


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


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers: what is there, in ascending order, and what is usual."""

    name: str
    numbers: Vector
    usual: float
    spread: float

    def look(self, value: Any) -> Feature:
        """Compare one value with all of them."""
        if pd.isna(value):
            usual = value_words(self.usual)
            return Feature(self.name, value_words(None), usual, "missing", "", 0.0, 0.0)
        n_below = int(np.searchsorted(self.numbers, value, "left"))
        n_up_to = int(np.searchsorted(self.numbers, value, "right"))
        n_rows = len(self.numbers)
        percentile = 50 * (n_below + n_up_to) / n_rows
        share = min(1.0, 2 * min(n_up_to, n_rows - n_below) / n_rows)
        return Feature(
            self.name,
            value_words(value, beside=self.usual),
            value_words(self.usual, beside=value),
            percent_words(percentile),
            _strip_at(percentile),
            0.0 - log2(share),
            min(abs(float(value) - self.usual), _LARGEST) / self.spread,
        )


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of categories: how many rows have each, the most frequent first."""

    name: str
    counts: "pd.Series[int]"
    n_rows: int

    def look(self, value: Any) -> Feature:
        """Compare one value with all of them."""
        usual = value_words(self.counts.index[0]) if len(self.counts) else value_words(None)
        if pd.isna(value):
            return Feature(self.name, value_words(None), usual, "missing", "", 0.0, 0.0)
        share = int(self.counts[value]) / self.n_rows
        as_rare = int(self.counts[self.counts <= self.counts[value]].sum()) / self.n_rows
        n_cells = round(share * _STRIP)
        strip = "━" * n_cells + "─" * (_STRIP - n_cells)
        place = f"{percent_words(100 * share)} % have it"
        return Feature(self.name, value_words(value), usual, place, strip, 0.0 - log2(as_rare), 0.0)


Column = NumberColumn | CategoryColumn


class OddValue(NamedTuple):
    """A value that stands out: the place of its column in the table, and the value."""

    place: int
    value: Any


class Population:
    """All rows of a table, column by column, ready to be compared with.

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
    >>> from kernova.studies.discovery_card import Population
    >>> fish = pd.DataFrame({"length": [1.0, 2, 3, 4, 50], "sex": ["f", "f", "m", "m", "f"]})
    >>> for feature in Population(fish).standing_out(4):
    ...     print(feature.name, feature.value, feature.usual, feature.place, feature.strip)
    length 50 3 90 ───────┼─────●─
    sex f f 60 % have it ━━━━━━━━━──────
    """

    def __init__(self, features: pd.DataFrame) -> None:
        self._features = features
        is_number = np.array(
            [pd.api.types.is_numeric_dtype(kind) for kind in features.dtypes], dtype=np.bool_
        )
        self._numbers = _Numbers.of(features, np.flatnonzero(is_number))
        self._categories = _Categories.of(features, np.flatnonzero(~is_number))
        names = [str(name) for name in features.columns]
        by_place = self._numbers.columns(names) | self._categories.columns(names)
        self.columns = [by_place[place] for place in range(len(names))]

    def standing_out(self, row: int, most: int = 6) -> list[Feature]:
        """Give the row's oddest values, the oddest first."""
        return [self.columns[odd.place].look(odd.value) for odd in self.oddest(row, most)]

    def oddest(self, row: int, most: int) -> list[OddValue]:
        """Give the row's oddest values and where they stand; of equally odd ones the first."""
        n_columns = len(self.columns)
        share, distance = np.ones(n_columns), np.zeros(n_columns)
        numbers, categories = self._numbers, self._categories
        share[numbers.places], distance[numbers.places] = numbers.oddness(row)
        share[categories.places] = categories.rarity(row)
        order = np.lexsort((-distance, share))[:most]
        return [OddValue(place, self._features.iloc[row, place]) for place in order.tolist()]


class _Numbers(NamedTuple):
    """All columns of numbers at once: thousands of them are looked through for every question."""

    places: Places
    values: list[Vector]  # as in the table, one array a column
    ascending: Vector  # of shape (n_columns, n_rows); what is missing stands last
    n_there: Places
    usual: Vector
    spread: Vector

    @classmethod
    def of(cls, features: pd.DataFrame, places: Places) -> "_Numbers":
        values = [
            features.iloc[:, place].to_numpy(dtype=np.float64, na_value=np.nan) for place in places
        ]
        ascending = np.empty((len(places), len(features)))
        for turn, column in enumerate(values):
            ascending[turn] = np.sort(column)
        n_there = len(features) - np.isnan(ascending).sum(axis=1)
        middles = [
            _middle_and_spread(column[:n])
            for column, n in zip(ascending, n_there.tolist(), strict=True)
        ]
        usual, spread = np.array(middles, dtype=np.float64).reshape(-1, 2).T
        return cls(places, values, ascending, n_there, usual, spread)

    def columns(self, names: list[str]) -> dict[int, Column]:
        return {
            place: NumberColumn(names[place], numbers[:n_there], usual, spread)
            for place, numbers, n_there, usual, spread in zip(
                self.places.tolist(),
                self.ascending,
                self.n_there.tolist(),
                self.usual.tolist(),
                self.spread.tolist(),
                strict=True,
            )
        }

    def oddness(self, row: int) -> tuple[Vector, Vector]:
        """Give the share of rows with values as odd, and how far out each value is."""
        values = np.array([column[row] for column in self.values], dtype=np.float64)
        is_there = ~np.isnan(values)
        n_there = np.maximum(self.n_there, 1)
        n_below = self._n_before(values, is_right=False)
        n_up_to = self._n_before(values, is_right=True)
        share = np.minimum(1.0, 2 * np.minimum(n_up_to, n_there - n_below) / n_there)
        with np.errstate(over="ignore"):
            distance = np.minimum(np.abs(values - self.usual), _LARGEST) / self.spread
        return np.where(is_there, share, 1.0), np.where(is_there, distance, 0.0)

    def _n_before(self, values: Vector, *, is_right: bool) -> Places:
        """Search all columns at once, each by halves, as searchsorted does with one."""
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
    """All columns of categories: which one each row has, and how rare that is."""

    places: Places
    counts: list["pd.Series[int]"]
    codes: list[Places]  # -1 is a missing one
    rare: list[Vector]  # share of rows with categories as rare; last, for what is missing, 1

    @classmethod
    def of(cls, features: pd.DataFrame, places: Places) -> "_Categories":
        counts, codes, rare = [], [], []
        for place in places:
            column = features.iloc[:, place]
            counts.append(column.value_counts())
            of_rows, distinct = pd.factorize(column)
            sizes = np.bincount(of_rows[of_rows >= 0], minlength=len(distinct))
            ascending = np.sort(sizes)
            up_to = np.concatenate([[0], np.cumsum(ascending)])
            as_rare = up_to[np.searchsorted(ascending, sizes, "right")] / max(1, sizes.sum())
            codes.append(of_rows)
            rare.append(np.append(as_rare, 1.0))
        return cls(places, counts, codes, rare)

    def columns(self, names: list[str]) -> dict[int, Column]:
        return {
            place: CategoryColumn(names[place], counts, max(1, int(counts.sum())))
            for place, counts in zip(self.places.tolist(), self.counts, strict=True)
        }

    def rarity(self, row: int) -> Vector:
        pairs = zip(self.codes, self.rare, strict=True)
        return np.array([rare[codes[row]] for codes, rare in pairs], dtype=np.float64)


def _middle_and_spread(numbers: Vector) -> tuple[float, float]:
    """Give the median and the interquartile range; where that is 0, the whole range, or 1."""
    if len(numbers) == 0:
        return 0.0, 1.0
    first, median, third = np.quantile(numbers, [0.25, 0.5, 0.75], method="nearest").tolist()
    spread = third - first or float(numbers[-1]) - float(numbers[0]) or 1.0
    return median, min(spread, _LARGEST)


def percent_words(percent: float) -> str:
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
