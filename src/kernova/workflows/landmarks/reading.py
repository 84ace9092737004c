"""Reading of specimens: any file of landmarks, with ids, labels and groups from beside or inside.

A TPS file and a wide table (``x1, y1, x2, y2, ...``) hold coordinates that depend on how each
specimen lay before the camera, so they are read as landmarks, to be aligned, unless someone asks
for the columns of a table as they are.
"""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError, quoted
from kernova.shapes import (
    Landmarks,
    groups_from_pattern,
    groups_from_table,
    is_landmark_file,
    landmark_columns,
    read_landmarks,
)
from kernova.shapes.column_names import columns_of_coordinates, misunderstood
from kernova.shapes.formats.reading import landmark_format, values_as_header
from kernova.shapes.formats.rows import guessed_dimension
from kernova.shapes.landmarks import Negative, coordinate
from kernova.shapes.tps import IdsFrom
from kernova.tables.formats import read_raw
from kernova.tables.table import Table, read_table
from kernova.text import listed
from kernova.typing import Coordinates

_ID = "specimen"
_TABLES = ("table", "rows")  # formats with names of columns
# What programs write for a missing landmark, beside NA.
_MISSING = (-999.0, -9999.0)


@dataclass(frozen=True)
class HowDigitised:
    """What the user says about the coordinates of a file of specimens."""

    ids_from: IdsFrom = "auto"  # the field of a TPS file that holds the ids
    negative: Negative = "values"  # the meaning of negative coordinates
    dimensions: int | None = None  # of coordinates whose names tell no axes

    @property
    def given(self) -> dict[str, bool]:
        """Which parameters were given, by name."""
        return {
            "ids_from": self.ids_from != "auto",
            "negative": self.negative != "values",
            "dimensions": self.dimensions is not None,
        }


AS_WRITTEN = HowDigitised()


@dataclass(frozen=True)
class Roles:
    """What the user says about the columns of a file of specimens."""

    id_column: str | None = None
    label_column: str | None = None
    group_column: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    # Labels from a table by id, or from a part of the ids, instead of a column of the file itself.
    labels: str | os.PathLike[str] | None = None
    id_pattern: str | None = None
    optional: Collection[str] = ()  # columns that the file need not have
    usual_id: str | None = None  # the id column of a file like it, used if this file has it
    may_be_raw: bool = True  # whether raw_coordinates is a way out
    digitised: HowDigitised = AS_WRITTEN
    known_dimensions: int | None = None  # of the specimens that these are compared with

    @property
    def dimensions(self) -> int | None:
        """Coordinates per landmark where the file does not tell."""
        return self.digitised.dimensions or self.known_dimensions

    @property
    def has_labels_beside(self) -> bool:
        """Whether labels do not come from a column of the file."""
        return self.labels is not None or self.id_pattern is not None

    def or_raw(self, what: str) -> str:
        """Return the end of some advice: to compare them as they are, where that is possible."""
        if not self.may_be_raw:
            return "."
        return f", or pass raw_coordinates=True to compare {what} as they are."


@dataclass(frozen=True)
class Specimens:
    """Specimens as they were read, before alignment."""

    landmarks: Landmarks
    ids: "pd.Series[str]"
    labels: "pd.Series[Any] | None"
    groups: "pd.Series[Any] | None"
    columns: tuple[tuple[str, ...], ...] = ()  # the names of each landmark's columns, if it has any
    id_column: str | None = None  # of a wide table
    label_column: str | None = None
    names: tuple[str, ...] = ()  # all columns of the file that are no coordinates
    unused: tuple[str, ...] = ()  # those of them that have no use
    notes: tuple[str, ...] = field(default=())

    @property
    def source(self) -> str:
        """Name of the file, for messages."""
        return self.landmarks.source


