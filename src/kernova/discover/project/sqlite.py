"""Projects of formats 1 and 2, which were SQLite databases: reading them for conversion.

SQLite works on copies, so that a project is unchanged until it is converted. A journal beside the
file (``-wal``) is read only if it continues the file's own entries: after a project was deleted,
its journal may stand beside another one.
"""

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from kernova.discover.events import Record, event_from_json
from kernova.discover.project.content import ProjectContent, checked_head, checked_record
from kernova.errors import InputError
from kernova.files import scratch_folder
from kernova.tables.identity import TableDigest

_NEWEST: Final = 2
_APPLICATION: Final = 0x6B6E7661  # "knva": distinguishes a project from other SQLite files
JOURNALS: Final = ("-wal", "-shm", "-journal")


class NotAProjectError(Exception):
    """A database of another program, or of a newer kernova."""


class UnprovenJournalError(Exception):
    """A journal beside a database that has no entries to compare with; its argument counts."""


class DamagedError(Exception):
    """A database that is not whole."""


def is_sqlite(data: bytes) -> bool:
    """Return whether the bytes begin as a SQLite database does."""
    return data.startswith(b"SQLite format 3\0")


def read_sqlite(
    path: Path, data: bytes, *, trusts_journal: bool = False
) -> tuple[ProjectContent, bool]:
    """Return the content of a project, and whether the journal beside it belongs to it.

    With ``trusts_journal``, it also belongs to a project without entries of its own.

    Raises
    ------
    NotAProjectError, DamagedError
        If it cannot be read.
    UnprovenJournalError
        If all entries are in the journal, so that nothing shows whose they are.
    """
    alone = _read_copy(data, None)
    journal = Path(f"{os.path.realpath(path)}-wal")
    if not journal.is_file() or journal.stat().st_size == 0:
        return alone, True
    try:
        together = _read_copy(data, journal)
    except (NotAProjectError, DamagedError):
        return alone, False
    if together.records and not (alone.records or trusts_journal):
        raise UnprovenJournalError(len(together.records))
    begins = list(together.records.items())[: len(alone.records)]
    is_own = alone.head == together.head and begins == list(alone.records.items())
    return (together, True) if is_own else (alone, False)


def newer_format(data: bytes) -> int | None:
    """Return the format of a kernova database that is newer than those read here, or None."""
    # The header of a database holds both numbers, at bytes 60 and 68.
    version, application = (int.from_bytes(data[at : at + 4]) for at in (60, 68))
    return version if application == _APPLICATION and version > _NEWEST else None


def journals_of(path: Path) -> list[Path]:
    """Return the files that SQLite may have left beside a project, following links to it."""
    real = os.path.realpath(path)
    return [one for end in JOURNALS if (one := Path(f"{real}{end}")).is_file()]


def _read_copy(data: bytes, journal: Path | None) -> ProjectContent:
    with scratch_folder() as folder:
        copy = folder / "project"
        # Bytes 18 and 19 say whether there is a write-ahead journal.
        copy.write_bytes(data if journal else data[:18] + b"\1\1" + data[20:])
        if journal is not None:
            shutil.copyfile(journal, f"{copy}-wal")
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                return _read(connection, copy, has_journal=journal is not None)
        except (sqlite3.Error, InputError, ValueError, TypeError) as error:
            raise DamagedError(str(error)) from error


def _read(connection: sqlite3.Connection, path: Path, *, has_journal: bool) -> ProjectContent:
    ask = connection.execute
    (application,) = ask("PRAGMA application_id").fetchone()
    (version,) = ask("PRAGMA user_version").fetchone()
    if application != _APPLICATION or version > _NEWEST:
        raise NotAProjectError
    is_whole = ask("PRAGMA quick_check(1)").fetchone() == ("ok",)
    (n_pages,), (page_size,) = (
        ask("PRAGMA page_count").fetchone(),
        ask("PRAGMA page_size").fetchone(),
    )
    if not has_journal:  # SQLite ignores missing pages at the end if they were empty
        is_whole = is_whole and path.stat().st_size >= page_size * n_pages
    if version < 1 or not is_whole:
        raise DamagedError
    content = ProjectContent(version=version)
    content.head = checked_head(dict(ask("SELECT name, value FROM head")))
    content.records = _records(ask(f"SELECT {_columns(version)} FROM events ORDER BY number"))
    content.n_entries = len(content.records)
    if version > 1:
        content.put_digest(TableDigest.from_parts(dict(ask("SELECT name, value FROM digest"))))
    return content


def _columns(version: int) -> str:
    return "number, event, written, " + ("NULL, NULL" if version < 2 else "expert, key")


def _records(lines: Sequence[tuple[Any, ...]] | sqlite3.Cursor) -> dict[int, Record]:
    records = {
        number: checked_record(Record(event_from_json(text), by, key, at))
        for number, text, at, by, key in lines
    }
    if list(records) != list(range(1, len(records) + 1)):
        raise DamagedError
    return records
