"""Report pages of a species study: one unknown group, every group in turn, or single specimens."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.figure import Figure

from kernova.calibration.bounds import percent_rounded_up
from kernova.report.page import (
    Format,
    Html,
    Section,
    answer_section,
    facts,
    page,
    paragraph,
    picture,
    table,
)
from kernova.shapes.anova import N_PERMUTATIONS
from kernova.species.covariates import SIZE
from kernova.species.digitising import DigitisingReport
from kernova.species.pictures import (
    SCORE_NAMES,
    digitising_figures,
    each_figures,
    specimen_figures,
    unknown_figures,
)
from kernova.species.results import EachAnswer, SpeciesAnswer, SpecimensAnswer, UnknownAnswer
from kernova.species.space import ShapeSpace, SpeciesSettings
from kernova.species.study import mean_and_spread
from kernova.species.verdicts import DISTINGUISHED, LOOKS_NEW, NEW, format_rate, tested
from kernova.text import percent, quantity

# Short column headers; files have the full names.
_HEADERS: Final = {
    "specimens": "n",
    "status": "as a sample",
    "single_specimens": "single specimens",
    "error": "error",
    "novelty_error": "novelty error",
    "equal_error_rate": "equal error rate",
    "auroc": "area",
    "p_value": "p-value",
    "adjusted_p_value": "adjusted p-value",
    "e_star": "e*",
    "detection_rate": "detected",
    "false_alarm_bound": "false alarms ≤",
    "exact_false_alarm_bound": "exact bound",
    "exact_detection_rate": "detected there",
    "closest_p_value": "p-value in closest",
}
_P_VALUES: Final = ("p_value", "adjusted_p_value", "closest_p_value")
_FORMATS: Final[dict[str, Format]] = {
    **dict.fromkeys(_HEADERS, ".3f"),
    **dict.fromkeys(_P_VALUES, format_rate),
    **dict.fromkeys(("novelty", "threshold"), ".4g"),
    "deviation": ".1f",
}
_WITHOUT_FORMAT: Final = ("specimens", "status", "single_specimens")
_SHAPE_DISTANCES: Final = (
    "the Procrustes and Mahalanobis distances of the means are compared with those of the "
    "exchanged samples (Goodall's F orders samples as the first does)"
)
_FEATURE_DISTANCES: Final = (
    "the distances of the means, in standard deviations of the features and after Mahalanobis, "
    "are compared with those of the exchanged samples"
)
_DISCRIMINANT: Final = (
    "Can single specimens be distinguished? A linear discriminant with shrunken covariance, "
    "cross-validated, errs at the mean of the two groups' error rates, whichever of them is called "
    "unknown."
)
_WEIGHTED: Final = (
    "The components are weighted: directions in which specimens of one group hardly vary count "
    "more, by the fourth root of the variance within groups."
)
_REMAINDER: Final = (
    "One more column, the remainder, is the distance of a specimen from its projection on the "
    "components."
)
_ROWS_SHOWN: Final = 60
# The most important first: what stands on the right scrolls out of narrow windows.
_PAIR_COLUMNS: Final = (
    "known", "specimens", "status", "p_value", "adjusted_p_value", "error", "interval",
    "single_specimens", "novelty_error",
)  # fmt: skip
_ALL_PAIRS_COLUMNS: Final = (
    "unknown", "known", "error", "interval", "p_value", "single_specimens",
)  # fmt: skip
_HALVING_COLUMNS: Final = (
    "halving", "e_star", "detection_rate", "false_alarm_bound", "equal_error_rate",
    "exact_detection_rate", "exact_false_alarm_bound",
)  # fmt: skip
_SPECIMEN_COLUMNS: Final = ("id", "verdict", "p_value", "novelty", "closest", "digitising")
_FINDING_COLUMNS: Final = ("id", "kind", "landmarks", "group", "deviation")
_GROUPS_SHOWN: Final = 300
_SPECIMENS_SHOWN: Final = 200
_FINDINGS_DRAWN: Final = 12
_GROUP_COLUMNS: Final = (
    "unknown", "specimens", "verdict", "p_value", "error", "interval", "closest",
)  # fmt: skip


def species_page(answer: SpeciesAnswer) -> str:
    """Return the whole report as one HTML text."""
    if isinstance(answer, UnknownAnswer):
        return _unknown_page(answer)
    if isinstance(answer, EachAnswer):
        return _each_page(answer)
    return _specimens_page(answer)


def _measurements(
    rows: pd.DataFrame, caption: str, *, marked: "pd.Series[bool]", max_rows: int
) -> Html:
    """Return a table of measurements with short column headers."""
    formats = {
        _HEADERS.get(name, name): way
        for name, way in _FORMATS.items()
        if name in rows.columns
        and name not in _WITHOUT_FORMAT
        and pd.api.types.is_numeric_dtype(rows[name])
    }
    return table(rows.rename(columns=_HEADERS), caption, formats, marked=marked, max_rows=max_rows)


def _with_intervals(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return some columns, with the interval of an error in one and p-values as text."""
    if rows.empty or "error_low" not in rows.columns:
        return rows[[name for name in columns if name in rows.columns]]
    intervals = [
        f"{low:.2f}–{high:.2f}" if low <= high else "–"
        for low, high in zip(rows["error_low"], rows["error_high"], strict=True)
    ]
    shown = rows.assign(interval=intervals)
    for name in ("p_value", "adjusted_p_value"):
        if name in shown.columns and shown[name].notna().any():
            shown[name] = [permutation_p_value(float(value)) for value in shown[name]]
    return shown[list(columns)].dropna(axis="columns", how="all")


