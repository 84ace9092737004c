"""Which questions are open, and at whom: each expert has one at most, and no row is open twice."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, cast

import numpy as np

from kernova.discover.questions import Asker, Question, Rows, SharedAsker

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
    >>> from kernova.discover.open_questions import AskedQuestion, OpenQuestions
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

    def rows_besides(self, expert: str | None) -> Rows:
        """Give the rows that are open at others."""
        rows = [one.row for who, one in self.by_expert.items() if who != expert]
        return np.array(rows, dtype=np.intp)

    def clusters_besides(self, expert: str | None) -> Rows:
        """Give the rows that are open at others, and then those of their clusters."""
        rows = self.rows_besides(expert)
        members = [one.members for who, one in self.by_expert.items() if who != expert]
        return np.concatenate([rows, np.setdiff1d(np.concatenate([_NO_ROWS, *members]), rows)])


def proposal(asker: Asker, besides: Rows, heard: Collection[int], n_rows: int) -> Question | None:
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
