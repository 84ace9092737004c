"""Steps of a fit: parameter checks, shared hyperparameters, inlier rows and thresholds."""

import warnings
from abc import abstractmethod
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernova._sklearn import Interval, StrOptions, validate_data
from kernova.description.class_description import (
    CenteredDescription,
    ClassDescription,
    affinities,
    describe_centered,
    describe_class,
    leave_group_out_of_others,
    pivot_rows,
)
from kernova.description.hyperparameters import (
    FeatureScaling,
    Hyperparameters,
    Scale,
    feature_scaling,
    fit_all_three,
    fit_length_scale,
    median_distance,
)
from kernova.errors import InputError
from kernova.kernels.functions import squared_distances
from kernova.typing import Indices, Matrix, Vector


class RejectingClassifier(ClassifierMixin, BaseEstimator):
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


class ProcessEstimator(BaseEstimator):
    """Base class of estimators that describe rows by a Gaussian process."""

    _scaling: FeatureScaling

    def __init__(
        self, scale: Scale, length_scale: float | str, ridge: float, robust: bool, random_state: Any
    ) -> None:
        self.scale = scale
        self.length_scale = length_scale
        self.ridge = ridge
        self.robust = robust
        self.random_state = random_state

    @property
    def _hyperparameters(self) -> Hyperparameters:
        return Hyperparameters(self.length_scale_, self.signal_variance_, self.ridge_)

    def _scale_and_fit(
        self, X: Matrix, codes: Indices, random_state: np.random.RandomState
    ) -> tuple[Matrix, NDArray[np.bool_]]:
        """Fit scaling and hyperparameters; return all rows scaled, and which are inliers."""
        is_inlier = inlier_rows(X, codes, self.scale, is_robust=self.robust)
        self._scaling = feature_scaling(X[is_inlier], self.scale)
        rows = self._scaling(X)
        rules = Rules(self.length_scale, self.ridge, random_state)
        shared = _shared_hyperparameters(rows[is_inlier], rules)
        self.length_scale_, self.signal_variance_, self.ridge_ = shared
        return rows, is_inlier


SCALE_CONSTRAINT = [StrOptions({"feature", "common", "none"})]
REJECT_CONSTRAINT = [Interval(Real, 0, 1, closed="left")]
PROCESS_CONSTRAINTS: dict[str, list[Any]] = {
    "scale": SCALE_CONSTRAINT,
    "length_scale": [
        StrOptions({"likelihood", "literal", "median"}),
        Interval(Real, 0, None, closed="neither"),
    ],
    "ridge": [Interval(Real, 0, 1, closed="right")],
    "robust": ["boolean"],
    "random_state": ["random_state"],
}
# A row is an outlier of its class if its distance to the fifth nearest row of the class is, in
# logarithms, this many robust standard deviations above the class's median.
_FAR = 4.0
_NEIGHBOR = 5
_NORMAL_SPREAD = 1.4826
# Rows at regular distances have no deviation; still those at the edge are not outliers.
_LEAST_SPREAD = 0.25
_MEDIAN_ROWS = 1000


class Rules(NamedTuple):
    """Parameters of a fit of the hyperparameters."""

    length_scale: float | str
    ridge: float
    random_state: np.random.RandomState


def _shared_hyperparameters(rows: Matrix, rules: Rules) -> Hyperparameters:
    """Return the hyperparameters that all classes share."""
    if rules.length_scale == "literal":
        return fit_all_three(rows, rules.random_state)
    if rules.length_scale == "likelihood":
        return fit_length_scale(rows, rules.ridge, rules.random_state)
    if rules.length_scale == "median":
        if len(rows) > _MEDIAN_ROWS:
            rows = rows[rules.random_state.choice(len(rows), _MEDIAN_ROWS, replace=False)]
        return Hyperparameters(median_distance(squared_distances(rows, rows)), 1.0, rules.ridge)
    return Hyperparameters(float(rules.length_scale), 1.0, rules.ridge)


