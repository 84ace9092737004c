"""PyOD's interface for kernova's and scikit-learn's detectors, and the reverse.

PyOD has the opposite sign: high scores are outliers, labels are 1 for outliers and 0 for inliers,
and the scores of the training rows are stored. :func:`as_pyod` wraps a detector in this interface,
for PyOD's ensembles and tools; :func:`from_pyod` wraps PyOD's detectors in the interface of
scikit-learn, for pipelines and :class:`~kernova.CalibratedDetector`.

Where PyOD is installed, :func:`as_pyod` returns an instance of its ``BaseDetector``, which has the
other methods of that class too (such as ``predict_with_rejection``). PyOD is not a dependency:
everything described here works without it.
"""

from importlib import import_module
from numbers import Real
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import InputTags, Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import safe_indexing, validate_data
from kernova.calibration.bounds import finite_scores
from kernova.calibration.detector import CalibratedDetector, last_step, scores_outliers_high
from kernova.errors import InputError, quoted
from kernova.typing import Vector

__all__ = ["AsPyod", "FromPyod", "as_pyod", "from_pyod"]

Labels = NDArray[np.int64]


def _scores_in_fit(detector: Any, X: Any) -> Vector:
    """Return scikit-learn scores of the training rows, each without itself where possible."""
    if isinstance(detector, Pipeline):
        before = detector[:-1]
        return _scores_in_fit(detector[-1], before.transform(X) if len(before) else X)
    for attribute in ("negative_outlier_factor_", "training_scores_"):
        if hasattr(detector, attribute):
            return finite(getattr(detector, attribute), detector)
    scores = _inlier_scores(detector, X)
    if isinstance(detector, CalibratedDetector):
        learnt_from = detector.reference_indices_
        rows = safe_indexing(X, learnt_from)
        scores[learnt_from] = _scores_in_fit(detector.estimator_, rows)
    return scores


def _inlier_scores(detector: Any, X: Any) -> Vector:
    """Return scikit-learn scores of new rows: high is an inlier."""
    return finite(getattr(detector, _scoring_method(detector))(X), detector)


def _own_threshold(detector: Any) -> float:
    """Return the PyOD score above which the fitted detector itself calls rows novel."""
    if _scoring_method(detector) == "decision_function":
        return 0.0  # by scikit-learn's convention, rows below 0 are novel
    found = last_step(detector)
    if not hasattr(found, "offset_"):
        raise InputError(
            f"{type(found).__name__} has no threshold of its own. "
            "Set contamination in as_pyod, for example to 0.1."
        )
    return -float(np.ravel(found.offset_)[0])  # one-class SVMs store it in an array


def _scoring_method(detector: Any) -> str:
    """Prefer raw scores, unless their threshold is unknown while that of decisions is known."""
    has_scores, has_decisions = (
        hasattr(detector, name) for name in ("score_samples", "decision_function")
    )
    if has_decisions and not (has_scores and hasattr(last_step(detector), "offset_")):
        return "decision_function"
    if has_scores:
        return "score_samples"
    raise InputError(
        f"{type(detector).__name__} cannot score rows: it has neither score_samples nor "
        "decision_function. Choose a detector that has one."
    )


def _able_to_score_new_rows(detector: Any) -> Any:
    """Set ``novelty=True`` in all outlier factors inside the detector."""
    settings = detector.get_params(deep=True).items()
    in_sample = [
        name for name, value in settings if name.split("__")[-1] == "novelty" and value is False
    ]
    detector.set_params(**dict.fromkeys(in_sample, True))
    _scoring_method(detector)  # raises now rather than after a long fit
    return detector


def check_columns(wrapper: BaseEstimator, X: Any) -> None:
    """Raise unless new rows have the columns of ``fit``."""
    # Input without columns is left to the detector, whose message is better.
    if len(getattr(X, "shape", (0, 0))) > 1:
        validate_data(wrapper, X, reset=False, skip_check_array=True)


def finite(scores: Any, detector: Any) -> Vector:
    """Return the scores of a detector as finite numbers, or raise InputError."""
    return finite_scores(scores, f"scores that {type(detector).__name__} gives")


def _check_not_pyod(detector: Any) -> None:
    """Raise InputError unless this is a detector with scikit-learn's sign."""
    _check_is_detector(detector)
    found = last_step(detector)
    if scores_outliers_high(found):
        raise InputError(
            f"{type(found).__name__} has PyOD's interface already. Use it without as_pyod."
        )


def _check_not_sklearn(detector: Any) -> None:
    """Raise InputError unless this is a detector with PyOD's sign."""
    _check_is_detector(detector)
    found = last_step(detector)
    if hasattr(found, "score_samples") or isinstance(found, OutlierMixin):
        raise InputError(
            f"{type(found).__name__} has scikit-learn's interface already. "
            "Use it without from_pyod."
        )


