"""What discovery was asked to begin with, and what it begins with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kernova.media.row_media import RowMedia
from kernova.tables.formats import RawTable
from kernova.tables.table import Missing, Table, table_of
from kernova.text import listed


@dataclass(frozen=True, eq=False)
class DiscoveryData:
    """A table to ask about, and how its rows are shown.

    Attributes
    ----------
    table : Table
        Features, ids, and labels that are known before the first question.
    media : RowMedia
        What there is to see or to hear of each row of the table.
    notes : list of str
        What a reader should also know, in sentences.
    """

    table: Table
    media: RowMedia
    notes: list[str] = field(default_factory=list)


class DataRequest(NamedTuple):
    """What the user said of the data, and what follows from it."""

    source: str
    id_column: str | None
    label_column: str | None
    drop: list[str]
    missing: Missing
    reader: object | None

    @property
    def named(self) -> list[str]:
        """The columns that have been given a meaning."""
        names = [self.id_column, self.label_column, *self.drop]
        return [name for name in names if name is not None]

    def table(self, raw: RawTable, aside: Sequence[str] = ()) -> Table:
        """Judge the columns, those set aside left out."""
        return table_of(
            raw,
            self.source,
            id_column=self.id_column,
            label_column=self.label_column,
            drop=[*self.drop, *(name for name in aside if name not in [*self.named, raw.own_id])],
            missing=self.missing,
        )

    def is_numbered(self, raw: RawTable) -> bool:
        """Tell whether rows have no other ids than their numbers."""
        return self.id_column is None and raw.own_id is None

    def aside_note(self, columns: Sequence[str]) -> list[str]:
        """Say which columns name files."""
        left_out = [name for name in columns if name not in self.named]
        if not left_out:
            return []
        if len(left_out) == 1:
            return [f"Column {left_out[0]!r} names files and is no feature."]
        return [f"Columns {listed(left_out)} name files and are no features."]
