"""Detectors of PyOD with scikit-learn's interface, where high is usual."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OutlierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova.decide.calibrated import last_step
from kernova.errors import InputError
from kernova.pyod.detectors import check_columns, check_scores_strangeness, finite, input_tags_of
from kernova.pyod.strangeness import Labels, Vector


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
