"""State of a session: the label of every row, what was asked, and the experts' opinions.

The state is the result of applying the events of the log that are in effect, one after another.
The latest opinion about a row is its label, whichever expert gave it. Where the latest opinions of
the experts differ, that is a disagreement until they agree or one of them settles it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from kernova.discover.events import (
    Answered,
    Changed,
    Deleted,
    Event,
    Merged,
    Passed,
    PriorLabels,
    Renamed,
    RowLabelled,
    RowsLabelled,
    Settled,
    Skipped,
)
from kernova.discover.questions import Answer
from kernova.errors import InputError, quoted
from kernova.text import listed

_MAX_NAMES: Final = 12


class Opinion(NamedTuple):
    """The label an expert gave a row, and the question it answered, if any."""

    label: str
    question: int | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row that experts label differently.

    Parameters
    ----------
    row : int
        Index of the row in the table.
    opinions : dict of str (or None) to str
        The latest label of each expert, the newest last; None stands for unnamed experts.
    label : str
        The label of the row until the disagreement is settled.
    """

    row: int
    opinions: dict[str | None, str]
    label: str


class Opinions:
    """The latest opinion of each expert about each row.

    Examples
    --------
    >>> from kernova.discover.state import Opinion, Opinions
    >>> opinions = Opinions()
    >>> opinions.record([3, 4], "Anna", Opinion("carp"))
    >>> opinions.record([3], "Bob", Opinion("pike"))
    >>> list(opinions.disputed()), opinions.of(3)
    ([3], {'Anna': 'carp', 'Bob': 'pike'})
    >>> opinions.settle(3, "pike")
    >>> list(opinions.disputed())
    []
    """

    def __init__(self) -> None:
        self._of_row: dict[int, dict[str | None, Opinion]] = {}
        self._shared: dict[int, None] = {}  # rows with the opinions of several experts
        self._settled: dict[int, str] = {}

    def of(self, row: int) -> dict[str | None, str]:
        """Return each expert's latest label of a row, the newest last."""
        return {by: opinion.label for by, opinion in self._of_row.get(row, {}).items()}

    def latest(self, row: int) -> Opinion | None:
        """Return the newest opinion about a row."""
        opinions = self._of_row.get(row)
        return next(reversed(opinions.values())) if opinions else None

    def n_experts(self, row: int) -> int:
        """Return how many experts have labelled a row."""
        return len(self._of_row.get(row, ()))

    def disputed(self) -> Iterator[int]:
        """Return the rows that experts label differently and that are not settled."""
        for row in self._shared:
            labels = {opinion.label for opinion in self._of_row[row].values()}
            if len(labels) > 1 and row not in self._settled:
                yield row

    def record(self, rows: Iterable[int], by: str | None, opinion: Opinion) -> None:
        """Record an expert's opinion about rows."""
        for row in rows:
            opinions = self._of_row.setdefault(row, {})
            opinions.pop(by, None)  # a repeated opinion moves to the end
            opinions[by] = opinion
            if len(opinions) > 1:
                self._shared.setdefault(row)
                if self._settled.get(row, opinion.label) != opinion.label:
                    del self._settled[row]  # the new opinion reopens the disagreement

    def forget(self, row: int) -> None:
        """Remove all opinions about a row."""
        self._of_row.pop(row, None)
        self._shared.pop(row, None)
        self._settled.pop(row, None)

    def settle(self, row: int, label: str) -> None:
        """End a disagreement."""
        self._settled[row] = label

    def rename(self, old: set[str], new: str) -> None:
        """Replace some categories by another in all opinions."""
        for opinions in self._of_row.values():
            for by, opinion in opinions.items():
                if opinion.label in old:
                    opinions[by] = opinion._replace(label=new)
        for row, label in self._settled.items():
            if label in old:
                self._settled[row] = new

    def delete(self, name: str) -> None:
        """Remove all opinions that name a category."""
        for row, opinions in list(self._of_row.items()):
            for by in [by for by, opinion in opinions.items() if opinion.label == name]:
                del opinions[by]
            if len(opinions) < 2:
                self._shared.pop(row, None)
            if not opinions:
                del self._of_row[row]
        self._settled = {
            row: label
            for row, label in self._settled.items()
            if label != name and row in self._shared
        }


class Entry(NamedTuple):
    """The label of a row, and the question whose answer gave it, if any."""

    label: str | None
    question: int | None = None


class AskedRow(NamedTuple):
    """The row of a question, and the rows that were labelled with it."""

    row: int
    others: tuple[int, ...] = ()


