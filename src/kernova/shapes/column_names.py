"""Names of columns that hold the coordinates of landmarks, as various programs write them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

# Brackets stand for a separator: "LM1 (x)", x[1] and X(1); R makes x.1. of the latter two.
_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]")
_GAP = r"[ ._-]{0,2}"
# x1, X_1, "x 1"; 1.X and X1.X, as R names the columns of a flattened array; LM1_x.
_AXIS_FIRST = re.compile(rf"([xyz]){_GAP}([0-9]{{1,6}})", re.IGNORECASE)
_NUMBER_FIRST = re.compile(rf"(?:x|lm|landmark)?{_GAP}([0-9]{{1,6}}){_GAP}([xyz])", re.IGNORECASE)
# p1x, pt1.x, point_1_x.
_PREFIXED = re.compile(rf"([a-z][a-z ._-]*?){_GAP}([0-9]{{1,6}}){_GAP}([xyz])", re.IGNORECASE)
_NAMED = re.compile(r"(.*[^ ._-])[ ._]{1,2}([xyz])", re.IGNORECASE)
_NAMED_LAST = re.compile(r"([xyz])[ ._]{1,2}([a-z].*)", re.IGNORECASE)
# Names made unique by pandas or R: x, y, x.1, y.1.
_UNIQUE = re.compile(r"([xyz])\.([0-9]{1,6})", re.IGNORECASE)
_COORD = re.compile(r"((?:raw|proc)?[ _]?coord)[ ._]?([0-9]{1,6})", re.IGNORECASE)
_COUNTED = re.compile(r"(.*?[^0-9])([0-9]{1,6})")
# Fewer do not have a shape; x1, y1, x2, y2 may be the corners of a box.
FEWEST_LANDMARKS = 3
_LONGEST = 200
# Vectors, figures and measurements with axes, or with the _x and _y of two joined tables.
_NO_LANDMARKS = frozenset(
    {
        "acc", "accel", "acceleration", "accelerometer", "gyro", "gyroscope", "mag",
        "magnetometer", "vel", "velocity", "speed", "force", "torque", "gravity", "wind",
        "gradient", "moment", "flow", "current", "field", "rotation", "orientation",
        "angle", "mean", "median", "std", "sd", "var", "min", "max", "range", "error",
        "offset", "scale", "size", "length", "width", "height", "depth", "mass", "weight",
        "area", "volume", "age", "count", "year", "date", "time", "id", "name", "label",
        "species", "sex", "site", "start", "end",
    }
)  # fmt: skip


class Coordinate(NamedTuple):
    """What the name of a column says: which landmark, and which of its axes."""

    label: int | str
    axis: str


Found = dict[Coordinate, str]  # the name of each column


def coordinate_of(name: str) -> Coordinate | None:
    """Landmark and axis of a name such as x1, X[1], 1.X or LM1_x; None for any other.

    Examples
    --------
    >>> coordinate_of("LM1 (x)")
    Coordinate(label=1, axis='x')
    """
    text = _plain(name)
    if found := _AXIS_FIRST.fullmatch(text):
        return Coordinate(int(found[2]), found[1].lower())
    if found := _NUMBER_FIRST.fullmatch(text):
        return Coordinate(int(found[1]), found[2].lower())
    return None


def columns_by_landmark(
    names: Sequence[str], fewest: int = FEWEST_LANDMARKS
) -> list[tuple[str, ...]] | None:
    """Columns of each landmark, None if names do not give whole landmarks in one way.

    Landmarks have numbers, from 0 or from 1 to the last, or names; named ones are in the order of
    the columns.

    Examples
    --------
    >>> columns_by_landmark(["id", "x", "y", "x.1", "y.1", "x.2", "y.2"])
    [('x', 'y'), ('x.1', 'y.1'), ('x.2', 'y.2')]
    """
    for found in (_made_unique(names), _numbered(names)):
        if found and (rows := _rows(found, fewest)):
            return rows
    families = [rows for one in _prefixed(names).values() if (rows := _rows(one, fewest))]
    if families:
        return families[0] if len(families) == 1 else None
    return _named_rows(names)


def columns_of_coordinates(
    names: Sequence[str], dimensions: int | None = None
) -> list[tuple[str, ...]] | None:
    """Columns of each landmark by names such as Coord1, RawCoord2 or ProcCoord3.

    They are read as landmarks in the plane if their number allows it. With a number of dimensions
    given, any one text with the numbers from 1 will do, such as V1, V2.

    Examples
    --------
    >>> columns_of_coordinates(["id", *(f"Coord{k}" for k in range(1, 7))])
    [('Coord1', 'Coord2'), ('Coord3', 'Coord4'), ('Coord5', 'Coord6')]
    """
    patterns = [_COORD] if dimensions is None else [_COORD, _COUNTED]
    for pattern in patterns:
        families = _families(names, pattern).values()
        found = [rows for one in families if (rows := _rows_of_coordinates(one, dimensions))]
        if len(found) == 1:
            return found[0]
    return None


def _families(names: Sequence[str], pattern: re.Pattern[str]) -> dict[str, dict[int, str]]:
    """Return columns by their numbers, for each text before the numbers."""
    families: dict[str, dict[int, str]] = {}
    for name in names:
        if match := pattern.fullmatch(name.strip()[:_LONGEST]):
            families.setdefault(match[1].lower(), {})[int(match[2])] = name
    return families


def _rows_of_coordinates(
    by_number: dict[int, str], dimensions: int | None
) -> list[tuple[str, ...]] | None:
    n_columns = len(by_number)
    if dimensions is None:
        dimensions = 3 if n_columns % 3 == 0 and n_columns % 2 else 2
    if n_columns % dimensions or n_columns < FEWEST_LANDMARKS * dimensions:
        return None
    if sorted(by_number) != list(range(1, n_columns + 1)):
        return None
    return [
        tuple(by_number[first + axis] for axis in range(dimensions))
        for first in range(1, n_columns + 1, dimensions)
    ]


def misunderstood(names: Sequence[str]) -> str | None:
    """Sentence on columns that look like landmarks but are not; None if there are none.

    Examples
    --------
    >>> print(misunderstood(["x1", "y1", "x2", "y2", "x4", "y4"]))
    Columns such as x1 and y1 look like landmarks, but there is no x of landmark 3; they are
    compared as they are.
    """
    if columns_by_landmark(names) is not None:
        return None
    families = [
        _made_unique(names), _numbered(names), *_prefixed(names).values(), _named(names),
        _found(_named_last(names)),
    ]  # fmt: skip
    pairs = [(found, _pairs(found)) for found in families if found]
    looking = [(found, pair) for found, pair in pairs if len(pair) >= FEWEST_LANDMARKS]
    if not looking:
        return None
    found, pair = looking[0]
    x, y = (found[Coordinate(pair[0], axis)].strip() for axis in "xy")
    return (
        f"Columns such as {x} and {y} look like landmarks, but {_why_not(found)}; they are "
        "compared as they are."
    )


def _plain(name: str) -> str:
    text = name.strip()
    if len(text) > _LONGEST:
        return ""
    return _BRACKETS.sub(lambda found: f"_{found[1].strip()}", text).rstrip(".")


def _found(coordinates: Iterable[tuple[str, Coordinate | None]]) -> Found | None:
    """Return the column of each coordinate, None if one has two."""
    found: Found = {}
    for name, coordinate in coordinates:
        if coordinate in found:
            return None
        if coordinate is not None:
            found[coordinate] = name
    return found


def _numbered(names: Sequence[str]) -> Found | None:
    return _found((name, coordinate_of(name)) for name in names)


def _made_unique(names: Sequence[str]) -> Found | None:
    """Return landmarks of which the first has the bare names x, y, and the next x.1, y.1."""
    bare = {name.strip().lower() for name in names} & set("xyz")
    if not {"x", "y"} <= bare:
        return None
    parts = [(name, _UNIQUE.fullmatch(name.strip())) for name in names]
    numbered = [(name, Coordinate(int(p[2]), p[1].lower())) for name, p in parts if p]
    axes = {coordinate.axis for _, coordinate in numbered}
    first = [
        (name, Coordinate(0, name.strip().lower())) for name in names
        if name.strip().lower() in axes
    ]  # fmt: skip
    return _found([*first, *numbered]) if numbered else None


def _prefixed(names: Sequence[str]) -> dict[str, Found]:
    """Return the numbered landmarks of each prefix, such as p of p1x."""
    families: dict[str, list[tuple[str, Coordinate]]] = {}
    for name in names:
        if (match := _PREFIXED.fullmatch(_plain(name))) and not _is_measured(match[1]):
            coordinate = Coordinate(int(match[2]), match[3].lower())
            families.setdefault(match[1].lower(), []).append((name, coordinate))
    found = {prefix: _found(columns) for prefix, columns in families.items()}
    return {prefix: columns for prefix, columns in found.items() if columns}


def _named(names: Sequence[str]) -> Found | None:
    matches = ((name, _NAMED.fullmatch(_plain(name))) for name in names)
    return _found((name, Coordinate(m[1].lower(), m[2].lower()) if m else None)
                  for name, m in matches)  # fmt: skip


def _named_last(names: Sequence[str]) -> Iterator[tuple[str, Coordinate | None]]:
    for name in names:
        match = _NAMED_LAST.fullmatch(_plain(name))
        yield name, Coordinate(match[2].lower(), match[1].lower()) if match else None


def _named_rows(names: Sequence[str]) -> list[tuple[str, ...]] | None:
    found = _named(names)
    if not found:
        return None
    labels = list(dict.fromkeys(str(label) for label, _ in found))
    stems = {label.rstrip("0123456789") for label in labels}
    is_gap = len(stems) == 1  # of numbers that are not those of all landmarks
    axes = _axes(found)
    # In space, three landmarks are too few, but three vectors are common.
    is_few = len(labels) < max(FEWEST_LANDMARKS, len(axes) + 1)
    if is_gap or is_few or any(_is_measured(label) for label in labels):
        return None
    if len(found) != len(labels) * len(axes):
        return None
    return [tuple(found[Coordinate(label, axis)] for axis in axes) for label in labels]


def _is_measured(label: str) -> bool:
    return not _NO_LANDMARKS.isdisjoint(re.findall("[a-z]+", label.lower()))


def _axes(found: Found) -> str:
    return "xyz" if any(axis == "z" for _, axis in found) else "xy"


def _rows(found: Found, fewest: int) -> list[tuple[str, ...]] | None:
    """Return numbered landmarks in order; None unless all are there, from 0 or 1 to the last."""
    axes = _axes(found)
    numbers = sorted({int(label) for label, _ in found})
    n_landmarks = len(numbers)
    is_consecutive = numbers in (list(range(n_landmarks)), list(range(1, n_landmarks + 1)))
    if n_landmarks < fewest or not is_consecutive or len(found) != n_landmarks * len(axes):
        return None
    return [tuple(found[Coordinate(number, axis)] for axis in axes) for number in numbers]


def _pairs(found: Found) -> list[int | str]:
    """Return the labels that have both x and y."""
    return [
        label for label, axis in found if axis == "x" and Coordinate(label, "y") in found
    ]  # fmt: skip


def _why_not(found: Found) -> str:
    """Return what is wrong with names: the first coordinate that is absent, if they are numbers."""
    labels = list(dict.fromkeys(label for label, _ in found))
    numbers = sorted(label for label in labels if isinstance(label, int))
    expected: Sequence[int | str] = labels
    if numbers:
        expected = range(min(numbers[0], 1), min(numbers[-1], len(numbers) + 1) + 1)
    for label in expected:
        for axis in _axes(found):
            if Coordinate(label, axis) not in found:
                return f"there is no {axis} of landmark {label}"
    return "their names are not understood"
