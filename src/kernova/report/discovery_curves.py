"""Discovery curves: the number of classes found against the number of questions asked."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from kernova.errors import InputError, quoted
from kernova.report.canvas import (
    LINE_COLOURS,
    LINE_DASHES,
    MUTED,
    axes_or_new,
    count_ticks,
    label_axes,
    legend_below,
)
from kernova.typing import Vector

# Lines are shifted by this fraction of the axis, about their width, so that none hides another.
_SHIFT: Final = 0.0065
# More shaded bands cannot be distinguished.
_MAX_BANDS: Final = 4


def plot_discovery_curves(
    curves: Mapping[str, Sequence[ArrayLike]],
    n_classes: int,
    *,
    n_questions: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw classes found against questions asked, one line for each strategy.

    The line is the median of several runs; with up to four strategies, a shaded band reaches from
    the worst run to the best. A line ends with a dot where all classes have been found. Lines are
    shifted vertically by their own width, so that none hides another.

    Parameters
    ----------
    curves : mapping of str to sequence of array-like
        For each strategy one curve per run: classes found after 1, 2 ... questions. A curve that
        ends early is continued at its last value.
    n_classes : int
        The number of classes.
    n_questions : int, default=None
        The number of questions to show; None shows the longest curve.
    ax : Axes, default=a new figure

    Returns
    -------
    Axes

    Examples
    --------
    >>> from kernova.report.figures import plot_discovery_curves
    >>> ax = plot_discovery_curves({"random": [[1, 1, 2], [1, 2]], "hms-ci": [[1, 2]]}, 2)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['random: all found after 2.5 (2 to 3)', 'hms-ci: all found after 2']
    """
    runs = {name: [_checked(run, name) for run in found] for name, found in curves.items()}
    if not runs or not all(runs.values()):
        raise InputError("There are no curves to draw. Give each strategy at least one run.")
    last = n_questions or max(len(run) for found in runs.values() for run in found)
    ax = axes_or_new(ax)
    ax.set_xscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    entries = []
    for index, (name, found) in enumerate(runs.items()):
        lift = (index - (len(runs) - 1) / 2) * _SHIFT * n_classes
        line = _draw_strategy(ax, found, index, last, n_classes, lift)
        if len(found) > 1 and len(runs) <= _MAX_BANDS:
            _draw_shade(ax, band_of(found, last), line)
        entries.append((line, f"{name}: {_outcome(found, n_classes)}"))
    ax.axhline(n_classes, color=MUTED, linewidth=0.8, zorder=0)
    ax.set_xlim(0.9, max(2, 1.1 * last))
    ax.set_ylim(0, 1.06 * n_classes)
    count_ticks(ax.xaxis, max(2, last))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    label_axes(ax, "questions asked", f"classes found, of {n_classes}")
    legend_below(ax, entries)
    return ax


class Band(NamedTuple):
    """The median and the extremes of several runs of one strategy, question by question."""

    low: Vector
    middle: Vector
    high: Vector


def band_of(runs: Sequence[Vector], n_questions: int) -> Band:
    """Pad runs to one length and return their median and extremes."""
    drawn = np.array([pad_curve(run, n_questions) for run in runs])
    return Band(drawn.min(axis=0), np.median(drawn, axis=0), drawn.max(axis=0))


def pad_curve(run: Vector, n_questions: int) -> Vector:
    """Cut a curve, or continue it at its last value, to this many questions."""
    return run[np.minimum(np.arange(n_questions), len(run) - 1)]


def _draw_strategy(
    ax: Axes, runs: Sequence[Vector], index: int, last: int, n_classes: int, lift: float
) -> Line2D:
    colour = LINE_COLOURS[index % len(LINE_COLOURS)]
    dash = LINE_DASHES[index // len(LINE_COLOURS) % len(LINE_DASHES)]
    band = band_of(runs, last)
    is_all = band.middle >= n_classes
    end = int(np.argmax(is_all)) + 1 if is_all.any() else last
    questions = np.arange(1, last + 1)
    (line,) = ax.step(
        questions[:end],
        band.middle[:end] + lift,
        where="post",
        color=colour,
        linestyle=dash,
        linewidth=1.5,
    )
    ax.plot(
        questions[end - 1],
        band.middle[end - 1] + lift,
        "o" if is_all.any() else ">",
        color=colour,
        markersize=6,
        markeredgecolor=ax.get_facecolor(),
        zorder=3,
    )
    return line


def _draw_shade(ax: Axes, band: Band, line: Line2D) -> None:
    questions = np.arange(1, len(band.low) + 1)
    ax.fill_between(
        questions,
        band.low,
        band.high,
        step="post",
        color=line.get_color(),
        alpha=0.12,
        linewidth=0,
    )


def _outcome(runs: Sequence[Vector], n_classes: int) -> str:
    ends = [int(np.argmax(run >= n_classes)) + 1 if run[-1] >= n_classes else None for run in runs]
    reached = [end for end in ends if end is not None]
    if not reached:
        most = int(max(run[-1] for run in runs))
        return f"{most} found in {max(len(run) for run in runs):,}"
    span = f"{np.median(reached):,g}"
    if max(reached) > min(reached):
        span += f" ({min(reached):,} to {max(reached):,})"
    if len(reached) == len(runs):
        return f"all found after {span}"
    return f"all found after {span} in {len(reached)} of {len(runs)} runs"


def _checked(run: ArrayLike, name: str) -> Vector:
    curve = np.asarray(run, dtype=np.float64)
    if curve.ndim != 1 or len(curve) == 0 or not np.isfinite(curve).all():
        raise InputError(
            f"A curve of {quoted(name)} must hold the number of classes found after each question, "
            f"at least one; got an array of shape {curve.shape}."
        )
    return curve
