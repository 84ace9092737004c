"""Evaluation of detected notes against annotations, note by note and frame by frame.

Notes are matched by onset within a tolerance, by overlap, and by the class of each frame. A class
that neither occurs nor is detected has precision, recall and F of 1 and is left out of means;
otherwise a fraction of an empty total is 0. No result is ever NaN.
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
from kernova.errors import InputError, quoted
from kernova.notes.decoding import NO_NOTE
from kernova.tables.records import json_rows
from kernova.text import listed, quantity
from kernova.typing import Indices

# Times are read from files with nine decimals; the tolerance itself is within the tolerance.
_ROUNDING = 1e-9

NONE = "none"
ONSET_TOLERANCE_SECONDS = 0.02
_FRAME_SECONDS = 0.002
# Largest number of points of a threshold curve.
_MAX_THRESHOLDS = 100


class Pair(NamedTuple):
    """Indices of a true note and of the found note that is matched to it."""

    true: int
    found: int


class Compared(NamedTuple):
    """Annotated and found notes of one recording, and its length."""

    truth: Sequence[Segment]  # notes. True notes whose label is no class count as none
    found: Sequence[Segment]
    seconds: float  # length of the recording


@dataclass(frozen=True)
class NoteCheck:
    """Agreement of found and true notes, over one or more recordings."""

    # One row for each class: ``class``, ``true``, ``found``, ``right`` (found with an onset within
    # the tolerance of a true one of the class, one to one), ``precision``, ``recall``, ``f`` and
    # ``false_per_minute``.
    notes: pd.DataFrame
    # The same, without the last column, counted in frames, with a row for none of the classes.
    windows: pd.DataFrame
    # Notes matched by the largest overlap. A row for each class, for each label that is no class,
    # and for "none" (found where there is no note); a column for each class and for "none" (not
    # found).
    confusion: pd.DataFrame
    frame_error: float  # fraction of frames whose class, or none, is wrong
    seconds: float  # length of all recordings, onset tolerance, and length of a frame
    tolerance: float
    frame_seconds: float

    @property
    def note_f(self) -> float:
        """F1 score over notes: the mean of the classes that occur or are found."""
        return _mean_f(self.notes)

    @property
    def window_f(self) -> float:
        """F1 score over windows: the mean of the classes that occur or are found, and of none."""
        return _mean_f(self.windows)

    @property
    def n_false(self) -> int:
        """Number of found notes that match no true note of their class."""
        return int(self.notes["found"].sum() - self.notes["right"].sum())

    @property
    def false_per_minute(self) -> float:
        """False notes per minute of recording."""
        return _per_minute(self.n_false, self.seconds)

    @property
    def foreign(self) -> list[str]:
        """Annotated labels that are no class."""
        classes = {*self.notes["class"], NONE}
        return [name for name in self.confusion.index if name not in classes]

    @property
    def sentences(self) -> list[str]:
        """Summary of the tables, in sentences."""
        right, true = int(self.notes["right"].sum()), int(self.notes["true"].sum())
        were = "was" if right == 1 else "were"
        are = "is" if self.n_false == 1 else "are"
        sentences = [
            f"Of {quantity(true, 'note')}, {right} {were} found within "
            f"{1000 * self.tolerance:.6g} ms of their onset; "
            f"{quantity(self.n_false, 'detection')} {are} false, "
            f"{self.false_per_minute:.2f} per minute.",
            f"F1 score {self.note_f:.3f} over notes, {self.window_f:.3f} over windows; "
            f"{100 * self.frame_error:.1f} % of windows are wrong.",
        ]
        if self.foreign:
            n = int(self.confusion.loc[self.foreign].to_numpy().sum())
            sentences.append(
                f"Annotated but not learnt, so that none is the correct answer: {n} of "
                f"{listed(self.foreign)}."
            )
        return sentences

    def to_json_dict(self) -> dict[str, Any]:
        """Return all results as numbers and texts for JSON."""
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


def onset_pairs(true_onsets: ArrayLike, found_onsets: ArrayLike, tolerance: float) -> list[Pair]:
    """Match as many onsets as possible, one to one, within the tolerance.

    The earliest two onsets that may be matched are, in order of time. For points on a line with a
    single tolerance, this greedy matching is a maximum matching.

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
    """Match notes that overlap, whatever their labels, the longest overlap first.

    Each note is used once. Neither the true notes nor the found ones may overlap one another.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import overlap_pairs
    >>> overlap_pairs([Segment(0, 1, "a")], [Segment(0, 0.2, "b"), Segment(0.3, 0.9, "c")])
    [Pair(true=0, found=1)]
    """
    pairs = _all_overlaps(truth, found)
    shared = [
        min(truth[i].end, found[j].end) - max(truth[i].start, found[j].start) for i, j in pairs
    ]
    taken_true, taken_found, chosen = set(), set(), []
    for index in np.argsort(-np.array(shared), kind="stable"):
        pair = pairs[index]
        if pair.true not in taken_true and pair.found not in taken_found:
            chosen.append(pair)
            taken_true.add(pair.true)
            taken_found.add(pair.found)
    return sorted(chosen)


