"""Made-up notes of eight classes, as many as the paper on multiclass data description had."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from kernova.load.audio import Audio
from kernova.studies.note_sets import NoteSet

Samples = NDArray[np.float64]
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
    >>> from kernova.studies.mddkm_synthetic_notes import synthetic_notes
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
