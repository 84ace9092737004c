"""Pictures of error rates between groups: a matrix of pairs, and one unknown against each group."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    LEGEND_LINE,
    MUTED,
    NEW,
    Entry,
    ink,
    label_axes,
    legend_below,
    new_axes,
    note_above,
)
from kernova.text import listed, quantity, truncate_middle
from kernova.typing import Matrix, Vector

__all__ = ["plot_error_rates", "plot_pair_errors"]

_LONGEST_NAME, _LONGEST_LINE = 28, 36  # of a cell, and of a line of its own
# In inches: a cell, all cells together, a letter of a name, and the colour bar with its label.
_CELL_WIDTH, _CELL_HEIGHT, _LEAST_CELLS, _MOST_CELLS = 0.5, 0.38, 1.1, 7.0
_LETTER, _ROOM_BAR = 0.085, 1.1
_LARGE_NAMES: Final = 20  # so many names are in large letters
_CELLS_WITH_NUMBERS: Final = 16
_CELLS_WITH_NAMES: Final = 60
_ROWS_WITH_BAR: Final = 5  # a smaller table has no room for a colour bar
# The error rate of chance, where colours end.
_CHANCE: Final = 0.5
_RATES: Final = LinearSegmentedColormap.from_list("rates", ["#ffffff", "#f3c9a8", NEW, "#5c2408"])
_NO_RATE: Final = "#e4e6ea"
# Rates of two directions that differ by less are one rate, rounded.
_ROUNDING: Final = 1e-9

_PAIR_COLUMNS: Final = ("known", "error", "error_low", "error_high", "novelty_error")
# Marks of one group stand above and below its line by this fraction of the distance of lines.
_APART: Final = 0.17
_DASHES: Final = (0, (4, 3))


def plot_error_rates(
    rates: ArrayLike,
    unknown: Sequence[Any],
    known: Sequence[Any],
    *,
    symmetric: bool = False,
    rate: str = "equal error rate",
    mark_above: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error rates of all pairs of groups as a matrix of coloured cells.

    Light cells are pairs that can be separated, dark ones are alike; 0.5 is chance.

    Parameters
    ----------
    rates : array-like of shape (n_unknown, n_known)
        Error rates from 0 to 1; NaN where there is none, as for a group against itself.
    unknown, known : sequences
        Names of the rows and of the columns.
    symmetric : bool, default=False
        Whether the rate of a pair has no direction, as that of a discriminant. Then rows and
        columns must be the same groups, and only the cells below the diagonal are drawn.
    rate : str, default="equal error rate"
        What the rates are called.
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
    table = _checked_rates(rates, unknown, known)
    rows, columns = [str(name) for name in unknown], [str(name) for name in known]
    is_drawn = np.full(table.shape, True)
    if symmetric:
        _check_symmetric(table, rows, columns)
        # The first row and the last column have no cell below the diagonal.
        table, rows, columns = table[1:, :-1], rows[1:], columns[:-1]
        is_drawn = np.tril(np.full(table.shape, True))
    shown = np.where(is_drawn, table, np.nan)
    if ax is None:
        ax = _axes_for(rows, columns)
    image = _draw_cells(ax, shown, is_drawn)
    _name_cells(ax, rows, columns)
    if max(table.shape) <= _CELLS_WITH_NUMBERS:
        _write_rates(ax, shown)
    if mark_above is not None:
        _frame(ax, shown > mark_above)
    is_legible = len(table) >= _ROWS_WITH_BAR
    if is_legible:
        _draw_bar(ax, image, rate)
    else:
        note_above(ax, f"{rate}: white 0, darkest 0.5 (chance)")
    if not symmetric:
        label_axes(ax, "known group", "held out as unknown" if is_legible else "")
    return ax


def plot_pair_errors(
    table: pd.DataFrame, *, unknown_name: str = "unknown", ax: Axes | None = None
) -> Axes:
    """Draw how well one unknown group is told from each known group.

    The discriminant knows specimens of both groups; the novelty test knows the known group alone,
    so that its error is mostly larger. At 0.5, which a line marks, the two groups are
    alike.

    Parameters
    ----------
    table : DataFrame
        One line per known group, drawn from top to bottom, with the columns ``known``, ``error``
        (of the discriminant), ``error_low`` and ``error_high`` (its interval) and
        ``novelty_error``. Rates lie from 0 to 1; NaN where there is none.
    unknown_name : str
        The name of the unknown group.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.report.pairs import plot_pair_errors
    >>> errors = pd.DataFrame({"known": ["a", "b"], "error": [0.02, 0.31], "error_low": [0.0, 0.2],
    ...                        "error_high": [0.1, 0.4], "novelty_error": [0.08, float("nan")]})
    >>> ax = plot_pair_errors(errors)
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['a', 'b']
    """
    names, rates = _checked_pairs(table)
    if ax is None:
        ax = new_axes(6.4, min(1.3 + 0.3 * len(names), 12.0) + 2 * LEGEND_LINE)
    ax.spines[["top", "right", "left"]].set_visible(False)
    places = np.arange(len(names), dtype=np.float64)
    ax.hlines(places, 0, 1, colors=MUTED, linewidths=0.6, alpha=0.35, zorder=1)
    ax.axvline(_CHANCE, color=ink(ax), linewidth=1.1, linestyle=_DASHES, zorder=1.5)
    entries = _draw_discriminant(ax, places, rates)
    entries += _draw_novelty(ax, places, rates[:, 3])
    for place in places[np.isnan(rates[:, [0, 3]]).all(axis=1)]:
        ax.text(
            0, place, "no rate", fontsize=8, color=ink(ax), va="center",
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1},
        )  # fmt: skip
    entries.append((Line2D([], [], color=ink(ax), linewidth=1.1, linestyle=_DASHES), "chance"))
    highest = float(np.nanmax(rates, initial=0))
    ax.set_xlim(-0.012, max(0.55, highest + 0.02))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_yticks(places, [truncate_middle(name, _LONGEST_LINE) for name in names])
    ax.tick_params(axis="y", length=0, labelsize=9 if len(names) <= 30 else 7)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    label_axes(ax, f"error rate, {truncate_middle(unknown_name, 40)} against each group", "")
    legend_below(ax, entries)
    return ax


def _checked_rates(rates: ArrayLike, unknown: Sequence[Any], known: Sequence[Any]) -> Matrix:
    table = np.asarray(rates, dtype=np.float64)
    if table.shape != (len(unknown), len(known)) or not table.size or not _are_rates(table):
        raise InputError(
            f"rates must hold a number from 0 to 1, or NaN, for each of "
            f"{quantity(len(unknown), 'unknown group')} and {quantity(len(known), 'known group')}; "
            f"got shape {table.shape}."
        )
    return table


def _are_rates(numbers: NDArray[np.float64]) -> bool:
    return bool((np.isnan(numbers) | ((numbers >= 0) & (numbers <= 1))).all())


def _check_symmetric(table: Matrix, rows: list[str], columns: list[str]) -> None:
    if rows != columns or len(rows) < 2:
        raise InputError(
            "A symmetric matrix of rates needs two or more groups, the same in rows and columns; "
            f"got rows {listed(rows)} and columns {listed(columns)}."
        )
    is_same = np.isclose(table, table.T, rtol=0, atol=_ROUNDING, equal_nan=True)
    if not is_same.all():
        first, second = np.argwhere(~is_same)[0]
        raise InputError(
            f"The rates are not symmetric: {table[first, second]:.4g} for {rows[first]} against "
            f"{rows[second]}, but {table[second, first]:.4g} for {rows[second]} against "
            f"{rows[first]}. Draw both with symmetric=False, or give their mean."
        )


def _axes_for(rows: Sequence[str], columns: Sequence[str]) -> Axes:
    """Return new axes, with room for the names beside and below the cells."""
    beside, below = (_room_for(names) for names in (rows, columns))
    wide = min(max(_CELL_WIDTH * len(columns), _LEAST_CELLS), _MOST_CELLS)
    tall = min(max(_CELL_HEIGHT * len(rows), _LEAST_CELLS), _MOST_CELLS)
    # Turned by 45 degrees, a name needs as much room to the left as below.
    return new_axes(wide + max(beside, 0.7 * below) + _ROOM_BAR, tall + 0.75 * below + 0.6)


def _room_for(names: Sequence[str]) -> float:
    """Return the length of the longest name, in inches."""
    if len(names) > _CELLS_WITH_NAMES:
        return 0.2
    longest = max(len(truncate_middle(name, _LONGEST_NAME)) for name in names)
    return 0.2 + longest * (_LETTER if len(names) <= _LARGE_NAMES else 0.6 * _LETTER)


def _draw_cells(ax: Axes, shown: Matrix, is_drawn: NDArray[np.bool_]) -> AxesImage:
    """Draw cells: grey where a pair has no rate, nothing where no pair is drawn."""
    if is_drawn.all():
        ax.set_facecolor(_NO_RATE)
    else:
        ax.spines[:].set_visible(False)
        for line, column in np.argwhere(is_drawn & np.isnan(shown)):
            ax.add_patch(_cell(line, column, facecolor=_NO_RATE, linewidth=0, zorder=0))
        # White cells need an outline, or the triangle has no end.
        for line, column in np.argwhere(is_drawn):
            ax.add_patch(_cell(line, column, fill=False, edgecolor=MUTED, linewidth=0.4, zorder=2))
    return ax.imshow(shown, cmap=_RATES, vmin=0, vmax=_CHANCE, aspect="auto")


def _cell(line: int, column: int, **style: Any) -> Rectangle:
    return Rectangle((column - 0.5, line - 0.5), 1, 1, **style)


def _draw_bar(ax: Axes, image: AxesImage, rate: str) -> None:
    beside = ax.inset_axes((1.02, 0, 0.025, 1))
    bar = ax.figure.colorbar(image, cax=beside)
    bar.set_label(f"{rate} (0.5 is chance)")
    bar.outline.set_visible(False)


def _name_cells(ax: Axes, unknown: Sequence[str], known: Sequence[str]) -> None:
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
            [truncate_middle(name, _LONGEST_NAME) for name in names],
            fontsize=10 if len(names) <= _LARGE_NAMES else 6, parse_math=False, **turned,
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
        ax.add_patch(_cell(line, column, fill=False, edgecolor=KNOWN, linewidth=1.8, zorder=3))


class _Pairs(NamedTuple):
    names: list[str]
    rates: Matrix  # the last four columns of the table


def _checked_pairs(table: pd.DataFrame) -> _Pairs:
    missing = [name for name in _PAIR_COLUMNS if name not in table.columns]
    if missing:
        raise InputError(
            f"The table of error rates lacks {listed(missing)}. It needs the columns "
            f"{listed(_PAIR_COLUMNS)}."
        )
    if not len(table):
        raise InputError("There are no error rates. Give a table of at least one known group.")
    rates = table[list(_PAIR_COLUMNS[1:])].to_numpy(dtype=np.float64)
    error, low, high = rates[:, :3].T
    # NaN compares false: a rate without an interval is drawn without one.
    is_bad = ((rates < 0) | (rates > 1)).any(axis=1) | (low > error) | (high < error)
    names = [str(name) for name in table["known"]]
    if is_bad.any():
        raise InputError(
            "Error rates must lie from 0 to 1, or be NaN, and error between error_low and "
            f"error_high; those of {names[int(is_bad.argmax())]} do not."
        )
    return _Pairs(names, rates)


def _draw_discriminant(ax: Axes, places: Vector, rates: Matrix) -> list[Entry]:
    """Draw the discriminant's error as a dot with its interval, above the line of the group."""
    error, low, high = rates[:, :3].T
    at = places - _APART
    ax.hlines(at, low, high, colors=KNOWN, linewidths=2.2, alpha=0.55, zorder=2)
    ax.scatter(error, at, s=26, color=KNOWN, zorder=3)
    mark = Line2D([], [], color=KNOWN, linewidth=2.2, marker="o", markersize=5)
    return [(mark, "discriminant, with the interval of its error")]


def _draw_novelty(ax: Axes, places: Vector, rates: Vector) -> list[Entry]:
    """Draw the error of the novelty test as an open mark, below the line of the group."""
    if np.isnan(rates).all():
        return []
    style: dict[str, Any] = {"marker": "D", "facecolors": "white", "edgecolors": NEW}
    ax.scatter(rates, places + _APART, s=24, linewidths=1.4, zorder=3, **style)
    mark = Line2D(
        [], [], linestyle="", marker="D", markersize=4.5, markerfacecolor="white",
        markeredgecolor=NEW, markeredgewidth=1.4,
    )  # fmt: skip
    return [(mark, "novelty test, which knows that group alone")]
