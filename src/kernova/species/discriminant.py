"""Discriminant errors: how well single specimens of two groups are distinguished.

A linear discriminant with the covariance of both groups, shrunk, and steadied by that of the
other groups. Its error is cross-validated: leaving out one specimen of small groups, a tenth of
large ones, or whole populations where these are known. It is the same whichever of the two groups
is called unknown.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kernova.species.scatter import Scatter, scatter_of, shrunk_covariance
from kernova.typing import Indices, Mask, Matrix, Vector

# Up to so many specimens of both groups each is left out by itself; of more, a tenth at a time.
_ONE_BY_ONE = 60
_N_FOLDS = 10


class DiscriminantError(NamedTuple):
    """Cross-validated error of a linear discriminant between two groups, weighted equally."""

    error: float  # the mean of the two rates
    low: float  # interval of the mean at the chosen confidence
    high: float
    first_missed: float  # fraction of the first group's specimens taken for the second's
    second_missed: float
    left_out: str  # "specimens" or "populations": what is left out together


def discriminant_error(
    rows: Matrix,
    is_first: Mask,
    others: Scatter,
    *,
    confidence: float,
    seed: int,
    units: NDArray[np.str_] | None = None,
) -> DiscriminantError:
    """Return the error of distinguishing single specimens of two groups.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        Both groups.
    is_first : ndarray of bool of shape (n,)
        The rows of the first.
    others : Scatter
        Scatter within the other groups.
    confidence : float
        Of the interval.
    seed : int
        Determines the folds of large groups.
    units : ndarray of shape (n,), optional
        The population of each row; a population is left out whole, unless it is its group's only
        one.
    """
    is_by_unit, folds = _folds(is_first, units, seed)
    scores = np.empty(len(rows))
    lent = others.limited()
    for fold in range(int(folds.max()) + 1):
        is_test = folds == fold
        scores[is_test] = _scores(rows[~is_test], is_first[~is_test], rows[is_test], lent)
    first = float(np.mean(scores[is_first] <= 0))
    second = float(np.mean(scores[~is_first] >= 0))
    low, high = mean_rate_interval(
        first, second, int(is_first.sum()), int((~is_first).sum()), confidence
    )
    left_out = "populations" if is_by_unit else "specimens"
    return DiscriminantError((first + second) / 2, low, high, first, second, left_out)


def _scores(rows: Matrix, is_first: Mask, queries: Matrix, lent: Scatter) -> Vector:
    """Return discriminant scores of queries, positive on the side of the first group."""
    first, second = rows[is_first], rows[~is_first]
    if not (len(first) and len(second)):
        # The only specimen of a group is left out: nothing tells the two apart.
        return np.zeros(len(queries))
    scatter = scatter_of(first).plus(scatter_of(second)).plus(lent)
    means = first.mean(axis=0), second.mean(axis=0)
    difference = means[0] - means[1]
    if not difference.any():
        return np.zeros(len(queries))
    weights = np.linalg.solve(shrunk_covariance(scatter), difference)
    return np.asarray((queries - (means[0] + means[1]) / 2) @ weights)


class _Folds(NamedTuple):
    is_by_unit: bool
    folds: Indices


def _folds(is_first: Mask, units: NDArray[np.str_] | None, seed: int) -> _Folds:
    """Return the fold of each row; every fold leaves specimens of both groups in training."""
    n = len(is_first)
    folds = np.empty(n, dtype=np.intp)
    n_used, is_by_unit = 0, False
    rng = np.random.default_rng([seed, n])
    # The larger group first, and of equal ones the one of the first row: whichever is "unknown".
    sides = sorted([is_first, ~is_first], key=lambda side: (-int(side.sum()), not side[0]))
    for side in sides:
        members = np.flatnonzero(side)
        names = None if units is None else np.unique(units[side], return_inverse=True)[1]
        if names is not None and names.max() > 0:
            folds[members] = n_used + names
            is_by_unit = True
        elif n <= _ONE_BY_ONE:
            folds[members] = n_used + np.arange(len(members))
        else:
            folds[members] = n_used + rng.permutation(len(members)) % min(_N_FOLDS, len(members))
        n_used = int(folds[members].max()) + 1
    return _Folds(is_by_unit, folds)


class RateInterval(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


def mean_rate_interval(
    first: float, second: float, n_first: int, n_second: int, confidence: float
) -> RateInterval:
    """Return an interval for the mean of two rates.

    One error and one success are added to each sample, as Agresti and Caffo (2000) do for the
    difference of two rates, so that 0 errors of 8 do not give an interval of length 0.

    Examples
    --------
    >>> mean_rate_interval(0.0, 0.1, 20, 20, 0.95).high.__round__(3)
    0.175
    """
    middle, variance = 0.0, 0.0
    for rate, n in ((first, n_first), (second, n_second)):
        smoothed = (rate * n + 1) / (n + 2)
        middle += smoothed / 2
        variance += smoothed * (1 - smoothed) / (n + 2) / 4
    half = float(ndtri((1 + confidence) / 2)) * math.sqrt(variance)
    mean = (first + second) / 2
    return RateInterval(max(0.0, min(middle - half, mean)), min(1.0, max(middle + half, mean)))
