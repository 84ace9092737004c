"""Margins: how sure the classifier of the answers so far is of the category of a row.

The classifier is the logistic regression of the recogniser (:mod:`kernova.description.open_set`),
fitted to the labelled rows. Where its two likeliest categories are about equally likely, a row lies
between categories, or where no category was met yet. It is fitted again after every answer, from 40
labelled rows on whenever they have grown by a twentieth, and always to the first ones, so that it
does not matter how many answers came at once.
"""

from collections.abc import Sequence
from copy import copy
from typing import Final, NamedTuple

import numpy as np

from kernova.description.open_set.linear import (
    LinearMember,
    discriminant,
    logistic,
    within_classes,
)
from kernova.discover.questions import Answer
from kernova.typing import Indices, Matrix, Vector

# The classifier is fitted again when rows have grown by one in so many.
_REFIT_FRACTION: Final = 20
# Of more labelled rows, the first of each category are used.
_MOST_ROWS: Final = 2_000
# With more weights, regression takes seconds, and discriminant analysis takes its place.
_MOST_WEIGHTS: Final = 20_000
# Of more axes, those of the largest variance are used.
_MOST_AXES: Final = 300
# Sums in another order may differ in the last digits, which must not decide between equal rows.
_DIGITS: Final = 9


class Likeliest(NamedTuple):
    """The two likeliest categories of a row, and the difference of their probabilities."""

    first: str
    second: str
    margin: float


class Margins:
    """Margins between the two likeliest categories of rows, by the answers so far.

    Parameters
    ----------
    Z : array of shape (n_rows, n_axes)
        Standardised rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_groups.margins import Margins
    >>> margins = Margins(np.array([[-2.0], [0.0], [2.0]]))
    >>> margins.of(np.array([1]), [Answer(0, "a")])  # with one category, nothing is sure
    array([0.])
    >>> margins.of(np.arange(3), [Answer(0, "a"), Answer(2, "b")]).round(2)
    array([0.63, 0.  , 0.63])
    """

    def __init__(self, Z: Matrix) -> None:
        self._Z = Z
        if Z.shape[1] > _MOST_AXES:
            axes = np.argsort(-Z.var(axis=0), kind="stable")[:_MOST_AXES]
            self._Z = np.ascontiguousarray(Z[:, np.sort(axes)])
        self._names: list[str] = []
        self._model: LinearMember | None = None
        self._n_shown = self._n_fitted = 0

    def of(self, rows: Indices, shown: Sequence[Answer]) -> Vector:
        """Return the margin of some rows, from 0 to 1; 0 until two categories are known."""
        self._fit(shown)
        if self._model is None:
            return np.zeros(len(rows))
        probabilities = np.exp(self._model.log_probabilities(self._Z[rows]))
        highest = np.partition(probabilities, -2, axis=1)[:, -2:]
        return np.asarray((highest[:, 1] - highest[:, 0]).round(_DIGITS))

    def likeliest(self, row: int, shown: Sequence[Answer]) -> Likeliest | None:
        """Return the likeliest categories of a row; None until two are known."""
        self._fit(shown)
        if self._model is None:
            return None
        probabilities = np.exp(self._model.log_probabilities(self._Z[row : row + 1])[0])
        second, first = np.argsort(probabilities, kind="stable")[-2:].tolist()
        margin = float(probabilities[first] - probabilities[second])
        return Likeliest(self._names[first], self._names[second], margin)

    def copy(self) -> "Margins":
        """Return the same margins, which do not follow these."""
        return copy(self)

    def _fit(self, shown: Sequence[Answer]) -> None:
        if len(shown) == self._n_shown:
            return
        self._n_shown = len(shown)
        labelled = [(one.row, one.label) for one in shown if one.label is not None]
        n_fitted = _fitted_rows(len(labelled))
        if n_fitted == self._n_fitted:
            return
        self._n_fitted, self._model = n_fitted, None
        rows, labels = (np.array(part) for part in zip(*labelled[:n_fitted], strict=True))
        some = _first_of_each(np.unique(labels, return_inverse=True)[1])
        names, codes = np.unique(labels[some], return_inverse=True)
        Z = self._Z[rows[some]]
        # Where all rows are equal, no axis is left to tell categories by.
        if len(names) < 2 or Z.shape[1] == 0:
            return
        weights = np.ones(len(Z))
        self._names = names.tolist()
        if Z.shape[1] * len(names) <= _MOST_WEIGHTS:
            self._model = logistic(Z, codes, weights, len(names))
        else:
            within = within_classes(Z, codes, weights, len(names))
            frequencies = np.bincount(codes, minlength=len(names)) / len(codes)
            self._model = discriminant(within, np.log(frequencies))


def _fitted_rows(n_labelled: int) -> int:
    """Return to how many of the labelled rows the classifier is fitted."""
    n_fitted, following = 0, 1
    while following <= n_labelled:
        n_fitted = following
        following += max(1, following // _REFIT_FRACTION)
    return n_fitted


def _first_of_each(codes: Indices) -> Indices:
    """Return positions of the first rows of each category, as many of each as there is room for."""
    if len(codes) <= _MOST_ROWS:
        return np.arange(len(codes))
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    rank = np.empty(len(codes), dtype=np.intp)
    rank[order] = np.arange(len(codes)) - starts[codes[order]]
    return np.sort(np.argsort(rank, kind="stable")[:_MOST_ROWS])
