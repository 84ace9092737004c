"""Sound as frames: short windows of samples, and what each of them holds.

Frame k covers the samples from ``k * hop`` up to ``k * hop + width``; samples that do not fill a
last frame are left out, and sound shorter than one frame has no frames. Long recordings come in
blocks of any size: frames that lie across two blocks are not lost, and blocks change nothing.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dct, next_fast_len, rfft
from scipy.signal.windows import hann

from kernova.errors import InputError
from kernova.typing import Matrix

Samples = NDArray[np.floating]

# Frames that are worked on together. They are counted from the first frame of a recording, so
# that each is computed in the same company whatever the blocks: results are equal bit by bit.
_FRAMES_AT_ONCE = 1024
# The share of the mean that keeps the logarithm of small values within bounds.
_LOG_SHARE = 0.03
# No sound is so loud; its square, summed over a frame, is still finite in single precision.
_LOUDEST = 1e15


class Framing(NamedTuple):
    """How sound is cut into frames.

    Attributes
    ----------
    width : int
        Samples of a frame.
    hop : int
        Samples from the start of a frame to the start of the next.
    sample_rate : float
        Samples per second.
    """

    width: int
    hop: int
    sample_rate: float

    @property
    def hop_seconds(self) -> float:
        """Seconds from frame to frame."""
        return self.hop / self.sample_rate

    def count(self, n_samples: int) -> int:
        """Give the number of whole frames in so many samples."""
        return max(0, (n_samples - self.width) // self.hop + 1)

    def seconds(self, frames: ArrayLike) -> Matrix:
        """Give the time at which frames begin to count, as the start or the stop of a note.

        A frame stands for one hop around its middle.
        """
        middle = (self.width - self.hop) / 2
        return (np.asarray(frames, dtype=np.float64) * self.hop + middle) / self.sample_rate

    def frames(self, seconds: ArrayLike) -> NDArray[np.intp]:
        """Give the frame that begins to count nearest to a time: the inverse of `seconds`."""
        middle = (self.width - self.hop) / 2
        place = (np.asarray(seconds, dtype=np.float64) * self.sample_rate - middle) / self.hop
        return np.rint(place).astype(np.intp)


# The paper's: 96 samples, 48 of them shared with the next frame.
PAPER_FRAMING = Framing(96, 48, 22050.0)


def framing(
    sample_rate: float, *, width_seconds: float = 0.008, hop_seconds: float = 0.002
) -> Framing:
    """Cut sound of any sample rate into frames of so many seconds, to the nearest sample.

    Parameters
    ----------
    sample_rate : float
        Samples per second.
    width_seconds : float, default=0.008
        How long a frame lasts.
    hop_seconds : float, default=0.002
        From the start of one frame to the start of the next.

    Returns
    -------
    Framing
        In samples.

    Examples
    --------
    >>> from kernova.audio.frames import framing
    >>> framing(32000)
    Framing(width=256, hop=64, sample_rate=32000.0)
    """
    width, hop = round(width_seconds * sample_rate), round(hop_seconds * sample_rate)
    if not 1 <= hop <= width:
        raise InputError(
            f"Frames of {width_seconds} s every {hop_seconds} s are {width} samples every {hop} "
            f"at {sample_rate:g} Hz; a hop needs at least 1 sample and at most a frame's."
        )
    return Framing(width, hop, float(sample_rate))


def frames(samples: ArrayLike, framing: Framing) -> Samples:
    """Cut a piece of sound into frames, without copying it.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel.
    framing : Framing
        Width and hop.

    Returns
    -------
    ndarray of shape (n_frames, width)
        A view of the samples that cannot be written to; no row if there are too few.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.frames import Framing, frames
    >>> frames(np.arange(7.0), Framing(width=4, hop=2, sample_rate=100))
    array([[0., 1., 2., 3.],
           [2., 3., 4., 5.]])
    """
    samples = _one_channel(samples)
    if len(samples) < framing.width:
        return np.empty((0, framing.width), dtype=samples.dtype)
    return sliding_window_view(samples, framing.width)[:: framing.hop]


def _one_channel(samples: ArrayLike) -> Samples:
    samples = np.asarray(samples)
    if samples.ndim != 1:
        raise InputError(f"The samples have shape {samples.shape}; give one channel.")
    if not np.issubdtype(samples.dtype, np.floating):
        samples = samples.astype(np.float64)
    # NaN compares as false.
    if len(samples) and not (samples.min() >= -_LOUDEST and samples.max() <= _LOUDEST):
        raise InputError(f"The samples have values that are NaN or beyond {_LOUDEST:g}.")
    return samples


def frame_blocks(blocks: Iterable[ArrayLike], framing: Framing) -> Iterator[Samples]:
    """Cut sound that comes in blocks into frames, some hundred at a time.

    Parameters
    ----------
    blocks : iterable of array-like of shape (n_samples,)
        One channel, piece by piece.
    framing : Framing
        Width and hop.

    Yields
    ------
    ndarray of shape (n_frames, width)
        The next frames. How many does not depend on the size of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.frames import Framing, frame_blocks
    >>> list(frame_blocks([np.arange(3.0), np.arange(3.0, 7.0)], Framing(4, 2, 100)))
    [array([[0., 1., 2., 3.],
            [2., 3., 4., 5.]])]
    """
    used = _FRAMES_AT_ONCE * framing.hop
    needed = used - framing.hop + max(framing.width, framing.hop)
    waiting: list[Samples] = []
    n_waiting = 0
    for block in blocks:
        waiting.append(_one_channel(block))
        n_waiting += len(waiting[-1])
        if n_waiting < needed:
            continue
        samples = np.concatenate(waiting)
        start = 0
        while len(samples) - start >= needed:
            yield frames(samples[start : start + needed], framing)[:_FRAMES_AT_ONCE]
            start += used
        waiting, n_waiting = [samples[start:].copy()], len(samples) - start
    if n_waiting >= framing.width:
        yield frames(np.concatenate(waiting), framing)


def dct_magnitudes(frames: ArrayLike) -> Matrix:
    """Give the absolute values of each frame's discrete cosine transform (DCT).

    The second kind, orthonormal: a frame keeps its length.

    Parameters
    ----------
    frames : array-like of shape (n_frames, width)
        Samples.

    Returns
    -------
    ndarray of shape (n_frames, width)
        Lowest frequency first.

    Examples
    --------
    >>> from kernova.audio.frames import dct_magnitudes
    >>> dct_magnitudes([[-1.0, -1.0, -1.0, -1.0]])
    array([[2., 0., 0., 0.]])
    """
    return np.abs(dct(np.asarray(frames, dtype=np.float64), type=2, norm="ortho", axis=1))


def log_offset(magnitudes: ArrayLike) -> float:
    """Give what is added before the logarithm: 3 % of the mean, or 1 where all is silent.

    Examples
    --------
    >>> from kernova.audio.frames import log_offset
    >>> log_offset([[1.0, 3.0]])
    0.06
    """
    magnitudes = np.asarray(magnitudes, dtype=np.float64)
    mean = float(magnitudes.mean()) if magnitudes.size else 0.0
    return _LOG_SHARE * mean if mean > 0 else 1.0


def log_compressed(magnitudes: ArrayLike, offset: float | None = None) -> Matrix:
    """Compress magnitudes: log(magnitude + offset).

    Parameters
    ----------
    magnitudes : array-like of shape (n_frames, n_columns)
        Values that are not negative.
    offset : float, optional
        By default 3 % of the mean of these magnitudes. Blocks of one recording, and recordings
        to be compared, need one offset for all: :func:`log_offset`.

    Returns
    -------
    ndarray of shape (n_frames, n_columns)
        Logarithms.

    Examples
    --------
    >>> from kernova.audio.frames import log_compressed
    >>> log_compressed([[0.0, 2.0]]).round(3)
    array([[-3.507,  0.708]])
    """
    magnitudes = np.asarray(magnitudes, dtype=np.float64)
    return np.log(magnitudes + (log_offset(magnitudes) if offset is None else offset))


class Bands(NamedTuple):
    """Frequency bands at equal steps of the mel scale, as an ear hears them.

    Attributes
    ----------
    n_bands : int
        How many.
    low_hz, high_hz : float
        Where the first begins and the last ends; never above half the sample rate.
    """

    n_bands: int = 20
    low_hz: float = 500.0
    high_hz: float = 11_000.0


SONG_BANDS = Bands()


def band_edges(bands: Bands, sample_rate: float) -> Matrix:
    """Give the borders of bands in Hz: band b rises from edge b to b + 1 and falls to b + 2.

    Examples
    --------
    >>> from kernova.audio.frames import Bands, band_edges
    >>> band_edges(Bands(n_bands=2), 44100).round()
    array([  500.,  1864.,  4777., 11000.])
    """
    high_hz = min(bands.high_hz, sample_rate / 2)
    if not (bands.n_bands >= 1 and 0 <= bands.low_hz < high_hz):
        raise InputError(
            f"There is no room for {bands.n_bands} bands from {bands.low_hz:g} to {high_hz:g} Hz "
            f"at a sample rate of {sample_rate:g} Hz; choose others."
        )
    low_mel, high_mel = 2595 * np.log10(1 + np.array([bands.low_hz, high_hz]) / 700)
    mel = np.linspace(low_mel, high_mel, bands.n_bands + 2)
    return np.asarray(700 * (10 ** (mel / 2595) - 1))


class _BandMeter(NamedTuple):
    """All that turns windows of samples into the power of bands."""

    window: NDArray[np.float32]
    n_fft: int
    bins: slice
    weights: NDArray[np.float32]


@lru_cache(maxsize=16)
def _band_meter(framing: Framing, bands: Bands) -> _BandMeter:
    """Make the window and the matrix that sums the squares of a spectrum over each band.

    A bin stands for all frequencies around it, and a band's triangle is integrated over them: no
    band is empty, however narrow it is beside a bin.
    """
    n_fft = next_fast_len(framing.width, real=True)
    spacing = framing.sample_rate / n_fft
    n_bins = n_fft // 2 + 1
    borders = (np.arange(n_bins + 1) - 0.5) * spacing
    edges = band_edges(bands, framing.sample_rate)
    rise, fall = np.diff(edges)[:-1], np.diff(edges)[1:]
    above = np.maximum(borders[:, None] - edges, 0) ** 2 / 2
    integral = above[:, :-2] / rise - above[:, 1:-1] * (1 / rise + 1 / fall) + above[:, 2:] / fall
    weights = np.diff(integral, axis=0)
    weights[np.abs(weights) < 1e-9 * weights.max(axis=0)] = 0.0  # rounding beyond the triangle
    weights /= weights.sum(axis=0)
    used = np.flatnonzero(weights.any(axis=1))
    bins = slice(int(used[0]), int(used[-1]) + 1)
    window = hann(framing.width, sym=False)
    window /= np.sqrt((window**2).sum())
    # Once for the real parts and once for the imaginary ones, which lie side by side.
    both = np.repeat(weights[bins], 2, axis=0)
    return _BandMeter(window.astype(np.float32), n_fft, bins, both.astype(np.float32))


def band_power_blocks(
    blocks: Iterable[ArrayLike], framing: Framing, bands: Bands = SONG_BANDS
) -> Iterator[Matrix]:
    """Measure the power in frequency bands of sound that comes in blocks.

    Parameters
    ----------
    blocks : iterable of array-like of shape (n_samples,)
        One channel, piece by piece.
    framing : Framing
        Width and hop; each frame is seen through a Hann window.
    bands : Bands, default=SONG_BANDS
        By default 20 bands from 500 to 11,000 Hz.

    Yields
    ------
    ndarray of shape (n_frames, n_bands)
        The next frames' mean power in each band: white noise of variance v has v in all of them.
        Seven digits are kept. Neither values nor the number of frames depend on the blocks.
    """
    meter = _band_meter(framing, bands)
    single = (np.asarray(_one_channel(block), dtype=np.float32) for block in blocks)
    for windows in frame_blocks(single, framing):
        spectra = rfft(windows * meter.window, meter.n_fft, axis=1)[:, meter.bins]
        squares = np.square(np.ascontiguousarray(spectra).view(np.float32))
        yield (squares @ meter.weights).astype(np.float64)


def band_powers(samples: ArrayLike, framing: Framing, bands: Bands = SONG_BANDS) -> Matrix:
    """Measure the power in frequency bands, frame by frame.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel.
    framing : Framing
        Width and hop; each frame is seen through a Hann window.
    bands : Bands, default=SONG_BANDS
        By default 20 bands from 500 to 11,000 Hz.

    Returns
    -------
    ndarray of shape (n_frames, n_bands)
        No row if the samples do not fill a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.frames import Bands, band_edges, band_powers, framing
    >>> cut = framing(32000)
    >>> tone = np.sin(2 * np.pi * 3000 * np.arange(3200) / 32000)
    >>> band = int(band_powers(tone, cut).mean(axis=0).argmax())
    >>> band_edges(Bands(), 32000)[[band, band + 2]].round()
    array([2484., 3256.])
    """
    blocks = list(band_power_blocks([samples], framing, bands))
    return np.concatenate(blocks) if blocks else np.empty((0, bands.n_bands))
