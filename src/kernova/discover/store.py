"""Project files: the log of a session on disk, one SQLite file per project.

A project is created whole, checked before it is opened, and locked while it is open; the lock ends
with the process. A record is synced to disk before :meth:`ProjectStore.append` returns, so a
process may be killed at any moment: every acknowledged record is in the file when it is opened
again. After a kill, a second file that ends in ``-wal`` may stand beside the project; it belongs to
the project until the next start.
"""

import os
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd

from kernova.discover.events import Event, Record, event_from_json, event_to_json
from kernova.discover.names import expert_name
from kernova.discover.strategies import current_name
from kernova.discover.table_identity import (
    TableDigest,
    describe_changes,
    table_digest,
    table_fingerprint,
)
from kernova.errors import InputError, NotSavedError
from kernova.files import is_folder, is_there
from kernova.typing import Matrix

FORMAT: Final = 2
_APPLICATION: Final = 0x6B6E7661  # "knva": distinguishes a project from other SQLite files
_TIMEOUT_SECONDS: Final = 1.0  # enough for a process that is just ending
_TABLES: Final = f"""
CREATE TABLE head (name TEXT PRIMARY KEY, value NOT NULL);
CREATE TABLE events (number INTEGER PRIMARY KEY, written TEXT NOT NULL, event TEXT NOT NULL);
PRAGMA application_id = {_APPLICATION};
"""
# Added in format 2: expert and key of each record, and the digest of the table.
_SINCE_FORMAT_1: Final = (
    "ALTER TABLE events ADD COLUMN expert TEXT",
    "ALTER TABLE events ADD COLUMN key TEXT",
    "CREATE UNIQUE INDEX event_keys ON events (key)",
    "CREATE TABLE digest (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
    f"PRAGMA user_version = {FORMAT}",
)


@dataclass(frozen=True, slots=True)
class ProjectHead:
    """Settings that a project was started with, and must be resumed with.

    Parameters
    ----------
    fingerprint : str
        Of the table; see :func:`kernova.discover.table_identity.table_fingerprint`.
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


class ProjectStore:
    """An open project, returned by :func:`open_project`.

    Calls must not overlap, but may come from different threads. Close it, or use it as a context
    manager, to leave a single complete file.

    Attributes
    ----------
    path : Path
        The file.
    head : ProjectHead
        Settings that the project was started with.
    records : list of Record
        The log on disk.
    events : tuple of Event
        The events of the records.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self.format = _read_format(connection)
        self.head = _read_head(connection, path)
        self.records = _read_records(connection, path, self.format)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the records."""
        return tuple(record.event for record in self.records)

    def append(self, *records: Record) -> None:
        """Save records; on return all are on disk, otherwise none and an error is raised.

        A file of an older format is converted in the same transaction.
        """
        lines = [
            (number, one.at, event_to_json(one.event), one.by, one.key)
            for number, one in enumerate(records, start=len(self.records) + 1)
        ]
        self._save("INSERT INTO events VALUES (?, ?, ?, ?, ?)", lines)
        self.records.extend(records)

    @property
    def digest(self) -> TableDigest | None:
        """Digest of the table at the start of the project; None if it was not stored."""
        if self.format < FORMAT:
            return None
        try:
            parts = dict(self._connection.execute("SELECT name, value FROM digest"))
        except sqlite3.Error as error:
            raise _damaged(self.path) from error
        return TableDigest.from_parts(parts)

    def save_digest(self, digest: TableDigest | None) -> None:
        """Save the digest of the table, if given, and convert an older format."""
        parts = {} if digest is None else digest.to_parts()
        self._save("INSERT OR REPLACE INTO digest VALUES (?, ?)", list(parts.items()))

    def _save(self, statement: str, lines: list[tuple[Any, ...]]) -> None:
        try:
            with _transaction(self._connection):
                self._convert_format()
                self._connection.executemany(statement, lines)
        except sqlite3.Error as error:
            raise NotSavedError(
                f"Could not save to {self.path}: {str(error).rstrip('.')}. The last entry was not "
                "recorded; earlier entries are safe."
            ) from error
        self.format = FORMAT

    def _convert_format(self) -> None:
        if self.format < FORMAT:
            for statement in _SINCE_FORMAT_1:
                self._connection.execute(statement)

    def close(self) -> None:
        """Close the file, so that other processes can open it."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_project(
    path: str | os.PathLike[str],
    head: ProjectHead | None = None,
    digest: Callable[[], TableDigest] | None = None,
) -> ProjectStore:
    """Open a project file, or create it if it does not exist.

    Parameters
    ----------
    path : str or path
        The file.
    head : ProjectHead, optional
        Settings of the project. A new file gets them; an existing one must agree. Without them,
        the file must exist.
    digest : callable, optional
        Returns the digest of the table, see :func:`~kernova.discover.table_identity.table_digest`.
        Called for a new file, for one without a digest, and to describe changes in the table.

    Returns
    -------
    ProjectStore
        The project, locked until it is closed or the process ends.

    Raises
    ------
    InputError
        If the file is not a project, is damaged, comes from a newer kernova, belongs to another
        table, or is open in another process.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.discover.events import Record, Skipped
    >>> from kernova.discover.store import ProjectHead, open_project
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fish.kernova-project"
    >>> head = ProjectHead("f1ce", n_rows=9, n_columns=2, strategy="random", seed=0)
    >>> with open_project(path, head) as project:
    ...     project.append(Record(Skipped(4), by="Anna"))
    >>> with open_project(path) as project:
    ...     print(project.head.strategy, project.events)
    random (Skipped(row=4),)
    """
    target = Path(path)
    if not is_there(target):
        if head is None:
            raise InputError(f"There is no project {target}; check its name and folder.")
        _create_file(target, _new_content(head, digest))
    connection = _locked(target)
    try:
        store = ProjectStore(target, connection)
        if head is not None:
            _check_same(store, head, digest)
            _update(store, digest)
    except BaseException:
        connection.close()
        raise
    return store


