"""F by class, F against the threshold, and one song as it was heard."""

from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernova.report.canvas import label_axes, legend_below
from kernova.report.figures import plot_notes
from kernova.studies.mddkm_note_runs import NoteResults, class_means
from kernova.studies.note_check import NONE

# Presets by colour, methods by fullness.
_STYLES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("song", "MDD-KM"): {"facecolor": "#0072b2", "edgecolor": "#0072b2"},
    ("song", "PKNN"): {"facecolor": "white", "edgecolor": "#0072b2"},
    ("paper", "MDD-KM"): {"facecolor": "#d55e00", "edgecolor": "#d55e00"},
    ("paper", "PKNN"): {"facecolor": "white", "edgecolor": "#d55e00"},
}
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
_BAR: Final = 0.2


def pictures_of(results: NoteResults) -> dict[str, Figure]:
    """Draw "f-by-class", "song" and, where there are songs, "thresholds"."""
    pictures = {"f-by-class": _classes(class_means(results.joined)), "song": _song(results)}
    if len(results.curve):
        pictures["thresholds"] = _thresholds(results.curve, results.sweep)
    return pictures


def _new_figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _classes(means: pd.DataFrame) -> Figure:
    sets = list(dict.fromkeys(means["set"]))
    figure = _new_figure(9.6, 0.7 + 2.2 * len(sets))
    grid = figure.subplots(len(sets), 2, squeeze=False, sharey=True)
    for name, (by_window, by_note) in zip(sets, grid, strict=True):
        of = means[means["set"] == name]
        _draw_bars(by_window, of, "window_f", _ordered(of["class"]))
        names = [one for one in _ordered(of["class"]) if one != NONE]
        _draw_bars(by_note, of, "note_f", names)
        label_axes(by_window, "", "F")
        by_window.set_title(f"{name}: by window", fontsize=9, loc="left", parse_math=False)
        by_note.set_title(f"{name}: by note", fontsize=9, loc="left", parse_math=False)
    words = [f"preset {preset}, {method}" for preset, method in _STYLES]
    figure.legend(
        grid[-1, 0].containers, words, loc="outside lower left", ncols=len(words), frameon=False,
        fontsize=8,
    )  # fmt: skip
    return figure


def _ordered(names: "pd.Series[str]") -> list[str]:
    """Give the classes in order, none of them last."""
    return sorted(set(names), key=lambda name: (name == NONE, name))


def _draw_bars(ax: Axes, means: pd.DataFrame, value: str, names: list[str]) -> None:
    for place, ((preset, method), style) in enumerate(_STYLES.items()):
        of = means[(means["preset"] == preset) & (means["method"] == method)]
        heights = of.set_index("class")[value].reindex(names).to_numpy(dtype=np.float64)
        left = np.arange(len(names)) + _BAR * (place - 1.5)
        ax.bar(left, np.nan_to_num(heights), _BAR * 0.85, linewidth=1.0, **style)
    ax.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=8)
    ax.tick_params(axis="x", length=0)
    ax.set_ylim(0, 1.02)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)


def _thresholds(curve: pd.DataFrame, sweep: pd.DataFrame) -> Figure:
    figure = _new_figure(6.8, 4.4)
    ax = figure.subplots()
    entries = []
    for place, (name, of) in enumerate(curve.groupby("set", sort=False)):
        colour = _COLOURS[place % len(_COLOURS)]
        # Between two scores that occur nothing changes until the higher is passed.
        (line,) = ax.step(of["threshold"], of["f"], where="pre", color=colour, lw=1.6)
        entries.append((line, f"{name}: finds left out by score"))
        means = sweep[sweep["set"] == name].groupby("threshold", dropna=False)["f"].mean()
        set_before = means[means.index.notna()]
        (dots,) = ax.plot(set_before.index, set_before, "o", color=colour, ms=5, mfc="white")
        entries.append((dots, f"{name}: threshold set before"))
        own = float(means[means.index.isna()].iloc[0])
        entries.append((ax.axhline(own, color=colour, lw=1, ls="--"), f"{name}: default {own:.3f}"))
    ax.set_ylim(0, 1.02)
    ax.set_xlim(*_reach(sweep["threshold"]))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.3)
    label_axes(ax, "least score of a note", "note F in whole songs, mean of the classes")
    legend_below(ax, entries)
    return figure


def _reach(thresholds: "pd.Series[float]") -> tuple[float, float]:
    low, high = float(thresholds.min()), float(thresholds.max())
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _song(results: NoteResults) -> Figure:
    title, scan, truth = results.shown
    figure = plot_notes(scan, truth=truth, title=title).figure
    assert isinstance(figure, Figure)  # the picture itself, no part of one
    return figure
