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
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.tables.columns import (
    FEW_CATEGORIES,
    decoded,
    number_or_text,
    reject_complex,
    reject_infinite_columns,
)
from kernova.tables.dates import (
    DatePlan,
    Moments,
    fraction_of_dates,
    is_moment,
    moment_columns,
    moments_note,
    moments_of,
    parsed_moments,
    plan_of,
)
from kernova.tables.quantities import (
    Conversion,
    Decimal,
    Quantities,
    conversion,
    missing_words,
    quantities,
)
from kernova.text import first_few, format_value, plural, quantity
from kernova.typing import Indices, Mask, Vector

Kind = Literal["number", "truth", "moment", "category", "left out"]

_TRUTH_WORDS: Final = (("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"))
# With more different texts than this, and than half of the rows, a column names the rows.
_FEW_NAMES: Final = 10
_FEWEST_ROWS: Final = 10  # of which numbers in order are taken for row numbers
_NAME_OF_IDS: Final = re.compile(r"(?:^|[\W_])(?:id|ids|uuid|guid)$|[a-z](?:Id|ID)$", re.IGNORECASE)
_COLUMNS_AT_ONCE: Final = 256
_MOSTLY: Final = 0.5  # of the rows, from which on a column is one of damaged numbers or dates


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


def interpreted(
    columns: pa.Table,
    source: str,
    keep: Collection[str] = (),
    like: Mapping[str, ColumnReading] | None = None,
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

    Returns
    -------
    Interpretation
        Features of numbers and texts; NaN and None are missing.
    """
    study = _Study(source, columns.num_rows, frozenset(keep), like or {})
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


class _Texts(NamedTuple):
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


def _read_texts(texts: dict[str, pa.ChunkedArray], study: "_Study") -> None:
    names = list(texts)
    undecided: list[tuple[str, _Texts, Quantities]] = []
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        some = names[start : start + _COLUMNS_AT_ONCE]
        columns = [_texts_of(texts[name]) for name in some]
        for name, found, parsed in zip(some, columns, _quantities_of(columns), strict=True):
            decimals = _decimals(found, parsed)
            if decimals == {"point", "comma"} and _has_marks(found):
                undecided.append((name, found, parsed))
            else:
                _read_text(name, found, parsed, decimals, study)
    # 1,234 is read as the rest of the file suggests.
    decimal: Decimal = "comma" if study.decimals == {"comma"} else "point"
    for name, found, parsed in undecided:
        _read_text(name, found, parsed, {decimal}, study)


def _texts_of(column: pa.ChunkedArray) -> _Texts:
    distinct = column.unique().drop_null()
    codes = compute.index_in(column, value_set=distinct).fill_null(-1).to_numpy().astype(np.intp)
    n_rows = np.bincount(codes + 1, minlength=len(distinct) + 1)[1:]
    return _Texts(column, distinct, codes, n_rows, missing_words(distinct))


def _quantities_of(columns: list[_Texts]) -> list[Quantities]:
    """Read the texts of several columns at once."""
    joined = pa.concat_arrays([one.distinct for one in columns])
    found = quantities(joined)
    ends = np.cumsum([len(one.distinct) for one in columns])[:-1]
    return [
        Quantities(*parts) for parts in zip(*(np.split(part, ends) for part in found), strict=True)
    ]


def _decimals(texts: _Texts, parsed: Quantities) -> set[Decimal]:
    """Return the decimal marks with which all texts of a column are numbers."""
    rest = ~texts.is_missing
    marks: tuple[Decimal, ...] = ("point", "comma")
    return {mark for mark in marks if np.isfinite(parsed.numbers(mark)[rest]).all() and rest.any()}


def _has_marks(texts: _Texts) -> bool:
    return bool(
        compute.any(compute.match_substring_regex(texts.distinct, "[0-9][.,][0-9]")).as_py()
    )


def _read_text(
    name: str, texts: _Texts, parsed: Quantities, decimals: set[Decimal], study: "_Study"
) -> None:
    """Decide what a column of text holds."""
    known = study.like.get(name)
    if known is not None and known.kind in ("category", "left out"):
        study.add_category(name, texts)
        return
    rest = ~texts.is_missing
    if decimals or not rest.any():
        if not _read_quantities(name, texts, parsed, decimals, study):
            study.add_category(name, texts)
        return
    truth = _truth_values(texts, known)
    if truth is not None:
        study.add_truth(name, texts, truth)
        return
    values = texts.distinct.to_pandas()[rest]
    pattern = known.dates.pattern if known is not None and known.dates is not None else ""
    moments = parsed_moments(values, pattern)
    if moments is not None:
        cells = (
            np.full(len(rest), np.nan, dtype=moments.cells.dtype)
            if moments.kind != "date"
            else np.full(len(rest), np.datetime64("NaT"), dtype="datetime64[us]")
        )
        cells[rest] = moments.cells
        missing = np.datetime64("NaT") if moments.kind == "date" else np.nan
        study.note_words(name, texts)
        study.add_moments(name, moments._replace(cells=texts.spread(cells, missing)))
        return
    if known is None and name not in study.keep:
        _reject_damaged(name, texts, parsed, values, study.source)
    study.add_category(name, texts)


def _read_quantities(
    name: str, texts: _Texts, parsed: Quantities, decimals: set[Decimal], study: "_Study"
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
        study.notes_on_units.append(
            f"Column {quoted(name)} of {study.source} mixes the units "
            f"{first_few(filter(None, counts))}, so its texts are not used as numbers; convert "
            "them to one unit."
        )
        return False
    factors = np.array([found.factors.get(unit, 1.0) for unit in parsed.units], dtype=np.float64)
    study.note_words(name, texts)
    study.note_quantities(name, texts, counts, found, decimal)
    numbers = texts.spread(parsed.numbers(decimal) * factors, np.nan)
    study.add_array(name, numbers, ColumnReading("number", found.unit, decimal))
    return True


def _truth_values(texts: _Texts, known: ColumnReading | None) -> Vector | None:
    """Return 1 and 0 for words such as yes and no; both must occur, unless known rows have them."""
    lower = [str(text).strip().lower() for text in texts.distinct.slice(0, 50).to_pylist()]
    present = {
        word for word, is_missing in zip(lower, texts.is_missing, strict=False) if not is_missing
    }
    if len(texts.distinct) > len(lower) or not present:
        return None
    is_known = known is not None and known.kind == "truth"
    for pair in _TRUTH_WORDS:
        if present == set(pair) or (is_known and present <= set(pair)):
            return np.array([float(word == pair[1]) for word in lower])
    words = set().union(*_TRUTH_WORDS[:3])
    if present <= words and len(present) > 2:  # yes and Y in one column
        true_words = {pair[1] for pair in _TRUTH_WORDS[:3]}
        return np.array([float(word in true_words) for word in lower])
    return None


def _reject_damaged(
    name: str, texts: _Texts, parsed: Quantities, values: "pd.Series[str]", source: str
) -> None:
    """Raise for a column of numbers or dates in which some texts are neither."""
    rest = ~texts.is_missing
    n_rows = texts.n_rows
    is_plain = parsed.is_quantity & (parsed.units == "")
    if n_rows[is_plain & rest].sum() >= _MOSTLY * n_rows[rest].sum():
        raise _damaged(name, texts, rest & ~is_plain, "numbers", source)
    fraction, is_date = fraction_of_dates(values, n_rows[rest])
    if fraction >= _MOSTLY:
        is_other = rest.copy()
        is_other[rest] = ~is_date
        raise _damaged(name, texts, is_other, "dates or times", source)
    reject_complex(texts.distinct.to_pylist(), name, source)


def _damaged(name: str, texts: _Texts, is_other: Mask, what: str, source: str) -> InputError:
    row = texts.first_row(is_other if is_other.any() else ~texts.is_missing)
    return InputError(
        f"Column {quoted(name)} of {source} is a column of {what}, but row {row + 1} "
        f"holds {quoted(texts.column[row].as_py())}; correct it or drop the column."
    )


# --- gathering -----------------------------------------------------------------------------------


@dataclass
class _Study:
    """The features found so far, what is left out, and what to say."""

    source: str
    n_rows: int
    keep: frozenset[str]
    like: Mapping[str, ColumnReading]
    arrow: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    arrays: dict[str, dict[str, Any]] = field(default_factory=dict)
    readings: dict[str, ColumnReading] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    decimals: set[Decimal] = field(default_factory=set)
    notes_on_units: list[str] = field(default_factory=list)
    numbers_in_text: list[str] = field(default_factory=list)
    truths: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    moments: list[str] = field(default_factory=list)
    many: list[str] = field(default_factory=list)

    def add_numbers(self, name: str, column: pa.ChunkedArray) -> None:
        """Add a column that the file stores as numbers or true and false."""
        known = self.like.get(name)
        self.arrow[name] = column
        self.readings[name] = self._as_known(known, column) or ColumnReading("number")
        if known is None:
            self._consider_numbers(name, column)

    def add_array(self, name: str, numbers: Vector, reading: ColumnReading) -> None:
        """Add a column of numbers that were read from texts."""
        self.arrays[name] = {name: numbers}
        self.readings[name] = self.like.get(name) or reading
        if name not in self.like:
            self._consider_numbers(name, pa.chunked_array([pa.array(numbers, from_pandas=True)]))

    def add_truth(self, name: str, texts: _Texts, truth: Vector) -> None:
        """Add a column of words such as yes and no."""
        self.note_words(name, texts)
        shown = first_few([quoted(text) for text in texts.distinct.to_pylist()], 4)
        self.truths.append(f"{quoted(name)} ({shown})")
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
        plan = plan_of(moments) if known is None or known.dates is None else known.dates
        columns = moment_columns(name, moments, plan)
        self.arrays[name] = columns
        self.readings[name] = known or ColumnReading("moment", dates=plan)
        first = np.asarray(next(iter(columns.values())), dtype=np.float64)
        if known is None and not self._is_constant(
            name, pa.chunked_array([pa.array(first, from_pandas=True)]), moments
        ):
            self.moments.append(moments_note(name, moments, list(columns), self.source))

    def add_category(self, name: str, texts: _Texts) -> None:
        """Add a column of text as it is, without blanks around the texts."""
        self.arrow[name] = _trimmed(texts)
        known = self.like.get(name)
        self.readings[name] = self._as_known(known, self.arrow[name]) or ColumnReading("category")
        if known is not None:
            return
        n_distinct, n_present = len(texts.distinct), int(texts.n_rows.sum())
        if n_distinct <= 1 and self._is_constant(name, texts.column):
            return
        if n_distinct > max(_FEW_NAMES, n_present / 2) and name not in self.keep:
            self._leave_out(name, f"{n_distinct:,} different texts in {quantity(n_present, 'row')}")
        elif n_distinct > FEW_CATEGORIES:
            self.many.append(f"{quoted(name)} ({n_distinct:,})")

    def note_words(self, name: str, texts: _Texts) -> None:
        """Write down which words stand for missing values in a column."""
        found = {word.strip(): n for word, n in texts.words().items() if word.strip()}
        if found:
            cells = first_few([f"{quoted(word)} {n}" for word, n in found.items()], 4)
            self.words.append(f"{quoted(name)} ({cells})")

    def note_quantities(
        self,
        name: str,
        texts: _Texts,
        counts: Mapping[str, int],
        found: Conversion,
        decimal: Decimal,
    ) -> None:
        """Write down how the numbers of a column of text were read."""
        if decimal == "comma" or _has_marks(texts):
            self.decimals.add(decimal)
        if name in self.like:
            return
        how = [f"in {found.unit}"] if found.unit else []
        if decimal == "comma":
            how.append("with decimal commas")
        elif compute.any(compute.match_substring(texts.distinct, ",")).as_py():
            how.append("with commas between thousands")
        if how:
            self.numbers_in_text.append(f"{quoted(name)} {' '.join(how)}")
        named = [unit for unit in counts if unit]
        if len(named) > 1:
            self.notes_on_units.append(
                f"Column {quoted(name)} of {self.source} mixes the units {first_few(named)}; all "
                f"numbers were converted to {found.unit}."
            )

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
        self.reasons[name] = why
        self.readings[name] = ColumnReading("left out", value=value)

    def _is_constant(
        self, name: str, column: pa.ChunkedArray, moments: Moments | None = None
    ) -> bool:
        """Leave out a column without values, or with one value in all rows."""
        if name in self.keep:
            return False
        if column.null_count == len(column):
            self._leave_out(name, "no values")
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

    def _consider_numbers(self, name: str, column: pa.ChunkedArray) -> None:
        """Leave out a column of numbers that is constant, or that numbers or names the rows."""
        if name in self.keep or self._is_constant(name, column):
            return
        if column.null_count or self.n_rows < _FEWEST_ROWS:
            return
        ends = compute.min_max(column).as_py()
        is_named = _NAME_OF_IDS.search(name.strip()) is not None
        is_whole = pa.types.is_integer(column.type)
        if ends["max"] - ends["min"] == self.n_rows - 1 and _are_consecutive(column, ends["min"]):
            self._leave_out(name, "numbers the rows")
        elif is_named and is_whole and ends["max"] - ends["min"] > FEW_CATEGORIES:
            n_distinct = compute.count_distinct(column).as_py()
            if n_distinct > FEW_CATEGORIES:
                self._leave_out(name, f"an id by its name, with {n_distinct:,} values")

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
        return Interpretation(frame, self.readings, self.notes())

    def _keep_something(self, names: list[str]) -> None:
        """Use columns of numbers all the same if nothing else is left."""
        if any(self.readings[name].kind != "left out" for name in names):
            return
        possible = [
            name
            for name in names
            if self.reasons.get(name) != "no values" and self._is_number(name)
        ]
        if not possible:
            why = first_few(
                [f"{quoted(name)} ({self.reasons.get(name, 'left out')})" for name in names]
            )
            raise InputError(
                f"{self.source} has no column that can be a feature: {why}. To use one all the "
                f"same, pass keep={quoted(names[0])}."
            )
        for name in possible:
            del self.reasons[name]
            self.readings[name] = ColumnReading("number")

    def _is_number(self, name: str) -> bool:
        return name in self.reasons and not (
            name in self.arrow and pa.types.is_string(self.arrow[name].type)
        )

    def notes(self) -> list[str]:
        """Return the sentences on the columns."""
        source = self.source
        notes = []
        if self.numbers_in_text:
            notes.append(
                f"Texts of {source} were read as numbers: {first_few(self.numbers_in_text)}."
            )
        notes += self.notes_on_units
        if self.truths and not self.like:
            notes.append(f"Texts of {source} were read as 1 and 0: {first_few(self.truths)}.")
        notes += self.moments
        if self.words:
            notes.append(f"Texts of {source} were read as missing values: {first_few(self.words)}.")
        if self.many:
            verb = plural(len(self.many), "has", "have")
            notes.append(
                f"Of the columns of {source}, {first_few(self.many)} {verb} more than "
                f"{FEW_CATEGORIES} different texts; rows are compared by how often theirs occurs."
            )
        if self.reasons:
            reasons = [f"{quoted(name)} ({why})" for name, why in self.reasons.items()]
            notes.append(
                f"Columns of {source} that are not used as features: {first_few(reasons)}. To use "
                f"one all the same, pass keep={quoted(next(iter(self.reasons)))}."
            )
        return notes


def _trimmed(texts: _Texts) -> pa.ChunkedArray:
    trimmed = compute.utf8_trim_whitespace(texts.distinct)
    if trimmed.equals(texts.distinct):
        return texts.column
    return compute.utf8_trim_whitespace(texts.column)


def _are_consecutive(column: pa.ChunkedArray, lowest: float) -> bool:
    """Return whether the numbers are whole, and each from the lowest to the highest occurs."""
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
