"""Pictures of shapes and groups: aligned landmarks, deformations, shape space and error rates."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    KNOWN,
    LEGEND_LINE,
    MUTED,
    NEW,
    Entry,
    View,
    axes_above_legend,
    axes_or_new,
    drawable_number,
    figure_of,
    finite_matrix,
    ink,
    label_axes,
    legend_below,
    new_axes,
    note_above,
)
from kernova.report.planes import clip_to_views, draw_marked, finish_plane, plane_views, sample_rows
from kernova.text import percent, quantity, truncate_middle
from kernova.typing import Matrix

# More specimens merge into one blot and make the picture slow.
_MAX_SPECIMENS: Final = 400
_GRID_LINES: Final = 16  # along the longer side
_POINTS_PER_LINE: Final = 80
# The grid reaches beyond the landmarks by this fraction of their extent.
_GRID_MARGIN: Final = 0.12
# Small differences are enlarged until the largest is this fraction of the shape's length.
_VISIBLE: Final = 0.1
_ENLARGEMENTS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
# Sizes of a figure of shapes, in inches.
_WIDTH, _MIN_HEIGHT, _MAX_HEIGHT = 6.4, 1.6, 7.0
_ROOM_BELOW: Final = 0.5
_GROUP_COLOURS: Final = CLASS_COLOURS[:6]
_LONGEST_NAME: Final = 22
_CELLS_WITH_NUMBERS: Final = 16
_CELLS_WITH_NAMES: Final = 60
_ROWS_WITH_BAR: Final = 5  # a smaller table has no room for a colour bar
# The error rate of chance, where colours end.
_CHANCE: Final = 0.5
_RATES: Final = LinearSegmentedColormap.from_list("rates", ["#ffffff", "#f3c9a8", NEW, "#5c2408"])


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
        Specimens as aligned by :class:`kernova.shapes.procrustes.GeneralizedProcrustes`. Of
        three coordinates the first two are drawn.
    consensus : array-like of shape (n_landmarks, 2 or 3), default=None
        The consensus; None takes the mean of the specimens.
    others : array-like of shape (n_others, n_landmarks, 2 or 3), default=None
        Further specimens, such as unknown ones, in another colour and mark.
    labels : sequence of two str
        Labels of the specimens and of the others.
    ax : Axes, default=a new figure

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
    _check_same_landmarks(known.shape[1], len(mean), "consensus")
    is_own, ax = ax is None, axes_or_new(ax)
    entries = [_draw_specimens(ax, known, labels[0], MUTED, "o")]
    if others is not None:
        further = _flat_shapes(others, "other specimens")
        _check_same_landmarks(known.shape[1], further.shape[1], "other specimens")
        entries.append(_draw_specimens(ax, further, labels[1], NEW, "x"))
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
    """Draw the deformation of the consensus into another shape: arrows and a thin-plate spline.

    The grid is square on the consensus and is deformed with minimal bending energy.

    Parameters
    ----------
    consensus, target : array-like of shape (n_landmarks, 2 or 3)
        Two aligned shapes. Of three coordinates the first two are drawn.
    enlargement : float, default=None
        The factor by which differences are enlarged. None chooses one of 1, 2, 3, 5, 10 and so
        on, so that they are visible; the legend states it.
    labels : sequence of two str
        Labels of the two shapes.
    ax : Axes, default=a new figure

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
    _check_same_landmarks(len(start), len(end), "target")
    times = _enlargement(start, end) if enlargement is None else enlargement
    times = drawable_number(times, "enlargement")
    reached = start + times * (end - start)
    is_own, ax = ax is None, axes_or_new(ax)
    lines = deformed_grid(start, reached)
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


