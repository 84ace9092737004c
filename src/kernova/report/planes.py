"""Pictures of rows in a plane: contours of a detector, and maps of principal components."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from kernova.calibration.bounds import finite_scores
from kernova.errors import InputError
from kernova.report.canvas import (
    INLIER,
    KNOWN,
    MUTED,
    NEW,
    Entry,
    View,
    axes_or_new,
    check_two_labels,
    finite_matrix,
    ink,
    label_axes,
    legend_below,
    note_above,
    view_of,
)
from kernova.text import percent, plural, quantity
from kernova.typing import Matrix

# More dots merge into one blot and make the picture slow.
_MAX_DOTS: Final = 5000


class Plane:
    """The plane of the first two principal components of some rows.

    ``explained`` are the fractions of the variance that they explain.
    """

    def __init__(self, rows: Matrix) -> None:
        from sklearn.decomposition import PCA

        self.explained = np.zeros(2)
        self.origin = rows.mean(axis=0)
        self.directions = np.zeros((2, rows.shape[1]))
        n_components = min(2, *rows.shape)
        self.directions[:n_components] = np.eye(rows.shape[1])[:n_components]
        if np.ptp(rows, axis=0).any():  # without variance there are no components
            fitted = PCA(n_components, random_state=0).fit(rows)
            self.explained[:n_components] = fitted.explained_variance_ratio_
            self.directions[:n_components] = fitted.components_

    def place(self, rows: Matrix) -> Matrix:
        """Return the rows' coordinates in the plane."""
        placed: Matrix = (rows - self.origin) @ self.directions.T
        return placed

    def axis_labels(self) -> list[str]:
        """Return labels for both axes, with the variance that each explains."""
        return [
            f"principal component {number} ({percent(fraction)} of variance)"
            for number, fraction in enumerate(self.explained, start=1)
        ]


class PlacedRows(NamedTuple):
    """Known and new rows in the plane of the known ones."""

    plane: Plane
    known: Matrix
    new: Matrix


def place_rows(X_known: ArrayLike, X_new: ArrayLike) -> PlacedRows:
    """Project known and new rows on the principal components of the known ones."""
    known = finite_matrix(X_known, "known rows")
    new = finite_matrix(X_new, "new rows")
    if new.shape[1] != known.shape[1]:
        raise InputError(
            f"The new rows have {quantity(new.shape[1], 'column')}, the known ones "
            f"{known.shape[1]}. Give both the same columns."
        )
    plane = Plane(known)
    return PlacedRows(plane, plane.place(known), plane.place(new))


def plane_views(main: Matrix, others: Matrix, margin: float = 0.12) -> list[View]:
    """Return the views of both axes; see :func:`~kernova.report.canvas.view_of`."""
    return [view_of(main[:, axis], others[:, axis]).with_margin(margin) for axis in range(2)]


def sample_rows(rows: Matrix, most: int) -> Matrix:
    """Return the rows, or a random sample of them in the same order."""
    if len(rows) <= most:
        return rows
    kept = np.random.default_rng(0).choice(len(rows), most, replace=False)
    return rows[np.sort(kept)]


def draw_background(ax: Axes, rows: Matrix, views: list[View], colour: str, label: str) -> Entry:
    """Draw many rows as small dots, fainter the more there are; at most a random sample."""
    text = with_number_drawn(quantity(len(rows), f"{label} row"), len(rows))
    rows = sample_rows(rows, _MAX_DOTS)
    density = np.sqrt(len(rows) / _MAX_DOTS)
    size, alpha = 15 - 9 * density, 0.85 - 0.5 * density
    x, y = clip_to_views(rows, views).T
    ax.scatter(x, y, s=size, color=colour, alpha=alpha, linewidths=0, zorder=2)
    # The legend's dot is always dark and large enough to be seen.
    return Line2D([], [], linestyle="", marker="o", markersize=4, color=colour), text


def draw_marked(
    ax: Axes, rows: Matrix, views: list[View], marker: str, colour: str
) -> PathCollection:
    """Draw few rows as large marks; of very many, a random sample."""
    rows = sample_rows(rows, _MAX_DOTS)
    x, y = clip_to_views(rows, views).T
    size = 55 if len(rows) <= 200 else 28
    return ax.scatter(
        x, y, s=size, marker=marker, color=colour, edgecolors="white", linewidths=0.7, zorder=3,
        clip_on=False,
    )  # fmt: skip


def with_number_drawn(text: str, n_rows: int) -> str:
    """Add to a text of the legend how many rows are drawn, unless all are."""
    return text if n_rows <= _MAX_DOTS else f"{text}, {_MAX_DOTS:,} of them drawn"


def clip_to_views(rows: Matrix, views: list[View]) -> Matrix:
    """Move rows outside the views to their edges, so that they can be seen."""
    lows, highs = np.transpose(views)
    return np.clip(rows, lows, highs)


