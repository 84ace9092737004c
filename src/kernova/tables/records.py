"""What studies say of rows: tables that name them, and the same as plain values for programs."""

from typing import Any

import numpy as np
import pandas as pd

from kernova.tables.table import Table


def rows_with_ids(table: Table, columns: dict[str, Any]) -> pd.DataFrame:
    """Put the rows' ids before what is said of them, and their labels, if any, behind.

    An id or label column whose name is taken gets a name that no other column has.
    """
    named = dict(columns)
    if table.labels is not None:
        named[_free_name(str(table.labels.name), named)] = table.labels.to_numpy()
    return pd.DataFrame({_free_name(str(table.ids.name), named): table.ids.to_numpy(), **named})


def json_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Give one dictionary for each row, with values that JSON can say."""
    return [
        {str(name): json_value(value) for name, value in row.items()}
        for row in rows.to_dict(orient="records")
    ]


def json_value(value: Any) -> Any:
    """Return a cell as a value that JSON has: missing is null, infinity is the text "inf".

    JSON has no infinity, and null would be read as missing; every command writes it this way.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if pd.api.types.is_scalar(plain) and pd.isna(plain):
        return None
    return str(plain) if isinstance(plain, float) and np.isinf(plain) else plain


def dropped_rows_notes(*tables: Table) -> list[str]:
    """Say of each table how many rows were left out for missing values, if any were."""
    return [
        f"{table.n_dropped} "
        + ("row" if table.n_dropped == 1 else "rows")
        + f" of {table.source} "
        + ("has missing values and was" if table.n_dropped == 1 else "have missing values and were")
        + " left out."
        for table in tables
        if table.n_dropped
    ]


def _free_name(name: str, taken: dict[str, Any]) -> str:
    """Give the name, or one that no column has yet."""
    while name in taken:
        name += "_"
    return name