def table_unless_landmarks(
    path: object,
    read: Callable[[], Table],
    *,
    raw_coordinates: bool,
    digitised: HowDigitised = AS_WRITTEN,
    **others: object,
) -> Table | None:
    """Read a table as ever; None if the file holds landmarks, which have to be aligned.

    Parameters
    ----------
    path : str or path, or table
        The file. A table in memory is taken as it is.
    read : callable
        Reads it as a table of features.
    raw_coordinates : bool
        Whether to compare the coordinates of landmarks as they are.
    digitised : HowDigitised
        What is known of the coordinates of specimens; with a number of dimensions, columns and rows
        without names of axes are landmarks.
    **others
        Parameters that have a meaning for aligned specimens only; an error is raised if one of
        them is given for a table.
    """
    if not isinstance(path, str | os.PathLike):
        return read()
    if raw_coordinates:
        _check_is_table(path)
    # The first line tells before other columns are checked, in which anything may stand.
    elif is_landmark_file(path) or (digitised.dimensions and landmark_format(path) == "rows"):
        return None
    check_has_names(path, or_rows="; or pass dimensions=2 to read such rows as landmarks")
    table = read()
    names = table.columns
    if not raw_coordinates and _coordinate_columns(names, digitised.dimensions) is not None:
        return None
    _check_none_given({**others, **digitised.given}, table.source, is_raw=raw_coordinates)
    note = None if raw_coordinates else misunderstood(names)
    return table if note is None else replace(table, notes=(*table.notes, note))


def _check_none_given(others: dict[str, Any], source: str, *, is_raw: bool) -> None:
    """Raise if a parameter was given that has a meaning for aligned specimens only."""
    given = [name for name, value in others.items() if value]
    if given:
        why = "its coordinates are compared as they are" if is_raw else "it holds no landmarks"
        raise InputError(
            f"`{given[0]}` is for specimens that are aligned, but {source} is taken as a table of "
            f"features: {why}. Leave it out."
        )


def check_has_names(path: str | os.PathLike[str], *, or_rows: str = "") -> None:
    """Raise if the first line of a table holds values, which would be taken for names."""
    cells = values_as_header(path)
    if cells:
        raise InputError(
            f"The first line of {os.fspath(path)} holds values instead of the names of columns: "
            f"{listed(cells[:3])}. Add a line of names, such as id, x1, y1, x2, y2 for landmarks"
            f"{or_rows}."
        )


def _coordinate_columns(
    names: Sequence[str], dimensions: int | None
) -> list[tuple[str, ...]] | None:
    return landmark_columns(names) or columns_of_coordinates(names, dimensions)


def _check_is_table(path: str | os.PathLike[str]) -> None:
    if is_landmark_file(path) and landmark_format(path) not in _TABLES:
        raise InputError(
            f"{os.fspath(path)} holds specimens, which are compared after alignment only; "
            "raw_coordinates=True is for tables. Leave it out."
        )


def check_is_table(path: object, *, like: str) -> None:
    """Raise if a file holds specimens where a table of features like another one is wanted."""
    if not isinstance(path, str | os.PathLike):
        return
    check_has_names(path)
    if is_landmark_file(path) and landmark_format(path) not in _TABLES:
        raise InputError(
            f"{os.fspath(path)} holds landmarks of specimens, but {like} is a table of features. "
            "Name a file like it."
        )


def read_specimens(path: str | os.PathLike[str], roles: Roles) -> Specimens:
    """Read specimens with their ids, labels and groups, from any file of landmarks."""
    is_table = _is_table(path, roles.dimensions)
    specimens = _from_table(path, roles) if is_table else _from_landmarks(path, roles)
    _check_coordinates(specimens.landmarks, roles.digitised.dimensions)
    if not roles.has_labels_beside:
        return specimens
    return replace(specimens, labels=_labels_beside(specimens, roles))


def _is_table(path: str | os.PathLike[str], dimensions: int | None) -> bool:
    """Whether a file has a line of names, among which those of the coordinates are found."""
    kind = landmark_format(path)
    if kind != "rows" or values_as_header(path):
        return kind == "table"
    names = read_raw(os.fspath(path)).columns.column_names
    return _coordinate_columns(names, dimensions) is not None


def _check_coordinates(landmarks: Landmarks, dimensions: int | None) -> None:
    """Raise for landmarks of another dimension than given, and for a code of missing ones."""
    if dimensions not in (None, landmarks.n_dimensions):
        raise InputError(
            f"{landmarks.source} says itself that its landmarks have {landmarks.n_dimensions} "
            "coordinates each. Leave out `dimensions`."
        )
    points = landmarks.coordinates
    is_code = np.isin(points[..., 0], _MISSING) & (points == points[..., :1]).all(axis=2)
    if is_code.any():
        row, landmark = np.argwhere(is_code)[0].tolist()
        value = ", ".join(f"{number:g}" for number in points[row, landmark])
        raise InputError(
            f"Landmark {landmark + 1} of {quoted(landmarks.ids[row])} of {landmarks.source} is "
            f"({value}), as a missing one may be written. Write NA for each of its coordinates, or "
            "pass negative='missing'."
        )


