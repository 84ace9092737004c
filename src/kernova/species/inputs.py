"""Inputs of a species study: reading specimens and groups, and checking them before the study."""

import difflib
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from kernova.errors import InputError, quoted
from kernova.shapes import (
    Landmarks,
    Specimens,
    groups_from_column,
    groups_from_pattern,
    groups_from_table,
    read_landmarks,
)
from kernova.shapes.features import ShapeFeatures
from kernova.shapes.landmarks import Negative
from kernova.shapes.preparation import CurvesAs, prepare_landmarks
from kernova.shapes.tps import IdsFrom
from kernova.shapes.wide_tables import id_column_in, ids_of
from kernova.tables.fill_values import core_ranges
from kernova.tables.formats import read_raw
from kernova.text import first_few, format_value, listed, plural, quantity
from kernova.typing import Indices, Mask

_MAX_SUGGESTIONS = 5
_WHOLE_SPECIMEN = 0.5
# Shapes of specimens that lack more landmarks rest largely on estimates.
_MANY_MISSING = 1 / 3
_MAX_NAMED = 5
_MAX_GROUPS_NAMED = 3


@dataclass(frozen=True)
class Reading:
    """Options for reading landmark files."""

    negative: Negative = "values"  # the meaning of negative coordinates
    ids_from: IdsFrom = "auto"  # the source of the specimens' ids in a TPS file
    id_column: str | None = None  # the id column of a wide table, or of the table of groups


def check_one_question(
    unknown: str | None, each: bool, test: object, covariates: Sequence[str] = ()
) -> None:
    """Raise unless exactly one question is asked, in which covariates, if any, have a part."""
    given = {"unknown": unknown is not None, "each": each, "test": test is not None}
    asked = [name for name, is_given in given.items() if is_given]
    if len(asked) != 1:
        raise InputError(
            "Set exactly one of unknown=NAME (is this group new?), each=True (would each group "
            "look new?) and test=FILE (are single specimens new?); got "
            f"{' and '.join(f'`{name}`' for name in asked) or 'none'}."
        )
    if covariates and test is not None:
        raise InputError(
            "Single specimens are tested without covariates, which adjust the comparison of "
            "groups. Leave out `covariate`, or test a group with unknown=NAME or each=True."
        )


def read_specimens(path: str | os.PathLike[str], reading: Reading | None = None) -> Specimens:
    """Read landmarks in any format of :func:`kernova.shapes.read_landmarks`."""
    reading = reading or Reading()
    return read_landmarks(
        path, negative=reading.negative, ids_from=reading.ids_from, id_column=reading.id_column
    )


