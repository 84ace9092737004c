"""Columns for sounds: duration, centre frequency, and principal components of the spectrum.

A sound is divided into five parts of equal length. In each, the power of 20 frequency bands is
measured in decibels, without the sound's own mean, so that the distance to the microphone does not
matter. The principal components over the given sounds are columns. The bands end at the highest
frequency of most sounds; the centre frequency is measured beyond that, so that a sound far above
all others is recognised.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import rfft
from scipy.signal.windows import hann

from kernova.audio.frames import Bands, band_powers, framing
from kernova.kernels.gram import principal_directions
from kernova.typing import Matrix, Vector

N_COMPONENTS = 8
_N_BANDS = 20
_N_PARTS = 5
# Measures that are used as columns directly: seconds and Hz.
_N_DIRECT = 2
# Bands begin at this fraction of the highest frequency, and a window has this many of its periods:
# 500 Hz and 8 ms for songs up to 11 kHz; higher and shorter for bats, lower and longer for whales.
_LOWEST_FRACTION = 1 / 22
_PERIODS_PER_WINDOW = 88
_HOPS_PER_WINDOW = 4
# Dynamic range in decibels; powers further below the loudest are noise.
_RANGE_DECIBELS = 60.0
_DECIMALS = 4


class FrequencyRange(NamedTuple):
    """Upper limits of the frequencies that are measured."""

    highest_hz: float  # upper end of the bands, for most sounds
    # Limit for the centre frequency: half of the lowest sample rate of all recordings.
    limit_hz: float


def sound_measures(samples: ArrayLike, sample_rate: float, limits: FrequencyRange) -> Vector:
    """Return the measures of a sound: seconds, centre in Hz, and decibels of bands by part.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel, from the start of the sound to its end.
    sample_rate : float
        Samples per second.
    limits : FrequencyRange
        Upper limits of the frequencies, at most half the sample rate.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.columns import FrequencyRange, sound_measures
    >>> tone = np.sin(2 * np.pi * 3000 * np.arange(3200) / 32000)
    >>> measures = sound_measures(tone, 32000, FrequencyRange(11000, 16000))
    >>> measures.shape, measures[:2].round(3), int(measures[2:22].argmax())
    ((102,), array([1.e-01, 3.e+03]), 9)
    """
    samples = np.asarray(samples, dtype=np.float64)
    powers = _band_powers_by_part(samples, sample_rate, limits.highest_hz)
    known = [len(samples) / sample_rate, _centre_hz(samples, sample_rate, limits.limit_hz)]
    loudest = float(powers.max())
    if loudest <= 0:
        return np.append(known, np.zeros(len(powers)))
    decibels = 10 * np.log10(np.maximum(powers / loudest, 10 ** (-_RANGE_DECIBELS / 10)))
    return np.append(known, decibels - decibels.mean())


@dataclass(frozen=True, eq=False)
class SoundColumns:
    """Columns for sounds, fitted to the sounds of a table."""

    heard: FrequencyRange  # upper limits of the frequencies; saved models store it under this name
    center: Vector  # mean decibels of all bands and parts
    # Principal directions of the decibels, the strongest first; shape (n_measures, n_components).
    components: Matrix

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        numbers = range(1, self.components.shape[1] + 1)
        return ["duration (s)", "centre (Hz)", *(f"sound {number}" for number in numbers)]

    def rows(self, measures: Matrix) -> Matrix:
        """Return the columns of measured sounds; a row of NaN stays NaN."""
        components = (measures[:, _N_DIRECT:] - self.center) @ self.components
        return np.asarray(np.column_stack([measures[:, :_N_DIRECT], components]).round(_DECIMALS))


def fit_sound_columns(
    measures: Matrix, limits: FrequencyRange, n_components: int = N_COMPONENTS
) -> SoundColumns:
    """Fit principal components to measured sounds.

    Parameters
    ----------
    measures : ndarray of shape (n_sounds, n_measures)
        Measures from :func:`sound_measures`; NaN where there is no sound.
    limits : FrequencyRange
        Limits that the sounds were measured with.
    n_components : int
        Largest number of columns beside duration and centre.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.columns import FrequencyRange, fit_sound_columns, sound_measures
    >>> limits = FrequencyRange(11000, 16000)
    >>> noise = np.random.default_rng(0).normal(size=(20, 3200))
    >>> measures = np.stack([sound_measures(one, 32000, limits) for one in noise])
    >>> fit_sound_columns(measures, limits, 2).names
    ['duration (s)', 'centre (Hz)', 'sound 1', 'sound 2']
    """
    decibels = measures[np.isfinite(measures).all(axis=1), _N_DIRECT:]
    center = decibels.mean(axis=0)
    return SoundColumns(limits, center, principal_directions(decibels - center, n_components))


def _band_powers_by_part(samples: Vector, sample_rate: float, highest_hz: float) -> Vector:
    window = _PERIODS_PER_WINDOW / highest_hz
    cut = framing(
        sample_rate,
        width_seconds=window,
        hop_seconds=max(window / _HOPS_PER_WINDOW, 1 / sample_rate),
    )
    around = cut.width // 2
    bands = Bands(_N_BANDS, _LOWEST_FRACTION * highest_hz, highest_hz)
    powers = band_powers(np.pad(samples, (around, around + cut.hop)), cut, bands)
    borders = np.linspace(0, len(powers), _N_PARTS + 1)
    parts = [
        powers[int(first) : max(int(np.ceil(last)), int(first) + 1)].mean(axis=0)
        for first, last in pairwise(borders.tolist())
    ]
    return np.concatenate(parts)


def _centre_hz(samples: Vector, sample_rate: float, limit_hz: float) -> float:
    """Return the mean frequency, weighted by power."""
    power = np.abs(rfft(samples * hann(len(samples), sym=False))) ** 2
    hertz = np.arange(len(power)) * sample_rate / max(1, len(samples))
    is_measured = hertz <= limit_hz
    total = float(power[is_measured].sum())
    return float(hertz[is_measured] @ power[is_measured]) / total if total > 0 else 0.0
