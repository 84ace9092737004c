"""Tables of specimens: landmarks in columns x1, y1, x2, y2 and so on, and the groups by id."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernova.errors import InputError, quoted, shortened
from kernova.shapes.column_names import columns_by_landmark, coordinate_of
from kernova.shapes.landmarks import Landmarks, Negative, check_negative, coordinate
from kernova.tables.formats import read_raw
from kernova.text import listed
from kernova.typing import Coordinates

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_LONGEST_MATCHED = 1000
_MATCHING_SECONDS = 5
# Nothing else can interrupt a search: in a thread it would run on.
_SEARCH = """
import json, re, sys
pattern, texts = json.load(sys.stdin)
found = [re.search(pattern, text) for text in texts]
json.dump([match[1] or "" if match else "" for match in found], sys.stdout)
"""


class LandmarkTable(NamedTuple):
    """The landmarks of a table, and its other columns row by row."""

    landmarks: Landmarks  # the specimens in the order of the rows
    # The columns that are neither ids nor coordinates, with the ids as index.
    others: "pd.DataFrame"


def read_landmark_table(
    path: str | os.PathLike[str], *, id_column: str | None = None, negative: Negative = "values"
) -> LandmarkTable:
    r"""Read landmarks from a wide table.

    The columns of coordinates are found by their names: ``x1``, ``y1`` (and ``z1``), also
    ``X_1``, ``x[1]``, ``1.X`` or ``LM1_x``, numbered from 1 or 0, or ``nasion_x`` and so on. All
    landmarks from the first to the last must be there. An empty cell, or ``NA``, is a missing
    coordinate; a landmark must be missing as a whole. Decimal commas are allowed in tables
    separated by semicolons.

    Parameters
    ----------
    path : str or path
        The file, in any format of :func:`kernova.read_table`.
    id_column : str, optional
        The column of ids. By default the one named ``id`` (in any case), or else the first
        column; if that is a coordinate, specimens are numbered from ``"1"``.
    negative : {"values", "missing"}
        Whether a negative coordinate is a value or marks a missing landmark.

    Raises
    ------
    InputError
        If landmarks or ids are invalid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes import read_landmark_table
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "fish.csv").write_text("id,tribe,x1,y1,x2,y2\n007,Ectodini,0,0,3,4\n")
    >>> landmarks, others = read_landmark_table(folder / "fish.csv")
    >>> landmarks.ids, landmarks.coordinates.tolist(), others["tribe"].to_list()
    (('007',), [[[0.0, 0.0], [3.0, 4.0]]], ['Ectodini'])
    """
    check_negative(negative)
    source = os.fspath(path)
    id_column = id_column_in(source, id_column)
    table = read_raw(source, id_column).columns
    if table.num_rows == 0:
        raise InputError(f"{source} has column names but no rows; add at least one row.")
    ids = ids_of(table, id_column)
    _check_ids(ids, id_column, source)
    columns = _coordinate_columns(table.column_names, id_column, source)
    points = _points(table, columns, ids, source)
    _check_not_half_missing(points, columns, ids, source)
    if negative == "missing":
        points[(points < 0).any(axis=2)] = np.nan
    used = {name for row in columns for name in row} | {id_column}
    others = table.select([name for name in table.column_names if name not in used]).to_pandas()
    return LandmarkTable(Landmarks(ids, points, source=source), others.set_axis(list(ids)))


def landmark_columns(columns: Sequence[str]) -> list[tuple[str, ...]] | None:
    """Columns of raw landmarks among the columns of a table, None if it is an ordinary table.

    Parameters
    ----------
    columns : sequence of str
        The names of all columns, in any order.

    Returns
    -------
    list of tuple of str, or None
        For each landmark the names of its columns: x, y, and z if there is one. None unless the
        columns give three or more landmarks, all of them from 0 or 1 to the last, or with names
        such as ``nasion_x``, with no coordinate absent or twice.

    Examples
    --------
    >>> from kernova.shapes import landmark_columns
    >>> landmark_columns(["id", "x1", "y1", "x2", "y2", "x3", "y3"])
    [('x1', 'y1'), ('x2', 'y2'), ('x3', 'y3')]
    >>> landmark_columns(["id", "x1", "x2", "x3"]) is None
    True
    """
    return columns_by_landmark([str(name) for name in columns])


def id_column_in(source: str, wanted: str | None) -> str | None:
    """Return the id column of a file; None if there is none."""
    names = read_raw(source).columns.column_names
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise InputError(f"{source} has two columns named {quoted(twice)}; rename one.")
    if wanted is not None:
        check_column(wanted, names, "id", source)
        return wanted
    called_id = [name for name in names if name.strip().lower() == "id"]
    if called_id:
        return called_id[0]
    coordinates = {name for row in columns_by_landmark(names, 1) or () for name in row}
    return None if names[0] in coordinates or coordinate_of(names[0]) else names[0]


def check_column(name: str, names: list[str], role: str, source: str) -> None:
    """Raise if the file has no column of this name."""
    if name not in names:
        raise InputError(
            f"{source} has no column {quoted(name)} to use as {role} column. Its columns are "
            f"{listed(names)}."
        )


def ids_of(table: "pa.Table", id_column: str | None) -> tuple[str, ...]:
    """Return the id of every row as text without outer blanks, empty where there is none."""
    if id_column is None:
        return tuple(str(number) for number in range(1, table.num_rows + 1))
    values = table[id_column].to_pylist()
    return tuple("" if value is None else str(value).strip() for value in values)


def _check_ids(ids: tuple[str, ...], id_column: str | None, source: str) -> None:
    first_row: dict[str, int] = {}
    for row, name in enumerate(ids, 1):
        if not name:
            raise InputError(
                f"Row {row} of {source} has no id in column {quoted(id_column)}; give it one."
            )
        if first_row.setdefault(name, row) != row:
            raise InputError(
                f"Rows {first_row[name]} and {row} of {source} have the same id {quoted(name)} in "
                f"column {quoted(id_column)}; ids must differ."
            )


def _coordinate_columns(
    names: list[str], id_column: str | None, source: str
) -> list[tuple[str, ...]]:
    """Return the column names of each landmark: x, y, and z if there is one."""
    others = [name for name in names if name != id_column]
    if rows := columns_by_landmark(others, 1):
        return rows
    found: dict[tuple[str, int], str] = {}
    for name in others:
        coordinate = coordinate_of(name)
        if coordinate is None:
            continue
        landmark = coordinate.axis, int(coordinate.label)
        if landmark in found:
            raise InputError(
                f"Columns {quoted(found[landmark])} and {quoted(name)} of {source} are both the "
                f"{landmark[0]} of landmark {landmark[1]}; rename one."
            )
        found[landmark] = name
    if not found:
        raise InputError(
            f"{source} has no columns of coordinates; name them x1, y1, x2, y2 and so on. Its "
            f"columns are {listed(names)}."
        )
    raise _absent(found, source)


def _absent(found: dict[tuple[str, int], str], source: str) -> InputError:
    """Return the error that names the first coordinate that is absent."""
    axes = "xyz" if any(axis == "z" for axis, _ in found) else "xy"
    first, last = min(1, *(number for _, number in found)), max(number for _, number in found)
    absent = next(
        f"{axis}{number}"
        for number in range(first, last + 1)
        for axis in axes
        if (axis, number) not in found
    )
    return InputError(
        f"{source} has no column {absent}, but landmarks up to {last} with {', '.join(axes)}; "
        "add it, or rename the columns."
    )


def _points(
    table: "pa.Table", columns: list[tuple[str, ...]], ids: tuple[str, ...], source: str
) -> Coordinates:
    points = np.empty((len(ids), len(columns), len(columns[0])))
    for landmark, names in enumerate(columns):
        for axis, name in enumerate(names):
            for row, value in enumerate(table[name].to_pylist()):
                number = np.nan if value is None else coordinate(str(value).strip())
                if number is None:
                    raise InputError(
                        f"Row {row + 1} of {source} (specimen {quoted(ids[row])}) has "
                        f"{quoted(str(value))} in column {quoted(name)}, which is not a "
                        "coordinate; correct it."
                    )
                points[row, landmark, axis] = number
    return points


def _check_not_half_missing(
    points: Coordinates, columns: list[tuple[str, ...]], ids: tuple[str, ...], source: str
) -> None:
    is_missing = np.isnan(points)
    is_half = is_missing.any(axis=2) & ~is_missing.all(axis=2)
    if is_half.any():
        row, landmark = np.argwhere(is_half)[0].tolist()
        raise InputError(
            f"Row {row + 1} of {source} (specimen {quoted(ids[row])}) has only some of the columns "
            f"{listed(columns[landmark])} of landmark {landmark + 1}; fill in all of them or none."
        )


# --- groups of specimens, from a table by id or from a part of their ids -------------------------


def groups_from_table(
    path: str | os.PathLike[str],
    ids: Sequence[str],
    *,
    group_column: str,
    id_column: str | None = None,
) -> tuple[str, ...]:
    r"""Look up the group of each specimen in a table.

    Ids and groups are text, exactly as written except for outer blanks: ``007`` is not ``7``. The
    table may have further rows and columns.

    Parameters
    ----------
    path : str or path
        The file, in any format of :func:`kernova.read_table`.
    ids : sequence of str
        The specimens.
    group_column : str
        The column of groups.
    id_column : str, optional
        The column of specimen ids. By default the one named ``id``, or else the first column.

    Returns
    -------
    tuple of str
        One group per specimen.

    Raises
    ------
    InputError
        If specimens are not in the table, have no group there, or have two.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes import groups_from_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "groups.csv"
    >>> _ = path.write_text("id,tribe\n007,Ectodini\n008,Tropheini\n")
    >>> groups_from_table(path, ["008", "007"], group_column="tribe")
    ('Tropheini', 'Ectodini')
    """
    source = os.fspath(path)
    id_column = id_column_in(source, id_column)
    check_column(group_column, read_raw(source).columns.column_names, "group", source)
    # Only the column that is asked for by name stays text as written, so the file is read twice.
    rows = ids_of(read_raw(source, id_column).columns, id_column)
    groups = ids_of(read_raw(source, group_column).columns, group_column)
    group_of = _one_group_each(rows, groups, source)
    absent = [name for name in ids if name not in group_of]
    if absent:
        first = f"Its first id is {quoted(next(iter(group_of)))}" if group_of else "It has no ids"
        raise InputError(
            f"{len(absent)} of {len(ids)} specimens are not in column {quoted(id_column)} of "
            f"{source}: {listed(absent)}. {first}; ids must be the same text."
        )
    without = [name for name in ids if not group_of[name]]
    if without:
        raise InputError(
            f"{len(without)} of {len(ids)} specimens have no entry in column "
            f"{quoted(group_column)} of {source}: {listed(without)}; give them a group, or leave "
            "them out."
        )
    return tuple(group_of[name] for name in ids)


def groups_from_pattern(pattern: str, texts: Sequence[str]) -> tuple[str, ...]:
    r"""Return the group of each specimen, taken from its id or its image's name.

    Parameters
    ----------
    pattern : str
        A regular expression with one part in parentheses, the group; it may match anywhere in
        the text.
    texts : sequence of str
        The ids, or the images.

    Returns
    -------
    tuple of str
        One group per text.

    Raises
    ------
    InputError
        If the pattern is not such an expression, takes more than 5 s, or some texts do not match
        it.

    Examples
    --------
    >>> from kernova.shapes import groups_from_pattern
    >>> groups_from_pattern("_(sxt|ltr)_", ["035_EXP_sxt_M.JPG", "138_SHL_ltr_H.JPG"])
    ('sxt', 'ltr')
    """
    _check_lengths(pattern, texts)
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"The pattern {quoted(pattern)} is not a regular expression: {shortened(error)}; "
            "correct it."
        ) from error
    if expression.groups != 1:
        raise InputError(
            f"The pattern {quoted(pattern)} has {expression.groups} parts in parentheses; put the "
            "group in parentheses, as in '_(.+)_', and mark any others by (?:...)."
        )
    groups = _found_groups(pattern, texts)
    unmatched = [text for text, group in zip(texts, groups, strict=True) if not group]
    if unmatched:
        raise InputError(
            f"The pattern {quoted(pattern)} finds no group in {len(unmatched)} of {len(texts)} "
            f"texts: {listed(unmatched)}; widen it, or leave these specimens out."
        )
    return tuple(groups)


def _found_groups(pattern: str, texts: Sequence[str]) -> list[str]:
    """Search each text in a process of its own, which is ended if it takes too long."""
    try:
        searched = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _SEARCH],
            input=json.dumps([pattern, list(texts)]),
            stdout=subprocess.PIPE,
            timeout=_MATCHING_SECONDS,
            check=True,
            text=True,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"The pattern {quoted(pattern)} takes more than {_MATCHING_SECONDS} s, since its "
            "repeats can share a text in too many ways; keep a repeat from giving letters back, "
            "as in 'a++', or give a table of groups."
        ) from error
    return [str(group) for group in json.loads(searched.stdout)]


def _check_lengths(pattern: str, texts: Sequence[str]) -> None:
    # A pattern may take time that grows with the square of the length of a text.
    longest = max([pattern, *texts], key=len)
    if len(longest) > _LONGEST_MATCHED:
        what = "pattern" if longest is pattern else "text"
        raise InputError(
            f"A {what} of {len(longest):,} characters, {quoted(longest)}, is too long for groups "
            f"from a pattern; the limit is {_LONGEST_MATCHED:,}. Give a table of groups instead."
        )


def _one_group_each(rows: Sequence[str], groups: Sequence[str], source: str) -> dict[str, str]:
    group_of: dict[str, str] = {}
    for name, group in zip(rows, groups, strict=True):
        # Spreadsheets leave empty rows below the last one.
        if name and group_of.setdefault(name, group) != group:
            raise InputError(
                f"{source} puts specimen {quoted(name)} into both {quoted(group_of[name])} and "
                f"{quoted(group)}; keep one of the rows."
            )
    return group_of
