"""A study of species as one page: the verdict in plain words, its reasons, tables, pictures."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.figure import Figure

from kernova.report.page import Section, notice, page, paragraph, picture, table
from kernova.studies.species_answers import (
    EachAnswer,
    SpeciesAnswer,
    SpecimensAnswer,
    UnknownAnswer,
)
from kernova.studies.species_page_parts import (
    FOOTER,
    aligned_picture,
    how_it_was_decided,
    morphospace_picture,
    readable,
)
from kernova.studies.species_pictures import each_figures, specimen_figures
from kernova.studies.species_unknown_page import unknown_page
from kernova.studies.species_verdicts import LOOKS_NEW

_GROUPS_SHOWN: Final = 300
_SPECIMENS_SHOWN: Final = 200
_GROUP_COLUMNS: Final = (
    "unknown", "specimens", "verdict", "closest", "p_value", "e_star", "equal_error_rate",
    "auroc",
)  # fmt: skip
_SPECIMEN_COLUMNS: Final = (
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
                rows[list(_SPECIMEN_COLUMNS)],
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
