"""Columns of a table: numbers or categories, and an error for everything else.

:func:`features_of` converts the columns of a file. :func:`split_columns` splits a table into one
array of its numbers and the coded texts of its categories, for the encoder.
"""

from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from kernova.errors import InputError, quoted, shortened
from kernova.typing import Indices, Mask, Matrix

# With more different texts than this, and than half of the rows, a column is taken for ids. A
# category with more is encoded by how often each text occurs.
FEW_CATEGORIES = 50
_LONGEST_COMPLEX = 100
_COLUMNS_AT_ONCE = 256
_DATE_LETTERS = r"[0-9 :./\\TZ+-]{4,40}"
_DATE_FORMATS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y")
# As pandas.api.types.infer_dtype names what a column of Python objects holds.
_NUMBER_KINDS = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
_CATEGORY_KINDS = {"string", "boolean", "mixed-integer", "mixed"}


def features_of(
    columns: pa.Table, names: list[str], categories: Collection[str], source: str
) -> pd.DataFrame:
    """Return the columns of these names as numbers and texts; raise for what can be neither."""
    wanted = columns.select(names)
    usable = [
        number_or_text(decoded(column), name, source)
        for name, column in zip(names, wanted.columns, strict=True)
    ]
    frame: pd.DataFrame = pa.Table.from_arrays(usable, names=names).to_pandas()
    texts = {
        name: column
        for name, column in zip(names, usable, strict=True)
        if pa.types.is_string(column.type) and name not in categories
    }
    numbers = _numbers_among(frame, texts, source)
    if numbers:
        frame = pd.DataFrame({name: numbers.get(name, frame[name]) for name in names}, copy=False)
    reject_infinite_columns(frame, f" of {source}")
    return frame


