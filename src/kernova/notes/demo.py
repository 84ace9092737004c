"""An aviary of three made-up birds: recordings with notes to learn, to find and to check."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernova.audio.annotations import ANNOTATION_ENDINGS, Segment, write_annotations
from kernova.errors import InputError
from kernova.files import replacing
from kernova.typing import Samples

SAMPLE_RATE = 22050
_NOISE = 0.004
# The stranger sings everywhere, and nobody marks it.
STRANGER = "stranger"


class DemoFiles(NamedTuple):
    """What was written.

    Attributes
    ----------
    lesson, marks : Path
        A recording, and the notes marked in it.
    night : Path
        A folder of recordings to search.
    truth : tuple of Path
        What is in each of them, for comparison.
    """

    lesson: Path
    marks: Path
    night: Path
    truth: tuple[Path, ...]


class Song(NamedTuple):
    """Samples, and all notes in them."""

    samples: Samples
    notes: list[Segment]


def write_note_demo(folder: str | Path, seed: int = 0) -> DemoFiles:
    """Write a recording with marked notes, and two others of a night to search.

    Parameters
    ----------
    folder : path
        An existing folder.
    seed : int, default=0
        Decides how the birds sing.

    Returns
    -------
    DemoFiles
        Their names.

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
    lesson = _write(sung(random, 44), target / "lesson.wav", target / f"lesson{ending}")
    for name in ("night", "truth"):
        (target / name).mkdir(exist_ok=True)
    truth = tuple(
        _write(
            sung(random, 40), target / "night" / f"{name}.wav", target / "truth" / f"{name}{ending}"
        )
        for name in ("dusk", "dawn")
    )
    return DemoFiles(target / "lesson.wav", lesson, target / "night", truth)


def sung(random: np.random.Generator, n_notes: int, gap_seconds: float = 0.08) -> Song:
    """Let the birds sing so many notes, each a little other than the last of its kind."""
    pieces = [np.zeros(round(0.5 * SAMPLE_RATE))]
    notes = []
    position = len(pieces[0])
    for voice in random.permutation(np.arange(n_notes) % len(_VOICES)):
        name, sing, usual_seconds = _VOICES[int(voice)]
        length = round(usual_seconds * random.uniform(0.9, 1.1) * SAMPLE_RATE)
        note = sing(np.arange(length) / SAMPLE_RATE, random.normal(1, 0.02))
        gap = round(gap_seconds * random.uniform(0.5, 2.0) * SAMPLE_RATE)
        pieces += [random.uniform(0.15, 0.3) * _faded(note), np.zeros(gap)]
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
    (STRANGER, _trill, 0.10),
)


def _faded(note: Samples) -> Samples:
    n_fade = min(len(note) // 2, round(0.004 * SAMPLE_RATE))
    ramp = np.minimum(1.0, (np.arange(len(note)) + 1) / n_fade)
    return np.asarray(note * ramp * ramp[::-1])


def _write(song: Song, recording: Path, marks: Path) -> Path:
    try:
        import soundfile
    except ImportError as error:
        raise InputError(
            "Writing recordings needs soundfile, which is not installed: "
            "pip install 'kernova[audio]'."
        ) from error
    with replacing(recording) as scratch:
        soundfile.write(scratch, song.samples, SAMPLE_RATE, subtype="PCM_16")
    known = [note for note in song.notes if note.label != STRANGER]
    write_annotations(known, marks, format="raven", sample_rate=SAMPLE_RATE)
    return marks
