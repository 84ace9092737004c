"""Report of the RKOF reproduction: the page and the figures."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kernova.papers.claims import NOT_REPRODUCED, claims_section, panels, write_report
from kernova.papers.rkof.data import SOURCES
from kernova.papers.rkof.experiments import (
    BAGGING,
    KERNELS,
    LARGE_LPF,
    LOF,
    VOLCANO,
    best_numbers,
    family_areas,
)
from kernova.papers.rkof.reproduction import PAPER_FROM_K, PAPER_PLATEAUS, RkofReproduction
from kernova.papers.rkof.synthetic import DENSITY_RATIO, WEIGHTS, drawn
from kernova.report.canvas import KNOWN, MUTED, NEW, PERCENT, Entry, label_axes
from kernova.report.page import Html, Section, page, paragraph, picture, table

_SHOWN_K: Final = (10, 14, 16, 18, 20, 25, 27, 31, 40, 50, 60, 80, 100, 130, 200, 300, 400, 500)
_PANEL_INCHES: Final = 4.6
_WIDE: Final = 5_000


class _Pen(NamedTuple):
    """Style of a method's line: lines differ by dashes as well as by colour."""

    colour: str
    style: Any = "-"
    width: float = 1.6


# Distinct for every type of colour vision (the palette of Okabe and Ito, and greys).
_PENS: Final[Mapping[str, _Pen]] = {
    "RKOF, sigma = 0.1": _Pen(NEW, "--"),
    "RKOF, sigma = 1": _Pen(NEW),
    "RKOF, plain mean": _Pen(NEW, ":"),
    "LOF, sigma = 0.1": _Pen(KNOWN, "--"),
    "LOF, sigma = 1": _Pen(KNOWN, "-."),
    LOF: _Pen(KNOWN, "-"),
    VOLCANO: _Pen(NEW, "-", 2.2),
    "RKOF, gaussian": _Pen("#e69f00", "--"),
    "RKOF, epanechnikov": _Pen("#b07aa1", "-."),
    "LDF": _Pen("#3f8f5f", (0, (3, 1, 1, 1))),
    "LPF": _Pen(MUTED, ":", 2.0),
    LARGE_LPF: _Pen(MUTED),
    BAGGING: _Pen("black"),
}
_COMPARED: Final = (*KERNELS, LOF, "LDF", "LPF")


def rkof_page(result: RkofReproduction, pictures: Mapping[str, bytes]) -> str:
    """Return the page: the claims, then the results."""
    sections = [_claims(result), _synthetic(result, pictures), _theorem(pictures)]
    if len(result.real.areas):
        sections += [_real(result, pictures), _times(result.real.times)]
    return page(
        "Robust kernel outlier factor: claims of the paper and our results",
        sections,
        lead="Gao, Hu, Zhang, Zhang and Wu, RKOF: Robust Kernel-Based Local Outlier Detection, "
        "PAKDD 2011.",
        footer=f"Made by kernova reproduce rkof, with {len(result.seeds)} draws of each synthetic "
        "set.",
    )


def save_report(result: RkofReproduction, folder: Path) -> list[Path]:
    """Write the page, tables and figures to a folder; return the paths."""
    return write_report(result, figures_of(result), rkof_page, folder)


def _claims(result: RkofReproduction) -> Section:
    return claims_section(result.table(), result.notes, [NOT_REPRODUCED])


def _synthetic(result: RkofReproduction, pictures: Mapping[str, bytes]) -> Section:
    coverage = result.coverage_over_k()
    shown = coverage[coverage["k"].isin(_SHOWN_K)]
    formats = {name: ".0%" for name in coverage.columns if name not in ("set", "k")}
    return Section(
        "Synthetic sets",
        [
            "The paper shows its two sets as pictures; positions and spreads are ours. A "
            "method finds an outlier if it is among as many rows with the largest factors as "
            "there are outliers.",
            picture(pictures["synthetic-1"], "Synthetic-1, and the outliers found by k."),
            picture(pictures["synthetic-2"], "Synthetic-2, and the outliers found by k."),
            table(shown, f"Outliers found, mean over {len(result.seeds)} draws", formats),
        ],
    )


