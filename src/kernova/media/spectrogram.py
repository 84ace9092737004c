"""Spectrograms as pictures: time to the right, frequency upwards, power as brightness.

The brightness is in decibels, scaled from the background level of the sound itself to its peaks, so
that faint notes in noise are as visible as loud ones.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.fft import next_fast_len, rfft
from scipy.signal.windows import hann

from kernova.media.pictures import Picture, png_picture
from kernova.typing import Matrix, Samples

# Length of a window, in periods of the highest frequency: 8 ms for 11 kHz.
_PERIODS: Final = 88
_LEAST_WINDOW, _MOST_WINDOW = 64, 4096
# Zero padding of the transform, for smooth lines.
_PADDING: Final = 4
# Quantiles of background and peaks, and the smallest and largest range between them.
_QUIET_QUANTILE, _LOUD_QUANTILE = 0.6, 0.999
_LEAST_DECIBELS, _MOST_DECIBELS = 25.0, 55.0
_NEARLY_ALL, _ABOVE_QUIET = 0.98, 4.0
_FRAMES_AT_ONCE: Final = 2048
# Amplitudes ten orders of magnitude below full scale are silence.
_SILENCE: Final = 1e-20

# Colour map in the perceptually uniform space OKLab: lightness rises evenly from nearly black
# through violet and orange to pale yellow.
_COLOURS: Final = (
    (0.13, 0.000, -0.020),
    (0.26, 0.025, -0.095),
    (0.39, 0.100, -0.085),
    (0.52, 0.140, -0.010),
    (0.65, 0.125, 0.075),
    (0.78, 0.060, 0.125),
    (0.90, -0.005, 0.120),
    (0.98, -0.010, 0.045),
)


class Spectrogram(NamedTuple):
    """Spectrogram as a picture, with the ranges of its axes.

    Attributes
    ----------
    png : bytes
        The picture.
    start, seconds : float
        Start in the recording, and duration.
    lowest_hz, highest_hz : float
        Frequencies at the lower and the upper edge.
    note_start, note_end : float
        Start and end of the row's own interval, in seconds from the left edge.
    """

    png: bytes
    start: float
    seconds: float
    lowest_hz: float
    highest_hz: float
    note_start: float
    note_end: float


def spectrogram_picture(
    samples: Samples, sample_rate: float, highest_hz: float, width: int, height: int
) -> Picture:
    """Return the spectrogram of a sound from 0 Hz to ``highest_hz``.

    Parameters
    ----------
    samples : array of shape (n_samples,)
        One channel.
    sample_rate : float
        Samples per second.
    highest_hz : float
        Frequency at the upper edge; above half the sample rate, silence is drawn.
    width, height : int
        Pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.spectrogram import spectrogram_picture
    >>> tone = np.sin(2 * np.pi * 3000 * np.arange(3200) / 32000)
    >>> spectrogram_picture(tone, 32000, 16000, 64, 32).media_type
    'image/png'
    """
    decibels = _decibels(samples, sample_rate, highest_hz, width, height)
    quiet, loud = _limits(decibels)
    steps = np.rint(255 * np.clip((decibels - quiet) / (loud - quiet), 0, 1)).astype(np.uint8)
    image = Image.fromarray(steps[::-1])
    image.putpalette(colours().tobytes(), "RGB")
    return png_picture(image)


@lru_cache(maxsize=1)
def colours() -> NDArray[np.uint8]:
    """Return the 256 colours from quiet to loud, as red, green and blue."""
    positions = np.linspace(0, len(_COLOURS) - 1, 256)
    lab = np.column_stack(
        [
            np.interp(positions, np.arange(len(_COLOURS)), column)
            for column in zip(*_COLOURS, strict=True)
        ]
    )
    return _rgb(lab)


def upper_frequency(samples: Samples, sample_rate: float) -> float:
    """Return the frequency below which nearly all power above the background lies."""
    power = _powers(samples, sample_rate, sample_rate / 2, 200)
    # The median of all frequencies, since a steady note is not background.
    above = np.maximum(power - _ABOVE_QUIET * np.median(power), 0).sum(axis=0)
    if not above.sum() > 0:
        return 0.0
    position = int(np.searchsorted(np.cumsum(above), _NEARLY_ALL * above.sum()))
    return float(position / (len(above) - 1) * sample_rate / 2)


# --- sound -----------------------------------------------------------------------------------


def _powers(samples: Samples, sample_rate: float, highest_hz: float, n_columns: int) -> Matrix:
    """Return the power spectrum at ``n_columns`` times, the loudest around each."""
    width = int(np.clip(round(_PERIODS * sample_rate / highest_hz), _LEAST_WINDOW, _MOST_WINDOW))
    n_fft = next_fast_len(_PADDING * width, real=True)
    per_column = max(1, int(np.ceil(len(samples) / n_columns / (width / 2))))
    middles = (np.arange(n_columns * per_column) + 0.5) * len(samples) / (n_columns * per_column)
    starts = np.rint(middles).astype(np.intp)
    padded = np.pad(samples, (width // 2, width))
    window = hann(width, sym=False)
    window /= np.sqrt((window**2).sum())
    power = np.empty((n_columns, n_fft // 2 + 1))
    together = max(1, _FRAMES_AT_ONCE // per_column)
    for first in range(0, n_columns, together):
        some = starts[first * per_column : (first + together) * per_column]
        frames = padded[some[:, None] + np.arange(width)] * window
        found = np.abs(rfft(frames, n_fft, axis=1)) ** 2
        power[first : first + together] = found.reshape(-1, per_column, found.shape[1]).max(axis=1)
    return power


def _decibels(
    samples: Samples, sample_rate: float, highest_hz: float, width: int, height: int
) -> Matrix:
    """Return decibels, low frequencies first, one line per pixel."""
    power = _powers(samples, sample_rate, highest_hz, width)
    hertz = np.linspace(0, sample_rate / 2, power.shape[1])
    wanted = np.linspace(0, highest_hz, height)
    decibels = 10 * np.log10(power + _SILENCE)
    silence = 10 * np.log10(_SILENCE)
    return np.stack([np.interp(wanted, hertz, line, right=silence) for line in decibels], axis=1)


def _limits(decibels: Matrix) -> tuple[float, float]:
    audible = decibels[decibels > 10 * np.log10(_SILENCE) + 1]
    if audible.size == 0:
        return 0.0, 1.0
    quiet, loud = np.quantile(audible, [_QUIET_QUANTILE, _LOUD_QUANTILE])
    span = float(np.clip(loud - quiet, _LEAST_DECIBELS, _MOST_DECIBELS))
    return float(loud - span), float(loud)


# --- colours ---------------------------------------------------------------------------------


def _rgb(lab: Matrix) -> NDArray[np.uint8]:
    """Convert OKLab (Ottosson, 2020) to red, green and blue."""
    cones = lab @ np.array(
        [[1.0, 1.0, 1.0], [0.3963377774, -0.1055613458, -0.0894841775],
         [0.2158037573, -0.0638541728, -1.2914855480]]
    )  # fmt: skip
    light = cones**3 @ np.array(
        [[4.0767416621, -1.2684380046, -0.0041960863], [-3.3077115913, 2.6097574011, -0.7034186147],
         [0.2309699292, -0.3413193965, 1.7076147010]]
    )  # fmt: skip
    light = np.clip(light, 0, 1)
    shown = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(255 * np.clip(shown, 0, 1)).astype(np.uint8)
