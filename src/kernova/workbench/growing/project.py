"""Growing projects: opened from the file alone, with all rows that were added since."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from kernova.discover.growth.sources import Source
from kernova.discover.project.content import ProjectContent
from kernova.discover.project.reading import read_project
from kernova.discover.store import ProjectStore
from kernova.errors import InputError, quoted
from kernova.files import is_there
from kernova.media.row_media import DiscoveryData, RowMedia
from kernova.workbench.discovery import Discovery, open_discovery
from kernova.workbench.growing.reading import (
    PATH_OPTIONS,
    GrownRows,
    how_read,
    read_first,
    read_parts,
    rows_of_data,
)

PROJECT_SUFFIX: Final = ".kernova-project"


@dataclass(eq=False)
class GrowingProject:
    """A project with the session over all its rows.

    Attributes
    ----------
    discovery : Discovery
        The session; another one after rows were added.
    media : RowMedia
        Pictures, sounds or outlines of all rows.
    rows : GrownRows
        The rows, part by part.
    options : dict
        How the rows that the project was started with are read.
    """

    discovery: Discovery
    media: RowMedia
    rows: GrownRows
    options: dict[str, Any]

    @property
    def store(self) -> ProjectStore:
        """The open project file."""
        store = self.discovery.session.project_
        assert store is not None
        return store

    def close(self) -> None:
        """Close the project and all media files."""
        self.discovery.session.close()
        self.rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_growing(
    project: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    moved: Sequence[str | os.PathLike[str]] = (),
    **settings: Any,
) -> GrowingProject:
    """Open a project, or start one; the project remembers where its rows were read from.

    Parameters
    ----------
    project : str or path
        The project file.
    data : str or path, optional
        The rows it is started with; needed once, and where the file is in another place now.
    options : mapping of str to object, optional
        Parameters of :func:`kernova.media.opening.open_discovery_data`, and ``missing``, for those
        rows. The project remembers them; options given again replace them.
    moved : sequence of path
        Files that are in another place now, or folders that hold them.
    **settings
        What the project stores: ``strategy``, ``seed`` and other parameters of
        :func:`~kernova.workbench.discovery.open_discovery`.

    Returns
    -------
    GrowingProject
        The project; close it when done.

    Raises
    ------
    InputError
        If it cannot be opened, or a file that rows were read from is not found or has changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from kernova.workbench.growing import open_growing
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pd.DataFrame({"fish": list("abc"), "length": [1, 2, 9]}).to_csv(folder / "fish.csv")
    >>> path, options = folder / "fish.kernova-project", {"id_column": "fish"}
    >>> open_growing(path, folder / "fish.csv", options=options).close()
    >>> with open_growing(path) as again:
    ...     print(again.discovery.session.ids_, again.discovery.table.features.shape)
    ['a', 'b', 'c'] (3, 1)
    """
    path, given = Path(project), dict(options or {})
    content = read_project(path).content if is_there(path) else None
    places = [Path(one) for one in moved]
    first = _first_source(path, content, data, given, places)
    if content is None:
        rows, sources = GrownRows([read_first(path, data or "", given)]), [first]
    else:
        rows, sources = read_parts(path, content, first, places)
    chosen = {**how_read(rows.parts[0]), **first.resolved(path)}
    sources[0] = replace(sources[0], options={**chosen, **sources[0].options})
    try:
        discovery = open_discovery(
            rows.table(),
            path,
            missing=chosen.get("missing", "refuse"),
            notes=rows.notes,
            firsts=rows.firsts,
            context=rows.context(),
            **settings,
        )
        grown = GrowingProject(discovery, rows.media(), rows, chosen)
        for number, source in enumerate(sources):
            grown.store.save_source(number, source)
    except BaseException:
        rows.close()
        raise
    return grown


def open_opened(
    opened: DiscoveryData,
    project: str | os.PathLike[str],
    **settings: Any,
) -> GrowingProject:
    """Open the project of data in memory, to which no file is added."""
    rows = GrownRows([rows_of_data(opened)])
    discovery = open_discovery(
        rows.table(),
        project,
        notes=opened.notes,
        context=opened.context,
        **settings,
    )
    return GrowingProject(discovery, opened.media, rows, {})


def _first_source(
    project: Path,
    content: ProjectContent | None,
    data: str | os.PathLike[str] | None,
    given: Mapping[str, Any],
    moved: Sequence[Path],
) -> Source:
    """Return the source of the first rows: what the project remembers, as far as not given."""
    parts = [] if content is None else content.parts
    stored = parts[0].source if parts else None
    if stored is None:
        data = data or next((one for one in moved if is_there(one)), None)
        if data is None:
            raise _no_source(project)
        return Source.of(data, given, project, PATH_OPTIONS)
    chosen = Source.of(data or stored.data.absolute, given, project, PATH_OPTIONS)
    place = stored.data if data is None else chosen.data
    return replace(chosen, data=place, options=_merged(stored.options, chosen.options))


def _merged(stored: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored options with those that were given now: a column has the role given last."""
    named = {given.get("id_column"), given.get("label_column"), *(given.get("drop") or ())}
    kept = {name: value for name, value in stored.items() if name not in given}
    for role in ("id_column", "label_column"):
        if kept.get(role) is not None and kept[role] in named:
            del kept[role]
    for role in ("drop", "only", "keep", "show"):
        if kept.get(role):
            kept[role] = [name for name in kept[role] if name not in named]
    return {**kept, **given}


def _no_source(project: Path) -> InputError:
    if not is_there(project):
        return InputError(f"There is no project {project}; check its name and folder.")
    return InputError(
        f"The project {project} does not remember the table it was started with, since an earlier "
        "version of kernova started it. Name the table once, with the options that it was read "
        f"with: kernova discover DATA --project {quoted(str(project))}."
    )


def is_project(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a project, by its ending.

    Examples
    --------
    >>> from kernova.workbench.growing.project import is_project
    >>> is_project("fish.kernova-project"), is_project("fish.csv")
    (True, False)
    """
    return str(path).lower().endswith(PROJECT_SUFFIX)
