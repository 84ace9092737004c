"""p-values: conformal ones per row, discoveries among them, and the rank-sum test of two samples.

Scores are high for ordinary rows throughout, so a low p-value means novel.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from kernova.calibration.bounds import check_open_unit_interval, finite_scores
from kernova.errors import InputError
from kernova.typing import Mask, Vector

# p-values and targets are fractions of small integers, and often exactly equal: 3/100 must pass
# a target of 3 * 0.1 / 10 although the two floats differ in the last bit.
_ROUNDING = 1e-12
# Up to so many scores the distribution of rank sums is enumerated; beyond, a Gaussian is as good.
MOST_COUNTED = 60
_NEVER_ZERO = 1e-300


def conformal_p_values(
    calibration_scores: ArrayLike,
    scores: ArrayLike,
    weights: ArrayLike | None = None,
    score_weights: ArrayLike = 1.0,
) -> Vector:
    """Return, for each score, the probability that an ordinary row looks at least as novel.

    p = (1 + number of calibration scores <= score) / (m + 1). For an ordinary row that was drawn
    like the calibration rows, P(p <= a) <= a for every a, whatever the detector and the
    distribution of its scores; ties only make p larger. The smallest value is 1 / (m + 1).

    Parameters
    ----------
    calibration_scores : array-like of shape (m,)
        Scores of ordinary rows that took no part in fitting; high is ordinary.
    scores : array-like of shape (n,)
        Scores of the rows to judge.
    weights : array-like of shape (m,), optional
        Weights of the calibration rows, for one of two purposes. Where rows come in groups, and
        groups are exchangeable rather than rows: one divided by the size of the row's group
        (hierarchical conformal prediction: Lee, Barber and Willett 2023). Where new rows are
        drawn with other probabilities than calibration rows: the ratio of the two, up to a factor
        (Tibshirani, Foygel Barber, Candes and Ramdas 2019). Valid for known ratios; estimated
        ones are as good as the estimate.
    score_weights : float or array-like of shape (n,), default=1
        With ratios: those of the rows to judge. With groups: 1.

    Returns
    -------
    ndarray of shape (n,)
        Values in (0, 1]; low is novel.

    Examples
    --------
    >>> from kernova import conformal_p_values
    >>> conformal_p_values([0.3, 0.5, 0.6, 0.9], [0.1, 0.5, 1.0])
    array([0.2, 0.6, 1. ])
    >>> conformal_p_values([0.3, 0.5, 0.6, 0.9], [0.1, 0.5, 1.0], weights=[0.5, 0.5, 0.5, 0.5])
    array([0.33333333, 0.66666667, 1.        ])
    """
    calibration = finite_scores(calibration_scores, "calibration scores")
    if np.size(scores) == 0:
        return np.empty(0)
    judged = finite_scores(scores, "scores")
    if weights is None:
        n_as_low = np.searchsorted(np.sort(calibration), judged, side="right")
        return (1 + n_as_low) / (calibration.size + 1)
    order = np.argsort(calibration, kind="stable")
    each = _positive_weights(weights, calibration.size, "weights")[order]
    own = _positive_weights(np.broadcast_to(score_weights, judged.shape), judged.size, "weights")
    up_to = np.concatenate([[0.0], np.cumsum(each)])
    as_low = up_to[np.searchsorted(calibration[order], judged, side="right")]
    return (own + as_low) / (own + up_to[-1])


def _positive_weights(weights: ArrayLike, n_rows: int, what: str) -> Vector:
    each = finite_scores(weights, what)
    if each.size != n_rows or each.min() <= 0:
        raise InputError(
            f"The {what} must be {n_rows} numbers above 0, one for each row; got {each.size}, the "
            f"smallest {each.min():g}."
        )
    return each


def select_discoveries(p_values: ArrayLike, false_discovery_rate: float) -> Mask:
    """Select novel rows with a limit on the expected fraction of ordinary ones among them.

    The step-up rule of Benjamini and Hochberg: with the n p-values in increasing order, take the
    largest k with p_(k) <= k * rate / n and select all rows up to it, including ties. The expected
    fraction of ordinary rows among those selected is then at most the given rate, even for
    conformal p-values, which share their calibration rows.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        One p-value for each row, such as from :func:`conformal_p_values`.
    false_discovery_rate : float
        Wanted limit, in (0, 1).

    Returns
    -------
    ndarray of bool of shape (n,)
        True where the row is selected.

    Examples
    --------
    >>> from kernova import select_discoveries
    >>> select_discoveries([0.01, 0.8, 0.03, 0.04], 0.1)
    array([ True, False,  True,  True])
    """
    check_open_unit_interval(false_discovery_rate, "false_discovery_rate")
    if np.size(p_values) == 0:
        return np.zeros(0, dtype=np.bool_)
    p = _checked_p_values(p_values)
    ranked = np.sort(p)
    limits = np.arange(1, p.size + 1) * (false_discovery_rate / p.size) * (1 + _ROUNDING)
    within = np.flatnonzero(ranked <= limits)
    if within.size == 0:
        return np.zeros(p.size, dtype=np.bool_)
    return p <= ranked[within[-1]]


def rank_sum_p_value(known_scores: ArrayLike, unknown_scores: ArrayLike) -> float:
    """Return the p-value of the unknown scores being lower than the known ones.

    The one-sided rank-sum test of Wilcoxon, Mann and Whitney: all scores are ranked together, and
    p is the fraction of all ways to choose the unknown ones whose rank sum is no higher. For up to
    60 scores all ways are counted, ties included; for more, a Gaussian with the exact mean and
    variance, and a continuity correction, is used instead.

    Parameters
    ----------
    known_scores : array-like of shape (m,)
        Scores of held-out known rows; high is ordinary.
    unknown_scores : array-like of shape (u,)
        Scores of the rows thought to be new.

    Returns
    -------
    float
        In (0, 1]; low means that the unknown rows are more novel than the known ones.

    Examples
    --------
    >>> from kernova.calibration.p_values import rank_sum_p_value
    >>> rank_sum_p_value([0.6, 0.7, 0.8], [0.1, 0.2])
    0.1
    >>> rank_sum_p_value([0.5, 0.5], [0.5])
    1.0
    """
    known = finite_scores(known_scores, "known scores")
    unknown = finite_scores(unknown_scores, "unknown scores")
    # Ties share the mean of their ranks; doubled, every rank is a whole number.
    ranks = np.rint(2 * rankdata(np.concatenate([unknown, known]))).astype(np.int64)
    observed = int(ranks[: unknown.size].sum())
    if ranks.size <= MOST_COUNTED:
        return _exact_tail(ranks, unknown.size, observed)
    return _gaussian_tail(ranks, unknown.size, observed)


def _exact_tail(ranks: NDArray[np.int64], n_chosen: int, limit: int) -> float:
    """Return the fraction of choices of ``n_chosen`` ranks with a sum of at most ``limit``."""
    # ways[k, s]: choices of k of the ranks so far that sum to s.
    ways = np.zeros((n_chosen + 1, limit + 1))
    ways[0, 0] = 1
    for rank in ranks:
        if rank <= limit:
            ways[1:, rank:] += ways[:-1, : limit + 1 - rank].copy()
    return float(min(ways[n_chosen].sum() / math.comb(ranks.size, n_chosen), 1.0))


def _gaussian_tail(ranks: NDArray[np.int64], n_chosen: int, observed: int) -> float:
    n_all = ranks.size
    mean = n_chosen * ranks.mean()
    variance = n_chosen * (n_all - n_chosen) * ranks.var() / (n_all - 1)
    if variance == 0:
        return 1.0
    # Half a step of the doubled ranks is 1.
    tail = float(ndtr((observed + 1 - mean) / math.sqrt(variance)))
    return max(tail, math.exp(-_log_choices(n_all, n_chosen)), _NEVER_ZERO)


def smallest_p_value(n_known: int, n_unknown: int) -> float:
    """Return the smallest possible p-value: all unknown scores lie below the known ones.

    Examples
    --------
    >>> from kernova.calibration.p_values import smallest_p_value
    >>> smallest_p_value(3, 2)
    0.1
    """
    return 1 / math.comb(n_known + n_unknown, n_unknown)


def combined_p_value(p_values: ArrayLike) -> float:
    """Return one p-value for many tests of the same hypothesis on overlapping samples.

    Twice the median, at most 1. If every p-value is valid, so is this one, however they depend on
    each other: for it to be at most a, half of them must be at most a/2, which has a probability
    of at most a. A single test needs no doubling.

    Examples
    --------
    >>> from kernova.calibration.p_values import combined_p_value
    >>> combined_p_value([0.01, 0.02, 0.9]), combined_p_value([0.03])
    (0.04, 0.03)
    """
    p = _checked_p_values(p_values)
    if p.size == 1:
        return float(p[0])
    # Of an even number the upper of the two middle ones: then at least half are no larger.
    return float(min(2 * np.sort(p)[p.size // 2], 1.0))


def _checked_p_values(p_values: ArrayLike) -> Vector:
    p = finite_scores(p_values, "p-values")
    if p.min() < 0 or p.max() > 1:
        raise InputError(f"p-values lie between 0 and 1; got {p.min():g} to {p.max():g}.")
    return p


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
