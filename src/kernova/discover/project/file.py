"""Project file on disk: locked while it is open, appended to, and checked to be still in place.

An append is one write and one sync; only then does the header count the new entries. So a plain
copy of the file holds every entry that was acknowledged before the copy began, a file that lost its
end holds fewer entries than it counts, and an entry that was being written when the process was
killed is not counted.
"""

import hashlib
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from kernova.discover.project.lines import HEADER_LENGTH, Header
from kernova.discover.project.sqlite import journals_of
from kernova.errors import InputError, shortened
from kernova.files import is_folder, is_there, remove_stale_scratch, scratch_path

_TIMEOUT_SECONDS: Final = 1.0  # enough for a process that is just ending


class DisplacedError(Exception):
    """The path is no longer the open file; the text continues "The project was ..."."""


class ProjectFile:
    """An open and locked project file.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    InputError
        If it cannot be opened or locked.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._absolute = path.absolute()  # the working folder may change
        self._handle = _opened(path)
        remove_stale_scratch(path)
        self._end = 0
        self._seen: tuple[int, bytes, int] = self._look()
        self._sum: hashlib.blake2b = self._hash()

    def read(self) -> bytes:
        """Return the whole content."""
        return _read_at(self._handle, 0, os.fstat(self._handle).st_size)

    def continue_at(self, end: int) -> None:
        """Let the next append begin here, where the last line ends.

        What follows, an entry that was never finished, is cut off by that append.
        """
        self._end = end

    def append(self, lines: bytes, header: Header) -> None:
        """Append lines; on return they are on disk, and the path is the file.

        Parameters
        ----------
        lines : bytes
            The new lines.
        header : Header
            The header with the new number of entries.

        Raises
        ------
        DisplacedError
            If the path is no longer the open file, or its content was changed.
        OSError
            If the lines cannot be written; nothing is appended then.
        """
        self.check_unchanged()
        if self._end < HEADER_LENGTH:
            raise ValueError("where to append is not known: call continue_at first")
        try:
            self._write(lines, header.to_bytes())
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, self._end)
            self._remember()
            raise
        self._end += len(lines)
        self.check_in_place()

    def check_in_place(self) -> None:
        """Raise ``DisplacedError`` if the path is no longer the open file."""
        try:
            now, opened = self._absolute.stat(), os.fstat(self._handle)
        except FileNotFoundError as error:
            raise DisplacedError("was deleted or moved") from error
        except OSError as error:
            raise DisplacedError("can no longer be reached") from error
        if (now.st_dev, now.st_ino) != (opened.st_dev, opened.st_ino):
            raise DisplacedError("was replaced by another file")

    def check_unchanged(self, *, is_thorough: bool = False) -> None:
        """Raise ``DisplacedError`` if the file is not in place, or another program wrote to it.

        The content is compared if the file was written since, or with ``is_thorough`` in any case.
        """
        self.check_in_place()
        try:
            now = self._look()
            if now == self._seen and not is_thorough:
                return
            is_changed = now[:2] != self._seen[:2] or self._hash().digest() != self._sum.digest()
        except OSError as error:
            raise DisplacedError("can no longer be read") from error
        if is_changed:
            raise DisplacedError("was changed by another program")
        self._seen = now

    def replace(self, content: bytes, kept_as: str) -> Path:
        """Replace the file by other content; keep the former one under a longer name.

        At any moment the path is either the former or the new file, complete and locked.
        """
        target = Path(os.path.realpath(self._absolute))  # a link stays one
        kept = free_name(target.with_name(target.name + kept_as))
        scratch = scratch_path(target)
        journals = journals_of(target)
        try:
            write_new(scratch, content)
            new = ProjectFile(scratch)
            try:
                for journal in journals:  # with the file that it continues
                    _keep(journal, Path(f"{kept}{journal.name.removeprefix(target.name)}"))
                _keep(target, kept)
                scratch.replace(target)
            except BaseException:
                new.close()
                raise
        finally:
            scratch.unlink(missing_ok=True)
        sync_folder(target.parent)
        for journal in journals:
            with suppress(OSError):
                journal.unlink()
        os.close(self._handle)
        self._handle, new._handle = new._handle, -1
        self._end = len(content)
        self._remember()
        return kept

    def close(self) -> None:
        """Close the file, which releases its lock."""
        if not self.is_closed:
            os.close(self._handle)
            self._handle = -1

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            self.close()

    @property
    def is_closed(self) -> bool:
        """Whether the file was closed."""
        return self._handle < 0

    def _write(self, lines: bytes, header: bytes) -> None:
        size = self._seen[0]
        if size > self._end:
            os.ftruncate(self._handle, self._end)
        elif size < self._end:  # the last line end is missing
            _write_at(self._handle, size, b"\n" * (self._end - size))
        if size != self._end:
            self._remember()
        _write_at(self._handle, self._end, lines)
        _sync(self._handle)
        # Not synced: it may count too few entries after a loss of power, but never too many.
        _write_at(self._handle, 0, header)
        self._sum.update(lines)
        self._seen = self._look()

    def _look(self) -> tuple[int, bytes, int]:
        """Return size, header and time of change, which show that another program wrote."""
        status = os.fstat(self._handle)
        return status.st_size, _read_at(self._handle, 0, HEADER_LENGTH), status.st_mtime_ns

    def _remember(self) -> None:
        self._seen = self._look()
        self._sum = self._hash()

    def _hash(self) -> "hashlib.blake2b":
        """Return the hash of everything behind the header."""
        found, position = hashlib.blake2b(), HEADER_LENGTH
        while block := _read_at(self._handle, position, 1 << 22):
            found.update(block)
            position += len(block)
        return found


def create_file(target: Path, content: bytes) -> None:
    """Create a complete file, unless one has appeared at the path meanwhile."""
    if not is_folder(target.parent):
        raise _cannot_create(target, f"there is no folder {target.parent}")
    scratch = scratch_path(target)
    try:
        try:
            write_new(scratch, content)
            _move_unless_there(scratch, target)
        finally:
            scratch.unlink(missing_ok=True)
        sync_folder(target.parent)
    except OSError as error:
        raise _cannot_create(target, error.strerror or str(error)) from error


def free_name(path: Path) -> Path:
    """Return the path, with a number added if there is a file already."""
    name, n_taken = path, 1
    while is_there(name):
        n_taken += 1
        name = path.with_name(f"{path.stem}-{n_taken}{path.suffix}")
    return name


def write_new(path: Path, content: bytes) -> None:
    """Write a new file and sync it; raise ``FileExistsError`` if there is one."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        _sync(file.fileno())


