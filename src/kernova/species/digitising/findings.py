"""Digitising errors in a file of landmarks: misplaced, exchanged, mirrored, missing or coinciding.

Every specimen is compared with others of its group, so that a new species is not called an error.
One of a small group is reported if a few landmarks, their order or a mirror image explain why it
deviates, and the others of its group deviate otherwise; one without a group if a few landmarks
stand far out. Else a note says that it may as well be of another shape.
A finding names what would put the specimen in order: one landmark left out, two exchanged, the
order reversed, the specimen reflected.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.calibration.p_values import select_discoveries
from kernova.errors import InputError
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import fit_similarity, shapeless_rows
from kernova.species.digitising.suspicions import (
    FEWEST,
    MIRRORED,
    MISPLACED,
    REORDERED,
    SEVERAL,
    SWAPPED,
    Evidence,
    Explanation,
    explain,
    explain_beside_species,
    gather_evidence,
    reflected,
)
from kernova.text import first_few, plural, quantity
from kernova.typing import Coordinates, Indices, Matrix

AT_ZERO: Final = "at zero"
COINCIDING: Final = "coinciding"

_Names = NDArray[np.object_]  # groups, empty where a specimen has none
# One landmark in so many specimens of a group, and such a fraction of it, may be its shape.
_MANY, _MANY_FRACTION = 3, 0.05
# Landmarks that coincide although this many robust standard deviations apart are suspicious.
_APART: Final = 3.0
_MAD: Final = 1.4826
_MAX_NAMED: Final = 5


@dataclass(frozen=True)
class DigitisingSettings:
    """Settings of the digitising checks."""

    # The largest expected fraction of ordinary specimens among those that are reported.
    false_discovery_rate: float = 0.05
    # Smaller groups, and specimens without a group, are compared with the most similar specimens.
    least_group: int = 5

    def __post_init__(self) -> None:
        if not 0 < self.false_discovery_rate < 1:
            raise InputError(
                "false_discovery_rate must lie between 0 and 1; got "
                f"{self.false_discovery_rate!r}. Give a fraction such as 0.05."
            )
        if self.least_group < 3:
            raise InputError(
                f"least_group is {self.least_group}; a group's mean needs 3 specimens or more."
            )


class Finding(NamedTuple):
    """One suspicion about one specimen."""

    row: int  # the specimen, counted from 0
    id: str
    group: str  # empty if it has none
    kind: str
    landmarks: tuple[int, ...]  # the landmarks concerned, counted from 1; empty for all of them
    # In multiples of the median deviation of ordinary specimens; NaN where nothing is compared.
    deviation: float
    # The probability that an ordinary specimen deviates as much in any test; NaN likewise.
    p_value: float
    sentence: str


class AlignedFinding(NamedTuple):
    """A specimen and its expected shape, for a picture."""

    specimen: Coordinates  # shape (p, d); aligned by the landmarks that are in order
    expected: Coordinates  # shape (p, d)


@dataclass(frozen=True)
class DigitisingReport:
    """Digitising errors of a file."""

    findings: tuple[Finding, ...]  # strongest first
    landmarks: Landmarks
    expected: Coordinates  # expected shapes; NaN for specimens without; shape (n, p, d)
    notes: tuple[str, ...]  # limitations, as sentences
    # Specimens digitised differently, or of a shape that none of the (larger) groups has.
    unlike: tuple[int, ...] = ()

    @property
    def rows(self) -> pd.DataFrame:
        """One line per finding."""
        lines = [
            {
                "id": one.id,
                "group": one.group,
                "kind": one.kind,
                "landmarks": ", ".join(map(str, one.landmarks)) or "all",
                "deviation": one.deviation,
                "p_value": one.p_value,
                "sentence": one.sentence,
            }
            for one in self.findings
        ]
        columns = ["id", "group", "kind", "landmarks", "deviation", "p_value", "sentence"]
        return pd.DataFrame(lines, columns=columns)

    def aligned(self, finding: Finding) -> AlignedFinding | None:
        """Return the specimen over its expected shape; None if there is no such shape."""
        expected = self.expected[finding.row]
        specimen = self.landmarks.coordinates[finding.row]
        is_good = np.isfinite(specimen).all(axis=1)
        is_good[[number - 1 for number in finding.landmarks]] = False
        if not np.isfinite(expected).all() or is_good.sum() < 2:
            return None
        return AlignedFinding(
            fit_similarity(specimen[is_good], expected[is_good]).apply(specimen), expected
        )


def check_digitising(
    landmarks: Landmarks,
    groups: Sequence[str | None] | None = None,
    settings: DigitisingSettings | None = None,
) -> DigitisingReport:
    """Digitising errors of a whole file, each specimen judged within its own group.

    Parameters
    ----------
    landmarks : Landmarks
        All specimens, known and unknown.
    groups : sequence of str or None, optional
        The group of each specimen; None or an empty text for one without a group. Without groups,
        specimens are compared with the most similar ones.
    settings : DigitisingSettings, optional
        The settings; by default those of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes import Landmarks
    >>> outline = np.array([[0, 0], [2, 2], [5, 3], [9, 1], [8, -1], [4, -2], [1, -1.5]])
    >>> shapes = outline + np.random.default_rng(0).normal(0, 0.1, size=(60, 7, 2))
    >>> shapes[3, 1] += [0, 1.5]
    >>> fish = Landmarks(tuple(f"F{k}" for k in range(60)), shapes)
    >>> report = check_digitising(fish, ["moorii"] * 60)
    >>> report.rows[["id", "kind", "landmarks"]].values.tolist()
    [['F3', 'single landmark', '2']]
    """
    settings = settings or DigitisingSettings()
    names = _group_names(landmarks, groups)
    exact = _exact_findings(landmarks, names)
    coordinates = landmarks.coordinates.copy()
    for one in exact:
        if one.kind == AT_ZERO:
            coordinates[one.row, [number - 1 for number in one.landmarks]] = np.nan
    usable = np.setdiff1d(np.arange(len(landmarks)), _unusable(coordinates))
    expected = np.full(coordinates.shape, np.nan)
    if len(usable) < FEWEST + 2:
        few = (
            f"{quantity(len(usable), 'specimen')} with 4 landmarks or more: too few to show how "
            f"far landmarks usually deviate. {FEWEST + 2} or more are needed."
        )
        notes = (few, *_repeated_specimen_notes(landmarks))
        return DigitisingReport(tuple(exact), landmarks, expected, notes)
    codes = np.unique(names.astype(str), return_inverse=True)[1].astype(np.intp)
    codes[names == ""] = -1
    rate = settings.false_discovery_rate
    evidence = gather_evidence(coordinates[usable], codes[usable], settings.least_group, rate)
    expected[usable] = [evidence.law(k).expected.centres[k] for k in range(len(usable))]
    found, deviating = _judged(landmarks.ids, names, usable, evidence, rate)
    findings = _merged(exact, found)
    notes = (
        *_deviation_notes(landmarks.ids, names, deviating),
        *_comparison_notes(len(landmarks), names[usable], evidence, settings),
        *_repetition_notes(findings, names),
        *_repeated_specimen_notes(landmarks),
    )
    return DigitisingReport(findings, landmarks, expected, notes, tuple(sorted(deviating)))


def _group_names(landmarks: Landmarks, groups: Sequence[str | None] | None) -> _Names:
    if groups is None:
        return np.full(len(landmarks), "", dtype=object)
    if len(groups) != len(landmarks):
        raise InputError(
            f"There are {len(groups)} groups for {quantity(len(landmarks), 'specimen')} of "
            f"{landmarks.source}. Give one group for each, None where it is unknown."
        )
    return np.array(["" if name is None else str(name) for name in groups], dtype=object)


# --- landmarks at zero and coinciding landmarks ----------------------------------------------


def _exact_findings(landmarks: Landmarks, names: _Names) -> list[Finding]:
    is_zero = (landmarks.coordinates == 0).all(axis=2)
    # A landmark that is at zero in most specimens is the origin of the coordinates.
    is_zero &= is_zero.mean(axis=0) < 0.5
    found = [
        _finding(landmarks.ids, names, int(row), AT_ZERO, np.flatnonzero(is_zero[row]))
        for row in np.flatnonzero(is_zero.any(axis=1))
    ]
    n_known = np.maximum(np.isfinite(landmarks.coordinates).sum(axis=1, keepdims=True), 1)
    middles = np.nansum(landmarks.coordinates, axis=1, keepdims=True) / n_known
    lengths = np.sqrt(np.nansum((landmarks.coordinates - middles) ** 2, axis=(1, 2)))
    unit = landmarks.coordinates / np.where(lengths > 0, lengths, 1)[:, None, None]
    pairs: dict[int, list[int]] = {}
    for a, b in combinations(range(landmarks.n_landmarks), 2):
        for row in _coinciding_rows(unit[:, a], unit[:, b]):
            if not (is_zero[row, a] and is_zero[row, b]):
                pairs.setdefault(int(row), []).extend([a, b])
    found += [
        _finding(landmarks.ids, names, row, COINCIDING, np.unique(pairs[row]))
        for row in sorted(pairs)
    ]
    return found


def _coinciding_rows(first: Matrix, second: Matrix) -> Indices:
    """Return the rows in which two landmarks coincide that are usually well separated."""
    is_same = (first == second).all(axis=1)
    if not is_same.any():
        return np.empty(0, dtype=np.intp)
    distances = np.linalg.norm(first - second, axis=1)
    distances = distances[np.isfinite(distances)]
    middle = np.median(distances)
    spread = _MAD * np.median(np.abs(distances - middle))
    return np.flatnonzero(is_same) if middle > _APART * spread else np.empty(0, dtype=np.intp)


def _finding(ids: Sequence[str], names: _Names, row: int, kind: str, places: Indices) -> Finding:
    numbers = tuple(int(place) + 1 for place in places)
    what, are = _numbered(numbers), plural(len(numbers), "is", "are")
    if kind == AT_ZERO:
        text = (
            f"{what} {are} at zero, which often means missing. Enter "
            f"{plural(len(numbers), 'it', 'them')} as missing, or digitise "
            f"{plural(len(numbers), 'it', 'them')}."
        )
    else:
        text = f"{what} coincide exactly. One was probably digitised twice; check the image."
    start = _start(ids[row], names[row])
    return Finding(
        int(row), ids[row], names[row], kind, numbers, np.nan, np.nan, f"{start}: {text}"
    )


def _start(name: str, group: str) -> str:
    return f"Specimen {name} ({group})" if group else f"Specimen {name}"


def _numbered(numbers: Sequence[int]) -> str:
    texts = [str(number) for number in numbers]
    if len(texts) == 1:
        return f"landmark {texts[0]}"
    return f"landmarks {', '.join(texts[:-1])} and {texts[-1]}"


def _unusable(coordinates: Coordinates) -> Indices:
    """Return specimens whose deviations cannot be computed: fewer landmarks than fix a frame."""
    n_known = np.isfinite(coordinates).all(axis=2).sum(axis=1)
    return np.union1d(shapeless_rows(coordinates), np.flatnonzero(n_known < 4)).astype(np.intp)


# --- sentences -------------------------------------------------------------------------------


class _Judged(NamedTuple):
    found: list[Finding]  # strongest first
    deviating: list[int]  # specimens whose shape as a whole is unlike that of any group


def _judged(
    ids: Sequence[str], names: _Names, usable: Indices, evidence: Evidence, rate: float
) -> _Judged:
    """Explain each suspicious specimen.

    Where there are groups, one that was not compared with its own may be the only one of its kind.
    """
    found, deviating = [], []
    has_groups = bool(np.any(names != ""))
    p_values = np.maximum(evidence.p_values, evidence.p_values_of_mates)
    is_apart = select_discoveries(p_values, rate)
    for place in np.flatnonzero(select_discoveries(evidence.p_values, rate)).tolist():
        row, explanation = int(usable[place]), None
        if not has_groups or evidence.is_by_group[place]:
            explanation = explain(evidence, place)
        elif is_apart[place] or evidence.is_mirrored[place]:
            explanation = explain_beside_species(evidence, place)
        if explanation is None:
            deviating.append(row)
        else:
            found.append(_explained(ids, names, row, evidence, place, explanation))
    return _Judged(sorted(found, key=lambda one: one.p_value), deviating)


def _explained(
    ids: Sequence[str],
    names: _Names,
    row: int,
    evidence: Evidence,
    place: int,
    explanation: Explanation,
) -> Finding:
    """Return the finding on one suspicious specimen, whose place in the evidence is given."""
    law = explanation.law or evidence.law(place)
    given = evidence.deviations.landmarks[place], evidence.deviations.whole[place]
    if explanation.law is not None:
        judged = law.judge(evidence.shapes[place][None], place)
        given = judged.landmarks[0], judged.whole[0]
    each, squared = np.sqrt(given[0] / law.medians), given[1]
    if evidence.is_mirrored[place]:  # as it was given
        squared = law.judge(reflected(evidence.shapes[place])[None], place).whole[0]
    whole = float(np.sqrt(squared / law.whole_tail.median))
    if explanation.kind in (MISPLACED, SEVERAL):
        times = [float(each[one]) for one in explanation.places]
    else:
        times = [whole]
    n_known = int(np.isfinite(each).sum())
    text = _sentence(explanation, times, n_known, is_by_group=bool(evidence.is_by_group[place]))
    numbers = tuple(sorted(one + 1 for one in explanation.places))
    p_value = float(max(evidence.p_values[place], evidence.p_values_of_mates[place]))
    sentence = f"{_start(ids[row], names[row])}: {text}"
    return Finding(
        row, ids[row], names[row], explanation.kind, numbers, max(times), p_value, sentence
    )


def _sentence(
    explanation: Explanation, times: Sequence[float], n_known: int, *, is_by_group: bool
) -> str:
    kind, numbers = explanation.kind, [place + 1 for place in explanation.places]
    how_far = f"{times[0]:.1f} times" if times[0] < 1000 else "over 1,000 times"
    if kind == MISPLACED:
        rest = "the others are in order" if explanation.is_rest_in_order else "others deviate, too"
        return (
            f"landmark {numbers[0]} lies {how_far} its usual deviation from where the other "
            f"{n_known - 1} place it; {rest}. Check it against the image."
        )
    if kind == SEVERAL:
        return (
            f"{_numbered(sorted(numbers))} do not lie where the other {n_known - len(numbers)} "
            "place them; the others are in order. Check them against the image."
        )
    if kind == SWAPPED:
        return (
            f"{_numbered(numbers)} seem to be digitised in each other's place; with the two "
            "exchanged, all landmarks are in order."
        )
    if kind == REORDERED:
        return (
            f"the landmarks seem to be digitised in another order ({explanation.detail}); in the "
            "usual order they fit. Check the order."
        )
    if kind == MIRRORED:
        rest = "its shape is in order" if explanation.is_rest_in_order else "it fits far better"
        return (
            f"it is a mirror image of the other specimens; reflected, {rest}. Check whether the "
            "image is flipped, or left and right landmarks are exchanged."
        )
    start = f"its whole shape lies {how_far} the usual deviation from what is expected"
    if not is_by_group:
        return (
            f"{start}: it is either digitised differently or of a shape that no other specimen "
            "has. Check the image and the order of the landmarks."
        )
    return (
        f"{start}, also without a few of its landmarks. Check the image, the order of the "
        "landmarks and the group."
    )


# --- the report as a whole -------------------------------------------------------------------


def _merged(exact: Sequence[Finding], found: Sequence[Finding]) -> tuple[Finding, ...]:
    """Drop a suspicion that only repeats that two landmarks of the specimen coincide."""
    named = {(one.row, number) for one in exact for number in one.landmarks}
    new = [
        one
        for one in found
        if not one.landmarks or not all((one.row, number) in named for number in one.landmarks)
    ]
    return (*exact, *new)


def _deviation_notes(ids: Sequence[str], groups: _Names, rows: Sequence[int]) -> list[str]:
    """Name specimens that would be called errors if they were of a known group."""
    if not rows:
        return []
    names = first_few([ids[row] for row in sorted(rows)], most=_MAX_NAMED)
    n, has_group = len(rows), bool(np.any(groups[list(rows)] != ""))
    which = "no larger group" if has_group else "none of the known groups"
    few = "A few landmarks alone do not explain this."
    if has_group:
        few = "This is not explained by a few landmarks that others of their group have elsewhere."
    return [
        f"{quantity(n, 'specimen')} {plural(n, 'is', 'are')} either digitised differently or of a "
        f"shape that {which} has: {names}. {few}"
    ]


def _repeated_specimen_notes(landmarks: Landmarks) -> list[str]:
    """Name specimens whose landmarks are those of another one."""
    first: dict[bytes, int] = {}
    pairs = []
    for row, points in enumerate(np.nan_to_num(landmarks.coordinates, nan=np.inf)):
        other = first.setdefault(points.tobytes(), row)
        if other != row:
            pairs.append((landmarks.ids[other], landmarks.ids[row]))
    if not pairs:
        return []
    n_more = len(pairs) - 1
    more = f"; so {plural(n_more, 'has', 'have')} {quantity(n_more, 'other pair')}"
    more = more if n_more else ""
    return [
        f"Specimens {pairs[0][0]} and {pairs[0][1]} have the same landmarks{more}. Each took part "
        "in the tests; leave one of them out."
    ]


def _comparison_notes(
    n_specimens: int, names: _Names, evidence: Evidence, settings: DigitisingSettings
) -> list[str]:
    notes = []
    n_judged = len(evidence.p_values)
    if n_judged < n_specimens:
        few = n_specimens - n_judged
        notes.append(
            f"{quantity(few, 'specimen')} with fewer than 4 landmarks, or all in one place, "
            f"{plural(few, 'is', 'are')} not compared with others."
        )
    sizes = Counter(names.tolist())
    whose = names[~evidence.is_by_group].tolist()
    n_small = sum(1 for name in whose if name and sizes[name] < settings.least_group)
    n_none = whose.count("")
    size, together = f"of fewer than {settings.least_group}", "that are too small together"
    counts = (
        (n_none, "has no group", "have no group"),
        (n_small, f"belongs to a group {size}", f"belong to groups {size}"),
        (len(whose) - n_none - n_small, f"is of groups {together}", f"belong to groups {together}"),
    )
    of = " of all groups" if sizes.keys() - {""} else ""
    return notes + [
        f"{quantity(n, 'specimen')} {plural(n, one, several)}; {plural(n, 'its', 'their')} "
        f"digitising was checked against the most similar specimens{of}, which may overlook errors."
        for n, one, several in counts
        if n
    ]


def _repetition_notes(findings: Sequence[Finding], names: _Names) -> list[str]:
    """Name landmarks that deviate in many specimens of a group, since that may be its shape."""
    counts = Counter(
        (one.group, one.landmarks[0]) for one in findings if one.kind == MISPLACED and one.group
    )
    notes = []
    for (group, number), count in sorted(counts.items()):
        n_members = int(np.count_nonzero(names == group))
        if count >= _MANY and count >= _MANY_FRACTION * n_members:
            notes.append(
                f"Landmark {number} deviates in {count} of {n_members} specimens of {group}: it "
                "may be a difference in shape, or in how it was digitised, rather than an error."
            )
    return notes
