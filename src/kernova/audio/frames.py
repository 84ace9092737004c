"""Frames of sound: short windows of samples, their DCT and the power of their frequency bands.

Frame k covers the samples from ``k * hop`` up to ``k * hop + width``; samples that do not fill a
last frame are left out, and sound shorter than one frame has no frames. Long recordings come in
blocks of any size; the frames do not depend on the blocks.
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

_FloatSamples = NDArray[np.floating]  # of the precision of the input

# Frames per batch, counted from the first frame of a recording, so that each frame is computed in
# the same batch for any blocks: results are equal bit by bit.
_FRAMES_PER_BATCH = 1024
# Largest sample: its square, summed over a frame, is still finite in single precision.
_MAX_SAMPLE = 1e15


class Framing(NamedTuple):
    """Width and hop of frames."""

    width: int  # number of samples of a frame
    hop: int  # number of samples from the start of a frame to the start of the next
    sample_rate: float  # _FloatSamples per second

    @property
    def hop_seconds(self) -> float:
        """Seconds from frame to frame."""
        return self.hop / self.sample_rate

    def count(self, n_samples: int) -> int:
        """Return the number of whole frames in this many samples."""
        return max(0, (n_samples - self.width) // self.hop + 1)

    def seconds(self, frames: ArrayLike) -> Matrix:
        """Return the times of frames as borders of notes, in seconds.

        A frame stands for one hop around its middle.
        """
        middle = (self.width - self.hop) / 2
        return (np.asarray(frames, dtype=np.float64) * self.hop + middle) / self.sample_rate

    def frames(self, seconds: ArrayLike) -> NDArray[np.intp]:
        """Return the frames whose borders are nearest to these times: the inverse of `seconds`."""
        middle = (self.width - self.hop) / 2
        position = (np.asarray(seconds, dtype=np.float64) * self.sample_rate - middle) / self.hop
        return np.rint(position).astype(np.intp)


# The paper's: 96 samples, 48 of them shared with the next frame.
PAPER_FRAMING = Framing(96, 48, 22050.0)


def framing(
    sample_rate: float, *, width_seconds: float = 0.008, hop_seconds: float = 0.002
) -> Framing:
    """Return the framing of a sample rate, to the nearest sample.

    Parameters
    ----------
    sample_rate : float
        _FloatSamples per second.
    width_seconds : float, default=0.008
        Length of a frame.
    hop_seconds : float, default=0.002
        From the start of one frame to the start of the next.

    Returns
    -------
    Framing
        Width and hop in samples.

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


def frames(samples: ArrayLike, framing: Framing) -> _FloatSamples:
    """Cut sound into frames, without copying it.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel.
    framing : Framing
        Width and hop.

    Returns
    -------
    ndarray of shape (n_frames, width)
        A read-only view of the samples; no row if there are too few.

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


def _one_channel(samples: ArrayLike) -> _FloatSamples:
    samples = np.asarray(samples)
    if samples.ndim != 1:
        raise InputError(f"The samples have shape {samples.shape}; give one channel.")
    if not np.issubdtype(samples.dtype, np.floating):
        samples = samples.astype(np.float64)
    # NaN compares as false.
    if len(samples) and not (samples.min() >= -_MAX_SAMPLE and samples.max() <= _MAX_SAMPLE):
        raise InputError(f"The samples have values that are NaN or beyond {_MAX_SAMPLE:g}.")
    return samples


def frame_blocks(blocks: Iterable[ArrayLike], framing: Framing) -> Iterator[_FloatSamples]:
    """Cut sound that comes in blocks into frames, in batches.

    Parameters
    ----------
    blocks : iterable of array-like of shape (n_samples,)
        Consecutive parts of one channel.
    framing : Framing
        Width and hop.

    Yields
    ------
    ndarray of shape (n_frames, width)
        The next frames. Their number does not depend on the size of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.frames import Framing, frame_blocks
    >>> list(frame_blocks([np.arange(3.0), np.arange(3.0, 7.0)], Framing(4, 2, 100)))
    [array([[0., 1., 2., 3.],
            [2., 3., 4., 5.]])]
    """
    used = _FRAMES_PER_BATCH * framing.hop
    needed = used - framing.hop + max(framing.width, framing.hop)
    waiting: list[_FloatSamples] = []
    n_waiting = 0
    for block in blocks:
        waiting.append(_one_channel(block))
        n_waiting += len(waiting[-1])
        if n_waiting < needed:
            continue
        samples = np.concatenate(waiting)
        start = 0
        while len(samples) - start >= needed:
            yield frames(samples[start : start + needed], framing)[:_FRAMES_PER_BATCH]
            start += used
        waiting, n_waiting = [samples[start:].copy()], len(samples) - start
    if n_waiting >= framing.width:
        yield frames(np.concatenate(waiting), framing)


def dct_magnitudes(frames: ArrayLike) -> Matrix:
    """Return the absolute values of the discrete cosine transform (DCT) of each frame.

    The transform is of the second kind and orthonormal: it preserves the norm of a frame.

    Parameters
    ----------
    frames : array-like of shape (n_frames, width)
        _FloatSamples.

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


class Bands(NamedTuple):
    """Frequency bands at equal steps of the mel scale."""

    n_bands: int = 20  # number of bands
    # Lower end of the first band and upper end of the last, at most half the sample rate.
    low_hz: float = 500.0
    high_hz: float = 11_000.0


SONG_BANDS = Bands()


def band_edges(bands: Bands, sample_rate: float) -> Matrix:
    """Return the edges of the bands in Hz: band b rises from edge b to b + 1 and falls to b + 2.

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
    """Window and weights that turn samples into the power of bands."""

    window: NDArray[np.float32]
    n_fft: int
    bins: slice
    weights: NDArray[np.float32]


@lru_cache(maxsize=16)
def _band_meter(framing: Framing, bands: Bands) -> _BandMeter:
    """Return the window and the matrix that sums the squares of a spectrum over each band.

    A bin stands for all frequencies around it, and the triangle of a band is integrated over them,
    so that no band is empty, even if it is narrower than a bin.
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
    """Yield the power in frequency bands of sound that comes in blocks.

    Parameters
    ----------
    blocks : iterable of array-like of shape (n_samples,)
        Consecutive parts of one channel.
    framing : Framing
        Width and hop; each frame is multiplied by a Hann window.
    bands : Bands, default=SONG_BANDS
        By default 20 bands from 500 to 11,000 Hz.

    Yields
    ------
    ndarray of shape (n_frames, n_bands)
        Mean power of the next frames in each band, v for white noise of variance v, in single
        precision. Neither values nor the number of frames depend on the blocks.
    """
    meter = _band_meter(framing, bands)
    single = (np.asarray(_one_channel(block), dtype=np.float32) for block in blocks)
    for windows in frame_blocks(single, framing):
        spectra = rfft(windows * meter.window, meter.n_fft, axis=1)[:, meter.bins]
        squares = np.square(np.ascontiguousarray(spectra).view(np.float32))
        yield (squares @ meter.weights).astype(np.float64)


def band_powers(samples: ArrayLike, framing: Framing, bands: Bands = SONG_BANDS) -> Matrix:
    """Return the power in frequency bands of each frame.

    Parameters
    ----------
    samples : array-like of shape (n_samples,)
        One channel.
    framing : Framing
        Width and hop; each frame is multiplied by a Hann window.
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
