"""Content of a project: settings, the row table, the entries, and what is damaged of them.

Reading never stops at damage: whatever passes its checksum is kept, and the rest is listed.
"""

import base64
import dataclasses
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kernova.discover.events import Record, RowsAdded, event_from_fields, event_to_json
from kernova.discover.names import expert_name
from kernova.discover.project.lines import (
    COLUMNS,
    ENTRY,
    FORMAT,
    HEAD,
    HEADER_LENGTH,
    ROWS,
    SOURCE,
    Gap,
    Header,
    Line,
    find_project,
    new_line,
    read_header,
    read_lines,
)
from kernova.discover.project.parts import (
    ROWS_PER_LINE,
    Part,
    RowChunk,
    base64_of,
    joined_digest,
    row_lines,
)
from kernova.discover.strategies import current_name
from kernova.errors import InputError
from kernova.tables.identity import TableDigest, json_of_id


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
    batches : dict of int to Part
        The rows that were added, by the number of the batch, counted from 1; and, as number 0, the
        source of the rows that the project was started with, if it is stored.
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
    batches: dict[int, Part] = field(default_factory=dict)
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
    def parts(self) -> list[Part]:
        """The rows that the project was started with, and those that were added, in order."""
        if self.head is None:
            return []
        stored = self.batches.get(0)
        first = Part(0, 0, self.head.n_rows, self.head.fingerprint)
        if stored is not None:
            first = dataclasses.replace(first, source=stored.source)
        added = [part for number, part in self.batches.items() if number]
        return [first, *sorted(added, key=lambda part: part.first)]

    @property
    def n_rows(self) -> int:
        """Number of rows, with those that were added."""
        return sum(part.n_rows for part in self.parts)

    @property
    def lost_rows(self) -> list[range]:
        """Rows whose ids are damaged or missing."""
        if not self.has_rows:
            return []
        return [
            range(first, first + part.size_of(first))
            for part in self.parts
            for first in part.chunks
            if first not in self.rows
        ]

    @property
    def digest(self) -> TableDigest | None:
        """Digest of the table at the start; None if it was not stored or is damaged."""
        return self.digest_of(0) if self.head is not None and self.columns is not None else None

    def digest_of(self, number: int) -> TableDigest | None:
        """Return the digest of a part, 0 for the first; None if not stored or damaged."""
        part = self.parts[number]
        sizes = [len(self.rows[first].ids) for first in part.chunks if first in self.rows]
        if self.columns is None or sizes != [part.size_of(first) for first in part.chunks]:
            return None
        names, columns = self.columns
        chunks = [self.rows[first] for first in part.chunks]
        return joined_digest(names, part.columns if number else columns, chunks)

    def as_added(self) -> "dict[int, AddedRows]":
        """Return the batches as they are written to another file, 0 for the first source."""
        of_parts = enumerate(self.parts)
        return {
            number: AddedRows(part, self.digest_of(number) if number else None)
            for number, part in of_parts
            if number or part.source is not None
        }

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
        firsts = [0, *(part.first for part in self.parts[1:])]
        begin = firsts[bisect_right(firsts, row) - 1]
        first = row - (row - begin) % ROWS_PER_LINE
        chunk = self.rows.get(first)
        is_there = chunk is not None and row - first < len(chunk.ids)
        return json.loads(chunk.ids[row - first]) if chunk is not None and is_there else None


# --- writing ---------------------------------------------------------------------------------


class AddedRows(NamedTuple):
    """A batch as it is written: its part, and the ids and digests of its rows if they are known."""

    part: Part
    digest: TableDigest | None