def open_table_project(
    path: str | os.PathLike[str],
    table: pd.DataFrame | Matrix,
    ids: Iterable[object],
    strategy: str,
    seed: int,
) -> ProjectStore:
    """Open the project of a table, or create it; see :func:`open_project`."""
    n_rows, n_columns = table.shape
    head = ProjectHead(table_fingerprint(table, ids), n_rows, n_columns, strategy, seed)
    return open_project(path, head, lambda: table_digest(table, ids))


def _new_content(head: ProjectHead, digest: Callable[[], TableDigest] | None) -> bytes:
    memory = sqlite3.connect(":memory:", isolation_level=None)
    memory.executescript(_TABLES)
    for statement in _SINCE_FORMAT_1:
        memory.execute(statement)
    memory.executemany("INSERT INTO head VALUES (?, ?)", asdict(head).items())
    if digest is not None:
        memory.executemany("INSERT INTO digest VALUES (?, ?)", digest().to_parts().items())
    content = memory.serialize()
    memory.close()
    return content


def _update(store: ProjectStore, digest: Callable[[], TableDigest] | None) -> None:
    has_digest = digest is None or store.digest is not None
    if store.format < FORMAT or not has_digest:
        store.save_digest(None if has_digest or digest is None else digest())


def _read_head(connection: sqlite3.Connection, path: Path) -> ProjectHead:
    try:
        values = dict(connection.execute("SELECT name, value FROM head"))
    except sqlite3.Error as error:
        raise _damaged(path) from error
    wanted = {field.name: field.type for field in fields(ProjectHead)}
    if {name: type(value) for name, value in values.items()} != wanted:
        raise _damaged(path)
    return ProjectHead(**values)


