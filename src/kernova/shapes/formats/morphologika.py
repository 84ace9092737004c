"""Morphologika files: text in sections such as [individuals], [names] and [rawpoints]."""

import os
import re
from array import array
from typing import NamedTuple

import numpy as np
import pandas as pd

from kernova.budget import budget_of
from kernova.errors import InputError, quoted, shortened
from kernova.shapes.formats.rows import landmarks_of
from kernova.shapes.landmarks import Negative, coordinate
from kernova.shapes.wide_tables import LandmarkTable
from kernova.textfiles import Line, read_lines
from kernova.typing import Coordinates

_SECTION = re.compile(r"\[\s*([A-Za-z ]{1,40}?)\s*\]")
_COUNTS = ("individuals", "landmarks", "dimensions")
# Sections of pictures, which are not read.
_DRAWING = frozenset({"wireframe", "polygons", "wireframes", "polygon", "links"})
_KNOWN = frozenset({*_COUNTS, "names", "labels", "labelvalues", "groups", "rawpoints"})
# Bytes of memory that a line takes, and a letter of a line that is split into short words.
_BYTES_PER_LINE, _BYTES_PER_LETTER = 300, 30
_SPLIT = frozenset({"labels", "labelvalues", "groups"})
_LARGEST_COUNT = 10**7


class _Counts(NamedTuple):
    individuals: int
    landmarks: int
    dimensions: int


def is_section(text: str) -> bool:
    """Return whether a line is the head of a section of Morphologika files.

    Examples
    --------
    >>> is_section("[individuals]"), is_section("[options]")
    (True, False)
    """
    found = _SECTION.fullmatch(text)
    return found is not None and found[1].lower() in _KNOWN | _DRAWING


def read_morphologika(
    path: str | os.PathLike[str], *, negative: Negative = "values"
) -> LandmarkTable:
    r"""Read landmarks, labels and groups from a Morphologika file.

    Sections may stand in any order. ``[individuals]``, ``[landmarks]``, ``[dimensions]`` and
    ``[rawpoints]`` are required. ``[labels]`` names the columns of ``[labelvalues]``;
    ``[groups]`` holds names and sizes of groups in the order of the specimens. Wireframes and
    polygons are not read. A line that begins with an apostrophe is a comment.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8 or Windows-1252.
    negative : {"values", "missing"}
        Whether a negative coordinate is a value or marks a missing landmark.

    Returns
    -------
    LandmarkTable
        The landmarks, and labels and groups as columns of text.

    Raises
    ------
    InputError
        If the file cannot be parsed; the message names the line and the section.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes.formats.morphologika import read_morphologika
    >>> text = "[individuals]\n1\n[landmarks]\n2\n[dimensions]\n2\n[names]\nskull 1\n"
    >>> text += "[labels]\nsex\n[labelvalues]\nF\n[rawpoints]\n'#1\n0 0\n3 4\n"
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "skulls.txt"
    >>> _ = path.write_text(text)
    >>> landmarks, others = read_morphologika(path)
    >>> landmarks.ids, landmarks.coordinates.tolist(), others["sex"].to_list()
    (('skull 1',), [[[0.0, 0.0], [3.0, 4.0]]], ['F'])
    """
    source = os.fspath(path)
    sections = _sections(source)
    counts = _counts(sections, source)
    points = _points(sections["rawpoints"], counts, source)
    ids = _names(sections.get("names", []), counts, source)
    landmarks = landmarks_of(ids, points, source, negative)
    columns = _label_columns(sections, counts, source)
    groups = _group_column(sections.get("groups", []), counts, source)
    if groups is not None:
        name = "group" if "group" not in columns else "groups"
        columns[name] = groups
    return LandmarkTable(landmarks, pd.DataFrame(columns, index=list(ids), dtype=object))


def _sections(source: str) -> dict[str, list[Line]]:
    """Return the lines of each section, without comments and drawings."""
    sections: dict[str, list[Line]] = {}
    name, budget, n_bytes = "", budget_of(source), 0
    for line in read_lines(source):
        if line.text.startswith("'"):
            continue
        if found := _SECTION.fullmatch(line.text):
            name = found[1].lower()
            if name not in _KNOWN | _DRAWING or name in sections:
                problem = "occurs twice" if name in sections else "is not one of Morphologika files"
                raise InputError(
                    f"Line {line.number} of {source}: the section [{name}] {problem}; correct or "
                    "remove it."
                )
            sections[name] = []
        elif not name:
            raise InputError(
                f"Line {line.number} of {source}: expected a section such as [individuals], got "
                f"{quoted(line.text)}; a Morphologika file begins with one."
            )
        elif name in _KNOWN:
            sections[name].append(line)
            n_bytes += _BYTES_PER_LINE + (name in _SPLIT) * len(line.text) * _BYTES_PER_LETTER
            budget.check(n_bytes)
    return sections


