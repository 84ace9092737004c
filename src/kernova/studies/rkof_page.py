"""The remade RKOF paper as one page for people."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from kernova.report.page import (
    Html,
    Section,
    facts,
    page,
    paragraph,
    picture,
    table,
)
from kernova.studies.reproduce_rkof import RkofReproduction
from kernova.studies.reproduction_files import write_reproduction
from kernova.studies.rkof_claims import NOT_REPRODUCED
from kernova.studies.rkof_data import SOURCES
from kernova.studies.rkof_real import LOF

_SHOWN_K = (10, 14, 16, 18, 20, 25, 27, 31, 40, 50, 60, 80, 100, 130, 200, 300, 400, 500)


def rkof_page(result: RkofReproduction, pictures: Mapping[str, bytes]) -> str:
    """Give the page: claims first, then what stands behind them."""
    sections = [_claims(result), _synthetic(result, pictures), _theorem(pictures)]
    if len(result.real.areas):
        sections += [_real(result, pictures), _times(result.real.times)]
    return page(
        "The robust kernel outlier factor: the paper and what comes out",
        sections,
        lead="Gao, Hu, Zhang, Zhang and Wu, RKOF: Robust Kernel-Based Local Outlier Detection, "
        "PAKDD 2011.",
        footer=f"Made by kernova reproduce rkof, with {len(result.seeds)} draws of each synthetic "
        "set.",
    )


def save_everything(result: RkofReproduction, folder: Path) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    return write_reproduction(result, rkof_page, folder)


def _claims(result: RkofReproduction) -> Section:
    claims = result.table()
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    is_off = claims["verdict"] == NOT_REPRODUCED
    return Section(
        "What holds",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            table(claims, "What the paper says, and what came out here", marked=is_off),
            *(paragraph(note) for note in result.notes),
        ],
    )


def _synthetic(result: RkofReproduction, pictures: Mapping[str, bytes]) -> Section:
    coverage = result.coverage_over_k()
    shown = coverage[coverage["k"].isin(_SHOWN_K)]
    formats = {name: ".0%" for name in coverage.columns if name not in ("set", "k")}
    return Section(
        "Synthetic sets",
        [
            "The paper shows its two sets as pictures; the places and spreads here are ours. A "
            "method finds an outlier if it is among as many rows with the largest factors as "
            "there are outliers.",
            picture(pictures["synthetic-1"], "Synthetic-1, and the share of outliers found by k."),
            picture(pictures["synthetic-2"], "Synthetic-2, and the share of outliers found by k."),
            table(shown, f"Outliers found, mean over {len(result.seeds)} draws", formats),
        ],
    )


def _theorem(pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Theorem 1",
        [
            "Outliers in a neighbourhood pull its density down, and so hide each other. If they "
            "weigh less in the mean, an outlier's factor stays large until nearly all of its "
            "neighbours are outliers. On the right, the same by experiment: a group of outliers "
            "beside one cluster grows until it fills its own neighbourhoods.",
            picture(
                pictures["theorem"],
                "An outlier's factor by the share of outliers around it: algebra, RKOF and LOF.",
            ),
        ],
    )


def _real(result: RkofReproduction, pictures: Mapping[str, bytes]) -> Section:
    return Section("Real data", list(_real_parts(result, pictures)))


def _real_parts(result: RkofReproduction, pictures: Mapping[str, bytes]) -> Iterator[Html]:
    for family in dict.fromkeys(result.real.areas["family"]):
        yield paragraph(f"{SOURCES[family].title}: {SOURCES[family].preparation}.")
    yield picture(pictures["areas"], "Area under the ROC curve by number of neighbours.")
    best = result.tables()["best_k"].rename(columns={"auc": "area"})
    yield table(best, "Each method at its best k", {"area": ".4f"})
    yield picture(pictures["best-k"], "The k with the largest area, by kernel.")
    yield picture(pictures["roc"], "ROC curves.")


def _times(times: pd.DataFrame) -> Section:
    if times.empty:
        return Section("Times", ["None were taken."])
    by_family = times.groupby(["family", "method", "k"], sort=False)["seconds"].sum().reset_index()
    lof = by_family[by_family["method"] == LOF].set_index("family")["seconds"]
    by_family["ratio to LOF"] = by_family["seconds"] / by_family["family"].map(lof)
    return Section(
        "Times",
        [
            "Seconds to fit, each in the same run at one k; of the shuttle's five subsets, the "
            "sum. LOF is scikit-learn's.",
            table(by_family, "Times to fit", {"seconds": ".2f", "ratio to LOF": ".2f"}),
        ],
    )
