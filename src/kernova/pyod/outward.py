"""Detectors with PyOD's interface, where high is strange."""

from importlib import import_module
from typing import Any, Self
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, indexable
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova.errors import InputError
from kernova.pyod.detectors import (
    able_to_score_new_rows,
    check_columns,
    check_contamination,
    check_scores_usualness,
    input_tags_of,
    keeps_own_threshold,
    own_threshold,
    usualness,
    usualness_in_fit,
)
from kernova.pyod.strangeness import (
    Labels,
    Vector,
    label_stability,
    labels_above,
    linear_probabilities,
    moments,
    unified_probabilities,
)


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
