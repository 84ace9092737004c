"""Results of a species study, for readers as sentences and tables, for programs as plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from kernova.shapes import Landmarks
from kernova.species.inputs import (
    check_landmarks,
    check_no_shared_specimens,
    feature_notes,
    missing_landmark_notes,
    without_far_landmarks,
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
from kernova.tables.records import json_rows, json_value
from kernova.text import plural, quantity

# The columns that are shown; files and JSON have all columns.
_GROUP_COLUMNS = (
    "unknown", "specimens", "verdict", "closest", "p_value", "e_star", "equal_error_rate",
    "auroc", "worst_pair_error",
)  # fmt: skip
_PAIR_COLUMNS = (
    "known", "specimens", "equal_error_rate", "equal_error_rate_spread", "auroc", "p_value",
)  # fmt: skip
_SPECIMEN_COLUMNS = ("id", "depth", "p_value", "verdict", "closest", "digitising")
# A landmark that deviates in a larger fraction of a group is part of the group's shape.
_COMMON_FRACTION = 0.2


@dataclass(frozen=True)
class UnknownAnswer:
    """The answer on one unknown group.

    ``specimens`` tests its specimens one by one; ``notes`` are limitations of the result.
    """

    study: UnknownStudy
    specimens: SpecimenTests
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The verdict, its reasons and the notes."""
        return [self.study.verdict.sentence, *self.study.verdict.reasons, *self.notes]

    title = "Known groups, the hardest to separate first"

    @property
    def shown(self) -> pd.DataFrame:
        """The known groups, the hardest to separate first."""
        return _columns(self.study.pairs, _PAIR_COLUMNS)

    @property
    def rows(self) -> pd.DataFrame:
        """One line per unknown specimen."""
        return self.specimens.rows

    def to_json_dict(self) -> dict[str, Any]:
        """Return verdict, errors and specimens as plain values."""
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
            "settings": _plain_settings(study.settings),
        }


@dataclass(frozen=True)
class EachAnswer:
    """The answers on all groups, each held out as unknown in turn."""

    study: EachStudy
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The number of groups with each verdict, and the notes."""
        kinds = Counter(study.verdict.kind for study in self.study.studies)
        total = len(self.study.studies)
        found = [
            f"{_groups(kinds[LOOKS_NEW], total)} would look new if "
            f"{plural(kinds[LOOKS_NEW], 'it', 'they')} were unknown.",
        ]
        if kinds[NOT_SEPARABLE]:
            found.append(
                f"{_groups(kinds[NOT_SEPARABLE], total)} cannot be distinguished from another one."
            )
        if kinds[TOO_FEW]:
            found.append(
                f"{_groups(kinds[TOO_FEW], total)} {plural(kinds[TOO_FEW], 'has', 'have')} too "
                "few specimens to say."
            )
        masked = [study.unknown for study in self.study.studies if study.summary["is_masked"]]
        if masked:
            found.append(
                "Masked by pooling, as they lie between others, but separable from each of them: "
                f"{', '.join(masked)}."
            )
        if self.study.too_small:
            n_small = len(self.study.too_small)
            found.append(
                f"{quantity(n_small, 'smaller group')} {plural(n_small, 'was', 'were')} never held "
                "out."
            )
        return [*found, *self.notes]

    @property
    def rows(self) -> pd.DataFrame:
        """One line per group, with all measurements."""
        return self.study.summary

    title = "Each group held out as unknown"

    @property
    def shown(self) -> pd.DataFrame:
        """One line per group, with fewer columns."""
        return _columns(self.study.summary, _GROUP_COLUMNS)

    def to_json_dict(self) -> dict[str, Any]:
        """Return verdicts, errors and the matrix of pairs as plain values."""
        matrix = self.study.matrix
        return {
            "groups": json_rows(self.study.summary),
            "verdicts": {s.unknown: _verdict(s.verdict) for s in self.study.studies},
            "pairs": json_rows(self.study.pairs),
            "matrix": {
                "unknown": list(matrix.index),
                "known": list(matrix.columns),
                "equal_error_rate": [
                    [json_value(rate) for rate in row] for row in matrix.to_numpy()
                ],
            },
            "too_small": list(self.study.too_small),
            "notes": list(self.notes),
            "settings": _plain_settings(self.study.studies[0].settings),
        }


@dataclass(frozen=True)
class SpecimensAnswer:
    """The answers on single specimens."""

    tests: SpecimenTests
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The number of new specimens, the error of that number, and the notes."""
        tests, rate = self.tests, self.tests.settings.false_discovery_rate
        return [
            f"{tests.n_new} of {quantity(len(tests.rows), 'specimen')} of {tests.new.source} "
            f"look like none of the known groups; of those called new, at most {100 * rate:g} % "
            "are expected to be ordinary.",
            *self.notes,
        ]

    @property
    def rows(self) -> pd.DataFrame:
        """One line per new specimen."""
        return self.tests.rows

    title = "The most unusual specimens first"

    @property
    def shown(self) -> pd.DataFrame:
        """One line per specimen, with fewer columns, the most unusual first."""
        order = self.tests.rows.sort_values(["p_value", "depth"], kind="stable")
        return _columns(order, _SPECIMEN_COLUMNS)

    def to_json_dict(self) -> dict[str, Any]:
        """Return every specimen's verdict as plain values."""
        return {
            "new_specimens": self.tests.n_new,
            "specimens": len(self.tests.rows),
            "held_out_specimens": len(self.tests.split.holdout),
            "rows": json_rows(self.tests.rows),
            "notes": list(self.notes),
            "settings": _plain_settings(self.tests.settings),
        }


