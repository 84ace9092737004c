"""Pictures of notes: spectrogram, class scores and detected notes on one time axis."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from kernova.audio.annotations.segments import Segment
from kernova.errors import InputError
from kernova.report.canvas import (
    INLIER,
    KNOWN,
    LINE_COLOURS,
    LINE_DASHES,
    MUTED,
    NEW,
    axes_or_new,
    ink,
    label_axes,
    legend_below,
    new_figure,
    note_above,
)
from kernova.text import truncate_middle
from kernova.typing import Matrix, Vector

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_NAME: Final = 14
# More labels would overlap.
_MAX_NAMES: Final = 24
# The number of frames that a picture can show side by side.
_MAX_COLUMNS: Final = 4000
INTERVAL_SECONDS: Final = 12.0


class Scan(Protocol):
    """A scanned recording: see :meth:`kernova.notes.finder.NoteFinder.scan`."""

    @property
    def times(self) -> Any:
        """Times of the frames in seconds."""

    @property
    def levels(self) -> Any:
        """Logarithmic level of each frame in each band."""

    @property
    def band_hz(self) -> Any:
        """Frequencies of the bands."""

    @property
    def scores(self) -> Any:
        """Score of each frame for each class."""

    @property
    def classes(self) -> Any:
        """Labels of the classes."""

    @property
    def segments(self) -> Any:
        """Detected notes."""


class Interval(NamedTuple):
    """A time interval of a recording, in seconds."""

    start: float
    end: float


def busiest_interval(
    segments: Sequence[Segment], seconds: float, most: float = INTERVAL_SECONDS
) -> Interval:
    """Return the interval of a recording with the largest total duration of notes.

    Parameters
    ----------
    segments : sequence of Segment
        The notes of the recording.
    seconds : float
        The length of the recording.
    most : float, default=12
        The length of the interval.

    Returns
    -------
    Interval
        The whole recording if it is shorter; its beginning if there are no notes.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.report.notes import busiest_interval
    >>> notes = [Segment(start, start + 0.1, "a") for start in (3.0, 40.0, 41.0, 42.0)]
    >>> busiest_interval(notes, 60.0, most=10)
    Interval(start=36.05, end=46.05)
    """
    if seconds <= most or not segments:
        return Interval(0.0, min(seconds, most))
    notes = sorted(segments)
    starts, ends = (np.array([note[end] for note in notes]) for end in (0, 1))
    filled = np.r_[0.0, np.cumsum(ends - starts)]
    stops = np.searchsorted(ends, starts + most, side="right")
    first = int((filled[stops] - filled[:-1]).argmax())
    last = ends[max(int(stops[first]) - 1, first)]
    begin = (starts[first] + last - most) / 2  # its notes in the middle
    begin = min(max(0.0, float(begin)), seconds - most)
    return Interval(round(begin, 6), round(begin + most, 6))


def plot_notes(
    scan: Scan, *, truth: Iterable[Segment] | None = None, title: str | None = None
) -> Axes:
    """Draw spectrogram, class scores and detected notes below each other, on one time axis.

    Parameters
    ----------
    scan : NoteScan
        As returned by :meth:`~kernova.notes.finder.NoteFinder.scan` for an interval of a
        recording, preferably of twenty seconds or less.
    truth : iterable of Segment, default=None
        Annotated notes, drawn as outlines below the detected ones; labels that are not classes
        get a line of their own.
    title : str, default=None
        The title of the picture.

    Returns
    -------
    Axes
        The lowest of the three; ``ax.figure`` is the picture.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.report.figures import plot_notes
    >>> class Scan(NamedTuple):
    ...     times: np.ndarray = np.arange(50) / 500
    ...     levels: np.ndarray = np.eye(50, 20)
    ...     band_hz: np.ndarray = np.linspace(500, 11000, 20)
    ...     scores: np.ndarray = np.ones((50, 2))
    ...     classes: tuple = ("a", "b")
    ...     segments: tuple = (Segment(0.02, 0.06, "b"),)
    >>> ax = plot_notes(Scan())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
    """
    sound = _checked(scan)
    true = [note for note in truth or () if note.start < sound.end and note.end > sound.start]
    names = [str(name) for name in scan.classes]
    lines = [*names, "other"] if {note.label for note in true} - set(names) else names
    figure = new_figure(10.0, 4.6 + 0.22 * len(lines))
    above, middle, below = figure.subplots(
        3, 1, sharex=True, height_ratios=(2.2, 1.6, 0.5 + 0.22 * len(lines))
    )
    _draw_levels(above, sound)
    _draw_scores(middle, sound, names)
    _draw_segments(below, scan.segments, true, lines, has_truth=truth is not None)
    below.set_xlim(sound.start, sound.end)
    figure.align_ylabels([above, middle, below])
    if title is not None:
        above.set_title(title, fontsize=10, loc="left", parse_math=False)
    return below


def plot_note_thresholds(
    curve: "pd.DataFrame", *, threshold: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw F, precision and recall against the threshold on the score of notes.

    Parameters
    ----------
    curve : DataFrame
        As returned by :func:`kernova.notes.evaluation.threshold_curve`.
    threshold : float, default=None
        Mark this score.
    ax : Axes, default=a new figure

    Examples
    --------
    >>> import pandas as pd
    >>> from kernova.report.figures import plot_note_thresholds
    >>> curve = pd.DataFrame({"threshold": [0.2, 0.5], "f": [0.8, 0.9], "precision": [0.7, 1.0],
    ...                       "recall": [0.9, 0.8], "false_per_minute": [3.0, 0.0]})
    >>> [text.get_text() for text in plot_note_thresholds(curve).get_legend().get_texts()]
    ['F, mean of the classes', 'precision', 'recall', 'best: F 0.900 at 0.5']
    """
    if not len(curve):
        raise InputError("There is no curve to draw: no note was found that has a score.")
    ax = axes_or_new(ax)
    score = curve["threshold"].to_numpy()
    # Below the lowest score all notes are accepted.
    at = np.r_[score[0] - (0.06 * (score[-1] - score[0]) or 0.05), score]
    entries = []
    for name, label, colour, dash in (
        ("f", "F, mean of the classes", KNOWN, "-"),
        ("precision", "precision", INLIER, "--"),
        ("recall", "recall", MUTED, ":"),
    ):
        # Between two observed scores nothing changes.
        (line,) = ax.step(
            at, np.r_[curve[name].iloc[0], curve[name]], where="pre", color=colour, linestyle=dash,
            linewidth=2.0 if name == "f" else 1.4,
        )  # fmt: skip
        entries.append((line, label))
    best = curve.iloc[int(curve["f"].to_numpy().argmax())]
    (dot,) = ax.plot(best["threshold"], best["f"], "o", color=NEW, zorder=3)
    entries.append((dot, f"best: F {best['f']:.3f} at {best['threshold']:.4g}"))
    if threshold is not None:
        mark = ax.axvline(threshold, color=ink(ax), linewidth=0.9, linestyle="-.")
        entries.append((mark, f"threshold: {threshold:.4g}"))
    ax.set_ylim(0, 1.03)
    note_above(ax, f"at the best F {best['false_per_minute']:.2f} false notes a minute")
    label_axes(ax, "threshold on the score", "fraction")
    legend_below(ax, entries)
    return ax