def _check_is_detector(detector: Any) -> None:
    if isinstance(detector, type):
        raise InputError(
            f"Pass a detector, not its class: {detector.__name__}() instead of {detector.__name__}."
        )
    name = type(last_step(detector)).__name__
    if not all(hasattr(detector, method) for method in ("fit", "get_params", "set_params")):
        raise InputError(
            f"A detector needs fit, get_params and set_params; {name} does not have them all."
        )
    if isinstance(last_step(detector), ClassifierMixin):
        raise InputError(f"{name} is a classifier. Pass an outlier detector.")


def check_contamination(contamination: Any) -> None:
    """Raise InputError unless this is "auto", None or a fraction of the rows."""
    if _keeps_own_threshold(contamination):
        return
    if not (isinstance(contamination, Real) and 0 < float(contamination) <= 0.5):
        raise InputError(
            'contamination must be "auto", None, or a number above 0 and at most 0.5; '
            f"got {quoted(contamination)}."
        )


def _keeps_own_threshold(contamination: Any) -> bool:
    """Return whether the detector's own threshold is used."""
    return contamination is None or (isinstance(contamination, str) and contamination == "auto")


def _input_tags_of(detector: Any, default: InputTags) -> InputTags:
    """Return the input tags of a detector, or the default if it has none."""
    return get_tags(detector).input_tags if hasattr(detector, "__sklearn_tags__") else default


def _labels_above(threshold: float, scores: Vector) -> Labels:
    """Return 1 for scores above the threshold, and 0 for the others."""
    return (scores > threshold).astype(np.int64)


def linear_probabilities(scores: Vector, training_scores: Vector) -> Vector:
    """Scale scores from the lowest (0) to the highest (1) of the training rows.

    Where those are equal but for rounding, the scale is one unit long.
    """
    low, high = training_scores.min(), training_scores.max()
    # Halves first: the difference of two large scores may overflow.
    half_spread = high / 2 - low / 2
    is_rounding = half_spread <= 10 * np.finfo(np.float64).eps * max(abs(low), abs(high))
    with np.errstate(over="ignore"):
        scaled = (scores / 2 - low / 2) / (0.5 if is_rounding else half_spread)
    return np.clip(scaled, 0.0, 1.0)


def unified_probabilities(scores: Vector, mean: float, deviation: float) -> Vector:
    """Convert scores to probabilities as if the training scores were normal; 0 up to their mean."""
    if deviation == 0:
        return np.where(scores > mean, 1.0, 0.0)
    with np.errstate(over="ignore"):
        standard = (scores / 2 - mean / 2) / (deviation / np.sqrt(2))  # (s - m) / (d sqrt 2)
    return np.clip(erf(standard), 0.0, 1.0)


def label_stability(
    scores: Vector, labels: Labels, training_scores: Vector, n_outliers: int
) -> Vector:
    """Return the probability that a row keeps its label if the training rows were drawn again.

    The fraction of training rows that score no higher estimates the probability that a new row
    does so. A row is labelled an outlier when all but fewer than ``n_outliers`` of them do, which
    has a binomial probability.

    References
    ----------
    Perini, Vercruyssen and Davis, "Quantifying the Confidence of Anomaly Detectors in Their
    Example-Wise Predictions", ECML PKDD 2020.
    """
    n_rows = len(training_scores)
    n_lower = np.searchsorted(np.sort(training_scores), scores, side="right")
    chance_of_lower = (1 + n_lower) / (2 + n_rows)
    n_inliers = n_rows - n_outliers
    outlier_again = binom.sf(n_inliers, n_rows, chance_of_lower)
    inlier_again = binom.cdf(n_inliers, n_rows, chance_of_lower)
    return np.where(labels == 1, outlier_again, inlier_again)


def moments(scores: Vector) -> tuple[float, float]:
    """Return the mean and the standard deviation, finite even where squares overflow."""
    largest = float(np.abs(scores).max()) or 1.0
    scaled = scores / largest
    return float(scaled.mean()) * largest, float(scaled.std()) * largest


def from_pyod(detector: Any) -> "FromPyod":
    """Wrap a detector of PyOD in the interface and the sign of scikit-learn: high is an inlier.

    Parameters
    ----------
    detector : estimator
        A detector of PyOD that learns without labels, or a pipeline that ends in one. It is not
        changed: ``fit`` fits a clone.

    Returns
    -------
    FromPyod
        The unfitted detector.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CalibratedDetector, SpatialDepth
    >>> from kernova.pyod import as_pyod, from_pyod
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> outliers = as_pyod(SpatialDepth())  # or any detector of PyOD: KNN(), ECOD(), ...
    >>> calibrated = CalibratedDetector(from_pyod(outliers), random_state=0).fit(X)
    >>> calibrated.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """
    _check_not_sklearn(detector)
    return FromPyod(detector)


