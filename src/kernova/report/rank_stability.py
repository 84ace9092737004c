"""Does the number of neighbours matter? Ranks over k, and how much of the top stays on top."""

from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.report.canvas import (
    KNOWN,
    MUTED,
    PERCENT,
    Matrix,
    Vector,
    count_ticks,
    counted,
    ink,
    note_above,
)
from kernova.report.rankings import LONGEST_NAME
from kernova.represent.value_words import shortened

Ranks = NDArray[np.intp]

# Lines with a name and a colour of their own, and how they are told apart.
_NAMED_LINES: Final = 12
_COLOURS: Final = ("#2b6ca3", "#c8501e", "#3a7d44", "#7b5aa6", "#a8781a", "#b8437a")
_STYLES: Final = ("-", "--")
# More lines without a name only make a blot.
_GREY_LINES: Final = 300
_MOST_TICKS: Final = 9


def rank_stability_figure(path: pd.DataFrame, *, n_top: int = 10) -> Figure:
    """Draw how the strangest rows' ranks change with the number of neighbours.

    A row that stays on top over a range of k is an outlier by any of them. One that is on top for
    a single k is an accident of that choice. Below stands, for each k, how many of the ``n_top``
    first rows are also among the first at the next smaller k: where it is near 100 %, the choice
    matters little.

    Parameters
    ----------
    path : DataFrame of shape (n_rows, number of k)
        Factors (high is strange), one column for each k, as
        :func:`~kernova.outlier_factor_path` gives them; the index names the rows.
    n_top : int, default=10
        Rows that are among so many first for some k are drawn. The twelve that are so most often
        are named.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import outlier_factor_path
    >>> from kernova.report.figures import rank_stability_figure
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> figure = rank_stability_figure(outlier_factor_path(X, [5, 10, 20, 40]), n_top=3)
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['rank (1 is the strangest)', 'first 3 kept']
    """
    numbers, ranks = _checked_path(path)
    if isinstance(n_top, bool) or not isinstance(n_top, int | np.integer) or n_top < 1:
        raise InputError(f"n_top must be a whole number of 1 or more; got {n_top!r}.")
    n_top = min(int(n_top), len(ranks))
    has_steps = len(numbers) > 1
    figure = Figure(figsize=(7.2, 5.6 if has_steps else 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    heights = {"height_ratios": [3.4, 1]} if has_steps else {}
    axes = np.atleast_1d(figure.subplots(1 + has_steps, sharex=True, gridspec_kw=heights))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xscale("log")
    names = [shortened(str(label), LONGEST_NAME) for label in path.index]
    _draw_ranks(axes[0], numbers, ranks, names, n_top)
    if has_steps:
        _draw_overlaps(axes[1], numbers, ranks, n_top)
    axes[-1].set_xlabel("number of neighbours, k")
    _number_ticks(axes[-1], numbers)
    return figure


def _checked_path(path: Any) -> tuple[Vector, Ranks]:
    """Give the numbers of neighbours, rising, and each row's rank at each; ties share a rank."""
    if not isinstance(path, pd.DataFrame):
        raise InputError(
            "The path must be a DataFrame of factors with a column for each k, as "
            f"outlier_factor_path gives it; got {type(path).__name__}."
        )
    factors = _factors_in(path)
    try:
        numbers = np.asarray(path.columns, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(1)
    if not ((numbers > 0).all() and np.isfinite(numbers).all()):
        raise InputError("The path's columns must be numbers of neighbours, all above 0.")
    order = np.argsort(numbers, kind="stable")
    ranks = np.empty(factors.shape, dtype=np.intp)
    for place, column in enumerate(order):
        falling = np.sort(-factors[:, column])
        ranks[:, place] = 1 + np.searchsorted(falling, -factors[:, column])
    return numbers[order], ranks


def _factors_in(path: pd.DataFrame) -> Matrix:
    """Give factors as numbers; only their order is drawn, so that none is too large."""
    try:
        factors = path.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("The path's factors must be numbers.") from None
    if 0 in factors.shape or np.isnan(factors).any():
        raise InputError("The path must hold at least one row and one k, and no missing factor.")
    return factors


def _draw_ranks(ax: Axes, numbers: Vector, ranks: Ranks, names: list[str], n_top: int) -> None:
    times_on_top = (ranks <= n_top).sum(axis=1)
    shown = np.flatnonzero(times_on_top)
    # The steadiest first, and of equals the strangest.
    shown = shown[np.lexsort((np.log(ranks[shown]).mean(axis=1), -times_on_top[shown]))]
    ax.set_yscale("log")
    for place in shown[_NAMED_LINES:][:_GREY_LINES]:
        ax.plot(numbers, ranks[place], color=MUTED, linewidth=0.7, alpha=0.5, zorder=1)
    ends = {}
    is_single = len(numbers) == 1
    for turn, place in enumerate(shown[:_NAMED_LINES]):
        colour = _COLOURS[turn % len(_COLOURS)]
        style = _STYLES[turn // len(_COLOURS)]
        many = len(numbers) > 2 * _MOST_TICKS
        ax.plot(numbers, ranks[place], style, color=colour, linewidth=1.6, zorder=3,
                marker=None if many else "o", markersize=6 if is_single else 4)  # fmt: skip
        ends[int(place)] = colour
    lowest = max(int(ranks[shown].max()), n_top)
    ax.set_ylim(1.25 * lowest, 0.8)
    ax.axhline(n_top + 0.5, color=ink(ax), linewidth=1, linestyle=":")
    count_ticks(ax.yaxis, lowest)
    _name_ends(ax, numbers, {place: int(ranks[place, -1]) for place in ends}, names, ends)
    ax.set_ylabel("rank (1 is the strangest)")
    n_named = min(len(shown), _NAMED_LINES)
    note = f"{counted(len(shown), 'row')} of {len(ranks):,} among the first {n_top} for some k"
    note_above(ax, note if n_named == len(shown) else f"{note}; the {n_named} steadiest named")


def _draw_overlaps(ax: Axes, numbers: Vector, ranks: Ranks, n_top: int) -> None:
    """Draw the share of the first rows that were also first at the next smaller k."""
    is_first = ranks <= n_top
    shares = [
        np.count_nonzero(before & after) / max(np.count_nonzero(before), np.count_nonzero(after))
        for before, after in zip(is_first.T[:-1], is_first.T[1:], strict=True)
    ]
    ax.plot(numbers[1:], shares, "o-", color=KNOWN, markersize=4, linewidth=1.2)
    ax.set_ylim(0, 1.08)
    ax.yaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
    ax.yaxis.set_major_formatter(PERCENT)
    ax.grid(axis="y", color=MUTED, alpha=0.3, linewidth=0.6)
    ax.set_ylabel(f"first {n_top} kept")


def _name_ends(
    ax: Axes, numbers: Vector, last: dict[int, int], names: list[str], colours: dict[int, str]
) -> None:
    """Write names to the right of the lines' ends, moved apart where they would overlap."""
    low, high = (float(np.log(end)) for end in sorted(ax.get_ylim()))
    gap = (high - low) / 20  # one line of small text
    places, spot = sorted(last, key=lambda place: last[place]), -np.inf
    for remaining, place in zip(range(len(places), 0, -1), places, strict=True):
        wanted = min(float(np.log(last[place])), high - gap * remaining)
        spot = max(wanted, spot + gap)
        ax.annotate(
            names[place],
            (numbers[-1], last[place]),
            xytext=(1.03, (high - spot) / (high - low)),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=colours[place],
            arrowprops={"arrowstyle": "-", "color": colours[place], "linewidth": 0.5},
            annotation_clip=False,
            parse_math=False,
        )


def _number_ticks(ax: Axes, numbers: Vector) -> None:
    """Write as many of the k as there is room for, the first and the last among them."""
    logs = np.log(numbers)
    wanted = np.linspace(logs[0], logs[-1], min(len(numbers), _MOST_TICKS))
    kept = np.unique([int(np.abs(logs - one).argmin()) for one in wanted])
    ax.xaxis.set_major_locator(FixedLocator(numbers[kept].tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:,.6g}"))
    if len(numbers) == 1:
        ax.set_xlim(numbers[0] / 1.5, numbers[0] * 1.5)
