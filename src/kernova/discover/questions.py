"""What passes between the program and the expert: a question out, an answer in.

A :class:`Strategy` knows how to prepare itself for a table; what it prepares is an
:class:`Asker`, which proposes a question and observes answers, one by one. Askers are
deterministic: the same answers in the same order lead to the same next question. So a session
can always be brought back by replaying its answers, and undoing one is replaying the others.

Which questions are open, and at whom: each expert has one at most, and no row is open twice.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kernova.typing import Indices

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


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
    members: Indices
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


_NO_ROWS = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuestion(Question):
    """A question as the expert meets it: with its number, and the row's own id.

    Parameters
    ----------
    number : int
        The number that the question gets if it is answered now, counted from 1; ``change`` takes
        it.
    id : object
        What the user calls the row.
    """

    number: int = 0
    id: Any = None


class OpenQuestions:
    """The open question of each expert; None is whoever gave no name.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.questions import AskedQuestion, OpenQuestions
    >>> questions = OpenQuestions()
    >>> questions.open("Anna", AskedQuestion(4, np.array([4, 5]), "It is next."))
    >>> questions.rows_besides("Bob").tolist(), questions.clusters_besides("Bob").tolist()
    ([4], [4, 5])
    >>> questions.holder_of(4), questions.holder_of(5)
    (('Anna',), ())
    """

    def __init__(self) -> None:
        self.by_expert: dict[str | None, AskedQuestion] = {}

    def open(self, expert: str | None, question: AskedQuestion) -> None:
        """Let an expert have this question, in place of what was open there."""
        self.by_expert[expert] = question

    def close(self, expert: str | None) -> None:
        """Let an expert have no question."""
        self.by_expert.pop(expert, None)

    def of(self, expert: str | None, number: int) -> AskedQuestion | None:
        """Give an expert's question, under the number that it would get now."""
        question = self.by_expert.get(expert)
        if question is not None and question.number != number:
            question = replace(question, number=number)
            self.by_expert[expert] = question
        return question

    def holder_of(self, row: int) -> tuple[str | None, ...]:
        """Give the one expert at whom a row is open, or nobody."""
        return tuple(who for who, one in self.by_expert.items() if one.row == row)

    def rows_besides(self, expert: str | None) -> Indices:
        """Give the rows that are open at others."""
        rows = [one.row for who, one in self.by_expert.items() if who != expert]
        return np.array(rows, dtype=np.intp)

    def clusters_besides(self, expert: str | None) -> Indices:
        """Give the rows that are open at others, and then those of their clusters."""
        rows = self.rows_besides(expert)
        members = [one.members for who, one in self.by_expert.items() if who != expert]
        return np.concatenate([rows, np.setdiff1d(np.concatenate([_NO_ROWS, *members]), rows)])


def proposal(
    asker: Asker, besides: Indices, heard: Collection[int], n_rows: int
) -> Question | None:
    """Let an asker propose a question about a row that is not among some.

    An asker whose ``propose`` takes no ``besides`` is asked what it would propose to a single
    expert; if that is taken, its alternatives are next, and then the first open row.

    Parameters
    ----------
    asker : Asker
        Who proposes.
    besides : array of int
        Rows that others have before them.
    heard : collection of int
        Rows that are not open any more.
    n_rows : int
        How many rows the table has.

    Returns
    -------
    Question or None
        None if no row is left.
    """
    if len(besides) == 0:
        return asker.propose()
    if "besides" in signature(asker.propose).parameters:
        return cast(SharedAsker, asker).propose(besides)
    question = asker.propose()
    taken = set(besides.tolist())
    if question is None or question.row not in taken:
        return question
    for row in (*question.alternatives, *range(n_rows)):
        if row not in taken and row not in heard:
            return Question(
                row=row,
                members=np.array([row], dtype=np.intp),
                reason="It is the next row that nobody else is looking at.",
            )
    return None
