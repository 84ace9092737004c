"""Open-set recognition of a table's rows: column encoder, class descriptions and training rows.

A class claims a row whose membership reaches the threshold of the class. Where classes are known
from a few atypical rows, such as those that an expert was asked about, thresholds are so low that
several classes claim nearly every row. A row then counts as ambiguous unless the margin of its best
class over the second is large enough. How large it must be is learnt from the training rows, each
scored by descriptions without it.
"""

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernova.description.multiclass import MulticlassDataDescription
from kernova.errors import InputError
from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.tables.columns import split_columns
from kernova.tables.encoding import TableEncoder
from kernova.typing import Indices, Matrix, Vector

# The precision of fewer rows than these is too uncertain.
_FEWEST: Final = 5


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


def margin_for_precision(left_out: Matrix, codes: Indices, precision: float = 0.9) -> float:
    """Return the smallest margin from which on rows are classified with a given precision.

    Parameters
    ----------
    left_out : array of shape (n_rows, n_classes)
        Leave-one-out memberships of rows whose class is known.
    codes : array of int of shape (n_rows,)
        Their classes.
    precision : float
        Fraction of the rows with at least this margin that must be classified correctly.

    Returns
    -------
    float
        The margin; infinite if no margin reaches the precision on at least five rows.

    Examples
    --------
    >>> import numpy as np
    >>> of_first = np.array([0.9, 0.8, 0.2, 0.1, 0.2, 0.5])
    >>> left_out = np.column_stack([of_first, [0.1, 0.1, 0.7, 0.9, 0.8, 0.6]])
    >>> round(margin_for_precision(left_out, np.array([0, 0, 1, 1, 1, 0])), 3)
    1.253
    """
    if left_out.shape[1] < 2:
        return 0.0
    with np.errstate(divide="ignore"):  # a membership of 0
        logarithms = np.log(left_out)
    margin = margins(logarithms)
    largest_first = np.argsort(-margin, kind="stable")
    is_correct = (logarithms.argmax(axis=1) == codes)[largest_first]
    reached = np.cumsum(is_correct) / np.arange(1, len(codes) + 1)
    margin = margin[largest_first]
    # Rows with equal margins are accepted together or not at all.
    is_last = np.append(margin[1:] < margin[:-1], True)
    enough = np.flatnonzero((reached >= precision) & is_last)
    return float(margin[enough[-1]]) if len(enough) and enough[-1] + 1 >= _FEWEST else float("inf")


class TableRecognizer(ClassifierMixin, BaseEstimator):
    """Recognise the rows of a table as known classes, and list the nearest training rows.

    It holds what a model file needs: the encoder of the columns, the description of the classes,
    and the training rows.

    Parameters
    ----------
    encoder : TableEncoder, default=None
        Encoder of the columns; None takes numbers unscaled, and raises on missing values.
    description : MulticlassDataDescription, default=None
        Description of the classes; None takes the default.

    Attributes
    ----------
    encoder_, description_
        The fitted parts.
    classes_ : array of shape (n_classes,)
    ids_, labels_ : arrays of shape (n_rows,)
    left_out_ : array of shape (n_rows, n_classes)
        Memberships of the training rows; a row's own class is described without it.
    is_outlier_ : array of shape (n_rows,)
        Training rows that a robust description left out.
    reader : object or None
        Reader that made the columns of files without columns, such as sounds; None for tables.
    margin : float or None
        Margin that the best class needs over the second, in logarithms of membership; set by
        :meth:`fit_margin`. None means that thresholds alone decide.

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
    _lead: float | None = None

    def __init__(
        self,
        encoder: TableEncoder | None = None,
        description: MulticlassDataDescription | None = None,
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
            Rows that are left out together, such as a cluster that was labelled in one step.
        reader : object, optional
            Reader that made the columns, stored so that new files can be read alike.
        """
        if not isinstance(X, pd.DataFrame):
            raise InputError(
                f"TableRecognizer learns from a DataFrame; got an object of type "
                f"{type(X).__name__}. For an array, take MulticlassDataDescription."
            )
        encoder = TableEncoder(scaling="none") if self.encoder is None else clone(self.encoder)
        description = (
            MulticlassDataDescription() if self.description is None else clone(self.description)
        )
        self.labels_ = np.asarray(y)
        self.ids_ = np.array([str(i) for i in (range(len(X)) if ids is None else ids)])
        check_consistent_length(X, self.labels_, self.ids_)
        self.encoder_ = encoder.fit(X)
        self.n_features_in_, self.feature_names_in_ = len(X.columns), encoder.feature_names_in_
        self._store_rows(X)
        rows = encoder.transform(X)
        self.description_ = description.fit(rows, self.labels_, groups)
        self.classes_ = description.classes_
        left_out = description.left_out_membership(rows, self.labels_)
        self.left_out_, self.is_outlier_ = left_out.membership, left_out.is_outlier
        self._reader, self._lead = reader, None
        return self

    def fit_margin(self, precision: float) -> Self:
        """Learn from the training rows the margin that the best class needs over the second.

        Rows with a smaller margin are ambiguous then, however many classes claim them.

        Parameters
        ----------
        precision : float
            Fraction of the training rows with at least this margin, each left out, that must be
            classified correctly; see :func:`margin_for_precision`.
        """
        codes = np.searchsorted(self.classes_, self.labels_)
        inside = ~self.is_outlier_
        self._lead = margin_for_precision(self.left_out_[inside], codes[inside], precision)
        return self

    @property
    def reader(self) -> object | None:
        """Reader that made the columns of files without columns; None for tables."""
        return self._reader

    @property
    def margin(self) -> float | None:
        """Margin that the best class needs over the second; None: thresholds alone decide."""
        return self._lead

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

    def membership(self, X: Any) -> Matrix:
        """Return the membership of each row in each class, from 0 to 1."""
        return self.description_.membership(self.encoded(X))

    def recognize(self, X: Any, reject_label: Any = "unknown") -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where no class claims it."""
        return self.description_.recognize(self.encoded(X), reject_label)

    def ambiguous(self, X: Any) -> NDArray[np.bool_]:
        """Return whether each row is claimed by several classes, or its margin is too small."""
        return self.is_ambiguous(self.description_.log_membership(self.encoded(X)))

    def is_ambiguous(self, log_membership: Matrix) -> NDArray[np.bool_]:
        """Return whether rows with these log memberships are ambiguous."""
        claims = np.exp(log_membership) >= self.description_.thresholds_
        if self.margin is None:
            return np.asarray(claims.sum(axis=1) > 1)
        best_claims = claims[np.arange(len(claims)), log_membership.argmax(axis=1)]
        is_clear = best_claims & (margins(log_membership) >= self.margin)
        return np.asarray(claims.any(axis=1) & ~is_clear)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the best class of each row, without rejection."""
        return self.description_.predict(self.encoded(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of each row's largest membership: high for rows of known classes."""
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
