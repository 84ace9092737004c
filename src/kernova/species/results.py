"""Results of a species study, for readers as sentences and tables, for programs as plain values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.shapes import Landmarks
from kernova.shapes.anova import allometry
from kernova.shapes.preparation import distinct_ids
from kernova.species.covariates import SIZE, Covariates, balance_notes, usual_covariates
from kernova.species.digitising import DigitisingReport, check_digitising
from kernova.species.inputs import (
    alignment_notes,
    check_landmarks,
    check_no_shared_specimens,
    feature_notes,
    missing_landmark_notes,
    scale_notes,
    specimens_as_read,
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
from kernova.species.verdicts import (
    DIFFERS_WITH_COVARIATES,
    DIFFERS_WITH_SIZE,
    DISTINGUISHED,
    LOOKS_NEW,
    NOT_DISTINGUISHED,
    NOT_SHOWN,
    OVERLAPPING,
    TOO_FEW,
    TOO_FEW_UNITS,
    UNDECIDED,
    Verdict,
    format_rate,
    name_list,
    tested,
)
from kernova.tables.records import json_rows, json_value
from kernova.text import plural, quantity

# The columns that are shown; files and JSON have all columns.
_GROUP_COLUMNS = (
    "unknown", "specimens", "verdict", "p_value", "closest", "error", "error_low", "error_high",
    "equal_error_rate", "auroc",
)  # fmt: skip
_PAIR_COLUMNS = (
    "known", "specimens", "status", "p_value", "adjusted_p_value", "error", "error_low",
    "error_high", "novelty_error",
)  # fmt: skip
_SPECIMEN_COLUMNS = ("id", "novelty", "p_value", "verdict", "closest", "digitising")
_IN_ORDER = "in order"
_UNLIKE = "unlike any group"
# Testing slopes of more groups takes long, and some of so many always differ.
_MOST_SLOPES = 60
_N_PERMUTATIONS = 199


class AlignedSpecimens(NamedTuple):
    """Specimens in shape space, to be written to a file."""

    landmarks: Landmarks
    groups: tuple[str, ...]


@dataclass(frozen=True)
class UnknownAnswer:
    """The answer on one unknown group.

    ``specimens`` tests its specimens one by one; ``notes`` are limitations of the result.
    """

    study: UnknownStudy
    specimens: SpecimenTests
    digitising: DigitisingReport  # of all specimens, known and unknown
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The verdict, its reasons and the notes."""
        return [self.study.verdict.sentence, *self.study.verdict.reasons, *self.notes]

    @property
    def aligned(self) -> AlignedSpecimens:
        """All specimens, aligned to the consensus of the first reference half."""
        return _aligned(self.study)

    title = "Known groups, the hardest to distinguish first"

    @property
    def shown(self) -> pd.DataFrame:
        """The known groups, the hardest to distinguish first."""
        return _columns(self.study.pairs, _PAIR_COLUMNS).dropna(axis="columns", how="all")

    @property
    def rows(self) -> pd.DataFrame:
        """One line per unknown specimen."""
        positions = np.flatnonzero(self.study.groups == self.study.unknown)
        return _with_digitising(self.specimens.rows, self.digitising, positions.tolist())

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
            "digitising": json_rows(self.digitising.rows),
            "covariates": list(study.comparisons.covariates.names),
            "notes": list(self.notes),
            "settings": _plain_settings(study.settings),
        }


@dataclass(frozen=True)
class EachAnswer:
    """The answers on all groups, each held out as unknown in turn."""

    study: EachStudy
    digitising: DigitisingReport
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The number of groups with each verdict, and the notes."""
        kinds = Counter(study.verdict.kind for study in self.study.studies)
        total = len(self.study.studies)
        n_new = kinds[LOOKS_NEW]
        found = [f"None of the {total} groups would look new if it were unknown."]
        if n_new:
            found = [
                f"{_groups(n_new, total)} would look new if {plural(n_new, 'it', 'they')} were "
                f"unknown: {plural(n_new, 'it differs', 'they differ')} in "
                f"{tested(self.study.studies[0].settings)} from every other group compared."
            ]
        found += [
            f"{_groups(kinds[kind], total)} {plural(kinds[kind], one, several)}."
            for kind, (one, several) in _OTHER_KINDS.items()
            if kinds[kind]
        ]
        found += self._pair_sentences()
        if self.study.too_small:
            found.append(
                f"Never held out, since they are smaller: {name_list(self.study.too_small)}."
            )
        if self._not_compared:
            found.append(
                "Not compared alone, since they are too small, and therefore ruled out for no "
                f"group: {name_list(self._not_compared)}."
            )
        return [*found, *self.notes]

    @property
    def _not_compared(self) -> list[str]:
        return sorted({name for s in self.study.studies for name in s.not_compared})

    @property
    def aligned(self) -> AlignedSpecimens:
        """All specimens, aligned to the consensus of the first reference half."""
        return _aligned(self.study.studies[0])

    def _pair_sentences(self) -> list[str]:
        """Return in how many pairs of groups single specimens are distinguished."""
        pairs = self.study.pairs
        if pairs.empty:
            return []
        words = {
            frozenset(ends): word
            for *ends, word in zip(
                pairs["unknown"], pairs["known"], pairs["single_specimens"], strict=True
            )
        }
        counts = Counter(words.values())
        largest = self.study.studies[0].settings.largest_error
        others = [
            f"{text} in {counts[word]}" for word, text in _OTHER_PAIRS.items() if counts[word]
        ]
        return [
            f"Single specimens are distinguished in {counts[DISTINGUISHED]} of "
            f"{quantity(counts.total(), 'pair')} of groups by a cross-validated discriminant (an "
            f"error of at most {largest:g}, its whole interval included)"
            f"{'; ' if others else ''}{name_list(others) if others else ''}."
        ]

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
                "groups": list(matrix.index),
                "others": list(matrix.columns),
                "discriminant_error": [
                    [json_value(rate) for rate in row] for row in matrix.to_numpy()
                ],
            },
            "too_small": list(self.study.too_small),
            "not_compared": self._not_compared,
            "covariates": list(self.study.studies[0].comparisons.covariates.names),
            "digitising": json_rows(self.digitising.rows),
            "notes": list(self.notes),
            "settings": _plain_settings(self.study.studies[0].settings),
        }


@dataclass(frozen=True)
class SpecimensAnswer:
    """The answers on single specimens."""

    tests: SpecimenTests
    digitising: DigitisingReport  # of all specimens, known and new
    notes: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """The number of specimens with each verdict, the error of these, and the notes."""
        return [self.tests.counts, self.tests.whole_sample.sentence, *self.notes]

    @property
    def rows(self) -> pd.DataFrame:
        """One line per new specimen."""
        n_known = len(self.tests.known)
        positions = range(n_known, n_known + len(self.tests.rows))
        return _with_digitising(self.tests.rows, self.digitising, positions)

    @property
    def aligned(self) -> AlignedSpecimens:
        """All specimens, aligned to the consensus of the reference half; "new" is a group."""
        both = _both(self.tests.known, self.tests.new)
        groups = [*self.tests.groups.tolist(), *["new"] * len(self.tests.new)]
        placed = replace(both, coordinates=self.tests.split.placed.aligned)
        return AlignedSpecimens(placed, tuple(groups))

    title = "The most unusual specimens first"

    @property
    def shown(self) -> pd.DataFrame:
        """One line per specimen, with fewer columns, the most unusual first."""
        order = self.rows.sort_values("novelty", ascending=False, kind="stable")
        return _columns(order, _SPECIMEN_COLUMNS)

    def to_json_dict(self) -> dict[str, Any]:
        """Return every specimen's verdict as plain values."""
        return {
            "new_specimens": self.tests.n_new,
            "undecided_specimens": self.tests.n_undecided,
            "specimens": len(self.tests.rows),
            "held_out_specimens": len(self.tests.split.holdout),
            "whole_sample": self.tests.whole_sample._asdict(),
            "rows": json_rows(self.rows),
            "digitising": json_rows(self.digitising.rows),
            "notes": list(self.notes),
            "settings": _plain_settings(self.tests.settings),
        }


