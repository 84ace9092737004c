"""What a detector of any make says of rows, high is usual, and who is refused.

From scores of strangeness to the labels, probabilities and confidences that PyOD gives.

Detectors of PyOD with scikit-learn's interface, where high is usual.

Detectors with PyOD's interface, where high is strange.

PyOD's interface for kernova's and scikit-learn's detectors, and the way back.

PyOD's detectors turn the sign: high is strange, labels are 1 for outliers and 0 for the others,
and what ``fit`` found of its own rows is kept. :func:`as_pyod` gives a detector this face, so that
it takes part in PyOD's ensembles and tools; :func:`from_pyod` gives PyOD's detectors the face of
scikit-learn, so that they take part in pipelines and in :class:`~kernova.CalibratedDetector`.

Where PyOD is installed, what :func:`as_pyod` gives is an instance of its ``BaseDetector``, and has
that class's other methods too (``predict_with_rejection`` among them). Without PyOD it does
everything described here all the same: PyOD is no dependency.
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
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova._sklearn import safe_indexing
from kernova.calibration.bounds import finite_scores
from kernova.calibration.detector import CalibratedDetector, last_step, scores_strangeness
from kernova.errors import InputError
from kernova.typing import Vector

__all__ = ["AsPyod", "FromPyod", "as_pyod", "from_pyod"]


def usualness_in_fit(detector: Any, X: Any) -> Vector:
    """Scores of the rows that the detector was fitted on, each without itself where it can."""
    if isinstance(detector, Pipeline):
        before = detector[:-1]
        return usualness_in_fit(detector[-1], before.transform(X) if len(before) else X)
    for attribute in ("negative_outlier_factor_", "training_scores_"):
        if hasattr(detector, attribute):
            return finite(getattr(detector, attribute), detector)
    scores = usualness(detector, X)
    if isinstance(detector, CalibratedDetector):
        learnt_from = detector.reference_indices_
        rows = safe_indexing(X, learnt_from)
        scores[learnt_from] = usualness_in_fit(detector.estimator_, rows)
    return scores


def usualness(detector: Any, X: Any) -> Vector:
    """Scores of new rows."""
    return finite(getattr(detector, _scoring_method(detector))(X), detector)


def own_threshold(detector: Any) -> float:
    """Give the strangeness above which the fitted detector itself calls rows novel."""
    if _scoring_method(detector) == "decision_function":
        return 0.0  # by scikit-learn's convention, what is below 0 there is novel
    found = last_step(detector)
    if not hasattr(found, "offset_"):
        raise InputError(
            f"{type(found).__name__} has no threshold of its own. "
            "Give as_pyod a contamination, such as 0.1."
        )
    return -float(np.ravel(found.offset_)[0])  # one-class SVMs keep it in an array


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


def able_to_score_new_rows(detector: Any) -> Any:
    """Tell outlier factors, wherever they stand in the detector, that new rows will come."""
    settings = detector.get_params(deep=True).items()
    silent = [
        name for name, value in settings if name.split("__")[-1] == "novelty" and value is False
    ]
    detector.set_params(**dict.fromkeys(silent, True))
    _scoring_method(detector)  # refused now rather than after a long fit
    return detector


def check_columns(wrapper: BaseEstimator, X: Any) -> None:
    """Refuse new rows with other columns than those of ``fit``."""
    # What has no columns at all is left to the detector, which says better what to do.
    if len(getattr(X, "shape", (0, 0))) > 1:
        validate_data(wrapper, X, reset=False, skip_check_array=True)


def finite(scores: Any, detector: Any) -> Vector:
    """Give the scores of a detector as numbers, or say that they are none."""
    return finite_scores(scores, f"scores that {type(detector).__name__} gives")


def check_scores_usualness(detector: Any) -> None:
    """Refuse what is no detector, and what turns the sign already."""
    _check_is_detector(detector)
    found = last_step(detector)
    if scores_strangeness(found):
        raise InputError(
            f"{type(found).__name__} has PyOD's interface already. Use it without as_pyod."
        )


def check_scores_strangeness(detector: Any) -> None:
    """Refuse what is no detector, and what has scikit-learn's sign already."""
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
            f"Give a detector, not its class: {detector.__name__}() instead of {detector.__name__}."
        )
    name = type(last_step(detector)).__name__
    if not all(hasattr(detector, method) for method in ("fit", "get_params", "set_params")):
        raise InputError(
            f"A detector has fit, get_params and set_params; got {name}, which has not."
        )
    if isinstance(last_step(detector), ClassifierMixin):
        raise InputError(
            f"{name} is a classifier, which tells known classes apart. Give a detector."
        )


