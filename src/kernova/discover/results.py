"""What a session has found so far, read from its log book."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernova.discover.events import Event, Record, Said
from kernova.discover.log import LogBook
from kernova.discover.preparation import Preparation
from kernova.discover.questions import AskedQuestion, OpenQuestions
from kernova.discover.rows import RowIds
from kernova.discover.state import Disagreement, Ledger
from kernova.errors import InputError


class Findings:
    """The part of a session that only tells; what can be said is in CategoryDiscovery."""

    _ids: RowIds
    _book: LogBook
    _open: OpenQuestions
    _preparation: Preparation

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
        return tuple(record.event for record in self._book.records)

    @property
    def records_(self) -> tuple[Record, ...]:
        """Everything that was said, in order, with who said it and when."""
        self._ledger()
        return tuple(self._book.records)

    @property
    def n_records_(self) -> int:
        """How many things were said: the number of the last record."""
        self._ledger()
        return len(self._book.records)

    @property
    def said_(self) -> list[Said]:
        """Everything that was said, in order, and whether it still counts."""
        return self.history(limit=self.n_records_)[::-1]

    def history(self, before: int | None = None, limit: int = 50) -> list[Said]:
        """Give what was said last, the newest first.

        Parameters
        ----------
        before : int, optional
            Begin below this record's number; by default, with the last.
        limit : int
            How many to give at most.
        """
        end = self.n_records_ if before is None else min(before - 1, self.n_records_)
        return [self._book.said(number) for number in range(end, max(0, end - limit), -1)]

    def number_of_key(self, key: str | None) -> int | None:
        """Give the number of the record that a request with this key made, if there was one."""
        self._ledger()
        return self._book.number_of_key(key)

    @property
    def open_questions_(self) -> dict[str | None, AskedQuestion]:
        """The open question of each expert; None is whoever gave no name.

        A row that was labelled by another meanwhile stays until its expert has answered, or
        has asked for the next.
        """
        self._ledger()
        return dict(self._open.by_expert)

    @property
    def disagreements_(self) -> list[Disagreement]:
        """The rows that experts name differently, and that nobody has settled."""
        ledger = self._ledger()
        return [
            Disagreement(row, ledger.opinions.of(row), ledger.label_of(row) or "")
            for row in ledger.opinions.disputed()
        ]

    @property
    def n_disagreements_(self) -> int:
        """How many rows experts name differently."""
        return sum(1 for _ in self._ledger().opinions.disputed())

    def opinions_of(self, row: int) -> dict[str | None, str]:
        """Give what each expert last said of a row (its place in the table), the latest last."""
        return self._ledger().opinions.of(row)

    def question_of(self, row: int) -> int | None:
        """Give the number of the question whose answer gave a row (its place) its label, if any."""
        entry = self._ledger().entries.get(row)
        return None if entry is None or entry.label is None else entry.question

    def label_of(self, row: int) -> str | None:
        """Give the label of a row (its place in the table), or None."""
        return self._ledger().label_of(row)

    @property
    def category_sizes_(self) -> dict[str, int]:
        """How many rows are known of each category; quicker than ``categories_``."""
        return {name: len(rows) for name, rows in self._ledger().categories.items()}

    @property
    def questions_by_expert_(self) -> dict[str | None, int]:
        """How many questions each expert has answered or passed over, whoever came first first."""
        self._ledger()
        steps = self._book.counting.steps
        return dict(Counter(step.by for step in steps if step.is_asked))

    @property
    def preparation_(self) -> Preparation:
        """What strategies work out of the table once."""
        self._ledger()
        return self._preparation

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
