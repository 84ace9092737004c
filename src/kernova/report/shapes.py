"""Pictures of shapes: aligned landmarks and thin-plate deformations."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    LEGEND_LINE,
    MUTED,
    NEW,
    Entry,
    axes_or_new,
    drawable_number,
    figure_of,
    ink,
    legend_below,
    note_above,
)
from kernova.report.morphospace import plot_canonical_variates, plot_morphospace
from kernova.report.pairs import plot_error_rates, plot_pair_errors
from kernova.report.planes import sample_rows
from kernova.shapes.thin_plate import SplineBasis, is_spanning, spline_basis
from kernova.text import quantity
from kernova.typing import Coordinates, Matrix, Vector

__all__ = [
    "Deformation",
    "deformation",
    "deformed_grid",
    "grid_cells",
    "plot_aligned_shapes",
    "plot_canonical_variates",
    "plot_deformation",
    "plot_error_rates",
    "plot_morphospace",
    "plot_pair_errors",
    "square_grid",
]

Plane = tuple[int, int]  # the axes that a projection shows

# More specimens merge into one blot and make the picture slow.
_MAX_SPECIMENS: Final = 400
_GRID_LINES: Final = 16  # along the longer side
_POINTS_PER_LINE: Final = 80
_POINTS_PER_CELL: Final = 4  # along each side, where folds are looked for
_FOLD_ALPHA: Final = 0.3
# The grid reaches beyond the landmarks by this fraction of their extent.
_GRID_MARGIN: Final = 0.12
# Room for the name of a projection, and its distance, as fractions of the largest extent.
_NAME_ROOM, _NAME_GAP = 0.12, 0.02
# Small differences are enlarged until the largest is this fraction of the shape's length.
_VISIBLE: Final = 0.1
_ENLARGEMENTS: Final = (1, 2, 3, 5, 10, 20, 50, 100)
# Sizes of a figure of shapes, in inches.
_WIDTH, _MIN_HEIGHT, _MAX_HEIGHT = 6.4, 1.6, 7.0
_ROOM_BELOW: Final = 0.25
_LEGEND_DROP: Final = 6  # in points
# Points closer than this fraction of the largest distance coincide.
_COINCIDING: Final = 1e-3


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
        three coordinates two projections are drawn, on axes 1 and 2 and on axes 1 and 3.
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
    known = _checked_shapes(aligned, "aligned specimens")
    mean = known.mean(axis=0) if consensus is None else _checked_shape(consensus, "consensus")
    _check_same_landmarks(known[0], mean, "consensus")
    further = None if others is None else _checked_shapes(others, "other specimens")
    if further is not None:
        _check_same_landmarks(known[0], further[0], "other specimens")
    clouds = [cloud for cloud in (known, mean[None], further) if cloud is not None]
    views = _views(np.concatenate(clouds))
    shifts = _plane_shifts(views)
    is_own, ax = ax is None, axes_or_new(ax)
    entries = [_draw_specimens(ax, _projected(known, shifts), labels[0], MUTED, "o")]
    if further is not None:
        entries.append(_draw_specimens(ax, _projected(further, shifts), labels[1], NEW, "x"))
    drawn = _projected(mean[None], shifts)[0]
    x, y = drawn.T
    ax.scatter(x, y, s=26, color=KNOWN, edgecolors="white", linewidths=0.7, zorder=4)
    entries.append((_dot(KNOWN), "consensus, landmarks numbered"))
    _write_numbers(ax, drawn, len(mean))
    _name_planes(ax, views, shifts)
    finish_shapes(ax, entries, is_own)
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

    The grid is square on the consensus and is deformed with minimal bending energy. If it folds
    over itself at the enlargement wanted, a smaller one is drawn, which a note states; cells that
    fold without any enlargement are filled.

    Parameters
    ----------
    consensus, target : array-like of shape (n_landmarks, 2 or 3)
        Two aligned shapes. In space, the grid is drawn in two planes through the middle, axes 1
        and 2 and axes 1 and 3.
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
    start, end = _checked_shape(consensus, "consensus"), _checked_shape(target, "target")
    _check_same_landmarks(start, end, "target")
    wanted = _enlargement(start, end) if enlargement is None else enlargement
    wanted = drawable_number(wanted, "enlargement")
    splines = [deformation(start, end, plane) for plane in _planes(start.shape[1])]
    times = _unfolded_enlargement(splines, start, wanted)
    end = start + times * (end - start)
    grids = [[] if spline is None else _moved_lines(spline, start, times) for spline in splines]
    shapes = _views(np.stack([start, end]))
    views = [np.vstack([shape, *lines]) for shape, lines in zip(shapes, grids, strict=True)]
    shifts = _plane_shifts(views)
    is_own, ax = ax is None, axes_or_new(ax)
    is_folded = [
        _draw_grid(ax, spline, lines, start, times, shift)
        for spline, lines, shift in zip(splines, grids, shifts, strict=True)
    ]
    drawn, reached = _projected(np.stack([start, end]), shifts)
    ax.quiver(
        *drawn.T, *(reached - drawn).T, angles="xy", scale_units="xy", scale=1, color=NEW,
        width=0.004, headwidth=4, headlength=5, headaxislength=4.5, minlength=0.5, zorder=3,
    )  # fmt: skip
    x, y = drawn.T
    ax.scatter(x, y, s=20, color=KNOWN, edgecolors="white", linewidths=0.6, zorder=4)
    _write_numbers(ax, drawn, len(start))
    _name_planes(ax, views, shifts)
    entries = _deformation_entries(labels, times)
    if any(is_folded):
        entries.append((Patch(facecolor=NEW, alpha=_FOLD_ALPHA), "here the grid folds"))
    note = "" if times == wanted else f"drawn at {times:g} times; at {wanted:g} the grid folds"
    finish_shapes(ax, entries, is_own, note)
    return ax


class Deformation(NamedTuple):
    """A thin-plate spline from one shape to another, drawn in a plane."""

    basis: SplineBasis
    change: Matrix  # of the distinct landmarks, at magnification 1
    plane: Plane

    def moved(self, points: Matrix, times: float) -> Matrix:
        """Return points of the plane, deformed with the change enlarged."""
        moves = self.basis.weights(self._embedded(points)) @ self.change
        return np.asarray(points + times * moves[:, list(self.plane)])

    def largest_unfolded(self, points: Matrix) -> Vector:
        """Return the magnification at which the plane begins to fold, for each point.

        With the change M per unit of length, det(I + t M) = 1 + t trace(M) + t² det(M) is zero.
        """
        i, j = self.plane
        slopes = self.basis.gradients(self._embedded(points)) @ self.change  # axis, point, axis
        trace = slopes[i, :, i] + slopes[j, :, j]
        det = slopes[i, :, i] * slopes[j, :, j] - slopes[i, :, j] * slopes[j, :, i]
        with np.errstate(divide="ignore", invalid="ignore"):
            # The smallest positive root, in the form that stays exact as det goes to 0.
            root = np.sqrt(trace**2 - 4 * det)
            first, second = -2 / (trace - root), -2 / (trace + root)
        roots = np.stack([first, second])
        return np.asarray(np.where(roots > 0, roots, np.inf).min(axis=0))

    def _embedded(self, points: Matrix) -> Matrix:
        """Place points of the plane in space, at the mean of the axis that is not drawn."""
        full = np.tile(self.basis.source.mean(axis=0), (len(points), 1))
        full[:, list(self.plane)] = points
        return full


def deformation(start: Matrix, end: Matrix, plane: Plane = (0, 1)) -> Deformation | None:
    """Return the thin-plate spline from one shape to another.

    In space, landmarks in one plane leave it undetermined; then it is that of the projections. None
    if these lie on one line. Where landmarks coincide, the mean of their targets is reached.
    """
    points, index = np.unique(start, axis=0, return_inverse=True)
    index = index.ravel()
    counts = np.bincount(index)[:, None]
    change = np.column_stack([np.bincount(index, column) for column in (end - start).T]) / counts
    if is_spanning(points):
        return Deformation(spline_basis(points), change, plane)
    if start.shape[1] == 3:
        return deformation(start[:, list(plane)], end[:, list(plane)])
    return None


def deformed_grid(start: Matrix, reached: Matrix) -> list[Matrix] | None:
    """Return the lines of a square grid, deformed from one shape to the other.

    None if all landmarks lie on one line, which leaves the deformation undetermined.
    """
    spline = deformation(start, reached)
    return None if spline is None else _moved_lines(spline, start, 1)


def _moved_lines(spline: Deformation, start: Matrix, times: float) -> list[Matrix]:
    lines = square_grid(start[:, list(spline.plane)])
    return list(spline.moved(np.concatenate(lines), times).reshape(len(lines), -1, 2))


def grid_cells(shape: Matrix) -> Coordinates:
    """Return points in each cell of the square grid: corners first; shape (cells, points, 2)."""
    low, high, step = _grid_extent(shape)
    corners = [np.arange(a, b - step / 2, step) for a, b in zip(low, high, strict=True)]
    origins = np.stack(np.meshgrid(*corners, indexing="ij"), axis=-1).reshape(-1, 1, 2)
    inside = np.linspace(0, 1, _POINTS_PER_CELL)
    lattice = np.stack(np.meshgrid(inside, inside), axis=-1).reshape(-1, 2)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    return np.asarray(origins + step * np.vstack([square, lattice]))


def square_grid(shape: Matrix) -> list[Matrix]:
    """Return the lines of a square grid that covers a shape."""
    low, high, step = _grid_extent(shape)
    counts = np.rint((high - low) / step).astype(int)
    lines = []
    for axis in range(2):
        along = np.linspace(low[axis], high[axis], _POINTS_PER_LINE)
        for number in range(counts[1 - axis] + 1):
            line = np.empty((_POINTS_PER_LINE, 2))
            line[:, axis] = along
            line[:, 1 - axis] = low[1 - axis] + number * step
            lines.append(line)
    return lines


def _unfolded_enlargement(
    splines: Sequence[Deformation | None], start: Matrix, wanted: float
) -> float:
    """Return the enlargement, reduced until no cell folds, but not below the true difference."""
    limit = np.inf
    for spline in splines:
        if spline is not None:
            cells = grid_cells(start[:, list(spline.plane)])
            limit = min(limit, float(spline.largest_unfolded(cells.reshape(-1, 2)).min()))
    if wanted < limit or wanted <= 1:
        return wanted
    below = 0.9 * limit  # at the limit itself, grid lines touch
    digits = 10.0 ** (1 - np.floor(np.log10(below))) if below > 0 else 1.0
    return float(max(1.0, round(np.floor(below * digits) / digits, 9)))


def _draw_grid(
    ax: Axes,
    spline: Deformation | None,
    lines: list[Matrix],
    start: Matrix,
    times: float,
    shift: Vector,
) -> bool:
    """Draw the deformed grid, folded cells filled; return whether there are any."""
    if spline is None:
        return False
    moved = [line + shift for line in lines]
    ax.add_collection(LineCollection(moved, colors=MUTED, linewidths=0.7, alpha=0.75, zorder=1))
    cells = grid_cells(start[:, list(spline.plane)])
    limits = spline.largest_unfolded(cells.reshape(-1, 2)).reshape(len(cells), -1)
    folded = cells[limits.min(axis=1) <= times][:, :4]
    if len(folded):
        corners = spline.moved(folded.reshape(-1, 2), times).reshape(-1, 4, 2) + shift
        ax.add_collection(
            PolyCollection(
                list(corners), facecolors=NEW, alpha=_FOLD_ALPHA, linewidths=0, zorder=1.5
            )
        )
    ax.autoscale_view()
    return len(folded) > 0


def _deformation_entries(labels: Sequence[str], times: float) -> list[Entry]:
    more = "" if times == 1 else f", differences enlarged {times:g} times"
    arrow = Line2D([], [], color=NEW, linestyle="-", marker=">", markersize=5, markevery=[1])
    arrow.set_data([0, 1], [0, 0])
    return [(_dot(KNOWN), str(labels[0])), (arrow, f"{labels[1]}{more}")]


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


def _write_numbers(ax: Axes, shape: Matrix, n_landmarks: int) -> None:
    """Write the landmarks' numbers, each displaced away from the others; projections start anew."""
    for number, (point, away) in enumerate(zip(shape, label_directions(shape), strict=True)):
        write_number(ax, number % n_landmarks + 1, point, away, ink(ax))


