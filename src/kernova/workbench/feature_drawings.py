"""Values of a row as a page draws them: histograms, axes, and the position of each value."""

from dataclasses import asdict, dataclass
from math import log
from typing import Annotated, Any, Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kernova.text import format_value
from kernova.typing import Vector
from kernova.workbench.row_features import (
    CategoryColumn,
    FeatureSummary,
    NumberColumn,
    Population,
    format_percent,
)

MOST_BINS: Final = 30
_FEWEST_BINS: Final = 5
_CATEGORIES_SHOWN: Final = 6
# Quantiles that an axis must show well, and how many times as wide as them it may be.
_MIDDLE: Final = (0.02, 0.98)
_MIDDLE_ROOM: Final = 4.0
_HALF: Final = (0.25, 0.75)
_HALF_ROOM: Final = 20.0

Axis = Literal["linear", "log", "clipped"]

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
    list of Feature

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workbench.feature_drawings import row_card
    >>> from kernova.workbench.row_features import Population
    >>> fish = pd.DataFrame({"length": [1, 2, 2, 3, 9], "sex": ["f", "f", "m", "m", "f"]})
    >>> length, sex = row_card(Population(fish), 4)
    >>> length.value, length.histogram, length.lowest, length.highest, round(length.position, 2)
    ('9', [1, 2, 1, 0, 0, 0, 0, 0, 1], 1.0, 9.0, 0.94)
    >>> sex.place, [(one.name, one.share) for one in sex.shares]
    ('60 % have it', [('f', 0.6), ('m', 0.4)])
    """
    return [
        drawn_feature(population, row, one.column) for one in population.most_unusual(row, most)
    ]


def aligned_card(population: Population, row: int, most: int = 24) -> list[Feature]:
    """Return the values of a row in the first columns, the same for every row, in table order.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workbench.feature_drawings import aligned_card
    >>> from kernova.workbench.row_features import Population
    >>> fish = pd.DataFrame({"length": [1, 2, 2, 3, 9], "sex": ["f", "f", "m", "m", "f"]})
    >>> [(one.name, one.value) for one in aligned_card(Population(fish), 4)]
    [('length', '9'), ('sex', 'f')]
    """
    n_columns = min(most, len(population.columns))
    return [drawn_feature(population, row, column) for column in range(n_columns)]


def drawn_feature(population: Population, row: int, position: int) -> Feature:
    """Return the value of a row in the column at a position, and what is needed to draw it."""
    column, value = population.columns[position], population.value(row, position)
    summary = column.summary(value)
    if isinstance(column, NumberColumn):
        return _number_feature(column, summary, value)
    return _category_feature(column, summary, value)


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
    beyond = format_percent(100 * (1 - int(n_inside) / len(numbers)))
    return f"{beyond} % of all rows lie outside the axis"
