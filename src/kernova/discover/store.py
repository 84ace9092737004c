"""Projects: the log of a session on disk, in one file per project.

A project is created whole, checked before it is opened, and locked while it is open; the lock ends
with the process. A record is synced to disk before :meth:`ProjectStore.append` returns, so a
process may be killed at any moment: every acknowledged record is in the file when it is opened
again. No second file belongs to it, so a copy of the file is a copy of the project. Its format is
described in :mod:`kernova.discover.project.lines`.
"""

import os
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import pandas as pd

from kernova.discover.events import Event, Record, RowsAdded
from kernova.discover.growth.sources import Source, StoredRows
from kernova.discover.project.content import (
    AddedRows,
    ProjectContent,
    ProjectHead,
    batch_lines,
    digest_lines,
    entry_lines,
    new_content,
    read_content,
)
from kernova.discover.project.file import (
    DisplacedError,
    ProjectFile,
    create_file,
    free_name,
)
from kernova.discover.project.lines import FORMAT, Header
from kernova.discover.project.parts import Part
from kernova.discover.project.reading import check_is_file, check_whole, interpret
from kernova.discover.strategies import DEFAULT_STRATEGY
from kernova.errors import InputError, NotSavedError, quoted
from kernova.files import is_there
from kernova.tables.identity import (
    TableDigest,
    describe_changes,
    table_digest,
    table_fingerprint,
)
from kernova.text import quantity
from kernova.typing import Matrix


