"""Sounds of rows: whole recordings or stretches of them, to hear and to see."""

import io
import threading
import wave
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

from kernova.audio.reading import audio_info, read_audio
from kernova.errors import InputError, MediaError
from kernova.media.files import FolderFiles
from kernova.media.pictures import Picture
from kernova.media.row_media import Kept, MediaKind, RowMedia, usual_size
from kernova.media.spectrogram import Spectrogram, loud_hz, spectrogram_picture

SOUND_ENDINGS: Final = (".wav", ".flac", ".ogg", ".oga", ".aif", ".aiff", ".mp3")
SLOWNESSES: Final = (1, 2, 4, 8)

# Of anything longer the beginning is shown and played.
_LONGEST_SECONDS: Final = 30.0
# What is heard before and after a stretch, as a share of its length, and in seconds.
_CONTEXT_SHARE, _LEAST_CONTEXT, _MOST_CONTEXT = 0.5, 0.06, 0.5
_FADE_SECONDS: Final = 0.004
# Browsers play no sound of fewer samples per second.
_LEAST_RATE: Final = 8000
# Quiet sounds are made louder, up to this; beyond, one would hear the recorder only.
_LOUDEST_GAIN, _PEAK = 100.0, 0.8
_WIDTH, _HEIGHT = 640, 240
# So many rows tell how high the frequencies of all rows go.
_ROWS_LOOKED_AT: Final = 24
_USUAL_SHARE, _ROOM_ABOVE = 0.9, 1.2
_HERTZ_STEP: Final = 1000.0


class Stretch(NamedTuple):
    """Where a row's sound is: its file, and from when to when; None for the whole of it."""

    name: str
    start: float | None = None
    end: float | None = None


class Heard(NamedTuple):
    """A row's sound with a little of what is around it.

    ``start`` counts in the recording, the note's borders from the first sample on.
    """

    samples: NDArray[np.float64]
    sample_rate: int
    start: float
    note_start: float
    note_end: float

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.samples) / self.sample_rate

    @property
    def note(self) -> NDArray[np.float64]:
        """The samples between the note's borders."""
        first, last = (
            round(border * self.sample_rate) for border in (self.note_start, self.note_end)
        )
        return self.samples[first:last]


