"""Write beside, then rename: a file is either whole or not there."""

import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kernova.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a scratch path beside ``path``; move it there when the block ends well.

    If the block fails, or is interrupted, the scratch file is removed and whatever stood at
    ``path`` before is untouched.

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
    """Refuse a path whose ending promises another kind of file than will be written."""
    ending = Path(path).suffix.lower()
    if ending not in endings:
        raise InputError(
            f"Cannot write {what} to {Path(path)}: its ending is {ending!r}. "
            f"Take one of {', '.join(endings)}."
        )


def is_there(path: Path) -> bool:
    """Tell whether there is something at a path; a name that no file can have has nothing."""
    try:
        return path.exists()
    except OSError:  # too long, or in a folder that is not ours to look into
        return False


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder at a path, whatever the path is like."""
    return is_there(path) and path.is_dir()


def path_in_words(path: str | os.PathLike[str]) -> str:
    r"""Give a path as text that can be sent and shown: bytes that are no text are written out.

    Examples
    --------
    >>> from kernova.files import path_in_words
    >>> path_in_words("fish.csv"), path_in_words("\udcff.csv")
    ('fish.csv', '\\udcff.csv')
    """
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()


def ensure_writable(path: str | os.PathLike[str]) -> None:
    """Fail now, before hours of work, if ``path`` can never be written."""
    _scratch_file_beside(Path(path)).unlink()


def ensure_distinct(written: Sequence[Path], kept: Sequence[Path]) -> None:
    """Fail if a file to be written is one of those to be kept, or is to be written twice."""
    # Not Path.resolve: links that lead in a circle are refused in words when they are read.
    places_kept = {os.path.realpath(path) for path in kept}
    taken = set(places_kept)
    for path in written:
        place = os.path.realpath(path)
        if place in taken:
            is_kept = place in places_kept
            reason = "it is one of the tables to read" if is_kept else "it is named twice"
            raise _cannot_write(path, reason)
        taken.add(place)


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
    return InputError(f"Cannot write {target}: {reason}. Name a place that can be written.")
