"""Parts of a project's table: the rows it was started with, and each batch added since."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from kernova.discover.events import RowsAdded
from kernova.discover.growth.sources import Source
from kernova.discover.project.lines import ROWS, SOURCE, new_line
from kernova.tables.identity import TableDigest

# Few enough that the wrong bit of a line can be found, and that damage affects few rows.
ROWS_PER_LINE: Final = 100


@dataclass(frozen=True, slots=True)
class RowChunk:
    """Ids and digests of up to a hundred rows, as the row table stores them."""

    ids: tuple[str, ...]  # as JSON
    digests: bytes


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that were read together.

    Parameters
    ----------
    entry : int
        Number of the log entry that added them; 0 for the rows the project was started with.
    first, n_rows : int
        Index of the first row, and number of rows.
    fingerprint : str
        Of the rows; see :func:`kernova.tables.identity.table_fingerprint`.
    columns : bytes
        Digests of the columns; empty for the rows the project was started with.
    source : Source or None
        Where they were read from, if that is known.
    """

    entry: int
    first: int
    n_rows: int
    fingerprint: str
    columns: bytes = b""
    source: Source | None = None

    @property
    def chunks(self) -> range:
        """Index of the first row of each line of the row table."""
        return range(self.first, self.first + self.n_rows, ROWS_PER_LINE)

    def size_of(self, chunk: int) -> int:
        """Return the number of rows of the line that begins with a row."""
        return min(ROWS_PER_LINE, self.first + self.n_rows - chunk)

    def event(self) -> RowsAdded:
        """Return the event that added the rows, for one that is lost: without any judgement."""
        return RowsAdded(self.first, self.n_rows, self.fingerprint)

    def line(self, number: int, project: str) -> bytes:
        """Return the line that stores the part, as the one with this number."""
        values = {
            "entry": self.entry,
            "first": self.first,
            "rows": self.n_rows,
            "fingerprint": self.fingerprint,
            "columns": base64.b64encode(self.columns).decode(),
            "source": None if self.source is None else self.source.to_json(),
        }
        return new_line(SOURCE, number, json.dumps(values), project)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the part of a line; raise ``ValueError`` if it is not one."""
        entry, first, n_rows = (values[name] for name in ("entry", "first", "rows"))
        fingerprint, source = values["fingerprint"], values["source"]
        if not all(type(one) is int and one >= 0 for one in (entry, first, n_rows)):
            raise ValueError("not a part")
        if type(fingerprint) is not str:
            raise ValueError("not a fingerprint")
        return cls(
            entry,
            first,
            n_rows,
            fingerprint,
            base64.b64decode(values["columns"]),
            None if source is None else Source.from_json(source),
        )


def row_lines(project: str, digest: TableDigest, first: int = 0) -> Iterator[bytes]:
    """Return the lines of the row table for rows from an index on."""
    for start in range(0, len(digest.ids), ROWS_PER_LINE):
        chunk = slice(start, start + ROWS_PER_LINE)
        ids = ", ".join(digest.ids[chunk])
        digests = base64_of(digest.row_digests[chunk])
        content = f'{{"ids": [{ids}], "digests": "{digests}"}}'
        yield new_line(ROWS, first + start, content, project)


def base64_of(digests: Any) -> str:
    """Return digests as text."""
    return base64.b64encode(digests.astype("<u8").tobytes()).decode()


def joined_digest(names: tuple[str, ...], columns: bytes, chunks: list[RowChunk]) -> TableDigest:
    """Return the digest of rows that are stored in chunks."""
    return TableDigest(
        names,
        tuple(one for chunk in chunks for one in chunk.ids),
        np.frombuffer(columns, dtype="<u8"),
        np.frombuffer(b"".join(chunk.digests for chunk in chunks), dtype="<u8"),
    )
