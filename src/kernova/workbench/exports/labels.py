"""Labels of all rows as a table, with who gave each label and when."""

import io
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from kernova.discover.events import (
    Changed,
    LogEntry,
    Passed,
    PriorLabels,
    Settled,
    Skipped,
)
from kernova.tables.records import rows_with_ids
from kernova.tables.spreadsheets import save_separated
from kernova.typing import Indices
from kernova.workbench.messages import rows_of
from kernova.workbench.shared import Part


class Authorship(NamedTuple):
    """Expert and time of a label; None where they are not known."""

    expert: str | None = None
    time: str | None = None


class Exports(Part):
    """Tables of the labels, for download."""

    def labels(self) -> pd.DataFrame:
        """Return one line per row: id, category, question, expert, time, prior label."""
        with self._shared.lock:
            session = self._shared.session
            labels, questions = session.labels_, session.label_questions_
            authors = self._authors(questions)
        known = [
            Authorship() if label is None else authors.get(row, Authorship())
            for row, label in enumerate(labels)
        ]
        numbers = pd.Series(questions, dtype="Int64")
        return rows_with_ids(
            self._shared.discovery.table,
            {
                "category": pd.array(labels, dtype="string"),
                "question": numbers.mask(numbers == 0),
                "expert": pd.array([one.expert for one in known], dtype="string"),
                "time": pd.array([one.time for one in known], dtype="string"),
            },
        )

    def labels_csv(self, *, raw: bool = False) -> bytes:
        """Return the labels as CSV; ids are written as they were read.

        Texts that a spreadsheet would run as formulas are marked with an apostrophe
        (:mod:`kernova.tables.spreadsheets`), unless ``raw`` is true.
        """
        file = io.BytesIO()
        save_separated(self.labels(), file, raw=raw)
        return file.getvalue()

    def labels_parquet(self) -> bytes:
        """Return the labels as Parquet."""
        file = io.BytesIO()
        self.labels().to_parquet(file, index=False)
        return file.getvalue()

    def _authors(self, questions: Indices) -> dict[int, Authorship]:
        """Return for each labelled row who gave its label."""
        session = self._shared.session
        candidates: dict[int, dict[str | None, Authorship]] = {}
        for entry in session.entries_:
            if not entry.counts:
                continue
            for row in _labelled_rows(entry, questions):
                if isinstance(entry.event, Settled):
                    candidates.pop(row, None)  # a settlement replaces all earlier opinions
                by_expert = candidates.setdefault(row, {})
                by_expert.pop(entry.by, None)
                by_expert[entry.by] = Authorship(entry.by, entry.at or None)
        return {
            row: _current_author(by_expert, session.opinions_of(row))
            for row, by_expert in candidates.items()
        }


def _labelled_rows(entry: LogEntry, questions: Indices) -> Iterable[int]:
    """Return the rows that an entry labels; prior labels have no expert."""
    if isinstance(entry.event, Changed):
        is_labelled = entry.event.label is not None and entry.question is not None
        return (questions == entry.question).nonzero()[0].tolist() if is_labelled else ()
    return () if isinstance(entry.event, PriorLabels | Skipped | Passed) else rows_of(entry.event)


def _current_author(
    by_expert: dict[str | None, Authorship], opinions: dict[str | None, str]
) -> Authorship:
    """Return the latest author whose opinion stands; deleted categories remove opinions."""
    latest = list(reversed(by_expert.values()))
    return next((one for one in latest if one.expert in opinions), latest[0])
