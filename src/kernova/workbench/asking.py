"""Questions, answers and corrections of several experts at once.

Every request is recorded in the event log before it is acknowledged, so no answer is lost. A
request that is repeated with the same key is recorded once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from kernova.discover.events import Record
from kernova.discover.names import category_name, expert_name
from kernova.discover.session import AskedQuestion
from kernova.errors import InputError
from kernova.workbench.cards import Cards, QuestionShown
from kernova.workbench.messages import Subject, entry_message, label_of, rows_of, subject_of
from kernova.workbench.shared import (
    BackgroundJob,
    Presence,
    SharedState,
    preparation_failed,
    still_preparing,
)

Members = Literal["all"] | list[int] | None

_SELECTED = "You selected this row."
_REOPENED = "This row was open before the server restarted, or its reservation expired."
_NOTHING_LEFT = "No questions are left: every row has been asked or labelled."
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


@dataclass(frozen=True)
class SavedReply(QuestionReply):
    """The entry that was saved and the next question, null while the table is being prepared."""

    saved: Saved
    version: int
    repeated: Annotated[bool, "Whether the request had been saved under its key before."]


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
        Until it is ready, answers are accepted but no questions are asked.
    """

    def __init__(
        self,
        shared: SharedState,
        cards: Cards,
        presence: Presence,
        preparation: BackgroundJob[None],
    ) -> None:
        self._shared = shared
        self._cards = cards
        self._presence = presence
        self._preparation = preparation

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

    def _asked(self, expert: str | None) -> QuestionReply:
        question = self._shared.session.next_question(expert)
        if question is not None:
            return QuestionReply(self._cards.question(question), None)
        is_over = not self._shared.session.open_questions_
        return QuestionReply(None, _NOTHING_LEFT if is_over else _ALL_RESERVED)

    def _open(self, expert: str | None, row: int, reason: str) -> AskedQuestion:
        session = self._shared.session
        mine = session.open_questions_.get(expert)
        if mine is not None and mine.row == row:
            return mine
        return session.ask_row(session.ids_[row], reason, expert=expert)

    def _is_ready(self) -> bool:
        return self._preparation.state == "ready"

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
        self, expert: str | None, row: int, label: str, members: Members, key: str | None
    ) -> SavedReply:
        """Record an answer, also if the question has been closed or reassigned meanwhile."""
        expert = expert_name(expert)
        others = members if isinstance(members, list) else []
        self._shared.check_rows([row, *others])

        def write() -> int:
            session = self._shared.session
            ids = session.ids_
            if not self._has_open(expert, row, needs_members=members == "all"):
                open_others = [one for one in others if session.label_of(one) is None]
                named = [ids[one] for one in dict.fromkeys([row, *open_others])]
                if len(named) == 1:
                    return session.label_row(ids[row], label, expert=expert, key=key)
                return session.label_rows(named, label, expert=expert, key=key)
            if members is None:
                return session.answer(label, expert=expert, key=key)
            rows = None if members == "all" else [ids[one] for one in others]
            return session.name_cluster(label, rows, expert=expert, key=key)

        return self.record(expert, key, Subject(row, category_name(label)), write)

    def skip(self, expert: str | None, row: int, key: str | None) -> SavedReply:
        """Record that a question is skipped."""
        expert = expert_name(expert)
        self._shared.check_rows([row])

        def write() -> int:
            if not self._has_open(expert, row):
                row_id = self._shared.session.ids_[row]
                raise InputError(
                    f"The row {row_id!r} is no longer open: it has been labelled meanwhile."
                )
            return self._shared.session.skip(expert=expert, key=key)

        return self.record(expert, key, Subject(row), write)

    def record(
        self, expert: str | None, key: str | None, subject: Subject, write: Callable[[], int]
    ) -> SavedReply:
        """Record an event unless its key is recorded already; return it with the next question."""
        expert = expert_name(expert)
        with self._shared.lock:
            self._presence.mark_active(expert)
            session = self._shared.session
            number = None if key is None else session.number_of_key(key)
            is_repeated = number is not None
            if number is not None:
                _check_same(session.records_[number - 1], expert, subject)
            before = session.category_sizes_
            if number is None:
                number = write()
                self._shared.changed()
            self._release_expired()
            new = set() if is_repeated else session.category_sizes_.keys() - before.keys()
            saved = self._saved(number, new)
            asked = self._asked(expert) if self._is_ready() else QuestionReply(None, None)
            version = self._shared.version
        return SavedReply(asked.question, asked.message, saved, version, is_repeated)

    def _saved(self, number: int, new_categories: set[str]) -> Saved:
        session = self._shared.session
        records = session.records_
        event = records[number - 1].event
        return Saved(
            number=number,
            words=entry_message(event, session.ids_, records),
            is_new=label_of(event) in new_categories,
            n_rows=len(rows_of(event)),
        )

    def _has_open(self, expert: str | None, row: int, *, needs_members: bool = False) -> bool:
        """Open the row for this expert if possible; return whether it is open."""
        session = self._shared.session
        mine = session.open_questions_.get(expert)
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


