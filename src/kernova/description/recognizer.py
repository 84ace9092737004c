"""Open-set recognition of a table's rows: column encoder, classifier and training rows."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.open_set.classifier import Judgement, OpenSetClassifier
from kernova.errors import InputError
from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.tables.columns import split_columns
from kernova.tables.encoding import TableEncoder
from kernova.typing import Indices, Matrix, Vector


def margins(log_membership: Matrix) -> Vector:
    """Return the margin of the best class over the second, in logarithms of membership.

    Examples
    --------
    >>> import numpy as np
    >>> margins(np.log([[0.8, 0.2, 0.1], [0.5, 0.5, 0.1]])).round(3)
    array([1.386, 0.   ])
    """
    if log_membership.shape[1] < 2:
        return np.full(len(log_membership), np.inf)
    second, best = np.partition(log_membership, -2, axis=1)[:, -2:].T
    # Two classes without any membership of a row are equally far from it.
    return np.where(np.isneginf(best), 0.0, best - np.where(np.isneginf(best), 0.0, second))


class TableRecognizer(ClassifierMixin, BaseEstimator):
    """Recognise the rows of a table as known classes, and list the nearest training rows.

    It holds what a model file needs: the encoder of the columns, the classifier, and the training
    rows.

    Parameters
    ----------
    encoder : TableEncoder, default=None
        Encoder of the columns; None takes numbers unscaled, and raises on missing values.
    description : OpenSetClassifier or MulticlassDataDescription, default=None
        Classifier of the encoded rows; None takes :class:`~kernova.OpenSetClassifier`.

    Attributes
    ----------
    encoder_, description_
        The fitted parts.
    classes_ : array of shape (n_classes,)
    ids_, labels_ : arrays of shape (n_rows,)
        Ids and classes of the training rows that were kept.
    reader : object or None
        Reader that made the columns of files without columns, such as sounds; None for tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.description.recognizer import TableRecognizer
    >>> fish = pd.DataFrame({"length": [1.0, 1.1, 1.3, 7.0, 7.1, 7.3], "fin": [2, 2, 2, 3, 3, 3]})
    >>> model = TableRecognizer().fit(fish, ["bleak"] * 3 + ["pike"] * 3, ids=list("abcdef"))
    >>> new = pd.DataFrame({"length": [7.12, 30.0], "fin": [3, 1]})
    >>> model.recognize(new)
    array(['pike', 'unknown'], dtype=object)
    >>> model.nearest_ids(new, 2)[0].tolist()
    ['e', 'd']
    """

    # Stored under these names in model files; files from before they existed have none.
    _reader: object | None = None
    _lead: float | None = None  # margin that models of 0.1.0 want of the best class

    def __init__(
        self,
        encoder: TableEncoder | None = None,
        description: OpenSetClassifier | MulticlassDataDescription | None = None,
    ) -> None:
        self.encoder = encoder
        self.description = description

    def fit(
        self,
        X: pd.DataFrame,
        y: ArrayLike,
        ids: Sequence[Any] | None = None,
        groups: ArrayLike | None = None,
        reader: object | None = None,
        unlabelled: pd.DataFrame | None = None,
    ) -> Self:
        """Learn the classes of these rows.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y : array of shape (n_rows,)
            Their classes.
        ids : sequence, optional
            The ids of the rows; by default, their numbers.
        groups : array of shape (n_rows,), optional
            Rows that are held out together, such as a cluster that was labelled in one step.
        reader : object, optional
            Reader that made the columns, stored so that new files can be read alike.
        unlabelled : DataFrame, optional
            Rows without a class, which help to scale the columns; an
            :class:`~kernova.OpenSetClassifier` alone takes them.
        """
        if not isinstance(X, pd.DataFrame):
            raise InputError(
                f"TableRecognizer learns from a DataFrame; got an object of type "
                f"{type(X).__name__}. For an array, take OpenSetClassifier."
            )
        encoder = TableEncoder(scaling="none") if self.encoder is None else clone(self.encoder)
        labels = np.asarray(y)
        names = np.array([str(i) for i in (range(len(X)) if ids is None else ids)])
        check_consistent_length(X, labels, names)
        every = X if unlabelled is None else pd.concat([X, unlabelled], ignore_index=True)
        self.encoder_ = encoder.fit(every)
        self.n_features_in_, self.feature_names_in_ = len(X.columns), encoder.feature_names_in_
        rows = encoder.transform(every)
        self.description_ = OpenSetClassifier() if self.description is None else clone(
            self.description
        )  # fmt: skip
        kept = self._fit_description(rows[: len(X)], labels, groups, rows[len(X) :])
        self.labels_, self.ids_ = labels[kept], names[kept]
        self._store_rows(X.iloc[kept])
        self.classes_ = self.description_.classes_
        self._reader = reader
        return self

    def _fit_description(
        self, rows: Matrix, labels: NDArray[Any], groups: ArrayLike | None, others: Matrix
    ) -> Indices:
        """Fit the classifier, and return the rows that it keeps."""
        description = self.description_
        if isinstance(description, OpenSetClassifier):
            description.fit(rows, labels, groups, others if len(others) else None)
            return description.cross_validated_.rows
        description.fit(rows, labels, groups)
        left_out = description.left_out_membership(rows, labels)
        # Memberships of the training rows; a row's own class is described without it.
        self.left_out_, self.is_outlier_ = left_out.membership, left_out.is_outlier
        return np.arange(len(rows))

    @property
    def reader(self) -> object | None:
        """Reader that made the columns of files without columns; None for tables."""
        return self._reader

    @property
    def is_published_method(self) -> bool:
        """Whether classes are described by MDD-KM alone, as published."""
        return isinstance(self.description_, MulticlassDataDescription)

    def _store_rows(self, X: pd.DataFrame) -> None:
        """Store the training rows, so that new ones can be compared with them by column."""
        columns = split_columns(X, self.encoder_.is_category_)
        self._numbers = columns.numbers
        self._codes = [texts.codes for texts in columns.texts]
        self._texts = [np.array([str(text) for text in texts.distinct]) for texts in columns.texts]

    @property
    def known_table(self) -> pd.DataFrame:
        """The training rows, by their ids; categories are texts."""
        numbers, texts = iter(self._numbers.T), iter(zip(self._codes, self._texts, strict=True))
        columns: dict[str, Any] = {}
        for name, is_category in zip(self.columns, self.encoder_.is_category_, strict=True):
            columns[name] = _decoded(*next(texts)) if is_category else next(numbers)
        return pd.DataFrame(columns, index=pd.Index(self.ids_.tolist(), dtype=object))

    def judge(self, X: Any) -> Judgement:
        """Return probabilities, novelties and p-values of rows, by an open-set classifier."""
        description = self.description_
        if not isinstance(description, OpenSetClassifier):
            raise InputError(
                "This model was learnt by the published method (MDD-KM), which has memberships "
                "instead of probabilities. Learn it again with method='open-set'."
            )
        return description.judge(self.encoded(X))

    def membership(self, X: Any) -> Matrix:
        """Return the membership of each row in each class (MDD-KM), from 0 to 1."""
        return self._memberships.membership(self.encoded(X))

    def ambiguous(self, X: Any) -> NDArray[np.bool_]:
        """Return whether each row is claimed by several classes (MDD-KM)."""
        return self.is_ambiguous(self._memberships.log_membership(self.encoded(X)))

    @property
    def _memberships(self) -> MulticlassDataDescription:
        check_is_fitted(self)
        if not isinstance(self.description_, MulticlassDataDescription):
            raise InputError(
                "This model has probabilities instead of memberships. Call judge, or learn it with "
                "method='mddkm'."
            )
        return self.description_

    def is_ambiguous(self, log_membership: Matrix) -> NDArray[np.bool_]:
        """Return whether rows with these memberships (MDD-KM) are claimed by several classes."""
        assert isinstance(self.description_, MulticlassDataDescription)
        claims = np.exp(log_membership) >= self.description_.thresholds_
        if self._lead is None:
            return np.asarray(claims.sum(axis=1) > 1)
        best_claims = claims[np.arange(len(claims)), log_membership.argmax(axis=1)]
        is_clear = best_claims & (margins(log_membership) >= self._lead)
        return np.asarray(claims.any(axis=1) & ~is_clear)

    def recognize(self, X: Any, reject_label: Any = "unknown") -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where it is of no known class."""
        return self.description_.recognize(self.encoded(X), reject_label)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best class of each row, without rejection."""
        return self.description_.predict(self.encoded(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return how usual each row is: high for rows of known classes."""
        return self.description_.score_samples(self.encoded(X))

    def nearest_ids(self, X: Any, n: int = 3) -> NDArray[np.str_]:
        """Return the ids of the nearest training rows, nearest first; of equals the first."""
        indices = nearest_indices(self.scaled(X), self.scaled(self.known_table), n)
        return np.asarray(self.ids_[indices])

    def encoded(self, X: Any) -> Matrix:
        """Return the rows as the encoder makes them numbers."""
        check_is_fitted(self)
        return self.encoder_.transform(X)

    def scaled(self, X: Any) -> Matrix:
        """Return the rows on the scale on which the description compares them."""
        return self.description_.scaled(self.encoded(X))

    @property
    def text_columns(self) -> list[str]:
        """The columns that hold categories, so that new tables are read alike."""
        return [str(name) for name in self.feature_names_in_[self.encoder_.is_category_]]

    @property
    def columns(self) -> list[str]:
        """The columns that a new table must have."""
        return [str(name) for name in self.feature_names_in_]


