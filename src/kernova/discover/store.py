"""The file under a project: made whole at once, recognised before it is touched, locked.

While a project is open, it is locked; the lock ends with the process.

A session's log on disk: one SQLite file per project, and nothing counts before it is there.

An event is synced to the disk before :meth:`ProjectStore.append` returns, so a process may be
killed at any moment: what was acknowledged is in the file, and the next start finds it. After a
kill, a second file that ends in ``-wal`` may stand beside the project; it is part of it until the
next start.
"""

import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from kernova.discover.events import Event, Record, event_from_json, event_to_json
from kernova.discover.names import expert_name
from kernova.discover.table_identity import TableDigest, what_changed
from kernova.errors import InputError, NotSavedError
from kernova.files import is_folder, is_there

FORMAT = 2
APPLICATION = 0x6B6E7661  # "knva": tells a project from any other SQLite file
_PATIENCE_SECONDS = 1.0  # long enough for a process that is just leaving


def create_file(target: Path, content: bytes) -> None:
    """Put a whole project at the path at once, unless one appeared there meanwhile."""
    if not is_folder(target.parent):
        raise _cannot_begin(target, f"there is no folder {target.parent}")
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
        raise _cannot_begin(target, error.strerror or str(error)) from error


def _move_unless_there(scratch: Path, target: Path) -> None:
    """Give the file its name; two processes that begin at once must end up with one file."""
    with suppress(FileExistsError):
        try:
            target.hardlink_to(scratch)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the window is small, but there
            scratch.replace(target)


def _cannot_begin(target: Path, reason: str) -> InputError:
    return InputError(f"Cannot begin a project at {target}: {reason}. Name another place.")


# --- an existing file ------------------------------------------------------------------------


