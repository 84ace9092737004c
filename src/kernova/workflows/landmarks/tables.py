"""Tables of specimens: files of landmarks, read and aligned for commands that take tables.

A TPS file and a wide table (``x1, y1, x2, y2, ...``) hold coordinates that depend on how each
specimen lay before the camera. They become a :class:`~kernova.tables.table.Table` of aligned
coordinates, whose ``reader`` aligns further specimens to the same consensus. Other columns are not
compared.
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
from kernova.shapes.formats.reading import landmark_format
from kernova.shapes.procrustes import shapeless_rows
from kernova.tables.formats import read_raw
from kernova.tables.table import Table, read_table
from kernova.text import listed, plural, quantity
from kernova.typing import Coordinates
from kernova.workflows.landmarks.alignment import LOG_SIZE, LandmarkColumns, ShapeCoordinates

_AXES = "xyz"
_ID = "specimen"


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

    @property
    def has_labels_beside(self) -> bool:
        """Whether labels do not come from a column of the file."""
        return self.labels is not None or self.id_pattern is not None


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


# --- reading -----------------------------------------------------------------------------------


def table_unless_landmarks(
    path: object, read: Callable[[], Table], *, raw_coordinates: bool, **others: object
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
    **others
        Parameters that have a meaning for aligned specimens only; an error is raised if one of
        them is given for a table.
    """
    if not isinstance(path, str | os.PathLike):
        return read()
    if raw_coordinates:
        _check_is_table(path)
    # The first line tells before other columns are checked, in which anything may stand.
    elif is_landmark_file(path):
        return None
    table = read()
    if not raw_coordinates and landmark_columns(table.columns) is not None:
        return None
    given = [name for name, value in others.items() if value]
    if given:
        why = "its coordinates are compared as they are" if raw_coordinates else (
            "it holds no landmarks"
        )  # fmt: skip
        raise InputError(
            f"`{given[0]}` is for specimens that are aligned, but {table.source} is taken as a "
            f"table of features: {why}. Leave it out."
        )
    return table


def _check_is_table(path: str | os.PathLike[str]) -> None:
    if is_landmark_file(path) and landmark_format(path) != "table":
        raise InputError(
            f"{os.fspath(path)} holds specimens, which are compared after alignment only; "
            "raw_coordinates=True is for tables. Leave it out."
        )


def check_is_table(path: object, *, like: str) -> None:
    """Raise if a file holds specimens where a table of features like another one is wanted."""
    if not isinstance(path, str | os.PathLike) or not is_landmark_file(path):
        return
    if landmark_format(path) != "table":
        raise InputError(
            f"{os.fspath(path)} holds landmarks of specimens, but {like} is a table of features. "
            "Name a file like it."
        )


def read_specimens(path: str | os.PathLike[str], roles: Roles) -> Specimens:
    """Read specimens with their ids, labels and groups, from any file of landmarks."""
    is_table = landmark_format(path) == "table"
    specimens = _from_table(path, roles) if is_table else _from_landmarks(path, roles)
    if not roles.has_labels_beside:
        return specimens
    return replace(specimens, labels=_labels_beside(specimens, roles))


def _from_landmarks(path: str | os.PathLike[str], roles: Roles) -> Specimens:
    """Read a TPS file, or another one that has ids and perhaps further columns of its own."""
    landmarks, others = read_landmarks(path)
    columns = pd.DataFrame(index=range(len(landmarks))) if others is None else others
    source = landmarks.source
    _check_keep(roles, source)
    label = None if roles.has_labels_beside else roles.label_column
    labels = _column(columns, label, "label", roles, source)
    groups = _column(columns, roles.group_column, "group", roles, source)
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
    columns: pd.DataFrame, name: str | None, role: str, roles: Roles, source: str
) -> "pd.Series[Any] | None":
    if name is None or (name not in columns.columns and name in roles.optional):
        return None
    if name in columns.columns:
        return columns[name].reset_index(drop=True)
    has = f"Its columns are {listed(columns.columns)}." if len(columns.columns) else (
        "It has landmarks only."
    )  # fmt: skip
    raise InputError(f"{source} has no column {quoted(name)} to use as {role} column. {has}")


