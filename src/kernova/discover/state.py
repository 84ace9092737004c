"""What each expert last said of a row, and where they do not agree.

The last word spoken stands as the row's label, whoever spoke it. Where the experts' last words
differ, that is a disagreement, until they agree or somebody settles it.

What the events of a session say together: who is in which category, and what was asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

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
from kernova.errors import InputError


class Word(NamedTuple):
    """What somebody said of a row, and the question it answered, if it answered one."""

    label: str
    question: int | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A row that experts name differently.

    Parameters
    ----------
    row : int
        The row's place in the table.
    opinions : dict of str (or None) to str
        The last word of each expert, the latest last; None is whoever gave no name.
    label : str
        What stands until it is settled.
    """

    row: int
    opinions: dict[str | None, str]
    label: str


class Opinions:
    """The last word of each expert about each row.

    Examples
    --------
    >>> from kernova.discover.state import Opinions, Word
    >>> opinions = Opinions()
    >>> opinions.say([3, 4], "Anna", Word("carp"))
    >>> opinions.say([3], "Bob", Word("pike"))
    >>> list(opinions.disputed()), opinions.of(3)
    ([3], {'Anna': 'carp', 'Bob': 'pike'})
    >>> opinions.settle(3, "pike")
    >>> list(opinions.disputed())
    []
    """

    def __init__(self) -> None:
        self._words: dict[int, dict[str | None, Word]] = {}
        self._shared: dict[int, None] = {}  # rows of which several have spoken
        self._settled: dict[int, str] = {}

    def of(self, row: int) -> dict[str | None, str]:
        """Give what each expert last said of a row, the latest last."""
        return {by: word.label for by, word in self._words.get(row, {}).items()}

    def latest(self, row: int) -> Word | None:
        """Give the last word about a row."""
        words = self._words.get(row)
        return next(reversed(words.values())) if words else None

    def n_experts(self, row: int) -> int:
        """Count who has spoken about a row."""
        return len(self._words.get(row, ()))

    def disputed(self) -> Iterator[int]:
        """Give the rows that experts name differently and that nobody has settled."""
        for row in self._shared:
            labels = {word.label for word in self._words[row].values()}
            if len(labels) > 1 and row not in self._settled:
                yield row

    def say(self, rows: Iterable[int], by: str | None, word: Word) -> None:
        """Note the word of an expert about rows."""
        for row in rows:
            words = self._words.setdefault(row, {})
            words.pop(by, None)  # what is said again comes last
            words[by] = word
            if len(words) > 1:
                self._shared.setdefault(row)
                if self._settled.get(row, word.label) != word.label:
                    del self._settled[row]  # somebody still does not agree

    def forget(self, row: int) -> None:
        """Let nobody have said anything about a row."""
        self._words.pop(row, None)
        self._shared.pop(row, None)
        self._settled.pop(row, None)

    def settle(self, row: int, label: str) -> None:
        """End a disagreement."""
        self._settled[row] = label

    def rename(self, old: set[str], new: str) -> None:
        """Let all that was said of some categories be said of another."""
        for words in self._words.values():
            for by, word in words.items():
                if word.label in old:
                    words[by] = word._replace(label=new)
        for row, label in self._settled.items():
            if label in old:
                self._settled[row] = new

    def delete(self, name: str) -> None:
        """Let nobody have named any row so."""
        for row, words in list(self._words.items()):
            for by in [by for by, word in words.items() if word.label == name]:
                del words[by]
            if len(words) < 2:
                self._shared.pop(row, None)
            if not words:
                del self._words[row]
        self._settled = {
            row: label
            for row, label in self._settled.items()
            if label != name and row in self._shared
        }


_MOST_NAMES = 12


class Entry(NamedTuple):
    """What is held of one row: its label, and the question whose answer gave it, if any did."""

    label: str | None
    question: int | None = None


class AskedRow(NamedTuple):
    """The row of a question, and the rows that were named with it."""

    row: int
    others: tuple[int, ...] = ()


