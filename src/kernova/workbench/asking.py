"""Asking and answering for several experts at once; an answer is never lost.

Corrections: what was said can be taken back or changed, and categories put in order.
"""

from collections.abc import Callable
from typing import Any, Literal

from kernova.discover.events import Record
from kernova.discover.names import category_name, expert_name
from kernova.discover.session import AskedQuestion
from kernova.errors import InputError
from kernova.workbench.cards import Cards
from kernova.workbench.messages import About, about, label_of, rows_of, said_words
from kernova.workbench.shared import BackgroundJob, Desk, Presence, never_prepared, not_prepared

Members = Literal["all"] | list[int] | None

_CHOSEN = "You chose this row yourself."
_AGAIN = "This row was open when the server was started anew, or for too long."
_NOTHING_LEFT = "There is nothing left to ask: every row was asked or named."
_OTHERS_HAVE_IT = "Every row that is left is open at another expert just now."


class Questions:
    """What experts are asked, and what they say.

    Parameters
    ----------
    desk : Desk
        The session.
    cards : Cards
        Describes questions.
    presence : Presence
        Who is there.
    preparation : BackgroundJob
        Before it is ready, answers are taken, but no question is given.
    """

    def __init__(
        self, desk: Desk, cards: Cards, presence: Presence, preparation: BackgroundJob[None]
    ) -> None:
        self._desk = desk
        self._cards = cards
        self._presence = presence
        self._preparation = preparation

    # --- asking ----------------------------------------------------------------------------

    def question(
        self, expert: str | None, row: int | None = None, reason: str = _CHOSEN
    ) -> dict[str, Any]:
        """Give the expert's open question, or another; or one about the row named."""
        if row is not None:
            self._desk.check_rows([row])
        else:
            self._check_ready()
        with self._desk.lock:
            self._presence.heard_of(expert)
            self._take_back()
            if row is not None:
                self._open(expert, row, reason)
            return self._asked(expert)

    def _asked(self, expert: str | None) -> dict[str, Any]:
        question = self._desk.session.next_question(expert)
        if question is not None:
            return {"question": self._cards.question(question), "message": None}
        is_over = not self._desk.session.open_questions_
        return {"question": None, "message": _NOTHING_LEFT if is_over else _OTHERS_HAVE_IT}

    def _open(self, expert: str | None, row: int, reason: str) -> AskedQuestion:
        session = self._desk.session
        mine = session.open_questions_.get(expert)
        if mine is not None and mine.row == row:
            return mine
        return session.ask_row(session.ids_[row], reason, expert=expert)

    def _is_ready(self) -> bool:
        return self._preparation.state == "ready"

    def _check_ready(self) -> None:
        if self._preparation.state == "failed":
            raise never_prepared(self._preparation.message)
        if not self._is_ready():
            raise not_prepared()

    def _take_back(self) -> None:
        """Give questions of experts who have gone to whoever comes next."""
        session = self._desk.session
        for expert in self._presence.gone(list(session.open_questions_)):
            session.release(expert)

    # --- answering -------------------------------------------------------------------------

    def answer(
        self, expert: str | None, row: int, label: str, members: Members, key: str | None
    ) -> dict[str, Any]:
        """Keep an answer; whatever became of the question meanwhile, nothing is lost."""
        expert = expert_name(expert)
        others = members if isinstance(members, list) else []
        self._desk.check_rows([row, *others])

        def say() -> int:
            session = self._desk.session
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

        return self.record(expert, key, About(row, category_name(label)), say)

    def skip(self, expert: str | None, row: int, key: str | None) -> dict[str, Any]:
        """Pass over a question."""
        expert = expert_name(expert)
        self._desk.check_rows([row])

        def say() -> int:
            if not self._has_open(expert, row):
                row_id = self._desk.session.ids_[row]
                raise InputError(f"The row {row_id!r} is no longer open: it was named meanwhile.")
            return self._desk.session.skip(expert=expert, key=key)

        return self.record(expert, key, About(row), say)

    def record(
        self, expert: str | None, key: str | None, said: About, say: Callable[[], int]
    ) -> dict[str, Any]:
        """Let something be said, unless it was said before under the same key; then ask on."""
        expert = expert_name(expert)
        with self._desk.lock:
            self._presence.heard_of(expert)
            session = self._desk.session
            number = None if key is None else session.number_of_key(key)
            is_repeated = number is not None
            if number is not None:
                _check_same(session.records_[number - 1], expert, said)
            before = session.category_sizes_
            if number is None:
                number = say()
                self._desk.changed()
            self._take_back()
            records = session.records_
            event = records[number - 1].event
            label = label_of(event)
            saved = {
                "number": number,
                "words": said_words(event, session.ids_, records),
                "is_new": not is_repeated
                and label in session.category_sizes_.keys() - before.keys(),
                "n_rows": len(rows_of(event)),
            }
            asked = self._asked(expert) if self._is_ready() else {"question": None, "message": None}
            version = self._desk.version
        return {"saved": saved, "version": version, "repeated": is_repeated, **asked}

    def _has_open(self, expert: str | None, row: int, *, needs_members: bool = False) -> bool:
        """See to it that the row is open at this expert, if that can be."""
        session = self._desk.session
        mine = session.open_questions_.get(expert)
        if mine is None and self._is_ready():
            mine = session.next_question(expert)  # as it was before the server was started anew
        if mine is not None and mine.row == row:
            return True
        if needs_members:
            self._check_ready()
        try:
            self._open(expert, row, _AGAIN)
        except InputError:
            return False  # named meanwhile, or open at another expert: kept as an opinion
        return True


