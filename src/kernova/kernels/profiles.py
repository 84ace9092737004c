"""Radial kernels of local densities, as the logarithm of their value at u = distance / width.

A row a thousand widths away has a Volcano value of exp(-999), which underflows, but must be
distinguished from a row at two thousand; so logarithms are used.
"""

from collections.abc import Callable

import numpy as np

from kernova.errors import InputError
from kernova.typing import Vector

Profile = Callable[[Vector], Vector]

# Below the logarithm of the smallest positive number: less than any value that is not zero.
_LOG_ZERO = -745.0
# A neighbour as near as this to one width is at one width: rounding must not break ties.
_EDGE = 1e-12


def volcano(u: Vector) -> Vector:
    """Return log K = min(0, 1 - u): flat up to one width, then an exponential slope."""
    return np.minimum(1.0 - u, 0.0)


def gaussian(u: Vector) -> Vector:
    """Return log K = -u²/2."""
    return -0.5 * u**2


def epanechnikov(u: Vector) -> Vector:
    """Return log K = log(1 - u²) within one width; beyond, K is zero, see :func:`_log_values`."""
    return _log_values(np.where(u < 1 - _EDGE, 1.0 - u**2, 0.0), u)


def _log_values(values: Vector, u: Vector) -> Vector:
    """Return logarithms of a kernel's values; for zeros finite ones, lower the larger u is.

    So a row beyond the reach of every kernel has a lower density than all others, and its outlier
    factor is finite and grows with its distance.
    """
    with np.errstate(divide="ignore"):
        return np.where(values > 0, np.log(values), _LOG_ZERO - np.log1p(u))


PROFILES: dict[str, Profile] = {
    "volcano": volcano,
    "gaussian": gaussian,
    "epanechnikov": epanechnikov,
}


def profile_named(kernel: "str | Profile") -> Profile:
    """Return the log profile of a named kernel or of a user-defined function."""
    if callable(kernel):
        return _custom_profile(kernel)
    if not isinstance(kernel, str) or kernel not in PROFILES:
        raise InputError(
            f"There is no kernel named {kernel!r}. Use one of {', '.join(PROFILES)}, or give a "
            "function of u = distance / width."
        )
    return PROFILES[kernel]


def _custom_profile(kernel: Profile) -> Profile:
    def log_profile(u: Vector) -> Vector:
        values = np.asarray(kernel(u), dtype=np.float64)
        if values.shape != u.shape:
            raise InputError(
                f"The kernel must give one value for each u; got shape {values.shape} for "
                f"{len(u)} values of u."
            )
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise InputError(
                "The kernel must give finite values of zero or more; got "
                f"{values[~(np.isfinite(values) & (values >= 0))][0]:g}."
            )
        return _log_values(values, u)

    return log_profile