def finish_plane(ax: Axes, views: list[View], rows: Matrix, entries: Sequence[Entry]) -> None:
    """Limit the axes, note how many rows lie beyond them, and draw the legend below."""
    ax.set_xlim(*views[0])
    ax.set_ylim(*views[1])
    n_beyond = int(np.count_nonzero((clip_to_views(rows, views) != rows).any(axis=1)))
    if n_beyond:
        verb = plural(n_beyond, "lies", "lie")
        note_above(ax, f"{quantity(n_beyond, 'row')} {verb} farther out, drawn at the edge")
    legend_below(ax, entries)


# Scores that differ by less, relative to their size, are equal.
_ROUNDING: Final = 1e-13
_DARK: Final = "#14324d"
# Light colours, so that dots stay visible.
_DEPTHS: Final = LinearSegmentedColormap.from_list("depths", ["#ffffff", "#d4e4f2", "#7fb0d9"])


def plot_depth_contours(
    model: Any,
    X: ArrayLike | None = None,
    *,
    unknown: ArrayLike | None = None,
    ax: Axes | None = None,
    levels: int | Sequence[float] = 10,
    grid: int = 150,
    feature_names: Sequence[str] | None = None,
    labels: Sequence[str] = ("known", "unknown"),
) -> Axes:
    """Draw a detector's scores over the plane, with the rows and the threshold.

    Parameters
    ----------
    model : estimator
        A detector fitted on two columns, with ``score_samples``. Its ``offset_``, if it has one,
        is drawn as the threshold.
    X : array-like of shape (n_rows, 2), default=None
        Known rows; None takes the ``reference_`` rows of the model.
    unknown : array-like of shape (n_unknown, 2), default=None
        Rows to mark with crosses.
    ax : Axes, default=a new figure
    levels : int or sequence of float, default=10
        The approximate number of contours, or their scores.
    grid : int, default=150
        The number of points per side at which the score is evaluated.
    feature_names : sequence of two str, default=None
        Labels of the axes; None takes the names in ``X`` or in the model.
    labels : sequence of two str
        Labels of the rows of ``X`` and of the marked ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import KernelSpatialDepth
    >>> from kernova.report.figures import plot_depth_contours
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> ax = plot_depth_contours(KernelSpatialDepth().fit(X), grid=20, feature_names=["a", "b"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('a', 'b')
    """
    known_rows = _model_columns(_reference_of(model) if X is None else X, model)
    known = _two_columns(known_rows, "known rows")
    crosses = np.empty((0, 2))
    if unknown is not None:
        crosses = _two_columns(_model_columns(unknown, model), "unknown rows")
    names = _axis_names(feature_names, known_rows, model)
    check_two_labels(labels)
    if grid < 2:
        raise InputError(f"grid must be at least 2 points per side; got {grid}.")

    ax = axes_or_new(ax)
    views = plane_views(known, crosses)
    threshold = _draw_contours(ax, model, views, levels, grid)
    entries = [draw_background(ax, known, views, _DARK, labels[0])]
    if len(crosses):
        drawn = draw_marked(ax, crosses, views, "X", NEW)
        text = quantity(len(crosses), f"{labels[1]} row")
        entries.append((drawn, with_number_drawn(text, len(crosses))))
    entries += threshold
    finish_plane(ax, views, np.vstack([known, crosses]), entries)
    label_axes(ax, *names)
    return ax