class SessionState:
    """Labels, questions and opinions after the events in effect.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    events : iterable
        Events in effect, in order; see :mod:`kernova.discover.log`.

    Attributes
    ----------
    entries : dict of int to Entry
        Every row that was labelled or skipped, in that order; a skipped row has no label.
    questions : list of AskedRow
        The questions, in order.
    categories : dict of str to list of int
        The rows of each category; the categories in the order of their first rows.
    curve : list of int
        Number of categories found after each question, under the present labels.
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
    """

    def __init__(self, n_rows: int, events: Iterable[Event] = ()) -> None:
        self.n_rows = n_rows
        self.entries: dict[int, Entry] = {}
        self.questions: list[AskedRow] = []
        self.opinions = Opinions()
        self._categories: dict[str, list[int]] = {}
        self._curve: list[int] = []
        self._is_counted = True  # whether categories and curve follow the entries
        self._question_of: dict[int, int] = {}  # the row of a question to its number
        for event in events:
            self.apply(event)

    @property
    def categories(self) -> dict[str, list[int]]:
        """The rows of each category; the categories in the order of their first rows."""
        self._recount()
        return self._categories

    @property
    def curve(self) -> list[int]:
        """Number of categories found after each question, under the present labels."""
        self._recount()
        return self._curve

    def label_of(self, row: int) -> str | None:
        """Return the label of a row, or None."""
        entry = self.entries.get(row)
        return None if entry is None else entry.label

    def answers(self) -> list[Answer]:
        """Return all answers for a fresh asker, in the order in which they were first given."""
        return self._as_answers(self.entries)

    def check(self, event: Event) -> None:
        """Raise if an event does not fit the state."""
        match event:
            case PriorLabels(rows, labels):
                self._check_prior(rows, labels)
            case Answered(row, _, others):
                self._check_open(row)
                self._check_rows(others)
                _check_distinct((row, *others))
            case Skipped(row):
                self._check_open(row)
            case RowLabelled(row, _) | Passed(row):
                self._check_rows((row,))
            case RowsLabelled(rows, _):
                self._check_rows(rows)
                _check_distinct(rows)
            case Settled(row, _):
                self._check_disputed(row)
            case _:
                self._check_correction(event)

    def _check_correction(self, event: Event) -> None:
        match event:
            case Changed(question, _):
                self._check_question(question)
            case Renamed(old, new):
                self._check_rename(old, new)
            case Merged(into, others):
                self._check_merge(into, others)
            case Deleted(name):
                self._check_category(name)
            case _:
                raise TypeError(f"{event!r} is resolved by the log, not by the state")

    def apply(self, event: Event, by: str | None = None) -> list[Answer] | None:
        """Apply one event in effect, by an expert.

        Returns
        -------
        list of Answer or None
            New answers for an asker that has observed all earlier ones; None when an earlier
            answer no longer holds and a fresh asker is needed.
        """
        self.check(event)
        match event:
            case PriorLabels(rows, labels):
                return self._update(dict(zip(rows, map(Entry, labels), strict=True)))
            case Answered(row, label, others):
                return self._add_question(AskedRow(row, others), label, by)
            case Skipped(row):
                return self._add_question(AskedRow(row), None, by)
            case RowLabelled(row, label):
                return self._label_rows((row,), Entry(label), by)
            case RowsLabelled(rows, label):
                return self._label_rows(rows, Entry(label), by)
            case Settled(row, label):
                self.opinions.settle(row, label)
                return self._update({row: Entry(label)})
            case Passed():
                return []
        self._correct(event, by)
        self._is_counted = False
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

    # --- effect of each kind of event ------------------------------------------------------

    def _label_rows(
        self, rows: tuple[int, ...], entry: Entry, by: str | None
    ) -> list[Answer] | None:
        if entry.label is not None:
            self.opinions.record(rows, by, Opinion(entry.label, entry.question))
        return self._update(dict.fromkeys(rows, entry))

    def _update(self, given: dict[int, Entry]) -> list[Answer] | None:
        """Set labels; return the new answers, or None if a row had another label before."""
        old = self.entries
        new = {row: entry for row, entry in given.items() if row not in old}
        is_changed = len(new) < len(given) and any(
            row in old and old[row].label != entry.label for row, entry in given.items()
        )
        old.update(given)
        if is_changed:
            self._is_counted = False
            return None
        if self._is_counted:
            for row, entry in new.items():
                if entry.label is not None:
                    self._categories.setdefault(entry.label, []).append(row)
        return self._as_answers(new)

    def _as_answers(self, entries: dict[int, Entry]) -> list[Answer]:
        asked = self._question_of
        return [Answer(row, entry.label, row in asked) for row, entry in entries.items()]

    def _add_question(
        self, asked: AskedRow, label: str | None, by: str | None
    ) -> list[Answer] | None:
        self.questions.append(asked)
        number = len(self.questions)
        self._question_of[asked.row] = number
        answers = self._label_rows((asked.row, *asked.others), Entry(label, number), by)
        if self._is_counted:
            self._curve.append(len(self._categories))
        return answers

    def _change(self, question: int, label: str | None, by: str | None) -> None:
        """Change the row that was asked, and rows labelled with it and not relabelled since."""
        asked = self.questions[question - 1]
        self._relabel(asked.row, Entry(label, question), by)
        for row in asked.others:
            entry = self.entries.get(row)
            if entry is None or entry.question != question:
                continue
            if label is not None or row in self._question_of:
                self._relabel(row, Entry(label, question), by)
            else:
                self.opinions.forget(row)
                del self.entries[row]  # never asked and no longer labelled: open again

    def _relabel(self, row: int, entry: Entry, by: str | None) -> None:
        self.entries[row] = entry
        if entry.label is None:
            self.opinions.forget(row)
        else:
            self.opinions.record((row,), by, Opinion(entry.label, entry.question))

    def _rename(self, old: set[str], new: str) -> None:
        self.opinions.rename(old, new)
        for row, entry in self.entries.items():
            if entry.label in old:
                self.entries[row] = entry._replace(label=new)

    def _delete(self, name: str) -> None:
        """Fall back to the latest opinion for another category; without one, remove the label."""
        self.opinions.delete(name)
        for row in [row for row, entry in self.entries.items() if entry.label == name]:
            opinion = self.opinions.latest(row)
            if opinion is not None:
                self.entries[row] = Entry(opinion.label, opinion.question)
            elif row in self._question_of:
                self.entries[row] = Entry(None, self._question_of[row])
            else:
                del self.entries[row]

    def _recount(self) -> None:
        if self._is_counted:
            return
        self._categories, self._curve, self._is_counted = {}, [], True
        for row, entry in self.entries.items():
            if entry.label is not None:
                self._categories.setdefault(entry.label, []).append(row)
            if row in self._question_of:
                self._curve.append(len(self._categories))

    # --- checks ----------------------------------------------------------------------------

    def _check_prior(self, rows: tuple[int, ...], labels: tuple[str, ...]) -> None:
        if self.entries or len(rows) != len(labels):
            raise _damaged("prior labels must come first, one for each row")
        self._check_rows(rows)
        _check_distinct(rows)

    def _check_rows(self, rows: tuple[int, ...]) -> None:
        if rows and not (min(rows) >= 0 and max(rows) < self.n_rows):
            raise _damaged(f"it refers to row {max(rows)}, but the table has {self.n_rows} rows")

    def _check_open(self, row: int) -> None:
        self._check_rows((row,))
        if row in self.entries:
            raise _damaged(f"row {row} was asked, but was already labelled or skipped")

    def _check_disputed(self, row: int) -> None:
        self._check_rows((row,))
        if self.opinions.n_experts(row) < 2:
            raise _damaged(f"row {row} was settled, but fewer than two experts had labelled it")

    def _check_question(self, question: int) -> None:
        n_asked = len(self.questions)
        if not 1 <= question <= n_asked:
            extent = (
                f"there are questions 1 to {n_asked}"
                if n_asked
                else "no question has been asked yet"
            )
            raise InputError(f"There is no question {question} to change: {extent}.")

    def _check_rename(self, old: str, new: str) -> None:
        self._check_category(old)
        if old == new:
            raise InputError(f"The category {quoted(old)} has that name already.")
        if new in self.categories:
            raise InputError(
                f"There is a category {quoted(new)} already. To make one of both, merge "
                f"{quoted(old)} into it."
            )

    def _check_merge(self, into: str, others: tuple[str, ...]) -> None:
        if not others:
            raise InputError(
                f"Nothing to merge into {quoted(into)}: name at least one other category."
            )
        for name in (into, *others):
            self._check_category(name)
        if into in others:
            raise InputError(f"The category {quoted(into)} cannot be merged into itself.")

    def _check_category(self, name: str) -> None:
        if name not in self.categories:
            raise InputError(
                f"There is no category {quoted(name)}. {_existing(list(self.categories))}"
            )


def _existing(names: list[str]) -> str:
    if not names:
        return "There is no category yet."
    return f"There are {listed(names, _MAX_NAMES)}."


def _check_distinct(rows: tuple[int, ...]) -> None:
    if len(set(rows)) != len(rows):
        raise _damaged("it labels a row twice in one event")


def _damaged(reason: str) -> InputError:
    return InputError(f"The log does not fit the table, or is damaged: {reason}.")
