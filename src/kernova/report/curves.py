"""Curves of p-values, false alarms and discoveries."""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from kernova.calibration.bounds import (
    FalseAlarmThreshold,
    binomial_upper_bound,
    check_open_unit_interval,
    finite_scores,
    hoeffding_upper_bound,
    percent_rounded_up,
)
from kernova.calibration.p_values import select_discoveries
from kernova.errors import InputError, quoted
from kernova.report.canvas import (
    KNOWN,
    LINE_COLOURS,
    LINE_DASHES,
    MUTED,
    NEW,
    PERCENT,
    Entry,
    View,
    axes_or_new,
    count_ticks,
    ink,
    label_axes,
    legend_below,
    log_spaced_indices,
    note_above,
    view_of,
)
from kernova.text import quantity
from kernova.typing import Vector

_MAX_POINTS: Final = 2000
# Each bound, the smallest confidence for which it holds, and its style.
_BOUNDS: Final = (
    (binomial_upper_bound, 0.0, KNOWN, "-", "binomial bound (preset count)"),
    (hoeffding_upper_bound, 0.5, NEW, "--", "Hoeffding bound (any threshold)"),
)


def plot_p_values(
    p_values: ArrayLike, *, false_discovery_rate: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the p-values in increasing order, with those expected of ordinary rows.

    The band contains each p-value of as many independent ordinary rows with a probability of 95 %;
    it is wide where rows are few. Points below it on the left are more small p-values than
    expected by chance.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        One p-value for each row, in [0, 1]; low is novel.
    false_discovery_rate : float, default=None
        Draw the line of Benjamini and Hochberg for this rate, and mark the selected rows.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> from kernova.report.figures import plot_p_values
    >>> ax = plot_p_values([0.01, 0.8, 0.03, 0.04], false_discovery_rate=0.1)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][1]
    '3 rows selected'
    """
    p = np.sort(finite_scores(p_values, "p-values"))
    if p[0] < 0 or p[-1] > 1:
        raise InputError(f"p-values lie between 0 and 1; got {p[0]:g} to {p[-1]:g}.")
    rank = np.arange(1, p.size + 1)
    n_selected = 0
    if false_discovery_rate is not None:
        n_selected = int(select_discoveries(p, false_discovery_rate).sum())

    ax = axes_or_new(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    floor = _lowest_drawn(p, false_discovery_rate)
    entries = _draw_sorted(ax, rank, np.maximum(p, floor), n_selected, false_discovery_rate)
    entries += _draw_uniform(ax, rank)
    if false_discovery_rate is not None:
        ends = np.array([0.8, 1.25 * p.size])
        (line,) = ax.plot(ends, false_discovery_rate * ends / p.size, color=NEW, linestyle="--")
        entries.append((line, f"limit for {100 * false_discovery_rate:.12g} % false discoveries"))
    ax.set_xlim(0.8, 1.25 * p.size)
    ax.set_ylim(0.8 * floor, 1.5)
    _plain_ticks(ax, p.size)
    label_axes(ax, "rows, by increasing p-value", "p-value (low is novel)")
    if p[0] == 0:
        note_above(ax, "p-values of 0 are drawn at the lower edge")
    legend_below(ax, entries)
    return ax


def plot_false_alarm_curve(
    holdout_scores: ArrayLike,
    confidence: float = 0.95,
    ax: Axes | None = None,
    chosen: FalseAlarmThreshold | None = None,
) -> Axes:
    """Draw the proven bounds on false alarms at each threshold.

    Left is stricter: a lower threshold gives fewer false alarms, and misses more new rows. The
    dotted line is the smallest bound that so few rows can prove.

    Parameters
    ----------
    holdout_scores : array-like of shape (m,)
        Scores of ordinary held-out rows; high is typical.
    confidence : float, default=0.95
        Confidence of the bounds. Hoeffding's is left out below 0.5, where it does not hold.
    ax : Axes, default=a new figure
    chosen : FalseAlarmThreshold, default=None
        The threshold to mark, as returned by :func:`~kernova.false_alarm_threshold`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import false_alarm_threshold
    >>> from kernova.report.figures import plot_false_alarm_curve
    >>> depths = np.linspace(0.2, 0.9, 300)
    >>> ax = plot_false_alarm_curve(depths, chosen=false_alarm_threshold(depths, 0.1))
    >>> ax.get_legend().get_texts()[-1].get_text()
    'chosen: 0.2187, at most 9.74 %'
    """
    scores = np.sort(finite_scores(holdout_scores, "held-out scores"))
    check_open_unit_interval(confidence, "confidence")
    floor = binomial_upper_bound(0, scores.size, confidence)
    top = 1.02 * min(1.0, 2.5 * max(0.1, floor, chosen.bound if chosen else 0.0))
    steps = _alarm_steps(scores, top)
    marks = np.empty(0) if chosen is None else np.array([chosen.threshold])
    view = view_of(steps.threshold, marks, math.inf).with_margin(0.05)

    ax = axes_or_new(ax)
    observed = steps.n_alarms / scores.size
    entries = [_draw_steps(ax, steps, observed, view, MUTED, "-", "observed on held-out rows")]
    for upper_bound, lowest, colour, style, label in _BOUNDS:
        if confidence >= lowest:
            proven = [upper_bound(int(n), scores.size, confidence) for n in steps.n_alarms]
            entries.append(_draw_steps(ax, steps, np.array(proven), view, colour, style, label))
    line = ax.axhline(floor, color=ink(ax), linewidth=1, linestyle=":")
    entries.append((line, f"smallest provable bound: {percent_rounded_up(floor)}"))
    if chosen is not None:
        entries.append(_draw_chosen(ax, chosen))
    ax.set_xlim(*view)
    ax.set_ylim(0, top)
    ax.yaxis.set_major_formatter(PERCENT)
    label_axes(ax, "threshold on the score (left is stricter)", "false alarms")
    legend_below(ax, entries)
    return ax


class _AlarmSteps(NamedTuple):
    """The thresholds at which the number of alarms increases, and the numbers between them."""

    threshold: Vector  # k of them, rising
    n_alarms: NDArray[np.intp]  # k + 1: below the first, between them, from the last on


def _alarm_steps(sorted_scores: Vector, top: float) -> _AlarmSteps:
    """Return the steps up to the top of the axes; of very many, as many as can be seen."""
    threshold, counts = np.unique(sorted_scores, return_counts=True)
    n_alarms = np.cumsum(counts)
    n_shown = 1 + int(np.searchsorted(n_alarms, top * sorted_scores.size, side="right"))
    n_shown = min(n_shown, threshold.size)
    kept = np.unique(np.linspace(0, n_shown - 1, _MAX_POINTS).astype(np.intp))
    # The last step reaches 1, so that the curves leave the picture and do not end in it.
    n_between = np.concatenate([[0], n_alarms[kept[:-1]], [sorted_scores.size]])
    return _AlarmSteps(threshold[kept], n_between)


def _draw_steps(
    ax: Axes, steps: _AlarmSteps, heights: Vector, view: View, colour: str, style: str, label: str
) -> Entry:
    x = np.concatenate([[view.low], steps.threshold, [view.high]])
    y = np.concatenate([heights, heights[-1:]])
    (line,) = ax.plot(x, y, drawstyle="steps-post", color=colour, linestyle=style)
    return line, label


def _draw_chosen(ax: Axes, chosen: FalseAlarmThreshold) -> Entry:
    ax.axvline(chosen.threshold, color=ink(ax), linewidth=1)
    (mark,) = ax.plot(
        chosen.threshold, chosen.bound, "o", color=ink(ax), markersize=7, clip_on=False, zorder=4
    )
    return mark, f"chosen: {chosen.threshold:.4g}, at most {percent_rounded_up(chosen.bound)}"


def _lowest_drawn(sorted_p: Vector, rate: float | None) -> float:
    """Return the lower edge: below all positive p-values, and where the line for a rate starts."""
    positive = sorted_p[sorted_p > 0]
    starts = [1 / (sorted_p.size + 1), *positive[:1]]
    if rate is not None:
        starts.append(rate / sorted_p.size)
    return max(0.5 * min(starts), 1e-300)


def _draw_sorted(
    ax: Axes, rank: NDArray[np.intp], p: Vector, n_selected: int, rate: float | None
) -> list[Entry]:
    kept = log_spaced_indices(rank.size, _MAX_POINTS)
    is_selected = rank[kept] <= n_selected
    others, chosen = kept[~is_selected], kept[is_selected]
    (dots,) = ax.plot(rank[others], p[others], "o", color=KNOWN, markersize=4.5, zorder=3)
    if rate is None:
        return [(dots, quantity(p.size, "row"))]
    (crosses,) = ax.plot(rank[chosen], p[chosen], "X", color=NEW, markersize=7, zorder=3)
    selected = (crosses, f"{quantity(n_selected, 'row')} selected")
    return [(dots, f"{quantity(p.size - n_selected, 'row')} not selected"), selected]


def _draw_uniform(ax: Axes, rank: NDArray[np.intp]) -> list[Entry]:
    """Draw the p-values of ordinary rows: uniform, so Beta-distributed in rank order."""
    n = rank.size
    at = rank[log_spaced_indices(rank.size, _MAX_POINTS)]
    x = at.astype(np.float64)
    if n == 1:  # a band without width would not be seen
        at, x = np.ones(2, dtype=np.intp), np.array([0.93, 1.07])
    low, high = (betaincinv(at, n + 1 - at, level) for level in (0.025, 0.975))
    (line,) = ax.plot(x, at / (n + 1), color=ink(ax), linewidth=1)
    band = ax.fill_between(x, low, high, color=MUTED, alpha=0.25, linewidth=0)
    return [(line, "ordinary rows, on average"), (band, "ordinary rows, 95 % range")]


def _plain_ticks(ax: Axes, n: int) -> None:
    """Set ticks of counts on one axis; on the other write 0.01, not 10⁻²."""
    count_ticks(ax.xaxis, n)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


# --- classes found against questions asked -------------------------------------------------------

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


def plot_session_curve(
    curve: ArrayLike,
    random: ArrayLike = (),
    low: ArrayLike = (),
    high: ArrayLike = (),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the categories found in a session, with those expected by random sampling.

    Parameters
    ----------
    curve : array-like
        Number of categories found after each question.
    random, low, high : array-like
        Random baseline after each question and the limits of its band; empty for none.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> from kernova.report.figures import plot_session_curve
    >>> ax = plot_session_curve([1, 2, 3], [1, 1.5, 1.8], [1, 1.2, 1.4], [1, 1.9, 2.4])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['this session: 3 categories', 'random sampling: 1.8 expected (1.4 to 2.4)']
    """
    found, expected = _checked(curve, "the session"), np.asarray(random, dtype=np.float64)
    ax = axes_or_new(ax)
    ax.spines[["top", "right"]].set_visible(False)
    questions = np.arange(1, len(found) + 1)
    (line,) = ax.step(questions, found, where="post", color=KNOWN, linewidth=1.8)
    most = int(found[-1])
    words = quantity(most, "category", "categories")
    entries: list[Entry] = [(line, f"this session: {words}")]
    if len(expected):
        below, above = np.asarray(low), np.asarray(high)
        (dashed,) = ax.plot(questions[: len(expected)], expected, "--", color=NEW)
        ax.fill_between(
            questions[: len(expected)], below, above, color=NEW, alpha=0.15, linewidth=0
        )
        span = f"{below[-1]:.2g} to {above[-1]:.2g}"
        entries.append((dashed, f"random sampling: {expected[-1]:.2g} expected ({span})"))
    ax.set_xlim(0.5, max(2.0, 1.02 * len(found)))
    ax.set_ylim(bottom=0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    label_axes(ax, "questions asked", "categories found")
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
