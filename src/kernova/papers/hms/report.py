"""The remade HMS paper as one page for people.

The pictures of the HMS paper, drawn anew from the measurements of ``reproduce_hms``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from kernova.papers.claims import write_reproduction
from kernova.papers.hms import HmsReproduction
from kernova.papers.hms.claims import NOT_REPRODUCED, growth_seconds
from kernova.papers.hms.experiments import (
    CI_HAD,
    HIERARCHICAL,
    INTERLEAVE,
    METHODS,
    MOST_QUESTIONS,
    SetResults,
)
from kernova.report.canvas import label_axes
from kernova.report.figures import plot_discovery_curves
from kernova.report.page import Section, facts, page, paragraph, picture, table


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


_DRAWN: Final = tuple(method for method in METHODS if method != INTERLEAVE)
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#5b5b5b")
_MARKERS: Final = "osD^vP"


def pictures_of(results: SetResults, n_classes: Mapping[str, int]) -> dict[str, Figure]:
    """Draw the curves of each set (Table 4), and what growth does."""
    figures = {
        f"curves-{name}": _hms_pictures_curves(results, name, n) for name, n in n_classes.items()
    }
    if len(results.growth["growth"].unique()) > 1:
        figures["growth"] = _hms_pictures_growth(results.growth)
    return figures


def _new_figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _hms_pictures_curves(results: SetResults, name: str, n_classes: int) -> Figure:
    figure = _new_figure(7.2, 5.8)
    curves = {
        method: results.curves[name, method]
        for method in _DRAWN
        if (name, method) in results.curves
    }
    longest = max(len(curve) for runs in curves.values() for curve in runs)
    ax = plot_discovery_curves(
        curves, n_classes, n_questions=min(longest, MOST_QUESTIONS), ax=figure.subplots()
    )
    ax.set_title(name)
    return figure


def _hms_pictures_growth(growth: pd.DataFrame) -> Figure:
    figure = _new_figure(9.4, 4.6)
    questions, seconds = figure.subplots(1, 2)
    had = growth[growth["method"] == CI_HAD]
    had = had.assign(seconds=had["hierarchy_seconds"] + had["asking_seconds"])
    for place, (name, lines) in enumerate(had.groupby("set", sort=False)):
        look = {
            "color": _COLOURS[place % len(_COLOURS)],
            "marker": _MARKERS[place % len(_MARKERS)],
            "label": str(name),
        }
        middle = lines.groupby("growth")[["questions", "seconds"]].median()
        questions.plot(middle.index, middle["questions"], **look)
        seconds.plot(middle.index, middle["seconds"], **look)
    growths = sorted(growth["growth"].unique())
    _finish(questions, growths, "questions until every class was met")
    _finish(seconds, growths, "seconds: hierarchy, and asking with HAD")
    figure.legend(
        *questions.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False
    )
    return figure


def _finish(ax: Axes, growths: list[float], what: str) -> None:
    ax.set_yscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.xaxis.set_major_locator(FixedLocator(growths))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0, 7.0)))
    ax.yaxis.set_minor_formatter(NullFormatter())
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_major_formatter(plain)
    ax.yaxis.set_major_formatter(plain)
    label_axes(ax, "growth of the bandwidth from level to level", what)
