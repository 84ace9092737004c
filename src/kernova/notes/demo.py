"""Demonstration recordings: songs of three synthetic birds, with annotations."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernova.audio.annotations import ANNOTATION_ENDINGS, Segment, write_annotations
from kernova.audio.reading import sound_library
from kernova.files import replacing
from kernova.typing import Samples

SAMPLE_RATE = 22050
_NOISE = 0.004
# A fourth bird sings in every recording and is not annotated.
UNKNOWN = "unknown"


class DemoFiles(NamedTuple):
    """Files that were written."""

    training: Path  # A recording, and the annotations of its notes
    annotations: Path
    night: Path  # folder of recordings to search
    truth: tuple[Path, ...]  # annotations of each of them, for comparison


class Song(NamedTuple):
    """Samples, and all notes in them."""

    samples: Samples
    notes: list[Segment]


def write_note_demo(folder: str | Path, seed: int = 0) -> DemoFiles:
    """Write a recording with annotated notes, and two other recordings to search.

    Parameters
    ----------
    folder : path
        An existing folder.
    seed : int, default=0
        Random seed of the songs.

    Returns
    -------
    DemoFiles
        Paths of the files.

    Examples
    --------
    >>> import tempfile
    >>> from kernova.notes.demo import write_note_demo
    >>> files = write_note_demo(tempfile.mkdtemp())
    >>> sorted(path.name for path in files.night.iterdir())
    ['dawn.wav', 'dusk.wav']
    """
    target = Path(folder)
    random = np.random.default_rng(seed)
    ending = ANNOTATION_ENDINGS["raven"]
    annotations = _write(sung(random, 44), target / "lesson.wav", target / f"lesson{ending}")
    for name in ("night", "truth"):
        (target / name).mkdir(exist_ok=True)
    truth = tuple(
        _write(
            sung(random, 40), target / "night" / f"{name}.wav", target / "truth" / f"{name}{ending}"
        )
        for name in ("dusk", "dawn")
    )
    return DemoFiles(target / "lesson.wav", annotations, target / "night", truth)


def sung(random: np.random.Generator, n_notes: int, gap_seconds: float = 0.08) -> Song:
    """Synthesise a song of this many notes, with random variation of each note."""
    pieces = [np.zeros(round(0.5 * SAMPLE_RATE))]
    notes = []
    position = len(pieces[0])
    for voice in random.permutation(np.arange(n_notes) % len(_VOICES)):
        name, sing, mean_seconds = _VOICES[int(voice)]
        length = round(mean_seconds * random.uniform(0.9, 1.1) * SAMPLE_RATE)
        note = sing(np.arange(length) / SAMPLE_RATE, random.normal(1, 0.02))
        gap = round(gap_seconds * random.uniform(0.5, 2.0) * SAMPLE_RATE)
        pieces += [random.uniform(0.15, 0.3) * _with_fades(note), np.zeros(gap)]
        start, end = position / SAMPLE_RATE, (position + length) / SAMPLE_RATE
        notes.append(Segment(round(start, 4), round(end, 4), name))
        position += length + gap
    samples = np.concatenate([*pieces, np.zeros(round(0.5 * SAMPLE_RATE))])
    return Song(samples + random.normal(0, _NOISE, len(samples)), notes)


def _rising(t: Samples, pitch: float) -> Samples:
    return np.sin(2 * np.pi * pitch * (2500 * t + 15000 * t**2))


def _falling(t: Samples, pitch: float) -> Samples:
    return np.sin(2 * np.pi * pitch * (6500 * t - 15000 * t**2))


def _buzz(t: Samples, pitch: float) -> Samples:
    return np.asarray(sum(np.sin(2 * np.pi * 700 * pitch * k * t) / 3 for k in range(2, 9)))


def _trill(t: Samples, pitch: float) -> Samples:
    return np.sin(2 * np.pi * 4200 * pitch * t) * (np.sin(2 * np.pi * 45 * t) > -0.2)


_VOICES: tuple[tuple[str, Callable[[Samples, float], Samples], float], ...] = (
    ("rising", _rising, 0.09),
    ("falling", _falling, 0.09),
    ("buzz", _buzz, 0.12),
    (UNKNOWN, _trill, 0.10),
)


def _with_fades(note: Samples) -> Samples:
    n_fade = min(len(note) // 2, round(0.004 * SAMPLE_RATE))
    ramp = np.minimum(1.0, (np.arange(len(note)) + 1) / n_fade)
    return np.asarray(note * ramp * ramp[::-1])


def _write(song: Song, recording: Path, annotations: Path) -> Path:
    soundfile = sound_library()
    with replacing(recording) as scratch:
        soundfile.write(scratch, song.samples, SAMPLE_RATE, subtype="PCM_16")
    known = [note for note in song.notes if note.label != UNKNOWN]
    write_annotations(known, annotations, format="raven", sample_rate=SAMPLE_RATE)
    return annotations
