"""Rankings of outlier factors: sorted factors, a map of outliers, and rank stability over k."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

from kernova.calibration.bounds import finite_scores
from kernova.errors import InputError, check_count
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    PERCENT,
    Entry,
    axes_or_new,
    check_two_labels,
    count_ticks,
    drawable_number,
    finite_matrix,
    ignore_missing_glyphs,
    ink,
    label_axes,
    legend_below,
    log_spaced_indices,
    new_figure,
    note_above,
)
from kernova.report.planes import (
    Plane,
    clip_to_views,
    draw_background,
    draw_marked,
    finish_plane,
    plane_views,
    with_number_drawn,
)
from kernova.text import quantity, truncate_middle
from kernova.typing import Indices, Matrix, Vector

_LONGEST_NAME: Final = 18
_MAX_POINTS: Final = 2000
_NAMED_ON_MAP: Final = 12
_NAMED_ON_CURVE: Final = 5
# Labels of dots beyond this fraction of the axes stand on the dot's inner side.
_OUTER: Final = 0.75
# From this ratio of the largest to the median factor on, the axis is logarithmic.
_WIDE: Final = 20.0
# Factors beyond so many times the lower quartile, and the threshold, are drawn at the edge.
_FARTHEST: Final = 1e6
_LARGEST: Final = 1e100
# Lines with a label and a colour of their own.
_NAMED_LINES: Final = 12
_COLOURS: Final = ("#2b6ca3", "#c8501e", "#3a7d44", "#7b5aa6", "#a8781a", "#b8437a")
_STYLES: Final = ("-", "--")
# More lines without a label merge into one blot.
_GREY_LINES: Final = 300
_MAX_TICKS: Final = 9


def plot_ranking(
    factors: ArrayLike,
    *,
    threshold: float | None = None,
    labels: Sequence[Any] | None = None,
    name: str = "outlier factor",
    ax: Axes | None = None,
) -> Axes:
    """Draw outlier factors in decreasing order, with the threshold.

    Where the curve bends, outliers end and inliers begin; if it does not bend, there is no natural
    threshold.

    Parameters
    ----------
    factors : array-like of shape (n,)
        One factor for each row; high is outlying.
    threshold : float, default=None
        Rows with a larger factor are outliers.
    labels : sequence of length n, default=None
        Names of the rows; the first few are labelled.
    name : str, default="outlier factor"
        The name of the factors on the axis.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> from kernova.report.figures import plot_ranking
    >>> ax = plot_ranking([1.0, 9.0, 1.1, 0.9], threshold=1.5, labels=["a", "b", "c", "d"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 row above the threshold', '3 rows', 'threshold 1.5']
    """
    values = finite_scores(factors, "factors")
    names = _checked_names(labels, values.size)
    order = np.argsort(-values, kind="stable")
    if threshold is not None:
        threshold = drawable_number(threshold, "threshold")
    typical = min(float(np.quantile(values, 0.25)), _LARGEST)
    top = _FARTHEST * max(typical, threshold or 0.0, 1 / _LARGEST)
    heights = np.minimum(values[order], top)

    ax = axes_or_new(ax)
    ax.set_xscale("log")
    if _is_wide(heights):
        ax.set_yscale("log")
        heights = np.maximum(heights, heights[heights > 0].min())
    entries = _draw_ranked(ax, heights, threshold)
    ax.set_xlim(0.8, 1.25 * values.size)
    count_ticks(ax.xaxis, values.size)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    n_far = int(np.count_nonzero(values > top))
    if n_far:
        note_above(ax, f"{quantity(n_far, 'factor')} beyond {top:.0e}, drawn there")
    if names is not None:
        _label_points(ax, heights, [_name(names[row]) for row in order[:_NAMED_ON_CURVE]])
    label_axes(ax, "rank, from the most outlying row", f"{name} (high is outlying)")
    legend_below(ax, entries)
    return ax


def plot_outlier_map(
    X: ArrayLike,
    factors: ArrayLike,
    is_outlier: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    kinds: Sequence[str] = ("usual", "outlier"),
    ax: Axes | None = None,
) -> Axes:
    """Draw all rows on their first two principal components, with the outliers marked.

    A row can be an outlier among its neighbours, or because of other directions, and lie in a
    dense region here. The axes are labelled with the variance that they explain.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows, scaled as they were compared.
    factors : array-like of shape (n_rows,)
        The outlier factors; the most outlying rows are labelled first where room is short.
    is_outlier : array-like of bool of shape (n_rows,)
        Which rows to mark.
    labels : sequence of length n_rows, default=None
        Names of the rows; the most outlying ones are labelled.
    kinds : sequence of two str
        The kind of the other rows, and the noun for a marked one, in the legend.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_outlier_map
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(50, 3)), [4.0, 4.0, 0.0]])
    >>> ax = plot_outlier_map(X, np.arange(51.0), np.arange(51) == 50, labels=range(51))
    >>> [text.get_text() for text in ax.texts]
    ['50']
    """
    rows = finite_matrix(X, "rows")
    values = finite_scores(factors, "factors")
    marked = np.asarray(is_outlier)
    for what, given in (("factors", values.shape), ("is_outlier", marked.shape)):
        if given != (len(rows),):
            raise InputError(
                f"{what} must have one entry for each of {quantity(len(rows), 'row')}; got {given}."
            )
    names = _checked_names(labels, len(rows))
    check_two_labels(kinds)
    marked = marked.astype(np.bool_)
    plane = Plane(rows)
    placed = plane.place(rows)
    inliers = placed[~marked] if not marked.all() else placed

    ax = axes_or_new(ax)
    views = plane_views(inliers, placed)
    entries: list[Entry] = []
    if not marked.all():
        entries.append(draw_background(ax, placed[~marked], views, MUTED, kinds[0]))
    if marked.any():
        dots = draw_marked(ax, placed[marked], views, "X", NEW)
        noun, *rest = kinds[1].split(" ")
        text = " ".join([quantity(int(marked.sum()), noun), *rest])
        entries.append((dots, with_number_drawn(text, int(marked.sum()))))
    finish_plane(ax, views, placed, entries)
    label_axes(ax, *plane.axis_labels())
    if names is not None:
        outliers = np.flatnonzero(marked)
        first = outliers[np.argsort(-values[outliers], kind="stable")][:_NAMED_ON_MAP]
        _label_dots(ax, clip_to_views(placed[first], views), [_name(names[row]) for row in first])
    return ax


def _is_wide(heights: Vector) -> bool:
    """Return whether factors need a logarithmic axis; zeros are drawn with the smallest."""
    middle = float(np.median(heights))
    return bool(heights.min() >= 0 and middle > 0 and heights.max() > _WIDE * middle)


def _draw_ranked(ax: Axes, heights: Vector, threshold: float | None) -> list[Entry]:
    rank = np.arange(1, heights.size + 1)
    kept = log_spaced_indices(heights.size, _MAX_POINTS)
    n_above = 0 if threshold is None else int(np.count_nonzero(heights > threshold))
    is_above = kept < n_above
    entries: list[Entry] = []
    if n_above:
        (crosses,) = ax.plot(
            rank[kept[is_above]], heights[kept[is_above]], "X", color=NEW, markersize=6, zorder=3
        )
        entries.append((crosses, f"{quantity(n_above, 'row')} above the threshold"))
    (dots,) = ax.plot(
        rank[kept[~is_above]], heights[kept[~is_above]], "o", color=KNOWN, markersize=3.5, zorder=2
    )
    entries.append((dots, quantity(heights.size - n_above, "row")))
    if threshold is not None:
        line = ax.axhline(threshold, color=ink(ax), linewidth=1, linestyle="--")
        entries.append((line, f"threshold {threshold:.4g}"))
    return entries


def _name(label: object) -> str:
    return truncate_middle(str(label), _LONGEST_NAME)


def _checked_names(labels: Sequence[Any] | None, n_rows: int) -> Sequence[Any] | None:
    """Return the labels to be looked up by position: of a million rows, few are named."""
    if labels is None:
        return None
    if len(labels) != n_rows:
        raise InputError(
            f"labels must have one name for each of {quantity(n_rows, 'row')}; got {len(labels)}."
        )
    return labels


def _label_points(ax: Axes, heights: Vector, names: list[str]) -> None:
    """Label the points of the first ranks."""
    spots = np.column_stack([np.arange(1, len(names) + 1), heights[: len(names)]])
    _label_dots(ax, spots, names)


def _label_dots(ax: Axes, spots: Matrix, names: list[str]) -> None:
    """Label dots in order; labels that would overlap an earlier one are omitted."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    with ignore_missing_glyphs():
        figure.draw_without_rendering()  # the layout determines the pixels
        taken: list[Bbox] = []
        for spot, name in zip(spots, names, strict=True):
            text = _label_beside(ax, spot, name)
            box = text.get_window_extent()
            if any(box.overlaps(other) for other in taken):
                text.remove()
            else:
                taken.append(box)


