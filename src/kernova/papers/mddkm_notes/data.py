"""Labelled notes to search for, and the sounds to search in.

A note set is a folder of clips, with whole songs if there are any, or a set of synthetic notes of
eight classes, as many as the paper on multiclass data description has. Sounds to search are whole
songs, notes joined in random order, and songs with one class replaced by silence.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy.signal import butter, sosfilt

from kernova.audio.annotations import read_annotations
from kernova.audio.annotations.segments import Segment, segments_by_file
from kernova.audio.reading import Audio, audio_info, read_audio
from kernova.errors import InputError, quoted
from kernova.papers.claims import check_data_folder
from kernova.text import quantity
from kernova.textfiles import read_text
from kernova.typing import Indices, Samples

INDEX: Final = "index.csv"
_SONG_TABLE: Final = Path("songs") / "annotations.csv"

SYNTHETIC: Final = "synthetic"
SAMPLE_RATE: Final = 22050
N_EACH: Final = 7
_NOISE: Final = 0.003
_FADE_IN_SECONDS: Final = 0.006

# Classes learnt at a time.
N_KNOWN: Final = 3
# A note fades in and out beyond its annotated borders.
_FRINGE_SECONDS: Final = 0.005
_CROSSFADE_SECONDS: Final = 0.001
# Lengths of silence to look for in a song, longest first.
_QUIET_SECONDS: Final = (0.5, 0.2, 0.1, 0.05, 0.02)
# Between clips of different recordings: noise as loud as this quantile of their levels.
_GAP_SECONDS: Final = 0.25
_QUIET_QUANTILE: Final = 0.1

Random = np.random.Generator


# --- note sets ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AnnotatedSong:
    """A whole recording, and all its notes."""

    name: str
    audio: Audio
    notes: tuple[Segment, ...]


@dataclass(frozen=True, eq=False)
class NoteSet:
    """Clips of one note each, and songs with such notes.

    Attributes
    ----------
    name : str
    clips : tuple of Audio
        Of one sample rate, cut at the borders of the notes.
    labels : tuple of str
        The class of each.
    recordings : tuple of str
        The recording of each; training notes and notes to find have none in common.
    songs : tuple of AnnotatedSong
        May be empty.
    """

    name: str
    clips: tuple[Audio, ...]
    labels: tuple[str, ...]
    recordings: tuple[str, ...]
    songs: tuple[AnnotatedSong, ...] = ()

    @property
    def classes(self) -> list[str]:
        """The classes, in order."""
        return sorted(set(self.labels))

    @property
    def sample_rate(self) -> int:
        """Samples per second of every clip."""
        return self.clips[0].sample_rate

    def of_class(self, name: str) -> Indices:
        """Return the indices of the notes of a class."""
        return np.flatnonzero(np.array(self.labels) == name)


def read_note_set(folder: str | Path, name: str | None = None) -> NoteSet:
    """Read a folder of notes: the clips listed in ``index.csv``, and songs if there are any.

    Parameters
    ----------
    folder : path
        With ``index.csv`` (columns ``file``, ``label`` and, if several notes come from one
        recording, ``recording``) and, optionally, ``songs/annotations.csv`` (``file``, ``label``,
        ``start``, ``end``); paths are relative to the table.
    name : str, default=the folder's name

    Returns
    -------
    NoteSet
    """
    folder = Path(folder)
    rows = _index_rows(folder / INDEX)
    paths = [folder / row["file"] for row in rows]
    rate = min(audio_info(path).sample_rate for path in paths)
    clips = tuple(read_audio(path, sample_rate=rate) for path in paths)
    # Each clip without a recording counts as a recording of its own.
    recordings = tuple(row.get("recording") or row["file"] for row in rows)
    labels = tuple(row["label"] for row in rows)
    return NoteSet(name or folder.name, clips, labels, recordings, _songs(folder / _SONG_TABLE))


def note_folders(folder: str | Path) -> list[Path]:
    """Return the folders of notes: this one, or those in it or in its folder ``notes``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from kernova.papers.mddkm_notes.data import note_folders
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "notes" / "wren").mkdir(parents=True)
    >>> _ = (folder / "notes" / "wren" / "index.csv").write_text("file,label")
    >>> [path.name for path in note_folders(folder)]
    ['wren']
    """
    folder = Path(folder)
    check_data_folder(folder, "notes")
    if (folder / INDEX).is_file():
        return [folder]
    inside = [*folder.glob(f"*/{INDEX}"), *folder.glob(f"notes/*/{INDEX}")]
    return sorted(path.parent for path in inside)


def _index_rows(path: Path) -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(read_text(path)))
    missing = {"file", "label"} - set(table.fieldnames or ())
    if missing:
        raise InputError(
            f"{path} has no column {quoted(sorted(missing)[0])}; it needs file and label."
        )
    rows = [row for row in table if row["file"] and row["label"]]
    if not rows:
        raise InputError(f"{path} lists no note with a label; add at least one.")
    return rows


def _songs(table: Path) -> tuple[AnnotatedSong, ...]:
    if not table.is_file():
        return ()
    by_file = segments_by_file(read_annotations(table, format="csv"))
    return tuple(
        AnnotatedSong(str(file), read_audio(table.parent / str(file)), tuple(sorted(notes)))
        for file, notes in by_file.items()
    )


# --- synthetic notes ------------------------------------------------------------------------------


def synthetic_notes(n_each: int = N_EACH, seed: int = 0) -> NoteSet:
    """Generate notes of eight classes that vary within each class.

    Parameters
    ----------
    n_each : int, default=7
        Notes of each class; seven give 56 notes, as many as in the paper.
    seed : int, default=0
        Random seed of pitch, length and loudness.

    Returns
    -------
    NoteSet
        Four sweeps, two stacks of harmonics and two bursts of noise, at 22,050 samples per second.

    Examples
    --------
    >>> from kernova.papers.mddkm_notes.data import synthetic_notes
    >>> notes = synthetic_notes()
    >>> len(notes.clips), len(notes.classes)
    (56, 8)
    """
    rng = np.random.default_rng(seed)
    clips, labels = [], []
    for name, (sing, seconds) in _VOICES.items():
        for _ in range(n_each):
            n_samples = round(seconds * rng.uniform(0.85, 1.15) * SAMPLE_RATE)
            t = np.arange(n_samples) / n_samples
            sound = rng.uniform(0.2, 0.4) * _faded(sing(t, n_samples / SAMPLE_RATE, rng))
            clips.append(Audio(sound + rng.normal(0, _NOISE, n_samples), SAMPLE_RATE))
            labels.append(name)
    recordings = tuple(str(number) for number in range(len(clips)))
    return NoteSet(SYNTHETIC, tuple(clips), tuple(labels), recordings)


def _pitch(rng: Random) -> float:
    return float(rng.normal(1, 0.02))


def _sweep(*knots_hz: float) -> Callable[[Samples, float, Random], Samples]:
    """Return a whistle through these frequencies, evenly spaced in time."""

    def sing(t: Samples, seconds: float, rng: Random) -> Samples:
        hz = np.interp(t, np.linspace(0, 1, len(knots_hz)), knots_hz) * _pitch(rng)
        return np.sin(2 * np.pi * np.cumsum(hz) / SAMPLE_RATE)

    return sing


def _stack(hz: float, rise: float) -> Callable[[Samples, float, Random], Samples]:
    """Return a tone with all its harmonics."""

    def sing(t: Samples, seconds: float, rng: Random) -> Samples:
        base = hz * _pitch(rng) * (1 + rise * t)
        phase = 2 * np.pi * np.cumsum(base) / SAMPLE_RATE
        tones = [np.sin(k * phase) / k for k in range(1, int(9000 / (hz * (1 + rise))))]
        return np.asarray(sum(tones)) / 2

    return sing


def _burst(low_hz: float, high_hz: float, beats_hz: float) -> Callable[..., Samples]:
    """Return noise between two frequencies, with beats."""

    def sing(t: Samples, seconds: float, rng: Random) -> Samples:
        pitch = _pitch(rng)
        sections = butter(
            4, [low_hz * pitch, high_hz * pitch], "bandpass", fs=SAMPLE_RATE, output="sos"
        )
        hiss = np.asarray(sosfilt(sections, rng.normal(size=len(t))))
        return hiss * (0.6 + 0.4 * np.sin(2 * np.pi * beats_hz * seconds * t))

    return sing


_VOICES: Final[dict[str, tuple[Callable[..., Samples], float]]] = {
    "rise": (_sweep(2500, 6000), 0.15),
    "fall": (_sweep(6500, 3000), 0.15),
    "hill": (_sweep(3500, 7000, 3500), 0.18),
    "steady": (_sweep(4300, 4300), 0.20),
    "low stack": (_stack(600, 0.1), 0.16),
    "high stack": (_stack(1400, -0.15), 0.16),
    "hiss": (_burst(5000, 9000, 30), 0.14),
    "rasp": (_burst(1500, 4000, 55), 0.14),
}


def _faded(sound: Samples) -> Samples:
    n_fade = round(_FADE_IN_SECONDS * SAMPLE_RATE)
    ramp = np.minimum(1.0, (np.arange(len(sound)) + 1) / n_fade)
    return sound * ramp * ramp[::-1]


# --- splits and sounds ----------------------------------------------------------------------------


class NoteSplit(NamedTuple):
    """A random split: known classes, training notes, and the remaining notes in random order.

    Attributes
    ----------
    seed : int
    classes : list of str
    train : array of int
        Indices of the training notes.
    rest : array of int
        Indices of the notes to find, in random order; none is of a recording with training notes.
    """

    seed: int
    classes: list[str]
    train: Indices
    rest: Indices


class Clip(NamedTuple):
    """Sound, and the notes in it."""

    audio: Audio
    notes: tuple[Segment, ...]


def draw_split(notes: NoteSet, n_each: int, seed: int, n_classes: int = N_KNOWN) -> NoteSplit:
    """Draw known classes, and ``n_each`` training notes of each.

    Parameters
    ----------
    notes : NoteSet
    n_each : int
        Notes of each class.
    seed : int
    n_classes : int, default=3

    Returns
    -------
    NoteSplit

    Examples
    --------
    >>> from kernova.papers.mddkm_notes.data import draw_split, synthetic_notes
    >>> split = draw_split(synthetic_notes(), n_each=2, seed=100)
    >>> len(split.classes), len(split.train), len(split.rest)
    (3, 6, 50)
    """
    names = notes.classes
    if len(names) < n_classes:
        raise InputError(
            f"{notes.name} has {quantity(len(names), 'class', 'classes')}; at least {n_classes} "
            "are needed."
        )
    rng = np.random.default_rng(seed)
    classes = sorted(names[number] for number in rng.choice(len(names), n_classes, replace=False))
    for name in classes:
        if len(notes.of_class(name)) < n_each:
            raise InputError(
                f"Class {quoted(name)} of {notes.name} has "
                f"{quantity(len(notes.of_class(name)), 'note')}; at least {n_each} are needed."
            )
    train = np.concatenate([rng.choice(notes.of_class(n), n_each, replace=False) for n in classes])
    used = {notes.recordings[index] for index in train}
    is_free = np.array([recording not in used for recording in notes.recordings])
    return NoteSplit(seed, classes, train, rng.permutation(np.flatnonzero(is_free)))


def joined(notes: NoteSet, indices: Iterable[int], gaps: Sequence[Samples] = ()) -> Clip:
    """Join clips one after the other, without gaps or with these samples between them."""
    pieces: list[Samples] = []
    segments = []
    position, rate = 0, notes.sample_rate
    for number, index in enumerate(indices):
        samples = notes.clips[index].samples
        pieces.append(samples)
        stop = position + len(samples)
        segments.append(Segment(position / rate, stop / rate, notes.labels[index]))
        if len(gaps):
            pieces.append(gaps[number % len(gaps)])
            stop += len(pieces[-1])
        position = stop
    return Clip(Audio(np.concatenate([np.zeros(0), *pieces]), rate), tuple(segments))


def song_clips(notes: NoteSet) -> list[Clip]:
    """Return the whole songs of a set; raise an error if there are none."""
    if not notes.songs:
        raise InputError(f"{notes.name} has no whole songs; add songs/annotations.csv.")
    return [Clip(song.audio, song.notes) for song in notes.songs]


def silenced(clip: Clip, name: str, seed: int = 0) -> Clip:
    """Replace all notes of a class in a song by silence of the same recording.

    Parameters
    ----------
    clip : Clip
        A song with all its notes.
    name : str
        The class.
    seed : int, default=0
        Random seed of the choice of silence.

    Returns
    -------
    Clip
        As long as before.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.reading import Audio
    >>> from kernova.audio.annotations.segments import Segment
    >>> from kernova.papers.mddkm_notes.data import Clip, silenced
    >>> loud = np.r_[np.full(4000, 0.01), np.full(1000, 0.5), np.full(4000, 0.01)]
    >>> song = Clip(Audio(loud, 10000), (Segment(0.4, 0.5, "a"),))
    >>> float(silenced(song, "a").audio.samples.max().round(6))
    0.01
    """
    samples, rate = clip.audio.samples.copy(), clip.audio.sample_rate
    quiet = quiet_part(clip)
    rng = np.random.default_rng(seed)
    for start, stop in _note_ranges(clip, name):
        _crossfade(
            samples,
            start,
            _random_quiet(quiet, stop - start, rng),
            round(_CROSSFADE_SECONDS * rate),
        )
    rest = tuple(note for note in clip.notes if note.label != name)
    return Clip(Audio(samples, rate), rest)


def quiet_part(clip: Clip) -> Samples:
    """Return the quietest part of a song without notes, of half a second if there is one."""
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
    raise InputError("The song has no silence of a fiftieth of a second between its notes.")


def spaced(notes: NoteSet, seed: int = 0) -> Clip:
    """Join all notes of a set in random order, with a quarter of a second of noise between them.

    The noise is white, at the 10 % quantile of the levels of the clips in windows of 10 ms.
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
    quiet = float(np.quantile(np.concatenate(levels), _QUIET_QUANTILE))
    order = rng.permutation(len(notes.clips))
    gaps = rng.normal(0, quiet, (len(order), round(_GAP_SECONDS * rate)))
    return joined(notes, order, list(gaps))