def write_number(ax: Axes, number: int, point: Vector, away: Vector, colour: Any) -> None:
    """Write the number of a landmark beside it, in this direction."""
    written = ax.annotate(
        str(number), (point[0], point[1]), xytext=(9 * away[0], 9 * away[1]), ha="center",
        va="center", textcoords="offset points", fontsize=7.5, color=colour, zorder=6,
    )  # fmt: skip
    written.set_path_effects([withStroke(linewidth=2.2, foreground="white")])


def label_directions(points: Matrix) -> Matrix:
    """Return for each point the direction away from the others, where a label hides least.

    Labels of points that coincide are spread evenly around them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.shapes import label_directions
    >>> label_directions(np.array([[0.0, 0.0], [1.0, 0.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    apart = points[:, None] - points[None]
    distances = np.linalg.norm(apart, axis=2, keepdims=True)
    is_apart = distances > _COINCIDING * distances.max()
    push = np.divide(apart, distances**3, out=np.zeros_like(apart), where=is_apart).sum(axis=1)
    lengths = np.linalg.norm(push, axis=1, keepdims=True)
    away = np.divide(push, lengths, out=np.tile([0.0, 1.0], (len(points), 1)), where=lengths > 0)
    is_same = ~is_apart[:, :, 0]
    turns = 2 * np.pi * np.tril(is_same, -1).sum(axis=1) / is_same.sum(axis=1)
    x, y = away.T
    return np.column_stack(
        [x * np.cos(turns) - y * np.sin(turns), x * np.sin(turns) + y * np.cos(turns)]
    )


def finish_shapes(ax: Axes, entries: Sequence[Entry], is_own: bool, note: str = "") -> None:
    """Set equal scales, and write legend and note; without ticks, as coordinates mean nothing."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    if is_own:
        drawn = ax.dataLim
        ratio = drawn.height / drawn.width if drawn.width > 0 else np.inf
        tall = min(max(_WIDTH * ratio, _MIN_HEIGHT), _MAX_HEIGHT)
        room = _ROOM_BELOW + LEGEND_LINE * (len(entries) + bool(note))
        figure_of(ax).set_size_inches(_WIDTH, tall + room)
    legend_below(ax, entries)
    legend = ax.get_legend()
    if legend is not None:  # there are no tick labels to leave room for
        drop = ScaledTranslation(0, -_LEGEND_DROP / 72, figure_of(ax).dpi_scale_trans)
        legend.set_bbox_to_anchor((0, 0), transform=ax.transAxes + drop)
    if note:
        note_above(ax, note)


