"""Fill values and other far cells: numbers so far beyond a column that scaling would hide the rest.

One cell of 1e200, or -999 for "not measured" among lengths of 5 to 15, widens a column until all
other rows look alike. A cell is far if the tail of its column does not explain it. With c and u the
middle and half the length of the shortest interval that holds half of the column, let d be the
distance from c of a cell, d' that of the cell before it on its side, and k the number of cells up
to there. A power law through these has the index a = log k / log(d'/u), so that the next
cell is beyond d with probability (d/d')^-a. Cells are far where this is below 1e-4 and where they
are ten times as far from c as all cells that are not far. So a normal column of 1,000 rows ends at
about thirty standard deviations, while a Cauchy or log-normal column, whose own tail is heavy, ends
nowhere that its values reach: of 4,000 samples each, of 10 to 10,000 rows, 1 in 100 or fewer have
a far cell.

The interval is not moved by any minority of cells, so that neither one huge cell nor many equal
ones hide themselves. Equal cells beyond two ranges of the rest are far too, by their repetition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from kernova.errors import InputError, quoted
from kernova.tables.table import Table
from kernova.text import first_few, format_value, plural, quantity
from kernova.typing import Indices, Mask, Matrix, Vector

# Once in so many columns the tail of a column itself reaches a cell that is called far.
_LOG_ODDS = np.log(1e4)
# Tails fall with no higher power than this, however light they look, and with no lower one: a cell
# 1e12 times as far away as the one before is far from any column, whose digits it would hide.
_FLATTEST, _STEEPEST = 1 / 3, 4.0
# Far cells lie at least this many times as far from the middle as all others.
_TIMES_AS_FAR = 10.0
# The steepest tail explains gaps up to that many times; rounding may take a little from it.
_NEARLY = 0.99
# With fewer different numbers nothing is known of a column's tail.
_FEWEST = 4
# Far cells are at most 3 (of 30 or more), or 1 % of the column, or repeat at most 3 values.
_FEW_CELLS, _FEW_FRACTION, _FEW_VALUES = 3, 0.01, 3
# Equal cells are a fill value if there are 3 or more, two ranges from at least 11 different others.
_LEAST_EQUAL, _RANGES_AWAY, _MANY_VALUES = 3, 2.0, 10
_IDS_NAMED = 3


# Beside a cell this many times as far away as the others are wide, less than seven digits are left.
_HIDING = 1e10
# Numbers of new rows are drawn in beyond this many half widths: single precision holds them.
_WIDTHS_KEPT = 2e6


class CoreRange(NamedTuple):
    """Smallest and largest number of a column that is not far; infinite where none is."""

    low: float
    high: float


_EVERYTHING = CoreRange(-np.inf, np.inf)


def core_range(column: Vector) -> CoreRange:
    """Return the range of a column without its far cells; NaN is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.tables.fill_values import core_range
    >>> lengths = np.linspace(5, 15, 50)
    >>> core_range(np.append(lengths, 1e200))
    CoreRange(low=-inf, high=15.0)
    >>> core_range(np.append(lengths, [-999, -999, -999]))
    CoreRange(low=5.0, high=inf)
    """
    # Quarters, so that no difference overflows.
    present = np.sort(column[np.isfinite(column)]) / 4
    inside = _without_main_value(present)
    # A far cell takes more than the whole column does: no need to look at one without a tail.
    if len(inside) < _FEWEST or not _has_gap(inside):
        return _EVERYTHING
    low, high = _tail_cut(inside, len(present))
    if (low, high) == _EVERYTHING:
        low, high = _repeated_cut(inside)
    if len(inside) < len(present):
        main = float(present[len(present) // 2])
        low, high = min(low, main), max(high, main)
    return CoreRange(4 * low, 4 * high)


def core_ranges(numbers: Matrix) -> tuple[Vector, Vector]:
    """Return the lower and the upper end of :func:`core_range` for each column."""
    ranges = [core_range(column) for column in numbers.T]
    low, high = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    return low, high


def without_far_cells(numbers: Matrix) -> Matrix:
    """Return numbers with far cells missing (NaN); the same array if there are none.

    Scales learnt from the result are those of the other rows.
    """
    low, high = core_ranges(numbers)
    is_far = (numbers < low) | (numbers > high)
    return np.where(is_far, np.nan, numbers) if is_far.any() else numbers


def drawn_in(numbers: Matrix) -> Matrix:
    """Return numbers with far cells ten widths of their column beyond the others, still apart."""
    low, high = core_ranges(numbers)
    is_low, is_high = numbers < low, numbers > high
    if not (is_low | is_high).any():
        return numbers
    inside = np.where(is_low | is_high, np.nan, numbers)
    lowest, highest = np.nanmin(inside, axis=0), np.nanmax(inside, axis=0)
    margin = _TIMES_AS_FAR * (highest - lowest)
    return np.where(is_low, lowest - margin, np.where(is_high, highest + margin, numbers))


def check_no_cell_hides_others(numbers: Matrix) -> None:
    """Raise if a cell is so far away that the differences of other rows would be rounding errors.

    For methods that compare all rows on one scale, such as clusters at one bandwidth.

    Raises
    ------
    InputError
        The message names the first such cell.
    """
    for position, column in enumerate(numbers.T):
        low, high = core_range(column)
        is_far = (column < low) | (column > high)
        if not is_far.any():
            continue
        inside = column[~is_far] / 4
        width = np.ptp(inside[np.isfinite(inside)])
        is_hiding = np.abs(column / 4 - np.median(inside)) / _HIDING > width
        if is_hiding.any():
            row = int(is_hiding.argmax())
            raise InputError(
                f"Column x{position} holds {format_value(column[row])} in row {row + 1}, more than "
                "1e10 times as far from its other numbers as these are from each other, so that "
                "other rows would look alike. Correct it, or leave out the row."
            )


def _without_main_value(ordered: Vector) -> Vector:
    """Leave out a value that more than half of the cells have: it says nothing of the tail."""
    middle = ordered[len(ordered) // 2] if len(ordered) else np.nan
    is_middle = ordered == middle
    return ordered[~is_middle] if 2 * np.count_nonzero(is_middle) > len(ordered) else ordered


def _has_gap(ordered: Vector) -> bool:
    """Return whether some gap is as wide as the rest of the column on one of its sides."""
    gaps = np.diff(ordered)
    below, above = ordered[:-1] - ordered[0], ordered[-1] - ordered[1:]
    return bool((gaps > np.minimum(below, above)).any())


class _Middle(NamedTuple):
    """Centre and half the length of the shortest interval that holds half of the cells."""

    center: float
    half_width: float


def _middle_of(ordered: Vector) -> _Middle:
    n_held = len(ordered) // 2 + 1
    widths = ordered[n_held - 1 :] - ordered[: len(ordered) - n_held + 1]
    first = int(widths.argmin())
    low, high = ordered[first], ordered[first + n_held - 1]
    return _Middle(float(low / 2 + high / 2), float(high / 2 - low / 2))


def _tail_cut(ordered: Vector, n_cells: int) -> CoreRange:
    """Cut where a gap is wider than the tail explains; see the module's documentation."""
    center, half_width = _middle_of(ordered)
    if half_width == 0:
        return _EVERYTHING
    above, below = ordered[ordered > center], ordered[ordered < center]
    n_above = _n_kept(above - center, half_width, n_cells)
    n_below = _n_kept((center - below)[::-1], half_width, n_cells)
    low, high = below[len(below) - n_below], above[n_above - 1]
    extent = max(center - low, high - center)
    nearest_low = center - below[len(below) - n_below - 1] if n_below < len(below) else 0.0
    nearest_high = above[n_above] - center if n_above < len(above) else 0.0
    has_low, has_high = (one / _TIMES_AS_FAR >= extent for one in (nearest_low, nearest_high))
    return CoreRange(float(low) if has_low else -np.inf, float(high) if has_high else np.inf)


