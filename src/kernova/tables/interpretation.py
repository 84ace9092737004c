"""Columns of a file as features: what their texts mean, and which columns are no features.

Every column is a number, a truth value, a date or time, or a category; or it is proposed as no
feature, because it names or numbers the rows, or has one value only. Each decision that a reader
could question is written down in a sentence. The decisions on a known table are kept
(:class:`ColumnReading`), so that a new table can be read like it.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as compute

from kernova.errors import InputError, quoted
from kernova.tables.columns import (
    FEW_CATEGORIES,
    decoded,
    number_or_text,
    reject_infinite_columns,
)
from kernova.tables.dates import (
    COMPACT,
    DatePlan,
    Moments,
    compact_dates,
    day_column,
    is_moment,
    moment_columns,
    moments_of,
    parsed_moments,
    plan_of,
    swapped,
)
from kernova.tables.quantities import Conversion, Decimal, Quantities, are_units, conversion
from kernova.tables.remarks import Remarks
from kernova.tables.texts import (
    ColumnTexts,
    are_codes,
    decimals_of,
    missing_categories,
    quantities_of,
    reject_damaged,
    reject_others,
    texts_of,
    truth_values,
)
from kernova.text import first_few, format_value, quantity
from kernova.typing import Vector

Kind = Literal["number", "truth", "moment", "category", "left out"]

# With more different texts than this, and than half of the rows, a column names the rows.
_FEW_NAMES: Final = 10
_FEWEST_ROWS: Final = 10  # of which numbers in order are taken for row numbers
_NAME_OF_IDS: Final = re.compile(
    r"(?i:(?:^|[\W_])(?:ids?|uuid|guid|ssn|isbn|iban|ean|upc|imei|phone|zip|plz|postcode"
    r"|(?:zip|postal|post|product|item)[\W_]*code"
    r"|(?:account|card|case|contract|customer|invoice|item|member|order|part|passport|patient"
    r"|phone|policy|product|record|reference|serial|ticket|transaction)[\W_]*(?:no|nr|num|number))"
    r"\.?)$|[a-z](?:Id|ID)$"  # customerId, but not valid
)
_COLUMNS_AT_ONCE: Final = 256
_ISO: Final = "year-month-day, such as 2024-12-31"
_MARKS: Final = "[0-9][.,][0-9]"
_LARGEST_WHOLE: Final = 2**53  # beyond, a float does not hold each whole number
# Reasons why columns are left out, of which nothing can be computed.
_NO_VALUES: Final = "no values"
_DATES: Final = "dates or times"


@dataclass(frozen=True)
class ColumnReading:
    """How a column of a known table was read.

    Attributes
    ----------
    kind : {"number", "truth", "moment", "category", "left out"}
        What it holds.
    unit : str
        The unit of its numbers; "" without one.
    decimal : {"point", "comma"}
        The decimal mark of its texts.
    dates : DatePlan or None
        The features of dates and times.
    value : object
        The only value of a column that was left out for having no other; None otherwise.
    """

    kind: Kind
    unit: str = ""
    decimal: Decimal = "point"
    dates: DatePlan | None = None
    value: object = None


class Interpretation(NamedTuple):
    """Features of a table, how their columns were read, and sentences about it."""

    features: pd.DataFrame
    readings: dict[str, ColumnReading]
    notes: list[str]


def day_features(readings: Mapping[str, ColumnReading], keep: Collection[str]) -> list[str]:
    """Return the features that count the days of dates, without columns that are to be kept."""
    return [
        day_column(name, reading.dates)
        for name, reading in readings.items()
        if reading.dates is not None and reading.dates.kind == "date" and name not in keep
    ]


def interpreted(
    columns: pa.Table,
    source: str,
    keep: Collection[str] = (),
    like: Mapping[str, ColumnReading] | None = None,
    *,
    with_dates: bool = True,
) -> Interpretation:
    """Turn the columns of a file into features.

    Parameters
    ----------
    columns : Table of Arrow
        The columns that may be features.
    source : str
        The path of the file, for messages.
    keep : collection of str
        Columns that are features in any case.
    like : mapping of str to ColumnReading, optional
        The readings of a known table.
    with_dates : bool, default=True
        Whether dates and times are features; otherwise only those in ``keep`` are.

    Returns
    -------
    Interpretation
        Features of numbers and texts; NaN and None are missing.
    """
    study = _Study(source, columns.num_rows, frozenset(keep), like or {}, with_dates)
    texts: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(columns.column_names, columns.columns, strict=True):
        values = decoded(column)
        if is_moment(values.type):
            study.add_moments(name, moments_of(values))
            continue
        usable = number_or_text(values, name, source)
        if pa.types.is_string(usable.type):
            texts[name] = usable
        else:
            study.add_numbers(name, usable)
    _read_texts(texts, study)
    return study.result(columns.column_names)


# --- texts ---------------------------------------------------------------------------------------


def _read_texts(texts: dict[str, pa.ChunkedArray], study: "_Study") -> None:
    names = list(texts)
    undecided: list[tuple[str, ColumnTexts, Quantities]] = []
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        some = names[start : start + _COLUMNS_AT_ONCE]
        columns = [texts_of(texts[name]) for name in some]
        for name, found, parsed in zip(some, columns, quantities_of(columns), strict=True):
            decimals = decimals_of(found, parsed)
            if decimals == {"point", "comma"} and found.has(_MARKS):
                undecided.append((name, found, parsed))
            else:
                _read_text(name, found, parsed, decimals, study)
    # 1,234 is read as the rest of the file suggests.
    decimal: Decimal = "comma" if study.decimals == {"comma"} else "point"
    for name, found, parsed in undecided:
        known = study.like.get(name)
        chosen = decimal if known is None else known.decimal
        _read_text(name, found, parsed, {chosen}, study)


def _read_text(
    name: str, texts: ColumnTexts, parsed: Quantities, decimals: set[Decimal], study: "_Study"
) -> None:
    """Decide what a column of text holds."""
    known = study.like.get(name)
    is_code = known is None and are_codes(texts)
    if is_code or (known is not None and known.kind in ("category", "left out")):
        study.add_category(name, texts, is_code=is_code)
        return
    rest = ~texts.is_missing
    if decimals or not rest.any():
        if not _read_quantities(name, texts, parsed, decimals, study):
            study.add_category(name, texts)
        return
    truth = truth_values(texts, is_known=known is not None and known.kind == "truth")
    if truth is not None:
        study.add_truth(name, texts, truth)
        return
    moments = _moments_in(name, texts, study)
    if moments is not None:
        study.remarks.add_words(name, texts.words())
        study.add_moments(name, moments)
        return
    if known is not None:
        reject_others(name, texts, parsed, known.kind, study.source)
    elif name not in study.keep:
        reject_damaged(name, texts, parsed, study.source)
    study.add_category(name, texts)


def _moments_in(name: str, texts: ColumnTexts, study: "_Study") -> Moments | None:
    """Return the dates or times of a column of text, if all of its texts are such."""
    known = study.like.get(name)
    pattern = known.dates.pattern if known is not None and known.dates is not None else ""
    rest = ~texts.is_missing
    moments = parsed_moments(texts.distinct.to_pandas()[rest], pattern)
    if moments is None:
        return None
    if pattern and moments.pattern in swapped(pattern):
        raise InputError(
            f"Column {quoted(name)} of {study.source} has dates of the form {moments.pattern}, but "
            f"those of the known rows were read as {pattern}; write all as {_ISO}."
        )
    missing = np.datetime64("NaT") if moments.kind == "date" else np.nan
    cells = np.full(len(rest), missing, dtype=moments.cells.dtype)
    cells[rest] = moments.cells
    return moments._replace(cells=texts.spread(cells, missing))


def _read_quantities(
    name: str, texts: ColumnTexts, parsed: Quantities, decimals: set[Decimal], study: "_Study"
) -> bool:
    """Add a column of numbers, unless its units cannot be compared."""
    known = study.like.get(name)
    rest = ~texts.is_missing
    decimal: Decimal = "comma" if decimals == {"comma"} else "point"
    if known is not None and known.decimal in decimals:
        decimal = known.decimal
    units = parsed.units[rest]
    counts = {str(unit): int(texts.n_rows[rest][units == unit].sum()) for unit in set(units)}
    found = conversion(counts, None if known is None else known.unit)
    if found is None and known is not None:
        other = next(unit for unit in counts if unit and unit != known.unit)
        raise InputError(
            f"Column {quoted(name)} of {study.source} has the unit {other}, but the known rows "
            f"have {known.unit or 'no unit'}; convert one of them."
        )
    if found is None:
        named = sorted(filter(None, counts), key=lambda unit: (-counts[unit], unit))
        if not are_units(named):  # but parts of codes, such as 12A
            return False
        study.leave_out_units(name, texts, named)
        return True
    factors = np.array([found.factors.get(unit, 1.0) for unit in parsed.units], dtype=np.float64)
    study.note_quantities(name, texts, counts, found, decimal)
    numbers = texts.spread(parsed.numbers(decimal) * factors, np.nan)
    study.add_array(name, numbers, ColumnReading("number", found.unit, decimal))
    return True


# --- gathering -----------------------------------------------------------------------------------


@dataclass
class _Study:
    """The features found so far, what is left out, and what to say."""

    source: str
    n_rows: int
    keep: frozenset[str]
    like: Mapping[str, ColumnReading]
    with_dates: bool = True
    arrow: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    arrays: dict[str, dict[str, Any]] = field(default_factory=dict)
    readings: dict[str, ColumnReading] = field(default_factory=dict)
    decimals: set[Decimal] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.remarks = Remarks(self.source)

    def add_numbers(self, name: str, column: pa.ChunkedArray) -> None:
        """Add a column that the file stores as numbers or true and false."""
        known = self.like.get(name)
        column = _without_nan(column)
        if pa.types.is_integer(column.type) or (known is not None and known.kind == "moment"):
            moments = self._numbers_as_moments(name, column)
            if moments is not None:
                self.add_moments(name, moments)
                return
        self.arrow[name] = column
        self.readings[name] = self._as_known(known, column) or ColumnReading("number")
        if known is None:
            self._consider_numbers(name, column)
        elif known.unit and column.null_count < len(column):
            self.remarks.add_sentence(
                "units", name,
                f"has no unit; its numbers were taken to be in {known.unit}, the unit of the known "
                "rows.",
            )  # fmt: skip

    def add_array(self, name: str, numbers: Vector, reading: ColumnReading) -> None:
        """Add a column of numbers that were read from texts."""
        column = pa.chunked_array([pa.array(numbers, from_pandas=True)])
        moments = None if reading.unit else self._numbers_as_moments(name, column)
        if moments is not None:
            self.add_moments(name, moments)
            return
        self.arrays[name] = {name: numbers}
        self.readings[name] = self.like.get(name) or reading
        if name not in self.like:
            self._consider_numbers(name, column, has_unit=bool(reading.unit))

    def _numbers_as_moments(self, name: str, column: pa.ChunkedArray) -> Moments | None:
        """Return the dates of whole numbers such as 20241231, or of known dates without values."""
        known = self.like.get(name)
        if known is None:
            return compact_dates(column, is_known=False)
        if known.kind != "moment" or known.dates is None:
            return None
        if column.null_count == len(column):
            is_date = known.dates.kind == "date"
            cells: Any = np.full(len(column), "NaT", "M8[us]") if is_date else np.nan
            return Moments(known.dates.kind, np.broadcast_to(cells, len(column)))
        found = compact_dates(column, is_known=True) if known.dates.pattern == COMPACT else None
        if found is None:
            raise InputError(
                f"Column {quoted(name)} of {self.source} holds numbers, but the known rows have "
                "dates or times there; correct it or drop the column."
            )
        return found

    def add_truth(self, name: str, texts: ColumnTexts, truth: Vector) -> None:
        """Add a column of words such as yes and no."""
        self.remarks.add_words(name, texts.words())
        self.remarks.add_truth(name, texts)
        self.add_array(name, texts.spread(truth, np.nan), ColumnReading("truth"))

    def add_moments(self, name: str, moments: Moments) -> None:
        """Add the features of a column of dates or times."""
        known = self.like.get(name)
        if known is not None and (known.dates is None or known.dates.kind != moments.kind):
            if known.kind != "left out":
                raise InputError(
                    f"Column {quoted(name)} of {self.source} holds dates or times of another kind "
                    "than the known rows; correct it or drop the column."
                )
            self.readings[name], self.arrays[name] = known, {}
            return
        if known is None and not self.with_dates and name not in self.keep:
            self._leave_out(name, _DATES)
            return
        plan = plan_of(moments) if known is None or known.dates is None else known.dates
        columns = moment_columns(name, moments, plan)
        self.arrays[name] = columns
        self.readings[name] = known or ColumnReading("moment", dates=plan)
        first = np.asarray(next(iter(columns.values())), dtype=np.float64)
        if known is None and not self._is_constant(
            name, pa.chunked_array([pa.array(first, from_pandas=True)]), moments
        ):
            self.remarks.add_moments(name, moments, list(columns))

    def add_category(self, name: str, given: ColumnTexts, *, is_code: bool = False) -> None:
        """Add a column of text as it is, without blanks around the texts."""
        texts = given.as_category()
        as_missing = given._replace(is_missing=missing_categories(given))
        self.remarks.add_words(name, as_missing.words())
        self.arrow[name] = texts.column
        known = self.like.get(name)
        self.readings[name] = self._as_known(known, texts.column) or ColumnReading("category")
        if known is not None:
            return
        n_distinct, n_present = len(texts.distinct), int(texts.n_rows.sum())
        if n_distinct <= 1 and self._is_constant(name, texts.column):
            return
        if n_distinct > max(_FEW_NAMES, n_present / 2) and name not in self.keep:
            self._leave_out(name, f"{n_distinct:,} different texts in {quantity(n_present, 'row')}")
            return
        self.remarks.add_category(name, texts, is_code=is_code)

    def leave_out_units(self, name: str, texts: ColumnTexts, units: list[str]) -> None:
        """Leave out a column whose units cannot be converted, unless it is to be kept as text."""
        mixed = f"mixes the units {first_few(units)}"
        if name not in self.keep:
            self.arrow[name] = texts.column
            self._leave_out(name, mixed)
            return
        self.add_category(name, texts)
        self.remarks.add_sentence(
            "units", name,
            f"{mixed}, so its texts are not used as numbers; convert them to one unit.",
        )  # fmt: skip

    def note_quantities(
        self,
        name: str,
        texts: ColumnTexts,
        counts: Mapping[str, int],
        found: Conversion,
        decimal: Decimal,
    ) -> None:
        """Write down how the numbers of a column of text were read."""
        if decimal == "comma" or texts.has(_MARKS):
            self.decimals.add(decimal)
        self.remarks.add_words(name, texts.words())
        known = self.like.get(name)
        if known is None:
            self.remarks.add_quantities(name, texts, counts, found, decimal)
            return
        if decimal != known.decimal and texts.has(_MARKS):
            self.remarks.add_sentence(
                "units", name, f"was read with decimal {decimal}s, unlike the known rows."
            )
        others = [unit for unit in counts if unit not in ("", known.unit)]
        if others and found.unit:
            self.remarks.add_sentence(
                "units", name,
                f"was converted from {first_few(others)} to {found.unit}, the unit of the known "
                "rows.",
            )  # fmt: skip

    def _as_known(
        self, known: ColumnReading | None, column: pa.ChunkedArray
    ) -> ColumnReading | None:
        """Return the reading of the known rows, marked where their only value is not this one's."""
        if known is None or known.value is None:
            return known
        ends = compute.min_max(column).as_py()
        is_same = column.null_count == 0 and ends["min"] == ends["max"] == known.value
        return known if is_same else replace(known, value=None)

    def _leave_out(self, name: str, why: str, value: object = None) -> None:
        self.remarks.reasons[name] = why
        self.readings[name] = ColumnReading("left out", value=value)

    def _is_constant(
        self, name: str, column: pa.ChunkedArray, moments: Moments | None = None
    ) -> bool:
        """Leave out a column without values, or with one value in all rows."""
        if name in self.keep:
            return False
        if column.null_count == len(column):
            self._leave_out(name, _NO_VALUES)
            return True
        if column.null_count or len(column) < 2:
            return False
        first = column[0].as_py()
        ends = compute.min_max(column).as_py()
        if ends["min"] != ends["max"]:
            return False
        shown = str(moments.cells[0])[:19] if moments is not None else format_value(first)
        self._leave_out(name, f"always {shown}", None if moments is not None else first)
        return True

    def _consider_numbers(
        self, name: str, column: pa.ChunkedArray, *, has_unit: bool = False
    ) -> None:
        """Leave out a column of numbers that is constant, or that numbers or names the rows."""
        if name in self.keep or self._is_constant(name, column):
            return
        if has_unit or column.null_count or self.n_rows < _FEWEST_ROWS:
            return
        ends = compute.min_max(column).as_py()
        is_named = _NAME_OF_IDS.search(name.strip()) is not None
        is_whole = pa.types.is_integer(column.type)
        if ends["max"] - ends["min"] == self.n_rows - 1 and _are_consecutive(column, ends["min"]):
            self._leave_out(name, "numbers the rows")
            return
        if not is_whole or ends["max"] - ends["min"] <= FEW_CATEGORIES:
            return
        is_huge = ends["min"] > _LARGEST_WHOLE
        n_distinct = compute.count_distinct(column).as_py() if is_named or is_huge else 0
        if is_named and n_distinct > FEW_CATEGORIES:
            self._leave_out(name, f"an id by its name, with {n_distinct:,} values")
        elif is_huge and n_distinct == self.n_rows:
            self._leave_out(name, "whole numbers of 16 digits or more, different in all rows")
        elif bool(np.all((numbers := column.to_numpy())[1:] > numbers[:-1])):
            self.remarks.add("rising", name)

    # -- results ----------------------------------------------------------------------------------

    def result(self, names: list[str]) -> Interpretation:
        """Return the features in the order of the file."""
        self._keep_something(names)
        used = [name for name in names if self.readings[name].kind != "left out"]
        stored = [name for name in used if name in self.arrow]
        frame: pd.DataFrame = pa.table({name: self.arrow[name] for name in stored}).to_pandas()
        if len(stored) < len(used):
            columns: dict[str, Any] = {}
            for name in used:
                parts = {name: frame[name]} if name in self.arrow else self.arrays[name]
                for part, values in parts.items():
                    columns[_free_name(part, name, {*columns, *used})] = values
            frame = pd.DataFrame(columns, copy=False)
        reject_infinite_columns(frame, f" of {self.source}")
        return Interpretation(frame, self.readings, self.remarks.sentences(is_new=bool(self.like)))

    def _keep_something(self, names: list[str]) -> None:
        """Use columns of numbers all the same if nothing else is left."""
        if any(self.readings[name].kind != "left out" for name in names):
            return
        possible = [
            name
            for name in names
            if self.remarks.reasons.get(name) not in (_NO_VALUES, _DATES) and self._is_number(name)
        ]
        if not possible:
            why = first_few(
                [f"{quoted(name)} ({self.remarks.reasons.get(name, 'left out')})" for name in names]
            )
            raise InputError(
                f"{self.source} has no column that can be a feature: {why}. To use one all the "
                f"same, pass keep={quoted(names[0])}."
            )
        for name in possible:
            self.remarks.add("used", name, self.remarks.reasons.pop(name))
            self.readings[name] = ColumnReading("number")

    def _is_number(self, name: str) -> bool:
        return name in self.remarks.reasons and not (
            name in self.arrow and pa.types.is_string(self.arrow[name].type)
        )


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in which NaN, as arrays have it, is a missing value."""
    if not pa.types.is_floating(column.type) or not compute.any(compute.is_nan(column)).as_py():
        return column
    return compute.if_else(compute.is_nan(column), None, column)


def _are_consecutive(column: pa.ChunkedArray, lowest: float) -> bool:
    """Return whether the numbers are whole, and each from the lowest to the highest occurs."""
    if lowest != np.floor(lowest):
        return False
    numbers = column.to_numpy()
    if np.all(np.diff(numbers) == 1):
        return True
    places = (numbers - lowest).astype(np.intp)
    if not np.array_equal(places + lowest, numbers):
        return False
    return bool((np.bincount(places, minlength=len(numbers)) == 1).all())


def _free_name(name: str, own: str, taken: set[str]) -> str:
    while name != own and name in taken:
        name += "_"
    return name
