"""Ways on for an expert whose last entry cannot be undone, because later ones depend on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

from kernova.discover.events import Answered, Changed, PriorLabels, RowLabelled, Skipped, Unsure
from kernova.discover.names import expert_name
from kernova.discover.session import CategoryDiscovery
from kernova.errors import InputError
from kernova.text import quantity
from kernova.workbench.asking import Request
from kernova.workbench.messages import Subject, entry_message
from kernova.workbench.shared import Part

_MOST_TRIED: Final = 20


@dataclass(frozen=True)
class UndoEntry:
    """A log entry that can be undone, or that is in the way."""

    number: int
    by: str | None
    words: Annotated[str, "The entry as a sentence."]


@dataclass(frozen=True)
class UndoReply:
    """The expert's last entry, and the ways on if it cannot be undone by itself."""

    last: Annotated[UndoEntry | None, "The last entry in effect; null if there is none."]
    words: Annotated[str, "Why it cannot be undone by itself; empty if it can."]
    others: Annotated[list[UndoEntry], "Later entries that must be undone before it, in order."]
    earlier: Annotated[
        UndoEntry | None, "The expert's latest earlier entry that can be undone by itself."
    ]
    row: Annotated[int | None, "Row whose label can be changed instead, if it is a single one."]
    id: Annotated[str | None, "The id of that row."]
    label: Annotated[str | None, "The present label of that row."]
    question: Annotated[int | None, "Number of its question, by which the answer is changed."]


class Undoing(Part):
    """Undo of an expert's entries, also of those that later entries depend on."""

    def ways(self, expert: str | None) -> UndoReply:
        """Return whether the last entry can be undone, and what can be done if not."""
        with self._shared.lock:
            results = self._shared.session.results_
            last = self._last(expert, None)
            if last is None:
                return UndoReply(None, "", [], None, None, None, None, None)
            order = results.order_of_undo(last)
            if order == [last]:
                return UndoReply(self._entry(last), "", [], None, None, None, None, None)
            others = [self._entry(number) for number in order[:-1]]
            row, question = self._changeable(last)
            return UndoReply(
                self._entry(last),
                _words(expert, self._entry(last), others),
                others,
                self._earlier(expert, last),
                row,
                None if row is None else self._shared.id_of(row),
                None if row is None else results.label_of(row),
                question,
            )

    def undo(
        self, expert: str | None, key: str | None, entry: int | None, others: list[int]
    ) -> Request:
        """Undo an entry of the expert, and before it the later ones that the expert agreed to.

        Parameters
        ----------
        expert, key
            As of all requests.
        entry : int or None
            Number of the entry; by default the last one.
        others : list of int
            Numbers of later entries that may be undone before it, whoever made them.
        """
        session, name = self._shared.session, expert_name(expert)

        def write() -> int:
            number = self._last(name, None) if entry is None else entry
            if number is None or not self._is_own(name, number):
                raise InputError(
                    f"Entry {entry} is not one of your entries in effect. Find it in the history."
                )
            before = self._order(session, number, others)
            for one in before:
                session.undo(entry=one, expert=name)
            return session.undo(entry=number, expert=name, key=key)

        return _request(name, key, write)

    @staticmethod
    def _order(session: CategoryDiscovery, number: int, agreed: list[int]) -> list[int]:
        """Return the entries to undo before one; raise if the expert did not agree to one."""
        order = session.results_.order_of_undo(number)[:-1]
        if not set(order) <= set(agreed):
            session.undo(entry=number)  # raises the error that names the entry in the way
        return order

    def _is_own(self, expert: str | None, number: int) -> bool:
        results = self._shared.session.results_
        if not 1 <= number <= results.n_records:
            return False
        [entry] = results.history(number + 1, 1)
        return entry.counts and expert in (None, entry.by)

    def _last(self, expert: str | None, before: int | None) -> int | None:
        """Return the number of an expert's last entry in effect, for no name that of all."""
        results = self._shared.session.results_
        number = results.last_by(expert, before)
        is_prior = number is not None and isinstance(results.record(number).event, PriorLabels)
        return None if is_prior else number

    def _earlier(self, expert: str | None, number: int) -> UndoEntry | None:
        """Return the latest of the expert's earlier entries that can be undone by itself."""
        results, before = self._shared.session.results_, self._last(expert, number)
        for _ in range(_MOST_TRIED):
            if before is None:
                return None
            if results.blocker_of_undo(before) is None:
                return self._entry(before)
            before = self._last(expert, before)
        return None

    def _changeable(self, number: int) -> tuple[int | None, int | None]:
        """Return the single row that an entry labelled, and its question."""
        [entry] = self._shared.session.results_.history(number + 1, 1)
        asked = self._shared.session.results_.asked_row
        if isinstance(entry.event, Answered | Skipped | Unsure | Changed):
            row = None if entry.question is None else asked(entry.question)
            return row, entry.question
        if isinstance(entry.event, RowLabelled):
            return entry.event.row, None
        return None, None

    def _entry(self, number: int) -> UndoEntry:
        session = self._shared.session
        record = session.results_.record(number)
        words = entry_message(record.event, session.ids_, session.results_.record)
        return UndoEntry(number, record.by, words)


def _request(expert: str | None, key: str | None, write: Callable[[], int]) -> Request:
    # What it depends on must be on disk before.
    return Request(expert, key, Subject(), write, is_alone=True)


def _words(expert: str | None, last: UndoEntry, others: list[UndoEntry]) -> str:
    names = list(dict.fromkeys(one.by or "an unnamed expert" for one in others if one.by != expert))
    by = f" by {' and '.join(names)}" if names else ""
    steps = f"{quantity(len(others), 'later step')}{by}"
    depend = "depends" if len(others) == 1 else "depend"
    return (
        f"Your last step ({last.words.rstrip('.')}) cannot be undone by itself, because {steps} "
        f"{depend} on it."
    )