def _n_kept(distances: Vector, half_width: float, n_cells: int) -> int:
    """Return the number of cells on one side, in rising order, before the first far one."""
    # No narrower gap is wide whatever the tail, and most columns have none that is so wide.
    gaps = np.flatnonzero(distances[1:] / (_NEARLY * _TIMES_AS_FAR) > distances[:-1])
    before, after = distances[gaps], distances[gaps + 1]
    with np.errstate(divide="ignore"):
        log_extent = np.maximum(np.log(before) - np.log(half_width), 1.0)
        index = np.clip(np.log(gaps + 1) / log_extent, _FLATTEST, _STEEPEST)
        is_wide = index * (np.log(after) - np.log(before)) > _LOG_ODDS
    for cut in gaps[is_wide].tolist():
        beyond = distances[cut + 1 :]
        n_values = len(np.unique(beyond))
        is_repeated = n_values <= _FEW_VALUES and len(beyond) >= _LEAST_EQUAL * n_values
        if is_repeated or len(beyond) <= _few_cells(n_cells):
            return cut + 1
    return len(distances)


def _few_cells(n_cells: int) -> float:
    return max(min(_FEW_CELLS, n_cells / 10), _FEW_FRACTION * n_cells)


def _repeated_cut(ordered: Vector) -> CoreRange:
    """Cut off equal cells at an end of the column that are far from all others."""
    low, high = ordered[0], ordered[-1]
    n_low, n_high = int((ordered == low).sum()), int((ordered == high).sum())
    if _is_repeated(n_low, low, ordered[n_low:]):
        return CoreRange(float(ordered[n_low]), np.inf)
    if _is_repeated(n_high, high, ordered[: len(ordered) - n_high]):
        return CoreRange(-np.inf, float(ordered[len(ordered) - n_high - 1]))
    return _EVERYTHING


