"""Uncertainty sampling: ask the row whose two likeliest categories are closest in probability.

After Lewis and Gale, "A Sequential Algorithm for Training Text Classifiers", SIGIR 1994, with the
margin of Scheffer, Decomain and Wrobel, "Active Hidden Markov Models for Information Extraction",
2001. The classifier is a multinomial logistic regression on z-scored rows. It knows only categories
that were met, so nothing leads it to a new one; until two are known, rows are drawn at random.
"""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from kernova.discover.questions import Answer, Question
from kernova.proving.baselines.asking import RowAsker, question_about
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

# With many labels one more changes the margins little: refit after each twentieth part.
_REFIT_FRACTION: Final = 0.05
_MOST_STEPS: Final = 100


@dataclass
class UncertaintySampling:
    """Ask the row with the smallest margin between its two likeliest categories.

    The classifier is fitted again after every answer, from 40 on whenever they have grown by a
    twentieth. The random rows at the start come from the seed of the preparation.

    Parameters
    ----------
    strength : float
        Inverse of the penalty on the weights, ``C`` of scikit-learn.

    Examples
    --------
    >>> from kernova.proving.baselines.uncertainty import UncertaintySampling
    >>> UncertaintySampling().name
    'uncertainty'
    """

    strength: float = 1.0
    name: str = "uncertainty"

    def start(self, preparation: "Preparation") -> "MarginAsker":
        """Return a fresh asker."""
        order = np.random.default_rng(preparation.random_state).permutation(preparation.n_rows)
        return MarginAsker(preparation.rows("zscore"), order, self.strength)


class MarginAsker(RowAsker):
    """One run: the labelled rows, and the margin of every row since the last fit."""

    def __init__(self, Z: Matrix, order: Indices, strength: float) -> None:
        super().__init__(len(Z))
        self._Z, self._order, self._strength = Z, order, strength
        self._labels: dict[int, str] = {}
        self._margins: Vector | None = None
        self._next_fit = 2  # number of labels

    def _question(self, is_free: Mask) -> Question:
        self._fit_if_due()
        if self._margins is None:
            row = int(self._order[np.argmax(is_free[self._order])])
            reason = "It was drawn at random, since no two categories are known yet."
            return question_about(row, reason)
        rows = np.flatnonzero(is_free)
        row = int(rows[np.argmin(self._margins[rows])])
        margin = float(self._margins[row])
        reason = (
            f"The probabilities of its two likeliest categories differ by {margin:.3g} only, less "
            "than those of any other open row."
        )
        return question_about(row, reason, margin=margin)

    def _learn(self, answer: Answer) -> None:
        if answer.label is not None:
            self._fit_if_due()  # as if a question had been asked, so that a replay agrees
            self._labels[answer.row] = answer.label

    def _fit_if_due(self) -> None:
        n_labels = len(self._labels)
        if n_labels < self._next_fit or len(set(self._labels.values())) < 2:
            return
        rows = np.fromiter(self._labels, dtype=np.intp, count=n_labels)
        self._margins = margins(self._Z, rows, list(self._labels.values()), self._strength)
        self._next_fit = n_labels + max(1, int(_REFIT_FRACTION * n_labels))


def margins(Z: Matrix, rows: Indices, labels: list[str], strength: float = 1.0) -> Vector:
    """Return the difference of the two largest probabilities of every row.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
        Standardised rows.
    rows, labels : array of int, list of str
        The labelled rows, and the category of each: at least two different ones.
    strength : float
        Inverse of the penalty on the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.uncertainty import margins
    >>> margins(np.array([[-1.0], [0.0], [1.0]]), np.array([0, 2]), ["a", "b"]).round(2)
    array([0.33, 0.  , 0.33])
    """
    if Z.shape[1] == 0:
        return np.zeros(len(Z))
    model = LogisticRegression(C=strength, max_iter=_MOST_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z[rows], labels)
    highest = np.partition(model.predict_proba(Z), -2, axis=1)[:, -2:]
    return np.asarray(highest[:, 1] - highest[:, 0], dtype=np.float64)
