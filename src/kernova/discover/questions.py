"""What passes between the program and the expert: a question out, an answer in.

A :class:`Strategy` knows how to prepare itself for a table; what it prepares is an
:class:`Asker`, which proposes a question and observes answers, one by one. Askers are
deterministic: the same answers in the same order lead to the same next question. So a session
can always be brought back by replaying its answers, and undoing one is replaying the others.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A row to show, with what an expert wants to know before naming it.

    Parameters
    ----------
    row : int
        The row's place in the table, counted from 0.
    members : array of int
        All rows of the cluster this row stands for, itself included, in ascending order.
    reason : str
        One sentence that says why this row is asked.
    evidence : mapping of str to float
        The numbers behind the sentence.
    alternatives : tuple of int
        Rows the strategy would ask next, were this one refused; the best first.
    """

    row: int
    members: Rows
    reason: str
    evidence: Mapping[str, float] = field(default_factory=dict)
    alternatives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the expert said of a row: its category, or None when the row was passed over.

    ``is_asked`` is False for a row that nobody asked about: it was labelled before, out of turn,
    or together with another.
    """

    row: int
    label: str | None
    is_asked: bool = True


class Asker(Protocol):
    """One run of a strategy: it proposes, observes the answer, and proposes again."""

    def propose(self) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        ...

    def observe(self, answer: Answer) -> None:
        """Take in one answer, to the proposed row or to any other row that is still open."""
        ...


class SharedAsker(Asker, Protocol):
    """An asker for several experts: it knows what else to ask while a question is open."""

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left.

        Parameters
        ----------
        besides : collection of int
            Rows that are not to be asked now, because other experts have them before them: an
            array of rows, those of their questions first, then those of their clusters. Nothing
            is remembered of it.
        """
        ...


@runtime_checkable
class BulkAsker(Asker, Protocol):
    """An asker that takes in many answers faster than one by one."""

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Take in all answers; the same as observing them in their order."""
        ...


def free_rows(is_asked: NDArray[np.bool_], besides: Collection[int]) -> NDArray[np.bool_]:
    """Mark the rows that were not asked and are not among some others.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.questions import free_rows
    >>> free_rows(np.array([True, False, False]), besides=[2]).tolist()
    [False, True, False]
    """
    is_free = ~is_asked
    if len(besides):
        is_free[np.fromiter(besides, dtype=np.intp, count=len(besides))] = False
    return is_free


def tell(asker: Asker, answers: Sequence[Answer]) -> None:
    """Tell an asker what was answered, all at once where it can take that."""
    if isinstance(asker, BulkAsker):
        asker.observe_all(answers)
        return
    for answer in answers:
        asker.observe(answer)


class Strategy(Protocol):
    """A way of choosing questions."""

    name: str

    def start(self, preparation: "Preparation") -> Asker:
        """Return a fresh asker; what is costly is kept in the preparation and done once."""
        ...
