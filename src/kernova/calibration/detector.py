"""Calibrated detector: any detector with a proven false-alarm bound, on one novelty scale."""

import math
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, check_random_state, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import num_samples, reject_complex, safe_indexing, validate_data
from kernova.calibration import BOUND, CONFIDENCE, HOLDOUT, MAX_FALSE_ALARM
from kernova.calibration.bounds import (
    FalseAlarmThreshold,
    allowed_false_alarms,
    false_alarm_threshold,
    finite_scores,
    percent_rounded_up,
)
from kernova.calibration.p_values import conformal_p_values, select_discoveries
from kernova.errors import InputError, TooFewRowsError, quoted
from kernova.text import percent, plural, quantity
from kernova.typing import Indices, Mask, Vector

# 0.29 * 100 is 28.999999999999996, and 29 rows are meant.
ROUNDING = 1e-9
# Detectors of other libraries overflow at 1e308; their scores are checked instead.
_OVERFLOW: dict[str, Any] = {"over": "ignore", "invalid": "ignore", "divide": "ignore"}


class Split(NamedTuple):
    """Indices of the rows to fit the detector on, and of the held-out rows; no row is in both."""

    reference: Indices
    holdout: Indices


def split_rows(n_rows: int, n_holdout: int, random: np.random.RandomState) -> Split:
    """Draw the held-out rows at random; each part keeps the order of the rows."""
    shuffled = random.permutation(n_rows)
    return Split(np.sort(shuffled[n_holdout:]), np.sort(shuffled[:n_holdout]))


def _holdout_size(n_rows: int, holdout: float) -> int:
    """Return the number of rows to hold out, so that both parts have at least one row.

    Examples
    --------
    >>> _holdout_size(21, 0.5), _holdout_size(21, 5)
    (10, 5)
    """
    if n_rows < 2:
        raise InputError(
            f"Rows to learn from and rows to hold out need at least 2 rows; "
            f"got {quantity(n_rows, 'sample')}."
        )
    if _is_row_number(holdout):
        if holdout >= n_rows:
            raise InputError(
                f"holdout={holdout} leaves no row to learn from: there are {n_rows} rows. "
                "Hold out fewer, or a fraction such as 0.5."
            )
        return int(holdout)
    return min(max(1, math.floor(holdout * n_rows + ROUNDING)), n_rows - 1)


def _is_row_number(holdout: Any) -> bool:
    """Return whether this is a number of rows, not a fraction of them."""
    return isinstance(holdout, Integral) and not isinstance(holdout, bool)


def _check_holdout(holdout: Any) -> None:
    """Raise if this is neither a fraction of the rows nor a number of them."""
    is_fraction = isinstance(holdout, float | np.floating) and 0 < holdout < 1
    if not is_fraction and not (_is_row_number(holdout) and holdout >= 1):
        raise InputError(
            "holdout must be a fraction of the rows above 0 and below 1, or a number of rows "
            f"of at least 1; got {quoted(holdout)}."
        )


class Judgement(NamedTuple):
    """Scores, novelty, p-values and verdicts of some rows, from one scoring of them."""

    scores: Vector
    novelty: Vector
    p_values: Vector
    is_novel: Mask


def novelty_scale(sorted_holdout_scores: Vector, threshold: float) -> float:
    """Return the length of one unit of novelty: from the threshold to the median held-out row.

    Where the median is not above the first held-out row that is no alarm, as with many ties
    or when half of the rows may be alarms, it is the range of the held-out scores instead;
    where that is 0 too, it is 1.
    """
    with np.errstate(over="ignore"):
        median = np.median(sorted_holdout_scores)
        # From the row just above the threshold the distance is one rounding step: no scale.
        is_clear = median > math.nextafter(threshold, math.inf)
        top, bottom = (
            (median, threshold)
            if is_clear
            else (sorted_holdout_scores[-1], sorted_holdout_scores[0])
        )
        scale = min(float(top - bottom), np.finfo(np.float64).max)
    return scale if scale > 0 else 1.0


