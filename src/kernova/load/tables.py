"""Tables from files: which columns are features, and whether their values can be used."""

import difflib
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from kernova.errors import InputError, MissingValuesError
from kernova.load.formats import read_raw
from kernova.load.raw import RawTable
from kernova.load.sentences import counted, listed

Missing = Literal["refuse", "drop", "keep"]

_FEW_CATEGORIES = 50
_DATE_FORMATS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file: features to compute with, ids and labels to speak of them.

    Attributes
    ----------
    features : DataFrame
        The feature columns in the file's order: numbers (true/false as 1/0) and text.
    ids : Series
        One text per row, as written in the file; without an id column, the number of the row
        as people count, from ``"1"``.
    labels : Series or None
        The label column as it is, or None.
    source : str
        The file as it was named, for sentences.
    n_dropped : int
        How many rows were left out because a feature was missing.
    columns : tuple of str
        All columns of the file, features or not.
    """

    features: pd.DataFrame
    ids: "pd.Series[str]"
    labels: "pd.Series[Any] | None"
    source: str
    n_dropped: int = 0
    columns: tuple[str, ...] = ()


def read_table(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing = "refuse",
    optional: Collection[str] = (),
    categories: Collection[str] = (),
) -> Table:
    r"""Read a table of features from a file.

    The ending tells the format: ``.csv``, ``.tsv``, ``.txt`` (by tabs), ``.csv.gz``,
    ``.tsv.gz``, ``.parquet``, ``.arrow``, ``.feather``, ``.npy``, ``.npz``. Text files are
    UTF-8 with a header line; a ``.csv`` whose header has semicolons and no comma is read by
    semicolons. An NPZ archive holds one array, or ``X``, with ``y``, ``ids`` and
    ``feature_names`` beside it if wanted. A row index that pandas or R saved without being
    asked is left out.

    A column of text is a category. If at least half of its texts are numbers it is refused as a
    damaged column of numbers; if nearly every row differs it is refused as an id; dates and
    infinities are refused, too.

    Parameters
    ----------
    path : str or path
        The file.
    id_column, label_column : str, optional
        Columns that name and label the rows; they are no features. Ids stay text exactly as
        written, and must be there and differ.
    drop : sequence of str
        Further columns that are no features.
    missing : {"refuse", "drop", "keep"}
        What to do with missing features: raise an error that names the columns, leave those
        rows out, or keep them as NaN for ``TableEncoder(missing="fill")``.
    optional : collection of str
        Names among those above that the file need not have.
    categories : collection of str
        Columns known to be categories: their texts are not judged to be damaged numbers or ids.

    Returns
    -------
    Table
        Features, ids and labels, row by row.

    Raises
    ------
    InputError
        If the file or something in it cannot be used; the sentence says what and where.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fish.csv"
    >>> _ = path.write_text("fish,length,sex\n007,10.5,f\n008,12,m\n")
    >>> table = read_table(path, id_column="fish")
    >>> list(table.features.columns), list(table.ids)
    (['length', 'sex'], ['007', '008'])
    """
    if missing not in ("refuse", "drop", "keep"):
        raise InputError(f"missing is {missing!r}; it must be 'refuse', 'drop' or 'keep'.")
    source = os.fspath(path)
    raw = read_raw(source, id_column)
    _refuse_shapeless(raw.columns, source)
    absent = set(optional) - set(raw.columns.column_names)
    roles = _roles(
        raw,
        None if id_column in absent else id_column,
        None if label_column in absent else label_column,
        [name for name in ([drop] if isinstance(drop, str) else drop) if name not in absent],
        source,
    )
    table = Table(
        features=_features(raw.columns, roles.features, categories, source),
        ids=_ids(raw.columns, roles.id_column, source),
        labels=_labels(raw.columns, roles.label_column),
        source=source,
        columns=tuple(raw.columns.column_names),
    )
    return _with_missing_settled(table, missing)


# --- which column is what --------------------------------------------------------------------


class _Roles(NamedTuple):
    id_column: str | None
    label_column: str | None
    features: list[str]


def _refuse_shapeless(columns: pa.Table, source: str) -> None:
    if columns.num_columns == 0:
        raise InputError(f"{source} has no columns; a table needs at least one feature.")
    if columns.num_rows == 0:
        raise InputError(f"{source} has column names but no rows; add at least one row.")
    seen: set[str] = set()
    for name in columns.column_names:
        if name in seen:
            raise InputError(f"{source} has two columns named {name!r}; rename one.")
        seen.add(name)


def _roles(
    raw: RawTable,
    id_column: str | None,
    label_column: str | None,
    drop: Sequence[str],
    source: str,
) -> _Roles:
    dropped = list(dict.fromkeys(drop))
    asked = [("id", id_column), ("label", label_column), *(("dropped", name) for name in dropped)]
    _refuse_unknown_or_repeated(asked, raw.columns.column_names, source)
    if id_column is None and raw.own_id not in dropped:
        id_column = raw.own_id
    if label_column is None and raw.own_label not in dropped:
        label_column = raw.own_label
    no_features = {id_column, label_column, *dropped, *raw.aside}
    features = [name for name in raw.columns.column_names if name not in no_features]
    if not features:
        raise InputError(
            f"{source} has no feature columns left: all of {listed(raw.columns.column_names)} are "
            "ids, labels or dropped."
        )
    if "" in features:
        position = raw.columns.column_names.index("") + 1
        raise InputError(f"{source} has no name for column {position}; name it in the header line.")
    return _Roles(id_column, label_column, features)


def _refuse_unknown_or_repeated(
    asked: list[tuple[str, str | None]], names: list[str], source: str
) -> None:
    role_of: dict[str, str] = {}
    for role, name in asked:
        if name is None:
            continue
        if name not in names:
            raise _unknown_column(name, role, names, source)
        if name in role_of:
            raise InputError(
                f"Column {name!r} of {source} cannot be both {role_of[name]} and {role}; "
                "choose one."
            )
        role_of[name] = role


def _unknown_column(name: str, role: str, names: list[str], source: str) -> InputError:
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    use = "drop" if role == "dropped" else f"use as {role} column"
    return InputError(
        f"{source} has no column {name!r} to {use}.{hint} Its columns are {listed(names)}."
    )


# --- ids and labels --------------------------------------------------------------------------


def _ids(columns: pa.Table, name: str | None, source: str) -> "pd.Series[str]":
    if name is None:
        return pd.Series([str(row) for row in range(1, columns.num_rows + 1)], name="row")
    texts: pd.Series[str] = _as_text(columns[name], name, source).to_pandas().rename(name)
    is_missing = texts.isna() | (texts.str.strip() == "")
    if is_missing.any():
        row = int(is_missing.to_numpy().argmax()) + 1
        raise InputError(f"Row {row} of {source} has no id in column {name!r}; give it one.")
    is_copy = texts.duplicated()
    if is_copy.any():
        second = int(is_copy.to_numpy().argmax())
        first = int((texts == texts[second]).to_numpy().argmax())
        raise InputError(
            f"Rows {first + 1} and {second + 1} of {source} have the same id {texts[second]!r} in "
            f"column {name!r}; ids must differ."
        )
    return texts


def _as_text(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    try:
        return _decoded(column).cast(pa.string())
    except (pa.ArrowException, ValueError) as error:
        raise InputError(
            f"Column {name!r} of {source} holds {column.type} values, which cannot be ids."
        ) from error


def _labels(columns: pa.Table, name: str | None) -> "pd.Series[Any] | None":
    if name is None:
        return None
    labels: pd.Series[Any] = _decoded(columns[name]).to_pandas().rename(name)
    return labels


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    is_coded = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_coded else column


# --- features --------------------------------------------------------------------------------


def _features(
    columns: pa.Table, names: list[str], categories: Collection[str], source: str
) -> pd.DataFrame:
    wanted = columns.select(names)
    usable = [
        _number_or_text(_decoded(column), name, source)
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


# --- missing values --------------------------------------------------------------------------


def _with_missing_settled(table: Table, missing: Missing) -> Table:
    is_missing = table.features.isna()
    counts = {str(name): int(n) for name, n in is_missing.sum().items()}
    if not any(counts.values()) or missing == "keep":
        return table
    if missing == "refuse":
        raise MissingValuesError(
            f"{table.source} has missing values, counted by column: {counted(counts)}.",
            "Fill them in, or ask for such rows to be dropped (missing='drop') or kept "
            "(missing='keep').",
        )
    is_whole = ~is_missing.any(axis=1).to_numpy()
    if not is_whole.any():
        raise InputError(
            f"Every row of {table.source} has a missing value, so none is left once they are "
            f"dropped; missing values, counted by column: {counted(counts)}."
        )
    return replace(
        table,
        features=table.features[is_whole].reset_index(drop=True),
        ids=table.ids[is_whole].reset_index(drop=True),
        labels=None if table.labels is None else table.labels[is_whole].reset_index(drop=True),
        n_dropped=int((~is_whole).sum()),
    )
