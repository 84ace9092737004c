"""Multiclass data description (MDD-KM): known classes in one kernel space, others rejected."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernova._sklearn import Interval, validate_data
from kernova.description.class_description import (
    CenteredDescription,
    ClassDescription,
    extended,
)
from kernova.description.fitting import (
    PROCESS_CONSTRAINTS,
    REJECT_CONSTRAINT,
    Described,
    ProcessEstimator,
    RejectingClassifier,
    described,
    group_codes,
    inlier_rows,
    thresholds_of,
    warn_of_single_rows,
)
from kernova.description.hyperparameters import Scale
from kernova.errors import InputError
from kernova.typing import Indices, Matrix


class LeftOut(NamedTuple):
    """Leave-one-out memberships of the training rows, and the outliers of a robust fit."""

    membership: Matrix
    is_outlier: NDArray[np.bool_]


class MulticlassDataDescription(RejectingClassifier, ProcessEstimator):
    """Multiclass data description (MDD-KM): describe known classes, and reject all other rows.

    Each class explains a fraction of any row's variance: nearly all of it for rows of the class,
    none far away. One length-scale is shared by all classes, so that these memberships are
    comparable. Rows of unknown classes have low membership in every class, and no such rows are
    needed to fit.

    Parameters
    ----------
    scale : {"feature", "common", "none"}, default="feature"
        Divide each column by its own spread, for mixed units; all columns by one number, for
        columns of one unit (pixels, bands); or none.
    length_scale : "likelihood", "literal", "median" or float, default="likelihood"
        Length-scale of the kernel, in scaled units. "likelihood" fits it to the rows with the
        ridge fixed; "literal" fits signal variance, length-scale and ridge together, as
        published; "median" takes the median distance between rows.
    ridge : float, default=1e-4
        Added to the diagonal, as a fraction of the signal variance. 1e-2 to 1e-8 all work.
    reject : float, default=0.05
        Fraction of a class's own rows, each left out in turn, that its threshold rejects.
    max_rows_per_class : int or None, default=None
        Describe a class by at most this many rows, chosen one by one where the others explain
        least.
    robust : bool, default=False
        Resist bad training rows: centre and scale by medians, and leave out rows that lie far from
        all others of their class before the length-scale is fitted.
    centered : bool, default=False
        Centre the kernel over each class: the uncertainty is then exactly the regularised kernel
        Mahalanobis distance. In practice, rows rank the same.
    random_state : int, RandomState or None, default=None
        Seed for the sample of 400 rows to which the length-scale is fitted, if there are more.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = PROCESS_CONSTRAINTS | {
        "reject": REJECT_CONSTRAINT,
        "max_rows_per_class": [None, Interval(Integral, 1, None, closed="left")],
        "centered": ["boolean"],
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
        super().__init__(scale, length_scale, ridge, robust, random_state)
        self.reject = reject
        self.max_rows_per_class = max_rows_per_class
        self.centered = centered

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Describe the classes of these rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The class of each row.
        groups : array of shape (n_rows,), optional
            Rows that are left out together when thresholds are found, such as windows of one note.
        """
        self._validate_params()
        X = np.asarray(validate_data(self, X, y, dtype=np.float64)[0])
        codes = self._encode(y)
        random_state = check_random_state(self.random_state)
        grouped = group_codes(groups, len(X))
        rows, is_inlier = self._scale_and_fit(X, codes, random_state)
        self.n_outliers_ = np.bincount(codes[~is_inlier], minlength=len(self.classes_))
        self._uses_groups = groups is not None
        self._classes = []
        for code in range(len(self.classes_)):
            inside = (codes == code) & is_inlier
            inside_groups = None if grouped is None else grouped[inside]
            self._classes.append(self._described(rows[inside], inside_groups, random_state))
        self._find_thresholds()
        return self

    def _described(
        self, rows: Matrix, groups: Indices | None, random_state: np.random.RandomState
    ) -> Described:
        return described(
            rows, self._hyperparameters, max_rows=self.max_rows_per_class, groups=groups,
            is_centered=self.centered, random_state=random_state,
        )  # fmt: skip

    def _find_thresholds(self) -> None:
        left_out = [one.left_out for one in self._classes]
        warn_of_single_rows(self.classes_, left_out)
        self.thresholds_ = thresholds_of(left_out, self.reject, self.ridge_)

    @property
    def class_descriptions_(self) -> list[ClassDescription | CenteredDescription]:
        """The description of each class, over rows on the scale of :meth:`scaled`."""
        check_is_fitted(self)
        return [one.description for one in self._classes]

    def log_membership(self, X: ArrayLike) -> Matrix:
        """Return the logarithm of the membership, which ranks even rows far from all classes."""
        return self._log_membership(X)

    def _log_membership(self, X: ArrayLike) -> Matrix:
        rows = self.scaled(X)
        return np.column_stack([one.log_membership(rows) for one in self.class_descriptions_])

    def left_out_membership(self, X: ArrayLike, y: ArrayLike) -> LeftOut:
        """Return the memberships of the training rows; a row's own class is described without it.

        Parameters
        ----------
        X, y : arrays
            The rows and classes of ``fit``.
        """
        rows, codes = np.asarray(X), np.searchsorted(self.classes_, np.asarray(y))
        is_outlier = ~inlier_rows(rows, codes, self.scale, is_robust=self.robust)
        membership = self.membership(rows)
        for code, one in enumerate(self._classes):
            inside = (codes == code) & ~is_outlier
            # Without its only row, a class has no membership.
            membership[inside, code] = np.nan_to_num(one.left_out, nan=0.0)
        return LeftOut(membership, is_outlier)

    def uncertainty(self, X: ArrayLike) -> Matrix:
        """Return d_c: the variance that each class leaves unexplained."""
        unexplained = 1 - self.membership(X)
        return self.signal_variance_ * unexplained

    def soft_scores(self, X: ArrayLike) -> Matrix:
        """Return s_c = -log sqrt(d_c / sigma^2): 0 far from all classes."""
        return np.asarray(-np.log1p(-self.membership(X)) / 2)

    def recognize(self, X: ArrayLike, reject_label: Any = "unknown") -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where no class claims it."""
        log_membership = self.log_membership(X)
        claims = np.exp(log_membership) >= self.thresholds_
        return self._claimed(claims, log_membership, reject_label)

    def add(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Add rows to classes, known or new, keeping scale and hyperparameters.

        Equal to a new fit with the same hyperparameters, at a fraction of the cost; thresholds
        are found again.
        """
        rows = self.scaled(X)
        labels = np.asarray(y)
        check_consistent_length(rows, labels)
        if self._uses_groups or groups is not None:
            raise InputError(
                "Rows cannot be added to classes that were fitted with groups: the groups are not "
                "stored. Fit again with all rows and their groups."
            )
        random_state = check_random_state(self.random_state)
        classes = dict(zip(self.classes_.tolist(), self._classes, strict=True))
        for label in np.unique(labels):
            new = rows[labels == label]
            known = classes.get(label.item())
            classes[label.item()] = (
                self._described(new, None, random_state) if known is None
                else self._grown(known, new, random_state)
            )  # fmt: skip
        self.classes_ = np.unique(np.concatenate([self.classes_, labels]))
        self._classes = [classes[label] for label in self.classes_.tolist()]
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
