"""Category discovery session: questions to experts, their answers, and corrections.

Everything an expert does becomes an event (:mod:`kernova.discover.events`) in an append-only log
(:mod:`kernova.discover.log`). The state (:mod:`kernova.discover.state`) follows from the events in
effect, so that a log in memory or on disk always leads to the same state and the same next
question.
"""

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kernova.discover import events
from kernova.discover.growth.adding import Growing, n_first_rows
from kernova.discover.log import EventLog, check_new_names
from kernova.discover.names import category_name, expert_name
from kernova.discover.preparation import Preparation
from kernova.discover.proposing import Proposer, check_askable, is_current
from kernova.discover.questions import AskedQuestion, OpenQuestions, Question, Strategy
from kernova.discover.results import SessionResults, ShowsResults
from kernova.discover.review import Review
from kernova.discover.rows import (
    Known,
    RowIds,
    column_names,
    finite_numbers,
    given_ids,
    labels_before,
    prior_labels,
)
from kernova.discover.state import SessionState
from kernova.discover.store import ProjectStore, open_table_project
from kernova.discover.strategies import as_strategy
from kernova.errors import InputError, NotSavedError, quoted

__all__ = ["AskedQuestion", "CategoryDiscovery"]

Project = str | os.PathLike[str] | ProjectStore


