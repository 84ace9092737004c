"""Unusual values of a row: percentiles, histograms and axes against all rows of the table.

:meth:`Population.unusual_values` summarises them for a terminal; :func:`row_card` adds what a page
needs to draw them.
"""

from dataclasses import asdict, dataclass
from math import log, log2
from typing import Annotated, Any, Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

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

MOST_BINS: Final = 30
_FEWEST_BINS: Final = 5
_CATEGORIES_SHOWN: Final = 6
# Quantiles that an axis must show well, and how many times as wide as them it may be.
_MIDDLE: Final = (0.02, 0.98)
_MIDDLE_ROOM: Final = 4.0
_HALF: Final = (0.25, 0.75)
_HALF_ROOM: Final = 20.0

Axis = Literal["linear", "log", "clipped"]


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
            _format_percent(percentile),
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
        place = f"{_format_percent(100 * fraction)} % have it"
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


def _format_percent(percent: float) -> str:
    """Return a short percentage, never rounded to 0 or 100, since extremes matter here."""
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


# --- features as a page draws them -----------------------------------------------------------

# Descriptions of fields that come in pairs.
_ShownValue = Annotated[str, "The row's value, and the median or most frequent one."]
_AxisEnd = Annotated[float | None, "The ends of the axis, in the column's own units."]
_ShownAxisEnd = Annotated[str, "The same as short texts."]
_AxisPosition = Annotated[
    float | None, "Positions of the value and of the usual one on the axis, from 0 to 1."
]


@dataclass(frozen=True)
class CategoryShare:
    """Fraction of rows with a category, of those that have any."""

    name: str
    share: float


@dataclass(frozen=True)
class Feature:
    """One value of a row, and what is needed to draw it against all rows."""

    name: Annotated[str, "The column."]
    kind: Literal["number", "category"]
    value: _ShownValue
    usual: _ShownValue
    place: Annotated[
        str, 'The value\'s percentile, the percentage of rows with the same category, or "missing".'
    ]
    surprise: Annotated[float, "The fraction of rows with values as unusual is ``2 ** -surprise``."]
    histogram: Annotated[
        list[int],
        "Number of rows in each of at most 30 equal bins of the axis; empty for a category.",
    ]
    lowest: _AxisEnd
    highest: _AxisEnd
    lowest_words: _ShownAxisEnd
    highest_words: _ShownAxisEnd
    position: _AxisPosition
    usual_position: _AxisPosition
    axis: Annotated[
        Axis,
        "Skewed columns have a logarithmic axis, or one clipped to the middle of the rows, whose "
        "first and last bins count the rows beyond.",
    ]
    axis_words: Annotated[str, "A note on the axis; empty for a linear one."]
    shares: Annotated[
        list[CategoryShare],
        "The most frequent categories, and the row's own if it is not among them.",
    ]
    n_categories: Annotated[int, "Number of categories."]
    own_share: Annotated[float | None, "Fraction of rows with the row's category."]

    def to_json_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


class _Ruler(NamedTuple):
    """Axis of a numeric column, and the number of rows in its bins."""

    axis: Axis
    low: float
    high: float
    counts: list[int]
    words: str
    is_whole: bool  # each bin is one whole number
    low_words: str = ""
    high_words: str = ""
    usual_position: float | None = None  # of the median

    def position(self, value: float) -> float:
        """Return the position between the ends, from 0 to 1; values beyond are clipped."""
        if self.is_whole:
            return (value - self.low + 0.5) / len(self.counts)
        low, high = self.low, self.high
        if self.axis == "log":
            low, high, value = log(low), log(high), log(value)
        if high <= low:
            return 0.5
        # Halves, since the difference of two large numbers may overflow.
        return min(1.0, max(0.0, (value / 2 - low / 2) / (high / 2 - low / 2)))


_rulers: "WeakKeyDictionary[NumberColumn, _Ruler]" = WeakKeyDictionary()


def row_card(population: Population, row: int, most: int = 12) -> list[Feature]:
    """Return the most unusual values of a row with their histograms, the most unusual first.

    Parameters
    ----------
    population : Population
        All rows.
    row : int
        Row index, from 0.
    most : int
        Largest number of values.

    Returns
    -------
    list of FeatureDrawing

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workbench.row_features import Population, row_card
    >>> fish = pd.DataFrame({"length": [1, 2, 2, 3, 9], "sex": ["f", "f", "m", "m", "f"]})
    >>> length, sex = row_card(Population(fish), 4)
    >>> length.value, length.histogram, length.lowest, length.highest, round(length.position, 2)
    ('9', [1, 2, 1, 0, 0, 0, 0, 0, 1], 1.0, 9.0, 0.94)
    >>> sex.place, [(one.name, one.share) for one in sex.shares]
    ('60 % have it', [('f', 0.6), ('m', 0.4)])
    """
    features = []
    for position, value in population.most_unusual(row, most):
        column = population.columns[position]
        summary = column.summary(value)
        if isinstance(column, NumberColumn):
            features.append(_number_feature(column, summary, value))
        else:
            features.append(_category_feature(column, summary, value))
    return features


