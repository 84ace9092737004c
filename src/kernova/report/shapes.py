"""Pictures of shapes: aligned landmarks about their consensus; one shape bent to another."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    Entry,
    Matrix,
    axes_or_new,
    counted,
    drawable_number,
    ink,
    legend_below,
    note_above,
)

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
        Specimens as :class:`kernova.represent.procrustes.GeneralizedProcrustes` gives them. Of
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
