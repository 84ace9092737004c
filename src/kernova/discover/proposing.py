"""Proposer of a session: the current asker, replaced when an answer no longer holds."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

from kernova.discover.questions import (
    Answer,
    AskedQuestion,
    Asker,
    CopiedAsker,
    OpenQuestions,
    Question,
    RevisedAsker,
    Strategy,
    observe_answers,
    proposal_besides,
)
from kernova.discover.sampling import SampledAsker, SampledFirst
from kernova.errors import InputError, quoted

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation
    from kernova.discover.state import SessionState

# An asker is copied after so many answers, and after so many more.
_COPY_EVERY: Final = (64, 4096)
# To revise an asker takes as long as to observe about so many answers.
_MOST_REPLAYED: Final = 256


class _Run:
    """An asker, the answers it has observed, and copies of it from before the latest of them."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self._is_copied = isinstance(asker, CopiedAsker)
        self.observed: list[Answer] = []
        self._copies: dict[int, Asker] = {}  # by the number of answers

    def observe(self, answers: Sequence[Answer]) -> None:
        """Pass on answers; on the way, make the copies that are wanted at their end."""
        n_before, end = len(self.observed), len(self.observed) + len(answers)
        latest = [end - end % every for every in _COPY_EVERY]
        wanted = {*latest, *(one - every for one, every in zip(latest, _COPY_EVERY, strict=True))}
        for mark in (*sorted(one for one in wanted if n_before < one < end), end):
            some = answers[len(self.observed) - n_before : mark - n_before]
            observe_answers(self.asker, some)
            self.observed.extend(some)
            if mark in wanted and self._is_copied:
                self._copies[mark] = cast(CopiedAsker, self.asker).copy()
        self._copies = {mark: one for mark, one in self._copies.items() if mark in wanted}

    def back_to(self, n_answers: int) -> "_Run | None":
        """Return a run that has observed at most the first answers; None if there is no copy."""
        kept = {mark: one for mark, one in self._copies.items() if mark <= n_answers}
        if not kept:
            return None
        mark = max(kept)
        earlier = _Run(cast(CopiedAsker, kept[mark]).copy())
        earlier.observed, earlier._copies = self.observed[:mark], kept
        return earlier

    def revised(self, answers: list[Answer]) -> "_Run | None":
        """Return a run that has observed other answers, if the asker can revise its own."""
        asker = self.asker.revised(answers) if isinstance(self.asker, RevisedAsker) else None
        if asker is None:
            return None
        run = _Run(asker)
        run.observed = list(answers)
        return run


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
        self._strategy = SampledFirst(strategy)
        self._preparation = preparation
        self._run: _Run | None = None
        self._is_behind = False  # whether answers were changed, or not passed on
        self._starting = Lock()

    def prepare(self, answers: Sequence[Answer], *, sample_only: bool = False) -> None:
        """Start an asker, let it observe answers, and prepare what later questions need.

        It may run in a thread of its own; :meth:`propose` waits for the start, and passes on what
        has changed meanwhile. Until all rows of a large table are prepared, questions come from a
        sample of them. With ``sample_only``, it starts an asker only if the next question
        comes from a sample of the rows.
        """
        if sample_only:
            if self._strategy.is_sampled(self._preparation, answers):
                self._start(answers)
            return
        with self._strategy.preparing(self._preparation):
            self._start(answers)
            self._strategy.prepare(self._preparation)

    def _start(self, answers: Sequence[Answer]) -> None:
        with self._starting:
            if self._run is None:
                run = self._new_run(answers)
                if isinstance(run.asker, SampledAsker):
                    run.asker.prepare()
                self._run = run

    def is_ready(self, n_asked: int) -> bool:
        """Return whether a question can be proposed without waiting for the preparation."""
        return self._run is not None and self._strategy.is_ready(self._preparation, n_asked)

    def observe(self, new_answers: Sequence[Answer] | None) -> None:
        """Pass on new answers; None means that an earlier answer no longer holds."""
        if self._run is None or new_answers is None or self._is_behind:
            self._is_behind = True
        else:
            self._run.observe(new_answers)

    def propose(
        self, state: "SessionState", open_questions: OpenQuestions, expert: str | None
    ) -> Question | None:
        """Return a question outside other experts' clusters, else outside their rows."""
        if len(state.entries) == state.n_rows:
            return None
        with self._starting:
            asker = self._up_to_date(state)
        for besides in (open_questions.clusters_besides, open_questions.rows_besides):
            found = proposal_besides(asker, besides(expert), state.entries, state.n_rows)
            if found is not None:
                return found
        return None

    def _up_to_date(self, state: "SessionState") -> Asker:
        run = self._run
        if run is None or self._is_behind:
            # Until it has succeeded, a run that was interrupted is not used.
            self._run, answers = None, state.answers()
            if run is not None:
                run = self._run_before(run, answers)
            if run is None:
                run = self._new_run(answers)
            else:
                run.observe(answers[len(run.observed) :])
            self._run, self._is_behind = run, False
        return run.asker

    def _run_before(self, run: _Run, answers: list[Answer]) -> _Run | None:
        """Return a run that has observed a beginning of the answers, the longest at hand."""
        pairs = enumerate(zip(run.observed, answers, strict=False))
        n_common = min(len(run.observed), len(answers))
        n_same = next((which for which, (one, other) in pairs if one != other), n_common)
        if n_same == len(run.observed):
            return run
        earlier = run.back_to(n_same)
        if earlier is not None and len(answers) - len(earlier.observed) <= _MOST_REPLAYED:
            return earlier
        return run.revised(answers) or earlier

    def _new_run(self, answers: Sequence[Answer]) -> _Run:
        run = _Run(self._strategy.start(self._preparation))
        run.observe(answers)
        return run


def check_askable(
    row: int,
    row_id: object,
    expert: str | None,
    state: "SessionState",
    open_questions: OpenQuestions,
    *,
    is_blind: bool,
) -> None:
    """Raise if an expert cannot be asked about a given row.

    Parameters
    ----------
    row, row_id
        The row, and its id for the message.
    expert : str or None
        Name of the expert.
    state : SessionState
        The labels and opinions so far.
    open_questions : OpenQuestions
        The questions that are open.
    is_blind : bool
        Whether a further opinion is asked for, of another expert than those who have one.
    """
    if is_blind and not state.opinions.is_only_by_others(row, expert):
        raise InputError(
            f"The row {quoted(row_id)} has no label by another expert, or has one by this one, so "
            "it is not asked for a further opinion."
        )
    if not is_blind and row in state.entries:
        raise InputError(
            f"The row {quoted(row_id)} is already labelled or skipped, so it is not asked again. "
            "Use label_row to change its label."
        )
    if any(holder != expert for holder in open_questions.holder_of(row)):
        raise InputError(
            f"The row {quoted(row_id)} is being labelled by another expert; choose another row."
        )


def is_current(question: AskedQuestion, expert: str | None, state: "SessionState") -> bool:
    """Return whether an expert's open question still makes sense, whatever was labelled since."""
    if question.is_blind:
        return state.opinions.is_only_by_others(question.row, expert)
    return question.row not in state.entries
