"""Results of a session: a read-only view of its state and log."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, islice
from typing import Any, Final, Generic, NamedTuple, NoReturn, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kernova.discover.events import Confidence, Event, LogEntry, Record
from kernova.discover.log import EventLog
from kernova.discover.notebook_view import session_html, summary_html
from kernova.discover.opinions import Disagreement, Opinion
from kernova.discover.questions import AskedQuestion, OpenQuestions
from kernova.discover.review.annotations import Annotations
from kernova.discover.rows import RowIds
from kernova.discover.state import SessionState, Status
from kernova.discover.stopping import Progress
from kernova.errors import InputError
from kernova.typing import Indices, Mask


class CategoryCounts(NamedTuple):
    """Number of rows of a category, how many were asked about or accepted, and the first."""

    name: str
    n_rows: int
    n_asked: int
    first_row: int
    n_accepted: int = 0


class SessionResults:
    """Categories, labels, counts and history of a session.

    The view follows the session: every read gives the present state.

    Parameters
    ----------
    ids : RowIds
        Ids of the rows.
    log : EventLog
        The log and the state it leads to.
    open_questions : OpenQuestions
        The questions that are open.
    """

    def __init__(self, ids: RowIds, log: EventLog, open_questions: OpenQuestions) -> None:
        self._ids = ids
        self._log = log
        self._open = open_questions

    @property
    def _state(self) -> SessionState:
        return self._log.state  # another object after an undo

    # --- rows and categories ---------------------------------------------------------------

    @property
    def ids(self) -> list[Any]:
        """Ids of the rows."""
        return self._ids.ids

    @property
    def categories(self) -> dict[str, tuple[int, ...]]:
        """Row indices of each category, in order of discovery."""
        return {name: tuple(rows) for name, rows in self._state.categories.items()}

    @property
    def category_sizes(self) -> dict[str, int]:
        """Number of labelled rows of each category; faster than ``categories``."""
        return {name: len(rows) for name, rows in self._state.categories.items()}

    @property
    def category_counts(self) -> list[CategoryCounts]:
        """Counts of each category, in order of discovery."""
        state = self._state
        accepted = state.accepted.__contains__
        return [
            CategoryCounts(name, len(rows), state.n_asked(rows), rows[0], sum(map(accepted, rows)))
            for name, rows in state.categories.items()
        ]

    @property
    def progress(self) -> Progress:
        """What stopping advice follows from."""
        state = self._state
        met = [rows for rows in state.categories.values() if state.question_about(rows[0])]
        firsts = [state.question_about(rows[0]) or 0 for rows in met]
        skipped = sorted(state.question_about(row) or 0 for row in state.skipped)
        last_new = max(firsts, default=0)
        n_asked = len(state.questions)
        return Progress(
            asked=n_asked,
            seen=len(state.categories),
            last_new=last_new,
            n_named=n_asked - len(skipped),
            named_since=n_asked - last_new - (len(skipped) - bisect_right(skipped, last_new)),
            n_once=sum(map(self._is_asked_once, met)),
            sum_of_firsts=sum(number - bisect_right(skipped, number) for number in firsts),
        )

    def _is_asked_once(self, rows: Iterable[int]) -> bool:
        asked = (row for row in rows if self._state.question_about(row) is not None)
        return len(list(islice(asked, 2))) == 1

    def has_category(self, name: str) -> bool:
        """Return whether a row has this label."""
        return self._state.has_category(name)

    @property
    def labels(self) -> NDArray[np.object_]:
        """Label of each row, or None."""
        names = np.array([None, *self._state.categories], dtype=object)
        return names[np.maximum(self.codes(len(names)), 0)]

    def codes(self, most: int) -> Indices:
        """Return the position of each row's category, from 1; 0 for open rows, -1 for skipped ones.

        Rows about which an expert was unsure count as skipped.

        Positions above ``most`` become ``most``.
        """
        codes = np.zeros(self._state.n_rows, dtype=np.intp)
        codes[self.asked] = -1
        codes[list(self._state.unsure)] = -1
        categories = self._state.categories.values()
        sizes = [len(rows) for rows in categories]
        rows = np.fromiter(chain.from_iterable(categories), dtype=np.intp, count=sum(sizes))
        codes[rows] = np.repeat(np.minimum(np.arange(1, len(sizes) + 1), most), sizes)
        return codes

    @property
    def label_questions(self) -> Indices:
        """Number of the question whose answer gave each row its label; 0 for none."""
        numbers = np.zeros(self._state.n_rows, dtype=np.intp)
        for row, entry in self._state.entries.items():
            if entry.label is not None and entry.question is not None:
                numbers[row] = entry.question
        return numbers

    def label_of(self, row: int) -> str | None:
        """Return the label of a row index, or None."""
        return self._state.label_of(row)

    def question_of(self, row: int) -> int | None:
        """Return the number of the question whose answer gave a row index its label, if any."""
        entry = self._state.entries.get(row)
        return None if entry is None or entry.label is None else entry.question

    def is_asked(self, row: int) -> bool:
        """Return whether a question was about a row index."""
        return self._state.question_about(row) is not None

    def asked_row(self, question: int) -> int | None:
        """Return the row index of a question by its number, or None if there is none."""
        questions = self._state.questions
        return questions[question - 1].row if 1 <= question <= len(questions) else None

    def question_rows(self, question: int) -> tuple[int, ...]:
        """Return the row index of a question, then those that were labelled with it."""
        asked = self._state.questions[question - 1 : question] if question > 0 else []
        return (asked[0].row, *asked[0].others) if asked else ()

    @property
    def is_accepted(self) -> Mask:
        """Whether each row's label is an accepted suggestion of a model, not one given by hand."""
        return self._mask(self._state.accepted)

    @property
    def n_accepted(self) -> int:
        """Number of rows whose label is an accepted suggestion of a model."""
        return len(self._state.accepted)

    @property
    def labels_by_hand(self) -> NDArray[np.object_]:
        """Label of each row that an expert or the table gave; None for all others."""
        labels = self.labels
        labels[self.is_accepted] = None
        return labels

    @property
    def is_unsure(self) -> Mask:
        """Whether an expert was unsure about each row, which then has no label."""
        return self._mask(self._state.unsure)

    @property
    def n_unsure(self) -> int:
        """Number of rows about which an expert was unsure."""
        return len(self._state.unsure)

    @property
    def n_only_skipped(self) -> int:
        """Number of questions that were skipped without the expert being unsure."""
        return len(self._state.skipped - self._state.unsure)

    def _mask(self, rows: Collection[int]) -> Mask:
        found = np.zeros(self._state.n_rows, dtype=np.bool_)
        found[np.fromiter(rows, dtype=np.intp, count=len(rows))] = True
        return found

    def status_of(self, row: int) -> Status:
        """Return "accepted", "unsure", or an empty text for a row index."""
        entry = self._state.entries.get(row)
        return "" if entry is None else entry.status

    def confidence_of(self, row: int) -> Confidence | None:
        """Return how sure the expert was who labelled a row index, if that was recorded."""
        entry = self._state.entries.get(row)
        return None if entry is None else entry.confidence

    @property
    def confidences(self) -> dict[int, Confidence]:
        """How sure the expert was of each row's label, where that was recorded."""
        entries = self._state.entries.items()
        return {row: one.confidence for row, one in entries if one.confidence is not None}

    @property
    def annotations(self) -> Annotations:
        """Notes, flags, further labels, rejected categories, headings and keys."""
        return self._log.annotations

    def opinions_of(self, row: int) -> dict[str | None, str]:
        """Return each expert's latest label of a row index, the newest last."""
        return self._state.opinions.of(row)

    def all_opinions_of(self, row: int) -> tuple[Opinion, ...]:
        """Return everything about the experts' latest opinions of a row index, the newest last."""
        return self._state.opinions.about(row).opinions

    @property
    def shared_rows(self) -> list[int]:
        """Row indices of the rows that several experts have labelled."""
        return list(self._state.opinions.shared())

    def rows_of(self, name: str) -> Sequence[int]:
        """Return the row indices of a category; none if there is no such category."""
        return self._state.categories.get(name, ())

    @property
    def disagreements(self) -> list[Disagreement]:
        """Rows that experts label differently and that are not settled."""
        state = self._state
        return [
            Disagreement(row, state.opinions.of(row), state.label_of(row) or "")
            for row in state.opinions.disputed()
        ]

    @property
    def n_disagreements(self) -> int:
        """Number of rows that experts label differently."""
        return self._state.opinions.n_disputed

    @property
    def n_labelled(self) -> int:
        """Number of rows with a label."""
        return sum(map(len, self._state.categories.values()))

    # --- questions -------------------------------------------------------------------------

    @property
    def curve(self) -> list[int]:
        """Number of categories found after each question, under the present labels."""
        return list(self._state.curve)

    @property
    def asked(self) -> list[int]:
        """Row index of each question, in order."""
        return [asked.row for asked in self._state.questions]

    @property
    def n_questions(self) -> int:
        """Number of questions answered or skipped."""
        return len(self._state.questions)

    @property
    def n_skipped(self) -> int:
        """Number of questions whose row has no label."""
        return len(self._state.skipped)

    @property
    def questions_by_expert(self) -> dict[str | None, int]:
        """Number of questions each expert has answered or skipped, in order of appearance."""
        return self._log.effective.questions_by_expert

    @property
    def open_questions(self) -> dict[str | None, AskedQuestion]:
        """The open question of each expert; None stands for unnamed experts."""
        return dict(self._open.by_expert)

    # --- history ---------------------------------------------------------------------------

    @property
    def records(self) -> tuple[Record, ...]:
        """All records of the log, in order."""
        return tuple(self._log.records)

    def record(self, number: int) -> Record:
        """Return a record by its number, counted from 1."""
        return self._log.records[number - 1]

    @property
    def events(self) -> tuple[Event, ...]:
        """Events of all records, in order."""
        return tuple(record.event for record in self._log.records)

    @property
    def n_records(self) -> int:
        """Number of records, which is the number of the last one."""
        return len(self._log.records)

    @property
    def entries(self) -> list[LogEntry]:
        """All log entries, in order, each with whether it is in effect."""
        return self.history(limit=self.n_records)[::-1]

    def history(self, before: int | None = None, limit: int = 50) -> list[LogEntry]:
        """Return the latest log entries, newest first.

        Parameters
        ----------
        before : int, optional
            Start below this record number; by default with the last.
        limit : int
            Maximum number of entries.
        """
        end = self.n_records if before is None else min(before - 1, self.n_records)
        return [self._log.entry(number) for number in range(end, max(0, end - limit), -1)]

    def last_by(self, expert: str | None, before: int | None = None) -> int | None:
        """Return the number of an expert's last record in effect, before another if given.

        Without a name, it is the last of all experts.
        """
        return self._log.effective.last_by(expert, before)

    def blocker_of_undo(self, number: int) -> int | None:
        """Return the number of a record that prevents the undo of another; None if none does."""
        return self._log.blocker_of_undo(number)

    def order_of_undo(self, number: int) -> list[int]:
        """Return the records to undo so that one is undone, those that depend on it first."""
        return self._log.order_of_undo(number)

    def number_of_key(self, key: str | None) -> int | None:
        """Return the number of the record that a request with this key made, if any."""
        return self._log.number_of_key(key)


