"""How well notes are found: the same drawing, learning, searching and counting for everybody.

Three protocols. *Songs*: three classes are learnt from a few clips each and found in whole songs.
*All classes*: every class is learnt from all its clips. *Back to back*: as Kalantari, Principe and
Sieving did it, two notes of each of three classes are learnt, and all the others are joined in
random order without a gap; most of them are of classes never learnt.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.load.audio import Audio
from kernova.load.segments import Segment
from kernova.progress import track
from kernova.studies.note_check import Compared, NoteCheck, check_notes
from kernova.studies.note_sets import NoteSet
from kernova.studies.notes import NoteFinder

Indices = NDArray[np.intp]
Samples = NDArray[np.float64]

N_KNOWN: Final = 3
# F of a class by window, by note with its onset within 20 ms, and by note wherever it begins.
MEASURES: Final = ("window_f", "note_f", "overlap_f")
# Seeds that nothing was chosen by.
FIRST_SEED: Final = 100
SONG_SEEDS: Final = range(FIRST_SEED, FIRST_SEED + 24)
JOINED_SEEDS: Final = range(FIRST_SEED, FIRST_SEED + 20)


class Way(NamedTuple):
    """A way to find notes."""

    preset: Literal["song", "paper"] = "song"
    method: Literal["mddkm", "pknn"] = "mddkm"

    def finder(self, threshold: float | None = None) -> NoteFinder:
        """Make what finds notes in this way."""
        return NoteFinder(preset=self.preset, method=self.method, threshold=threshold)


WAYS: Final = (
    Way("song", "mddkm"),
    Way("song", "pknn"),
    Way("paper", "mddkm"),
    Way("paper", "pknn"),
)


class Lot(NamedTuple):
    """What was drawn: three classes, notes of them to learn from, and the order of the others.

    Attributes
    ----------
    seed : int
    classes : list of str
    taught : array of int
        Places of the notes to learn from.
    others : array of int
        Places of the notes to find, in random order; none is of a recording that was learnt from.
    """

    seed: int
    classes: list[str]
    taught: Indices
    others: Indices


class Clip(NamedTuple):
    """Sound, and the notes that are in it."""

    audio: Audio
    notes: tuple[Segment, ...]


def draw(notes: NoteSet, n_each: int, seed: int, n_classes: int = N_KNOWN) -> Lot:
    """Draw known classes, and so many notes of each to learn from.

    Parameters
    ----------
    notes : NoteSet
    n_each : int
        Notes of each class.
    seed : int
    n_classes : int, default=3

    Returns
    -------
    Lot

    Examples
    --------
    >>> from kernova.studies.mddkm_synthetic_notes import synthetic_notes
    >>> from kernova.studies.note_protocols import draw
    >>> lot = draw(synthetic_notes(), n_each=2, seed=100)
    >>> len(lot.classes), len(lot.taught), len(lot.others)
    (3, 6, 50)
    """
    names = notes.classes
    if len(names) < n_classes:
        raise InputError(
            f"{notes.name} has {len(names)} classes; {n_classes} are to be learnt, so give more."
        )
    rng = np.random.default_rng(seed)
    classes = sorted(names[place] for place in rng.choice(len(names), n_classes, replace=False))
    for name in classes:
        if len(notes.of_class(name)) < n_each:
            raise InputError(
                f"Class {name!r} of {notes.name} has {len(notes.of_class(name))} notes, and "
                f"{n_each} are to be learnt from; give more."
            )
    taught = np.concatenate([rng.choice(notes.of_class(n), n_each, replace=False) for n in classes])
    used = {notes.recordings[place] for place in taught}
    is_free = np.array([recording not in used for recording in notes.recordings])
    return Lot(seed, classes, taught, rng.permutation(np.flatnonzero(is_free)))


def taught_finder(notes: NoteSet, lot: Lot, way: Way, threshold: float | None = None) -> NoteFinder:
    """Learn what was drawn."""
    return way.finder(threshold).fit(
        [notes.clips[place] for place in lot.taught], [notes.labels[place] for place in lot.taught]
    )


def joined(notes: NoteSet, places: Iterable[int], gaps: Sequence[Samples] = ()) -> Clip:
    """Put clips one behind the other, without a gap or with these samples between them."""
    pieces: list[Samples] = []
    segments = []
    position, rate = 0, notes.sample_rate
    for number, place in enumerate(places):
        samples = notes.clips[place].samples
        pieces.append(samples)
        stop = position + len(samples)
        segments.append(Segment(position / rate, stop / rate, notes.labels[place]))
        if len(gaps):
            pieces.append(gaps[number % len(gaps)])
            stop += len(pieces[-1])
        position = stop
    return Clip(Audio(np.concatenate([np.zeros(0), *pieces]), rate), tuple(segments))


def check_found(finder: NoteFinder, clips: Iterable[Clip]) -> NoteCheck:
    """Search clips, and count over all of them together."""
    compared = [Compared(clip.notes, finder.find(clip.audio), clip.audio.seconds) for clip in clips]
    return check_notes(compared, finder.classes_)


def song_clips(notes: NoteSet) -> list[Clip]:
    """Give the whole songs of a set, or say that there are none."""
    if not notes.songs:
        raise InputError(f"{notes.name} has no whole songs; give songs/annotations.csv.")
    return [Clip(song.audio, song.notes) for song in notes.songs]


def songs_protocol(
    notes: NoteSet, way: Way = WAYS[0], n_each: int = 10, seeds: Sequence[int] = SONG_SEEDS
) -> pd.DataFrame:
    """Learn three classes from a few notes each, and find them in whole songs.

    Parameters
    ----------
    notes : NoteSet
        With songs.
    way : Way
    n_each : int, default=10
        Notes of each class to learn from.
    seeds : sequence of int
        Each draws other classes and other notes.

    Returns
    -------
    DataFrame
        A line for each seed and class, and for none of the classes: F by window, by note (onsets
        within 20 ms), and by note wherever it begins.
    """
    songs = song_clips(notes)
    return _lines(
        seeds,
        f"{notes.name}: songs, {in_words(way)}",
        lambda seed: _searched(notes, draw(notes, n_each, seed), way, songs),
    )


def all_classes_check(notes: NoteSet, way: Way = WAYS[0]) -> NoteCheck:
    """Learn every class from all its notes, and find them in whole songs."""
    finder = way.finder().fit(list(notes.clips), list(notes.labels))
    return check_found(finder, song_clips(notes))


def back_to_back_protocol(
    notes: NoteSet, way: Way = WAYS[0], n_each: int = 2, seeds: Sequence[int] = JOINED_SEEDS
) -> pd.DataFrame:
    """Learn two notes of three classes, and find the others among all notes joined together.

    Parameters
    ----------
    notes : NoteSet
    way : Way
    n_each : int, default=2
        Notes of each class to learn from.
    seeds : sequence of int
        Each draws other classes, other notes and another order.

    Returns
    -------
    DataFrame
        As :func:`songs_protocol` gives it.
    """

    def one(seed: int) -> NoteCheck:
        lot = draw(notes, n_each, seed)
        return _searched(notes, lot, way, [joined(notes, lot.others)])

    return _lines(seeds, f"{notes.name}: back to back, {in_words(way)}", one)


def in_words(way: Way) -> str:
    """Name a way.

    Examples
    --------
    >>> from kernova.studies.note_protocols import Way, in_words
    >>> in_words(Way("paper", "pknn"))
    'preset paper, PKNN'
    """
    return f"preset {way.preset}, {'MDD-KM' if way.method == 'mddkm' else 'PKNN'}"


def seed_means(lines: pd.DataFrame) -> pd.DataFrame:
    """Give F by seed: windows over the known classes and none, notes over the known classes."""
    return lines.groupby("seed")[[*MEASURES]].mean()


def _searched(notes: NoteSet, lot: Lot, way: Way, clips: Sequence[Clip]) -> NoteCheck:
    return check_found(taught_finder(notes, lot, way), clips)


def _lines(seeds: Sequence[int], task: str, check: Callable[[int], NoteCheck]) -> pd.DataFrame:
    tables = []
    for seed in track(seeds, task):
        one = check(seed)
        by_window = one.windows[["class", "f"]].rename(columns={"f": "window_f"})
        by_note = one.notes[["class", "f"]].rename(columns={"f": "note_f"})
        by_note = by_note.assign(overlap_f=overlap_f(one))
        both = by_window.merge(by_note, on="class", how="left")
        tables.append(both.assign(seed=seed, frame_error=one.frame_error))
    lines = pd.concat(tables, ignore_index=True)
    return lines[["seed", "class", *MEASURES, "frame_error"]]


def overlap_f(check: NoteCheck) -> list[float]:
    """Give F of each class over notes paired by the largest overlap, wherever they begin.

    The paper's system finds notes late, and its notes may have been counted so.
    """
    right = [int(check.confusion.loc[name, name]) for name in check.notes["class"]]
    counts = (check.notes["true"] + check.notes["found"]).tolist()
    return [2 * n / total if total else 1.0 for n, total in zip(right, counts, strict=True)]
