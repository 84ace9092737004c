"""Reading of a project's rows: those it was started with, and batches, read like them."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from kernova.discover.growth.sources import Source, StoredPath
from kernova.discover.project.content import ProjectContent
from kernova.discover.project.parts import Part
from kernova.errors import InputError, quoted
from kernova.media.joined import JoinedMedia, MediaPart
from kernova.media.opening import open_discovery_data, open_project_data
from kernova.media.row_media import DiscoveryData, RowMedia
from kernova.tables.context import NO_CONTEXT, Context, joined_context
from kernova.tables.identity import TableDigest
from kernova.tables.known import KnownColumns, extra_columns_note, with_known_types
from kernova.tables.table import Table
from kernova.text import first_few, plural, quantity
from kernova.typing import Indices

#: Options that name a file or folder, unless they name a column.
PATH_OPTIONS: Final = ("images", "audio", "embeddings")
# Options of a batch that say how it follows the other rows, and not how its file is read.
_OF_BATCHES: Final = ("missing_columns", "id_prefix", "renamed_from", "renamed_to")
# Ids that are only numbers: of the rows of a file, and of the selections of a Raven table.
_ROW_NUMBER: Final = "row"
_SELECTION: Final = "Selection"


class ReadRows(NamedTuple):
    """Rows of one file, or some of them, with their media."""

    table: Table
    media: MediaPart
    notes: list[str]
    context: Context = NO_CONTEXT  # of all rows of the file, as the media are

    def at(self, places: Indices) -> "ReadRows":
        """Return the rows at some places of the table, in this order."""
        table = self.table
        return self._replace(
            table=replace(
                table,
                features=table.features.iloc[places].reset_index(drop=True),
                ids=table.ids.iloc[places].reset_index(drop=True),
                labels=None
                if table.labels is None
                else table.labels.iloc[places].reset_index(drop=True),
            ),
            media=self.media._replace(places=self.media.places[places]),
        )


def _read(data: str | os.PathLike[str], options: Mapping[str, Any], **more: Any) -> ReadRows:
    return rows_of_data(open_discovery_data(data, **_for_reading(options), **more))


def _for_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _OF_BATCHES}


def rows_of_data(opened: DiscoveryData) -> ReadRows:
    """Return all rows of a file that was opened."""
    table = opened.table
    table = replace(table, features=table.features.reset_index(drop=True))
    table = replace(table, ids=table.ids.reset_index(drop=True))
    places = np.arange(len(table.features))
    return ReadRows(table, MediaPart(opened.media, places), list(opened.notes), opened.context)


def read_first(
    project: Path,
    data: str | os.PathLike[str],
    options: Mapping[str, Any],
    digest: TableDigest | None = None,
) -> ReadRows:
    """Return the rows that a project is started with, or was.

    A table is read as it was then if ``options`` say how. Components of pictures and embeddings are
    those of the rows in ``digest``: others may have come into the folder or file since.
    """
    if "reading" in options:
        return _read(data, options)
    ids = None if digest is None else [str(json.loads(one)) for one in digest.ids]
    return rows_of_data(open_project_data(project, data, learn_from=ids, **_for_reading(options)))


def how_read(rows: ReadRows) -> dict[str, Any]:
    """Return options by which the table of the first rows is read alike when it has changed."""
    table = rows.table
    if table.reader is not None:
        return {}
    features = list(map(str, table.features.columns))
    return {"reading": "auto" if table.readings else "strict", "only": features}


def read_batch(data: str | os.PathLike[str], options: Mapping[str, Any], first: Table) -> ReadRows:
    """Return further rows, with the columns and the reader of the first ones.

    Parameters
    ----------
    data : str or path
        The file or folder.
    options : mapping of str to object
        Parameters of :func:`~kernova.media.opening.open_discovery_data`, and those of a batch.
    first : Table
        The rows that the project was started with.

    Raises
    ------
    InputError
        If the file cannot be read, or has other columns.
    """
    fills = options.get("missing_columns") == "fill"
    known = KnownColumns.of(first.features, first.readings, fills=fills)
    given = {**options, "missing": "fill"} if fills else options
    try:
        rows = _read(data, given, reader=first.reader, like=known)
    except InputError as error:
        if given.get("images") is None:
            raise
        rows = _read_without_pictures(data, given, known, first, error)
    features = with_known_types(rows.table.features, first.features, rows.table.source)
    ids = _named_ids(rows.table.ids, options)
    besides = [options.get("id_column"), options.get("label_column"), *(options.get("drop") or ())]
    extra = extra_columns_note(rows.table.columns, first.columns, besides, rows.table.source)
    table = replace(rows.table, features=features, ids=ids)
    return rows._replace(table=table, notes=[*rows.notes, *extra])


def _read_without_pictures(
    data: str | os.PathLike[str],
    options: Mapping[str, Any],
    known: KnownColumns,
    first: Table,
    error: InputError,
) -> ReadRows:
    """Return the rows without pictures if these are all that is wrong."""
    try:
        rows = _read(data, {**options, "images": None}, reader=first.reader, like=known)
    except InputError:
        raise error from None
    note = f"The rows of {rows.table.source} are shown without pictures. {error}"
    return rows._replace(notes=[*rows.notes, note])


def _named_ids(ids: "pd.Series[str]", options: Mapping[str, Any]) -> "pd.Series[str]":
    prefix = options.get("id_prefix")
    named = ids if prefix is None else prefix + ids.astype(str)
    renamed = dict(zip(options.get("renamed_from", ()), options.get("renamed_to", ()), strict=True))
    return named.replace(renamed) if renamed else named


def own_prefix(table: Table, options: Mapping[str, Any]) -> str | None:
    """Return what stands before the ids of a batch whose file only numbers its rows.

    Such numbers begin anew in each file, and would be those of other rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.tables.table import Table
    >>> from kernova.workbench.growing.reading import own_prefix
    >>> ids = pd.Series(["1", "2"], name="row")
    >>> own_prefix(Table(pd.DataFrame({"length": [1, 2]}), ids, None, "data/may-3.csv"), {})
    'may-3 '
    """
    name = table.ids.name
    is_numbered = name == _SELECTION or (name == _ROW_NUMBER and name not in table.columns)
    is_given = options.get("id_column") is not None
    return f"{_stem(table.source)} " if is_numbered and not is_given else None


def _stem(source: str) -> str:
    name = Path(source).name
    return name.split(".")[0] or name


# --- the rows of a project -------------------------------------------------------------------


class GrownRows(NamedTuple):
    """All rows of a project: those it was started with, and each batch behind them."""

    parts: list[ReadRows]

    @property
    def first(self) -> Table:
        """The rows that the project was started with."""
        return self.parts[0].table

    @property
    def firsts(self) -> list[int]:
        """Index of the first row of each part."""
        sizes = [len(part.table.features) for part in self.parts]
        return np.cumsum([0, *sizes])[:-1].tolist()

    @property
    def notes(self) -> list[str]:
        """Remarks on all parts; those on the table of the first one are in the table."""
        return [note for part in self.parts for note in part.notes]

    def table(self) -> Table:
        """Return all rows as one table; labels are those that were known before the first."""
        tables = [part.table for part in self.parts]
        first = tables[0]
        if len(tables) == 1:
            return first
        labels = first.labels
        n_more = sum(len(one.features) for one in tables[1:])
        if labels is not None:
            none = pd.Series([None] * n_more, dtype=object)
            labels = pd.concat([labels.astype(object), none], ignore_index=True).rename(
                str(labels.name)
            )
        features = pd.concat([one.features for one in tables], ignore_index=True)
        ids = pd.concat([one.ids for one in tables], ignore_index=True).rename(str(first.ids.name))
        return replace(first, features=features, ids=ids, labels=labels, places=None)

    def media(self) -> RowMedia:
        """Return the media of all rows."""
        if len(self.parts) == 1 and _is_whole(self.parts[0].media):
            return self.parts[0].media.media
        ids = [str(one) for part in self.parts for one in part.table.ids.tolist()]
        return JoinedMedia(ids, [part.media for part in self.parts])

    def context(self) -> Context:
        """Return the columns that are shown beside all rows without being features."""
        if len(self.parts) == 1 and _is_whole(self.parts[0].media):
            return self.parts[0].context
        return joined_context([(part.context, part.media.places) for part in self.parts])

    def close(self) -> None:
        """Close all media files."""
        for part in self.parts:
            part.media.media.close()


def _is_whole(part: MediaPart) -> bool:
    return bool((part.places == np.arange(len(part.places))).all())


def read_parts(
    project: Path, content: ProjectContent, first: Source, moved: Sequence[Path] = ()
) -> tuple[GrownRows, list[Source]]:
    """Read all rows of a project, and return them with the sources they were found at.

    Parameters
    ----------
    project : Path
        The project.
    content : ProjectContent
        What it holds.
    first : Source
        Source of the first rows.
    moved : sequence of Path
        Files that were moved, or folders that they are in now.
    """
    sources = [_placed(project, 0, first, moved)]
    data = _data_of(project, 0, sources[0])
    whole = read_first(project, data, sources[0].resolved(project), content.digest)
    parts = [_first_part(content, whole, str(data))]
    try:
        for number, part in enumerate(content.parts[1:], start=1):
            if part.source is None:
                raise InputError(
                    f"The project {project} does not remember where the {part.n_rows:,} rows of "
                    f"batch {number} were read from, since they were added by a program. Open it "
                    "with that program."
                )
            sources.append(_placed(project, number, part.source, moved))
            data = _data_of(project, number, sources[-1])
            rows = read_batch(data, sources[-1].resolved(project), parts[0].table)
            # What was noted when the rows were added is not noted again.
            rows = rows._replace(notes=[])
            parts.append(_rows_of(project, number, part, content.digest_of(number), rows))
    except BaseException:
        GrownRows(parts).close()
        raise
    return GrownRows(parts), sources


def _placed(project: Path, number: int, source: Source, moved: Sequence[Path]) -> Source:
    """Return a source at its place now: where it was stored, or among what was moved."""
    found = source.data.found(project)
    if found is not None:  # beside a project that was moved, it has another place, too
        return replace(source, data=StoredPath.of(found, project))
    for path in moved:
        inside = path / source.data.name
        if inside.exists() or path.name == source.data.name or (number == 0 and path.is_file()):
            return Source.of(inside if inside.exists() else path, source.options, project)
    return source


def _data_of(project: Path, number: int, source: Source) -> Path:
    found = source.data.found(project)
    if found is not None:
        return found
    what = "table" if number == 0 else f"batch {number}"
    raise InputError(
        f"The {what} of the project {project} is no longer at {source.data.absolute}. Move it "
        f"back, or pass its place now: moved={quoted(f'FOLDER/{source.data.name}')}."
    )


def _first_part(content: ProjectContent, rows: ReadRows, source: str) -> ReadRows:
    """Return the rows that the project was started with, of a table that has more by now."""
    digest = content.digest
    if digest is None or len(digest.ids) >= len(rows.table.ids):
        return rows
    places = _places(rows.table.ids.tolist(), digest)
    if (places < 0).any():
        return rows  # another table, which the project rejects and describes
    n_more = len(rows.table.ids) - len(places)
    note = (
        f"{quantity(n_more, 'row')} of {source} {plural(n_more, 'is', 'are')} not in the project; "
        f"{plural(n_more, 'it is', 'they are')} left out until {source} is added."
    )
    return rows.at(places)._replace(notes=[*rows.notes, note])


def _rows_of(
    project: Path, number: int, part: Part, digest: TableDigest | None, rows: ReadRows
) -> ReadRows:
    """Return the rows of a batch, in the order in which they were added."""
    if digest is None:
        if len(rows.table.ids) == part.n_rows:
            return rows
        raise InputError(
            f"The stored ids of batch {number} of the project {project} are not readable, and "
            f"{rows.table.source} now has {len(rows.table.ids):,} rows instead of "
            f"{part.n_rows:,}. Give the file as it was when it was added."
        )
    places = _places(rows.table.ids.tolist(), digest)
    if (places < 0).any():
        gone = [json.loads(digest.ids[place]) for place in np.flatnonzero(places < 0).tolist()]
        raise InputError(
            f"{rows.table.source} lacks {quantity(len(gone), 'row')} of batch {number} of the "
            f"project {project}: {first_few(map(quoted, gone), 5)}. Give the file as it was when "
            "it was added."
        )
    return rows.at(places)


def _places(ids: list[str], digest: TableDigest) -> Indices:
    """Return the place of each stored id among the ids of a file; -1 where it is missing."""
    wanted = [json.loads(one) for one in digest.ids]
    return np.asarray(pd.Index(ids, dtype=object).get_indexer(pd.Index(wanted, dtype=object)))
