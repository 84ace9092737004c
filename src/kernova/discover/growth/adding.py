"""Sessions that grow: new rows behind those of the table, and questions about the unusual ones."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kernova.discover.events import Event, Record, RowsAdded, checked_key, now
from kernova.discover.growth.batches import BatchJudgement, UnlikeRows, batch_event
from kernova.discover.growth.sources import Source, StoredRows
from kernova.discover.log import EventLog
from kernova.discover.names import expert_name
from kernova.discover.preparation import Preparation
from kernova.discover.proposing import Proposer
from kernova.discover.questions import OpenQuestions, Question, Strategy
from kernova.discover.rows import Known, RowIds, column_names, finite_numbers, prior_labels
from kernova.errors import InputError, quoted
from kernova.tables.identity import table_digest, table_fingerprint
from kernova.text import first_few
from kernova.typing import Matrix


def n_first_rows(n_rows: int, log: Sequence[Record | Event]) -> int:
    """Return how many rows of a table were there before the batches of a log.

    Examples
    --------
    >>> from kernova.discover.events import RowsAdded, Skipped
    >>> from kernova.discover.growth.adding import n_first_rows
    >>> n_first_rows(65, [Skipped(4), RowsAdded(60, 5, "f1ce")])
    60
    """
    said = (one.event if isinstance(one, Record) else one for one in log)
    n_first = n_rows - sum(one.n_rows for one in said if isinstance(one, RowsAdded))
    if n_first < 1:
        raise InputError(
            f"The log adds {n_rows - n_first:,} rows to a table, but there are only {n_rows:,} in "
            "all. Give all rows, those that were added behind the others."
        )
    return n_first


class Growing:
    """Part of a session that adds rows to its table."""

    _log: EventLog
    _ids: RowIds
    _open: OpenQuestions
    _preparation: Preparation
    _proposer: Proposer
    _strategy: Strategy
    _unlike: UnlikeRows = UnlikeRows(())

    def add_rows(
        self,
        X: ArrayLike | pd.DataFrame,
        ids: Iterable[Hashable] | None = None,
        *,
        known: Known | None = None,
        judgement: BatchJudgement | None = None,
        stored: StoredRows | None = None,
        expert: str | None = None,
        key: str | None = None,
    ) -> int:
        """Add new rows behind those of the table; what is known of the others stays.

        The rows are part of the table from now on, and of the project. To open it again, give all
        rows in this order. Rows cannot be taken away again.

        Parameters
        ----------
        X : array or DataFrame of shape (n_new, n_columns)
            Finite numbers, in the columns of the table.
        ids : iterable, optional
            Ids that no row has. By default the index of a DataFrame, or row indices counted on.
        known : mapping or array, optional
            Labels known in advance, as in ``start``.
        judgement : BatchJudgement, optional
            What was found out about the rows; those that look new are asked about first. See
            :func:`kernova.workbench.growing.add_batch`, which finds it out.
        stored : StoredRows, optional
            What the project stores of the rows; by default ids and digests of ``X``.
        expert, key : str, optional
            As for all that is recorded.

        Returns
        -------
        int
            Number of the record.

        Examples
        --------
        >>> import numpy as np
        >>> from kernova import CategoryDiscovery
        >>> session = CategoryDiscovery("random").start(np.array([[0.0], [0.1], [9.0]]))
        >>> session.label_row(2, "eel"), session.add_rows([[9.1], [20.0]]), session.ids_
        (1, 2, [0, 1, 2, 3, 4])
        >>> session.label_row(4, "cod"), session.categories_
        (3, {'eel': (2,), 'cod': (4,)})
        """
        number = self._started().number_of_key(checked_key(key))
        if number is not None:
            return number
        first = len(self._ids.ids)
        rows = self._new_rows(X)
        new_ids = RowIds(_ids_of(ids, X, first, len(rows)), len(rows))
        self._check_new(new_ids)
        if stored is None:
            stored = stored_rows(X if isinstance(X, pd.DataFrame) else rows, new_ids.ids)
        prior = prior_labels(known, new_ids)
        event = batch_event(first, len(rows), stored.fingerprint, judgement, prior)
        self._log.append(Record(event, expert_name(expert), key, now()), stored)
        self._grow(rows, new_ids)
        return len(self._log.records)

    @property
    def batches_(self) -> list[RowsAdded]:
        """The rows that were added, batch by batch."""
        return list(self._started().state.batches)

    def n_waiting_(self, batch: int) -> int:
        """Return how many groups of unusual rows of a batch, from 0, were not asked about yet."""
        state = self._started().state
        return len(self._unlike_rows().waiting(batch, state.entries))

    def _started(self) -> EventLog:
        log: EventLog | None = getattr(self, "_log", None)
        if log is None:
            raise InputError("This session has not started: call start(X) first.")
        return log

    def _unlike_rows(self) -> UnlikeRows:
        batches = self._log.state.batches
        if not self._unlike.follows(batches):
            self._unlike = UnlikeRows(batches)
        return self._unlike

    def _unlike_question(self, expert: str | None) -> Question | None:
        """Return a question about a row that looks new; None if none is left."""
        return self._unlike_rows().question(self._log.state.entries, self._open, expert)

    def _new_rows(self, X: ArrayLike | pd.DataFrame) -> Matrix:
        rows, table = finite_numbers(X), self._preparation
        names = column_names(X)
        if rows.shape[1] != table.X.shape[1] or (
            names and table.columns and names != table.columns
        ):
            raise InputError(
                f"New rows must have the columns of the table, {table.X.shape[1]:,} in the same "
                f"order; got {rows.shape[1]:,}" + (f": {first_few(names)}." if names else ".")
            )
        return rows

    def _check_new(self, ids: RowIds) -> None:
        present = set(self._ids.ids)
        known = [one for one in ids.ids if one in present]
        if known:
            named = first_few(map(quoted, known), 5)
            raise InputError(
                f"New rows need ids that no row has, but the table has {named} already. Leave such "
                "rows out, or give them other ids."
            )

    def _grow(self, rows: Matrix, ids: RowIds) -> None:
        old = self._preparation
        self._ids.extend(ids)
        self._preparation = Preparation(
            np.vstack([old.X, rows]),
            n_jobs=old.n_jobs,
            random_state=old.random_state,
            columns=old.columns,
        )
        self._open.by_expert.clear()
        self._proposer = Proposer(self._strategy, self._preparation)


def stored_rows(
    table: pd.DataFrame | Matrix, ids: Sequence[object], source: Source | None = None
) -> StoredRows:
    """Return what a project stores of new rows: the table as it was read, before it is encoded."""
    return StoredRows(table_fingerprint(table, ids), table_digest(table, ids), source)


def _ids_of(
    ids: Iterable[Hashable] | None, X: ArrayLike | pd.DataFrame, first: int, n_rows: int
) -> Iterable[Hashable]:
    if ids is not None:
        return ids
    return X.index if isinstance(X, pd.DataFrame) else range(first, first + n_rows)