def check_contamination(contamination: Any) -> None:
    """Refuse what is neither a share of the rows nor a wish for the detector's own threshold."""
    if keeps_own_threshold(contamination):
        return
    if not (isinstance(contamination, Real) and 0 < float(contamination) <= 0.5):
        raise InputError(
            'contamination must be "auto", None, or a number above 0 and at most 0.5; '
            f"got {contamination!r}."
        )


def keeps_own_threshold(contamination: Any) -> bool:
    """Tell whether the detector's own threshold is wanted."""
    return contamination is None or (isinstance(contamination, str) and contamination == "auto")


def input_tags_of(detector: Any, default: InputTags) -> InputTags:
    """Tell what input a detector takes, if it says so."""
    return get_tags(detector).input_tags if hasattr(detector, "__sklearn_tags__") else default


Labels = NDArray[np.int64]


def labels_above(threshold: float, scores: Vector) -> Labels:
    """Give 1 for scores above the threshold, and 0 for the others."""
    return (scores > threshold).astype(np.int64)


def linear_probabilities(scores: Vector, training_scores: Vector) -> Vector:
    """Place scores between the lowest (0) and the highest (1) of the rows of ``fit``.

    Where those are alike but for rounding, one unit above them is as far as it goes.
    """
    low, high = training_scores.min(), training_scores.max()
    # Halves first: the difference of two large scores need not be a number.
    half_spread = high / 2 - low / 2
    is_rounding = half_spread <= 10 * np.finfo(np.float64).eps * max(abs(low), abs(high))
    with np.errstate(over="ignore"):
        shares = (scores / 2 - low / 2) / (0.5 if is_rounding else half_spread)
    return np.clip(shares, 0.0, 1.0)


def unified_probabilities(scores: Vector, mean: float, deviation: float) -> Vector:
    """Turn scores into probabilities as if those of ``fit`` were normal; 0 up to their mean."""
    if deviation == 0:
        return np.where(scores > mean, 1.0, 0.0)
    with np.errstate(over="ignore"):
        standard = (scores / 2 - mean / 2) / (deviation / np.sqrt(2))  # (s - m) / (d sqrt 2)
    return np.clip(erf(standard), 0.0, 1.0)


def label_stability(
    scores: Vector, labels: Labels, training_scores: Vector, n_outliers: int
) -> Vector:
    """Probability that a row keeps its label if the rows of ``fit`` were drawn anew.

    The share of those rows that score no higher tells the chance that a row drawn anew does so.
    A row is labelled an outlier when all but fewer than ``n_outliers`` of them do, which is
    a binomial probability.

    References
    ----------
    Perini, Vercruyssen and Davis, "Quantifying the Confidence of Anomaly Detectors in Their
    Example-Wise Predictions", ECML PKDD 2020.
    """
    n_rows = len(training_scores)
    n_lower = np.searchsorted(np.sort(training_scores), scores, side="right")
    chance_of_lower = (1 + n_lower) / (2 + n_rows)
    n_usual = n_rows - n_outliers
    outlier_again = binom.sf(n_usual, n_rows, chance_of_lower)
    usual_again = binom.cdf(n_usual, n_rows, chance_of_lower)
    return np.where(labels == 1, outlier_again, usual_again)


def moments(scores: Vector) -> tuple[float, float]:
    """Mean and standard deviation, finite even where squares are not."""
    largest = float(np.abs(scores).max()) or 1.0
    shares = scores / largest
    return float(shares.mean()) * largest, float(shares.std()) * largest


def from_pyod(detector: Any) -> "FromPyod":
    """Give a detector of PyOD the interface and the sign of scikit-learn: high is usual.

    Parameters
    ----------
    detector : estimator
        A detector of PyOD that learns without labels, or a pipeline that ends in one. It is left
        as it is: ``fit`` fits a copy.

    Returns
    -------
    FromPyod
        The detector, not fitted yet.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CalibratedDetector, SpatialDepth
    >>> from kernova.pyod import as_pyod, from_pyod
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> turned = as_pyod(SpatialDepth())  # or any detector of PyOD: KNN(), ECOD(), ...
    >>> calibrated = CalibratedDetector(from_pyod(turned), random_state=0).fit(X)
    >>> calibrated.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """
    check_scores_strangeness(detector)
    return FromPyod(detector)


