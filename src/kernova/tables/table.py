"""Tables from files: features, ids and labels, with checks that their values can be used."""

import difflib
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from kernova.budget import memory_limit
from kernova.errors import InputError, MissingValuesError, quoted, shortened
from kernova.tables.columns import decoded, features_of
from kernova.tables.formats import IN_MEMORY, RawTable, raw_of, read_raw
from kernova.tables.interpretation import ColumnReading, Interpretation, interpreted
from kernova.text import counted, first_few, listed, quantity
from kernova.typing import Indices

Missing = Literal["refuse", "drop", "keep", "auto"]
Reading = Literal["auto", "strict"]

_ROWS_AT_ONCE = 1 << 16
_TEXT_ENDINGS = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file: features to compute with, ids and labels to identify them.

    Attributes
    ----------
    features : DataFrame
        The feature columns in the file's order: numbers (true/false as 1/0) and text.
    ids : Series
        One text per row, as written in the file; without an id column, the number of the row
        from ``"1"``.
    labels : Series or None
        The label column as it is, or None.
    source : str
        The path of the file as given, for messages.
    n_dropped : int
        Number of rows dropped because a feature was missing.
    columns : tuple of str
        All columns of the file, features or not.
    places : ndarray of int or None
        Row indices in the file, from 0; None if none was dropped.
    reader : object or None
        The object that computed the features of a file without features, such as landmarks or
        sounds; a model needs it to judge new files.
    notes : tuple of str
        Sentences on what was assumed in reading: units, dates, columns that are no features.
    readings : mapping of str to ColumnReading
        How each column was read; another table is read alike with ``read_table(..., like=table)``.
    groups : Series or None
        The group column as it is, or None.
    """

    features: pd.DataFrame
    ids: "pd.Series[str]"
    labels: "pd.Series[Any] | None"
    source: str
    n_dropped: int = 0
    columns: tuple[str, ...] = ()
    places: Indices | None = None
    reader: object | None = None
    notes: tuple[str, ...] = ()
    readings: Mapping[str, ColumnReading] = field(default_factory=dict)
    groups: "pd.Series[Any] | None" = None


@dataclass(frozen=True)
class TableColumns:
    """Columns of a training table, kept in its model so that new tables are read alike."""

    readings: dict[str, ColumnReading]
    id_column: str | None
    label_column: str | None
    aside: tuple[str, ...]  # columns that were dropped, or say which rows belong together
    unused: tuple[str, ...]  # features that were read, but not learnt from


def columns_of(table: Table, unused: Sequence[str] = ()) -> TableColumns:
    """Return how the columns of a table were read, for the model that learns from it."""
    # A value that all rows had is compared with new ones only where both tables are at hand.
    readings = {name: replace(one, value=None) for name, one in table.readings.items()}
    own_id = str(table.ids.name) if table.ids.name in table.columns else None
    label = None if table.labels is None else str(table.labels.name)
    aside = [name for name in table.columns if name not in {*readings, own_id, label}]
    return TableColumns(readings, own_id, label, tuple(aside), tuple(unused))


class _HasReadings(Protocol):
    """A table, or what a model keeps of one."""

    @property
    def readings(self) -> Mapping[str, ColumnReading]:
        """How each column was read."""


def read_table(
    path: object,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    group_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing = "refuse",
    optional: Collection[str] = (),
    categories: Collection[str] = (),
    keep: str | Collection[str] = (),
    like: _HasReadings | None = None,
    reading: Reading = "auto",
    memory_mb: float | None = None,
) -> Table:
    r"""Read a table of features from a file.

    The extension determines the format: ``.csv``, ``.tsv``, ``.txt`` (tab-separated),
    ``.csv.gz``, ``.tsv.gz``, ``.parquet``, ``.arrow``, ``.feather``, ``.npy``, ``.npz``. Text
    files have a header line; they are UTF-8, UTF-16 with a byte order mark, or Windows-1252, and
    separated by commas, semicolons, tabs or vertical bars, as their first lines show. An NPZ
    archive holds one array, or ``X``, with ``y``, ``ids`` and optional ``feature_names``, or a
    sparse matrix. A row index that pandas or R saved by default is left out.

    Numbers may have units ("70.1 kg", "12.3%", "$1,200") and decimal commas. Dates and times become
    numbers (:mod:`kernova.tables.dates`), yes and no 1 and 0, other texts categories. A column that
    names or numbers the rows, or has one value only, is not a feature unless it is in ``keep``.
    What was assumed is in ``notes``. A column of numbers or dates in which some texts are neither
    is rejected, and so are infinities.

    Parameters
    ----------
    path : str or path, or table
        The file; or a table in memory: a data frame of pandas, Arrow or polars, an array, or a
        sparse matrix if there is room for its zeros.
    id_column, label_column : str, optional
        Columns with the ids and labels of the rows; they are not features. Ids stay text exactly
        as written, and must not be missing or repeated.
    group_column : str, optional
        Column whose equal values mark rows that belong together; it is not a feature.
    drop : sequence of str
        Further columns that are not features.
    missing : {"refuse", "drop", "keep", "auto"}
        Treatment of missing features: raise an error that names the columns, drop those rows, or
        keep them as NaN for ``TableEncoder(missing="fill")``; "auto" also keeps them, for
        ``TableEncoder(missing="auto")``, and notes it.
    optional : collection of str
        Names among those above that the file need not have.
    categories : collection of str
        Columns known to be categories: their texts are not rejected as damaged numbers or ids.
    keep : str or collection of str
        Columns that are features even if they name or number the rows, or have one value.
    like : Table, optional
        A known table: columns are read as they were there, with the same units, dates and
        columns left out.
    reading : {"auto", "strict"}
        As described above; or every column is a feature, only plain numbers are numbers, and an
        error is raised for dates, for texts that differ in nearly every row, and for columns
        without a name of their own.
    memory_mb : float, optional
        Megabytes of memory that reading may take; by default 80 and 16 for each megabyte of the
        file, or the environment variable ``KERNOVA_MEMORY_MB``. A file that needs more is rejected
        before it is unpacked.

    Returns
    -------
    Table
        Features, ids and labels, row by row.

    Raises
    ------
    InputError
        If the file or something in it cannot be used; the message says what and where.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova import read_table
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "fish.csv").write_text("fish,length,sex\n007,10.5,f\n008,12,m\n")
    >>> table = read_table(folder / "fish.csv", id_column="fish")
    >>> list(table.features.columns), list(table.ids)
    (['length', 'sex'], ['007', '008'])
    """
    is_file = isinstance(path, str | os.PathLike)
    source = os.fspath(path) if isinstance(path, str | os.PathLike) else IN_MEMORY
    with memory_limit(memory_mb):
        raw = (
            read_raw(source, id_column, _text_columns(like), codes=reading == "auto")
            if is_file
            else raw_of(path)
        )
    return table_of(
        raw,
        source,
        id_column=id_column,
        label_column=label_column,
        group_column=group_column,
        drop=drop,
        missing=missing,
        optional=optional,
        categories=categories,
        keep=keep,
        like=like,
        reading=reading,
    )


def table_of(
    raw: RawTable,
    source: str,
    *,
    id_column: str | None,
    label_column: str | None,
    drop: Sequence[str],
    missing: Missing,
    group_column: str | None = None,
    optional: Collection[str] = (),
    categories: Collection[str] = (),
    keep: str | Collection[str] = (),
    like: _HasReadings | None = None,
    reading: Reading = "strict",
    with_dates: bool = True,
) -> Table:
    """Return the table of a file whose columns have been read already.

    Parameters
    ----------
    raw : RawTable
        Result of :func:`~kernova.tables.formats.read_raw`.
    source : str
        The path of the file, for messages.
    id_column, label_column, drop, missing, group_column, optional, categories, keep, like, reading
        As for :func:`read_table`.
    with_dates : bool, default=True
        Whether dates and times are features; otherwise only those in ``keep`` are.

    Returns
    -------
    Table
        As from :func:`read_table`.
    """
    _check_choices(missing, reading)
    if reading == "auto":
        raw = _with_own_names(raw, source)
        if source.lower().removesuffix(".gz").endswith(_TEXT_ENDINGS):
            raw = _without_empty_rows(raw, source)
    _check_shape(raw.columns, source)
    kept = [keep] if isinstance(keep, str) else list(keep)
    absent = set(optional) - set(raw.columns.column_names)
    roles = _roles(
        raw,
        None if id_column in absent else id_column,
        None if label_column in absent else label_column,
        None if group_column in absent else group_column,
        [name for name in ([drop] if isinstance(drop, str) else drop) if name not in absent],
        [name for name in kept if name not in absent],
        source,
    )
    if reading == "strict":
        features = features_of(raw.columns, roles.features, [*kept, *categories], source)
        found = Interpretation(features, {}, [])
    else:
        known = None if like is None else like.readings
        found = interpreted(
            raw.columns.select(roles.features), source, [*kept, *categories], known,
            with_dates=with_dates,
        )  # fmt: skip
    table = Table(
        features=found.features,
        ids=_ids(raw.columns, roles.id_column, source),
        labels=_labels(raw.columns, roles.label_column, source),
        source=source,
        columns=tuple(raw.columns.column_names),
        notes=(*raw.notes, *found.notes),
        readings=found.readings,
        groups=_labels(raw.columns, roles.group_column, source),
    )
    return _without_missing(table, missing)


def _check_choices(missing: str, reading: str) -> None:
    if missing not in ("refuse", "drop", "keep", "auto"):
        raise InputError(
            f"missing is {quoted(missing)}; it must be 'refuse', 'drop', 'keep' or 'auto'."
        )
    if reading not in ("auto", "strict"):
        raise InputError(f"reading is {quoted(reading)}; it must be 'auto' or 'strict'.")


def _text_columns(like: _HasReadings | None) -> list[str]:
    """Return the categories of a known table: "007" is not 7 in a new one."""
    readings = {} if like is None else like.readings
    return [name for name, one in readings.items() if one.kind == "category"]


def row_ids(raw: RawTable, id_column: str | None, source: str) -> "pd.Series[str]":
    """Return the ids of a file's rows as :func:`table_of` will, before other checks."""
    _check_shape(raw.columns, source)
    _check_column_names([("id", id_column)], raw.columns.column_names, source)
    return _ids(raw.columns, id_column or raw.own_id, source)


