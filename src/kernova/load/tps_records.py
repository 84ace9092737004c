"""The lines of a TPS file, followed specimen by specimen."""

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.load.landmark_numbers import coordinate
from kernova.load.plain_text import Line, read_lines
from kernova.load.specimens import Curves, Negative, Points

_KEYWORD_LINE = re.compile(r"([A-Za-z][A-Za-z0-9_ ]*?)\s*=\s*(.*)", re.DOTALL)
_COUNT = re.compile(r"[0-9]{1,6}")
_DIMENSIONS = {"LM": 2, "LM3": 3}
_KEYWORDS = "LM, LM3, CURVES, OUTLINES, POINTS, IMAGE, ID, SCALE, VARIABLES, COMMENT"


@dataclass
class Record:
    """What a file says of one specimen; ``line`` is where it starts."""

    line: int
    points: Points
    scale: float = math.nan
    texts: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    lines: dict[str, Curves] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


def read_records(source: str, negative: Negative) -> list[Record]:
    """Read every specimen of the file; what cannot be followed is refused, with its line."""
    return _Reader(source, negative).records()


class _Keyword(NamedTuple):
    line: int
    name: str
    value: str


class _Reader:
    """Walks down the lines once; whatever it cannot follow it refuses, with line and specimen."""

    def __init__(self, source: str, negative: Negative) -> None:
        self.source = source
        self.negative = negative
        self.lines = read_lines(source)
        self.place = 0
        self.n_specimens = 0
        self.dimensions = 2

    def records(self) -> list[Record]:
        if not self.lines:
            raise InputError(f"{self.source} is empty; a TPS file has a line LM= per specimen.")
        found: list[Record] = []
        while self.place < len(self.lines):
            keyword = self.keyword()
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

    def record(self, keyword: _Keyword) -> Record:
        self.n_specimens += 1
        self.dimensions = _DIMENSIONS[keyword.name]
        return Record(keyword.line, self.points(keyword))

    def take(self, keyword: _Keyword, record: Record) -> None:
        if keyword.name == "COMMENT":
            record.comments.append(keyword.value)
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
            raise self.unknown(keyword)

    def unknown(self, keyword: _Keyword) -> InputError:
        if keyword.name == "POINTS":
            return self.error(
                keyword.line,
                "POINTS= without CURVES= or OUTLINES= above it; add how many there are",
            )
        return self.error(
            keyword.line,
            f"{keyword.name}= is no keyword of TPS files; take one of {_KEYWORDS}, or remove it",
        )

    def keyword(self) -> _Keyword:
        line = self.lines[self.place]
        self.place += 1
        found = _KEYWORD_LINE.fullmatch(line.text)
        if found is None:
            raise self.error(
                line.number,
                f"expected a keyword such as LM= or ID=, got {_shown(line.text)}; check how many "
                "landmarks or points are announced above",
            )
        return _Keyword(line.number, found[1].upper(), found[2].strip())

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
        if self.place == len(self.lines):
            raise self.error(
                announced.line,
                f"the file ends before the {announced.value} POINTS= that {announced.name}= "
                "announces; it is cut short",
            )
        keyword = self.keyword()
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
        below = self.lines[self.place : self.place + n_points]
        self.place += len(below)
        points = [self.point(line, keyword, place) for place, line in enumerate(below, 1)]
        if len(below) < n_points:
            raise self.error(
                keyword.line,
                f"{keyword.name}={n_points} announces {n_points} points, but the file ends after "
                f"{len(below)}; it is cut short",
            )
        return np.array(points, dtype=np.float64).reshape(n_points, self.dimensions)

    def point(self, line: Line, keyword: _Keyword, place: int) -> list[float]:
        numbers = [number for text in line.text.split() if (number := coordinate(text)) is not None]
        if len(numbers) != len(line.text.split()) or len(numbers) != self.dimensions:
            raise self.error(
                line.number,
                f"expected the {self.dimensions} numbers of point {place} of {keyword.value} under "
                f"{keyword.name}=, got {_shown(line.text)}; correct it or the number of points",
            )
        is_missing = [math.isnan(number) for number in numbers]
        if any(is_missing) and not all(is_missing):
            raise self.error(
                line.number,
                f"point {place} is half missing: {_shown(line.text)}; write NA for all its "
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
    return repr(text if len(text) <= 60 else text[:57] + "...") if text else "nothing"
