"""Media files of rows: safe access to one folder or ZIP archive, and matching of files with rows.

Only files within the folder are read: names in a table are looked up among the files found there,
and paths must lie within the folder after links are resolved. Links that lead out, pipes and
devices are ignored. An archive is read in place, never unpacked. Files are matched with rows by the
rows' ids, or by a column that names files.
"""

import os
import re
import stat
import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pyarrow as pa

from kernova.budget import Budget
from kernova.errors import InputError, MediaError
from kernova.tables.columns import decoded
from kernova.text import listed, plural

_MEGABYTE = 1024**2
# Larger files would take too long to show.
_LARGEST_FILE = 64 * _MEGABYTE
# A column names files if at least this fraction of its texts do.
_MIN_FRACTION = 0.5
_NAMED_IN_MESSAGES = 3
# What separates an id from the rest of a file's name.
_SEPARATORS = re.compile(r"[ _.\-]+")
_DIGITS = re.compile(r"(\D*)(\d*)")
_COMPRESSED = (".fz", ".gz")  # a second suffix


class RowFiles(NamedTuple):
    """Files matched with rows."""

    names: list[str | None]  # for each row the name of its file, None where there is none
    columns: list[str]  # columns that name files and are therefore no features
    more: Mapping[int, tuple[str, ...]] = {}  # further files of some rows


NO_FILES = RowFiles([], [])


class MediaFiles(Protocol):
    """Files by name: paths with slashes, relative to a folder or archive.

    Attributes
    ----------
    source : str
        The folder or archive, for messages.
    names : tuple of str
        All files with one of the suffixes, sorted.
    """

    source: str
    names: tuple[str, ...]

    def content(self, name: str) -> bytes:
        """Return the content of a file, if it is not too large."""
        ...

    def close(self) -> None:
        """Close the archive, if it is one."""
        ...


