"""Doubtful answers: labels that the nearest earlier answer contradicts.

An expert errs at times. A wrong label of the one row asked of a group would close the group, and
the category in it would never be met. So where a row of an open group gets the label of a category
that is known, but the nearest row asked before has another one or was skipped, the group stays
open, and another of its rows is asked. If the two have the same label, they agree, and the group is
closed.
"""

from copy import copy
from typing import Final

import numpy as np
from scipy.spatial.distance import cdist

from kernova.discover.questions import Answer
from kernova.typing import Indices, Matrix

_FIRST_CAPACITY: Final = 64


class Doubts:
    """The rows asked so far and their labels.

    Parameters
    ----------
    Z : array of shape (n_rows, n_axes)
        Standardised rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.questions import Answer
    >>> from kernova.discover.strategies.novelty_groups.doubts import Doubts
    >>> doubts = Doubts(np.array([[0.0], [1.0], [8.0], [9.0]]))
    >>> for answer in (Answer(0, "a"), Answer(3, "b")):
    ...     doubts.add(answer)
    >>> [doubts.contradict(Answer(*one)) for one in ((2, "a"), (1, "a"), (2, "c"))]
    [True, False, False]
    """

    def __init__(self, Z: Matrix) -> None:
        self._Z = Z
        self._rows: Indices = np.empty(_FIRST_CAPACITY, dtype=np.intp)
        self._labels: list[str | None] = []
        self._known: set[str | None] = set()

    def contradict(self, answer: Answer) -> bool:
        """Return whether the label is known, but is not that of the nearest row asked before."""
        row, label, _ = answer
        if label is None or label not in self._known:
            return False
        asked = self._rows[: len(self._labels)]
        to_asked = cdist(self._Z[row : row + 1], self._Z[asked])[0]
        return self._labels[int(np.argmin(to_asked))] != label

    def add(self, answer: Answer) -> None:
        """Add an answer about a row that was asked."""
        n_asked = len(self._labels)
        if n_asked == len(self._rows):
            self._rows = np.concatenate([self._rows, self._rows])
        self._rows[n_asked] = answer.row
        self._labels.append(answer.label)
        self._known.add(answer.label)

    def copy(self) -> "Doubts":
        """Return the same answers, which do not follow these."""
        other = copy(self)
        other._rows, other._labels = self._rows.copy(), list(self._labels)
        other._known = set(self._known)
        return other
