"""Finding notes, as one page for people.

F by class, F against the threshold, and one song as it was heard.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernova.notes.evaluation import NONE
from kernova.papers.claims import write_reproduction
from kernova.papers.mddkm_notes import NoteReproduction
from kernova.papers.mddkm_notes.claims import DOES_NOT_HOLD, NOT_REPRODUCED
from kernova.papers.mddkm_notes.experiments import NoteResults, class_means
from kernova.papers.mddkm_notes.protocols import MEASURES
from kernova.report.canvas import label_axes, legend_below
from kernova.report.figures import plot_notes
from kernova.report.page import Section, facts, page, paragraph, picture, table


def notes_page(result: NoteReproduction, pictures: Mapping[str, bytes]) -> str:
    """Give the page: claims first, then what stands behind them."""
    return page(
        "Known notes among others: what is said, and what comes out",
        [
            _claims(result),
            _table_two(result, pictures["f-by-class"]),
            _table_one(result),
            _songs(result, pictures),
        ],
        lead="Kalantari, Principe and Sieving, Uncertainty quantification for multiclass data "
        "description.",
        footer=f"Made by kernova reproduce mddkm, with {result.seeds} "
        f"{'seed' if result.seeds == 1 else 'seeds'}.",
    )


def save_everything(result: NoteReproduction, folder: Path) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    return write_reproduction(result, notes_page, folder)


def _claims(result: NoteReproduction) -> Section:
    claims = result.table()
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    return Section(
        "What holds",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            *(paragraph(note) for note in result.notes),
            table(
                claims,
                "What is said, and what came out here",
                marked=claims["verdict"].isin([NOT_REPRODUCED, DOES_NOT_HOLD]),
            ),
        ],
    )


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
                "The same with notes paired by the largest overlap, wherever they begin "
                "(overlap_f)",
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
        parts.append(table(_counted(wide), f"{name}: true class by what was found"))
    return Section(
        "Table 1: which notes are taken for which",
        [
            "Of the first seed, with the preset song and MDD-KM: notes paired by the largest "
            'overlap. Foreign notes belong to "none".',
            *parts,
        ],
    )


def _counted(wide: pd.DataFrame) -> pd.DataFrame:
    return wide.astype(int).rename_axis(columns=None).reset_index()


def _songs(result: NoteReproduction, pictures: Mapping[str, bytes]) -> Section:
    shown = picture(
        pictures["song"],
        "Sound, scores of the learnt classes, and notes found and annotated.",
        "Sound, scores of three learnt classes, and what was found.",
    )
    if "thresholds" not in pictures:
        return Section("One stretch as it was heard", [shown])
    alarms = result.results.alarms
    cases = alarms.groupby("case", sort=False)["false_per_minute"].agg(["mean", "max"])
    return Section(
        "Whole songs",
        [
            "Three classes learnt from ten notes each: mean note F over seeds, and the worst seed. "
            "All classes, each learnt from all its notes: mean note F of the classes, and the "
            "share of wrong windows.",
            table(result.song_comparison(), "Note F in whole songs"),
            shown,
            "Where a learnt class does not occur, whatever is found of it is false: its notes "
            "were replaced by the song's own quiet, or other birds were searched.",
            table(
                cases.reset_index(),
                "False notes of a class a minute",
                dict.fromkeys(("mean", "max"), ".2f"),
            ),
            picture(
                pictures["thresholds"],
                "Note F against the least score of a note.",
                "By default each class has its own threshold, from the recording itself.",
            ),
        ],
    )


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