def _is_repeated(n_equal: int, value: float, others: Vector) -> bool:
    if not _LEAST_EQUAL <= n_equal < len(others):
        return False
    gap = max(others[0] - value, value - others[-1])
    is_apart = gap >= _RANGES_AWAY * (others[-1] - others[0])
    return bool(is_apart and len(np.unique(others)) > _MANY_VALUES)


@dataclass(frozen=True)
class FarCells:
    """The far cells of one column."""

    column: str
    core: CoreRange  # range of the other cells
    numbers: Vector  # each far cell's number
    rows: Indices  # and its row
    lowest: float  # smallest and largest number of the others
    highest: float
    n_cells: int  # rows of the table

    @property
    def codes(self) -> Vector:
        """Values in so many rows that they stand for something, as -999 for a missing value."""
        values, counts = np.unique(self.numbers, return_counts=True)
        return values[counts > max(_LEAST_EQUAL - 1, _few_cells(self.n_cells))]

    @property
    def is_single(self) -> Mask:
        """Mask of the cells whose value is no code."""
        return ~np.isin(self.numbers, self.codes)

    def moved(self, column: Vector, *, only_codes: bool = False) -> Vector:
        """Return a column with its far cells, or those with a code, at the edge of the others."""
        is_moved = np.isin(column, self.codes)
        if not only_codes:
            is_moved |= (column < self.core.low) | (column > self.core.high)
        return np.where(is_moved, np.clip(column, self.lowest, self.highest), column)

    def note(self, table: Table, treatment: str) -> str:
        """Return what was found where, what was done, and what can be done, as sentences."""
        what = first_few([format_value(value) for value in np.unique(self.numbers)], _FEW_VALUES)
        n_rows = len(self.rows)
        ids = first_few([quoted(table.ids.iloc[row]) for row in self.rows.tolist()], _IDS_NAMED)
        rest = f"{format_value(self.lowest)} to {format_value(self.highest)}"
        return (
            f"Column {quoted(self.column)} of {table.source} holds {what} in "
            f"{quantity(n_rows, 'row')} ({ids}), far beyond all its other values ({rest}). "
            f"{treatment} If this stands for a missing value, empty "
            f"{plural(n_rows, 'that cell', 'these cells')} and pass missing='fill' or "
            f"missing='drop'; otherwise correct {plural(n_rows, 'it', 'them')} or drop the column."
        )


def far_cells(features: pd.DataFrame, beside: pd.DataFrame | None = None) -> list[FarCells]:
    """Find the far cells of a table's number columns.

    Parameters
    ----------
    features : DataFrame
        The rows to look at.
    beside : DataFrame, optional
        Other rows with these columns, such as known ones beside new ones: cells are far if they
        are in both tables together.

    Returns
    -------
    list of FarCells
        One for each column that has any.
    """
    found = []
    for position, name in enumerate(features.columns):
        column = features.iloc[:, position]
        if not _is_number_column(column):
            continue
        numbers = _numbers(column)
        others = numbers[:0]
        if beside is not None and _is_number_column(beside[name]):
            others = _numbers(beside[name])
        cells = _far_cells_of(str(name), numbers, others)
        if len(cells.rows):
            found.append(cells)
    return found


