"""Request for discovery data and its result: a table with the media of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kernova.media.row_media import RowMedia
from kernova.tables.formats import RawTable
from kernova.tables.table import Missing, Table, table_of
from kernova.text import listed


@dataclass(frozen=True, eq=False)
class DiscoveryData:
    """Table for discovery, and the media of its rows.

    Attributes
    ----------
    table : Table
        Features, ids, and labels that are known before the first question.
    media : RowMedia
        Pictures, sounds or outlines of the rows.
    notes : list of str
        Remarks for the reader.
    """

    table: Table
    media: RowMedia
    notes: list[str] = field(default_factory=list)


class DataRequest(NamedTuple):
    """Parameters of a table, as given by the user."""

    source: str
    id_column: str | None
    label_column: str | None
    drop: list[str]
    missing: Missing
    reader: object | None

    @property
    def named(self) -> list[str]:
        """Columns with a role given by the user."""
        names = [self.id_column, self.label_column, *self.drop]
        return [name for name in names if name is not None]

    def table(self, raw: RawTable, aside: Sequence[str] = ()) -> Table:
        """Return the table of a raw table, without the columns set aside."""
        return table_of(
            raw,
            self.source,
            id_column=self.id_column,
            label_column=self.label_column,
            drop=[*self.drop, *(name for name in aside if name not in [*self.named, raw.own_id])],
            missing=self.missing,
        )

    def is_numbered(self, raw: RawTable) -> bool:
        """Return whether the row ids are row numbers."""
        return self.id_column is None and raw.own_id is None

    def file_columns_note(self, columns: Sequence[str]) -> list[str]:
        """Return a note on the columns that name files."""
        left_out = [name for name in columns if name not in self.named]
        if not left_out:
            return []
        if len(left_out) == 1:
            return [f"Column {left_out[0]!r} names files and is not used as a feature."]
        return [f"Columns {listed(left_out)} name files and are not used as features."]