def permutation_p_value(value: float) -> str:
    """Return a p-value as text; that of no permutation as extreme is a limit.

    Examples
    --------
    >>> permutation_p_value(0.0312), permutation_p_value(0.001)
    ('0.031', '≤ 0.001')
    """
    if math.isnan(value):
        return "–"
    is_least = value <= (1 + 1e-9) / (N_PERMUTATIONS + 1)
    return f"≤ {format_rate(value)}" if is_least else format_rate(value)


def _weighting(settings: SpeciesSettings) -> str:
    if settings.features is not None:
        return "each feature by its spread"
    return "by variance within groups" if settings.weighting == "within" else "no"


def _morphospace(figures: Mapping[str, Figure]) -> Html:
    """Return the picture of the groups in shape space."""
    return picture(
        figures["morphospace"],
        "Specimens on the first two components, coloured by group.",
        "Two of several components: what looks close here may be far apart in the others.",
    )


def _aligned(figures: Mapping[str, Figure]) -> Html:
    """Return the picture of aligned landmarks."""
    return picture(
        figures["aligned"],
        "Aligned landmarks of the specimens about the consensus.",
        "Position, size and orientation are removed; the remaining differences are in shape.",
    )


def _method(
    settings: SpeciesSettings, space: ShapeSpace, pairs: pd.DataFrame | None = None
) -> Section:
    """Return the section on method and settings; without pairs, of single specimens."""
    features = settings.features
    one_by_one = pairs is None
    parts: list[str] = [
        paragraph(
            _specimens_method(settings) if pairs is None else _groups_method(settings, pairs)
        ),
        paragraph(_splits_method(settings)),
        *([paragraph(_WEIGHTED)] if features is None and settings.weighting == "within" else []),
        *([paragraph(_REMAINDER)] if space.has_remainder else []),
        facts(_settings(settings, space, one_by_one=one_by_one)),
    ]
    if features is not None:
        formulas = pd.DataFrame({"feature": features.names, "formula": features.formulas})
        parts.append(table(formulas, "Features"))
    return Section("How it was decided", parts)


def _groups_method(settings: SpeciesSettings, pairs: pd.DataFrame) -> str:
    """Return how groups were compared: what was exchanged, and what was adjusted for."""
    distances = _SHAPE_DISTANCES if settings.features is None else _FEATURE_DISTANCES
    exchanged = set(pairs["exchanged"]) if "exchanged" in pairs.columns else set()
    units = " and ".join(sorted(exchanged, reverse=True)) or "specimens"
    whole = ", each as a whole," if "populations" in exchanged else ""
    sentences = [
        "Two questions are kept apart. Is the sample a random sample of a known group? The "
        f"{units} of the two groups{whole} are exchanged at random, {N_PERMUTATIONS} times or in "
        f"all ways if these are fewer, and {distances}. These are tests of {tested(settings)}.",
        *_adjustment(pairs),
        _DISCRIMINANT,
    ]
    return " ".join(sentences)


