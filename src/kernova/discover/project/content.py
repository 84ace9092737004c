"""Content of a project: settings, the row table, the entries, and what is damaged of them.

Reading never stops at damage: whatever passes its checksum is kept, and the rest is listed.
"""

import base64
import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from kernova.discover.events import Record, event_from_fields, event_to_json
from kernova.discover.names import expert_name
from kernova.discover.project.lines import (
    COLUMNS,
    ENTRY,
    FORMAT,
    HEAD,
    HEADER_LENGTH,
    ROWS,
    Gap,
    Header,
    Line,
    find_project,
    new_line,
    read_header,
    read_lines,
)
from kernova.discover.strategies import current_name
from kernova.errors import InputError
from kernova.tables.identity import TableDigest, json_of_id

# Few enough that the wrong bit of a line can be found, and that damage affects few rows.
ROWS_PER_LINE: Final = 100


@dataclass(frozen=True, slots=True)
class ProjectHead:
    """Settings that a project was started with, and must be resumed with.

    Parameters
    ----------
    fingerprint : str
        Of the table; see :func:`kernova.tables.identity.table_fingerprint`.
    n_rows, n_columns : int
        Shape of the table, for error messages.
    strategy : str
        Name of the strategy; a former name is replaced by the present one.
    seed : int
        Seed of the strategy.
    """

    fingerprint: str
    n_rows: int
    n_columns: int
    strategy: str
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategy", current_name(self.strategy))


@dataclass(frozen=True, slots=True)
class RowChunk:
    """Ids and digests of up to a hundred rows, as the row table stores them."""

    ids: tuple[str, ...]  # as JSON
    digests: bytes


@dataclass
class ProjectContent:
    """What a project file holds.

    Attributes
    ----------
    version : int
        The file's format.
    project : str
        Id drawn when the project was created; empty in formats 1 and 2.
    n_entries : int or None
        Number of entries that the file's header counts; None if the header is damaged.
    head : ProjectHead or None
        The settings; None if they are damaged.
    records : dict of int to Record
        The intact entries by number, counted from 1, in order.
    columns : tuple of (tuple of str, bytes) or None
        Names and digests of the table's columns, if stored and intact.
    rows : dict of int to RowChunk
        The intact parts of the row table, by the index of their first row.
    has_rows : bool
        Whether a row table was stored.
    gaps : list of bytes
        What stands in the file instead of lines.
    corrected : list of Line
        Lines of which one bit was wrong, as they were before.
    is_header_corrected : bool
        Whether that happened to the header.
    length : int
        Number of bytes up to the end of the last line.
    """

    version: int = FORMAT
    project: str = ""
    n_entries: int | None = None
    head: ProjectHead | None = None
    records: dict[int, Record] = field(default_factory=dict)
    columns: tuple[tuple[str, ...], bytes] | None = None
    rows: dict[int, RowChunk] = field(default_factory=dict)
    has_rows: bool = False
    gaps: list[bytes] = field(default_factory=list)
    corrected: list[Line] = field(default_factory=list)
    is_header_corrected: bool = False
    length: int = 0

    @property
    def last(self) -> int:
        """Number of the last entry that is there or that the header counts."""
        return max(self.n_entries or 0, max(self.records, default=0))

    @property
    def lost_entries(self) -> list[int]:
        """Numbers of the entries that are damaged or missing."""
        return [number for number in range(1, self.last + 1) if number not in self.records]

    @property
    def is_cut_short(self) -> bool:
        """Whether entries are missing at the end."""
        return (self.n_entries or 0) > max(self.records, default=0)

    @property
    def lost_rows(self) -> list[range]:
        """Rows whose ids are damaged or missing."""
        if not self.has_rows or self.head is None:
            return []
        n_rows = self.head.n_rows
        return [
            range(first, min(first + ROWS_PER_LINE, n_rows))
            for first in range(0, n_rows, ROWS_PER_LINE)
            if first not in self.rows
        ]

    @property
    def has_whole_rows(self) -> bool:
        """Whether every row's id is there, in its place."""
        if self.head is None:
            return False
        n_rows = self.head.n_rows
        sizes = {
            first: min(ROWS_PER_LINE, n_rows - first) for first in range(0, n_rows, ROWS_PER_LINE)
        }
        return {first: len(chunk.ids) for first, chunk in self.rows.items()} == sizes

    @property
    def digest(self) -> TableDigest | None:
        """Digest of the table; None if it was not stored or is damaged."""
        if not self.has_whole_rows or self.columns is None:
            return None
        names, column_digests = self.columns
        chunks = [self.rows[first] for first in sorted(self.rows)]
        ids = tuple(one for chunk in chunks for one in chunk.ids)
        row_digests = b"".join(chunk.digests for chunk in chunks)
        return TableDigest(
            names,
            ids,
            np.frombuffer(column_digests, dtype="<u8"),
            np.frombuffer(row_digests, dtype="<u8"),
        )

    def put_digest(self, digest: TableDigest | None) -> None:
        """Take over the digest of a table."""
        if digest is not None:
            self.has_rows = True
            self.columns = digest.columns, digest.column_digests.astype("<u8").tobytes()
            for first in range(0, len(digest.ids), ROWS_PER_LINE):
                chunk = slice(first, first + ROWS_PER_LINE)
                numbers = digest.row_digests[chunk].astype("<u8").tobytes()
                self.rows[first] = RowChunk(digest.ids[chunk], numbers)

    def id_of(self, row: int) -> Any:
        """Return the id of a row, or None if it is not stored or damaged."""
        first = row - row % ROWS_PER_LINE
        chunk = self.rows.get(first)
        return None if chunk is None else json.loads(chunk.ids[row - first])


