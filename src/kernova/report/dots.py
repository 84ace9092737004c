"""Scatter plots of rows in a plane: principal components, views, and dots for many or few rows."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from kernova.errors import InputError
from kernova.report.canvas import (
    Entry,
    View,
    finite_matrix,
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
    text = quantity(len(rows), f"{label} row")
    if len(rows) > _MAX_DOTS:
        text += f", {_MAX_DOTS:,} of them drawn"
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
    """Draw few rows as large marks."""
    x, y = clip_to_views(rows, views).T
    size = 55 if len(rows) <= 200 else 28
    return ax.scatter(
        x, y, s=size, marker=marker, color=colour, edgecolors="white", linewidths=0.7, zorder=3,
        clip_on=False,
    )  # fmt: skip


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
