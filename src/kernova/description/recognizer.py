"""How far the best class must lead the next one before a row counts as clear.

Thresholds say whether a class claims a row. Where classes are known by a few odd rows, such as
those that an expert was asked about, they are so low that several classes claim nearly every row.
Which of them is right is then told by how far the best leads; and how far is far enough is told by
rows whose class is known, each judged by descriptions without it.

Known classes of a table's rows: encoder, description, and the rows by their names.
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
from kernova.kernels.distances import squared_distances
from kernova.parallel import row_blocks
from kernova.tables.columns import split_columns
from kernova.tables.encoding import TableEncoder
from kernova.typing import Indices, Matrix, Vector

# A share of fewer rows than these says nothing.
_FEWEST: Final = 5


def leads(log_membership: Matrix) -> Vector:
    """Give by how much the best class leads the next, in logarithms of membership.

    Examples
    --------
    >>> import numpy as np
    >>> leads(np.log([[0.8, 0.2, 0.1], [0.5, 0.5, 0.1]])).round(3)
    array([1.386, 0.   ])
    """
    if log_membership.shape[1] < 2:
        return np.full(len(log_membership), np.inf)
    second, best = np.partition(log_membership, -2, axis=1)[:, -2:].T
    # Two classes that know nothing of a row are equally far from it.
    return np.where(np.isneginf(best), 0.0, best - np.where(np.isneginf(best), 0.0, second))


def clear_lead(left_out: Matrix, codes: Indices, wanted: float = 0.9) -> float:
    """Find the smallest lead from which on rows are recognised rightly often enough.

    Parameters
    ----------
    left_out : array of shape (n_rows, n_classes)
        Memberships of rows whose class is known, each without itself.
    codes : array of int of shape (n_rows,)
        Their classes.
    wanted : float
        The share of rows with such a lead, or a larger one, that are to be right.

    Returns
    -------
    float
        The lead; infinite if no lead will do, or too few rows tell.

    Examples
    --------
    >>> import numpy as np
    >>> of_first = np.array([0.9, 0.8, 0.2, 0.1, 0.2, 0.5])
    >>> left_out = np.column_stack([of_first, [0.1, 0.1, 0.7, 0.9, 0.8, 0.6]])
    >>> round(clear_lead(left_out, np.array([0, 0, 1, 1, 1, 0])), 3)
    1.253
    """
    if left_out.shape[1] < 2:
        return 0.0
    with np.errstate(divide="ignore"):  # a class that knows nothing of a row
        logarithms = np.log(left_out)
    lead = leads(logarithms)
    largest_first = np.argsort(-lead, kind="stable")
    is_right = (logarithms.argmax(axis=1) == codes)[largest_first]
    share = np.cumsum(is_right) / np.arange(1, len(codes) + 1)
    lead = lead[largest_first]
    # Rows with the same lead are clear together, or not at all.
    is_last = np.append(lead[1:] < lead[:-1], True)
    enough = np.flatnonzero((share >= wanted) & is_last)
    return float(lead[enough[-1]]) if len(enough) and enough[-1] + 1 >= _FEWEST else float("inf")


class TableRecognizer(ClassifierMixin, BaseEstimator):
    """Recognise the rows of a table as known classes, and name the training rows beside them.

    It is what a model file needs to hold: how columns become numbers, what the classes look like,
    and which training rows there were.

    Parameters
    ----------
    encoder : TableEncoder, default=None
        How columns become numbers; None takes them as they are, missing values refused.
    description : MulticlassDataDescription, default=None
        How classes are described; None takes the default.

    Attributes
    ----------
    encoder_, description_
        The fitted parts.
    classes_ : array of shape (n_classes,)
    ids_, labels_ : arrays of shape (n_rows,)
    left_out_ : array of shape (n_rows, n_classes)
        Memberships of the training rows; a row's own class is described without it.
    is_outlier_ : array of shape (n_rows,)
        Rows that describe nothing, since a robust description left them out.

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
    ) -> Self:
        """Learn the classes of these rows.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y : array of shape (n_rows,)
            Their classes.
        ids : sequence, optional
            What the rows are called; by default, their numbers.
        groups : array of shape (n_rows,), optional
            Rows that belong together, such as a cluster that was named in one step: none is left
            out while the others stay.
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
        self._keep(X)
        rows = encoder.transform(X)
        self.description_ = description.fit(rows, self.labels_, groups)
        self.classes_ = description.classes_
        self._leave_out(rows)
        return self

    def read_by(self, reader: object | None) -> Self:
        """Keep how the columns were made of files that have none, so that new ones can be read."""
        if reader is not None:
            self._reader = reader
        return self

    @property
    def reader(self) -> object | None:
        """How the columns were made of files that have none; None if they had them."""
        return vars(self).get("_reader")

    def _keep(self, X: pd.DataFrame) -> None:
        """Keep the training rows, so that new ones can be compared with them column by column."""
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
            columns[name] = _coded(*next(texts)) if is_category else next(numbers)
        return pd.DataFrame(columns, index=pd.Index(self.ids_.tolist(), dtype=object))

    def _leave_out(self, rows: Matrix) -> None:
        description, codes = self.description_, np.searchsorted(self.classes_, self.labels_)
        self.is_outlier_ = ~description._kept_rows(rows, codes)
        self.left_out_ = description.membership(rows)
        for code, one in enumerate(description._classes):
            inside = (codes == code) & ~self.is_outlier_
            # Without its only row, a class says nothing of it.
            self.left_out_[inside, code] = np.nan_to_num(one.left_out, nan=0.0)

    def membership(self, X: Any) -> Matrix:
        """Return, for each row and class, how well the class explains the row, from 0 to 1."""
        return self.description_.membership(self.encoded(X))

    def recognize(self, X: Any, reject_label: Any = "unknown") -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where no class claims it."""
        return self.description_.recognize(self.encoded(X), reject_label)

    def ambiguous(self, X: Any) -> NDArray[np.bool_]:
        """Tell which rows are claimed by several classes; or see :meth:`want_clear`."""
        return self.is_ambiguous(self.description_.log_membership(self.encoded(X)))

    def is_ambiguous(self, log_membership: Matrix) -> NDArray[np.bool_]:
        """Tell the same of rows whose memberships are known already."""
        claims = np.exp(log_membership) >= self.description_.thresholds_
        if self.lead is None:
            return np.asarray(claims.sum(axis=1) > 1)
        is_led = claims[np.arange(len(claims)), log_membership.argmax(axis=1)]
        is_clear = is_led & (leads(log_membership) >= self.lead)
        return np.asarray(claims.any(axis=1) & ~is_clear)

    def want_clear(self, share: float) -> Self:
        """Call a row ambiguous unless one class leads clearly, however many claim it.

        Parameters
        ----------
        share : float
            How many of the training rows with so clear a lead, each left out, must be recognised
            rightly; see :func:`kernova.description.recognizer.clear_lead`.
        """
        codes = np.searchsorted(self.classes_, self.labels_)
        inside = ~self.is_outlier_
        self._lead = clear_lead(self.left_out_[inside], codes[inside], share)
        return self

    @property
    def lead(self) -> float | None:
        """How far the best class must lead, in logarithms; None: claims alone decide."""
        return vars(self).get("_lead")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class that explains each row best, be it ever so badly."""
        return self.description_.predict(self.encoded(X))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the largest membership of each row: high if it belongs somewhere."""
        return self.description_.score_samples(self.encoded(X))

    def nearest_ids(self, X: Any, n: int = 3) -> NDArray[np.str_]:
        """Return the ids of the nearest training rows, nearest first; of equals the first."""
        numbers = nearest_numbers(self.scaled(X), self.scaled(self.known_table), n)
        return np.asarray(self.ids_[numbers])

    def encoded(self, X: Any) -> Matrix:
        """Return the rows as numbers."""
        check_is_fitted(self)
        return self.encoder_.transform(X)

    def scaled(self, X: Any) -> Matrix:
        """Return the rows on the scale on which the description compares them."""
        return self.description_._scaled(self.encoded(X))

    @property
    def text_columns(self) -> list[str]:
        """The columns that hold categories, so that new tables are read alike."""
        return [str(name) for name in self.feature_names_in_[self.encoder_.is_category_]]

    @property
    def columns(self) -> list[str]:
        """The columns that a new table must have."""
        return [str(name) for name in self.feature_names_in_]