def _from_table(path: str | os.PathLike[str], roles: Roles) -> Specimens:
    source = os.fspath(path)
    written = read_raw(source).columns.column_names
    names = [name.strip() for name in written if name.strip()]
    columns = landmark_columns(names)
    if columns is None:
        raise InputError(
            f"{source} holds no landmarks: it needs columns x1, y1, x2, y2 and so on, all of them "
            f"from 1 to the last. Its columns are {listed(names)}."
        )
    coordinates = [name for row in columns for name in row]
    _check_roles(roles, coordinates, source)
    own_id = roles.id_column if roles.labels is None else None
    others = [name for name in names if name not in coordinates]
    own_id = own_id or _id_among(source, others)
    label = None if roles.has_labels_beside else roles.label_column
    unused = [name for name in others if name not in (own_id, label, roles.group_column)]
    table = read_table(
        path, id_column=own_id, label_column=label, group_column=roles.group_column,
        drop=list(dict.fromkeys([*unused, *roles.drop])), optional=roles.optional,
        keep=coordinates, missing="keep",
    )  # fmt: skip
    ids = table.ids if own_id is not None else table.ids.rename(_ID)
    return Specimens(
        Landmarks(tuple(ids), _points(table, columns), source=source),
        ids,
        table.labels,
        table.groups,
        tuple(columns),
        own_id,
        None if table.labels is None else label,
        tuple(others),
        tuple(name for name in unused if name not in roles.drop),
        table.notes,
    )


def _check_roles(roles: Roles, coordinates: list[str], source: str) -> None:
    given = [roles.id_column, roles.label_column, roles.group_column, *roles.drop]
    taken = [name for name in given if name in coordinates]
    if taken:
        raise InputError(
            f"{quoted(taken[0])} is a coordinate of a landmark of {source}, and alignment needs "
            "all of them. Name another column, or pass raw_coordinates=True to compare the "
            "coordinates as they are."
        )
    _check_keep(roles, source)


def _check_keep(roles: Roles, source: str) -> None:
    if roles.keep:
        raise InputError(
            f"{source} holds landmarks, of which only the shapes are compared; got "
            f"keep={roles.keep[0]!r}. Leave it out, or pass raw_coordinates=True to compare all "
            "columns as they are."
        )


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