def _decoded(codes: Indices, texts: NDArray[np.str_]) -> list[str | None]:
    """Return the texts of codes; -1 is a missing value."""
    return [None if code < 0 else str(texts[code]) for code in codes.tolist()]


def nearest_indices(rows: Matrix, known: Matrix, n: int) -> Indices:
    """Return the indices of the ``n`` nearest known rows, nearest first; of equals the first."""
    n = min(n, len(known))
    found = np.empty((len(rows), n), dtype=np.intp)
    for block in row_blocks(len(rows), 3 * len(known)):
        squared = squared_distances(rows[block], known)
        lines = np.arange(len(squared))
        for turn in range(n):  # for a few neighbours, faster than sorting
            first = squared.argmin(axis=1)
            found[block, turn] = first
            squared[lines, first] = np.inf
    return found


def duplicates_across_classes(rows: Matrix, labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each row has a duplicate with another label.

    Examples
    --------
    >>> import numpy as np
    >>> duplicates_across_classes(np.array([[1.0], [1.0], [2.0]]), np.array(["a", "b", "a"]))
    array([ True,  True, False])
    """
    _, inverse = np.unique(rows, axis=0, return_inverse=True)
    pairs = pd.DataFrame({"row": inverse.ravel(), "label": labels})
    n_labels = pairs.groupby("row")["label"].nunique()
    return np.asarray(n_labels.to_numpy()[inverse.ravel()] > 1)
