"""Event log of a session: append-only records, and which of them are in effect.

Everything an expert does is appended as a record and never removed. A record is in effect until
it is undone. An undo may revert a record from the middle of the log, because other experts have
continued since; later records keep their meaning, so a change of question 5 becomes a change of
question 4 when question 2 is undone.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from kernova.discover.events import (
    Answered,
    Changed,
    Event,
    LogEntry,
    PriorLabels,
    Record,
    Skipped,
    Undone,
)
from kernova.discover.questions import Answer
from kernova.discover.state import SessionState
from kernova.discover.store import ProjectStore
from kernova.errors import InputError, quoted

_DESCRIPTIONS: Final = {
    "Answered": "an answer",
    "Skipped": "a skipped row",
    "Passed": "a skipped row",
    "RowLabelled": "a labelled row",
    "RowsLabelled": "labelled rows",
    "Changed": "a changed answer",
    "Renamed": "a renamed category",
    "Merged": "merged categories",
    "Deleted": "a deleted category",
    "Settled": "a settled disagreement",
}


class EffectiveEvent(NamedTuple):
    """An event in effect: the number of its record, its present meaning, and its expert."""

    number: int
    event: Event
    by: str | None = None

    @property
    def is_asked(self) -> bool:
        """Whether the event closed a question."""
        return isinstance(self.event, Answered | Skipped)


class EffectiveEvents:
    """Events of a log that are in effect, in order.

    Parameters
    ----------
    records : iterable of Record
        A log from its beginning.

    Attributes
    ----------
    events : list of EffectiveEvent
        All events that were not undone; undo events themselves are left out.

    Examples
    --------
    >>> from kernova.discover.events import Record, Skipped, Undone
    >>> from kernova.discover.log import EffectiveEvents
    >>> log = [Skipped(4), Skipped(7), Undone(), Skipped(2), Undone(1)]
    >>> EffectiveEvents(map(Record, log)).events
    [EffectiveEvent(number=4, event=Skipped(row=2), by=None)]
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.events: list[EffectiveEvent] = []
        self._asked: list[int] = []  # record numbers of the events that closed a question
        self._n_records = 0
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Append the next record of the log."""
        self._n_records += 1
        if not isinstance(record.event, Undone):
            self._append(EffectiveEvent(self._n_records, record.event, record.by))
            return
        position = self.position_of(record.event)
        if position is None:
            raise InputError("The log is damaged: it undoes more than was done.")
        self.events = self.without(position)
        self._asked = [one.number for one in self.events if one.is_asked]

    def position_of(self, undone: Undone) -> int | None:
        """Return the position of the event to be undone; prior labels cannot be undone."""
        if undone.number is None:
            position = len(self.events) - 1
        else:
            position = bisect_left(self.events, undone.number, key=attrgetter("number"))
        if not 0 <= position < len(self.events):
            return None
        found = self.events[position]
        if isinstance(found.event, PriorLabels) or undone.number not in (None, found.number):
            return None
        return position

    def last_by(self, expert: str) -> int | None:
        """Return the record number of an expert's last event in effect."""
        numbers = (one.number for one in reversed(self.events) if one.by == expert)
        return next(numbers, None)

    def without(self, position: int) -> list[EffectiveEvent]:
        """Return the events without one; raise if a later event changes that very answer."""
        removed = self.events[position]
        question = self.question_of(removed.number)
        if question is None:
            return [*self.events[:position], *self.events[position + 1 :]]
        later = [_renumbered(one, removed, question) for one in self.events[position + 1 :]]
        return [*self.events[:position], *later]

    def with_number(self, number: int) -> EffectiveEvent | None:
        """Return the event of a record, or None if it is not in effect."""
        position = bisect_left(self.events, number, key=attrgetter("number"))
        is_found = position < len(self.events) and self.events[position].number == number
        return self.events[position] if is_found else None

    def question_of(self, number: int) -> int | None:
        """Return the present number of the question that a record answered, if it did."""
        position = bisect_left(self._asked, number)
        is_found = position < len(self._asked) and self._asked[position] == number
        return position + 1 if is_found else None

    def _append(self, effective: EffectiveEvent) -> None:
        self.events.append(effective)
        if effective.is_asked:
            self._asked.append(effective.number)


