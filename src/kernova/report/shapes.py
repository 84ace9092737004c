"""Pictures of shapes: aligned landmarks about their consensus; one shape bent to another.

Pictures of groups of specimens: where they lie, and how well each pair is told apart.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    Entry,
    View,
    axes_or_new,
    counted,
    drawable_number,
    finite_matrix,
    ink,
    label_axes,
    legend_below,
    note_above,
    view_of,
)
from kernova.report.dots import at_the_edge, draw_marked, finish_plane
from kernova.text import truncate_middle
from kernova.typing import Matrix

# More specimens than this only make a blot and a slow picture.
_MOST_SPECIMENS: Final = 400
_GRID_LINES: Final = 16  # along the longer side
_POINTS_PER_LINE: Final = 80
# The grid reaches beyond the landmarks by this share of their extent.
_GRID_MARGIN: Final = 0.12
# Differences too small to see are enlarged until the largest is this share of the shape's length.
_SEEN: Final = 0.1
_ENLARGEMENTS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
# Sides of a figure around a shape, in inches.
_WIDTH, _LOWEST, _HIGHEST = 6.4, 1.6, 7.0
_ROOM_BELOW, _LEGEND_LINE = 0.5, 0.2


def plot_aligned_shapes(
    aligned: ArrayLike,
    consensus: ArrayLike | None = None,
    *,
    others: ArrayLike | None = None,
    labels: Sequence[str] = ("known", "unknown"),
    ax: Axes | None = None,
) -> Axes:
    """Draw aligned specimens as clouds of landmarks about the numbered consensus.

    Parameters
    ----------
    aligned : array-like of shape (n_specimens, n_landmarks, 2 or 3)
        Specimens as :class:`kernova.shapes.procrustes.GeneralizedProcrustes` gives them. Of
        three coordinates the first two are drawn.
    consensus : array-like of shape (n_landmarks, 2 or 3), default=None
        The consensus; None takes the mean of the specimens.
    others : array-like of shape (n_others, n_landmarks, 2 or 3), default=None
        Further specimens, such as unknown ones, in another colour and mark.
    labels : sequence of two str
        What the legend calls the specimens and the others.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_aligned_shapes
    >>> triangle = np.array([[-0.7, -0.1], [0.6, -0.2], [0.1, 0.3]])
    >>> shapes = triangle + np.random.default_rng(0).normal(0, 0.01, size=(40, 3, 2))
    >>> ax = plot_aligned_shapes(shapes)
    >>> [text.get_text() for text in ax.texts], ax.get_legend().get_texts()[0].get_text()
    (['1', '2', '3'], '40 known specimens')
    """
    known = _flat_shapes(aligned, "aligned specimens")
    mean = known.mean(axis=0) if consensus is None else _flat_shape(consensus, "consensus")
    _same_landmarks(known.shape[1], len(mean), "consensus")
    is_own, ax = ax is None, axes_or_new(ax)
    entries = [_draw_specimens(ax, known, labels[0], MUTED, "o")]
    if others is not None:
        strange = _flat_shapes(others, "other specimens")
        _same_landmarks(known.shape[1], strange.shape[1], "other specimens")
        entries.append(_draw_specimens(ax, strange, labels[1], NEW, "x"))
    ax.scatter(
        mean[:, 0], mean[:, 1], s=26, color=KNOWN, edgecolors="white", linewidths=0.7, zorder=4
    )
    entries.append((_dot(KNOWN), "consensus, landmarks numbered"))
    _write_numbers(ax, mean)
    _finish(ax, entries, is_own)
    _note_flattening(ax, np.shape(aligned)[-1])
    return ax


def plot_deformation(
    consensus: ArrayLike,
    target: ArrayLike,
    *,
    enlargement: float | None = None,
    labels: Sequence[str] = ("consensus", "mean of the unknown"),
    ax: Axes | None = None,
) -> Axes:
    """Draw how the consensus must bend to become another shape: arrows and a thin-plate grid.

    The grid is square on the consensus and follows the landmarks as a thin metal plate would,
    bending as little as it can.

    Parameters
    ----------
    consensus, target : array-like of shape (n_landmarks, 2 or 3)
        Two aligned shapes. Of three coordinates the first two are drawn.
    enlargement : float, default=None
        Draw differences so many times as large. None takes 1, 2, 3, 5, 10 and so on, so that they
        can be seen; the picture says which.
    labels : sequence of two str
        What the legend calls the two shapes.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_deformation
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> ax = plot_deformation(square, square + [[0.0, 0.0], [0.0, 0.0], [0.02, 0.0], [0.0, 0.0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][1]
    'mean of the unknown, differences enlarged 5 times'
    """
    start, end = _flat_shape(consensus, "consensus"), _flat_shape(target, "target")
    _same_landmarks(len(start), len(end), "target")
    times = _enlargement(start, end) if enlargement is None else enlargement
    times = drawable_number(times, "enlargement")
    reached = start + times * (end - start)
    is_own, ax = ax is None, axes_or_new(ax)
    lines = _bent_grid(start, reached)
    if lines is not None:
        ax.add_collection(LineCollection(lines, colors=MUTED, linewidths=0.7, alpha=0.75, zorder=1))
        ax.autoscale_view()
    ax.quiver(
        *start.T, *(reached - start).T, angles="xy", scale_units="xy", scale=1, color=NEW,
        width=0.004, headwidth=4, headlength=5, headaxislength=4.5, minlength=0.5, zorder=3,
    )  # fmt: skip
    ax.scatter(
        start[:, 0], start[:, 1], s=20, color=KNOWN, edgecolors="white", linewidths=0.6, zorder=4
    )
    _write_numbers(ax, start)
    more = "" if times == 1 else f", differences enlarged {times:g} times"
    arrow = Line2D([], [], color=NEW, linestyle="-", marker=">", markersize=5, markevery=[1])
    arrow.set_data([0, 1], [0, 0])
    _finish(ax, [(_dot(KNOWN), str(labels[0])), (arrow, f"{labels[1]}{more}")], is_own)
    _note_flattening(ax, np.shape(consensus)[-1])
    return ax


# --- drawing ---------------------------------------------------------------------------------


def _draw_specimens(
    ax: Axes, shapes: NDArray[np.float64], label: str, colour: str, marker: str
) -> Entry:
    words = counted(len(shapes), f"{label} specimen")
    if len(shapes) > _MOST_SPECIMENS:
        kept = np.random.default_rng(0).choice(len(shapes), _MOST_SPECIMENS, replace=False)
        shapes = shapes[np.sort(kept)]
        words += f", {_MOST_SPECIMENS} of them drawn"
    crowd = np.sqrt(len(shapes) / _MOST_SPECIMENS)
    x, y = shapes.reshape(-1, 2).T
    is_round = marker == "o"
    ax.scatter(
        x, y, s=12 - 7 * crowd, color=colour, marker=marker, alpha=0.8 - 0.4 * crowd,
        linewidths=0 if is_round else 0.9, zorder=2 if is_round else 2.5,
    )  # fmt: skip
    return _dot(colour, marker), words


def _dot(colour: str, marker: str = "o") -> Line2D:
    return Line2D([], [], linestyle="", marker=marker, markersize=5, color=colour)


def _write_numbers(ax: Axes, shape: Matrix) -> None:
    """Write the landmarks' numbers, each away from the others, as like charges would go."""
    apart = shape[:, None] - shape[None]
    distances = np.linalg.norm(apart, axis=2, keepdims=True)
    push = np.divide(apart, distances**3, out=np.zeros_like(apart), where=distances > 0).sum(axis=1)
    lengths = np.linalg.norm(push, axis=1, keepdims=True)
    away = np.divide(push, lengths, out=np.tile([0.0, 1.0], (len(shape), 1)), where=lengths > 0)
    for number, (place, direction) in enumerate(zip(shape, away, strict=True), start=1):
        written = ax.annotate(
            str(number), place, xytext=9 * direction, textcoords="offset points", ha="center",
            va="center", fontsize=7.5, color=ink(ax), zorder=5,
        )  # fmt: skip
        written.set_path_effects([withStroke(linewidth=2.2, foreground="white")])


def _finish(ax: Axes, entries: Sequence[Entry], is_own: bool) -> None:
    """Keep angles as they are; the coordinates themselves say nothing, so they are left out."""
    if is_own:
        _fit_figure(ax, len(entries))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    legend_below(ax, entries)


def _note_flattening(ax: Axes, n_dimensions: int) -> None:
    if n_dimensions == 3:
        note_above(ax, "seen along the third axis")


def _fit_figure(ax: Axes, n_entries: int) -> None:
    """Give the figure the proportions of what is drawn on it."""
    assert isinstance(ax.figure, Figure)
    drawn = ax.dataLim
    ratio = drawn.height / drawn.width if drawn.width > 0 else np.inf
    tall = min(max(_WIDTH * ratio, _LOWEST), _HIGHEST)
    ax.figure.set_size_inches(_WIDTH, tall + _ROOM_BELOW + _LEGEND_LINE * n_entries)


# --- the thin plate --------------------------------------------------------------------------


def _enlargement(start: Matrix, end: Matrix) -> float:
    largest = float(np.linalg.norm(end - start, axis=1).max())
    seen = _SEEN * float(np.ptp(start, axis=0).max())
    if largest == 0:
        return 1
    fitting = [times for times in _ENLARGEMENTS if times == 1 or times * largest <= 1.5 * seen]
    enough = [times for times in fitting if times * largest >= 0.8 * seen]
    return enough[0] if enough else fitting[-1]


def _bent_grid(start: Matrix, reached: Matrix) -> list[Matrix] | None:
    """Bend a square grid over the one shape to the other; None where nothing says how."""
    places, kinds = np.unique(start, axis=0, return_inverse=True)
    if np.linalg.matrix_rank(places - places.mean(axis=0), tol=1e-9 * np.ptp(places)) < 2:
        return None  # landmarks on one line leave the plate free to turn about it
    from scipy.interpolate import RBFInterpolator

    kinds = kinds.ravel()
    counts = np.bincount(kinds)[:, None]
    goals = np.column_stack([np.bincount(kinds, column) for column in reached.T]) / counts
    bend = RBFInterpolator(places, goals, kernel="thin_plate_spline")
    lines = _square_grid(start)
    bent = bend(np.concatenate(lines))
    return list(bent.reshape(len(lines), _POINTS_PER_LINE, 2))


def _square_grid(shape: Matrix) -> list[Matrix]:
    extent = _Extent.of(shape)
    step = max(extent.high - extent.low) / _GRID_LINES
    counts = np.maximum(np.ceil((extent.high - extent.low) / step).astype(int), 1)
    high = extent.low + counts * step
    lines = []
    for axis in range(2):
        along = np.linspace(extent.low[axis], high[axis], _POINTS_PER_LINE)
        for number in range(counts[1 - axis] + 1):
            line = np.empty((_POINTS_PER_LINE, 2))
            line[:, axis] = along
            line[:, 1 - axis] = extent.low[1 - axis] + number * step
            lines.append(line)
    return lines


class _Extent(NamedTuple):
    low: Matrix
    high: Matrix

    @classmethod
    def of(cls, shape: Matrix) -> "_Extent":
        margin = _GRID_MARGIN * np.ptp(shape, axis=0).max()
        return cls(shape.min(axis=0) - margin, shape.max(axis=0) + margin)


# --- what is taken ---------------------------------------------------------------------------


def _flat_shapes(shapes: ArrayLike, what: str) -> NDArray[np.float64]:
    points = np.asarray(shapes, dtype=np.float64)
    if points.ndim != 3 or points.shape[2] not in (2, 3) or points.shape[1] == 0:
        raise InputError(
            f"The {what} must be specimens × landmarks × 2 (or 3); got shape {points.shape}."
        )
    if len(points) == 0:
        raise InputError(f"There are no {what}. Give at least one.")
    if not np.isfinite(points).all():
        raise InputError(
            f"The {what} must be finite; align them, which fills in missing landmarks."
        )
    drawable_number(float(np.abs(points).max()), f"largest coordinate of the {what}")
    return points[:, :, :2]


def _flat_shape(shape: ArrayLike, what: str) -> Matrix:
    points = np.asarray(shape, dtype=np.float64)
    if points.ndim != 2:
        raise InputError(f"The {what} must be landmarks × 2 (or 3); got shape {points.shape}.")
    return _flat_shapes(points[None], what)[0]


def _same_landmarks(n_expected: int, n_found: int, what: str) -> None:
    if n_found != n_expected:
        raise InputError(
            f"The {what} must have {counted(n_expected, 'landmark')}, as the others; got {n_found}."
        )


# Told apart with any colour vision, and by their marks; the colour of what is new is kept for it.
_COLOURS: Final = (KNOWN, "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6b4f1d")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_LONGEST_NAME: Final = 22
_MORPHOSPACE_LEGEND_LINE: Final = 0.2  # inches
_CELLS_WITH_NUMBERS: Final = 16
_CELLS_WITH_NAMES: Final = 60
_ROWS_WITH_BAR: Final = 5  # a lower table has no room for a scale beside it
# No error is as good as chance, and chance is where colours end.
_CHANCE: Final = 0.5
_RATES: Final = LinearSegmentedColormap.from_list("rates", ["#ffffff", "#f3c9a8", NEW, "#5c2408"])


def plot_morphospace(
    scores: ArrayLike,
    groups: Sequence[Any],
    *,
    unknown: ArrayLike | None = None,
    unknown_name: str = "unknown",
    shares: Sequence[float] | None = None,
    most_groups: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw specimens on their first two components, the largest groups in colours of their own.

    Parameters
    ----------
    scores : array-like of shape (n_specimens, n_components)
        Known specimens; the first two columns are drawn.
    groups : sequence of length n_specimens
        The group of each.
    unknown : array-like of shape (n_unknown, n_components), default=None
        Specimens to highlight.
    unknown_name : str
        What the legend calls them.
    shares : sequence of float, default=None
        How much of the variance each component shows, for the axes.
    most_groups : int, default=6
        So many groups, the largest, are coloured; the others are grey. At most 6.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_morphospace
    >>> scores = np.random.default_rng(0).normal(size=(30, 4))
    >>> ax = plot_morphospace(scores, ["a"] * 20 + ["b"] * 10, unknown=scores[:3] + 5)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a: 20', 'b: 10', 'unknown: 3']
    """
    known = _first_two(scores, "specimens")
    names = np.array([str(name) for name in groups], dtype=object)
    if len(names) != len(known):
        raise InputError(
            f"groups must name a group for each of {counted(len(known), 'specimen')}; got "
            f"{len(names)}."
        )
    if not 0 <= most_groups <= len(_COLOURS):
        raise InputError(f"most_groups must lie from 0 to {len(_COLOURS)}; got {most_groups}.")
    strange = np.empty((0, 2)) if unknown is None else _first_two(unknown, "unknown specimens")
    ax = _axes_above_legend(min(len(set(names)), most_groups)) if ax is None else ax
    views = [view_of(known[:, k], strange[:, k]).with_margin(0.08) for k in range(2)]
    entries = _draw_groups(ax, known, names, views, most_groups)
    if len(strange):
        crosses = draw_marked(ax, strange, views, "X", NEW)
        entries.append((crosses, f"{shortened(unknown_name, _LONGEST_NAME)}: {len(strange):,}"))
    finish_plane(ax, views, np.vstack([known, strange]), entries)
    label_axes(ax, *(_component(k, shares) for k in range(2)))
    return ax


def plot_error_rates(
    rates: ArrayLike,
    unknown: Sequence[Any],
    known: Sequence[Any],
    *,
    mark_above: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the equal error rate of each group held out as unknown against each known one.

    Pale cells are pairs that are told apart; dark ones are alike. At 0.5 a coin does as well.

    Parameters
    ----------
    rates : array-like of shape (n_unknown, n_known)
        Equal error rates from 0 to 1; NaN where there is none, as of a group against itself.
    unknown, known : sequences
        Names of the rows and of the columns.
    mark_above : float, default=None
        Frame the cells above this rate.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from kernova.report.figures import plot_error_rates
    >>> ax = plot_error_rates([[float("nan"), 0.02], [0.31, float("nan")]], "ab", "ab")
    >>> [text.get_text() for text in ax.texts][:4]
    ['', '.02', '.31', '']
    """
    table = np.asarray(rates, dtype=np.float64)
    is_rate = np.isnan(table) | ((table >= 0) & (table <= 1))
    if table.shape != (len(unknown), len(known)) or not table.size or not is_rate.all():
        raise InputError(
            f"rates must hold a number from 0 to 1, or NaN, for each of "
            f"{counted(len(unknown), 'unknown group')} and {counted(len(known), 'known group')}; "
            f"got shape {table.shape}."
        )
    ax = _axes_for_table(table.shape) if ax is None else ax
    ax.set_facecolor("#e4e6ea")  # cells without a rate
    image = ax.imshow(table, cmap=_RATES, vmin=0, vmax=_CHANCE, aspect="auto")
    _name_cells(ax, unknown, known)
    if max(table.shape) <= _CELLS_WITH_NUMBERS:
        _write_rates(ax, table)
    if mark_above is not None:
        _frame(ax, table > mark_above)
    if len(table) < _ROWS_WITH_BAR:
        note_above(ax, "equal error rate: white 0, darkest 0.5 (chance)")
        label_axes(ax, "known group", "")
        return ax
    beside = ax.inset_axes((1.02, 0, 0.025, 1))
    bar = ax.figure.colorbar(image, cax=beside)
    bar.set_label("equal error rate (0.5 is chance)")
    bar.outline.set_visible(False)
    label_axes(ax, "known group", "held out as unknown")
    return ax


def _first_two(scores: ArrayLike, what: str) -> Matrix:
    rows = finite_matrix(scores, what)[:, :2]
    return np.column_stack([rows, np.zeros(len(rows))])[:, :2]  # one component lies on a line


def _component(place: int, shares: Sequence[float] | None) -> str:
    known = shares is not None and place < len(shares)
    return f"component {place + 1}" + (
        f" ({100 * shares[place]:.0f} % of variance)" if known and shares is not None else ""
    )


def _draw_groups(
    ax: Axes, known: Matrix, names: NDArray[np.object_], views: list[View], most: int
) -> list[Entry]:
    largest = [name for name, _ in Counter(sorted(names)).most_common(most)]
    entries: list[Entry] = []
    is_other = ~np.isin(names, largest)
    if is_other.any():
        x, y = at_the_edge(known[is_other], views).T
        dots = ax.scatter(x, y, s=12, color=MUTED, alpha=0.55, linewidths=0, zorder=2)
        n_groups = counted(len(set(names[is_other])), "other group")
        entries.append((dots, f"{n_groups}: {is_other.sum():,}"))
    for place, name in enumerate(largest):
        inside = names == name
        x, y = at_the_edge(known[inside], views).T
        dots = ax.scatter(
            x, y, s=24 if len(known) <= 500 else 15, marker=_MARKERS[place], color=_COLOURS[place],
            alpha=0.8, edgecolors="white", linewidths=0.3, zorder=2.5,
        )  # fmt: skip
        entries.insert(place, (dots, f"{shortened(name, _LONGEST_NAME)}: {inside.sum():,}"))
    return entries


def _axes_above_legend(n_entries: int) -> Axes:
    """Give axes on a figure high enough that the legend does not press them flat."""
    ax = axes_or_new(None)
    assert isinstance(ax.figure, Figure)
    width, height = ax.figure.get_size_inches()
    ax.figure.set_size_inches(width, height + _MORPHOSPACE_LEGEND_LINE * max(0, n_entries / 2 - 1))
    return ax


def _axes_for_table(shape: tuple[int, ...]) -> Axes:
    n_unknown, n_known = shape
    width, height = min(3.2 + 0.48 * n_known, 9.5), min(2.0 + 0.36 * n_unknown, 8.5)
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    ax: Axes = figure.subplots()
    return ax


def _name_cells(ax: Axes, unknown: Sequence[Any], known: Sequence[Any]) -> None:
    """Name rows and columns, in small letters where there are many, and not where no one reads."""
    for axis, names in ((ax.xaxis, known), (ax.yaxis, unknown)):
        if len(names) > _CELLS_WITH_NAMES:
            axis.set_ticks([])
            continue
        axis.set_ticks(range(len(names)))
        turned: dict[str, Any] = {}
        if axis is ax.xaxis:
            turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        axis.set_ticklabels(
            [truncate_middle(str(name), _LONGEST_NAME) for name in names],
            fontsize=10 if len(names) <= 20 else 6, parse_math=False, **turned,
        )  # fmt: skip


def _write_rates(ax: Axes, table: Matrix) -> None:
    for (line, column), rate in np.ndenumerate(table):
        words = "" if np.isnan(rate) else f"{rate:.2f}".removeprefix("0")
        ax.text(
            column, line, words, ha="center", va="center", fontsize=8,
            color="white" if rate > 0.6 * _CHANCE else "black",
        )  # fmt: skip


def _frame(ax: Axes, is_marked: NDArray[np.bool_]) -> None:
    for line, column in np.argwhere(is_marked):
        ax.add_patch(
            Rectangle((column - 0.5, line - 0.5), 1, 1, fill=False, edgecolor=KNOWN, linewidth=1.8)
        )