def is_outlier_of_its_class(rows: Matrix) -> NDArray[np.bool_]:
    """Return whether each row of one class lies far from the others.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.r_[np.linspace(0, 1, 20), 50.0][:, None]
    >>> np.flatnonzero(is_outlier_of_its_class(rows))
    array([20])
    """
    n = len(rows)
    if n <= 2 * _NEIGHBOR:
        return np.zeros(n, dtype=bool)
    fifth = np.empty(n)
    for start in range(0, n, 2048):
        block = slice(start, start + 2048)
        squared = squared_distances(rows[block], rows)
        fifth[block] = np.sqrt(np.partition(squared, _NEIGHBOR, axis=1)[:, _NEIGHBOR])
    is_apart = fifth > 0
    if not is_apart.any():
        return np.zeros(n, dtype=bool)
    logs = np.log(np.maximum(fifth, fifth[is_apart].min()))
    middle = np.median(logs)
    spread = max(_NORMAL_SPREAD * float(np.median(np.abs(logs - middle))), _LEAST_SPREAD)
    return np.asarray(logs > middle + _FAR * spread)


def inlier_rows(X: Matrix, codes: Indices, scale: Scale, *, is_robust: bool) -> NDArray[np.bool_]:
    """Return whether each row is used in a fit; a robust fit leaves out outliers of each class."""
    is_inlier = np.ones(len(X), dtype=bool)
    if is_robust:
        rows = feature_scaling(X, scale, is_robust=True)(X)
        for code in range(int(codes.max()) + 1):
            inside = np.flatnonzero(codes == code)
            is_inlier[inside] = ~is_outlier_of_its_class(rows[inside])
    return is_inlier


def group_codes(groups: ArrayLike | None, n_rows: int) -> Indices | None:
    """Return the groups of the rows as whole numbers from 0 on; None without groups."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise InputError(
            f"groups has the shape {groups.shape}, but there are {n_rows} rows; "
            "give one group for each row."
        )
    return np.asarray(np.unique(groups, return_inverse=True)[1])


class Described(NamedTuple):
    """A description, and q of every training row of the class under the other rows."""

    description: ClassDescription | CenteredDescription
    left_out: Vector


def described(
    rows: Matrix,
    shared: Hyperparameters,
    *,
    max_rows: int | None,
    groups: Indices | None,
    is_centered: bool = False,
    random_state: np.random.RandomState,
) -> Described:
    """Describe a class, by its most informative rows where it has more than ``max_rows``."""
    ell, ridge = shared.length_scale, shared.ridge
    if is_centered:
        if max_rows is not None and len(rows) > max_rows:
            rows = rows[pivot_rows(rows, max_rows, ell, random_state)]
        centered = describe_centered(rows, ell, ridge)
        return Described(centered, centered.left_out)
    if max_rows is None or len(rows) <= max_rows:
        description = describe_class(rows, ell, ridge, groups)
        return Described(description, description.left_out)
    kept = pivot_rows(rows, max_rows, ell, random_state)
    description = describe_class(rows[kept], ell, ridge, None if groups is None else groups[kept])
    left_out = np.empty(len(rows))
    left_out[kept] = description.left_out
    others = np.setdiff1d(np.arange(len(rows)), kept)
    if groups is None:  # rows outside the description need not be left out
        left_out[others] = np.exp(description.log_membership(rows[others]))
    else:
        left_out[others] = leave_group_out_of_others(
            description, affinities(description.rows, rows[others], ell), groups[kept],
            groups[others],
        )  # fmt: skip
    return Described(description, left_out)


def warn_of_single_rows(classes: NDArray[Any], left_out: list[Vector]) -> None:
    """Warn of classes without a second row or group, two calls above the fit that calls this."""
    alone = [str(label) for label, q in zip(classes, left_out, strict=True) if np.isnan(q).all()]
    if alone:
        warnings.warn(
            f"Nothing can be left out of {', '.join(alone)}: a class needs two rows (or two "
            "groups) for a threshold of its own. The threshold of all classes together is "
            "taken; add rows to have a better one.",
            UserWarning,
            stacklevel=4,
        )


def thresholds_of(left_out: list[Vector], reject: float, ridge: float = 0.0) -> Vector:
    """Return the membership below which each class rejects rows.

    A class without rows to leave out takes the threshold of all classes together; but a class of
    one row never rejects that row, whose membership is 1 / (1 + ridge).
    """
    known = [q[~np.isnan(q)] for q in left_out]
    pooled = np.concatenate(known)
    fallback = _threshold(pooled, reject) if len(pooled) else 0.5
    fallback = min(fallback, (1 - 1e-9) / (1 + ridge))
    return np.array([_threshold(q, reject) if len(q) else fallback for q in known])


def _threshold(left_out: Vector, reject: float) -> float:
    return float(np.quantile(left_out, reject, method="lower"))