class HasResults(Protocol):
    """An object with results."""

    @property
    def results_(self) -> SessionResults:
        """All results."""
        ...


Value = TypeVar("Value")


# Attributes of a session whose result has another name.
_RESULT_OF: Final = {"log_": "events"}


class ResultAttribute(Generic[Value]):
    """Read-only attribute that a session takes from its results."""

    def __init__(self, read: Callable[[SessionResults], Value]) -> None:
        self._read = read

    def __set_name__(self, owner: type, name: str) -> None:
        # help(CategoryDiscovery) shows the documentation of the result.
        self.__doc__ = getattr(SessionResults, _RESULT_OF.get(name, name.rstrip("_"))).__doc__

    @overload
    def __get__(self, session: None, kind: type) -> Self: ...
    @overload
    def __get__(self, session: HasResults, kind: type) -> Value: ...
    def __get__(self, session: HasResults | None, kind: type) -> Value | Self:
        return self if session is None else self._read(session.results_)

    def __set__(self, session: HasResults, value: object) -> NoReturn:
        raise AttributeError("The results of a session cannot be set.")


class ShowsResults:
    """A session that shows its results as attributes of its own."""

    ids_ = ResultAttribute(lambda results: results.ids)
    categories_ = ResultAttribute(lambda results: results.categories)
    category_sizes_ = ResultAttribute(lambda results: results.category_sizes)
    labels_ = ResultAttribute(lambda results: results.labels)
    label_questions_ = ResultAttribute(lambda results: results.label_questions)
    disagreements_ = ResultAttribute(lambda results: results.disagreements)
    n_disagreements_ = ResultAttribute(lambda results: results.n_disagreements)
    n_labelled_ = ResultAttribute(lambda results: results.n_labelled)
    curve_ = ResultAttribute(lambda results: results.curve)
    asked_ = ResultAttribute(lambda results: results.asked)
    n_questions_ = ResultAttribute(lambda results: results.n_questions)
    n_skipped_ = ResultAttribute(lambda results: results.n_skipped)
    questions_by_expert_ = ResultAttribute(lambda results: results.questions_by_expert)
    open_questions_ = ResultAttribute(lambda results: results.open_questions)
    log_ = ResultAttribute(lambda results: results.events)
    records_ = ResultAttribute(lambda results: results.records)
    n_records_ = ResultAttribute(lambda results: results.n_records)
    entries_ = ResultAttribute(lambda results: results.entries)

    # Methods of the results, called with the same arguments.
    label_of = ResultAttribute(lambda results: results.label_of)
    question_of = ResultAttribute(lambda results: results.question_of)
    opinions_of = ResultAttribute(lambda results: results.opinions_of)
    history = ResultAttribute(lambda results: results.history)
    number_of_key = ResultAttribute(lambda results: results.number_of_key)

    def _repr_html_(self: HasResults) -> str:
        """Return a summary for notebooks."""
        try:
            return session_html(self.results_)
        except InputError:  # it has not started
            return summary_html(type(self).__name__, ["This session has not started."])