_OTHER_KINDS = {
    DIFFERS_WITH_SIZE: (
        "differs from every other group, but from at least one no more than size may explain",
        "differ from every other group, but from at least one no more than size may explain",
    ),
    DIFFERS_WITH_COVARIATES: (
        "differs from every other group, but from at least one no more than covariates may explain",
        "differ from every other group, but from at least one no more than covariates may explain",
    ),
    NOT_SHOWN: (
        "was not distinguished, as a sample, from another one",
        "were not distinguished, as samples, from another one",
    ),
    TOO_FEW: ("has too few specimens to say", "have too few specimens to say"),
    TOO_FEW_UNITS: ("has too few populations to say", "have too few populations to say"),
}
_OTHER_PAIRS = {
    OVERLAPPING: "they overlap",
    UNDECIDED: "there are too few to say",
    NOT_DISTINGUISHED: "the error is not below that of guessing",
}

SpeciesAnswer = UnknownAnswer | EachAnswer | SpecimensAnswer


def answer_unknown(
    landmarks: Landmarks,
    groups: Sequence[str],
    unknown: str,
    settings: SpeciesSettings | None = None,
    covariates: Covariates | None = None,
    columns: pd.DataFrame | None = None,
    digitised: Landmarks | None = None,
) -> UnknownAnswer:
    """Study whether one group is new, and test its specimens one by one.

    The parameters are those of :func:`~kernova.species.study.study_unknown`; ``columns`` are
    whatever else is known of the specimens, to be compared between the samples; ``digitised`` are
    the specimens before sides were averaged and missing landmarks estimated, if they were, since
    the digitising is checked on these. Far landmarks were left out before that.
    """
    settings = settings or SpeciesSettings()
    check_landmarks(landmarks)
    landmarks, far_notes = specimens_as_read(landmarks, digitised)
    digitised = digitised or landmarks
    with alignment_notes(landmarks) as aligned_notes:
        study = study_unknown(landmarks, groups, unknown, settings, covariates)
        is_unknown = study.groups == unknown
        specimens = judge_specimens(
            landmarks.take(~is_unknown),
            study.groups[~is_unknown].tolist(),
            landmarks.take(is_unknown),
            settings,
        )
        digitising = check_digitising(digitised, study.groups.tolist())
    notes = [
        *_covariate_notes(study, columns),
        *far_notes,
        *scale_notes(landmarks),
        *_input_notes(landmarks, settings, digitised, study.groups.tolist()),
        *aligned_notes,
        *digitising_notes(digitising),
    ]
    return UnknownAnswer(study, specimens, digitising, tuple(notes))


def answer_each(
    landmarks: Landmarks,
    groups: Sequence[str],
    settings: SpeciesSettings | None = None,
    covariates: Covariates | None = None,
    digitised: Landmarks | None = None,
    *,
    least_specimens: int = 4,
    columns: pd.DataFrame | None = None,
) -> EachAnswer:
    """Study whether each group in turn would look new; see :func:`answer_unknown`."""
    settings = settings or SpeciesSettings()
    check_landmarks(landmarks)
    landmarks, far_notes = specimens_as_read(landmarks, digitised)
    digitised = digitised or landmarks
    with alignment_notes(landmarks) as aligned_notes:
        study = study_each(landmarks, groups, settings, covariates, least_specimens=least_specimens)
        labels = study.studies[0].groups.tolist()
        digitising = check_digitising(digitised, labels)
    notes = [
        *_each_covariate_notes(study, columns),
        *far_notes,
        *scale_notes(landmarks),
        *_input_notes(landmarks, settings, digitised, labels),
        *aligned_notes,
        *digitising_notes(digitising),
    ]
    return EachAnswer(study, digitising, tuple(notes))


