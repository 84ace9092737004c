"""How unusual is a row, as a probability; and which of many rows to call discoveries."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.decide.false_alarms import check_open_unit_interval, finite_scores
from kernova.errors import InputError

# p-values and targets are fractions of small integers, and often exactly equal: 3/100 must pass
# a target of 3 * 0.1 / 10 although the two floats differ in the last bit.
_ROUNDING = 1e-12


def conformal_p_values(calibration_scores: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Give, for each score, the chance that an ordinary row looks at least as novel.

    p = (1 + number of calibration scores <= score) / (m + 1). For an ordinary row that was drawn
    like the calibration rows, P(p <= a) <= a for every a, whatever the detector and the
    distribution of its scores; ties only make p larger. The smallest value is 1 / (m + 1).

    Parameters
    ----------
    calibration_scores : array-like of shape (m,)
        Scores of ordinary rows that took no part in fitting; high is usual.
    scores : array-like of shape (n,)
        Scores of the rows in question.

    Returns
    -------
    ndarray of shape (n,)
        Values in (0, 1]; low is novel.

    Examples
    --------
    >>> from kernova import conformal_p_values
    >>> conformal_p_values([0.3, 0.5, 0.6, 0.9], [0.1, 0.5, 1.0])
    array([0.2, 0.6, 1. ])
    """
    calibration = np.sort(finite_scores(calibration_scores, "calibration scores"))
    if np.size(scores) == 0:
        return np.empty(0)
    questioned = finite_scores(scores, "scores")
    n_as_low = np.searchsorted(calibration, questioned, side="right")
    return (1 + n_as_low) / (calibration.size + 1)


def select_discoveries(p_values: ArrayLike, false_discovery_rate: float) -> NDArray[np.bool_]:
    """Choose rows to call novel so that few of the chosen ones are ordinary, on average.

    The step-up rule of Benjamini and Hochberg: with the n p-values in rising order, take the
    last k with p_(k) <= k * rate / n and choose all rows up to it, ties with it included. The
    expected share of ordinary rows among the chosen is then at most the wanted rate, also for
    conformal p-values that share their calibration rows.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        One p-value for each row, as :func:`conformal_p_values` gives them.
    false_discovery_rate : float
        Wanted limit, in (0, 1).

    Returns
    -------
    ndarray of bool of shape (n,)
        True where the row is chosen.

    Examples
    --------
    >>> from kernova import select_discoveries
    >>> select_discoveries([0.01, 0.8, 0.03, 0.04], 0.1)
    array([ True, False,  True,  True])
    """
    check_open_unit_interval(false_discovery_rate, "false_discovery_rate")
    if np.size(p_values) == 0:
        return np.zeros(0, dtype=np.bool_)
    p = finite_scores(p_values, "p-values")
    if p.min() < 0 or p.max() > 1:
        raise InputError(f"p-values lie between 0 and 1; got {p.min():g} to {p.max():g}.")
    ranked = np.sort(p)
    limits = np.arange(1, p.size + 1) * (false_discovery_rate / p.size) * (1 + _ROUNDING)
    within = np.flatnonzero(ranked <= limits)
    if within.size == 0:
        return np.zeros(p.size, dtype=np.bool_)
    return p <= ranked[within[-1]]
