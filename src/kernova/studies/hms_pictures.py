"""The pictures of the HMS paper, drawn anew from the measurements of ``reproduce_hms``."""

from collections.abc import Mapping
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from kernova.report.canvas import label_axes
from kernova.report.figures import plot_discovery_curves
from kernova.studies.hms_runs import CI_HAD, INTERLEAVE, METHODS, MOST_QUESTIONS, SetResults

_DRAWN: Final = tuple(method for method in METHODS if method != INTERLEAVE)
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#5b5b5b")
_MARKERS: Final = "osD^vP"


def pictures_of(results: SetResults, n_classes: Mapping[str, int]) -> dict[str, Figure]:
    """Draw the curves of each set (Table 4), and what growth does."""
    figures = {f"curves-{name}": _curves(results, name, n) for name, n in n_classes.items()}
    if len(results.growth["growth"].unique()) > 1:
        figures["growth"] = _growth(results.growth)
    return figures


def _new_figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _curves(results: SetResults, name: str, n_classes: int) -> Figure:
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


def _growth(growth: pd.DataFrame) -> Figure:
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
