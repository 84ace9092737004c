"""Reading a project of any format, and what is damaged in it."""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kernova.discover.project.content import ProjectContent, read_content
from kernova.discover.project.lines import FORMAT, format_of
from kernova.discover.project.sqlite import (
    DamagedError,
    NotAProjectError,
    UnprovenJournalError,
    is_sqlite,
    journals_of,
    newer_format,
    read_sqlite,
)
from kernova.errors import InputError, quoted
from kernova.files import is_there
from kernova.text import first_few, quantity
from kernova.textfiles import open_file

_MOST_NAMED: Final = 10
_LEGIBLE: Final = 150  # characters shown of a damaged entry
_BEGINNING: Final = 1 << 20  # settings and columns are in so many bytes, before the entries


@dataclass(frozen=True)
class ProjectReading:
    """A project as it was read.

    Attributes
    ----------
    content : ProjectContent
        What is intact.
    foreign : list of Path
        Journals beside the file that do not belong to it, and were not read.
    """

    content: ProjectContent
    foreign: list[Path]


@dataclass(frozen=True)
class ProjectSettings:
    """The table that a project is about, as far as it is known without reading the entries.

    Attributes
    ----------
    fingerprint : str
        See :func:`kernova.tables.identity.table_fingerprint`.
    columns : tuple of str or None
        Names of the features; None if they are not stored.
    """

    fingerprint: str
    columns: tuple[str, ...] | None


def project_settings(path: str | os.PathLike[str]) -> ProjectSettings | None:
    """Return the settings of a project without opening it; None if it does not exist or is damaged.

    Examples
    --------
    >>> from kernova.discover.project.reading import project_settings
    >>> project_settings("there is none.kernova-project") is None
    True
    """
    target = Path(path)
    if not is_there(target) or not target.is_file():
        return None
    with open_file(target) as stream:
        beginning = stream.read(_BEGINNING)
    try:
        content = read_project(target).content if is_sqlite(beginning) else read_content(beginning)
    except InputError:
        return None  # raised again when the project is opened
    if content is None or content.head is None:
        return None
    names = None if content.columns is None else content.columns[0]
    return ProjectSettings(content.head.fingerprint, names)


def read_project(path: Path, *, trusts_journal: bool = False) -> ProjectReading:
    """Read a project without locking or changing it; it may be open in another process.

    With ``trusts_journal``, entries are read from the journal of a project of format 1 or 2 even
    if the project has none to compare them with.
    """
    if not is_there(path):
        raise InputError(f"There is no project {path}; check its name and folder.")
    check_is_file(path)
    with open_file(path) as stream:
        data = stream.read()
    return interpret(path, data, trusts_journal=trusts_journal)


def interpret(path: Path, data: bytes, *, trusts_journal: bool = False) -> ProjectReading:
    """Return the content of a file's bytes; raise ``InputError`` if it is not a project."""
    if is_sqlite(data):
        return _read_old(path, data, trusts_journal=trusts_journal)
    version = format_of(data)
    if version is not None and version > FORMAT:
        raise _newer(path, version)
    content = read_content(data)
    if content is None:
        raise not_a_project(path)
    return ProjectReading(content, journals_of(path))


def _read_old(path: Path, data: bytes, *, trusts_journal: bool) -> ProjectReading:
    try:
        content, is_own = read_sqlite(path, data, trusts_journal=trusts_journal)
    except UnprovenJournalError as error:
        (journal,) = [one for one in journals_of(path) if one.name.endswith("-wal")]
        raise InputError(
            f"{path} has no entries, but the journal {journal.name} beside it has {error}, and "
            "this old format does not show whose they are. If they belong to this project, write "
            f"both to a new one with `kernova project repair {path} --journal -o NEW`; if not, "
            "move the journal away."
        ) from error
    except NotAProjectError as error:
        version = newer_format(data)
        raise not_a_project(path) if version is None else _newer(path, version) from error
    except (DamagedError, sqlite3.Error) as error:
        raise InputError(
            f"The project {path} is damaged: part of the file is missing or was overwritten. "
            "Restore a copy of it, or start another."
        ) from error
    return ProjectReading(content, [] if is_own else journals_of(path))


