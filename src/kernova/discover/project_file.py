"""The file under a project: made whole at once, recognised before it is touched, locked.

While a project is open, it is locked; the lock ends with the process.
"""

import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kernova.errors import InputError
from kernova.files import is_folder

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