def plot_morphospace(
    scores: ArrayLike,
    groups: Sequence[Any],
    *,
    unknown: ArrayLike | None = None,
    unknown_name: str = "unknown",
    explained: Sequence[float] | None = None,
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
        The label of the unknown specimens.
    explained : sequence of float, default=None
        The fraction of the variance that each component explains, for the axes.
    most_groups : int, default=6
        The number of groups, the largest, that are coloured; the others are grey. At most 6.
    ax : Axes, default=a new figure

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
            f"groups must hold a group for each of {quantity(len(known), 'specimen')}; got "
            f"{len(names)}."
        )
    if not 0 <= most_groups <= len(_GROUP_COLOURS):
        raise InputError(
            f"most_groups must lie from 0 to {len(_GROUP_COLOURS)}; got {most_groups}."
        )
    others = np.empty((0, 2)) if unknown is None else _first_two(unknown, "unknown specimens")
    if ax is None:
        ax = axes_above_legend(min(len(set(names)), most_groups) / 2 - 1)
    views = plane_views(known, others, 0.08)
    entries = _draw_groups(ax, known, names, views, most_groups)
    if len(others):
        crosses = draw_marked(ax, others, views, "X", NEW)
        entries.append(
            (crosses, f"{truncate_middle(unknown_name, _LONGEST_NAME)}: {len(others):,}")
        )
    finish_plane(ax, views, np.vstack([known, others]), entries)
    label_axes(ax, *(_component(k, explained) for k in range(2)))
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

    Light cells are pairs that can be separated, dark ones are alike; 0.5 is chance.

    Parameters
    ----------
    rates : array-like of shape (n_unknown, n_known)
        Equal error rates from 0 to 1; NaN where there is none, as for a group against itself.
    unknown, known : sequences
        Names of the rows and of the columns.
    mark_above : float, default=None
        Frame the cells above this rate.
    ax : Axes, default=a new figure

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
            f"{quantity(len(unknown), 'unknown group')} and {quantity(len(known), 'known group')}; "
            f"got shape {table.shape}."
        )
    if ax is None:
        ax = new_axes(min(3.2 + 0.48 * len(known), 9.5), min(2.0 + 0.36 * len(unknown), 8.5))
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


def deformed_grid(start: Matrix, reached: Matrix) -> list[Matrix] | None:
    """Return the lines of a square grid, deformed from one shape to the other.

    None if all landmarks lie on one line, which leaves the deformation undetermined.
    """
    points, index = np.unique(start, axis=0, return_inverse=True)
    if np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-9 * np.ptp(points)) < 2:
        return None
    from scipy.interpolate import RBFInterpolator

    index = index.ravel()
    counts = np.bincount(index)[:, None]
    goals = np.column_stack([np.bincount(index, column) for column in reached.T]) / counts
    deform = RBFInterpolator(points, goals, kernel="thin_plate_spline")
    lines = square_grid(start)
    deformed = deform(np.concatenate(lines))
    return list(deformed.reshape(len(lines), _POINTS_PER_LINE, 2))


def square_grid(shape: Matrix) -> list[Matrix]:
    """Return the lines of a square grid that covers a shape."""
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


def _draw_specimens(
    ax: Axes, shapes: NDArray[np.float64], label: str, colour: str, marker: str
) -> Entry:
    text = quantity(len(shapes), f"{label} specimen")
    if len(shapes) > _MAX_SPECIMENS:
        text += f", {_MAX_SPECIMENS} of them drawn"
    shapes = sample_rows(shapes, _MAX_SPECIMENS)
    density = np.sqrt(len(shapes) / _MAX_SPECIMENS)
    x, y = shapes.reshape(-1, 2).T
    is_round = marker == "o"
    ax.scatter(
        x, y, s=12 - 7 * density, color=colour, marker=marker, alpha=0.8 - 0.4 * density,
        linewidths=0 if is_round else 0.9, zorder=2 if is_round else 2.5,
    )  # fmt: skip
    return _dot(colour, marker), text


def _dot(colour: str, marker: str = "o") -> Line2D:
    return Line2D([], [], linestyle="", marker=marker, markersize=5, color=colour)


def _write_numbers(ax: Axes, shape: Matrix) -> None:
    """Write the landmarks' numbers, each displaced away from the other landmarks."""
    apart = shape[:, None] - shape[None]
    distances = np.linalg.norm(apart, axis=2, keepdims=True)
    push = np.divide(apart, distances**3, out=np.zeros_like(apart), where=distances > 0).sum(axis=1)
    lengths = np.linalg.norm(push, axis=1, keepdims=True)
    away = np.divide(push, lengths, out=np.tile([0.0, 1.0], (len(shape), 1)), where=lengths > 0)
    for number, (point, direction) in enumerate(zip(shape, away, strict=True), start=1):
        written = ax.annotate(
            str(number), point, xytext=9 * direction, textcoords="offset points", ha="center",
            va="center", fontsize=7.5, color=ink(ax), zorder=5,
        )  # fmt: skip
        written.set_path_effects([withStroke(linewidth=2.2, foreground="white")])