class FolderFiles:
    """Files in a folder and its subfolders.

    Parameters
    ----------
    folder : path
        The folder.
    suffixes : collection of str
        Suffixes of the files, such as ``".png"``, in any case.
    among : iterable of str, optional
        Paths to look for, instead of listing the whole folder; those outside it are ignored.

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
        self, folder: str | Path, suffixes: Collection[str], among: Iterable[str] | None = None
    ) -> None:
        self.source = os.fspath(folder)
        self._root = Path(folder).resolve()
        found = _names_within(self._root, "") if among is None else _known_paths(self._root, among)
        self.names = tuple(sorted({name for name in found if _has_suffix(name, suffixes)}))

    def path(self, name: str) -> Path:
        """Return the resolved path of a file, checked again to lie within the folder."""
        path = _path_within(self._root, name)
        if path is None:
            raise MediaError(
                f"There is no file {name} within {self.source}. Restore it, or leave the row "
                "without a file."
            )
        return path

    def content(self, name: str) -> bytes:
        """Return the content of a file, if it is not too large."""
        # Non-blocking, in case the file has been replaced by a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self.path(name), flags)
            with os.fdopen(handle, "rb") as stream:
                about = os.fstat(stream.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise MediaError(f"{name} in {self.source} is not a regular file; remove it.")
                _check_size(about.st_size, name, self.source)
                return stream.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise MediaError(
                f"{name} in {self.source} cannot be read: {error.strerror}. Make it readable."
            ) from error

    def stamp(self, name: str) -> str:
        """Return a text that changes with the file: its size and the time of its last change."""
        about = self.path(name).stat()
        return f"{about.st_size} {about.st_mtime_ns}"

    def close(self) -> None:
        """Do nothing: files are closed after each access."""


class ZipFiles:
    """Files in a ZIP archive, read in place; safe to use from several threads.

    Parameters
    ----------
    path : path
        The archive.
    suffixes : collection of str
        Suffixes of the files.
    """

    def __init__(self, path: str | Path, suffixes: Collection[str]) -> None:
        self.source = os.fspath(path)
        self._lock = threading.Lock()
        try:
            self._archive = ZipFile(path)
        except (BadZipFile, NotImplementedError, ValueError) as error:
            raise MediaError(
                f"{self.source} cannot be read as a ZIP archive: it is damaged, truncated, or "
                "another kind of file."
            ) from error
        self._entries = {
            entry.filename: entry for entry in self._archive.infolist() if _is_plain(entry)
        }
        self.names = tuple(sorted(name for name in self._entries if _has_suffix(name, suffixes)))

    def content(self, name: str) -> bytes:
        """Return the content of a file, if its uncompressed size is not too large."""
        entry = self._entries[name]
        _check_size(max(entry.file_size, entry.compress_size), name, self.source)
        # Unpacked in blocks that are joined in the end, so that it is held twice.
        Budget(f"{name} in {self.source}", entry.compress_size, MediaError).check(
            2 * entry.file_size
        )
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            # Python decompresses other methods beyond the declared size.
            raise MediaError(
                f"{name} in {self.source} uses an unsupported compression method; create the "
                "archive with deflate."
            )
        try:
            with self._lock, self._archive.open(entry) as stream:
                return stream.read(_LARGEST_FILE + 1)
        except Exception as error:  # damaged data raises zlib.error, struct.error, EOFError ...
            raise MediaError(
                f"{name} in {self.source} cannot be decompressed: it is damaged. Create the "
                "archive again."
            ) from error

    def stamp(self, name: str) -> str:
        """Return a text that changes with the file: its size and checksum."""
        entry = self._entries[name]
        return f"{entry.file_size} {entry.CRC}"

    def close(self) -> None:
        """Close the archive."""
        with self._lock:
            self._archive.close()


class JoinedFiles:
    """Files of several folders and archives, named by their source and their name within it.

    Parameters
    ----------
    parts : sequence of MediaFiles
        The sources; their last parts distinguish them, or a number behind these.
    """

    def __init__(self, parts: Sequence[MediaFiles]) -> None:
        self.source = " and ".join(part.source for part in parts)
        self._parts: dict[str, MediaFiles] = {}
        for part in parts:
            own = beginning = PurePosixPath(part.source.replace("\\", "/")).name or "."
            while own in self._parts:
                own = f"{beginning} ({len(self._parts) + 1})"
            self._parts[own] = part
        self.names = tuple(
            self.named(number, name) for number, part in enumerate(parts) for name in part.names
        )

    def named(self, number: int, name: str) -> str:
        """Return the name here of a file of the part with this number, from 0."""
        return f"{list(self._parts)[number]}/{name}"

    def content(self, name: str) -> bytes:
        """Return the content of a file, if it is not too large."""
        own, _, rest = name.partition("/")
        return self._parts[own].content(rest)

    def close(self) -> None:
        """Close the archives among them."""
        for part in self._parts.values():
            part.close()


def _check_size(n_bytes: int, name: str, source: str) -> None:
    """Reject a file by its size, before it is read."""
    if n_bytes > _LARGEST_FILE:
        raise MediaError(
            f"{name} in {source} has {n_bytes / _MEGABYTE:,.0f} MB; the limit is "
            f"{_LARGEST_FILE // _MEGABYTE} MB. Reduce it."
        )


# --- files within a folder -------------------------------------------------------------------


def _names_within(root: Path, folder: str) -> Iterator[str]:
    """Yield the files of all subfolders, without hidden ones and links to other folders."""
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
        elif entry.is_file(follow_symlinks=False) or _path_within(root, name) is not None:
            yield name


def _known_paths(root: Path, among: Iterable[str]) -> Iterator[str]:
    is_plain: dict[str, bool] = {}  # folders that are not reached through links
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
    """Return whether a file exists within the folder; resolving links takes longer."""
    if is_in_plain_folder:
        try:
            mode = os.lstat(f"{root}/{name}").st_mode
        except (OSError, ValueError):
            return False
        if not stat.S_ISLNK(mode):
            return stat.S_ISREG(mode)
    return _path_within(root, name) is not None


def name_within(text: str, root: Path) -> str | None:
    r"""Return a path as a name within the folder, with slashes; None if it leads out of it.

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


def _path_within(root: Path, name: str) -> Path | None:
    """Return the resolved path of a regular file, None if it is not within the folder."""
    try:
        path = (root / name).resolve(strict=True)
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError, RuntimeError):
        return None
    return path if is_file and path.is_relative_to(root) else None


