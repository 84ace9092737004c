"""Asking one row at a time: the part that all askers of the baselines have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from kernova.discover.questions import Answer, Question, free_rows
from kernova.parallel import slices
from kernova.typing import Indices, Mask, Vector

_ROWS_AT_ONCE: Final = 64


class RowAsker(ABC):
    """An asker that chooses one row at a time; a subclass says which, and what it learns.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    """

    def __init__(self, n_rows: int) -> None:
        self.is_asked = np.zeros(n_rows, dtype=np.bool_)
        self._proposed: Question | None = None

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        if self._proposed is None and not self.is_asked.all():
            self._proposed = self._question(~self.is_asked)
        if self._proposed is None or len(besides) == 0:
            return self._proposed
        is_free = free_rows(self.is_asked, besides)
        if is_free[self._proposed.row]:
            return self._proposed
        return self._question(is_free) if is_free.any() else None

    def observe(self, answer: Answer) -> None:
        """Use one answer, for the proposed row or for any other open row."""
        self.is_asked[answer.row] = True
        self._proposed = None
        self._learn(answer)

    @abstractmethod
    def _question(self, is_free: Mask) -> Question:
        """Return the question about the best of these rows, of which there is at least one."""

    @abstractmethod
    def _learn(self, answer: Answer) -> None:
        """Use an answer, whether its row was proposed or not."""


def question_about(row: int, reason: str, **evidence: float) -> Question:
    """Return a question about a row that represents only itself.

    Examples
    --------
    >>> from kernova.proving.baselines.asking import question_about
    >>> question_about(3, "It is next.", score=0.5).evidence
    {'score': 0.5}
    """
    return Question(row, np.array([row], dtype=np.intp), reason, evidence)


class OrderAsker(RowAsker):
    """An asker whose order of rows does not depend on the answers, and is made as it is needed.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    first_rows : callable
        Returns the first rows of the order, given how many are wanted; it may return more.
    reason : str
        Why a row is asked.
    """

    def __init__(self, n_rows: int, first_rows: Callable[[int], Indices], reason: str) -> None:
        super().__init__(n_rows)
        self._first_rows, self._reason = first_rows, reason

    def _question(self, is_free: Mask) -> Question:
        wanted = int(self.is_asked.sum()) + 1
        while True:
            rows = self._first_rows(min(wanted, len(is_free)))
            free = rows[is_free[rows]]
            if len(free):
                return question_about(int(free[0]), self._reason, n_free=float(is_free.sum()))
            wanted = 2 * wanted

    def _learn(self, answer: Answer) -> None:
        """Ignore the answer."""


# --- where a count of neighbours drops -------------------------------------------------------


class Drop(NamedTuple):
    """The row whose count exceeds the lowest count near it most, and by how much."""

    row: int
    size: int


def largest_drop(counts: Indices, near: Callable[[Indices], Mask], is_open: Mask) -> Drop:
    """Return the open row whose count exceeds the lowest count near it most; ties go to the first.

    Rows with high counts are compared first, until no other row can win or tie.

    Parameters
    ----------
    counts : array of int
        The number of neighbours of every row.
    near : callable
        Returns for some rows a mask of shape (len(rows), n_rows): the rows near each of them.
    is_open : array of bool
        Rows that may win; at least one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.asking import largest_drop
    >>> Z = np.array([0.0, 0.1, 0.2, 1.0])
    >>> largest_drop(
    ...     np.array([2, 3, 2, 1]),
    ...     lambda rows: np.abs(Z[rows][:, None] - Z) <= 1,
    ...     np.ones(4, dtype=bool),
    ... )
    Drop(row=1, size=2)
    """
    open_rows = np.flatnonzero(is_open)
    order = open_rows[np.argsort(-counts[open_rows], kind="stable")]
    floor, beyond = counts.min(), counts.max() + 1
    best = Drop(int(order[0]), -1)
    for block in slices(len(order), _ROWS_AT_ONCE):
        rows = order[block]
        if counts[rows[0]] - floor < best.size:
            break
        drops = counts[rows] - np.where(near(rows), counts, beyond).min(axis=1)
        largest = int(drops.max())
        first = int(rows[drops == largest].min())
        if largest > best.size or (largest == best.size and first < best.row):
            best = Drop(first, largest)
    return best


# --- what is told ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows of the categories, from their fractions, in the order of the search.

    Examples
    --------
    >>> from kernova.proving.baselines.asking import Sizes
    >>> Sizes.of({"common": 0.9, "rare": 0.02, "scarce": 0.08}, n_rows=100)
    Sizes(names=('scarce', 'rare'), rows=(8, 2), common='common')
    """

    names: tuple[str, ...]  # rare categories, the largest first
    rows: tuple[int, ...]  # the number of rows of each, at least 1
    common: str | None = field(default=None)  # the most frequent category

    @classmethod
    def of(cls, priors: Mapping[str, float], n_rows: int, *, rarest_first: bool = False) -> "Sizes":
        """Return the sizes of all categories but the most frequent."""
        ordered = sorted(priors.items(), key=lambda item: (-item[1], item[0]))
        common = ordered[0][0]
        rare = ordered[1:] or ordered  # a single category is all there is
        if rarest_first:
            rare = rare[::-1]
        rows = tuple(max(1, round(fraction * n_rows)) for _, fraction in rare)
        return cls(tuple(name for name, _ in rare), rows, common)


def fractions_of(labels: "Vector | Indices") -> dict[str, float]:
    """Return the fraction of the rows of each category, by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.asking import fractions_of
    >>> fractions_of(np.array(["a", "b", "a", "a"]))
    {'a': 0.75, 'b': 0.25}
    """
    names, n_rows = np.unique(np.asarray(labels).astype(np.str_), return_counts=True)
    return dict(zip(names.tolist(), (n_rows / n_rows.sum()).tolist(), strict=True))