def _from_landmarks(path: str | os.PathLike[str], roles: Roles) -> Specimens:
    """Read a TPS file, or another one that has ids and perhaps further columns of its own."""
    landmarks, others = read_landmarks(
        path,
        negative=roles.digitised.negative,
        ids_from=roles.digitised.ids_from,
        dimensions=roles.dimensions,
    )
    columns = pd.DataFrame(index=range(len(landmarks))) if others is None else others
    source = landmarks.source
    _check_keep(replace(roles, may_be_raw=False), source)
    _check_own_ids(roles, source)
    label = None if roles.has_labels_beside else roles.label_column
    labels = _column(columns, label, "label", roles, source)
    groups = _column(columns, roles.group_column, "group", roles, source)
    for name in roles.drop:
        _column(columns, name, None, roles, source)
    unused = [name for name in columns.columns if name not in (label, roles.group_column)]
    return Specimens(
        landmarks,
        pd.Series(landmarks.ids, name=_ID, dtype=object),
        labels,
        groups,
        label_column=None if labels is None else label,
        names=tuple(columns.columns),
        unused=tuple(name for name in unused if name not in roles.drop),
        notes=landmarks.notes,
    )


def _column(
    columns: pd.DataFrame, name: str | None, role: str | None, roles: Roles, source: str
) -> "pd.Series[Any] | None":
    if name is None or (name not in columns.columns and name in roles.optional):
        return None
    if name in columns.columns:
        return columns[name].reset_index(drop=True)
    has = f"Its columns are {listed(columns.columns)}." if len(columns.columns) else (
        "It has landmarks only."
    )  # fmt: skip
    use = "to drop" if role is None else f"to use as {role} column"
    raise InputError(f"{source} has no column {quoted(name)} {use}. {has}")


def _check_own_ids(roles: Roles, source: str) -> None:
    if roles.labels is None and roles.id_column not in (None, *roles.optional):
        raise InputError(
            f"{source} holds the ids of its specimens itself, and no column "
            f"{quoted(roles.id_column)}. Leave id_column out."
        )


def _from_table(path: str | os.PathLike[str], roles: Roles) -> Specimens:
    source = os.fspath(path)
    written = read_raw(source).columns.column_names
    names = [name.strip() for name in written if name.strip()]
    columns = _coordinate_columns(names, roles.dimensions)
    if columns is None:
        raise InputError(
            f"{source} holds no landmarks: it needs columns x1, y1, x2, y2, x3, y3 and so on, all "
            f"of them from 1 to the last. Its columns are {listed(names)}."
        )
    coordinates = [name for row in columns for name in row]
    _check_roles(roles, coordinates, source)
    others = [name for name in names if name not in coordinates]
    own_id = _own_id_column(source, others, roles)
    label = None if roles.has_labels_beside else roles.label_column
    unused = [name for name in others if name not in (own_id, label, roles.group_column)]
    table = read_table(
        path, id_column=own_id, label_column=label, group_column=roles.group_column,
        drop=list(dict.fromkeys([*unused, *roles.drop])), optional=roles.optional,
        keep=coordinates, missing="keep",
    )  # fmt: skip
    ids = table.ids if own_id is not None else table.ids.rename(_ID)
    is_guessed = roles.dimensions is None and landmark_columns(names) is None
    guessed = guessed_dimension(len(coordinates), source) if is_guessed else ()
    return Specimens(
        Landmarks(tuple(ids), _points(table, columns, roles), source=source),
        ids,
        table.labels,
        table.groups,
        tuple(columns),
        own_id,
        None if table.labels is None else label,
        tuple(others),
        tuple(name for name in unused if name not in roles.drop),
        (*table.notes, *guessed),
    )


def _check_roles(roles: Roles, coordinates: list[str], source: str) -> None:
    given = [roles.id_column, roles.label_column, roles.group_column, *roles.drop]
    taken = [name for name in given if name in coordinates]
    if taken:
        raise InputError(
            f"{quoted(taken[0])} is a coordinate of a landmark of {source}, and alignment needs "
            f"all of them. Name another column{roles.or_raw('the coordinates')}"
        )
    _check_keep(roles, source)


