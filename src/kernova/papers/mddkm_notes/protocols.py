"""How well notes are found: the same drawing, learning, searching and counting for everybody.

Three protocols. *Songs*: three classes are learnt from a few clips each and found in whole songs.
*All classes*: every class is learnt from all its clips. *Back to back*: as Kalantari, Principe and
Sieving did it, two notes of each of three classes are learnt, and all the others are joined in
random order without a gap; most of them are of classes never learnt.

Notes found where there are none: classes that were silenced, other birds, other thresholds.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from kernova.audio.annotations.segments import Segment
from kernova.audio.reading import Audio
from kernova.errors import InputError
from kernova.notes.evaluation import Compared, NoteCheck, check_notes, threshold_curve
from kernova.notes.finder import NoteFinder
from kernova.papers.mddkm_notes.data import NoteSet
from kernova.progress import track
from kernova.typing import Indices, Samples

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
    >>> from kernova.papers.mddkm_notes.data import synthetic_notes
    >>> from kernova.papers.mddkm_notes.protocols import draw
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
    >>> from kernova.papers.mddkm_notes.protocols import Way, in_words
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


# A note fades in and out beyond the borders that a person drew.
_FRINGE_SECONDS: Final = 0.005
_FADE_SECONDS: Final = 0.001
_QUIET_SECONDS: Final = (0.5, 0.2, 0.1, 0.05, 0.02)
# Between calls that were never one recording: silence with a little noise, as they have.
_GAP_SECONDS: Final = 0.25
_QUIET_SHARE: Final = 0.1
THRESHOLDS: Final = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7)


def silenced(clip: Clip, name: str, seed: int = 0) -> Clip:
    """Take all notes of a class out of a song: its own quiet stands in their places.

    Parameters
    ----------
    clip : Clip
        A song with all its notes.
    name : str
        The class.
    seed : int, default=0
        Which part of the quiet goes where.

    Returns
    -------
    Clip
        As long as before.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.reading import Audio
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.papers.mddkm_notes.protocols import silenced
    >>> from kernova.papers.mddkm_notes.protocols import Clip
    >>> loud = np.r_[np.full(4000, 0.01), np.full(1000, 0.5), np.full(4000, 0.01)]
    >>> song = Clip(Audio(loud, 10000), (Segment(0.4, 0.5, "a"),))
    >>> float(silenced(song, "a").audio.samples.max().round(6))
    0.01
    """
    samples, rate = clip.audio.samples.copy(), clip.audio.sample_rate
    quiet = quiet_part(clip)
    rng = np.random.default_rng(seed)
    for start, stop in _places(clip, name):
        _lay(samples, start, _part(quiet, stop - start, rng), round(_FADE_SECONDS * rate))
    rest = tuple(note for note in clip.notes if note.label != name)
    return Clip(Audio(samples, rate), rest)


def quiet_part(clip: Clip) -> Samples:
    """Give the quietest part of a song that touches none of its notes, half a second if it can."""
    samples, rate = clip.audio.samples, clip.audio.sample_rate
    is_note = np.zeros(len(samples) + 1, dtype=np.intp)
    fringe = round(_FRINGE_SECONDS * rate)
    for note in clip.notes:
        is_note[max(0, round(note.start * rate) - fringe) : round(note.end * rate) + fringe] = 1
    noted, power = np.cumsum(is_note[:-1]), np.cumsum(samples**2)
    for seconds in _QUIET_SECONDS:
        length = round(seconds * rate)
        if length >= len(samples):
            continue
        is_free = noted[length:] == noted[:-length]
        if is_free.any():
            powers = np.where(is_free, power[length:] - power[:-length], np.inf)
            first = int(powers.argmin()) + 1
            return samples[first : first + length]
    raise InputError("The song has no quiet of a fiftieth second between its notes to take.")


def silenced_false_alarms(
    notes: NoteSet,
    way: Way = WAYS[0],
    *,
    n_each: int = 10,
    n_known: int = 3,
    seeds: Sequence[int] = SONG_SEEDS,
    n_silenced: int = 3,
) -> pd.DataFrame:
    """Search songs for a class that does not occur in them.

    Parameters
    ----------
    notes : NoteSet
        With songs.
    way : Way
    n_each : int, default=10
        Notes of each class to learn from.
    n_known : int, default=3
        How many classes are learnt.
    seeds : sequence of int
    n_silenced : int, default=3
        How many of the learnt classes are silenced, one after the other; which come first
        depends on the seed.

    Returns
    -------
    DataFrame
        A line for each seed and silenced class: ``false`` notes, ``minutes`` and
        ``false_per_minute``.
    """
    songs = song_clips(notes)
    lines = []
    for seed in track(seeds, f"{notes.name}: silenced classes"):
        lot = draw(notes, n_each, seed, n_known)
        finder = taught_finder(notes, lot, way)
        for name in np.roll(lot.classes, -(seed % n_known))[:n_silenced].tolist():
            without = [silenced(song, name, seed) for song in songs]
            found = [one for song in without for one in finder.find(song.audio)]
            n_false = sum(one.label == name for one in found)
            lines.append(_counted(seed, name, n_false, _minutes(without)))
    return pd.DataFrame(lines)


def foreign_false_alarms(
    known: NoteSet,
    foreign: Sequence[Clip],
    way: Way = WAYS[0],
    *,
    n_each: int = 10,
    seeds: Sequence[int] = SONG_SEEDS,
) -> pd.DataFrame:
    """Search recordings of other birds: whatever is found is false.

    Parameters
    ----------
    known : NoteSet
        What is learnt, three classes at a time.
    foreign : sequence of Clip
        What is searched.
    way, n_each, seeds
        As for :func:`silenced_false_alarms`.

    Returns
    -------
    DataFrame
        A line for each seed and class: ``false`` notes, ``minutes`` and ``false_per_minute``.
    """
    lines = []
    for seed in track(seeds, f"{known.name}: searched in other birds"):
        lot = draw(known, n_each, seed)
        finder = taught_finder(known, lot, way)
        found = [one.label for clip in foreign for one in finder.find(clip.audio)]
        minutes = _minutes(foreign)
        lines += [_counted(seed, name, found.count(name), minutes) for name in lot.classes]
    return pd.DataFrame(lines)


def spaced(notes: NoteSet, seed: int = 0) -> Clip:
    """Join all notes of a set in random order, a quarter of a second of quiet noise between them.

    The noise is white, and as loud as the quietest tenth of the clips' hundredths of seconds.
    """
    rng = np.random.default_rng(seed)
    rate = notes.sample_rate
    width = rate // 100
    levels = [
        np.sqrt(
            (clip.samples[: len(clip.samples) // width * width].reshape(-1, width) ** 2).mean(1)
        )
        for clip in notes.clips
    ]
    quiet = float(np.quantile(np.concatenate(levels), _QUIET_SHARE))
    order = rng.permutation(len(notes.clips))
    gaps = rng.normal(0, quiet, (len(order), round(_GAP_SECONDS * rate)))
    return joined(notes, order, list(gaps))


def threshold_sweep(
    notes: NoteSet,
    way: Way = WAYS[0],
    *,
    n_each: int = 10,
    seeds: Sequence[int] = SONG_SEEDS[:4],
    thresholds: Iterable[float | None] = (None, *THRESHOLDS),
) -> pd.DataFrame:
    """Search songs with several thresholds, each class's own (NaN) among them.

    Returns
    -------
    DataFrame
        A line for each seed and threshold: note F, precision and recall of all notes together,
        and false notes a minute.
    """
    songs = song_clips(notes)
    lines = []
    for seed in track(seeds, f"{notes.name}: thresholds"):
        finder = taught_finder(notes, draw(notes, n_each, seed), way)
        for threshold in thresholds:
            check = check_found(finder.set_params(threshold=threshold), songs)
            true, found, right = (int(check.notes[name].sum()) for name in _COUNTED)
            lines.append(
                {
                    "seed": seed,
                    "threshold": np.nan if threshold is None else threshold,
                    "f": check.note_f,
                    "precision": right / found if found else float(true == 0),
                    "recall": right / true if true else 1.0,
                    "false_per_minute": check.false_per_minute,
                }
            )
    return pd.DataFrame(lines)


def score_curve(
    notes: NoteSet,
    way: Way = WAYS[0],
    *,
    n_each: int = 10,
    seeds: Sequence[int] = SONG_SEEDS[:4],
    lowest: float = THRESHOLDS[0],
) -> pd.DataFrame:
    """Search songs once with a low threshold, and leave finds out by their scores afterwards.

    Classes of different seeds count as different classes.

    Returns
    -------
    DataFrame
        As :func:`~kernova.notes.evaluation.threshold_curve` gives it.
    """
    songs = song_clips(notes)
    compared: list[Compared] = []
    classes: list[str] = []
    for seed in track(seeds, f"{notes.name}: scores"):
        finder = taught_finder(notes, draw(notes, n_each, seed), way, lowest)
        for song in songs:
            found = _marked(finder.find(song.audio), seed)
            compared.append(Compared(_marked(song.notes, seed), found, song.audio.seconds))
        classes += [f"{name} ({seed})" for name in finder.classes_]
    return threshold_curve(compared, classes)


_COUNTED: Final = ("true", "found", "right")


def _marked(segments: Iterable[Segment], seed: int) -> list[Segment]:
    return [one._replace(label=f"{one.label} ({seed})") for one in segments]


def _counted(seed: int, name: str, n_false: int, minutes: float) -> dict[str, float | str]:
    return {
        "seed": seed,
        "class": name,
        "false": n_false,
        "minutes": minutes,
        "false_per_minute": n_false / minutes,
    }


def _minutes(clips: Iterable[Clip]) -> float:
    return sum(clip.audio.seconds for clip in clips) / 60


def _places(clip: Clip, name: str) -> list[tuple[int, int]]:
    """Give the samples of the notes of a class, with fringes that reach into no other note."""
    rate = clip.audio.sample_rate
    others = [note for note in clip.notes if note.label != name]
    ends = np.array([0.0, *(note.end for note in others)])
    starts = np.array([clip.audio.seconds, *(note.start for note in others)])
    places = []
    for note in (one for one in clip.notes if one.label == name):
        middle = (note.start + note.end) / 2
        first = max(note.start - _FRINGE_SECONDS, ends[ends <= middle].max())
        last = min(note.end + _FRINGE_SECONDS, starts[starts >= middle].min())
        places.append((round(first * rate), round(last * rate)))
    return places


def _part(quiet: Samples, length: int, rng: np.random.Generator) -> Samples:
    """Take a stretch of the quiet at random, and again from its beginning where it ends."""
    first = int(rng.integers(len(quiet)))
    return np.resize(np.roll(quiet, -first), length)


def _lay(samples: Samples, start: int, quiet: Samples, n_fade: int) -> None:
    """Put quiet in place of samples, fading over at both ends."""
    stop = min(start + len(quiet), len(samples))
    quiet = quiet[: stop - start]
    ramp = np.minimum(1.0, np.arange(1, len(quiet) + 1) / max(n_fade, 1))
    share = np.minimum(ramp, ramp[::-1])
    samples[start:stop] = share * quiet + (1 - share) * samples[start:stop]