class FromPyod(MetaEstimatorMixin, OutlierMixin, BaseEstimator):
    """A detector of PyOD with scikit-learn's interface; :func:`from_pyod` makes one.

    Parameters
    ----------
    detector : estimator
        The detector of PyOD; high scores are strange.

    Attributes
    ----------
    offset_ : float
        Rows that score below it are novel: PyOD's ``threshold_``, negated.
    training_scores_ : ndarray of shape (n_rows,)
        Scores of the rows of ``fit``, high is usual. Detectors by neighbours judge each of them
        without itself there, which ``score_samples`` and ``fit_predict`` do not.
    detector_ : estimator
        The fitted copy of the detector.
    n_features_in_ : int
        Number of features seen.
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the detector.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            The rows, in whatever form the detector takes.
        y : ignored
            Here for scikit-learn's convention.

        Returns
        -------
        self
        """
        check_scores_strangeness(self.detector)
        validate_data(self, X, skip_check_array=True)
        detector = clone(self.detector)
        detector.fit(X)
        found = last_step(detector)
        if not hasattr(found, "decision_scores_"):
            raise InputError(
                f"{type(found).__name__} is no detector of PyOD: fit leaves no decision_scores_. "
                "Give one of PyOD's detectors."
            )
        self.training_scores_ = -finite(found.decision_scores_, found)
        self.offset_ = -float(found.threshold_)
        self.detector_ = detector
        return self

    def score_samples(self, X: Any) -> Vector:
        """Give PyOD's scores negated: high is usual."""
        check_is_fitted(self, "offset_")
        check_columns(self, X)
        return -finite(self.detector_.decision_function(X), self.detector_)

    def decision_function(self, X: Any) -> Vector:
        """Give the scores shifted by ``offset_``: below 0 is novel."""
        scores = self.score_samples(X)
        with np.errstate(over="ignore"):
            return np.nan_to_num(scores - self.offset_)

    def predict(self, X: Any) -> Labels:
        """Give -1 where PyOD's label is 1 (an outlier), and +1 elsewhere."""
        return np.where(self.score_samples(X) < self.offset_, -1, 1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = input_tags_of(self.detector, tags.input_tags)
        return tags


def as_pyod(detector: Any, contamination: "str | float | None" = "auto") -> "AsPyod":
    """Give a detector the interface and the sign of PyOD: high is strange.

    Parameters
    ----------
    detector : estimator
        A detector of kernova or scikit-learn, or any other whose ``score_samples`` or
        ``decision_function`` is high for usual rows, or a pipeline that ends in one. It is left
        as it is: ``fit`` fits a copy, in which outlier factors are told to score new rows too
        (``novelty=True``).
    contamination : "auto", None or float in (0, 0.5], default="auto"
        "auto" and None keep the detector's own threshold. A number puts the threshold where PyOD
        does, at the quantile ``1 - contamination`` of the scores of the rows of ``fit``.

    Returns
    -------
    AsPyod
        The detector, not fitted yet.

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
    check_scores_usualness(detector)
    able_to_score_new_rows(clone(detector))
    return AsPyod(detector, contamination)


def _pyod_base() -> Any:
    """Find the class that PyOD's own checks ask for; without PyOD, one that adds nothing."""
    try:
        return import_module("pyod.models.base").BaseDetector
    except ImportError:
        return type("WithoutPyod", (), {})


_PyodBase: Any = _pyod_base()


class AsPyod(_PyodBase, BaseEstimator):
    """A detector with PyOD's interface; :func:`as_pyod` makes one and checks what it is given.

    Parameters
    ----------
    detector : estimator
        The detector; high scores are usual.
    contamination : "auto", None or float in (0, 0.5], default="auto"
        "auto" and None keep the detector's own threshold; a number is a share of the rows.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n_rows,)
        How strange each row of ``fit`` is. Outlier factors and depths judge each row without
        itself; others judge it as they would a new one.
    threshold_ : float
        Rows that score above it are outliers.
    labels_ : ndarray of shape (n_rows,)
        1 for the rows of ``fit`` that are outliers, 0 for the others.
    detector_ : estimator
        The fitted copy of the detector.
    n_features_in_ : int
        Number of features seen.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

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

    # scikit-learn's, since PyOD's set_params loses what is set inside a detector set with it.
    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params
    _get_param_names: Any = classmethod(BaseEstimator._get_param_names.__func__)
    __repr__ = BaseEstimator.__repr__

    _classes = 2  # where PyOD's own methods look for the number of columns of predict_proba

    def __init__(self, detector: Any, contamination: Any = "auto") -> None:
        self.detector = detector
        self.contamination = contamination

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the detector, and judge its own rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            The rows, in whatever form the detector takes.
        y : None
            Not used; as in PyOD, there is a warning if it is given.

        Returns
        -------
        self
        """
        if y is not None:
            warn("y is not used: the detector learns without labels.", UserWarning, stacklevel=2)
        check_contamination(self.contamination)
        check_scores_usualness(self.detector)
        validate_data(self, X, skip_check_array=True)  # names and number of features only
        detector = able_to_score_new_rows(clone(self.detector))
        (rows,) = indexable(X)
        detector.fit(rows)
        scores = -usualness_in_fit(detector, rows)
        self.threshold_ = (
            own_threshold(detector)
            if keeps_own_threshold(self.contamination)
            else float(np.percentile(scores, 100 * (1 - self.contamination)))
        )
        self.detector_ = detector
        self.decision_scores_ = scores
        self.labels_ = labels_above(self.threshold_, scores)
        self._n_outliers = (
            int(self.labels_.sum())
            if keeps_own_threshold(self.contamination)
            else int(len(scores) * self.contamination)  # PyOD's count, ties or not
        )
        self._mu, self._sigma = moments(scores)
        return self

    def decision_function(self, X: Any) -> Vector:
        """Tell how strange each row is among those of ``fit``; high is strange."""
        check_is_fitted(self, "decision_scores_")
        check_columns(self, X)
        return -usualness(self.detector_, X)

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Give 1 where a row is an outlier and 0 where it is not.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Rows to judge.
        return_confidence : bool, default=False
            Give the confidences too; see :meth:`predict_confidence`.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            The labels.
        confidence : ndarray of shape (n_rows,)
            Only if asked for.
        """
        scores = self.decision_function(X)
        labels = labels_above(self.threshold_, scores)
        return (labels, self._confidence(scores)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """Give the probabilities that a row is usual (column 0) and an outlier (column 1).

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Rows to judge.
        method : {"linear", "unify"}, default="linear"
            "linear" places a score between the lowest and the highest of the rows of ``fit``;
            "unify" takes those for normal, and gives 0 up to their mean.
        return_confidence : bool, default=False
            Give the confidences too; see :meth:`predict_confidence`.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, 2)
            Each row sums to 1.
        confidence : ndarray of shape (n_rows,)
            Only if asked for.
        """
        if method not in ("linear", "unify"):
            raise InputError(f'method must be "linear" or "unify"; got {method!r}.')
        scores = self.decision_function(X)
        outlier = (
            linear_probabilities(scores, self.decision_scores_)
            if method == "linear"
            else unified_probabilities(scores, self._mu, self._sigma)
        )
        probabilities = np.column_stack([1 - outlier, outlier])
        return (probabilities, self._confidence(scores)) if return_confidence else probabilities

    def predict_confidence(self, X: Any) -> Vector:
        """Give the probability that a row keeps its label if other rows had been fitted."""
        return self._confidence(self.decision_function(X))

    def fit_predict(self, X: Any, y: Any = None) -> Labels:
        """Fit, and give the labels of the same rows."""
        return self.fit(X, y).labels_

    def compute_rejection_stats(self, *args: Any, **kwargs: Any) -> Any:
        """Ask PyOD for the cost of rejection, which it knows for a numeric contamination only."""
        if keeps_own_threshold(self.contamination):
            raise InputError(
                "The cost of rejection depends on the share of outliers; set contamination to it, "
                f"as a number above 0 and at most 0.5, instead of {self.contamination!r}."
            )
        if not hasattr(_PyodBase, "compute_rejection_stats"):
            raise InputError(
                "Only PyOD computes the cost of rejection. Install it: pip install pyod."
            )
        return super().compute_rejection_stats(*args, **kwargs)

    def _confidence(self, scores: Vector) -> Vector:
        labels = labels_above(self.threshold_, scores)
        return label_stability(scores, labels, self.decision_scores_, self._n_outliers)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"  # as PyOD's are, for all their signs
        tags.input_tags = input_tags_of(self.detector, tags.input_tags)
        return tags