def _enlargement(start: Matrix, end: Matrix) -> float:
    largest = float(np.linalg.norm(end - start, axis=1).max())
    visible = _VISIBLE * float(np.ptp(start, axis=0).max())
    if largest == 0:
        return 1
    fitting = [times for times in _ENLARGEMENTS if times == 1 or times * largest <= 1.5 * visible]
    enough = [times for times in fitting if times * largest >= 0.8 * visible]
    return enough[0] if enough else fitting[-1]


class _GridExtent(NamedTuple):
    low: Vector
    high: Vector
    step: float


def _grid_extent(shape: Matrix) -> _GridExtent:
    margin = _GRID_MARGIN * np.ptp(shape, axis=0).max()
    low, high = shape.min(axis=0) - margin, shape.max(axis=0) + margin
    step = float(max(high - low)) / _GRID_LINES
    counts = np.maximum(np.ceil((high - low) / step - 1e-9), 1)
    middle, half = (low + high) / 2, counts * step / 2
    return _GridExtent(middle - half, middle + half, step)


def _checked_shapes(shapes: ArrayLike, what: str) -> NDArray[np.float64]:
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
    return points


def _checked_shape(shape: ArrayLike, what: str) -> Matrix:
    points = np.asarray(shape, dtype=np.float64)
    if points.ndim != 2:
        raise InputError(f"The {what} must be landmarks × 2 (or 3); got shape {points.shape}.")
    return _checked_shapes(points[None], what)[0]


