"""Calibrated detector: any detector with a proven false-alarm bound, on one novelty scale."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_random_state, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import num_samples, reject_complex, safe_indexing, validate_data
from kernova.anomaly.ensemble.foreign import last_step, scores_outliers_high
from kernova.calibration import BOUND, CALIBRATION, CONFIDENCE, HOLDOUT, MAX_FALSE_ALARM
from kernova.calibration.bounds import FalseAlarmThreshold, false_alarm_threshold
from kernova.calibration.p_values import conformal_p_values, select_discoveries
from kernova.calibration.scoring import (
    OF_GROUPS,
    OVERFLOW,
    HeldOut,
    folds_sentence,
    guarantee_sentence,
    scores_by,
    scoring_method,
    seeded,
)
from kernova.calibration.splits import (
    AUTO,
    ROUNDING,
    Split,
    Wanted,
    check_holdout,
    check_two_units,
    fold_number,
    fold_splits,
    holdout_size,
    split_rows,
    split_units,
    unit_numbers,
)
from kernova.errors import InputError, TooFewRowsError, quoted
from kernova.typing import Indices, Mask, Vector

__all__ = [
    "ROUNDING",
    "CalibratedDetector",
    "Judgement",
    "Split",
    "last_step",
    "novelty_of",
    "novelty_scale",
    "scores_outliers_high",
    "split_rows",
]


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
        # From the row just above the threshold the distance is room for rounding: no scale.
        is_clear = median / 2 - threshold / 2 > _rounding_room(sorted_holdout_scores, threshold)
        top, bottom = (
            (median, threshold)
            if is_clear
            else (sorted_holdout_scores[-1], sorted_holdout_scores[0])
        )
        scale = min(float(top - bottom), np.finfo(np.float64).max)
    return scale if scale > 0 else 1.0


def _rounding_room(holdout_scores: Vector, threshold: float) -> float:
    """Return how much a score may change by rounding, which depends on the rows scored with it."""
    sizes = np.sort(np.abs(holdout_scores))
    typical = max(abs(threshold), float(sizes[len(sizes) // 2]))
    return 4 * math.ulp(typical) if math.isfinite(typical) else 0.0


def novelty_of(scores: Vector, threshold: float, scale: float) -> Vector:
    """Turn scores (high is ordinary) into novelty: (threshold - score) / scale, always finite."""
    limits = np.finfo(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        novelty = (threshold - scores) / scale
    novelty = np.clip(novelty, limits.min, limits.max)
    # A tiny step above the threshold must not vanish in the division: its row is not novel.
    return np.where(scores > threshold, np.minimum(novelty, -limits.tiny), novelty)


class CalibratedDetector(MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """Detector with a threshold whose false-alarm rate has a proven bound.

    Some rows are held out; the detector is fitted on the others; the scores of the held-out rows
    set the threshold, the p-values and the scale of novelty. All detectors are thereby on one
    scale, and ``guarantee`` returns the proven bound as a sentence. With ``calibration="cross"``
    every row is held out once and learnt from otherwise.

    Parameters
    ----------
    estimator : estimator, default=None
        A detector with ``score_samples`` (high is ordinary), or else ``decision_function``, such
        as those of kernova and scikit-learn and pipelines that end in one. None stands for
        :class:`~kernova.DetectorEnsemble`.
    max_false_alarm : float, default=0.05
        Wanted limit on the probability that an ordinary row is called novel.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, with which the limit holds.
    bound : {"binomial", "hoeffding"}, default="binomial"
        The kind of bound; see :func:`~kernova.false_alarm_threshold`.
    holdout : "auto", float or int, default="auto"
        Rows to hold out: a fraction in (0, 1), rounded down, or their number. "auto" chooses by the
        number of rows: as many as the guarantee needs of few rows, just below half of some
        hundred, and no more than a fifth of very many. If the rows cannot prove the default
        of ``max_false_alarm``, the smallest rate is proven that they can, and ``guarantee`` says
        so; for any other rate :class:`~kernova.errors.TooFewRowsError` is raised.
    random_state : int, RandomState or None, default=None
        Seed of the split, and of the estimator where it has no seed of its own.
    calibration : {"holdout", "cross"}, default="holdout"
        "cross" divides the rows into folds. For each, a detector is fitted on all other rows and
        calibrated on the fold; a row is novel if all detectors call it so. See the notes.
    n_folds : "auto" or int, default="auto"
        Number of folds of "cross"; "auto" is 5, or fewer if the folds would be small.

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
        ``calibrate`` is given other held-out rows. With "cross" these are those of the first fold.
    folds_ : list of CalibratedDetector
        The fitted and calibrated detectors of "cross". There ``estimator_`` is the first of their
        detectors, a score is minus the novelty, and the threshold is 0.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

    Notes
    -----
    What is proven, for any detector and any distribution of the rows:

    ===========  ==========================================  =======================================
    calibration  with ``confidence``, false alarms at most   p-value of an ordinary row
    ===========  ==========================================  =======================================
    "holdout"    the bound of m held-out rows; exact         P(p <= a) <= a
    "cross"      the bound of the n / K rows of one fold     P(p <= a) <= 2a + 2(K - 1) / (n + K),
                                                             in practice about a
    ===========  ==========================================  =======================================

    "cross" cannot prove a smaller bound than holding out n / K rows once does: each detector has
    the bound of its own fold, and nothing limits how the K errors depend on each other. A row
    that all K call novel is called novel by each of them, so that the false alarms of "cross" are
    at most those of any one detector. What "cross" gives is p-values and a scale from all n rows,
    and verdicts that depend less on the random split; they are more cautious than proven.

    With groups, "row" in these statements is a random row of a group not seen before.

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
    'With 95 % confidence, at most 4.99 % of ordinary rows are called novel
    (5 % was asked for; of 181 held-out rows 4 were).'
    """

    # What models saved before these parameters and attributes existed stand for.
    calibration: str = "holdout"
    n_folds: "str | int" = AUTO
    _held_out_weights: Vector | None = None  # of holdout_scores_; with groups only
    _drawn_scores: Vector | None = None  # one of each group; with groups only
    estimator_: Any
    false_alarm_bound_: float
    observed_false_alarm_: float

    def __init__(
        self,
        estimator: Any = None,
        max_false_alarm: float = MAX_FALSE_ALARM,
        confidence: float = CONFIDENCE,
        bound: str = BOUND,
        holdout: "str | float" = HOLDOUT,
        random_state: Any = None,
        calibration: str = CALIBRATION,
        n_folds: "str | int" = AUTO,
    ) -> None:
        self.estimator = estimator
        self.max_false_alarm = max_false_alarm
        self.confidence = confidence
        self.bound = bound
        self.holdout = holdout
        self.random_state = random_state
        self.calibration = calibration
        self.n_folds = n_folds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        detector = self._detector()
        if hasattr(detector, "__sklearn_tags__"):
            tags.input_tags = get_tags(detector).input_tags
        return tags

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Split the rows, fit the detector on one part and set the threshold on the other.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Ordinary rows, in any form that the detector takes.
        y : None
            Present for API consistency; not used.
        groups : array-like of shape (n_rows,), optional
            The group of each row, such as its site, specimen or user. Groups are held out as a
            whole; ``holdout`` counts groups. The bound is that of one row drawn from each
            held-out group, the p-values are from all their rows, and both are about a random row
            of a new group.

        Returns
        -------
        self
        """
        check_holdout(self.holdout)
        _check_calibration(self.calibration)
        validate_data(self, X, skip_check_array=True)  # names and number of features only
        reject_complex(self, X)
        units = unit_numbers(groups, num_samples(X))
        n_units = int(units.max(initial=-1)) + 1
        unit = "row" if groups is None else "group"
        wanted = Wanted(self.max_false_alarm, self.confidence, self.bound)
        random = check_random_state(self.random_state)
        (rows,) = indexable(X)  # some sparse formats cannot be indexed by row before this
        labels = None if groups is None else units
        if self.calibration == "cross":
            check_two_units(n_units, unit)
            n_folds = fold_number(n_units, self.n_folds, wanted, unit)
            self._fit_folds(rows, labels, fold_splits(units, n_units, n_folds, random), random)
            return self
        n_holdout = holdout_size(n_units, self.holdout, wanted, unit)
        split = split_units(units, n_units, n_holdout, random)
        detector = self._fitted_on(rows, split.reference, random)
        if hasattr(self, "folds_"):
            del self.folds_
        held_out = HeldOut.scored(detector, rows, split.holdout, labels, random)
        self._calibrate(detector, held_out, accepts_more=self.holdout == AUTO)
        self.reference_indices_, self.holdout_indices_ = split
        return self

    def calibrate(self, X_holdout: Any, groups: Any = None) -> Self:
        """Set the threshold on other held-out rows, without fitting the detector again.

        After ``fit`` these replace the rows held out then. Without ``fit``,
        ``estimator`` must be fitted already and is used as it is. The guarantee holds only
        if none of the rows was used for fitting.

        Parameters
        ----------
        X_holdout : array-like, sparse matrix or DataFrame of shape (n_holdout, n_features)
            Ordinary rows that the detector has not seen.
        groups : array-like of shape (n_holdout,), optional
            The group of each row, as in ``fit``.

        Returns
        -------
        self
        """
        if hasattr(self, "folds_"):
            for fold in self.folds_:
                fold.calibrate(X_holdout, groups)
            self._folds_share_rows = True
            self._combine_folds()
            return self
        return self._calibrate_on(X_holdout, groups)

    def recalibrate(self, X_ordinary: Any, groups: Any = None) -> Self:
        """Add rows known to be ordinary to the held-out ones, and set the threshold again.

        The bound becomes tighter with every row. It stays proven if the rows are drawn like those
        that will be judged, and if neither their choice nor their number depends on their
        scores: label a random sample of the rows, not only those called novel, and decide
        beforehand when to calibrate again. Each calibration has its own confidence.

        Parameters
        ----------
        X_ordinary : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Ordinary rows that the detector has not seen. Without rows nothing changes.
        groups : array-like of shape (n_rows,), optional
            The group of each row; needed if and only if there were groups before. All rows
            must be of new groups.

        Returns
        -------
        self
        """
        check_is_fitted(self, "threshold_")
        if num_samples(X_ordinary) == 0:
            return self
        if hasattr(self, "folds_"):
            for fold in self.folds_:
                fold.recalibrate(X_ordinary, groups)
            self._folds_share_rows = True
            self._combine_folds()
            return self
        if (groups is None) != (self._held_out_weights is None):
            raise InputError(
                "groups must be given to recalibrate if they were given before, and only then."
            )
        validate_data(self, X_ordinary, reset=False, skip_check_array=True)
        before = HeldOut(self.holdout_scores_, self._held_out_weights, self._drawn_scores)
        added = self._held_out(self.estimator_, X_ordinary, groups)
        is_above = self.false_alarm_bound_ > self.max_false_alarm
        self._calibrate(self.estimator_, before.joined(added), accepts_more=is_above)
        if hasattr(self, "holdout_indices_"):
            del self.holdout_indices_
        return self

    def score_samples(self, X: Any) -> Vector:
        """Return the detector's own scores; high is ordinary. With "cross", minus the novelty."""
        check_is_fitted(self, "threshold_")
        reject_complex(self, X)
        if hasattr(self, "folds_"):
            return self.judge(X).scores
        return scores_by(self.estimator_, X)

    def judge(self, X: Any) -> Judgement:
        """Score rows once, and return scores, novelty, p-values and verdicts together."""
        check_is_fitted(self, "threshold_")
        if hasattr(self, "folds_"):
            reject_complex(self, X)
            sizes = [fold._n_units for fold in self.folds_]
            found = [fold.judge(X) for fold in self.folds_]
            return _in_agreement(found, sizes, self._folds_share_rows)
        scores = self.score_samples(X)
        scale = novelty_scale(self.holdout_scores_, self.threshold_)
        return Judgement(
            scores=scores,
            novelty=novelty_of(scores, self.threshold_, scale),
            p_values=conformal_p_values(self.holdout_scores_, scores, self._held_out_weights),
            is_novel=scores <= self.threshold_,
        )

    def score_batches(self, frames: Iterable[Any]) -> Iterator[Judgement]:
        """Judge rows that come in batches, with the memory of one batch.

        Parameters
        ----------
        frames : iterable
            DataFrames, arrays, or tables and record batches of pyarrow, with the columns of
            ``fit``. Batches without rows are allowed.

        Returns
        -------
        iterator of Judgement
            The judgement of each batch, as soon as it is asked for.

        Examples
        --------
        >>> import numpy as np
        >>> from kernova import CalibratedDetector, SpatialDepth
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = CalibratedDetector(SpatialDepth(), random_state=0).fit(X)
        >>> batches = (X[start:start + 100] for start in range(0, 500, 100))
        >>> [int(judgement.is_novel.sum()) for judgement in detector.score_batches(batches)]
        [1, 5, 3, 1, 1]
        """
        check_is_fitted(self, "threshold_")
        is_one = hasattr(frames, "shape") or isinstance(frames, str | bytes | dict)
        if is_one or not isinstance(frames, Iterable):
            raise InputError(
                f"frames must be an iterable of tables; got one {type(frames).__name__}. "
                "Put a single table into a list, or use judge."
            )
        return (self._judged_batch(frame) for frame in frames)

    def _judged_batch(self, frame: Any) -> Judgement:
        is_arrow = type(frame).__module__.partition(".")[0] == "pyarrow"
        X = frame.to_pandas() if is_arrow else frame
        if num_samples(X) == 0:
            return Judgement(np.empty(0), np.empty(0), np.empty(0), np.empty(0, dtype=np.bool_))
        return self.judge(X)

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

    def _fitted_on(self, rows: Any, reference: Indices, random: np.random.RandomState) -> Any:
        detector = seeded(clone(self._detector()), random)
        scoring_method(detector)  # raises now rather than after a long fit
        with np.errstate(**OVERFLOW):
            detector.fit(safe_indexing(rows, reference))
        return detector

    def _fit_folds(
        self,
        rows: Any,
        labels: Indices | None,
        splits: list[Split],
        random: np.random.RandomState,
    ) -> None:
        """Fit and calibrate one detector for each fold."""
        folds = []
        for split in splits:
            detector = self._fitted_on(rows, split.reference, random)
            seed = int(random.randint(np.iinfo(np.int32).max))
            fold = CalibratedDetector(
                detector, self.max_false_alarm, self.confidence, self.bound, random_state=seed
            )
            held_out = safe_indexing(rows, split.holdout)
            groups = None if labels is None else labels[split.holdout]
            folds.append(fold._calibrate_on(held_out, groups, accepts_more=self.n_folds == AUTO))
        self.folds_, self._folds_share_rows = folds, False
        self._combine_folds()
        self.reference_indices_, self.holdout_indices_ = splits[0]

    def _combine_folds(self) -> None:
        """Set what holds for all folds together.

        A row that all detectors call novel is called novel by the k-th, for any k fixed
        beforehand: P(false alarm) is at most that of detector k, whose bound is proven on fold k.
        Which fold has the smallest bound depends on the sizes alone.
        """
        folds: list[CalibratedDetector] = self.folds_
        sizes = [fold._n_units for fold in folds]
        self.estimator_ = folds[0].estimator_
        self.holdout_scores_ = np.sort(
            np.concatenate([-fold._held_out_novelty() for fold in folds])
        )
        self.threshold_ = 0.0
        self.offset_ = math.nextafter(0.0, math.inf)
        self.false_alarm_bound_ = min(fold.false_alarm_bound_ for fold in folds)
        rates = [fold.observed_false_alarm_ for fold in folds]
        self.observed_false_alarm_ = float(np.average(rates, weights=sizes))
        self._guarantee = folds_sentence(
            FalseAlarmThreshold(
                0.0, self.false_alarm_bound_, self.observed_false_alarm_, sum(sizes)
            ),
            Wanted(self.max_false_alarm, self.confidence, self.bound),
            sizes,
            is_grouped=folds[0]._drawn_scores is not None,
            share_rows=self._folds_share_rows,
        )

    @property
    def _n_units(self) -> int:
        drawn = self._drawn_scores
        return len(self.holdout_scores_ if drawn is None else drawn)

    def _held_out_novelty(self) -> Vector:
        scale = novelty_scale(self.holdout_scores_, self.threshold_)
        return novelty_of(self.holdout_scores_, self.threshold_, scale)

    def _calibrate_on(self, X_holdout: Any, groups: Any, accepts_more: bool = False) -> Self:
        is_first = not hasattr(self, "estimator_")
        detector = self._fitted_detector() if is_first else self.estimator_
        validate_data(self, X_holdout, reset=is_first, skip_check_array=True)
        self._calibrate(detector, self._held_out(detector, X_holdout, groups), accepts_more)
        if hasattr(self, "holdout_indices_"):
            del self.holdout_indices_  # the rows held out are no longer rows of fit's X
        return self

    def _held_out(self, detector: Any, X: Any, groups: Any) -> HeldOut:
        n_rows = num_samples(X)
        labels = None if groups is None else unit_numbers(groups, n_rows)
        (rows,) = indexable(X)
        random = check_random_state(self.random_state)
        return HeldOut.scored(detector, rows, np.arange(n_rows), labels, random)

    def _calibrate(self, detector: Any, held_out: HeldOut, accepts_more: bool = False) -> None:
        """Set threshold, bound and guarantee; nothing is changed if that fails."""
        units = held_out.scores if held_out.drawn is None else held_out.drawn
        rate, needs = self.max_false_alarm, ""
        try:
            Wanted(rate, self.confidence, self.bound).allowed(units.size)
        except TooFewRowsError as error:
            if not accepts_more or rate != MAX_FALSE_ALARM or error.smallest_provable >= 1:
                raise
            rate = error.smallest_provable
            unit = "rows" if held_out.drawn is None else "groups"
            needs = f", which takes {error.rows_needed} held-out {unit}"
        result = false_alarm_threshold(units, rate, self.confidence, self.bound)
        self.estimator_ = detector
        self.holdout_scores_ = held_out.scores
        # The held-out row above the threshold must stay there when it is scored by itself, although
        # products of fewer rows are rounded otherwise. A lower threshold keeps the bound.
        room = _rounding_room(held_out.scores, result.threshold)
        self.threshold_ = max(result.threshold - room, -np.finfo(np.float64).max)
        self.offset_ = math.nextafter(self.threshold_, math.inf)
        self.false_alarm_bound_ = result.bound
        self.observed_false_alarm_ = float(np.mean(units <= self.threshold_))
        self._held_out_weights, self._drawn_scores = held_out.weights, held_out.drawn
        words: dict[str, Any] = {}
        if held_out.drawn is not None:
            words = {
                "of": OF_GROUPS,
                "held_out": f"{result.n} rows, one from each held-out group,",
            }
        # Written now: parameters changed later do not change what was proven.
        self._guarantee = guarantee_sentence(
            result, self.max_false_alarm, self.confidence, by=needs, **words
        )

    def _detector(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from kernova.anomaly.ensemble.detector import DetectorEnsemble

        return DetectorEnsemble()

    def _fitted_detector(self) -> Any:
        if self.estimator is None:
            raise NotFittedError(
                "There is no fitted detector to calibrate. Call fit, or pass a fitted estimator."
            )
        check_is_fitted(self.estimator)
        return self.estimator


def _in_agreement(found: list[Judgement], sizes: list[int], share_rows: bool) -> Judgement:
    """Combine the judgements of all folds: a row is as novel as the least of them says.

    p = (1 + C) / (n + 1), where C counts over all folds the held-out rows that score no higher by
    their own detector (cross-conformal; Vovk 2015). With p_k the exact p-value of fold k and
    m_k rows, (K + C) / (n + K) is the mean of the p_k with weights (m_k + 1) / (n + K). A mean q
    of valid p-values has P(q <= a) <= 2a, however they depend on each other, because
    1[q <= a] <= max(2 - q/a, 0), which is convex in q and has mean 2a for a uniform p_k. Where
    all folds were calibrated on the same further rows, p is this mean itself.
    """
    novelty = np.min([one.novelty for one in found], axis=0)
    counts = sum(one.p_values * (size + 1) - 1 for one, size in zip(found, sizes, strict=True))
    added = len(sizes) if share_rows else 1
    p_values = np.minimum((added + counts) / (added + sum(sizes)), 1.0)
    return Judgement(-novelty, novelty, p_values, novelty >= 0)


def _check_calibration(calibration: Any) -> None:
    """Raise if this is no way to calibrate."""
    if not isinstance(calibration, str) or calibration not in ("holdout", "cross"):
        raise InputError(f"calibration must be 'holdout' or 'cross'; got {quoted(calibration)}.")
