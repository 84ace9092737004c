"""Rows as dots in a plane: which directions to look from, and rows far out kept in the picture."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D

from kernova.report.canvas import Entry, View, counted, legend_below, note_above
from kernova.typing import Matrix

# More dots than this only make a blot and a slow picture.
_MOST_DOTS: Final = 5000


class Plane:
    """The first two principal components of some rows."""

    def __init__(self, rows: Matrix) -> None:
        from sklearn.decomposition import PCA

        self.shares = np.zeros(2)
        self.origin = rows.mean(axis=0)
        self.directions = np.zeros((2, rows.shape[1]))
        n_components = min(2, *rows.shape)
        self.directions[:n_components] = np.eye(rows.shape[1])[:n_components]
        if np.ptp(rows, axis=0).any():  # without variance no direction is first
            fitted = PCA(n_components, random_state=0).fit(rows)
            self.shares[:n_components] = fitted.explained_variance_ratio_
            self.directions[:n_components] = fitted.components_

    def place(self, rows: Matrix) -> Matrix:
        """Give the rows' places in the plane."""
        placed: Matrix = (rows - self.origin) @ self.directions.T
        return placed

    def axis_labels(self) -> list[str]:
        """Name both axes, and say how much of the variance each shows."""
        return [
            f"principal component {order} ({100 * share:.0f} % of variance)"
            for order, share in enumerate(self.shares, start=1)
        ]


def draw_crowd(ax: Axes, rows: Matrix, views: list[View], colour: str, label: str) -> Entry:
    """Draw many rows as small dots, fainter the more there are; at most a sample of them."""
    words = counted(len(rows), f"{label} row")
    if len(rows) > _MOST_DOTS:
        kept = np.random.default_rng(0).choice(len(rows), _MOST_DOTS, replace=False)
        rows = rows[np.sort(kept)]
        words += f", {_MOST_DOTS:,} of them drawn"
    crowd = np.sqrt(len(rows) / _MOST_DOTS)
    size, alpha = 15 - 9 * crowd, 0.85 - 0.5 * crowd
    x, y = at_the_edge(rows, views).T
    ax.scatter(x, y, s=size, color=colour, alpha=alpha, linewidths=0, zorder=2)
    # The legend's dot is always dark and large enough to be seen.
    return Line2D([], [], linestyle="", marker="o", markersize=4, color=colour), words


def draw_marked(
    ax: Axes, rows: Matrix, views: list[View], marker: str, colour: str
) -> PathCollection:
    """Draw few rows so that each is seen."""
    x, y = at_the_edge(rows, views).T
    size = 55 if len(rows) <= 200 else 28
    return ax.scatter(
        x,
        y,
        s=size,
        marker=marker,
        color=colour,
        edgecolors="white",
        linewidths=0.7,
        zorder=3,
        clip_on=False,
    )


def at_the_edge(rows: Matrix, views: list[View]) -> Matrix:
    """Bring rows that are out of view to the edge, where they can be seen."""
    lows, highs = np.transpose(views)
    return np.clip(rows, lows, highs)


def finish_plane(ax: Axes, views: list[View], rows: Matrix, entries: Sequence[Entry]) -> None:
    """Bound the axes, say what lies beyond them, and put the legend below."""
    ax.set_xlim(*views[0])
    ax.set_ylim(*views[1])
    n_beyond = int(np.count_nonzero((at_the_edge(rows, views) != rows).any(axis=1)))
    if n_beyond:
        verb = "lies" if n_beyond == 1 else "lie"
        note_above(ax, f"{counted(n_beyond, 'row')} {verb} further out, drawn at the edge")
    legend_below(ax, entries)
