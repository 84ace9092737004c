"""Event log of a session: append-only records, and which of them are in effect.

Everything an expert does is appended as a record and never removed. A record is in effect until
it is undone. An undo may revert a record from the middle of the log, because other experts have
continued since; later records keep their meaning, so a change of question 5 becomes a change of
question 4 when question 2 is undone.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple, cast, get_args

from kernova.discover.events import (
    Accepted,
    Changed,
    Confidence,
    Event,
    Imported,
    LogEntry,
    Lost,
    Opined,
    PriorLabels,
    QuestionEvent,
    Record,
    RowsAdded,
    Undone,
)
from kernova.discover.growth.sources import StoredRows
from kernova.discover.names import check_new_category
from kernova.discover.questions import Answer
from kernova.discover.review.annotations import ANNOTATING, Annotations
from kernova.discover.state import SessionState
from kernova.discover.store import ProjectStore
from kernova.errors import BlockedUndoError, InputError, KernovaError, quoted

# Events that stay: the first, and those that added rows, to which later ones may refer.
_NOT_UNDONE: Final = (PriorLabels, RowsAdded)
_DESCRIPTIONS: Final = {
    "RowsAdded": "rows that were added",
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
    "Unsure": "a row left undecided",
    "RowsUnsure": "rows left undecided",
    "Accepted": "accepted suggestions",
    "Reopened": "rows opened again",
    "Rejected": "a rejected category",
    "Noted": "a note",
    "Flagged": "a flag",
    "Tagged": "a further label",
    "Grouped": "a heading of categories",
    "KeyChosen": "a key of a category",
    "OptionSet": "an option of the project",
    "Imported": "imported labels",
}


class EffectiveEvent(NamedTuple):
    """An event in effect: the number of its record, its present meaning, and its expert."""

    number: int
    event: Event
    by: str | None = None


class EffectiveEvents:
    """Events of a log that are in effect, in order.

    Parameters
    ----------
    records : iterable of Record
        A log from its beginning.

    Attributes
    ----------
    records : list of Record
        The log.

    Examples
    --------
    >>> from kernova.discover.events import Record, Skipped, Undone
    >>> from kernova.discover.log import EffectiveEvents
    >>> log = [Skipped(4), Skipped(7), Undone(), Skipped(2), Undone(1)]
    >>> EffectiveEvents(map(Record, log)).events
    [EffectiveEvent(number=4, event=Skipped(row=2), by=None)]
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records: list[Record] = []
        # Record numbers of all events in effect, and of those that closed or changed a question.
        self._numbers, self._asked, self._changes = array("q"), array("q"), array("q")
        self._annotating = array("q")  # record numbers of those that change annotations
        self._asked_by: dict[str | None, array[int]] = {}
        self._renumbered: dict[int, Changed] = {}  # changes whose question has another number now
        for record in records:
            self.add(record)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def events(self) -> list[EffectiveEvent]:
        """All events that were not undone; undo events themselves are left out."""
        return self.since(0)

    def since(self, position: int) -> list[EffectiveEvent]:
        """Return the events from a position on, counted from 0."""
        return [self._event(number) for number in self._numbers[position:]]

    @property
    def annotating(self) -> list[Event]:
        """The events in effect that change annotations."""
        return [self._event(number).event for number in self._annotating]

    def at(self, position: int) -> EffectiveEvent:
        """Return the event at a position, counted from 0, or from the end."""
        return self._event(self._numbers[position])

    @property
    def questions_by_expert(self) -> dict[str | None, int]:
        """Number of questions each expert closed, in the order of their first ones."""
        of_experts = sorted(self._asked_by.items(), key=lambda item: item[1][0])
        return {expert: len(numbers) for expert, numbers in of_experts}

    def add(self, record: Record) -> None:
        """Append the next record of the log."""
        self.records.append(record)
        event = record.event
        if isinstance(event, Undone):
            position = self.position_of(event)
            if position is None:
                raise InputError("The log is damaged: it undoes more than was done.")
            self._remove(position)
        elif not isinstance(event, Lost):
            self._append(len(self.records), event, record.by)

    def position_of(self, undone: Undone) -> int | None:
        """Return the position of the event to be undone.

        Prior labels cannot be undone, nor can rows that were added: the last event is the last of
        another kind.
        """
        if undone.number is None:
            position = self._last_position()
        else:
            position = _position_in(self._numbers, undone.number)
        if position is None or isinstance(self.at(position).event, _NOT_UNDONE):
            return None
        return position

    def last(self) -> int | None:
        """Return the record number of the last event that an undo would revert."""
        position = self._last_position()
        return None if position is None else self._numbers[position]

    def _last_position(self) -> int | None:
        """Return the position of the last event besides those that added rows."""
        positions = range(len(self._numbers) - 1, -1, -1)
        return next((one for one in positions if not self._adds_rows(self._numbers[one])), None)

    def last_by(self, expert: str | None, before: int | None = None) -> int | None:
        """Return the record number of an expert's last event in effect; for None, of anyone's."""
        records = self.records
        end = len(self._numbers) if before is None else bisect_left(self._numbers, before)
        numbers = (self._numbers[place] for place in range(end - 1, -1, -1))
        own = (one for one in numbers if expert in (None, records[one - 1].by))
        return next((one for one in own if not self._adds_rows(one)), None)

    def _adds_rows(self, number: int) -> bool:
        return isinstance(self.records[number - 1].event, RowsAdded)

    def with_number(self, number: int) -> EffectiveEvent | None:
        """Return the event of a record, or None if it is not in effect."""
        return None if _position_in(self._numbers, number) is None else self._event(number)

    def question_of(self, number: int) -> int | None:
        """Return the present number of the question that a record answered, if it did."""
        position = _position_in(self._asked, number)
        return None if position is None else position + 1

    def changes_without(self, number: int) -> dict[int, Changed]:
        """Return the changes that refer to another question number once a record is undone.

        Raises
        ------
        BlockedUndoError
            If one of them changes the answer of that very record.
        """
        question = self.question_of(number)
        if question is None:
            return {}
        renumbered = {}
        for later in self._changes[bisect_left(self._changes, number) :]:
            change = cast(Changed, self._event(later).event)
            if change.question == question:
                raise _cannot_undo(self._event(number), self._event(later))
            if change.question > question:
                renumbered[later] = replace(change, question=change.question - 1)
        return renumbered

    def drop_last(self) -> None:
        """Remove the last record, which is in effect and cannot be an undo."""
        number = len(self.records)
        if self._numbers and self._numbers[-1] == number:
            self._take_out(len(self._numbers) - 1)
        self.records.pop()

    def _event(self, number: int) -> EffectiveEvent:
        record = self.records[number - 1]
        return EffectiveEvent(number, self._renumbered.get(number, record.event), record.by)

    def _append(self, number: int, event: Event, by: str | None) -> None:
        self._numbers.append(number)
        if isinstance(event, QuestionEvent):
            self._asked.append(number)
            self._asked_by.setdefault(by, array("q")).append(number)
        elif isinstance(event, Changed):
            self._changes.append(number)
        elif isinstance(event, ANNOTATING):
            self._annotating.append(number)

    def _remove(self, position: int) -> None:
        self._renumbered |= self.changes_without(self._numbers[position])
        self._take_out(position)

    def _take_out(self, position: int) -> None:
        number = self._numbers.pop(position)
        by, event = self.records[number - 1].by, self.records[number - 1].event
        self._renumbered.pop(number, None)
        if isinstance(event, QuestionEvent):
            for numbers in (self._asked, self._asked_by[by]):
                del numbers[bisect_left(numbers, number)]
            if not self._asked_by[by]:
                del self._asked_by[by]
        elif isinstance(event, Changed):
            del self._changes[bisect_left(self._changes, number)]
        elif isinstance(event, ANNOTATING):
            del self._annotating[bisect_left(self._annotating, number)]