# --- names of columns, and empty rows --------------------------------------------------------


def _with_own_names(raw: RawTable, source: str) -> RawTable:
    """Name columns without a name by their position, and number those of the same name."""
    old = raw.columns.column_names
    stripped = [name.strip() for name in old]
    new: list[str] = []
    renamed: list[str] = []
    times = Counter(stripped)
    taken = set(stripped)
    for position, (name, written) in enumerate(zip(stripped, old, strict=True), start=1):
        if written in raw.aside or (times[name] == 1 and name):
            new.append(written if written in raw.aside else name)
            continue
        number = sum(other == name for other in stripped[:position])
        chosen = f"column {position}" if not name else name if number == 1 else f"{name} ({number})"
        while chosen in taken and chosen != name:
            chosen += "_"
        taken.add(chosen)
        new.append(chosen)
        if chosen != name:
            what = (
                f"the second {quoted(name)}" if number == 2 else f"number {number} {quoted(name)}"
            )
            renamed.append(f"{quoted(chosen)} ({what if name else 'without a name'})")
    if new == old:
        return raw
    notes = raw.notes
    if renamed:
        notes = (
            *notes,
            f"Columns of {source} were given names of their own: {first_few(renamed)}.",
        )
    return raw._replace(columns=raw.columns.rename_columns(new), notes=notes)