def _planes(n_dimensions: int) -> tuple[Plane, ...]:
    return ((0, 1),) if n_dimensions == 2 else ((0, 1), (0, 2))


def _views(shapes: Coordinates) -> list[Matrix]:
    """Return the points of all shapes in each projection."""
    planes = _planes(shapes.shape[2])
    return [shapes[:, :, list(axes)].reshape(-1, 2) for axes in planes]


def _plane_shifts(views: list[Matrix]) -> Matrix:
    """Return what each projection is moved by, given all its points: the second goes below."""
    shifts = np.zeros((len(views), 2))
    if len(views) == 2:
        shifts[1, 1] = views[0][:, 1].min() - views[1][:, 1].max() - _NAME_ROOM * _extent(views)
    return shifts


def _extent(views: list[Matrix]) -> float:
    return max(float(np.ptp(points, axis=0).max()) for points in views)


def _projected(shapes: Coordinates, shifts: Matrix) -> Coordinates:
    """Return all projections of each specimen, one after the other along the landmarks."""
    planes = _planes(shapes.shape[2])
    views = [shapes[:, :, list(axes)] + shift for axes, shift in zip(planes, shifts, strict=True)]
    return np.concatenate(views, axis=1)


def _name_planes(ax: Axes, views: list[Matrix], shifts: Matrix) -> None:
    """Write above each projection of landmarks in space which axes it shows."""
    if len(views) < 2:
        return
    left = min(float(points[:, 0].min()) for points in views)
    for number, (points, shift) in enumerate(zip(views, shifts, strict=True), start=2):
        top = points[:, 1].max() + shift[1] + _NAME_GAP * _extent(views)
        ax.text(
            left, top, f"axes 1 and {number}", fontsize=8.5, color=ink(ax), ha="left", va="bottom"
        )


def _check_same_landmarks(expected: Matrix, found: Matrix, what: str) -> None:
    if len(found) != len(expected):
        raise InputError(
            f"The {what} must have {quantity(len(expected), 'landmark')}, as the others; got "
            f"{len(found)}."
        )
    if found.shape[1] != expected.shape[1]:
        raise InputError(
            f"The {what} must have {expected.shape[1]} coordinates per landmark, as the others; "
            f"got {found.shape[1]}."
        )
