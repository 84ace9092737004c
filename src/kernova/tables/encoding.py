"""Encoding of mixed columns: scaled numbers, and one indicator per category.

:class:`TableEncoder` stores the columns it was fitted on; :func:`align_columns` brings a new table
into their order first. Scaling does not overflow at either end of the floating-point range.
"""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.errors import InputError, quoted
from kernova.tables.columns import (
    category_columns,
    category_indices,
    column_names,
    most_frequent,
    split_columns,
)
from kernova.tables.fill_values import without_far_cells
from kernova.text import counted, listed
from kernova.typing import Indices, Matrix, Vector

Scaling = Literal["standard", "minmax", "none"]

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

    "standard" gives mean 0 and (population) standard deviation 1, "minmax" the range from 0 to
    1, "none" leaves numbers unchanged. Cells far beyond all others are left out. A constant
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
    else:
        center, scale = lowest, spread
    return NumberScaling(
        np.where(is_constant, 0, exponent).astype(np.int32),
        np.where(is_constant, np.nanmin(numbers, axis=0), center),
        np.where(is_constant, 1.0, scale),
    )


def scaled_numbers(numbers: Matrix, scaling: NumberScaling) -> Matrix:
    """Scale new numbers; values that overflow are clipped to a large finite one."""
    with np.errstate(over="ignore"):
        scaled = (np.ldexp(numbers, -scaling.exponent) - scaling.center) / scaling.scale
    return np.clip(scaled, -_FARTHEST, _FARTHEST)


def _column_medians(numbers: Matrix) -> Vector:
    """Return the median of each column's numbers; halving before adding cannot overflow."""
    return 2 * np.nanmedian(numbers / 2, axis=0)


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
    seen in ``fit`` and one for all others, scaled so that two rows which differ in that category
    alone are ``category_weight`` apart, whether the value is known or new.

    Parameters
    ----------
    scaling : {"standard", "minmax", "none"}, default="standard"
        For columns of numbers: mean 0 and standard deviation 1, range 0 to 1, or untouched. A
        column that is constant in ``fit`` becomes 0; a new value there keeps its raw difference.
    missing : {"refuse", "fill"}, default="refuse"
        Raise an error that names the columns, or fill missing values with the median, or the
        most frequent category, of ``fit``.
    category_weight : float, default=1.0
        The distance between two rows that differ in one category.

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
    >>> encoder.transform(pd.DataFrame({"length": [11.0], "sex": ["unknown"]}))
    array([[0.25      , 0.        , 0.        , 0.70710678]])
    """

    def __init__(
        self,
        scaling: Scaling = "standard",
        missing: Literal["refuse", "fill"] = "refuse",
        category_weight: float = 1.0,
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
        if (counts == len(table)).any():
            name = names[int((counts == len(table)).argmax())]
            raise InputError(
                f"Column {quoted(name)} holds no value, so nothing can fill it; drop it."
            )
        self.number_fill_ = _column_medians(columns.numbers)
        self.exponent_, self.center_, self.scale_ = number_scaling(columns.numbers, self.scaling)
        self.categories_ = [np.unique(texts.distinct) for texts in columns.texts]
        self.category_fill_ = np.array(
            [
                most_frequent(texts, categories)
                for texts, categories in zip(columns.texts, self.categories_, strict=True)
            ],
            dtype=object,
        )
        return self

    def transform(self, X: pd.DataFrame | ArrayLike) -> Matrix:
        """Encode a table with the columns of ``fit``, in the same order.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The table.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            One column for each column of numbers; for each category, one per value and one for
            others.
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
        encoded[:, starts[~self.is_category_]] = numbers
        for start, texts, categories, fill in zip(
            starts[self.is_category_],
            columns.texts,
            self.categories_,
            self.category_fill_,
            strict=True,
        ):
            column = start + category_indices(texts, categories, fill)
            # Two rows then differ in two indicators: weight * sqrt(1/2 + 1/2).
            encoded[np.arange(len(table)), column] = self.category_weight / np.sqrt(2)
        return encoded

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names for the columns of ``fit``; by default those seen there.

        Returns
        -------
        ndarray of str
            A column's own name for numbers, ``name=value`` and ``name=(other)`` for categories.
        """
        names = super().get_feature_names_out(input_features)
        categories = iter(self.categories_)
        named: list[str] = []
        for name, is_category in zip(names, self.is_category_, strict=True):
            if is_category:
                named.extend(f"{name}={value}" for value in (*next(categories), "(other)"))
            else:
                named.append(name)
        return np.array(named, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "fill"
        return tags

    def _check_parameters(self) -> None:
        choices = {"scaling": ("standard", "minmax", "none"), "missing": ("refuse", "fill")}
        for parameter, allowed in choices.items():
            value = getattr(self, parameter)
            if value not in allowed:
                raise InputError(
                    f"{parameter} is {quoted(value)}; choose one of {', '.join(allowed)}."
                )
        weight = self.category_weight
        if not (isinstance(weight, Real) and 0 < weight < np.inf):
            raise InputError(f"category_weight is {quoted(weight)}; it must be a positive number.")

    def _validated(self, X: pd.DataFrame | ArrayLike, *, reset: bool) -> pd.DataFrame | Matrix:
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
        if self.missing == "fill" or not counts.any():
            return
        found = counted(dict(zip(names, counts.tolist(), strict=True)))
        raise InputError(
            f"The table has missing values (NaN), counted by column: {found}. Fill them in, drop "
            "those rows, or encode with missing='fill'."
        )

    def _widths(self) -> Indices:
        """Return the number of encoded columns for each column of the table."""
        widths = np.ones(self.n_features_in_, dtype=np.intp)
        widths[self.is_category_] = [len(categories) + 1 for categories in self.categories_]
        return widths