def _read_format(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _read_records(connection: sqlite3.Connection, path: Path, version: int) -> list[Record]:
    since = "NULL, NULL" if version < FORMAT else "expert, key"
    try:
        lines = connection.execute(
            f"SELECT number, event, written, {since} FROM events ORDER BY number"
        ).fetchall()
        records = [
            Record(event_from_json(text), _valid_name(by), key, at)
            for _, text, at, by, key in lines
        ]
    except (sqlite3.Error, InputError) as error:
        raise _damaged(path) from error
    if [line[0] for line in lines] != list(range(1, len(lines) + 1)):
        raise _damaged(path)
    return records


def _valid_name(by: object) -> str | None:
    name = expert_name(by)
    if name != by:
        raise InputError("The log is damaged: an expert's name was changed.")
    return name


def _check_same(
    store: ProjectStore, wanted: ProjectHead, digest: Callable[[], TableDigest] | None
) -> None:
    found, path = store.head, store.path
    if found.fingerprint != wanted.fingerprint:
        raise InputError(
            f"The project {path} belongs to another table: {_difference(store, wanted, digest)} "
            "Give the table that the project was started with, or another project."
        )
    if (found.strategy, found.seed) != (wanted.strategy, wanted.seed):
        raise InputError(
            f"The project {path} uses the strategy {found.strategy!r} and the seed {found.seed}; "
            f"got {wanted.strategy!r} and {wanted.seed}. Use the same, or another project."
        )


def _difference(
    store: ProjectStore, wanted: ProjectHead, digest: Callable[[], TableDigest] | None
) -> str:
    old = store.digest
    changed = "" if old is None or digest is None else describe_changes(old, digest())
    if changed:
        return f"{changed[0].lower()}{changed[1:]}"
    is_alike = _shape(store.head) == _shape(wanted)
    now = "the same shape, but other values, columns or ids" if is_alike else _shape(wanted)
    return f"{_shape(store.head)}; the one given now has {now}."


def _shape(head: ProjectHead) -> str:
    return f"{head.n_rows} rows and {head.n_columns} columns"


# --- the file --------------------------------------------------------------------------------


def _create_file(target: Path, content: bytes) -> None:
    """Create a complete project at the path, unless one has appeared there meanwhile."""
    if not is_folder(target.parent):
        raise _cannot_create(target, f"there is no folder {target.parent}")
    scratch = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
    try:
        try:
            with scratch.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            _move_unless_there(scratch, target)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_create(target, error.strerror or str(error)) from error


def _move_unless_there(scratch: Path, target: Path) -> None:
    """Move the file into place; two processes that start at once must end with one file."""
    with suppress(FileExistsError):
        try:
            target.hardlink_to(scratch)
        except FileExistsError:
            raise
        except OSError:  # no hard links here: a small race remains
            scratch.replace(target)


def _cannot_create(target: Path, reason: str) -> InputError:
    return InputError(f"Cannot create a project at {target}: {reason}. Choose another path.")


def _locked(path: Path) -> sqlite3.Connection:
    """Open and lock the file, after checking that it is a readable project."""
    if not path.is_file():
        raise InputError(f"{path} is not a file, so it is not a kernova project. Choose another.")
    if path.stat().st_size == 0 and not Path(f"{path}-wal").exists():
        raise _not_a_project(path)
    try:
        connection = sqlite3.connect(
            path, timeout=_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise InputError(f"Cannot open the project {path}: {error}.") from error
    try:
        _check_ours(connection, path)
        # With WAL and the lock, other processes see either nothing or whole transactions.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # where a plain fsync is not enough (macOS)
        with _transaction(connection):
            pass  # a read-only file is rejected now, not at the first answer
    except sqlite3.Error as error:
        connection.close()
        raise _cannot_use(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Check before anything is written: the file may belong to another program."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise _not_a_project(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > FORMAT:
        raise InputError(
            f"{path} was written by a newer kernova: its format is {version}, and this version "
            f"reads up to {FORMAT}. Update kernova."
        )
    complaints = connection.execute("PRAGMA quick_check(1)").fetchone()
    if version < 1 or complaints != ("ok",) or _is_cut_short(connection, path):
        raise _damaged(path)


def _is_cut_short(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether pages are missing at the end, which SQLite ignores if they were empty.

    The file itself must not be opened here: closing it would release this process's locks.
    """
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size:
        return False  # the file has its full length only after the next start
    (n_pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    return path.stat().st_size < page_size * n_pages


def _cannot_use(path: Path, error: sqlite3.Error) -> InputError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return InputError(f"The project {path} is open in another process. Close it there first.")
    # A file that may only be read cannot be locked either.
    if name.startswith(("SQLITE_READONLY", "SQLITE_IOERR_LOCK")):
        return InputError(
            f"The project {path} cannot be written or locked. Make the file and its folder "
            "writable, or choose another."
        )
    if name == "SQLITE_NOTADB":
        return _not_a_project(path)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_IOERR")):
        return _damaged(path)
    return InputError(f"Cannot work with the project {path}: {error}.")


def _not_a_project(path: Path) -> InputError:
    return InputError(f"{path} is not a kernova project, or its beginning is lost. Choose another.")


def _damaged(path: Path) -> InputError:
    return InputError(
        f"The project {path} is damaged: part of the file is missing or was overwritten. Restore "
        "a copy of it, or start another."
    )


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all statements at the end, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