def _check_same(record: Record, expert: str | None, subject: Subject) -> None:
    """Reject a key that belongs to another request, which would otherwise be lost."""
    if (record.by, subject_of(record.event)) != (expert, subject):
        raise InputError(
            f"The key {record.key!r} has been used for another request. Use a new key for every "
            "request, for example a UUID."
        )


class Corrections:
    """Events other than answers; each is recorded and can be undone.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    questions : Questions
        Records events and returns the next question.
    """

    def __init__(self, shared: SharedState, questions: Questions) -> None:
        self._shared = shared
        self._questions = questions

    def undo(self, expert: str | None, key: str | None) -> SavedReply:
        """Undo the expert's last entry."""
        session = self._shared.session
        return self._questions.record(
            expert, key, Subject(), lambda: session.undo(expert=expert, key=key)
        )

    def change(
        self,
        expert: str | None,
        question: int,
        label: str | None,
        key: str | None,
        row: int | None = None,
    ) -> SavedReply:
        """Change the answer to an earlier question; None marks it as skipped.

        Questions are renumbered when an earlier answer is undone. Where ``row`` is given, the
        question must still be about that row.
        """
        session = self._shared.session

        def write() -> int:
            asked = session.asked_[question - 1 : question]
            if row is not None and asked and asked != [row]:
                raise InputError(
                    f"Question {question} is about another row now, because an earlier answer has "
                    "been undone. Find its new number in the history."
                )
            return session.change(question, label, expert=expert, key=key)

        name = None if label is None else category_name(label)
        return self._questions.record(expert, key, Subject(None, name), write)

    def label(self, expert: str | None, rows: list[int], label: str, key: str | None) -> SavedReply:
        """Label rows that were not asked about, in one step."""
        session = self._shared.session
        self._shared.check_rows(rows)
        ids = [session.ids_[row] for row in dict.fromkeys(rows)]

        def write() -> int:
            # A single row is recorded by its id, so that the history can show it.
            if len(ids) == 1:
                return session.label_row(ids[0], label, expert=expert, key=key)
            return session.label_rows(ids, label, expert=expert, key=key)

        subject = Subject(next(iter(rows), None), category_name(label))
        return self._questions.record(expert, key, subject, write)

    def rename(self, expert: str | None, old: str, new: str, key: str | None) -> SavedReply:
        """Rename a category."""
        session = self._shared.session
        return self._of_category(
            expert, key, new, lambda: session.rename(old, new, expert=expert, key=key)
        )

    def merge(
        self, expert: str | None, into: str, others: list[str], key: str | None
    ) -> SavedReply:
        """Merge several categories into one."""
        session = self._shared.session
        return self._of_category(
            expert, key, into, lambda: session.merge(into, *others, expert=expert, key=key)
        )

    def delete(self, expert: str | None, name: str, key: str | None) -> SavedReply:
        """Delete a category; its rows become open again, or count as skipped if they were asked."""
        session = self._shared.session
        return self._of_category(
            expert, key, name, lambda: session.delete(name, expert=expert, key=key)
        )

    def settle(self, expert: str | None, row: int, label: str, key: str | None) -> SavedReply:
        """Settle a disagreement about a row."""
        session = self._shared.session
        self._shared.check_rows([row])
        return self._questions.record(
            expert,
            key,
            Subject(row, category_name(label)),
            lambda: session.settle(session.ids_[row], label, expert=expert, key=key),
        )

    def _of_category(
        self, expert: str | None, key: str | None, name: str, write: Callable[[], int]
    ) -> SavedReply:
        return self._questions.record(expert, key, Subject(None, category_name(name)), write)
