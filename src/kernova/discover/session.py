"""The loop of question and answer: what an expert can say, and what is then so.

Everything said becomes an event (:mod:`kernova.discover.events`) in a log that only grows. What
is so is what the :class:`~kernova.discover.ledger.Ledger` makes of the events that count. So a
log, from memory or from disk, always leads back to the same state and the same next question.
"""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import pandas as pd
from numpy.typing import ArrayLike

from kernova.discover.events import (
    Answered,
    Changed,
    Event,
    Merged,
    PriorLabels,
    Renamed,
    RowLabelled,
    Skipped,
    Undone,
)
from kernova.discover.findings import Findings
from kernova.discover.fingerprint import table_fingerprint
from kernova.discover.logbook import LogBook
from kernova.discover.names import category_name
from kernova.discover.questions import Asker, Question, Strategy, tell
from kernova.discover.store import ProjectHead, ProjectStore, open_project
from kernova.discover.table_rows import RowIds, finite_numbers, given_ids, prior_labels
from kernova.errors import InputError

Known = Mapping[Hashable, object] | ArrayLike


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuestion(Question):
    """A question as the expert meets it: with its number, and the row's own id.

    Parameters
    ----------
    number : int
        The question's number, counted from 1; ``change`` takes it.
    id : object
        What the user calls the row.
    """

    number: int = 0
    id: Any = None


