"""Result tables: rows with ids and labels, the same rows for JSON, and notes for readers."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from kernova.tables.table import Table
from kernova.text import is_missing, plural, quantity


def rows_with_ids(table: Table, columns: dict[str, Any]) -> pd.DataFrame:
    """Return a table of results: ids first, then the columns, then the labels, if any.

    An id or label column whose name is taken gets a name that no other column has.
    """
    named = dict(columns)
    if table.labels is not None:
        named[_free_name(str(table.labels.name), named)] = table.labels.to_numpy()
    return pd.DataFrame({_free_name(str(table.ids.name), named): table.ids.to_numpy(), **named})


def json_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one dictionary for each row, with values that JSON has."""
    return [
        {str(name): json_value(value) for name, value in row.items()}
        for row in rows.to_dict(orient="records")
    ]


def json_value(value: Any) -> Any:
    """Return a cell as a value that JSON has: missing is null, infinity is the text "inf".

    JSON has no infinity, and null would be read as missing; every command writes it this way.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.tables.records import json_value
    >>> json_value(np.float64("nan")), json_value(-np.inf), json_value(np.int64(3))
    (None, '-inf', 3)
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if is_missing(plain):
        return None
    return str(plain) if isinstance(plain, float) and np.isinf(plain) else plain


def dropped_rows_notes(*tables: Table) -> list[str]:
    """Return what was assumed when tables were read, and how many of their rows were dropped."""
    notes = [note for table in tables for note in table.notes]
    return notes + [
        left_out_note(table.n_dropped, table.source, "missing values")
        for table in tables
        if table.n_dropped
    ]


def left_out_note(n_rows: int, source: str, what: str) -> str:
    """Return the sentence that rows of a table were left out for what they have.

    Examples
    --------
    >>> from kernova.tables.records import left_out_note
    >>> left_out_note(1, "fish.csv", "no label")
    '1 row of fish.csv has no label and was left out.'
    """
    has, was = plural(n_rows, "has", "have"), plural(n_rows, "was", "were")
    return f"{quantity(n_rows, 'row')} of {source} {has} {what} and {was} left out."


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Append to ``notes`` what estimators warn users of; other warnings are raised as usual."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if warning.category is not UserWarning:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
            continue
        message = str(warning.message)
        name, _, rest = message.partition(": ")
        notes.append(rest if rest and name.isidentifier() else message)


def _free_name(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name
