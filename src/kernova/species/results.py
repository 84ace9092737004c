"""What a study of species says: to people in sentences and tables, to programs as plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from kernova.shapes import Landmarks
from kernova.species.inputs import (
    check_landmarks,
    check_unknown,
    feature_notes,
    missing_note,
    refuse_copies,
)
from kernova.species.space import SpeciesSettings
from kernova.species.specimens import SpecimenTests, judge_specimens
from kernova.species.study import (
    EachStudy,
    UnknownStudy,
    mean_and_spread,
    study_each,
    study_unknown,
)
from kernova.species.verdicts import LOOKS_NEW, NOT_SEPARABLE, TOO_FEW, Verdict
from kernova.tables.records import json_rows

# What people see of a group and of a pair of them; programs get all columns.
_GROUP_COLUMNS = (
    "unknown", "specimens", "verdict", "closest", "p_value", "e_star", "equal_error_rate",
    "auroc", "worst_pair_error",
)  # fmt: skip
_PAIR_COLUMNS = (
    "known", "specimens", "equal_error_rate", "equal_error_rate_spread", "auroc", "p_value",
)  # fmt: skip
# A landmark that sticks out in a larger share of a group belongs to its shape.
_COMMON_SHARE = 0.2
_SPECIMEN_COLUMNS = ("id", "depth", "p_value", "verdict", "closest", "digitising")


@dataclass(frozen=True)
class UnknownAnswer:
    """What is to be thought of one group.

    ``specimens`` judges those of the unknown one by one; ``notes`` are what else to know.
    """

    study: UnknownStudy
    specimens: SpecimenTests
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The verdict, its reasons and what else to know."""
        return [self.study.verdict.sentence, *self.study.verdict.reasons, *self.notes]

    title = "Known groups, the hardest to tell apart first"

    @property
    def shown(self) -> pd.DataFrame:
        """The known groups, the one that is hardest to tell apart first."""
        return _columns(self.study.pairs, _PAIR_COLUMNS)

    @property
    def rows(self) -> pd.DataFrame:
        """One line per unknown specimen, for a file."""
        return self.specimens.rows

    def to_json_dict(self) -> dict[str, Any]:
        """Give verdict, errors and specimens as plain values."""
        study = self.study
        return {
            "unknown": study.unknown,
            "specimens": study.n_unknown,
            "verdict": _verdict(study.verdict),
            "pooled": json_rows(pd.DataFrame([mean_and_spread(study.halvings)]))[0],
            "is_masked": bool(study.summary["is_masked"]),
            "pairs": json_rows(study.pairs),
            "not_compared": list(study.not_compared),
            "halvings": json_rows(study.halvings),
            "rows": json_rows(self.rows),
            "notes": list(self.notes),
            "settings": plain_settings(study.settings),
        }


@dataclass(frozen=True)
class EachAnswer:
    """Which of all groups would look new, had they not been known."""

    study: EachStudy
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """How many groups got which verdict, and what else to know."""
        kinds = Counter(study.verdict.kind for study in self.study.studies)
        total = len(self.study.studies)
        said = [
            f"{_groups(kinds[LOOKS_NEW], total)} would look new if nobody knew "
            f"{'it' if kinds[LOOKS_NEW] == 1 else 'them'}.",
        ]
        if kinds[NOT_SEPARABLE]:
            said.append(f"{_groups(kinds[NOT_SEPARABLE], total)} cannot be told from another one.")
        if kinds[TOO_FEW]:
            said.append(
                f"{_groups(kinds[TOO_FEW], total)} "
                f"{'has' if kinds[TOO_FEW] == 1 else 'have'} too few specimens to say."
            )
        masked = [study.unknown for study in self.study.studies if study.summary["is_masked"]]
        if masked:
            said.append(
                "Lying between others and so hidden when these are pooled, but not from any one of "
                f"them: {', '.join(masked)}."
            )
        if self.study.too_small:
            n_small = len(self.study.too_small)
            groups = "1 smaller group was" if n_small == 1 else f"{n_small} smaller groups were"
            said.append(f"{groups} known throughout and not held out.")
        return [*said, *self.notes]

    @property
    def rows(self) -> pd.DataFrame:
        """One line per group, with everything that was measured, for a file."""
        return self.study.summary

    title = "Each group held out as unknown"

    @property
    def shown(self) -> pd.DataFrame:
        """The same for people: fewer columns."""
        return _columns(self.study.summary, _GROUP_COLUMNS)

    def to_json_dict(self) -> dict[str, Any]:
        """Give verdicts, errors and the matrix of pairs as plain values."""
        matrix = self.study.matrix
        return {
            "groups": json_rows(self.study.summary),
            "verdicts": {s.unknown: _verdict(s.verdict) for s in self.study.studies},
            "pairs": json_rows(self.study.pairs),
            "matrix": {
                "unknown": list(matrix.index),
                "known": list(matrix.columns),
                "equal_error_rate": [
                    [None if np.isnan(rate) else float(rate) for rate in row]
                    for row in matrix.to_numpy()
                ],
            },
            "too_small": list(self.study.too_small),
            "notes": list(self.notes),
            "settings": plain_settings(self.study.studies[0].settings),
        }