SpeciesAnswer = UnknownAnswer | EachAnswer | SpecimensAnswer


def answer_unknown(
    landmarks: Landmarks,
    groups: Sequence[str],
    unknown: str,
    settings: SpeciesSettings | None = None,
) -> UnknownAnswer:
    """Study whether one group is new, and test its specimens one by one.

    The parameters are those of :func:`~kernova.species.study.study_unknown`.
    """
    settings = settings or SpeciesSettings()
    check_landmarks(landmarks)
    landmarks, far_notes = without_far_landmarks(landmarks)
    study = study_unknown(landmarks, groups, unknown, settings)
    is_unknown = study.groups == unknown
    specimens = judge_specimens(
        landmarks.take(~is_unknown),
        study.groups[~is_unknown].tolist(),
        landmarks.take(is_unknown),
        settings,
    )
    notes = [*far_notes, *_input_notes(landmarks, settings), *_digitising_notes(specimens)]
    return UnknownAnswer(study, specimens, tuple(notes))


def answer_each(
    landmarks: Landmarks,
    groups: Sequence[str],
    settings: SpeciesSettings | None = None,
    *,
    least_specimens: int = 4,
) -> EachAnswer:
    """Study whether each group in turn would look new; see :func:`answer_unknown`."""
    settings = settings or SpeciesSettings()
    check_landmarks(landmarks)
    landmarks, far_notes = without_far_landmarks(landmarks)
    study = study_each(landmarks, groups, settings, least_specimens=least_specimens)
    return EachAnswer(study, (*far_notes, *_input_notes(landmarks, settings)))


def answer_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
) -> SpecimensAnswer:
    """Test whether each new specimen is of a known group; see :func:`answer_unknown`."""
    settings = settings or SpeciesSettings()
    check_landmarks(known)
    check_no_shared_specimens(known, new)
    new, new_notes = without_far_landmarks(new, beside=known)
    known, far_notes = without_far_landmarks(known)
    tests = judge_specimens(known, groups, new, settings)
    far_notes = [*far_notes, *new_notes]
    notes = [
        *tests.notes,
        *far_notes,
        *_input_notes(known, settings),
        *missing_landmark_notes(new),
    ]
    return SpecimensAnswer(tests, tuple(notes))


def _plain_settings(settings: SpeciesSettings) -> dict[str, Any]:
    """Return the settings as plain values; features by their formulas."""
    plain = {name: value for name, value in asdict(settings).items() if name != "features"}
    features = settings.features
    plain["features"] = features and dict(zip(features.names, features.formulas, strict=True))
    return plain


def probable_digitising_errors(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Return which specimens of one group probably have a misplaced landmark.

    Compared with other groups, a landmark that deviates in many specimens is part of a new
    group's shape. A digitising error concerns one landmark, and few specimens.
    """
    is_single = rows["digitising"].str.startswith("landmark ")
    n_alike = rows["landmark"].map(rows.loc[is_single, "landmark"].value_counts()).fillna(0)
    return is_single & (n_alike <= max(1, _COMMON_FRACTION * len(rows)))


def _input_notes(landmarks: Landmarks, settings: SpeciesSettings) -> list[str]:
    return [
        *feature_notes(settings.features, landmarks.n_dimensions),
        *missing_landmark_notes(landmarks),
    ]


def _digitising_notes(specimens: SpecimenTests) -> list[str]:
    suspicious = specimens.rows[probable_digitising_errors(specimens.rows)]
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
    return f"{n} of {quantity(total, 'group')}"