def _keep(path: Path, kept: Path) -> None:
    """Link a file to a second name, or copy it where there are no hard links."""
    try:
        kept.hardlink_to(path)
    except OSError:
        write_new(kept, path.read_bytes())


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder, where the system can."""
    with suppress(OSError):  # Windows opens no folders; its file system keeps the order
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
    return InputError(
        f"Cannot create a project at {shortened(target)}: {reason}. Choose another path."
    )


# --- opening and locking ---------------------------------------------------------------------


def _opened(path: Path) -> int:
    """Open and lock the file that is at the path now."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise _cannot_use(path, error) from error
        try:
            _lock(handle, path)
            if os.path.samestat(os.fstat(handle), path.stat()):
                _check_lock_excludes(path)
                return handle
        except FileNotFoundError as error:  # deleted meanwhile
            os.close(handle)
            raise _cannot_use(path, error) from error
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # replaced while we waited for the lock


def _lock(handle: int, path: Path) -> None:
    end = time.monotonic() + _TIMEOUT_SECONDS
    while not _try_lock(handle, path):
        if time.monotonic() > end:
            raise InputError(
                f"The project {path} is open in another process. Close it there first."
            )
        time.sleep(0.02)


def _check_lock_excludes(path: Path) -> None:
    """Try the lock: where locks have no effect, a second one is granted as well."""
    second = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        if _try_lock(second, path):
            raise _no_locks(path)
    finally:
        os.close(second)


def _try_lock(handle: int, path: Path) -> bool:
    """Lock a file for this process; return False if another one has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, 1 << 40, os.SEEK_SET)  # beyond the content, which others may read
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _check_sqlite_lock(handle)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        raise _no_locks(path) from error
    return True


def _check_sqlite_lock(handle: int) -> None:
    """Raise ``BlockingIOError`` if a version that used SQLite has the file open."""
    if sys.platform != "win32":
        import fcntl

        begin, n_bytes = 0x40000002, 510  # where SQLite puts its shared and exclusive locks
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, n_bytes, begin)
        fcntl.lockf(handle, fcntl.LOCK_UN, n_bytes, begin)


def _no_locks(path: Path) -> InputError:
    return InputError(
        f"Files cannot be locked in the folder of {path}, as on some network drives, so two "
        "processes could write to the project at once. Copy it to a local disk and use it there."
    )


def _cannot_use(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"There is no project {path}; check its name and folder.")
    return InputError(
        f"The project {path} cannot be written or locked. Make the file and its folder writable, "
        "or choose another."
    )


# --- bytes -----------------------------------------------------------------------------------


def _read_at(handle: int, position: int, n_bytes: int) -> bytes:
    os.lseek(handle, position, os.SEEK_SET)
    blocks = []
    while n_bytes > 0 and (block := os.read(handle, min(n_bytes, 1 << 24))):
        blocks.append(block)
        n_bytes -= len(block)
    return b"".join(blocks)


def _write_at(handle: int, position: int, content: bytes) -> None:
    os.lseek(handle, position, os.SEEK_SET)
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _sync(handle: int) -> None:
    if sys.platform == "darwin":  # where a plain sync leaves it to the drive
        import fcntl

        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)