# --- writing ---------------------------------------------------------------------------------


def new_content(
    project: str, head: ProjectHead, digest: TableDigest | None, records: Iterable[Record] = ()
) -> bytes:
    """Return a whole project file."""
    entries = list(entry_lines(project, records, 1))
    settings = {"project": project, **dataclasses.asdict(head), "has_rows": digest is not None}
    lines = [
        Header(project, len(entries)).to_bytes(),
        new_line(HEAD, 0, json.dumps(settings), project),
        *([] if digest is None else digest_lines(project, digest)),
        *entries,
    ]
    return b"".join(lines)


def digest_lines(project: str, digest: TableDigest) -> Iterator[bytes]:
    """Return the lines of the columns and of the row table."""
    names = {"names": list(digest.columns), "digests": _base64(digest.column_digests)}
    yield new_line(COLUMNS, 0, json.dumps(names), project)
    for first in range(0, len(digest.ids), ROWS_PER_LINE):
        chunk = slice(first, first + ROWS_PER_LINE)
        ids = ", ".join(digest.ids[chunk])
        digests = _base64(digest.row_digests[chunk])
        yield new_line(ROWS, first, f'{{"ids": [{ids}], "digests": "{digests}"}}', project)


def entry_lines(project: str, records: Iterable[Record], first: int) -> Iterator[bytes]:
    """Return the lines of records, numbered from ``first``."""
    for number, record in enumerate(records, start=first):
        origin = {"at": record.at, "by": record.by, "key": record.key}
        start = json.dumps(origin, ensure_ascii=False).removesuffix("}")
        content = f'{start}, "event": {event_to_json(record.event)}}}'
        yield new_line(ENTRY, number, content, project)


def _base64(digests: Any) -> str:
    return base64.b64encode(digests.astype("<u8").tobytes()).decode()


# --- reading ---------------------------------------------------------------------------------


def read_content(data: bytes) -> ProjectContent | None:
    """Return the content of a project file, or None if it is not one."""
    found = read_header(data)
    content = ProjectContent()
    if found is not None:
        (content.project, content.n_entries), content.is_header_corrected = found
        begin = HEADER_LENGTH
    else:
        project = find_project(data)
        if project is None:
            return None
        content.project, begin = project, 0
    for part in read_lines(data, begin, content.project):
        if isinstance(part, Gap) or not _added(content, part):
            content.gaps.append(data[part.begin : part.end])
        elif part.was_corrected:
            content.corrected.append(part)
        if isinstance(part, Line):
            content.length = part.end + 1
    content.records = dict(sorted(content.records.items()))
    return content


def _added(content: ProjectContent, line: Line) -> bool:
    """Add a line to the content; return False if it does not belong there."""
    try:
        values = json.loads(line.content)
        match line.kind:
            case "h":
                _add_head(content, values)
            case "c":
                content.columns = tuple(values["names"]), base64.b64decode(values["digests"])
                content.has_rows = True
            case "r":
                ids = tuple(map(json_of_id, values["ids"]))
                content.rows[line.number] = RowChunk(ids, base64.b64decode(values["digests"]))
            case "e":
                if line.number in content.records or line.number < 1:
                    return False
                content.records[line.number] = _record_from(values)
            case _:
                return False
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
    return True


def _add_head(content: ProjectContent, values: dict[str, Any]) -> None:
    content.has_rows = bool(values["has_rows"])
    content.head = checked_head(
        {field.name: values[field.name] for field in dataclasses.fields(ProjectHead)}
    )


def checked_head(values: dict[str, Any]) -> ProjectHead:
    """Return the settings of these values; raise ``ValueError`` if one has another type."""
    wanted = {field.name: field.type for field in dataclasses.fields(ProjectHead)}
    if {name: type(value) for name, value in values.items()} != wanted:
        raise ValueError("other settings")
    return ProjectHead(**values)


def _record_from(values: dict[str, Any]) -> Record:
    at, by, key = values["at"], values["by"], values["key"]
    return checked_record(Record(event_from_fields(values["event"]), by, key, at))


def checked_record(record: Record) -> Record:
    """Return a record that was read; raise if its expert's name could not have been written."""
    if type(record.at) is not str or expert_name(record.by, is_stored=True) != record.by:
        raise InputError("The log is damaged: an expert's name was changed.")
    return record
