"""Columns of numbers on one scale, without overflow at either end of the floating-point range."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Scaling = Literal["standard", "minmax", "none"]

# The square of a scaled value, summed over millions of columns, must stay finite.
_FARTHEST = 1e150


class NumberScaling(NamedTuple):
    """How to scale each column: ``(x / 2**exponent - center) / scale``.

    Division by a power of two is exact, and brings a column's largest value near 1, so that
    squares neither overflow (1e300) nor vanish (1e-200).
    """

    exponent: NDArray[np.int32]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]


def number_scaling(numbers: NDArray[np.float64], rule: Scaling) -> NumberScaling:
    """Learn the scaling of each column; NaN stands for a missing value and is left out.

    "standard" gives mean 0 and (population) standard deviation 1, "minmax" the range from 0 to
    1, "none" leaves numbers alone. A constant column, or one that varies by rounding only, is
    moved to 0 and not stretched: a later value keeps its raw difference.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.represent.scaling import number_scaling, scaled_numbers
    >>> huge = np.array([[1e300], [3e300]])
    >>> scaled_numbers(huge, number_scaling(huge, "standard"))
    array([[-1.],
           [ 1.]])
    """
    n_columns = numbers.shape[1]
    if rule == "none":
        return NumberScaling(np.zeros(n_columns, np.int32), np.zeros(n_columns), np.ones(n_columns))
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


def scaled_numbers(numbers: NDArray[np.float64], scaling: NumberScaling) -> NDArray[np.float64]:
    """Scale new numbers; one too far away to be told is put at the farthest finite place."""
    with np.errstate(over="ignore"):
        scaled = (np.ldexp(numbers, -scaling.exponent) - scaling.center) / scaling.scale
    return np.clip(scaled, -_FARTHEST, _FARTHEST)


def column_medians(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the median of each column's numbers; halving before adding cannot overflow."""
    return 2 * np.nanmedian(numbers / 2, axis=0)
