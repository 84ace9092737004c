"""The remade HMS paper as one page for people."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from kernova.report.page import Section, facts, page, paragraph, picture, table
from kernova.studies.hms_claims import NOT_REPRODUCED, growth_seconds
from kernova.studies.hms_runs import HIERARCHICAL
from kernova.studies.reproduce_hms import HmsReproduction
from kernova.studies.reproduction_files import write_reproduction


def hms_page(result: HmsReproduction, pictures: Mapping[str, bytes]) -> str:
    """Give the page: claims first, then what stands behind them."""
    sections = [_claims(result), _comparison(result), _curves(result, pictures)]
    if "growth" in pictures:
        sections.append(_growth(result, pictures["growth"]))
    sections.append(_references(result))
    n_seeds = len(result.seeds)
    return page(
        "Rare categories by hierarchical mean shift: the paper and what comes out",
        sections,
        lead="Vatturi and Wong, Category Detection Using Hierarchical Mean Shift, KDD 2009.",
        footer=f"Made by kernova reproduce hms, with {n_seeds} "
        f"{'draw' if n_seeds == 1 else 'draws'} of each set that is not taken whole.",
    )


def save_everything(result: HmsReproduction, folder: Path) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    return write_reproduction(result, hms_page, folder)


def _claims(result: HmsReproduction) -> Section:
    claims = result.table()
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    is_off = claims["verdict"] == NOT_REPRODUCED
    return Section(
        "What holds",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            "The paper's tables are lost in the text that has come down to us, so its statements "
            "are judged, by medians over the draws.",
            table(claims, "What the paper says, and what came out here", marked=is_off),
            *(paragraph(note) for note in result.notes),
        ],
    )


def _comparison(result: HmsReproduction) -> Section:
    areas = result.areas()
    formats = {name: ".3f" for name in areas.columns if name != "set"}
    return Section(
        "Questions and areas",
        [
            "Questions until every class was met: the median over draws, and starts where there "
            "are any, with the range in brackets. The area is the share of classes met, averaged "
            "over questions 1 to 200.",
            table(result.questions(), "Questions until every class was met (Table 2)"),
            table(areas, "Area under the curves (Table 3)", formats),
        ],
    )


def _curves(result: HmsReproduction, pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Curves (Table 4)",
        [
            picture(pictures[f"curves-{name}"], f"{name}: classes met against questions asked.")
            for name in result.sets
        ],
    )


def _growth(result: HmsReproduction, png: bytes) -> Section:
    growth = result.results.growth
    keys = ["set", "growth", "method"]
    shown = ["levels", "questions", "hierarchy_seconds", "asking_seconds"]
    lines = growth.groupby(keys, sort=False)[shown].median().reset_index()
    seconds = growth_seconds(growth)
    listed = ", ".join(f"{value:.2f} s at {name:g}" for name, value in seconds.items())
    formats = {"hierarchy_seconds": ".3f", "asking_seconds": ".4f", "questions": "g"}
    return Section(
        "Growth of the bandwidth",
        [
            f"Seconds for all sets together, hierarchy and asking with HAD: {listed}.",
            picture(png, "Questions and seconds by growth."),
            table(lines, "Medians over draws", {**formats, "levels": "g"}),
        ],
    )


def _references(result: HmsReproduction) -> Section:
    lines = result.results.references
    wide = lines.pivot_table(
        "questions", index=["set", "reference"], columns="method", aggfunc="median", sort=False
    )
    seconds = lines.groupby(["set", "reference"], sort=False)["seconds"].median()
    shown: pd.DataFrame = wide[list(HIERARCHICAL)].assign(seconds=seconds).reset_index()
    modes = result.results.modes.groupby("set", sort=False)[["classes", "clusters"]].median()
    formats = {name: "g" for name in HIERARCHICAL} | {"seconds": ".2f"}
    return Section(
        "References, and mean shift at one bandwidth",
        [
            "What is shifted are the centres of the level before; what attracts them are all rows "
            "(data), the centres weighted by their rows (weighted), or the bare centres (centres).",
            table(shown, "Questions by reference, medians over draws", formats),
            table(
                modes.reset_index(),
                "Clusters of mean shift at Silverman's bandwidth",
                {"classes": "g", "clusters": "g"},
            ),
        ],
    )
