"""TPS files, as written by the programs of the tps series and others: reading and writing."""

import math
import os
import re
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from kernova.budget import budget_of
from kernova.errors import InputError, quoted, shortened
from kernova.files import replacing
from kernova.shapes.landmarks import (
    Curves,
    Landmarks,
    Negative,
    Points,
    check_negative,
    coordinate,
)
from kernova.text import first_few, listed, quantity
from kernova.textfiles import Line, read_lines

if TYPE_CHECKING:
    import pandas as pd

IdsFrom = Literal["auto", "id", "image", "number"]

_KEYWORD = re.compile(r"[A-Za-z][A-Za-z0-9_ ]*+")
_COUNT = re.compile(r"[0-9]{1,6}")
# A comma or semicolon, but not the comma of a decimal number: a name and = must follow.
_NEXT_VARIABLE = re.compile(r"[,;](?=[^,;=]*=)")
_LONGEST_KEYWORD = 80
_DIMENSIONS = {"LM": 2, "LM3": 3}
# Bytes of memory that a specimen and a curve take besides their coordinates and texts.
_BYTES_PER_SPECIMEN = 1000
_BYTES_PER_CURVE = 300
# Entries of a specimen; others that some programs write are skipped with their lines of numbers.
_ENTRIES = frozenset(
    {"CURVES", "OUTLINES", "POINTS", "IMAGE", "ID", "SCALE", "VARIABLES", "COMMENT"}
)
_SKIPPED = frozenset({"RADII", "RADIUS", "CHAIN", "CHAINS"})
_MOST_SKIPPED = 1000
_KEYWORDS = "LM, LM3, CURVES, OUTLINES, POINTS, IMAGE, ID, SCALE, VARIABLES, COMMENT"


def read_tps(
    path: str | os.PathLike[str],
    *,
    negative: Negative = "values",
    scaled: bool = False,
    ids_from: IdsFrom = "auto",
) -> Landmarks:
    r"""Read landmarks from a TPS file.

    Each specimen starts with ``LM=`` (or ``LM3=`` in three dimensions) and its coordinates;
    ``CURVES``, ``OUTLINES`` and their ``POINTS``, ``IMAGE``, ``ID``, ``SCALE`` (which may be
    empty), ``VARIABLES`` and ``COMMENT`` follow in any order. Case, blanks, blank lines and line
    ends do not matter; decimals follow a point or a comma. A missing landmark is written
    ``NA NA``. Records without landmarks and curves (``LM=0``), which a digitising program writes
    for images that are not yet digitised, are skipped; a note says how many. So are unknown
    keywords, such as ``RADII``.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8 or Windows-1252.
    negative : {"values", "missing"}
        Whether a negative coordinate is a value or, as in some digitising programs, marks a
        missing landmark.
    scaled : bool
        Whether to multiply the coordinates by their ``SCALE``, which every specimen must then
        have; see :meth:`Landmarks.in_real_units`.
    ids_from : {"auto", "id", "image", "number"}
        The source of the ids: ``ID``, ``IMAGE``, or the number of the specimen in the file, from
        ``"1"``. By default the first of ``ID`` and ``IMAGE`` that all specimens have and that is
        unique, since merged files often repeat their ``ID``; the number, if no specimen has
        either.

    Raises
    ------
    InputError
        If the file cannot be parsed, or specimens differ in their number of landmarks; the
        message names the line and the specimen.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes import read_tps
    >>> text = "LM=2\n1,5 2\n3 4\nID=snail 7\nSCALE=0,5\n"
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "snails.tps"
    >>> _ = path.write_text(text)
    >>> snails = read_tps(path)
    >>> snails.ids, snails.coordinates.tolist(), snails.scales.tolist()
    (('snail 7',), [[[1.5, 2.0], [3.0, 4.0]]], [0.5])
    """
    check_negative(negative)
    if ids_from not in ("auto", "id", "image", "number"):
        raise InputError(
            f"ids_from is {quoted(ids_from)}; it must be 'auto', 'id', 'image' or 'number'."
        )
    source = os.fspath(path)
    reader = _Reader(source, negative)
    records, notes = _digitised(reader.records(), source)
    ids = _ids(records, ids_from, source)
    _check_same_landmarks(records, ids, source)
    landmarks = Landmarks(
        ids=ids,
        coordinates=np.stack([record.points for record in records]),
        scales=np.array([record.scale for record in records]),
        images=tuple(record.texts.get("IMAGE", "") for record in records),
        variables=tuple(record.texts.get("VARIABLES", "") for record in records),
        comments=tuple(tuple(record.comments) for record in records),
        curves=tuple(record.lines.get("CURVES", ()) for record in records),
        outlines=tuple(record.lines.get("OUTLINES", ()) for record in records),
        source=source,
        notes=(*notes, *reader.notes()),
    )
    return landmarks.in_real_units() if scaled else landmarks