def _ruler_of(column: NumberColumn) -> _Ruler:
    """Return the axis of a column, cached; concurrent threads may compute it twice."""
    found = _rulers.get(column)
    if found is None:
        found = _ruler(column.numbers)
        if found.counts:
            low, high = found.low, found.high
            found = found._replace(
                low_words=format_value(low, beside=high),
                high_words=format_value(high, beside=low),
                usual_position=found.position(column.usual),
            )
        _rulers[column] = found
    return found


def _number_feature(column: NumberColumn, summary: FeatureSummary, value: Any) -> Feature:
    ruler = _ruler_of(column)
    is_there = summary.place != "missing"
    return Feature(
        name=summary.name,
        kind="number",
        value=summary.value,
        usual=summary.usual if len(column.numbers) else format_value(None),
        place=summary.place,
        surprise=summary.surprise,
        histogram=ruler.counts,
        lowest=ruler.low if ruler.counts else None,
        highest=ruler.high if ruler.counts else None,
        lowest_words=ruler.low_words,
        highest_words=ruler.high_words,
        position=ruler.position(float(value)) if is_there else None,
        usual_position=ruler.usual_position,
        axis=ruler.axis,
        axis_words=ruler.words,
        shares=[],
        n_categories=0,
        own_share=None,
    )


def _category_feature(column: CategoryColumn, summary: FeatureSummary, value: Any) -> Feature:
    is_there = summary.place != "missing"
    names = column.counts.index[:_CATEGORIES_SHOWN].tolist()
    own = float(column.counts[value]) / column.n_rows if is_there else None
    if is_there and value not in names:
        names = [*names[: _CATEGORIES_SHOWN - 1], value]
    shares = [
        CategoryShare(format_value(name), float(column.counts[name]) / column.n_rows)
        for name in names
    ]
    return Feature(
        name=summary.name,
        kind="category",
        value=summary.value,
        usual=summary.usual,
        place=summary.place,
        surprise=summary.surprise,
        histogram=[],
        lowest=None,
        highest=None,
        lowest_words="",
        highest_words="",
        position=None,
        usual_position=None,
        axis="linear",
        axis_words="",
        shares=shares,
        n_categories=len(column.counts),
        own_share=own,
    )


# --- axes ------------------------------------------------------------------------------------


def _ruler(numbers: Vector) -> _Ruler:
    """Choose the axis for ascending numbers, and count the rows in its bins."""
    if len(numbers) == 0:
        return _Ruler("linear", 0.0, 0.0, [], "", is_whole=False)
    low, high = float(numbers[0]), float(numbers[-1])
    if high - low < MOST_BINS and bool((numbers == np.rint(numbers)).all()):
        of_each: list[int] = np.bincount((numbers - low).astype(np.intp)).tolist()
        return _Ruler("linear", low, high, of_each, "", is_whole=True)
    axis, low, high = _ends(numbers)
    counts = _counts_along(numbers, axis, low, high)
    return _Ruler(axis, low, high, counts, _axis_words(numbers, axis, low, high), is_whole=False)


def _ends(numbers: Vector) -> tuple[Axis, float, float]:
    low, high = float(numbers[0]), float(numbers[-1])
    middle = np.quantile(numbers, _MIDDLE, method="nearest")
    half = np.quantile(numbers, _HALF, method="nearest")
    if middle[0] == middle[1] or _shows(low, high, middle, half):
        return "linear", low, high
    if low > 0 and _shows(log(low), log(high), np.log(middle), np.log(half)):
        return "log", low, high
    first, last = middle.tolist()
    beyond = last / 2 - first / 2
    return "clipped", max(low, first - beyond), min(high, last + beyond)


def _shows(low: float, high: float, middle: Vector, half: Vector) -> bool:
    """Return whether an axis from low to high gives the middle of the rows enough room."""
    width = high / 2 - low / 2  # halves, since the difference may overflow
    is_half_shown = half[0] == half[1] or width / _HALF_ROOM <= half[1] / 2 - half[0] / 2
    return bool(is_half_shown and width / _MIDDLE_ROOM <= middle[1] / 2 - middle[0] / 2)


def _counts_along(numbers: Vector, axis: Axis, low: float, high: float) -> list[int]:
    if low == high:
        return [len(numbers)]
    n_bins = min(MOST_BINS, max(_FEWEST_BINS, int(np.ceil(np.sqrt(len(numbers))))))
    inner = np.arange(1, n_bins) / n_bins
    if axis == "log":
        edges = np.exp(log(low) * (1 - inner) + log(high) * inner)
    else:
        edges = low * (1 - inner) + high * inner
    upper = np.searchsorted(numbers, np.sort(edges), "left")  # rounding may swap close ones
    return np.diff(np.concatenate([[0], upper, [len(numbers)]])).tolist()


def _axis_words(numbers: Vector, axis: Axis, low: float, high: float) -> str:
    if axis == "linear":
        return ""
    if axis == "log":
        return "logarithmic axis"
    n_inside = np.searchsorted(numbers, high, "right") - np.searchsorted(numbers, low, "left")
    if n_inside == len(numbers):
        return ""
    beyond = _format_percent(100 * (1 - int(n_inside) / len(numbers)))
    return f"{beyond} % of all rows lie outside the axis"
