"""One unknown group as a page: the verdict and its reasons, errors, shapes, specimens."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from kernova.report.page import Section, facts, notice, page, paragraph, picture
from kernova.studies.species import mean_and_spread
from kernova.studies.species_answers import UnknownAnswer, probable_slips
from kernova.studies.species_page_parts import (
    FOOTER,
    aligned_picture,
    how_it_was_decided,
    morphospace_picture,
    readable,
    small,
)
from kernova.studies.species_pictures import unknown_figures
from kernova.studies.species_verdicts import HALVES, WHOLE

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
