"""History of a session, disagreements between experts, and exports of the labels."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from kernova.discover.events import (
    Accepted,
    Answered,
    Changed,
    LogEntry,
    Record,
    RowLabelled,
    RowsLabelled,
    Settled,
)
from kernova.noun import Noun
from kernova.tables.records import rows_with_ids
from kernova.tables.spreadsheets import save_separated
from kernova.typing import Indices
from kernova.workbench.cards import Opinion, opinion_list
from kernova.workbench.messages import KINDS, Kind, entry_message, label_of, rows_of
from kernova.workbench.shared import Part


@dataclass(frozen=True)
class HistoryEntry:
    """A log entry."""

    number: int
    at: str
    by: str | None
    words: Annotated[str, "The entry as a sentence."]
    kind: Kind
    counts: Annotated[bool, "False for entries that were undone, and for the undo itself."]
    question: Annotated[int | None, "Number of the question, by which the answer can be changed."]
    row: int | None
    id: str | None
    n_rows: int
    label: str | None
    label_now: Annotated[str | None, "The current label of the row."]


@dataclass(frozen=True)
class HistoryReply:
    """Log entries, the newest first."""

    total: int
    entries: list[HistoryEntry]


@dataclass(frozen=True)
class Disagreement:
    """A row that experts label differently."""

    row: int
    id: str
    label: str
    opinions: list[Opinion]


@dataclass(frozen=True)
class DisagreementsReply:
    """All rows that experts label differently."""

    disagreements: list[Disagreement]


class History(Part):
    """Log entries and disagreements, described for people."""

    def page(self, before: int | None, limit: int) -> HistoryReply:
        """Return the entries before a number, the newest first."""
        with self._shared.lock:
            session = self._shared.session
            entries, total = session.history(before, limit), session.n_records_
            ids, results = session.ids_, session.results_
            rows = [_rows_of_entry(one, results.asked_row) for one in entries]
            noun = self._shared.discovery.noun
            labels = [session.label_of(some[0]) if some else None for some in rows]
        return HistoryReply(
            total,
            [
                _described(one, some, label_now, ids, results.record, noun)
                for one, some, label_now in zip(entries, rows, labels, strict=True)
            ],
        )

    def disagreements(self) -> DisagreementsReply:
        """Return the rows that experts label differently."""
        with self._shared.lock:
            found, ids = self._shared.session.disagreements_, self._shared.session.ids_
        return DisagreementsReply(
            [
                Disagreement(one.row, str(ids[one.row]), one.label, opinion_list(one.opinions))
                for one in found
            ]
        )


def _described(
    entry: LogEntry,
    rows: tuple[int, ...],
    label_now: str | None,
    ids: Sequence[object],
    record_of: Callable[[int], Record],
    noun: Noun,
) -> HistoryEntry:
    return HistoryEntry(
        number=entry.number,
        at=entry.at,
        by=entry.by,
        words=entry_message(entry.event, ids, record_of, noun),
        kind=KINDS[type(entry.event)],
        counts=entry.counts,
        question=entry.question,
        row=rows[0] if rows else None,
        id=str(ids[rows[0]]) if rows else None,
        n_rows=len(rows),
        label=label_of(entry.event),
        label_now=label_now,
    )


def _rows_of_entry(entry: LogEntry, asked_row: Callable[[int], int | None]) -> tuple[int, ...]:
    asked = None if entry.question is None else asked_row(entry.question)
    return rows_of(entry.event) or (() if asked is None else (asked,))


# --- exports ---------------------------------------------------------------------------------


# Events that give labels; prior labels have no expert.
_LABELLING: Final = (Answered, RowLabelled, RowsLabelled, Accepted, Settled)


class Authorship(NamedTuple):
    """Expert and time of a label; None where they are not known."""

    expert: str | None = None
    time: str | None = None


class Exports(Part):
    """Tables of the labels, for download."""

    def labels(self) -> pd.DataFrame:
        """Return one line per row: id, category, question, expert, time, remarks, prior label."""
        with self._shared.lock:
            session = self._shared.session
            labels, questions = session.labels_, session.label_questions_
            authors, remarks = self._authors(questions), self._remarks()
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
                **remarks,
            },
        )

    def _remarks(self) -> dict[str, Any]:
        """Return columns of what was noted beside the categories."""
        results = self._shared.session.results_
        noted, n_rows = results.annotations, self._shared.n_rows
        flagged = np.zeros(n_rows, dtype=np.bool_)
        flagged[list(noted.flagged)] = True
        also = {row: "; ".join(names) for row, names in noted.tags.items()}
        return {
            "confidence": _texts(results.confidences, n_rows),
            "unsure": results.is_unsure,
            "also": _texts(also, n_rows),
            "flagged": flagged,
            "note": _texts(noted.notes, n_rows),
        }

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


def _texts(of_rows: Mapping[int, str], n_rows: int) -> Any:
    """Return a column of texts, missing where a row has none."""
    texts = np.full(n_rows, None, dtype=object)
    texts[list(of_rows)] = list(of_rows.values())
    return pd.array(texts, dtype="string")


def _labelled_rows(entry: LogEntry, questions: Indices) -> Iterable[int]:
    """Return the rows that an entry labels."""
    if isinstance(entry.event, Changed):
        is_labelled = entry.event.label is not None and entry.question is not None
        return (questions == entry.question).nonzero()[0].tolist() if is_labelled else ()
    return rows_of(entry.event) if isinstance(entry.event, _LABELLING) else ()


def _current_author(
    by_expert: dict[str | None, Authorship], opinions: dict[str | None, str]
) -> Authorship:
    """Return the latest author whose opinion stands; deleted categories remove opinions."""
    latest = list(reversed(by_expert.values()))
    return next((one for one in latest if one.expert in opinions), latest[0])
