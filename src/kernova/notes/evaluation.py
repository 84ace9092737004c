"""Which found note is which true one: by onset, by overlap, and frame by frame.

How well notes were found: against an annotation made by hand, note by note and frame by frame.

What counts where nothing is to be counted: a class that neither occurs nor is found has precision,
recall and F of 1 and is left out of means, since nothing was missed and nothing invented; otherwise
a share of nothing is 0. No result is ever NaN.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kernova.audio.annotations.segments import EDGE_TOLERANCE_SECONDS, Segment, check_segments
from kernova.errors import InputError
from kernova.tables.records import json_rows
from kernova.typing import Indices

NO_NOTE = -1
# Times come from files with nine decimals; two onsets just the tolerance apart belong together.
_ROUNDING = 1e-9


class Pair(NamedTuple):
    """The places of a true note and of the found one that answers to it."""

    true: int
    found: int


def onset_pairs(true_onsets: ArrayLike, found_onsets: ArrayLike, tolerance: float) -> list[Pair]:
    """Pair onsets no further apart than the tolerance, each used once, as many as can be.

    Both are gone through in order of time, and the earliest two that may be paired are: among
    points on a line with one tolerance for all, no other way gives more pairs.

    Parameters
    ----------
    true_onsets, found_onsets : array-like of float
        Seconds, in any order.
    tolerance : float
        Seconds.

    Returns
    -------
    list of Pair
        In order of time.

    Examples
    --------
    >>> from kernova.notes.evaluation import onset_pairs
    >>> onset_pairs([1.0, 1.03], [1.02, 0.99, 7.0], tolerance=0.02)
    [Pair(true=0, found=1), Pair(true=1, found=0)]
    """
    true, found = np.asarray(true_onsets, float), np.asarray(found_onsets, float)
    true_order, found_order = np.argsort(true, kind="stable"), np.argsort(found, kind="stable")
    pairs = []
    i = j = 0
    while i < len(true) and j < len(found):
        late = found[found_order[j]] - true[true_order[i]]
        if abs(late) <= tolerance + _ROUNDING:
            pairs.append(Pair(int(true_order[i]), int(found_order[j])))
        i, j = i + (late >= -tolerance - _ROUNDING), j + (late <= tolerance + _ROUNDING)
    return pairs


def overlap_pairs(truth: Sequence[Segment], found: Sequence[Segment]) -> list[Pair]:
    """Pair notes that share time, whatever their labels: the longest shared time first.

    Each note is used once. Neither the true notes nor the found ones may overlap one another.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import overlap_pairs
    >>> overlap_pairs([Segment(0, 1, "a")], [Segment(0, 0.2, "b"), Segment(0.3, 0.9, "c")])
    [Pair(true=0, found=1)]
    """
    pairs = _meetings(truth, found)
    shared = [
        min(truth[i].end, found[j].end) - max(truth[i].start, found[j].start) for i, j in pairs
    ]
    taken_true, taken_found, chosen = set(), set(), []
    for place in np.argsort(-np.array(shared), kind="stable"):
        pair = pairs[place]
        if pair.true not in taken_true and pair.found not in taken_found:
            chosen.append(pair)
            taken_true.add(pair.true)
            taken_found.add(pair.found)
    return sorted(chosen)


def _meetings(truth: Sequence[Segment], found: Sequence[Segment]) -> list[Pair]:
    """Give all pairs that share time, in one walk along both."""
    true_order = sorted(range(len(truth)), key=lambda place: truth[place].start)
    found_order = sorted(range(len(found)), key=lambda place: found[place].start)
    pairs = []
    i = j = 0
    while i < len(truth) and j < len(found):
        true_place, found_place = true_order[i], found_order[j]
        one, other = truth[true_place], found[found_place]
        if max(one.start, other.start) < min(one.end, other.end):
            pairs.append(Pair(true_place, found_place))
        if one.end <= other.end:
            i += 1
        else:
            j += 1
    return pairs


def frame_labels(
    segments: Iterable[Segment], classes: Sequence[str], n_frames: int, hop_seconds: float
) -> NDArray[np.intp]:
    """Give the class number of each frame, by what lies at its middle; -1 where no class does.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import frame_labels
    >>> frame_labels([Segment(0.002, 0.006, "b"), Segment(0.006, 0.008, "x")], ["a", "b"], 5, 0.002)
    array([-1,  1,  1, -1, -1])
    """
    labels = np.full(n_frames, NO_NOTE, dtype=np.intp)
    number_of = {name: number for number, name in enumerate(classes)}
    for segment in segments:
        # Half-way borders fall to the later frame; rounding must not move them.
        first, stop = (
            max(0, int(np.ceil(round(time / hop_seconds - 0.5, 6))))
            for time in (segment.start, segment.end)
        )
        labels[first:stop] = number_of.get(segment.label, NO_NOTE)
    return labels


def without_rounding_overlaps(segments: Iterable[Segment]) -> list[Segment]:
    """Let a note end where the next begins, if it reaches into it by a hundredth second at most.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import without_rounding_overlaps
    >>> [note[:2] for note in without_rounding_overlaps([Segment(0, 0.51, "a"),
    ...                                                  Segment(0.5, 1, "b")])]
    [(0, 0.5), (0.5, 1)]
    """
    notes = sorted(segments, key=lambda segment: (segment.start, segment.end))
    for place, (earlier, later) in enumerate(pairwise(list(notes))):
        reaches = earlier.end - later.start
        if 0 < reaches <= EDGE_TOLERANCE_SECONDS + _ROUNDING and earlier.start < later.start:
            notes[place] = earlier._replace(end=later.start)
    return notes


NONE = "none"
ONSET_TOLERANCE_SECONDS = 0.02
FRAME_SECONDS = 0.002
# A curve through more thresholds than this looks the same.
_MOST_THRESHOLDS = 100


class Compared(NamedTuple):
    """One recording: what is in it by hand, what was found in it, and how long it is.

    Attributes
    ----------
    truth, found : sequence of Segment
        Notes; of the true ones, labels that are no class count as none of them.
    seconds : float
        Length of the recording.
    """

    truth: Sequence[Segment]
    found: Sequence[Segment]
    seconds: float


@dataclass(frozen=True)
class NoteCheck:
    """How found notes and true ones agree, over one or more recordings.

    Attributes
    ----------
    notes : DataFrame
        One line for each class: ``class``, ``true``, ``found``, ``right`` (found with an onset
        within the tolerance of a true one of the class, one to one), ``precision``, ``recall``,
        ``f`` and ``false_per_minute``.
    windows : DataFrame
        The same, without the last column, counted in frames, with a line for none of the classes.
    confusion : DataFrame
        Notes paired by the largest overlap. A line for each class, for each label that is no
        class, and for "none" (found where nothing is); a column for each class and for "none"
        (not found).
    frame_error : float
        Share of frames with another class than the true one, or another none.
    seconds, tolerance, frame_seconds : float
        Length of all recordings, onset tolerance, and length of a frame.
    """

    notes: pd.DataFrame
    windows: pd.DataFrame
    confusion: pd.DataFrame
    frame_error: float
    seconds: float
    tolerance: float
    frame_seconds: float

    @property
    def note_f(self) -> float:
        """F over notes: the mean of the classes that occur or are found."""
        return _mean_f(self.notes)

    @property
    def window_f(self) -> float:
        """F over frames: the mean of the classes that occur or are found, and none of them."""
        return _mean_f(self.windows)

    @property
    def n_false(self) -> int:
        """Found notes that answer to no true note of their class."""
        return int(self.notes["found"].sum() - self.notes["right"].sum())

    @property
    def false_per_minute(self) -> float:
        """False notes in a minute of recording."""
        return _per_minute(self.n_false, self.seconds)

    @property
    def foreign(self) -> list[str]:
        """Annotated labels that are no class."""
        classes = {*self.notes["class"], NONE}
        return [name for name in self.confusion.index if name not in classes]

    @property
    def sentences(self) -> list[str]:
        """Say what the tables come to."""
        right, true = int(self.notes["right"].sum()), int(self.notes["true"].sum())
        were = "was" if right == 1 else "were"
        false = "1 find is" if self.n_false == 1 else f"{self.n_false} finds are"
        notes = "1 note" if true == 1 else f"{true} notes"
        said = [
            f"Of {notes}, {right} {were} found within {1000 * self.tolerance:.6g} ms of their "
            f"onset; {false} false, {self.false_per_minute:.2f} a minute.",
            f"F over notes {self.note_f:.3f}, over windows {self.window_f:.3f}; "
            f"{100 * self.frame_error:.1f} % of windows are wrong.",
        ]
        if self.foreign:
            n = int(self.confusion.loc[self.foreign].to_numpy().sum())
            said.append(
                f"Annotated but never learnt, so that none is the right answer: {n} of "
                f"{', '.join(map(repr, self.foreign))}."
            )
        return said

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
        return {
            "seconds": self.seconds,
            "onset_tolerance": self.tolerance,
            "frame_seconds": self.frame_seconds,
            "note_f": self.note_f,
            "window_f": self.window_f,
            "frame_error": self.frame_error,
            "false_notes": self.n_false,
            "false_per_minute": self.false_per_minute,
            "foreign_labels": self.foreign,
            "notes": json_rows(self.notes),
            "windows": json_rows(self.windows),
            "confusion": [
                {"label": str(label), "found_as": str(verdict), "notes": int(n)}
                for label, line in self.confusion.iterrows()
                for verdict, n in line.items()
                if n
            ],
        }


def check_notes(
    recordings: Iterable[Compared],
    classes: Iterable[str],
    *,
    tolerance: float = ONSET_TOLERANCE_SECONDS,
    frame_seconds: float = FRAME_SECONDS,
) -> NoteCheck:
    """Compare found notes with true ones.

    Parameters
    ----------
    recordings : iterable of Compared
        Counted together.
    classes : iterable of str
        The classes that could be found.
    tolerance : float, default=0.02
        How far apart the onsets of a true note and a found one may be, in seconds.
    frame_seconds : float, default=0.002
        Length of a frame.

    Returns
    -------
    NoteCheck
        Tables, and what they come to.

    Raises
    ------
    InputError
        If notes of one recording overlap by more than a hundredth of a second, lie past its end,
        or are found of no class.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import Compared, check_notes
    >>> truth = [Segment(0.5, 0.6, "a"), Segment(0.7, 0.8, "b"), Segment(1.0, 1.1, "x")]
    >>> found = [Segment(0.51, 0.6, "a"), Segment(0.7, 0.8, "a")]
    >>> check = check_notes([Compared(truth, found, seconds=2.0)], ["a", "b"])
    >>> check.notes[["class", "true", "found", "right", "precision", "recall", "f"]]
      class  true  found  right  precision  recall         f
    0     a     1      2      1        0.5     1.0  0.666667
    1     b     1      0      0        0.0     0.0  0.000000
    >>> check.confusion
          a  b  none
    a     1  0     0
    b     1  0     0
    x     0  0     1
    none  0  0     0
    """
    names = checked_classes(classes)
    _check_positive(tolerance, "tolerance", zero_too=True)
    _check_positive(frame_seconds, "frame_seconds")
    songs = [_checked(song, names) for song in recordings]
    seconds = sum(song.seconds for song in songs)
    notes = _note_table(songs, names, tolerance)
    notes["false_per_minute"] = [
        _per_minute(n, seconds) for n in (notes["found"] - notes["right"]).tolist()
    ]
    frames = _frame_counts(songs, names, frame_seconds)
    windows = _shares([*names, NONE], frames.sum(axis=1), frames.sum(axis=0), frames.diagonal())
    n_frames = int(frames.sum())
    error = 1 - int(frames.trace()) / n_frames if n_frames else 0.0
    confusion = _confusion(songs, names)
    return NoteCheck(notes, windows, confusion, error, seconds, tolerance, frame_seconds)


def threshold_curve(
    recordings: Iterable[Compared],
    classes: Iterable[str],
    *,
    tolerance: float = ONSET_TOLERANCE_SECONDS,
) -> pd.DataFrame:
    """Say what F would be if only notes with a score of at least so much were kept.

    Parameters
    ----------
    recordings, classes, tolerance
        As for :func:`check_notes`. The curve begins at the lowest score found: the more doubtful
        notes there are among the found ones, the further down it reaches.

    Returns
    -------
    DataFrame
        A line for each of up to 100 scores that occur: ``threshold``, ``f`` (mean over the
        classes), ``precision`` and ``recall`` (of all notes together) and ``false_per_minute``.
        No line if no found note has a score.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import Compared, threshold_curve
    >>> found = [Segment(0.5, 0.6, "a", score=0.9), Segment(1.5, 1.6, "a", score=0.4)]
    >>> threshold_curve([Compared([Segment(0.5, 0.6, "a")], found, 2.0)], ["a"]).round(2)
       threshold     f  precision  recall  false_per_minute
    0        0.4  0.67        0.5     1.0              30.0
    1        0.9  1.00        1.0     1.0               0.0
    """
    names = checked_classes(classes)
    songs = [_checked(song, names) for song in recordings]
    seconds = sum(song.seconds for song in songs)
    scores = [note.score for song in songs for note in song.found if note.score is not None]
    lines = []
    for threshold in _few_values(scores):
        kept = [_from_score(song, threshold) for song in songs]
        table = _note_table(kept, names, tolerance)
        true, found, right = (int(table[name].sum()) for name in ("true", "found", "right"))
        one = _shares(["all"], np.array([true]), np.array([found]), np.array([right]))
        precision, recall = float(one["precision"].iloc[0]), float(one["recall"].iloc[0])
        false = _per_minute(found - right, seconds)
        lines.append((threshold, _mean_f(table), precision, recall, false))
    columns = ["threshold", "f", "precision", "recall", "false_per_minute"]
    return pd.DataFrame(lines, columns=columns, dtype=float)


def checked_classes(classes: Iterable[str]) -> list[str]:
    """Give the classes as a list, or say why they cannot be told apart from none of them."""
    names = [str(name) for name in classes]
    if NONE in names:
        raise InputError(
            f"A class called {NONE!r} cannot be told from no note at all; give it another name."
        )
    if not names or len(set(names)) < len(names):
        raise InputError(f"There must be at least one class, each named once; got {names!r}.")
    return names


# --- counting --------------------------------------------------------------------------------


def _note_table(songs: Sequence[Compared], names: list[str], tolerance: float) -> pd.DataFrame:
    counts = np.zeros((3, len(names)), dtype=np.intp)
    for song in songs:
        for number, name in enumerate(names):
            true = [note.start for note in song.truth if note.label == name]
            found = [note.start for note in song.found if note.label == name]
            right = len(onset_pairs(true, found, tolerance))
            counts[:, number] += len(true), len(found), right
    return _shares(names, *counts)


def _frame_counts(songs: Sequence[Compared], names: list[str], frame_seconds: float) -> Indices:
    """Count frames by true and by found class; the last of both is none."""
    n = len(names) + 1
    counts = np.zeros(n * n, dtype=np.intp)
    for song in songs:
        n_frames = math.ceil(round(song.seconds / frame_seconds, 6))
        true, found = (
            frame_labels(notes, names, n_frames, frame_seconds)
            for notes in (song.truth, song.found)
        )
        # No note is -1: modulo n it is the last.
        counts += np.bincount((true % n) * n + found % n, minlength=n * n)
    return counts.reshape(n, n)


def _confusion(songs: Sequence[Compared], names: list[str]) -> pd.DataFrame:
    foreign = sorted({note.label for song in songs for note in song.truth} - set(names))
    lines, columns = [*names, *foreign, NONE], [*names, NONE]
    line_of = {name: place for place, name in enumerate(lines)}
    column_of = {name: place for place, name in enumerate(columns)}
    counts = np.zeros((len(lines), len(columns)), dtype=np.intp)
    for song in songs:
        pairs = overlap_pairs(song.truth, song.found)
        answer = {pair.true: song.found[pair.found].label for pair in pairs}
        for place, note in enumerate(song.truth):
            counts[line_of[note.label], column_of[answer.get(place, NONE)]] += 1
        used = {pair.found for pair in pairs}
        for place, note in enumerate(song.found):
            if place not in used:
                counts[-1, column_of[note.label]] += 1
    return pd.DataFrame(counts, index=lines, columns=columns)


def _shares(names: Sequence[str], true: Indices, found: Indices, right: Indices) -> pd.DataFrame:
    nothing = np.where((true == 0) & (found == 0), 1.0, 0.0)

    def share(part: Indices, whole: Indices) -> NDArray[np.float64]:
        return np.where(whole > 0, part / np.maximum(whole, 1), nothing)

    return pd.DataFrame(
        {
            "class": list(names),
            "true": true,
            "found": found,
            "right": right,
            "precision": share(right, found),
            "recall": share(right, true),
            "f": share(2 * right, true + found),
        }
    )


def _mean_f(table: pd.DataFrame) -> float:
    is_there = (table["true"] + table["found"]) > 0
    return float(table.loc[is_there, "f"].mean()) if is_there.any() else 1.0


def _per_minute(n: int, seconds: float) -> float:
    return 60 * n / seconds if seconds > 0 else 0.0


# --- what was given --------------------------------------------------------------------------


def _checked(song: Compared, names: list[str]) -> Compared:
    _check_positive(song.seconds, "seconds", zero_too=True)
    # A label "none" says that nothing is there.
    truth = without_rounding_overlaps(note for note in song.truth if note.label != NONE)
    found = without_rounding_overlaps(song.found)
    check_segments(truth, song.seconds, source="The annotation")
    check_segments(found, song.seconds, source="The list of found notes")
    strange = sorted({note.label for note in found} - set(names))
    if strange:
        raise InputError(f"Notes were found of {strange[0]!r}, which is none of the classes.")
    return Compared(truth, found, song.seconds)


def _check_positive(value: float, name: str, *, zero_too: bool = False) -> None:
    if not (math.isfinite(value) and (value > 0 or (zero_too and value == 0))):
        least = "from zero on" if zero_too else "above zero"
        raise InputError(f"{name} must be a number {least}; got {value!r}.")


def _few_values(scores: Sequence[float]) -> list[float]:
    values = np.unique(np.asarray(scores, dtype=np.float64))
    if len(values) > _MOST_THRESHOLDS:
        places = np.linspace(0, len(values) - 1, _MOST_THRESHOLDS)
        values = values[np.rint(places).astype(np.intp)]
    return [float(value) for value in values]


def _from_score(song: Compared, threshold: float) -> Compared:
    kept = [note for note in song.found if note.score is not None and note.score >= threshold]
    return song._replace(found=kept)
