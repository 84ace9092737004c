"""Report pages of a species study: one unknown group, every group in turn, or single specimens."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.figure import Figure

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
from kernova.species.verdicts import LOOKS_NEW, NEW, TOLD_APART, format_rate
from kernova.text import quantity

# Short column headers; files have the full names.
_HEADERS: Final = {
    "specimens": "n",
    "status": "as a sample",
    "single_specimens": "single specimens",
    "error": "discriminant error",
    "error_low": "from",
    "error_high": "to",
    "novelty_error": "novelty error",
    "novelty_error_spread": "±",
    "equal_error_rate": "equal error rate",
    "auroc": "area",
    "p_value": "p-value",
    "adjusted_p_value": "adjusted p-value",
    "dispersion_p_value": "p-value of dispersion",
    "smaller": "smaller than",
    "e_star": "e*",
    "detection_rate": "detected",
    "exact_false_alarm_bound": "false alarms ≤",
    "exact_detection_rate": "detected at fixed alarms",
    "closest_p_value": "p-value in closest",
}
_P_VALUES: Final = ("p_value", "adjusted_p_value", "dispersion_p_value", "closest_p_value")
_FORMATS: Final[dict[str, Format]] = {
    **dict.fromkeys(_HEADERS, ".3f"),
    **dict.fromkeys(_P_VALUES, format_rate),
    **dict.fromkeys(("novelty", "threshold", "distance"), ".4g"),
    "smaller": ".0%",
    "deviation": ".1f",
}
_WITHOUT_FORMAT: Final = ("specimens", "status", "single_specimens")
_TWO_QUESTIONS: Final = (
    "Two questions are kept apart. Is the sample a random sample of a known group? Specimens of "
    "the two are exchanged at random 999 times, and the Procrustes and Mahalanobis distances of "
    "mean shapes are compared with those of the exchanged samples (Goodall's F orders samples as "
    "the first does). Where the samples differ in size, log centroid size and its square are "
    "adjusted for, as are covariates, by permuting the residuals of the model without the groups. "
    "Can single specimens be distinguished? A linear discriminant with shrunken covariance, "
    "cross-validated, errs at the mean of the two groups' error rates; it is the same from both "
    "sides."
)
_SPLITS: Final = (
    "For novelty, the known specimens are split in half at random, group by group. One half is "
    "the reference: alignment, components and score are learnt from it alone. The other half is "
    "held out and, like the unknown, only projected, so that both are new to the score. This is a "
    "one-sided test: it knows nothing of the unknown."
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
_PAIR_COLUMNS: Final = (
    "known", "specimens", "status", "p_value", "adjusted_p_value", "distance",
    "dispersion_p_value", "smaller", "single_specimens", "error", "error_low", "error_high",
    "novelty_error", "novelty_error_spread",
)  # fmt: skip
_HALVING_COLUMNS: Final = (
    "halving", "e_star", "detection_rate", "threshold", "equal_error_rate", "auroc",
    "exact_detection_rate", "exact_false_alarm_bound",
)  # fmt: skip
_SPECIMEN_COLUMNS: Final = (
    "id", "novelty", "p_value", "verdict", "closest", "closest_p_value", "digitising",
)  # fmt: skip
_GROUPS_SHOWN: Final = 300
_SPECIMENS_SHOWN: Final = 200
_FINDINGS_DRAWN: Final = 12
_GROUP_COLUMNS: Final = (
    "unknown", "specimens", "verdict", "p_value", "closest", "single_specimens", "error",
    "error_low", "error_high", "e_star", "equal_error_rate", "auroc",
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
        if name not in _WITHOUT_FORMAT
    }
    return table(rows.rename(columns=_HEADERS), caption, formats, marked=marked, max_rows=max_rows)


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


def _method(settings: SpeciesSettings, space: ShapeSpace, *, one_by_one: bool = False) -> Section:
    """Return the section on method and settings; single specimens use one split."""
    features = settings.features
    parts: list[str] = [
        *([] if one_by_one else [paragraph(_TWO_QUESTIONS)]),
        paragraph(_SPLITS),
        *([paragraph(_WEIGHTED)] if features is None and settings.weighting == "within" else []),
        *([paragraph(_REMAINDER)] if space.has_remainder else []),
        facts(_settings(settings, space, one_by_one=one_by_one)),
    ]
    if features is not None:
        formulas = pd.DataFrame({"feature": features.names, "formula": features.formulas})
        parts.append(table(formulas, "Features"))
    return Section("How it was decided", parts)


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
            _method(study.settings, study.first.space),
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
                "e*, pooled": f"{means['e_star']:.3f} ± {means['e_star_spread']:.3f}",
                "area under the ROC curve": f"{means['auroc']:.3f} ± {means['auroc_spread']:.3f}",
                "p-value": format_rate(study.verdict.p_value),
            }
        ),
    )


def _pairs(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    study = answer.study
    yield paragraph(
        "The p-value is the probability of a difference in mean shape as large as this, if both "
        "were random samples of one group. The error is that of a discriminant between the two "
        "groups, cross-validated, with its interval; 0.5 is guessing. The novelty error is that "
        "of a one-sided test that knows the known group alone: the rate at which specimens of "
        f"{study.unknown} are missed and known ones raise a false alarm."
    )
    if study.pairs.empty:
        yield paragraph("No known group is large enough.")
        return
    shown = study.pairs[list(_PAIR_COLUMNS)].dropna(axis="columns", how="all")
    yield _measurements(
        shown,
        "Known groups of n specimens, the hardest to distinguish first",
        marked=study.pairs["single_specimens"] != TOLD_APART,
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
            f"Scores among {study.verdict.closest}, of its own held-out specimens and of "
            f"{study.unknown}.",
            "The group that is hardest to distinguish, alone, in the first split; low is unusual.",
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
        "Scores of held-out known specimens and of unknown ones, with the threshold.",
        "The first split; low is unusual. Specimens left of the threshold are called new.",
    )
    halvings = study.halvings[list(_HALVING_COLUMNS)]
    yield _measurements(
        halvings, "Split by split", marked=halvings["halving"] < 0, max_rows=_ROWS_SHOWN
    )
    yield paragraph(
        "e* is the common value of one minus the detection rate and of the proven bound on false "
        f"alarms, at {study.settings.confidence:.0%} confidence. The last two columns belong to a "
        "threshold that allows a fixed number of alarms, chosen before any score was computed: "
        "the fraction detected, and an exact bound on false alarms."
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
        "groups is as novel, and the closest group is that of the nearest known specimen."
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
            Section("Against each other", list(_against_each_other(figures))),
            Section(
                "Where they lie", [_morphospace(figures), *_variates(figures), _aligned(figures)]
            ),
            Section("Digitising", list(_digitising(answer.digitising))),
            _method(study.studies[0].settings, study.studies[0].first.space),
        ],
        lead=f"{len(study.studies)} groups, each held out as unknown in turn",
    )


def _each_answer(answer: EachAnswer) -> Section:
    return answer_section(
        answer.sentences,
        _measurements(
            answer.rows[list(_GROUP_COLUMNS)],
            "Each group of n specimens held out as unknown; means over the splits",
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
    yield table(verdicts, "Groups that do not look new", max_rows=_GROUPS_SHOWN)


def _against_each_other(figures: Mapping[str, Figure]) -> Iterator[str]:
    if "pairs" not in figures:
        yield paragraph("No group is large enough to be compared alone.")
        return
    yield picture(
        figures["pairs"],
        "Errors of discriminants between any two groups, cross-validated.",
        "The same from both sides. The darker, the more alike; framed where the error is larger "
        "than that of groups called distinguished.",
    )


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
            _method(tests.settings, tests.split.space, one_by_one=True),
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
        found[["id", "group", "kind", "landmarks", "deviation", "p_value", "sentence"]],
        "Specimens to check, the strongest case first",
        marked=pd.Series(False, index=found.index),
        max_rows=_SPECIMENS_SHOWN,
    )
    for one in digitising_figures(report, _FINDINGS_DRAWN):
        yield picture(one.figure, f"{one.finding.id}: {one.finding.kind}.", one.finding.sentence)


def _novelty(figure: Figure) -> str:
    return picture(
        figure,
        "Scores of held-out known specimens and of new ones.",
        "Low is unusual: few known specimens have scores as low as those called new.",
    )