def _coded(codes: Indices, texts: NDArray[np.str_]) -> list[str | None]:
    """Give the texts that codes stand for; -1 is a missing one."""
    return [None if code < 0 else str(texts[code]) for code in codes.tolist()]


def nearest_numbers(rows: Matrix, known: Matrix, n: int) -> Indices:
    """Return the numbers of the ``n`` nearest known rows, nearest first; of equals the first."""
    n = min(n, len(known))
    found = np.empty((len(rows), n), dtype=np.intp)
    for block in row_blocks(len(rows), 3 * len(known)):
        squared = squared_distances(rows[block], known)
        lines = np.arange(len(squared))
        for turn in range(n):  # few are asked for: sorting all would take many times as long
            first = squared.argmin(axis=1)
            found[block, turn] = first
            squared[lines, first] = np.inf
    return found


def copies_across_classes(rows: Matrix, labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which rows stand in the table under another label, too.

    Examples
    --------
    >>> import numpy as np
    >>> copies_across_classes(np.array([[1.0], [1.0], [2.0]]), np.array(["a", "b", "a"]))
    array([ True,  True, False])
    """
    _, inverse = np.unique(rows, axis=0, return_inverse=True)
    pairs = pd.DataFrame({"row": inverse.ravel(), "label": labels})
    n_labels = pairs.groupby("row")["label"].nunique()
    return np.asarray(n_labels.to_numpy()[inverse.ravel()] > 1)
