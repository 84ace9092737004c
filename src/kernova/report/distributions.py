"""The picture of scores: how held-out known rows and new ones are spread about a threshold."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.typing import ArrayLike

from kernova.decide.false_alarms import finite_scores
from kernova.report.canvas import (
    KNOWN,
    NEW,
    PERCENT,
    Entry,
    Vector,
    View,
    axes_or_new,
    check_pair,
    counted,
    drawable_number,
    ink,
    label_axes,
    legend_below,
    note_above,
    percent_up,
    view_of,
)

# Fewer rows than this are shown one by one: a histogram of them would be a guess.
_FEW_ROWS: Final = 25
_FEWEST_BINS, _MOST_BINS = 10, 60
# Room for the words on both sides of a threshold, as a share of the width.
_WORD_ROOM: Final = 0.2


def plot_score_distributions(
    known_scores: ArrayLike,
    new_scores: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    bound: float | None = None,
    labels: Sequence[str] = ("known, held out", "new"),
    score: str = "score",
    unit: str = "row",
    ax: Axes | None = None,
) -> Axes:
    """Draw how held-out known rows score, and new ones, on common bins.

    Bars are shares of each group, so that groups of different size compare. A bin ends at the
    threshold: the bars left of it are exactly the rows called novel. Scores far outside the bulk
    are counted in the outermost bars, and new rows are drawn one by one where they are few.

    Parameters
    ----------
    known_scores : array-like of shape (n_known,)
        Scores of known rows that took no part in fitting; high is usual.
    new_scores : array-like of shape (n_new,), default=None
        Scores of new rows.
    threshold : float, default=None
        Rows whose score is at most this are called novel.
    bound : float, default=None
        Proven limit on false alarms at the threshold, for the legend.
    labels : sequence of two str
        What to call the two groups.
    score, unit : str
        What the score and one of its rows are called.
    ax : Axes, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    Axes

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
    check_pair(labels)
    if threshold is not None:
        threshold = drawable_number(threshold, "threshold")

    ax = axes_or_new(ax)
    view = _view_with_threshold(view_of(known, new), threshold)
    edges = _bin_edges(view, known.size + new.size, threshold)
    entries = [_draw_bars(ax, known, edges, (labels[0], unit), KNOWN, "-")]
    if new.size >= _FEW_ROWS:
        entries.append(_draw_bars(ax, new, edges, (labels[1], unit), NEW, "--"))
    elif new.size:
        entries.append(_draw_one_by_one(ax, new, edges, (labels[1], unit)))
    if threshold is not None:
        entries.append(_draw_threshold(ax, threshold, edges, bound))
    ax.set_xlim(edges[0], edges[-1])
    ax.yaxis.set_major_formatter(PERCENT)
    label_axes(ax, f"{score} (high is usual)", f"share of {unit}s in each bin")
    _note_beyond(ax, np.concatenate([known, new]), View(edges[0], edges[-1]))
    legend_below(ax, entries)
    return ax


def _view_with_threshold(view: View, threshold: float | None) -> View:
    """Widen the view so that the threshold, and words on both sides of it, have room."""
    if threshold is None:
        return view
    view = view_of(np.array([*view]), np.array([threshold]), math.inf)
    room = _WORD_ROOM * view.width
    return View(min(view.low, threshold - room), max(view.high, threshold + room))


def _bin_edges(view: View, n_rows: int, threshold: float | None) -> Vector:
    """Divide the view into equal bins, one of which ends at the threshold."""
    n_bins = min(max(math.ceil(2 * n_rows ** (1 / 3)), _FEWEST_BINS), _MOST_BINS)
    if threshold is None:
        return np.linspace(view.low, view.high, n_bins + 1)
    width = view.width / n_bins
    n_left = math.ceil((threshold - view.low) / width)
    n_right = math.ceil((view.high - threshold) / width)
    edges = threshold + width * np.arange(-n_left, n_right + 1)
    # A bin holds its left edge; a score that equals the threshold belongs to the left of it.
    edges[n_left] = math.nextafter(threshold, math.inf)
    return edges


def _draw_bars(
    ax: Axes, scores: Vector, edges: Vector, words: tuple[str, str], colour: str, style: str
) -> Entry:
    counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), edges)
    patch = ax.stairs(
        counts / scores.size,
        edges,
        fill=True,
        facecolor=to_rgba(colour, 0.25),
        edgecolor=colour,
        linestyle=style,
        linewidth=1.4,
    )
    return patch, f"{words[0]}: {counted(scores.size, words[1])}"


def _draw_one_by_one(ax: Axes, scores: Vector, edges: Vector, words: tuple[str, str]) -> Entry:
    """Draw a mark for each row; rows of one bin stand on each other, so that none is hidden."""
    at = np.sort(np.clip(scores, edges[0], edges[-1]))
    bins = np.searchsorted(edges, at, side="right")
    level = np.arange(at.size) - np.searchsorted(bins, bins)
    step = min(0.05, 0.8 / (1 + level.max()))
    (marks,) = ax.plot(
        at,
        step * (level + 0.6),
        "d",
        color=NEW,
        markeredgecolor="white",
        markersize=8,
        clip_on=False,
        zorder=4,
        transform=ax.get_xaxis_transform(),
    )
    return marks, f"{words[0]}: {counted(scores.size, words[1])}, one mark each"


def _draw_threshold(ax: Axes, threshold: float, edges: Vector, bound: float | None) -> Entry:
    ax.axvspan(edges[0], threshold, color=NEW, alpha=0.07, linewidth=0, zorder=0)
    line = ax.axvline(threshold, color=ink(ax), linewidth=1.6)
    ax.margins(y=0.14)  # the words stand above the highest bar
    for words, side, shift in (("← novel", "right", -5), ("usual →", "left", 5)):
        ax.annotate(
            words,
            (threshold, 1),
            xycoords=("data", "axes fraction"),
            xytext=(shift, -4),
            textcoords="offset points",
            ha=side,
            va="top",
            color=ink(ax),
        )
    proven = "" if bound is None else f" (false alarms at most {percent_up(bound)})"
    return line, f"threshold {threshold:.4g}{proven}"


def _note_beyond(ax: Axes, scores: Vector, view: View) -> None:
    n_beyond = view.n_beyond(scores)
    if n_beyond:
        verb = "lies" if n_beyond == 1 else "lie"
        note_above(ax, f"{counted(n_beyond, 'score')} {verb} further out, shown at the edge")
