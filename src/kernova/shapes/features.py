"""Shape features by formula: lengths, angles, areas and ratios between numbered landmarks."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kernova.errors import InputError, quoted, shortened
from kernova.files import is_there
from kernova.shapes.formulas import (
    Formula,
    FormulaError,
    UndefinedMeasureError,
    parse_formula,
)
from kernova.text import listed
from kernova.textfiles import Line, read_lines
from kernova.typing import Coordinates, Matrix, Vector

# Files of features that come with the package, by name.
SHIPPED_FEATURES = {"cichlids": Path(__file__).with_name("cichlid_features.toml")}


_TABLE_PREFIX = re.compile(r"features\s*+\.\s*+")
# Reading TOML takes time that grows with the square of a line, and memory, too.
_LARGEST_FILE = 100_000
_LONGEST_LINE = 2_000


class _Written(NamedTuple):
    """A feature as written in a file."""

    line: int | None
    name: str
    formula: str


@dataclass(frozen=True)
class ShapeFeatures:
    """Features of specimens, each measured by a formula.

    A formula consists of lengths ``|1-2|``, angles in degrees ``angle(1-2, 3-4)`` between two
    directions, ``angle(1, 2, 3)`` at the landmark in the middle, ``angle(1-2, vertical)`` and
    ``angle(1-2, horizontal)`` to the upward and rightward directions, areas of polygons
    ``area(1, 2, 3, ...)`` with their corners listed in order, numbers, ``+ - * /`` and
    parentheses. Quantities of different units, such as a length and an area, cannot be added.

    Attributes
    ----------
    names, formulas : tuple of str
        The features in their order.
    source : str
        Where they come from, for messages.
    lines : tuple of int or None
        The line of each feature in its file.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.features import shape_features
    >>> features = shape_features({"slenderness": "|1-2| / |1-3|", "snout": "angle(1-2, vertical)"})
    >>> features.measure(np.array([[[0, 0], [3, 4], [10, 0]]]))
    array([[ 0.5 , 36.87]])
    """

    names: tuple[str, ...]
    formulas: tuple[str, ...]
    source: str = "the features"
    lines: tuple[int | None, ...] = ()
    _parsed: tuple[Formula, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lines = self.lines or (None,) * len(self.names)
        written = [
            _Written(line, name, formula)
            for line, name, formula in zip(lines, self.names, self.formulas, strict=True)
        ]
        if not written:
            raise InputError(
                f"{self.source} holds no features; write one per line, as in "
                "slenderness = |4-11| / |13-7|."
            )
        _check_distinct_names(written, self.source)
        parsed = tuple(_parsed(feature, self.source) for feature in written)
        object.__setattr__(self, "lines", lines)
        object.__setattr__(self, "_parsed", parsed)

    @property
    def landmarks(self) -> frozenset[int]:
        """The numbers of the landmarks that the features need, from 1."""
        return frozenset().union(*(formula.landmarks for formula in self._parsed))

    @property
    def size_dependent(self) -> tuple[str, ...]:
        """The features that change with the size of a specimen."""
        named = zip(self.names, self._parsed, strict=True)
        return tuple(name for name, formula in named if formula.length_power != 0)

    @property
    def orientation_dependent(self) -> tuple[str, ...]:
        """The features that depend on orientation, so that specimens must be aligned first."""
        named = zip(self.names, self._parsed, strict=True)
        return tuple(name for name, formula in named if formula.uses_axis)

    def measure(self, coordinates: ArrayLike, *, ids: Sequence[str] | None = None) -> Matrix:
        """Measure every specimen.

        Parameters
        ----------
        coordinates : array of shape (n_specimens, n_landmarks, 2 or 3)
            The landmarks, as in :class:`kernova.shapes.Landmarks`.
        ids : sequence of str, optional
            Names of the specimens for messages; numbers from 1 by default.

        Returns
        -------
        array of shape (n_specimens, n_features)
            Finite numbers.

        Raises
        ------
        InputError
            If a feature needs a landmark that does not exist or is missing, or if a direction or
            divisor is zero.
        """
        points = np.asarray(coordinates, dtype=np.float64)
        if points.ndim != 3 or points.shape[2] not in (2, 3):
            raise InputError(
                f"Coordinates have the shape {points.shape}; shape features are measured on "
                "specimens × landmarks × 2 (or 3)."
            )
        names = [str(k + 1) for k in range(len(points))] if ids is None else list(ids)
        if len(names) != len(points):
            raise InputError(f"There are {len(names)} ids for {len(points)} specimens.")
        measured = np.empty((len(points), len(self.names)))
        for column, formula in enumerate(self._parsed):
            self._check_landmarks(column, points, names)
            measured[:, column] = self._values(column, formula, points, names)
        return measured

    def _check_landmarks(self, column: int, points: Coordinates, ids: list[str]) -> None:
        needed = np.array(sorted(self._parsed[column].landmarks))
        if needed[-1] > points.shape[1]:
            raise InputError(
                f"{self._where(column)} needs landmark {needed[-1]}, but the specimens have "
                f"{points.shape[1]}; correct the formula, or digitise the landmark."
            )
        is_absent = ~np.isfinite(points[:, needed - 1]).all(axis=2)
        if is_absent.any():
            specimen, index = np.argwhere(is_absent)[0].tolist()
            raise InputError(
                f"{self._where(column)} needs landmark {needed[index]}, which specimen "
                f"{quoted(ids[specimen])} lacks; estimate missing landmarks first, or leave the "
                "specimen out."
            )

    def _values(self, column: int, formula: Formula, points: Coordinates, ids: list[str]) -> Vector:
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                values = formula.values(points)
            if not np.isfinite(values).all():
                raise UndefinedMeasureError(~np.isfinite(values), "it is too large for a number")
        except UndefinedMeasureError as error:
            raise InputError(
                f"{self._where(column)} cannot be measured on specimen "
                f"{quoted(ids[error.specimen])}: {error.reason}. Correct the specimen or the "
                "formula, or leave one of them out."
            ) from error
        return values

    def _where(self, column: int) -> str:
        return _where(self.lines[column], self.names[column], self.source)


def shape_features(formulas: Mapping[str, str]) -> ShapeFeatures:
    """Return features from a mapping of names to formulas.

    Parameters
    ----------
    formulas : mapping of str to str
        Formulas by the names of the features, in order.
    """
    return ShapeFeatures(tuple(formulas), tuple(formulas.values()))


def read_shape_features(path: str | os.PathLike[str]) -> ShapeFeatures:
    r"""Read shape features from a file, or a set that comes with the package.

    A file that ends in ``.toml`` holds ``name = "formula"`` at its top, or under ``[features]``;
    any other holds ``name = formula``, one per line. Text after ``#`` is a comment. For the
    formulas see :class:`ShapeFeatures`.

    Parameters
    ----------
    path : str or path
        The file, or ``"cichlids"``: twelve features of fishes with 21 landmarks.

    Returns
    -------
    ShapeFeatures
        The features in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be read; the message names the line and the position in the formula.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes.features import read_shape_features
    >>> len(read_shape_features("cichlids").names)
    12
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "features.txt"
    >>> _ = path.write_text("slenderness = |4-11| / |13-7|  # of the body\n")
    >>> read_shape_features(path).names
    ('slenderness',)
    """
    source = os.fspath(path)
    if not is_there(Path(source)):
        if source not in SHIPPED_FEATURES:
            raise InputError(
                f"There is no file {shortened(source)}; check its name and folder. Built-in "
                f"features: {listed(SHIPPED_FEATURES)}."
            )
        source = str(SHIPPED_FEATURES[source])
    _check_size(source)
    lines = list(read_lines(source))
    is_toml = source.lower().endswith(".toml")
    written = _toml_features(lines, source) if is_toml else _text_features(lines, source)
    _check_distinct_names(written, source)
    return ShapeFeatures(
        names=tuple(feature.name for feature in written),
        formulas=tuple(feature.formula for feature in written),
        source=source,
        lines=tuple(feature.line for feature in written),
    )


def _check_size(source: str) -> None:
    n_bytes = Path(source).stat().st_size
    if n_bytes > _LARGEST_FILE:
        raise InputError(
            f"{source} has {n_bytes:,} bytes; a file of features has at most {_LARGEST_FILE:,}. "
            "Name a file with one formula per line."
        )


def _text_features(lines: list[Line], source: str) -> list[_Written]:
    written = []
    for line in lines:
        text = line.text.partition("#")[0].strip()
        if not text:
            continue
        name, equals, formula = (part.strip() for part in text.partition("="))
        if not (name and equals and formula):
            raise InputError(
                f"Line {line.number} of {source} is {quoted(text)}; write a feature as "
                "slenderness = |4-11| / |13-7|."
            )
        written.append(_Written(line.number, name, formula))
    return written


def _toml_features(lines: list[Line], source: str) -> list[_Written]:
    for line in lines:
        if len(line.text) > _LONGEST_LINE:
            raise InputError(
                f"Line {line.number} of {source} has {len(line.text):,} characters; a feature has "
                f"at most {_LONGEST_LINE:,}. Shorten it."
            )
    by_number = {line.number: line.text for line in lines}
    text = "\n".join(
        by_number.get(number, "") for number in range(1, max(by_number, default=0) + 1)
    )
    try:
        content = tomllib.loads(text + "\n")  # otherwise some errors are "at end of document"
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
        reason = shortened(error)
        raise InputError(f"{source} cannot be read as TOML: {reason}; correct it.") from error
    features = content.pop("features", content)
    if features is not content and content:
        raise InputError(
            f"{source} has {listed(content)} beside its table features; keep only that table."
        )
    if not isinstance(features, dict):
        raise InputError(
            f"{source} has features = {quoted(features)}; make it a table, [features]."
        )
    written = []
    line_of = _lines_of_keys(lines)
    for name, formula in features.items():
        feature = _Written(line_of.get(name), name, formula)
        if not isinstance(formula, str):
            raise InputError(
                f"{_where(feature.line, name, source)} is {quoted(formula)}; a formula is a text "
                "in quotation marks."
            )
        written.append(feature)
    return written


def _lines_of_keys(lines: list[Line]) -> dict[str, int]:
    """Return the first line that begins with each key, with or without quotation marks."""
    found: dict[str, int] = {}
    for line in lines:
        prefix = _TABLE_PREFIX.match(line.text)
        text = line.text[prefix.end() :] if prefix else line.text
        mark = text[:1] if text[:1] in ("'", '"') else ""
        key = text[1:].partition(mark)[0] if mark else text.partition("=")[0].rstrip()
        found.setdefault(key, line.number)
    return found


def _check_distinct_names(written: Sequence[_Written], source: str) -> None:
    seen: dict[str, _Written] = {}
    for feature in written:
        first = seen.setdefault(feature.name, feature)
        if first is not feature:
            raise InputError(
                f"{_where(feature.line, feature.name, source)} has the name of another, in line "
                f"{first.line}; rename one."
            )


def _parsed(feature: _Written, source: str) -> Formula:
    try:
        return parse_formula(feature.formula)
    except FormulaError as error:
        position = f"at {quoted(error.rest)}" if error.rest else "at its end"
        raise InputError(
            f"{_where(feature.line, feature.name, source)} cannot be read {position}: "
            f"{error.problem}. Its formula is {quoted(feature.formula)}."
        ) from error


def _where(line: int | None, name: str, source: str) -> str:
    location = source if line is None else f"line {line} of {source}"
    return f"Feature {quoted(name)} ({location})"
