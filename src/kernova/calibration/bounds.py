"""Thresholds with a bound on the false-alarm rate, proven on held-out rows.

High scores are ordinary: a row is called novel when its score is at most the threshold ``t``. A
false alarm is an ordinary row called novel. There are two bounds on its probability:

``"hoeffding"``
    observed rate + sqrt(ln(1/delta) / 2m). It holds for all thresholds at once (one-sided
    Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, delta <= 1/2), so the
    threshold may be chosen by looking at the held-out scores.
``"binomial"``
    The Clopper-Pearson upper limit for a number of alarms that the number of rows, the
    confidence and the wanted rate fix before any score is seen. It is never looser: at equal
    counts Hoeffding's inequality *is* an upper bound on the binomial tail which Clopper and
    Pearson invert, so at least as many alarms are allowed, and the threshold is at least as high.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from kernova.calibration import BOUND, CONFIDENCE
from kernova.errors import InputError, TooFewRowsError, quoted
from kernova.text import plural
from kernova.typing import Vector

# A bound that equals the wanted rate must not fail it by the last bit: 1 - 0.05**(1/1) is 0.95.
# The bounds themselves are only computed to about 1e-13.
_ROUNDING = 1e-12


class FalseAlarmThreshold(NamedTuple):
    """A threshold and its proven false-alarm bound."""

    threshold: float  # rows whose score is at most this are called novel
    bound: float  # with the wanted confidence, the probability of a false alarm is at most this
    observed_rate: float  # fraction of the held-out rows that the threshold calls novel
    n: int  # number of held-out rows


class CriticalFalseAlarm(NamedTuple):
    """The point where the bound on false alarms equals the fraction of unknown rows missed."""

    e_star: float
    detection_rate: float
    threshold: float


class EqualErrorRate(NamedTuple):
    """The point where the rate of false alarms equals the fraction of unknown rows missed."""

    rate: float
    threshold: float


def false_alarm_threshold(
    holdout_scores: ArrayLike,
    max_false_alarm: float,
    confidence: float = CONFIDENCE,
    bound: str = "hoeffding",
) -> FalseAlarmThreshold:
    """Return the highest threshold whose false alarms provably stay within ``max_false_alarm``.

    Parameters
    ----------
    holdout_scores : array-like of shape (m,)
        Scores of ordinary rows that took no part in fitting; high is ordinary.
    max_false_alarm : float
        Wanted limit on the probability that an ordinary row is called novel, in (0, 1).
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, with which the bound holds. For
        ``bound="hoeffding"`` at least one half.
    bound : {"hoeffding", "binomial"}, default="hoeffding"
        "binomial" is exact for continuous scores, so it needs far fewer rows: its threshold is
        never below Hoeffding's.

    Returns
    -------
    FalseAlarmThreshold
        ``threshold``, ``bound``, ``observed_rate``, ``n``. The threshold is the largest number
        below a held-out score, so that this row itself is not an alarm. Nor are any held-out rows
        tied with it, so ties only make the result more conservative.

    Raises
    ------
    TooFewRowsError
        If not even zero alarms prove so low a rate; the error names the number of rows needed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import false_alarm_threshold
    >>> depths = np.linspace(0.2, 0.9, 300)
    >>> careful = false_alarm_threshold(depths, 0.1)
    >>> round(careful.threshold, 4), round(careful.bound, 4), careful.n
    (0.2187, 0.0973, 300)
    >>> exact = false_alarm_threshold(depths, 0.1, bound="binomial")
    >>> round(exact.threshold, 4), round(exact.bound, 4), exact.n
    (0.2492, 0.0992, 300)
    """
    scores = np.sort(finite_scores(holdout_scores, "held-out scores"))
    allowed = allowed_false_alarms(scores.size, max_false_alarm, confidence, bound)
    # Write s for the sorted scores and r for `allowed`; t is the last number below s[r], the
    # (r+1)-th smallest. At most r held-out rows are alarms there, and any higher t makes at
    # least r + 1 of them alarms: t is the highest candidate. What is proven at t:
    #
    # hoeffding: it holds for every t together, so also for this one, with the alarms that
    #   were in fact seen (fewer than r if ties straddle s[r]).
    # binomial: let G(t) = P(score < t). Scores can be drawn as quantiles of uniform numbers,
    #   score_i = Q(u_i), and then G(Q(u)) <= u; so P(alarm) = G(s[r]) <= u_(r+1), the (r+1)-th
    #   smallest of m uniform numbers, which is Beta(r + 1, m - r). Its `confidence` quantile is
    #   the Clopper-Pearson limit at r. Only r was used, fixed by m alone: no peeking. When
    #   ties leave fewer alarms than r, the limit at r is still what is proven, not less.
    threshold = math.nextafter(scores[allowed], -math.inf)
    n_alarms = int(np.searchsorted(scores, threshold, side="right"))
    counted = n_alarms if bound == "hoeffding" else allowed
    proven = _UPPER_BOUNDS[bound](counted, scores.size, confidence)
    return FalseAlarmThreshold(
        threshold, min(proven, float(max_false_alarm)), n_alarms / scores.size, scores.size
    )


def critical_false_alarm(
    known_scores: ArrayLike, unknown_scores: ArrayLike, confidence: float = CONFIDENCE
) -> CriticalFalseAlarm:
    """Return e*: the smallest level that bounds both the false alarms, provably, and the misses.

    For a threshold t let bound(t) be Hoeffding's bound on false alarms and miss(t) the fraction of
    unknown rows that are not called novel. One rises with t and the other falls, both in steps,
    so they may cross without ever being equal; hence e* is the smallest max(bound(t), miss(t))
    over all t, and 1 if that exceeds 1. If e* is small, the unknown group looks new.

    Parameters
    ----------
    known_scores : array-like of shape (m,)
        Scores of held-out known rows, none of them used for fitting; high is ordinary.
    unknown_scores : array-like of shape (u,)
        Scores of the rows thought to be new.
    confidence : float, default=0.95
        Confidence of the bound, at least one half and below one.

    Returns
    -------
    CriticalFalseAlarm
        ``e_star``, the ``detection_rate`` 1 - miss(t), at least 1 - e*, and the ``threshold`` t.
        Where several t give the same e*, the one with the smallest bound(t) + miss(t) is taken,
        then the lowest.

    Notes
    -----
    e* is never below sqrt(ln(1/delta) / 2m), delta = 1 - confidence: .173 for 50 held-out rows and
    .055 for 500 at 95 %, however new the unknown group is. The bound holds for all thresholds at
    once, so choosing t by looking at the scores costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import critical_false_alarm
    >>> result = critical_false_alarm(np.linspace(0.4, 1, 500), np.linspace(0, 0.5, 40))
    >>> round(result.e_star, 3), result.detection_rate, round(result.threshold, 3)
    (0.125, 0.875, 0.436)
    """
    known = finite_scores(known_scores, "known scores")
    unknown = finite_scores(unknown_scores, "unknown scores")
    _check_bound_and_confidence("hoeffding", confidence)
    errors = _errors_by_threshold(known, unknown)
    # The bound may pass 1 here, and is cut only at the end: where nothing can be proven, the
    # threshold without any false alarm is then still the better one.
    bounds = errors.false_alarm + _hoeffding_margin(known.size, confidence)
    best = _where_balanced(bounds, errors.miss)
    return CriticalFalseAlarm(
        e_star=float(min(max(bounds[best], errors.miss[best]), 1.0)),
        detection_rate=float(1 - errors.miss[best]),
        threshold=float(errors.threshold[best]),
    )


def equal_error_rate(known_scores: ArrayLike, unknown_scores: ArrayLike) -> EqualErrorRate:
    """Return the observed rate at which false alarms equal misses, without a margin.

    Both rates move in steps as the threshold moves and may cross without being equal. So the
    threshold is the one that minimises the larger of the two errors (then their sum, then the
    threshold itself), and the rate is the mean of the two errors there: 0 when some threshold
    separates the two samples, 0.5 when the samples are identical. Only the order of the scores
    matters.

    Parameters
    ----------
    known_scores : array-like of shape (m,)
        Scores of known rows; high is ordinary.
    unknown_scores : array-like of shape (u,)
        Scores of the rows thought to be new.

    Returns
    -------
    EqualErrorRate
        ``rate`` and ``threshold``.

    Examples
    --------
    >>> from kernova import equal_error_rate
    >>> equal_error_rate([0.3, 0.6, 0.7, 0.8, 0.9], [0.1, 0.2, 0.3, 0.4, 0.7])
    EqualErrorRate(rate=0.2, threshold=0.4)
    """
    known = finite_scores(known_scores, "known scores")
    unknown = finite_scores(unknown_scores, "unknown scores")
    errors = _errors_by_threshold(known, unknown)
    best = _where_balanced(errors.false_alarm, errors.miss)
    rate = (errors.false_alarm[best] + errors.miss[best]) / 2
    return EqualErrorRate(float(rate), float(errors.threshold[best]))


def allowed_false_alarms(
    n_holdout: int, max_false_alarm: float, confidence: float = CONFIDENCE, bound: str = BOUND
) -> int:
    """Return the largest number of held-out alarms that still proves ``max_false_alarm``.

    It depends on the number of rows only, not on scores. Raises
    :class:`~kernova.errors.TooFewRowsError` if not even zero alarms prove it.

    Examples
    --------
    >>> from kernova.calibration.bounds import allowed_false_alarms
    >>> allowed_false_alarms(59, 0.05), allowed_false_alarms(1000, 0.05)
    (0, 38)
    """
    check_open_unit_interval(max_false_alarm, "max_false_alarm")
    _check_bound_and_confidence(bound, confidence)
    upper_bound = _UPPER_BOUNDS[bound]
    allowed = (
        bisect_right(
            range(n_holdout),
            max_false_alarm * (1 + _ROUNDING),
            key=lambda n_alarms: upper_bound(n_alarms, n_holdout, confidence),
        )
        - 1
    )
    if allowed < 0:
        raise _too_few_rows(n_holdout, max_false_alarm, confidence, bound)
    return allowed


def hoeffding_upper_bound(n_alarms: int, n_holdout: int, confidence: float) -> float:
    """Bound the false alarms of every threshold at once: rate + sqrt(ln(1/delta) / 2m)."""
    return n_alarms / n_holdout + _hoeffding_margin(n_holdout, confidence)


def binomial_upper_bound(n_alarms: int, n_holdout: int, confidence: float) -> float:
    """Bound the false alarms when ``n_alarms`` was fixed beforehand (Clopper and Pearson)."""
    if n_alarms >= n_holdout:
        return 1.0
    return float(betaincinv(n_alarms + 1, n_holdout - n_alarms, confidence))


_UPPER_BOUNDS: dict[str, Callable[[int, int, float], float]] = {
    "hoeffding": hoeffding_upper_bound,
    "binomial": binomial_upper_bound,
}


def finite_scores(scores: Any, what: str) -> Vector:
    """Return the scores as a vector of finite numbers, or raise if they are not."""
    try:
        vector = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The {what} must be numbers, one for each row.") from None
    if vector.ndim != 1:
        raise InputError(
            f"The {what} must be one number for each row; got an array of shape {vector.shape}."
        )
    if vector.size == 0:
        raise InputError(f"The {what} are empty. Give at least one row.")
    is_bad = ~np.isfinite(vector)
    if is_bad.any():
        raise InputError(
            f"The {what} must be finite; {np.count_nonzero(is_bad)} of {vector.size} are not, "
            f"the first at position {int(np.argmax(is_bad))}. Leave such rows out."
        )
    return vector


def check_open_unit_interval(value: Any, name: str) -> None:
    """Raise if the value is not a number strictly between 0 and 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and 0 < value < 1):
        raise InputError(f"{name} must be a number above 0 and below 1; got {quoted(value)}.")


