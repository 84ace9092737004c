"""Pictures of rows in a plane: depth contours over two columns, a map of many columns."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from kernova.calibration.bounds import finite_scores
from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    USUAL,
    Entry,
    View,
    axes_or_new,
    check_pair,
    counted,
    finite_matrix,
    ink,
    label_axes,
    view_of,
)
from kernova.report.dots import Plane, draw_crowd, draw_marked, finish_plane
from kernova.typing import Matrix

# Scores that differ by less, relative to their size, are the same.
_ROUNDING: Final = 1e-13
_MARGIN: Final = 0.12
_DARK: Final = "#14324d"
# Light throughout, so that dots stay visible on it.
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
        Known rows to show; None takes the ``reference_`` rows of the model.
    unknown : array-like of shape (n_unknown, 2), default=None
        Rows to mark with crosses.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    levels : int or sequence of float, default=10
        About how many contours, or at which scores.
    grid : int, default=150
        Points per side at which the model is asked for its score.
    feature_names : sequence of two str, default=None
        Names of the axes; None takes those of ``X`` or of the model.
    labels : sequence of two str
        What the legend calls the rows of ``X`` and the marked ones.

    Returns
    -------
    Axes

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
    known_rows = _as_the_model_knows(_reference_of(model) if X is None else X, model)
    known = _two_columns(known_rows, "known rows")
    strange = np.empty((0, 2))
    if unknown is not None:
        strange = _two_columns(_as_the_model_knows(unknown, model), "unknown rows")
    names = _axis_names(feature_names, known_rows, model)
    check_pair(labels)
    if grid < 2:
        raise InputError(f"grid must be at least 2 points per side; got {grid}.")

    ax = axes_or_new(ax)
    views = [view_of(known[:, axis], strange[:, axis]).with_margin(_MARGIN) for axis in range(2)]
    threshold = _draw_landscape(ax, model, views, levels, grid)
    entries = [draw_crowd(ax, known, views, _DARK, labels[0])]
    if len(strange):
        crosses = draw_marked(ax, strange, views, "X", NEW)
        entries.append((crosses, counted(len(strange), f"{labels[1]} row")))
    entries += threshold
    finish_plane(ax, views, np.vstack([known, strange]), entries)
    label_axes(ax, *names)
    return ax


def plot_map(
    X_known: ArrayLike, X_new: ArrayLike, is_novel: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw all rows on the two directions in which the known ones differ most.

    Parameters
    ----------
    X_known : array-like of shape (n_known, n_features)
        Known rows; their first two principal components are the axes.
    X_new : array-like of shape (n_new, n_features)
        New rows, of the same columns.
    is_novel : array-like of bool of shape (n_new,)
        Which of the new rows to mark.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Notes
    -----
    A row can be novel by what it differs in along other directions, and then lie among the known
    ones here. The axes say how much of the known rows' variance they show.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_map
    >>> known = np.random.default_rng(0).normal(size=(200, 5)) * [3, 1, 0, 0, 0]
    >>> ax = plot_map(known, [[0, 0, 0, 0, 0], [9, 9, 0, 0, 0]], [False, True])
    >>> ax.get_xlabel()
    'principal component 1 (89 % of variance)'
    """
    known = finite_matrix(X_known, "known rows")
    new = finite_matrix(X_new, "new rows")
    if new.shape[1] != known.shape[1]:
        raise InputError(
            f"The new rows have {counted(new.shape[1], 'column')}, the known ones "
            f"{known.shape[1]}. Give both the same columns."
        )
    marked = _verdicts(is_novel, len(new))
    plane = Plane(known)
    known, new = plane.place(known), plane.place(new)

    ax = axes_or_new(ax)
    views = [view_of(known[:, axis], new[:, axis]).with_margin(_MARGIN) for axis in range(2)]
    entries = [draw_crowd(ax, known, views, MUTED, "known")]
    for rows, marker, colour, word in (
        (new[~marked], "o", USUAL, "usual"),
        (new[marked], "X", NEW, "novel"),
    ):
        if len(rows):
            dots = draw_marked(ax, rows, views, marker, colour)
            entries.append((dots, f"{counted(len(rows), 'new row')}, {word}"))
    finish_plane(ax, views, np.vstack([known, new]), entries)
    label_axes(ax, *plane.axis_labels())
    return ax


def _draw_landscape(
    ax: Axes, model: Any, views: list[View], levels: int | Sequence[float], grid: int
) -> list[Entry]:
    """Draw the scores as contours; give the threshold's entry in the legend, if it has one."""
    across, up = (np.linspace(*view, grid) for view in views)
    points = np.column_stack([side.ravel() for side in np.meshgrid(across, up)])
    scores = _scores_at(model, points).reshape(grid, grid)
    offset = getattr(model, "offset_", None)
    is_flat = _is_flat(scores, offset)
    if not is_flat:
        filled = ax.contourf(across, up, scores, levels, cmap=_DEPTHS)
        ax.contour(filled, colors=KNOWN, linewidths=0.4, alpha=0.6)
        beside = ax.inset_axes((1.03, 0, 0.045, 1))  # as high as the axes, whatever their shape
        bar = ax.figure.colorbar(filled, cax=beside)
        bar.set_label("score (high is usual)")
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
    """Tell rounding errors from a landscape."""
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
    if names is not None:  # scikit-learn warns when a model that knows names is given none
        import pandas as pd

        queries = pd.DataFrame(points, columns=names)
    return finite_scores(model.score_samples(queries), f"scores that {kind} gives")


def _reference_of(model: Any) -> Any:
    for holder in (model, getattr(model, "estimator_", None)):
        reference = getattr(holder, "reference_", None)
        if reference is not None:
            return reference
    raise InputError(
        f"{type(model).__name__} does not keep the rows it learnt from. Give the known rows as X."
    )


def _as_the_model_knows(rows: Any, model: Any) -> Any:
    """Take the model's own columns, in its order, from a table with names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(rows, "columns"):
        return rows
    missing = [str(name) for name in names if name not in rows.columns]
    if missing:
        raise InputError(
            f"The rows lack what the model was fitted on: {', '.join(missing)}. "
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
            f"is_novel must be True or False for each of the {counted(n_rows, 'new row')}; "
            f"got {verdicts.dtype} values of shape {verdicts.shape}."
        )
    return verdicts
