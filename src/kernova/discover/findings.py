"""What a session has found so far, read from its log book."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernova.discover.events import Event
from kernova.discover.ledger import Ledger
from kernova.discover.logbook import LogBook
from kernova.discover.table_rows import RowIds
from kernova.errors import InputError


class Findings:
    """The part of a session that only tells; what can be said is in CategoryDiscovery."""

    _ids: RowIds
    _book: LogBook

    @property
    def categories_(self) -> dict[str, tuple[int, ...]]:
        """The rows known of each category, the category met first first."""
        categories = self._ledger().categories
        return {name: tuple(rows) for name, rows in categories.items()}

    @property
    def curve_(self) -> list[int]:
        """How many categories had been met after each question, under today's labels."""
        return list(self._ledger().curve)

    @property
    def labels_(self) -> NDArray[np.object_]:
        """Each row's category, or None."""
        ledger = self._ledger()
        labels = np.full(ledger.n_rows, None, dtype=object)
        for name, rows in ledger.categories.items():
            labels[rows] = name
        return labels

    @property
    def label_questions_(self) -> NDArray[np.intp]:
        """For each row, the number of the question whose answer gave its label; 0 for none."""
        ledger = self._ledger()
        numbers = np.zeros(ledger.n_rows, dtype=np.intp)
        for row, entry in ledger.entries.items():
            if entry.label is not None and entry.question is not None:
                numbers[row] = entry.question
        return numbers

    @property
    def ids_(self) -> list[Any]:
        """What the rows are called."""
        self._ledger()
        return self._ids.ids

    @property
    def log_(self) -> tuple[Event, ...]:
        """Everything that was said, in order."""
        self._ledger()
        return tuple(self._book.log)

    @property
    def asked_(self) -> list[int]:
        """The row of each question, in order."""
        return [asked.row for asked in self._ledger().questions]

    @property
    def n_questions_(self) -> int:
        """How many questions were answered or passed over."""
        return len(self._ledger().questions)

    @property
    def n_skipped_(self) -> int:
        """How many questions are passed over."""
        ledger = self._ledger()
        return sum(ledger.label_of(asked.row) is None for asked in ledger.questions)

    @property
    def n_labelled_(self) -> int:
        """How many rows have a label."""
        return sum(map(len, self._ledger().categories.values()))

    def _ledger(self) -> Ledger:
        book: LogBook | None = getattr(self, "_book", None)
        if book is None:
            raise InputError("This session has not begun: call start(X) first.")
        return book.ledger
