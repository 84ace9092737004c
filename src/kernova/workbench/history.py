"""History of a session, and disagreements between experts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from kernova.discover.events import LogEntry, Record
from kernova.noun import Noun
from kernova.workbench.cards import Opinion, opinion_list
from kernova.workbench.exports.part import Exports
from kernova.workbench.messages import KINDS, Kind, entry_message, label_of, rows_of
from kernova.workbench.shared import Part

__all__ = ["Exports", "History"]


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