def _is_plain(entry: ZipInfo) -> bool:
    """Return whether an entry is an unencrypted file with a name inside the archive."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    is_locked = bool(entry.flag_bits & 0x1)
    path = PurePosixPath(entry.filename)
    is_inside = not path.is_absolute() and ".." not in path.parts
    return kind in (0, stat.S_IFREG) and not is_locked and not entry.is_dir() and is_inside


def _has_suffix(name: str, suffixes: Collection[str]) -> bool:
    return suffix_of(name) in suffixes


def suffix_of(name: str) -> str:
    """Return a name's suffix in lower case, with its dot; empty if it has none.

    Examples
    --------
    >>> from kernova.media.files import suffix_of
    >>> suffix_of("wild.life/A.PNG"), suffix_of("wild.life/a")
    ('.png', '')
    """
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def _without_suffix(name: str) -> str:
    """Return a name without its suffix, or without both of ``a.fits.fz``."""
    suffix = suffix_of(name)
    name = name[: len(name) - len(suffix)]
    second = suffix_of(name)
    is_double = suffix in _COMPRESSED and second in (".fits", ".fit")
    return name[: len(name) - len(second)] if is_double else name


# --- files of rows ---------------------------------------------------------------------------


class FileNames:
    """Lookup of files by a path, a name, or a name without its suffix.

    Examples
    --------
    >>> from kernova.media.files import FileNames
    >>> names = FileNames(["wild/a.png", "tame/b.png"], "wild")
    >>> names.by_name("b.png"), names.by_name("wild/a.png"), names.by_name("b")
    ('tame/b.png', 'wild/a.png', None)
    >>> names.by_name_or_stem("b"), names.by_name_or_stem("B.PNG")
    ('tame/b.png', 'tame/b.png')
    """

    def __init__(self, names: Sequence[str], folder: str) -> None:
        # Exact spelling first: names may differ in case only.
        self._lookups = [_NamesByKey(names, folder, key) for key in (_plain, _folded)]

    def by_name(self, text: str) -> str | None:
        """Return the file with this path or name."""
        return next(filter(None, (one.by_name(text) for one in self._lookups)), None)

    def by_name_or_stem(self, text: str) -> str | None:
        """Return the file with this path or name, with or without its suffix."""
        return next(filter(None, (one.by_name_or_stem(text) for one in self._lookups)), None)


class _NamesByKey:
    """Files by their normalised paths, names and stems."""

    def __init__(self, names: Sequence[str], folder: str, key: Callable[[str], str]) -> None:
        self._key = key
        self._folder = f"{key(folder)}/"
        self._paths: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        self._by_stem: dict[str, str] = {}
        for path in names:
            whole = key(path)
            name = whole.rpartition("/")[2]
            self._paths.setdefault(whole, path)
            self._by_name.setdefault(name, path)
            self._by_stem.setdefault(_without_suffix(name), path)
            self._by_stem.setdefault(_without_suffix(whole), path)

    def by_name(self, text: str) -> str | None:
        path = self._key(text)
        return (
            self._paths.get(path)
            or self._paths.get(path.removeprefix(self._folder))
            or self._by_name.get(path.rpartition("/")[2])
        )

    def by_name_or_stem(self, text: str) -> str | None:
        return self.by_name(text) or self._by_stem.get(self._key(text))


def _plain(text: str) -> str:
    """Normalise slashes and accented letters, which systems write differently."""
    return unicodedata.normalize("NFC", text.strip().replace("\\", "/").removeprefix("./"))


def _folded(text: str) -> str:
    return _plain(text).casefold()


def files_of_rows(
    columns: pa.Table, ids: Sequence[str], files: MediaFiles, *, numbered: bool
) -> RowFiles:
    """Match rows with files by the ids or by a column of texts, whichever matches more.

    A row's further files begin with its id, as in ``7_1.png`` and ``7-spectrum.png``, or are in a
    folder that has it as name.

    Parameters
    ----------
    columns : Table
        All columns of the table, as read.
    ids : sequence of str
        Row ids.
    files : MediaFiles
        The available files.
    numbered : bool
        Whether the ids are row numbers; then a few matching file names are a coincidence.
    """
    names = FileNames(files.names, PurePosixPath(files.source.replace("\\", "/")).name)
    best = [names.by_name_or_stem(text) for text in ids]
    more: Mapping[int, tuple[str, ...]] = {}
    if numbered and _n_found(best) < _MIN_FRACTION * len(ids):
        best = [None] * len(ids)
    else:
        best, more = _with_further(best, ids, files.names)
    naming = []
    suffixes = {suffix_of(name) for name in files.names}
    for column, texts in _text_columns(columns):
        found = [None if text is None else names.by_name(text) for text in texts]
        if any(found) and _are_file_names(texts, found, suffixes):
            naming.append(column)
            if _n_found(found) > _n_found(best):
                best, more = found, {}
    return RowFiles(best, naming, more)


class _Matched(NamedTuple):
    names: list[str | None]
    more: dict[int, tuple[str, ...]]


def _with_further(
    found: Sequence[str | None], ids: Sequence[str], names: Sequence[str]
) -> _Matched:
    """Add the files whose names begin with a row's id, or whose folder has it as name."""
    rows = {_plain(text): row for row, text in reversed(list(enumerate(ids)))}
    taken = {name for name in found if name is not None}
    further: dict[int, list[str]] = {}
    for name in names:
        row = None if name in taken else _row_of_file(name, rows)
        if row is not None:
            further.setdefault(row, []).append(name)
    first, more = list(found), {}
    for row, its in further.items():
        its.sort(key=_natural_order)
        if first[row] is None:
            first[row] = its.pop(0)
        if its:
            more[row] = tuple(its)
    return _Matched(first, more)


