"""Figures of the KSD reproduction: synthetic examples, Theorem 1, and the study of fish."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kernova.calibration.bounds import critical_false_alarm
from kernova.kernels.bandwidth import nearest_bandwidth
from kernova.papers.claims import panels
from kernova.papers.ksd.experiments import (
    BOUNDS,
    CONFIDENCE,
    RING_BANDWIDTH,
    RING_CENTRE,
    MaskingSample,
    cloud_generator,
    depth_model,
    gaussian_cloud,
    halves,
    masking_generator,
    masking_sample,
    ring,
    ring_generator,
    upper_right_row,
)
from kernova.papers.ksd.fish import METHODS, PAPER_WORST_PAIR, FishStudy, pair_matrix
from kernova.papers.ksd.reproduction import (
    PAPER_CENTRE_DEPTH,
    PAPER_CLOUD_DEPTH,
    PAPER_MISS_POOLED,
    KsdReproduction,
    masking_errors,
    width_of_the_paper,
)
from kernova.report.canvas import KNOWN, MUTED, NEW, PERCENT, Entry, label_axes, legend_below
from kernova.report.figures import plot_depth_contours
from kernova.report.shapes import plot_error_rates
from kernova.typing import Matrix

# Series differ by marker as well as by colour.
_MARKERS: Final = ("o", "s", "^", "D", "v")
_COLOURS: Final = (KNOWN, "#3f8f5f", "#7a5aa6", "#b58900")
_METHOD_COLOURS: Final = (NEW, "#8a8f98", "#009e73", "#cc79a7", KNOWN)
_AXES: Final = ("first column", "second column")
_PANEL_INCHES: Final = 5.75
_HEIGHT_INCHES: Final = 5.0


def figures_of(result: KsdReproduction) -> dict[str, Figure]:
    """Draw "cloud", "ring", "masking", "masking-widths" and "theorem", and those of the fish."""
    fish = {} if result.fish is None else fish_figures(result.fish)
    return synthetic_figures(result) | fish


def synthetic_figures(result: KsdReproduction) -> dict[str, Figure]:
    """Draw the synthetic examples; cloud and ring are the draws nearest to the paper's values."""
    return {
        "cloud": _cloud_figure(_nearest_draw(result.cloud, "marked_depth", PAPER_CLOUD_DEPTH)),
        "ring": _ring_figure(_nearest_draw(result.rings, "spatial_centre", PAPER_CENTRE_DEPTH)),
        "masking": _masking_figure(result.seeds[0], width_of_the_paper(result.widths)),
        "masking-widths": _width_figure(result.masking, result.widths),
        "theorem": _theorem_figure(result.theorem.bounds),
    }


def _nearest_draw(draws: pd.DataFrame, column: str, figure: float) -> int:
    nearest = int(np.argmin(np.abs(draws[column].to_numpy() - figure)))
    return int(draws["seed"].to_numpy()[nearest])


def _set_equal_scales(figure: Figure, axes: Sequence[Axes]) -> None:
    """Set the same scale on both axes, and the height of the figure that this needs."""
    # Laid out once to measure the width of the last panel and the space above and below it: a
    # colour bar keeps its height when its panel shrinks to equal scales.
    figure.draw_without_rendering()
    panel = axes[-1].get_position()
    around = figure.get_figheight() * (1 - panel.height)
    across, up = np.ptp(axes[-1].get_xlim()), np.ptp(axes[-1].get_ylim())
    # A little lower than that, so that the narrower panel leaves room for the axis label.
    height = 0.96 * figure.get_figwidth() * panel.width * up / across
    figure.set_figheight(float(around + height))
    for ax in axes:
        ax.set_aspect("equal")


