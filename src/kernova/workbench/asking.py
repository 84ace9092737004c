"""Questions, answers and corrections of several experts at once.

Every request is recorded in the event log before it is acknowledged, so no answer is lost. A
request that is repeated with the same key is recorded once.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Literal, NamedTuple, TypedDict, TypeVar

from kernova.discover.events import Confidence, Event, Record
from kernova.discover.names import category_name, expert_name
from kernova.discover.session import AskedQuestion
from kernova.errors import InputError, NotSavedError, quoted
from kernova.workbench.cards import Cards, QuestionShown
from kernova.workbench.colleagues.overlap import REASON, Overlap
from kernova.workbench.messages import Subject, entry_message, rows_of, subject_of
from kernova.workbench.shared import (
    BackgroundJob,
    Presence,
    SharedState,
    preparation_failed,
    still_preparing,
)

Members = Literal["all"] | list[int] | None
Given = TypeVar("Given")
Result = TypeVar("Result")

_SELECTED = "You selected this row."
_REOPENED = "This row was open before the server restarted, or its reservation expired."
_NOTHING_LEFT = "No questions are left: every row has been asked or labelled."
_NOTHING_TO_COMPARE = "There is no row left to compare: all planned ones have enough opinions."
_ALL_RESERVED = "All remaining rows are being labelled by other experts."


@dataclass(frozen=True)
class QuestionReply:
    """The open question, or null with the reason why there is none."""

    question: QuestionShown | None
    message: str | None


@dataclass(frozen=True)
class Saved:
    """The log entry that is on disk now."""

    number: Annotated[int, "Its number in the log, counted from 1."]
    words: Annotated[str, "The entry as a sentence."]
    is_new: Annotated[bool, "Whether it added a new category."]
    n_rows: Annotated[int, "Number of rows that it labels."]
    warning: Annotated[str | None, "Where it is, if the project is no longer in its place."]


@dataclass(frozen=True)
class SavedReply(QuestionReply):
    """The entry that was saved and the next question, null while the table is being prepared."""

    saved: Saved
    version: int
    repeated: Annotated[bool, "Whether the request had been saved under its key before."]


@dataclass(frozen=True)
class Request:
    """A request to record an event, for :meth:`Questions.save`."""

    expert: str | None
    key: str | None
    subject: Subject
    write: Callable[[], int]  # records the event and returns its number
    is_alone: bool = False  # whether it must not share a write with others
    # Whether a recorded event is that of this request; by default, if they have one subject.
    is_same: Callable[[Event], bool] | None = None


class _How(TypedDict):
    """How an answer is recorded: the keywords that all methods of the session take."""

    confidence: Confidence | None
    expert: str | None
    key: str | None


class _Noted(NamedTuple):
    """A request that is recorded."""

    expert: str | None
    number: int
    is_new: bool
    is_repeated: bool


class Questions:
    """Questions to experts and their answers.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    cards : Cards
        Describes questions.
    presence : Presence
        The active experts.
    preparation : BackgroundJob
        Until it is ready, answers are accepted, and questions from a sample are asked.
    overlap : Overlap
        The rows that several experts are asked about.
    """

    def __init__(
        self,
        shared: SharedState,
        cards: Cards,
        presence: Presence,
        preparation: BackgroundJob[None],
        overlap: Overlap,
    ) -> None:
        self._shared = shared
        self._cards = cards
        self._presence = presence
        self._preparation = preparation
        self._overlap = overlap

    # --- asking ------------------------------------------------------------------------------

    def question(
        self, expert: str | None, row: int | None = None, reason: str = _SELECTED
    ) -> QuestionReply:
        """Return the expert's open question or the next one; with ``row``, one about that row."""
        if row is not None:
            self._shared.check_rows([row])
        else:
            self._check_ready()
        with self._shared.lock:
            self._presence.mark_active(expert)
            self._release_expired()
            if row is not None:
                self._open(expert, row, reason)
            return self._asked(expert)

    def comparison(self, expert: str | None) -> QuestionReply:
        """Return a question about a row that another expert has labelled, in place of the open one.

        The open one stays if it is such a question already.
        """
        with self._shared.lock:
            self._presence.mark_active(expert)
            self._release_expired()
            mine = self._shared.session.open_questions_.get(expert)
            is_open = mine is not None and mine.is_blind
            if mine is None or not (is_open and self._overlap.can_ask(expert, mine.row)):
                row = self._overlap.next_row(expert)
                if row is None:
                    return QuestionReply(None, _NOTHING_TO_COMPARE)
                self._open_blind(expert, row)
            return self._asked(expert)

    def _open_blind(self, expert: str | None, row: int) -> AskedQuestion:
        session = self._shared.session
        return session.ask_row(session.ids_[row], REASON, expert=expert, is_blind=True)

    def _next(self, expert: str | None) -> AskedQuestion | None:
        """Return the open question of an expert, one for comparison if it is time, or the next."""
        session = self._shared.session
        if expert not in session.open_questions_:
            row = self._overlap.due_row(expert)
            if row is not None:
                return self._open_blind(expert, row)
        question = session.next_question(expert)
        if question is None:
            row = self._overlap.next_row(expert)
            return None if row is None else self._open_blind(expert, row)
        return question

    def _asked(self, expert: str | None) -> QuestionReply:
        question = self._next(expert)
        if question is not None:
            return QuestionReply(self._cards.question(question), None)
        is_over = not self._shared.session.open_questions_
        sentence = _NOTHING_LEFT if is_over else _ALL_RESERVED
        return QuestionReply(None, self._shared.discovery.noun.in_sentence(sentence))

    def _open(self, expert: str | None, row: int, reason: str) -> AskedQuestion:
        session = self._shared.session
        mine = session.open_questions_.get(expert)
        if mine is not None and mine.row == row:
            return mine
        return session.ask_row(session.ids_[row], reason, expert=expert)

    def _is_ready(self) -> bool:
        return self._shared.is_ready(self._preparation)

    def _check_ready(self) -> None:
        if self._preparation.state == "failed":
            raise preparation_failed(self._preparation.message)
        if not self._is_ready():
            raise still_preparing()

    def _release_expired(self) -> None:
        """Release the open questions of inactive experts."""
        session = self._shared.session
        for expert in self._presence.expired(list(session.open_questions_)):
            session.release(expert)

    # --- answering ---------------------------------------------------------------------------

    def answer(
        self,
        expert: str | None,
        row: int,
        label: str,
        members: Members,
        key: str | None,
        confidence: Confidence | None = None,
    ) -> Request:
        """Record an answer, also if the question has been closed or reassigned meanwhile."""
        expert = expert_name(expert)
        others = members if isinstance(members, list) else []
        self._shared.check_rows([row, *others])

        def write() -> int:
            session = self._shared.session
            ids, how = session.ids_, _How(confidence=confidence, expert=expert, key=key)
            if not self._has_open(expert, row, needs_members=members == "all"):
                open_others = [one for one in others if session.label_of(one) is None]
                named = [ids[one] for one in dict.fromkeys([row, *open_others])]
                if len(named) == 1:
                    return session.label_row(ids[row], label, **how)
                return session.label_rows(named, label, **how)
            if members is None:
                return session.answer(label, **how)
            rows = None if members == "all" else [ids[one] for one in others]
            return session.name_cluster(label, rows, **how)

        return Request(expert, key, Subject(row, category_name(label)), write)

    def skip(
        self, expert: str | None, row: int, key: str | None, *, unsure: bool = False
    ) -> Request:
        """Record that a question is skipped, or that the expert is unsure about its row."""
        expert = expert_name(expert)
        self._shared.check_rows([row])

        def write() -> int:
            if not self._has_open(expert, row):
                row_id = self._shared.session.ids_[row]
                raise InputError(
                    f"The row {quoted(row_id)} is no longer open: it has been labelled meanwhile."
                )
            return self._shared.session.skip(unsure=unsure, expert=expert, key=key)

        return Request(expert, key, Subject(row), write)

    def save(self, request: Request) -> SavedReply:
        """Record an event unless its key is recorded already; return it with the next question."""
        outcomes: list[SavedReply | Exception] = []
        self.save_all([request], lambda _, outcome: outcomes.append(outcome))
        if isinstance(outcomes[0], Exception):
            raise outcomes[0]
        return outcomes[0]

    def save_all(
        self,
        requests: Sequence[Request],
        deliver: Callable[[int, SavedReply | Exception], None],
    ) -> None:
        """Record several requests, with one write for those that come one after another.

        Parameters
        ----------
        requests : sequence of Request
            A request that is rejected does not affect the others; a write that fails is the outcome
            of all requests that shared it.
        deliver : callable
            Called with the position and the outcome of each request, in order, when all are on
            disk.
        """
        with self._shared.lock:
            noted = [one for batch in _batches(requests) for one in self._noted(batch)]
            self._release_expired()
            for position, one in enumerate(noted):
                deliver(position, _outcome(self._reply, one) if isinstance(one, _Noted) else one)

    def _noted(self, requests: Sequence[Request]) -> list[_Noted | Exception]:
        """Record requests with one write; on return they are on disk."""
        noted: list[_Noted | Exception] = []
        try:
            with self._shared.session.batch():
                noted.extend(_outcome(self._note, request) for request in requests)
        except NotSavedError as error:
            return [error if isinstance(one, _Noted) else one for one in noted]
        return noted

    def _note(self, request: Request) -> _Noted:
        self._presence.mark_active(request.expert)
        results = self._shared.session.results_
        label = request.subject.label
        number = None if request.key is None else results.number_of_key(request.key)
        if number is not None:
            _check_same(results.record(number), request)
            return _Noted(request.expert, number, is_new=False, is_repeated=True)
        is_known = label is None or results.has_category(label)
        number = request.write()
        self._shared.changed()
        is_new = not is_known and label is not None and results.has_category(label)
        return _Noted(request.expert, number, is_new, is_repeated=False)

    def _reply(self, noted: _Noted) -> SavedReply:
        saved = self._saved(noted.number, is_new=noted.is_new)
        asked = self._asked(noted.expert) if self._is_ready() else QuestionReply(None, None)
        version = self._shared.version
        return SavedReply(asked.question, asked.message, saved, version, noted.is_repeated)

    def _saved(self, number: int, *, is_new: bool) -> Saved:
        session = self._shared.session
        record_of = session.results_.record
        event = record_of(number).event
        return Saved(
            number=number,
            words=entry_message(event, session.ids_, record_of, self._shared.discovery.noun),
            is_new=is_new,
            n_rows=len(rows_of(event)),
            warning=self._shared.discovery.warning,
        )

    def _has_open(self, expert: str | None, row: int, *, needs_members: bool = False) -> bool:
        """Open the row for this expert if possible; return whether it is open."""
        session = self._shared.session
        mine = session.open_questions_.get(expert)
        if mine is None and self._overlap.can_ask(expert, row):
            with suppress(InputError):  # open at another expert
                mine = self._open_blind(expert, row)
        if mine is None and self._is_ready():
            mine = session.next_question(expert)  # the same as before a restart of the server
        if mine is not None and mine.row == row:
            return True
        if needs_members:
            self._check_ready()
        try:
            self._open(expert, row, _REOPENED)
        except InputError:
            return False  # labelled meanwhile, or open at another expert: recorded as an opinion
        return True


