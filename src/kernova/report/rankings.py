"""Pictures of rankings: factors in falling order, and a map on which outliers are named."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

from kernova.decide.false_alarms import finite_scores
from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    Entry,
    Matrix,
    Vector,
    axes_or_new,
    boxes_for_missing_letters,
    count_ticks,
    counted,
    drawable_number,
    finite_matrix,
    ink,
    label_axes,
    legend_below,
    note_above,
    spread_on_log_axis,
    view_of,
)
from kernova.report.dots import Plane, at_the_edge, draw_crowd, draw_marked, finish_plane
from kernova.represent.value_words import shortened

LONGEST_NAME: Final = 18
_MOST_POINTS: Final = 2000
_NAMED_ON_MAP: Final = 12
_NAMED_ON_CURVE: Final = 5
# Names of dots beyond this share of the axes stand on the dot's inner side.
_FAR_ALONG: Final = 0.75
# From this ratio of the largest to the median factor on, the axis is logarithmic.
_WIDE: Final = 20.0
# Factors beyond so many times the crowd's, and the threshold, are drawn at the edge.
_FARTHEST: Final = 1e6
_LARGEST: Final = 1e100


def plot_ranking(
    factors: ArrayLike,
    *,
    threshold: float | None = None,
    labels: Sequence[Any] | None = None,
    name: str = "outlier factor",
    ax: Axes | None = None,
) -> Axes:
    """Draw outlier factors in falling order, with the threshold.

    Where the curve bends, outliers end and the crowd begins; if it does not bend, there is no
    natural place for a threshold.

    Parameters
    ----------
    factors : array-like of shape (n,)
        One factor for each row; high is strange.
    threshold : float, default=None
        Rows with a larger factor are outliers.
    labels : sequence of length n, default=None
        Names of the rows; those of the first few are written beside them.
    name : str, default="outlier factor"
        What the factors are called on the axis.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

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
    crowd = min(float(np.quantile(values, 0.25)), _LARGEST)
    top = _FARTHEST * max(crowd, threshold or 0.0, 1 / _LARGEST)
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
        note_above(ax, f"{counted(n_far, 'factor')} beyond {top:.0e}, drawn there")
    if names is not None:
        _name_points(ax, heights, [names[place] for place in order[:_NAMED_ON_CURVE]])
    label_axes(ax, "rank, from the strangest row on", f"{name} (high is strange)")
    legend_below(ax, entries)
    return ax


def plot_outlier_map(
    X: ArrayLike,
    factors: ArrayLike,
    is_outlier: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw all rows on the two directions in which they differ most, the outliers marked.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows, on the scale on which they were compared.
    factors : array-like of shape (n_rows,)
        How strange each is; the strangest outliers are named first where room is short.
    is_outlier : array-like of bool of shape (n_rows,)
        Which rows to mark.
    labels : sequence of length n_rows, default=None
        Names of the rows, written beside the strangest outliers.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Notes
    -----
    A row can be an outlier among its neighbours, or by other directions than these two, and lie
    in the crowd here. The axes say how much of the variance they show.

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
    strangeness = finite_scores(factors, "factors")
    marked = np.asarray(is_outlier)
    for what, given in (("factors", strangeness.shape), ("is_outlier", marked.shape)):
        if given != (len(rows),):
            raise InputError(
                f"{what} must have one entry for each of {counted(len(rows), 'row')}; got {given}."
            )
    names = _checked_names(labels, len(rows))
    marked = marked.astype(np.bool_)
    plane = Plane(rows)
    placed = plane.place(rows)
    crowd = placed[~marked] if not marked.all() else placed

    ax = axes_or_new(ax)
    views = [view_of(crowd[:, axis], placed[:, axis]).with_margin(0.12) for axis in range(2)]
    entries = [draw_crowd(ax, placed[~marked], views, MUTED, "usual")] if len(crowd) else []
    if marked.any():
        dots = draw_marked(ax, placed[marked], views, "X", NEW)
        entries.append((dots, counted(int(marked.sum()), "outlier")))
    finish_plane(ax, views, placed, entries)
    label_axes(ax, *plane.axis_labels())
    if names is not None:
        outliers = np.flatnonzero(marked)
        strangest = outliers[np.argsort(-strangeness[outliers], kind="stable")][:_NAMED_ON_MAP]
        _name_dots(ax, at_the_edge(placed[strangest], views), [names[place] for place in strangest])
    return ax


def _is_wide(heights: Vector) -> bool:
    """Tell whether factors span too much for a plain axis; zeros are drawn with the smallest."""
    middle = float(np.median(heights))
    return bool(heights.min() >= 0 and middle > 0 and heights.max() > _WIDE * middle)


def _draw_ranked(ax: Axes, heights: Vector, threshold: float | None) -> list[Entry]:
    rank = np.arange(1, heights.size + 1)
    kept = spread_on_log_axis(heights.size, _MOST_POINTS)
    n_above = 0 if threshold is None else int(np.count_nonzero(heights > threshold))
    is_above = kept < n_above
    entries: list[Entry] = []
    if n_above:
        (crosses,) = ax.plot(
            rank[kept[is_above]], heights[kept[is_above]], "X", color=NEW, markersize=6, zorder=3
        )
        entries.append((crosses, f"{counted(n_above, 'row')} above the threshold"))
    (dots,) = ax.plot(
        rank[kept[~is_above]], heights[kept[~is_above]], "o", color=KNOWN, markersize=3.5, zorder=2
    )
    entries.append((dots, counted(heights.size - n_above, "row")))
    if threshold is not None:
        line = ax.axhline(threshold, color=ink(ax), linewidth=1, linestyle="--")
        entries.append((line, f"threshold {threshold:.4g}"))
    return entries


def _checked_names(labels: Sequence[Any] | None, n_rows: int) -> list[str] | None:
    if labels is None:
        return None
    if len(labels) != n_rows:
        raise InputError(
            f"labels must have one name for each of {counted(n_rows, 'row')}; got {len(labels)}."
        )
    return [shortened(str(label), LONGEST_NAME) for label in labels]


def _name_points(ax: Axes, heights: Vector, names: list[str]) -> None:
    """Write the names of the first ranks beside their points."""
    spots = np.column_stack([np.arange(1, len(names) + 1), heights[: len(names)]])
    _name_dots(ax, spots, names)


def _name_dots(ax: Axes, spots: Matrix, names: list[str]) -> None:
    """Write names beside dots, those first that come first; what has no room goes without."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    with boxes_for_missing_letters():
        figure.draw_without_rendering()  # the layout decides where pixels are
        taken: list[Bbox] = []
        for spot, name in zip(spots, names, strict=True):
            text = _name_beside(ax, spot, name)
            box = text.get_window_extent()
            if any(box.overlaps(other) for other in taken):
                text.remove()
            else:
                taken.append(box)


def _name_beside(ax: Axes, spot: Vector, name: str) -> Annotation:
    across, up = (ax.transData + ax.transAxes.inverted()).transform(spot)
    return ax.annotate(
        name,
        (float(spot[0]), float(spot[1])),
        xytext=(-6 if across > _FAR_ALONG else 6, -4 if up > _FAR_ALONG else 4),
        textcoords="offset points",
        ha="right" if across > _FAR_ALONG else "left",
        va="top" if up > _FAR_ALONG else "bottom",
        fontsize=8,
        color=ink(ax),
        zorder=5,
        annotation_clip=False,
        parse_math=False,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )
