"""Curves of semilandmarks: files of sliders, and the curves of TPS files as landmarks."""

import os
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kernova.errors import InputError, quoted
from kernova.shapes.landmarks import Landmarks, Points
from kernova.textfiles import Line, read_lines
from kernova.typing import Coordinates, Indices, Vector

__all__ = ["CurvedLandmarks", "landmarks_with_curves", "read_sliders"]

_COLUMNS = ("before", "slide", "after")
_SEPARATORS = re.compile(r"[,;\s]+")


class CurvedLandmarks(NamedTuple):
    """Landmarks followed by semilandmarks, and rows [before, slide, after], counted from 0."""

    landmarks: Landmarks
    sliders: Indices


def read_sliders(path: str | os.PathLike[str]) -> Indices:
    r"""Sliders of semilandmarks from a file, as rows [before, slide, after] counted from 0.

    The file has one row of three landmark numbers, counted from 1, per sliding point, separated
    by commas, semicolons or blanks. A header with the names before, slide and after (as
    geomorph's ``define.sliders`` writes it) gives the order of the columns and may name others,
    such as row names. A line ``SLIDERS=n`` or the line ``1 n 3 0`` of an NTS file may precede
    the rows; n is then compared with their number.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8 or Windows-1252.

    Returns
    -------
    ndarray of shape (n_sliders, 3)
        For :func:`kernova.shapes.sliding.slide_semilandmarks`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.shapes.curves import read_sliders
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "curveslide.csv"
    >>> _ = path.write_text('"before","slide","after"\n1,3,4\n3,4,2\n')
    >>> read_sliders(path)
    array([[0, 2, 3],
           [2, 3, 1]])
    """
    source = os.fspath(path)
    lines = [line for line in read_lines(source) if line.text[0] != "#"]
    places: list[int] = [0, 1, 2]
    announced: int | None = None
    if lines and (named := _named_columns(lines[0])) is not None:
        places, lines = named, lines[1:]
    elif lines and (count := _announced(lines)) is not None:
        announced, lines = count, lines[1:]
    rows = [_slider(line, places, source) for line in lines]
    if not rows or announced not in (None, len(rows)):
        wanted = "rows" if announced is None else f"{announced} rows"
        raise InputError(
            f"{source} has {len(rows)} sliders; expected {wanted} of three landmark numbers "
            "(before, slide, after). Complete the file."
        )
    return np.array(rows, dtype=np.intp) - 1


def landmarks_with_curves(landmarks: Landmarks, *, tolerance: float = 1e-9) -> CurvedLandmarks:
    """Semilandmarks from curves: append the points of each curve to the landmarks.

    The points between the ends of a curve slide. An end that coincides with the same landmark,
    or with the end of an earlier curve, in all specimens is that landmark; otherwise it becomes
    a fixed landmark of its own. If specimens have different numbers of points on a curve, all
    are resampled to the smallest number, at equal distances along the curve.

    Parameters
    ----------
    landmarks : Landmarks
        Specimens with equally many curves each; see :func:`kernova.shapes.read_tps`.
    tolerance : float, default=1e-9
        How far an end may be from a landmark to coincide with it, as a fraction of the longest
        side of the specimen's curve. Digitised ends that were meant to coincide may need 0.02.

    Returns
    -------
    CurvedLandmarks
        Landmarks without curves, and their sliders.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks
    >>> from kernova.shapes.curves import landmarks_with_curves
    >>> curve = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 1.0], [3.0, 0.0]])
    >>> fish = Landmarks(("a",), np.array([[[0.0, 0.0], [5.0, 5.0]]]), curves=((curve,),))
    >>> curved, sliders = landmarks_with_curves(fish)
    >>> curved.n_landmarks
    5
    >>> sliders
    array([[0, 2, 3],
           [2, 3, 4]])
    """
    n_curves = _number_of_curves(landmarks)
    fixed, points = list(range(landmarks.n_landmarks)), landmarks.coordinates
    sliders: list[list[int]] = []
    for which in range(n_curves):
        curve = _corresponding_points(landmarks, which)
        start = _landmark_at(curve[:, 0], points, fixed, curve, tolerance)
        own_start = curve[:, : 1 if start is None else 0]
        first = points.shape[1] if start is None else start
        points = np.concatenate([points, own_start], axis=1)
        fixed += [first] if start is None else []
        inner = list(range(points.shape[1], points.shape[1] + curve.shape[1] - 2))
        points = np.concatenate([points, curve[:, 1:-1]], axis=1)
        end = _landmark_at(curve[:, -1], points, fixed, curve, tolerance)
        last = points.shape[1] if end is None else end
        points = np.concatenate([points, curve[:, curve.shape[1] if end is not None else -1 :]], 1)
        fixed += [last] if end is None else []
        chain = [first, *inner, last]
        sliders += [chain[k - 1 : k + 2] for k in range(1, len(chain) - 1)]
    table = np.array(sliders, dtype=np.intp).reshape(-1, 3)
    return CurvedLandmarks(replace(landmarks, coordinates=points, curves=()), table)