def _row_of_file(name: str, rows: Mapping[str, int]) -> int | None:
    """Return the row whose id is the longest beginning of a file's name, or its folder."""
    folder, _, last = _plain(name).rpartition("/")
    stem = _without_suffix(last)
    for separator in reversed(list(_SEPARATORS.finditer(stem))):
        row = rows.get(stem[: separator.start()])
        if row is not None:
            return row
    return rows.get(folder.rpartition("/")[2]) if folder else None


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key by which 2 comes before 10."""
    return [(int(part or 0), text) for text, part in _DIGITS.findall(name)]


def files_named_in(columns: pa.Table, column: str, files: MediaFiles, root: str) -> RowFiles:
    """Match rows with the files whose paths a column contains."""
    known = set(files.names)
    within = Path(root).resolve()
    found = [
        None if text is None else name_within(text, within) for text in _texts(columns, column)
    ]
    return RowFiles([name if name in known else None for name in found], [column])


def captions_of(names: Sequence[str]) -> list[str]:
    """Return a short name of each of a row's files: without suffix, and without folders if it can.

    Examples
    --------
    >>> from kernova.media.files import captions_of
    >>> captions_of(["7/front.png", "7/back.fits.fz"]), captions_of(["light/7.png", "x/7.png"])
    (['front', 'back'], ['light/7', 'x/7'])
    """
    stems = [_without_suffix(name.rpartition("/")[2]) for name in names]
    if len(set(stems)) == len(stems):
        return stems
    return [_without_suffix("/".join(name.split("/")[-2:])) for name in names]


def column_texts(columns: pa.Table, column: str) -> list[str]:
    """Return the non-empty texts of a column."""
    return [text for text in _texts(columns, column) if text]


def check_files_found(
    names: Iterable[str | None], what: str, source: str, ids: Sequence[str], files: MediaFiles
) -> None:
    """Raise an error if no row has a file, with examples of row ids and file names."""
    if any(name is not None for name in names):
        return
    available = (
        f"the files are named {listed(files.names[:_NAMED_IN_MESSAGES])}"
        if files.names
        else f"there is no {what} in it"
    )
    raise InputError(
        f"No row of {source} has a {what} in {files.source}: the row ids are "
        f"{listed(ids[:_NAMED_IN_MESSAGES])}, and {available}. Name the files by the ids in "
        "id_column, or give the column that contains their names."
    )


def missing_files_note(names: Sequence[str | None], what: str) -> list[str]:
    """Return a note on the number of rows without a file, if there are any."""
    n_without = len(names) - _n_found(names)
    if not n_without:
        return []
    have = plural(n_without, "has", "have")
    return [f"{n_without:,} of {len(names):,} rows {have} no {what}."]


def _text_columns(columns: pa.Table) -> Iterable[tuple[str, list[str | None]]]:
    for name in columns.column_names:
        kind = decoded(columns[name]).type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            yield name, _texts(columns, name)


def _are_file_names(
    texts: Sequence[str | None], found: Sequence[str | None], suffixes: Collection[str]
) -> bool:
    """Return whether most texts are names of files, or end in one of their suffixes."""
    n_like = sum(
        file is not None or (text is not None and suffix_of(text) in suffixes)
        for text, file in zip(texts, found, strict=True)
    )
    return n_like >= _MIN_FRACTION * sum(text is not None for text in texts)


def _texts(columns: pa.Table, name: str) -> list[str | None]:
    texts: list[str | None] = decoded(columns[name]).cast(pa.string()).to_pylist()
    return texts


def _n_found(names: Iterable[str | None]) -> int:
    return sum(name is not None for name in names)