class CategoryDiscovery(Growing, ShowsResults):
    """Ask experts about one row after another, to find every category with few questions.

    Parameters
    ----------
    strategy : str, Strategy or None
        How questions are chosen: a name in :data:`kernova.discover.strategies.STRATEGIES`, an
        object of your own, or None for the default.
    n_jobs : int or None
        Threads for preparing the first question; the questions do not depend on it.
    random_state : int
        Seed of strategies that use random numbers.

    Attributes
    ----------
    categories_ : dict of str to tuple of int
        Row indices of each category, in order of discovery.
    curve_ : list of int
        Number of categories found after each question, under the present labels.
    labels_ : ndarray of object
        Label of each row, or None.
    label_questions_ : ndarray of int
        Number of the question whose answer gave each row its label; 0 for none.
    ids_ : list
        Ids of the rows.
    log_, records_ : tuple
        The append-only log, as events and as records with expert and time.
    entries_ : list of LogEntry
        The same with the present status of each: whether it is in effect.
    open_questions_ : dict
        The open question of each expert.
    disagreements_ : list of Disagreement
        Rows that experts label differently.
    n_questions_, n_skipped_, n_labelled_ : int
        Number of questions asked, number of them skipped, number of rows with a label.

    Notes
    -----
    Every method that records something takes two optional keywords and returns the number of its
    record in the log, counted from 1. ``expert`` is the name of the person; ``key`` identifies the
    request, and a request repeated with the same key is recorded only once.

    ``undo`` reverts the last record, whatever it was, and can be repeated; the record stays in the
    log. Prior labels cannot be undone: label such a row again instead.

    Several experts may answer in turn, each under a name, and no row is open for two of them at
    once. The latest opinion about a row is its label; where the latest opinions of experts differ,
    that is a disagreement until they agree or one is settled. Calls must not overlap, but may come
    from different threads; only ``prepare`` may run alongside others.

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

    # --- start and end ---------------------------------------------------------------------

    def start(
        self,
        X: ArrayLike | pd.DataFrame,
        ids: Iterable[Hashable] | None = None,
        known: Known | None = None,
        project: Project | None = None,
    ) -> Self:
        """Start a session on a table, or resume its project, and return the session.

        With a project, each answer is on disk before the call that records it returns.

        Parameters
        ----------
        X : array or DataFrame of shape (n_rows, n_columns)
            Finite numbers. Reasons of questions name the columns of a DataFrame.
        ids : iterable, optional
            Distinct ids of the rows. By default the index of a DataFrame, or row indices from 0.
        known : mapping or array, optional
            Prior labels: by id, or one for each row, missing where there is none.
        project : path or ProjectStore, optional
            File that stores the log. If the file exists, the session is resumed.
        """
        self._read_table(X, ids)
        prior = prior_labels(known, self._ids)
        store = self._open_store(project, X)
        try:
            self._begin(store.records if store is not None else (), store)
            self._record_prior(prior)
        except InputError:
            if store is not None:
                store.close()
            raise
        return self

    def replay(
        self,
        log: Sequence[events.Record | events.Event],
        X: ArrayLike | pd.DataFrame,
        ids: Iterable[Hashable] | None = None,
    ) -> Self:
        """Restore a session from its log; X and ids are those it was started with.

        Parameters
        ----------
        log : sequence of records or events
            The value of ``records_`` or ``log_``.
        X, ids
            As in ``start``.

        Returns
        -------
        CategoryDiscovery
            The session itself, with the same state and the same next question.
        """
        self._read_table(X, ids)
        self._begin(log)
        return self

    def close(self) -> None:
        """Close the project file, if there is one; everything is on disk already."""
        log: EventLog | None = getattr(self, "_log", None)
        if log is not None and log.store is not None:
            log.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- questions -------------------------------------------------------------------------

    def prepare(self, *, sample_only: bool = False) -> None:
        """Do the costly work before the first question, or that before questions from a sample.

        It changes neither the log nor open questions, so it may run in its own thread while others
        read, label rows and correct. ``next_question`` waits for it, except about a large table:
        meanwhile its questions come from a sample of the rows.
        """
        self._proposer.prepare(self._started().state.answers(), sample_only=sample_only)

    @property
    def is_ready_(self) -> bool:
        """Whether ``next_question`` need not wait for the preparation."""
        return self._proposer.is_ready(len(self._started().state.questions))

    def next_question(self, expert: str | None = None) -> AskedQuestion | None:
        """Return the open question of an expert, the same until the expert records something.

        Returns
        -------
        AskedQuestion or None
            None when every row is answered, skipped, or open for another expert.
        """
        state, name = self._started().state, expert_name(expert)
        question = self._open.of(name, len(state.questions) + 1)
        if question is not None and is_current(question, name, state):
            return question
        self._open.close(name)
        proposed = self._unlike_question(name) or self._proposer.propose(state, self._open, name)
        return None if proposed is None else self._opened_for(name, proposed)

    def ask_row(
        self, row_id: Hashable, reason: str, expert: str | None = None, *, is_blind: bool = False
    ) -> AskedQuestion:
        """Open a question about a given row, in place of the expert's open question.

        Parameters
        ----------
        row_id : object
            Id of the row. It must not be answered or skipped, nor open for another expert.
        reason : str
            The reason for asking about it, in a sentence.
        expert : str, optional
            Name of the expert.
        is_blind : bool
            Whether to ask for a further opinion, on a row with labels by other experts only.

        Returns
        -------
        AskedQuestion
            The question, which represents this row alone.
        """
        state, name = self._started().state, expert_name(expert)
        row = self._ids.row_of(row_id)
        check_askable(row, row_id, name, state, self._open, is_blind=is_blind)
        rows = np.array([row], dtype=np.intp)
        return self._opened_for(name, Question(row, rows, reason, is_blind=is_blind))

    def release(self, expert: str | None = None) -> None:
        """Close an expert's open question, if any, so that others may be asked it."""
        self._started()
        self._open.close(expert_name(expert))

    # --- answers ---------------------------------------------------------------------------

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Save everything that is recorded within with one write, which many answers share.

        Nothing of it is on disk before the end of the block. If it cannot be saved, the end raises
        :class:`~kernova.errors.NotSavedError`, and log, state and open questions are as before.

        Examples
        --------
        >>> import numpy as np
        >>> from kernova import CategoryDiscovery
        >>> session = CategoryDiscovery("random").start(np.array([[0.0], [1.0], [9.0]]))
        >>> with session.batch():
        ...     numbers = session.label_row(0, "cod"), session.label_row(2, "eel")
        >>> numbers, session.n_labelled_
        ((1, 2), 2)
        """
        log, questions = self._started(), dict(self._open.by_expert)
        try:
            with log.batch():
                yield
        except NotSavedError:
            self._open.by_expert = questions
            self._proposer.observe(None)
            raise

    def answer(
        self,
        label: object,
        *,
        confidence: events.Confidence | None = None,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Label the row of the open question; see Notes for ``expert``, ``key`` and the result.

        ``confidence`` may say how sure the expert is: "low", "medium" or "high". If another expert
        has labelled the row in the meantime, this is a further opinion.
        """
        return self._record(lambda name: self._answered(name, label, (), confidence), expert, key)

    def name_cluster(
        self,
        label: object,
        rows: Iterable[Hashable] | None = None,
        *,
        confidence: events.Confidence | None = None,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Answer the open question, and give other rows of its cluster the same label.

        ``rows`` are ids, by default of all rows that the question represents. Rows that have a
        label keep it, and rows open for other experts are left out.
        """

        def event(name: str | None) -> events.Event:
            question = self._open_question(name)
            named = question.members.tolist() if rows is None else map(self._ids.row_of, rows)
            excluded = {question.row, *self._open.rows_besides(name).tolist()}
            label_of = self._state.label_of
            others = {row for row in named if row not in excluded and label_of(row) is None}
            return self._answered(name, label, tuple(sorted(others)), confidence)

        return self._record(event, expert, key)

    def skip(
        self, *, unsure: bool = False, expert: str | None = None, key: str | None = None
    ) -> int:
        """Skip the open question; its row is not asked about again.

        With ``unsure`` the row is listed among those that the expert could not decide.
        """

        def event(name: str | None) -> events.Event:
            question = self._open_question(name)
            if question.row in self._state.entries:
                return events.Passed(question.row, question.is_blind or None)
            return events.Unsure(question.row) if unsure else events.Skipped(question.row)

        return self._record(event, expert, key)

    # --- corrections -----------------------------------------------------------------------

    def undo(
        self, *, entry: int | None = None, expert: str | None = None, key: str | None = None
    ) -> int:
        """Undo the last record of an expert or, without a name, the last of all.

        With ``entry``, it is the record with this number. It works even if others have continued
        since; if a later record depends on it, an error names that one and nothing changes.
        """

        def event(name: str | None) -> events.Undone:
            if entry is not None:
                return events.Undone(entry, entry)
            number = None if name is None else self._log.effective.last_by(name)
            if name is not None and number is None:
                raise InputError(f"There is nothing by {quoted(name)} to undo.")
            last = self._log.effective.last()
            return events.Undone(number, last if number is None else number)

        return self._record(event, expert, key)

    def change(
        self, question: int, label: object, *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Change the answer to an earlier question, and the labels of the rows labelled with it.

        ``question`` is its number, counted from 1; it may have been skipped. With the label None
        the question becomes skipped.
        """
        if isinstance(question, bool) or not isinstance(question, Integral):
            raise InputError(
                f"question must be its number, counted from 1; got {quoted(question)}."
            )
        category = None if label is None else category_name(label)

        def event(_: str | None) -> events.Changed:
            asked = self._state.questions[question - 1 : question] if question > 0 else []
            return events.Changed(int(question), category, asked[0].row if asked else None)

        return self._record(event, expert, key)

    def label_row(
        self,
        row_id: Hashable,
        label: object,
        *,
        confidence: events.Confidence | None = None,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Label any row, or change its label; for the row of the open question, answer it."""
        self._started()
        row, category = self._ids.row_of(row_id), category_name(label)

        def event(name: str | None) -> events.Event:
            if name in self._open.holder_of(row):
                return self._answered(name, category, (), confidence)
            return events.RowLabelled(row, category, confidence)

        return self._record(event, expert, key)

    def label_rows(
        self,
        row_ids: Iterable[Hashable],
        label: object,
        *,
        confidence: events.Confidence | None = None,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Label several rows, or change their labels, in one record."""
        self._started()
        rows = tuple(dict.fromkeys(map(self._ids.row_of, row_ids)))
        if not rows:
            raise InputError("There is no row to label: give at least one id.")
        event = events.RowsLabelled(rows, category_name(label), confidence)
        return self._record(lambda _: event, expert, key)

    def rename(
        self, old: object, new: object, *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Rename a category; the new name must not be in use."""
        event = events.Renamed(category_name(old), category_name(new))
        return self._record(lambda _: event, expert, key)

    def merge(
        self, into: object, *others: object, expert: str | None = None, key: str | None = None
    ) -> int:
        """Merge other categories into one."""
        event = events.Merged(category_name(into), tuple(dict.fromkeys(map(category_name, others))))
        return self._record(lambda _: event, expert, key)

    def delete(self, name: object, *, expert: str | None = None, key: str | None = None) -> int:
        """Delete a category: its asked rows become skipped, its other rows open again.

        A row that another expert has labelled differently gets that label.
        """
        event = events.Deleted(category_name(name))
        return self._record(lambda _: event, expert, key)

    def settle(
        self, row_id: Hashable, label: object, *, expert: str | None = None, key: str | None = None
    ) -> int:
        """Settle a disagreement: the row gets this label, one of those given or another."""
        self._started()
        row, category = self._ids.row_of(row_id), category_name(label)

        def event(_: str | None) -> events.Event:
            if self._state.opinions.n_experts(row) < 2:
                raise InputError(
                    f"There is no disagreement about the row {quoted(row_id)} to settle: fewer "
                    "than two experts have labelled it."
                )
            return events.Settled(row, category)

        return self._record(event, expert, key)

    @property
    def review(self) -> Review:
        """Accepted and rejected suggestions, undecided rows, notes, flags, headings and keys."""
        self._started()
        return self._review

    # --- results, documented at SessionResults ---------------------------------------------

    @property
    def results_(self) -> SessionResults:
        """All results, as a read-only view that follows the session."""
        self._started()
        return self._results

    @property
    def strategy_(self) -> Strategy:
        """The strategy object that chooses the questions."""
        self._started()
        return self._strategy

    @property
    def preparation_(self) -> Preparation:
        """The table as strategies see it, with everything computed from it so far."""
        self._started()
        return self._preparation

    @property
    def project_(self) -> ProjectStore | None:
        """The project that stores the log, if there is one."""
        return self._started().store

    @property
    def said_(self) -> list[events.LogEntry]:
        """Former name of ``entries_``."""
        warnings.warn("said_ is now called entries_.", DeprecationWarning, stacklevel=2)
        return self.entries_

    # --- internals -------------------------------------------------------------------------

    @property
    def _state(self) -> SessionState:
        return self._log.state  # another object after an undo

    def _read_table(self, X: ArrayLike | pd.DataFrame, ids: Iterable[Hashable] | None) -> None:
        self.close()
        self.__dict__.pop("_log", None)  # a start that fails leaves the session not started
        numbers = finite_numbers(X)
        self._ids = RowIds(given_ids(ids, X, len(numbers)), len(numbers))
        self._strategy = as_strategy(self.strategy)
        jobs, seed, names = self.n_jobs, self.random_state, column_names(X)
        self._preparation = Preparation(numbers, n_jobs=jobs, random_state=seed, columns=names)

    def _open_store(
        self, project: Project | None, X: ArrayLike | pd.DataFrame
    ) -> ProjectStore | None:
        if project is None:
            return None
        if not isinstance(project, ProjectStore):
            table = X if isinstance(X, pd.DataFrame) else self._preparation.X
            wanted = None if self.strategy is None else self._strategy.name
            project = open_table_project(project, table, self._ids.ids, wanted, self.random_state)
        if self.strategy is None:
            self._strategy = as_strategy(project.head.strategy)  # perhaps a former default
        return project

    def _begin(
        self, log: Sequence[events.Record | events.Event], store: ProjectStore | None = None
    ) -> None:
        self._open = OpenQuestions()
        self._proposer = Proposer(self._strategy, self._preparation)
        self._log = EventLog(n_first_rows(len(self._ids.ids), log), log, store)
        self._results = SessionResults(self._ids, self._log, self._open)
        self._review = Review(self._ids, self._record, self._results.label_of)

    def _record_prior(self, prior: events.PriorLabels) -> None:
        records = self._log.records
        prior = labels_before(prior, self._log.n_first_rows)
        if prior.rows and not records:
            self._append(prior)
        elif prior.rows and records[0].event != prior:
            raise InputError(
                "The prior labels differ from those that the project was started with. Give the "
                "same ones or none, or start another project."
            )

    def _record(
        self, event_by: Callable[[str | None], events.Event], expert: str | None, key: str | None
    ) -> int:
        """Record an expert's event, unless a request with the same key was recorded."""
        number = self._started().number_of_key(events.checked_key(key))
        if number is not None:
            return number
        name = expert_name(expert)
        event = event_by(name)
        check_new_names(event, self._state.has_category)
        return self._append(event, name, key)

    def _append(
        self, event: events.Event, expert: str | None = None, key: str | None = None
    ) -> int:
        new_answers = self._log.append(events.Record(event, expert, key, events.now()))
        if not isinstance(event, events.RemarkEvent):
            self._open.close(expert)
        self._proposer.observe(new_answers)
        return len(self._log.records)

    def _answered(
        self,
        name: str | None,
        label: object,
        others: tuple[int, ...] = (),
        confidence: events.Confidence | None = None,
    ) -> events.Event:
        question, category = self._open_question(name), category_name(label)
        if question.row not in self._state.entries:
            return events.Answered(question.row, category, others, confidence)
        if others:
            return events.RowsLabelled((question.row, *others), category, confidence)
        return events.RowLabelled(question.row, category, confidence, question.is_blind or None)

    def _open_question(self, name: str | None) -> AskedQuestion:
        question = self._open.by_expert.get(name)
        if question is None:
            raise InputError("No question is open: call next_question() first.")
        return question

    def _opened_for(self, name: str | None, question: Question) -> AskedQuestion:
        row_id = self._ids[question.row]
        if question.row in self._state.entries and not question.is_blind:
            raise InputError(
                f"The strategy {quoted(self._strategy.name)} asks again for the row "
                f"{quoted(row_id)}, which has been answered; correct the strategy."
            )
        asked = question.numbered(len(self._state.questions) + 1, row_id)
        self._open.open(name, asked)
        return asked
