"""Reading landmarks from a file of any format, and the groups that the file itself names."""

import csv
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from kernova.errors import InputError, quoted
from kernova.shapes.column_names import columns_of_coordinates
from kernova.shapes.formats.morphologika import is_section, read_morphologika
from kernova.shapes.formats.nts import is_parameter_line, read_nts
from kernova.shapes.formats.rows import layout_of, read_coordinate_rows
from kernova.shapes.landmarks import Landmarks, Negative, check_negative, coordinate
from kernova.shapes.tps import IdsFrom, read_tps, variables_of
from kernova.shapes.wide_tables import (
    check_column,
    groups_from_table,
    landmark_columns,
    read_landmark_table,
)
from kernova.text import listed, quantity
from kernova.textfiles import open_file

Format = Literal["tps", "nts", "morphologika", "rows", "table"]

# Formats by suffix alone; a DTA file may also be one of Stata.
_SUFFIXES: dict[str, Format] = {".tps": "tps", ".nts": "nts"}
_TEXTS = frozenset({".csv", ".tsv", ".txt", ".dat", ".dta", ".asc", ""})
_FIRST_TPS_LINE = re.compile(r"LM3?\s*=.*", re.IGNORECASE)
# No line of a landmark file is longer, and a whole table need not be read to see its first ones.
_SNIFFED = 1 << 16
# Three landmarks in the plane, after an id and perhaps a group and another text.
_FEWEST_VALUES, _MOST_TEXTS = 6, 3


class Specimens(NamedTuple):
    """Specimens, and what else their file says of each, if anything."""

    landmarks: Landmarks
    # Variables, labels, groups or other columns, with the ids as index; None if there are none.
    others: pd.DataFrame | None


def read_landmarks(
    path: str | os.PathLike[str],
    *,
    negative: Negative = "values",
    ids_from: IdsFrom = "auto",
    id_column: str | None = None,
    dimensions: int | None = None,
) -> Specimens:
    r"""Read landmarks from a file; its suffix and its content tell the format.

    Formats are TPS (:func:`~kernova.shapes.read_tps`), NTS and DTA of NTSYS-pc, Morphologika, rows
    of an id and coordinates as in MorphoJ, and wide tables with columns ``x1``, ``y1`` and so on
    (:func:`~kernova.shapes.read_landmark_table`).

    Parameters
    ----------
    path : str or path
        The file.
    negative : {"values", "missing"}
        Whether a negative coordinate is a value or marks a missing landmark.
    ids_from : {"auto", "id", "image", "number"}
        The source of the ids of a TPS file.
    id_column : str, optional
        The column of ids of a wide table.
    dimensions : int, optional
        Coordinates per landmark, where neither the format nor the file tells: in rows of
        coordinates, and in NTS files without ``DIM=``.

    Returns
    -------
    Specimens
        The landmarks, and as columns what else the file says: VARIABLES of TPS files, labels and
        groups of Morphologika files, other columns of tables. ``landmarks.notes`` says what was
        skipped or assumed.

    Raises
    ------
    InputError
        If the file is in none of the formats, or cannot be parsed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes import read_landmarks
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fish.tps"
    >>> _ = path.write_text("LM=3\n0 0\n4 0\n1 1\nID=a\nVARIABLES=sex=F\n")
    >>> landmarks, others = read_landmarks(path)
    >>> landmarks.ids, landmarks.n_landmarks, others["sex"].to_list()
    (('a',), 3, ['F'])
    """
    check_negative(negative)
    kind = landmark_format(path)
    if kind == "tps":
        landmarks = read_tps(path, negative=negative, ids_from=ids_from)
        _check_digitised(landmarks)
        return Specimens(landmarks, variables_of(landmarks))
    if kind == "nts":
        return Specimens(read_nts(path, dimensions=dimensions, negative=negative), None)
    if kind == "morphologika":
        found = read_morphologika(path, negative=negative)
    elif kind == "rows":
        found = read_coordinate_rows(path, dimensions=dimensions, negative=negative)
    else:
        table = read_landmark_table(path, id_column=id_column, negative=negative)
        return Specimens(table.landmarks, table.others)
    return Specimens(found.landmarks, found.others if len(found.others.columns) else None)


def _check_digitised(landmarks: Landmarks) -> None:
    if not (landmarks.n_landmarks or any(landmarks.curves) or any(landmarks.outlines)):
        raise InputError(
            f"{landmarks.source} has {quantity(len(landmarks), 'specimen')}, but neither landmarks "
            "(LM=0) nor curves: nothing was digitised. Digitise the images, or name another file."
        )


