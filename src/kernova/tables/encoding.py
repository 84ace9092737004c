"""Encoding of mixed columns: scaled numbers, and one indicator per category.

A category counts as much as one column of numbers, whatever the scaling: two rows that differ in it
are as far apart as two rows drawn at random are in a column of numbers (root mean square). With
more than fifty values a column is one number instead, the logarithm of how often a row's value
occurs, so that neither memory nor distances grow with the number of values.

:class:`TableEncoder` stores the columns it was fitted on; :func:`align_columns` brings a new table
into their order first. Scaling does not overflow at either end of the floating-point range.
"""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.errors import InputError, quoted
from kernova.tables.columns import (
    FEW_CATEGORIES,
    Columns,
    Texts,
    category_columns,
    category_indices,
    column_names,
    most_frequent,
    split_columns,
)
from kernova.tables.fill_values import without_far_cells
from kernova.text import counted, listed
from kernova.typing import Indices, Mask, Matrix, Vector

Scaling = Literal["standard", "robust", "minmax", "none"]
Missing = Literal["refuse", "fill", "auto"]

_MISSING_CATEGORY: Final = "(missing)"
# The standard deviation of a normal column in units of its median absolute deviation.
_NORMAL_SPREAD: Final = 1.4826
# A value that was not seen counts as rarer than one that was seen once.
_UNSEEN: Final = 0.5

# The square of a scaled value, summed over millions of columns, must stay finite.
_FARTHEST = 1e150


class NumberScaling(NamedTuple):
    """Scaling of each column: ``(x / 2**exponent - center) / scale``.

    Division by a power of two is exact, and brings a column's largest value near 1, so that
    squares neither overflow (1e300) nor vanish (1e-200).
    """

    exponent: NDArray[np.int32]
    center: Vector
    scale: Vector


def number_scaling(numbers: Matrix, rule: Scaling) -> NumberScaling:
    """Learn the scaling of each column; NaN stands for a missing value and is left out.

    "standard" gives mean 0 and (population) standard deviation 1, "robust" median 0 and the same
    spread by the median absolute deviation, "minmax" the range from 0 to 1, "none" leaves numbers
    unchanged. Cells far beyond all others are left out. A constant
    column, or one that varies by rounding only, is moved to 0 and not scaled: a later value keeps
    its raw difference.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.tables.encoding import number_scaling, scaled_numbers
    >>> huge = np.array([[1e300], [3e300]])
    >>> scaled_numbers(huge, number_scaling(huge, "standard"))
    array([[-1.],
           [ 1.]])
    """
    n_columns = numbers.shape[1]
    if rule == "none":
        return NumberScaling(np.zeros(n_columns, np.int32), np.zeros(n_columns), np.ones(n_columns))
    numbers = without_far_cells(numbers)
    exponent = np.frexp(np.nanmax(np.abs(numbers), axis=0))[1]
    near_one = np.ldexp(numbers, -exponent)
    lowest = np.nanmin(near_one, axis=0)
    spread = np.nanmax(near_one, axis=0) - lowest
    is_constant = spread <= 4 * np.finfo(np.float64).eps
    if rule == "standard":
        center, scale = np.nanmean(near_one, axis=0), np.nanstd(near_one, axis=0)
    elif rule == "robust":
        center = np.nanmedian(near_one, axis=0)
        scale = _robust_spread(near_one - center)
    else:
        center, scale = lowest, spread
    return NumberScaling(
        np.where(is_constant, 0, exponent).astype(np.int32),
        np.where(is_constant, np.nanmin(numbers, axis=0), center),
        np.where(is_constant, 1.0, scale),
    )


def _robust_spread(away: Matrix) -> Vector:
    """Return the spread of columns around their medians, by the median absolute deviation."""
    distance = np.abs(away)
    spread = _NORMAL_SPREAD * np.nanmedian(distance, axis=0)
    # More than half of a column may be one value; then the mean distance from it is taken.
    return np.where(spread > 0, spread, np.nanmean(distance, axis=0))


def scaled_numbers(numbers: Matrix, scaling: NumberScaling) -> Matrix:
    """Scale new numbers; values that overflow are clipped to a large finite one."""
    with np.errstate(over="ignore"):
        scaled = (np.ldexp(numbers, -scaling.exponent) - scaling.center) / scaling.scale
    return np.clip(scaled, -_FARTHEST, _FARTHEST)


def _column_medians(numbers: Matrix) -> Vector:
    """Return the median of each column's numbers; halving before adding cannot overflow."""
    return 2 * np.nanmedian(numbers / 2, axis=0)


def _usual_spread(numbers: Matrix, scaling: NumberScaling, rule: Scaling) -> float:
    """Return the standard deviation of a usual column of scaled numbers."""
    if rule in ("standard", "robust"):
        return 1.0
    if rule == "none":  # no column is like another; a distance of 1 between categories
        return float(1 / np.sqrt(2))
    scaled = scaled_numbers(without_far_cells(numbers), scaling)
    spreads = np.nanstd(scaled, axis=0)
    spreads = spreads[spreads > 0]
    return float(np.median(spreads)) if len(spreads) else 1.0


def _value_counts(texts: Texts, categories: NDArray[np.object_], fill: str) -> Indices:
    indices = category_indices(texts, categories, fill)
    return np.bincount(indices, minlength=len(categories))[: len(categories)]


def _log_counts(counts: Indices) -> Vector:
    """Return the logarithms of counts, and of an unseen value last, standardised over rows."""
    logarithms = np.log(np.append(np.maximum(counts, _UNSEEN), _UNSEEN))
    weights = np.append(counts, 0) / max(counts.sum(), 1)
    mean = float(weights @ logarithms)
    variance = float(weights @ (logarithms - mean) ** 2)
    return (logarithms - mean) / (np.sqrt(variance) if variance > 1e-12 else 1.0)


def frame_of(data: Any) -> Any:
    """Return a frame of Arrow or polars as one of pandas; raise for sparse matrices.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from kernova.tables.encoding import frame_of
    >>> frame_of(pa.table({"length": [1.5, 2.5]}))["length"].tolist()
    [1.5, 2.5]
    """
    if issparse(data):
        raise InputError(
            "The table is a sparse matrix, whose zeros would be scaled to other numbers; pass "
            "X.toarray() if there is memory for all of it."
        )
    if isinstance(data, pd.DataFrame | np.ndarray):
        return data
    if isinstance(data, pa.Table):
        return data.to_pandas()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data).to_pandas()
    return data.to_arrow().to_pandas() if hasattr(data, "to_arrow") else data