def check_is_file(path: Path) -> None:
    """Raise if the path is a folder, a pipe or a device."""
    if not path.is_file():
        raise InputError(f"{path} is not a file, so it is not a kernova project. Choose another.")


def not_a_project(path: Path) -> InputError:
    """Return the error for a file of another kind."""
    return InputError(f"{path} is not a kernova project, or its beginning is lost. Choose another.")


def _newer(path: Path, version: int) -> InputError:
    return InputError(
        f"{path} was written by a newer kernova: its format is {version}, and this version reads "
        f"up to {FORMAT}. Update kernova."
    )


# --- damage ----------------------------------------------------------------------------------


def check_whole(path: Path, content: ProjectContent) -> list[str]:
    """Return remarks on harmless damage; raise if an entry or the settings are affected."""
    lost = losses(content)
    if lost:
        raise InputError(
            f"The project {path} is damaged: {lost[0]} Restore a copy of it; or see what is "
            "affected with `kernova project verify`, save the labels with `kernova project "
            "export`, and continue with what is intact after `kernova project repair`."
        )
    return harmless_damage(path, content)


def losses(content: ProjectContent) -> list[str]:
    """Return sentences on entries and settings that are lost; empty if there are none."""
    sentences = []
    n_intact = quantity(len(content.records), "entry", "entries")
    lost = content.lost_entries
    in_between = [number for number in lost if number < max(content.records, default=0)]
    at_end = len(lost) - len(in_between)
    if in_between:
        named = first_few(in_between, _MOST_NAMED)
        entries = "entry" if len(in_between) == 1 else "entries"
        verb = "is" if len(in_between) == 1 else "are"
        sentences.append(f"{entries} {named} of {content.last:,} {verb} not readable.")
    if at_end:
        sentences.append(
            f"its end is missing or not readable: {n_intact} of {content.last:,} can be read"
            f"{_until(content)}."
        )
    if content.head is None:
        sentences.append("its settings are not readable.")
    if content.n_entries is None:
        sentences.append(
            f"its first line is not readable; {n_intact} can be read{_until(content)}, and whether "
            "more followed is unknown."
        )
    return sentences


def _until(content: ProjectContent) -> str:
    if not content.records:
        return ""
    last = next(reversed(content.records.values()))
    by = "" if last.by is None else f" by {quoted(last.by)}"
    return f", the last one{by} at {last.at or 'an unknown time'}"


def harmless_damage(path: Path, content: ProjectContent) -> list[str]:
    """Return sentences on damage that does not affect any entry."""
    sentences = []
    corrected = [f"entry {line.number}" for line in content.corrected if line.kind == "e"]
    corrected += ["its settings or row table" for line in content.corrected if line.kind != "e"][:1]
    corrected += ["its first line"] if content.is_header_corrected else []
    if corrected:
        sentences.append(
            f"One bit was wrong in {first_few(corrected, _MOST_NAMED)} of {path}; the checksum "
            "identified it, and the original content was read. Check the disk, and make copies "
            "with `kernova project backup`."
        )
    if content.lost_rows:
        named = first_few([f"{rows[0]} to {rows[-1]}" for rows in content.lost_rows], _MOST_NAMED)
        sentences.append(
            f"The stored ids of the rows {named} are not readable in {path}; the entries are not "
            "affected."
        )
    if content.has_rows and content.columns is None:
        sentences.append(
            f"The stored names of the table's columns are not readable in {path}; the entries are "
            "not affected."
        )
    elif content.gaps and not content.lost_entries and not content.lost_rows:
        n_bytes = quantity(sum(map(len, content.gaps)), "byte")
        sentences.append(
            f"{n_bytes} of {path} belong to no entry and were left out. They may be an entry that "
            "was being written when the process ended; such an entry was never acknowledged."
        )
    return sentences


def legible_rest(content: ProjectContent) -> list[str]:
    """Return what can be read of the damaged places, shortened, for a person to look at."""
    return [
        "".join(letter if letter.isprintable() else "?" for letter in gap.decode("latin-1"))[
            :_LEGIBLE
        ]
        for gap in content.gaps[:_MOST_NAMED]
    ]
