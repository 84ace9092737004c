"""Standardisation of columns, so that one bandwidth fits every direction.

===============  ==========================================================================
``sphere``       principal axes of the correlation matrix, each with variance one
``half-sphere``  the same axes, each scaled by its variance to the power -1/4: strong axes
                 stay stronger than weak ones, which hold noise more often than signal
``zscore``       each column with mean zero and variance one
``none``         the columns as they are
===============  ==========================================================================
"""

from typing import Literal, NamedTuple, get_args

import numpy as np

from kernova.errors import InputError, quoted
from kernova.neighbors.index import distinct_rows
from kernova.typing import Indices, Matrix

Standardization = Literal["sphere", "half-sphere", "zscore", "none"]

# Axes with less than this fraction of the largest variance are rounding errors or redundant.
_NEGLIGIBLE_VARIANCE = 1e-6
# Power of the variance that scales a principal axis.
_AXIS_POWER = {"sphere": -0.5, "half-sphere": -0.25}


class Standardizer(NamedTuple):
    """An affine map, ``((rows / unit) - center) / spread @ axes``, of the columns that vary."""

    columns: Indices
    unit: Matrix
    center: Matrix
    spread: Matrix
    axes: Matrix | None

    def __call__(self, X: Matrix) -> Matrix:
        """Standardise rows; equal rows stay equal to the last bit."""
        distinct = distinct_rows(X)
        rows = ((distinct.rows[:, self.columns] / self.unit) - self.center) / self.spread
        if self.axes is not None:
            rows = rows @ self.axes
        # Products may round equal rows differently by their position in a block, hence the
        # indexing.
        return np.ascontiguousarray(rows[distinct.inverse])


def standardized_rows(
    X: Matrix, how: Standardization = "sphere", n_components: int | float | None = None
) -> Matrix:
    """Return the rows standardised by their own mean and spread.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 10.0, 3.0], [1.0, 30.0, 3.0], [2.0, 20.0, 3.0]])
    >>> standardized_rows(X, "zscore").round(3)
    array([[-1., -1.],
           [ 0.,  1.],
           [ 1.,  0.]])
    >>> np.cov(standardized_rows(X, "sphere").T).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    return fit_standardizer(X, how, n_components)(X)


def fit_standardizer(
    X: Matrix, how: Standardization = "sphere", n_components: int | float | None = None
) -> Standardizer:
    """Fit the map that standardises these rows.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    how : {"sphere", "half-sphere", "zscore", "none"}
    n_components : int, float or None
        Number of principal axes to keep, or the fraction of the variance they must explain (between
        0 and 1); None keeps all that are not negligible.
    """
    if how not in get_args(Standardization):
        raise InputError(
            f"standardize={quoted(how)} is not supported; "
            f"choose one of {', '.join(map(repr, get_args(Standardization)))}."
        )
    if how == "none" and n_components is None:
        return _as_they_are(X)
    columns, unit, center, spread = _column_scales(X)
    if how == "none":
        spread = np.ones_like(spread)
    rows = (X[:, columns] / unit - center) / spread
    if (how == "zscore" and n_components is None) or rows.shape[1] == 0:
        return Standardizer(columns, unit, center, spread, axes=None)
    axes = _principal_axes(rows, _AXIS_POWER.get(how, 0.0), n_components)
    return Standardizer(columns, unit, center, spread, axes)


def _as_they_are(X: Matrix) -> Standardizer:
    ones = np.ones(X.shape[1])
    return Standardizer(np.arange(X.shape[1]), ones, np.zeros_like(ones), ones, axes=None)


def _column_scales(X: Matrix) -> tuple[Indices, Matrix, Matrix, Matrix]:
    """Return the columns that vary, with a unit that keeps squares finite, centre and spread."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    _, exponent = np.frexp(largest)
    # Scaling by powers of two is exact; ldexp(1, 1024) would be infinite.
    unit = np.ldexp(1.0, np.clip(exponent, -1021, 1023))
    scaled = X / unit
    extent = np.ptp(scaled, axis=0) if len(X) else np.zeros(X.shape[1])
    varies = extent > 8 * np.finfo(float).eps
    columns = np.flatnonzero(varies)
    scaled = scaled[:, columns]
    return columns, unit[columns], scaled.mean(axis=0), _spread(scaled)


def _spread(columns: Matrix) -> Matrix:
    return columns.std(axis=0, ddof=1) if len(columns) > 1 else np.ones(columns.shape[1])


def _principal_axes(rows: Matrix, power: float, n_components: int | float | None) -> Matrix:
    variances, directions = np.linalg.eigh(rows.T @ rows / (len(rows) - 1))
    variances, directions = variances[::-1], directions[:, ::-1]
    kept = variances > _NEGLIGIBLE_VARIANCE * variances[0]
    variances, directions = variances[kept], directions[:, kept]
    n_kept = _n_kept(variances, n_components)
    return np.asarray(directions[:, :n_kept] * variances[:n_kept] ** power)


def _n_kept(variances: Matrix, n_components: int | float | None) -> int:
    if n_components is None:
        return len(variances)
    if isinstance(n_components, float) and 0 < n_components < 1:
        explained = np.cumsum(variances) / variances.sum()
        return int(np.searchsorted(explained, n_components)) + 1
    if n_components == int(n_components) and n_components >= 1:
        return min(int(n_components), len(variances))
    raise InputError(
        f"n_components={quoted(n_components)} is neither a number of axes nor a fraction of the "
        "variance; give an integer of at least 1, or a number between 0 and 1."
    )