def _without_empty_rows(raw: RawTable, source: str) -> RawTable:
    """Leave out rows at the end of a file that are empty in all columns, as spreadsheets write."""
    columns = raw.columns.columns
    n_rows = raw.columns.num_rows
    n_kept = n_rows
    while n_kept > 1 and all(_is_empty(column[n_kept - 1]) for column in columns):
        n_kept -= 1
    n_empty = n_rows - n_kept
    if n_empty == 0 or not columns:
        return raw
    note = f"{quantity(n_empty, 'empty row')} at the end of {source} left out."
    return raw._replace(columns=raw.columns.slice(0, n_kept), notes=(*raw.notes, note))


def _is_empty(cell: Any) -> bool:
    value = cell.as_py()
    return value is None or value != value or (isinstance(value, str) and not value.strip())


# --- roles of columns ------------------------------------------------------------------------


class _Roles(NamedTuple):
    id_column: str | None
    label_column: str | None
    group_column: str | None
    features: list[str]


def _check_shape(columns: pa.Table, source: str) -> None:
    if columns.num_columns == 0:
        raise InputError(f"{source} has no columns; a table needs at least one feature.")
    if columns.num_rows == 0:
        raise InputError(f"{source} has column names but no rows; add at least one row.")
    seen: set[str] = set()
    for name in columns.column_names:
        if name in seen:
            raise InputError(f"{source} has two columns named {quoted(name)}; rename one.")
        seen.add(name)


def _roles(
    raw: RawTable,
    id_column: str | None,
    label_column: str | None,
    group_column: str | None,
    drop: Sequence[str],
    keep: Sequence[str],
    source: str,
) -> _Roles:
    dropped, kept = list(dict.fromkeys(drop)), list(dict.fromkeys(keep))
    asked = [("id", id_column), ("label", label_column), ("group", group_column)]
    asked += [("dropped", name) for name in dropped]
    asked += [("kept", name) for name in kept]
    _check_column_names(asked, raw.columns.column_names, source)
    if id_column is None and raw.own_id not in dropped:
        id_column = raw.own_id
    if label_column is None and raw.own_label not in dropped:
        label_column = raw.own_label
    not_features = {id_column, label_column, group_column, *dropped, *raw.aside}
    features = [name for name in raw.columns.column_names if name not in not_features]
    if not features:
        raise InputError(
            f"{source} has no feature columns left: all of {listed(raw.columns.column_names)} are "
            "ids, labels or dropped."
        )
    if "" in features:
        position = raw.columns.column_names.index("") + 1
        raise InputError(f"{source} has no name for column {position}; name it in the header line.")
    return _Roles(id_column, label_column, group_column, features)


