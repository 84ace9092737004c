"""Questions and answers: the interface between strategies, askers and experts.

A :class:`Strategy` starts an :class:`Asker` for a table. The asker proposes a question and observes
answers, one by one. Askers are deterministic: the same answers in the same order lead to the same
next question. A session can therefore be restored by replaying its answers, and undoing one answer
is replaying the others. Each expert has at most one open question, and no row is open for two.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

import numpy as np

from kernova.typing import Indices, Mask

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation
    from kernova.discover.state import SessionState

_NO_ROWS: Final = np.empty(0, dtype=np.intp)


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
    """

    row: int
    members: Indices
    reason: str
    evidence: Mapping[str, float] = field(default_factory=dict)
    alternatives: tuple[int, ...] = ()

    def numbered(self, number: int, row_id: Any) -> "AskedQuestion":
        """Return the question as an expert sees it."""
        return AskedQuestion(
            self.row,
            self.members,
            self.reason,
            self.evidence,
            self.alternatives,
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


@dataclass(frozen=True, slots=True)
class Answer:
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


def observe_answers(asker: Asker, answers: Sequence[Answer]) -> None:
    """Pass answers to an asker, all at once if it supports that."""
    if isinstance(asker, BulkAsker):
        asker.observe_all(answers)
        return
    for answer in answers:
        asker.observe(answer)


class Strategy(Protocol):
    """A way of choosing questions."""

    name: str

    def start(self, preparation: "Preparation") -> Asker:
        """Return a fresh asker; costly results are cached in the preparation."""
        ...


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
        return np.concatenate([rows, np.setdiff1d(np.concatenate([_NO_ROWS, *members]), rows)])


def _proposal(
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
    if "besides" in signature(asker.propose).parameters:
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


class Proposer:
    """The current asker of a session, replaced by a fresh one when an answer no longer holds.

    Parameters
    ----------
    strategy : Strategy
        Starts askers.
    preparation : Preparation
        The table.
    """

    def __init__(self, strategy: Strategy, preparation: "Preparation") -> None:
        self._strategy = strategy
        self._preparation = preparation
        self._asker: Asker | None = None
        self._starting = Lock()

    def prepare(self) -> Asker:
        """Return a fresh asker; a call during another one waits for the costly part."""
        with self._starting:
            return self._strategy.start(self._preparation)

    def observe(self, new_answers: Sequence[Answer] | None) -> None:
        """Pass on new answers; None means that an earlier answer no longer holds."""
        asker, self._asker = self._asker, None
        if new_answers is not None and asker is not None:
            observe_answers(asker, new_answers)
            self._asker = asker

    def propose(
        self, state: "SessionState", open_questions: OpenQuestions, expert: str | None
    ) -> Question | None:
        """Return a question outside other experts' clusters, else outside their rows."""
        if len(state.entries) == state.n_rows:
            return None
        if self._asker is None:
            asker = self.prepare()
            observe_answers(asker, state.answers())
            self._asker = asker
        for besides in (open_questions.clusters_besides, open_questions.rows_besides):
            found = _proposal(self._asker, besides(expert), state.entries, state.n_rows)
            if found is not None:
                return found
        return None
