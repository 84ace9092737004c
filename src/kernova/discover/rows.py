"""Rows of a session's table: numbers, ids and prior labels, checked as given by the user."""

import difflib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kernova.discover.events import PriorLabels
from kernova.discover.names import category_name, is_missing_label
from kernova.errors import InputError, quoted
from kernova.typing import Matrix

Known = Mapping[Hashable, object] | ArrayLike


class RowIds:
    """Ids of the rows, and the row index of each id.

    Examples
    --------
    >>> from kernova.discover.rows import RowIds
    >>> ids = RowIds(["carp-1", "carp-2"], n_rows=2)
    >>> ids.row_of("carp-2"), ids[0]
    (1, 'carp-1')
    """

    def __init__(self, ids: Iterable[Hashable], n_rows: int) -> None:
        # NumPy scalars become Python values, which print plainly.
        self.ids: list[Any] = [one.item() if hasattr(one, "item") else one for one in ids]
        if len(self.ids) != n_rows:
            raise InputError(
                f"There are {len(self.ids)} ids for {n_rows} rows; give one for each row."
            )
        self._rows = {one: row for row, one in enumerate(self.ids)}
        if len(self._rows) < n_rows:
            raise self._repeated()

    def __getitem__(self, row: int) -> Any:
        return self.ids[row]

    def extend(self, more: "RowIds") -> None:
        """Append the ids of further rows, which must be others."""
        self._rows.update({one: len(self.ids) + row for row, one in enumerate(more.ids)})
        self.ids.extend(more.ids)

    def row_of(self, one: Hashable) -> int:
        """Return the row index of an id."""
        try:
            return self._rows[one]
        except (KeyError, TypeError):
            texts = [other for other in self.ids if isinstance(other, str)]
            close = difflib.get_close_matches(str(one), texts, n=1) if len(texts) < 10_000 else []
            hint = f" Did you mean {quoted(close[0])}?" if close else ""
            raise InputError(f"No row has the id {quoted(one)}.{hint}") from None

    def _repeated(self) -> InputError:
        second = next(row for row, one in enumerate(self.ids) if self._rows[one] != row)
        one = self.ids[second]
        other = self.ids.index(one, second + 1)
        return InputError(
            f"Ids must differ, but {quoted(one)} is the id of both row {second} and row {other}, "
            "counted from 0."
        )


def finite_numbers(X: ArrayLike | pd.DataFrame) -> Matrix:
    """Return the table as an array of finite numbers, or raise."""
    numbers = _as_numbers(X)
    if numbers.ndim != 2:
        raise InputError(
            f"X must have two dimensions, rows and columns; got an array of shape {numbers.shape}."
        )
    if numbers.size == 0:
        raise InputError(
            f"The table has {numbers.shape[0]} rows and {numbers.shape[1]} columns; at least one "
            "of each is needed."
        )
    is_finite = np.isfinite(numbers)
    if not is_finite.all():
        row, column = np.argwhere(~is_finite)[0].tolist()
        raise InputError(
            f"The table contains {numbers[row, column]} in row {row} and column {column}, counted "
            "from 0. Only finite numbers can be used: fill or drop missing values first."
        )
    return numbers


def _as_numbers(X: ArrayLike | pd.DataFrame) -> Matrix:
    if isinstance(X, pd.DataFrame):
        for name, column in X.items():
            if not pd.api.types.is_numeric_dtype(column):
                raise InputError(
                    f"Column {quoted(name)} is not numeric. Encode the table first, for example "
                    "with TableEncoder().fit_transform(X)."
                )
        return X.to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        return np.ascontiguousarray(np.asarray(X, dtype=np.float64))
    except (ValueError, TypeError) as error:
        raise InputError(
            "The table is not all numeric. Encode it first, for example with "
            "TableEncoder().fit_transform(X)."
        ) from error


def column_names(X: ArrayLike | pd.DataFrame) -> tuple[str, ...]:
    """Return the names of the columns of a DataFrame; an array has none.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.discover.rows import column_names
    >>> column_names(pd.DataFrame({"length": [1.0], "width": [2.0]}))
    ('length', 'width')
    """
    return tuple(map(str, X.columns)) if isinstance(X, pd.DataFrame) else ()


def given_ids(
    ids: Iterable[Hashable] | None, X: ArrayLike | pd.DataFrame, n_rows: int
) -> Iterable[Hashable]:
    """Return the given ids; without any, the index of a DataFrame, or row indices from 0."""
    if ids is not None:
        return ids
    return X.index if isinstance(X, pd.DataFrame) else range(n_rows)


def prior_labels(known: Known | None, ids: RowIds) -> PriorLabels:
    """Return prior labels, given by id or one for each row, as the first event of a log."""
    if known is None:
        return PriorLabels((), ())
    if isinstance(known, Mapping):
        pairs = [(ids.row_of(one), label) for one, label in known.items()]
    else:
        labels = np.asarray(known, dtype=object)
        if labels.shape != (len(ids.ids),):
            raise InputError(
                f"known must give one label for each of the {len(ids.ids)} rows, missing where "
                f"unknown, or map ids to labels; got an array of shape {labels.shape}."
            )
        pairs = list(enumerate(labels.tolist()))
    given = [(row, category_name(label)) for row, label in pairs if not is_missing_label(label)]
    return PriorLabels(tuple(row for row, _ in given), tuple(name for _, name in given))


def labels_before(prior: PriorLabels, n_rows: int) -> PriorLabels:
    """Return the prior labels of the first rows; those of rows added later are stored with them."""
    pairs = [pair for pair in zip(prior.rows, prior.labels, strict=True) if pair[0] < n_rows]
    return PriorLabels(tuple(row for row, _ in pairs), tuple(name for _, name in pairs))
