"""Rows of coordinates without names of landmarks, as in the text files of MorphoJ.

What other readers need too is here: making landmarks of the numbers of a file, with its checks.
"""

import csv
import os
import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from kernova.budget import budget_of
from kernova.errors import InputError, quoted
from kernova.shapes.landmarks import Landmarks, Negative, coordinate
from kernova.shapes.wide_tables import LandmarkTable
from kernova.text import listed
from kernova.textfiles import Line, read_lines
from kernova.typing import Coordinates, Matrix

# Three landmarks in the plane.
_FEWEST_NUMBERS = 6
_NUMBERED = re.compile(r"(.*?)([0-9]{1,6})")
# Bytes of memory that a row takes besides its numbers, and a cell while a row is split.
_BYTES_PER_ROW = 500
_BYTES_PER_CELL = 60


class Layout(NamedTuple):
    """How a file of rows is divided: its separator, its header and its columns before numbers."""

    separator: str | None  # None for blanks
    names: list[str]  # of the columns before the coordinates; empty if there is no header
    n_before: int  # the number of these columns; the first holds the ids
    has_header: bool


def read_coordinate_rows(
    path: str | os.PathLike[str], *, dimensions: int | None = None, negative: Negative = "values"
) -> LandmarkTable:
    r"""Read landmarks from rows of an id and coordinates x1 y1 x2 y2 ..., as used by MorphoJ.

    Columns are separated by tabs, commas, semicolons or blanks. A header is optional; its names
    of coordinates are one text with consecutive numbers, such as RawCoord1, RawCoord2. Columns
    between the id and the coordinates are kept as text.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8 or Windows-1252.
    dimensions : int, optional
        Coordinates per landmark, 2 or 3. By default 2, or 3 if only that divides their number.
    negative : {"values", "missing"}
        Whether a negative coordinate is a value or marks a missing landmark.

    Raises
    ------
    InputError
        If rows differ in their number of coordinates, or one is not a number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes.formats.rows import read_coordinate_rows
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wings.txt"
    >>> _ = path.write_text("fly 1\t0\t0\t4\t0\t4\t3\nfly 2\t0\t0\t5\t0\t5\t3\n")
    >>> wings = read_coordinate_rows(path).landmarks
    >>> wings.ids, wings.coordinates[1].tolist()
    (('fly 1', 'fly 2'), [[0.0, 0.0], [5.0, 0.0], [5.0, 3.0]])
    """
    source = os.fspath(path)
    lines = read_lines(source)
    first = next(lines, None)
    if first is not None:
        _check_length(first.text, source)
    layout = None if first is None else layout_of(first.text, dimensions)
    if first is None or layout is None:
        raise InputError(
            f"{source} has no rows of coordinates; a row has an id and {_FEWEST_NUMBERS} or more "
            "numbers, in the order x1 y1 x2 y2."
        )
    reader = _Rows(source, layout)
    if not layout.has_header:
        reader.take(first)
    for line in lines:
        reader.take(line)
    if not reader.before:
        raise InputError(f"{source} has column names but no rows; add at least one row.")
    ids = tuple(row[0] if row else str(k) for k, row in enumerate(reader.before, 1))
    landmarks = landmarks_of_rows(ids, reader.numbers(), dimensions, source, negative)
    names = layout.names[1:] or [f"column {k}" for k in range(2, layout.n_before + 1)]
    others = pd.DataFrame([row[1:] for row in reader.before], columns=names, index=list(ids))
    return LandmarkTable(landmarks, others.astype(object))


def layout_of(first_line: str, dimensions: int | None = None) -> Layout | None:
    """Return how the rows of a file are divided, None if these are not rows of coordinates.

    Examples
    --------
    >>> layout_of("ID,Coord1,Coord2,Coord3,Coord4,Coord5,Coord6").n_before
    1
    >>> layout_of("id,sex,length,width,depth,mass,age") is None
    True
    """
    separator = next((mark for mark in "\t;," if mark in first_line), None)
    cells = _cells(first_line, separator)
    # An empty cell is a missing coordinate.
    is_number = [cell == "" or coordinate(cell) is not None for cell in cells]
    n_last = next((k for k, is_one in enumerate(reversed(is_number)) if not is_one), len(cells))
    if n_last == len(cells):  # an id may be a number, too
        n_last -= (len(cells) - 1) % (dimensions or 2) == 0
    if n_last >= _FEWEST_NUMBERS and len(cells) - n_last <= 1:
        return Layout(separator, [], len(cells) - n_last, has_header=False)
    n_named = _n_numbered(cells) if cells else 0
    if n_named < _FEWEST_NUMBERS or n_named == len(cells):
        return None
    before = cells[: len(cells) - n_named]
    return Layout(separator, before, len(before), has_header=True)


def _cells(text: str, separator: str | None) -> list[str]:
    if '"' not in text:
        return [cell.strip() for cell in text.split(separator)]
    try:
        return [cell.strip() for cell in next(csv.reader([text], delimiter=separator or " "))]
    except csv.Error:  # a cell of more than 100,000 letters
        return [text]


