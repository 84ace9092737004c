"""Pictures of recognised rows: a map of classes with unknown rows marked, a confusion table."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
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
    finite_matrix,
    label_axes,
    view_of,
)
from kernova.report.dots import Plane, at_the_edge, draw_crowd, draw_marked, finish_plane
from kernova.text import truncate_middle
from kernova.typing import Matrix

UNKNOWN: Final = "unknown"
# Told apart with any colour vision; the colour of what is new is kept for unknown rows.
_COLOURS: Final = (KNOWN, "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6b4f1d", "#5b3a91")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_CLASSES_IN_LEGEND: Final = 14
_CLASSES_WITH_NUMBERS: Final = 16
_LONGEST_NAME: Final = 18
_LEGEND_LINE: Final = 0.2  # inches
_SHARES: Final = LinearSegmentedColormap.from_list("shares", ["#ffffff", "#bcd4ea", KNOWN])


def plot_recognized(
    X_known: ArrayLike,
    X_new: ArrayLike,
    recognized: Sequence[Any],
    *,
    classes: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw new rows in the colour of their class, and unknown ones as crosses.

    Parameters
    ----------
    X_known : array-like of shape (n_known, n_features)
        The rows learnt from, drawn in grey; their first two principal components are the axes.
    X_new : array-like of shape (n_new, n_features)
        The rows recognised, of the same columns.
    recognized : sequence of length n_new
        The class of each new row; "unknown" where it is none of them.
    classes : sequence, default=None
        All classes, so that each keeps its colour in every picture; None takes those that occur.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.memberships import plot_recognized
    >>> known = np.random.default_rng(0).normal(size=(50, 3))
    >>> ax = plot_recognized(known, known[:3] + [0, 0, 9], ["carp", "pike", "unknown"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['50 known rows', 'carp: 1', 'pike: 1', 'unknown: 1']
    """
    known = finite_matrix(X_known, "known rows")
    new = finite_matrix(X_new, "new rows")
    if new.shape[1] != known.shape[1]:
        raise InputError(
            f"The new rows have {counted(new.shape[1], 'column')}, the known ones "
            f"{known.shape[1]}. Give both the same columns."
        )
    verdicts = _one_for_each(recognized, len(new))
    names = _names(verdicts, classes)
    plane = Plane(known)
    known, new = plane.place(known), plane.place(new)
    ax = _axes_above_legend(len(set(verdicts))) if ax is None else ax
    views = [view_of(known[:, axis], new[:, axis]).with_margin(0.12) for axis in range(2)]
    entries = [draw_crowd(ax, known, views, MUTED, "known")]
    entries += _draw_classes(ax, new, verdicts, names, views)
    finish_plane(ax, views, np.vstack([known, new]), entries)
    label_axes(ax, *plane.axis_labels())
    return ax


def plot_confusion(
    counts: ArrayLike, labels: Sequence[Any], verdicts: Sequence[Any], *, ax: Axes | None = None
) -> Axes:
    """Draw how often rows of each label get each verdict, as a share of the label's rows.

    Parameters
    ----------
    counts : array-like of shape (n_labels, n_verdicts)
        How many rows of each label got each verdict.
    labels, verdicts : sequences
        Their names.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from kernova.report.memberships import plot_confusion
    >>> ax = plot_confusion([[9, 1], [0, 3]], ["carp", "eel"], ["carp", "unknown"])
    >>> [text.get_text() for text in ax.texts]
    ['9', '1', '', '3']
    """
    table = finite_matrix(counts, "counts")
    if table.shape != (len(labels), len(verdicts)) or (table < 0).any():
        raise InputError(
            f"counts must hold a number from 0 on for each of {counted(len(labels), 'label')} and "
            f"{counted(len(verdicts), 'verdict')}; got shape {table.shape}."
        )
    ax = _axes_for_table(table.shape) if ax is None else ax
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    ax.imshow(shares, cmap=_SHARES, vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(verdicts)), [_short(name) for name in verdicts], rotation=45,
                  ha="right", rotation_mode="anchor", parse_math=False)  # fmt: skip
    ax.set_yticks(range(len(labels)), [_short(name) for name in labels], parse_math=False)
    if max(table.shape) <= _CLASSES_WITH_NUMBERS:
        _write_numbers(ax, table, shares)
    label_axes(ax, "recognised as", "label")
    return ax