def _counts(sections: dict[str, list[Line]], source: str) -> _Counts:
    numbers = []
    for name in (*_COUNTS, "rawpoints"):
        if not sections.get(name):
            raise InputError(f"{source} has no section [{name}], or it is empty; add it.")
    for name in _COUNTS:
        line = sections[name][0]
        if not re.fullmatch(r"[0-9]{1,8}", line.text) or not 0 < int(line.text) < _LARGEST_COUNT:
            raise InputError(
                f"Line {line.number} of {source}: [{name}] must be followed by a whole number "
                f"above 0, got {quoted(line.text)}; correct it."
            )
        numbers.append(int(line.text))
    if numbers[2] not in (2, 3):
        raise InputError(
            f"{source} has landmarks of {numbers[2]} dimensions; only 2 or 3 are read."
        )
    return _Counts(*numbers)


def _points(lines: list[Line], counts: _Counts, source: str) -> Coordinates:
    wanted = counts.individuals * counts.landmarks
    values = array("d")
    for position, line in enumerate(lines[: wanted + 1]):
        words = line.text.split(maxsplit=counts.dimensions)
        numbers = [value for word in words if (value := coordinate(word)) is not None]
        if position == wanted or len(numbers) != len(words) or len(words) != counts.dimensions:
            specimen, landmark = divmod(position, counts.landmarks)
            expected = (
                f"the end after {wanted} points"
                if position == wanted
                else f"the {counts.dimensions} numbers of landmark {landmark + 1}"
            )
            raise InputError(
                f"Line {line.number} of {source} (specimen {min(specimen + 1, counts.individuals)}"
                f"): expected {expected}, got {quoted(line.text)}; correct it, or the numbers of "
                "individuals and landmarks."
            )
        values.extend(numbers)
    if len(lines) < wanted:
        raise InputError(
            f"{source} has {len(lines)} points in [rawpoints]; {counts.individuals} individuals "
            f"of {counts.landmarks} landmarks have {wanted}. It is cut short, or a number is wrong."
        )
    return np.array(values).reshape(counts)


def _names(lines: list[Line], counts: _Counts, source: str) -> tuple[str, ...]:
    if not lines:
        return tuple(str(k) for k in range(1, counts.individuals + 1))
    _check_length(lines, "names", counts, source)
    return tuple(line.text for line in lines)


def _check_length(lines: list[Line], name: str, counts: _Counts, source: str) -> None:
    if len(lines) != counts.individuals:
        raise InputError(
            f"{source} has {len(lines)} lines in [{name}] for {counts.individuals} individuals; "
            "give one for each."
        )


def _label_columns(
    sections: dict[str, list[Line]], counts: _Counts, source: str
) -> dict[str, list[str]]:
    """Return columns of labels; a line of one column is one value, with its blanks."""
    lines = sections.get("labelvalues", [])
    if not lines:
        return {}
    _check_length(lines, "labelvalues", counts, source)
    names = [name for line in sections.get("labels", []) for name in line.text.split()] or ["label"]
    rows = [[line.text] if len(names) == 1 else line.text.split() for line in lines]
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(names) or len(set(names)) < len(names):
            raise InputError(
                f"Line {line.number} of {source}: expected a value for each of the labels "
                f"{shortened(' '.join(names), 80)}, which must differ, got {quoted(line.text)}; "
                "values have no blanks."
            )
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _group_column(lines: list[Line], counts: _Counts, source: str) -> list[str] | None:
    """Return the group of each specimen from names followed by sizes."""
    words = [word for line in lines for word in line.text.split()]
    if not words:
        return None
    sizes = [int(word) if re.fullmatch(r"[0-9]{1,8}", word) else -1 for word in words[1::2]]
    if len(words) % 2 or min(sizes) < 0 or sum(sizes) != counts.individuals:
        raise InputError(
            f"Line {lines[0].number} of {source}: [groups] must hold names, each followed by a "
            f"number of specimens, {counts.individuals} in all; got "
            f"{quoted(' '.join(words[:50]))}."
        )
    return [name for name, size in zip(words[::2], sizes, strict=True) for _ in range(size)]