@dataclass(frozen=True)
class SpecimensAnswer:
    """Which of some specimens are of no known group."""

    tests: SpecimenTests
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """How many are called new, at what price, and what else to know."""
        tests, rate = self.tests, self.tests.settings.false_discovery_rate
        n = len(tests.rows)
        return [
            f"{tests.n_new} of {n} {'specimen' if n == 1 else 'specimens'} of {tests.new.source} "
            f"look like none of the known groups; of those called new, at most {100 * rate:g} % "
            "are expected to be ordinary.",
            *self.notes,
        ]

    @property
    def rows(self) -> pd.DataFrame:
        """One line per new specimen, for a file."""
        return self.tests.rows

    title = "The strangest specimens first"

    @property
    def shown(self) -> pd.DataFrame:
        """The strangest first, for people: fewer columns."""
        order = self.tests.rows.sort_values(["p_value", "depth"], kind="stable")
        return _columns(order, _SPECIMEN_COLUMNS)

    def to_json_dict(self) -> dict[str, Any]:
        """Give every specimen's verdict as plain values."""
        return {
            "new_specimens": self.tests.n_new,
            "specimens": len(self.tests.rows),
            "held_out_specimens": len(self.tests.halving.holdout),
            "rows": json_rows(self.tests.rows),
            "notes": list(self.notes),
            "settings": plain_settings(self.tests.settings),
        }


SpeciesAnswer = UnknownAnswer | EachAnswer | SpecimensAnswer


def answer_unknown(
    landmarks: Landmarks,
    groups: Sequence[str],
    unknown: str,
    settings: SpeciesSettings | None = None,
) -> UnknownAnswer:
    """Ask whether one group is new, and look at its specimens one by one.

    Parameters
    ----------
    landmarks : Landmarks
        All specimens.
    groups : sequence of str
        The group of each.
    unknown : str
        The group in question.
    settings : SpeciesSettings, optional
        How.

    Returns
    -------
    UnknownAnswer
        Verdict, evidence, and the specimens of the group.
    """
    settings = settings or SpeciesSettings()
    check_landmarks(landmarks)
    check_unknown(unknown, groups)
    study = study_unknown(landmarks, groups, unknown, settings)
    is_unknown = study.groups == unknown
    specimens = judge_specimens(
        landmarks.take(~is_unknown),
        study.groups[~is_unknown].tolist(),
        landmarks.take(is_unknown),
        settings,
    )
    notes = [*_what_else(landmarks, settings), *_suspicious(specimens)]
    return UnknownAnswer(study, specimens, tuple(notes))


def answer_each(
    landmarks: Landmarks,
    groups: Sequence[str],
    settings: SpeciesSettings | None = None,
    *,
    least_specimens: int = 4,
) -> EachAnswer:
    """Ask of each group in turn whether it would look new; see :func:`answer_unknown`."""
    settings = settings or SpeciesSettings()
    check_landmarks(landmarks)
    study = study_each(landmarks, groups, settings, least_specimens=least_specimens)
    return EachAnswer(study, tuple(_what_else(landmarks, settings)))


def answer_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
) -> SpecimensAnswer:
    """Ask of each new specimen whether it is of a known group; see :func:`answer_unknown`."""
    settings = settings or SpeciesSettings()
    check_landmarks(known)
    refuse_copies(known, new)
    tests = judge_specimens(known, groups, new, settings)
    notes = [*tests.notes, *_what_else(known, settings), *missing_note(new)]
    return SpecimensAnswer(tests, tuple(notes))


def plain_settings(settings: SpeciesSettings) -> dict[str, Any]:
    """Give the settings as plain values; features by their formulas."""
    plain = {name: value for name, value in asdict(settings).items() if name != "features"}
    features = settings.features
    plain["features"] = features and dict(zip(features.names, features.formulas, strict=True))
    return plain


def _what_else(landmarks: Landmarks, settings: SpeciesSettings) -> list[str]:
    return [
        *feature_notes(settings.features, landmarks.n_dimensions),
        *missing_note(landmarks),
    ]


def probable_slips(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Tell which specimens of one group have a landmark in the wrong place.

    Held against other groups, a landmark sticks out in many specimens of a new one: that is its
    shape. A slip of the hand is one landmark, and not that of many others.
    """
    is_single = rows["digitising"].str.startswith("landmark ")
    n_alike = rows["landmark"].map(rows.loc[is_single, "landmark"].value_counts()).fillna(0)
    return is_single & (n_alike <= max(1, _COMMON_SHARE * len(rows)))


def _suspicious(specimens: SpecimenTests) -> list[str]:
    suspicious = specimens.rows[probable_slips(specimens.rows)]
    if suspicious.empty:
        return []
    first = suspicious.sort_values("landmark_p_value", kind="stable").iloc[0]
    return [
        f"Check the digitising of {len(suspicious)} of its {len(specimens.rows)} specimens, such "
        f"as {first['id']} ({first['digitising']}): a misplaced landmark looks like a new shape."
    ]


def _columns(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return table[[name for name in names if name in table.columns]]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    plain: dict[str, Any] = verdict._asdict()
    return {**plain, "reasons": list(verdict.reasons)}


def _groups(n: int, total: int) -> str:
    return f"{n} of {total} {'group' if total == 1 else 'groups'}"
