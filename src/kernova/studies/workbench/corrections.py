"""Corrections: what was said can be taken back or changed, and categories put in order."""

from typing import Any

from kernova.discover.names import category_name
from kernova.errors import InputError
from kernova.studies.workbench.desk import Desk
from kernova.studies.workbench.questions import Questions
from kernova.studies.workbench.words import About


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
