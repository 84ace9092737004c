"""Centre rows and bring their columns to one scale, once or robustly."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Scale = Literal["feature", "common", "none"]

# The spread of a normal column in units of its median absolute deviation.
_NORMAL_SPREAD = 1.4826


class FeatureScaling(NamedTuple):
    """Subtract ``center``, divide by ``scale``."""

    center: Vector
    scale: Vector

    def __call__(self, X: Matrix) -> Matrix:
        """Scale rows; numbers beyond all measure stay finite."""
        with np.errstate(over="ignore"):
            rows = X / self.scale - self.center / self.scale
        return np.clip(rows, -1e100, 1e100)


def feature_scaling(X: Matrix, how: Scale, *, is_robust: bool = False) -> FeatureScaling:
    """Learn where rows are and how far they spread.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    how : {"feature", "common", "none"}
        Each column by its own spread, for mixed units; all by one number, for like columns; or not
        at all.
    is_robust : bool
        Median and median absolute deviation instead of mean and standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [2.0, 20.0]])
    >>> feature_scaling(X, "feature")(X)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    unit = _column_units(X)
    rows = X / unit
    center = np.median(rows, axis=0) if is_robust else rows.mean(axis=0)
    spread = _robust_spread(rows, center) if is_robust else rows.std(axis=0)
    # A column that does not vary is brought to zero, and stays there.
    is_constant = np.ptp(rows, axis=0) <= 8 * np.finfo(float).eps
    spread = np.where(is_constant | (spread == 0), 1.0, spread)
    if how == "none":
        return FeatureScaling(center * unit, np.ones(X.shape[1]))
    if how == "common":
        largest = unit.max()
        varies = np.where(is_constant, 0.0, spread) * (unit / largest)
        common = float(np.sqrt(np.mean(varies**2))) or 1.0
        return FeatureScaling(center * unit, np.full(X.shape[1], common * largest))
    return FeatureScaling(center * unit, spread * unit)


def _column_units(X: Matrix) -> Vector:
    """Return powers of two near the columns' largest numbers, so that squares stay finite."""
    _, exponents = np.frexp(np.abs(X).max(axis=0, initial=0.0))
    return np.ldexp(1.0, np.clip(exponents, -1000, 1000))


def _robust_spread(rows: Matrix, center: Vector) -> Vector:
    away = np.abs(rows - center)
    spread = _NORMAL_SPREAD * np.median(away, axis=0)
    # More than half of a column may be one value; then the mean distance from it must do.
    return np.where(spread > 0, spread, away.mean(axis=0))
