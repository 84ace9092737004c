"""Atomic file writing, scratch files, and checks of paths before they are written.

A file is written beside its target and then renamed, so that it is either whole or absent. The
name of a scratch file says whose it is: ``.kernova-HOST-PID-START-RANDOM.csv``. What a killed
process left is removed when a later one writes to the same folder; files of running processes, of
other hosts and of other programs are never touched.
"""

import atexit
import hashlib
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from kernova.errors import InputError, quoted, shortened

_SCRATCH: Final = re.compile(
    r"\.?kernova-(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]{1,10})-(?P<start>[0-9a-f]{1,24})-\w{8}(?:\..*)?"
)
# Process number 22 of /proc/PID/stat, counted after the name in parentheses.
_START_FIELD: Final = 19
_cleaned: set[Path] = set()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a scratch path beside ``path``; move it there when the block succeeds.

    If the block fails, or is interrupted, the scratch file is removed and an existing file at
    ``path`` is untouched.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from kernova.files import replacing
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with replacing(folder / "out.txt") as scratch:
    ...     _ = scratch.write_text("whole")
    >>> [p.name for p in folder.iterdir()]
    ['out.txt']
    """
    target = Path(path)
    scratch = _scratch_file_beside(target)
    try:
        with _locked(scratch):
            yield scratch
            scratch.replace(target)
    except OSError as error:
        raise _cannot_write(target, error.strerror or str(error)) from error
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a new folder for temporary files; remove it when the block ends.

    Examples
    --------
    >>> from kernova.files import scratch_folder
    >>> with scratch_folder() as folder:
    ...     is_there = folder.is_dir()
    >>> is_there, folder.is_dir()
    (True, False)
    """
    folder = _new_scratch_folder()
    try:
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def process_folder() -> Path:
    """Return a new folder that is removed when this process ends."""
    folder = _new_scratch_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def scratch_path(target: Path) -> Path:
    """Return a new path beside ``target`` whose name says that this process writes it."""
    return target.with_name(f".{_scratch_prefix()}{os.urandom(4).hex()}{target.suffix}")


def remove_stale_scratch(target: Path) -> None:
    """Remove scratch files that killed processes of this host left in the folder of ``target``."""
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if _is_stale(entry):
                _remove(entry)


def check_ending(path: str | os.PathLike[str], endings: Collection[str], what: str) -> None:
    """Raise if the ending of a path stands for another kind of file than will be written."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(
            f"Cannot write {what} to {shortened(Path(path))}: its extension is {quoted(ending)}. "
            f"Use one of {', '.join(endings)}."
        )


def is_there(path: Path) -> bool:
    """Return whether a path exists; False also for a name that no file can have."""
    try:
        return path.exists()
    except OSError:  # too long, or in a folder without permission
        return False


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; never raises."""
    return is_there(path) and path.is_dir()


def path_text(path: str | os.PathLike[str]) -> str:
    r"""Return a path as text that can be encoded; bytes that are no text are escaped.

    Examples
    --------
    >>> from kernova.files import path_text
    >>> path_text("fish.csv"), path_text("\udcff.csv")
    ('fish.csv', '\\udcff.csv')
    """
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()


def made_folder(path: str | os.PathLike[str]) -> Path:
    """Return a folder, created with its parents if it does not exist."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"Cannot make the folder {shortened(folder)}: {reason}. Name another."
        ) from error
    return folder


def ensure_writable(path: str | os.PathLike[str]) -> None:
    """Raise before long work if ``path`` cannot be written."""
    _scratch_file_beside(Path(path)).unlink()


def ensure_distinct(written: Sequence[Path], kept: Sequence[Path]) -> None:
    """Raise if a file to be written is one of those to be kept, or is to be written twice."""
    # Not Path.resolve, which raises for circular links; they get a message when they are read.
    paths_kept = {os.path.realpath(path) for path in kept}
    taken = set(paths_kept)
    for path in written:
        real = os.path.realpath(path)
        if real in taken:
            is_kept = real in paths_kept
            reason = "it is one of the tables to read" if is_kept else "it is named twice"
            raise _cannot_write(path, reason)
        taken.add(real)


def _scratch_file_beside(target: Path) -> Path:
    if is_folder(target):
        raise _cannot_write(target, "it is a folder")
    if not is_folder(target.parent):
        raise _cannot_write(target, f"there is no folder {shortened(target.parent)}")
    _clean_once(target)
    try:
        with suppress(FileNotFoundError):
            target.lstat()  # a name that is too long must not fail only at the end
        # The ending stays last, since writers such as savefig choose the format by it.
        handle, name = tempfile.mkstemp(
            prefix=f".{_scratch_prefix()}", suffix=target.suffix, dir=target.parent
        )
    except OSError as error:
        raise _cannot_write(target, error.strerror or str(error)) from error
    os.close(handle)
    scratch = Path(name)
    _give_ordinary_permissions(scratch)
    return scratch


def _new_scratch_folder() -> Path:
    _clean_once(Path(tempfile.gettempdir()) / "folder")
    return Path(tempfile.mkdtemp(prefix=_scratch_prefix()))


def _clean_once(target: Path) -> None:
    """Remove what killed processes left, once per folder: listing a large one takes time."""
    folder = target.parent.absolute()
    if folder not in _cleaned:
        _cleaned.add(folder)
        remove_stale_scratch(target)


# --- whose a scratch file is -----------------------------------------------------------------


def _scratch_prefix() -> str:
    return f"kernova-{_host()}-{os.getpid()}-{_start_of(os.getpid())}-"


@cache
def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _start_of(pid: int) -> str | None:
    """Return a text that differs between processes of one number; None if there is no process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return f"{boot[:8]}{int(fields[_START_FIELD]):x}"
    except (OSError, ValueError, IndexError):
        return "0" if _is_running(pid) else None


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # where signal 0 would not only ask
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _is_stale(entry: "os.DirEntry[str]") -> bool:
    found = _SCRATCH.fullmatch(entry.name)
    if found is None or found["host"] != _host():
        return False
    if _start_of(int(found["pid"])) == found["start"]:
        return False
    is_own = not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
    return is_own and not entry.is_symlink() and not _is_locked(entry.path)


def _remove(entry: "os.DirEntry[str]") -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with suppress(OSError):
            Path(entry.path).unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a scratch file or folder: processes in other containers cannot see its process."""
    handle = _lock(path)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _is_locked(path: str) -> bool:
    handle = _lock(Path(path))
    if handle is None:
        return os.name == "posix"
    os.close(handle)
    return False


def _lock(path: Path) -> int | None:
    """Return an open handle that holds the lock, None if it is taken or there are no locks."""
    try:
        import fcntl

        handle = os.open(path, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _give_ordinary_permissions(scratch: Path) -> None:
    """Make the file as readable as an ordinary new one; mkstemp lets only its owner read."""
    mask = os.umask(0)
    os.umask(mask)
    scratch.chmod(0o666 & ~mask)


def _cannot_write(target: Path, reason: str) -> InputError:
    return InputError(
        f"Cannot write {shortened(target)}: {reason}. Name a file that can be written."
    )
