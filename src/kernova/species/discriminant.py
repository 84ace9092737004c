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
from scipy.special import ndtri, stdtrit

from kernova.species.scatter import Scatter, scatter_of, shrunk_covariance
from kernova.typing import Indices, Mask, Matrix, Vector

# Up to so many specimens of both groups each is left out by itself; of more, a tenth at a time.
_ONE_BY_ONE = 60
_N_FOLDS = 10
# What is left out at a time.
SPECIMENS = "one specimen at a time"
TENTHS = "a tenth of the specimens at a time"
POPULATIONS = "one population at a time"
# One of the groups has a single population, which is learnt from when its specimens are left out.
POPULATIONS_OF_ONE = "populations of one group and specimens of the other"


class DiscriminantError(NamedTuple):
    """Cross-validated error of a linear discriminant between two groups, weighted equally."""

    error: float  # the mean of the two rates; NaN with a single specimen
    low: float  # interval of the mean at the chosen confidence; NaN with a single population
    high: float
    first_missed: float  # fraction of the first group's specimens taken for the second's
    second_missed: float
    left_out: str  # what is left out at a time, one of those above


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
    left_out, folds = _folds(is_first, units, seed)
    if min(is_first.sum(), (~is_first).sum()) < 2:  # left out, it leaves no group to learn
        return DiscriminantError(math.nan, math.nan, math.nan, math.nan, math.nan, left_out)
    scores = np.empty(len(rows))
    lent = others.limited()
    for fold in range(int(folds.max()) + 1):
        is_test = folds == fold
        scores[is_test] = _scores(rows[~is_test], is_first[~is_test], rows[is_test], lent)
    is_missed = np.where(is_first, scores <= 0, scores >= 0)
    sides = [is_missed[is_first], is_missed[~is_first]]
    first, second = (float(np.mean(side)) for side in sides)
    if left_out == POPULATIONS and units is not None:
        of = [units[is_first], units[~is_first]]
        low, high = _interval_by_unit(sides, of, confidence)
    elif left_out == POPULATIONS_OF_ONE:
        low, high = math.nan, math.nan
    else:
        low, high = mean_rate_interval(first, second, len(sides[0]), len(sides[1]), confidence)
    return DiscriminantError((first + second) / 2, low, high, first, second, left_out)


def _scores(rows: Matrix, is_first: Mask, queries: Matrix, lent: Scatter) -> Vector:
    """Return discriminant scores of queries, positive on the side of the first group."""
    first, second = rows[is_first], rows[~is_first]
    scatter = scatter_of(first).plus(scatter_of(second)).plus(lent)
    means = first.mean(axis=0), second.mean(axis=0)
    difference = means[0] - means[1]
    if not difference.any():
        return np.zeros(len(queries))
    weights = np.linalg.solve(shrunk_covariance(scatter), difference)
    return np.asarray((queries - (means[0] + means[1]) / 2) @ weights)


class _Folds(NamedTuple):
    left_out: str
    folds: Indices


def _folds(is_first: Mask, units: NDArray[np.str_] | None, seed: int) -> _Folds:
    """Return the fold of each row; every fold leaves specimens of both groups in training."""
    n = len(is_first)
    folds = np.empty(n, dtype=np.intp)
    n_used, n_by_unit = 0, 0
    rng = np.random.default_rng([seed, n])
    # The larger group first, and of equal ones the one of the first row: whichever is "unknown".
    sides = sorted([is_first, ~is_first], key=lambda side: (-int(side.sum()), not side[0]))
    for side in sides:
        members = np.flatnonzero(side)
        names = None if units is None else np.unique(units[side], return_inverse=True)[1]
        if names is not None and names.max() > 0:
            folds[members] = n_used + names
            n_by_unit += 1
        elif n <= _ONE_BY_ONE:
            folds[members] = n_used + np.arange(len(members))
        else:
            folds[members] = n_used + rng.permutation(len(members)) % min(_N_FOLDS, len(members))
        n_used = int(folds[members].max()) + 1
    left_out = (SPECIMENS if n <= _ONE_BY_ONE else TENTHS, POPULATIONS_OF_ONE, POPULATIONS)
    return _Folds(left_out[n_by_unit], folds)


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
        middle += (rate * n + 1) / (n + 2) / 2
        variance += _variance_of_rate(rate, n) / 4
    return _around((first + second) / 2, middle, ndtri((1 + confidence) / 2) * math.sqrt(variance))


def _variance_of_rate(rate: float, n: int) -> float:
    smoothed = (rate * n + 1) / (n + 2)
    return smoothed * (1 - smoothed) / (n + 2)


def _interval_by_unit(
    sides: list[Mask], units: list[NDArray[np.str_]], confidence: float
) -> RateInterval:
    """Return an interval of the mean of two rates whose errors come by population.

    The variance of a rate is that between populations (of a ratio, as in cluster sampling), or
    the binomial one if that is larger; the smaller number of populations gives the degrees of
    freedom.
    """
    mean, variance, freedom = 0.0, 0.0, math.inf
    for is_missed, of in zip(sides, units, strict=True):
        _, member, counts = np.unique(of, return_inverse=True, return_counts=True)
        rate, n_units = float(is_missed.mean()), len(counts)
        excess = np.bincount(member, is_missed - rate)
        between = n_units / (n_units - 1) * float(excess @ excess) / len(of) ** 2
        mean += rate / 2
        variance += max(between, _variance_of_rate(rate, len(of))) / 4
        freedom = min(freedom, n_units - 1)
    return _around(mean, mean, stdtrit(freedom, (1 + confidence) / 2) * math.sqrt(variance))


def _around(mean: float, middle: float, half: float) -> RateInterval:
    return RateInterval(
        float(max(0.0, min(middle - half, mean))), float(min(1.0, max(middle + half, mean)))
    )
