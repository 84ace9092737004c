"""Pictures of sound: time to the right, frequency upwards, the louder the brighter.

Power counts in decibels, from a little above what is quiet in the stretch itself up to its loudest
moments, so that a faint note in wind is seen as well as a loud one in a quiet room.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.fft import next_fast_len, rfft
from scipy.signal.windows import hann

from kernova.media.pictures import Picture, png_picture
from kernova.typing import Samples

# A window holds so many periods of the highest frequency: 8 ms for songs that reach 11 kHz.
_PERIODS: Final = 88
_LEAST_WINDOW, _MOST_WINDOW = 64, 4096
# Bins are so many times as close as the window resolves, so that lines are smooth.
_PADDING: Final = 4
# What counts as quiet, what as loudest, and how far apart they are at least and at most.
_QUIET_SHARE, _LOUD_SHARE = 0.6, 0.999
_LEAST_DECIBELS, _MOST_DECIBELS = 25.0, 55.0
_NEARLY_ALL, _ABOVE_QUIET = 0.98, 4.0
_FRAMES_AT_ONCE: Final = 2048
# A sound ten orders of magnitude below full scale is silence.
_SILENCE: Final = 1e-20

# Colours at equal steps from quiet to loud, in a space where equal steps look equal (OKLab):
# lightness rises evenly from nearly black through violet and orange to pale yellow.
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
    """A picture of sound and what its borders stand for.

    Attributes
    ----------
    png : bytes
        The picture.
    start, seconds : float
        Where it begins in the recording, and how long it lasts.
    lowest_hz, highest_hz : float
        Frequencies at the lower and the upper border.
    note_start, note_end : float
        Where the row's own stretch lies, in seconds from the left border.
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
    """Draw sound from 0 Hz up to ``highest_hz``.

    Parameters
    ----------
    samples : array of shape (n_samples,)
        One channel.
    sample_rate : float
        Samples per second.
    highest_hz : float
        Frequency at the upper border; what lies above half the sample rate is drawn as silence.
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
    """Give the 256 colours from quiet to loud, as red, green and blue."""
    places = np.linspace(0, len(_COLOURS) - 1, 256)
    lab = np.column_stack(
        [
            np.interp(places, np.arange(len(_COLOURS)), column)
            for column in zip(*_COLOURS, strict=True)
        ]
    )
    return _rgb(lab)


def loud_hz(samples: Samples, sample_rate: float) -> float:
    """Give the frequency below which nearly all of a stretch's power above its quiet lies."""
    power = _powers(samples, sample_rate, sample_rate / 2, 200)
    # Not the median of each frequency: a steady note is no background.
    above = np.maximum(power - _ABOVE_QUIET * np.median(power), 0).sum(axis=0)
    if not above.sum() > 0:
        return 0.0
    place = int(np.searchsorted(np.cumsum(above), _NEARLY_ALL * above.sum()))
    return float(place / (len(above) - 1) * sample_rate / 2)


# --- sound -----------------------------------------------------------------------------------


def _powers(
    samples: Samples, sample_rate: float, highest_hz: float, n_columns: int
) -> NDArray[np.float64]:
    """Measure the power of frequencies in ``n_columns`` moments, the loudest around each."""
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
) -> NDArray[np.float64]:
    """Give decibels, low frequencies first, one line for each pixel."""
    power = _powers(samples, sample_rate, highest_hz, width)
    hertz = np.linspace(0, sample_rate / 2, power.shape[1])
    wanted = np.linspace(0, highest_hz, height)
    decibels = 10 * np.log10(power + _SILENCE)
    silence = 10 * np.log10(_SILENCE)
    return np.stack([np.interp(wanted, hertz, line, right=silence) for line in decibels], axis=1)


def _limits(decibels: NDArray[np.float64]) -> tuple[float, float]:
    heard = decibels[decibels > 10 * np.log10(_SILENCE) + 1]
    if heard.size == 0:
        return 0.0, 1.0
    quiet, loud = np.quantile(heard, [_QUIET_SHARE, _LOUD_SHARE])
    span = float(np.clip(loud - quiet, _LEAST_DECIBELS, _MOST_DECIBELS))
    return float(loud - span), float(loud)


# --- colours ---------------------------------------------------------------------------------


def _rgb(lab: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Turn OKLab (Ottosson, 2020) into red, green and blue."""
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