def locked(path: Path) -> sqlite3.Connection:
    """Open and lock the file, having seen that it is a project that we can read."""
    if not path.is_file():
        raise InputError(f"{path} is no file, so it is no kernova project. Name another.")
    if path.stat().st_size == 0 and not Path(f"{path}-wal").exists():
        raise _no_project(path)
    try:
        connection = sqlite3.connect(
            path, timeout=_PATIENCE_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise InputError(f"Cannot open the project {path}: {error}.") from error
    try:
        _check_ours(connection, path)
        # In the file's own memory and lock: other processes see either nothing or the whole.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # where a plain fsync is not enough (macOS)
        with transaction(connection):
            pass  # a file that can be read but not written is refused now, not at the first answer
    except sqlite3.Error as error:
        connection.close()
        raise _cannot_use(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Look before anything is written: the file may be another program's."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise _no_project(path)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > FORMAT:
        raise InputError(
            f"{path} was written by a newer kernova: its format is {version}, and this one reads "
            f"up to {FORMAT}. Update kernova."
        )
    complaints = connection.execute("PRAGMA quick_check(1)").fetchone()
    if version < 1 or complaints != ("ok",) or _is_cut_short(connection, path):
        raise damaged(path)


def _is_cut_short(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether pages are missing at the end: SQLite does not mind if they were empty.

    The file itself must not be opened here: closing it would end this process's locks on it.
    """
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size:
        return False  # the file is as long as it should be only after the next start
    (n_pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    return path.stat().st_size < page_size * n_pages


def _cannot_use(path: Path, error: sqlite3.Error) -> InputError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return InputError(f"The project {path} is open in another process. Leave that one first.")
    # A file that may only be read cannot be locked either.
    if name.startswith(("SQLITE_READONLY", "SQLITE_IOERR_LOCK")):
        return InputError(
            f"The project {path} cannot be written or locked. Make the file and its folder "
            "writable, or name another."
        )
    if name == "SQLITE_NOTADB":
        return _no_project(path)
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_IOERR")):
        return damaged(path)
    return InputError(f"Cannot work with the project {path}: {error}.")


def _no_project(path: Path) -> InputError:
    return InputError(f"{path} is no kernova project, or the start of it is lost. Name another.")


def damaged(path: Path) -> InputError:
    """Say that a project cannot be read."""
    return InputError(
        f"The project {path} is damaged: part of the file is missing or was overwritten. Take a "
        "copy of it, or begin another."
    )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let all that is executed be on the disk at the end, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


_TABLES = f"""
CREATE TABLE head (name TEXT PRIMARY KEY, value NOT NULL);
CREATE TABLE events (number INTEGER PRIMARY KEY, written TEXT NOT NULL, event TEXT NOT NULL);
PRAGMA application_id = {APPLICATION};
"""
# What format 2 added: who said it, and in which request; what the table was like.
_SINCE_FORMAT_1 = (
    "ALTER TABLE events ADD COLUMN expert TEXT",
    "ALTER TABLE events ADD COLUMN key TEXT",
    "CREATE UNIQUE INDEX event_keys ON events (key)",
    "CREATE TABLE digest (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
    f"PRAGMA user_version = {FORMAT}",
)


@dataclass(frozen=True, slots=True)
class ProjectHead:
    """What a project was started with, and must be gone on with.

    Parameters
    ----------
    fingerprint : str
        Of the table; see :func:`kernova.discover.table_identity.table_fingerprint`.
    n_rows, n_columns : int
        The table's shape, for sentences.
    strategy : str
        How questions are chosen.
    seed : int
        Where random numbers start.
    """

    fingerprint: str
    n_rows: int
    n_columns: int
    strategy: str
    seed: int


class ProjectStore:
    """An open project; :func:`open_project` gives one.

    Calls must not overlap, but may come from different threads. Close it, or use it as a context
    manager: then a single whole file is left.

    Attributes
    ----------
    path : Path
        The project's file.
    head : ProjectHead
        What the project was started with.
    records : list of Record
        The log as it stands on the disk.
    events : tuple of Event
        What happened, without who said it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self.format = _read_format(connection)
        self.head = _read_head(connection, path)
        self.records = _read_records(connection, path, self.format)

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened, without who said it."""
        return tuple(record.event for record in self.records)

    def append(self, *records: Record) -> None:
        """Add records; when this returns they are on the disk, all of them, or an error says why.

        A file of an older format is brought to this one in the same transaction.
        """
        first = len(self.records) + 1
        lines = [
            (first + place, one.at, event_to_json(one.event), one.by, one.key)
            for place, one in enumerate(records)
        ]
        self._save("INSERT INTO events VALUES (?, ?, ?, ?, ?)", lines)
        self.records.extend(records)

    @property
    def digest(self) -> TableDigest | None:
        """What the table was like when the project was begun; None if nobody noted that."""
        if self.format < FORMAT:
            return None
        try:
            parts = dict(self._connection.execute("SELECT name, value FROM digest"))
        except sqlite3.Error as error:
            raise damaged(self.path) from error
        return TableDigest.from_parts(parts)

    def keep_digest(self, digest: TableDigest | None) -> None:
        """Note what the table is like, if that is given, in a file of today's format."""
        parts = {} if digest is None else digest.to_parts()
        self._save("INSERT OR REPLACE INTO digest VALUES (?, ?)", list(parts.items()))

    def _save(self, statement: str, lines: list[tuple[Any, ...]]) -> None:
        try:
            with transaction(self._connection):
                self._modernize()
                self._connection.executemany(statement, lines)
        except sqlite3.Error as error:
            raise NotSavedError(
                f"Could not save to {self.path}: {str(error).rstrip('.')}. What was said last does "
                "not count; what was said before is safe."
            ) from error
        self.format = FORMAT

    def _modernize(self) -> None:
        if self.format < FORMAT:
            for statement in _SINCE_FORMAT_1:
                self._connection.execute(statement)

    def close(self) -> None:
        """Let go of the file; others may open it now."""
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
    """Open a project's file, or begin one where there is none.

    Parameters
    ----------
    path : str or path
        The file.
    head : ProjectHead, optional
        What the project is about. A new file gets it; an existing one must agree. Without it,
        the file must exist.
    digest : callable, optional
        Gives what the table is like, see :func:`~kernova.discover.table_identity.table_digest`.
        It is
        called for a new file, for one that has none, and to say what changed in a table.

    Returns
    -------
    ProjectStore
        The project, locked until it is closed or the process ends.

    Raises
    ------
    InputError
        If the file is no project, damaged, from a newer kernova, about another table, or open
        elsewhere; the sentence says which.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.discover.events import Skipped
    >>> from kernova.discover.events import Record
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
        create_file(target, _new_content(head, digest))
    connection = locked(target)
    try:
        store = ProjectStore(target, connection)
        if head is not None:
            _check_same(store, head, digest)
            _bring_up_to_date(store, digest)
    except BaseException:
        connection.close()
        raise
    return store


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


def _bring_up_to_date(store: ProjectStore, digest: Callable[[], TableDigest] | None) -> None:
    has_digest = digest is None or store.digest is not None
    if store.format < FORMAT or not has_digest:
        store.keep_digest(None if has_digest or digest is None else digest())


def _read_head(connection: sqlite3.Connection, path: Path) -> ProjectHead:
    try:
        values = dict(connection.execute("SELECT name, value FROM head"))
    except sqlite3.Error as error:
        raise damaged(path) from error
    wanted = {field.name: field.type for field in fields(ProjectHead)}
    if {name: type(value) for name, value in values.items()} != wanted:
        raise damaged(path)
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
            Record(event_from_json(text), _same_name(by), key, at) for _, text, at, by, key in lines
        ]
    except (sqlite3.Error, InputError) as error:
        raise damaged(path) from error
    if [line[0] for line in lines] != list(range(1, len(lines) + 1)):
        raise damaged(path)
    return records


def _same_name(by: object) -> str | None:
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
            f"The project {path} is about another table: {_difference(store, wanted, digest)} Give "
            "the table that the project was begun with, or name another project."
        )
    if (found.strategy, found.seed) != (wanted.strategy, wanted.seed):
        raise InputError(
            f"The project {path} chooses questions by {found.strategy!r} with the seed "
            f"{found.seed}; got {wanted.strategy!r} and {wanted.seed}. Go on with those, or name "
            "another project."
        )


def _difference(
    store: ProjectStore, wanted: ProjectHead, digest: Callable[[], TableDigest] | None
) -> str:
    old = store.digest
    changed = "" if old is None or digest is None else what_changed(old, digest())
    if changed:
        return f"{changed[0].lower()}{changed[1:]}"
    is_alike = _shape(store.head) == _shape(wanted)
    now = "the same shape, but other values, columns or ids" if is_alike else _shape(wanted)
    return f"{_shape(store.head)}; the one given now has {now}."


def _shape(head: ProjectHead) -> str:
    return f"{head.n_rows} rows and {head.n_columns} columns"
