"""Report of the MDD-KM reproduction on notes: the page and the figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernova.notes.evaluation import NONE
from kernova.papers.claims import COLOURS, NOT_REPRODUCED, claims_section, panels, write_report
from kernova.papers.mddkm_notes.experiments import MEASURES, Shown
from kernova.papers.mddkm_notes.reproduction import DOES_NOT_HOLD, NoteReproduction, class_means
from kernova.report.canvas import figure_of, label_axes, legend_below, new_figure
from kernova.report.figures import plot_notes
from kernova.report.page import Section, page, picture, table
from kernova.text import quantity

# Presets by colour, methods by filled and open bars.
_STYLES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("song", "MDD-KM"): {"facecolor": "#0072b2", "edgecolor": "#0072b2"},
    ("song", "PKNN"): {"facecolor": "white", "edgecolor": "#0072b2"},
    ("paper", "MDD-KM"): {"facecolor": "#d55e00", "edgecolor": "#d55e00"},
    ("paper", "PKNN"): {"facecolor": "white", "edgecolor": "#d55e00"},
}
_LINE_COLOURS: Final = COLOURS[:5]
_BAR: Final = 0.2


def notes_page(result: NoteReproduction, pictures: Mapping[str, bytes]) -> str:
    """Return the page: the claims, then the results."""
    return page(
        "Known notes among others: claims and our results",
        [
            _claims(result),
            _table_two(result, pictures["f-by-class"]),
            _table_one(result),
            _songs(result, pictures),
        ],
        lead="Kalantari, Principe and Sieving, Uncertainty quantification for multiclass data "
        "description.",
        footer=f"Made by kernova reproduce mddkm, with {quantity(result.seeds, 'seed')}.",
    )


def save_report(result: NoteReproduction, folder: Path) -> list[Path]:
    """Write the page, tables and figures to a folder; return the paths."""
    return write_report(result, figures_of(result), notes_page, folder)


def _claims(result: NoteReproduction) -> Section:
    failed = [NOT_REPRODUCED, DOES_NOT_HOLD]
    return claims_section(result.table(), result.notes, failed, caption="Claims, and our results")


def _table_two(result: NoteReproduction, png: bytes) -> Section:
    means = result.tables()["classes"]
    return Section(
        "Table 2: notes back to back",
        [
            "F by window (the known classes and none of them) / by note (the known classes, onsets "
            "within 20 ms), means over seeds, and the p-value of the paired t-test over seeds by "
            "window / by note. The paper prints .85 / .91 for MDD-KM, .83 / .90 for PKNN, and "
            "p = .003 / .386.",
            table(result.comparison(), "F by window / by note"),
            table(
                result.means()[["set", "preset", "method", *MEASURES]],
                "The same with notes paired by the largest overlap, with any onset (overlap_f)",
                dict.fromkeys(MEASURES, ".3f"),
            ),
            picture(png, "F of each class by set, preset and method, by window and by note."),
            table(
                means,
                "F of each class, means over the seeds that drew it",
                dict.fromkeys(MEASURES, ".3f"),
            ),
        ],
    )


def _table_one(result: NoteReproduction) -> Section:
    confusion = result.results.confusion
    parts = []
    for name, lines in confusion.groupby("set", sort=False):
        wide = lines.pivot_table("notes", index="true", columns="found", sort=False)
        parts.append(table(_counted(wide), f"{name}: true class by detected class"))
    return Section(
        "Table 1: confusion of the classes",
        [
            "Of the first seed, with the preset song and MDD-KM: notes paired by the largest "
            'overlap. Notes of other classes belong to "none".',
            *parts,
        ],
    )


def _counted(wide: pd.DataFrame) -> pd.DataFrame:
    return wide.astype(int).rename_axis(columns=None).reset_index()


def _songs(result: NoteReproduction, pictures: Mapping[str, bytes]) -> Section:
    shown = picture(
        pictures["song"],
        "Sound, scores of the learnt classes, and detected and annotated notes.",
        "Sound, scores of three learnt classes, and the detected notes.",
    )
    if "thresholds" not in pictures:
        return Section("One chunk of sound", [shown])
    alarms = result.results.alarms
    cases = alarms.groupby("case", sort=False)["false_per_minute"].agg(["mean", "max"])
    return Section(
        "Whole songs",
        [
            "Three classes learnt from ten notes each: mean note F over seeds, and the worst seed. "
            "All classes, each learnt from all its notes: mean note F of the classes, and the "
            "fraction of wrong windows.",
            table(result.song_comparison(), "Note F in whole songs"),
            shown,
            "Where a learnt class does not occur, all its detections are false: its notes were "
            "replaced by silence of the same song, or other birds were searched.",
            table(
                cases.reset_index(),
                "False notes of a class a minute",
                dict.fromkeys(("mean", "max"), ".2f"),
            ),
            picture(
                pictures["thresholds"],
                "Note F against the lowest score of a note.",
                "By default each class has its own threshold, from the recording itself.",
            ),
        ],
    )


def figures_of(result: NoteReproduction) -> dict[str, Figure]:
    """Draw "f-by-class", "song" and, if there are songs, "thresholds"."""
    results = result.results
    figures = {"f-by-class": _classes(class_means(results.joined)), "song": _song(results.shown)}
    if len(results.curve):
        figures["thresholds"] = _thresholds(results.curve, results.sweep)
    return figures


def _classes(means: pd.DataFrame) -> Figure:
    sets = list(dict.fromkeys(means["set"]))
    figure = new_figure(9.6, 0.7 + 2.2 * len(sets))
    grid = figure.subplots(len(sets), 2, squeeze=False, sharey=True)
    for name, (by_window, by_note) in zip(sets, grid, strict=True):
        of = means[means["set"] == name]
        _draw_bars(by_window, of, "window_f", _ordered(of["class"]))
        names = [one for one in _ordered(of["class"]) if one != NONE]
        _draw_bars(by_note, of, "note_f", names)
        label_axes(by_window, "", "F")
        by_window.set_title(f"{name}: by window", fontsize=9, loc="left", parse_math=False)
        by_note.set_title(f"{name}: by note", fontsize=9, loc="left", parse_math=False)
    labels = [f"preset {preset}, {method}" for preset, method in _STYLES]
    figure.legend(
        grid[-1, 0].containers, labels, loc="outside lower left", ncols=len(labels), frameon=False,
        fontsize=8,
    )  # fmt: skip
    return figure


def _ordered(names: "pd.Series[str]") -> list[str]:
    """Return the classes in order, with "none" last."""
    return sorted(set(names), key=lambda name: (name == NONE, name))


def _draw_bars(ax: Axes, means: pd.DataFrame, value: str, names: list[str]) -> None:
    for number, ((preset, method), style) in enumerate(_STYLES.items()):
        of = means[(means["preset"] == preset) & (means["method"] == method)]
        heights = of.set_index("class")[value].reindex(names).to_numpy(dtype=np.float64)
        left = np.arange(len(names)) + _BAR * (number - 1.5)
        ax.bar(left, np.nan_to_num(heights), _BAR * 0.85, linewidth=1.0, **style)
    ax.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=8)
    ax.tick_params(axis="x", length=0)
    ax.set_ylim(0, 1.02)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)


def _thresholds(curve: pd.DataFrame, sweep: pd.DataFrame) -> Figure:
    figure, (ax,) = panels(6.8, 4.4)
    entries = []
    for number, (name, of) in enumerate(curve.groupby("set", sort=False)):
        colour = _LINE_COLOURS[number % len(_LINE_COLOURS)]
        # F changes only at scores that occur.
        (line,) = ax.step(of["threshold"], of["f"], where="pre", color=colour, lw=1.6)
        entries.append((line, f"{name}: detections dropped by score"))
        means = sweep[sweep["set"] == name].groupby("threshold", dropna=False)["f"].mean()
        set_before = means[means.index.notna()]
        (dots,) = ax.plot(set_before.index, set_before, "o", color=colour, ms=5, mfc="white")
        entries.append((dots, f"{name}: threshold set before the search"))
        own = float(means[means.index.isna()].iloc[0])
        entries.append((ax.axhline(own, color=colour, lw=1, ls="--"), f"{name}: default {own:.3f}"))
    ax.set_ylim(0, 1.02)
    ax.set_xlim(*_reach(sweep["threshold"]))
    ax.grid(alpha=0.3)
    label_axes(ax, "lowest score of a note", "note F in whole songs, mean of the classes")
    legend_below(ax, entries)
    return figure


def _reach(thresholds: "pd.Series[float]") -> tuple[float, float]:
    low, high = float(thresholds.min()), float(thresholds.max())
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _song(shown: Shown) -> Figure:
    return figure_of(plot_notes(shown.scan, truth=shown.truth, title=shown.title))
