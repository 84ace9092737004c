"""First questions about a large table, asked from a sample of its rows.

To prepare a million rows takes a minute. The first questions therefore come from a strategy that is
started on a sample, and say so. How many they are depends on the size of the table alone, so that a
session asks what a simulation asks. Only an expert who is faster than a preparation in another
thread gets more of them: no question waits.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from threading import Lock
from typing import Final

import numpy as np

from kernova.discover.preparation import Preparation, cached_values
from kernova.discover.questions import (
    Answer,
    Asker,
    CopiedAsker,
    PlannedStrategy,
    Question,
    RevisedAsker,
    Strategy,
    observe_answers,
    proposal_besides,
)
from kernova.typing import Indices

# Larger tables take more than a second or two to prepare.
LARGE_TABLE: Final = 50_000
SAMPLE_ROWS: Final = 10_000
# By the time so many questions are answered, the rest is prepared: one per second or two. An expert
# who is faster gets further ones from the sample.
_ROWS_PER_QUESTION: Final = 100_000
_MOST_QUESTIONS: Final = 20


def n_sampled_questions(strategy: Strategy, n_rows: int) -> int:
    """Return how many questions about a table come from a sample of its rows.

    None do if the table is small, if the strategy does not say what it needs or needs nothing, or
    if it asks in a fixed order.

    Examples
    --------
    >>> from kernova.discover.sampling import n_sampled_questions
    >>> from kernova.discover.strategies import strategy_named
    >>> n_sampled_questions(strategy_named("random"), 1_000_000)
    0
    """
    needs = strategy.needs if isinstance(strategy, PlannedStrategy) else ()
    if n_rows <= LARGE_TABLE or not needs or hasattr(strategy, "first_rows"):
        return 0
    return min(-(-n_rows // _ROWS_PER_QUESTION), _MOST_QUESTIONS)


class SampledFirst:
    """A strategy whose first questions about a large table come from a sample of the rows.

    Parameters
    ----------
    strategy : Strategy
        Starts askers on the sample, and on all rows.
    """

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.name = strategy.name
        self._is_prepared = False
        self._is_preparing = False
        self._made: Asker | None = None  # by the preparation, for the first question that needs it
        self._starting = Lock()

    def start(self, preparation: Preparation) -> Asker:
        """Return a fresh asker; for a large table it starts when it is asked."""
        n_sampled = n_sampled_questions(self.strategy, preparation.n_rows)
        if n_sampled == 0:
            return self.strategy.start(preparation)
        return SampledAsker(self, preparation, n_sampled)

    def start_on_all(self, preparation: Preparation) -> Asker:
        """Return a fresh asker for all rows; one thread prepares, and others wait for it."""
        with self._starting:
            made, self._made = self._made, None
            return self.strategy.start(preparation) if made is None else made

    @contextmanager
    def preparing(self, preparation: Preparation) -> Iterator[None]:
        """Let all questions that are asked meanwhile come from a sample, if the table is large."""
        is_large = n_sampled_questions(self.strategy, preparation.n_rows) > 0
        # What was restored from a file is ready before anyone could ask.
        self._is_preparing = is_large and not cached_values(preparation)
        try:
            yield
        finally:
            self._is_preparing = False

    @property
    def is_preparing(self) -> bool:
        """Whether questions come from a sample, because another thread prepares the rest."""
        return self._is_preparing

    def prepare(self, preparation: Preparation) -> None:
        """Prepare all rows of a table whose first questions came from a sample."""
        if n_sampled_questions(self.strategy, preparation.n_rows):
            with self._starting:
                self._made = self.strategy.start(preparation)
        self._is_prepared = True

    def is_sampled(self, preparation: Preparation, answers: Sequence[Answer]) -> bool:
        """Return whether the question after these answers comes from a sample."""
        n_asked = sum(answer.is_asked for answer in answers)
        return n_asked < n_sampled_questions(self.strategy, preparation.n_rows)

    def is_ready(self, preparation: Preparation, n_asked: int) -> bool:
        """Return whether the question after so many others need not wait for the preparation."""
        n_sampled = n_sampled_questions(self.strategy, preparation.n_rows)
        return self._is_prepared or self._is_preparing or n_asked < n_sampled


class SampledAsker:
    """One run: an asker for the sample first, and one for all rows after it.

    Parameters
    ----------
    strategy : SampledFirst
        Starts both.
    preparation : Preparation
        All rows.
    n_sampled : int
        Number of questions from the sample.
    """

    def __init__(self, strategy: SampledFirst, preparation: Preparation, n_sampled: int) -> None:
        self._strategy = strategy
        self._preparation = preparation
        self._n_sampled = n_sampled
        self._answers: list[Answer] = []
        self._seen: set[int] = set()
        self._n_asked = 0
        self._of_sample: Asker | None = None
        self._of_all: Asker | None = None

    @property
    def _is_sampled(self) -> bool:
        """Whether the next question comes from the sample."""
        is_early = self._n_asked < self._n_sampled
        return is_early or (self._of_all is None and self._strategy.is_preparing)

    def prepare(self) -> None:
        """Start the asker of the next question."""
        if self._is_sampled:
            self._sample_asker()
        else:
            self._asker()

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        excluded = np.fromiter(besides, dtype=np.intp, count=len(besides))
        if self._is_sampled:
            question = self._sampled_question(excluded)
            if question is not None:
                return question
        return proposal_besides(self._asker(), excluded, self._seen, self._preparation.n_rows)

    def observe(self, answer: Answer) -> None:
        """Use one answer, for the proposed row or for any other open row."""
        self.observe_all([answer])

    def observe_all(self, answers: Sequence[Answer]) -> None:
        """Use many answers: the same as observing one by one."""
        self._note(answers)
        if self._of_all is not None:
            observe_answers(self._of_all, answers)
        if self._of_sample is not None:
            observe_answers(self._of_sample, self._answers_in_sample(answers))
        if not self._is_sampled:
            self._of_sample = None

    def copy(self) -> "SampledAsker":
        """Return an asker in the same state, which does not follow this one."""
        other = copy(self)
        other._answers, other._seen = list(self._answers), set(self._seen)
        other._of_sample = _copied(self._of_sample)
        other._of_all = _copied(self._of_all)
        return other

    def revised(self, answers: Sequence[Answer]) -> "SampledAsker | None":
        """Return an asker that has observed other answers; None if a fresh one is as fast."""
        of_all = self._of_all
        if not isinstance(of_all, RevisedAsker):
            return None
        revised = of_all.revised(answers)
        if revised is None:
            return None
        other = SampledAsker(self._strategy, self._preparation, self._n_sampled)
        other._note(answers)
        other._of_all = revised
        return other

    def _note(self, answers: Sequence[Answer]) -> None:
        new = {answer.row: answer for answer in reversed(answers) if answer.row not in self._seen}
        self._answers.extend(answers)
        self._seen.update(new)
        self._n_asked += sum(answer.is_asked for answer in new.values())

    def _asker(self) -> Asker:
        """Return the asker for all rows, which has observed all answers."""
        if self._of_all is None:
            asker = self._strategy.start_on_all(self._preparation)
            observe_answers(asker, self._answers)
            self._of_all = asker
        return self._of_all

    def _sample_asker(self) -> Asker:
        if self._of_sample is None:
            asker = self._strategy.strategy.start(self._preparation.sample(SAMPLE_ROWS).preparation)
            observe_answers(asker, self._answers_in_sample(self._answers))
            self._of_sample = asker
        return self._of_sample

    def _sampled_question(self, excluded: Indices) -> Question | None:
        """Return the sample's question, with the rows numbered as in the table."""
        rows = self._preparation.sample(SAMPLE_ROWS).rows
        closed = {answer.row for answer in self._answers_in_sample(self._answers)}
        inside = _places(rows, excluded)
        question = proposal_besides(self._sample_asker(), inside[inside >= 0], closed, len(rows))
        if question is None:
            return None
        return replace(
            question,
            row=int(rows[question.row]),
            members=rows[question.members],
            reason=f"{question.reason} Asked from a sample of {len(rows):,} of "
            f"{self._preparation.n_rows:,} rows, while the rest is prepared.",
            alternatives=tuple(rows[list(question.alternatives)].tolist()),
        )

    def _answers_in_sample(self, answers: Sequence[Answer]) -> list[Answer]:
        rows = self._preparation.sample(SAMPLE_ROWS).rows
        asked = np.array([answer.row for answer in answers], dtype=np.intp)
        return [
            answer._replace(row=place)
            for answer, place in zip(answers, _places(rows, asked).tolist(), strict=True)
            if place >= 0
        ]


def _copied(asker: Asker | None) -> Asker | None:
    """Return a copy; None, which is started again when it is asked, where there can be none."""
    return asker.copy() if isinstance(asker, CopiedAsker) else None


def _places(rows: Indices, wanted: Indices) -> Indices:
    """Return the position of each wanted row among ascending ones; -1 where it is not."""
    places = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[places] == wanted, places, -1)