def align_columns(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Return the columns of ``table`` in the order of ``names``.

    Parameters
    ----------
    table : DataFrame
        A table whose columns may stand in another order.
    names : iterable of str
        The columns wanted, such as ``encoder.feature_names_in_``.

    Returns
    -------
    DataFrame
        The same rows, with exactly the columns named.

    Raises
    ------
    InputError
        If columns are missing, extra or repeated; the message names them.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.encoding import align_columns
    >>> list(align_columns(pd.DataFrame({"b": [1], "a": [2]}), ["a", "b"]))
    ['a', 'b']
    """
    wanted = list(dict.fromkeys(names))
    faults = {
        "missing": [name for name in wanted if name not in table.columns],
        "extra": [name for name in table.columns.unique() if name not in set(wanted)],
        "repeated": list(table.columns[table.columns.duplicated()]),
    }
    found = "; ".join(f"{fault} {listed(them)}" for fault, them in faults.items() if them)
    if found:
        raise InputError(
            f"The columns of the new table are not those of the known one: {found}. Give both "
            "tables the same columns."
        )
    return table[wanted]


class TableEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Encoder of a table of numbers and categories, for methods that compute distances.

    In a DataFrame, columns of text, of pandas' category type and of true/false are categories; all
    others, and all columns of an array, are numbers. A category becomes one indicator per value
    seen in ``fit`` and one for all others, so that two rows which differ in that category alone
    have the same distance, whether the value is known or new. Frames of Arrow and polars are
    tables, too.

    Parameters
    ----------
    scaling : {"standard", "robust", "minmax", "none"}, default="standard"
        For columns of numbers: mean 0 and standard deviation 1, the same by median and median
        absolute deviation, range 0 to 1, or untouched. A column that is constant in ``fit`` becomes
        0; a new value there keeps its raw difference.
    missing : {"refuse", "fill", "auto"}, default="refuse"
        Raise an error that names the columns; fill missing values with the median, or the
        most frequent category, of ``fit``; or fill numbers with the median, add an indicator for
        each column of numbers that has missing values in ``fit``, and let missing texts be a
        category of their own.
    category_weight : "auto" or float, default="auto"
        The distance between two rows that differ in one category. "auto" is the root mean square
        distance of two rows in a column of numbers: the square root of 2 for "standard" and
        "robust", that times the median standard deviation of the scaled columns for "minmax", and 1
        for "none"; and a category with more than 50 values is one number, the logarithm of the
        number of rows that have a row's value, with the standard deviation of a column of numbers.

    Attributes
    ----------
    is_category_ : ndarray of bool of shape (n_features_in_,)
        Mask of the category columns.
    categories_ : list of ndarray of str
        The values seen, sorted, for each category column. True/false are "1" and "0".
    exponent_, center_, scale_ : ndarray of shape (n number columns,)
        Numbers become ``(x / 2**exponent_ - center_) / scale_``.
    number_fill_, category_fill_ : ndarray
        Values that replace missing ones.
    number_spread_ : float
        The standard deviation that a category or an indicator stands for.
    has_indicator_ : ndarray of bool of shape (n number columns,)
        Mask of the columns of numbers with an indicator of missing values.
    category_counts_ : list of ndarray
        For a category that is one number, how many rows of ``fit`` have each value; otherwise
        empty.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if ``fit`` saw a DataFrame.

    See Also
    --------
    align_columns : brings a table's columns into the order of ``feature_names_in_``.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova import TableEncoder
    >>> fish = pd.DataFrame({"length": [10.0, 12.0, 14.0], "sex": ["f", "m", "f"]})
    >>> encoder = TableEncoder(scaling="minmax").fit(fish)
    >>> encoder.get_feature_names_out()
    array(['length', 'sex=f', 'sex=m', 'sex=(other)'], dtype=object)
    >>> encoder.transform(pd.DataFrame({"length": [11.0], "sex": ["unknown"]})).round(3)
    array([[0.25 , 0.   , 0.   , 0.408]])
    """

    def __init__(
        self,
        scaling: Scaling = "standard",
        missing: Missing = "refuse",
        category_weight: "float | Literal['auto']" = "auto",
    ) -> None:
        self.scaling = scaling
        self.missing = missing
        self.category_weight = category_weight

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Learn columns, scales and categories.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The table.
        y : ignored
            Present for API consistency.

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        self._check_parameters()
        table = self._validated(X, reset=True)
        names = column_names(table)
        self.is_category_ = category_columns(table)
        columns = split_columns(table, self.is_category_)
        counts = columns.count_missing(self.is_category_)
        self._reject_missing(counts, names)
        if self.missing != "auto" and (counts == len(table)).any():
            name = names[int((counts == len(table)).argmax())]
            raise InputError(
                f"Column {quoted(name)} holds no value, so nothing can fill it; drop it."
            )
        self._fit_numbers(columns)
        self._fit_categories(columns)
        return self

    def _fit_numbers(self, columns: Columns) -> None:
        is_missing = np.isnan(columns.numbers)
        is_empty = is_missing.all(axis=0)
        # A column without values is constant.
        numbers = np.where(is_empty, 0.0, columns.numbers) if is_empty.any() else columns.numbers
        self.has_indicator_ = is_missing.any(axis=0) & (self.missing == "auto")
        self.number_fill_ = _column_medians(numbers)
        self.exponent_, self.center_, self.scale_ = number_scaling(numbers, self.scaling)
        self.number_spread_ = _usual_spread(
            numbers, NumberScaling(self.exponent_, self.center_, self.scale_), self.scaling
        )

    def _fit_categories(self, columns: Columns) -> None:
        is_auto = self.missing == "auto"
        with_missing = [
            [*texts.distinct, *([_MISSING_CATEGORY] if is_auto and (texts.codes < 0).any() else [])]
            for texts in columns.texts
        ]
        self.categories_ = [np.unique(np.array(texts, dtype=object)) for texts in with_missing]
        fills = [
            _MISSING_CATEGORY if is_auto else most_frequent(texts, categories)
            for texts, categories in zip(columns.texts, self.categories_, strict=True)
        ]
        self.category_fill_ = np.array(fills, dtype=object)
        self.category_counts_ = [
            _value_counts(texts, categories, fill)
            if self.category_weight == "auto" and len(categories) > FEW_CATEGORIES
            else np.empty(0, dtype=np.int64)
            for texts, categories, fill in zip(columns.texts, self.categories_, fills, strict=True)
        ]

    def transform(self, X: pd.DataFrame | ArrayLike) -> Matrix:
        """Encode a table with the columns of ``fit``, in the same order.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The table.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            One column for each column of numbers, and its indicator of missing values if it has
            one; for each category, one per value and one for others, or one number.
        """
        check_is_fitted(self)
        table = self._validated(X, reset=False)
        names = column_names(table)
        columns = split_columns(table, self.is_category_)
        self._reject_missing(columns.count_missing(self.is_category_), names)
        numbers = np.where(np.isnan(columns.numbers), self.number_fill_, columns.numbers)
        if self.scaling != "none":
            scaling = NumberScaling(self.exponent_, self.center_, self.scale_)
            numbers = scaled_numbers(numbers, scaling)
        widths = self._widths()
        starts = np.cumsum(widths) - widths
        encoded = np.zeros((len(table), int(widths.sum())))
        number_starts = starts[~self.is_category_]
        encoded[:, number_starts] = numbers
        for j in np.flatnonzero(self._has_indicator()).tolist():
            is_missing = np.isnan(columns.numbers[:, j])
            encoded[is_missing, number_starts[j] + 1] = np.sqrt(2) * self._indicator()
        for position, texts in enumerate(columns.texts):
            start = int(starts[self.is_category_][position])
            self._encode_category(encoded, start, position, texts)
        return encoded

    def _encode_category(self, encoded: Matrix, start: int, position: int, texts: Texts) -> None:
        """Write a category into its columns, from ``start`` on."""
        categories = self.categories_[position]
        indices = category_indices(texts, categories, self.category_fill_[position])
        counts = self._counts()[position]
        if len(counts):
            rarity = _log_counts(counts)
            encoded[:, start] = self._indicator() * rarity[indices]
        else:
            # Two rows then differ in two indicators: weight * sqrt(1/2 + 1/2).
            encoded[np.arange(len(encoded)), start + indices] = self._indicator()

    def _indicator(self) -> float:
        """Return the value of an indicator that is set."""
        if self.category_weight == "auto":
            return float(self.number_spread_)
        return float(self.category_weight / np.sqrt(2))

    def _has_indicator(self) -> Mask:
        # Models of earlier versions have none.
        none = np.zeros(len(self.number_fill_), dtype=np.bool_)
        return np.asarray(getattr(self, "has_indicator_", none))

    def _counts(self) -> list[Indices]:
        none = [np.empty(0, dtype=np.int64)] * len(self.categories_)
        return list(getattr(self, "category_counts_", none))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names for the columns of ``fit``; by default those seen there.

        Returns
        -------
        ndarray of str
            A column's own name for numbers, ``name (missing)`` for an indicator, ``name=value``
            and ``name=(other)`` for categories, ``name (frequency)`` for one that is a number.
        """
        names = super().get_feature_names_out(input_features)
        categories = iter(zip(self.categories_, self._counts(), strict=True))
        has_indicator = iter(self._has_indicator().tolist())
        named: list[str] = []
        for name, is_category in zip(names, self.is_category_, strict=True):
            if not is_category:
                named.extend([name, f"{name} (missing)"] if next(has_indicator) else [name])
                continue
            values, counts = next(categories)
            if len(counts):
                named.append(f"{name} (frequency)")
            else:
                named.extend(f"{name}={value}" for value in (*values, "(other)"))
        return np.array(named, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in ("fill", "auto")
        return tags

    def _check_parameters(self) -> None:
        choices = {
            "scaling": ("standard", "robust", "minmax", "none"),
            "missing": ("refuse", "fill", "auto"),
        }
        for parameter, allowed in choices.items():
            value = getattr(self, parameter)
            if value not in allowed:
                raise InputError(
                    f"{parameter} is {quoted(value)}; choose one of {', '.join(allowed)}."
                )
        weight = self.category_weight
        if weight != "auto" and not (isinstance(weight, Real) and 0 < weight < np.inf):
            raise InputError(
                f"category_weight is {quoted(weight)}; it must be 'auto' or a positive number."
            )

    def _validated(self, X: pd.DataFrame | ArrayLike, *, reset: bool) -> pd.DataFrame | Matrix:
        X = frame_of(X)
        if isinstance(X, pd.DataFrame):
            self._check_names(X, reset=reset)
            return X
        if not reset and self.is_category_.any():
            cells = validate_data(self, X, reset=False, dtype=object, ensure_all_finite=False)
            return pd.DataFrame(cells, columns=getattr(self, "feature_names_in_", None))
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)

    def _check_names(self, table: pd.DataFrame, *, reset: bool) -> None:
        if 0 in table.shape:
            raise InputError(
                f"The table has {table.shape[0]} rows and {table.shape[1]} columns; at least one "
                "of each is needed."
            )
        try:
            validate_data(self, table, reset=reset, skip_check_array=True)
        except ValueError as error:
            raise InputError(
                f"{str(error).rstrip()}\nalign_columns(table, encoder.feature_names_in_) sorts "
                "columns and names those that are missing or extra."
            ) from error

    def _reject_missing(self, counts: Indices, names: Sequence[str]) -> None:
        if self.missing != "refuse" or not counts.any():
            return
        found = counted(dict(zip(names, counts.tolist(), strict=True)))
        raise InputError(
            f"The table has missing values (NaN), counted by column: {found}. Fill them in, drop "
            "those rows, or encode with missing='auto' or missing='fill'."
        )

    def _widths(self) -> Indices:
        """Return the number of encoded columns for each column of the table."""
        widths = np.ones(self.n_features_in_, dtype=np.intp)
        widths[~self.is_category_] += self._has_indicator()
        widths[self.is_category_] = [
            1 if len(counts) else len(categories) + 1
            for categories, counts in zip(self.categories_, self._counts(), strict=True)
        ]
        return widths
