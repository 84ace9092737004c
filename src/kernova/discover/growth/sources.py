"""Sources of a project's rows: the file they were read from, and how it was read.

A path is stored twice: relative to the project, so that a folder may be moved as a whole, and
absolute, so that the project alone may be moved.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kernova.files import is_there
from kernova.tables.identity import TableDigest

_PLAIN: Final = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class StoredPath:
    """A path as a project stores it.

    Parameters
    ----------
    absolute : str
        The path from the root.
    relative : str or None
        The path from the project's folder; None on another drive.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.discover.growth.sources import StoredPath
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "fish.csv").write_text("fish,length")
    >>> stored = StoredPath.of(folder / "fish.csv", folder / "fish.kernova-project")
    >>> stored.relative, stored.found(folder / "fish.kernova-project").name
    ('fish.csv', 'fish.csv')
    """

    absolute: str
    relative: str | None = None

    @classmethod
    def of(cls, path: str | os.PathLike[str], project: Path) -> "StoredPath":
        """Return a path as the project stores it."""
        absolute = os.path.abspath(path)  # noqa: PTH100 - links stay links
        try:
            relative: str | None = os.path.relpath(absolute, project.absolute().parent)
        except ValueError:  # on another drive
            relative = None
        return cls(absolute, None if relative is None else Path(relative).as_posix())

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return Path(self.absolute).name

    def found(self, project: Path) -> Path | None:
        """Return where the file is now, or None: first as seen from the project."""
        if self.relative is not None:
            beside = Path(os.path.normpath(project.absolute().parent / self.relative))
            if is_there(beside):
                return _from_here(beside)
        path = Path(self.absolute)
        return _from_here(path) if is_there(path) else None

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"absolute": self.absolute, "relative": self.relative}


def _from_here(path: Path) -> Path:
    """Return a path below the working folder as it would be typed there."""
    try:
        return path.relative_to(Path.cwd())
    except (ValueError, OSError):
        return path


@dataclass(frozen=True)
class Source:
    """The file that rows were read from, and how it was read.

    Parameters
    ----------
    data : StoredPath
        The file or folder.
    options : mapping of str to object
        Parameters of :func:`kernova.media.opening.open_discovery_data` and plain values; those that
        name files are :class:`StoredPath`.

    Examples
    --------
    >>> import pathlib
    >>> from kernova.discover.growth.sources import Source
    >>> source = Source.of("fish.csv", {"id_column": "fish", "drop": ["sex"]}, pathlib.Path("p"))
    >>> Source.from_json(source.to_json()) == source, source.options
    (True, {'id_column': 'fish', 'drop': ['sex']})
    """

    data: StoredPath
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: str | os.PathLike[str],
        options: Mapping[str, Any],
        project: Path,
        paths: Collection[str] = (),
    ) -> "Source":
        """Return a source; options among ``paths`` that name a file or folder are stored as one."""
        kept: dict[str, Any] = {}
        for name, value in options.items():
            plain = os.fspath(value) if isinstance(value, os.PathLike) else value
            is_path = name in paths and isinstance(plain, str) and is_there(Path(plain))
            kept[name] = StoredPath.of(plain, project) if is_path else plain
        return cls(StoredPath.of(data, project), kept)

    def resolved(self, project: Path) -> dict[str, Any]:
        """Return the options with paths as they are now; one that is gone is as it was stored."""
        return {
            name: str(value.found(project) or value.absolute)
            if isinstance(value, StoredPath)
            else value
            for name, value in self.options.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        options = {
            name: {"path": value.to_json()} if isinstance(value, StoredPath) else value
            for name, value in self.options.items()
        }
        return {"data": self.data.to_json(), "options": options}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Source":
        """Return the source of :meth:`to_json`; raise ``ValueError`` for anything else."""
        try:
            options = {str(name): _option(value) for name, value in values["options"].items()}
            return cls(_path(values["data"]), options)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not a source") from error


def _option(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"path"}:
        return _path(value["path"])
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(one, _PLAIN) for one in several):
        raise ValueError("not an option")
    return value


def _path(values: Any) -> StoredPath:
    absolute, relative = values["absolute"], values["relative"]
    if type(absolute) is not str or not isinstance(relative, str | None):
        raise ValueError("not a path")
    return StoredPath(absolute, relative)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """New rows as a project stores them: ids and digests, and the source if there is one."""

    fingerprint: str
    digest: TableDigest
    source: Source | None = None
