"""Tables of labels: CSV, TSV, Parquet and Arrow, and the columns of Raven selection tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kernova.errors import InputError, quoted
from kernova.files import scratch_folder
from kernova.tables.columns import decoded
from kernova.tables.formats import read_raw
from kernova.tables.spreadsheets import original_text
from kernova.text import listed
from kernova.workbench.exports.labels import separated
from kernova.workbench.importing.lines import LabelFile, LabelLine, checked_line

TABLE_ENDINGS: Final = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".arrow")
# Names of columns by role, the preferred first.
_ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "category": ("category", "label", "class", "species", "annotation", "kind", "group"),
    "expert": ("expert", "annotator", "observer"),
    "confidence": ("confidence",),
    "status": ("status",),
    "probability": ("probability", "score"),
    "further_labels": ("further_labels",),
    "flagged": ("flagged",),
    "note": ("note", "notes", "comment", "comments", "remark"),
    "heading": ("heading",),
}
# Columns that our own tables have, whose texts are marked for spreadsheets.
_OWN: Final = {"category", "status", "further_labels", "flagged"}
# Values that are compared with ids, to find the column of ids.
_LOOKED_AT: Final = 2000


def read_label_table(
    name: str,
    content: bytes,
    rows: Mapping[str, int],
    id_column: str | None = None,
    category_column: str | None = None,
) -> LabelFile:
    r"""Read a table of labels.

    Parameters
    ----------
    name : str
        Name of the file; its ending determines the format.
    content : bytes
        The file.
    rows : mapping of str to int
        The row of each id of the project.
    id_column, category_column : str, optional
        Columns of the ids and of the categories. By default, the column whose values are ids, and
        one with a usual name.

    Raises
    ------
    InputError
        If the file cannot be read, or has no such columns.

    Examples
    --------
    >>> from kernova.workbench.importing.tables import read_label_table
    >>> text = b"fish,species\n007,carp\n008,\n"
    >>> found = read_label_table("two.csv", text, {"007": 0, "008": 1})
    >>> found.id_column, found.category_column, [line.category for line in found.lines]
    ('fish', 'species', ['carp', None])
    """
    with scratch_folder() as folder:
        path = folder / f"labels{_ending(name)}"
        path.write_bytes(content)
        try:
            return _read(name, path, rows, id_column, category_column)
        except InputError as error:
            raise InputError(str(error).replace(str(path), name)) from error


def _ending(name: str) -> str:
    lower = name.lower()
    return next((one for one in sorted(TABLE_ENDINGS, key=len)[::-1] if lower.endswith(one)), "")


def _read(
    name: str,
    path: Path,
    rows: Mapping[str, int],
    id_column: str | None,
    category_column: str | None,
) -> LabelFile:
    names = [one for one in read_raw(str(path)).columns.column_names if one]
    for given in (id_column, category_column):
        if given is not None and given not in names:
            raise InputError(
                f"{name} has no column {quoted(given)}; its columns are {listed(names)}."
            )
    columns = _Columns(path)
    ids = id_column or _id_column(columns, names, rows)
    if ids is None:
        examples = listed(list(rows)[:3])
        raise InputError(
            f"No column of {name} holds ids of this project, such as {examples}; its columns are "
            f"{listed(names)}. Add the column of ids, or name it with id_column."
        )
    roles = _roles(names, ids)
    if category_column is not None:
        roles["category"] = category_column
    is_own = {column.strip().lower() for column in names} >= _OWN
    texts = {role: columns.texts(column, is_own=is_own) for role, column in roles.items()}
    of_rows = _matching(columns.texts(ids, is_own=False), rows)
    lines = []
    for place, one in enumerate(of_rows):
        if one is not None:
            values: dict[str, Any] = {role: of[place] for role, of in texts.items()}
            values["tags"] = separated(values.get("further_labels") or "")
            lines.append(checked_line((one,), values))
    lines = _with_last_standing(lines)
    return LabelFile(name, lines, names, ids, roles.get("category"), _notes(name, roles))


def _with_last_standing(lines: list[LabelLine]) -> list[LabelLine]:
    """Return the lines; of several on one row, the last with a category is the one that counts."""
    last = {line.ids: place for place, line in enumerate(lines) if line.category is not None}
    return [
        line if last.get(line.ids, place) == place else line._replace(is_standing=False)
        for place, line in enumerate(lines)
    ]


class _Columns:
    """Columns of a table, each exactly as it is written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: dict[str, list[str | None]] = {}

    def texts(self, name: str, *, is_own: bool) -> list[str | None]:
        """Return a column; the reader takes no text of an id column for a missing value."""
        if name not in self._read:
            column = decoded(read_raw(str(self._path), name).columns[name])
            self._read[name] = [_text(value) for value in column.to_pylist()]
        texts = self._read[name]
        return [None if one is None else original_text(one) for one in texts] if is_own else texts


def _text(value: Any) -> str | None:
    if value is None or value != value or value == "":
        return None
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


def _id_column(columns: _Columns, names: list[str], rows: Mapping[str, int]) -> str | None:
    """Return the column of which most values are ids."""
    fractions = {}
    for name in names:
        texts = columns.texts(name, is_own=False)[:_LOOKED_AT]
        found = sum(one is not None for one in _matching(texts, rows) if one in rows)
        fractions[name] = found / max(len(texts), 1)
    best = max(names, key=fractions.__getitem__, default=None)
    return best if best is not None and fractions[best] > 0 else None


def _matching(texts: list[str | None], rows: Mapping[str, int]) -> list[str | None]:
    """Return texts as ids; those that were marked for spreadsheets without the mark."""
    return [
        one if one is None or one in rows or original_text(one) not in rows else original_text(one)
        for one in texts
    ]


def _roles(names: list[str], id_column: str) -> dict[str, str]:
    """Return the column of each role, by its name or, where only one is left, by exclusion."""
    lower = {_plain(name): name for name in names if name != id_column}
    found = {
        role: lower[next(one for one in usual if one in lower)]
        for role, usual in _ROLES.items()
        if any(one in lower for one in usual)
    }
    if "category" not in found and len(lower) == 1:
        found["category"] = next(iter(lower.values()))
    return found


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _notes(name: str, roles: Mapping[str, str]) -> list[str]:
    if "category" in roles:
        return []
    return [f"No column of {name} is known to hold categories. Choose it."]