def _batches(requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
    """Return requests in parts that may share a write."""
    for is_alone, some in groupby(requests, key=lambda request: request.is_alone):
        if is_alone:
            yield from ([one] for one in some)
        else:
            yield list(some)


def _outcome(work: Callable[[Given], Result], given: Given) -> Result | Exception:
    """Return the result of a call, or the error that it raised."""
    try:
        return work(given)
    except Exception as error:  # noqa: BLE001 - raised again for the request that it belongs to
        return error


def _check_same(record: Record, request: Request) -> None:
    """Reject a key that belongs to another request, which would otherwise be lost."""
    if request.is_same is None:
        is_same = subject_of(record.event) == request.subject
    else:
        is_same = request.is_same(record.event)
    if not is_same or record.by != request.expert:
        raise InputError(
            f"The key {quoted(record.key)} has been used for another request. Use a new key for "
            "every request, for example a UUID."
        )


class Corrections:
    """Requests for events other than answers; each is recorded and can be undone.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    """

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared

    def undo(self, expert: str | None, key: str | None) -> Request:
        """Undo the expert's last entry."""
        session = self._shared.session
        expert = expert_name(expert)
        # What it depends on must be on disk before.
        return Request(
            expert, key, Subject(), lambda: session.undo(expert=expert, key=key), is_alone=True
        )

    def change(
        self,
        expert: str | None,
        question: int,
        label: str | None,
        key: str | None,
        row: int | None = None,
    ) -> Request:
        """Change the answer to an earlier question; None marks it as skipped.

        Questions are renumbered when an earlier answer is undone. Where ``row`` is given, the
        question must still be about that row.
        """
        session = self._shared.session

        def write() -> int:
            asked = session.results_.asked_row(question)
            if row is not None and asked not in (None, row):
                raise InputError(
                    f"Question {question} is about another row now, because an earlier answer has "
                    "been undone. Find its new number in the history."
                )
            return session.change(question, label, expert=expert, key=key)

        name = None if label is None else category_name(label)
        return _request(expert, key, Subject(None, name), write)

    def label(
        self,
        expert: str | None,
        rows: list[int],
        label: str,
        key: str | None,
        confidence: Confidence | None = None,
    ) -> Request:
        """Label rows that were not asked about, in one step."""
        session = self._shared.session
        self._shared.check_rows(rows)
        ids = [session.ids_[row] for row in dict.fromkeys(rows)]

        def write() -> int:
            how = _How(confidence=confidence, expert=expert, key=key)
            # A single row is recorded by its id, so that the history can show it.
            if len(ids) == 1:
                return session.label_row(ids[0], label, **how)
            return session.label_rows(ids, label, **how)

        subject = Subject(next(iter(rows), None), category_name(label))
        return _request(expert, key, subject, write)

    def rename(self, expert: str | None, old: str, new: str, key: str | None) -> Request:
        """Rename a category."""
        session = self._shared.session
        return self._of_category(
            expert, key, new, lambda: session.rename(old, new, expert=expert, key=key)
        )

    def merge(self, expert: str | None, into: str, others: list[str], key: str | None) -> Request:
        """Merge several categories into one."""
        session = self._shared.session
        return self._of_category(
            expert, key, into, lambda: session.merge(into, *others, expert=expert, key=key)
        )

    def delete(self, expert: str | None, name: str, key: str | None) -> Request:
        """Delete a category; its rows become open again, or count as skipped if they were asked."""
        session = self._shared.session
        return self._of_category(
            expert, key, name, lambda: session.delete(name, expert=expert, key=key)
        )

    def settle(self, expert: str | None, row: int, label: str, key: str | None) -> Request:
        """Settle a disagreement about a row."""
        session = self._shared.session
        self._shared.check_rows([row])
        return _request(
            expert,
            key,
            Subject(row, category_name(label)),
            lambda: session.settle(session.ids_[row], label, expert=expert, key=key),
        )

    def plan_overlap(
        self, expert: str | None, fraction: float, experts: int, key: str | None
    ) -> Request:
        """Plan that several experts are asked about a fraction of the rows."""
        review = self._shared.session.review
        return _request(
            expert,
            key,
            Subject(),
            lambda: review.plan_overlap(fraction, experts, expert=expert, key=key),
        )

    def _of_category(
        self, expert: str | None, key: str | None, name: str, write: Callable[[], int]
    ) -> Request:
        return _request(expert, key, Subject(None, category_name(name)), write)


def _request(
    expert: str | None, key: str | None, subject: Subject, write: Callable[[], int]
) -> Request:
    return Request(expert_name(expert), key, subject, write)