def _adjustment(pairs: pd.DataFrame) -> list[str]:
    """Return what the second p-value is adjusted for, where there is one."""
    if "adjusted_for" not in pairs.columns:
        return []
    lists = [str(names).split(", ") for names in pairs["adjusted_for"] if names]
    names = list(dict.fromkeys(name for one in lists for name in one))
    if not names:
        return []
    shown = ["log centroid size and its square" if name == SIZE else name for name in names]
    some = "" if len(lists) == len(pairs) else ", where it has a part" * (names == [SIZE])
    return [
        f"The adjusted p-value is that of a difference beyond {' and '.join(shown)}{some}: the "
        "residuals of the model without the groups are rotated at random."
    ]


def _specimens_method(settings: SpeciesSettings) -> str:
    """Return how single specimens, and all of them as one sample, were tested."""
    rate = settings.false_discovery_rate
    return (
        "Each specimen is tested on its own. Its p-value is the rank of its novelty among held-out "
        "known specimens. Specimens are called new by the rule of Benjamini and Hochberg, so that "
        f"of those called new at most a fraction of {rate:.12g} is expected to be of known groups. "
        "The sample as a whole is compared with the held-out known specimens by a one-sided "
        "rank-sum test (Wilcoxon, Mann and Whitney) of novelty, and by the number of low p-values, "
        "which is exact if specimens may be exchanged; Bonferroni's rule combines the two. "
        "Covariates have no part in these tests."
    )


def _splits_method(settings: SpeciesSettings) -> str:
    """Return how known specimens were split for novelty scores."""
    learnt = "components" if settings.features is None else "features' scales"
    return (
        "For novelty, the known specimens are split in half at random, group by group. One half is "
        f"the reference: alignment, {learnt} and score are learnt from it alone. The other half is "
        "held out and, like the unknown, only projected, so that both are new to the score. This "
        "is a one-sided test: it knows nothing of the unknown."
    )


def _settings(
    settings: SpeciesSettings, space: ShapeSpace, *, one_by_one: bool
) -> dict[str, object]:
    features = settings.features
    errors = {
        "confidence": settings.confidence,
        "random splits": settings.halvings,
        "largest error of groups called distinguished": settings.largest_error,
    }
    if one_by_one:
        errors = {"false discovery rate": settings.false_discovery_rate}
    return {
        "described by": (
            f"{space.components.shape[1]} principal components of the aligned landmarks"
            if features is None
            else f"{len(features.names)} features, measured on aligned shapes"
        ),
        "remainder beyond the components": space.has_remainder,
        "centroid size included": settings.size,
        "reflection allowed": settings.reflection,
        "directions weighted": _weighting(settings),
        "novelty score": SCORE_NAMES[settings.score],
        **({"kernel width": settings.bandwidth} if settings.score == "depth" else {}),
        **errors,
        "seed": settings.seed,
    }


def _unknown_page(answer: UnknownAnswer) -> str:
    """Return the report on one group."""
    study = answer.study
    figures = unknown_figures(study)
    n_known = len(study.landmarks) - study.n_unknown
    return page(
        f"Is {study.unknown} new?",
        [
            _unknown_answer(answer),
            Section("Against each known group", list(_pairs(answer, figures))),
            Section("Against all known groups together", list(_pooled(answer, figures["novelty"]))),
            Section("Where it lies", [_morphospace(figures), *_variates(figures)]),
            Section("What differs", list(_shapes(answer, figures))),
            Section("Specimen by specimen", list(_specimens(answer))),
            Section("Digitising", list(_digitising(answer.digitising))),
            _method(study.settings, study.first.space, study.pairs),
        ],
        lead=f"{quantity(study.n_unknown, 'specimen')} of {Path(study.landmarks.source).name}, "
        f"compared with {n_known} specimens of known groups",
    )


def _unknown_answer(answer: UnknownAnswer) -> Section:
    study, means = answer.study, mean_and_spread(answer.study.halvings)
    return answer_section(
        answer.sentences,
        facts(
            {
                "unknown specimens": study.n_unknown,
                "known specimens": len(study.landmarks) - study.n_unknown,
                "known groups compared": len(study.pairs),
                "covariates": ", ".join(study.comparisons.covariates.names) or "none given",
                "largest p-value": permutation_p_value(study.verdict.p_value),
            }
        ),
        paragraph(
            f"A one-sided test of novelty detected {percent(means['detection_rate'])} of the "
            "specimens at a threshold that allows at most "
            f"{percent_rounded_up(means['false_alarm_bound'])} "
            f"false alarms (bound at {study.settings.confidence:.0%}; means over "
            f"{quantity(len(study.halvings), 'split')})."
        ),
    )


def _pairs(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    study = answer.study
    yield paragraph(
        f"The p-value is the probability of a difference in {tested(study.settings)} as large as "
        "this, if both were random samples of one group. The error is that of a discriminant "
        "between the two groups, cross-validated, with its interval; 0.5 is guessing. The novelty "
        "error is that of a one-sided test that knows the known group alone: the rate at which "
        f"specimens of {study.unknown} are missed and known ones raise a false alarm."
    )
    if study.pairs.empty:
        yield paragraph("No known group is large enough.")
        return
    yield _measurements(
        _with_intervals(study.pairs, _PAIR_COLUMNS),
        "Known groups of n specimens, the hardest to distinguish first",
        marked=study.pairs["single_specimens"] != DISTINGUISHED,
        max_rows=_ROWS_SHOWN,
    )
    if "pairs" in figures:
        yield picture(
            figures["pairs"],
            f"Errors of telling single specimens of {study.unknown} from each known group.",
            "Intervals are those of the discriminant, which has learnt both groups.",
        )
    if "novelty_closest" in figures:
        yield picture(
            figures["novelty_closest"],
            f"Novelty among {study.verdict.closest}, of its own held-out specimens and of "
            f"{study.unknown}.",
            "The group that is hardest to distinguish, alone, in the first split; high is unusual.",
        )


def _variates(figures: Mapping[str, Figure]) -> list[Html]:
    """Return the picture of canonical variates, if there is one."""
    if "variates" not in figures:
        return []
    return [
        picture(
            figures["variates"],
            "Specimens on the first two canonical variates of the known groups.",
            "Each known specimen is placed by variates of other specimens (cross-validated).",
        )
    ]


def _pooled(answer: UnknownAnswer, novelty: Figure) -> Iterator[str]:
    study = answer.study
    yield picture(
        novelty,
        "Novelty of held-out known specimens and of unknown ones, with the threshold.",
        "The first split; high is unusual. Specimens right of the threshold would be detected at "
        "this threshold; the verdicts on single specimens below allow fewer false alarms.",
    )
    halvings = study.halvings[list(_HALVING_COLUMNS)]
    yield _measurements(
        halvings, "Split by split", marked=halvings["halving"] < 0, max_rows=_ROWS_SHOWN
    )
    yield paragraph(
        "At each threshold there are two rates: the fraction of unknown specimens missed, and a "
        f"bound on false alarms that holds at all thresholds at {study.settings.confidence:.0%} "
        "confidence (Hoeffding). e* is the larger of the two at the threshold where that is "
        "smallest; with few specimens both change in steps, and need not be equal there. The last "
        "two columns belong to a threshold that allows a fixed number of alarms, chosen before "
        "any score was computed: the fraction detected, and an exact bound on false alarms."
    )


def _shapes(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    name = answer.study.unknown
    yield picture(
        figures["deformation"],
        f"Deformation grid from the consensus of the known specimens to the mean of {name}.",
        "Arrows point from the consensus to the landmarks of the unknown.",
    )
    if "deformation_closest" in figures:
        yield picture(
            figures["deformation_closest"],
            f"Deformation grid from the mean of {answer.study.verdict.closest} to that of {name}.",
            "The same, from the closest known group.",
        )
    yield _aligned(figures)


def _specimens(answer: UnknownAnswer) -> Iterator[str]:
    rows = _unusual_first(answer.rows)
    yield paragraph(
        "Each specimen by itself: the p-value is the probability that a specimen of the known "
        "groups is as novel, and the closest group is that of the nearest known specimen. A "
        "specimen is called new only if the false discovery rate over all of them stays at "
        f"{answer.study.settings.false_discovery_rate:g} or less."
    )
    yield _measurements(
        rows[list(_SPECIMEN_COLUMNS)],
        "The most unusual first",
        marked=rows["digitising"] != "in order",
        max_rows=_ROWS_SHOWN,
    )


def _each_page(answer: EachAnswer) -> str:
    study = answer.study
    figures = each_figures(study)
    return page(
        f"Which groups of {Path(study.studies[0].landmarks.source).name} can be distinguished?",
        [
            _each_answer(answer),
            Section("Group by group", list(_other_verdicts(answer))),
            Section("Against each other", list(_against_each_other(answer, figures))),
            Section(
                "Where they lie", [_morphospace(figures), *_variates(figures), _aligned(figures)]
            ),
            Section("Digitising", list(_digitising(answer.digitising))),
            _method(study.studies[0].settings, study.studies[0].first.space, study.pairs),
        ],
        lead=f"{len(study.studies)} groups, each held out as unknown in turn",
    )


def _each_answer(answer: EachAnswer) -> Section:
    return answer_section(
        answer.sentences,
        _measurements(
            _with_intervals(answer.rows, _GROUP_COLUMNS),
            "Each group of n specimens held out as unknown, with its largest p-value, and with the "
            "error of the discriminant from the closest group, the hardest to distinguish",
            marked=answer.rows["verdict"] != LOOKS_NEW,
            max_rows=_GROUPS_SHOWN,
        ),
    )


def _other_verdicts(answer: EachAnswer) -> Iterator[str]:
    others = [study for study in answer.study.studies if study.verdict.kind != LOOKS_NEW]
    if not others:
        yield paragraph("Every group looks new; the table above has the error rates.")
        return
    verdicts = pd.DataFrame(
        {
            "group": [study.unknown for study in others],
            "verdict": [study.verdict.sentence for study in others],
        }
    )
    yield table(verdicts, "Groups with other verdicts", max_rows=_GROUPS_SHOWN)


def _against_each_other(answer: EachAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    if "pairs" not in figures:
        yield paragraph("No group is large enough to be compared alone.")
        return
    yield picture(
        figures["pairs"],
        "Errors of discriminants between any two groups, cross-validated.",
        "The error is the same whichever group is called unknown. The darker, the more alike; "
        "framed where the error is larger than that of groups called distinguished.",
    )
    pairs = all_pairs(answer.study.pairs)
    yield _measurements(
        _with_intervals(pairs, _ALL_PAIRS_COLUMNS).rename(
            columns={"unknown": "one group", "known": "the other"}
        ),
        "All pairs of groups, the hardest to distinguish first",
        marked=pairs["single_specimens"] != DISTINGUISHED,
        max_rows=_ROWS_SHOWN,
    )


def all_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return one line per pair of groups, the largest error first."""
    ends = [frozenset(pair) for pair in zip(pairs["unknown"], pairs["known"], strict=True)]
    once = pairs[~pd.Series(ends, index=pairs.index, dtype=object).duplicated()]
    return once.sort_values(["error", "p_value"], ascending=False, kind="stable")


def _specimens_page(answer: SpecimensAnswer) -> str:
    tests = answer.tests
    figures = specimen_figures(tests)
    return page(
        f"Which specimens of {Path(tests.new.source).name} are new?",
        [
            _specimens_answer(answer),
            Section("Digitising", list(_digitising(answer.digitising))),
            Section("Novelty", [_novelty(figures["novelty"])]),
            Section("Where they lie", [_morphospace(figures), _aligned(figures)]),
            _method(tests.settings, tests.split.space),
        ],
        lead=f"{quantity(len(tests.rows), 'specimen')}, each compared with {len(tests.known)} "
        "specimens of known groups",
    )


def _specimens_answer(answer: SpecimensAnswer) -> Section:
    rows = _unusual_first(answer.rows)
    return answer_section(
        answer.sentences,
        _measurements(
            rows[list(_SPECIMEN_COLUMNS)],
            "The most unusual first",
            marked=rows["verdict"] == NEW,
            max_rows=_SPECIMENS_SHOWN,
        ),
    )


def _unusual_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("novelty", ascending=False, kind="stable")


def _digitising(report: DigitisingReport) -> Iterator[str]:
    """Return the list of specimens to check, known and unknown, with a picture of each."""
    found = report.rows
    advice = "Check these against their images." if len(found) else "No specimen stands out."
    yield paragraph(
        "All specimens, known and unknown, are compared with others of their own group, so that a "
        "new species is not called an error: each landmark with where the others place it, pairs "
        "with their exchange, the whole with its mirror image. " + advice
    )
    if not len(found):
        return
    yield _measurements(
        found[list(_FINDING_COLUMNS)],
        "Specimens to check, the strongest case first",
        marked=pd.Series(False, index=found.index),
        max_rows=_SPECIMENS_SHOWN,
    )
    for one in digitising_figures(report, _FINDINGS_DRAWN):
        yield picture(one.figure, f"{one.finding.id}: {one.finding.kind}.", one.finding.sentence)


def _novelty(figure: Figure) -> str:
    return picture(
        figure,
        "Novelty of held-out known specimens and of those tested.",
        "High is unusual: few known specimens are as novel as those called new.",
    )