class SoundRows(RowMedia):
    """Rows that are recordings, or stretches of recordings, in a folder.

    Parameters
    ----------
    ids : sequence of str
        What the rows are called.
    files : FolderFiles
        Where the recordings are.
    stretches : sequence of Stretch or None
        For each row its sound; None where there is none.
    """

    kind: MediaKind = "sound"

    def __init__(
        self, ids: Sequence[str], files: FolderFiles, stretches: Sequence[Stretch | None]
    ) -> None:
        super().__init__(ids)
        self._files = files
        self._stretches = list(stretches)
        self._spectrograms: Kept[Spectrogram] = Kept(lambda drawn: len(drawn.png))
        self._highest: float | None = None
        self._lock = threading.Lock()

    def of_rows(self, places: "NDArray[np.intp] | None") -> "SoundRows":
        """Give the sounds of some rows; None gives them all."""
        if places is None:
            return self
        ids, stretches = ([of[place] for place in places] for of in (self._ids, self._stretches))
        return SoundRows(ids, self._files, stretches)

    def has(self, row: int) -> bool:
        """Tell whether the row has a sound."""
        return self._is_row(row) and self._stretches[row] is not None

    def heard(self, row: int) -> Heard:
        """Read the row's sound and a little around it."""
        stretch = self._stretches[row] if self._is_row(row) else None
        if stretch is None:
            raise self._nothing(row, "sound")
        path = self._files.path(stretch.name)
        try:
            return _heard(path, stretch, self._ids[row])
        except MediaError:
            raise
        except InputError as error:
            raise MediaError(str(error)) from error

    def sound(self, row: int, slowness: int = 1) -> bytes:
        """Give a WAV file of 16 bits, as loud as can be, with soft ends."""
        if slowness not in SLOWNESSES:
            raise MediaError(
                f"Sounds are played 1, 2, 4 or 8 times as slowly; got {slowness!r}. Take one of "
                "these."
            )
        return slow_wav(self.heard(row), slowness)

    def spectrogram(self, row: int) -> Spectrogram:
        """Draw the row's sound; all rows have the same frequencies at the same height."""
        return self._drawn(row, _WIDTH, _HEIGHT)

    def picture(self, row: int, largest: int = 256) -> Picture:
        """Give a small spectrogram, for many rows side by side."""
        size = usual_size(largest)
        return Picture(self._drawn(row, size, max(1, 2 * size // 3)).png, "image/png")

    @property
    def highest_hz(self) -> float:
        """The frequency up to which all rows are drawn: what some of them, all over, need."""
        with self._lock:
            if self._highest is None:
                self._highest = self._found_highest()
            return self._highest

    @property
    def least_half_rate(self) -> float:
        """The frequency that all recordings reach up to."""
        names = {stretch.name for stretch in self._stretches if stretch is not None}
        rates = [self._sample_rate(name) for name in sorted(names)]
        return min(rates, default=0.0) / 2

    def _sample_rate(self, name: str) -> float:
        try:
            return float(audio_info(self._files.path(name)).sample_rate)
        except MediaError:
            raise
        except InputError as error:
            raise MediaError(str(error)) from error

    def _drawn(self, row: int, width: int, height: int) -> Spectrogram:
        return self._spectrograms.get(
            (row, width), lambda: drawn_sound(self.heard(row), self.highest_hz, width, height)
        )

    def _found_highest(self) -> float:
        rows = [row for row, stretch in enumerate(self._stretches) if stretch is not None]
        found, limit = [], 0.0
        for row in rows[:: max(1, len(rows) // _ROWS_LOOKED_AT)]:
            try:
                heard = self.heard(row)
            except MediaError:
                continue  # said when somebody asks for this row
            found.append(loud_hz(heard.note, heard.sample_rate))
            limit = max(limit, heard.sample_rate / 2)
        # One crash of thunder among songs must not make all of them small.
        usual = float(np.quantile(found, _USUAL_SHARE)) if found else 0.0
        wanted = _HERTZ_STEP * np.ceil(_ROOM_ABOVE * usual / _HERTZ_STEP)
        return float(min(wanted, limit)) or limit or _HERTZ_STEP


def drawn_sound(heard: Heard, highest_hz: float, width: int, height: int) -> Spectrogram:
    """Draw what is heard."""
    picture = spectrogram_picture(heard.samples, heard.sample_rate, highest_hz, width, height)
    return Spectrogram(
        png=picture.content,
        start=heard.start,
        seconds=heard.seconds,
        lowest_hz=0.0,
        highest_hz=highest_hz,
        note_start=heard.note_start,
        note_end=heard.note_end,
    )


def slow_wav(heard: Heard, slowness: int) -> bytes:
    """Write what is heard as a WAV file that plays so many times as slowly, and as much lower."""
    samples = _soft_ends(heard.samples, heard.sample_rate)
    largest = float(np.abs(samples).max(initial=0.0))
    gain = min(_PEAK / largest, _LOUDEST_GAIN) if largest > 0 else 1.0
    # Where there are fewer samples per second than that, one is the least that doubles.
    rate, factor = max(1, heard.sample_rate // slowness), 1
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


def _heard(path: object, stretch: Stretch, row: str) -> Heard:
    info = audio_info(str(path))
    start = 0.0 if stretch.start is None else stretch.start
    end = info.seconds if stretch.end is None else min(stretch.end, info.seconds)
    if not start < end:
        raise MediaError(
            f"Row {row!r} lies at {start:.9g} s of {stretch.name}, which ends at "
            f"{info.seconds:.9g} s; correct its times or its file."
        )
    end = min(end, start + _LONGEST_SECONDS)
    context = float(np.clip(_CONTEXT_SHARE * (end - start), _LEAST_CONTEXT, _MOST_CONTEXT))
    first, last = max(0.0, start - context), min(info.seconds, end + context)
    audio = read_audio(str(path), first, last)
    return Heard(audio.samples, audio.sample_rate, first, start - first, end - first)


def _soft_ends(samples: NDArray[np.float64], sample_rate: int) -> NDArray[np.float64]:
    """Fade in and out, since a cut in the midst of a sound clicks."""
    n_fade = min(round(_FADE_SECONDS * sample_rate), len(samples) // 2)
    ramp = np.ones(len(samples))
    ramp[:n_fade] = np.linspace(0, 1, n_fade, endpoint=False)
    ramp[len(samples) - n_fade :] = np.linspace(0, 1, n_fade, endpoint=False)[::-1]
    return samples * ramp
