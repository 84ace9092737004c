"""One-class Gaussian process (OCC-GP): novelty detection by the variance that rows explain."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import Interval, validate_data
from kernova.description.fitting import PROCESS_CONSTRAINTS, ProcessEstimator, described
from kernova.description.hyperparameters import Scale
from kernova.neighbors.index import distinct_rows
from kernova.typing import Matrix, Vector

# Below this fraction of explained variance a row is called novel where none can be left out.
_UNPROVEN_THRESHOLD = 0.5


class OneClassGaussianProcess(OutlierMixin, ProcessEstimator):
    """One-class Gaussian process (OCC-GP): describe one class of rows, and detect novel rows.

    The known rows explain a fraction of any row's variance under a Gaussian process: nearly all of
    it close to them, none far away. The logarithm of that fraction is the score. This is one class
    of :class:`kernova.MulticlassDataDescription`, with its own length-scale.

    Parameters
    ----------
    scale : {"feature", "common", "none"}, default="feature"
        Scaling of the columns, as in :class:`kernova.MulticlassDataDescription`.
    length_scale : "likelihood", "literal", "median" or float, default="likelihood"
        Length-scale of the kernel, as in :class:`kernova.MulticlassDataDescription`.
    ridge : float, default=1e-4
        Added to the diagonal, as a fraction of the signal variance.
    contamination : float, default=0.05
        Fraction of the known rows, each left out in turn, that the threshold calls novel. For a
        threshold with a guarantee, wrap the detector in :class:`kernova.CalibratedDetector`.
    max_rows : int or None, default=None
        Describe the class by at most this many rows, chosen one by one where the others explain
        least.
    robust : bool, default=False
        Resist bad known rows, as in :class:`kernova.MulticlassDataDescription`.
    random_state : int, RandomState or None, default=None
        Seed for the sample of 400 rows to which the length-scale is fitted, if there are more.

    Attributes
    ----------
    length_scale_, signal_variance_, ridge_ : float
    offset_ : float
        Rows whose score is below it are called novel.
    n_outliers_ : int
        Known rows left out because of ``robust``.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    References
    ----------
    OCC-GP in: Kalantari, Principe and Sieving, "Uncertainty quantification for multiclass data
    description".

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import OneClassGaussianProcess
    >>> known = np.random.default_rng(0).normal(size=(100, 2))
    >>> detector = OneClassGaussianProcess().fit(known)
    >>> detector.predict([[0.0, 0.1], [9.0, 9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PROCESS_CONSTRAINTS | {
        "contamination": [Interval(Real, 0, 0.5, closed="right")],
        "max_rows": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        scale: Scale = "feature",
        length_scale: float | str = "likelihood",
        ridge: float = 1e-4,
        contamination: float = 0.05,
        max_rows: int | None = None,
        robust: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(scale, length_scale, ridge, robust, random_state)
        self.contamination = contamination
        self.max_rows = max_rows

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Describe the known rows and find the threshold.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            The known rows.
        y : ignored
            Present for API consistency.
        """
        self._validate_params()
        X = np.asarray(validate_data(self, X, dtype=np.float64))
        random_state = check_random_state(self.random_state)
        one_class = np.zeros(len(X), dtype=np.intp)
        rows, is_inlier = self._scale_and_fit(X, one_class, random_state)
        self.n_outliers_ = int(np.count_nonzero(~is_inlier))
        one = described(
            rows[is_inlier], self._hyperparameters, max_rows=self.max_rows, groups=None,
            random_state=random_state,
        )  # fmt: skip
        self._description = one.description
        self._known = X[is_inlier]
        self._log_left_out = _log_left_out(one.left_out)
        self.offset_ = float(np.quantile(self._log_left_out, self.contamination))
        return self

    def score_samples(self, X: ArrayLike) -> Vector:
        """Return the log membership, which ranks rows even where the membership underflows.

        A known row is scored by the other known rows alone.
        """
        check_is_fitted(self)
        X = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        scores = self._description.log_membership(self._scaling(X))
        known = _known_row_of(X, self._known)
        scores[known >= 0] = self._log_left_out[known[known >= 0]]
        return scores

    def membership(self, X: ArrayLike) -> Vector:
        """Return the fraction of each row's variance that the known rows explain, from 0 to 1."""
        return np.asarray(np.exp(self.score_samples(X)))

    def uncertainty(self, X: ArrayLike) -> Vector:
        """Return d: the variance of each row that the known rows leave unexplained."""
        unexplained = 1 - self.membership(X)
        return self.signal_variance_ * unexplained

    def decision_function(self, X: ArrayLike) -> Vector:
        """Return the score minus ``offset_``: negative where a row is novel."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return +1 for inliers and -1 for novel rows."""
        return np.where(self.decision_function(X) < 0, -1, 1)


def _known_row_of(X: Matrix, known: Matrix) -> NDArray[np.intp]:
    """Return the index of the known row that each row equals, and -1 where it equals none."""
    groups = distinct_rows(np.concatenate([known, X])).inverse
    row_of_group = np.full(len(groups), -1)
    row_of_group[groups[: len(known)]] = np.arange(len(known))
    return row_of_group[groups[len(known) :]]


def _log_left_out(left_out: Vector) -> Vector:
    if np.isnan(left_out).any():
        warnings.warn(
            "One row cannot be left out of itself, so the threshold is a convention: a row is an "
            f"inlier if {_UNPROVEN_THRESHOLD:g} of its variance is explained. Fit more rows to "
            "have a better one.",
            UserWarning,
            stacklevel=3,
        )
        left_out = np.full(len(left_out), _UNPROVEN_THRESHOLD)
    # The logarithm of a membership that underflows to 0 stays finite.
    return np.asarray(np.log(np.maximum(left_out, np.finfo(np.float64).tiny)))
