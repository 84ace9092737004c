"""Reasons for a likeness: columns in which a row is as unusual as a given one, and alike."""

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from kernova.text import format_pair, format_value
from kernova.typing import Indices, Vector

# Columns in which more of the rows are as extreme say little.
_LARGEST_FRACTION: Final = 0.1
_COLUMNS_NAMED: Final = 3


class AlikeColumn(NamedTuple):
    """A column in which a row is like a given one."""

    name: str
    value: Any  # of the row
    given: Any  # of the given row
    usual: Any  # the median of the table, or its most frequent category
    # Fraction of the table's rows that are as extreme as both, or have their category.
    fraction: float


class AlikeColumns:
    """Columns in which rows of a table are like given ones, the most telling first.

    Parameters
    ----------
    features : DataFrame
        The whole table.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.workflows.find_like.reasons import AlikeColumns
    >>> fish = pd.DataFrame({"length": [*range(20), 50.0, 51.0], "sex": list("fm") * 11})
    >>> AlikeColumns(fish).text(21, 20)
    'length = 51 (given 50, usually 10.5)'
    """

    def __init__(self, features: pd.DataFrame) -> None:
        self._names = [str(name) for name in features.columns]
        self._columns = [_Column(features.iloc[:, place]) for place in range(features.shape[1])]

    def of(self, row: int, given: int) -> list[AlikeColumn]:
        """Return the columns that tell most about the likeness of a row to a given one."""
        found = [
            AlikeColumn(name, *column.values(row, given), column.usual, column.fraction(row, given))
            for name, column in zip(self._names, self._columns, strict=True)
        ]
        telling = [one for one in found if one.fraction <= _LARGEST_FRACTION]
        return sorted(telling, key=lambda one: one.fraction)[:_COLUMNS_NAMED]

    def text(self, row: int, given: int) -> str:
        """Return these columns as one line; empty if no column tells anything."""
        return "; ".join(map(described, self.of(row, given)))


def described(column: AlikeColumn) -> str:
    """Return a column's values as text: of the row, of the given row, and the usual one."""
    value, given = format_pair(column.value, column.given)
    usual = format_value(column.usual, beside=column.given)
    return f"{column.name} = {value} (given {given}, usually {usual})"


class _Column:
    """A column of numbers in ascending order, or of categories with their fractions."""

    def __init__(self, column: "pd.Series[Any]") -> None:
        self._cells = column.array
        self._is_number = pd.api.types.is_numeric_dtype(column.dtype)
        self._n_rows = len(column)
        self._ascending: Vector = np.empty(0)
        self._codes: Indices = np.empty(0, dtype=np.intp)
        if self._is_number:
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
            self._ascending = np.sort(numbers[~np.isnan(numbers)])
            self.usual: Any = float(np.median(self._ascending)) if len(self._ascending) else None
        else:
            self._codes = pd.factorize(column)[0]
            frequent = column.mode()
            self.usual = frequent.iloc[0] if len(frequent) else None

    def values(self, row: int, given: int) -> tuple[Any, Any]:
        return self._cells[row], self._cells[given]

    def fraction(self, row: int, given: int) -> float:
        """Return the fraction of rows as extreme as both; 1 on different sides of the median."""
        value, other = self.values(row, given)
        if pd.isna(value) or pd.isna(other):
            return 1.0
        if not self._is_number:
            if self._codes[row] != self._codes[given]:
                return 1.0
            return float(np.mean(self._codes == self._codes[given]))
        low, high = sorted((float(value), float(other)))
        if low > self.usual:
            n_rows = len(self._ascending) - int(self._ascending.searchsorted(low, "left"))
        elif high < self.usual:
            n_rows = int(self._ascending.searchsorted(high, "right"))
        else:
            return 1.0
        return n_rows / self._n_rows
