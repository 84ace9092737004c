"""Which file goes with which row: by the row's id, or by a column that names files."""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pyarrow as pa

from kernova.errors import InputError
from kernova.load.feature_columns import decoded
from kernova.load.media_files import MediaFiles, ending_of, name_within
from kernova.load.sentences import listed

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
    >>> from kernova.studies.row_files import FileNames
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
