"""Files that are shown beside rows: from one folder or one ZIP archive, and from nowhere else.

What a table says is looked up among the names that were found there; where it gives paths, those
count whose file, links followed, lies within the folder. Links that lead out, pipes and devices are
left out; an archive is read where it lies, never unpacked.

Which file goes with which row: by the row's id, or by a column that names files.
"""

import os
import stat
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pyarrow as pa

from kernova.errors import InputError, MediaError
from kernova.tables.columns import decoded
from kernova.text import listed

# Nobody's picture is larger, and whoever looks at many waits for each.
LARGEST_FILE = 64 * 1024**2

_MEGABYTE = 1024**2


class MediaFiles(Protocol):
    """Files by their names: paths with slashes, from the folder or archive that was named.

    Attributes
    ----------
    source : str
        The folder or archive, for sentences.
    names : tuple of str
        All files of the endings that were asked for, in order.
    """

    source: str
    names: tuple[str, ...]

    def content(self, name: str) -> bytes:
        """Read one of the files whole, if it is not too large."""
        ...

    def close(self) -> None:
        """Read no more."""
        ...


class FolderFiles:
    """Files in a folder and in the folders within it.

    Parameters
    ----------
    folder : path
        Where they are.
    endings : collection of str
        Which endings count, such as ``".png"``; capitals do not matter.
    among : iterable of str, optional
        Look for these paths only, rather than through the whole folder; what does not lie within
        it is not found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.media.files import FolderFiles
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.png").write_bytes(b"...")
    >>> FolderFiles(folder, [".png"], among=["a.png", "../b.png", "/etc/c.png"]).names
    ('a.png',)
    """

    def __init__(
        self, folder: str | Path, endings: Collection[str], among: Iterable[str] | None = None
    ) -> None:
        self.source = os.fspath(folder)
        self._root = Path(folder).resolve()
        found = _names_within(self._root, "") if among is None else _known_paths(self._root, among)
        self.names = tuple(sorted({name for name in found if _has_ending(name, endings)}))

    def path(self, name: str) -> Path:
        """Give where a file really is, once more making sure that it lies within the folder."""
        place = _place_within(self._root, name)
        if place is None:
            raise MediaError(
                f"{name} is no file within {self.source}, or no longer; put it there, or leave the "
                "row without."
            )
        return place

    def content(self, name: str) -> bytes:
        """Read a file whole, if it is not too large."""
        # A pipe put there meanwhile must not hold us up until somebody writes to it.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self.path(name), flags)
            with os.fdopen(handle, "rb") as stream:
                about = os.fstat(stream.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise MediaError(f"{name} in {self.source} is no ordinary file; remove it.")
                refuse_large(about.st_size, name, self.source)
                return stream.read(LARGEST_FILE + 1)
        except OSError as error:
            raise MediaError(
                f"{name} in {self.source} cannot be read: {error.strerror}. Make it readable."
            ) from error

    def close(self) -> None:
        """Read no more; nothing is open between two looks."""


class ZipFiles:
    """Files in a ZIP archive, read one by one where they lie; several threads may ask at once.

    Parameters
    ----------
    path : path
        The archive.
    endings : collection of str
        Which endings count.
    """

    def __init__(self, path: str | Path, endings: Collection[str]) -> None:
        self.source = os.fspath(path)
        self._lock = threading.Lock()
        try:
            self._archive = ZipFile(path)
        except (BadZipFile, NotImplementedError, ValueError) as error:
            raise MediaError(
                f"{self.source} cannot be read as a ZIP archive; it is damaged, cut short, or "
                "another kind of file."
            ) from error
        self._entries = {
            entry.filename: entry for entry in self._archive.infolist() if _is_plain(entry)
        }
        self.names = tuple(sorted(name for name in self._entries if _has_ending(name, endings)))

    def content(self, name: str) -> bytes:
        """Read a file whole, if it is not too large once unpacked."""
        entry = self._entries[name]
        refuse_large(max(entry.file_size, entry.compress_size), name, self.source)
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            # Python unpacks other methods as far as they go, whatever length they promise.
            raise MediaError(
                f"{name} in {self.source} is packed by an unusual method; pack the archive anew "
                "with the usual one (deflate)."
            )
        try:
            with self._lock, self._archive.open(entry) as stream:
                return stream.read(LARGEST_FILE + 1)
        except Exception as error:  # zlib's, struct's, EOFError: what damage throws has no bounds
            raise MediaError(
                f"{name} in {self.source} cannot be unpacked; it is damaged. Pack it again."
            ) from error

    def close(self) -> None:
        """Close the archive."""
        with self._lock:
            self._archive.close()


def refuse_large(n_bytes: int, name: str, source: str) -> None:
    """Refuse a file by its length, before any of it is read."""
    if n_bytes > LARGEST_FILE:
        raise MediaError(
            f"{name} in {source} has {n_bytes / _MEGABYTE:,.0f} MB; files of up to "
            f"{LARGEST_FILE // _MEGABYTE} MB are shown. Make it smaller."
        )


def folder_of(path: str | Path) -> Path:
    """Give the folder as a path, or say that there is none."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; check its name.")
    return folder


# --- what lies within a folder ---------------------------------------------------------------


def _names_within(root: Path, folder: str) -> Iterator[str]:
    """Walk through the folders, not following links to others and passing over hidden ones."""
    try:
        entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{folder}/{entry.name}" if folder else entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _names_within(root, name)
        elif entry.is_file(follow_symlinks=False) or _place_within(root, name) is not None:
            yield name


def _known_paths(root: Path, among: Iterable[str]) -> Iterator[str]:
    is_plain: dict[str, bool] = {}  # folders that are no links, nor within any
    for text in dict.fromkeys(among):
        name = name_within(text, root)
        if name is None:
            continue
        folder = name.rpartition("/")[0]
        if folder not in is_plain:
            is_plain[folder] = (root / folder).resolve() == root / folder
        if _is_there(root, name, is_plain[folder]):
            yield name


def _is_there(root: Path, name: str, is_in_plain_folder: bool) -> bool:
    """Tell whether a name stands for a file within; links are followed, which takes longer."""
    if is_in_plain_folder:
        try:
            mode = os.lstat(f"{root}/{name}").st_mode
        except (OSError, ValueError):
            return False
        if not stat.S_ISLNK(mode):
            return stat.S_ISREG(mode)
    return _place_within(root, name) is not None


def name_within(text: str, root: Path) -> str | None:
    r"""Give a path as a name within the folder, with slashes; None if it leads out of it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernova.media.files import name_within
    >>> name_within(r".\thumbs\a.png", Path("/data")), name_within("a/../../b.png", Path("/data"))
    ('thumbs/a.png', None)
    """
    path = text.strip().replace("\\", "/")
    if path.startswith("/"):
        inside = path.removeprefix(f"{root.as_posix()}/")
        if inside == path:
            return None
        path = inside
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if "\0" in text or ".." in parts or not parts or ":" in parts[0]:
        return None
    return "/".join(parts)


def _place_within(root: Path, name: str) -> Path | None:
    """Give the ordinary file that a name stands for, if it lies within the folder."""
    try:
        place = (root / name).resolve(strict=True)
        is_file = stat.S_ISREG(place.stat().st_mode)
    except (OSError, ValueError, RuntimeError):
        return None
    return place if is_file and place.is_relative_to(root) else None


def _is_plain(entry: ZipInfo) -> bool:
    """Tell whether an entry is a file, under a name that leads nowhere else."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    is_locked = bool(entry.flag_bits & 0x1)
    path = PurePosixPath(entry.filename)
    is_inside = not path.is_absolute() and ".." not in path.parts
    return kind in (0, stat.S_IFREG) and not is_locked and not entry.is_dir() and is_inside


def _has_ending(name: str, endings: Collection[str]) -> bool:
    return ending_of(name) in endings


def ending_of(name: str) -> str:
    """Give a name's ending in small letters, with its dot; empty if it has none.

    Examples
    --------
    >>> from kernova.media.files import ending_of
    >>> ending_of("wild.life/A.PNG"), ending_of("wild.life/a")
    ('.png', '')
    """
    stem, dot, ending = name.rpartition("/")[2].rpartition(".")
    return f".{ending.lower()}" if dot and stem else ""


# A column names files if at least this share of its texts do.
_LEAST_SHARE = 0.5
_NAMED_IN_SENTENCES = 3


class RowFiles(NamedTuple):
    """What was found.

    Attributes
    ----------
    names : list of str or None
        For each row the name of its file, None where there is none.
    columns : list of str
        Columns that name files and are therefore no features.
    """

    names: list[str | None]
    columns: list[str]


class FileNames:
    """Files to be found by what people write: a path, a name, or a name without its ending.

    Examples
    --------
    >>> from kernova.media.files import FileNames
    >>> names = FileNames(["wild/a.png", "tame/b.png"], "wild")
    >>> names.written("b.png"), names.written("wild/a.png"), names.written("b")
    ('tame/b.png', 'wild/a.png', None)
    >>> names.meant("b"), names.meant("B.PNG")
    ('tame/b.png', 'tame/b.png')
    """

    def __init__(self, names: Sequence[str], folder: str) -> None:
        # As written first: where capitals do tell two files apart, they do so here.
        self._ways = [_NamesByKey(names, folder, key) for key in (_plain, _folded)]

    def written(self, text: str) -> str | None:
        """Find the file whose path or name, with its ending, this is."""
        return next(filter(None, (way.written(text) for way in self._ways)), None)

    def meant(self, text: str) -> str | None:
        """Find the file by its path or name, with or without its ending."""
        return next(filter(None, (way.meant(text) for way in self._ways)), None)


class _NamesByKey:
    """Files by their paths, names and stems, all brought to one way of writing."""

    def __init__(self, names: Sequence[str], folder: str, key: Callable[[str], str]) -> None:
        self._key = key
        self._folder = f"{key(folder)}/"
        self._paths: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        self._by_stem: dict[str, str] = {}
        for path in names:
            whole = key(path)
            name = whole.rpartition("/")[2]
            n_ending = len(ending_of(name))
            self._paths.setdefault(whole, path)
            self._by_name.setdefault(name, path)
            self._by_stem.setdefault(name[: len(name) - n_ending], path)
            self._by_stem.setdefault(whole[: len(whole) - n_ending], path)

    def written(self, text: str) -> str | None:
        path = self._key(text)
        return (
            self._paths.get(path)
            or self._paths.get(path.removeprefix(self._folder))
            or self._by_name.get(path.rpartition("/")[2])
        )

    def meant(self, text: str) -> str | None:
        return self.written(text) or self._by_stem.get(self._key(text))


def _plain(text: str) -> str:
    """Free a path of what systems write differently: slashes, and letters with accents."""
    return unicodedata.normalize("NFC", text.strip().replace("\\", "/").removeprefix("./"))


def _folded(text: str) -> str:
    return _plain(text).casefold()


def files_of_rows(
    columns: pa.Table, ids: Sequence[str], files: MediaFiles, *, numbered: bool
) -> RowFiles:
    """Match rows with files by whatever names more of them: the ids, or a column of texts.

    Parameters
    ----------
    columns : Table
        All columns of the file, as they were read.
    ids : sequence of str
        What the rows are called.
    files : MediaFiles
        The files there are.
    numbered : bool
        Whether the ids are mere numbers of rows; a few files called so mean nothing then.
    """
    names = FileNames(files.names, PurePosixPath(files.source.replace("\\", "/")).name)
    best = [names.meant(text) for text in ids]
    if numbered and _n_found(best) < _LEAST_SHARE * len(ids):
        best = [None] * len(ids)
    naming = []
    endings = {ending_of(name) for name in files.names}
    for column, texts in _text_columns(columns):
        found = [None if text is None else names.written(text) for text in texts]
        if any(found) and _are_file_names(texts, found, endings):
            naming.append(column)
            best = found if _n_found(found) > _n_found(best) else best
    return RowFiles(best, naming)


def files_named_in(columns: pa.Table, column: str, files: MediaFiles, root: str) -> RowFiles:
    """Take the files that a column names by their paths."""
    known = set(files.names)
    within = Path(root).resolve()
    found = [
        None if text is None else name_within(text, within) for text in _texts(columns, column)
    ]
    return RowFiles([name if name in known else None for name in found], [column])


def column_texts(columns: pa.Table, column: str) -> list[str]:
    """Give what a column says, where it says anything."""
    return [text for text in _texts(columns, column) if text]


def refuse_no_files(
    names: Iterable[str | None], what: str, source: str, ids: Sequence[str], files: MediaFiles
) -> None:
    """Refuse to go on if no row has a file, and show how rows and files are called."""
    if any(name is not None for name in names):
        return
    there = (
        f"files there are called {listed(files.names[:_NAMED_IN_SENTENCES])}"
        if files.names
        else f"there is no {what} in it"
    )
    raise InputError(
        f"No row of {source} has a {what} in {files.source}: rows are called "
        f"{listed(ids[:_NAMED_IN_SENTENCES])}, and {there}. Name the files by the rows' ids "
        "(--id-column), or name a column that holds their names."
    )


def without_file_note(names: Sequence[str | None], what: str) -> list[str]:
    """Say how many rows have none, if there are any."""
    n_without = len(names) - _n_found(names)
    if not n_without:
        return []
    have = "has" if n_without == 1 else "have"
    return [f"{n_without:,} of {len(names):,} rows {have} no {what}."]


def _text_columns(columns: pa.Table) -> Iterable[tuple[str, list[str | None]]]:
    for name in columns.column_names:
        kind = decoded(columns[name]).type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield name, _texts(columns, name)


def _are_file_names(
    texts: Sequence[str | None], found: Sequence[str | None], endings: Collection[str]
) -> bool:
    """Tell whether most texts name files that are there, or end as such files do."""
    n_like = sum(
        file is not None or (text is not None and ending_of(text) in endings)
        for text, file in zip(texts, found, strict=True)
    )
    return n_like >= _LEAST_SHARE * sum(text is not None for text in texts)


def _texts(columns: pa.Table, name: str) -> list[str | None]:
    texts: list[str | None] = decoded(columns[name]).cast(pa.string()).to_pylist()
    return texts


def _n_found(names: Iterable[str | None]) -> int:
    return sum(name is not None for name in names)