def _points(table: Table, columns: Sequence[tuple[str, ...]]) -> Coordinates:
    """Return the landmarks of each row; NaN where one is missing as a whole."""
    for name in (name for row in columns for name in row):
        if not pd.api.types.is_numeric_dtype(table.features[name]):
            raise InputError(
                f"Column {quoted(name)} of {table.source} is a coordinate of a landmark, but its "
                "cells are no numbers. Correct them, or pass raw_coordinates=True to compare the "
                "columns as they are."
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
    return points


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
        found = groups_from_table(
            roles.labels, ids, group_column=roles.label_column, id_column=roles.id_column
        )
        name = roles.label_column
    return pd.Series(found, name=name, dtype=object)


# --- aligning ----------------------------------------------------------------------------------


class _Complete(NamedTuple):
    """Specimens without those that were dropped for missing landmarks."""

    specimens: Specimens
    n_dropped: int
    notes: list[str]


def aligned_specimens(
    specimens: Specimens,
    *,
    missing: str,
    size: bool = False,
    keeps_missing: bool = False,
) -> Table:
    """Align specimens to their consensus, and return them as a table with notes.

    Parameters
    ----------
    specimens : Specimens
        Result of :func:`read_specimens`.
    missing : {"auto", "fill", "drop", "refuse"}
        Missing landmarks: estimated, dropped with their specimens, or an error.
    size : bool
        Add the logarithm of centroid size as one more column.
    keeps_missing : bool
        Return aligned coordinates in which missing landmarks stay missing, for a pipeline that
        begins with another alignment, instead of tangent coordinates.
    """
    whole = _without_missing(specimens, missing)
    kept = whole.specimens
    has_scales = size and not np.isnan(kept.landmarks.scales).any()
    rows = _rows(kept, size=size, has_scales=has_scales)
    alignment = ShapeCoordinates(kept.landmarks.n_dimensions, size).fit(rows)
    reader = LandmarkColumns(alignment, has_scales, kept.id_column, kept.label_column)
    features = alignment.align(rows) if keeps_missing else alignment.transform(rows)
    notes = [_alignment_note(kept, reader), *_unused_note(kept), *whole.notes]
    return _table(whole, features, reader, notes)


def specimens_like(
    specimens: Specimens,
    reader: LandmarkColumns,
    known: str,
    *,
    missing: str,
    keeps_missing: bool = False,
) -> Table:
    """Align new specimens to the consensus of known ones.

    Parameters
    ----------
    specimens : Specimens
        Result of :func:`read_specimens`.
    reader : LandmarkColumns
        The ``reader`` of the known table.
    known : str
        What the known specimens are called in messages, with a verb if need be.
    missing, keeps_missing
        As for :func:`aligned_specimens`.
    """
    whole = _without_missing(specimens, missing)
    landmarks = whole.specimens.landmarks
    layout = landmarks.n_landmarks, landmarks.n_dimensions
    if layout != reader.layout:
        raise InputError(
            f"{specimens.source} holds {_landmarks_text(*layout)}, but {known} "
            f"{_landmarks_text(*reader.layout)}; digitise the same landmarks in the same order."
        )
    alignment = reader.alignment
    rows = _rows(whole.specimens, size=alignment.size, has_scales=reader.has_scales)
    features = alignment.align(rows) if keeps_missing else alignment.transform(rows)
    return _table(whole, features, reader, whole.notes)


def _rows(specimens: Specimens, *, size: bool, has_scales: bool) -> pd.DataFrame:
    """Return coordinates as columns, and the logarithms of the scales if sizes are compared."""
    landmarks = specimens.landmarks
    if has_scales:
        landmarks.in_real_units()  # raises for specimens without a scale
    n_landmarks, n_dimensions = landmarks.coordinates.shape[1:]
    names = [
        f"{axis}{number} (aligned)"
        for number in range(1, n_landmarks + 1)
        for axis in _AXES[:n_dimensions]
    ]
    rows = pd.DataFrame(landmarks.coordinates.reshape(len(landmarks), -1), columns=names)
    if size:
        rows[LOG_SIZE] = np.log(landmarks.scales) if has_scales else 0.0
    return rows


def _table(
    whole: _Complete,
    features: pd.DataFrame,
    reader: LandmarkColumns,
    notes: Sequence[str],
) -> Table:
    specimens = whole.specimens
    return Table(
        features=features,
        ids=specimens.ids,
        labels=specimens.labels,
        source=specimens.source,
        n_dropped=whole.n_dropped,
        columns=(str(specimens.ids.name), *features.columns),
        reader=reader,
        notes=(*specimens.notes, *notes),
        groups=specimens.groups,
    )


# --- missing landmarks ---------------------------------------------------------------------------


def _without_missing(specimens: Specimens, missing: str) -> _Complete:
    """Drop specimens without shape or landmarks, or raise, or say that landmarks are estimated."""
    landmarks = specimens.landmarks
    _check_landmarks(landmarks)
    has_gap = landmarks.is_missing.any(axis=1)
    n_gaps = int(has_gap.sum())
    if missing == "drop" and n_gaps:
        if n_gaps == len(landmarks):
            raise InputError(
                f"Every specimen of {landmarks.source} lacks landmarks; none is left. Estimate "
                "them with missing='auto'."
            )
        kept = _taken(specimens, np.flatnonzero(~has_gap))
        return _Complete(_with_shapes(kept), n_gaps, [])
    if missing == "refuse" and n_gaps:
        lack = plural(n_gaps, "specimen lacks", "specimens lack")
        names = [str(landmarks.ids[row]) for row in np.flatnonzero(has_gap)]
        raise InputError(
            f"{n_gaps:,} {lack} landmarks in {landmarks.source}: {listed(names)}. Estimate them "
            "with missing='auto', or drop such specimens with missing='drop'."
        )
    notes = _estimated_note(landmarks) if n_gaps else []
    return _Complete(_with_shapes(specimens), 0, notes)


def _estimated_note(landmarks: Landmarks) -> list[str]:
    n_missing = int(np.count_nonzero(landmarks.is_missing))
    n_specimens = int(np.count_nonzero(landmarks.is_missing.any(axis=1)))
    are = plural(n_missing, "is", "are")
    return [
        f"{n_missing:,} of {landmarks.is_missing.size:,} landmarks of {landmarks.source} {are} "
        f"missing, in {n_specimens:,} of {quantity(len(landmarks), 'specimen')}; each is estimated "
        "from the others."
    ]


def _taken(specimens: Specimens, rows: NDArray[np.intp]) -> Specimens:
    def picked(column: "pd.Series[Any] | None") -> "pd.Series[Any] | None":
        return None if column is None else column.iloc[rows].reset_index(drop=True)

    return replace(
        specimens,
        landmarks=specimens.landmarks.take(rows),
        ids=specimens.ids.iloc[rows].reset_index(drop=True),
        labels=picked(specimens.labels),
        groups=picked(specimens.groups),
    )


def _check_landmarks(landmarks: Landmarks) -> None:
    least = landmarks.n_dimensions + 1
    if landmarks.n_landmarks < least:
        raise InputError(
            f"The specimens of {landmarks.source} have "
            f"{quantity(landmarks.n_landmarks, 'landmark')} each; to compare shapes takes at least "
            f"{least}."
        )


def _with_shapes(specimens: Specimens) -> Specimens:
    """Return the specimens, or raise if one of them has no shape."""
    shapeless = shapeless_rows(specimens.landmarks.coordinates)
    if len(shapeless):
        name = str(specimens.ids.iloc[int(shapeless[0])])
        raise InputError(
            f"Specimen {quoted(name)} of {specimens.source} has no shape: it has fewer than "
            f"{max(2, specimens.landmarks.n_dimensions)} landmarks, or all of them coincide. "
            "Leave it out."
        )
    return specimens


# --- notes ---------------------------------------------------------------------------------------


def _landmarks_text(n_landmarks: int, n_dimensions: int) -> str:
    return f"{n_landmarks} landmarks in {'three' if n_dimensions == 3 else 'two'} dimensions"


def _alignment_note(specimens: Specimens, reader: LandmarkColumns) -> str:
    """Return what was recognised, what was done about it, and how to do otherwise."""
    n_landmarks, d = reader.layout
    n_columns = n_landmarks * d
    n_free = n_columns - d - 1 - d * (d - 1) // 2
    size = "; size=True adds the size as a column"
    if reader.alignment.size:
        unit = "in real units, by the scales" if reader.has_scales else "in the unit of the file"
        size = f"; the log of centroid size, {unit}, is one more column"
    named, otherwise = "", ""
    if specimens.columns:
        first, last = (", ".join(row) for row in (specimens.columns[0], specimens.columns[-1]))
        named = f" ({first} … {last})"
        otherwise = " Use raw_coordinates=True to compare the coordinates as they are."
    return (
        f"{specimens.source} holds {_landmarks_text(n_landmarks, d)}{named}: specimens are aligned "
        f"(position, size and rotation removed{size}), and {n_columns} tangent coordinates are "
        f"compared, of which {n_free} are independent.{otherwise}"
    )


def _unused_note(specimens: Specimens) -> list[str]:
    if not specimens.unused:
        return []
    columns = plural(len(specimens.unused), "Another column", "Other columns")
    are = plural(len(specimens.unused), "is", "are")
    return [f"{columns} of {specimens.source} {are} not compared: {listed(specimens.unused)}."]
