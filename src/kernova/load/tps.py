"""TPS files: what the programs of the tps series and their many imitators write."""

import math
import os
import re
from collections import Counter
from typing import Literal

import numpy as np

from kernova.errors import InputError
from kernova.files import replacing
from kernova.load.specimens import Landmarks, Negative, Points, refuse_other_meaning
from kernova.load.tps_records import Record, read_records

IdsFrom = Literal["auto", "id", "image", "number"]


def read_tps(
    path: str | os.PathLike[str],
    *,
    negative: Negative = "values",
    scaled: bool = False,
    ids_from: IdsFrom = "auto",
) -> Landmarks:
    r"""Read landmarks from a TPS file.

    Each specimen starts with ``LM=`` (or ``LM3=`` in space) and its coordinates; ``CURVES``,
    ``OUTLINES`` and their ``POINTS``, ``IMAGE``, ``ID``, ``SCALE`` (which may be empty),
    ``VARIABLES`` and ``COMMENT`` follow in any order. Capitals do not matter, nor do blanks, blank
    lines, line ends, or whether decimals stand after a point or a comma. A missing landmark is
    written ``NA NA``.

    Parameters
    ----------
    path : str or path
        The file: UTF-8, or the one-byte encoding of Western Windows programs.
    negative : {"values", "missing"}
        What a negative coordinate means: itself, or, as some digitising programs write it, that
        the landmark is missing.
    scaled : bool
        Whether to multiply the coordinates by their ``SCALE``, which every specimen must then
        have; see :meth:`Landmarks.in_real_units`.
    ids_from : {"auto", "id", "image", "number"}
        What names the specimens: the text of ``ID``, that of ``IMAGE``, or the number of the
        specimen in the file, from ``"1"``. By default the first of ``ID`` and ``IMAGE`` that
        every specimen has and no two share, since merged files often repeat their ``ID``; the
        number, if no specimen has either.

    Returns
    -------
    Landmarks
        The specimens in the order of the file.

    Raises
    ------
    InputError
        If the file cannot be followed, or specimens differ in their number of landmarks; the
        sentence names the line and the specimen.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.load.landmarks import read_tps
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "snails.tps"
    >>> _ = path.write_text("LM=2\n1,5 2\n3 4\nID=snail 7\nSCALE=0,5\n")
    >>> snails = read_tps(path)
    >>> snails.ids, snails.coordinates.tolist(), snails.scales.tolist()
    (('snail 7',), [[[1.5, 2.0], [3.0, 4.0]]], [0.5])
    """
    refuse_other_meaning(negative)
    if ids_from not in ("auto", "id", "image", "number"):
        raise InputError(f"ids_from is {ids_from!r}; it must be 'auto', 'id', 'image' or 'number'.")
    source = os.fspath(path)
    records = read_records(source, negative)
    ids = _ids(records, ids_from, source)
    _refuse_unequal(records, ids, source)
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
    )
    return landmarks.in_real_units() if scaled else landmarks


def write_tps(landmarks: Landmarks, path: str | os.PathLike[str]) -> None:
    r"""Write landmarks to a TPS file, so that reading it gives the same again.

    Numbers are written with all their digits, a missing landmark as ``NA NA``, text as UTF-8.

    Parameters
    ----------
    landmarks : Landmarks
        The specimens.
    path : str or path
        The file to write; it is whole or not there.

    Raises
    ------
    InputError
        If a text cannot stand on one line of the file, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from kernova.load.landmarks import Landmarks, write_tps
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.tps"
    >>> write_tps(Landmarks(("a 1",), np.array([[[0.1, 2.0], [np.nan, np.nan]]])), path)
    >>> path.read_text()
    'LM=2\n0.1 2.0\nNA NA\nID=a 1\n'
    """
    written = [line for k in range(len(landmarks)) for line in _lines_of(landmarks, k)]
    with replacing(path) as scratch:
        scratch.write_bytes("".join(f"{line}\n" for line in written).encode("utf-8"))


# --- ids, and what specimens must have in common ---------------------------------------------


def _ids(records: list[Record], ids_from: IdsFrom, source: str) -> tuple[str, ...]:
    numbers = tuple(str(number) for number in range(1, len(records) + 1))
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
    _refuse_shared(records, named[name], name, source)
    return named[name]


def _refuse_shared(records: list[Record], ids: tuple[str, ...], name: str, source: str) -> None:
    first_place: dict[str, int] = {}
    for place, text in enumerate(ids):
        if not text:
            raise InputError(
                f"Specimen {place + 1} of {source} (line {records[place].line}) has no {name}=; "
                "give it one, or let something else name the specimens (ids_from)."
            )
        if text in first_place:
            first = first_place[text]
            raise InputError(
                f"Specimens {first + 1} and {place + 1} of {source} (lines {records[first].line} "
                f"and {records[place].line}) have the same {name}={text}; ids must differ. Rename "
                "one, or let something else name the specimens (ids_from)."
            )
        first_place[text] = place


def _refuse_unequal(records: list[Record], ids: tuple[str, ...], source: str) -> None:
    """Refuse specimens that do not all have the landmarks that most of them have."""
    shapes = [record.points.shape for record in records]
    usual = Counter(shapes).most_common(1)[0][0]
    for record, name in zip(records, ids, strict=True):
        if record.points.shape != usual:
            like = shapes.index(usual)
            raise InputError(
                f"Specimen {name!r} of {source} (line {record.line}) has {_landmarks(record)}, but "
                f"{ids[like]!r} (line {records[like].line}) has {_landmarks(records[like])}; give "
                "all the same landmarks, NA NA for a missing one, or leave the specimen out."
            )


def _landmarks(record: Record) -> str:
    n_landmarks, n_dimensions = record.points.shape
    return f"{n_landmarks} landmarks" + (" in space" if n_dimensions == 3 else "")


# --- writing ---------------------------------------------------------------------------------


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
    # What the reader would cut off, end the line at, or refuse cannot come back as it was.
    if text != text.strip() or re.search("[\0\r\n\ud800-\udfff]", text):
        raise InputError(
            f"The {name} {text!r} of specimen {specimen!r} cannot stand on one line of a TPS file; "
            "remove outer blanks, line ends and damaged characters."
        )
    return f"{name}={text}"
