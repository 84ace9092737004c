"""A row as an expert meets it: what stands out in it, against all rows of the table.

A row drawn against the population: where each of its oddest values lies in its column.
"""

from dataclasses import asdict, dataclass
from math import log, log2
from typing import Any, Final, Literal, NamedTuple, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from kernova.text import format_value
from kernova.typing import Indices, Vector

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
            usual = format_value(self.usual)
            return Feature(self.name, format_value(None), usual, "missing", "", 0.0, 0.0)
        n_below = int(np.searchsorted(self.numbers, value, "left"))
        n_up_to = int(np.searchsorted(self.numbers, value, "right"))
        n_rows = len(self.numbers)
        percentile = 50 * (n_below + n_up_to) / n_rows
        share = min(1.0, 2 * min(n_up_to, n_rows - n_below) / n_rows)
        return Feature(
            self.name,
            format_value(value, beside=self.usual),
            format_value(self.usual, beside=value),
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
        usual = format_value(self.counts.index[0]) if len(self.counts) else format_value(None)
        if pd.isna(value):
            return Feature(self.name, format_value(None), usual, "missing", "", 0.0, 0.0)
        share = int(self.counts[value]) / self.n_rows
        as_rare = int(self.counts[self.counts <= self.counts[value]].sum()) / self.n_rows
        n_cells = round(share * _STRIP)
        strip = "━" * n_cells + "─" * (_STRIP - n_cells)
        place = f"{percent_words(100 * share)} % have it"
        return Feature(self.name, format_value(value), usual, place, strip, 0.0 - log2(as_rare), 0.0)


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
    >>> from kernova.workbench.row_features import Population
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

    places: Indices
    values: list[Vector]  # as in the table, one array a column
    ascending: Vector  # of shape (n_columns, n_rows); what is missing stands last
    n_there: Indices
    usual: Vector
    spread: Vector

    @classmethod
    def of(cls, features: pd.DataFrame, places: Indices) -> "_Numbers":
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

    def _n_before(self, values: Vector, *, is_right: bool) -> Indices:
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

    places: Indices
    counts: list["pd.Series[int]"]
    codes: list[Indices]  # -1 is a missing one
    rare: list[Vector]  # share of rows with categories as rare; last, for what is missing, 1

    @classmethod
    def of(cls, features: pd.DataFrame, places: Indices) -> "_Categories":
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


Axis = Literal["linear", "log", "clipped"]

MOST_BINS: Final = 30
_FEWEST_BINS: Final = 5
_CATEGORIES_DRAWN: Final = 6
# The parts of the rows that an axis must show well: it may be so many times as wide as each.
_MIDDLE: Final = (0.02, 0.98)
_MIDDLE_ROOM: Final = 4.0
_HALF: Final = (0.25, 0.75)
_HALF_ROOM: Final = 20.0


class Share(TypedDict):
    """How many rows have a category, of those that have any."""

    name: str
    share: float


@dataclass(frozen=True)
class FeatureDrawing:
    """One value of a row and what is needed to draw it against all rows.

    Attributes
    ----------
    name : str
        The column.
    kind : {"number", "category"}
    value, usual : str
        The row's value, and the middle or most frequent one.
    place : str
        Where the value lies: its percentile, or how many rows have the same category; or
        "missing".
    surprise : float
        So odd a value has a share of ``2 ** -surprise`` of all rows.
    histogram : list of int
        How many rows fall into each of at most 30 equal parts of the axis; empty for a category.
    lowest, highest : float or None
        The ends of the axis, in the column's own units.
    lowest_words, highest_words : str
        The same in few digits.
    position, usual_position : float or None
        Where the value and the usual one lie on the axis, from 0 to 1; None if there is none.
    axis : {"linear", "log", "clipped"}
        A very skewed column has a logarithmic axis; or one for the middle of the rows, where
        those beyond it are counted in the first and last part.
    axis_words : str
        The same for people; empty for a linear axis.
    shares : list of Share
        The most frequent categories, and the row's own if it is not among them.
    n_categories : int
        How many categories there are.
    own_share : float or None
        Share of rows with the row's category.
    """

    name: str
    kind: Literal["number", "category"]
    value: str
    usual: str
    place: str
    surprise: float
    histogram: list[int]
    lowest: float | None
    highest: float | None
    lowest_words: str
    highest_words: str
    position: float | None
    usual_position: float | None
    axis: Axis
    axis_words: str
    shares: list[Share]
    n_categories: int
    own_share: float | None

    def to_json_dict(self) -> dict[str, Any]:
        """Give plain numbers and texts, for programs."""
        return asdict(self)


class _Ruler(NamedTuple):
    """The axis of a column of numbers, and how many rows lie along it."""

    axis: Axis
    low: float
    high: float
    counts: list[int]
    words: str
    is_whole: bool  # each part stands for one whole number

    def position(self, value: float) -> float:
        """Give the place between the ends; what is beyond them is put there."""
        if self.is_whole:
            return (value - self.low + 0.5) / len(self.counts)
        low, high, value = (_along(self.axis, end) for end in (self.low, self.high, value))
        if high <= low:
            return 0.5
        # Halves, since the difference of two large numbers may be beyond all numbers.
        return min(1.0, max(0.0, (value / 2 - low / 2) / (high / 2 - low / 2)))


_rulers: "WeakKeyDictionary[NumberColumn, _Ruler]" = WeakKeyDictionary()


def row_card(population: Population, row: int, most: int = 12) -> list[FeatureDrawing]:
    """Draw the oddest values of a row against all rows, the oddest first.

    Parameters
    ----------
    population : Population
        All rows.
    row : int
        The row's place, from 0.
    most : int
        How many values to draw at most.

    Returns
    -------
    list of FeatureDrawing

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workbench.row_features import Population
    >>> from kernova.workbench.row_features import row_card
    >>> fish = pd.DataFrame({"length": [1, 2, 2, 3, 9], "sex": ["f", "f", "m", "m", "f"]})
    >>> length, sex = row_card(Population(fish), 4)
    >>> length.value, length.histogram, length.lowest, length.highest, round(length.position, 2)
    ('9', [1, 2, 1, 0, 0, 0, 0, 0, 1], 1.0, 9.0, 0.94)
    >>> sex.place, sex.shares
    ('60 % have it', [{'name': 'f', 'share': 0.6}, {'name': 'm', 'share': 0.4}])
    """
    drawings = []
    for place, value in population.oddest(row, most):
        column = population.columns[place]
        feature = column.look(value)
        if isinstance(column, NumberColumn):
            drawings.append(_number_drawing(column, feature, value))
        else:
            drawings.append(_category_drawing(column, feature, value))
    return drawings


def _ruler_of(column: NumberColumn) -> _Ruler:
    """Give the axis of a column, made once; requests from several threads may make it twice."""
    found = _rulers.get(column)
    if found is None:
        found = _rulers[column] = _ruler(column.numbers)
    return found


def _number_drawing(column: NumberColumn, feature: Feature, value: Any) -> FeatureDrawing:
    ruler = _ruler_of(column)
    is_there = feature.place != "missing"
    return FeatureDrawing(
        name=feature.name,
        kind="number",
        value=feature.value,
        usual=feature.usual if len(column.numbers) else format_value(None),
        place=feature.place,
        surprise=feature.surprise,
        histogram=ruler.counts,
        lowest=ruler.low if ruler.counts else None,
        highest=ruler.high if ruler.counts else None,
        lowest_words=format_value(ruler.low, beside=ruler.high) if ruler.counts else "",
        highest_words=format_value(ruler.high, beside=ruler.low) if ruler.counts else "",
        position=ruler.position(float(value)) if is_there else None,
        usual_position=ruler.position(column.usual) if ruler.counts else None,
        axis=ruler.axis,
        axis_words=ruler.words,
        shares=[],
        n_categories=0,
        own_share=None,
    )


def _category_drawing(column: CategoryColumn, feature: Feature, value: Any) -> FeatureDrawing:
    is_there = feature.place != "missing"
    names = column.counts.index[:_CATEGORIES_DRAWN].tolist()
    own = float(column.counts[value]) / column.n_rows if is_there else None
    if is_there and value not in names:
        names = [*names[: _CATEGORIES_DRAWN - 1], value]
    shares = [
        Share(name=format_value(name), share=float(column.counts[name]) / column.n_rows)
        for name in names
    ]
    return FeatureDrawing(
        name=feature.name,
        kind="category",
        value=feature.value,
        usual=feature.usual,
        place=feature.place,
        surprise=feature.surprise,
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


# --- axes --------------------------------------------------------------------------------------


def _ruler(numbers: Vector) -> _Ruler:
    """Choose the axis for ascending numbers, and count the rows along it."""
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
    """Tell whether an axis from low to high gives the middle of the rows enough room."""
    width = high / 2 - low / 2  # in halves, since the whole may be beyond all numbers
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
    beyond = percent_words(100 * (1 - int(n_inside) / len(numbers)))
    return f"{beyond} % of all rows lie beyond the ends"


def _along(axis: Axis, value: float) -> float:
    return log(value) if axis == "log" else value