def landmark_format(path: str | os.PathLike[str]) -> Format:
    """Format of a landmark file, by its suffix and its first line.

    Returns
    -------
    {"tps", "nts", "morphologika", "rows", "table"}
        ``"table"`` for a wide table and for anything that is not recognised.
    """
    suffix = Path(path).suffix.lower()
    if suffix in _SUFFIXES or suffix not in _TEXTS:
        return _SUFFIXES.get(suffix, "table")
    first = _first_line(path)
    if _FIRST_TPS_LINE.fullmatch(first):
        return "tps"
    if is_section(first):
        return "morphologika"
    if is_parameter_line(first):
        return "nts"
    is_wide = landmark_columns(_header(first)) is not None
    return "rows" if not is_wide and layout_of(first) is not None else "table"


def is_landmark_file(path: str | os.PathLike[str]) -> bool:
    r"""Whether a file holds landmarks rather than an ordinary table, by its suffix and first line.

    Rows of numbers without names may be anything and do not count, unless a header calls them
    coordinates, such as ``RawCoord1`` of MorphoJ; nor do files that cannot be opened.
    For a table that is not text, see :func:`~kernova.shapes.landmark_columns`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes import is_landmark_file
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wings.csv"
    >>> _ = path.write_text("id,x1,y1,x2,y2,x3,y3\n")
    >>> is_landmark_file(path)
    True
    """
    try:
        kind = landmark_format(path)
        if kind in ("table", "rows") and Path(path).suffix.lower() in _TEXTS:
            first = _first_line(path)
            is_named = columns_of_coordinates(_names(first)) is not None
            return is_named or landmark_columns(_header(first)) is not None
    except InputError:
        return False
    return kind in ("tps", "nts", "morphologika")


def values_as_header(path: str | os.PathLike[str]) -> list[str]:
    """Cells of the first line of a text file that are values although names are expected there.

    Names may be numbers, too, such as those of pixels or wavelengths, which rise or fall; values
    do neither, and at least one of them is no whole number. Empty if the first line has names.
    """
    if Path(path).suffix.lower() not in _TEXTS:
        return []
    try:
        cells = _names(_first_line(path))
    except InputError:
        return []
    numbers = [coordinate(cell) for cell in cells]
    while numbers and numbers[0] is None:
        numbers = numbers[1:]
    values = [number for number in numbers if number is not None]
    is_whole = all(float(value).is_integer() for value in values)
    if len(values) < len(numbers) or len(values) < _FEWEST_VALUES or is_whole:
        return []
    steps = {later > earlier for earlier, later in pairwise(values[len(values) > _FEWEST_VALUES :])}
    is_header = len(cells) - len(values) > _MOST_TEXTS or len(steps) == 1
    return [] if is_header else cells


def groups_from_column(
    specimens: Specimens, column: str, *, id_column: str | None = None
) -> tuple[str, ...]:
    """Group of each specimen, from a column that its own file has.

    Parameters
    ----------
    specimens : Specimens
        As read by :func:`read_landmarks`.
    column : str
        A variable of a TPS file, a label or the groups of a Morphologika file, or a column of a
        table. Groups are text as written.
    id_column : str, optional
        The column of ids of a wide table, as given to :func:`read_landmarks`.

    Raises
    ------
    InputError
        If there is no such column, or a specimen has no entry in it.
    """
    landmarks, others = specimens
    source = landmarks.source
    if others is None:
        raise InputError(
            f"{source} has landmarks only and no column {quoted(column)}; give the groups in a "
            "table, or by a pattern in the ids."
        )
    check_column(column, [str(name) for name in others.columns], "group", source)
    if landmark_format(source) == "table":
        # The table is read again so that groups stay text as written.
        return groups_from_table(source, landmarks.ids, group_column=column, id_column=id_column)
    values = ["" if value is None else str(value).strip() for value in others[column]]
    without = [name for name, value in zip(landmarks.ids, values, strict=True) if not value]
    if without:
        raise InputError(
            f"{len(without)} of {len(values)} specimens of {source} have no {quoted(column)}: "
            f"{listed(without)}; give them one, or leave them out."
        )
    return tuple(values)


def _first_line(path: str | os.PathLike[str]) -> str:
    """Return the first line that is neither blank nor a comment of an NTS file."""
    with open_file(os.fspath(path) or ".") as stream:
        text = stream.read(_SNIFFED).removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    lines = [line.strip() for line in re.split("[\r\n]+", text) if line.strip()]
    if not lines:
        return ""
    # A header of quoted names begins with a quotation mark, too.
    is_after_comments = lines[0][0] in "\"'" and not landmark_columns(_header(lines[0]))
    after = [line for line in lines if line[0] not in "\"'"]
    if is_after_comments and after and is_parameter_line(after[0]):
        return after[0]
    if lines[0][0] == "'" and after and is_section(after[0]):
        return after[0]
    return lines[0]


def _names(line: str) -> list[str]:
    """Return the cells of a line, which blanks may separate as well."""
    marks = [mark for mark in "\t;," if mark in line]
    return [cell.strip() for cell in (_header(line) if marks else line.split())]


def _header(line: str) -> list[str]:
    separator = next((mark for mark in "\t;," if mark in line), ",")
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []
