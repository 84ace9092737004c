"""Columns of a known table, by which further rows of it are read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kernova.errors import InputError, quoted
from kernova.tables.columns import category_columns
from kernova.tables.formats import RawTable
from kernova.tables.interpretation import ColumnReading
from kernova.text import listed, plural, quantity


@dataclass(frozen=True)
class KnownColumns:
    """Feature columns of a known table.

    Parameters
    ----------
    names : tuple of str
        The features, in order.
    texts : frozenset of str
        Those that are categories.
    fills : bool
        Whether a column that further rows do not have counts as missing in all of them; otherwise
        it is an error.
    readings : mapping of str to ColumnReading
        How each column was read, if that is known.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.known import KnownColumns
    >>> fish = pd.DataFrame({"length": [10.5, 12.0], "sex": ["f", "m"]})
    >>> KnownColumns.of(fish).texts
    frozenset({'sex'})
    """

    names: tuple[str, ...]
    texts: frozenset[str] = frozenset()
    fills: bool = False
    readings: Mapping[str, ColumnReading] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        features: pd.DataFrame,
        readings: Mapping[str, ColumnReading] | None = None,
        *,
        fills: bool = False,
    ) -> "KnownColumns":
        """Return the columns of a table."""
        names = tuple(map(str, features.columns))
        texts = np.array(names, dtype=object)[category_columns(features)]
        return cls(names, frozenset(texts.tolist()), fills, dict(readings or {}))

    def link(self, template: str | None, columns: Sequence[str]) -> str | None:
        """Return the template of a link if these columns are enough for it."""
        wanted = re.findall(r"\{([^{}]*)\}", template or "")
        is_whole = all(name == "id" or name in columns for name in wanted)
        return template if is_whole else None


def like_known(raw: RawTable, known: KnownColumns, source: str) -> RawTable:
    """Return further rows with all columns of a known table, and a note on those that are filled.

    Parameters
    ----------
    raw : RawTable
        The rows as read.
    known : KnownColumns
        The columns wanted.
    source : str
        The file, for messages.

    Raises
    ------
    InputError
        If columns are missing; the message names them.
    """
    present = raw.columns.column_names
    missing = [name for name in known.names if name not in {one.strip() for one in present}]
    if missing and (not known.fills or len(missing) == len(known.names)):
        raise _lacks(missing, known, source)
    columns = raw.columns
    for name in missing:
        kind = pa.string() if name in known.texts else pa.float64()
        columns = columns.append_column(name, pa.nulls(columns.num_rows, kind))
    notes = [*raw.notes]
    if missing:
        notes.append(
            f"{source} lacks {listed(missing)}; {plural(len(missing), 'its', 'their')} values "
            "count as missing, and are filled with the usual ones."
        )
    return raw._replace(columns=columns, notes=tuple(notes))


def _lacks(missing: list[str], known: KnownColumns, source: str) -> InputError:
    more = (
        ", or pass missing_columns='fill' to count these values as missing"
        if len(missing) < len(known.names)
        else ""
    )
    return InputError(
        f"{source} lacks {quantity(len(missing), 'column')} that the project's rows have: "
        f"{listed(missing)}. Add {plural(len(missing), 'it', 'them')}{more}."
    )


def extra_columns_note(
    columns: Sequence[str], known: Sequence[str], besides: Sequence[str | None], source: str
) -> list[str]:
    """Return a note on columns of further rows that the known table does not have.

    Examples
    --------
    >>> from kernova.tables.known import extra_columns_note
    >>> extra_columns_note(["fish", "length", "depth"], ["fish", "length"], [], "more.csv")
    ["Column 'depth' of more.csv is not in the project, and no feature."]
    """
    extra = [name for name in columns if name not in {*known, *besides, ""}]
    if not extra:
        return []
    are = plural(len(extra), "is", "are")
    none = plural(len(extra), "no feature", "no features")
    return [
        f"{plural(len(extra), 'Column', 'Columns')} {listed(extra)} of {source} {are} not in the "
        f"project, and {none}."
    ]


def with_known_types(features: pd.DataFrame, known: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return further rows in the order and with the types of a known table's columns.

    Raises
    ------
    InputError
        If a column holds texts where the known one has numbers, or the reverse.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.known import with_known_types
    >>> fish = pd.DataFrame({"length": [10.5, 12.0], "sex": ["f", "m"]})
    >>> more = pd.DataFrame({"sex": ["m"], "length": [9]})
    >>> with_known_types(more, fish, "more.csv").to_dict("list")
    {'length': [9.0], 'sex': ['m']}
    """
    ordered = features[list(known.columns)]
    typed = {}
    for position, (name, is_text) in enumerate(
        zip(known.columns, category_columns(known), strict=True)
    ):
        column = ordered.iloc[:, position]
        is_empty = bool(column.isna().all())
        if is_empty and is_text:
            column = pd.Series([None] * len(column), index=column.index, dtype=object)
        elif not is_empty and bool(category_columns(column.to_frame())[0]) != bool(is_text):
            raise _other_type(str(name), column, source, is_text=bool(is_text))
        typed[name] = (
            column.astype(known.dtypes.iloc[position]) if is_text else column.astype(float)
        )
    return pd.DataFrame(typed, index=features.index)


def _other_type(name: str, column: "pd.Series[Any]", source: str, *, is_text: bool) -> InputError:
    here, there = ("numbers", "texts") if is_text else ("texts", "numbers")
    example = column.dropna().iloc[0]
    return InputError(
        f"Column {quoted(name)} of {source} holds {here} such as {quoted(example)}, but {there} in "
        "the project. Correct the column."
    )
