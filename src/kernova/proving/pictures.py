"""Pictures of a suite: questions by problem, over problems, and the courses of runs."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kernova.proving.comparison import NOTHING, RANDOM, by_strategy, told_by_strategy
from kernova.report.canvas import (
    LINE_COLOURS,
    MUTED,
    NEW,
    PERCENT,
    Entry,
    count_ticks,
    ink,
    label_axes,
    legend_below,
    new_axes,
)

# Besides the reference; more colours cannot be distinguished, and the others are grey.
_MOST_NAMED: Final = 5
_MARKERS: Final = "sD^vP"
_LINE_INCHES: Final = 0.21
_RATIOS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50)


def named_strategies(overall: pd.DataFrame, reference: str) -> list[str]:
    """Return the strategies with a colour: the reference, and the best told nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.proving.pictures import named_strategies
    >>> lines = {"strategy": ["a", "b"], "told": "nothing", "to_random": [0.4, 0.3]}
    >>> named_strategies(pd.DataFrame(lines), "a")
    ['a', 'b']
    """
    lines = overall[(overall["told"] == NOTHING) & overall["to_random"].notna()]
    ordered = lines.sort_values("to_random", kind="stable")["strategy"].tolist()
    others = [name for name in ordered if name not in (reference, RANDOM)]
    return [reference, *others[:_MOST_NAMED]]


def problems_picture(means: pd.DataFrame, named: Sequence[str]) -> Figure:
    """Draw for each problem the questions of each strategy relative to random sampling.

    Parameters
    ----------
    means : DataFrame
        The table of :func:`~kernova.proving.comparison.means_by_problem`.
    named : sequence of str
        Strategies with a colour, the reference first; others that are told nothing are grey.
    """
    wide = by_strategy(means, "questions")
    ratios = wide.div(wide[RANDOM], axis=0).sort_values(named[0], ascending=False, kind="stable")
    heights = np.arange(len(ratios))
    ax = new_axes(7.6, 2.2 + _LINE_INCHES * len(ratios))
    told = told_by_strategy(means)
    grey = [
        name for name in map(str, ratios) if told[name] == NOTHING and name not in (*named, RANDOM)
    ]
    for name in grey:
        ax.plot(ratios[name], heights, "o", color=MUTED, alpha=0.45, markersize=3.5)
    entries: list[Entry] = []
    for place, name in reversed(list(enumerate(named))):
        (dots,) = ax.plot(ratios[name], heights, linestyle="", **_look(place))
        entries.insert(0, (dots, name))
    if grey:
        (dots,) = ax.plot([], [], "o", color=MUTED, alpha=0.45, markersize=3.5)
        entries.append((dots, "others that are told nothing"))
    ax.axvline(1, color=ink(ax), linewidth=0.8, zorder=0)
    ax.set_yticks(heights, labels=list(ratios.index))
    ax.set_ylim(-0.7, len(ratios) - 0.3)
    ax.grid(axis="y", linewidth=0.3, color=MUTED, alpha=0.5)
    _finish(ax)
    label_axes(ax, "questions to all categories, relative to random sampling", "")
    legend_below(ax, entries)
    return _figure(ax)


def overall_picture(overall: pd.DataFrame, reference: str) -> Figure:
    """Draw geometric means over problems with their intervals, the best strategy on top."""
    lines = overall[overall["to_random"].notna()]
    lines = lines.sort_values("to_random", ascending=False, kind="stable", ignore_index=True)
    ax = new_axes(6.4, 1.6 + _LINE_INCHES * len(lines))
    for height, line in enumerate(lines.to_dict("records")):
        colour = NEW if line["strategy"] == reference else ink(ax)
        is_told = line["told"] != NOTHING
        ax.plot([line["to_random_low"], line["to_random_high"]], [height] * 2, color=colour)
        face = ax.get_facecolor() if is_told else colour
        ax.plot(line["to_random"], height, "o", color=colour, markerfacecolor=face)
    names = [_with_told(line) for line in lines.to_dict("records")]
    ax.set_yticks(np.arange(len(lines)), labels=names)
    ax.set_ylim(-0.7, len(lines) - 0.3)
    _finish(ax)
    label_axes(ax, "questions to all categories, relative to random sampling", "")
    return _figure(ax)


def courses_picture(courses: pd.DataFrame, named: Sequence[str]) -> Figure:
    """Draw the fraction of categories met against questions, geometric means over problems."""
    ax = new_axes(6.4, 5.2)
    entries = []
    for name, questions in courses.items():
        place = list(named).index(str(name)) if name in named else None
        look = {"color": MUTED, "linewidth": 1.2} if place is None else _look(place)
        (line,) = ax.plot(questions, courses.index, **look)
        entries.append((line, str(name)))
    ax.set_xscale("log")
    count_ticks(ax.xaxis, max(2, int(np.ceil(courses.to_numpy().max()))))
    ax.set_ylim(0, 1.03)
    ax.yaxis.set_major_formatter(PERCENT)
    ax.spines[["top", "right"]].set_visible(False)
    label_axes(ax, "questions asked", "categories met")
    legend_below(ax, entries)
    return _figure(ax)


def _look(place: int) -> dict[str, Any]:
    if place == 0:
        return {"color": NEW, "marker": "o", "markersize": 7, "zorder": 3}
    colours = [colour for colour in LINE_COLOURS if colour != "#d55e00"]  # too near the reference's
    return {"color": colours[place - 1], "marker": _MARKERS[place - 1], "markersize": 4.5}


def _with_told(line: dict[Any, Any]) -> str:
    return line["strategy"] if line["told"] == NOTHING else f"{line['strategy']} ({line['told']})"


def _finish(ax: Axes) -> None:
    """Make the axis of ratios logarithmic, with plain ticks."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(FixedLocator([tick for tick in _RATIOS if low <= tick <= high]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    ax.spines[["top", "right"]].set_visible(False)


def _figure(ax: Axes) -> Figure:
    assert isinstance(ax.figure, Figure)
    return ax.figure
