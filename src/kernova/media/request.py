"""Parameters of a table that is opened with its media: roles of columns, features and context."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kernova.errors import quoted
from kernova.kernels.components import WideRows
from kernova.tables.context import Context, LinkTemplate
from kernova.tables.formats import RawTable, read_raw
from kernova.tables.known import KnownColumns, like_known
from kernova.tables.table import Missing, Reading, Table, table_of, unknown_column
from kernova.text import listed
from kernova.typing import Mask


class DataRequest(NamedTuple):
    """Parameters of a table, as given by the user."""

    source: str
    id_column: str | None
    label_column: str | None
    drop: list[str]
    missing: Missing
    reader: object | None
    keep: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    link: str | None = None
    reading: Reading = "strict"
    only: frozenset[str] | None = None  # the features, if they are known; all others are none
    like: KnownColumns | None = None  # columns of the table that these are further rows of
    rotation_invariant: bool = False  # of pictures that are described
    embeddings: str | None = None  # a file of vectors that are compared instead of the columns
    cache: Path | None = None  # a file that keeps the descriptors of pictures
    # Descriptors or vectors of other rows, from which components are learnt as well.
    learn_with: WideRows | None = None
    # Ids of the rows from which components are learnt; None for all.
    learn_from: frozenset[str] | None = None

    @property
    def named(self) -> list[str]:
        """Columns with a role given by the user."""
        names = [self.id_column, self.label_column, *self.drop]
        return [name for name in names if name is not None]

    @property
    def _only_shown(self) -> list[str]:
        """Columns to show that are no features."""
        features = {*self.keep, *(self.only or ())}
        return [name for name in self.show if name not in features]

    def raw(self) -> RawTable:
        """Return the file's columns; those to show are texts as written, if they can be."""
        texts = [*self._only_shown, *(() if self.like is None else self.like.texts)]
        raw = read_raw(self.source, self.id_column, texts, codes=self.reading == "auto")
        # Measurements of a known table are made later.
        is_known = self.like is not None and self.reader is None
        return like_known(raw, self.like, self.source) if self.like and is_known else raw

    def table(self, raw: RawTable, aside: Sequence[str] = ()) -> Table:
        """Return the table of a raw table, without the columns set aside."""
        if self.like is not None:  # a column with one value may be a feature all the same
            raw = raw._replace(aside=raw.aside - set(self.like.names))
        taken = {*self.named, raw.own_id, ""}
        names = self._names_of(raw)
        for name in self._only_shown if self.like is None else ():
            if name not in names and name not in taken:
                raise unknown_column(name, "shown", names, self.source)
        others = [] if self.only is None else [name for name in names if name not in self.only]
        without = [
            name
            for name in dict.fromkeys([*aside, *self._only_shown, *others])
            if name not in taken and (self.like is None or name in names)
        ]
        return table_of(
            raw,
            self.source,
            id_column=self.id_column,
            label_column=self.label_column,
            drop=[*self.drop, *without],
            missing=self.missing,
            keep=self._kept(raw),
            reading=self.reading,
            with_dates=False,
            optional=()
            if self.like is None
            else [one for one in self.named if one != self.id_column],
            categories=() if self.like is None else self.like.texts,
            like=self.like if self.reading == "auto" else None,
        )

    def _kept(self, raw: RawTable) -> Sequence[str]:
        if self.only is None or self.reading == "strict":
            return self.keep
        known = [name for name in self._names_of(raw) if name in self.only]
        return list(dict.fromkeys([*self.keep, *(one for one in known if one not in self.named)]))

    def _names_of(self, raw: RawTable) -> list[str]:
        """Return the names of the columns as the table will have them."""
        names = raw.columns.column_names
        return names if self.reading == "strict" else [name.strip() for name in names]

    def context(
        self, raw: RawTable, table: Table, aside: Sequence[str] = (), hidden: Sequence[str] = ()
    ) -> Context:
        """Return the columns to show beside the rows: those asked for, or all that are no features.

        Columns that the user dropped, or that are ``hidden``, are shown only if asked for.
        """
        rows = raw.columns.slice(0, len(table.ids) + table.n_dropped)
        columns = rows.rename_columns(list(table.columns))
        if table.places is not None:
            columns = columns.take(pa.array(table.places))
        names = columns.column_names
        left_out = {name for name, one in table.readings.items() if one.kind == "left out"}
        unused = {*aside, *raw.aside, *left_out}
        if self.only is not None:
            unused |= {*names} - self.only
        unused -= {*self.named, *hidden, "", str(table.ids.name)}
        show, address = list(self.show), self.link
        if self.like is not None:  # further rows need not have columns that are only shown
            show = [name for name in show if name in names]
            address = self.like.link(address, names)
        link = None if address is None else LinkTemplate(address, names, self.source)
        return Context(columns, show or [name for name in names if name in unused], link)

    def is_numbered(self, raw: RawTable) -> bool:
        """Return whether the row ids are row numbers."""
        return self.id_column is None and raw.own_id is None

    def is_learnt_from(self, ids: Sequence[str]) -> Mask:
        """Return from which rows components are learnt: all of them if none is known."""
        known = self.learn_from
        found = np.array([known is None or one in known for one in ids], dtype=np.bool_)
        return found if found.any() else np.ones_like(found)

    def file_columns_note(self, columns: Sequence[str]) -> list[str]:
        """Return a note on the columns that name files."""
        left_out = [name for name in columns if name not in [*self.named, *self.show]]
        if not left_out:
            return []
        if len(left_out) == 1:
            return [f"Column {quoted(left_out[0])} names files and is not used as a feature."]
        return [f"Columns {listed(left_out)} name files and are not used as features."]