def variables_of(landmarks: Landmarks) -> "pd.DataFrame | None":
    r"""Columns from the VARIABLES of a TPS file: one row per specimen, all values text.

    ``VARIABLES=sex=F, site=3`` gives the columns ``sex`` and ``site``. Text without an equals
    sign is the column ``variables``. A specimen without a variable has None there.

    Parameters
    ----------
    landmarks : Landmarks
        As read by :func:`read_tps`.

    Returns
    -------
    DataFrame or None
        With the ids as index; None if no specimen has variables.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks
    >>> from kernova.shapes.tps import variables_of
    >>> fish = Landmarks(("a", "b"), np.zeros((2, 3, 2)), variables=("sex=F, site=3", "sex=M"))
    >>> variables_of(fish).to_dict("index")
    {'a': {'sex': 'F', 'site': '3'}, 'b': {'sex': 'M', 'site': None}}
    """
    import pandas as pd  # reading landmarks alone needs none

    rows = [_parsed_variables(text) for text in landmarks.variables]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return None
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pd.DataFrame(columns, index=list(landmarks.ids), dtype=object)


def _parsed_variables(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in _NEXT_VARIABLE.split(text):
        name, equals, value = part.partition("=")
        if not equals:
            name, value = "variables", part
        if name.strip() and value.strip():
            found.setdefault(name.strip(), value.strip())
    return found


def write_tps(landmarks: Landmarks, path: str | os.PathLike[str]) -> None:
    r"""Write landmarks to a TPS file; :func:`read_tps` restores all that have points, exactly.

    Numbers are written with all their digits, a missing landmark as ``NA NA``, text as UTF-8.

    Parameters
    ----------
    landmarks : Landmarks
        The specimens.
    path : str or path
        The file to write, atomically.

    Raises
    ------
    InputError
        If a text does not fit on one line of the file, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks, write_tps
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.tps"
    >>> write_tps(Landmarks(("a 1",), np.array([[[0.1, 2.0], [np.nan, np.nan]]])), path)
    >>> path.read_text()
    'LM=2\n0.1 2.0\nNA NA\nID=a 1\n'
    """
    written = [line for k in range(len(landmarks)) for line in _lines_of(landmarks, k)]
    with replacing(path) as scratch:
        scratch.write_bytes("".join(f"{line}\n" for line in written).encode("utf-8"))


@dataclass(slots=True)
class _Record:
    """The entries of one specimen; ``line`` is the number of its first line.

    ``number`` counts the specimens of the file, from 1.
    """

    line: int
    number: int
    points: Points
    scale: float = math.nan
    texts: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    lines: dict[str, Curves] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


class _Keyword(NamedTuple):
    line: int
    name: str
    value: str


class _Reader:
    """A parser that reads the lines once; its errors name line and specimen."""

    def __init__(self, source: str, negative: Negative) -> None:
        self.lines = read_lines(source)
        self.ahead = next(self.lines, None)
        self.budget = budget_of(source)
        self.source = source
        self.negative = negative
        self.n_specimens = 0
        self.n_curves = 0
        self.dimensions = 2
        self.skipped: Counter[str] = Counter()

    def records(self) -> list[_Record]:
        if self.ahead is None:
            raise InputError(f"{self.source} is empty; a TPS file has a line LM= per specimen.")
        found: list[_Record] = []
        while self.ahead is not None:
            keyword = self.keyword(self.next_line(self.ahead))
            if keyword.name in _DIMENSIONS:
                found.append(self.record(keyword))
            elif not found:
                raise self.error(
                    keyword.line,
                    f"{keyword.name}= stands before the first LM=; a specimen starts with LM=",
                )
            else:
                self.take(keyword, found[-1])
        return found

    def next_line(self, line: Line) -> Line:
        """Consume the line ahead."""
        self.ahead = next(self.lines, None)
        return line

    def record(self, keyword: _Keyword) -> _Record:
        self.n_specimens += 1
        self.check_memory()
        self.dimensions = _DIMENSIONS[keyword.name]
        return _Record(keyword.line, self.n_specimens, self.points(keyword))

    def check_memory(self) -> None:
        """Raise if the specimens and curves read so far need too much memory."""
        held = self.n_specimens * _BYTES_PER_SPECIMEN + self.n_curves * _BYTES_PER_CURVE
        self.budget.check(held)

    def take(self, keyword: _Keyword, record: _Record) -> None:
        if keyword.name not in _ENTRIES:
            self.skip(keyword)
            return
        if keyword.name == "COMMENT":
            record.comments.append(keyword.value)
            return
        if keyword.name == "VARIABLES" and "VARIABLES" in record.texts:
            # Some programs write one per line.
            both = (record.texts["VARIABLES"], keyword.value)
            record.texts["VARIABLES"] = ", ".join(filter(None, both))
            return
        if keyword.name in record.seen:
            raise self.error(
                keyword.line,
                f"the specimen has a second {keyword.name}=; remove it, or add the LM= that is "
                "missing above it",
            )
        record.seen.add(keyword.name)
        if keyword.name in ("ID", "IMAGE", "VARIABLES"):
            record.texts[keyword.name] = keyword.value
        elif keyword.name == "SCALE":
            record.scale = self.scale(keyword)
        elif keyword.name in ("CURVES", "OUTLINES"):
            record.lines[keyword.name] = self.curves(keyword)
        else:
            raise self.error(
                keyword.line,
                "POINTS= without CURVES= or OUTLINES= above it; add how many there are",
            )

    def skip(self, keyword: _Keyword) -> None:
        """Skip an unknown entry; one with numbers below it may be a misspelt LM=."""
        while self.ahead is not None and "=" not in self.ahead.text:
            if keyword.name not in _SKIPPED:
                raise self.error(
                    keyword.line,
                    f"{keyword.name}= is not a keyword of TPS files; use one of {_KEYWORDS}, or "
                    "remove it",
                )
            self.next_line(self.ahead)
        if keyword.name in self.skipped or len(self.skipped) < _MOST_SKIPPED:
            self.skipped[keyword.name] += 1

    def notes(self) -> tuple[str, ...]:
        """Return a note on what was skipped."""
        if not self.skipped:
            return ()
        names = [f"{name}= ({quantity(n, 'line')})" for name, n in self.skipped.items()]
        return (
            f"Keywords of {self.source} that are not known were skipped: {first_few(names, 3)}.",
        )

    def keyword(self, line: Line) -> _Keyword:
        name, equals, value = line.text.partition("=")
        if not (equals and _KEYWORD.fullmatch(name := name.rstrip())):
            raise self.error(
                line.number,
                f"expected a keyword such as LM= or ID=, got {_shown(line.text)}; check how many "
                "landmarks or points are announced above",
            )
        return _Keyword(line.number, shortened(name.upper(), _LONGEST_KEYWORD), value.strip())

    def count(self, keyword: _Keyword) -> int:
        if not _COUNT.fullmatch(keyword.value):
            raise self.error(
                keyword.line,
                f"{keyword.name}= must be followed by a whole number, got {_shown(keyword.value)}; "
                "correct it",
            )
        return int(keyword.value)

    def scale(self, keyword: _Keyword) -> float:
        number = math.nan if keyword.value == "" else coordinate(keyword.value)
        if number is None or number <= 0:
            raise self.error(
                keyword.line,
                f"SCALE= must be a number above 0 or nothing, got {_shown(keyword.value)}; "
                "correct it",
            )
        return number

    def curves(self, keyword: _Keyword) -> Curves:
        return tuple(self.curve(keyword) for _ in range(self.count(keyword)))

    def curve(self, announced: _Keyword) -> Points:
        if self.ahead is None:
            raise self.error(
                announced.line,
                f"the file ends before the {announced.value} POINTS= that {announced.name}= "
                "announces; it is cut short",
            )
        self.n_curves += 1
        self.check_memory()
        keyword = self.keyword(self.next_line(self.ahead))
        if keyword.name != "POINTS":
            raise self.error(
                keyword.line,
                f"expected one of the {announced.value} POINTS= that {announced.name}= announces "
                f"in line {announced.line}, got {keyword.name}=; correct one of them",
            )
        return self.points(keyword)

    def points(self, keyword: _Keyword) -> Points:
        """Read as many lines of coordinates as the keyword announces."""
        n_points = self.count(keyword)
        coordinates = array("d")
        for number in range(1, n_points + 1):
            if self.ahead is None:
                raise self.error(
                    keyword.line,
                    f"{keyword.name}={n_points} announces {n_points} points, but the file ends "
                    f"after {number - 1}; it is cut short",
                )
            coordinates.extend(self.point(self.next_line(self.ahead), keyword, number))
        return np.array(coordinates, dtype=np.float64).reshape(n_points, self.dimensions)

    def point(self, line: Line, keyword: _Keyword, number: int) -> list[float]:
        # The whole of a long line is not split: each word would take 60 bytes.
        words = line.text.split(maxsplit=self.dimensions)
        numbers = [value for word in words if (value := coordinate(word)) is not None]
        if len(numbers) != len(words) or len(numbers) != self.dimensions:
            raise self.error(
                line.number,
                f"expected the {self.dimensions} numbers of point {number} of {keyword.value} "
                f"under {keyword.name}=, got {_shown(line.text)}; correct it or the number of "
                "points",
            )
        is_missing = [math.isnan(value) for value in numbers]
        if any(is_missing) and not all(is_missing):
            raise self.error(
                line.number,
                f"point {number} is half missing: {_shown(line.text)}; write NA for all its "
                "coordinates or for none",
            )
        if self.negative == "missing" and min(numbers) < 0:
            return [math.nan] * self.dimensions
        return numbers

    def error(self, line: int, problem: str) -> InputError:
        where = f"Line {line} of {self.source}"
        if self.n_specimens:
            where += f" (specimen {self.n_specimens})"
        return InputError(f"{where}: {problem}.")


def _shown(text: str) -> str:
    return quoted(text) if text else "nothing"


class _Digitised(NamedTuple):
    records: list[_Record]
    notes: tuple[str, ...]


def _digitised(records: list[_Record], source: str) -> _Digitised:
    """Skip records without any point, unless no record has one."""
    is_empty = [not (len(record.points) or any(record.lines.values())) for record in records]
    if all(is_empty) or not any(is_empty):
        return _Digitised(records, ())
    whole = [record for record, empty in zip(records, is_empty, strict=True) if not empty]
    skipped = [record for record, empty in zip(records, is_empty, strict=True) if empty]
    names = [
        record.texts.get("ID") or record.texts.get("IMAGE") or str(record.number)
        for record in skipped
    ]
    note = (
        f"{len(skipped)} of {len(records)} records of {source} have no landmarks (LM=0) and were "
        f"skipped: {listed(names)}."
    )
    return _Digitised(whole, (note,))


def _ids(records: list[_Record], ids_from: IdsFrom, source: str) -> tuple[str, ...]:
    numbers = tuple(str(record.number) for record in records)
    if ids_from == "number":
        return numbers
    named = {
        name: tuple(record.texts.get(name, "") for record in records) for name in ("ID", "IMAGE")
    }
    if ids_from == "auto":
        if not any(named["ID"]) and not any(named["IMAGE"]):
            return numbers
        for ids in named.values():
            if all(ids) and len(set(ids)) == len(ids):
                return ids
    name = "IMAGE" if ids_from == "image" or not any(named["ID"]) else "ID"
    _check_distinct(records, named[name], name, source)
    return named[name]


def _check_distinct(records: list[_Record], ids: tuple[str, ...], name: str, source: str) -> None:
    first_row: dict[str, int] = {}
    for row, text in enumerate(ids):
        if not text:
            without = records[row]
            raise InputError(
                f"Specimen {without.number} of {source} (line {without.line}) has no {name}=; "
                "give it one, or set ids_from."
            )
        if text in first_row:
            first, second = records[first_row[text]], records[row]
            raise InputError(
                f"Specimens {first.number} and {second.number} of {source} (lines {first.line} "
                f"and {second.line}) have the same {name}={shortened(text, 80)}; ids must "
                "differ. Rename one, or set ids_from."
            )
        first_row[text] = row


def _check_same_landmarks(records: list[_Record], ids: tuple[str, ...], source: str) -> None:
    """Raise if a specimen has another number of landmarks than most."""
    shapes = [record.points.shape for record in records]
    common = Counter(shapes).most_common(1)[0][0]
    for record, name in zip(records, ids, strict=True):
        if record.points.shape != common:
            like = shapes.index(common)
            raise InputError(
                f"Specimen {quoted(name)} of {source} (line {record.line}) has "
                f"{_landmarks(record)}, but {quoted(ids[like])} (line {records[like].line}) has "
                f"{_landmarks(records[like])}; give all the same landmarks, NA NA for a missing "
                "one, or leave the specimen out."
            )


def _landmarks(record: _Record) -> str:
    n_landmarks, n_dimensions = record.points.shape
    return f"{n_landmarks} landmarks" + (" in space" if n_dimensions == 3 else "")


def _lines_of(landmarks: Landmarks, k: int) -> list[str]:
    keyword = "LM3" if landmarks.n_dimensions == 3 else "LM"
    lines = [f"{keyword}={landmarks.n_landmarks}", *_point_lines(landmarks.coordinates[k])]
    for name, curves in (("CURVES", landmarks.curves[k]), ("OUTLINES", landmarks.outlines[k])):
        lines += [f"{name}={len(curves)}"] if curves else []
        for points in curves:
            lines += [f"POINTS={len(points)}", *_point_lines(points)]
    texts = [
        ("IMAGE", landmarks.images[k]),
        ("ID", landmarks.ids[k]),
        ("VARIABLES", landmarks.variables[k]),
    ]
    lines += [_text_line(name, text, landmarks.ids[k]) for name, text in texts if text]
    lines += [_text_line("COMMENT", text, landmarks.ids[k]) for text in landmarks.comments[k]]
    scale = float(landmarks.scales[k])
    return lines if math.isnan(scale) else [*lines, f"SCALE={scale!r}"]


def _point_lines(points: Points) -> list[str]:
    return [
        " ".join("NA" if math.isnan(number) else repr(number) for number in point)
        for point in points.tolist()
    ]


def _text_line(name: str, text: str, specimen: str) -> str:
    # Such text would not be restored by the reader.
    if text != text.strip() or re.search("[\0\r\n\ud800-\udfff]", text):
        raise InputError(
            f"The {name} {quoted(text)} of specimen {quoted(specimen)} cannot stand on one line of "
            "a TPS file; remove outer blanks, line ends and damaged characters."
        )
    return f"{name}={text}"
