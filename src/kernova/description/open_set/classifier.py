"""Open-set classifier: the class of a row with its probability, or none at a chosen rate."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernova._sklearn import Interval, StrOptions, validate_data
from kernova.description.fitting import (
    REJECT_CONSTRAINT,
    SCALE_CONSTRAINT,
    group_codes,
    inlier_rows,
)
from kernova.description.hyperparameters import Scale
from kernova.description.open_set.evidence import (
    Evidence,
    Training,
    choose_settings,
    fit_evidence,
)
from kernova.description.open_set.folds import folds, kept_rows, n_folds_for
from kernova.description.open_set.held_out import judged_by_others
from kernova.description.open_set.negatives import Negatives, vetoes
from kernova.description.open_set.pooling import learn_pool, pooled
from kernova.description.open_set.rejection import (
    by_class,
    evidence_against,
    held_out_novelties,
    novelty_scale,
)
from kernova.errors import InputError, quoted
from kernova.parallel import single_blas_thread
from kernova.tables.fill_values import check_no_cell_hides_others
from kernova.text import is_missing
from kernova.typing import Indices, Mask, Matrix, Vector


class Judgement(NamedTuple):
    """What the classifier says of some rows."""

    #: Logarithm of the probability of each class, given that a row is of one of them.
    log_probabilities: Matrix
    #: Probability that a row is of none of the classes.
    none: Vector
    #: Mean of the members' novelties in bits; high is strange.
    novelty: Vector
    #: Fraction of the rows of known classes, held out, that are at least as novel.
    p_values: Vector
    #: Probability that rows known not to be of a class take from it.
    vetoed: Vector

    @property
    def best(self) -> Indices:
        """Position of the most probable class."""
        return np.asarray(self.log_probabilities.argmax(axis=1))

    def is_unknown(self, reject: float) -> Mask:
        """Return which rows are of no known class, at this rate of rejected known rows."""
        largest = np.exp(self.log_probabilities.max(axis=1)) * (1 - self.vetoed)
        return np.asarray((self.p_values <= reject) | (self.vetoed > largest))


class CrossValidated(NamedTuple):
    """Judgements of the training rows, each by a model that was fitted without it."""

    #: Row numbers, as they were given to ``fit``, of the rows kept to learn from.
    rows: Indices
    codes: Indices
    judgement: Judgement
    #: Rows whose class was present without them; only these can be judged.
    is_judged: Mask
    #: What each row stands for, if not all rows were kept.
    weights: Vector


class TrainingRows(NamedTuple):
    """Rows that were kept to learn from, with their class codes and groups."""

    X: Matrix
    codes: Indices
    groups: Indices | None


class OpenSetClassifier(ClassifierMixin, BaseEstimator):
    """Classify rows, with calibrated probabilities, and reject those of no known class.

    "Which class?" is answered by five members: linear discriminant analysis with a shrunken
    covariance, logistic regression, kernel ridge regression, extremely randomised trees and a
    random forest. Their probabilities are pooled with weights that are learnt from held-out rows,
    which also calibrates them.

    "Any class at all?" is answered by how far a row is from the nearest known row, on the scale of
    the columns and on that within classes; by its largest membership in a class (MDD-KM, see
    :class:`~kernova.MulticlassDataDescription`); and by how little the members prefer one class.
    The threshold is set on held-out rows of known classes, so that a given fraction of such rows
    is rejected, for the table as a whole.

    Parameters
    ----------
    reject : float, default=0.05
        Fraction of the rows of known classes that are called unknown. :meth:`recognize` takes
        another one without a new fit.
    per_class : bool, default=False
        Reject this fraction of the rows assigned to each class, instead of all rows together.
    scale : {"feature", "common", "none"}, default="feature"
        Scale each column by its own spread, all columns by one number (for columns of one unit,
        such as pixels), or not.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes. By default a class is as probable as it is frequent.
    max_rows_per_class : int, "auto" or None, default="auto"
        Learn from at most this many rows of a class. ``"auto"`` keeps 20,000 rows in all, or as
        many as take 3 MB, small classes whole; None keeps all.
    robust : bool, default=False
        Scale columns by medians, and leave out rows that lie far from all others of their class.
    n_folds : int or "auto", default="auto"
        Parts of the rows that are held out in turn: by default ten of up to 2,000 rows, five of
        up to 10,000, and three of more.
    none_prior : float, default=0.05
        Probability, before a row is seen, that it is of none of the classes.
    random_state : int, RandomState or None, default=0
        Seed of the parts and of the forests; by default results are repeatable.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    cross_validated_ : CrossValidated
        Judgements of the training rows, each by a model that was fitted without it.
    threshold_ : float
        Novelty from which on a row is called unknown.
    weights_ : array of shape (5,)
        Weights of the members that give probabilities.

    See Also
    --------
    MulticlassDataDescription : The published description, without the discriminative part.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernova import OpenSetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OpenSetClassifier().fit(X, load_iris().target_names[y])
    >>> model.recognize([[5.0, 3.4, 1.5, 0.2], [9.0, 9.0, 9.0, 9.0]])
    array(['setosa', 'unknown'], dtype=object)
    >>> model.predict([[6.0, 2.8, 5.0, 1.7]])
    array(['virginica'], dtype='<U10')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "reject": REJECT_CONSTRAINT,
        "per_class": ["boolean"],
        "scale": SCALE_CONSTRAINT,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "max_rows_per_class": [
            None, StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"),
        ],
        "robust": ["boolean"],
        "n_folds": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "none_prior": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }  # fmt: skip

    def __init__(
        self,
        *,
        reject: float = 0.05,
        per_class: bool = False,
        scale: Scale = "feature",
        class_weight: Mapping[Any, float] | str | None = None,
        max_rows_per_class: int | str | None = "auto",
        robust: bool = False,
        n_folds: int | str = "auto",
        none_prior: float = 0.05,
        random_state: Any = 0,
    ) -> None:
        self.reject = reject
        self.per_class = per_class
        self.scale = scale
        self.class_weight = class_weight
        self.max_rows_per_class = max_rows_per_class
        self.robust = robust
        self.n_folds = n_folds
        self.none_prior = none_prior
        self.random_state = random_state

    # --- fitting ---------------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        unlabelled: ArrayLike | None = None,
    ) -> Self:
        """Learn the classes of these rows.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The class of each row.
        groups : array of shape (n_rows,), optional
            Rows that are held out together, such as those of one specimen, recording or patient.
        unlabelled : array of shape (n_others, n_columns), optional
            Rows without a class. They help to scale the columns.
        """
        self._validate_params()
        X = np.asarray(validate_data(self, X, y, dtype=np.float64)[0])
        check_classification_targets(y)
        self.classes_, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        grouped = group_codes(groups, len(X))
        others = np.empty((0, X.shape[1]))
        if unlabelled is not None:
            others = np.asarray(validate_data(self, unlabelled, dtype=np.float64, reset=False))
        if not self.robust:
            check_no_cell_hides_others(X)
        is_inlier = inlier_rows(X, codes, self.scale, is_robust=self.robust)
        self.n_outliers_ = np.bincount(codes[~is_inlier], minlength=len(self.classes_))
        inside = np.flatnonzero(is_inlier)
        kept, stands_for = kept_rows(codes[inside], X.shape[1], self.max_rows_per_class)
        kept = inside[kept]
        self._has_groups = grouped is not None
        together = np.arange(len(kept)) if grouped is None else grouped[kept]
        training = Training(X[kept], codes[kept], stands_for, together, others)
        self._negatives = Negatives(np.empty((0, X.shape[1])), np.empty(0, dtype=np.intp))
        with single_blas_thread:
            self._learn(training, kept)
        return self

    def _learn(self, training: Training, numbers: Indices) -> None:
        """Hold out every part once, learn pool and rejection from that, then fit to all rows."""
        n_classes = len(self.classes_)
        self._training = training
        seed = self._seed()
        self._settings = settings = choose_settings(
            training, scale=self.scale, robust=self.robust, seed=seed
        )
        stands_for = training.weights
        weights = stands_for * self._class_weights(training.codes, stands_for)
        weighted = training._replace(weights=weights)
        n_folds = n_folds_for(len(numbers)) if self.n_folds == "auto" else int(self.n_folds)
        groups = training.groups if self._has_groups else None
        parts = folds(training.codes, groups, n_folds, seed)
        held_out, is_judged = judged_by_others(weighted, parts, n_classes, settings)
        codes = training.codes
        pool = learn_pool(held_out.log_probabilities, codes, weights, parts, is_judged)
        self.weights_ = pool.weights
        # Without any row that can be judged, rows that were learnt from have to do.
        usable = is_judged if is_judged.any() else np.ones(len(codes), dtype=bool)
        novelties = held_out.novelties[:, usable]
        self._scale = novelty_scale(novelties)
        novelty = self._scale.novelty(novelties)
        self._known = held_out_novelties(novelty, stands_for[usable])
        assigned = pool.held_out.argmax(axis=1)
        self._by_class = by_class(novelty, assigned[usable], stands_for[usable], n_classes)
        self._model = fit_evidence(weighted, n_classes, settings)
        no_veto = np.zeros((len(codes), n_classes))
        judgement = self._judgement(pool.held_out, held_out.novelties, no_veto)
        self.cross_validated_ = CrossValidated(numbers, codes, judgement, is_judged, stands_for)

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _class_weights(self, codes: Indices, stands_for: Vector) -> Vector:
        """Return the weight of each row's class; balanced classes have equal total weights."""
        if self.class_weight == "balanced":
            totals = np.bincount(codes, stands_for)
            return np.asarray((stands_for.sum() / (len(totals) * totals))[codes])
        weights = np.asarray(compute_sample_weight(self.class_weight, self.classes_[codes]))
        if not (weights > 0).all():
            raise InputError(
                f"class_weight holds {weights.min():g}; weights of classes must be above 0."
            )
        return weights

    def add(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        is_not: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Learn from more rows, some of which may only be known not to be of a class.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        y : array of shape (n_rows,), optional
            The class of each row, known or new; None where it is not known.
        is_not : array of shape (n_rows,), optional
            A class that the row is not of ("this is not b"); None where nothing is known.
        groups : array of shape (n_rows,), optional
            Rows that are held out together; needed if the classifier was fitted with groups.

        Notes
        -----
        Equal to a fit with all rows, as long as all are kept (``max_rows_per_class``).
        """
        check_is_fitted(self)
        X = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        labels, negative = _labels(y, len(X), "y"), _labels(is_not, len(X), "is_not")
        has_label = np.array([label is not None for label in labels])
        has_negative = np.array([label is not None for label in negative])
        _check_no_contradiction(labels, negative)
        _check_same_kind(labels[has_label], self.classes_)
        self._add_negatives(X[has_negative], negative[has_negative])
        if has_label.any():
            self._add_rows(X[has_label], labels[has_label], _part_of(groups, has_label))
        return self

    def _add_negatives(self, X: Matrix, names: NDArray[Any]) -> None:
        unknown = [name for name in names if name not in self.classes_]
        if unknown:
            raise InputError(
                f"is_not names {quoted(str(unknown[0]))}, which is no class that was learnt. "
                f"Classes: {', '.join(map(str, self.classes_[:10]))}."
            )
        codes = np.searchsorted(self.classes_, names.astype(self.classes_.dtype))
        old = self._negatives
        self._negatives = Negatives(
            np.vstack([old.X, X]), np.concatenate([old.codes, codes.astype(np.intp)])
        )

    def _add_rows(self, X: Matrix, labels: NDArray[Any], groups: ArrayLike | None) -> None:
        if (groups is not None) != self._has_groups:
            raise InputError(
                "Rows with groups cannot be added to rows without, or the other way round: the "
                "groups say which rows are held out together. Give groups for both or for neither."
            )
        old, numbers = self._training, self.cross_validated_.rows
        named = np.concatenate([self.classes_[old.codes].astype(object), labels])
        classes, codes = np.unique(np.array(named.tolist()), return_inverse=True)
        # Negatives keep their classes, whose positions may have changed.
        moved = np.searchsorted(classes, self.classes_[self._negatives.codes])
        self._negatives = self._negatives._replace(codes=np.asarray(moved, dtype=np.intp))
        self.classes_ = classes
        self.n_outliers_ = np.bincount([], minlength=len(classes)).astype(np.intp)
        # Groups are known by their numbers; those of added rows are new ones.
        new = np.arange(len(X)) if groups is None else group_codes(groups, len(X))
        training = Training(
            np.vstack([old.X, X]),
            codes,
            np.append(old.weights, np.ones(len(X))),
            np.append(old.groups, new + old.groups.max() + 1),
            old.unlabelled,
        )
        first = int(numbers.max()) + 1
        with single_blas_thread:
            self._learn(training, np.append(numbers, first + np.arange(len(X))))

    # --- judging ---------------------------------------------------------------------------------

    def judge(self, X: ArrayLike) -> Judgement:
        """Return probabilities, novelties and p-values of rows, all at once."""
        check_is_fitted(self)
        rows = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        with single_blas_thread:
            return self._judged(self._model.of(rows, self._training.X), self._vetoes(rows))

    def _judged(self, evidence: Evidence, veto: Matrix) -> Judgement:
        log_p = pooled(evidence.log_probabilities, self.weights_)
        return self._judgement(log_p, evidence.novelties, veto)

    def _judgement(self, log_p: Matrix, novelties: NDArray[np.float64], veto: Matrix) -> Judgement:
        novelty = self._scale.novelty(novelties)
        with np.errstate(divide="ignore"):
            left = log_p + np.log1p(-veto)
        total = logsumexp(left, axis=1, keepdims=True)
        # Where all classes are vetoed, they stay as probable among each other as they were.
        closed = np.where(np.isfinite(total), left - total, log_p)
        best = closed.argmax(axis=1)
        p = (
            self._by_class.p_values(novelty, best) if self.per_class
            else self._known.p_values(novelty)
        )  # fmt: skip
        vetoed = np.clip(-np.expm1(total[:, 0]), 0.0, 1.0)
        odds = evidence_against(p) * self.none_prior / (1 - self.none_prior)
        known = (1 - vetoed) / (1 + odds)
        return Judgement(closed, 1 - known, novelty, p, vetoed)

    def _vetoes(self, X: Matrix) -> Matrix:
        """Return the fraction of each class's probability that its negatives take."""
        veto = np.zeros((len(X), len(self.classes_)))
        scaling = self._model.learnt.scaling
        for code in np.unique(self._negatives.codes):
            negatives = self._negatives.X[self._negatives.codes == code]
            members = self._training.X[self._training.codes == code]
            veto[:, code] = vetoes(scaling(X), scaling(negatives), scaling(members))
        return veto

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row, without rejection."""
        best = self.judge(X).best
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: ArrayLike) -> Matrix:
        """Return the probability of each class, given that a row is of one of them.

        :meth:`none_proba` is the probability that it is of none.
        """
        return np.exp(self.judge(X).log_probabilities)

    def predict_log_proba(self, X: ArrayLike) -> Matrix:
        """Return the logarithms of :meth:`predict_proba`."""
        return self.judge(X).log_probabilities

    def none_proba(self, X: ArrayLike) -> Vector:
        """Return the probability that each row is of none of the classes.

        It follows from the p-value by Bayes' rule with the prior probability ``none_prior``,
        since known classes make p uniform; see
        :func:`~kernova.description.open_set.rejection.evidence_against`.
        """
        return self.judge(X).none

    def recognize(
        self, X: ArrayLike, reject_label: Any = "unknown", reject: float | None = None
    ) -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where it is of no known class.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
        reject_label : object, default="unknown"
        reject : float, optional
            Fraction of the rows of known classes that are called unknown; by default the
            parameter of this name.
        """
        rate = self.reject if reject is None else reject
        if not 0 <= rate < 1:
            raise InputError(
                f"reject is {rate:g}; it must be a fraction of the rows of known classes, from 0 "
                "to below 1."
            )
        judgement = self.judge(X)
        labels = self.classes_.astype(object)[judgement.best]
        labels[judgement.is_unknown(rate)] = reject_label
        return np.asarray(labels)

    def score_samples(self, X: ArrayLike) -> Vector:
        """Return how usual each row is: high for rows of known classes."""
        return -self.judge(X).novelty

    def p_values(self, X: ArrayLike) -> Vector:
        """Return the fraction of rows of known classes that are at least as novel as each row."""
        return self.judge(X).p_values

    @property
    def training_rows(self) -> TrainingRows:
        """The rows that were kept to learn from, with their classes and groups."""
        check_is_fitted(self)
        groups = self._training.groups if self._has_groups else None
        return TrainingRows(self._training.X, self._training.codes, groups)

    def p_values_without(self, code: int) -> Vector:
        """Return the p-values that a class's own rows would have, had it been left out."""
        check_is_fitted(self)
        inside = self._training.codes == code
        others = self._training.part(~inside)
        model = fit_evidence(others, len(self.classes_), self._settings)
        evidence = model.of(self._training.X[inside], others.X)
        n_missing = len(self._scale.members) - len(evidence.novelties)
        if n_missing:  # one class is left, which no member can prefer less than fully
            surest = [np.full(int(inside.sum()), one.values[0]) for one in self._scale.members]
            novelties = np.vstack([evidence.novelties, surest[-n_missing:]])
            evidence = evidence._replace(novelties=novelties)
        return self._judged(evidence, np.zeros((int(inside.sum()), len(self.classes_)))).p_values

    @property
    def threshold_(self) -> float:
        """Novelty from which on a row is called unknown."""
        check_is_fitted(self)
        return self._known.threshold(self.reject)

    def scaled(self, X: ArrayLike) -> Matrix:
        """Return the rows on the scale on which they are compared."""
        check_is_fitted(self)
        rows = np.asarray(validate_data(self, X, dtype=np.float64, reset=False))
        return self._model.learnt.scaling(rows)


def _labels(y: ArrayLike | None, n_rows: int, name: str) -> NDArray[Any]:
    """Return labels as objects, None where one is missing."""
    if y is None:
        return np.full(n_rows, None, dtype=object)
    labels = np.asarray(y, dtype=object)
    if labels.shape != (n_rows,):
        raise InputError(
            f"{name} has the shape {labels.shape}, but there are {n_rows} rows; give one label, "
            "or None, for each row."
        )
    return np.array([None if is_missing(label) else label for label in labels], dtype=object)


def _check_no_contradiction(labels: NDArray[Any], negative: NDArray[Any]) -> None:
    for number, (label, is_not) in enumerate(zip(labels, negative, strict=True)):
        if label is not None and label == is_not:
            raise InputError(
                f"Row {number} is said to be {quoted(str(label))}, and not to be it. Leave out one "
                "of the two."
            )


def _check_same_kind(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise for texts beside numbers: NumPy would make texts of both."""
    is_text = classes.dtype.kind in "UO"
    for label in labels:
        if isinstance(label, str) != is_text:
            kinds = ("texts", "numbers") if is_text else ("numbers", "texts")
            raise InputError(
                f"The classes are {kinds[0]}, but y holds {quoted(str(label))}. Give the labels "
                f"of added rows as {kinds[0]}, too."
            )


def _part_of(groups: ArrayLike | None, rows: Mask) -> ArrayLike | None:
    return None if groups is None else np.asarray(groups)[rows]