def _one_for_each(recognized: Sequence[Any], n_rows: int) -> NDArray[np.object_]:
    if len(recognized) != n_rows:
        raise InputError(
            f"recognized must name a class for each of {counted(n_rows, 'new row')}; got "
            f"{len(recognized)}."
        )
    return np.array([str(name) for name in recognized], dtype=object)


def _names(verdicts: NDArray[np.object_], classes: Sequence[Any] | None) -> list[str]:
    if classes is None:
        return sorted(set(verdicts) - {UNKNOWN})
    names = [str(name) for name in classes]
    strange = sorted(set(verdicts) - {UNKNOWN, *names})
    if strange:
        raise InputError(f"{strange[0]!r} is recognised but is none of the classes; name them all.")
    return names


def _draw_classes(
    ax: Axes, new: Matrix, verdicts: NDArray[np.object_], names: list[str], views: list[View]
) -> list[Entry]:
    entries: list[Entry] = []
    n_unnamed = 0
    for place, name in enumerate(names):
        inside = verdicts == name
        if not inside.any():
            continue
        dots = _draw_class(ax, new[inside], views, place)
        if len(entries) < _CLASSES_IN_LEGEND:
            entries.append((dots, f"{_short(name)}: {inside.sum():,}"))
        else:
            n_unnamed += int(inside.sum())
    if n_unnamed:
        nothing = ax.scatter([], [], s=0)
        entries.append((nothing, f"other classes: {n_unnamed:,}"))
    is_unknown = verdicts == UNKNOWN
    if is_unknown.any():
        crosses = draw_marked(ax, new[is_unknown], views, "X", NEW)
        entries.append((crosses, f"{UNKNOWN}: {is_unknown.sum():,}"))
    return entries


def _draw_class(ax: Axes, rows: Matrix, views: list[View], place: int) -> PathCollection:
    x, y = at_the_edge(rows, views).T
    # Beside colours, shapes change with each round of colours.
    marker = _MARKERS[(place // len(_COLOURS)) % len(_MARKERS)]
    colour = _COLOURS[place % len(_COLOURS)]
    return ax.scatter(
        x, y, s=26 if len(rows) <= 300 else 14, marker=marker, color=colour, alpha=0.85,
        edgecolors="white", linewidths=0.4, zorder=2.5,
    )  # fmt: skip


def _axes_above_legend(n_entries: int) -> Axes:
    """Give axes on a figure high enough that a long legend does not press them flat."""
    ax = axes_or_new(None)
    assert isinstance(ax.figure, Figure)
    n_lines = math.ceil((min(n_entries, _CLASSES_IN_LEGEND + 2) + 1) / 2)
    width, height = ax.figure.get_size_inches()
    ax.figure.set_size_inches(width, height + _LEGEND_LINE * max(0, n_lines - 2))
    return ax


def _axes_for_table(shape: tuple[int, ...]) -> Axes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    n_labels, n_verdicts = shape
    width, height = min(3 + 0.5 * n_verdicts, 9.0), min(1.8 + 0.36 * n_labels, 9.0)
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    ax: Axes = figure.subplots()
    return ax


def _write_numbers(ax: Axes, table: Matrix, shares: Matrix) -> None:
    for (line, column), n in np.ndenumerate(table):
        ax.text(
            column, line, f"{n:,.0f}" if n else "", ha="center", va="center", fontsize=8,
            color="white" if shares[line, column] > 0.6 else "black",
        )  # fmt: skip


def _short(name: Any) -> str:
    return truncate_middle(str(name), _LONGEST_NAME)
