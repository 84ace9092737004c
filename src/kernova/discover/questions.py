"""Questions and answers: the interface between strategies, askers and experts.

A :class:`Strategy` starts an :class:`Asker` for a table. The asker proposes a question and observes
answers, one by one. Askers are deterministic: the same answers in the same order lead to the same
next question. A session can therefore be restored by replaying its answers, and undoing one answer
is replaying the others. Each expert has at most one open question, and no row is open for two.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from kernova.typing import Indices, Mask

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A row to show, with what an expert needs to label it.

    Parameters
    ----------
    row : int
        Row index, counted from 0.
    members : array of int
        All rows of the cluster that this row represents, itself included, in ascending order.
    reason : str
        Why this row is asked, in one sentence.
    evidence : mapping of str to float
        The numbers behind the sentence.
    alternatives : tuple of int
        Rows that the strategy ranks next, the best first.
    is_blind : bool
        Whether others have labelled the row, and the expert is not to see how.
    """

    row: int
    members: Indices
    reason: str
    evidence: Mapping[str, float] = field(default_factory=dict)
    alternatives: tuple[int, ...] = ()
    is_blind: bool = False

    def numbered(self, number: int, row_id: Any) -> "AskedQuestion":
        """Return the question as an expert sees it."""
        return AskedQuestion(
            self.row,
            self.members,
            self.reason,
            self.evidence,
            self.alternatives,
            self.is_blind,
            number=number,
            id=row_id,
        )


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuestion(Question):
    """A question as an expert sees it: with its number, and the id of the row.

    Parameters
    ----------
    number : int
        The number that the question gets if it is answered now, counted from 1, as ``change`` uses
        it.
    id : object
        Id of the row.
    """

    number: int = 0
    id: Any = None


class Answer(NamedTuple):
    """The category of a row, or None when the row was skipped.

    ``is_asked`` is False for a row that was not asked: it was labelled before the session, on the
    expert's own initiative, or together with another row.
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
        """Use one answer, for the proposed row or for any other open row."""
        ...


class SharedAsker(Asker, Protocol):
    """An asker for several experts: it can propose while other questions are open."""

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left.

        Parameters
        ----------
        besides : collection of int
            Rows not to be proposed because they are open for other experts: an array of the rows
            of their questions, then of the rows of their clusters. It is not remembered.
        """
        ...


@runtime_checkable
class BulkAsker(Asker, Protocol):
    """An asker that observes many answers faster than one by one."""

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Use all answers; the same as observing them in order."""
        ...


@runtime_checkable
class CopiedAsker(Asker, Protocol):
    """An asker that can be copied, so that undoing an answer needs no fresh one."""

    def copy(self) -> Asker:
        """Return an asker in the same state, which does not follow this one."""
        ...


@runtime_checkable
class RevisedAsker(Asker, Protocol):
    """An asker that can take other answers into account, if most are the same."""

    def revised(self, answers: Sequence[Answer]) -> Asker | None:
        """Return an asker that has observed these answers; None if that needs a fresh one."""
        ...


def free_rows(is_asked: Mask, besides: Collection[int]) -> Mask:
    """Return a mask of the rows that were neither asked nor excluded.

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


@lru_cache(maxsize=64)
def _is_bulk(kind: type[Asker]) -> bool:
    return hasattr(kind, "observe_all")  # to compare with a protocol takes long


def observe_answers(asker: Asker, answers: Sequence[Answer]) -> None:
    """Pass answers to an asker, all at once if it supports that."""
    if _is_bulk(type(asker)):
        cast(BulkAsker, asker).observe_all(answers)
        return
    for answer in answers:
        asker.observe(answer)


class Strategy(Protocol):
    """A way of choosing questions."""

    name: str

    def start(self, preparation: "Preparation") -> Asker:
        """Return a fresh asker; costly results are cached in the preparation."""
        ...


Need = Literal["rows", "neighbors", "hierarchy"]


@runtime_checkable
class PlannedStrategy(Strategy, Protocol):
    """A strategy that says what is prepared for it, so that a large table need not be waited for.

    ``needs`` names standardised rows, the graph of nearest neighbours, or the hierarchy. The first
    questions about a large table then come from a sample of its rows: see
    :mod:`kernova.discover.sampling`.
    """

    needs: tuple[Need, ...]


class OpenQuestions:
    """The open question of each expert; None stands for unnamed experts.

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
        """Open a question for an expert, in place of the previous one."""
        self.by_expert[expert] = question

    def close(self, expert: str | None) -> None:
        """Close the question of an expert."""
        self.by_expert.pop(expert, None)

    def of(self, expert: str | None, number: int) -> AskedQuestion | None:
        """Return the question of an expert, with its present number."""
        question = self.by_expert.get(expert)
        if question is not None and question.number != number:
            question = replace(question, number=number)
            self.by_expert[expert] = question
        return question

    def holder_of(self, row: int) -> tuple[str | None, ...]:
        """Return the expert for whom a row is open, as a tuple of at most one."""
        return tuple(who for who, one in self.by_expert.items() if one.row == row)

    def rows_besides(self, expert: str | None) -> Indices:
        """Return the rows that are open for other experts."""
        rows = [one.row for who, one in self.by_expert.items() if who != expert]
        return np.array(rows, dtype=np.intp)

    def clusters_besides(self, expert: str | None) -> Indices:
        """Return the rows that are open for other experts, then those of their clusters."""
        rows = self.rows_besides(expert)
        members = [one.members for who, one in self.by_expert.items() if who != expert]
        ascending = np.sort(np.concatenate([rows, *members])) if members else rows
        is_new = np.ones(len(ascending), dtype=np.bool_)
        is_new[1:] = ascending[1:] != ascending[:-1]
        is_new[np.searchsorted(ascending, rows)] = False
        return np.concatenate([rows, ascending[is_new]])


def proposal_besides(
    asker: Asker, besides: Indices, closed: Collection[int], n_rows: int
) -> Question | None:
    """Return an asker's question about a row that is not excluded.

    An asker whose ``propose`` has no ``besides`` proposes as for a single expert; if that row is
    excluded, its alternatives are next, and then the first open row.

    Parameters
    ----------
    asker : Asker
        The asker.
    besides : array of int
        Excluded rows: they are open for other experts.
    closed : collection of int
        Rows that are labelled or skipped.
    n_rows : int
        Number of rows of the table.

    Returns
    -------
    Question or None
        None if no row is left.
    """
    if len(besides) == 0:
        return asker.propose()
    if _takes_besides(type(asker)):
        return cast(SharedAsker, asker).propose(besides)
    question = asker.propose()
    taken = set(besides.tolist())
    if question is None or question.row not in taken:
        return question
    for row in (*question.alternatives, *range(n_rows)):
        if row not in taken and row not in closed:
            return Question(
                row=row,
                members=np.array([row], dtype=np.intp),
                reason="It is the next row that is not open for another expert.",
            )
    return None


@lru_cache(maxsize=64)
def _takes_besides(kind: type[Asker]) -> bool:
    return "besides" in signature(kind.propose).parameters