class _Sound(NamedTuple):
    times: Vector
    levels: Matrix
    band_hz: Vector
    scores: Matrix

    @property
    def hop(self) -> float:
        if len(self.times) < 2:
            return 0.002
        return float(self.times[-1] - self.times[0]) / (len(self.times) - 1)

    @property
    def start(self) -> float:
        return float(self.times[0]) - self.hop / 2

    @property
    def end(self) -> float:
        return float(self.times[-1]) + self.hop / 2


def _checked(scan: Scan) -> _Sound:
    sound = _Sound(*map(_numbers, (scan.times, scan.levels, scan.band_hz, scan.scores)))
    n_frames = len(sound.times)
    if not n_frames:
        raise InputError("There is nothing to draw: the interval is shorter than one frame.")
    shapes = (sound.levels.shape, sound.scores.shape)
    if shapes != ((n_frames, len(sound.band_hz)), (n_frames, len(scan.classes))):
        raise InputError(
            f"The scan has {n_frames} times, levels of shape {shapes[0]} for {len(sound.band_hz)} "
            f"bands and scores of shape {shapes[1]} for {len(scan.classes)} classes; these must "
            "agree."
        )
    if not (np.isfinite(sound.levels).all() and np.isfinite(sound.scores).all()):
        raise InputError("Levels and scores must be finite numbers to be drawn.")
    return sound