def groups_of(
    specimens: Specimens,
    *,
    groups: str | os.PathLike[str] | None = None,
    group_column: str | None = None,
    id_pattern: str | None = None,
    id_column: str | None = None,
) -> tuple[str, ...]:
    """Return the group of each specimen, from a table, their own table or a part of their ids.

    Parameters
    ----------
    specimens : Specimens
        As returned by :func:`read_specimens`.
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
                "Groups come either from a column or from a pattern in the ids. Use "
                "`id_pattern` without `groups` and `group_column`, or leave it out."
            )
        return groups_from_pattern(id_pattern, landmarks.ids)
    if groups is not None:
        if group_column is None:
            raise InputError(
                f"The column of groups in {os.fspath(groups)} is not named; set group_column."
            )
        return groups_from_table(
            groups, landmarks.ids, group_column=group_column, id_column=id_column
        )
    if specimens.others is None or group_column is None:
        raise InputError(
            f"The groups of the specimens of {landmarks.source} are not known. Set "
            "`groups` with `group_column`, or `id_pattern`."
        )
    return groups_from_column(specimens, group_column, id_column=id_column)


def columns_of(
    specimens: Specimens,
    *,
    groups: str | os.PathLike[str] | None = None,
    group_column: str | None = None,
    id_column: str | None = None,
) -> pd.DataFrame | None:
    """Return whatever else is known of the specimens, one row each.

    That is their own columns, and those of the table of groups.

    The column of groups is left out. Where both have a column, the table of groups counts.
    """
    parts = []
    if specimens.others is not None:
        parts.append(specimens.others.reset_index(drop=True))
    if groups is not None:
        parts.append(_beside(groups, specimens.landmarks.ids, id_column))
    if not parts:
        return None
    found = pd.concat(parts[::-1], axis="columns")
    found = found.loc[:, ~found.columns.duplicated()]
    return found.drop(columns=[group_column] if group_column in found.columns else [])


def _beside(
    path: str | os.PathLike[str], ids: Sequence[str], id_column: str | None
) -> pd.DataFrame:
    """Return the other columns of the table of groups, for these specimens, as text."""
    source = os.fspath(path)
    name = id_column_in(source, id_column)
    columns = read_raw(source, name).columns
    rows = {one: row for row, one in enumerate(ids_of(columns, name))}
    frame = columns.to_pandas().drop(columns=name)
    return frame.iloc[[rows[one] for one in ids]].reset_index(drop=True)


def check_unknown(unknown: str, groups: Sequence[str]) -> None:
    """Raise if no specimen is of the group; the message suggests similar names."""
    names = sorted(set(groups))
    if unknown in names:
        return
    by_lower_case = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(unknown.casefold(), by_lower_case, n=_MAX_SUGGESTIONS)
    advice = (
        f"Similar names: {listed(by_lower_case[name] for name in near)}."
        if near
        else f"There are {listed(names)}."
    )
    raise InputError(f"No specimen belongs to a group {quoted(unknown)}. {advice}")


def check_enough(groups: Sequence[str], held_out: Sequence[str] = ()) -> None:
    """Raise if the known specimens cannot be split in half, for any of the held-out groups."""
    counts = Counter(str(name) for name in groups)
    asked: Sequence[str | None] = held_out or [None]
    for unknown in asked:
        known = [n for name, n in counts.items() if name != unknown]
        if max(known, default=0) < 2:
            beside = "" if unknown is None else f" beside {quoted(unknown)}"
            raise InputError(
                f"There are too few known specimens{beside}: {sum(known)}, no two of one group. "
                "Half of a group is learnt from and half is held out, so some group must have 2 "
                "or more."
            )


def check_landmarks(landmarks: Landmarks) -> None:
    """Raise if the specimens have too few landmarks to be compared, or all lack one."""
    least = landmarks.n_dimensions + 1
    if landmarks.n_landmarks < least:
        raise InputError(
            f"The specimens of {landmarks.source} have "
            f"{quantity(landmarks.n_landmarks, 'landmark')} each; to compare shapes takes at least "
            f"{least}."
        )
    _check_landmarks_seen([landmarks])


def _check_landmarks_seen(sets: Sequence[Landmarks]) -> None:
    """Raise for a landmark that is missing in all specimens."""
    is_seen = np.any([~one.is_missing.all(axis=0) for one in sets], axis=0)
    if not is_seen.all():
        raise InputError(
            f"Landmark {int(np.argmin(is_seen)) + 1} is missing in all "
            f"{sum(map(len, sets))} specimens of {sets[0].source}. Leave it out."
        )


def check_no_shared_specimens(known: Landmarks, new: Landmarks) -> None:
    """Raise if new specimens are also known ones: they would always be called usual."""
    if known.coordinates.shape[1:] != new.coordinates.shape[1:]:
        return  # the study reports different landmarks itself
    known_rows = {points.tobytes(): row for row, points in enumerate(known.coordinates)}
    found = [
        (known_rows[points.tobytes()], row)
        for row, points in enumerate(new.coordinates)
        if points.tobytes() in known_rows
    ]
    if found:
        first_known, first_new = found[0]
        raise InputError(
            f"{len(found)} of {len(new)} specimens of {new.source} are in {known.source} too, "
            f"coordinate for coordinate: {quoted(new.ids[first_new])} is "
            f"{quoted(known.ids[first_known])}. Leave them out of one of the files."
        )


def feature_notes(features: ShapeFeatures | None, n_dimensions: int) -> list[str]:
    """Return notes on features that depend on orientation or size, which alignment removes."""
    if features is None:
        return []
    notes = []
    if features.orientation_dependent:
        notes.append(
            f"{', '.join(features.orientation_dependent)}: measured on aligned shapes, where "
            "horizontal is the direction in which the consensus is longest, from the end of "
            "landmark 1 to the other."
        )
    if features.size_dependent:
        notes.append(
            f"{', '.join(features.size_dependent)}: measured on shapes of centroid size 1, since "
            "alignment removes size. Divide by a length, or add the size as a column of its own."
        )
    if n_dimensions == 3 and features.orientation_dependent:
        notes.append("Of three axes, vertical is the second and horizontal the first.")
    return notes


def scale_notes(landmarks: Landmarks) -> list[str]:
    """Return a note where some specimens have a scale and others have none."""
    has_scale = np.isfinite(landmarks.scales)
    if has_scale.all() or not has_scale.any():
        return []
    n_without = int(np.count_nonzero(~has_scale))
    return [
        f"{n_without} of {len(landmarks)} specimens have no scale, so that sizes are taken in the "
        "units of the file, and are not comparable if magnifications differ."
    ]


@contextmanager
def alignment_notes(*sets: Landmarks) -> Iterator[list[str]]:
    """Collect notes on alignments in the block that did not converge, instead of warnings.

    The list is filled at the end of the block; other warnings are issued then.

    Parameters
    ----------
    sets : Landmarks
        The specimens that are aligned.
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for one in caught:
        if not issubclass(one.category, ConvergenceWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        elif not notes:
            notes.append(_alignment_note(str(one.message), sets))


def _alignment_note(message: str, sets: Sequence[Landmarks]) -> str:
    """Return what did not converge, and how it may be mended if many landmarks are missing."""
    what = message.split(". ")[0].rstrip(".")
    n_missing = np.concatenate([one.is_missing.mean(axis=1) for one in sets])
    n_most = int(np.count_nonzero(n_missing > _WHOLE_SPECIMEN))
    n_some = int(np.count_nonzero(n_missing))
    advice = "Results that are close to a limit may depend on it."
    if n_most:
        lack = plural(n_most, "specimen lacks", "specimens lack")
        them = plural(n_most, "it", "them")
        advice = f"{n_most} {lack} most landmarks; compare the result without {them}."
    elif n_some:
        lack = plural(n_some, "specimen lacks", "specimens lack")
        advice = f"{n_some} {lack} landmarks. {advice}"
    return f"{what}. {advice}"


class FarLandmarks(NamedTuple):
    """Specimens whose far landmarks are missing, and notes on them."""

    landmarks: Landmarks
    notes: list[str]


def without_far_landmarks(landmarks: Landmarks, beside: Landmarks | None = None) -> FarLandmarks:
    """Take landmarks far beyond those of all other specimens, such as at 1e200, for missing ones.

    A specimen of which half or more are far was measured in another unit, which alignment removes.

    Parameters
    ----------
    landmarks : Landmarks
        The specimens.
    beside : Landmarks, optional
        Other specimens with the same landmarks to compare with.
    """
    rows = landmarks.coordinates.reshape(len(landmarks), -1)
    others = rows[:0] if beside is None else beside.coordinates.reshape(len(beside), -1)
    if others.shape[1] != rows.shape[1] or not rows.shape[1]:
        # The study reports different landmarks itself; specimens of curves alone have none yet.
        return FarLandmarks(landmarks, [])
    low, high = core_ranges(np.concatenate([rows, others]))
    is_beyond = (rows < low) | (rows > high)
    is_far: Mask = is_beyond.reshape(landmarks.coordinates.shape).max(axis=2)
    is_far[is_far.mean(axis=1) >= _WHOLE_SPECIMEN] = False
    if not is_far.any():
        return FarLandmarks(landmarks, [])
    coordinates = np.where(is_far[..., np.newaxis], np.nan, landmarks.coordinates)
    return FarLandmarks(
        replace(landmarks, coordinates=coordinates), [_far_landmark_note(landmarks, is_far)]
    )


def specimens_as_read(
    landmarks: Landmarks, digitised: Landmarks | None, beside: Landmarks | None = None
) -> FarLandmarks:
    """Leave far landmarks out of specimens as read.

    Where ``digitised`` are other than these, they were prepared, and those in the file checked.
    """
    if digitised is not None:
        return FarLandmarks(landmarks, [])
    return without_far_landmarks(landmarks, beside)


class PreparedSpecimens(NamedTuple):
    """Sets of specimens to be compared, and the same specimens as they were digitised."""

    landmarks: tuple[Landmarks, ...]  # ``notes`` tell what was done
    # Semilandmarks slid, but sides are not averaged, and missing landmarks are NaN.
    digitised: tuple[Landmarks, ...]


def prepared_specimens(
    sets: Sequence[Landmarks],
    *,
    curves: CurvesAs = "bending",
    sliders: Indices | None = None,
    symmetric: bool = False,
) -> PreparedSpecimens:
    """Prepare known and new specimens; see :func:`kernova.shapes.preparation.prepare_landmarks`.

    Far landmarks are removed before, since they would spoil the consensus.
    """
    near = [without_far_landmarks(one, sets[0] if k else None) for k, one in enumerate(sets)]
    kept = [replace(one, notes=(*one.notes, *notes)) for one, notes in near]
    if len({one.coordinates.shape[1:] for one in kept}) == 1:
        _check_landmarks_seen(kept)
    with alignment_notes(*kept) as notes:
        slid = prepare_landmarks(kept, curves=curves, sliders=sliders)
        prepared = prepare_landmarks(slid, curves="ignore", symmetric=True) if symmetric else slid
    if notes:
        prepared = tuple(replace(one, notes=(*one.notes, *notes)) for one in prepared)
    return PreparedSpecimens(prepared, tuple(map(_with_gaps, slid, kept)))


def _with_gaps(slid: Landmarks, kept: Landmarks) -> Landmarks:
    """Take the landmarks that sliding estimated for missing ones again."""
    if slid.is_missing.any() or not kept.is_missing.any():
        return slid
    coordinates = slid.coordinates.copy()
    coordinates[:, : kept.n_landmarks][kept.is_missing] = np.nan
    return replace(slid, coordinates=coordinates)


def _far_landmark_note(landmarks: Landmarks, is_far: Mask) -> str:
    row, number = np.argwhere(is_far)[0].tolist()
    place = ", ".join(format_value(one) for one in landmarks.coordinates[row, number])
    n_far = int(is_far.sum())
    lie, were = plural(n_far, "lies", "lie"), plural(n_far, "was", "were")
    return (
        f"{quantity(n_far, 'landmark')} of {landmarks.source} {lie} far beyond those of all other "
        f"specimens and {were} treated as missing, such as landmark {number + 1} of "
        f"{quoted(landmarks.ids[row])} at {place}. Correct the file, or leave such landmarks empty."
    )


def missing_landmark_notes(landmarks: Landmarks, groups: Sequence[str] | None = None) -> list[str]:
    """Return notes on missing landmarks: how many, in whole groups, and in single specimens.

    Parameters
    ----------
    landmarks : Landmarks
        Specimens as they were digitised.
    groups : sequence of str, optional
        Their groups; without, they are new specimens that are tested against other ones.
    """
    is_missing = landmarks.is_missing
    n_missing = int(np.count_nonzero(is_missing))
    if not n_missing:
        return []
    n_specimens = int(np.count_nonzero(is_missing.any(axis=1)))
    return [
        f"{n_missing} of {is_missing.size} landmarks of {landmarks.source} are missing, "
        f"in {n_specimens} of {len(landmarks)} specimens; each was estimated from the others.",
        *_absence_notes(landmarks, groups),
        *_incompleteness_notes(landmarks),
    ]


def _absence_notes(landmarks: Landmarks, groups: Sequence[str] | None) -> list[str]:
    """Name landmarks that all specimens of a group lack; a group has two specimens or more."""
    is_missing, notes, names = landmarks.is_missing, [], []
    labels = np.array([""] * len(landmarks) if groups is None else [str(one) for one in groups])
    for name in np.unique(labels).tolist():
        is_member = labels == name
        numbers = np.flatnonzero(is_missing[is_member].all(axis=0)) + 1
        n_members = int(is_member.sum())
        if n_members < 2 or not len(numbers):
            continue
        names.append(name)
        of, others, those = name, "other groups", name
        if groups is None:
            of, others, those = landmarks.source, "the known specimens", "the new ones"
        missing, they, carry, them = (
            (" {} is missing", "it is", "carries", "it")
            if len(numbers) == 1
            else ("s {} are missing", "they are", "carry", "them")
        )
        every = "both" if n_members == 2 else f"all {n_members}"
        notes.append(
            f"Landmark{missing.format(first_few(numbers))} in {every} specimens of {of}: {they} "
            f"estimated from {others} and {carry} no information on {those}. Leave {them} "
            "out."
        )
    if len(notes) <= _MAX_GROUPS_NAMED + 1:
        return notes
    more = names[_MAX_GROUPS_NAMED:]
    return [
        *notes[:_MAX_GROUPS_NAMED],
        f"{len(more)} more groups lack landmarks in all of their specimens: {first_few(more)}.",
    ]


def _incompleteness_notes(landmarks: Landmarks) -> list[str]:
    """Name specimens whose shapes rest largely on estimates."""
    rows = np.flatnonzero(landmarks.is_missing.mean(axis=1) > _MANY_MISSING)
    if not len(rows):
        return []
    names = first_few([landmarks.ids[row] for row in rows], most=_MAX_NAMED)
    n = len(rows)
    return [
        f"{quantity(n, 'specimen')} of {landmarks.source} {plural(n, 'lacks', 'lack')} more than a "
        f"third of {plural(n, 'its', 'their')} landmarks: {names}. {plural(n, 'Its', 'Their')} "
        f"{plural(n, 'shape rests', 'shapes rest')} largely on estimates; compare the result "
        f"without {plural(n, 'it', 'them')}."
    ]