def frame_labels(
    segments: Iterable[Segment], classes: Sequence[str], n_frames: int, hop_seconds: float
) -> NDArray[np.intp]:
    """Return the class number at the middle of each frame, -1 where there is no class.

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
    """Trim notes that overlap the next one by at most 0.01 s, the rounding of annotations.

    Examples
    --------
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.notes.evaluation import without_rounding_overlaps
    >>> [note[:2] for note in without_rounding_overlaps([Segment(0, 0.51, "a"),
    ...                                                  Segment(0.5, 1, "b")])]
    [(0, 0.5), (0.5, 1)]
    """
    notes = sorted(segments, key=lambda segment: (segment.start, segment.end))
    for index, (earlier, later) in enumerate(pairwise(list(notes))):
        overlap = earlier.end - later.start
        if 0 < overlap <= EDGE_TOLERANCE_SECONDS + _ROUNDING and earlier.start < later.start:
            notes[index] = earlier._replace(end=later.start)
    return notes


def check_notes(
    recordings: Iterable[Compared],
    classes: Iterable[str],
    *,
    tolerance: float = ONSET_TOLERANCE_SECONDS,
    frame_seconds: float = _FRAME_SECONDS,
) -> NoteCheck:
    """Compare found notes with true ones.

    Parameters
    ----------
    recordings : iterable of Compared
        Recordings, counted together.
    classes : iterable of str
        Classes of the finder.
    tolerance : float, default=0.02
        Largest difference of the onsets of a true and a found note, in seconds.
    frame_seconds : float, default=0.002
        Length of a frame.

    Returns
    -------
    NoteCheck
        Tables and their summary.

    Raises
    ------
    InputError
        If notes of one recording overlap by more than a hundredth of a second, lie past its end,
        or a found note is of none of the classes.

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
    windows = _rates([*names, NONE], frames.sum(axis=1), frames.sum(axis=0), frames.diagonal())
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
    """Return F, precision and recall for each threshold on the score of found notes.

    Parameters
    ----------
    recordings, classes, tolerance
        As for :func:`check_notes`. The curve begins at the lowest score of the found notes.

    Returns
    -------
    DataFrame
        A row for each of up to 100 scores that occur: ``threshold``, ``f`` (mean over the
        classes), ``precision`` and ``recall`` (of all notes together) and ``false_per_minute``.
        No row if no found note has a score.

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
        one = _rates(["all"], np.array([true]), np.array([found]), np.array([right]))
        precision, recall = float(one["precision"].iloc[0]), float(one["recall"].iloc[0])
        false = _per_minute(found - right, seconds)
        lines.append((threshold, _mean_f(table), precision, recall, false))
    columns = ["threshold", "f", "precision", "recall", "false_per_minute"]
    return pd.DataFrame(lines, columns=columns, dtype=float)


def checked_classes(classes: Iterable[str]) -> list[str]:
    """Return the classes as a list; raise InputError if they are ambiguous."""
    names = [str(name) for name in classes]
    if NONE in names:
        raise InputError(
            f"A class labelled {NONE!r} cannot be distinguished from no note; use another label."
        )
    if not names or len(set(names)) < len(names):
        raise InputError(f"There must be at least one class, each named once; got {quoted(names)}.")
    return names


def _all_overlaps(truth: Sequence[Segment], found: Sequence[Segment]) -> list[Pair]:
    """Return all pairs that overlap, in one walk through both."""
    true_order = sorted(range(len(truth)), key=lambda index: truth[index].start)
    found_order = sorted(range(len(found)), key=lambda index: found[index].start)
    pairs = []
    i = j = 0
    while i < len(truth) and j < len(found):
        true_index, found_index = true_order[i], found_order[j]
        one, other = truth[true_index], found[found_index]
        if max(one.start, other.start) < min(one.end, other.end):
            pairs.append(Pair(true_index, found_index))
        if one.end <= other.end:
            i += 1
        else:
            j += 1
    return pairs


def _note_table(songs: Sequence[Compared], names: list[str], tolerance: float) -> pd.DataFrame:
    counts = np.zeros((3, len(names)), dtype=np.intp)
    for song in songs:
        for number, name in enumerate(names):
            true = [note.start for note in song.truth if note.label == name]
            found = [note.start for note in song.found if note.label == name]
            right = len(onset_pairs(true, found, tolerance))
            counts[:, number] += len(true), len(found), right
    return _rates(names, *counts)


def _frame_counts(songs: Sequence[Compared], names: list[str], frame_seconds: float) -> Indices:
    """Return the number of frames by true and by found class; the last of both is none."""
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
    rows, columns = [*names, *foreign, NONE], [*names, NONE]
    row_of = {name: index for index, name in enumerate(rows)}
    column_of = {name: index for index, name in enumerate(columns)}
    counts = np.zeros((len(rows), len(columns)), dtype=np.intp)
    for song in songs:
        pairs = overlap_pairs(song.truth, song.found)
        matched = {pair.true: song.found[pair.found].label for pair in pairs}
        for index, note in enumerate(song.truth):
            counts[row_of[note.label], column_of[matched.get(index, NONE)]] += 1
        used = {pair.found for pair in pairs}
        for index, note in enumerate(song.found):
            if index not in used:
                counts[-1, column_of[note.label]] += 1
    return pd.DataFrame(counts, index=rows, columns=columns)


def _rates(names: Sequence[str], true: Indices, found: Indices, right: Indices) -> pd.DataFrame:
    nothing = np.where((true == 0) & (found == 0), 1.0, 0.0)

    def rate(part: Indices, whole: Indices) -> NDArray[np.float64]:
        return np.where(whole > 0, part / np.maximum(whole, 1), nothing)

    return pd.DataFrame(
        {
            "class": list(names),
            "true": true,
            "found": found,
            "right": right,
            "precision": rate(right, found),
            "recall": rate(right, true),
            "f": rate(2 * right, true + found),
        }
    )


def _mean_f(table: pd.DataFrame) -> float:
    is_there = (table["true"] + table["found"]) > 0
    return float(table.loc[is_there, "f"].mean()) if is_there.any() else 1.0


def _per_minute(n: int, seconds: float) -> float:
    return 60 * n / seconds if seconds > 0 else 0.0


def _checked(song: Compared, names: list[str]) -> Compared:
    _check_positive(song.seconds, "seconds", zero_too=True)
    # A label "none" means that there is no note.
    truth = without_rounding_overlaps(note for note in song.truth if note.label != NONE)
    found = without_rounding_overlaps(song.found)
    check_segments(truth, song.seconds, source="The annotation")
    check_segments(found, song.seconds, source="The list of found notes")
    unknown = sorted({note.label for note in found} - set(names))
    if unknown:
        raise InputError(f"Notes were found of {quoted(unknown[0])}, which is none of the classes.")
    return Compared(truth, found, song.seconds)


def _check_positive(value: float, name: str, *, zero_too: bool = False) -> None:
    if not (math.isfinite(value) and (value > 0 or (zero_too and value == 0))):
        bound = "of at least zero" if zero_too else "above zero"
        raise InputError(f"{name} must be a number {bound}; got {quoted(value)}.")


def _few_values(scores: Sequence[float]) -> list[float]:
    values = np.unique(np.asarray(scores, dtype=np.float64))
    if len(values) > _MAX_THRESHOLDS:
        indices = np.linspace(0, len(values) - 1, _MAX_THRESHOLDS)
        values = values[np.rint(indices).astype(np.intp)]
    return [float(value) for value in values]


def _from_score(song: Compared, threshold: float) -> Compared:
    kept = [note for note in song.found if note.score is not None and note.score >= threshold]
    return song._replace(found=kept)
