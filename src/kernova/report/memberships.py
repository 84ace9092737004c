"""Pictures of recognised rows: a map with their classes, a confusion matrix, probabilities."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError, quoted
from kernova.report.canvas import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    KNOWN,
    MUTED,
    NEW,
    Entry,
    View,
    axes_above_legend,
    axes_or_new,
    finite_matrix,
    label_axes,
    legend_below,
    new_axes,
)
from kernova.report.planes import (
    clip_to_views,
    draw_background,
    draw_marked,
    finish_plane,
    place_rows,
    plane_views,
)
from kernova.text import percent, quantity, truncate_middle
from kernova.typing import Indices, Matrix, Vector

UNKNOWN: Final = "unknown"
_CLASSES_IN_LEGEND: Final = 14
_CLASSES_WITH_NUMBERS: Final = 16
_LONGEST_NAME: Final = 18
_BINS: Final = 10
_FRACTIONS: Final = LinearSegmentedColormap.from_list("fractions", ["#ffffff", "#bcd4ea", KNOWN])


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
        The training rows, drawn in grey; their first two principal components are the axes.
    X_new : array-like of shape (n_new, n_features)
        The recognised rows, with the same columns.
    recognized : sequence of length n_new
        The class of each new row, or "unknown".
    classes : sequence, default=None
        All classes, so that each keeps its colour in every picture; None takes those that occur.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.memberships import plot_recognized
    >>> known = np.eye(5, 3).repeat(10, axis=0)
    >>> ax = plot_recognized(known, known[:3] + [0, 0, 9], ["carp", "pike", "unknown"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['50 known rows', 'carp: 1', 'pike: 1', 'unknown: 1']
    """
    plane, known, new = place_rows(X_known, X_new)
    verdicts = _check_verdicts(recognized, len(new))
    names = _class_names(verdicts, classes)
    ax = axes_above_legend(_extra_legend_lines(len(set(verdicts)))) if ax is None else ax
    views = plane_views(known, new)
    entries = [draw_background(ax, known, views, MUTED, "known")]
    entries += _draw_classes(ax, new, verdicts, names, views)
    finish_plane(ax, views, np.vstack([known, new]), entries)
    label_axes(ax, *plane.axis_labels())
    return ax


