"""State of a session: the label of every row, what was asked, and the experts' opinions.

The state is the result of applying the events of the log that are in effect, one after another.
The latest opinion about a row is its label, whichever expert gave it. Where the latest opinions of
the experts differ, that is a disagreement until they agree or one of them settles it.

Every event changes only the rows that it concerns, and what these were before is kept for the
latest events. Undoing one of them takes those back and applies the later ones again, so that its
time does not depend on the number of answers.
"""

from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Literal, NamedTuple

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Confidence,
    Deleted,
    Event,
    Imported,
    Lost,
    Merged,
    Opined,
    Passed,
    PriorLabels,
    QuestionEvent,
    Rejected,
    RemarkEvent,
    Renamed,
    Reopened,
    RowLabelled,
    RowsAdded,
    RowsLabelled,
    RowsNoted,
    RowsUnsure,
    Settled,
    Skipped,
    Unsure,
)
from kernova.discover.opinions import Opinion, Opinions, RowOpinions
from kernova.discover.questions import Answer
from kernova.discover.state.category_rows import CategoryRows
from kernova.discover.state.checks import Checks

# Events that can be taken back without a replay, and rows that are kept for it.
_MOST_STEPS: Final = 10_000
_MOST_ROWS_KEPT: Final = 100_000
# From more rows of one event on, they are moved between categories at once.
_FEW_ROWS: Final = 64


Status = Literal["", "unsure", "accepted"]


class Entry(NamedTuple):
    """The label of a row, and the question whose answer gave it, if any.

    The status of an accepted suggestion is "accepted"; that of a row without label about which an
    expert was unsure is "unsure".
    """

    label: str | None
    question: int | None = None
    status: Status = ""
    confidence: Confidence | None = None


class AskedRow(NamedTuple):
    """The row of a question, and the rows that were labelled with it."""

    row: int
    others: tuple[int, ...] = ()


class _RowBefore(NamedTuple):
    """Everything about a row before an event."""

    entry: Entry | None
    rank: int
    opinions: RowOpinions


class _Step(NamedTuple):
    """What one event changed, with which it can be taken back."""

    is_question: bool
    rows: dict[int, _RowBefore]
    is_batch: bool


# Nearly all rows of large events are as at the beginning.
_UNTOUCHED: Final = _RowBefore(None, 0, RowOpinions())