def _rounded_up(rate: float, digits: int = 3) -> str:
    """Return a rate as text, rounded up to a few digits, and below 1 if it was.

    Examples
    --------
    >>> _rounded_up(0.19351), _rounded_up(0.25), _rounded_up(0.999912)
    ('0.194', '0.25', '0.99992')
    """
    exact = Decimal(rate * (1 - _ROUNDING))
    short = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(exact)
    if short >= 1 > exact:
        return _rounded_up(rate, digits + 1)
    return f"{short.normalize():f}"


def percent_rounded_up(rate: float) -> str:
    """Return a proven rate in percent, rounded up so that it stays true.

    Examples
    --------
    >>> from kernova.calibration.bounds import percent_rounded_up
    >>> percent_rounded_up(0.049509)
    '4.96 %'
    """
    return f"{(100 * Decimal(_rounded_up(rate))).normalize():f} %"


class _Errors(NamedTuple):
    threshold: Vector
    false_alarm: Vector
    miss: Vector


def _errors_by_threshold(known: Vector, unknown: Vector) -> _Errors:
    """Compute both errors at every threshold where one of them can change, and below all scores."""
    scores = np.unique(np.concatenate([known, unknown]))
    threshold = np.concatenate([[math.nextafter(scores[0], -math.inf)], scores])
    n_alarms = np.searchsorted(np.sort(known), threshold, side="right")
    n_detected = np.searchsorted(np.sort(unknown), threshold, side="right")
    return _Errors(threshold, n_alarms / known.size, (unknown.size - n_detected) / unknown.size)