def _numbers(values: ArrayLike) -> Matrix:
    return np.asarray(values, dtype=np.float64)


def _draw_levels(ax: Axes, sound: _Sound) -> None:
    step = math.ceil(len(sound.times) / _MAX_COLUMNS)
    usable = len(sound.times) // step * step
    # Where several frames share a column, the loudest is shown.
    levels = sound.levels[:usable].reshape(-1, step, sound.levels.shape[1]).max(axis=1)
    low, high = np.quantile(levels, [0.05, 0.998])
    edges = sound.start + sound.hop * step * np.arange(len(levels) + 1)
    ax.pcolormesh(
        edges, _borders(sound.band_hz) / 1000, levels.T, cmap="Greys", vmin=low,
        vmax=max(high, low + 1e-9), rasterized=True,
    )  # fmt: skip
    label_axes(ax, "", "frequency (kHz)")


def _borders(centres: Vector) -> Vector:
    """Return borders half-way between the bands."""
    if len(centres) < 2:
        return np.array([0.5, 1.5]) * centres
    middle = (centres[1:] + centres[:-1]) / 2
    return np.r_[2 * centres[0] - middle[0], middle, 2 * centres[-1] - middle[-1]]


def _draw_scores(ax: Axes, sound: _Sound, names: list[str]) -> None:
    for line, of_class in enumerate(sound.scores.T):
        ax.plot(
            sound.times, of_class, color=_colour(line), linewidth=1.1,
            linestyle=LINE_DASHES[(line // len(LINE_COLOURS)) % len(LINE_DASHES)],
            label=names[line],
        )  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)
    ax.yaxis.set_major_locator(MaxNLocator(4))
    label_axes(ax, "", "score")


def _draw_segments(
    ax: Axes,
    found: Iterable[Segment],
    true: Sequence[Segment],
    lines: list[str],
    *,
    has_truth: bool,
) -> None:
    line_of = {name: line for line, name in enumerate(lines)}
    height = 0.42 if has_truth else 0.7
    for note in found:
        line = line_of[str(note.label)]
        ax.barh(
            line - (height / 2 if has_truth else 0), note.end - note.start, height, note.start,
            facecolor=_colour(line), edgecolor="white", linewidth=0.6,
        )  # fmt: skip
    for note in true:
        line = line_of.get(note.label, len(lines) - 1)
        ax.barh(
            line + height / 2, note.end - note.start, height * 0.8, note.start,
            facecolor="none", edgecolor=ink(ax), linewidth=0.8,
        )  # fmt: skip
    ax.set_ylim(len(lines) - 0.4, -0.6)
    shown = lines if len(lines) <= _MAX_NAMES else lines[:: math.ceil(len(lines) / _MAX_NAMES)]
    ax.set_yticks(
        [line_of[name] for name in shown],
        [truncate_middle(name, _LONGEST_NAME) for name in shown],
        parse_math=False,
    )
    ax.tick_params(axis="y", length=0)
    for tick, name in zip(ax.get_yticklabels(), shown, strict=True):
        is_other = name == "other" and has_truth
        tick.set_color(ink(ax) if is_other else _colour(line_of[name]))
    ax.spines[["top", "right"]].set_visible(False)
    if has_truth:
        note_above(ax, "filled: detected    outlined: annotated")
    label_axes(ax, "time (s)", "notes")


def _colour(line: int) -> str:
    return LINE_COLOURS[line % len(LINE_COLOURS)]
