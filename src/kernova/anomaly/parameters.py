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


def checked_neighbor_numbers(n_neighbors: "int | Iterable[int]") -> Indices:
    """Return one or several numbers of neighbours as an array; each must be positive and whole."""
    given: list[Any] = list(n_neighbors) if is_several(n_neighbors) else [n_neighbors]
    are_whole = all(isinstance(k, Integral) and not isinstance(k, bool) for k in given)
    if not given or not are_whole or min(given) < 1:
        raise InputError(
            "n_neighbors must be a whole number of 1 or more, or a list of such numbers; "
            f"got {quoted(n_neighbors)}."
        )
    largest = np.iinfo(np.intp).max  # no table has more rows
    return np.array([min(int(k), largest) for k in given], dtype=np.intp)


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
