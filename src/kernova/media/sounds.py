"""Sounds of rows: recordings or intervals of them, as WAV files and spectrograms."""

import io
import threading
import wave
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.fft import next_fast_len, rfft
from scipy.signal import resample_poly
from scipy.signal.windows import hann

from kernova.audio.reading import audio_info, read_audio
from kernova.errors import InputError, MediaError, quoted
from kernova.media.contrast import Contrast
from kernova.media.files import FolderFiles, captions_of
from kernova.media.pictures import Picture, png_picture
from kernova.media.row_media import (
    ByteCache,
    MediaKind,
    RecordedInterval,
    RowMedia,
    standard_size,
)
from kernova.typing import Indices, Matrix, Samples

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


SpectrogramContrast = Literal["low", "normal", "high"]
# Decibels between black and white, as multiples of the usual ones.
_RANGES: Final[Mapping[SpectrogramContrast, float]] = {"low": 1.6, "normal": 1.0, "high": 0.55}


class SpectrogramView(NamedTuple):
    """Frequencies and contrast of a spectrogram; None for the limits of all rows."""

    lowest_hz: float | None = None
    highest_hz: float | None = None
    contrast: SpectrogramContrast = "normal"


_USUAL_VIEW: Final = SpectrogramView()


class Spectrogram(NamedTuple):
    """Spectrogram as a picture, with the ranges of its axes."""

    png: bytes  # the picture
    start: float  # start in the recording, and duration
    seconds: float
    lowest_hz: float  # frequencies at the lower and the upper edge
    highest_hz: float
    note_start: float  # start and end of the row's own interval, in seconds from the left edge
    note_end: float


def spectrogram_picture(
    samples: Samples,
    sample_rate: float,
    highest_hz: float,
    width: int,
    height: int,
    *,
    lowest_hz: float = 0.0,
    contrast: SpectrogramContrast = "normal",
) -> Picture:
    """Return the spectrogram of a sound from ``lowest_hz`` to ``highest_hz``.

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
    lowest_hz : float, default=0
        Frequency at the lower edge.
    contrast : {"low", "normal", "high"}
        How fast the picture becomes bright with the loudness.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.sounds import spectrogram_picture
    >>> tone = np.sin(2 * np.pi * 3000 * np.arange(3200) / 32000)
    >>> spectrogram_picture(tone, 32000, 16000, 64, 32).media_type
    'image/png'
    """
    decibels = _decibels(samples, sample_rate, (lowest_hz, highest_hz), width, height)
    quiet, loud = _limits(decibels, contrast)
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


def _upper_frequency(samples: Samples, sample_rate: float) -> float:
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
    samples: Samples, sample_rate: float, hertz_range: tuple[float, float], width: int, height: int
) -> Matrix:
    """Return decibels, low frequencies first, one line per pixel."""
    power = _powers(samples, sample_rate, hertz_range[1], width)
    hertz = np.linspace(0, sample_rate / 2, power.shape[1])
    wanted = np.linspace(*hertz_range, height)
    decibels = 10 * np.log10(power + _SILENCE)
    silence = 10 * np.log10(_SILENCE)
    return np.stack([np.interp(wanted, hertz, line, right=silence) for line in decibels], axis=1)


def _limits(decibels: Matrix, contrast: SpectrogramContrast) -> tuple[float, float]:
    audible = decibels[decibels > 10 * np.log10(_SILENCE) + 1]
    if audible.size == 0:
        return 0.0, 1.0
    quiet, loud = np.quantile(audible, [_QUIET_QUANTILE, _LOUD_QUANTILE])
    span = float(np.clip(loud - quiet, _LEAST_DECIBELS, _MOST_DECIBELS))
    return float(loud - _RANGES[contrast] * span), float(loud)


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


SLOWNESSES: Final = (1, 2, 4, 8)

# Longer sounds are cut to their beginning.
_LONGEST_SECONDS: Final = 30.0
# Context before and after an interval: fraction of its length, and limits in seconds.
_CONTEXT_FRACTION, _LEAST_CONTEXT, _MOST_CONTEXT = 0.5, 0.06, 0.5
_FADE_SECONDS: Final = 0.004
# The lowest sample rate that browsers play.
_LEAST_RATE: Final = 8000
# Quiet sounds are amplified up to this gain; beyond, only noise of the recorder is audible.
_MAX_GAIN, _PEAK = 100.0, 0.8
_WIDTH, _HEIGHT = 640, 240
# Sample of rows that determines the frequency range of all spectrograms.
_SAMPLED_ROWS: Final = 24
_QUANTILE, _HEADROOM = 0.9, 1.2
_HERTZ_STEP: Final = 1000.0


class SoundInterval(NamedTuple):
    """File, start and end of a row's sound in seconds; None for the whole file."""

    name: str
    start: float | None = None
    end: float | None = None


