"""Batches of new rows as the page shows them: counts, progress, and codes for the map."""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np

from kernova.discover.events import RowsAdded
from kernova.discover.growth.batches import bound_sentence, groups_of
from kernova.workbench.learning import AMBIGUOUS, UNKNOWN
from kernova.workbench.shared import Part

_ROWS_SHOWN: Final = 200


@dataclass(frozen=True)
class NewRow:
    """A row that looks new beside all rows before its batch."""

    row: int
    id: str
    label: str | None
    p_value: Annotated[float, "Fraction of held-out rows that are at least as unusual."]
    group: Annotated[int, "Rows with the same number lie together; 0 is no group."]


@dataclass(frozen=True)
class Batch:
    """Rows that were added together."""

    number: Annotated[int, "Number of the batch, counted from 1."]
    at: str
    source: Annotated[str, "Name of the file; empty if a program added the rows."]
    first: Annotated[int, "Index of the first row."]
    rows: int
    words: Annotated[str, "How many rows look new, and how many would by chance."]
    new: Annotated[int, "Number of rows that look new."]
    by_chance: Annotated[int | None, "No more would look new by chance; null if not judged."]
    known: Annotated[int, "Number of rows that were recognised when they were added."]
    groups: Annotated[int, "Number of questions about the rows that look new."]
    waiting: Annotated[int, "Number of those that are still to be asked."]
    unlike: Annotated[list[NewRow], "Rows that look new, the most unusual first; 200 at most."]


@dataclass(frozen=True)
class BatchesReply:
    """All batches, the newest first."""

    batches: list[Batch]


class Batches(Part):
    """Batches of new rows, described for people."""

    def all(self) -> BatchesReply:
        """Return all batches, the newest first."""
        with self._shared.lock:
            session = self._shared.session
            records = [one for one in session.records_ if isinstance(one.event, RowsAdded)]
            pairs = zip(session.batches_, records, strict=True)
            found = [
                self._described(number, batch, str(record.at))
                for number, (batch, record) in enumerate(pairs, start=1)
            ]
        return BatchesReply(found[::-1])

    def _described(self, number: int, batch: RowsAdded, at: str) -> Batch:
        session = self._shared.session
        store = session.project_
        source = None if store is None else store.parts[number].source
        noun = self._shared.discovery.noun
        lines = zip(batch.unlike, batch.ppm, batch.groups, strict=True)
        return Batch(
            number=number,
            at=at,
            source="" if source is None else source.data.name,
            first=batch.first,
            rows=batch.n_rows,
            words=noun.in_sentence(bound_sentence(batch)),
            new=len(batch.unlike),
            by_chance=batch.by_chance if batch.n_held_out else None,
            known=batch.n_known,
            groups=len(groups_of(batch)),
            waiting=session.n_waiting_(number - 1),
            unlike=[
                NewRow(row, str(session.ids_[row]), session.label_of(row), ppm / 1e6, group)
                for row, ppm, group in list(lines)[:_ROWS_SHOWN]
            ],
        )

    def codes(self) -> tuple[bytes, int]:
        """Return a code for each row of the map, and the version that they hold for.

        Unlabelled rows of the last batch have the code of ambiguous rows, or, if they look new,
        that of unknown ones.
        """
        with self._shared.lock:
            version, session = self._shared.version, self._shared.session
            codes = session.results_.codes(UNKNOWN - 1)
            batches = session.batches_
        shown = np.where(codes < 0, 0, codes)
        if batches:
            last = batches[-1]
            is_of_last = np.arange(len(codes)) >= last.first
            is_unlike = np.zeros(len(codes), dtype=np.bool_)
            is_unlike[list(last.unlike)] = True
            marks = np.where(is_unlike, UNKNOWN, np.where(is_of_last, AMBIGUOUS, 0))
            shown = np.where(codes > 0, codes, marks)
        return shown.astype("<u2").tobytes(), version