def number_or_text(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    """Cast to a number type or to text, or raise."""
    kind = column.type
    types = pa.types
    if types.is_temporal(kind):
        raise _holds_dates(name, source)
    if types.is_boolean(kind):
        return column.cast(pa.int8())
    if types.is_null(kind) or types.is_decimal(kind) or types.is_float16(kind):
        return column.cast(pa.float64())
    if types.is_integer(kind) or types.is_floating(kind):
        return column
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return column.cast(pa.string())
    raise InputError(
        f"Column {quoted(name)} of {source} holds {shortened(kind)} values; features are numbers "
        "or text. Drop it or turn it into numbers."
    )


def _holds_dates(name: str, source: str) -> InputError:
    return InputError(
        f"Column {quoted(name)} of {source} holds dates or times; drop it or turn it into numbers."
    )


def _numbers_among(
    frame: pd.DataFrame, texts: dict[str, pa.ChunkedArray], source: str
) -> "dict[str, pd.Series[float]]":
    """Return the columns of text that are numbers; raise for those that cannot be categories."""
    numbers: dict[str, pd.Series[float]] = {}
    names = list(texts)
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        some = names[start : start + _COLUMNS_AT_ONCE]
        # Texts repeat: each is checked once.
        distinct = [texts[name].unique().drop_null() for name in some]
        for name, values in zip(some, _values_of(distinct), strict=True):
            if values.is_number.all():
                codes = frame[name].factorize()[0]  # a missing text has the code -1
                found = np.append(values.numbers, np.nan)[codes]
                numbers[name] = pd.Series(found, index=frame.index)
            else:
                _check_category(frame, values, name, source)
    return numbers


class _Values(NamedTuple):
    """Values that the distinct texts of a column stand for, in the order of their occurrence."""

    numbers: Matrix
    is_number: Mask
    is_meant: Mask
    is_date: NDArray[np.bool_]


def _values_of(distinct: list[pa.Array]) -> list[_Values]:
    """Return the values of the texts of several columns, all of them read at once."""
    texts = pa.chunked_array(distinct, pa.string()).to_pandas()
    numbers = _finite_numbers(texts)
    is_number = np.isfinite(numbers)
    # A text with a decimal comma is not read as a number, but was meant as one.
    is_meant = is_number | np.isfinite(_finite_numbers(texts.str.replace(",", ".", regex=False)))
    ends = np.cumsum([len(column) for column in distinct])[:-1]
    parts = [np.split(part, ends) for part in (numbers, is_number, is_meant, _dates(texts))]
    return [_Values(*of_column) for of_column in zip(*parts, strict=True)]


def _check_category(frame: pd.DataFrame, values: _Values, name: str, source: str) -> None:
    n_distinct, n_rows = len(values.numbers), len(frame)
    if values.is_meant.any():
        codes = frame[name].factorize()[0]
        if values.is_meant[codes[codes >= 0]].mean() >= 0.5:
            row = int((~np.append(values.is_number, True)[codes]).argmax())
            raise InputError(
                f"Column {quoted(name)} of {source} is a column of numbers, but row {row + 1} "
                f"holds {quoted(frame[name][row])}; correct it or drop the column."
            )
    if (values.is_date.mean(axis=0) >= 0.5).any():
        raise _holds_dates(name, source)
    reject_complex(frame[name].unique().tolist(), name, source)
    if n_distinct > max(FEW_CATEGORIES, n_rows / 2):
        raise InputError(
            f"Column {quoted(name)} of {source} looks like an id: {n_distinct} different texts in "
            f"{n_rows} rows. Name it as id_column or drop it."
        )


def reject_complex(texts: Sequence[object], name: str, source: str) -> None:
    """Raise if at least half of the different texts of a column are complex numbers."""
    if np.mean([_is_complex(str(text)) for text in texts]) >= 0.5:
        raise InputError(
            f"Column {quoted(name)} of {source} holds complex numbers; give their real and "
            "imaginary parts as two columns."
        )


def _is_complex(text: str) -> bool:
    """Return whether a text is a number with both parts, such as 1+2j; "2j" may be a category."""
    inner = text.strip("() ")[:_LONGEST_COMPLEX]
    if inner[-1:] not in ("j", "J") or not any(sign in inner[1:] for sign in "+-"):
        return False
    try:
        complex(inner)
    except ValueError:
        return False
    return True


def _finite_numbers(texts: "pd.Series[str]") -> Matrix:
    """Return the number that each text stands for, or NaN."""
    numbers = np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _dates(texts: "pd.Series[str]") -> NDArray[np.bool_]:
    """Return whether each text is a date, one column for each format of dates."""
    is_date = np.zeros((len(texts), len(_DATE_FORMATS)), dtype=np.bool_)
    possible = texts.str.fullmatch(_DATE_LETTERS).to_numpy(dtype=np.bool_)
    for j, pattern in enumerate(_DATE_FORMATS if possible.any() else ()):
        days = pd.to_datetime(texts[possible], format=pattern, errors="coerce", utc=True)
        is_date[possible, j] = days.notna()
    return is_date


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary-encoded column as its values; any other, or one of lists, as it is."""
    if not pa.types.is_dictionary(column.type):
        return column
    try:
        return column.cast(column.type.value_type)
    except pa.ArrowNotImplementedError:
        return column


class Texts(NamedTuple):
    """A category column: ``distinct[codes]`` are its texts, and the code -1 a missing one."""

    codes: Indices
    distinct: NDArray[np.object_]


class Columns(NamedTuple):
    """The columns of numbers (NaN is missing) and of categories, each in the table's order."""

    numbers: Matrix
    texts: list[Texts]

    def count_missing(self, is_category: Mask) -> Indices:
        """Count the missing values of each column of the table."""
        counts = np.zeros(len(is_category), dtype=np.intp)
        counts[~is_category] = np.isnan(self.numbers).sum(axis=0)
        counts[is_category] = [np.sum(texts.codes < 0) for texts in self.texts]
        return counts


def column_names(table: pd.DataFrame | Matrix) -> list[str]:
    """Return names for messages; an array's columns are x0, x1 and so on."""
    if isinstance(table, pd.DataFrame):
        return [str(name) for name in table.columns]
    return [f"x{j}" for j in range(table.shape[1])]


def category_columns(table: pd.DataFrame | Matrix) -> Mask:
    """Return the mask of category columns; raise for those that are neither that nor numbers."""
    if not isinstance(table, pd.DataFrame):
        return np.zeros(table.shape[1], dtype=np.bool_)
    return np.array([_is_category(table.iloc[:, j]) for j in range(table.shape[1])], dtype=np.bool_)


def split_columns(table: pd.DataFrame | Matrix, is_category: Mask) -> Columns:
    """Split a table into its columns of numbers and its category columns.

    Raises
    ------
    InputError
        If a column of numbers holds text or an infinite number.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from kernova.tables.columns import split_columns
    >>> table = pd.DataFrame({"length": [1.5, 2.5], "sex": ["f", None]})
    >>> columns = split_columns(table, np.array([False, True]))
    >>> columns.numbers.ravel(), columns.texts[0].codes
    (array([1.5, 2.5]), array([ 0, -1]))
    """
    texts: list[Texts] = []
    if isinstance(table, pd.DataFrame):
        numbers = np.empty((len(table), int(np.sum(~is_category))))
        for position, j in enumerate(np.flatnonzero(~is_category).tolist()):
            numbers[:, position] = _numbers_in(table.iloc[:, j])
        texts = [_texts_in(table.iloc[:, j]) for j in np.flatnonzero(is_category).tolist()]
    else:
        numbers = table
    names = column_names(table)
    _reject_infinite(numbers, [names[j] for j in np.flatnonzero(~is_category)])
    return Columns(numbers, texts)


def category_indices(texts: Texts, categories: NDArray[np.object_], fill: str) -> Indices:
    """Return each row's index among the categories; all others get the index after the last."""
    known = pd.Index(categories, dtype=object)  # texts of Arrow hold no lone surrogates
    index_of = known.get_indexer(pd.Index([*texts.distinct, fill], dtype=known.dtype))
    index_of[index_of < 0] = len(categories)
    # The code -1 of a missing text selects the fill, which is last.
    return index_of[texts.codes]


def most_frequent(texts: Texts, categories: NDArray[np.object_]) -> str:
    """Return the category that most rows have; among equals, the first in order."""
    present = texts._replace(codes=texts.codes[texts.codes >= 0])
    indices = category_indices(present, categories, "")
    return str(categories[np.bincount(indices).argmax()])


def _is_category(column: "pd.Series[Any]") -> bool:
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
        return True
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        return False
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind not in _NUMBER_KINDS | _CATEGORY_KINDS:
        raise _neither_number_nor_text(column, kind)
    return kind in _CATEGORY_KINDS


def _neither_number_nor_text(column: "pd.Series[Any]", kind: str) -> InputError:
    return InputError(
        f"Column {quoted(str(column.name))} holds {kind} values; features are numbers, true/false "
        "or text. Drop it or turn it into numbers."
    )


def _numbers_in(column: "pd.Series[Any]") -> Matrix:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if not pd.api.types.is_bool_dtype(column.dtype) and _is_category(column):
        raise _text_among_numbers(column)
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError as error:  # Python's whole numbers have no limit
        raise InputError(
            f"Column {quoted(str(column.name))} holds a number of more than 308 digits; correct it "
            "or drop the column."
        ) from error


def _text_among_numbers(column: "pd.Series[Any]") -> InputError:
    row, value = next(
        (row, value)
        for row, value in enumerate(column, start=1)
        if not isinstance(value, Real) and not pd.isna(value)
    )
    return InputError(
        f"Column {quoted(str(column.name))} held numbers in fit, but row {row} now holds "
        f"{quoted(value)}; correct it or drop the column."
    )


def _texts_in(column: "pd.Series[Any]") -> Texts:
    try:
        codes, distinct = pd.factorize(column)
    except TypeError as error:  # unhashable
        raise _neither_number_nor_text(column, "mixed") from error
    return Texts(codes, np.array([_text_of(value, column) for value in distinct], dtype=object))


def _text_of(value: object, column: "pd.Series[Any]") -> str:
    """Return a category as text independent of its column's type: True, 1 and 1.0 are "1"."""
    if isinstance(value, str):
        return value
    if isinstance(value, Real | np.bool_):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    raise _neither_number_nor_text(column, type(value).__name__)


def reject_infinite_columns(frame: pd.DataFrame, of_source: str) -> None:
    """Raise for the first infinite number of a table; column by column, without a copy of all."""
    first = [
        (int(np.isinf(frame[name].to_numpy()).argmax()), name)
        for name, kind in zip(frame.columns, frame.dtypes, strict=True)
        if kind.kind == "f" and np.isinf(frame[name].to_numpy()).any()
    ]
    if first:
        row, name = min(first, key=lambda found: found[0])
        raise _infinite_number(name, row, of_source)


def _reject_infinite(numbers: Matrix, names: Sequence[str], of_source: str = "") -> None:
    is_infinite = np.isinf(numbers)
    if is_infinite.any():
        row, position = np.argwhere(is_infinite)[0]
        raise _infinite_number(names[position], row, of_source)


def _infinite_number(name: str, row: int, of_source: str) -> InputError:
    return InputError(
        f"Column {quoted(name)}{of_source} holds an infinite number in row {row + 1}; correct it "
        "or drop the column."
    )
