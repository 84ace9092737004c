"""Checks of the parameters that several detectors share."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from kernova.errors import InputError, quoted
from kernova.typing import Indices


def checked_contamination(contamination: object) -> float | None:
    """Return the fraction of the rows to call outliers; None stands for "auto"."""
    if isinstance(contamination, str) and contamination == "auto":
        return None
    if isinstance(contamination, Real) and 0 < float(contamination) <= 0.5:
        return float(contamination)
    raise InputError(
        f'The contamination must be "auto" or a number above 0 and at most 0.5; '
        f"got {quoted(contamination)}."
    )


# n_neighbors="auto": these numbers, but no more than this fraction of the rows; and in very large
# tables no more than so many neighbours in all, which take 1 GB of memory.
_AUTO_NEIGHBORS = (80, 320)
_AUTO_FRACTION = 1 / 3
_AUTO_NEIGHBORS_IN_ALL = 64_000_000
_FEWEST_OF_MANY_ROWS = 20


def checked_neighbor_numbers(n_neighbors: "int | Iterable[int] | str") -> Indices | None:
    """Return one or several numbers of neighbours as an array, each positive and whole.

    None stands for "auto".
    """
    if isinstance(n_neighbors, str) and n_neighbors == "auto":
        return None
    given: list[Any] = list(n_neighbors) if is_several(n_neighbors) else [n_neighbors]
    are_whole = all(isinstance(k, Integral) and not isinstance(k, bool) for k in given)
    if not given or not are_whole or min(given) < 1:
        raise InputError(
            'n_neighbors must be a whole number of 1 or more, a list of such numbers, or "auto"; '
            f"got {quoted(n_neighbors)}."
        )
    largest = np.iinfo(np.intp).max  # no table has more rows
    return np.array([min(int(k), largest) for k in given], dtype=np.intp)


def automatic_neighbor_numbers(n_rows: int) -> Indices:
    """Return the numbers of neighbours for a table of this size.

    Large numbers detect groups of outliers, which mask one another among few neighbours
    (measured in ``benchmarks/detector_defaults.py``). A cluster of ordinary rows that is smaller
    than all of them would be taken for such a group, hence the fraction.

    Examples
    --------
    >>> from kernova.anomaly.parameters import automatic_neighbor_numbers
    >>> [automatic_neighbor_numbers(n).tolist() for n in (60, 600, 60_000, 1_000_000)]
    [[20], [80, 200], [80, 320], [64]]
    """
    most = max(1, int(_AUTO_FRACTION * n_rows))
    most = min(most, max(_FEWEST_OF_MANY_ROWS, _AUTO_NEIGHBORS_IN_ALL // max(1, n_rows)))
    return np.unique([min(k, most) for k in _AUTO_NEIGHBORS]).astype(np.intp)


def is_several(n_neighbors: object) -> TypeGuard[Iterable[int]]:
    """Return whether several numbers of neighbours are given."""
    return isinstance(n_neighbors, Iterable) and not isinstance(n_neighbors, str)


def checked_positive(name: str, value: Any, *, or_infinite: bool = False) -> float:
    """Return a parameter as a number; it must be above zero."""
    if _is_number(value) and float(value) > 0 and (or_infinite or np.isfinite(value)):
        return float(value)
    ending = " or infinity" if or_infinite else ""
    raise InputError(f"{name} must be a positive number{ending}; got {quoted(value)}.")


def checked_exponent(name: str, value: Any, instead: str = "") -> float:
    """Return a parameter as a number; it must be zero or more."""
    if _is_number(value) and 0 <= float(value) < np.inf:
        return float(value)
    raise InputError(f"{name} must be a number of 0 or more{instead}; got {quoted(value)}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
