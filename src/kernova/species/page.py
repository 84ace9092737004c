"""Parts that all pages on species share: number formats, pictures, how it was decided.

One unknown group as a page: the verdict and its reasons, errors, shapes, specimens.

A study of species as one page: the verdict in plain words, its reasons, tables, pictures.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.figure import Figure

from kernova._version import __version__
from kernova.report.page import (
    Format,
    Html,
    Section,
    facts,
    notice,
    page,
    paragraph,
    picture,
    table,
)
from kernova.species.page_figures import each_figures, specimen_figures, unknown_figures
from kernova.species.results import (
    EachAnswer,
    SpeciesAnswer,
    SpecimensAnswer,
    UnknownAnswer,
    probable_slips,
)
from kernova.species.space import ShapeSpace, SpeciesSettings
from kernova.species.study import mean_and_spread
from kernova.species.verdicts import HALVES, LOOKS_NEW, WHOLE

FOOTER: Final = f"Made by kernova {__version__}: load → represent → score → decide → report."


def small(value: float) -> str:
    """Write a p-value so that a small one is not 0."""
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.1g}"


# What columns are called on a page, where there is less room than in a file.
_WORDS: Final = {
    "specimens": "n",
    "equal_error_rate": "error rate",
    "equal_error_rate_spread": "±",
    "auroc": "area",
    "p_value": "p-value",
    "e_star": "e*",
    "detection_rate": "detected",
    "exact_detection_at_least": "detected ≥",
    "exact_false_alarm_bound": "alarms ≤",
    "exact_detection_rate": "detected then",
    "closest_p_value": "p-value there",
}
_SMALL: Final = ("p_value", "closest_p_value")
_FORMATS: Final[dict[str, Format]] = {
    **dict.fromkeys(_WORDS, ".3f"),
    **dict.fromkeys(_SMALL, small),
    **dict.fromkeys(("depth", "threshold"), ".5f"),
}
_WITHOUT_FORMAT: Final = ("specimens",)
_WEIGHTED: Final = (
    "The components are not plain ones: directions in which specimens of one group hardly vary "
    "count more, by the fourth root of the variance within groups."
)
_REMAINDER: Final = (
    "One more column, the remainder, tells how far a specimen lies from what the components can "
    "show."
)


def readable(rows: pd.DataFrame, caption: str, *, marked: "pd.Series[bool]", max_rows: int) -> Html:
    """Give a table of measurements with short words above its columns."""
    formats = {
        _WORDS.get(name, name): way for name, way in _FORMATS.items() if name not in _WITHOUT_FORMAT
    }
    return table(rows.rename(columns=_WORDS), caption, formats, marked=marked, max_rows=max_rows)


def _weighting(settings: SpeciesSettings) -> str:
    if settings.features is not None:
        return "each feature by its spread"
    return "by variance within groups" if settings.weighting == "within" else "no"


def morphospace_picture(figures: Mapping[str, Figure]) -> Html:
    """Give the map of groups."""
    return picture(
        figures["morphospace"],
        "Specimens on the first two components, coloured by group.",
        "Two of several components: what looks close here may be far apart in the others.",
    )


def aligned_picture(figures: Mapping[str, Figure]) -> Html:
    """Give the clouds of landmarks."""
    return picture(
        figures["aligned"],
        "Aligned landmarks of the specimens about the consensus.",
        "Position, size and direction are taken out; what is left is shape.",
    )


def how_it_was_decided(
    settings: SpeciesSettings, space: ShapeSpace, *, one_by_one: bool = False
) -> Section:
    """Tell how, and with which settings; single specimens take one halving and no groups."""
    features = settings.features
    columns = (
        f"{space.components.shape[1]} principal components of the aligned landmarks"
        if features is None
        else f"{len(features.names)} features, measured on aligned shapes"
    )
    parts: list[str] = [
        paragraph(
            "The known specimens are halved at random, group by group. One half is the reference: "
            "alignment, components and depths are learnt from it alone. The other half is held "
            "out and, like the unknown, only projected, so that both are strangers. A depth is "
            "high in the midst of the reference and low far from it."
        ),
        *([paragraph(_WEIGHTED)] if features is None and settings.weighting == "within" else []),
        *([paragraph(_REMAINDER)] if space.has_remainder else []),
        facts(
            {
                "described by": columns,
                "remainder beyond the components": space.has_remainder,
                "size as a column": settings.size,
                "mirror images allowed": settings.reflection,
                "directions weighted": _weighting(settings),
                "kernel width": settings.bandwidth,
                **(
                    {"false discovery rate": settings.false_discovery_rate}
                    if one_by_one
                    else {
                        "confidence": settings.confidence,
                        "halvings": settings.halvings,
                        "largest error of separable groups": settings.largest_error,
                    }
                ),
                "seed": settings.seed,
            }
        ),
    ]
    if features is not None:
        formulas = pd.DataFrame({"feature": features.names, "formula": features.formulas})
        parts.append(table(formulas, "Features"))
    return Section("How it was decided", parts)


_ROWS_SHOWN: Final = 60
_PAIR_COLUMNS: Final = (
    "known", "specimens", "equal_error_rate", "equal_error_rate_spread", "p_value", "test",
    "exact_detection_at_least", "exact_false_alarm_bound",
)  # fmt: skip
_HALVING_COLUMNS: Final = (
    "halving", "e_star", "detection_rate", "threshold", "equal_error_rate", "auroc",
    "exact_detection_rate", "exact_false_alarm_bound",
)  # fmt: skip
_SPECIMEN_COLUMNS: Final = (
    "id", "depth", "p_value", "verdict", "closest", "closest_p_value", "digitising",
)  # fmt: skip
_SHORT: Final = {HALVES: "halves", WHOLE: "exchange"}


def unknown_page(answer: UnknownAnswer) -> str:
    """Give the report on one group as one HTML text."""
    study = answer.study
    figures = unknown_figures(study)
    n_known = len(study.landmarks) - study.n_unknown
    return page(
        f"Is {study.unknown} new?",
        [
            _unknown_answer(answer),
            Section("Against each known group", list(_pairs(answer, figures))),
            Section("Against all known groups together", list(_pooled(answer, figures["depths"]))),
            Section("Where it lies", [morphospace_picture(figures)]),
            Section("What differs", list(_shapes(answer, figures))),
            Section("Specimen by specimen", list(_specimens(answer))),
            how_it_was_decided(study.settings, study.first.space),
        ],
        footer=FOOTER,
        lead=f"{study.n_unknown} specimens of {Path(study.landmarks.source).name}, held against "
        f"{n_known} specimens of known groups",
    )


def _unknown_answer(answer: UnknownAnswer) -> Section:
    study, means = answer.study, mean_and_spread(answer.study.halvings)
    return Section(
        "The answer",
        [
            notice(study.verdict.sentence),
            *(paragraph(reason) for reason in study.verdict.reasons),
            *(paragraph(note) for note in answer.notes),
            facts(
                {
                    "unknown specimens": study.n_unknown,
                    "known specimens": len(study.landmarks) - study.n_unknown,
                    "known groups compared": len(study.pairs),
                    "e*, pooled": f"{means['e_star']:.3f} ± {means['e_star_spread']:.3f}",
                    "area under the ROC curve": f"{means['auroc']:.3f} ± "
                    f"{means['auroc_spread']:.3f}",
                    "p-value": small(study.verdict.p_value),
                }
            ),
        ],
    )


def _pairs(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    study = answer.study
    yield paragraph(
        "Pooled, the known groups can hide one that lies between them. So the unknown is held "
        "against each of them alone. The equal error rate is where as many of its specimens are "
        "missed as known ones raise a false alarm. The "
        "p-value is the chance of a difference as large as this, if the specimens were of the "
        "known group: that depths in one half of it lie as low against those of the other half "
        "(halves) or, for a small group, that specimens exchanged at random between the two set "
        "them as far apart (exchange). The last two columns bound what is detected, from below, "
        "and false alarms, from above, at one threshold."
    )
    if study.pairs.empty:
        yield paragraph("No known group is large enough.")
        return
    is_close = study.pairs["equal_error_rate"] > study.settings.largest_error
    yield readable(
        study.pairs[list(_PAIR_COLUMNS)].replace({"test": _SHORT}),
        "Known groups of n specimens, the hardest to tell apart first; means over the halvings",
        marked=is_close,
        max_rows=_ROWS_SHOWN,
    )
    if "pairs" in figures:
        yield picture(
            figures["pairs"],
            f"Equal error rates of {study.unknown} against each known group.",
            "The darker, the more alike; framed where the two do not count as separable.",
        )
    if "depths_closest" in figures:
        yield picture(
            figures["depths_closest"],
            f"Depths among {study.verdict.closest}, of its own held-out specimens and of "
            f"{study.unknown}.",
            "The closest group alone, in the first halving: the less the two overlap, the better "
            "they can be told apart.",
        )


def _pooled(answer: UnknownAnswer, depths: Figure) -> Iterator[str]:
    study = answer.study
    yield picture(
        depths,
        "Depths of held-out known specimens and of unknown ones, with the threshold.",
        "The first halving. Specimens left of the threshold are called new.",
    )
    halvings = study.halvings[list(_HALVING_COLUMNS)]
    yield readable(
        halvings, "Halving by halving", marked=halvings["halving"] < 0, max_rows=_ROWS_SHOWN
    )
    yield paragraph(
        "e* is the common value of one minus the detection rate and of the proven bound on false "
        f"alarms, at {study.settings.confidence:.0%} confidence. The last two columns are of a "
        "threshold set by a number of alarms that was fixed before any depth was seen: so many "
        "are detected then, and false alarms are at most that, by an exact bound."
    )


def _shapes(answer: UnknownAnswer, figures: Mapping[str, Figure]) -> Iterator[str]:
    name = answer.study.unknown
    yield picture(
        figures["deformation"],
        f"A grid bent from the consensus of the known specimens to the mean of {name}.",
        "Arrows lead from the consensus to where the unknown has its landmarks.",
    )
    if "deformation_closest" in figures:
        yield picture(
            figures["deformation_closest"],
            f"A grid bent from the mean of {answer.study.verdict.closest} to that of {name}.",
            "The same, from the closest known group.",
        )
    yield aligned_picture(figures)


def _specimens(answer: UnknownAnswer) -> Iterator[str]:
    rows = answer.rows.sort_values(["p_value", "depth"], kind="stable")
    yield paragraph(
        "Each specimen by itself: the p-value is the chance that a specimen of the known groups "
        "is as shallow, and the closest group is that of the nearest known specimen. A landmark "
        "sticks out where the specimen's other landmarks would have it elsewhere; in many "
        "specimens of a new group that is its shape, in one alone it may be a slip of the hand."
    )
    yield readable(
        rows[list(_SPECIMEN_COLUMNS)],
        "The strangest first",
        marked=probable_slips(rows),
        max_rows=_ROWS_SHOWN,
    )


_GROUPS_SHOWN: Final = 300
_SPECIMENS_SHOWN: Final = 200
_GROUP_COLUMNS: Final = (
    "unknown", "specimens", "verdict", "closest", "p_value", "e_star", "equal_error_rate",
    "auroc",
)  # fmt: skip
_SPECIES_PAGE_SPECIMEN_COLUMNS: Final = (
    "id", "depth", "p_value", "verdict", "closest", "closest_p_value", "digitising",
)  # fmt: skip


def species_page(answer: SpeciesAnswer) -> str:
    """Give the whole report as one HTML text."""
    if isinstance(answer, UnknownAnswer):
        return unknown_page(answer)
    if isinstance(answer, EachAnswer):
        return _each_page(answer)
    return _specimens_page(answer)


# --- every group in turn ---------------------------------------------------------------------


def _each_page(answer: EachAnswer) -> str:
    study = answer.study
    figures = each_figures(study)
    return page(
        f"Which groups of {Path(study.studies[0].landmarks.source).name} can be told apart?",
        [
            _each_answer(answer),
            Section("Group by group", list(_verdicts_in_words(answer))),
            Section("Against each other", list(_against_each_other(figures))),
            Section("Where they lie", [morphospace_picture(figures), aligned_picture(figures)]),
            how_it_was_decided(study.studies[0].settings, study.studies[0].first.space),
        ],
        footer=FOOTER,
        lead=f"{len(study.studies)} groups, each held out as unknown in turn",
    )


def _each_answer(answer: EachAnswer) -> Section:
    first, *others = answer.sentences
    return Section(
        "The answer",
        [
            notice(first),
            *(paragraph(sentence) for sentence in others),
            readable(
                answer.rows[list(_GROUP_COLUMNS)],
                "Each group of n specimens held out as unknown; means over the halvings",
                marked=answer.rows["verdict"] != LOOKS_NEW,
                max_rows=_GROUPS_SHOWN,
            ),
        ],
    )


def _verdicts_in_words(answer: EachAnswer) -> Iterator[str]:
    others = [study for study in answer.study.studies if study.verdict.kind != LOOKS_NEW]
    if not others:
        yield paragraph("Every group looks new; how sure that is, the table above says.")
        return
    words = pd.DataFrame(
        {
            "group": [study.unknown for study in others],
            "verdict": [study.verdict.sentence for study in others],
        }
    )
    yield table(words, "Those that do not look new, in words", max_rows=_GROUPS_SHOWN)


def _against_each_other(figures: Mapping[str, Figure]) -> Iterator[str]:
    if "pairs" not in figures:
        yield paragraph("No group is large enough to be compared alone.")
        return
    yield picture(
        figures["pairs"],
        "Equal error rates of each group held out, against each known one.",
        "The darker, the more alike; framed where two do not count as separable.",
    )


# --- specimens one by one --------------------------------------------------------------------


def _specimens_page(answer: SpecimensAnswer) -> str:
    tests = answer.tests
    figures = specimen_figures(tests)
    return page(
        f"Which specimens of {Path(tests.new.source).name} are new?",
        [
            _specimens_answer(answer),
            Section("Were they digitised well?", list(_digitising(tests.rows))),
            Section("How deep they lie", [_depths(figures["depths"])]),
            Section("Where they lie", [morphospace_picture(figures), aligned_picture(figures)]),
            how_it_was_decided(tests.settings, tests.halving.space, one_by_one=True),
        ],
        footer=FOOTER,
        lead=f"{len(tests.rows)} specimens, each held against {len(tests.known)} "
        "specimens of known groups",
    )


def _specimens_answer(answer: SpecimensAnswer) -> Section:
    first, *others = answer.sentences
    rows = answer.tests.rows.sort_values(["p_value", "depth"], kind="stable")
    return Section(
        "The answer",
        [
            notice(first),
            *(paragraph(sentence) for sentence in others),
            readable(
                rows[list(_SPECIES_PAGE_SPECIMEN_COLUMNS)],
                "The strangest first",
                marked=rows["verdict"] == "new",
                max_rows=_SPECIMENS_SHOWN,
            ),
        ],
    )


def _digitising(rows: pd.DataFrame) -> Iterator[str]:
    suspicious = rows[rows["landmark"] > 0].sort_values("landmark_p_value", kind="stable")
    found = "Look at these before believing a verdict." if len(suspicious) else "None sticks out."
    yield paragraph(
        "Each landmark is held against where the specimen's other landmarks would have it. " + found
    )
    if len(suspicious):
        columns = ["id", "digitising", "verdict"]
        yield readable(
            suspicious[columns],
            "Specimens to check",
            marked=suspicious["verdict"] == "new",
            max_rows=_SPECIMENS_SHOWN,
        )


def _depths(figure: Figure) -> str:
    return picture(
        figure,
        "Depths of held-out known specimens and of new ones.",
        "Few known specimens are as shallow as those called new.",
    )