def novelty_of(scores: Vector, threshold: float, scale: float) -> Vector:
    """Turn scores (high is ordinary) into novelty: (threshold - score) / scale, always finite."""
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        novelty = (threshold - scores) / scale
    novelty = np.clip(novelty, limits.min, limits.max)
    # A tiny step above the threshold must not vanish in the division: its row is not novel.
    return np.where(scores > threshold, np.minimum(novelty, -limits.tiny), novelty)


def _guarantee_sentence(
    result: FalseAlarmThreshold, max_false_alarm: float, confidence: float
) -> str:
    """Return the guarantee as a sentence, rounded so that it stays true.

    Examples
    --------
    >>> from kernova.calibration.bounds import false_alarm_threshold
    >>> _guarantee_sentence(false_alarm_threshold(range(59), 0.05, 0.95, "binomial"), 0.05, 0.95)
    'With 95 % confidence, at most 4.96 % of ordinary rows are called novel
    (5 % was asked for; of 59 held-out rows none was).'
    """
    n_alarms = round(result.observed_rate * result.n)
    called = f"{n_alarms or 'none'} {plural(n_alarms or 1, 'was', 'were')}"
    return (
        f"With {percent(confidence, '.12g')} confidence, at most "
        f"{percent_rounded_up(result.bound)} of ordinary rows are called novel "
        f"({percent(max_false_alarm, '.12g')} was asked for; "
        f"of {result.n} held-out {plural(result.n, 'row')} {called})."
    )


