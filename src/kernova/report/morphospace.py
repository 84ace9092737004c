"""Pictures of groups of specimens: where they lie, and how well each pair is told apart."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    NEW,
    Entry,
    Matrix,
    View,
    axes_or_new,
    counted,
    finite_matrix,
    label_axes,
    note_above,
    view_of,
)
from kernova.report.dots import at_the_edge, draw_marked, finish_plane
from kernova.represent.value_words import shortened

# Told apart with any colour vision, and by their marks; the colour of what is new is kept for it.
_COLOURS: Final = (KNOWN, "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#6b4f1d")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_LONGEST_NAME: Final = 22
_LEGEND_LINE: Final = 0.2  # inches
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
    ax.figure.set_size_inches(width, height + _LEGEND_LINE * max(0, n_entries / 2 - 1))
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
            [shortened(str(name), _LONGEST_NAME) for name in names],
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
