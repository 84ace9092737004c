"""Report of the HMS reproduction: the page and the figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from kernova.papers.claims import (
    COLOURS,
    MARKERS,
    NOT_REPRODUCED,
    claims_section,
    write_report,
)
from kernova.papers.hms.experiments import (
    CI_HAD,
    HIERARCHICAL,
    INTERLEAVE,
    METHODS,
    MOST_QUESTIONS,
    SetResults,
)
from kernova.papers.hms.reproduction import HmsReproduction, growth_seconds
from kernova.report.canvas import label_axes, new_figure
from kernova.report.figures import plot_discovery_curves
from kernova.report.page import Section, page, picture, table
from kernova.text import quantity

_DRAWN: Final = tuple(method for method in METHODS if method != INTERLEAVE)


def hms_page(result: HmsReproduction, pictures: Mapping[str, bytes]) -> str:
    """Return the page: the claims, then the results."""
    sections = [_claims(result), _comparison(result), _curves(result, pictures)]
    if "growth" in pictures:
        sections.append(_growth(result, pictures["growth"]))
    sections.append(_references(result))
    return page(
        "Hierarchical mean shift: claims of the paper and our results",
        sections,
        lead="Vatturi and Wong, Category Detection Using Hierarchical Mean Shift, KDD 2009.",
        footer=f"Made by kernova reproduce hms, with {quantity(len(result.seeds), 'draw')} of each "
        "set that is not used whole.",
    )


def save_report(result: HmsReproduction, folder: Path) -> list[Path]:
    """Write the page, tables and figures to a folder; return the paths."""
    return write_report(result, figures_of(result), hms_page, folder)


def _claims(result: HmsReproduction) -> Section:
    introduction = (
        "The tables of the paper are not in the text that we have, so its statements are judged, "
        "by medians over the draws."
    )
    return claims_section(result.table(), result.notes, [NOT_REPRODUCED], [introduction])


def _comparison(result: HmsReproduction) -> Section:
    areas = result.areas()
    formats = {name: ".3f" for name in areas.columns if name != "set"}
    return Section(
        "Questions and areas",
        [
            "Questions until every class was found: the median over draws (and over starts, if "
            "there are several), with the range in brackets. The area is the fraction of classes "
            "found, averaged over questions 1 to 200.",
            table(result.questions(), "Questions until every class was found (Table 2)"),
            table(areas, "Area under the curves (Table 3)", formats),
        ],
    )


def _curves(result: HmsReproduction, pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Curves (Table 4)",
        [
            picture(pictures[f"curves-{name}"], f"{name}: classes found against questions asked.")
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
            "The centres of the previous level are shifted towards all rows (data), towards the "
            "centres weighted by their numbers of rows (weighted), or towards the centres without "
            "weights (centres).",
            table(shown, "Questions by reference, medians over draws", formats),
            table(
                modes.reset_index(),
                "Clusters of mean shift at Silverman's bandwidth",
                {"classes": "g", "clusters": "g"},
            ),
        ],
    )


def figures_of(result: HmsReproduction) -> dict[str, Figure]:
    """Draw the curves of each set (Table 4), and the effect of growth."""
    results = result.results
    n_classes = results.runs.groupby("set", sort=False)["classes"].first()
    figures = {
        f"curves-{name}": _curves_figure(results, str(name), int(n))
        for name, n in n_classes.items()
    }
    if len(results.growth["growth"].unique()) > 1:
        figures["growth"] = _growth_figure(results.growth)
    return figures


def _curves_figure(results: SetResults, name: str, n_classes: int) -> Figure:
    figure = new_figure(7.2, 5.8)
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


def _growth_figure(growth: pd.DataFrame) -> Figure:
    figure = new_figure(9.4, 4.6)
    questions, seconds = figure.subplots(1, 2)
    had = growth[growth["method"] == CI_HAD]
    had = had.assign(seconds=had["hierarchy_seconds"] + had["asking_seconds"])
    for number, (name, lines) in enumerate(had.groupby("set", sort=False)):
        look = {
            "color": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)],
            "label": str(name),
        }
        middle = lines.groupby("growth")[["questions", "seconds"]].median()
        questions.plot(middle.index, middle["questions"], **look)
        seconds.plot(middle.index, middle["seconds"], **look)
    growths = sorted(growth["growth"].unique())
    _finish(questions, growths, "questions until every class was found")
    _finish(seconds, growths, "seconds: hierarchy, and asking with HAD")
    figure.legend(
        *questions.get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False
    )
    return figure


def _finish(ax: Axes, growths: list[float], label: str) -> None:
    ax.set_yscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.xaxis.set_major_locator(FixedLocator(growths))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0, 7.0)))
    ax.yaxis.set_minor_formatter(NullFormatter())
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_major_formatter(plain)
    ax.yaxis.set_major_formatter(plain)
    label_axes(ax, "growth of the bandwidth from level to level", label)
