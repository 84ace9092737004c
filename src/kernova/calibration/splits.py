"""Which rows teach a detector, and which ones test it."""

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.errors import InputError

# 0.29 * 100 is 28.999999999999996, and 29 rows are meant.
ROUNDING = 1e-9


class Split(NamedTuple):
    """Which rows teach the detector and which ones test it; no row does both."""

    reference: NDArray[np.intp]
    holdout: NDArray[np.intp]


def split_rows(n_rows: int, n_holdout: int, random: np.random.RandomState) -> Split:
    """Draw the held-out rows; each part keeps the order of the rows."""
    shuffled = random.permutation(n_rows)
    return Split(np.sort(shuffled[n_holdout:]), np.sort(shuffled[:n_holdout]))


def holdout_size(n_rows: int, holdout: float) -> int:
    """Turn a share of the rows, or their number, into a number that leaves both parts a row.

    Examples
    --------
    >>> from kernova.calibration.splits import holdout_size
    >>> holdout_size(21, 0.5), holdout_size(21, 5)
    (10, 5)
    """
    if n_rows < 2:
        raise InputError(
            f"Rows to learn from and rows to hold out take at least 2 rows; "
            f"got {n_rows} sample{'' if n_rows == 1 else 's'}."
        )
    if is_row_number(holdout):
        if holdout >= n_rows:
            raise InputError(
                f"holdout={holdout} leaves no row to learn from: there are {n_rows} rows. "
                "Hold out fewer, or a share such as 0.5."
            )
        return int(holdout)
    return min(max(1, math.floor(holdout * n_rows + ROUNDING)), n_rows - 1)


def is_row_number(holdout: Any) -> bool:
    """Tell a number of rows from a share of them."""
    return isinstance(holdout, Integral) and not isinstance(holdout, bool)


def check_holdout(holdout: Any) -> None:
    """Refuse what is neither a share of the rows nor a number of them."""
    is_share = isinstance(holdout, float | np.floating) and 0 < holdout < 1
    if not is_share and not (is_row_number(holdout) and holdout >= 1):
        raise InputError(
            "holdout must be a share of the rows above 0 and below 1, or a number of rows "
            f"of at least 1; got {holdout!r}."
        )