def new_content(
    project: str,
    head: ProjectHead,
    digest: TableDigest | None,
    records: Iterable[Record] = (),
    batches: Mapping[int, AddedRows] | None = None,
) -> bytes:
    """Return a whole project file; ``batches`` has a number 0 if the first source is known."""
    entries = list(entry_lines(project, records, 1))
    settings = {"project": project, **dataclasses.asdict(head), "has_rows": digest is not None}
    lines = [
        Header(project, len(entries)).to_bytes(),
        new_line(HEAD, 0, json.dumps(settings), project),
        *([] if digest is None else digest_lines(project, digest)),
    ]
    before = {one.part.entry: (number, one) for number, one in (batches or {}).items()}
    for number, entry in enumerate([b"", *entries]):
        if number in before:
            lines += batch_lines(project, *before[number])
        lines.append(entry)
    return b"".join(lines)


def batch_lines(project: str, number: int, added: AddedRows) -> Iterator[bytes]:
    """Return the lines of a batch, without the entry that adds it."""
    if added.digest is not None and number:
        yield from row_lines(project, added.digest, added.part.first)
    yield added.part.line(number, project)


def digest_lines(project: str, digest: TableDigest) -> Iterator[bytes]:
    """Return the lines of the columns and of the row table."""
    names = {"names": list(digest.columns), "digests": base64_of(digest.column_digests)}
    yield new_line(COLUMNS, 0, json.dumps(names), project)
    yield from row_lines(project, digest)


def entry_lines(project: str, records: Iterable[Record], first: int) -> Iterator[bytes]:
    """Return the lines of records, numbered from ``first``."""
    for number, record in enumerate(records, start=first):
        origin = {"at": record.at, "by": record.by, "key": record.key}
        start = json.dumps(origin, ensure_ascii=False).removesuffix("}")
        content = f'{start}, "event": {event_to_json(record.event)}}}'
        yield new_line(ENTRY, number, content, project)


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
    _add_lines(content, data, begin)
    content.records = dict(sorted(content.records.items()))
    _add_lost_parts(content)
    return content


def _add_lines(content: ProjectContent, data: bytes, begin: int) -> None:
    """Add all lines; those of a batch wait for its entry."""
    waiting: list[Line] = []
    for part in read_lines(data, begin, content.project):
        if isinstance(part, Gap):
            content.gaps.append(data[part.begin : part.end])
        elif _is_of_batch(content, part):
            waiting.append(part)
        else:
            if part.kind == ENTRY:
                waiting = _taken(content, waiting, part.number)
            _add_line(content, part)
    # Of a batch without its entry nothing counts; the next entry is written in its place.
    _taken(content, waiting, content.n_entries or 0)


def _add_line(content: ProjectContent, line: Line) -> None:
    if not _added(content, line):
        content.gaps.append(line.content)
    elif line.was_corrected:
        content.corrected.append(line)
    content.length = max(content.length, line.end + 1)


def _add_lost_parts(content: ProjectContent) -> None:
    """Take from the entries which rows were added where that line is damaged."""
    stored = {part.entry for part in content.batches.values()}
    for number, record in content.records.items():
        event = record.event
        if isinstance(event, RowsAdded) and number not in stored:
            part = Part(number, event.first, event.n_rows, event.fingerprint)
            content.batches[max(content.batches, default=0) + 1] = part


def _is_of_batch(content: ProjectContent, line: Line) -> bool:
    """Return whether a line counts only with the entry of a batch, which stands behind it."""
    if content.head is None:
        return False
    if line.kind == ROWS:
        return line.number >= content.n_rows
    return line.kind == SOURCE and line.number > 0 and line.number not in content.batches


def _taken(content: ProjectContent, waiting: list[Line], last: int) -> list[Line]:
    """Take over the lines of batches up to an entry, and return those that still wait."""
    left: list[Line] = []
    for line in waiting:
        left.append(line)
        if line.kind == SOURCE and _entry_of(line) <= last:
            for one in left:
                _add_line(content, one)
            left = []
    return left


def _entry_of(line: Line) -> int:
    try:
        return int(json.loads(line.content)["entry"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0


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
            case "s":
                content.batches[line.number] = Part.from_json(values)
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
