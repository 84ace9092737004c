"""The loop of question and answer: what an expert can say, and what is then so.

Everything said becomes an event (:mod:`kernova.discover.events`) in a log that only grows. What
is so is what the :class:`~kernova.discover.state.Ledger` makes of the events that count. So a
log, from memory or from disk, always leads back to the same state and the same next question.
"""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Self

import pandas as pd
from numpy.typing import ArrayLike

from kernova.discover.asking import Asking
from kernova.discover.events import Event, PriorLabels, Record
from kernova.discover.log import LogBook
from kernova.discover.preparation import Preparation
from kernova.discover.questions import AskedQuestion, OpenQuestions, Strategy
from kernova.discover.rows import RowIds, finite_numbers, given_ids, prior_labels
from kernova.discover.store import ProjectHead, ProjectStore, open_project
from kernova.discover.table_identity import table_digest, table_fingerprint
from kernova.errors import InputError

__all__ = ["AskedQuestion", "CategoryDiscovery"]

Known = Mapping[Hashable, object] | ArrayLike


class CategoryDiscovery(Asking):
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
    log_, records_ : tuple
        Everything that was said, in order, as events and with who said it; nothing ever leaves it.
    said_ : list of Said
        The same with what became of it: whether it still counts.
    open_questions_ : dict
        The open question of each expert.
    disagreements_ : list of Disagreement
        Rows that experts name differently.
    n_questions_, n_skipped_, n_labelled_ : int
        How many questions were asked, how many of them passed over, how many rows have a label.

    Notes
    -----
    ``undo`` takes back the last thing said, whatever it was, and can be repeated; what it took
    back stays in the log. Prior labels are not undone: label such a row anew instead.

    Several experts may answer in turn, each under a name: no row is open at two of them at once.
    The last word about a row stands as its label; where experts' last words differ, that is a
    disagreement, until one of them gives way or somebody settles it. Calls must not overlap, but
    may come from different threads; only ``prepare`` may run beside others.

    Whatever is said returns the number of its record in the log, counted from 1. It may come with
    a key; said again with the same key, it is not recorded twice.

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
    2
    >>> list(session.categories_), session.curve_
    (['cod', 'eel'], [2])
    >>> session.change(1, "cod"), session.undo()
    (3, 4)
    >>> len(session.log_), list(session.categories_)
    (4, ['cod', 'eel'])
    """

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
            self._take_up(store.records if store is not None else (), store)
            self._begin_with(prior)
        except InputError:
            if store is not None:
                store.close()
            raise
        return self

    def replay(
        self,
        log: Sequence[Record | Event],
        X: ArrayLike | pd.DataFrame,
        ids: Iterable[Hashable] | None = None,
    ) -> Self:
        """Bring back the session that left this log; X and ids are those it was begun with.

        Parameters
        ----------
        log : sequence of records or events
            What ``records_`` or ``log_`` was.
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

    # --- how it is done --------------------------------------------------------------------

    def _meet(self, X: ArrayLike | pd.DataFrame, ids: Iterable[Hashable] | None) -> None:
        self.close()
        self.__dict__.pop("_book", None)  # a start that fails leaves nothing half begun
        numbers = finite_numbers(X)
        self._ids = RowIds(given_ids(ids, X, len(numbers)), len(numbers))
        self._chosen = _strategy_object(self.strategy)
        self._preparation = Preparation(numbers, n_jobs=self.n_jobs, random_state=self.random_state)
        self._starting = Lock()

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
        return open_project(project, head, lambda: table_digest(table, self._ids.ids))

    def _take_up(self, log: Sequence[Record | Event], store: ProjectStore | None = None) -> None:
        self._asker, self._open = None, OpenQuestions()
        self._book = LogBook(len(self._ids.ids), log, store)

    def _begin_with(self, prior: PriorLabels) -> None:
        if prior.rows and not self._book.records:
            self._record(prior)
        elif prior.rows and self._book.records[0].event != prior:
            raise InputError(
                "The prior labels are not those that the project was begun with. Give the same "
                "ones, or none, or begin another project."
            )


def _strategy_object(strategy: str | Strategy | None) -> Strategy:
    if strategy is not None and not isinstance(strategy, str):
        return strategy
    from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named

    return strategy_named(DEFAULT_STRATEGY if strategy is None else strategy)
