"""Disputed rows side by side: who gave which label, when and how surely, with examples of each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Annotated, Final

from kernova.discover.events import (
    Answered,
    Changed,
    Confidence,
    Event,
    LogEntry,
    Noted,
    RowLabelled,
    RowsLabelled,
)
from kernova.discover.opinions import Disagreement
from kernova.discover.results import SessionResults
from kernova.workbench.colleagues.measured import Confused
from kernova.workbench.shared import Part

_MOST_EXAMPLES: Final = 6
_MOST_LOOKED_AT: Final = 500  # rows of a category among which examples are sought
_LABELLING: Final = (Answered, RowLabelled, RowsLabelled, Changed)


@dataclass(frozen=True)
class OpinionShown:
    """An opinion with what is known of how it came about."""

    expert: str | None
    label: str
    at: Annotated[str | None, "When it was given, in UTC."]
    confidence: Confidence | None
    is_blind: Annotated[bool, "Whether it was given without seeing those of others."]
    n_rows: Annotated[int, "Number of rows that were labelled in the same step."]


@dataclass(frozen=True)
class Note:
    """A remark on a row."""

    text: str
    by: str | None


@dataclass(frozen=True)
class Disputed:
    """A row that experts label differently."""

    row: int
    id: str
    label: Annotated[str, "Its label until the disagreement is settled."]
    opinions: Annotated[list[OpinionShown], "The newest last."]
    note: Note | None


@dataclass(frozen=True)
class Examples:
    """Rows of a category that nobody disputes, for comparison."""

    name: str
    rows: Annotated[list[int], "At most six, those that were asked about first."]
    ids: list[str]
    n_rows: Annotated[int, "Number of all rows with this label."]


@dataclass(frozen=True)
class DisputesReply:
    """Disputed rows, the earliest first, and the pairs of categories in dispute."""

    total: Annotated[int, "Number of disputed rows, of the chosen pair of categories if given."]
    rows: list[Disputed]
    pairs: Annotated[list[Confused], "Pairs of categories in dispute, the most frequent first."]
    examples: Annotated[list[Examples], "Of all categories in these rows."]


class Disputes(Part):
    """Rows that experts label differently, to be settled."""

    def reply(self, names: list[str], limit: int, offset: int) -> DisputesReply:
        """Return disputed rows; only those with opinions for all these categories."""
        with self._shared.lock:
            results = self._shared.session.results_
            found = results.disagreements
            chosen = [one for one in found if set(names) <= set(one.opinions.values())]
            shown = chosen[offset : offset + limit]
            disputed = {one.row for one in found}
            given = dict.fromkeys(name for one in shown for name in one.opinions.values())
            return DisputesReply(
                len(chosen),
                self._described(results, shown),
                _pairs(found),
                [self._examples(results, name, disputed) for name in given],
            )

    def _described(self, results: SessionResults, shown: list[Disagreement]) -> list[Disputed]:
        origins = _Origins(results, [one.row for one in shown])
        return [
            Disputed(
                one.row,
                self._shared.id_of(one.row),
                one.label,
                [origins.opinions[one.row, expert] for expert in one.opinions],
                origins.notes.get(one.row),
            )
            for one in shown
        ]

    def _examples(self, results: SessionResults, name: str, disputed: set[int]) -> Examples:
        rows = results.rows_of(name)
        some = [row for row in islice(rows, _MOST_LOOKED_AT) if row not in disputed]
        asked_first = sorted(some, key=lambda row: not results.is_asked(row))[:_MOST_EXAMPLES]
        return Examples(name, asked_first, list(map(self._shared.id_of, asked_first)), len(rows))


def _pairs(found: Iterable[Disagreement]) -> list[Confused]:
    counts = Counter(
        pair for one in found for pair in combinations(sorted(set(one.opinions.values())), 2)
    )
    return [Confused(first, second, n) for (first, second), n in counts.most_common()]


class _Origins:
    """Entries that gave rows their opinions and notes, found from the end of the log.

    Parameters
    ----------
    results : SessionResults
        The log and the opinions.
    rows : list of int
        The rows.

    Attributes
    ----------
    opinions : dict
        The opinions by row and expert.
    notes : dict
        The notes by row.
    """

    def __init__(self, results: SessionResults, rows: list[int]) -> None:
        self._results = results
        self.notes: dict[int, Note] = {}
        self.opinions = {
            (row, one.by): OpinionShown(one.by, one.label, None, None, one.blind == one.label, 1)
            for row in rows
            for one in results.all_opinions_of(row)
        }
        self._missing = set(self.opinions)
        self._without_note = {row for row in rows if row in results.annotations.notes}
        number = results.n_records
        while number and (self._missing or self._without_note):
            self._read(number)
            number -= 1

    def _read(self, number: int) -> None:
        event = self._results.record(number).event
        if isinstance(event, Noted) and event.row in self._without_note:
            entry = self._entry(number)
            if entry.counts:
                text = self._results.annotations.notes[event.row]
                self.notes[event.row] = Note(text, entry.by)
                self._without_note.discard(event.row)
        elif isinstance(event, _LABELLING) and self._concerns_missing(event):
            self._take(self._entry(number))

    def _entry(self, number: int) -> LogEntry:
        [entry] = self._results.history(number + 1, 1)
        return entry

    def _concerns_missing(self, event: Event) -> bool:
        rows = {row for row, _ in self._missing}
        return isinstance(event, Changed) or not rows.isdisjoint(_rows_of(event))

    def _take(self, entry: LogEntry) -> None:
        if not entry.counts:
            return
        rows = _rows_of(entry.event)
        if isinstance(entry.event, Changed):
            rows = self._results.question_rows(entry.question or 0)
        for row in rows:
            place = (row, entry.by)
            if place in self._missing:
                self._missing.discard(place)
                self.opinions[place] = replace(
                    self.opinions[place],
                    at=entry.at or None,
                    confidence=getattr(entry.event, "confidence", None),
                    n_rows=len(rows),
                )


def _rows_of(event: Event) -> tuple[int, ...]:
    if isinstance(event, Answered):
        return (event.row, *event.others)
    if isinstance(event, RowLabelled):
        return (event.row,)
    return event.rows if isinstance(event, RowsLabelled) else ()
