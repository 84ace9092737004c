"""Which of the things said still count: everything but what was undone, and the undoing.

An undo may take back something from the middle, because others have gone on meanwhile. What they
said keeps its meaning: a change that spoke of question 5 speaks of question 4 when question 2 is
gone.

The log of a session and what follows from it: check, save, and only then let it be so.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from kernova.discover.events import (
    Answered,
    Changed,
    Event,
    PriorLabels,
    Record,
    Said,
    Skipped,
    Undone,
)
from kernova.discover.questions import Answer
from kernova.discover.state import Ledger
from kernova.discover.store import ProjectStore
from kernova.errors import InputError


class Step(NamedTuple):
    """Something that counts: the number of its record, what it means today, and who said it."""

    number: int
    event: Event
    by: str | None = None

    @property
    def is_asked(self) -> bool:
        """Whether this is what became of a question."""
        return isinstance(self.event, Answered | Skipped)


class CountingSteps:
    """The steps that count, in their order.

    Parameters
    ----------
    records : iterable of Record
        A log from its beginning.

    Attributes
    ----------
    steps : list of Step
        What counts.

    Examples
    --------
    >>> from kernova.discover.log import CountingSteps
    >>> from kernova.discover.events import Skipped, Undone
    >>> from kernova.discover.events import Record
    >>> said = [Skipped(4), Skipped(7), Undone(), Skipped(2), Undone(1)]
    >>> CountingSteps(map(Record, said)).steps
    [Step(number=4, event=Skipped(row=2), by=None)]
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.steps: list[Step] = []
        self._asked: list[int] = []  # the numbers of those that were questions
        self._n_said = 0
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Take in the next record of the log."""
        self._n_said += 1
        if not isinstance(record.event, Undone):
            self._append(Step(self._n_said, record.event, record.by))
            return
        place = self.place_of(record.event)
        if place is None:
            raise InputError("The log is damaged: it undoes more than was done.")
        self.steps = self.without(place)
        self._asked = [step.number for step in self.steps if step.is_asked]

    def place_of(self, undone: Undone) -> int | None:
        """Find the step that would be undone; prior labels are where a session begins."""
        if undone.number is None:
            place = len(self.steps) - 1
        else:
            place = bisect_left(self.steps, undone.number, key=attrgetter("number"))
        if not 0 <= place < len(self.steps) or isinstance(self.steps[place].event, PriorLabels):
            return None
        is_it = undone.number in (None, self.steps[place].number)
        return place if is_it else None

    def last_by(self, expert: str) -> int | None:
        """Give the number of the last thing said by an expert that counts."""
        mine = (step.number for step in reversed(self.steps) if step.by == expert)
        return next(mine, None)

    def without(self, place: int) -> list[Step]:
        """Give what would count without one step; refused if another changes that very answer."""
        gone = self.steps[place]
        question = self.question_of(gone.number)
        if question is None:
            return [*self.steps[:place], *self.steps[place + 1 :]]
        later = [_renumbered(step, gone, question) for step in self.steps[place + 1 :]]
        return [*self.steps[:place], *later]

    def counts(self, number: int) -> Step | None:
        """Give the step with this number, or None if it does not count."""
        place = bisect_left(self.steps, number, key=attrgetter("number"))
        is_there = place < len(self.steps) and self.steps[place].number == number
        return self.steps[place] if is_there else None

    def question_of(self, number: int) -> int | None:
        """Give the number that a question has now, by the number of the record that answered it."""
        place = bisect_left(self._asked, number)
        is_there = place < len(self._asked) and self._asked[place] == number
        return place + 1 if is_there else None

    def _append(self, step: Step) -> None:
        self.steps.append(step)
        if step.is_asked:
            self._asked.append(step.number)


def _renumbered(step: Step, gone: Step, question: int) -> Step:
    if not isinstance(step.event, Changed) or step.event.question < question:
        return step
    if step.event.question == question:
        raise standing_in_the_way(gone, step)
    return step._replace(event=Changed(step.event.question - 1, step.event.label))


def standing_in_the_way(gone: Step, later: Step) -> InputError:
    """Say that something cannot be undone, and what builds on it."""
    who = "" if later.by is None else f" by {later.by!r}"
    return InputError(
        f"Step {gone.number} cannot be taken back: step {later.number}{who} builds on it "
        f"({words_of(later.event)}). Take that back first."
    )


_WORDS = {
    "Answered": "an answer",
    "Skipped": "a row that was passed over",
    "Passed": "a row that was passed over",
    "RowLabelled": "a row that was labelled",
    "RowsLabelled": "rows that were labelled",
    "Changed": "an answer that was changed",
    "Renamed": "a category that was renamed",
    "Merged": "categories that were merged",
    "Deleted": "a category that was deleted",
    "Settled": "a disagreement that was settled",
}


def words_of(event: Event) -> str:
    """Say in a few words what kind of thing was said."""
    return _WORDS[type(event).__name__]


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
    >>> from kernova.discover.log import LogBook
    >>> from kernova.discover.events import Record
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