def _check_same(record: Record, expert: str | None, said: About) -> None:
    """Refuse a key that stands for something else: to take it for a repetition would lose words."""
    if (record.by, about(record.event)) != (expert, said):
        raise InputError(
            f"The key {record.key!r} was used for something else before. Give every request a key "
            "of its own, for example a UUID."
        )


class Corrections:
    """What can be said besides answers; each is recorded, and can be undone.

    Parameters
    ----------
    desk : Desk
        The session.
    questions : Questions
        Records what is said, and asks on.
    """

    def __init__(self, desk: Desk, questions: Questions) -> None:
        self._desk = desk
        self._questions = questions

    def undo(self, expert: str | None, key: str | None) -> dict[str, Any]:
        """Take back what this expert said last."""
        session = self._desk.session
        return self._questions.record(
            expert, key, About(), lambda: session.undo(expert=expert, key=key)
        )

    def change(
        self,
        expert: str | None,
        question: int,
        label: str | None,
        key: str | None,
        row: int | None = None,
    ) -> dict[str, Any]:
        """Answer an earlier question differently; None: it counts as passed over.

        Where an earlier answer is taken back, later questions get lower numbers. Whoever says which
        row is meant changes no other.
        """
        session = self._desk.session

        def say() -> int:
            asked = session.asked_[question - 1 : question]
            if row is not None and asked and asked != [row]:
                raise InputError(
                    f"Question {question} is about another row by now: an earlier answer was taken "
                    "back meanwhile. Look in the history which number it has."
                )
            return session.change(question, label, expert=expert, key=key)

        name = None if label is None else category_name(label)
        return self._questions.record(expert, key, About(None, name), say)

    def label(
        self, expert: str | None, rows: list[int], label: str, key: str | None
    ) -> dict[str, Any]:
        """Name rows out of turn, in one step."""
        session = self._desk.session
        self._desk.check_rows(rows)
        ids = [session.ids_[row] for row in dict.fromkeys(rows)]

        def say() -> int:
            # A row by itself is told by its id, and can be found by it later.
            if len(ids) == 1:
                return session.label_row(ids[0], label, expert=expert, key=key)
            return session.label_rows(ids, label, expert=expert, key=key)

        said = About(next(iter(rows), None), category_name(label))
        return self._questions.record(expert, key, said, say)

    def rename(self, expert: str | None, old: str, new: str, key: str | None) -> dict[str, Any]:
        """Give a category another name."""
        session = self._desk.session
        return self._questions.record(
            expert,
            key,
            About(None, category_name(new)),
            lambda: session.rename(old, new, expert=expert, key=key),
        )

    def merge(
        self, expert: str | None, into: str, others: list[str], key: str | None
    ) -> dict[str, Any]:
        """Make several categories one."""
        session = self._desk.session
        return self._questions.record(
            expert,
            key,
            About(None, category_name(into)),
            lambda: session.merge(into, *others, expert=expert, key=key),
        )

    def delete(self, expert: str | None, name: str, key: str | None) -> dict[str, Any]:
        """Let a category go; its rows are open again, or count as passed over."""
        session = self._desk.session
        return self._questions.record(
            expert,
            key,
            About(None, category_name(name)),
            lambda: session.delete(name, expert=expert, key=key),
        )

    def settle(self, expert: str | None, row: int, label: str, key: str | None) -> dict[str, Any]:
        """End a disagreement about a row."""
        session = self._desk.session
        self._desk.check_rows([row])
        return self._questions.record(
            expert,
            key,
            About(row, category_name(label)),
            lambda: session.settle(session.ids_[row], label, expert=expert, key=key),
        )
