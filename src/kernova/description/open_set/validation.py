"""Figures on a classifier from rows that it did not see: calibration, and classes left out."""

from typing import Final

import numpy as np
from sklearn.base import clone

from kernova.description.open_set.classifier import OpenSetClassifier
from kernova.description.open_set.folds import spread_out_rows
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector

_BINS: Final = 15
#: Each class left out takes one fit; of more rows, a sample of this size is learnt anew.
MOST_LEFT_OUT_OF: Final = 1500


def calibration_error(log_probabilities: Matrix, codes: Indices, weights: Vector) -> float:
    """Return the expected calibration error: how far probabilities are from how often they hold.

    Rows are sorted into 15 bins by the probability of their best class. The error is the mean
    difference between this probability and the fraction of rows that are of that class, over the
    bins weighted by their rows (Guo et al., 2017).

    Examples
    --------
    >>> import numpy as np
    >>> log_p = np.log([[0.8, 0.2], [0.8, 0.2], [0.8, 0.2], [0.8, 0.2]])
    >>> round(calibration_error(log_p, np.array([0, 0, 0, 1]), np.ones(4)), 3)
    0.05
    """
    p = np.exp(log_probabilities.max(axis=1))
    is_right = log_probabilities.argmax(axis=1) == codes
    bins = np.minimum((p * _BINS).astype(np.intp), _BINS - 1)
    gaps = np.bincount(bins, weights * (p - is_right), minlength=_BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def leave_class_out(classifier: OpenSetClassifier, reject: float | None = None) -> Vector:
    """Return the fraction of each class's rows that would be called unknown without the class.

    Each class is left out of the training rows in turn, and its rows are judged by a classifier
    fitted to the others: what a class that nobody has seen yet would look like.

    Parameters
    ----------
    classifier : OpenSetClassifier
        The fitted classifier.
    reject : float, optional
        Fraction of the rows of known classes that are called unknown; by default as fitted.

    Returns
    -------
    array of shape (n_classes,)
        NaN if there is no other class, or no row of any class could be held out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernova import OpenSetClassifier
    >>> from kernova.description.open_set.validation import leave_class_out
    >>> model = OpenSetClassifier().fit(*load_iris(return_X_y=True))
    >>> found = leave_class_out(model)
    >>> bool(found[0] > 0.9)
    True
    """
    rate = classifier.reject if reject is None else reject
    n_classes = len(classifier.classes_)
    found = np.full(n_classes, np.nan)
    if n_classes < 2 or not classifier.cross_validated_.is_judged.any():
        return found
    model = _of_a_sample(classifier)
    for code in track(range(n_classes), "leaving classes out"):
        found[code] = float(np.mean(model.p_values_without(code) <= rate))
    return found


def _of_a_sample(classifier: OpenSetClassifier) -> OpenSetClassifier:
    """Return the classifier, or one of a sample of its rows if there are very many."""
    rows, codes, groups = classifier.training_rows
    if len(rows) <= MOST_LEFT_OUT_OF:
        return classifier
    kept = spread_out_rows(codes, MOST_LEFT_OUT_OF)
    names = classifier.classes_[codes[kept]]
    return clone(classifier).fit(rows[kept], names, None if groups is None else groups[kept])