class FromPyod(MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """Detector of PyOD with scikit-learn's interface; :func:`from_pyod` makes one.

    Parameters
    ----------
    detector : estimator
        The detector of PyOD; high scores are outliers.

    Attributes
    ----------
    offset_ : float
        Rows that score below it are novel: PyOD's ``threshold_``, negated.
    training_scores_ : ndarray of shape (n_rows,)
        Scores of the training rows; high is an inlier. Detectors by neighbours score each of them
        without itself here, unlike in ``score_samples`` and ``fit_predict``.
    detector_ : estimator
        The fitted clone of the detector.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import SpatialDepth
    >>> from kernova.pyod import as_pyod, from_pyod
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> there_and_back = from_pyod(as_pyod(SpatialDepth())).fit(X)
    >>> bool(np.all(there_and_back.score_samples(X) == SpatialDepth().fit(X).score_samples(X)))
    True
    """

    def __init__(self, detector: Any) -> None:
        self.detector = detector

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = _input_tags_of(self.detector, tags.input_tags)
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a clone of the detector on rows in any form that it accepts; ``y`` is ignored."""
        _check_not_sklearn(self.detector)
        validate_data(self, X, skip_check_array=True)
        detector = clone(self.detector)
        detector.fit(X)
        found = last_step(detector)
        if not hasattr(found, "decision_scores_"):
            raise InputError(
                f"{type(found).__name__} is not a detector of PyOD: it has no decision_scores_ "
                "after fit. Pass one of PyOD's detectors."
            )
        self.training_scores_ = -finite(found.decision_scores_, found)
        self.offset_ = -float(found.threshold_)
        self.detector_ = detector
        return self

    def score_samples(self, X: Any) -> Vector:
        """Return PyOD's scores negated: high is an inlier."""
        check_is_fitted(self, "offset_")
        check_columns(self, X)
        return -finite(self.detector_.decision_function(X), self.detector_)

    def decision_function(self, X: Any) -> Vector:
        """Return the scores minus ``offset_``: negative where a row is novel."""
        scores = self.score_samples(X)
        with np.errstate(over="ignore"):
            return np.nan_to_num(scores - self.offset_)

    def predict(self, X: Any) -> Labels:
        """Return -1 where PyOD's label is 1 (an outlier), and +1 elsewhere."""
        return np.where(self.score_samples(X) < self.offset_, -1, 1)


def as_pyod(detector: Any, contamination: "str | float | None" = "auto") -> "AsPyod":
    """Wrap a detector in the interface and the sign of PyOD: high is an outlier.

    Parameters
    ----------
    detector : estimator
        A detector of kernova or scikit-learn, or any other whose ``score_samples`` or
        ``decision_function`` is high for inliers, or a pipeline that ends in one. It is not
        changed: ``fit`` fits a clone, with ``novelty=True`` in outlier factors.
    contamination : "auto", None or float in (0, 0.5], default="auto"
        "auto" and None keep the detector's own threshold. A number sets the threshold as PyOD
        does, at the quantile ``1 - contamination`` of the training scores.

    Returns
    -------
    AsPyod
        The unfitted detector.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import SpatialDepth
    >>> from kernova.pyod import as_pyod
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> detector = as_pyod(SpatialDepth(), contamination=0.1).fit(X)
    >>> int(detector.labels_.sum())
    20
    >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
    array([0, 1])
    """
    check_contamination(contamination)
    _check_not_pyod(detector)
    _able_to_score_new_rows(clone(detector))
    return AsPyod(detector, contamination)


def _pyod_base() -> Any:
    """Return PyOD's base class, which its own checks require; an empty class without PyOD."""
    try:
        return import_module("pyod.models.base").BaseDetector
    except ImportError:
        return type("WithoutPyod", (), {})


_PyodBase: Any = _pyod_base()


class AsPyod(_PyodBase, BaseEstimator):
    """Detector with PyOD's interface; :func:`as_pyod` makes one and checks its input.

    Parameters
    ----------
    detector : estimator
        The detector; high scores are inliers.
    contamination : "auto", None or float in (0, 0.5], default="auto"
        "auto" and None keep the detector's own threshold; a number is a fraction of the rows.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n_rows,)
        Outlier score of each training row. Outlier factors and depths score each row without
        itself; others score it like a new row.
    threshold_ : float
        Rows that score above it are outliers.
    labels_ : ndarray of shape (n_rows,)
        1 for the training rows that are outliers, 0 for the others.
    detector_ : estimator
        The fitted clone of the detector.
    n_features_in_, feature_names_in_
        As in :class:`FromPyod`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import LocalOutlierFactor
    >>> from kernova.pyod import as_pyod
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 9.0]]])
    >>> detector = as_pyod(LocalOutlierFactor()).fit(X)
    >>> int(detector.decision_scores_.argmax())
    50
    >>> detector.predict_proba([[0.0, 0.0], [9.0, 0.0]]).round(2)
    array([[1.  , 0.  ], [0.36, 0.64]])
    """

    # scikit-learn's, since PyOD's set_params loses nested parameters of a new detector.
    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params
    _get_param_names: Any = classmethod(BaseEstimator._get_param_names.__func__)
    __repr__ = BaseEstimator.__repr__

    _classes = 2  # PyOD's methods read the number of columns of predict_proba here

    def __init__(self, detector: Any, contamination: Any = "auto") -> None:
        self.detector = detector
        self.contamination = contamination

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"  # as PyOD's detectors are
        tags.input_tags = _input_tags_of(self.detector, tags.input_tags)
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a clone of the detector on rows in any form that it accepts, and score them.

        As in PyOD, ``y`` is not used, and there is a warning if it is given.
        """
        if y is not None:
            warn("y is not used: the detector learns without labels.", UserWarning, stacklevel=2)
        check_contamination(self.contamination)
        _check_not_pyod(self.detector)
        validate_data(self, X, skip_check_array=True)  # names and number of features only
        detector = _able_to_score_new_rows(clone(self.detector))
        (rows,) = indexable(X)
        detector.fit(rows)
        scores = -_scores_in_fit(detector, rows)
        self.threshold_ = (
            _own_threshold(detector)
            if _keeps_own_threshold(self.contamination)
            else float(np.percentile(scores, 100 * (1 - self.contamination)))
        )
        self.detector_ = detector
        self.decision_scores_ = scores
        self.labels_ = _labels_above(self.threshold_, scores)
        self._n_outliers = (
            int(self.labels_.sum())
            if _keeps_own_threshold(self.contamination)
            else int(len(scores) * self.contamination)  # PyOD's count, ties or not
        )
        self._mu, self._sigma = moments(scores)
        return self

    def decision_function(self, X: Any) -> Vector:
        """Return the outlier score of each row; high is an outlier."""
        check_is_fitted(self, "decision_scores_")
        check_columns(self, X)
        return -_inlier_scores(self.detector_, X)

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Return 1 for outliers and 0 for inliers.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Rows to score.
        return_confidence : bool, default=False
            Return the confidences too; see :meth:`predict_confidence`.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            The labels.
        confidence : ndarray of shape (n_rows,)
            Only with ``return_confidence=True``.
        """
        scores = self.decision_function(X)
        labels = _labels_above(self.threshold_, scores)
        return (labels, self._confidence(scores)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """Return the probabilities that a row is an inlier (column 0) and an outlier (column 1).

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Rows to score.
        method : {"linear", "unify"}, default="linear"
            "linear" scales a score between the lowest and the highest training score; "unify"
            assumes normal training scores, and returns 0 up to their mean.
        return_confidence : bool, default=False
            Return the confidences too; see :meth:`predict_confidence`.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, 2)
            Each row sums to 1.
        confidence : ndarray of shape (n_rows,)
            Only with ``return_confidence=True``.
        """
        if method not in ("linear", "unify"):
            raise InputError(f'method must be "linear" or "unify"; got {quoted(method)}.')
        scores = self.decision_function(X)
        outlier = (
            linear_probabilities(scores, self.decision_scores_)
            if method == "linear"
            else unified_probabilities(scores, self._mu, self._sigma)
        )
        probabilities = np.column_stack([1 - outlier, outlier])
        return (probabilities, self._confidence(scores)) if return_confidence else probabilities

    def predict_confidence(self, X: Any) -> Vector:
        """Return the probability that a row keeps its label with other training rows."""
        return self._confidence(self.decision_function(X))

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Fit, and return the labels of the same rows."""
        return self.fit(X, y).labels_

    def compute_rejection_stats(self, *args: Any, **kwargs: Any) -> Any:
        """Return PyOD's cost of rejection, which needs a numeric contamination."""
        if _keeps_own_threshold(self.contamination):
            raise InputError(
                "The cost of rejection depends on the fraction of outliers; set contamination to "
                f"it, as a number above 0 and at most 0.5, instead of {quoted(self.contamination)}."
            )
        if not hasattr(_PyodBase, "compute_rejection_stats"):
            raise InputError(
                "Only PyOD computes the cost of rejection. Install it: pip install pyod."
            )
        return super().compute_rejection_stats(*args, **kwargs)

    def _confidence(self, scores: Vector) -> Vector:
        labels = _labels_above(self.threshold_, scores)
        return label_stability(scores, labels, self.decision_scores_, self._n_outliers)