class ProjectStore:
    """An open project, returned by :func:`open_project`.

    Calls must not overlap, but may come from different threads. Close it, or use it as a context
    manager.

    Attributes
    ----------
    path : Path
        The file.
    head : ProjectHead
        Settings that the project was started with.
    records : list of Record
        The log on disk.
    events : tuple of Event
        The events of the records.
    notes : list of str
        Remarks from opening the file, such as damage that could be corrected.
    table_digest : callable or None
        Returns the digest of the table, for a rescue file.
    parts : list of Part
        The rows that the project was started with, and each batch that was added.
    rescue : Path or None
        The file that holds everything if the project was deleted or replaced while it was open.
    """

    def __init__(self, file: ProjectFile, content: ProjectContent, notes: Iterable[str]) -> None:
        assert content.head is not None
        self.path = file.path
        self.format = content.version
        self.head = content.head
        self.records = list(content.records.values())
        self.notes = list(notes)
        self.rescue: Path | None = None
        self._project = content.project or uuid.uuid4().hex
        self._file = file
        self._file.continue_at(content.length)
        self._old_digest = content.digest if content.version < FORMAT else None
        self._has_digest = content.digest is not None
        self.parts = content.parts
        self._displaced = ""
        self._folder = file.path.absolute().parent  # the working folder may change
        self.table_digest: Callable[[], TableDigest] | None = None

    @property
    def id(self) -> str:
        """Random text that identifies the project, the same in all copies of it."""
        return self._project

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of the records."""
        return tuple(record.event for record in self.records)

    @property
    def digest(self) -> TableDigest | None:
        """Digest of the table at the start of the project; None if it was not stored."""
        if self.format < FORMAT:
            return self._old_digest
        content = read_content(self._file.read())
        return None if content is None else content.digest

    @property
    def warning(self) -> str | None:
        """A sentence on the rescue file, if the project is no longer in its place."""
        if self.rescue is None:
            return None
        n_entries = quantity(len(self.records), "entry", "entries")
        return (
            f"The project {self.path} {self._displaced} while it was open. All {n_entries} are in "
            f"the rescue file {self.rescue}; to continue with them later, move it where you want "
            "it, and pass it as `project`."
        )

    def append(self, *records: Record) -> None:
        """Save records; on return all are on disk, otherwise none and an error is raised.

        If the project was deleted, replaced or changed by another program, everything is saved to
        a rescue file beside it, where further records go, too. A file of an older format is
        converted first.
        """
        lines = b"".join(entry_lines(self._project, records, len(self.records) + 1))
        self._append(lines, records)
        self.records.extend(records)

    def save_digest(self, digest: TableDigest | None) -> None:
        """Save the digest of the table, if given, and convert an older format."""
        lines = [] if digest is None else digest_lines(self._project, digest)
        self._append(b"".join(lines))
        self._has_digest = self._has_digest or digest is not None

    def digest_of(self, number: int) -> TableDigest | None:
        """Return the digest of a part, 0 for the first rows; None if it was not stored."""
        if self.format < FORMAT:
            return None if number else self._old_digest
        content = read_content(self._file.read())
        return None if content is None else content.digest_of(number)

    def add_rows(self, record: Record, stored: StoredRows) -> None:
        """Save the record of new rows with their ids, digests and source, in one write.

        However the process ends, the file has all of it or nothing.
        """
        event = record.event
        assert isinstance(event, RowsAdded)
        entry, columns = len(self.records) + 1, stored.digest.column_digests
        part = Part(
            entry,
            event.first,
            event.n_rows,
            event.fingerprint,
            columns.astype("<u8").tobytes(),
            stored.source,
        )
        added = AddedRows(part, stored.digest)
        lines = [
            *batch_lines(self._project, len(self.parts), added),
            *entry_lines(self._project, [record], entry),
        ]
        self._append(b"".join(lines), [record], {len(self.parts): added})
        self.records.append(record)
        self.parts.append(part)

    def save_source(self, number: int, source: Source) -> None:
        """Save where the rows of a part are read from, 0 for the first, unless it is known."""
        part = replace(self.parts[number], source=source)
        if part != self.parts[number]:
            self._append(part.line(number, self._project), (), {number: AddedRows(part, None)})
            self.parts[number] = part

    def check_in_place(self) -> None:
        """Write a rescue file if the project was deleted, replaced or changed meanwhile."""
        if self.records and not self._file.is_closed:
            try:
                self._file.check_unchanged(is_thorough=True)
            except DisplacedError as error:
                self._save_elsewhere(error)

    def close(self) -> None:
        """Close the file, so that other processes can open it."""
        try:
            self.check_in_place()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _append(
        self,
        lines: bytes,
        records: Iterable[Record] = (),
        batches: Mapping[int, AddedRows] | None = None,
    ) -> None:
        if self._file.is_closed:
            raise _not_saved(self.path, "it is closed")
        try:
            self._convert_format()
            n_entries = len(self.records) + len(tuple(records))
            self._file.append(lines, Header(self._project, n_entries))
        except DisplacedError as error:
            self._save_elsewhere(error, records, batches)
        except OSError as error:
            raise _not_saved(self.path, error.strerror or str(error)) from error

    def _convert_format(self) -> None:
        if self.format < FORMAT:
            self._file.check_unchanged()
            content = new_content(self._project, self.head, self._old_digest, self.records)
            kept = self._file.replace(content, kept_as=f".format-{self.format}")
            self.notes.append(
                f"The project was converted to format {FORMAT}; the file of format {self.format} "
                f"is kept as {kept}."
            )
            self.format = FORMAT

    def _content_again(self) -> ProjectContent | None:
        """Return what the open file holds if that is still this project."""
        with suppress(OSError):  # the file may be overwritten; the records are in memory
            content = read_content(self._file.read())
            if content is not None and content.project == self._project:
                return content
        return None

    def _save_elsewhere(
        self,
        displaced: DisplacedError,
        records: Iterable[Record] = (),
        batches: Mapping[int, AddedRows] | None = None,
    ) -> None:
        """Write everything, with new records, to a rescue file, and continue there."""
        found = self._content_again()
        digest = None if found is None else found.digest
        if self.table_digest is not None:  # of the table itself
            digest = self.table_digest()
        parts = enumerate(self.parts)
        added = {number: AddedRows(part, None) for number, part in parts if number or part.source}
        added |= {} if found is None else found.as_added()
        content = new_content(
            self._project,
            self.head,
            digest,
            [*self.records, *records],
            {**added, **(batches or {})},
        )
        for folder in (lambda: self._folder, Path.cwd, Path.home, tempfile.gettempdir):
            with suppress(InputError, OSError, RuntimeError):  # a folder may be gone
                target = free_name(Path(folder()) / _rescue_name(self.path))
                create_file(target, content)
                file = ProjectFile(target)
                file.continue_at(len(content))
                self._file.close()
                self._file, self.rescue = file, target
                self._displaced = str(displaced)
                return
        n_entries = quantity(len(self.records), "entry", "entries")
        raise NotSavedError(
            f"The project {self.path} {displaced} while it was open, and no rescue file could be "
            f"written. {n_entries} are in the memory of this process only: make room on a disk and "
            "repeat the last entry before you stop."
        )


def _rescue_name(path: Path) -> str:
    return f"{path.stem}-rescue-{datetime.now(UTC):%Y%m%d-%H%M%S}{path.suffix}"


def _not_saved(path: Path, reason: str) -> NotSavedError:
    return NotSavedError(
        f"Could not save to {path}: {reason.rstrip('.')}. The last entry was not recorded; "
        "earlier entries are safe."
    )


def open_project(
    path: str | os.PathLike[str],
    head: ProjectHead | None = None,
    digest: Callable[[], TableDigest] | None = None,
) -> ProjectStore:
    """Open a project file, or create it if it does not exist.

    Parameters
    ----------
    path : str or path
        The file.
    head : ProjectHead, optional
        Settings of the project. A new file gets them; an existing one must agree. Without them,
        the file must exist.
    digest : callable, optional
        Returns the digest of the table, see :func:`~kernova.tables.identity.table_digest`.
        Called for a new file, for one without a digest, and to describe changes in the table.

    Returns
    -------
    ProjectStore
        The project, locked until it is closed or the process ends.

    Raises
    ------
    InputError
        If the file is not a project, is damaged, comes from a newer kernova, belongs to another
        table, or is open in another process.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.discover.events import Record, Skipped
    >>> from kernova.discover.store import ProjectHead, open_project
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fish.kernova-project"
    >>> head = ProjectHead("f1ce", n_rows=9, n_columns=2, strategy="random", seed=0)
    >>> with open_project(path, head) as project:
    ...     project.append(Record(Skipped(4), by="Anna"))
    >>> with open_project(path) as project:
    ...     print(project.head.strategy, project.events)
    random (Skipped(row=4),)
    """
    return _open(Path(path), lambda stored: head, digest)


def open_table_project(
    path: str | os.PathLike[str],
    table: pd.DataFrame | Matrix,
    ids: Iterable[object],
    strategy: str | None = None,
    seed: int | None = None,
) -> ProjectStore:
    """Open the project of a table, or create it; see :func:`open_project`.

    Without ``strategy`` or ``seed``, those of the project are used, or the defaults for a new one.
    """
    given = _GivenTable(pd.DataFrame(table), list(ids), strategy, seed)
    store = _open(Path(path), given.head, given.digest)
    try:
        _check_batches(store, given)
    except BaseException:
        store.close()
        raise
    return store


class _GivenTable:
    """A table with the settings asked for; its first rows are those the project began with."""

    def __init__(
        self, table: pd.DataFrame, ids: list[object], strategy: str | None, seed: int | None
    ) -> None:
        self.table, self.ids, self._strategy, self._seed = table, ids, strategy, seed
        self._n_first = len(table)

    def head(self, store: ProjectStore | None) -> ProjectHead:
        """Return the settings that a project must have, or gets."""
        usual = (DEFAULT_STRATEGY, 0)
        if store is not None:
            usual = store.head.strategy, store.head.seed
            self._n_first = _n_first_rows(store, len(self.table))
        first = slice(self._n_first)
        return ProjectHead(
            table_fingerprint(self.table.iloc[first], self.ids[first]),
            self._n_first,
            self.table.shape[1],
            usual[0] if self._strategy is None else self._strategy,
            usual[1] if self._seed is None else self._seed,
        )

    def digest(self) -> TableDigest:
        """Return the digest of the first rows."""
        return self.digest_of(slice(self._n_first))

    def digest_of(self, rows: slice) -> TableDigest:
        """Return the digest of some rows."""
        return table_digest(self.table.iloc[rows], self.ids[rows])


def _n_first_rows(store: ProjectStore, n_given: int) -> int:
    """Return how many rows of a table are those that the project was started with."""
    n_first, n_batches = store.head.n_rows, len(store.parts) - 1
    n_all = sum(part.n_rows for part in store.parts)
    if n_batches and n_given == n_first:
        raise InputError(
            f"The project {store.path} has {n_all:,} rows, {n_all - n_first:,} of which were added "
            f"in {quantity(n_batches, 'batch', 'batches')}; got only the {n_given:,} that it was "
            "started with. Give all rows, those that were added behind the others."
        )
    return n_first if n_given == n_all else n_given


def _open(
    target: Path,
    head_for: Callable[[ProjectStore | None], ProjectHead | None],
    digest: Callable[[], TableDigest] | None,
) -> ProjectStore:
    """Open a project; ``head_for`` gets the opened one and returns the settings to expect."""
    if not is_there(target):
        _create(target, head_for(None), digest)
    check_is_file(target)
    file = ProjectFile(target)
    try:
        store = _read(file)
        store.table_digest = digest
        head = head_for(store)
        if head is not None:
            _check_same(store, head, digest)
            _update(store, digest)
    except BaseException:
        file.close()
        raise
    return store


def _check_batches(store: ProjectStore, given: _GivenTable) -> None:
    """Raise if the rows behind the first ones are not those that were added."""
    for number, part in enumerate(store.parts[1:], start=1):
        rows = slice(part.first, part.first + part.n_rows)
        if table_fingerprint(given.table.iloc[rows], given.ids[rows]) == part.fingerprint:
            continue
        old = store.digest_of(number)
        changed = "" if old is None else describe_changes(old, given.digest_of(rows))
        raise InputError(
            f"The rows that batch {number} added to the project {store.path} have changed. "
            f"{changed or 'They have other values, columns or ids.'} Give them as they were when "
            "they were added."
        )


def _create(
    target: Path, head: ProjectHead | None, digest: Callable[[], TableDigest] | None
) -> None:
    if head is None:
        raise InputError(f"There is no project {target}; check its name and folder.")
    stored = None if digest is None else digest()
    create_file(target, new_content(uuid.uuid4().hex, head, stored))


def _read(file: ProjectFile) -> ProjectStore:
    reading = interpret(file.path, file.read())
    notes = check_whole(file.path, reading.content)
    notes += [_set_aside(journal) for journal in reading.foreign]
    return ProjectStore(file, reading.content, notes)


def _set_aside(journal: Path) -> str:
    """Move a file that another project left beside this one; return a sentence on it."""
    time = f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    target = free_name(journal.with_name(f"{journal.name}.set-aside-{time}"))
    try:
        journal.rename(target)
    except OSError:
        return f"{journal} is not part of the project; nothing of it was read. Remove it."
    return (
        f"{journal.name} is not part of the project: another one, or an earlier version of it, "
        f"left it there. It was set aside as {target.name}, and nothing of it was read."
    )


def _update(store: ProjectStore, digest: Callable[[], TableDigest] | None) -> None:
    needs_digest = digest is not None and not store._has_digest
    if store.format < FORMAT or needs_digest:
        store.save_digest(digest() if needs_digest and digest is not None else None)


def _check_same(
    store: ProjectStore, wanted: ProjectHead, digest: Callable[[], TableDigest] | None
) -> None:
    found, path = store.head, store.path
    if found.fingerprint != wanted.fingerprint:
        raise InputError(
            f"The project {path} belongs to another table: {_difference(store, wanted, digest)} "
            "Give the table that the project was started with, or another project."
        )
    if (found.strategy, found.seed) != (wanted.strategy, wanted.seed):
        raise InputError(
            f"The project {path} uses the strategy {quoted(found.strategy)} and the seed "
            f"{found.seed}; got {quoted(wanted.strategy)} and {wanted.seed}. Use the same, or "
            "another project."
        )


def _difference(
    store: ProjectStore, wanted: ProjectHead, digest: Callable[[], TableDigest] | None
) -> str:
    old = store.digest
    changed = "" if old is None or digest is None else describe_changes(old, digest())
    if changed:
        return f"{changed[0].lower()}{changed[1:]}"
    is_alike = _shape(store.head) == _shape(wanted)
    now = "the same shape, but other values, columns or ids" if is_alike else _shape(wanted)
    return f"{_shape(store.head)}; the one given now has {now}."


def _shape(head: ProjectHead) -> str:
    return f"{head.n_rows} rows and {head.n_columns} columns"