class SessionState:
    """Labels, questions and opinions after the events in effect.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table at its beginning.
    events : iterable
        Events in effect, in order; see :mod:`kernova.discover.log`.

    Attributes
    ----------
    n_rows : int
        Number of rows, with those that were added.
    batches : list of RowsAdded
        The rows that were added, in order.
    entries : dict of int to Entry
        Every row that was labelled or skipped, in that order; a skipped row has no label.
    questions : list of AskedRow
        The questions, in order.
    categories : dict of str to list of int
        The rows of each category; the categories in the order of their first rows.
    curve : list of int
        Number of categories found after each question, under the present labels.
    skipped : set of int
        The rows of questions that have no label.
    unsure, accepted : set of int
        Rows about which an expert was unsure, and those with an accepted suggestion.
    opinions : Opinions
        The latest opinion of each expert about each row; prior labels belong to no expert.

    Examples
    --------
    >>> from kernova.discover.events import Answered, Changed, Skipped
    >>> from kernova.discover.state import SessionState
    >>> events = [Answered(3, "carp"), Skipped(5), Answered(1, "pike", others=(2,))]
    >>> state = SessionState(9, events)
    >>> state.categories, state.curve
    ({'carp': [3], 'pike': [1, 2]}, [1, 1, 2])
    >>> state.apply(Changed(3, "carp"))
    >>> state.categories, state.curve
    ({'carp': [3, 1, 2]}, [1, 1, 1])
    >>> state.take_back(2)
    >>> state.categories, state.curve
    ({'carp': [3]}, [1, 1])
    """

    def __init__(self, n_rows: int, events: Iterable[Event] = ()) -> None:
        self.n_rows = n_rows
        self.batches: list[RowsAdded] = []
        self.entries: dict[int, Entry] = {}
        self.questions: list[AskedRow] = []
        self.skipped: set[int] = set()
        self.unsure: set[int] = set()
        self.accepted: set[int] = set()
        self.opinions = Opinions()
        self._categories = CategoryRows(n_rows)
        self._question_of: dict[int, int] = {}  # the row of a question to its number
        self._next_rank = 1
        self._steps: deque[_Step] = deque()
        self._n_kept = 0  # rows in all steps
        self._changing: dict[int, _RowBefore] = {}  # rows of the present step
        for event in events:
            self.apply(event)

    @property
    def categories(self) -> dict[str, list[int]]:
        """The rows of each category; the categories in the order of their first rows."""
        return self._categories.by_name()

    def has_category(self, name: str) -> bool:
        """Return whether a row has this label."""
        return name in self._categories

    @property
    def curve(self) -> list[int]:
        """Number of categories found after each question, under the present labels."""
        return self._categories.curve()

    def label_of(self, row: int) -> str | None:
        """Return the label of a row, or None."""
        entry = self.entries.get(row)
        return None if entry is None else entry.label

    def question_about(self, row: int) -> int | None:
        """Return the number of the question about a row, or None."""
        return self._question_of.get(row)

    def n_asked(self, rows: Iterable[int]) -> int:
        """Return how many of the rows questions were about."""
        return sum(map(self._question_of.__contains__, rows))

    def answers(self) -> list[Answer]:
        """Return all answers for a fresh asker, in the order in which they were first given."""
        # Copied: preparation may run in another thread, while rows are labelled.
        return self._as_answers(self.entries.copy())

    def check(self, event: Event) -> None:
        """Raise if an event does not fit the state."""
        Checks(self).check(event)

    def apply(self, event: Event, by: str | None = None) -> list[Answer] | None:
        """Apply one event in effect, by an expert.

        Returns
        -------
        list of Answer or None
            New answers for an asker that has observed all earlier ones; None when an earlier
            answer no longer holds and a fresh asker is needed.
        """
        self.check(event)
        self._changing = {}
        answers = self._applied(event, by)
        is_batch = isinstance(event, RowsAdded)
        self._keep(_Step(isinstance(event, QuestionEvent), self._changing, is_batch))
        return answers

    def _applied(self, event: Event, by: str | None) -> list[Answer] | None:
        match event:
            case Answered(row, label, others, confidence):
                return self._add_question(
                    AskedRow(row, others), Entry(label, None, "", confidence), by
                )
            case Skipped(row):
                return self._add_question(AskedRow(row), Entry(None), by)
            case Unsure(row):
                return self._add_question(AskedRow(row), Entry(None, None, "unsure"), by)
            case Imported(_, parts):
                return _joined([self._applied(part, by) for part in parts])
            case Passed() | Lost() | RowsNoted():
                return []
            case _ if isinstance(event, RemarkEvent):
                return []
            case _:
                return self._applied_to_rows(event, by)

    def _applied_to_rows(self, event: Event, by: str | None) -> list[Answer] | None:
        match event:
            case PriorLabels(rows, labels):
                return self._set_prior(rows, labels)
            case RowsAdded():
                return self._add_rows(event)
            case Accepted():
                return self._accept(event)
            case Opined():
                return self._opine(event, by)
            case RowsUnsure(rows):
                return self._label_rows(rows, Entry(None, None, "unsure"), by)
            case RowLabelled() | RowsLabelled():
                rows = event.rows if isinstance(event, RowsLabelled) else (event.row,)
                entry = Entry(event.label, None, "", event.confidence)
                is_blind = isinstance(event, RowLabelled) and bool(event.is_blind)
                return self._label_rows(rows, entry, by, is_blind=is_blind)
            case Settled(row, label):
                self._remember(row)
                self.opinions.settle(row, label)
                return self._update({row: Entry(label)})
        self._correct(event, by)
        return None

    def _correct(self, event: Event, by: str | None) -> None:
        match event:
            case Changed(question, label):
                self._change(question, label, by)
            case Renamed(old, new):
                self._rename({old}, new)
            case Merged(into, others):
                self._rename(set(others), into)
            case Deleted(name):
                self._delete(name)
            case Reopened(rows):
                self._reopen(rows)
            case Rejected(rows, label):
                self._reopen(row for row in rows if self.label_of(row) == label)

    # --- the latest events, which can be taken back ----------------------------------------

    @property
    def n_steps(self) -> int:
        """Number of events that can be taken back."""
        return len(self._steps)

    def take_back(self, n_events: int) -> None:
        """Set the state as it was before the last ``n_events``, at most ``n_steps``."""
        is_ordered = True
        for _ in range(n_events):
            step = self._steps.pop()
            self._n_kept -= len(step.rows)
            if step.is_question:
                self._categories.drop_question()
            with self._moving(len(step.rows)):
                for row, before in reversed(step.rows.items()):
                    is_ordered &= self._restore(row, before)
            if step.is_question:
                del self._question_of[self.questions.pop().row]
            if step.is_batch:
                self.n_rows = self.batches.pop().first
                self._categories.resize(self.n_rows)
        if not is_ordered:
            ranks = self._categories.ranks
            self.entries = dict(sorted(self.entries.items(), key=lambda item: ranks[item[0]]))

    def _moving(self, n_rows: int) -> AbstractContextManager[None]:
        """Return a context in which the categories of rows change, at its end if they are many."""
        return self._categories.together() if n_rows > _FEW_ROWS else nullcontext()

    def _keep(self, step: _Step) -> None:
        self._steps.append(step)
        self._n_kept += len(step.rows)
        while self._n_kept > _MOST_ROWS_KEPT or len(self._steps) > _MOST_STEPS:
            self._n_kept -= len(self._steps.popleft().rows)

    def _remember(self, row: int) -> None:
        if row not in self._changing:
            rank, entry = self._categories.ranks[row], self.entries.get(row)
            opinions = self.opinions.about(row)
            is_untouched = rank == 0 and entry is None and opinions == _UNTOUCHED.opinions
            self._changing[row] = _UNTOUCHED if is_untouched else _RowBefore(entry, rank, opinions)

    def _restore(self, row: int, before: _RowBefore) -> bool:
        """Set a row as it was; return whether the order of the entries is still right."""
        self.opinions.restore(row, before.opinions)
        is_there = row in self.entries
        self._put(row, before.entry)
        if before.entry is None or is_there:
            return True
        label, ranks = before.entry.label, self._categories.ranks
        if label is not None:
            self._categories.remove(row, label)
        ranks[row] = before.rank
        if label is not None:
            self._categories.add(row, label)
        return False

    # --- effect of each kind of event ------------------------------------------------------

    def _put(self, row: int, entry: Entry | None) -> None:
        """Set the entry of a row, or remove it, and what is counted by it."""
        before = self.entries.get(row)
        old = None if before is None else before.label
        new = None if entry is None else entry.label
        if entry is not None and new is None and row in self._question_of:
            self.skipped.add(row)
        else:
            self.skipped.discard(row)
        status = "" if entry is None else entry.status
        for name, rows in (("unsure", self.unsure), ("accepted", self.accepted)):
            if status == name:
                rows.add(row)
            else:
                rows.discard(row)
        if old is not None and old != new:
            self._categories.remove(row, old)
        if entry is None:
            self.entries.pop(row, None)
            return
        if before is None:
            self._categories.ranks[row] = self._next_rank
            self._next_rank += 1
        self.entries[row] = entry
        if new is not None and old != new:
            self._categories.add(row, new)

    def _add_rows(self, event: RowsAdded) -> list[Answer] | None:
        self.batches.append(event)
        self.n_rows += event.n_rows
        self._categories.resize(self.n_rows)
        return self._set_prior(event.labelled, event.labels)

    def _set_prior(self, rows: tuple[int, ...], labels: tuple[str, ...]) -> list[Answer] | None:
        for row in rows:
            self._remember(row)
        return self._update(dict(zip(rows, map(Entry, labels), strict=True)))

    def _label_rows(
        self, rows: tuple[int, ...], entry: Entry, by: str | None, *, is_blind: bool = False
    ) -> list[Answer] | None:
        for row in rows:
            self._remember(row)
            if entry.label is None:
                self.opinions.forget(row)
        if entry.label is not None:
            blind = entry.label if is_blind else None
            self.opinions.record(rows, Opinion(entry.label, entry.question, by, blind))
        return self._update(dict.fromkeys(rows, entry))

    def _accept(self, event: Accepted) -> list[Answer] | None:
        """Label rows as a model suggested; this is nobody's opinion, so it disputes nothing."""
        for row in event.rows:
            self._remember(row)
        entries = [Entry(name, None, "accepted") for name in event.names]
        given = map(entries.__getitem__, event.codes)
        return self._update(dict(zip(event.rows, given, strict=True)))

    def _opine(self, event: Opined, by: str | None) -> list[Answer] | None:
        """Label rows as a file of labels does, each by one expert."""
        expert = by if event.expert is None else event.expert
        labels = [event.names[code] for code in event.codes]
        for row in event.rows:
            self._remember(row)
        for row, label in zip(event.rows, labels, strict=True):
            self.opinions.record((row,), Opinion(label, None, expert))
            if event.settles and self.opinions.n_experts(row) > 1:
                self.opinions.settle(row, label)
        given = (Entry(label, None, "", event.confidence) for label in labels)
        return self._update(dict(zip(event.rows, given, strict=True)))

    def _reopen(self, rows: Iterable[int]) -> None:
        """Remove labels and opinions; a row that was asked becomes skipped."""
        rows = list(rows)
        with self._moving(len(rows)):
            for row in rows:
                self._remember(row)
                self.opinions.forget(row)
                question = self._question_of.get(row)
                self._put(row, None if question is None else Entry(None, question))

    def _update(self, given: dict[int, Entry]) -> list[Answer] | None:
        """Set labels; return the new answers, or None if a row had another label before."""
        new, is_changed = {}, False
        with self._moving(len(given)):
            for row, entry in given.items():
                before = self.entries.get(row)
                if before is None:
                    new[row] = entry
                elif before.label != entry.label:
                    is_changed = True
                self._put(row, entry)
        return None if is_changed else self._as_answers(new)

    def _as_answers(self, entries: dict[int, Entry]) -> list[Answer]:
        asked = self._question_of
        return [Answer(row, entry.label, row in asked) for row, entry in entries.items()]

    def _add_question(self, asked: AskedRow, entry: Entry, by: str | None) -> list[Answer] | None:
        self.questions.append(asked)
        number = len(self.questions)
        self._question_of[asked.row] = number
        answers = self._label_rows((asked.row, *asked.others), entry._replace(question=number), by)
        self._categories.add_question(asked.row)
        return answers

    def _change(self, question: int, label: str | None, by: str | None) -> None:
        """Change the row that was asked, and rows labelled with it and not relabelled since."""
        asked = self.questions[question - 1]
        self._relabel(asked.row, Entry(label, question), by)
        with self._moving(len(asked.others)):
            for row in asked.others:
                entry = self.entries.get(row)
                if entry is None or entry.question != question:
                    continue
                if label is not None or row in self._question_of:
                    self._relabel(row, Entry(label, question), by)
                else:
                    self._remember(row)
                    self.opinions.forget(row)
                    self._put(row, None)  # never asked and no longer labelled: open again

    def _relabel(self, row: int, entry: Entry, by: str | None) -> None:
        self._remember(row)
        self._put(row, entry)
        if entry.label is None:
            self.opinions.forget(row)
        else:
            self.opinions.record((row,), Opinion(entry.label, entry.question, by))

    def _rename(self, old: set[str], new: str) -> None:
        rows = [row for name in old for row in self._categories[name]]
        naming = self.opinions.naming(old)
        for row in (*rows, *naming):
            self._remember(row)
        self.opinions.rename(naming, old, new)
        self._categories.rename(old, new)
        for row in rows:
            self.entries[row] = self.entries[row]._replace(label=new)

    def _delete(self, name: str) -> None:
        """Fall back to the latest opinion for another category; without one, remove the label."""
        rows, naming = list(self._categories[name]), self.opinions.naming([name])
        for row in (*rows, *naming):
            self._remember(row)
        self.opinions.delete(naming, name)
        with self._moving(len(rows)):
            for row in rows:
                opinion = self.opinions.latest(row)
                if opinion is not None:
                    self._put(row, Entry(opinion.label, opinion.question))
                elif row in self._question_of:
                    self._put(row, Entry(None, self._question_of[row]))
                else:
                    self._put(row, None)


def _joined(parts: list[list[Answer] | None]) -> list[Answer] | None:
    """Return the new answers of several events; None if one of them needs a fresh asker."""
    known = [answers for answers in parts if answers is not None]
    return [one for answers in known for one in answers] if len(known) == len(parts) else None
