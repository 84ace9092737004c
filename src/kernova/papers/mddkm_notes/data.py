"""Labelled notes to measure with: a folder of clips and, where there are, whole songs.

Made-up notes of eight classes, as many as the paper on multiclass data description had.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from kernova.audio.annotations import read_annotations
from kernova.audio.annotations.segments import Segment, segments_by_file
from kernova.audio.reading import Audio, audio_info, read_audio
from kernova.errors import InputError
from kernova.textfiles import text_of
from kernova.typing import Samples

INDEX = "index.csv"
_SONG_TABLE = Path("songs") / "annotations.csv"


@dataclass(frozen=True, eq=False)
class AnnotatedSong:
    """A whole recording, and all the notes in it."""

    name: str
    audio: Audio
    notes: tuple[Segment, ...]


@dataclass(frozen=True, eq=False)
class NoteSet:
    """Clips of one note each, and songs that hold such notes.

    Attributes
    ----------
    name : str
    clips : tuple of Audio
        All of one sample rate, cut out at the borders of their notes.
    labels : tuple of str
        The class of each.
    recordings : tuple of str
        Where each comes from: notes to learn from and notes to find share none.
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

    def of_class(self, name: str) -> NDArray[np.intp]:
        """Give the places of the notes of a class."""
        return np.flatnonzero(np.array(self.labels) == name)


def read_note_set(folder: str | Path, name: str | None = None) -> NoteSet:
    """Read a folder of notes: clips named in ``index.csv``, and songs if it has some.

    Parameters
    ----------
    folder : path
        With ``index.csv`` (columns ``file``, ``label`` and, where several notes come from one
        recording, ``recording``) and perhaps ``songs/annotations.csv`` (``file``, ``label``,
        ``start``, ``end``), files named from the table's folder on.
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
    # A clip without a recording is one by itself.
    recordings = tuple(row.get("recording") or row["file"] for row in rows)
    labels = tuple(row["label"] for row in rows)
    return NoteSet(name or folder.name, clips, labels, recordings, _songs(folder / _SONG_TABLE))


def note_folders(folder: str | Path) -> list[Path]:
    """Find the folders of notes: this one, or those in it or in its folder ``notes``.

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
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}; name the one that holds the notes.")
    if (folder / INDEX).is_file():
        return [folder]
    inside = [*folder.glob(f"*/{INDEX}"), *folder.glob(f"notes/*/{INDEX}")]
    return sorted(path.parent for path in inside)


def _index_rows(path: Path) -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(text_of(path)))
    missing = {"file", "label"} - set(table.fieldnames or ())
    if missing:
        raise InputError(f"{path} has no column {sorted(missing)[0]!r}; it needs file and label.")
    rows = [row for row in table if row["file"] and row["label"]]
    if not rows:
        raise InputError(f"{path} names no note with a label; give at least one.")
    return rows


def _songs(table: Path) -> tuple[AnnotatedSong, ...]:
    if not table.is_file():
        return ()
    by_file = segments_by_file(read_annotations(table, format="csv"))
    return tuple(
        AnnotatedSong(str(file), read_audio(table.parent / str(file)), tuple(sorted(notes)))
        for file, notes in by_file.items()
    )


Random = np.random.Generator

SYNTHETIC: Final = "synthetic"
SAMPLE_RATE: Final = 22050
N_EACH: Final = 7
_NOISE: Final = 0.003
_FADE_SECONDS: Final = 0.006


def synthetic_notes(n_each: int = N_EACH, seed: int = 0) -> NoteSet:
    """Make notes of eight classes, each note a little other than the last of its class.

    Parameters
    ----------
    n_each : int, default=7
        Notes of each class; seven make 56, as many as the paper had.
    seed : int, default=0
        Decides pitch, length and loudness of each.

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
    """Whistle through frequencies, evenly spaced in time."""

    def sing(t: Samples, seconds: float, rng: Random) -> Samples:
        hz = np.interp(t, np.linspace(0, 1, len(knots_hz)), knots_hz) * _pitch(rng)
        return np.sin(2 * np.pi * np.cumsum(hz) / SAMPLE_RATE)

    return sing


def _stack(hz: float, rise: float) -> Callable[[Samples, float, Random], Samples]:
    """Sing a tone with all its harmonics."""

    def sing(t: Samples, seconds: float, rng: Random) -> Samples:
        base = hz * _pitch(rng) * (1 + rise * t)
        phase = 2 * np.pi * np.cumsum(base) / SAMPLE_RATE
        tones = [np.sin(k * phase) / k for k in range(1, int(9000 / (hz * (1 + rise))))]
        return np.asarray(sum(tones)) / 2

    return sing


def _burst(low_hz: float, high_hz: float, beats_hz: float) -> Callable[..., Samples]:
    """Hiss between two frequencies, in beats."""

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
    n_fade = round(_FADE_SECONDS * SAMPLE_RATE)
    ramp = np.minimum(1.0, (np.arange(len(sound)) + 1) / n_fade)
    return sound * ramp * ramp[::-1]