def plot_map(
    X_known: ArrayLike, X_new: ArrayLike, is_novel: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw all rows on the first two principal components of the known ones.

    Parameters
    ----------
    X_known : array-like of shape (n_known, n_features)
        Known rows.
    X_new : array-like of shape (n_new, n_features)
        New rows, with the same columns.
    is_novel : array-like of bool of shape (n_new,)
        Which of the new rows to mark.
    ax : Axes, default=a new figure

    Notes
    -----
    A row can be novel because of other directions, and then lie among the known ones here. The
    axes are labelled with the variance of the known rows that they explain.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_map
    >>> known = np.random.default_rng(0).normal(size=(200, 5)) * [3, 1, 0, 0, 0]
    >>> ax = plot_map(known, [[0, 0, 0, 0, 0], [9, 9, 0, 0, 0]], [False, True])
    >>> ax.get_xlabel()
    'principal component 1 (89 % of variance)'
    """
    plane, known, new = place_rows(X_known, X_new)
    marked = _verdicts(is_novel, len(new))
    ax = axes_or_new(ax)
    views = plane_views(known, new)
    entries = [draw_background(ax, known, views, MUTED, "known")]
    for rows, marker, colour, verdict in (
        (new[~marked], "o", INLIER, "usual"),
        (new[marked], "X", NEW, "novel"),
    ):
        if len(rows):
            dots = draw_marked(ax, rows, views, marker, colour)
            text = f"{quantity(len(rows), 'new row')}, {verdict}"
            entries.append((dots, with_number_drawn(text, len(rows))))
    finish_plane(ax, views, np.vstack([known, new]), entries)
    label_axes(ax, *plane.axis_labels())
    return ax


def _draw_contours(
    ax: Axes, model: Any, views: list[View], levels: int | Sequence[float], grid: int
) -> list[Entry]:
    """Draw the scores as contours; return the threshold's entry of the legend, if any."""
    across, up = (np.linspace(*view, grid) for view in views)
    points = np.column_stack([side.ravel() for side in np.meshgrid(across, up)])
    scores = _scores_at(model, points).reshape(grid, grid)
    offset = getattr(model, "offset_", None)
    is_flat = _is_flat(scores, offset)
    if not is_flat:
        filled = ax.contourf(across, up, scores, levels, cmap=_DEPTHS)
        ax.contour(filled, colors=KNOWN, linewidths=0.4, alpha=0.6)
        beside = ax.inset_axes((1.03, 0, 0.045, 1))  # as high as the axes
        bar = ax.figure.colorbar(filled, cax=beside)
        bar.set_label("score (high is typical)")
        bar.outline.set_visible(False)
    if offset is None:
        return []
    threshold = float(np.squeeze(offset))
    line = Line2D([], [], color=ink(ax), linewidth=2)
    if is_flat or not scores.min() < threshold < scores.max():
        extent = "all" if scores.max() < threshold else "nothing"
        return [(line, f"threshold {threshold:.4g}: {extent} in view is novel")]
    drawn = ax.contour(
        across, up, scores, [threshold], colors=[ink(ax)], linewidths=2, linestyles="solid"
    )
    labels = ax.clabel(drawn, fmt="threshold", fontsize=8)
    for label in labels or ():
        label.set_path_effects([withStroke(linewidth=3, foreground="white")])
    return [(line, f"threshold {threshold:.4g}: novel where lower")]


def _is_flat(scores: NDArray[np.float64], offset: Any) -> bool:
    """Return whether the scores differ only by rounding errors."""
    scale = max(float(np.abs(scores).max()), abs(float(np.squeeze(offset or 0.0))))
    return bool(np.ptp(scores) <= _ROUNDING * scale)


def _scores_at(model: Any, points: Matrix) -> NDArray[np.float64]:
    kind = type(model).__name__
    if not hasattr(model, "score_samples"):
        raise InputError(
            f"{kind} has no score_samples, so there are no contours to draw. "
            "Give a detector that has it, such as CalibratedDetector."
        )
    names = getattr(model, "feature_names_in_", None)
    queries: Any = points
    if names is not None:  # scikit-learn warns if a model fitted with names gets none
        import pandas as pd

        queries = pd.DataFrame(points, columns=names)
    return finite_scores(model.score_samples(queries), f"scores that {kind} gives")


def _reference_of(model: Any) -> Any:
    for holder in (model, getattr(model, "estimator_", None)):
        reference = getattr(holder, "reference_", None)
        if reference is not None:
            return reference
    raise InputError(
        f"{type(model).__name__} does not store its training rows. Give the known rows as X."
    )


def _model_columns(rows: Any, model: Any) -> Any:
    """Select the model's columns, in its order, from a table with names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(rows, "columns"):
        return rows
    missing = [str(name) for name in names if name not in rows.columns]
    if missing:
        raise InputError(
            f"The rows lack columns that the model was fitted on: {', '.join(missing)}. "
            "Give a table with these columns."
        )
    return rows[list(names)]


def _two_columns(rows: ArrayLike, what: str) -> Matrix:
    matrix = finite_matrix(rows, what)
    if matrix.shape[1] != 2:
        raise InputError(
            f"Contours need rows of 2 columns; the {what} have {matrix.shape[1]}. "
            "Choose two columns, or draw a map of all with plot_map."
        )
    return matrix


def _axis_names(given: Sequence[str] | None, rows: Any, model: Any) -> list[str]:
    candidates = (given, getattr(rows, "columns", None), getattr(model, "feature_names_in_", None))
    names = next((names for names in candidates if names is not None), ("column 1", "column 2"))
    if len(names) != 2:
        raise InputError(f"Give two names, one for each axis; got {len(names)}.")
    return [str(name) for name in names]


def _verdicts(is_novel: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
    verdicts = np.asarray(is_novel)
    if verdicts.shape != (n_rows,) or verdicts.dtype != np.bool_:
        raise InputError(
            f"is_novel must be True or False for each of the {quantity(n_rows, 'new row')}; "
            f"got {verdicts.dtype} values of shape {verdicts.shape}."
        )
    return verdicts
