"""Tables to explain: labels, ordinary values, mixtures of two rows, and nearest ordinary rows.

Distances between rows are those of the model itself where they are known.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM
from sklearn.utils import get_tags

from kernova.errors import InputError, quoted
from kernova.explain.verdicts import Route
from kernova.parallel import row_blocks
from kernova.tables.columns import category_columns
from kernova.tables.encoding import TableEncoder
from kernova.text import listed
from kernova.typing import Indices, Matrix, Vector

Rows = pd.DataFrame | NDArray[Any]

# As pandas.api.types.infer_dtype names Python objects that have a median.
_NUMBER_KINDS = {"integer", "floating", "mixed-integer-float"}
# One of this many nearest rows is taken (measured: an isolation forest in ten dimensions ranks the
# one outlying feature first in 30 % of trials with 1, in 95 % with 4; depths are hardly affected).
CANDIDATES_PER_ROW = 4
# Squares of such numbers, summed over millions of columns, stay finite.
_FARTHEST = 1e150


class Mixtures(NamedTuple):
    """Hypothetical rows: each has some features of one row of a table, the rest of another."""

    own: Indices
    other: Indices
    takes_own: NDArray[np.bool_]  # of shape (n_rows, n_features)


def checked_rows(X: Any, what: str) -> Rows:
    """Return a DataFrame unchanged and anything else as an array, or raise InputError."""
    if issparse(X):
        raise InputError(f"{what} is sparse; explain needs dense rows. Take {what}.toarray().")
    if not isinstance(X, pd.DataFrame):
        try:
            X = np.asarray(X)
        except ValueError:
            raise InputError(f"{what} must be rows of equal length.") from None
        X = X.astype(np.float64) if X.dtype.kind in "biuf" else X
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(
            f"{what} must be a table with at least one row and one column; got shape {X.shape}."
        )
    if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
        repeated = X.columns[X.columns.duplicated()].unique()
        raise InputError(f"{what} has several columns named {listed(repeated)}; rename them.")
    return X


def feature_names(rows: Rows) -> list[Any]:
    """Return the names of the columns; of an array, x0, x1 and so on."""
    if isinstance(rows, pd.DataFrame):
        return rows.columns.tolist()
    return [f"x{j}" for j in range(rows.shape[1])]


def row_labels(rows: Rows) -> "pd.Index[Any]":
    """Return the labels of the rows; of an array, their numbers."""
    return rows.index if isinstance(rows, pd.DataFrame) else pd.RangeIndex(len(rows))


def check_columns(rows: Rows, model: Any, what: str) -> None:
    """Raise InputError unless the columns are those of ``fit``, as far as the model has them."""
    seen = getattr(model, "feature_names_in_", None)
    if isinstance(rows, pd.DataFrame) and seen is not None:
        faults = {
            "missing": [name for name in seen if name not in rows.columns],
            "extra": [name for name in rows.columns if name not in set(seen)],
        }
        found = "; ".join(f"{fault} {listed(names)}" for fault, names in faults.items() if names)
        if not found and list(rows.columns) != list(seen):
            found = "the order differs"
        if found:
            raise InputError(
                f"{what} has other columns than the model saw: {found}. Pass the columns of fit, "
                "in their order."
            )
    n_seen = getattr(model, "n_features_in_", rows.shape[1])
    if n_seen != rows.shape[1]:
        raise InputError(f"{what} has {rows.shape[1]} columns; the model saw {n_seen} in fit.")


def as_the_model_saw(rows: Rows, model: Any) -> Rows:
    """Return an array instead of a DataFrame of numbers if the model was fitted on an array."""
    saw_an_array = hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
    if not (saw_an_array and isinstance(rows, pd.DataFrame)):
        return rows
    is_numeric = all(pd.api.types.is_numeric_dtype(dtype) for dtype in rows.dtypes)
    return rows.to_numpy(dtype=np.float64, na_value=np.nan) if is_numeric else rows


def chosen_rows(rows: Any, n_rows: int) -> Indices:
    """Read row numbers, or a mask with a true or false for each row."""
    chosen = np.atleast_1d(np.asarray(rows))
    if chosen.ndim != 1:
        raise InputError(f"rows must be a list of row numbers; got an array of {chosen.ndim} axes.")
    if chosen.dtype == np.bool_:
        if len(chosen) != n_rows:
            raise InputError(f"The mask has {len(chosen)} entries for the {n_rows} rows of X.")
        return np.flatnonzero(chosen)
    _check_row_numbers(chosen.tolist(), n_rows)
    return chosen.astype(np.intp)


def _check_row_numbers(numbers: list[Any], n_rows: int) -> None:
    seen = set()
    for number in numbers:
        if not isinstance(number, int):
            raise InputError(
                f"rows must be row numbers or a mask of true and false; got {quoted(number)}."
            )
        if not 0 <= number < n_rows:
            raise InputError(f"There is no row {number}: X has rows 0 to {n_rows - 1}.")
        if number in seen:
            raise InputError(f"rows contains row {number} more than once.")
        seen.add(number)


def check_labels_differ(labels: "pd.Index[Any]") -> None:
    """Raise InputError if rows to explain have the same label."""
    if not labels.is_unique:
        label = labels[labels.duplicated()][0]
        raise InputError(
            f"Several of the rows to explain have the label {quoted(label)}. Pass X with a unique "
            "index, such as X.reset_index(drop=True)."
        )


def picked(rows: Rows, numbers: Indices) -> Rows:
    """Return the rows with these numbers, in their order."""
    return rows.iloc[numbers] if isinstance(rows, pd.DataFrame) else rows[numbers]


def stacked(upper: Rows, lower: Rows) -> Rows:
    """Concatenate rows of the same columns."""
    if isinstance(upper, pd.DataFrame):
        below = pd.DataFrame(lower).set_axis(upper.columns, axis=1)
        return pd.concat([upper, below], ignore_index=True)
    return np.concatenate([upper, np.asarray(lower)])


def mixed(rows: Rows, mixtures: Mixtures) -> Rows:
    """Make the hypothetical rows."""
    own, other, takes_own = mixtures
    if isinstance(rows, pd.DataFrame) and (rows.dtypes == np.float64).all():
        numbers = rows.to_numpy()
        made = np.where(takes_own, numbers[own], numbers[other])
        return pd.DataFrame(made, columns=rows.columns, copy=False)
    if isinstance(rows, pd.DataFrame):
        source = np.where(takes_own, own[:, np.newaxis], other[:, np.newaxis])
        columns = {
            name: rows.iloc[:, j].array.take(source[:, j]) for j, name in enumerate(rows.columns)
        }
        return pd.DataFrame(columns, copy=False)
    return np.where(takes_own, rows[own], rows[other])


def value_codes(rows: Rows) -> NDArray[np.intp]:
    """Return codes of the values: equal values of a column, and missing ones, have equal codes."""
    codes = [pd.factorize(_column(rows, j))[0] for j in range(rows.shape[1])]
    return np.stack(codes, axis=1)


def ordinary_values(rows: Rows, groups: list[Indices]) -> list[list[Any]]:
    """Return each column's median or most frequent value, for each group of rows.

    Of equally frequent values it is the first in the group. Missing values count only where there
    is no other.
    """
    used, positions = np.unique(np.concatenate(groups), return_inverse=True)
    pool = picked(rows, used)
    within = np.split(positions, np.cumsum([len(group) for group in groups])[:-1])
    columns = [_ordinary_in(_column(pool, j), within) for j in range(pool.shape[1])]
    return [list(values) for values in zip(*columns, strict=True)]


def values_of(rows: Rows) -> list[list[Any]]:
    """Return the values of the rows, as Python objects."""
    columns = [_column(rows, j).tolist() for j in range(rows.shape[1])]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(rows: Rows, j: int) -> "pd.Series[Any]":
    return rows.iloc[:, j] if isinstance(rows, pd.DataFrame) else pd.Series(rows[:, j])


def _ordinary_in(column: "pd.Series[Any]", groups: list[Indices]) -> list[Any]:
    dtype = column.dtype
    is_numeric = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
    if is_numeric or pd.api.types.infer_dtype(column, skipna=True) in _NUMBER_KINDS:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return [_median(numbers[group]) for group in groups]
    codes, distinct = pd.factorize(column)
    frequent = [_most_frequent(codes[group].tolist()) for group in groups]
    return [distinct[code] if code >= 0 else None for code in frequent]


def _median(numbers: NDArray[np.float64]) -> float:
    present = numbers[~np.isnan(numbers)]
    # Halved first: the middle of two huge numbers would overflow.
    return 2 * float(np.median(present / 2)) if len(present) else np.nan


def _most_frequent(codes: list[int]) -> int:
    present = [code for code in codes if code >= 0]
    return max(present, key=present.count, default=-1)


def comparable(route: Route, ordinary: Rows, others: Rows) -> tuple[Any, Any]:
    """Return the ordinary rows, and others, as numbers between which distances are meaningful.

    In a pipeline they are the output of its transformers. For a bare detector that measures
    distances between unscaled rows (kernova's own, LocalOutlierFactor, OneClassSVM) they are the
    rows themselves. For any other, and for one that takes categories as they are, columns of
    numbers are divided by the interquartile range of the ordinary rows, and a differing category
    counts as much as one such range.
    """
    ordinary, others = route.transformed(ordinary), route.transformed(others)
    detector = route.detector
    if not _takes_categories(detector) and (
        route.transformers or _compares_unscaled_rows(detector)
    ):
        return _plain(ordinary), _plain(others)
    return _on_common_scale(ordinary, others)


def nearest_rows(row: Any, ordinary: Any, n_nearest: int, leave_out: int | None) -> Indices:
    """Return the indices of the nearest ordinary rows, nearest first; of equals the first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.explain.tables import nearest_rows
    >>> ordinary = np.array([[0.0], [5.0], [1.0], [5.0]])
    >>> nearest_rows(np.array([[4.0]]), ordinary, 3, leave_out=None)
    array([1, 3, 2])
    """
    if issparse(ordinary):
        distances = euclidean_distances(row, ordinary).ravel()
    else:
        distances = _distances(row, ordinary)
    if leave_out is not None:
        distances[leave_out] = np.inf
    n_available = len(distances) - (leave_out is not None)
    return np.argsort(distances, kind="stable")[: min(n_nearest, n_available)]


def most_ordinary(candidates: Indices, novelty: Vector, n: int) -> Indices:
    """Return the ``n`` rows of lowest novelty, in their order."""
    return candidates[np.sort(np.argsort(novelty[candidates], kind="stable")[:n])]


def _distances(row: Matrix, ordinary: Matrix) -> Vector:
    distances = np.empty(len(ordinary))
    for block in row_blocks(len(ordinary), 3 * ordinary.shape[1]):
        # A power of two, so that nothing is rounded and no square overflows or vanishes.
        halves = ordinary[block] / 2 - row / 2
        exponent = np.frexp(np.abs(halves).max(axis=1))[1]
        np.ldexp(halves, -exponent[:, np.newaxis], out=halves)
        with np.errstate(over="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", halves, halves))
            distances[block] = np.ldexp(lengths, exponent)
    return distances


def _plain(rows: Any) -> Any:
    return rows.tocsr() if issparse(rows) else np.asarray(rows, dtype=np.float64)


def _takes_categories(detector: Any) -> bool:
    has_tags = hasattr(detector, "__sklearn_tags__")
    return has_tags and bool(get_tags(detector).input_tags.categorical)


def _compares_unscaled_rows(detector: Any) -> bool:
    is_ours = type(detector).__module__.startswith("kernova.anomaly.")
    return is_ours or isinstance(detector, LocalOutlierFactor | OneClassSVM)


def _on_common_scale(ordinary: Rows, others: Rows) -> tuple[Matrix, Matrix]:
    names = [f"x{j}" for j in range(ordinary.shape[1])]
    frame, other_frame = (pd.DataFrame(rows).set_axis(names, axis=1) for rows in (ordinary, others))
    # A column without any value does not contribute to distances.
    used = frame.columns[frame.notna().any()]
    frame, other_frame = frame[used], other_frame[used]
    spreads = {name: _spread(_numbers(frame[name])) for name in used[~category_columns(frame)]}
    divided, other_divided = (_divided(rows, spreads) for rows in (frame, other_frame))
    encoder = TableEncoder(scaling="none", missing="fill").fit(divided)
    return encoder.transform(divided), encoder.transform(other_divided)


def _divided(frame: pd.DataFrame, spreads: dict[str, float]) -> pd.DataFrame:
    columns: dict[Any, Any] = dict(frame.items())
    for name, spread in spreads.items():
        with np.errstate(over="ignore"):
            scaled = _numbers(frame[name]) / spread
        columns[name] = np.clip(scaled, -_FARTHEST, _FARTHEST)
    return pd.DataFrame(columns, index=frame.index)


def _numbers(column: "pd.Series[Any]") -> Vector:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _spread(numbers: Vector) -> float:
    """Return the interquartile range; if it is zero, the whole range."""
    quarters = np.nanquantile(numbers / 2, [0.25, 0.75])
    whole = np.nanmax(numbers / 2) - np.nanmin(numbers / 2)
    spread = quarters[1] - quarters[0] if quarters[1] > quarters[0] else whole
    return 2 * float(spread) if spread > 0 else 1.0