def _check_keep(roles: Roles, source: str) -> None:
    if roles.keep:
        raise InputError(
            f"{source} holds landmarks, of which only the shapes are compared; got "
            f"keep={roles.keep[0]!r}. Leave it out{roles.or_raw('all columns')}"
        )


def _own_id_column(source: str, others: list[str], roles: Roles) -> str | None:
    """Return the id column of the specimens' own file; the one given may be that of the labels."""
    is_here = roles.labels is None and roles.id_column not in roles.optional
    if roles.id_column is not None and (is_here or roles.id_column in others):
        return roles.id_column
    if roles.usual_id in others:
        return roles.usual_id
    found = _id_among(source, others)
    # Labels are looked up by id, which the first column holds if none is called so.
    return others[0] if found is None and roles.labels is not None and others else found


def _id_among(source: str, others: list[str]) -> str | None:
    """Return the column named id if it identifies the rows; None if there is none."""
    for name in others:
        if name.lower() == "id":
            values = read_raw(source, name).columns[name].to_pylist()
            while values and values[-1] is None:  # empty rows at the end are left out
                values.pop()
            texts = {"" if value is None else str(value).strip() for value in values}
            return name if len(texts) == len(values) and "" not in texts else None
    return None


def _points(table: Table, columns: Sequence[tuple[str, ...]], roles: Roles) -> Coordinates:
    """Return the landmarks of each row; NaN where one is missing as a whole."""
    for name in (name for row in columns for name in row):
        if not pd.api.types.is_numeric_dtype(table.features[name]):
            row, text = _first_text(table.features[name])
            raise InputError(
                f"Column {quoted(name)} of {table.source} is a coordinate of a landmark, but holds "
                f"{quoted(text)} for specimen {quoted(str(table.ids.iloc[row]))}. Correct it"
                f"{roles.or_raw('the columns')}"
            )
    points: NDArray[np.float64] = np.stack(
        [table.features[list(row)].to_numpy(dtype=np.float64) for row in columns], axis=1
    )
    is_missing = np.isnan(points)
    is_half = is_missing.any(axis=2) & ~is_missing.all(axis=2)
    if is_half.any():
        row, landmark = np.argwhere(is_half)[0].tolist()
        raise InputError(
            f"Specimen {quoted(str(table.ids.iloc[row]))} of {table.source} has only some of the "
            f"columns {listed(columns[landmark])} of landmark {landmark + 1}; fill in all of them "
            "or none."
        )
    if roles.digitised.negative == "missing":
        points[(points < 0).any(axis=2)] = np.nan
    return points


class _Cell(NamedTuple):
    row: int
    text: str


def _first_text(column: "pd.Series[Any]") -> _Cell:
    """Return the first cell that is no number, or the first of all if each could be one."""
    texts = ["" if value is None else str(value) for value in column.tolist()]
    rows = (row for row, text in enumerate(texts) if text and coordinate(text.strip()) is None)
    row = next(rows, 0)
    return _Cell(row, texts[row])


def _labels_beside(specimens: Specimens, roles: Roles) -> "pd.Series[Any]":
    """Return labels from a table by id, or from a part of the ids."""
    ids = specimens.ids.tolist()
    if roles.id_pattern is not None:
        if roles.labels is not None or roles.label_column is not None:
            raise InputError(
                "Labels come either from a column or from a pattern in the ids. Use `id_pattern` "
                "without `labels` and `label_column`, or leave it out."
            )
        found, name = groups_from_pattern(roles.id_pattern, ids), "label"
    else:
        assert roles.labels is not None
        if roles.label_column is None:
            raise InputError(
                f"The column of labels in {os.fspath(roles.labels)} is not named; set label_column."
            )
        found, name = _looked_up(roles.labels, ids, roles.label_column, roles), roles.label_column
    return pd.Series(found, name=name, dtype=object)


def _looked_up(
    labels: str | os.PathLike[str], ids: list[str], label_column: str, roles: Roles
) -> tuple[str, ...]:
    """Look up the label of each specimen in a table by id."""
    try:
        return groups_from_table(labels, ids, group_column=label_column, id_column=roles.id_column)
    except InputError as error:
        # Labels are looked up as groups are; users know them as labels.
        text = str(error).replace("to use as group column", "to use as label column")
        raise InputError(text.replace("give them a group", "give them a label")) from None