def answer_specimens(
    known: Landmarks,
    groups: Sequence[str],
    new: Landmarks,
    settings: SpeciesSettings | None = None,
    digitised: Sequence[Landmarks] | None = None,
) -> SpecimensAnswer:
    """Test whether each new specimen is of a known group; see :func:`answer_unknown`.

    ``digitised`` are the known specimens and the new ones.
    """
    settings = settings or SpeciesSettings()
    check_landmarks(known)
    check_no_shared_specimens(known, new)
    own = digitised or (None, None)
    new, new_notes = specimens_as_read(new, own[1], beside=known)
    known, far_notes = specimens_as_read(known, own[0])
    known_digitised, new_digitised = digitised or (known, new)
    with alignment_notes(known, new) as aligned_notes:
        tests = judge_specimens(known, groups, new, settings)
        names = tests.groups.tolist()
        digitising = check_digitising(
            _both(known_digitised, new_digitised), [*names, *[None] * len(new)]
        )
    notes = [
        *tests.notes,
        *far_notes,
        *new_notes,
        *_input_notes(known, settings, known_digitised, names),
        *[note for note in new.notes if note not in known.notes],
        *missing_landmark_notes(new_digitised),
        *aligned_notes,
        *digitising_notes(digitising),
    ]
    return SpecimensAnswer(tests, digitising, tuple(notes))


def _covariate_notes(study: UnknownStudy, columns: pd.DataFrame | None) -> list[str]:
    """Return notes on what else distinguishes the samples, and on what is not known of them."""
    given = study.comparisons.covariates.names
    is_unknown = study.groups == study.unknown
    notes = balance_notes(columns, study.groups, is_unknown, _most_similar(study), given)
    notes += [*_growth_notes(study), *_given_notes(study)]
    if given or study.pairs.empty or study.verdict.kind in (TOO_FEW, NOT_SHOWN):
        return notes
    return [*notes, _without_covariates(columns, notes)]


def _without_covariates(columns: pd.DataFrame | None, notes: list[str]) -> str:
    """Return a note on what had no part, and which columns could have."""
    unused = [name for name in usual_covariates(columns) if not _is_named(name, notes)]
    advice = " ".join(f"--covariate {name}" for name in unused)
    return (
        "No covariate was given: if the samples differ in sex, age or site, shapes may differ for "
        f"that reason.{f' Add {advice}.' if unused else ''}"
    )


def _each_covariate_notes(study: EachStudy, columns: pd.DataFrame | None) -> list[str]:
    """Return a note on what the comparisons of all groups were adjusted for."""
    pairs = study.pairs
    if pairs.empty:
        return []
    names = dict.fromkeys(name for one in pairs["adjusted_for"] for name in one.split(", ") if name)
    notes = []
    if names:
        n_pairs = np.count_nonzero(pairs["adjusted_for"] != "")
        where = "" if n_pairs == len(pairs) else ", where these have a part"
        notes.append(f"The tests of samples are adjusted for {name_list(names)}{where}.")
    if not study.studies[0].comparisons.covariates.names:
        notes.append(_without_covariates(columns, notes))
    return notes


def _is_named(name: str, notes: list[str]) -> bool:
    return any(f" {name} = " in note for note in notes)


def _given_notes(study: UnknownStudy) -> list[str]:
    """Return notes on what became of the covariates that were given."""
    covariates, pairs = study.comparisons.covariates, study.pairs
    if not covariates.names or pairs.empty:
        return []
    notes = []
    adjusted = set(", ".join(pairs["adjusted_for"]).split(", ")) - {""}
    names = [name for name in dict.fromkeys((*covariates.names, SIZE)) if name in adjusted]
    if names and study.verdict.kind == LOOKS_NEW:
        notes.append(
            f"The tests of samples are adjusted for {name_list(names)}; other differences between "
            "the samples, such as in season or preservation, are not ruled out."
        )
    for name in covariates.factors:
        rare = pairs[[name in text.split(", ") for text in pairs["too_rarely_stated"]]]
        if len(rare):
            notes.append(
                f"{name} is stated for too few specimens of {study.unknown} or of the known group, "
                f"and so was not adjusted for, against {name_list(rare['known'])}."
            )
    shared = pairs[pairs["shared_populations"] != ""]
    if len(shared):
        first = shared.iloc[0]
        notes.append(
            f"{study.unknown} and {first['known']} both have specimens of "
            f"{first['shared_populations']}: these were exchanged as separate populations. Check "
            "that they are not labelled wrongly."
        )
    return notes