class Ledger:
    """The state of a session: what the events that count, one by one, made of it.

    Parameters
    ----------
    n_rows : int
        How many rows the table has.
    events : iterable
        Events that count, in their order; see :mod:`kernova.discover.log`.

    Attributes
    ----------
    entries : dict of int to Entry
        Every row that was heard of, in that order; a row that was passed over has no label.
    questions : list of AskedRow
        What was asked, in that order.
    categories : dict of str to list of int
        The rows of each category; the categories in the order of their first rows.
    curve : list of int
        How many categories had been met after each question, under today's labels.
    opinions : Opinions
        The last word of each expert about each row; labels known before are nobody's.

    Examples
    --------
    >>> from kernova.discover.events import Answered, Changed, Skipped
    >>> from kernova.discover.state import Ledger
    >>> ledger = Ledger(9, [Answered(3, "carp"), Skipped(5), Answered(1, "pike", others=(2,))])
    >>> ledger.categories, ledger.curve
    ({'carp': [3], 'pike': [1, 2]}, [1, 1, 2])
    >>> ledger.apply(Changed(3, "carp"))
    >>> ledger.categories, ledger.curve
    ({'carp': [3, 1, 2]}, [1, 1, 1])
    """

    def __init__(self, n_rows: int, events: Iterable[Event] = ()) -> None:
        self.n_rows = n_rows
        self.entries: dict[int, Entry] = {}
        self.questions: list[AskedRow] = []
        self.opinions = Opinions()
        self._categories: dict[str, list[int]] = {}
        self._curve: list[int] = []
        self._is_counted = True  # what follows from the entries is up to date
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
        """How many categories had been met after each question, under today's labels."""
        self._recount()
        return self._curve

    def label_of(self, row: int) -> str | None:
        """Give the row's label, or None."""
        entry = self.entries.get(row)
        return None if entry is None else entry.label

    def answers(self) -> list[Answer]:
        """Give what a fresh asker has to be told, in the order in which it was first heard."""
        return self._as_answers(self.entries)

    def check(self, event: Event) -> None:
        """Refuse an event that makes no sense here."""
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
                raise TypeError(f"{event!r} is settled before the ledger sees it")

    def apply(self, event: Event, by: str | None = None) -> list[Answer] | None:
        """Take in one event that counts, and who said it.

        Returns
        -------
        list of Answer or None
            What an asker that knows everything before has to be told; None when it has been
            told something that is no longer so, and a fresh one is needed.
        """
        self.check(event)
        match event:
            case PriorLabels(rows, labels):
                return self._hear(dict(zip(rows, map(Entry, labels), strict=True)))
            case Answered(row, label, others):
                return self._hear_answer(AskedRow(row, others), label, by)
            case Skipped(row):
                return self._hear_answer(AskedRow(row), None, by)
            case RowLabelled(row, label):
                return self._hear_named((row,), Entry(label), by)
            case RowsLabelled(rows, label):
                return self._hear_named(rows, Entry(label), by)
            case Settled(row, label):
                self.opinions.settle(row, label)
                return self._hear({row: Entry(label)})
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

    # --- what each kind does ---------------------------------------------------------------

    def _hear_named(
        self, rows: tuple[int, ...], entry: Entry, by: str | None
    ) -> list[Answer] | None:
        if entry.label is not None:
            self.opinions.say(rows, by, Word(entry.label, entry.question))
        return self._hear(dict.fromkeys(rows, entry))

    def _hear(self, heard: dict[int, Entry]) -> list[Answer] | None:
        """Note labels; say what is new of it, or None if a row had been heard of otherwise."""
        old = self.entries
        news = {row: entry for row, entry in heard.items() if row not in old}
        is_otherwise = len(news) < len(heard) and any(
            row in old and old[row].label != entry.label for row, entry in heard.items()
        )
        old.update(heard)
        if is_otherwise:
            self._is_counted = False
            return None
        if self._is_counted:
            for row, entry in news.items():
                if entry.label is not None:
                    self._categories.setdefault(entry.label, []).append(row)
        return self._as_answers(news)

    def _as_answers(self, entries: dict[int, Entry]) -> list[Answer]:
        asked = self._question_of
        return [Answer(row, entry.label, row in asked) for row, entry in entries.items()]

    def _hear_answer(
        self, asked: AskedRow, label: str | None, by: str | None
    ) -> list[Answer] | None:
        self.questions.append(asked)
        number = len(self.questions)
        self._question_of[asked.row] = number
        told = self._hear_named((asked.row, *asked.others), Entry(label, number), by)
        if self._is_counted:
            self._curve.append(len(self._categories))
        return told

    def _change(self, question: int, label: str | None, by: str | None) -> None:
        """Change the row that was asked, and what was named with it and not relabelled since."""
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
                del self.entries[row]  # never asked, and no longer named: it is open again

    def _relabel(self, row: int, entry: Entry, by: str | None) -> None:
        self.entries[row] = entry
        if entry.label is None:
            self.opinions.forget(row)
        else:
            self.opinions.say((row,), by, Word(entry.label, entry.question))

    def _rename(self, old: set[str], new: str) -> None:
        self.opinions.rename(old, new)
        for row, entry in self.entries.items():
            if entry.label in old:
                self.entries[row] = entry._replace(label=new)

    def _delete(self, name: str) -> None:
        """Let the last word of another name stand; else the row is as if nobody had named it."""
        self.opinions.delete(name)
        for row in [row for row, entry in self.entries.items() if entry.label == name]:
            word = self.opinions.latest(row)
            if word is not None:
                self.entries[row] = Entry(word.label, word.question)
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

    # --- what makes no sense ---------------------------------------------------------------

    def _check_prior(self, rows: tuple[int, ...], labels: tuple[str, ...]) -> None:
        if self.entries or len(rows) != len(labels):
            raise _damaged("prior labels come first, one for each row")
        self._check_rows(rows)
        _check_distinct(rows)

    def _check_rows(self, rows: tuple[int, ...]) -> None:
        if rows and not (min(rows) >= 0 and max(rows) < self.n_rows):
            raise _damaged(f"it speaks of row {max(rows)}, but the table has {self.n_rows}")

    def _check_open(self, row: int) -> None:
        self._check_rows((row,))
        if row in self.entries:
            raise _damaged(f"row {row} was asked, but had been heard of before")

    def _check_disputed(self, row: int) -> None:
        self._check_rows((row,))
        if self.opinions.n_experts(row) < 2:
            raise _damaged(f"row {row} was settled, but fewer than two had named it")

    def _check_question(self, question: int) -> None:
        n_asked = len(self.questions)
        if not 1 <= question <= n_asked:
            extent = f"there are questions 1 to {n_asked}" if n_asked else "nothing was asked yet"
            raise InputError(f"There is no question {question} to change: {extent}.")

    def _check_rename(self, old: str, new: str) -> None:
        self._check_category(old)
        if old == new:
            raise InputError(f"The category {old!r} has that name already.")
        if new in self.categories:
            raise InputError(
                f"There is a category {new!r} already. To make one of both, merge {old!r} into it."
            )

    def _check_merge(self, into: str, others: tuple[str, ...]) -> None:
        if not others:
            raise InputError(f"Nothing to merge into {into!r}: name at least one other category.")
        for name in (into, *others):
            self._check_category(name)
        if into in others:
            raise InputError(f"The category {into!r} cannot be merged into itself.")

    def _check_category(self, name: str) -> None:
        if name not in self.categories:
            raise InputError(f"There is no category {name!r}. {_existing(list(self.categories))}")


def _existing(names: list[str]) -> str:
    if not names:
        return "None has been named yet."
    few = ", ".join(map(repr, names[:_MOST_NAMES]))
    extra = len(names) - _MOST_NAMES
    return f"There are {few}{f' and {extra} more' if extra > 0 else ''}."


def _check_distinct(rows: tuple[int, ...]) -> None:
    if len(set(rows)) != len(rows):
        raise _damaged("it names a row twice at once")


def _damaged(reason: str) -> InputError:
    return InputError(f"The log does not fit the table, or is damaged: {reason}.")
