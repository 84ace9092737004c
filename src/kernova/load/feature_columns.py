"""Columns as features: numbers or categories, and a sentence for whatever is neither."""

from collections.abc import Collection

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from kernova.errors import InputError

_FEW_CATEGORIES = 50
_DATE_FORMATS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y")


def features_of(
    columns: pa.Table, names: list[str], categories: Collection[str], source: str
) -> pd.DataFrame:
    """Give the columns of these names as numbers and texts, or refuse what can be neither."""
    wanted = columns.select(names)
    usable = [
        _number_or_text(decoded(column), name, source)
        for name, column in zip(names, wanted.columns, strict=True)
    ]
    frame: pd.DataFrame = pa.Table.from_arrays(usable, names=names).to_pandas()
    for name, column in zip(names, usable, strict=True):
        if pa.types.is_string(column.type) and name not in categories:
            frame[name] = _category_or_numbers(frame[name], name, source)
    _refuse_infinite(frame.select_dtypes("number"), source)
    return frame


def _refuse_infinite(numbers: pd.DataFrame, source: str) -> None:
    is_infinite = np.isinf(numbers.to_numpy(dtype=np.float64))
    if is_infinite.any():
        row, position = np.argwhere(is_infinite)[0].tolist()
        raise InputError(
            f"Column {numbers.columns[position]!r} of {source} holds an infinite number in row "
            f"{row + 1}; correct it or drop the column."
        )


def _number_or_text(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    """Cast to a number type or to text, or refuse."""
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
        f"Column {name!r} of {source} holds {kind} values; features are numbers or text. Drop it "
        "or turn it into numbers."
    )


def _holds_dates(name: str, source: str) -> InputError:
    return InputError(
        f"Column {name!r} of {source} holds dates or times; drop it or turn it into numbers."
    )


def _category_or_numbers(
    texts: "pd.Series[str]", name: str, source: str
) -> "pd.Series[str] | pd.Series[float]":
    """Give the texts as they are if they are categories, as numbers if all of them are."""
    # Texts repeat: judge each once. A missing one has the code -1.
    codes, texts_seen = texts.factorize()
    distinct = pd.Series(texts_seen, dtype=texts.dtype)
    numbers = _finite_numbers(distinct)
    is_number = np.isfinite(numbers)
    if is_number.all():
        return pd.Series(np.append(numbers, np.nan)[codes], index=texts.index)
    # A decimal comma makes no number here, but shows that one was meant.
    is_meant = is_number | np.isfinite(_finite_numbers(distinct.str.replace(",", ".", regex=False)))
    if is_meant[codes[codes >= 0]].mean() >= 0.5:
        row = int((~np.append(is_number, True)[codes]).argmax())
        raise InputError(
            f"Column {name!r} of {source} is a column of numbers, but row {row + 1} holds "
            f"{texts[row]!r}; correct it or drop the column."
        )
    if _are_dates(distinct):
        raise _holds_dates(name, source)
    if len(distinct) > max(_FEW_CATEGORIES, len(texts) / 2):
        raise InputError(
            f"Column {name!r} of {source} looks like an id: {len(distinct)} different texts in "
            f"{len(texts)} rows. Name it as the id column or drop it."
        )
    return texts


def _finite_numbers(texts: "pd.Series[str]") -> NDArray[np.float64]:
    """Give the number that each text stands for, or NaN."""
    numbers = np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _are_dates(distinct: "pd.Series[str]") -> bool:
    return any(
        pd.to_datetime(distinct, format=pattern, errors="coerce", utc=True).notna().mean() >= 0.5
        for pattern in _DATE_FORMATS
    )


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column of codes as what they stand for; any other as it is."""
    is_coded = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_coded else column