def _where_balanced(false_alarm: Vector, miss: Vector) -> int:
    """Find the smallest larger error, then the smallest sum, then the lowest threshold."""
    return int(np.lexsort((false_alarm + miss, np.maximum(false_alarm, miss)))[0])


def _hoeffding_margin(n_holdout: int, confidence: float) -> float:
    return math.sqrt(-math.log1p(-confidence) / (2 * n_holdout))


def _rows_needed(max_false_alarm: float, confidence: float, bound: str) -> int:
    """Return the smallest m with which zero alarms prove the wanted rate."""
    log_inverse_delta = -math.log1p(-confidence)
    if bound == "hoeffding":
        # Exact arithmetic: the square of a tiny rate would vanish.
        rows = Fraction(log_inverse_delta) / (2 * Fraction(float(max_false_alarm)) ** 2)
    else:
        rows = Fraction(log_inverse_delta / -math.log1p(-max_false_alarm))
    # A tenth of the slack that `allowed_false_alarms` gives, so that the advice always works.
    return max(1, math.ceil(rows * (1 - Fraction(_ROUNDING) / 10)))


def _too_few_rows(
    n_holdout: int, max_false_alarm: float, confidence: float, bound: str
) -> TooFewRowsError:
    rows_needed = _rows_needed(max_false_alarm, confidence, bound)
    provable = _UPPER_BOUNDS[bound](0, n_holdout, confidence) if n_holdout else 1.0
    rows = f"{n_holdout} held-out {plural(n_holdout, 'row')} cannot prove"
    limit, advice = "any rate", ""
    if provable < 1:
        limit = f"a rate below {_rounded_up(provable)}"
        advice = f", or set max_false_alarm above {_rounded_up(provable)}"
    return TooFewRowsError(
        f"No threshold keeps false alarms below {Decimal(f'{max_false_alarm:.12g}'):f}: "
        f"{rows} {limit}. Hold out at least {rows_needed} "
        f"{plural(rows_needed, 'row')}{advice}.",
        rows_needed=rows_needed,
        smallest_provable=min(provable, 1.0),
    )


def _check_bound_and_confidence(bound: str, confidence: float) -> None:
    if bound not in _UPPER_BOUNDS:
        raise InputError(f"bound must be 'hoeffding' or 'binomial'; got {quoted(bound)}.")
    check_open_unit_interval(confidence, "confidence")
    if bound == "hoeffding" and confidence < 0.5:
        raise InputError(
            f"bound='hoeffding' needs a confidence of at least 0.5; got {confidence}. "
            "Set a higher confidence, or bound='binomial'."
        )