def _finish(ax: Axes, entries: Sequence[Entry], is_own: bool) -> None:
    """Set equal scales and remove the ticks, since the coordinates have no meaning."""
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
    """Set the figure's proportions to those of the drawing."""
    drawn = ax.dataLim
    ratio = drawn.height / drawn.width if drawn.width > 0 else np.inf
    tall = min(max(_WIDTH * ratio, _MIN_HEIGHT), _MAX_HEIGHT)
    figure_of(ax).set_size_inches(_WIDTH, tall + _ROOM_BELOW + LEGEND_LINE * n_entries)


def _enlargement(start: Matrix, end: Matrix) -> float:
    largest = float(np.linalg.norm(end - start, axis=1).max())
    visible = _VISIBLE * float(np.ptp(start, axis=0).max())
    if largest == 0:
        return 1
    fitting = [times for times in _ENLARGEMENTS if times == 1 or times * largest <= 1.5 * visible]
    enough = [times for times in fitting if times * largest >= 0.8 * visible]
    return enough[0] if enough else fitting[-1]


class _Extent(NamedTuple):
    low: Matrix
    high: Matrix

    @classmethod
    def of(cls, shape: Matrix) -> "_Extent":
        margin = _GRID_MARGIN * np.ptp(shape, axis=0).max()
        return cls(shape.min(axis=0) - margin, shape.max(axis=0) + margin)


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


def _check_same_landmarks(n_expected: int, n_found: int, what: str) -> None:
    if n_found != n_expected:
        raise InputError(
            f"The {what} must have {quantity(n_expected, 'landmark')}, as the others; got "
            f"{n_found}."
        )


def _first_two(scores: ArrayLike, what: str) -> Matrix:
    rows = finite_matrix(scores, what)[:, :2]
    return np.column_stack([rows, np.zeros(len(rows))])[
        :, :2
    ]  # a single component is drawn on a line


def _component(index: int, explained: Sequence[float] | None) -> str:
    label = f"component {index + 1}"
    if explained is None or index >= len(explained):
        return label
    return f"{label} ({percent(explained[index])} of variance)"


def _draw_groups(
    ax: Axes, known: Matrix, names: NDArray[np.object_], views: list[View], most: int
) -> list[Entry]:
    largest = [name for name, _ in Counter(sorted(names)).most_common(most)]
    entries: list[Entry] = []
    is_other = ~np.isin(names, largest)
    if is_other.any():
        x, y = clip_to_views(known[is_other], views).T
        dots = ax.scatter(x, y, s=12, color=MUTED, alpha=0.55, linewidths=0, zorder=2)
        n_groups = quantity(len(set(names[is_other])), "other group")
        entries.append((dots, f"{n_groups}: {is_other.sum():,}"))
    for index, name in enumerate(largest):
        inside = names == name
        x, y = clip_to_views(known[inside], views).T
        dots = ax.scatter(
            x, y, s=24 if len(known) <= 500 else 15, marker=CLASS_MARKERS[index],
            color=_GROUP_COLOURS[index], alpha=0.8, edgecolors="white", linewidths=0.3, zorder=2.5,
        )  # fmt: skip
        entries.insert(index, (dots, f"{truncate_middle(name, _LONGEST_NAME)}: {inside.sum():,}"))
    return entries


def _name_cells(ax: Axes, unknown: Sequence[Any], known: Sequence[Any]) -> None:
    """Label rows and columns, smaller where there are many, not at all where too many."""
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
        text = "" if np.isnan(rate) else f"{rate:.2f}".removeprefix("0")
        ax.text(
            column, line, text, ha="center", va="center", fontsize=8,
            color="white" if rate > 0.6 * _CHANCE else "black",
        )  # fmt: skip


def _frame(ax: Axes, is_marked: NDArray[np.bool_]) -> None:
    for line, column in np.argwhere(is_marked):
        ax.add_patch(
            Rectangle((column - 0.5, line - 0.5), 1, 1, fill=False, edgecolor=KNOWN, linewidth=1.8)
        )