def _both_depths(rows: Matrix, marked: Matrix, label: str) -> Figure:
    """Draw contours of spatial depth beside those of kernelized depth, with one marked point."""
    figure, axes = panels(2 * _PANEL_INCHES, _HEIGHT_INCHES, n_columns=2)
    for ax, bandwidth, title in (
        (axes[0], np.inf, "spatial depth"),
        (axes[1], RING_BANDWIDTH, f"kernelized, width {RING_BANDWIDTH:g}"),
    ):
        model = depth_model(bandwidth).fit(rows)
        plot_depth_contours(model, unknown=marked, ax=ax, feature_names=_AXES)
        depth = float(model.score_samples(marked)[0])
        ax.set_title(f"{title}: {label} has depth {depth:.3f}", fontsize=11)
        _rename_in_legend(ax, "1 unknown row", label)
    _set_equal_scales(figure, axes)
    return figure


def _rename_in_legend(ax: Axes, old: str, new: str) -> None:
    legend = ax.get_legend()
    for text in legend.get_texts() if legend else ():
        if text.get_text() == old:
            text.set_text(new)


def _cloud_figure(seed: int) -> Figure:
    rows = gaussian_cloud(cloud_generator(seed))
    return _both_depths(rows, rows[[upper_right_row(rows)]], "the marked row")


def _ring_figure(seed: int) -> Figure:
    return _both_depths(ring(ring_generator(seed)), RING_CENTRE, "the centre")


def _masking_figure(seed: int, paper_width: float) -> Figure:
    """Draw the rows, and the novel region at e* with the default width and with the paper's."""
    rng = masking_generator(seed)
    sample = masking_sample(rng)
    reference, holdout = halves(np.concatenate(sample.known), rng)
    figure, axes = panels(3 * _PANEL_INCHES, _HEIGHT_INCHES, n_columns=3)
    for ax, bandwidth, rule in (
        (axes[1], nearest_bandwidth(reference), "'nearest'"),
        (axes[2], paper_width, "for the paper's figure"),
    ):
        model = depth_model(bandwidth).fit(reference)
        critical = critical_false_alarm(
            model.score_samples(holdout), model.score_samples(sample.unknown)
        )
        model.offset_ = critical.threshold  # the contour is then drawn at e*
        plot_depth_contours(model, unknown=sample.unknown, ax=ax, feature_names=_AXES)
        title = f"pooled, width {bandwidth:.2f} ({rule}): e* {critical.e_star:.2f}"
        ax.set_title(title, fontsize=11)
    _draw_gaussians(axes[0], sample)
    axes[0].set(xlim=axes[1].get_xlim(), ylim=axes[1].get_ylim())
    _set_equal_scales(figure, axes)
    return figure


def _draw_gaussians(ax: Axes, sample: MaskingSample) -> None:
    entries: list[tuple[Any, str]] = []
    for number, rows in enumerate(sample.known):
        shape: dict[str, Any] = {"marker": _MARKERS[number], "color": _COLOURS[number]}
        dots = ax.scatter(rows[:, 0], rows[:, 1], s=18, alpha=0.8, linewidths=0, **shape)
        entries.append((dots, f"known, Gaussian {number + 1}"))
    across, up = sample.unknown.T
    crosses = ax.scatter(
        across, up, s=42, marker="X", color=NEW, edgecolors="white", linewidths=0.7
    )
    entries.append((crosses, "unknown"))
    ax.set_title("unknown rows between four known Gaussians", fontsize=11)
    label_axes(ax, *_AXES)
    legend_below(ax, entries)


def _width_figure(masking: pd.DataFrame, widths: pd.DataFrame) -> Figure:
    """Draw the errors of the pooled masking example against the width, with all readings."""
    figure, (ax,) = panels(7.6, _HEIGHT_INCHES)
    entries: list[tuple[Any, str]] = []
    for column, colour, style, label in (
        ("miss", NEW, "-", "unknown rows missed at e*"),
        ("e_star", KNOWN, "--", "e*"),
        ("equal_error_rate", MUTED, "-.", "equal error rate"),
    ):
        draws = widths.groupby("bandwidth")[column]
        mean, deviation = draws.mean(), draws.std()
        (line,) = ax.plot(mean.index, mean, style, color=colour)
        low, high = (mean - deviation).clip(0, 1), (mean + deviation).clip(0, 1)
        ax.fill_between(mean.index, low, high, color=colour, alpha=0.12, linewidth=0)
        entries.append((line, label))
    printed = ax.axhline(PAPER_MISS_POOLED, color="black", linewidth=0.8, linestyle=":")
    needed = width_of_the_paper(widths)
    entries.append((printed, f"the paper: {PAPER_MISS_POOLED}, reached at a width of {needed:.1f}"))
    _mark_readings(ax, masking)
    ax.set_xscale("log")
    ticks = (0.25, 0.5, 1, 2, 4, 8)
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    ax.set_ylim(0, 1.02)
    label_axes(ax, "width of the kernel", "pooled: mean and one deviation")
    legend_below(ax, entries)
    return figure


