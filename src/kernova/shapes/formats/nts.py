"""NTS files (also DTA), the matrices of NTSYS-pc: reading and writing landmarks.

A line of parameters ``1 40L 24 0 DIM=2`` announces 40 rows with labels, of 24 numbers each, none of
them missing (else ``1`` and the number that stands for a missing one). Lines that begin with a
quotation mark are comments. Labels and numbers follow, separated by blanks.
"""

import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernova.budget import budget_of
from kernova.errors import InputError, quoted
from kernova.files import replacing
from kernova.shapes.formats.rows import landmarks_of, landmarks_of_rows
from kernova.shapes.landmarks import Landmarks, Negative, coordinate
from kernova.text import quantity
from kernova.textfiles import Line, read_lines

_PARAMETERS = re.compile(
    r"1\s+(\d{1,7})\s*([LBE]?)\s+(\d{1,7})\s*([L]?)\s+([01])(?:\s+([-+.,\deE]{1,30}|NA))?"
    r"(?:\s+DIM\s*=\s*([23]))?",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S+")
_COMMENTS = ('"', "'")
# Bytes of memory that a label takes besides its letters.
_BYTES_PER_LABEL = 100
_MISSING_CODES = (9999, -999, -9999, 99999999)


class _Parameters(NamedTuple):
    n_rows: int
    labels: str  # "L" before the matrix, "B" or "E" at the beginning or end of rows, or ""
    n_columns: int
    has_column_labels: bool
    missing: float | None
    dimensions: int | None


class _Word(NamedTuple):
    line: int
    text: str


def is_parameter_line(text: str) -> bool:
    """Return whether a text is the line of parameters of an NTS file.

    Examples
    --------
    >>> is_parameter_line("1 40L 24 1 -999 DIM=2"), is_parameter_line("1 2 3 4 5 6")
    (True, False)
    """
    return _PARAMETERS.fullmatch(text) is not None


def read_nts(
    path: str | os.PathLike[str], *, dimensions: int | None = None, negative: Negative = "values"
) -> Landmarks:
    r"""Read landmarks from an NTS or DTA file.

    A matrix has one row per specimen; one with 2 or 3 columns has one row per landmark and holds
    one specimen, whose id is the name of the file.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8 or Windows-1252.
    dimensions : int, optional
        Coordinates per landmark where the file has no ``DIM=``. By default 2, or 3 if only that
        divides the number of columns.
    negative : {"values", "missing"}
        Whether a negative coordinate is a value or marks a missing landmark.

    Raises
    ------
    InputError
        If the file cannot be parsed; the message names the line and the row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes.formats.nts import read_nts
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.nts"
    >>> _ = path.write_text('" made up\n1 2L 4 1 -999 DIM=2\na b\n0 0 3 4\n0 0 -999 -999\n')
    >>> two = read_nts(path)
    >>> two.ids, two.coordinates[0].tolist(), two.is_missing.tolist()
    (('a', 'b'), [[0.0, 0.0], [3.0, 4.0]], [[False, False], [False, True]])
    """
    source = os.fspath(path)
    lines = (line for line in read_lines(source) if not line.text.startswith(_COMMENTS))
    first = next(lines, None)
    found = None if first is None else _PARAMETERS.fullmatch(first.text)
    if first is None or found is None:
        got = "nothing" if first is None else quoted(first.text)
        raise InputError(
            f"{source} has no line of parameters such as 1 40L 24 0 DIM=2 (40 specimens with "
            f"labels, 24 numbers each); got {got}. Add it."
        )
    parameters = _parsed(found, source)
    matrix = _Matrix(source, parameters, lines)
    matrix.read()
    rows = np.array(matrix.values).reshape(parameters.n_rows, parameters.n_columns)
    if parameters.missing is not None:
        rows[rows == parameters.missing] = np.nan
    dimensions = parameters.dimensions or dimensions
    if parameters.n_columns in (2, 3) and dimensions in (None, parameters.n_columns):
        return landmarks_of((Path(source).stem,), rows[None], source, negative)
    ids = matrix.labels or [str(k) for k in range(1, len(rows) + 1)]
    return landmarks_of_rows(ids, rows, dimensions, source, negative)


def _parsed(found: re.Match[str], source: str) -> _Parameters:
    rows, labels, columns, column_labels, is_missing, code, dimensions = found.groups()
    missing = coordinate(code) if code and is_missing == "1" else None
    if int(rows) == 0 or int(columns) == 0:
        raise InputError(
            f"{source} announces {rows} rows of {columns} numbers; give at least one of each."
        )
    budget_of(source).check(int(rows) * (8 * int(columns) + bool(labels) * _BYTES_PER_LABEL))
    return _Parameters(
        int(rows),
        labels.upper(),
        int(columns),
        bool(column_labels),
        missing,
        int(dimensions) if dimensions else None,
    )


class _Matrix:
    """Labels and numbers of a matrix, word by word; errors name the line and the row."""

    def __init__(self, source: str, parameters: _Parameters, lines: Iterator[Line]) -> None:
        self.source, self.parameters = source, parameters
        self.words = _words(lines)
        self.labels: list[str] = []
        self.values = array("d")

    def read(self) -> None:
        wanted = self.parameters
        if wanted.labels == "L":
            self.labels = [self.next_word(f"label {k + 1}").text for k in range(wanted.n_rows)]
        if wanted.has_column_labels:
            for k in range(wanted.n_columns):
                self.next_word(f"label {k + 1} of the columns")
        for row in range(1, wanted.n_rows + 1):
            self.read_row(row)
        extra = next(self.words, None)
        if extra is not None:
            raise InputError(
                f"Line {extra.line} of {self.source}: {quoted(extra.text)} follows the last of "
                f"{quantity(wanted.n_rows, 'row')} of {wanted.n_columns} numbers; correct the "
                "line of parameters, or remove it. Labels have no blanks."
            )

    def read_row(self, row: int) -> None:
        labels, n_columns = self.parameters.labels, self.parameters.n_columns
        if labels == "B":
            self.labels.append(self.next_word(f"the label of row {row}").text)
        self.values.extend(self.number(row, column) for column in range(1, n_columns + 1))
        if labels == "E":
            self.labels.append(self.next_word(f"the label of row {row}").text)

    def number(self, row: int, column: int) -> float:
        word = self.next_word(f"number {column} of row {row}")
        value = coordinate(word.text)
        if value is None:
            raise InputError(
                f"Line {word.line} of {self.source} (row {row}): expected number {column} of "
                f"{self.parameters.n_columns}, got {quoted(word.text)}; correct it or the line of "
                "parameters. Labels have no blanks."
            )
        return value

    def next_word(self, what: str) -> _Word:
        word = next(self.words, None)
        if word is None:
            raise InputError(
                f"{self.source} ends before {what} of {self.parameters.n_rows} rows of "
                f"{self.parameters.n_columns} numbers; it is cut short, or its line of parameters "
                "is wrong."
            )
        return word


def _words(lines: Iterator[Line]) -> Iterator[_Word]:
    for line in lines:
        # The whole of a long line is not split: each word would take 60 bytes.
        for found in _WORD.finditer(line.text):
            yield _Word(line.number, found[0])


def write_nts(landmarks: Landmarks, path: str | os.PathLike[str]) -> None:
    r"""Write landmarks to an NTS file, one row per specimen; :func:`read_nts` restores them.

    Numbers are written with all their digits. Blanks in ids become underscores, since labels are
    separated by blanks.

    Parameters
    ----------
    landmarks : Landmarks
        The specimens.
    path : str or path
        The file to write, atomically.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks
    >>> from kernova.shapes.formats.nts import write_nts
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.nts"
    >>> write_nts(Landmarks(("a 1",), np.array([[[0.5, 2.0], [1.0, 3.0]]])), path)
    >>> path.read_text()
    '1 1L 4 0 DIM=2\na_1\n0.5 2.0 1.0 3.0\n'
    """
    rows = landmarks.coordinates.reshape(len(landmarks), -1)
    labels = [_label(name) for name in landmarks.ids]
    if len(set(labels)) < len(labels):
        raise InputError(
            "Two ids are the same with underscores in place of blanks, which labels of NTS files "
            "cannot have. Rename one, or write another format."
        )
    code = next(code for code in (*_MISSING_CODES, np.nan) if not (rows == code).any())
    shown = "NA" if np.isnan(code) else str(code)
    missing = f"1 {shown}" if np.isnan(rows).any() else "0"
    lines = [f"1 {len(rows)}L {rows.shape[1]} {missing} DIM={landmarks.n_dimensions}", *labels]
    lines += [
        " ".join(shown if np.isnan(number) else repr(number) for number in row)
        for row in rows.tolist()
    ]
    with replacing(path) as scratch:
        scratch.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _label(name: str) -> str:
    label = "_".join(name.split())
    # A line that begins with a quotation mark would be read as a comment.
    return label if not label.startswith(_COMMENTS) else f"_{label}"
