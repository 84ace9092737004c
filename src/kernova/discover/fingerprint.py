"""A table's fingerprint: the same for the same rows, columns and ids, however they were stored."""

import hashlib
import json
from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def table_fingerprint(table: pd.DataFrame | NDArray[np.float64], ids: Iterable[object]) -> str:
    """Give a short text that differs as soon as a value, a column's name or an id does.

    Numbers count by their value as 64-bit floats, so that a table read from CSV and the same
    table read from Parquet have the same fingerprint; missing values are all alike.

    Parameters
    ----------
    table : DataFrame or array of shape (n_rows, n_columns)
        Numbers and texts.
    ids : iterable
        What the rows are called.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.discover.fingerprint import table_fingerprint
    >>> fish = pd.DataFrame({"length": [10, 12], "sex": ["f", "m"]})
    >>> one = table_fingerprint(fish, ["a", "b"])
    >>> one == table_fingerprint(fish.astype({"length": float}), ["a", "b"])
    True
    >>> one == table_fingerprint(fish, ["b", "a"])
    False
    """
    digest = hashlib.sha256()
    frame = pd.DataFrame(table)
    _add_text(digest, [len(frame), *map(str, frame.columns)])
    _add_text(digest, list(ids))
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if pd.api.types.is_numeric_dtype(column):
            _add_numbers(digest, column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            texts = column.astype(object).where(column.notna(), None)
            _add_text(digest, texts.tolist())
    return digest.hexdigest()


def _add_text(digest: "hashlib._Hash", values: list[object]) -> None:
    # JSON keeps 1 from "1" and ["ab"] from ["a", "b"]; bytes of unlike length never run together.
    written = json.dumps(values, default=str).encode()
    digest.update(f"{len(written)}:".encode())
    digest.update(written)


def _add_numbers(digest: "hashlib._Hash", numbers: NDArray[np.float64]) -> None:
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # one NaN, and no minus zero
    digest.update(b"numbers:")
    digest.update(plain.astype("<f8").tobytes())