def _mark_readings(ax: Axes, masking: pd.DataFrame) -> None:
    """Mark the width of each reading of the missing line above the axes."""
    for errors in masking_errors(masking):
        if errors.scope == "pooled" and np.isfinite(errors.bandwidth):
            ax.axvline(errors.bandwidth, color=MUTED, linewidth=0.6)
            ax.annotate(
                errors.reading,
                (errors.bandwidth, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                rotation=35,
                ha="left",
                va="bottom",
                fontsize=9,
            )


def _theorem_figure(bounds: pd.DataFrame) -> Figure:
    """Draw the failure rate of each bound with its 99 % interval, by number of held-out rows."""
    figure, (ax,) = panels(7.6, _HEIGHT_INCHES)
    entries: list[tuple[Any, str]] = []
    holdouts = sorted(bounds["n_holdout"].unique())
    for number, bound in enumerate(BOUNDS):
        lines = bounds[bounds["bound"] == bound].sort_values("n_holdout")
        rate = lines["failure_share"].to_numpy()
        reach = np.vstack([rate - lines["lowest_share"], lines["highest_share"] - rate])
        at = np.arange(len(holdouts)) + 0.16 * (number - 1.5)
        bars = ax.errorbar(
            at, rate, reach, fmt=_MARKERS[number], color=_COLOURS[number], capsize=3, clip_on=False
        )
        entries.append((bars, bound))
    allowed = ax.axhline(1 - CONFIDENCE, color="black", linewidth=0.8, linestyle=":")
    entries.append((allowed, f"allowed: {100 * (1 - CONFIDENCE):.0f} %"))
    ax.set_xticks(range(len(holdouts)), [f"{n:,}" for n in holdouts])
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(PERCENT)
    label_axes(ax, "held-out rows", "repetitions in which the bound failed")
    legend_below(ax, entries)
    return figure


def fish_figures(study: FishStudy) -> dict[str, Figure]:
    """Draw "fish-pairs", Table 3 of the first level, and "fish-methods", areas by level."""
    first = study.levels[0].name
    matrix = pair_matrix(study, first)
    ax = plot_error_rates(
        matrix.to_numpy(), list(matrix.index), list(matrix.columns), mark_above=PAPER_WORST_PAIR
    )
    assert isinstance(ax.figure, Figure)
    return {"fish-pairs": ax.figure, "fish-methods": _methods_figure(study)}


def _methods_figure(study: FishStudy) -> Figure:
    figure, (ax,) = panels(7, 1.6 + 0.55 * len(study.levels))
    entries: list[Entry] = []
    names = [level.name for level in study.levels]
    for number, (method, colour) in enumerate(zip(METHODS, _METHOD_COLOURS, strict=True)):
        lines = study.pooled[study.pooled["method"] == method]
        by_level = lines.groupby("level")["auroc"]
        means, lows = by_level.mean()[names], by_level.min()[names]
        y = np.arange(len(names)) + 0.13 * (number - 2)
        ax.hlines(y, lows, means, color=colour, linewidth=1.2, alpha=0.6)
        dots = ax.scatter(means, y, s=42, marker=_MARKERS[number], color=colour, zorder=3)
        entries.append((dots, method))
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.axvline(0.5, color="#8a8f98", linewidth=0.8, linestyle=":")
    label_axes(ax, "area under the ROC curve: mean of the groups held out, line to the worst", "")
    legend_below(ax, entries)
    return figure
