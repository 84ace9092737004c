"""Hold-out splits: reference rows to fit a detector on, and held-out rows to calibrate it."""

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.text import quantity
from kernova.typing import Indices

# 0.29 * 100 is 28.999999999999996, and 29 rows are meant.
ROUNDING = 1e-9


class Split(NamedTuple):
    """Indices of the rows to fit the detector on, and of the held-out rows; no row is in both."""

    reference: Indices
    holdout: Indices


def split_rows(n_rows: int, n_holdout: int, random: np.random.RandomState) -> Split:
    """Draw the held-out rows at random; each part keeps the order of the rows."""
    shuffled = random.permutation(n_rows)
    return Split(np.sort(shuffled[n_holdout:]), np.sort(shuffled[:n_holdout]))


def holdout_size(n_rows: int, holdout: float) -> int:
    """Return the number of rows to hold out, so that both parts have at least one row.

    Examples
    --------
    >>> from kernova.calibration.splits import holdout_size
    >>> holdout_size(21, 0.5), holdout_size(21, 5)
    (10, 5)
    """
    if n_rows < 2:
        raise InputError(
            f"Rows to learn from and rows to hold out need at least 2 rows; "
            f"got {quantity(n_rows, 'sample')}."
        )
    if is_row_number(holdout):
        if holdout >= n_rows:
            raise InputError(
                f"holdout={holdout} leaves no row to learn from: there are {n_rows} rows. "
                "Hold out fewer, or a fraction such as 0.5."
            )
        return int(holdout)
    return min(max(1, math.floor(holdout * n_rows + ROUNDING)), n_rows - 1)


def is_row_number(holdout: Any) -> bool:
    """Return whether this is a number of rows, not a fraction of them."""
    return isinstance(holdout, Integral) and not isinstance(holdout, bool)


def check_holdout(holdout: Any) -> None:
    """Raise if this is neither a fraction of the rows nor a number of them."""
    is_fraction = isinstance(holdout, float | np.floating) and 0 < holdout < 1
    if not is_fraction and not (is_row_number(holdout) and holdout >= 1):
        raise InputError(
            "holdout must be a fraction of the rows above 0 and below 1, or a number of rows "
            f"of at least 1; got {holdout!r}."
        )
