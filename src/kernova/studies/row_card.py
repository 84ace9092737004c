"""A row drawn against the population: where each of its oddest values lies in its column."""

from dataclasses import asdict, dataclass
from math import log
from typing import Any, Final, Literal, NamedTuple, TypedDict
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kernova.represent.value_words import value_words
from kernova.studies.discovery_card import (
    CategoryColumn,
    Feature,
    NumberColumn,
    Population,
    percent_words,
)

Vector = NDArray[np.float64]
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
    >>> from kernova.studies.discovery_card import Population
    >>> from kernova.studies.row_card import row_card
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
        usual=feature.usual if len(column.numbers) else value_words(None),
        place=feature.place,
        surprise=feature.surprise,
        histogram=ruler.counts,
        lowest=ruler.low if ruler.counts else None,
        highest=ruler.high if ruler.counts else None,
        lowest_words=value_words(ruler.low, beside=ruler.high) if ruler.counts else "",
        highest_words=value_words(ruler.high, beside=ruler.low) if ruler.counts else "",
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
        Share(name=value_words(name), share=float(column.counts[name]) / column.n_rows)
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