def _theorem(pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Theorem 1",
        [
            "Outliers in a neighbourhood reduce its mean density, and so mask each other. If they "
            "have smaller weights, an outlier's factor stays large until nearly all of its "
            "neighbours are outliers. On the right, the same by experiment: a group of outliers "
            "beside one cluster grows until it fills its own neighbourhoods.",
            picture(
                pictures["theorem"],
                "An outlier's factor by the fraction of outliers around it: formula, RKOF and LOF.",
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
        return Section("Times", ["No times were measured."])
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


def figures_of(result: RkofReproduction) -> dict[str, Figure]:
    """Draw "synthetic-1", "synthetic-2", "theorem" and, with real data, the others."""
    figures = {
        "synthetic-1": _synthetic_figure(result, "Synthetic-1"),
        "synthetic-2": _synthetic_figure(result, "Synthetic-2"),
        "theorem": _theorem_figure(result.theorem_curves, result.theorem),
    }
    if len(result.real.areas):
        figures["areas"] = _area_figure(result.real.areas)
        figures["roc"] = _roc_figure(result.real.curves)
        figures["best-k"] = _best_k_figure(result.real.areas)
    return figures


def _panels(n_rows: int, n_columns: int, height: float = 3.9) -> tuple[Figure, list[Axes]]:
    # A single panel is wider, so that the legend fits below it.
    width = max(_PANEL_INCHES * n_columns, 1.5 * _PANEL_INCHES)
    return panels(width, height * n_rows, n_rows, n_columns)


def _legend(figure: Figure, entries: Iterable[Entry], n_columns: int) -> None:
    """Draw one legend for all panels below them."""
    by_label = {label: handle for handle, label in entries}
    figure.legend(
        list(by_label.values()),
        list(by_label),
        loc="outside lower center",
        ncols=n_columns,
        frameon=False,
        fontsize=9,
    )


def _draw(ax: Axes, x: Any, y: Any, method: str) -> Entry:
    pen = _PENS[method]
    (line,) = ax.plot(x, y, linestyle=pen.style, color=pen.colour, linewidth=pen.width)
    return line, method


def _synthetic_figure(result: RkofReproduction, name: str) -> Figure:
    """Draw the first draw of a set, and the fraction of its outliers found over k."""
    figure, (left, right) = _panels(1, 2, height=4.6)
    data = drawn(name, result.seeds[0])
    ordinary, outliers = data.rows[~data.is_outlier], data.rows[data.is_outlier]
    dots = left.scatter(ordinary[:, 0], ordinary[:, 1], s=7, color=KNOWN, alpha=0.6, linewidths=0)
    crosses = left.scatter(
        outliers[:, 0], outliers[:, 1], s=30, marker="X", color=NEW, linewidths=0.4, ec="white"
    )
    left.set_aspect("equal", adjustable="datalim")
    left.set_title(f"{name}: one of {len(result.seeds)} draws", fontsize=11)
    label_axes(left, "first column", "second column")
    left.legend(
        [dots, crosses],
        [f"{len(ordinary):,} ordinary rows", f"{len(outliers)} outliers"],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    coverage = result.coverage[result.coverage["set"] == name]
    means = coverage.groupby(["method", "k"])["found"].mean()
    entries = [
        _draw(right, means[method].index, means[method], method)
        for method in ("RKOF, sigma = 0.1", "RKOF, sigma = 1", "RKOF, plain mean", LOF)
    ]
    entries.append(_draw(right, *_line(means["LOF, sigma = 1"]), "LOF, sigma = 1"))
    right.set_title("outliers found among as many top rows", fontsize=11)
    right.set_ylim(-0.02, 1.02)
    right.yaxis.set_major_formatter(PERCENT)
    _number_axis(right, coverage["k"].max())
    if name == "Synthetic-1":
        for method, k in PAPER_FROM_K.items():
            right.plot(k, 1.0, "v", color=_PENS[method].colour, markersize=7, clip_on=False)
        entries.append((right.plot([], [], "v", color="black")[0], "the paper: all found from"))
    label_axes(right, "number of neighbours, k", "mean over the draws")
    right.legend(
        *zip(*entries, strict=True),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    return figure


def _line(values: "pd.Series[float]") -> tuple[Any, Any]:
    return values.index, values


def _number_axis(ax: Axes, largest: float) -> None:
    """Set a logarithmic axis of k with plain numbers."""
    ax.set_xscale("log")
    _plain_numbers(ax.xaxis, largest)


def _plain_numbers(axis: Axis, largest: float) -> None:
    digits = (1, 2, 5) if largest < _WIDE else (1, 3)  # more would overlap
    ticks = [digit * 10**power for power in range(5) for digit in digits]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if tick <= largest]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.0f}"))


def _theorem_figure(curves: pd.DataFrame, experiment: pd.DataFrame) -> Figure:
    """Draw the formula of Theorem 1, and an outlier's factor in growing groups."""
    figure, axes = _panels(1, 3)
    greys = ("black", "#4d4d4d", "#7a7a7a", "#a3a3a3")
    styles = (":", "-.", "--", "-")
    for weight, colour, style in zip(WEIGHTS, greys, styles, strict=True):
        curve = curves[curves["weight"] == weight]
        label = f"weight {weight:g}" if weight < 1 else "weight 1: plain mean"
        axes[0].plot(
            curve["share"],
            curve["factor"] / DENSITY_RATIO,
            color=colour,
            linestyle=style,
            label=label,
        )
    axes[0].set_title(f"Theorem 1, density ratio {DENSITY_RATIO:g}", fontsize=11)
    for ax, family in ((axes[1], "RKOF"), (axes[2], "LOF")):
        of_family = experiment[experiment["method"].str.startswith(family)]
        means = of_family.groupby(["method", "share"])["kept"].median()
        plain = "RKOF, plain mean" if family == "RKOF" else LOF
        for method in (f"{family}, sigma = 0.1", f"{family}, sigma = 1", plain):
            pen = _PENS[method]._replace(style=":" if method == plain else _PENS[method].style)
            label = f"{family}, plain mean" if method == plain else method
            ax.plot(*_line(means[method]), color=pen.colour, linestyle=pen.style, label=label)
        ax.set_title(f"{family}, growing group of outliers", fontsize=11)
    for ax in axes:
        ax.set_ylim(0, 1.05)
        ax.xaxis.set_major_formatter(PERCENT)
        ax.yaxis.set_major_formatter(PERCENT)
        label_axes(ax, "outliers among an outlier's neighbours", "")
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=9
        )
    axes[0].set_ylabel("factor, as a fraction of a single outlier's")
    return figure


def _families(table: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(table["family"]))


def _area_figure(areas: pd.DataFrame) -> Figure:
    """Draw the area under the ROC curve over k, one panel for each family of sets."""
    families = _families(areas)
    n_columns = min(2, len(families))
    figure, axes = _panels(-(-len(families) // n_columns), n_columns)
    means = family_areas(areas)
    entries: list[Entry] = []
    for ax, family in zip(axes, families, strict=False):
        lines = means[means["family"] == family]
        for method in _COMPARED:
            one = lines[lines["method"] == method].sort_values("k")
            entries.append(_draw(ax, one["k"], one["auc"], method))
        for method, marker in ((LARGE_LPF, "D"), (BAGGING, "*")):
            one = lines[lines["method"] == method]
            if len(one):
                (mark,) = ax.plot(one["k"], one["auc"], marker, markersize=8, clip_on=False)
                mark.set_color(_PENS[method].colour)
                entries.append((mark, method))
        if family in PAPER_PLATEAUS:
            level, first, last, _ = PAPER_PLATEAUS[family]
            (line,) = ax.plot([first, last], [level, level], color="black", linewidth=0.9)
            entries.append((line, "the paper: Volcano is above, for every k"))
        _number_axis(ax, lines["k"].max())
        ax.set_title(_title(family), fontsize=11)
        label_axes(ax, "number of neighbours, k", "area under the ROC curve")
    for ax in axes[len(families) :]:
        ax.set_visible(False)
    _legend(figure, entries, 3)
    return figure


def _title(family: str) -> str:
    title = SOURCES[family].title
    return f"{title}, mean of 5 subsets" if family == "shuttle" else title


def _roc_figure(curves: pd.DataFrame) -> Figure:
    """Draw ROC curves: of all methods on single sets, of Volcano on the shuttle's subsets."""
    single = [name for name in dict.fromkeys(curves["set"]) if name in SOURCES]
    subsets = [name for name in dict.fromkeys(curves["set"]) if name not in SOURCES]
    n_panels = len(single) + bool(subsets)
    n_columns = min(2, n_panels)
    figure, axes = _panels(-(-n_panels // n_columns), n_columns, height=4.2)
    entries: list[Entry] = []
    for ax, name in zip(axes, single, strict=False):
        of_set = curves[curves["set"] == name]
        for method in _COMPARED:
            one = of_set[of_set["method"] == method]
            entries.append(_draw(ax, one["false_alarms"], one["found"], method))
        ax.set_title(f"{_title(name)}, k = {of_set['k'].iloc[0]}", fontsize=11)
    if subsets:
        _draw_subsets(axes[len(single)], curves[curves["method"] == VOLCANO], subsets)
    for ax in axes[:n_panels]:
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.6)
        ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal")
        label_axes(ax, "false alarms", "outliers found")
    for ax in axes[n_panels:]:
        ax.set_visible(False)
    if entries:
        _legend(figure, entries, 3)
    return figure


def _draw_subsets(ax: Axes, curves: pd.DataFrame, names: list[str]) -> None:
    styles = ("-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)))
    for name, style in zip(names, styles, strict=False):
        one = curves[curves["set"] == name]
        label = f"label {name.split()[-1]}"
        ax.plot(one["false_alarms"], one["found"], color=NEW, linestyle=style, label=label)
    ax.set_title(f"{SOURCES['shuttle'].title}, Volcano, k = {curves['k'].iloc[-1]}", fontsize=11)
    ax.legend(loc="lower right", frameon=False, fontsize=9)


def _best_k_figure(areas: pd.DataFrame) -> Figure:
    """Draw the k with the largest area, by kernel."""
    families = _families(areas)
    best = best_numbers(areas)
    figure, (ax,) = _panels(1, 1)
    best = best[best["method"].isin(KERNELS)]
    for number, (method, marker) in enumerate(zip(KERNELS, "os^", strict=True)):
        k = [
            best[(best["family"] == f) & (best["method"] == method)]["k"].iloc[0] for f in families
        ]
        at = np.arange(len(families)) + 0.18 * (number - 1)
        ax.plot(at, k, marker, color=_PENS[method].colour, markersize=8, label=method)
        for across, best_k in zip(at, k, strict=True):
            ax.annotate(
                f"{best_k}",
                (across, best_k),
                xytext=(0, 7),
                ha="center",
                textcoords="offset points",
                fontsize=8,
            )
    ax.set_yscale("log")
    _plain_numbers(ax.yaxis, 2 * best["k"].max())
    ax.set_xticks(
        range(len(families)), [SOURCES[family].title.replace(", ", ",\n") for family in families]
    )
    ax.margins(x=0.12, y=0.15)
    label_axes(ax, "", "k with the largest area")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, frameon=False, fontsize=9)
    return figure