class CalibratedDetector(MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """Detector with a threshold whose false-alarm rate has a proven bound.

    Some rows are held out; the detector is fitted on the others; the scores of the held-out rows
    set the threshold, the p-values and the scale of novelty. All detectors are thereby on one
    scale, and ``guarantee`` returns the proven bound as a sentence.

    Parameters
    ----------
    estimator : estimator, default=None
        A detector with ``score_samples`` (high is ordinary), or else ``decision_function``, such
        as those of kernova and scikit-learn and pipelines that end in one. None stands for
        :class:`~kernova.KernelSpatialDepth`.
    max_false_alarm : float, default=0.05
        Wanted limit on the probability that an ordinary row is called novel.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, with which the limit holds.
    bound : {"binomial", "hoeffding"}, default="binomial"
        The kind of bound; see :func:`~kernova.false_alarm_threshold`.
    holdout : float or int, default=0.5
        Rows to hold out: a fraction in (0, 1), rounded down, or their number.
    random_state : int, RandomState or None, default=None
        Seed of the hold-out split, and of the estimator where it has no seed of its own.

    Attributes
    ----------
    estimator_ : estimator
        The detector, fitted on the reference rows.
    threshold_ : float
        Rows whose score is at most this are called novel.
    offset_ : float
        The next number above ``threshold_``: ``decision_function`` is the score minus this.
    false_alarm_bound_ : float
        With ``confidence``, the probability of a false alarm is at most this.
    observed_false_alarm_ : float
        Fraction of the held-out rows that are called novel.
    holdout_scores_ : ndarray of shape (n_holdout,)
        Scores of the held-out rows, in increasing order.
    reference_indices_, holdout_indices_ : ndarray of int
        Rows of ``X`` that the detector was fitted on, and those held out. Set by ``fit`` only;
        ``calibrate`` is given other held-out rows.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from kernova import CalibratedDetector
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X)
    >>> detector.predict([[0, 0], [9, 9]])
    array([ 1, -1])
    >>> detector.guarantee()
    'With 95 % confidence, at most 4.52 % of ordinary rows are called novel
    (5 % was asked for; of 200 held-out rows 4 were).'
    """

    def __init__(
        self,
        estimator: Any = None,
        max_false_alarm: float = MAX_FALSE_ALARM,
        confidence: float = CONFIDENCE,
        bound: str = BOUND,
        holdout: float = HOLDOUT,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_false_alarm = max_false_alarm
        self.confidence = confidence
        self.bound = bound
        self.holdout = holdout
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        detector = self._detector()
        if hasattr(detector, "__sklearn_tags__"):
            tags.input_tags = get_tags(detector).input_tags
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Split the rows, fit the detector on one part and set the threshold on the other.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Ordinary rows, in any form that the detector takes.
        y : None
            Present for API consistency; not used.

        Returns
        -------
        self
        """
        _check_holdout(self.holdout)
        validate_data(self, X, skip_check_array=True)  # names and number of features only
        reject_complex(self, X)
        n_rows = num_samples(X)
        n_holdout = _holdout_size(n_rows, self.holdout)
        self._check_enough_rows(n_rows, n_holdout)
        random = check_random_state(self.random_state)
        split = split_rows(n_rows, n_holdout, random)
        detector = _seeded(clone(self._detector()), random)
        _scoring_method(detector)  # raises now rather than after a long fit
        (rows,) = indexable(X)  # some sparse formats cannot be indexed by row before this
        with np.errstate(**_OVERFLOW):
            detector.fit(safe_indexing(rows, split.reference))
        self._calibrate(detector, safe_indexing(rows, split.holdout))
        self.reference_indices_, self.holdout_indices_ = split
        return self

    def calibrate(self, X_holdout: Any) -> Self:
        """Set the threshold on other held-out rows, without fitting the detector again.

        After ``fit`` these replace the rows held out then. Without ``fit``,
        ``estimator`` must be fitted already and is used as it is. The guarantee holds only
        if none of the rows was used for fitting.

        Parameters
        ----------
        X_holdout : array-like, sparse matrix or DataFrame of shape (n_holdout, n_features)
            Ordinary rows that the detector has not seen.

        Returns
        -------
        self
        """
        is_first = not hasattr(self, "estimator_")
        detector = self._fitted_detector() if is_first else self.estimator_
        validate_data(self, X_holdout, reset=is_first, skip_check_array=True)
        self._calibrate(detector, X_holdout)
        if hasattr(self, "holdout_indices_"):
            del self.holdout_indices_  # the rows held out are no longer rows of fit's X
        return self

    def score_samples(self, X: Any) -> Vector:
        """Return the detector's own scores; high is ordinary."""
        check_is_fitted(self, "threshold_")
        reject_complex(self, X)
        return _scores_by(self.estimator_, X)

    def judge(self, X: Any) -> Judgement:
        """Score rows once, and return scores, novelty, p-values and verdicts together."""
        scores = self.score_samples(X)
        scale = novelty_scale(self.holdout_scores_, self.threshold_)
        return Judgement(
            scores=scores,
            novelty=novelty_of(scores, self.threshold_, scale),
            p_values=conformal_p_values(self.holdout_scores_, scores),
            is_novel=scores <= self.threshold_,
        )

    def decision_function(self, X: Any) -> Vector:
        """Return the scores shifted by ``offset_``: below 0 is novel."""
        scores = self.score_samples(X)
        with np.errstate(over="ignore"):
            return np.nan_to_num(scores - self.offset_)

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return -1 where a row is called novel, +1 where it is not."""
        return np.where(self.judge(X).is_novel, -1, 1)

    def novelty(self, X: Any) -> Vector:
        """Return the novelty of rows: high is novel, and 0 is the threshold.

        -1 is the median held-out row, and 0 or more is called novel. See
        :func:`~kernova.calibration.detector.novelty_scale` for held-out scores too similar to
        have such a scale.
        """
        return self.judge(X).novelty

    def p_values(self, X: Any) -> Vector:
        """Return the probability that an ordinary row looks at least as novel; low is novel."""
        return self.judge(X).p_values

    def discoveries(self, X: Any, false_discovery_rate: float) -> Mask:
        """Select rows so that, on average, at most this fraction of them is ordinary."""
        return select_discoveries(self.p_values(X), false_discovery_rate)

    def guarantee(self) -> str:
        """Return the proven bound on false alarms as a sentence."""
        check_is_fitted(self, "threshold_")
        return self._guarantee

    def _check_enough_rows(self, n_rows: int, n_holdout: int) -> None:
        """Raise before the fit: what can be proven depends on the number of rows alone."""
        try:
            allowed_false_alarms(n_holdout, self.max_false_alarm, self.confidence, self.bound)
        except TooFewRowsError as error:
            needed = error.rows_needed
            if _is_row_number(self.holdout):
                advice = f"Set holdout to {needed} or more"
            else:
                in_all = math.ceil(needed / self.holdout - ROUNDING)
                advice = f"With holdout={self.holdout:g} that takes {in_all} rows in all"
            raise TooFewRowsError(
                f"{error} {advice}; there are {n_rows}.",
                rows_needed=needed,
                smallest_provable=error.smallest_provable,
            ) from None

    def _calibrate(self, detector: Any, X_holdout: Any) -> None:
        """Set threshold, bound and guarantee; nothing is changed if that fails."""
        scores = np.sort(_scores_by(detector, X_holdout))
        result = false_alarm_threshold(scores, self.max_false_alarm, self.confidence, self.bound)
        self.estimator_ = detector
        self.holdout_scores_ = scores
        self.threshold_ = result.threshold
        self.offset_ = math.nextafter(result.threshold, math.inf)
        self.false_alarm_bound_ = result.bound
        self.observed_false_alarm_ = result.observed_rate
        # Written now: parameters changed later do not change what was proven.
        self._guarantee = _guarantee_sentence(result, self.max_false_alarm, self.confidence)

    def _detector(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from kernova.anomaly.spatial_depth import KernelSpatialDepth

        return KernelSpatialDepth()

    def _fitted_detector(self) -> Any:
        if self.estimator is None:
            raise NotFittedError(
                "There is no fitted detector to calibrate. Call fit, or pass a fitted estimator."
            )
        check_is_fitted(self.estimator)
        return self.estimator


def last_step(detector: Any) -> Any:
    """Return the detector that a pipeline ends in; any other detector is its own last step."""
    return last_step(detector.steps[-1][1]) if isinstance(detector, Pipeline) else detector


def scores_outliers_high(detector: Any) -> bool:
    """Return whether this is a PyOD detector, or ends in one: there high scores are outliers."""
    marks = ("decision_scores_", "predict_confidence")  # PyOD's, after fit and before
    return any(hasattr(last_step(detector), mark) for mark in marks)


def _scoring_method(detector: Any) -> Any:
    name = type(detector).__name__
    if scores_outliers_high(detector):
        # Such scores would call the most ordinary rows novel.
        raise InputError(
            f"{type(last_step(detector)).__name__} gives high scores to outliers; here high scores "
            "are ordinary. Wrap it in kernova.pyod.from_pyod, which changes the sign."
        )
    for method in ("score_samples", "decision_function"):
        if hasattr(detector, method):
            return getattr(detector, method)
    raise InputError(
        f"{name} cannot score new rows: it has neither score_samples nor decision_function. "
        "Choose a detector that has one (LocalOutlierFactor: with novelty=True)."
    )


def _scores_by(detector: Any, X: Any) -> Vector:
    with np.errstate(**_OVERFLOW):
        scores = _scoring_method(detector)(X)
    return finite_scores(scores, f"scores of {type(detector).__name__}")


def _seeded(detector: Any, random: np.random.RandomState) -> Any:
    """Seed every part of the detector that has no seed, so that one random_state repeats all."""
    unseeded = [
        name
        for name, value in sorted(detector.get_params(deep=True).items(), key=lambda item: item[0])
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    seeds = {name: int(random.randint(np.iinfo(np.int32).max)) for name in unseeded}
    return detector.set_params(**seeds)
