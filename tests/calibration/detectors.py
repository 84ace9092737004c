"""Small detectors whose scores are known."""

import numpy as np
from sklearn.base import BaseEstimator


class Closeness(BaseEstimator):
    """A detector of the user's own that has decision_function only."""

    def fit(self, X, y=None):
        self.centre_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return -np.linalg.norm(np.asarray(X) - self.centre_, axis=1)


class FirstColumn(BaseEstimator):
    """Scores that a test can choose."""

    def fit(self, X, y=None):
        self.n_rows_ = len(X)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0]


class Constant(Closeness):
    """Gives all rows the same score."""

    def decision_function(self, X):
        return np.full(len(X), 3.5)


class Broken(Closeness):
    """Has no scores for negative numbers."""

    def decision_function(self, X):
        with np.errstate(invalid="ignore"):
            return np.sqrt(X[:, 0])


class HighForOutliers(Closeness):
    """High scores are outliers, as the attribute of fitted PyOD detectors says."""

    def fit(self, X, y=None):
        self.decision_scores_ = -super().fit(X).decision_function(X)
        return self