def resampled(curve: Points, n_points: int) -> Points:
    """Points at equal distances along a curve; its ends stay.

    Examples
    --------
    >>> import numpy as np
    >>> resampled(np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0]]), 3)
    array([[0., 0.],
           [2., 0.],
           [4., 0.]])
    """
    steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0, along[-1], n_points)
    return np.column_stack([np.interp(wanted, along, axis) for axis in curve.T])


def _named_columns(line: Line) -> list[int] | None:
    """Return where before, slide and after stand if the line is a header that names them."""
    separator = "," if "," in line.text else ";" if ";" in line.text else None
    names = [name.strip(" \"'").lower() for name in line.text.split(separator)]
    return [names.index(name) for name in _COLUMNS] if set(_COLUMNS) <= set(names) else None


def _announced(lines: list[Line]) -> int | None:
    """Return the number of sliders that the first line gives, None if it is a slider."""
    text = lines[0].text
    keyword = re.fullmatch(r"SLIDERS\s*=\s*(\d+)", text, re.IGNORECASE)
    nts = re.fullmatch(r"1\s+(\d+)\s+3\s+0", text)
    found = keyword or nts
    return None if found is None else int(found[1])


def _slider(line: Line, places: list[int], source: str) -> list[int]:
    """Return the three landmark numbers of a row."""
    fields = [field.strip("\"'") for field in _SEPARATORS.split(line.text)]
    is_long_enough = len(fields) == 3 or (places != [0, 1, 2] and len(fields) > max(places))
    texts = [fields[place] for place in places] if is_long_enough else []
    if not texts or not all(re.fullmatch(r"0*[1-9]\d{0,8}", text) for text in texts):
        raise InputError(
            f"Line {line.number} of {source}: expected three landmark numbers counted from 1 "
            f"(before, slide, after), got {quoted(line.text)}; correct it."
        )
    return [int(text) for text in texts]


def _number_of_curves(landmarks: Landmarks) -> int:
    counts = [len(curves) for curves in landmarks.curves]
    most = max(counts, default=0)
    if most == 0:
        raise InputError(
            f"There are no curves in {landmarks.source}; digitise some, or leave out sliding."
        )
    for name, count in zip(landmarks.ids, counts, strict=True):
        if count != most:
            raise InputError(
                f"Specimen {quoted(name)} has {count} curves, others have {most}. Digitise the "
                "same curves in all specimens, or leave it out."
            )
    return most


def _corresponding_points(landmarks: Landmarks, which: int) -> Coordinates:
    """Return one curve of all specimens with equally many points each."""
    curves = [specimen[which] for specimen in landmarks.curves]
    for name, points in zip(landmarks.ids, curves, strict=True):
        if len(points) < 3 or not np.isfinite(points).all():
            raise InputError(
                f"Curve {which + 1} of specimen {quoted(name)} has {len(points)} points, or some "
                "are missing; a curve needs three or more. Complete it, or leave it out."
            )
    fewest = min(len(points) for points in curves)
    if any(len(points) != fewest for points in curves):
        curves = [resampled(points, fewest) for points in curves]
    return np.stack(curves)


def _landmark_at(
    end: Points, points: Coordinates, fixed: list[int], curve: Coordinates, tolerance: float
) -> int | None:
    """Return the fixed landmark that coincides with an end of the curve in all specimens.

    Specimens in which the landmark is missing are left out of the comparison.
    """
    sides: Vector = np.ptp(curve, axis=1).max(axis=1)
    gaps = np.linalg.norm(points[:, fixed] - end[:, None], axis=2) / sides[:, None]
    is_seen = np.isfinite(gaps)
    is_same = np.where(is_seen, gaps <= tolerance, True).all(axis=0) & is_seen.any(axis=0)
    if not is_same.any():
        return None
    nearest = np.where(is_same, np.where(is_seen, gaps, 0).sum(axis=0), np.inf)
    return fixed[int(np.argmin(nearest))]
