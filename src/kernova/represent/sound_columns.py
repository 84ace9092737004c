"""Sounds as rows of a table: how long each is, and how its frequencies differ from the others'.

A sound is looked at in five parts of equal length; in each the loudness of 20 frequency bands is
measured in decibels, without the sound's own mean, so that near and far birds are alike. The few
directions in which the sounds at hand differ most are the columns.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.represent.frames import Bands, Framing, band_powers, framing
from kernova.represent.principal_directions import principal_directions

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

N_COMPONENTS = 8
_N_BANDS = 20
_N_PARTS = 5
# Bands begin at this share of the highest frequency, and a window holds so many of its periods:
# 500 Hz and 8 ms for songs that reach 11 kHz, less and shorter for bats, more for whales.
_LOWEST_SHARE = 1 / 22
_PERIODS = 88
_HOPS_PER_WINDOW = 4
# Decibels below the loudest that a band can be; quieter is noise.
_DEPTH_DECIBELS = 60.0
_DECIMALS = 4


def sound_measures(samples: ArrayLike, sample_rate: float, highest_hz: float) -> Vector:
    """Measure one sound: its seconds, then the decibels of bands in each part.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel, from the sound's beginning to its end.
    sample_rate : float
        Samples per second.
    highest_hz : float
        Where the bands end; at most half the sample rate.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.represent.sound_columns import sound_measures
    >>> tone = np.sin(2 * np.pi * 3000 * np.arange(3200) / 32000)
    >>> measures = sound_measures(tone, 32000, 11000)
    >>> measures.shape, float(measures[0]), int(measures[1:21].argmax())
    ((101,), 0.1, 9)
    """
    samples = np.asarray(samples, dtype=np.float64)
    cut = _framing(sample_rate, highest_hz)
    around = cut.width // 2
    powers = band_powers(np.pad(samples, (around, around + cut.hop)), cut, _bands(highest_hz))
    borders = np.linspace(0, len(powers), _N_PARTS + 1)
    parts = [
        powers[int(first) : max(int(np.ceil(last)), int(first) + 1)].mean(axis=0)
        for first, last in pairwise(borders.tolist())
    ]
    power = np.concatenate(parts)
    loudest = float(power.max())
    if loudest <= 0:
        return np.append(len(samples) / sample_rate, np.zeros(len(power)))
    decibels = 10 * np.log10(np.maximum(power / loudest, 10 ** (-_DEPTH_DECIBELS / 10)))
    return np.append(len(samples) / sample_rate, decibels - decibels.mean())


@dataclass(frozen=True, eq=False)
class SoundColumns:
    """How sounds become columns, as learnt from the sounds at hand.

    Attributes
    ----------
    highest_hz : float
        Where the bands end.
    center : ndarray
        Mean decibels of all bands and parts.
    components : ndarray of shape (n_measures, n_components)
        Principal directions of the decibels, the strongest first.
    """

    highest_hz: float
    center: Vector
    components: Matrix

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        numbers = range(1, self.components.shape[1] + 1)
        return ["duration (s)", *(f"sound {number}" for number in numbers)]

    def rows(self, measures: Matrix) -> Matrix:
        """Give the columns of sounds that were measured; a row that is NaN stays so."""
        shown = (measures[:, 1:] - self.center) @ self.components
        return np.asarray(np.column_stack([measures[:, 0], shown]).round(_DECIMALS))


def fit_sound_columns(
    measures: Matrix, highest_hz: float, n_components: int = N_COMPONENTS
) -> SoundColumns:
    """Learn from measured sounds how they differ.

    Parameters
    ----------
    measures : ndarray of shape (n_sounds, n_measures)
        What :func:`sound_measures` gave; NaN where there is no sound.
    highest_hz : float
        As it was measured with.
    n_components : int
        Columns beside the duration; fewer if the sounds do not differ in so many ways.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.represent.sound_columns import fit_sound_columns, sound_measures
    >>> noise = np.random.default_rng(0).normal(size=(20, 3200))
    >>> measures = np.stack([sound_measures(one, 32000, 11000) for one in noise])
    >>> fit_sound_columns(measures, 11000, 2).names
    ['duration (s)', 'sound 1', 'sound 2']
    """
    decibels = measures[np.isfinite(measures).all(axis=1), 1:]
    center = decibels.mean(axis=0)
    directions = principal_directions(decibels - center, n_components)
    return SoundColumns(highest_hz, center, directions)


def _framing(sample_rate: float, highest_hz: float) -> Framing:
    window = _PERIODS / highest_hz
    return framing(
        sample_rate,
        width_seconds=window,
        hop_seconds=max(window / _HOPS_PER_WINDOW, 1 / sample_rate),
    )


def _bands(highest_hz: float) -> Bands:
    return Bands(_N_BANDS, _LOWEST_SHARE * highest_hz, highest_hz)