def _note_ranges(clip: Clip, name: str) -> list[tuple[int, int]]:
    """Return the sample ranges of the notes of a class, with fringes outside other notes."""
    rate = clip.audio.sample_rate
    rest = [note for note in clip.notes if note.label != name]
    ends = np.array([0.0, *(note.end for note in rest)])
    starts = np.array([clip.audio.seconds, *(note.start for note in rest)])
    ranges = []
    for note in (one for one in clip.notes if one.label == name):
        middle = (note.start + note.end) / 2
        first = max(note.start - _FRINGE_SECONDS, ends[ends <= middle].max())
        last = min(note.end + _FRINGE_SECONDS, starts[starts >= middle].min())
        ranges.append((round(first * rate), round(last * rate)))
    return ranges


def _random_quiet(quiet: Samples, length: int, rng: np.random.Generator) -> Samples:
    """Return ``length`` samples of the silence from a random start, cyclically."""
    first = int(rng.integers(len(quiet)))
    return np.resize(np.roll(quiet, -first), length)


def _crossfade(samples: Samples, start: int, quiet: Samples, n_fade: int) -> None:
    """Replace samples by silence, with a crossfade at both ends."""
    stop = min(start + len(quiet), len(samples))
    quiet = quiet[: stop - start]
    ramp = np.minimum(1.0, np.arange(1, len(quiet) + 1) / max(n_fade, 1))
    weights = np.minimum(ramp, ramp[::-1])
    samples[start:stop] = weights * quiet + (1 - weights) * samples[start:stop]