def _check_column_names(asked: list[tuple[str, str | None]], names: list[str], source: str) -> None:
    role_of: dict[str, str] = {}
    for role, name in asked:
        if name is None:
            continue
        if name not in names:
            raise unknown_column(name, role, names, source)
        if name in role_of:
            raise InputError(
                f"Column {quoted(name)} of {source} cannot be both {role_of[name]} and {role}; "
                "choose one."
            )
        role_of[name] = role


def unknown_column(name: str, role: str, names: list[str], source: str) -> InputError:
    """Return the error for a name that no column has, which was to be used in a role."""
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {quoted(close[0])}?" if close else ""
    use = {"dropped": "drop", "kept": "keep", "shown": "show"}.get(role, f"use as {role} column")
    return InputError(
        f"{source} has no column {quoted(name)} to {use}.{hint} Its columns are {listed(names)}."
    )


# --- ids and labels --------------------------------------------------------------------------


def _ids(columns: pa.Table, name: str | None, source: str) -> "pd.Series[str]":
    if name is None:
        return _row_numbers(columns.num_rows)
    texts: pd.Series[str] = _as_text(columns[name], name, source).to_pandas().rename(name)
    is_missing = texts.isna() | (texts.str.strip() == "")
    if is_missing.any():
        row = int(is_missing.to_numpy().argmax()) + 1
        raise InputError(f"Row {row} of {source} has no id in column {quoted(name)}; give it one.")
    is_repeated = texts.duplicated()
    if is_repeated.any():
        second = int(is_repeated.to_numpy().argmax())
        first = int((texts == texts[second]).to_numpy().argmax())
        raise InputError(
            f"Rows {first + 1} and {second + 1} of {source} have the same id "
            f"{quoted(texts[second])} in column {quoted(name)}; ids must differ."
        )
    return texts


def _row_numbers(n_rows: int) -> "pd.Series[str]":
    """Return the texts "1", "2" and so on, in blocks: the cast of all takes four times as much."""
    starts = range(1, n_rows + 1, _ROWS_AT_ONCE)
    blocks = [np.arange(start, min(start + _ROWS_AT_ONCE, n_rows + 1)) for start in starts]
    # The type that pandas has for text: another would be copied.
    texts = [pa.array(block).cast(pa.large_string()) for block in blocks]
    numbers: pd.Series[str] = pa.chunked_array(texts, pa.large_string()).to_pandas().rename("row")
    return numbers


def _as_text(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    try:
        return decoded(column).cast(pa.string())
    except (pa.ArrowException, ValueError) as error:
        raise InputError(
            f"Column {quoted(name)} of {source} holds {shortened(column.type)} values, which "
            "cannot be ids."
        ) from error


def _labels(columns: pa.Table, name: str | None, source: str) -> "pd.Series[Any] | None":
    if name is None:
        return None
    column = decoded(columns[name])
    if pa.types.is_dictionary(column.type):
        raise InputError(
            f"Column {quoted(name)} of {source} holds {shortened(column.type)} values, which "
            "cannot be labels."
        )
    labels: pd.Series[Any] = column.to_pandas().rename(name)
    return labels


# --- missing values --------------------------------------------------------------------------


def _without_missing(table: Table, missing: Missing) -> Table:
    is_missing = table.features.isna()
    counts = {str(name): int(n) for name, n in is_missing.sum().items()}
    if not any(counts.values()) or missing == "keep":
        return table
    if missing == "auto":
        note = (
            f"{table.source} has missing values, counted by column: {counted(counts)}. Each is "
            "replaced by its column's median, or is a category of its own; whether a number is "
            "missing is one more feature."
        )
        return replace(table, notes=(*table.notes, note))
    if missing == "refuse":
        raise MissingValuesError(
            f"{table.source} has missing values, counted by column: {counted(counts)}.",
            "Fill them in, drop such rows with missing='drop', or keep them with missing='keep'.",
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
        groups=None if table.groups is None else table.groups[is_whole].reset_index(drop=True),
        n_dropped=int((~is_whole).sum()),
        places=np.flatnonzero(is_whole),
    )
