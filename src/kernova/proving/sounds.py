"""Sounds as rows of a table: the level in frequency bands in each third of a sound, and its length.

Bands are even in the logarithm of the frequency, so that a bat and a bird fit one table.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.audio.reading import read_audio
from kernova.errors import InputError
from kernova.typing import Matrix

_BANDS: Final = 16
_LOWEST_HZ: Final = 300.0
_PARTS: Final = 3
# A level this far below the loudest band of a sound counts as silence.
_FLOOR_DECIBELS: Final = 60.0
_SHORTEST: Final = 64
_MOST_OF_A_LABEL: Final = 200


class Clip(NamedTuple):
    """An interval of a recording, and what it is."""

    path: Path
    start: float
    end: float
    label: str


def annotated_clips(folder: Path) -> list[Clip]:
    """Return all annotated calls below a folder of recordings with Raven tables."""
    clips = []
    for table in sorted(folder.rglob("*.selections.txt")):
        recording = table.with_name(table.name.replace(".selections.txt", ".wav"))
        lines = pd.read_csv(table, sep="\t", dtype={"Annotation": str})
        # A line that ends before it starts is a slip of the pen, and no sound.
        lines = lines[lines["End Time (s)"] > lines["Begin Time (s)"]]
        for start, end, label in zip(
            lines["Begin Time (s)"], lines["End Time (s)"], lines["Annotation"], strict=True
        ):
            clips.append(Clip(recording, float(start), float(end), f"{table.parent.name} {label}"))
    return _not_too_many(clips)


def listed_clips(folder: Path) -> list[Clip]:
    """Return the calls of a folder with one file a call, listed in ``index.csv``."""
    index = pd.read_csv(folder / "index.csv", dtype={"label": str})
    return [
        Clip(folder / str(file), float(start), float(end), str(label))
        for file, start, end, label in zip(
            index["file"], index["start"], index["end"], index["label"], strict=True
        )
    ]


def _not_too_many(clips: list[Clip]) -> list[Clip]:
    """Return evenly spaced clips of each label, so that one long recording does not outweigh."""
    by_label: dict[str, list[Clip]] = {}
    for clip in clips:
        by_label.setdefault(clip.label, []).append(clip)
    return [
        clip
        for of_label in by_label.values()
        for clip in of_label[:: -(-len(of_label) // _MOST_OF_A_LABEL)]
    ]


class SoundRows(NamedTuple):
    """Rows of sounds, and the label of each."""

    X: Matrix
    labels: NDArray[np.str_]


def sound_rows(clips: Iterable[Clip]) -> SoundRows:
    """Measure clips: levels in bands, in decibels below the loudest, and the log duration."""
    clips = list(clips)
    if not clips:
        raise InputError("There are no annotated sounds in this folder.")
    audio = {path: read_audio(path) for path in {clip.path for clip in clips}}
    highest = max(sound.sample_rate for sound in audio.values()) / 2
    edges = np.geomspace(_LOWEST_HZ, highest, _BANDS + 1)
    rows = []
    for clip in clips:
        sound = audio[clip.path]
        samples = np.asarray(sound.samples, dtype=np.float64)
        mono = samples if samples.ndim == 1 else samples.mean(axis=1)
        first = int(clip.start * sound.sample_rate)
        last = max(first + _PARTS * _SHORTEST, int(clip.end * sound.sample_rate))
        rows.append(_row(mono[first:last], float(sound.sample_rate), edges))
    return SoundRows(np.array(rows), np.array([clip.label for clip in clips]))


def _row(samples: NDArray[np.float64], rate: float, edges: NDArray[np.float64]) -> list[float]:
    levels = np.concatenate(
        [_band_powers(part, rate, edges) for part in np.array_split(samples, _PARTS)]
    )
    decibels = 10 * np.log10(levels / max(levels.max(), 1e-30) + 10 ** (-_FLOOR_DECIBELS / 10))
    return [*decibels.tolist(), float(20 * np.log2(len(samples) / rate))]


def _band_powers(
    samples: NDArray[np.float64], rate: float, edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    powers = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), max(len(samples), 4096))) ** 2
    frequencies = np.fft.rfftfreq(max(len(samples), 4096), 1 / rate)
    bands = np.searchsorted(edges, frequencies, side="right") - 1
    is_inside = (bands >= 0) & (bands < len(edges) - 1)
    sums = np.bincount(bands[is_inside], powers[is_inside], minlength=len(edges) - 1)
    return np.asarray(sums, dtype=np.float64)
