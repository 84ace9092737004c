"""Distributions of scores: known rows and new ones in common bins, with the threshold."""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike

from kernova.calibration.bounds import finite_scores, percent_rounded_up
from kernova.errors import InputError, quoted
from kernova.report.canvas import (
    KNOWN,
    NEW,
    PERCENT,
    Entry,
    View,
    axes_or_new,
    check_two_labels,
    drawable_number,
    ink,
    label_axes,
    legend_below,
    note_above,
    view_of,
)
from kernova.text import plural, quantity
from kernova.typing import Vector

# Fewer rows than this are drawn one by one: a histogram of them would be a guess.
_HISTOGRAM_MIN_ROWS: Final = 25
_MIN_BINS, _MAX_BINS = 10, 60
# New rows widen the axis by so many times the width of the known ones; farther out it is broken.
_REACH: Final = 4.0
# Room for the labels on both sides of a threshold, and for each letter, as fractions of the width.
_LABEL_ROOM, _LETTER_ROOM = 0.2, 0.027
# Where the axis is broken: widths of the gap and of the bar beyond it, as fractions of the width.
_GAP, _BEYOND = 0.05, 0.06
_N_TICKS: Final = 6


def plot_score_distributions(
    known_scores: ArrayLike,
    new_scores: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    bound: float | None = None,
    labels: Sequence[str] = ("known, held out", "new"),
    score: str = "score",
    unit: str = "row",
    high_is_novel: bool = False,
    sides: Sequence[str] = ("novel", "usual"),
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of held-out known rows, and of new ones, in common bins.

    Bars are fractions of each group, so that groups of different size compare. A bin ends at the
    threshold: the bars on its far side are exactly the rows called novel. Scores that lie very far
    out are counted in a bar beyond a break of the axis, and new rows are drawn one by one where
    they are few.

    Parameters
    ----------
    known_scores : array-like of shape (n_known,)
        Scores of known held-out rows; high is typical, unless ``high_is_novel``.
    new_scores : array-like of shape (n_new,), default=None
        Scores of new rows.
    threshold : float, default=None
        Rows whose score is at most this, or at least with ``high_is_novel``, are called novel.
    bound : float, default=None
        Proven limit on false alarms at the threshold, for the legend.
    labels : sequence of two str
        Labels of the two groups.
    score, unit : str
        Names of the score, for the axis, and of a row, for the legend.
    high_is_novel : bool, default=False
        Whether the scores measure novelty, so that a high score is unusual.
    sides : sequence of two str
        What rows on the novel and on the other side of the threshold are called.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.report.figures import plot_score_distributions
    >>> random = np.random.default_rng(0)
    >>> ax = plot_score_distributions(random.beta(8, 3, 300), random.beta(3, 3, 100),
    ...                               threshold=0.4, bound=0.05)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['known, held out: 300 rows', 'new: 100 rows', 'threshold 0.4 (false alarms at most 5 %)']
    """
    known = finite_scores(known_scores, "known scores")
    new = np.empty(0)
    if new_scores is not None and np.size(new_scores):
        new = finite_scores(new_scores, "new scores")
    check_two_labels(labels)
    if isinstance(sides, str) or len(sides) != 2:
        raise InputError(f"sides must be two texts; got {quoted(sides)}.")
    if threshold is not None:
        threshold = drawable_number(threshold, "threshold")

    ax = axes_or_new(ax)
    scale = _scale_of(known, new, threshold, high_is_novel, max(map(len, sides)))
    entries = [_draw_bars(ax, known, scale, (labels[0], unit), KNOWN, "-")]
    if new.size >= _HISTOGRAM_MIN_ROWS:
        entries.append(_draw_bars(ax, new, scale, (labels[1], unit), NEW, "--"))
    elif new.size:
        entries.append(_draw_one_by_one(ax, new, scale, (labels[1], unit)))
    if threshold is not None:
        left, right = (sides[1], sides[0]) if high_is_novel else (sides[0], sides[1])
        end = scale.limits.high if high_is_novel else scale.limits.low
        entries.append(_draw_threshold(ax, threshold, end, (f"← {left}", f"{right} →"), bound))
    ax.set_xlim(*scale.limits)
    ax.yaxis.set_major_formatter(PERCENT)
    meaning = "high is unusual" if high_is_novel else "high is typical"
    label_axes(ax, f"{score} ({meaning})", f"fraction of {unit}s in each bin")
    _break_axis(ax, scale, np.concatenate([known, new]))
    legend_below(ax, entries)
    return ax


class _Scale(NamedTuple):
    """The bins, and a bar beyond them on each side where scores lie farther out."""

    edges: Vector
    below: View | None  # the bar of lower scores
    above: View | None

    @property
    def limits(self) -> View:
        """The range of the axis."""
        low = self.edges[0] if self.below is None else self.below.low
        high = self.edges[-1] if self.above is None else self.above.high
        return View(float(low), float(high))

    def placed(self, scores: Vector) -> Vector:
        """Return where scores are drawn: those beyond the bins in the middle of their bar."""
        placed = np.array(scores)
        for bar, is_beyond in (
            (self.below, scores < self.edges[0]),
            (self.above, scores > self.edges[-1]),
        ):
            if bar is not None:
                placed[is_beyond] = (bar.low + bar.high) / 2
        return placed


def _scale_of(
    known: Vector, new: Vector, threshold: float | None, high_is_novel: bool, n_letters: int
) -> _Scale:
    view = _view_with_threshold(
        view_of(known, new, _REACH), threshold, max(_LABEL_ROOM, _LETTER_ROOM * n_letters)
    )
    # As many bins as suit the known rows alone, continued at the same width.
    wider = min(view.width / view_of(known).width, _REACH) if new.size else 1.0
    n_bins = math.ceil(2 * (known.size + new.size) ** (1 / 3) * max(wider, 1.0))
    edges = _bin_edges(view, min(max(n_bins, _MIN_BINS), _MAX_BINS), threshold, high_is_novel)
    scores = np.concatenate([known, new])
    width = edges[-1] - edges[0]
    below = above = None
    if scores.min() < edges[0]:
        below = View(edges[0] - (_GAP + _BEYOND) * width, edges[0] - _GAP * width)
    if scores.max() > edges[-1]:
        above = View(edges[-1] + _GAP * width, edges[-1] + (_GAP + _BEYOND) * width)
    return _Scale(edges, below, above)


def _view_with_threshold(view: View, threshold: float | None, label_room: float) -> View:
    """Widen the view so that the threshold, and labels on both sides of it, have room."""
    if threshold is None:
        return view
    view = view_of(np.array([*view]), np.array([threshold]), math.inf)
    room = label_room * view.width
    return View(min(view.low, threshold - room), max(view.high, threshold + room))


def _bin_edges(view: View, n_bins: int, threshold: float | None, high_is_novel: bool) -> Vector:
    """Divide the view into equal bins, one of which ends at the threshold."""
    if threshold is None:
        return np.linspace(view.low, view.high, n_bins + 1)
    width = view.width / n_bins
    n_left = math.ceil((threshold - view.low) / width)
    n_right = math.ceil((view.high - threshold) / width)
    edges = threshold + width * np.arange(-n_left, n_right + 1)
    # A bin holds its left edge; a score that equals the threshold belongs to the novel side.
    edges[n_left] = threshold if high_is_novel else math.nextafter(threshold, math.inf)
    # Rounding must not leave the extreme scores outside.
    edges[0], edges[-1] = min(edges[0], view.low), max(edges[-1], view.high)
    return np.asarray(edges)


def _draw_bars(
    ax: Axes, scores: Vector, scale: _Scale, label: tuple[str, str], colour: str, style: str
) -> Entry:
    edges, placed = scale.edges, scale.placed(scores)
    inside = (placed >= edges[0]) & (placed <= edges[-1])
    counts, _ = np.histogram(placed[inside], edges)
    look: dict[str, Any] = {
        "facecolor": to_rgba(colour, 0.25),
        "edgecolor": colour,
        "linewidth": 1.4,
    }
    patch = ax.stairs(counts / scores.size, edges, fill=True, linestyle=style, **look)
    for bar in (scale.below, scale.above):
        if bar is not None:
            n_beyond = np.count_nonzero((placed >= bar.low) & (placed <= bar.high) & ~inside)
            if n_beyond:
                ax.stairs([n_beyond / scores.size], [*bar], fill=True, linestyle=style, **look)
    return patch, f"{label[0]}: {quantity(scores.size, label[1])}"


def _draw_one_by_one(ax: Axes, scores: Vector, scale: _Scale, label: tuple[str, str]) -> Entry:
    """Draw a mark for each row; rows of one bin are stacked, so that none is hidden."""
    at = np.sort(scale.placed(scores))
    bins = np.searchsorted(scale.edges, at, side="right")
    level = np.arange(at.size) - np.searchsorted(bins, bins)
    step = min(0.05, 0.8 / (1 + level.max()))
    (marks,) = ax.plot(
        at, step * (level + 0.6), "d", color=NEW, markeredgecolor="white", markersize=8,
        clip_on=False, zorder=4, transform=ax.get_xaxis_transform(),
    )  # fmt: skip
    return marks, f"{label[0]}: {quantity(scores.size, label[1])}, one mark each"


def _draw_threshold(
    ax: Axes, threshold: float, end: float, words: tuple[str, str], bound: float | None
) -> Entry:
    """Draw the threshold, with the novel side shaded up to its end."""
    ax.axvspan(
        min(threshold, end), max(threshold, end), color=NEW, alpha=0.07, linewidth=0, zorder=0
    )
    line = ax.axvline(threshold, color=ink(ax), linewidth=1.6)
    ax.margins(y=0.14)  # the labels stand above the highest bar
    for word, side, shift in zip(words, ("right", "left"), (-5, 5), strict=True):
        ax.annotate(
            word,
            (threshold, 1),
            xycoords=("data", "axes fraction"),
            xytext=(shift, -4),
            textcoords="offset points",
            ha=side,
            va="top",
            color=ink(ax),
        )
    proven = "" if bound is None else f" (false alarms at most {percent_rounded_up(bound)})"
    return line, f"threshold {threshold:.4g}{proven}"


def _break_axis(ax: Axes, scale: _Scale, scores: Vector) -> None:
    """Mark where the axis is broken, write which scores lie beyond, and count them above."""
    if scale.below is None and scale.above is None:
        return
    edges, axis = scale.edges, ax.get_xaxis_transform()
    found = MaxNLocator(_N_TICKS).tick_values(edges[0], edges[-1])
    ticks = {float(tick): f"{tick:.6g}" for tick in found if edges[0] <= tick <= edges[-1]}
    ax.spines["bottom"].set_bounds(edges[0], edges[-1])
    for bar, edge, sign in ((scale.below, edges[0], "<"), (scale.above, edges[-1], ">")):
        if bar is None:
            continue
        middle = (bar.low + bar.high) / 2
        room = 2 * _GAP * (edges[-1] - edges[0])
        ticks = {at: text for at, text in ticks.items() if abs(at - middle) > room + bar.width / 2}
        ticks[middle] = f"{sign} {edge:.3g}"
        ax.plot([*bar], [0, 0], color=ink(ax), linewidth=0.8, transform=axis, clip_on=False)
        near = bar.low if sign == ">" else bar.high
        ax.plot(
            [edge, near], [0, 0], linestyle="", marker=[(-1, -2), (1, 2)], markersize=9,
            color=ink(ax), markeredgewidth=1, transform=axis, clip_on=False, zorder=5,
        )  # fmt: skip
    ax.xaxis.set_major_locator(FixedLocator(sorted(ticks)))
    texts = [ticks[at] for at in sorted(ticks)]
    ax.xaxis.set_major_formatter(FuncFormatter(lambda _, place: texts[place or 0]))
    n_beyond = View(float(edges[0]), float(edges[-1])).n_beyond(scores)
    verb = plural(n_beyond, "lies", "lie")
    note_above(ax, f"{quantity(n_beyond, 'score')} {verb} farther out, beyond the break")
