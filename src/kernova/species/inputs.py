"""From files to a question about species: specimens, their groups, and what is asked of them."""

import difflib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from kernova.errors import InputError
from kernova.shapes import (
    Landmarks,
    groups_from_pattern,
    groups_from_table,
    read_landmark_table,
    read_tps,
)
from kernova.shapes.features import ShapeFeatures
from kernova.shapes.landmarks import Negative
from kernova.shapes.tps import IdsFrom
from kernova.text import listed

_TPS = ".tps"
_MOST_NEAR = 5


@dataclass(frozen=True)
class Reading:
    """How landmark files are to be read.

    Attributes
    ----------
    negative : {"values", "missing"}
        What a negative coordinate means.
    ids_from : {"auto", "id", "image", "number"}
        What names the specimens of a TPS file.
    id_column : str or None
        The column that names the specimens of a wide table, or of the table of groups.
    """

    negative: Negative = "values"
    ids_from: IdsFrom = "auto"
    id_column: str | None = None


class Specimens(NamedTuple):
    """Specimens, and the other columns where they came from a wide table."""

    landmarks: Landmarks
    others: pd.DataFrame | None


def check_question(unknown: str | None, each: bool, test: object) -> None:
    """Refuse none and several questions at once."""
    asked = [
        option
        for option, is_given in (
            ("--unknown", unknown is not None),
            ("--each", each),
            ("--test", test is not None),
        )
        if is_given
    ]
    if len(asked) != 1:
        raise InputError(
            "Ask one question: --unknown NAME whether a group is new, --each whether every group "
            "would be, or --test FILE whether single specimens are. "
            + (f"Here are {' and '.join(asked)}." if asked else "Here is none.")
        )


def read_specimens(path: str | os.PathLike[str], reading: Reading | None = None) -> Specimens:
    """Read landmarks from a TPS file or, by any other ending, from a wide table."""
    reading = reading or Reading()
    if Path(path).suffix.lower() == _TPS:
        return Specimens(read_tps(path, negative=reading.negative, ids_from=reading.ids_from), None)
    table = read_landmark_table(path, id_column=reading.id_column, negative=reading.negative)
    return Specimens(table.landmarks, table.others)


def groups_of(
    specimens: Specimens,
    *,
    groups: str | os.PathLike[str] | None = None,
    group_column: str | None = None,
    id_pattern: str | None = None,
    id_column: str | None = None,
) -> tuple[str, ...]:
    """Find the group of each specimen: in a table, in their own table, or in a part of their ids.

    Parameters
    ----------
    specimens : Specimens
        As :func:`read_specimens` gives them.
    groups : path, optional
        A table with a row for each specimen.
    group_column : str, optional
        Its column of groups; without ``groups``, a column of the specimens' own wide table.
    id_pattern : str, optional
        A regular expression with the group in parentheses, instead of a column.
    id_column : str, optional
        The column of ids in ``groups``.

    Returns
    -------
    tuple of str
        One group per specimen.
    """
    landmarks = specimens.landmarks
    if id_pattern is not None:
        if groups is not None or group_column is not None:
            raise InputError(
                "Groups come either from a column or from a pattern in the ids. Give --id-pattern "
                "alone, or leave it out."
            )
        return groups_from_pattern(id_pattern, landmarks.ids)
    if groups is not None:
        if group_column is None:
            raise InputError(f"Which column of {os.fspath(groups)} is it? Give --group-column.")
        return groups_from_table(
            groups, landmarks.ids, group_column=group_column, id_column=id_column
        )
    if specimens.others is None or group_column is None:
        raise InputError(
            f"The groups of the specimens of {landmarks.source} are not known. Give --groups with "
            "--group-column, or --id-pattern."
        )
    # The table itself has the groups: read again, so that they stay text as written.
    return groups_from_table(
        landmarks.source, landmarks.ids, group_column=group_column, id_column=id_column
    )


def check_unknown(unknown: str, groups: Sequence[str]) -> None:
    """Refuse the name of a group that no specimen is of, and say which names are near it."""
    names = sorted(set(groups))
    if unknown in names:
        return
    by_small_letters = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(unknown.casefold(), by_small_letters, n=_MOST_NEAR)
    advice = (
        f"Near it: {listed(by_small_letters[name] for name in near)}."
        if near
        else f"There are {listed(names)}."
    )
    raise InputError(f"No specimen is of a group {unknown!r}. {advice}")


def check_enough(groups: Sequence[str], held_out: Sequence[str] = ()) -> None:
    """Refuse known specimens that cannot be halved, whichever of the groups is held out."""
    counts = Counter(str(name) for name in groups)
    asked: Sequence[str | None] = held_out or [None]
    for unknown in asked:
        known = [n for name, n in counts.items() if name != unknown]
        if max(known, default=0) < 2:
            words = "" if unknown is None else f" beside {unknown!r}"
            raise InputError(
                f"There are too few known specimens{words}: {sum(known)}, no two of one group. "
                "Half of a group is learnt from and half is held out, so some group must have 2 "
                "or more."
            )


def check_landmarks(landmarks: Landmarks) -> None:
    """Refuse specimens with so few landmarks that, without one of them, no shape is left."""
    least = landmarks.n_dimensions + 1
    if landmarks.n_landmarks < least:
        raise InputError(
            f"The specimens of {landmarks.source} have {landmarks.n_landmarks} "
            f"{'landmark' if landmarks.n_landmarks == 1 else 'landmarks'} each; to compare shapes "
            f"takes at least {least}."
        )


def refuse_copies(known: Landmarks, new: Landmarks) -> None:
    """Refuse new specimens that are known ones: they would look usual whatever they are."""
    if known.coordinates.shape[1:] != new.coordinates.shape[1:]:
        return  # the study says so better
    place_of = {points.tobytes(): place for place, points in enumerate(known.coordinates)}
    found = [
        (place_of[points.tobytes()], place)
        for place, points in enumerate(new.coordinates)
        if points.tobytes() in place_of
    ]
    if found:
        first_known, first_new = found[0]
        raise InputError(
            f"{len(found)} of {len(new)} specimens of {new.source} are in {known.source} too, "
            f"coordinate for coordinate: {new.ids[first_new]!r} is {known.ids[first_known]!r}. "
            "Leave them out of one of the files."
        )


def feature_notes(features: ShapeFeatures | None, n_dimensions: int) -> list[str]:
    """Say what alignment does to features that depend on how a specimen lies, or on its size."""
    if features is None:
        return []
    notes = []
    if features.orientation_dependent:
        notes.append(
            f"{_named(features.orientation_dependent)}: measured on aligned shapes, where "
            "horizontal is the direction in which the consensus is longest, from the end of "
            "landmark 1 to the other."
        )
    if features.size_dependent:
        notes.append(
            f"{_named(features.size_dependent)}: measured on shapes of centroid size 1, since "
            "alignment takes size out. Divide by a length, or add the size as a column of its own."
        )
    if n_dimensions == 3 and features.orientation_dependent:
        notes.append("Of three axes, vertical is the second and horizontal the first.")
    return notes


def missing_note(landmarks: Landmarks) -> list[str]:
    """Say how many landmarks are missing, if any are."""
    n_missing = int(np.count_nonzero(landmarks.is_missing))
    if not n_missing:
        return []
    n_specimens = int(np.count_nonzero(landmarks.is_missing.any(axis=1)))
    return [
        f"{n_missing} of {landmarks.is_missing.size} landmarks of {landmarks.source} are missing, "
        f"in {n_specimens} of {len(landmarks)} specimens; each was estimated from the others."
    ]


def _named(names: Sequence[str]) -> str:
    return ", ".join(names)