def _most_similar(study: UnknownStudy) -> str | None:
    """Return the known group whose mean shape is nearest."""
    if study.pairs.empty:
        return None
    return str(study.pairs["known"].iloc[int(study.pairs["distance"].argmin())])


def _growth_notes(study: UnknownStudy) -> list[str]:
    """Return a note on growth within groups, where size has a part in the verdict."""
    comparisons = study.comparisons
    has_part = comparisons.covariates.has_size or study.verdict.kind == DIFFERS_WITH_SIZE
    if not has_part or len(np.unique(study.groups)) > _MOST_SLOPES:
        return []
    found = allometry(
        comparisons.shapes,
        comparisons.log_sizes,
        study.groups.tolist(),
        n_permutations=_N_PERMUTATIONS,
        seed=study.settings.seed,
    )
    level = 1 - study.settings.confidence
    differ = "differ" if found.slopes_p_value <= level else "do not differ significantly"
    return [
        f"Within groups, log centroid size explains {found.r_squared:.1%} of the variation in "
        f"shape (p-value {format_rate(found.p_value)}); slopes {differ} between groups (p-value "
        f"{format_rate(found.slopes_p_value)}), and a common one is used."
    ]


def _aligned(study: UnknownStudy) -> AlignedSpecimens:
    landmarks = Landmarks(study.landmarks.ids, study.first.placed.aligned)
    return AlignedSpecimens(landmarks, tuple(study.groups.tolist()))


def _plain_settings(settings: SpeciesSettings) -> dict[str, Any]:
    """Return the settings as plain values; features by their formulas."""
    plain = {name: value for name, value in asdict(settings).items() if name != "features"}
    features = settings.features
    plain["features"] = features and dict(zip(features.names, features.formulas, strict=True))
    return plain


def _both(known: Landmarks, new: Landmarks) -> Landmarks:
    """Return all specimens; a new one with the id of a known one is marked as new."""
    ids = distinct_ids([known.ids, new.ids])
    coordinates = np.concatenate([known.coordinates, new.coordinates])
    source = f"{known.source} and {new.source}"
    return Landmarks(ids, coordinates, source=source)


def _with_digitising(
    rows: pd.DataFrame, report: DigitisingReport, positions: Sequence[int]
) -> pd.DataFrame:
    """Return the rows of specimens with a column on their digitising."""
    found: dict[int, list[str]] = {}
    for one in report.findings:
        numbers = ", ".join(map(str, one.landmarks))
        found.setdefault(one.row, []).append(f"{one.kind} {numbers}".strip())
    usual = {row: [_UNLIKE] for row in report.unlike}
    texts = ["; ".join(found.get(row, usual.get(row, [_IN_ORDER]))) for row in map(int, positions)]
    return rows.assign(digitising=texts)


def _input_notes(
    landmarks: Landmarks,
    settings: SpeciesSettings,
    digitised: Landmarks,
    groups: Sequence[str],
) -> list[str]:
    """Return notes of the file and on its landmarks; the digitised ones show what is missing."""
    return [
        *landmarks.notes,
        *feature_notes(settings.features, landmarks.n_dimensions),
        *missing_landmark_notes(digitised, groups),
    ]


def digitising_notes(report: DigitisingReport) -> list[str]:
    """Return a note on specimens to check, and the limits of that check."""
    n_found = len({one.row for one in report.findings})
    if not n_found:
        return list(report.notes)
    start = (
        f"{n_found} of {quantity(len(report.landmarks), 'specimen')} may be misdigitised, and took "
        "part in the tests nevertheless."
    )
    strongest = "The strongest case: " if n_found > 1 else ""
    return [f"{start} {strongest}{report.findings[0].sentence}", *report.notes]


def _columns(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return table[[name for name in names if name in table.columns]]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    plain: dict[str, Any] = verdict._asdict()
    return {**plain, "reasons": list(verdict.reasons)}


def _groups(n: int, total: int) -> str:
    return f"{n} of {quantity(total, 'group')}"
