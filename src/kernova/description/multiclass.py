"""Several known classes described at once, with an honest "none of these"."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from kernova._sklearn import Interval, StrOptions
from kernova.description.class_description import CenteredDescription, extended
from kernova.description.fitting import (
    Described,
    Rules,
    described,
    is_outlier_of_its_class,
    shared_hyperparameters,
    thresholds_of,
)
from kernova.description.hyperparameters import Hyperparameters, Scale, feature_scaling
from kernova.errors import InputError
from kernova.typing import Indices, Matrix, Vector


class MulticlassDataDescription(ClassifierMixin, BaseEstimator):
    """Describe known classes in one kernel space, and say when a row is none of them (MDD-KM).

    Each class explains a share of any row's variance: nearly all of it on the class, nothing far
    away. One length-scale is shared by all classes, so that shares are comparable; foreign rows
    get low ones from every class, and no foreign row is needed to fit.

    Parameters
    ----------
    scale : {"feature", "common", "none"}, default="feature"
        Divide each column by its own spread, for mixed units; all by one, for like columns (pixels,
        bands); or leave them.
    length_scale : "likelihood", "literal", "median" or float, default="likelihood"
        How far one row speaks for others, in scaled units. "likelihood" fits it to the rows with
        the ridge fixed; "literal" fits signal variance, length-scale and ridge together, as
        published; "median" takes the median distance between rows.
    ridge : float, default=1e-4
        Added to the diagonal, as a share of the signal variance. 1e-2 to 1e-8 all work.
    reject : float, default=0.05
        Share of a class's own rows, each left out in turn, that its threshold turns away.
    max_rows_per_class : int or None, default=None
        Describe a class by at most so many rows, chosen one by one where the others explain least.
    robust : bool, default=False
        Withstand bad training rows: centre and scale by medians, and leave out rows that the rest
        of their class explains far worse than its others, before and after the length-scale is
        fitted again.
    centered : bool, default=False
        Centre the kernel over each class: then the uncertainty is the regularised kernel
        Mahalanobis distance exactly. In use it ranks rows the same.
    random_state : int, RandomState or None, default=None
        For drawing the 400 rows on which a length-scale is fitted, where there are more.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    length_scale_, signal_variance_, ridge_ : float
    thresholds_ : array of shape (n_classes,)
        A row is recognised as a class if its membership is at least this.
    n_outliers_ : array of shape (n_classes,)
        Training rows left out of each class because of ``robust``.

    References
    ----------
    Kalantari, Principe and Sieving, "Uncertainty quantification for multiclass data description".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernova import MulticlassDataDescription
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassDataDescription().fit(X, load_iris().target_names[y])
    >>> model.recognize([[5.0, 3.4, 1.5, 0.2], [9.0, 9.0, 9.0, 9.0]])
    array(['setosa', 'unknown'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scale": [StrOptions({"feature", "common", "none"})],
        "length_scale": [
            StrOptions({"likelihood", "literal", "median"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "ridge": [Interval(Real, 0, 1, closed="right")],
        "reject": [Interval(Real, 0, 1, closed="left")],
        "max_rows_per_class": [None, Interval(Integral, 1, None, closed="left")],
        "robust": ["boolean"],
        "centered": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        scale: Scale = "feature",
        length_scale: float | str = "likelihood",
        ridge: float = 1e-4,
        reject: float = 0.05,
        max_rows_per_class: int | None = None,
        robust: bool = False,
        centered: bool = False,
        random_state: Any = None,
    ) -> None:
        self.scale = scale
        self.length_scale = length_scale
        self.ridge = ridge
        self.reject = reject
        self.max_rows_per_class = max_rows_per_class
        self.robust = robust
        self.centered = centered
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Describe the classes of these rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The class of each row.
        groups : array of shape (n_rows,), optional
            Rows that belong together, such as windows of one note: they are left out together when
            thresholds are found.
        """
        self._validate_params()
        X = np.asarray(validate_data(self, X, y, dtype=np.float64)[0])
        codes = self._encode(y)
        random_state = check_random_state(self.random_state)
        group_codes = _codes(groups, len(X))
        is_kept = self._kept_rows(X, codes)
        self.n_outliers_ = np.bincount(codes[~is_kept], minlength=len(self.classes_))
        self._scaling = feature_scaling(X[is_kept], self.scale)
        rows = self._scaling(X)
        rules = Rules(self.length_scale, self.ridge, random_state)
        self._store_shared(shared_hyperparameters(rows[is_kept], rules))
        self._uses_groups = groups is not None
        self._classes = []
        for code in range(len(self.classes_)):
            inside = (codes == code) & is_kept
            inside_groups = None if group_codes is None else group_codes[inside]
            self._classes.append(self._described(rows[inside], inside_groups, random_state))
        self._find_thresholds()
        return self

    def _encode(self, y: ArrayLike) -> Indices:
        check_classification_targets(y)
        labels = column_or_1d(y, warn=True)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        return np.asarray(codes)

    def _kept_rows(self, X: Matrix, codes: Indices) -> NDArray[np.bool_]:
        is_kept = np.ones(len(X), dtype=bool)
        if self.robust:
            rows = feature_scaling(X, self.scale, is_robust=True)(X)
            for code in range(len(self.classes_)):
                inside = np.flatnonzero(codes == code)
                is_kept[inside] = ~is_outlier_of_its_class(rows[inside])
        return is_kept

    def _store_shared(self, shared: Hyperparameters) -> None:
        self.length_scale_, self.signal_variance_, self.ridge_ = shared

    def _described(
        self, rows: Matrix, groups: Indices | None, random_state: np.random.RandomState
    ) -> Described:
        shared = Hyperparameters(self.length_scale_, self.signal_variance_, self.ridge_)
        return described(
            rows, shared, max_rows=self.max_rows_per_class, groups=groups,
            is_centered=self.centered, random_state=random_state,
        )  # fmt: skip

    def _find_thresholds(self) -> None:
        left_out = [one.left_out for one in self._classes]
        alone = [str(name) for name, q in zip(self.classes_, left_out, strict=True)
                 if np.isnan(q).all()]  # fmt: skip
        if alone:
            warnings.warn(
                f"Nothing can be left out of {', '.join(alone)}: a class needs two rows (or two "
                "groups) for a threshold of its own. The threshold of all classes together is "
                "taken; add rows to have a better one.",
                UserWarning,
                stacklevel=3,
            )
        self.thresholds_ = thresholds_of(left_out, self.reject, self.ridge_)

    def membership(self, X: ArrayLike) -> Matrix:
        """Return, for each row and class, how well the class explains the row, from 0 to 1.

        Memberships need not sum to one: all are low for a foreign row, several are high where
        classes overlap.
        """
        return np.exp(self.log_membership(X))

    def log_membership(self, X: ArrayLike) -> Matrix:
        """Return the logarithm of the membership, which tells rows apart that are far from all."""
        rows = self._scaled(X)
        return np.column_stack([one.description.log_membership(rows) for one in self._classes])

    def uncertainty(self, X: ArrayLike) -> Matrix:
        """Return d_c: the variance that each class leaves unexplained."""
        unexplained = 1 - self.membership(X)
        return self.signal_variance_ * unexplained

    def soft_scores(self, X: ArrayLike) -> Matrix:
        """Return s_c = -log sqrt(d_c / sigma^2): 0 where nothing is known of a row."""
        return np.asarray(-np.log1p(-self.membership(X)) / 2)

    def score_samples(self, X: ArrayLike) -> Vector:
        """Return the logarithm of each row's largest membership: high if it belongs somewhere."""
        return np.asarray(self.log_membership(X).max(axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class that explains each row best, be it ever so badly."""
        best = self.log_membership(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def recognize(self, X: ArrayLike, reject_label: Any = "unknown") -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where no class claims it."""
        membership = self.log_membership(X)
        best = membership.argmax(axis=1)
        names = self.classes_.astype(object)[best]
        # A row may be foreign to the class that explains it best and yet not to another.
        claims = np.exp(membership) >= self.thresholds_
        names[~claims.any(axis=1)] = reject_label
        second = claims.any(axis=1) & ~claims[np.arange(len(best)), best]
        claimed = np.where(claims, membership, -np.inf).argmax(axis=1)
        names[second] = self.classes_.astype(object)[claimed[second]]
        return names

    def ambiguous(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Tell which rows are claimed by several classes."""
        return np.asarray((self.membership(X) >= self.thresholds_).sum(axis=1) > 1)

    def add(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Add rows to classes, known or new, keeping scale and hyperparameters.

        Equal to fitting anew at the same hyperparameters, at a fraction of the cost; thresholds
        are found again.
        """
        rows = self._scaled(X)
        labels = np.asarray(y)
        check_consistent_length(rows, labels)
        if self._uses_groups or groups is not None:
            raise InputError(
                "Rows cannot be added to classes that were fitted with groups: which rows belong "
                "together is not kept. Fit anew with all rows and their groups."
            )
        random_state = check_random_state(self.random_state)
        classes = dict(zip(self.classes_.tolist(), self._classes, strict=True))
        for name in np.unique(labels):
            new = rows[labels == name]
            known = classes.get(name.item())
            classes[name.item()] = (
                self._described(new, None, random_state) if known is None
                else self._grown(known, new, random_state)
            )  # fmt: skip
        self.classes_ = np.unique(np.concatenate([self.classes_, labels]))
        self._classes = [classes[name] for name in self.classes_.tolist()]
        self.n_outliers_ = np.resize(self.n_outliers_, len(self.classes_))
        self._find_thresholds()
        return self

    def _grown(
        self, known: Described, rows: Matrix, random_state: np.random.RandomState
    ) -> Described:
        limit = self.max_rows_per_class
        n = len(known.description.rows) + len(rows)
        is_sparse = limit is not None and (n > limit or len(known.left_out) > limit)
        if is_sparse or isinstance(known.description, CenteredDescription):
            return self._described(np.vstack([known.description.rows, rows]), None, random_state)
        grown = extended(known.description, rows)
        return Described(grown, grown.left_out)

    def _scaled(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self)
        X = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        return self._scaling(X)


def _codes(groups: ArrayLike | None, n_rows: int) -> Indices | None:
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise InputError(
            f"groups has the shape {groups.shape}, but there are {n_rows} rows; "
            "give one group for each row."
        )
    return np.asarray(np.unique(groups, return_inverse=True)[1])