def _check_length(text: str, source: str) -> None:
    """Raise if the cells of a line would take too much memory."""
    n_cells = max(text.count(mark) for mark in "\t;, ") + 1
    budget_of(source).check(n_cells * _BYTES_PER_CELL)


def _n_numbered(names: list[str]) -> int:
    """Return how many names at the end are one text with consecutive numbers from 1."""
    count, stem = 0, None
    found = _NUMBERED.fullmatch(names[-1])
    last = int(found[2]) if found else 0
    for k, name in enumerate(reversed(names)):
        found = _NUMBERED.fullmatch(name)
        if not found or int(found[2]) != last - k or stem not in (None, found[1]) or last == k:
            break
        stem, count = found[1], k + 1
    return count if count == last else 0


class _Rows:
    """Rows read so far; their errors name the line."""

    def __init__(self, source: str, layout: Layout) -> None:
        self.source, self.layout = source, layout
        self.budget = budget_of(source)
        self.before: list[list[str]] = []
        self.values = array("d")
        self.n_numbers = 0

    def take(self, line: Line) -> None:
        _check_length(line.text, self.source)
        cells = _cells(line.text, self.layout.separator)
        n_before = self.layout.n_before
        self.before.append(cells[:n_before])
        self.budget.check(len(self.before) * _BYTES_PER_ROW)
        numbers = cells[n_before:]
        if len(self.before) == 1:
            self.n_numbers = len(numbers)
        if len(numbers) != self.n_numbers:
            raise InputError(
                f"Line {line.number} of {self.source} has {len(numbers)} coordinates, the first "
                f"row {self.n_numbers}; give all specimens the same landmarks, NA for a missing "
                "coordinate."
            )
        for number, cell in enumerate(numbers, 1):
            value = np.nan if cell == "" else coordinate(cell)
            if value is None:
                raise InputError(
                    f"Line {line.number} of {self.source} has {quoted(cell)} as coordinate "
                    f"{number}, which is not a number; correct it."
                )
            self.values.append(value)

    def numbers(self) -> Matrix:
        return np.array(self.values, dtype=np.float64).reshape(len(self.before), self.n_numbers)


# --- landmarks from the numbers of a file ---------------------------------------------------------


def landmarks_of_rows(
    ids: Sequence[str],
    rows: Matrix,
    dimensions: int | None,
    source: str,
    negative: Negative = "values",
) -> Landmarks:
    """Return landmarks from rows [x1 y1 x2 y2 ...]; a note says if the dimension was guessed."""
    n_numbers = rows.shape[1]
    notes: tuple[str, ...] = ()
    if dimensions is None:
        dimensions = 3 if n_numbers % 3 == 0 and n_numbers % 2 else 2
        notes = guessed_dimension(n_numbers, source)
    if dimensions not in (2, 3) or n_numbers % dimensions:
        advice = "complete the rows" if dimensions in (2, 3) else "set dimensions to 2 or 3"
        raise InputError(
            f"{source} has {n_numbers} numbers per specimen, which are not landmarks of "
            f"{quoted(dimensions)} coordinates each; {advice}."
        )
    return landmarks_of(ids, rows.reshape(len(rows), -1, dimensions), source, negative, notes)


def guessed_dimension(n_numbers: int, source: str) -> tuple[str, ...]:
    """Note that numbers were read as landmarks in the plane, if they may be landmarks in space."""
    if n_numbers % 6:
        return ()
    return (
        f"The {n_numbers} numbers of a specimen of {source} were read as {n_numbers // 2} "
        f"landmarks in the plane. If they are {n_numbers // 3} in space, pass dimensions=3.",
    )


def landmarks_of(
    ids: Sequence[str],
    points: Coordinates,
    source: str,
    negative: Negative = "values",
    notes: tuple[str, ...] = (),
) -> Landmarks:
    """Return checked landmarks; errors name the file, the specimen and the landmark."""
    _check_ids(ids, source)
    is_missing = np.isnan(points)
    is_half = is_missing.any(axis=2) & ~is_missing.all(axis=2)
    if is_half.any():
        row, landmark = np.argwhere(is_half)[0].tolist()
        raise InputError(
            f"Landmark {landmark + 1} of specimen {quoted(ids[row])} of {source} is half missing: "
            f"{points[row, landmark].tolist()}; give all its coordinates, or none."
        )
    if negative == "missing":
        points = np.where((points < 0).any(axis=2, keepdims=True), np.nan, points)
    return Landmarks(tuple(ids), points, source=source, notes=notes)


def _check_ids(ids: Sequence[str], source: str) -> None:
    first: dict[str, int] = {}
    for row, name in enumerate(ids, 1):
        if not name:
            raise InputError(f"Specimen {row} of {source} has no id; give it one.")
        if first.setdefault(name, row) != row:
            raise InputError(
                f"Specimens {first[name]} and {row} of {source} have the same id {quoted(name)}; "
                f"ids must differ. The first ids are {listed(ids[:3])}."
            )
