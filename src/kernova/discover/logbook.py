"""The log of a session and what follows from it: check, save, and only then let it be so."""

from collections.abc import Sequence

from kernova.discover.counting import CountingSteps, standing_in_the_way
from kernova.discover.events import Event, Undone
from kernova.discover.ledger import Ledger
from kernova.discover.questions import Answer
from kernova.discover.records import Record, Said
from kernova.discover.store import ProjectStore
from kernova.errors import InputError


class LogBook:
    """A log that only grows, in memory and, if there is a project, on disk first.

    Parameters
    ----------
    n_rows : int
        How many rows the table has.
    log : sequence of Record or Event
        What was said before.
    store : ProjectStore, optional
        Keeps the log on disk; it holds ``log`` already.

    Attributes
    ----------
    records : list of Record
        Everything that was said.
    ledger : Ledger
        What is so.
    counting : CountingSteps
        What still counts.

    Examples
    --------
    >>> from kernova.discover.events import Skipped, Undone
    >>> from kernova.discover.logbook import LogBook
    >>> from kernova.discover.records import Record
    >>> book = LogBook(9)
    >>> book.record(Record(Skipped(4)))
    [Answer(row=4, label=None, is_asked=True)]
    >>> book.record(Record(Undone()))
    >>> [record.event for record in book.records], book.ledger.entries
    ([Skipped(row=4), Undone(number=None)], {})
    """

    def __init__(
        self, n_rows: int, log: Sequence[Record | Event] = (), store: ProjectStore | None = None
    ) -> None:
        self.store = store
        self.records = [one if isinstance(one, Record) else Record(one) for one in log]
        self.counting = CountingSteps(self.records)
        self.ledger = Ledger(n_rows)
        for step in self.counting.steps:
            self.ledger.apply(step.event, step.by)
        self._keys = {
            record.key: number
            for number, record in enumerate(self.records, start=1)
            if record.key is not None
        }

    def number_of_key(self, key: str | None) -> int | None:
        """Give the number of the record that came with this key, if one did."""
        return None if key is None else self._keys.get(key)

    def record(self, record: Record) -> list[Answer] | None:
        """Add what was said.

        Returns
        -------
        list of Answer or None
            What an asker that knows everything before has to be told; None when it has been told
            something that is no longer so, and a fresh one is needed.
        """
        if isinstance(record.event, Undone):
            ledger = self._ledger_after(record.event)
            self._keep(record)
            self.ledger = ledger
            return None
        self.ledger.check(record.event)
        self._keep(record)
        return self.ledger.apply(record.event, record.by)

    def said(self, number: int) -> Said:
        """Give what was said under a number, and what became of it."""
        record = self.records[number - 1]
        step = self.counting.counts(number)
        question = None
        if step is not None:
            changed = getattr(step.event, "question", None)
            question = self.counting.question_of(number) if changed is None else changed
        return Said(number, record.at, record.by, record.event, step is not None, question)

    def _keep(self, record: Record) -> None:
        if self.store is not None:
            self.store.append(record)
        self.records.append(record)
        self.counting.add(record)
        if record.key is not None:
            self._keys[record.key] = len(self.records)

    def _ledger_after(self, undone: Undone) -> Ledger:
        """Try how things would be without a step; whatever builds on it stands in the way."""
        place = self.counting.place_of(undone)
        if place is None:
            raise InputError("There is nothing to undo.")
        gone = self.counting.steps[place]
        ledger = Ledger(self.ledger.n_rows)
        for step in self.counting.without(place):
            try:
                ledger.apply(step.event, step.by)
            except InputError as error:
                raise standing_in_the_way(gone, step) from error
        return ledger