def _label_beside(ax: Axes, spot: Vector, name: str) -> Annotation:
    across, up = (ax.transData + ax.transAxes.inverted()).transform(spot)
    return ax.annotate(
        name,
        (float(spot[0]), float(spot[1])),
        xytext=(-6 if across > _OUTER else 6, -4 if up > _OUTER else 4),
        textcoords="offset points",
        ha="right" if across > _OUTER else "left",
        va="top" if up > _OUTER else "bottom",
        fontsize=8,
        color=ink(ax),
        zorder=5,
        annotation_clip=False,
        parse_math=False,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def rank_stability_figure(path: pd.DataFrame, *, n_top: int = 10) -> Figure:
    """Draw how the ranks of the most outlying rows change with the number of neighbours.

    A row that ranks high over a range of k is an outlier for all of them. One that ranks high for
    a single k depends on that choice. The lower panel shows, for each k, the fraction of the
    ``n_top`` first rows that are also first at the next smaller k: near 100 %, the choice matters
    little.

    Parameters
    ----------
    path : DataFrame of shape (n_rows, number of k)
        Factors (high is outlying), one column for each k, as returned by
        :func:`~kernova.outlier_factor_path`; the index names the rows.
    n_top : int, default=10
        Rows that are among so many first for some k are drawn. The twelve that are most often
        among them are labelled.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import outlier_factor_path
    >>> from kernova.report.figures import rank_stability_figure
    >>> path = outlier_factor_path(np.random.default_rng(0).normal(size=(100, 2)), [5, 10, 20, 40])
    >>> figure = rank_stability_figure(path, n_top=3)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['rank (1 is the most outlying)', 'first 3 in common']
    """
    numbers, ranks = _checked_path(path)
    check_count(n_top, "n_top", 1)
    n_top = min(int(n_top), len(ranks))
    has_steps = len(numbers) > 1
    figure = new_figure(7.2, 5.6 if has_steps else 4.4)
    heights = {"height_ratios": [3.4, 1]} if has_steps else {}
    axes = np.atleast_1d(figure.subplots(1 + has_steps, sharex=True, gridspec_kw=heights))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xscale("log")
    names = [truncate_middle(str(label), _LONGEST_NAME) for label in path.index]
    _draw_ranks(axes[0], numbers, ranks, names, n_top)
    if has_steps:
        _draw_overlaps(axes[1], numbers, ranks, n_top)
    axes[-1].set_xlabel("number of neighbours, k")
    _number_ticks(axes[-1], numbers)
    return figure


def _checked_path(path: Any) -> tuple[Vector, Indices]:
    """Return the increasing numbers of neighbours, and the ranks of the rows; ties share a rank."""
    if not isinstance(path, pd.DataFrame):
        raise InputError(
            "The path must be a DataFrame of factors with a column for each k, as "
            f"returned by outlier_factor_path; got {type(path).__name__}."
        )
    factors = _factors_in(path)
    try:
        numbers = np.asarray(path.columns, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(1)
    if not ((numbers > 0).all() and np.isfinite(numbers).all()):
        raise InputError("The path's columns must be numbers of neighbours, all above 0.")
    order = np.argsort(numbers, kind="stable")
    ranks = np.empty(factors.shape, dtype=np.intp)
    for index, column in enumerate(order):
        decreasing = np.sort(-factors[:, column])
        ranks[:, index] = 1 + np.searchsorted(decreasing, -factors[:, column])
    return numbers[order], ranks


def _factors_in(path: pd.DataFrame) -> Matrix:
    """Return factors as numbers; only their order is drawn, so infinity is allowed."""
    try:
        factors = path.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("The path's factors must be numbers.") from None
    if 0 in factors.shape or np.isnan(factors).any():
        raise InputError("The path must hold at least one row and one k, and no missing factor.")
    return factors


def _draw_ranks(ax: Axes, numbers: Vector, ranks: Indices, names: list[str], n_top: int) -> None:
    times_on_top = (ranks <= n_top).sum(axis=1)
    shown = np.flatnonzero(times_on_top)
    # The most often on top first; ties by mean logarithmic rank.
    shown = shown[np.lexsort((np.log(ranks[shown]).mean(axis=1), -times_on_top[shown]))]
    ax.set_yscale("log")
    for row in shown[_NAMED_LINES:][:_GREY_LINES]:
        ax.plot(numbers, ranks[row], color=MUTED, linewidth=0.7, alpha=0.5, zorder=1)
    ends = {}
    is_single = len(numbers) == 1
    for index, row in enumerate(shown[:_NAMED_LINES]):
        colour = _COLOURS[index % len(_COLOURS)]
        style = _STYLES[index // len(_COLOURS)]
        many = len(numbers) > 2 * _MAX_TICKS
        ax.plot(numbers, ranks[row], style, color=colour, linewidth=1.6, zorder=3,
                marker=None if many else "o", markersize=6 if is_single else 4)  # fmt: skip
        ends[int(row)] = colour
    lowest = max(int(ranks[shown].max()), n_top)
    ax.set_ylim(1.25 * lowest, 0.8)
    ax.axhline(n_top + 0.5, color=ink(ax), linewidth=1, linestyle=":")
    count_ticks(ax.yaxis, lowest)
    _label_ends(ax, numbers, {row: int(ranks[row, -1]) for row in ends}, names, ends)
    ax.set_ylabel("rank (1 is the most outlying)")
    n_named = min(len(shown), _NAMED_LINES)
    note = f"{quantity(len(shown), 'row')} of {len(ranks):,} among the first {n_top} for some k"
    note_above(ax, note if n_named == len(shown) else f"{note}; the {n_named} most stable labelled")


def _draw_overlaps(ax: Axes, numbers: Vector, ranks: Indices, n_top: int) -> None:
    """Draw the fraction of the first rows that are also first at the next smaller k."""
    is_first = ranks <= n_top
    fractions = [
        np.count_nonzero(before & after) / max(np.count_nonzero(before), np.count_nonzero(after))
        for before, after in zip(is_first.T[:-1], is_first.T[1:], strict=True)
    ]
    ax.plot(numbers[1:], fractions, "o-", color=KNOWN, markersize=4, linewidth=1.2)
    ax.set_ylim(0, 1.08)
    ax.yaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
    ax.yaxis.set_major_formatter(PERCENT)
    ax.grid(axis="y", color=MUTED, alpha=0.3, linewidth=0.6)
    ax.set_ylabel(f"first {n_top} in common")


def _label_ends(
    ax: Axes, numbers: Vector, last: dict[int, int], names: list[str], colours: dict[int, str]
) -> None:
    """Label the lines at their right ends, moved apart where labels would overlap."""
    low, high = (float(np.log(end)) for end in sorted(ax.get_ylim()))
    gap = (high - low) / 20  # one line of small text
    rows, spot = sorted(last, key=lambda row: last[row]), -np.inf
    for remaining, row in zip(range(len(rows), 0, -1), rows, strict=True):
        wanted = min(float(np.log(last[row])), high - gap * remaining)
        spot = max(wanted, spot + gap)
        ax.annotate(
            names[row],
            (numbers[-1], last[row]),
            xytext=(1.03, (high - spot) / (high - low)),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=colours[row],
            arrowprops={"arrowstyle": "-", "color": colours[row], "linewidth": 0.5},
            annotation_clip=False,
            parse_math=False,
        )


def _number_ticks(ax: Axes, numbers: Vector) -> None:
    """Label as many k as there is room for, including the first and the last."""
    logs = np.log(numbers)
    wanted = np.linspace(logs[0], logs[-1], min(len(numbers), _MAX_TICKS))
    kept = np.unique([int(np.abs(logs - one).argmin()) for one in wanted])
    ax.xaxis.set_major_locator(FixedLocator(numbers[kept].tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.6g}"))
    if len(numbers) == 1:
        ax.set_xlim(numbers[0] / 1.5, numbers[0] * 1.5)
