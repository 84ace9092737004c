"""Pictures of the study of fishes: errors between groups, and five scores side by side."""

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kernova.report.canvas import KNOWN, NEW, Entry, label_axes, legend_below
from kernova.report.morphospace import plot_error_rates
from kernova.studies.ksd_species import METHODS, FishStudy
from kernova.studies.ksd_species_claims import PAPER_WORST_PAIR, pair_matrix

# Told apart by shape as well as by colour.
_MARKS: Final = ("o", "s", "^", "D", "v")
_COLOURS: Final = (NEW, "#8a8f98", "#009e73", "#cc79a7", KNOWN)


def fish_pictures(study: FishStudy) -> dict[str, Figure]:
    """Draw Table 3 of the first level, and the areas of all methods on every level."""
    first = study.levels[0].name
    matrix = pair_matrix(study, first)
    ax = plot_error_rates(
        matrix.to_numpy(), list(matrix.index), list(matrix.columns), mark_above=PAPER_WORST_PAIR
    )
    assert isinstance(ax.figure, Figure)
    return {"fish-pairs": ax.figure, "fish-methods": _methods_picture(study)}


def _methods_picture(study: FishStudy) -> Figure:
    figure = Figure(figsize=(7, 1.6 + 0.55 * len(study.levels)), layout="constrained")
    FigureCanvasAgg(figure)
    ax: Axes = figure.subplots()
    ax.spines[["top", "right"]].set_visible(False)
    entries: list[Entry] = []
    names = [level.name for level in study.levels]
    for place, method in enumerate(METHODS):
        lines = study.pooled[study.pooled["method"] == method]
        by_level = lines.groupby("level")["auroc"]
        means, lows = by_level.mean()[names], by_level.min()[names]
        y = np.arange(len(names)) + 0.13 * (place - 2)
        ax.hlines(y, lows, means, color=_COLOURS[place], linewidth=1.2, alpha=0.6)
        dots = ax.scatter(means, y, s=42, marker=_MARKS[place], color=_COLOURS[place], zorder=3)
        entries.append((dots, method))
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.axvline(0.5, color="#8a8f98", linewidth=0.8, linestyle=":")
    label_axes(ax, "area under the ROC curve: mean of the groups held out, line to the worst", "")
    legend_below(ax, entries)
    return figure