class EventLog:
    """An append-only log in memory and, for a project, on disk first.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    log : sequence of Record or Event
        Earlier records.
    store : ProjectStore, optional
        Saves the log on disk; it contains ``log`` already.

    Attributes
    ----------
    records : list of Record
        All records.
    state : SessionState
        The state that the events in effect lead to.
    effective : EffectiveEvents
        The events in effect.
    store : ProjectStore or None
        The project.

    Examples
    --------
    >>> from kernova.discover.events import Record, Skipped, Undone
    >>> from kernova.discover.log import EventLog
    >>> log = EventLog(9)
    >>> log.append(Record(Skipped(4)))
    [Answer(row=4, label=None, is_asked=True)]
    >>> log.append(Record(Undone()))
    >>> [record.event for record in log.records], log.state.entries
    ([Skipped(row=4), Undone(number=None)], {})
    """

    def __init__(
        self, n_rows: int, log: Sequence[Record | Event] = (), store: ProjectStore | None = None
    ) -> None:
        self.store = store
        self.records = [one if isinstance(one, Record) else Record(one) for one in log]
        self.effective = EffectiveEvents(self.records)
        self.state = SessionState(n_rows)
        for one in self.effective.events:
            self.state.apply(one.event, one.by)
        self._keys = {
            record.key: number
            for number, record in enumerate(self.records, start=1)
            if record.key is not None
        }

    def number_of_key(self, key: str | None) -> int | None:
        """Return the number of the record with this key, if there is one."""
        return None if key is None else self._keys.get(key)

    def append(self, record: Record) -> list[Answer] | None:
        """Check a record, save it, and apply its event.

        Returns
        -------
        list of Answer or None
            New answers for an asker that has observed all earlier ones; None when an earlier
            answer no longer holds and a fresh asker is needed.
        """
        if isinstance(record.event, Undone):
            state = self._state_after(record.event)
            self._save(record)
            self.state = state
            return None
        self.state.check(record.event)
        self._save(record)
        return self.state.apply(record.event, record.by)

    def entry(self, number: int) -> LogEntry:
        """Return a record by its number, with whether it is in effect."""
        record = self.records[number - 1]
        found = self.effective.with_number(number)
        question = None
        if found is not None:
            changed = getattr(found.event, "question", None)
            question = self.effective.question_of(number) if changed is None else changed
        return LogEntry(number, record.at, record.by, record.event, found is not None, question)

    def _save(self, record: Record) -> None:
        if self.store is not None:
            self.store.append(record)
        self.records.append(record)
        self.effective.add(record)
        if record.key is not None:
            self._keys[record.key] = len(self.records)

    def _state_after(self, undone: Undone) -> SessionState:
        """Return the state without one event; raise if a later event depends on it."""
        position = self.effective.position_of(undone)
        if position is None:
            raise InputError("There is nothing to undo.")
        removed = self.effective.events[position]
        state = SessionState(self.state.n_rows)
        for one in self.effective.without(position):
            try:
                state.apply(one.event, one.by)
            except InputError as error:
                raise _cannot_undo(removed, one) from error
        return state


def _renumbered(one: EffectiveEvent, removed: EffectiveEvent, question: int) -> EffectiveEvent:
    if not isinstance(one.event, Changed) or one.event.question < question:
        return one
    if one.event.question == question:
        raise _cannot_undo(removed, one)
    return one._replace(event=Changed(one.event.question - 1, one.event.label))


def _cannot_undo(removed: EffectiveEvent, later: EffectiveEvent) -> InputError:
    expert = "" if later.by is None else f" by {quoted(later.by)}"
    description = _DESCRIPTIONS[type(later.event).__name__]
    return InputError(
        f"Log entry {removed.number} cannot be undone: entry {later.number}{expert} depends on it "
        f"({description}). Undo that one first."
    )