def _position_in(numbers: "array[int]", number: int) -> int | None:
    position = bisect_left(numbers, number)
    return position if position < len(numbers) and numbers[position] == number else None


class EventLog:
    """An append-only log in memory and, for a project, on disk first.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table at its beginning.
    log : sequence of Record or Event
        Earlier records.
    store : ProjectStore, optional
        Saves the log on disk; it contains ``log`` already.

    Attributes
    ----------
    n_first_rows : int
        Number of rows of the table at its beginning.
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
        self.n_first_rows = n_rows
        records = (one if isinstance(one, Record) else Record(one) for one in log)
        self.effective = EffectiveEvents(records)
        self.state = self._replayed()
        self._keys = {
            record.key: number
            for number, record in enumerate(self.records, start=1)
            if record.key is not None
        }
        self._unsaved: list[Record] | None = None  # records of a batch
        self._annotations: Annotations | None = None  # read again after an undo

    @property
    def records(self) -> list[Record]:
        """All records."""
        return self.effective.records

    @property
    def annotations(self) -> Annotations:
        """Notes, flags, further labels, headings and keys that the events in effect lead to."""
        if self._annotations is None:
            self._annotations = Annotations(self.effective.annotating)
        return self._annotations

    def number_of_key(self, key: str | None) -> int | None:
        """Return the number of the record with this key, if there is one."""
        return None if key is None else self._keys.get(key)

    def append(self, record: Record, stored: StoredRows | None = None) -> list[Answer] | None:
        """Check a record, save it, and apply its event.

        Parameters
        ----------
        record : Record
            The record.
        stored : StoredRows, optional
            Ids and digests of rows that it adds, which are saved with it.

        Returns
        -------
        list of Answer or None
            New answers for an asker that has observed all earlier ones; None when an earlier
            answer no longer holds and a fresh asker is needed.
        """
        if isinstance(record.event, Undone):
            self._undo(record)
            return None
        is_lost = isinstance(record.event, Lost)
        if not is_lost:
            self.state.check(record.event)
        self._save(record, stored)
        self._add(record)
        if self._annotations is not None:
            self._annotations.apply(record.event)
        return [] if is_lost else self.state.apply(record.event, record.by)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Save all records appended within with one write; none of them is on disk before.

        Raises
        ------
        NotSavedError
            If they cannot be saved; the log and the state are then as they were before.
        """
        self._unsaved = []
        try:
            yield
        finally:
            self._save_batch(is_last=True)

    def entry(self, number: int) -> LogEntry:
        """Return a record by its number, with whether it is in effect."""
        record = self.records[number - 1]
        found = self.effective.with_number(number)
        question = None
        if found is not None:
            changed = getattr(found.event, "question", None)
            question = self.effective.question_of(number) if changed is None else changed
        return LogEntry(number, record.at, record.by, record.event, found is not None, question)

    def _save(self, record: Record, stored: StoredRows | None) -> None:
        if stored is not None and self.store is not None:
            if self._unsaved is not None:
                self._save_batch(is_last=False)
            self.store.add_rows(record, stored)
        elif self._unsaved is not None:
            self._unsaved.append(record)
        elif self.store is not None:
            self.store.append(record)

    def _save_batch(self, *, is_last: bool) -> None:
        records, self._unsaved = self._unsaved, None if is_last else []
        if not records or self.store is None:
            return
        try:
            self.store.append(*records)
        except KernovaError:
            self._retract(len(records))
            raise

    def _add(self, record: Record) -> None:
        self.effective.add(record)
        if record.key is not None:
            self._keys[record.key] = len(self.records)

    def _retract(self, n_records: int) -> None:
        """Remove the last records, which are not on disk and contain no undo."""
        self._annotations = None
        n_before = len(self.effective)
        for _ in range(n_records):
            self._keys.pop(self.records[-1].key or "", None)
            self.effective.drop_last()
        n_events = n_before - len(self.effective)
        if n_events <= self.state.n_steps:
            self.state.take_back(n_events)
        else:
            self.state = self._replayed()

    def _undo(self, record: Record) -> None:
        """Undo an event and save that; raise, and change nothing, if a later one depends on it."""
        if self._unsaved is not None:
            self._save_batch(is_last=False)
        old, new = self._without(cast(Undone, record.event))
        self._replace_last(old, new)
        try:
            if self.store is not None:
                self.store.append(record)
        except KernovaError:
            self._replace_last(new, old)
            raise
        self._add(record)
        self._annotations = None

    def blocker_of_undo(self, number: int) -> int | None:
        """Return the number of a record that prevents the undo of another; None if none does.

        Raises
        ------
        InputError
            If that record is not in effect.
        """
        try:
            old, new = self._without(Undone(number))
            self._replace_last(old, new)
        except BlockedUndoError as error:
            return error.later
        self._replace_last(new, old)
        return None

    def order_of_undo(self, number: int) -> list[int]:
        """Return the records to undo so that one is undone, those that depend on it first."""
        if self.blocker_of_undo(number) is None:
            return [number]
        log, order, wanted = EventLog(self.n_first_rows, self.records), [], [number]
        while wanted:
            try:
                log.append(Record(Undone(wanted[-1])))
                order.append(wanted.pop())
            except BlockedUndoError as error:
                wanted.append(error.later)
        return order

    def _without(self, undone: Undone) -> tuple[list[EffectiveEvent], list[EffectiveEvent]]:
        """Return the events from an undone one on, and those that follow the earlier ones then."""
        position = self.effective.position_of(undone)
        if position is None:
            raise InputError("There is nothing to undo.")
        removed, *later = self.effective.since(position)
        renumbered = self.effective.changes_without(removed.number)
        new = [one._replace(event=renumbered.get(one.number, one.event)) for one in later]
        return [removed, *later], new

    def _replace_last(self, old: list[EffectiveEvent], new: list[EffectiveEvent]) -> None:
        """Let other events follow the earlier ones, or raise, with the state as it was before.

        Parameters
        ----------
        old, new : list of EffectiveEvent
            The last events of the state, and those that are to be applied instead.
        """
        if len(old) <= self.state.n_steps:
            self.state.take_back(len(old))
            state = self.state
        else:
            n_earlier = len(self.effective) - max(len(old), len(new))
            state = self._replayed(n_earlier)
        done = 0
        try:
            for one in new:
                state.apply(one.event, one.by)
                done += 1
        except InputError as error:
            if state is self.state:
                self._put_back(old, done)
            raise _cannot_undo(old[0], new[done]) from error
        self.state = state

    def _put_back(self, old: list[EffectiveEvent], n_new: int) -> None:
        """Replace the last ``n_new`` events of the state by the former ones again."""
        if n_new > self.state.n_steps:  # they concern very many rows
            self.state = self._replayed()
            return
        self.state.take_back(n_new)
        for one in old:
            self.state.apply(one.event, one.by)

    def _replayed(self, n_events: int | None = None) -> SessionState:
        state = SessionState(self.n_first_rows)
        events = self.effective.events
        for one in events[:n_events]:
            state.apply(one.event, one.by)
        return state


def check_new_names(event: Event, is_known: Callable[[str], bool]) -> None:
    """Raise if a new category would get an unclear name, or a confidence is none of the three."""
    for field in ("label", "new", "into", "under"):  # of the events that name categories
        name = getattr(event, field, None)
        if name is not None and not is_known(name):
            check_new_category(name)
    confidence = getattr(event, "confidence", None)
    if confidence not in (None, *get_args(Confidence)):
        raise InputError(
            f'confidence must be "low", "medium", "high" or None; got {quoted(confidence)}.'
        )
    if isinstance(event, Opined | Accepted):
        for name in event.names:
            if not is_known(name):
                check_new_category(name)
    for part in event.parts if isinstance(event, Imported) else ():
        check_new_names(part, is_known)


def _cannot_undo(removed: EffectiveEvent, later: EffectiveEvent) -> BlockedUndoError:
    expert = "" if later.by is None else f" by {quoted(later.by)}"
    description = _DESCRIPTIONS[type(later.event).__name__]
    return BlockedUndoError(
        f"Log entry {removed.number} cannot be undone: entry {later.number}{expert} depends on it "
        f"({description}). Undo that one first.",
        number=removed.number,
        later=later.number,
    )
