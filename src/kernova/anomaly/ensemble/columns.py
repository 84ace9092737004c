"""Columns of a table, prepared once for all members of an ensemble.

Numbers, categories and missing values become one table of numbers and one of codes. A column that
repeats another one is left out; a column that is constant counts only where a row differs in it.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.tables.columns import (
    Texts,
    category_columns,
    category_indices,
    column_names,
    split_columns,
)
from kernova.tables.encoding import frame_of
from kernova.tables.fill_values import core_range
from kernova.text import listed, plural
from kernova.typing import Indices, Mask, Matrix, Vector

# Stands for a missing category. A text in a file cannot hold it.
_MISSING_LEVEL = "\x00"
# Columns whose numbers agree to this fraction of their range repeat each other. Values of columns
# are often fractions of their range with few digits; none of these lies between two steps.
_STEP = 1e-9 * np.pi
# A constant column varies by this times its numbers at most: by rounding.
_ROUNDING = 4 * np.finfo(np.float64).eps


class Rows(NamedTuple):
    """Some rows of a table, as members see them."""

    numbers: Matrix  # columns of numbers that vary; missing values are filled
    # Position of each value among the levels of its category; the number of levels stands for a
    # value that is not among them. Constant columns of numbers are categories of one level, and so
    # is the last column: 1 where a number is missing whose column has no missing value.
    codes: Indices


class Columns(NamedTuple):
    """Columns of the table that an ensemble was fitted on."""

    is_category: Mask
    fill: Vector  # median of each column of numbers
    has_indicator: Mask  # columns of numbers with missing values: each gets another column
    is_constant: Mask  # of columns of numbers and indicators; they have one value
    is_repeated: Mask
    constants: Vector
    levels: tuple[NDArray[np.object_], ...]  # sorted levels of each category
    notes: tuple[str, ...]  # sentences on columns that are not used like others

    @property
    def n_levels(self) -> list[int]:
        """Number of levels for each column of ``Rows.codes``."""
        return [len(levels) for levels in self.levels] + [1] * (int(self.is_constant.sum()) + 1)


def frame_or_array(data: Any) -> Any:
    """Return a frame of Arrow or polars as one of pandas; raise for tables that cannot be used."""
    given = data if isinstance(data, pd.Series) else frame_of(data)
    if isinstance(given, pd.DataFrame) and given.columns.has_duplicates:
        name = given.columns[given.columns.duplicated()][0]
        raise InputError(f"Two columns are named {quoted(name)}; give each a name of its own.")
    return given


def learn_columns(table: pd.DataFrame | Matrix) -> Columns:
    """Learn the columns of a table: fills, levels, and which columns say nothing new.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [5.0, 7.0, 11.0], "c": ["x", "y", "x"]})
    >>> learn_columns(table).notes
    ("Column 'b' repeats another column and is not used.",)
    """
    is_category = category_columns(table)
    split = split_columns(table, is_category)
    is_missing = np.isnan(split.numbers)
    has_indicator = np.asarray(is_missing.any(axis=0))
    fill = _medians(split.numbers)
    numbers = _filled(split.numbers, fill, has_indicator)
    is_constant = _are_constant(numbers)
    is_repeated = _are_repeated(numbers, is_constant)
    names = np.array(column_names(table), dtype=object)
    of_numbers = names[~is_category]
    named = np.array([*of_numbers, *(f"{name} (missing)" for name in of_numbers[has_indicator])])
    names_of_constants = [name for name in named[is_constant].tolist() if name in set(of_numbers)]
    levels = tuple(_levels(texts) for texts in split.texts)
    single = [
        name for name, of_one in zip(names[is_category], levels, strict=True) if len(of_one) == 1
    ]
    return Columns(
        is_category,
        fill,
        has_indicator,
        is_constant,
        is_repeated,
        numbers[0, is_constant],
        levels,
        (
            *_note([*names_of_constants, *single], *_CONSTANT),
            *_note(named[is_repeated].tolist(), *_REPEATED),
        ),
    )


def prepared_rows(table: pd.DataFrame | Matrix, columns: Columns) -> Rows:
    """Bring rows of a table with the same columns into the form that members see."""
    split = split_columns(table, columns.is_category)
    numbers = _filled(split.numbers, columns.fill, columns.has_indicator)
    codes = [
        category_indices(texts, levels, _MISSING_LEVEL)
        for texts, levels in zip(split.texts, columns.levels, strict=True)
    ]
    differs = _differ(numbers[:, columns.is_constant], columns.constants)
    is_unexpected = np.isnan(split.numbers[:, ~columns.has_indicator]).any(axis=1)
    is_used = ~(columns.is_constant | columns.is_repeated)
    return Rows(
        np.ascontiguousarray(numbers[:, is_used]),
        np.column_stack([*codes, differs, is_unexpected]).astype(np.intp),
    )


def _filled(numbers: Matrix, fill: Vector, has_indicator: Mask) -> Matrix:
    is_missing = np.isnan(numbers)
    if not is_missing.any() and not has_indicator.any():
        return numbers
    return np.hstack([np.where(is_missing, fill, numbers), is_missing[:, has_indicator]])


def _medians(numbers: Matrix) -> Vector:
    """Return the median of each column, 0 for one without values; halving cannot overflow."""
    medians = np.zeros(numbers.shape[1])
    is_known = ~np.isnan(numbers).all(axis=0)
    if is_known.any():
        medians[is_known] = 2 * np.nanmedian(numbers[:, is_known] / 2, axis=0)
    return medians


def _levels(texts: Texts) -> NDArray[np.object_]:
    missing = [_MISSING_LEVEL] if (texts.codes < 0).any() else []
    return np.array(sorted({*texts.distinct, *missing}), dtype=object)


def _are_constant(numbers: Matrix) -> Mask:
    """Return which columns vary by rounding at most."""
    highest, lowest = numbers.max(axis=0, initial=-np.inf), numbers.min(axis=0, initial=np.inf)
    return ~_differ(highest, lowest)


def _differ(numbers: NDArray[np.float64], others: Vector) -> Mask:
    extent = np.maximum(np.abs(numbers), np.abs(others))
    differs: Mask = np.abs(numbers / 2 - others / 2) > _ROUNDING / 2 * extent
    return differs


def _are_repeated(numbers: Matrix, is_constant: Mask) -> Mask:
    """Return which columns are a multiple of an earlier one, up to an offset: twice the same."""
    is_repeated = np.zeros(numbers.shape[1], dtype=np.bool_)
    seen: set[bytes] = set()
    for j in np.flatnonzero(~is_constant).tolist():
        digest = _digest(numbers[:, j])
        is_repeated[j] = digest in seen
        seen.add(digest)
    return is_repeated


def _digest(column: Vector) -> bytes:
    # Beside one cell of 1e12, the others of any two columns would agree: they are compared twice.
    low, high = core_range(column)
    parts = [_within_range(column)]
    if low > -np.inf or high < np.inf:
        parts.append(_within_range(np.clip(column, low, high)))
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.tobytes())
    return digest.digest()


def _within_range(column: Vector) -> NDArray[np.int64]:
    """Return the numbers in steps of the range, the same for a column and its negative."""
    lowest, highest = column.min(), column.max()
    if not _differ(highest, lowest):
        return np.zeros(len(column), dtype=np.int64)
    within = (column / 2 - lowest / 2) / (highest / 2 - lowest / 2)
    # The first number that is not in the middle says which of the two this is.
    is_off_middle = np.abs(within - 0.5) > 0.25 * _STEP
    if within[is_off_middle.argmax()] > 0.5:
        within = 1 - within
    steps: NDArray[np.int64] = np.round(within / _STEP).astype(np.int64)
    return steps


_CONSTANT = (
    "is constant; a row is compared in it only if it differs.",
    "are constant; a row is compared in them only if it differs.",
)
_REPEATED = (
    "repeats another column and is not used.",
    "repeat other columns and are not used.",
)


def _note(names: list[str], one: str, several: str) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"{plural(len(names), 'Column')} {listed(names)} {plural(len(names), one, several)}",)
