"""Atomic file writing, and checks of paths before they are written.

A file is written beside its target and then renamed, so that it is either whole or absent.
"""

import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kernova.errors import InputError, quoted


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
        yield scratch
        scratch.replace(target)
    except OSError as error:
        raise _cannot_write(target, error.strerror or str(error)) from error
    finally:
        with suppress(FileNotFoundError):
            scratch.unlink()


def check_ending(path: str | os.PathLike[str], endings: Collection[str], what: str) -> None:
    """Raise if the ending of a path stands for another kind of file than will be written."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(
            f"Cannot write {what} to {Path(path)}: its extension is {quoted(ending)}. "
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
        raise InputError(f"Cannot make the folder {folder}: {reason}. Name another.") from error
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
        raise _cannot_write(target, f"there is no folder {target.parent}")
    try:
        # The ending stays last, since writers such as savefig choose the format by it.
        handle, name = tempfile.mkstemp(
            prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
        )
    except OSError as error:
        raise _cannot_write(target, error.strerror or str(error)) from error
    os.close(handle)
    scratch = Path(name)
    _give_ordinary_permissions(scratch)
    return scratch


def _give_ordinary_permissions(scratch: Path) -> None:
    """Make the file as readable as an ordinary new one; mkstemp lets only its owner read."""
    mask = os.umask(0)
    os.umask(mask)
    scratch.chmod(0o666 & ~mask)


def _cannot_write(target: Path, reason: str) -> InputError:
    return InputError(f"Cannot write {target}: {reason}. Name a file that can be written.")