def _is_number_column(column: "pd.Series[Any]") -> bool:
    dtype = column.dtype
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    return is_number and not pd.api.types.is_complex_dtype(dtype)


def _numbers(column: "pd.Series[Any]") -> Vector:
    return np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan))


def _far_cells_of(name: str, numbers: Vector, others: Vector) -> FarCells:
    together = np.concatenate([numbers, others])
    core = core_range(together)
    rows = np.flatnonzero((numbers < core.low) | (numbers > core.high))
    is_core = (together >= core.low) & (together <= core.high)
    inside = together[is_core] if len(rows) else np.zeros(1)
    lowest, highest = float(inside.min()), float(inside.max())
    return FarCells(name, core, numbers[rows], rows, lowest, highest, len(together))


class FarCellFilter(TransformerMixin, BaseEstimator):
    """Pipeline step that keeps far cells from deciding the scale of their columns.

    Rows to learn from have their far cells moved to the edge of the others; other rows keep theirs
    up to a million times the width of a column. A code such as -999 that many rows to learn from
    have is moved in all rows.

    Attributes
    ----------
    far_cells_ : list of FarCells
        The far cells of the rows to learn from, column by column.
    limits_ : dict
        For each column of numbers, the range of numbers that other rows keep.
    """

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        """Find the far cells."""
        self.far_cells_ = far_cells(X)
        inside = with_moved_cells(X, self.far_cells_)
        names = [name for name in X.columns if _is_number_column(X[name])]
        self.limits_ = {str(name): _limits(_numbers(inside[name])) for name in names}
        return self

    def fit_transform(self, X: pd.DataFrame, y: object = None, **kwargs: Any) -> pd.DataFrame:
        """Find the far cells, and return the rows with all of them moved."""
        return with_moved_cells(X, self.fit(X).far_cells_)

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the codes among their cells moved, and huge numbers drawn in."""
        moved = with_moved_cells(X, self.far_cells_, only_codes=True)
        for name, limits in self.limits_.items():
            if not _is_number_column(moved[name]):
                continue  # the encoder names the text that stands where numbers were
            numbers = _numbers(moved[name])
            if ((numbers < limits.low) | (numbers > limits.high)).any():
                moved = moved.assign(**{name: np.clip(numbers, *limits)})
        return moved


def _limits(column: Vector) -> CoreRange:
    """Return the range that is a million times as wide as the column's own."""
    present = column[np.isfinite(column)]
    low, high = float(present.min(initial=np.inf)), float(present.max(initial=-np.inf))
    if low > high:
        return _EVERYTHING
    margin = _WIDTHS_KEPT * ((high / 2 - low / 2) or abs(high) or 1.0)
    return CoreRange(low - margin, high + margin)


def with_moved_cells(
    features: pd.DataFrame, cells: Sequence[FarCells], *, only_codes: bool = False
) -> pd.DataFrame:
    """Return a table with its far cells at the edge of the others; the same table without any.

    Parameters
    ----------
    features : DataFrame
        The table.
    cells : sequence of FarCells
        Its far cells, or those of a table with the same columns.
    only_codes : bool
        Move only values that many rows have.
    """
    moved = [one for one in cells if len(one.codes) or not only_codes]
    if not moved:
        return features
    changed = features.copy()
    for one in moved:
        changed[one.column] = one.moved(_numbers(features[one.column]), only_codes=only_codes)
    return changed


def far_cell_notes(
    table: Table, cells: Sequence[FarCells], of_single: str, of_codes: str
) -> list[str]:
    """Return a note for each column with far cells.

    Parameters
    ----------
    table : Table
        The table, for ids and its name.
    cells : sequence of FarCells
        Its far cells.
    of_single, of_codes : str
        What was done with rows that have a far cell, and with those that have a code.
    """
    return [one.note(table, of_codes if len(one.codes) else of_single) for one in cells]


def single_rows(cells: Sequence[FarCells]) -> Indices:
    """Return the rows that have a far cell whose value is no code, in order."""
    rows = [one.rows[one.is_single] for one in cells]
    return np.unique(np.concatenate(rows)) if rows else np.empty(0, dtype=np.intp)
