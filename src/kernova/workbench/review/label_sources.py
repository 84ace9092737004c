"""Source of each label: the expert's hand, an accepted suggestion, or the table, with its time."""

from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    Event,
    Imported,
    LogEntry,
    Opined,
    RowLabelled,
    RowsLabelled,
    RowsUnsure,
    Settled,
    Skipped,
    Undone,
    Unsure,
)
from kernova.discover.results import SessionResults
from kernova.typing import Indices, Mask, Vector
from kernova.workbench.messages import rows_of

Source = Literal["hand", "accepted", "prior"]

# Events that decide what a row is listed as.
_DECIDING: Final = (
    Answered, RowLabelled, RowsLabelled, Settled, Opined, Accepted, Skipped, Unsure, RowsUnsure,
)  # fmt: skip


class Sources(NamedTuple):
    """Source of each row's label, or of the decision to leave it without one."""

    #: Number of the log entry, counted from 1; 0 for prior labels and open rows.
    entry: Indices
    #: Who gave the label, or decided to give none.
    expert: NDArray[np.object_]
    is_labelled: Mask
    is_accepted: Mask
    is_unsure: Mask
    is_skipped: Mask
    #: Probability of an accepted suggestion when it was accepted; NaN for all other rows.
    probability: Vector

    @property
    def is_prior(self) -> Mask:
        """Whether each row's label was known before the first question."""
        return self.is_labelled & (self.entry == 0)

    @property
    def is_by_hand(self) -> Mask:
        """Whether each row's label was given by an expert."""
        return self.is_labelled & ~self.is_accepted & (self.entry > 0)

    @property
    def names(self) -> NDArray[np.object_]:
        """The source of each labelled row, such as "hand"; None for all others."""
        names = np.full(len(self.entry), None, dtype=object)
        names[self.is_labelled] = "hand"
        names[self.is_prior] = "prior"
        names[self.is_accepted] = "accepted"
        return names

    def name_of(self, row: int) -> Source | None:
        """Return the source of one row's label; None without a label."""
        if not self.is_labelled[row]:
            return None
        if self.is_accepted[row]:
            return "accepted"
        return "hand" if self.entry[row] > 0 else "prior"


class LabelSources:
    """Reader of the sources of all labels, which looks at each log entry once.

    Call it with the session's lock held.

    Parameters
    ----------
    results : SessionResults
        Results of the session; they follow it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import CategoryDiscovery
    >>> from kernova.workbench.review.label_sources import LabelSources
    >>> session = CategoryDiscovery("random").start(np.arange(3.0)[:, None], known={0: "cod"})
    >>> session.label_row(1, "eel"), session.review.accept([2], ["cod"], [0.93])
    (2, 3)
    >>> sources = LabelSources(session.results_).read()
    >>> sources.names.tolist(), sources.entry.tolist(), sources.probability[2].round(2)
    (['prior', 'hand', 'accepted'], [0, 2, 3], np.float64(0.93))
    """

    def __init__(self, results: SessionResults) -> None:
        self._results = results
        self._forget()

    def _forget(self) -> None:
        self._n_read = 0
        n_rows = len(self._results.ids)
        self._entry = np.zeros(n_rows, dtype=np.intp)
        self._expert = np.full(n_rows, None, dtype=object)
        self._permille = np.zeros(n_rows, dtype=np.int16)
        # Rows that several experts have labelled: the last entry of each, but for the present one.
        self._earlier: dict[int, dict[str | None, int]] = {}

    def read(self) -> Sources:
        """Return the present sources."""
        self._catch_up()
        results = self._results
        codes = results.codes(1)
        is_labelled, is_accepted = codes > 0, results.is_accepted
        is_unsure = results.is_unsure
        entry, expert = self._entry.copy(), self._expert.copy()
        self._set_standing(entry, expert)
        entry[codes == 0], expert[codes == 0] = 0, None
        probability = np.where(is_accepted, self._permille / 1000, np.nan)
        is_skipped = (codes < 0) & ~is_unsure
        return Sources(entry, expert, is_labelled, is_accepted, is_unsure, is_skipped, probability)

    def _catch_up(self) -> None:
        results = self._results
        new = results.history(limit=results.n_records - self._n_read)[::-1]
        if any(isinstance(one.event, Undone) for one in new):
            # What is in effect may have changed anywhere.
            self._forget()
            new = results.entries
        questions: Indices | None = None
        for one in new:
            if not one.counts:
                continue
            if isinstance(one.event, Changed):
                questions = results.label_questions if questions is None else questions
                self._set(np.flatnonzero(questions == one.question), one.number, one.by)
            for event in one.event.parts if isinstance(one.event, Imported) else (one.event,):
                self._take(event, one)
        self._n_read = results.n_records

    def _take(self, event: Event, entry: LogEntry) -> None:
        if not isinstance(event, _DECIDING):
            return
        rows = np.array(rows_of(event), dtype=np.intp)
        expert = getattr(event, "expert", None)  # of the opinions in an imported file
        self._set(rows, entry.number, entry.by if expert is None else expert)
        if isinstance(event, Accepted):
            self._permille[rows] = event.permille
        elif isinstance(event, Settled):
            self._earlier.pop(event.row, None)  # it replaces all earlier opinions

    def _set(self, rows: Indices, number: int, expert: str | None) -> None:
        is_of_another = (self._entry[rows] > 0) & (self._expert[rows] != expert)
        for row in rows[is_of_another].tolist():
            self._earlier.setdefault(row, {})[self._expert[row]] = int(self._entry[row])
        self._entry[rows], self._expert[rows] = number, expert

    def _set_standing(self, entry: Indices, expert: NDArray[np.object_]) -> None:
        """Set the entry of rows whose latest label was deleted to that of the opinion that is left.

        Only where several experts have labelled a row, another opinion is left.
        """
        for row, numbers in self._earlier.items():
            opinions = self._results.opinions_of(row)
            if not opinions or expert[row] in opinions:
                continue
            left = [by for by in reversed(opinions) if by in numbers]
            if left:
                entry[row], expert[row] = numbers[left[0]], left[0]
