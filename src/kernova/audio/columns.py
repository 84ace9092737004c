"""Sounds as rows of a table: how long and how high each is, and how its spectrum differs.

A sound is looked at in five parts of equal length; in each the loudness of 20 frequency bands is
measured in decibels, without the sound's own mean, so that near and far birds are alike. The few
directions in which the sounds at hand differ most are columns. Bands end where usual sounds do;
how high a sound is all in all is measured beyond that, so that one far above all others is told.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import rfft
from scipy.signal.windows import hann

from kernova.audio.frames import Bands, band_powers, framing
from kernova.linalg import principal_directions
from kernova.typing import Matrix, Vector

N_COMPONENTS = 8
_N_BANDS = 20
_N_PARTS = 5
# Measures that are columns as they are: seconds and Hz.
_N_PLAIN = 2
# Bands begin at this share of the highest frequency, and a window holds so many of its periods:
# 500 Hz and 8 ms for songs that reach 11 kHz, less and shorter for bats, more for whales.
_LOWEST_SHARE = 1 / 22
_PERIODS = 88
_HOPS_PER_WINDOW = 4
# Decibels below the loudest that a band can be; quieter is noise.
_DEPTH_DECIBELS = 60.0
_DECIMALS = 4


class HeardRange(NamedTuple):
    """How high one listens.

    Attributes
    ----------
    highest_hz : float
        Where the bands end: what usual sounds need.
    limit_hz : float
        How high any sound is heard: half of the fewest samples per second of all recordings.
    """

    highest_hz: float
    limit_hz: float


def sound_measures(samples: ArrayLike, sample_rate: float, heard: HeardRange) -> Vector:
    """Measure one sound: its seconds, its centre in Hz, then decibels of bands in each part.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel, from the sound's beginning to its end.
    sample_rate : float
        Samples per second.
    heard : HeardRange
        Where bands end and how high is heard at all; at most half the sample rate.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.columns import HeardRange, sound_measures
    >>> tone = np.sin(2 * np.pi * 3000 * np.arange(3200) / 32000)
    >>> measures = sound_measures(tone, 32000, HeardRange(11000, 16000))
    >>> measures.shape, measures[:2].round(3), int(measures[2:22].argmax())
    ((102,), array([1.e-01, 3.e+03]), 9)
    """
    samples = np.asarray(samples, dtype=np.float64)
    powers = _band_powers_by_part(samples, sample_rate, heard.highest_hz)
    known = [len(samples) / sample_rate, _centre_hz(samples, sample_rate, heard.limit_hz)]
    loudest = float(powers.max())
    if loudest <= 0:
        return np.append(known, np.zeros(len(powers)))
    decibels = 10 * np.log10(np.maximum(powers / loudest, 10 ** (-_DEPTH_DECIBELS / 10)))
    return np.append(known, decibels - decibels.mean())


@dataclass(frozen=True, eq=False)
class SoundColumns:
    """How sounds become columns, as learnt from the sounds at hand.

    Attributes
    ----------
    heard : HeardRange
        Where bands end and how high is heard at all.
    center : ndarray
        Mean decibels of all bands and parts.
    components : ndarray of shape (n_measures, n_components)
        Principal directions of the decibels, the strongest first.
    """

    heard: HeardRange
    center: Vector
    components: Matrix

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        numbers = range(1, self.components.shape[1] + 1)
        return ["duration (s)", "centre (Hz)", *(f"sound {number}" for number in numbers)]

    def rows(self, measures: Matrix) -> Matrix:
        """Give the columns of sounds that were measured; a row that is NaN stays so."""
        shown = (measures[:, _N_PLAIN:] - self.center) @ self.components
        return np.asarray(np.column_stack([measures[:, :_N_PLAIN], shown]).round(_DECIMALS))


def fit_sound_columns(
    measures: Matrix, heard: HeardRange, n_components: int = N_COMPONENTS
) -> SoundColumns:
    """Learn from measured sounds how they differ.

    Parameters
    ----------
    measures : ndarray of shape (n_sounds, n_measures)
        What :func:`sound_measures` gave; NaN where there is no sound.
    heard : HeardRange
        As it was measured with.
    n_components : int
        Columns beside duration and centre; fewer if the sounds do not differ in so many ways.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.columns import HeardRange, fit_sound_columns, sound_measures
    >>> heard = HeardRange(11000, 16000)
    >>> noise = np.random.default_rng(0).normal(size=(20, 3200))
    >>> measures = np.stack([sound_measures(one, 32000, heard) for one in noise])
    >>> fit_sound_columns(measures, heard, 2).names
    ['duration (s)', 'centre (Hz)', 'sound 1', 'sound 2']
    """
    decibels = measures[np.isfinite(measures).all(axis=1), _N_PLAIN:]
    center = decibels.mean(axis=0)
    return SoundColumns(heard, center, principal_directions(decibels - center, n_components))


def _band_powers_by_part(samples: Vector, sample_rate: float, highest_hz: float) -> Vector:
    window = _PERIODS / highest_hz
    cut = framing(
        sample_rate,
        width_seconds=window,
        hop_seconds=max(window / _HOPS_PER_WINDOW, 1 / sample_rate),
    )
    around = cut.width // 2
    bands = Bands(_N_BANDS, _LOWEST_SHARE * highest_hz, highest_hz)
    powers = band_powers(np.pad(samples, (around, around + cut.hop)), cut, bands)
    borders = np.linspace(0, len(powers), _N_PARTS + 1)
    parts = [
        powers[int(first) : max(int(np.ceil(last)), int(first) + 1)].mean(axis=0)
        for first, last in pairwise(borders.tolist())
    ]
    return np.concatenate(parts)


def _centre_hz(samples: Vector, sample_rate: float, limit_hz: float) -> float:
    """Give the mean frequency, weighted by power."""
    power = np.abs(rfft(samples * hann(len(samples), sym=False))) ** 2
    hertz = np.arange(len(power)) * sample_rate / max(1, len(samples))
    is_heard = hertz <= limit_hz
    total = float(power[is_heard].sum())
    return float(hertz[is_heard] @ power[is_heard]) / total if total > 0 else 0.0
