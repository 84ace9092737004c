"""Linear members of the classifier: shrunken discriminant analysis and logistic regression.

Both are also what makes a classifier work with five rows a class: the covariance within classes is
pooled over all of them and shrunken towards a multiple of the identity (Ledoit and Wolf, 2004).
"""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.covariance import ledoit_wolf
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from kernova.typing import Indices, Matrix, Vector

# Directions with a smaller fraction of the largest variance are rounding errors.
_SMALLEST_VARIANCE = 1e-9


@dataclass(frozen=True)
class LinearMember:
    """Linear scores of the classes, whose softmax are probabilities."""

    weights: Matrix  # of shape (n_columns, n_classes)
    offsets: Vector

    def log_probabilities(self, rows: Matrix) -> Matrix:
        """Return the logarithm of the probability of each class."""
        return np.asarray(log_softmax(rows @ self.weights + self.offsets, axis=1))


class WithinClasses(NamedTuple):
    """Means of the classes, and the rotation that makes rows uncorrelated within them."""

    means: Matrix
    rotation: Matrix


def class_means(rows: Matrix, codes: Indices, weights: Vector, n_classes: int) -> Matrix:
    """Return the weighted mean of each class; every class has a row."""
    sums = np.zeros((n_classes, rows.shape[1]))
    np.add.at(sums, codes, rows * weights[:, None])
    return sums / np.bincount(codes, weights, minlength=n_classes)[:, None]


def within_classes(rows: Matrix, codes: Indices, weights: Vector, n_classes: int) -> WithinClasses:
    """Learn the scale within classes: rows times the rotation have unit variance there.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [2.0, 0.1], [0.0, 9.0], [2.0, 9.1]])
    >>> within = within_classes(rows, np.array([0, 0, 1, 1]), np.ones(4), 2)
    >>> (within.means @ within.rotation).shape
    (2, 2)
    """
    means = class_means(rows, codes, weights, n_classes)
    residuals = (rows - means[codes]) * np.sqrt(weights)[:, None]
    if len(rows) == 1:
        # Its residual is 0; scikit-learn would warn of a single row, which is no mistake here.
        residuals = np.repeat(residuals, 2, axis=0)
    covariance, _ = ledoit_wolf(residuals, assume_centered=True)
    # The means took one degree of freedom for each class.
    covariance = np.atleast_2d(covariance) * len(rows) / max(len(rows) - n_classes, 1)
    variances, directions = np.linalg.eigh(covariance)
    largest = float(variances[-1])
    floor = _SMALLEST_VARIANCE * largest if largest > 0 else 1.0
    return WithinClasses(means, directions / np.sqrt(np.maximum(variances, floor)))


def discriminant(within: WithinClasses, log_priors: Vector) -> LinearMember:
    """Return linear discriminant analysis with the shrunken covariance within classes."""
    toward = within.rotation @ (within.means @ within.rotation).T
    half_norms = 0.5 * np.einsum("kj,jk->k", within.means, toward)
    return LinearMember(toward, log_priors - half_norms)


def logistic(rows: Matrix, codes: Indices, weights: Vector, n_classes: int) -> LinearMember:
    """Return multinomial logistic regression, with the weights' variance penalised by 1."""
    if n_classes == 1:
        return LinearMember(np.zeros((rows.shape[1], 1)), np.zeros(1))
    model = LogisticRegression(C=1.0, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        # Perfectly separated classes converge slowly, and predict the same long before.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Classes may have one row each, which need not mean that they are numbers.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(rows, codes, weights)
    if n_classes == 2:  # scikit-learn stores the second class's score alone
        zeros = np.zeros((rows.shape[1], 1))
        return LinearMember(np.hstack([zeros, model.coef_.T]), np.append(0.0, model.intercept_))
    return LinearMember(model.coef_.T, model.intercept_)
