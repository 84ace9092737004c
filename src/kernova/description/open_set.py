"""Open-set classification: one threshold for each class, and rows that no class claims."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from kernova.description.hyperparameters import FeatureScaling
from kernova.typing import Indices, Matrix, Vector


class OpenSetClassifier(ClassifierMixin, BaseEstimator):
    """Base class of classifiers that reject a row where its membership is below all thresholds.

    A subclass fits ``thresholds_`` and the scaling of the columns, and computes log memberships.
    """

    classes_: NDArray[Any]
    thresholds_: Vector
    _scaling: FeatureScaling

    @abstractmethod
    def _log_membership(self, X: ArrayLike) -> Matrix:
        """Return the logarithm of the membership for each row and class."""

    def membership(self, X: ArrayLike) -> Matrix:
        """Return the membership of each row in each class, from 0 to 1.

        Memberships need not sum to one: all are low for a row of no known class, several are high
        where classes overlap.
        """
        return np.asarray(np.exp(self._log_membership(X)))

    def score_samples(self, X: ArrayLike) -> Vector:
        """Return the logarithm of each row's largest membership: high for rows of known classes."""
        return np.asarray(self._log_membership(X).max(axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the best class of each row, without rejection."""
        best = self._log_membership(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def ambiguous(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each row is claimed by several classes."""
        return np.asarray((self.membership(X) >= self.thresholds_).sum(axis=1) > 1)

    def scaled(self, X: ArrayLike) -> Matrix:
        """Return the rows on the scale on which they are compared."""
        check_is_fitted(self)
        return self._scaling(np.asarray(validate_data(self, X, dtype=np.float64, reset=False)))

    def _encode(self, y: ArrayLike) -> Indices:
        """Store the classes, and return the class code of each row."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        return np.asarray(codes)

    def _claimed(
        self, claims: NDArray[np.bool_], strength: Matrix, reject_label: Any
    ) -> NDArray[Any]:
        """Return the strongest class that claims each row, or ``reject_label`` if none does."""
        # The strongest class may reject a row that another class claims.
        best = np.where(claims, strength, -np.inf).argmax(axis=1)
        labels = self.classes_.astype(object)[best]
        labels[~claims.any(axis=1)] = reject_label
        return np.asarray(labels)