class SoundClip(NamedTuple):
    """Samples of a row's sound, with some context.

    ``start`` is relative to the recording; ``note_start`` and ``note_end``, the limits of the
    row's own interval, are relative to the first sample.
    """

    samples: Samples
    sample_rate: int
    start: float
    note_start: float
    note_end: float

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return len(self.samples) / self.sample_rate

    @property
    def note(self) -> Samples:
        """Samples of the row's own interval."""
        first, last = (
            round(border * self.sample_rate) for border in (self.note_start, self.note_end)
        )
        return self.samples[first:last]


class SoundRows(RowMedia):
    """Sounds of rows that are recordings, or intervals of recordings, in a folder.

    Parameters
    ----------
    ids : sequence of str
        Row ids.
    files : FolderFiles
        The recordings.
    intervals : sequence of SoundInterval or None
        The sound of each row, None where there is none.
    more : mapping of int to tuple of SoundInterval, optional
        Further sounds of some rows.
    """

    kind: MediaKind = "sound"

    def __init__(
        self,
        ids: Sequence[str],
        files: FolderFiles,
        intervals: Sequence[SoundInterval | None],
        more: Mapping[int, tuple[SoundInterval, ...]] | None = None,
    ) -> None:
        super().__init__(ids)
        self._files = files
        self._intervals = list(intervals)
        self._more = more or {}
        self._spectrograms: ByteCache[Spectrogram] = ByteCache(lambda drawn: len(drawn.png))
        self._highest: float | None = None
        self._lock = threading.Lock()

    def of_rows(self, rows: Indices | None) -> "SoundRows":
        """Return the sounds of some rows; None returns all of them."""
        if rows is None:
            return self
        ids = [self._ids[row] for row in rows]
        more = {new: self._more[row] for new, row in enumerate(rows.tolist()) if row in self._more}
        return SoundRows(ids, self._files, [self._intervals[row] for row in rows], more)

    def has(self, row: int) -> bool:
        """Return whether the row has a sound."""
        return self._is_row(row) and self._intervals[row] is not None

    def captions(self, row: int) -> list[str]:
        """Return the name of each recording of the row."""
        return captions_of([one.name for one in self._intervals_of(row)])

    def clip(self, row: int, file: int = 0) -> SoundClip:
        """Read a sound of the row with some context."""
        intervals = self._intervals_of(row)
        if not intervals:
            raise self._missing(row, "sound")
        if not 0 <= file < len(intervals):
            raise self._no_file(row, file)
        interval = intervals[file]
        path = self._files.path(interval.name)
        try:
            return _read_clip(path, interval, self._ids[row])
        except MediaError:
            raise
        except InputError as error:
            raise MediaError(str(error)) from error

    def sound(self, row: int, slowness: int = 1, file: int = 0) -> bytes:
        """Return a 16-bit WAV file, amplified, with faded ends."""
        if slowness not in SLOWNESSES:
            raise MediaError(f"`slowness` must be 1, 2, 4 or 8; got {quoted(slowness)}.")
        return _slow_wav(self.clip(row, file), slowness)

    def spectrogram(
        self, row: int, file: int = 0, view: SpectrogramView | None = None
    ) -> Spectrogram:
        """Return the spectrogram of a sound of the row; by default with the limits of all rows."""
        return self._drawn((row, file), view or _USUAL_VIEW, _WIDTH, _HEIGHT)

    def picture(
        self, row: int, largest: int = 256, file: int = 0, contrast: Contrast = "plain"
    ) -> Picture:
        """Return a small spectrogram, for galleries of rows."""
        size = standard_size(largest)
        drawn = self._drawn((row, file), _USUAL_VIEW, size, max(1, 2 * size // 3))
        return Picture(drawn.png, "image/png")

    def _intervals_of(self, row: int) -> list[SoundInterval]:
        first = self._intervals[row] if self._is_row(row) else None
        return [] if first is None else [first, *self._more.get(row, ())]

    def file_name(self, row: int) -> str | None:
        """Return the name of the row's recording within its folder, None without one."""
        interval = self._intervals[row] if self._is_row(row) else None
        return None if interval is None else interval.name

    def interval(self, row: int) -> RecordedInterval | None:
        """Return where the row's sound is recorded; None without one that can be read."""
        found = self._intervals[row] if self._is_row(row) else None
        if found is None:
            return None
        if found.end is not None:
            return RecordedInterval(found.name, found.start or 0.0, found.end)
        try:
            seconds = audio_info(self._files.path(found.name)).seconds
        except InputError:
            return None
        return RecordedInterval(found.name, found.start or 0.0, seconds)

    @property
    def highest_hz(self) -> float:
        """Upper limit of the common frequency axis, estimated from a sample of rows."""
        with self._lock:
            if self._highest is None:
                self._highest = self._estimated_highest()
            return self._highest

    @property
    def lowest_nyquist(self) -> float:
        """Lowest Nyquist frequency of all recordings."""
        names = {interval.name for interval in self._intervals if interval is not None}
        rates = [self._sample_rate(name) for name in sorted(names)]
        return min(rates, default=0.0) / 2

    def _sample_rate(self, name: str) -> float:
        try:
            return float(audio_info(self._files.path(name)).sample_rate)
        except MediaError:
            raise
        except InputError as error:
            raise MediaError(str(error)) from error

    def _drawn(
        self, of: tuple[int, int], view: SpectrogramView, width: int, height: int
    ) -> Spectrogram:
        limits = self._limits_of(view)
        return self._spectrograms.get(
            (of, width, limits, view.contrast),
            lambda: _draw_clip(self.clip(*of), limits, view.contrast, (width, height)),
        )

    def _limits_of(self, view: SpectrogramView) -> tuple[float, float]:
        lowest = view.lowest_hz or 0.0
        highest = view.highest_hz or max(self.highest_hz, lowest + _HERTZ_STEP)
        if not 0 <= lowest < highest:
            raise MediaError(
                f"The lowest frequency must be below the highest; got {lowest:,.0f} Hz and "
                f"{highest:,.0f} Hz."
            )
        return lowest, highest

    def _estimated_highest(self) -> float:
        rows = [row for row, interval in enumerate(self._intervals) if interval is not None]
        found, limit = [], 0.0
        for row in rows[:: max(1, len(rows) // _SAMPLED_ROWS)]:
            try:
                clip = self.clip(row)
            except MediaError:
                continue  # reported when this row is requested
            found.append(_upper_frequency(clip.note, clip.sample_rate))
            limit = max(limit, clip.sample_rate / 2)
        # A quantile, so that a few broadband sounds do not shrink all others.
        typical = float(np.quantile(found, _QUANTILE)) if found else 0.0
        wanted = _HERTZ_STEP * np.ceil(_HEADROOM * typical / _HERTZ_STEP)
        return float(min(wanted, limit)) or limit or _HERTZ_STEP


def _draw_clip(
    clip: SoundClip,
    limits: tuple[float, float],
    contrast: SpectrogramContrast,
    size: tuple[int, int],
) -> Spectrogram:
    """Return the spectrogram of a clip."""
    lowest_hz, highest_hz = limits
    picture = spectrogram_picture(
        clip.samples, clip.sample_rate, highest_hz, *size, lowest_hz=lowest_hz, contrast=contrast
    )
    return Spectrogram(
        png=picture.content,
        start=clip.start,
        seconds=clip.seconds,
        lowest_hz=lowest_hz,
        highest_hz=highest_hz,
        note_start=clip.note_start,
        note_end=clip.note_end,
    )


def _slow_wav(clip: SoundClip, slowness: int) -> bytes:
    """Return a clip as a WAV file that plays slower and lower by a factor."""
    samples = _faded(clip.samples, clip.sample_rate)
    largest = float(np.abs(samples).max(initial=0.0))
    gain = min(_PEAK / largest, _MAX_GAIN) if largest > 0 else 1.0
    # At least 1, since the rate is doubled until browsers play it.
    rate, factor = max(1, clip.sample_rate // slowness), 1
    while rate * factor < _LEAST_RATE:
        factor *= 2
    if factor > 1:
        samples = resample_poly(samples, factor, 1)
    whole = np.rint(np.clip(gain * samples, -1, 1) * 32767).astype("<i2")
    stream = io.BytesIO()
    with wave.open(stream, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate * factor)
        written.writeframes(whole.tobytes())
    return stream.getvalue()


def _read_clip(path: object, interval: SoundInterval, row: str) -> SoundClip:
    info = audio_info(str(path))
    start = 0.0 if interval.start is None else interval.start
    end = info.seconds if interval.end is None else min(interval.end, info.seconds)
    if not start < end:
        raise MediaError(
            f"Row {quoted(row)} starts at {start:.9g} s of {interval.name}, which ends at "
            f"{info.seconds:.9g} s. Correct its times or its file."
        )
    end = min(end, start + _LONGEST_SECONDS)
    context = float(np.clip(_CONTEXT_FRACTION * (end - start), _LEAST_CONTEXT, _MOST_CONTEXT))
    first, last = max(0.0, start - context), min(info.seconds, end + context)
    audio = read_audio(str(path), first, last)
    return SoundClip(audio.samples, audio.sample_rate, first, start - first, end - first)


def _faded(samples: Samples, sample_rate: int) -> Samples:
    """Fade in and out, to avoid clicks."""
    n_fade = min(round(_FADE_SECONDS * sample_rate), len(samples) // 2)
    ramp = np.ones(len(samples))
    ramp[:n_fade] = np.linspace(0, 1, n_fade, endpoint=False)
    ramp[len(samples) - n_fade :] = np.linspace(0, 1, n_fade, endpoint=False)[::-1]
    return samples * ramp
