"""The different texts of a column, and what they can be: truth values, codes, damaged numbers.

Texts repeat, so each different one is looked at once. :mod:`kernova.tables.interpretation` decides
with what is found here.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.tables.columns import FEW_CATEGORIES, reject_complex
from kernova.tables.dates import fraction_of_dates, is_any_date
from kernova.tables.quantities import (
    MISSING_CATEGORIES,
    Decimal,
    Quantities,
    are_units,
    missing_words,
    quantities,
)
from kernova.typing import Indices, Mask, Vector

_TRUTH_WORDS: Final = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"))
_MOSTLY: Final = 0.5  # of the rows, from which on a column is one of damaged numbers or dates
# A text that so many rows have, and this fraction of them, is no typing error.
_FEWEST_ROWS, _FEWEST_OF_ALL = 3, 0.01


class ColumnTexts(NamedTuple):
    """The different texts of a column, the index of each row's text (-1: missing), and rows."""

    column: pa.ChunkedArray
    distinct: pa.Array
    codes: Indices
    n_rows: NDArray[np.int64]
    is_missing: Mask  # of the words for "no value"

    def spread(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Return each row's value, from the values of the different texts."""
        return np.append(np.where(self.is_missing, missing, values), missing)[self.codes]

    def first_row(self, mask: Mask) -> int:
        """Return the first row whose text is in the mask."""
        return int(np.append(mask, False)[self.codes].argmax())

    def words(self) -> dict[str, int]:
        """Return the words for "no value" with their numbers of rows."""
        found = np.flatnonzero(self.is_missing)
        return {str(self.distinct[i].as_py()): int(self.n_rows[i]) for i in found.tolist()}

    def has(self, pattern: str) -> bool:
        """Return whether any text matches a regular expression."""
        return bool(compute.any(compute.match_substring_regex(self.distinct, pattern)).as_py())

    def first(self, pattern: str) -> str:
        """Return the first text that matches a regular expression, or the first of all."""
        found = compute.index(compute.match_substring_regex(self.distinct, pattern), True).as_py()
        return str(self.distinct[max(found, 0)].as_py())

    def as_category(self) -> "ColumnTexts":
        """Return the texts without blanks around them; fewer words are missing values there."""
        is_missing = missing_categories(self)
        trimmed = compute.utf8_trim_whitespace(self.distinct)
        if trimmed.equals(self.distinct) and not is_missing.any():
            return self._replace(is_missing=is_missing)
        cells = compute.if_else(pa.array(is_missing), None, trimmed)
        column = cells.take(pa.array(self.codes, mask=self.codes < 0))
        found = texts_of(pa.chunked_array([column]))
        return found._replace(is_missing=np.zeros(len(found.distinct), dtype=np.bool_))


def missing_categories(texts: ColumnTexts) -> Mask:
    """Return which texts stand for "no value" in a category."""
    return missing_words(texts.distinct, MISSING_CATEGORIES)


def texts_of(column: pa.ChunkedArray) -> ColumnTexts:
    """Return the different texts of a column, in the order of their occurrence."""
    distinct = column.unique().drop_null()
    codes = compute.index_in(column, value_set=distinct).fill_null(-1).to_numpy().astype(np.intp)
    n_rows = np.bincount(codes + 1, minlength=len(distinct) + 1)[1:]
    return ColumnTexts(column, distinct, codes, n_rows, missing_words(distinct))


def quantities_of(columns: list[ColumnTexts]) -> list[Quantities]:
    """Read the texts of several columns as numbers with units, all at once."""
    joined = pa.concat_arrays([one.distinct for one in columns])
    found = quantities(joined)
    ends = np.cumsum([len(one.distinct) for one in columns])[:-1]
    return [
        Quantities(*parts) for parts in zip(*(np.split(part, ends) for part in found), strict=True)
    ]


def decimals_of(texts: ColumnTexts, parsed: Quantities) -> set[Decimal]:
    """Return the decimal marks with which all texts of a column are numbers."""
    rest = ~texts.is_missing
    marks: tuple[Decimal, ...] = ("point", "comma")
    return {mark for mark in marks if np.isfinite(parsed.numbers(mark)[rest]).all() and rest.any()}


def truth_values(texts: ColumnTexts, *, is_known: bool) -> Vector | None:
    """Return 1 and 0 for words such as yes and no; both must occur, unless known rows have them."""
    lower = [str(text).strip().lower() for text in texts.distinct.slice(0, 50).to_pylist()]
    present = {
        word for word, is_missing in zip(lower, texts.is_missing, strict=False) if not is_missing
    }
    if len(texts.distinct) > len(lower) or not present:
        return None
    for pair in _TRUTH_WORDS:
        if present == set(pair) or (is_known and present <= set(pair)):
            return np.array([float(word == pair[1]) for word in lower])
    words = set().union(*_TRUTH_WORDS[:3])
    if present <= words and (is_known or len(present) > 2):  # yes and Y in one column
        true_words = {pair[1] for pair in _TRUTH_WORDS[:3]}
        return np.array([float(word in true_words) for word in lower])
    return None


def are_codes(texts: ColumnTexts) -> bool:
    """Return whether all texts are digits, and some begin with a zero, as 01067 does."""
    rest = texts.distinct.filter(pa.array(~texts.is_missing))
    if not texts.has(r"^\s*0[0-9]"):
        return False
    return bool(compute.all(compute.match_substring_regex(rest, r"^\s*[0-9]+\s*$")).as_py())


def _are_levels(texts: ColumnTexts, parsed: Quantities) -> bool:
    """Return whether whole numbers and other texts are the few values of a category.

    A text in one row of many is a typing error rather than a value.
    """
    rest = ~texts.is_missing
    n_rows = texts.n_rows[rest]
    numbers = parsed.by_point[rest]
    is_whole = np.isnan(numbers) | (numbers == np.round(numbers))
    fewest = max(_FEWEST_ROWS, _FEWEST_OF_ALL * n_rows.sum())
    return bool(rest.sum() <= FEW_CATEGORIES and is_whole.all() and n_rows.min() >= fewest)


def written_numbers(texts: ColumnTexts) -> bool:
    """Return whether most rows of a category begin with a number, as "120/80" and "5 to 9" do."""
    begins = compute.match_substring_regex(texts.distinct, r"^\s*[-+<>~]?\s*[0-9]")
    is_number = np.asarray(begins.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return bool(texts.n_rows[is_number].sum() > _MOSTLY * texts.n_rows.sum())


def first_with_other_capitals(texts: ColumnTexts) -> tuple[str, str] | None:
    """Return the first two texts that differ in capitals only, if there are such."""
    lower = compute.utf8_lower(texts.distinct)
    if compute.count_distinct(lower).as_py() == len(lower):
        return None
    names = pd.Series(lower.to_pylist())
    second = int(names.duplicated().to_numpy().argmax())
    first = int((names == names[second]).to_numpy().argmax())
    return str(texts.distinct[first].as_py()), str(texts.distinct[second].as_py())


# --- damaged columns -----------------------------------------------------------------------------


def reject_damaged(name: str, texts: ColumnTexts, parsed: Quantities, source: str) -> None:
    """Raise for a column of numbers or dates in which some texts are neither, unless few recur."""
    reject_complex(texts.distinct.to_pylist(), name, source)
    if _are_levels(texts, parsed):
        return
    rest = ~texts.is_missing
    n_rows = texts.n_rows
    is_number = _numbers_of_one_unit(texts, parsed) & rest
    if n_rows[is_number].sum() >= _MOSTLY * n_rows[rest].sum():
        raise _damaged(name, texts, rest & ~is_number, "numbers", source)
    values = texts.distinct.to_pandas()[rest]
    fraction, is_date = fraction_of_dates(values, n_rows[rest])
    if fraction >= _MOSTLY:
        is_other = rest.copy()
        is_other[rest] = ~is_date
        _reject_other_forms(name, texts, is_other, source)
        raise _damaged(name, texts, is_other, "dates or times", source)


def reject_others(
    name: str, texts: ColumnTexts, parsed: Quantities, kind: str, source: str
) -> None:
    """Raise for new rows with texts that are not of the kind that the known rows have."""
    rest = ~texts.is_missing
    if kind == "truth":
        words = pa.array([word for pair in _TRUTH_WORDS for word in pair])
        lower = compute.utf8_lower(compute.utf8_trim_whitespace(texts.distinct))
        is_fit = compute.is_in(lower, value_set=words).to_numpy(zero_copy_only=False)
        raise _damaged(name, texts, rest & ~is_fit, "yes and no", source)
    if kind == "moment":
        values = texts.distinct.to_pandas()[rest]
        is_other = rest.copy()
        is_other[rest] = [not is_any_date(text) for text in values]
        raise _damaged(name, texts, is_other, "dates or times", source)
    if (parsed.is_quantity & rest).any():
        raise _damaged(name, texts, rest & ~parsed.is_quantity, "numbers", source)


def _numbers_of_one_unit(texts: ColumnTexts, parsed: Quantities) -> Mask:
    """Return which texts are numbers without a unit, or with the known one that most rows have."""
    is_plain = parsed.is_quantity & (parsed.units == "")
    units = {str(unit) for unit in set(parsed.units[parsed.is_quantity]) if unit}
    known = [unit for unit in units if are_units([unit])]
    most = max(known, key=lambda unit: int(texts.n_rows[parsed.units == unit].sum()), default=None)
    return is_plain if most is None else is_plain | (parsed.is_quantity & (parsed.units == most))


def _reject_other_forms(name: str, texts: ColumnTexts, is_other: Mask, source: str) -> None:
    """Raise if the first text that is no date of the usual form is one of another form."""
    rest = ~texts.is_missing
    row, other = texts.first_row(is_other), texts.first_row(rest & ~is_other)
    found = texts.column[row].as_py()
    if is_other.any() and is_any_date(found):
        raise InputError(
            f"Column {quoted(name)} of {source} writes dates or times in different forms: "
            f"{quoted(texts.column[other].as_py())} in row {other + 1}, {quoted(found)} in row "
            f"{row + 1}; use one form, such as 2024-12-31, or drop the column."
        )


def _damaged(name: str, texts: ColumnTexts, is_other: Mask, what: str, source: str) -> InputError:
    row = texts.first_row(is_other if is_other.any() else ~texts.is_missing)
    return InputError(
        f"Column {quoted(name)} of {source} is a column of {what}, but row {row + 1} "
        f"holds {quoted(texts.column[row].as_py())}; correct it or drop the column."
    )