def plot_confusion(
    counts: ArrayLike, labels: Sequence[Any], verdicts: Sequence[Any], *, ax: Axes | None = None
) -> Axes:
    """Draw how often rows of each label get each verdict, as a fraction of the label's rows.

    Parameters
    ----------
    counts : array-like of shape (n_labels, n_verdicts)
        The number of rows of each label with each verdict.
    labels, verdicts : sequences
        Their names.
    ax : Axes, default=a new figure

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
            f"counts must hold a number from 0 on for each of {quantity(len(labels), 'label')} and "
            f"{quantity(len(verdicts), 'verdict')}; got shape {table.shape}."
        )
    if ax is None:
        ax = new_axes(min(3 + 0.5 * len(verdicts), 9.0), min(1.8 + 0.36 * len(labels), 9.0))
    fractions = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    ax.imshow(fractions, cmap=_FRACTIONS, vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(verdicts)), [_short(name) for name in verdicts], rotation=45,
                  ha="right", rotation_mode="anchor", parse_math=False)  # fmt: skip
    ax.set_yticks(range(len(labels)), [_short(name) for name in labels], parse_math=False)
    if max(table.shape) <= _CLASSES_WITH_NUMBERS:
        _write_counts(ax, table, fractions)
    label_axes(ax, "recognised as", "label")
    return ax


def plot_probabilities(
    probabilities: ArrayLike, is_right: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how many rows have which probability of their class, and how many of them are right.

    Parameters
    ----------
    probabilities : array-like of shape (n_rows,)
        The probability of each row's class, from 0 to 1.
    is_right : array-like of bool of shape (n_rows,), default=None
        Whether the class is right; None if that is not known. Above each bar then stands the
        percentage that is right, which should be that below the bar.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> from kernova.report.memberships import plot_probabilities
    >>> ax = plot_probabilities([0.95, 0.97, 0.91, 0.62], [True, True, False, True])
    >>> [text.get_text() for text in ax.texts]
    ['100 %', '67 %']
    """
    values = _check_probabilities(probabilities)
    ax = axes_or_new(ax)
    bins = np.minimum((values * _BINS).astype(np.intp), _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    places = (np.arange(_BINS) + 0.5) / _BINS
    if is_right is None:
        ax.bar(places, counts, 0.9 / _BINS, color=KNOWN)
    else:
        _draw_right_and_wrong(ax, places, counts, _right_counts(is_right, bins))
    ax.set_xlim(0, 1)
    ax.set_xticks(np.arange(0, 11, 2) / 10)
    label_axes(ax, "probability of the class", "rows")
    return ax


def _draw_right_and_wrong(ax: Axes, places: Vector, counts: Indices, right: Indices) -> None:
    width = 0.9 / _BINS
    drawn = [
        (ax.bar(places, right, width, color=KNOWN), f"right: {right.sum():,}"),
        (
            ax.bar(places, counts - right, width, bottom=right, color=NEW),
            f"wrong: {(counts - right).sum():,}",
        ),
    ]
    for place, n, n_right in zip(places, counts, right, strict=True):
        if n:
            ax.annotate(
                percent(n_right / n), (place, n), (0, 3), textcoords="offset points", ha="center",
                fontsize=8,
            )  # fmt: skip
    legend_below(ax, drawn)


def _check_probabilities(probabilities: ArrayLike) -> Vector:
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(
            f"probabilities must hold a number from 0 to 1 for each row; got shape {values.shape} "
            f"and values from {values.min(initial=np.inf):g} to {values.max(initial=-np.inf):g}."
        )
    return values


def _right_counts(is_right: ArrayLike, bins: Indices) -> Indices:
    right = np.asarray(is_right, dtype=np.bool_)
    if right.shape != bins.shape:
        raise InputError(
            f"is_right must say of each of {quantity(len(bins), 'row')} whether it is right; got "
            f"shape {right.shape}."
        )
    return np.bincount(bins[right], minlength=_BINS)


def _check_verdicts(recognized: Sequence[Any], n_rows: int) -> NDArray[np.object_]:
    if len(recognized) != n_rows:
        raise InputError(
            f"recognized must name a class for each of {quantity(n_rows, 'new row')}; got "
            f"{len(recognized)}."
        )
    return np.array([str(name) for name in recognized], dtype=object)


def _class_names(verdicts: NDArray[np.object_], classes: Sequence[Any] | None) -> list[str]:
    if classes is None:
        return sorted(set(verdicts) - {UNKNOWN})
    names = [str(name) for name in classes]
    others = sorted(set(verdicts) - {UNKNOWN, *names})
    if others:
        raise InputError(
            f"{quoted(others[0])} is recognised but is none of the classes; name them all."
        )
    return names


def _draw_classes(
    ax: Axes, new: Matrix, verdicts: NDArray[np.object_], names: list[str], views: list[View]
) -> list[Entry]:
    entries: list[Entry] = []
    n_unnamed = 0
    for index, name in enumerate(names):
        inside = verdicts == name
        if not inside.any():
            continue
        dots = _draw_class(ax, new[inside], views, index)
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


def _draw_class(ax: Axes, rows: Matrix, views: list[View], index: int) -> PathCollection:
    x, y = clip_to_views(rows, views).T
    # The marker changes when all colours are used.
    marker = CLASS_MARKERS[(index // len(CLASS_COLOURS)) % len(CLASS_MARKERS)]
    colour = CLASS_COLOURS[index % len(CLASS_COLOURS)]
    return ax.scatter(
        x, y, s=26 if len(rows) <= 300 else 14, marker=marker, color=colour, alpha=0.85,
        edgecolors="white", linewidths=0.4, zorder=2.5,
    )  # fmt: skip


def _extra_legend_lines(n_entries: int) -> int:
    return math.ceil((min(n_entries, _CLASSES_IN_LEGEND + 2) + 1) / 2) - 2


def _write_counts(ax: Axes, table: Matrix, fractions: Matrix) -> None:
    for (line, column), n in np.ndenumerate(table):
        ax.text(
            column, line, f"{n:,.0f}" if n else "", ha="center", va="center", fontsize=8,
            color="white" if fractions[line, column] > 0.6 else "black",
        )  # fmt: skip


def _short(name: Any) -> str:
    return truncate_middle(str(name), _LONGEST_NAME)