class CategoryDiscovery(Findings):
    """Ask an expert about one row after another, so that every category is met soon.

    Parameters
    ----------
    strategy : str, Strategy or None
        How questions are chosen: a name that :func:`kernova.discover.strategies.strategy_named`
        knows, an object of your own, or None for the default.
    n_jobs : int or None
        Threads for preparing the first question; the questions do not depend on it.
    random_state : int
        Where a strategy that draws lots starts.

    Attributes
    ----------
    categories_ : dict of str to tuple of int
        The rows known of each category, by their places in the table; the category met first
        comes first.
    curve_ : list of int
        How many categories had been met after each question, under today's labels.
    labels_ : ndarray of object
        Each row's category, or None.
    label_questions_ : ndarray of int
        For each row, the number of the question whose answer gave its label; 0 for none.
    ids_ : list
        What the rows are called.
    log_ : tuple
        Everything that was said, in order; nothing ever leaves it.
    n_questions_, n_skipped_, n_labelled_ : int
        How many questions were asked, how many of them passed over, how many rows have a label.

    Notes
    -----
    ``undo`` takes back the last thing said, whatever it was, and can be repeated; what it took
    back stays in the log. Prior labels are not undone: label such a row anew instead.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [0.0, 0.0], [9.0, 9.0]])
    >>> session = CategoryDiscovery("random").start(X, ids=["a", "b", "c", "d"], known={"a": "cod"})
    >>> question = session.next_question()
    >>> question.number, question.id in ("b", "c", "d")
    (1, True)
    >>> session.answer("eel")
    >>> list(session.categories_), session.curve_
    (['cod', 'eel'], [2])
    >>> session.change(1, "cod")
    >>> session.undo()
    >>> len(session.log_), list(session.categories_)
    (4, ['cod', 'eel'])
    """

    _asker: Asker | None
    _open: AskedQuestion | None

    def __init__(
        self,
        strategy: str | Strategy | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.strategy = strategy
        self.n_jobs = n_jobs
        self.random_state = random_state

    # --- beginning -------------------------------------------------------------------------

    def start(
        self,
        X: ArrayLike | pd.DataFrame,
        ids: Iterable[Hashable] | None = None,
        known: Known | None = None,
        project: str | os.PathLike[str] | ProjectStore | None = None,
    ) -> Self:
        """Begin with a table, or go on with a project that was begun with it.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_columns)
            Finite numbers.
        ids : iterable, optional
            What the rows are called, each differently. By default a DataFrame's index; else the
            rows' places, from 0.
        known : mapping or array, optional
            Labels known before: by id, or one for each row, missing where there is none.
        project : path or ProjectStore, optional
            File that keeps the log: each answer is on the disk before the call that gave it
            returns. If the file exists, the session goes on where it stood.

        Returns
        -------
        CategoryDiscovery
            The session itself.
        """
        self._meet(X, ids)
        prior = prior_labels(known, self._ids)
        store = self._opened(project, X)
        try:
            self._take_up(store.events if store is not None else (), store)
            self._begin_with(prior)
        except InputError:
            if store is not None:
                store.close()
            raise
        return self

    def replay(
        self,
        log: Sequence[Event],
        X: ArrayLike | pd.DataFrame,
        ids: Iterable[Hashable] | None = None,
    ) -> Self:
        """Bring back the session that left this log; X and ids are those it was begun with.

        Parameters
        ----------
        log : sequence of events
            What ``log_`` was.
        X, ids
            As in ``start``.

        Returns
        -------
        CategoryDiscovery
            The session itself, with the same state and the same next question.
        """
        self._meet(X, ids)
        self._take_up(log)
        return self

    def close(self) -> None:
        """Let go of the project's file, if there is one; everything is on the disk already."""
        book: LogBook | None = getattr(self, "_book", None)
        if book is not None and book.store is not None:
            book.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- asking ----------------------------------------------------------------------------

    def next_question(self) -> AskedQuestion | None:
        """Give the question that is open now, the same until something is said; None at the end.

        Returns
        -------
        AskedQuestion or None
            None when every row has been answered or passed over.
        """
        ledger = self._ledger()
        if self._open is None and len(ledger.entries) < ledger.n_rows:
            question = self._current_asker().propose()
            if question is not None:
                self._open = self._numbered(question)
        return self._open

    def answer(self, label: object) -> None:
        """Say to which category the row of the open question belongs.

        Parameters
        ----------
        label : str or number
            A known category or a new one.
        """
        self._record(Answered(self._open_question().row, category_name(label)))

    def name_cluster(self, label: object, rows: Iterable[Hashable] | None = None) -> None:
        """Answer the open question, and give other rows of its cluster the same name.

        Rows that have a label already keep it.

        Parameters
        ----------
        label : str or number
            A known category or a new one.
        rows : iterable of ids, optional
            Rows to name; by default, all that the question stands for.
        """
        question = self._open_question()
        named = question.members.tolist() if rows is None else map(self._ids.row_of, rows)
        others = {row for row in named if self._ledger().label_of(row) is None} - {question.row}
        self._record(Answered(question.row, category_name(label), tuple(sorted(others))))

    def skip(self) -> None:
        """Pass over the open question; its row is not asked again."""
        self._record(Skipped(self._open_question().row))

    # --- correcting ------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back the last thing said, whatever it was."""
        self._record(Undone())

    def change(self, question: int, label: object) -> None:
        """Answer an earlier question differently; what was named with its row changes, too.

        Parameters
        ----------
        question : int
            The question's number, counted from 1; it may have been skipped.
        label : str, number or None
            The category; None: the question counts as skipped.
        """
        if isinstance(question, bool) or not isinstance(question, Integral):
            raise InputError(f"A question goes by its number, counted from 1; got {question!r}.")
        self._record(Changed(int(question), None if label is None else category_name(label)))

    def label_row(self, row_id: Hashable, label: object) -> None:
        """Label a row out of turn, or once more.

        Parameters
        ----------
        row_id : object
            What the row is called: its id, or its place if no ids were given.
        label : str or number
            A known category or a new one.
        """
        self._ledger()
        row, name = self._ids.row_of(row_id), category_name(label)
        is_open = self._open is not None and self._open.row == row
        self._record(Answered(row, name) if is_open else RowLabelled(row, name))

    def rename(self, old: object, new: object) -> None:
        """Give a category another name, one that no category has.

        Parameters
        ----------
        old, new : str or number
            The names.
        """
        self._record(Renamed(category_name(old), category_name(new)))

    def merge(self, into: object, *others: object) -> None:
        """Make several categories one.

        Parameters
        ----------
        into : str or number
            The category that stays.
        *others : str or number
            Those that become part of it.
        """
        names = dict.fromkeys(map(category_name, others))
        self._record(Merged(category_name(into), tuple(names)))

    # --- how it is done --------------------------------------------------------------------

    def _meet(self, X: ArrayLike | pd.DataFrame, ids: Iterable[Hashable] | None) -> None:
        from kernova.discover.preparation import Preparation

        self.close()
        self.__dict__.pop("_book", None)  # a start that fails leaves nothing half begun
        numbers = finite_numbers(X)
        self._ids = RowIds(given_ids(ids, X, len(numbers)), len(numbers))
        self._chosen = _strategy_object(self.strategy)
        self._preparation = Preparation(numbers, n_jobs=self.n_jobs, random_state=self.random_state)

    def _opened(
        self,
        project: str | os.PathLike[str] | ProjectStore | None,
        X: ArrayLike | pd.DataFrame,
    ) -> ProjectStore | None:
        if project is None or isinstance(project, ProjectStore):
            return project
        table = X if isinstance(X, pd.DataFrame) else self._preparation.X
        n_rows, n_columns = self._preparation.X.shape
        head = ProjectHead(
            fingerprint=table_fingerprint(table, self._ids.ids),
            n_rows=n_rows,
            n_columns=n_columns,
            strategy=self._chosen.name,
            seed=self.random_state,
        )
        return open_project(project, head)

    def _take_up(self, log: Sequence[Event], store: ProjectStore | None = None) -> None:
        self._book = LogBook(len(self._ids.ids), log, store)
        self._asker, self._open = None, None

    def _begin_with(self, prior: PriorLabels) -> None:
        if prior.rows and not self._book.log:
            self._record(prior)
        elif prior.rows and self._book.log[0] != prior:
            raise InputError(
                "The prior labels are not those that the project was begun with. Give the same "
                "ones, or none, or begin another project."
            )

    def _record(self, event: Event) -> None:
        """Let it be so; what was open may no longer be the best question."""
        self._ledger()
        news = self._book.record(event)
        asker, self._asker, self._open = self._asker, None, None
        if news is None or asker is None:
            return  # an asker that was told what is no longer so is built anew when needed
        tell(asker, news)
        self._asker = asker

    def _current_asker(self) -> Asker:
        if self._asker is None:
            asker = self._chosen.start(self._preparation)
            tell(asker, self._book.ledger.answers())
            self._asker = asker
        return self._asker

    def _numbered(self, question: Question) -> AskedQuestion:
        if question.row in self._ledger().entries:
            raise InputError(
                f"The strategy {self._chosen.name!r} asks again for the row "
                f"{self._ids[question.row]!r}, which has been answered; correct the strategy."
            )
        return AskedQuestion(
            row=question.row,
            members=question.members,
            reason=question.reason,
            evidence=question.evidence,
            alternatives=question.alternatives,
            number=len(self._ledger().questions) + 1,
            id=self._ids[question.row],
        )

    def _open_question(self) -> AskedQuestion:
        self._ledger()
        if self._open is None:
            raise InputError("No question is open: call next_question() first.")
        return self._open


def _strategy_object(strategy: str | Strategy | None) -> Strategy:
    if strategy is not None and not isinstance(strategy, str):
        return strategy
    from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named

    return strategy_named(DEFAULT_STRATEGY if strategy is None else strategy)
