"""What the header of a WAV file promises; libsndfile counts only what is there.

Recordings, read in blocks: an hour costs no more memory than a second.

WAV, FLAC and OGG, of any number of channels, sample rate and width that libsndfile knows. The
samples come as numbers between -1 and 1 in one channel; silence is zero. Files of floating-point
samples keep their values, whatever they are, as long as they are numbers.

A recording of any length as stretches of a minute, each with a little of its neighbours.
"""

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.audio.annotations.segments import EDGE_TOLERANCE_SECONDS
from kernova.audio.resampling import inputs_for, resampled, resampling
from kernova.errors import InputError
from kernova.textfiles import open_file

_BYTES_PER_SAMPLE = {
    "PCM_U8": 1,
    "PCM_16": 2,
    "PCM_24": 3,
    "PCM_32": 4,
    "FLOAT": 4,
    "DOUBLE": 8,
}

# Recorders that write to a pipe put one of these where the number of bytes belongs.
_UNKNOWN_SIZES = frozenset({0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000})


def missing_wav_samples(path: Path, subtype: str, n_channels: int, n_samples: int) -> int:
    """Count the samples of each channel that a WAV file promises and does not hold.

    Parameters
    ----------
    path : Path
        Any file; other formats promise nothing here.
    subtype : str
        How a sample is stored, in the words of libsndfile.
    n_channels, n_samples : int
        What libsndfile found.

    Raises
    ------
    InputError
        If the header promises nothing while sound follows: a recorder lost power before it wrote
        the number, and the sound would pass for an empty recording.
    """
    promised_bytes = _promised_bytes(path)
    width = _BYTES_PER_SAMPLE.get(subtype)
    if promised_bytes is None or width is None:
        return 0
    return max(0, promised_bytes // (width * n_channels) - n_samples)


def _promised_bytes(path: Path) -> int | None:
    with path.open("rb") as content:
        head = content.read(12)
        if head[:4] != b"RIFF" or head[8:] != b"WAVE":
            return None
        while len(header := content.read(8)) == 8:
            name, size = struct.unpack("<4sI", header)
            if name != b"data":
                content.seek(size + size % 2, 1)
                continue
            # The name of another chunk may follow an empty one; samples are rarely letters.
            is_sound = any(not 0x20 <= byte < 0x7F for byte in content.read(4))
            if size == 0 and is_sound:
                raise InputError(
                    f"{path} says that it holds no samples, yet more than a header is there: its "
                    "recorder never finished it. Repair the header with a sound editor."
                )
            return None if size in _UNKNOWN_SIZES else size
    return None


Channel = int | Literal["mean"]

# What libsndfile says where a header says nothing.
_UNKNOWN_LENGTH = 1 << 62
_MOST_NUMBERS_PER_BLOCK = 1 << 22


class AudioInfo(NamedTuple):
    """What is known of a recording before it is read.

    Attributes
    ----------
    path : Path
        The file.
    sample_rate : int
        Samples per second and channel.
    n_channels, n_samples : int
        Its channels, and the samples that are there in each of them.
    seconds : float
        Its length.
    missing_samples : int
        Samples that the header promises and the file does not hold: it was cut short.
    """

    path: Path
    sample_rate: int
    n_channels: int
    n_samples: int
    seconds: float
    missing_samples: int = 0

    @property
    def remark(self) -> str:
        """A sentence about what is missing from the file; empty if it is whole."""
        if not self.missing_samples:
            return ""
        promised = self.seconds + self.missing_samples / self.sample_rate
        return (
            f"{self.path} is cut short: its header promises {promised:.3f} s, and "
            f"{self.seconds:.3f} s are there, which are read."
        )


class Audio(NamedTuple):
    """A stretch of sound in memory: one channel, and samples per second."""

    samples: NDArray[np.float64]
    sample_rate: int

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self.samples) / self.sample_rate


def audio_info(path: str | Path) -> AudioInfo:
    """Look at a recording's header.

    Parameters
    ----------
    path : path
        A WAV, FLAC or OGG file.

    Returns
    -------
    AudioInfo
        Its ``remark`` says in words if the file was cut short.

    Raises
    ------
    InputError
        If there is no such file, or it is no recording.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, soundfile
    >>> from kernova.audio.reading import audio_info
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "song.wav"
    >>> soundfile.write(path, np.zeros((48000, 2)), 32000)
    >>> audio_info(path).n_channels, audio_info(path).seconds
    (2, 1.5)
    """
    with _opened(path) as stream:
        return _info_of(stream, Path(path))


def audio_blocks(
    path: str | Path,
    *,
    start: float = 0.0,
    end: float | None = None,
    sample_rate: int | None = None,
    channel: Channel = "mean",
    block_seconds: float = 10.0,
) -> Iterator[NDArray[np.float64]]:
    """Give the samples of a recording block by block, in memory that does not grow with it.

    Parameters
    ----------
    path : path
        A WAV, FLAC or OGG file.
    start, end : float
        The stretch to read, in seconds; all of it by default.
    sample_rate : int, optional
        Samples per second to give; the file's own by default. Other rates are made by a streamed
        polyphase filter.
    channel : "mean" or int
        The mean of all channels, or one of them, counted from 1.
    block_seconds : float, default=10
        About how long the blocks are, up to four million samples. It changes nothing about the
        samples.

    Yields
    ------
    ndarray of float64
        At least one sample each.

    Raises
    ------
    InputError
        If the file cannot be read, has no such channel, ends before the stretch does, or holds
        samples that are no numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, soundfile
    >>> from kernova.audio.reading import audio_blocks
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "song.wav"
    >>> soundfile.write(path, np.zeros((48000, 2)), 32000)
    >>> [len(block) for block in audio_blocks(path, block_seconds=1)]
    [32000, 16000]
    """
    with _opened(path) as stream:
        info = _info_of(stream, Path(path))
        n_block = _block_length(info, block_seconds)
        rate = _whole_rate(sample_rate, info)
        _check_channel(channel, info)
        first, last = _sample_range(info, start, end, rate)
        if rate == info.sample_rate:
            yield from _decoded(stream, info, first, last, channel, n_block)
            return
        plan = resampling(info.sample_rate, rate)
        first_input, last_input = inputs_for(plan, first, last)
        inputs = _decoded(
            stream, info, max(0, first_input), min(last_input, info.n_samples), channel, n_block
        )
        before = np.zeros(max(0, -first_input))
        yield from resampled(_after(before, inputs), plan, first, last)


def read_audio(
    path: str | Path,
    start: float = 0.0,
    end: float | None = None,
    *,
    sample_rate: int | None = None,
    channel: Channel = "mean",
) -> Audio:
    """Read a stretch of a recording into memory.

    Parameters
    ----------
    path, start, end, sample_rate, channel
        As for :func:`audio_blocks`. A stretch is the same samples that reading the whole
        recording gives at that place, at any rate.

    Returns
    -------
    Audio
        Its samples and their rate.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, soundfile
    >>> from kernova.audio.reading import read_audio
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "song.wav"
    >>> soundfile.write(path, np.zeros(48000), 32000)
    >>> audio = read_audio(path, 0.5, 1.0, sample_rate=22050)
    >>> len(audio.samples), audio.seconds
    (11025, 0.5)
    """
    own_rate = audio_info(path).sample_rate
    blocks = audio_blocks(path, start=start, end=end, sample_rate=sample_rate, channel=channel)
    samples = np.concatenate([np.zeros(0), *blocks])
    return Audio(samples, own_rate if sample_rate is None else int(sample_rate))


# --- opening ---------------------------------------------------------------------------------


def sound_library() -> Any:
    """Give soundfile, which comes with the extra ``audio``, or say how to get it."""
    try:
        import soundfile
    except ImportError as error:
        raise InputError(
            "Reading recordings needs soundfile, which is not installed: "
            "pip install 'kernova[audio]'."
        ) from error
    return soundfile


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    soundfile = sound_library()
    with open_file(path) as content:
        if not content.read(1):
            raise InputError(f"{path} is empty, with not even a header; record or copy it again.")
    try:
        stream = soundfile.SoundFile(str(path))
    except (soundfile.LibsndfileError, TypeError) as error:
        reason = getattr(error, "error_string", "").strip().rstrip(".") or "no known format"
        raise InputError(
            f"{path} cannot be read as a recording: {reason}. Save it as WAV, FLAC or OGG."
        ) from error
    with stream:
        yield stream


def _info_of(stream: Any, path: Path) -> AudioInfo:
    if stream.frames >= _UNKNOWN_LENGTH:
        raise InputError(
            f"{path} does not say how long it is, as FLAC files written to a pipe do not; save it "
            "again with a sound editor."
        )
    return AudioInfo(
        path,
        stream.samplerate,
        stream.channels,
        stream.frames,
        stream.frames / stream.samplerate,
        missing_wav_samples(path, stream.subtype, stream.channels, stream.frames),
    )


# --- what was asked for ----------------------------------------------------------------------


def _positive(value: float, name: str) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a number above zero; got {value!r}.")
    return value


def _block_length(info: AudioInfo, block_seconds: float) -> int:
    # A damaged header may claim any rate and any number of channels.
    most = max(1, _MOST_NUMBERS_PER_BLOCK // info.n_channels)
    wanted = _positive(block_seconds, "block_seconds") * info.sample_rate
    return max(1, round(min(wanted, most)))


def _whole_rate(sample_rate: int | None, info: AudioInfo) -> int:
    if sample_rate is None:
        return info.sample_rate
    if not (_positive(sample_rate, "sample_rate") == int(sample_rate)):
        raise InputError(f"sample_rate must be a whole number; got {sample_rate!r}.")
    return int(sample_rate)


def _check_channel(channel: Channel, info: AudioInfo) -> None:
    if channel == "mean":
        return
    is_whole = isinstance(channel, int | np.integer) and not isinstance(channel, bool)
    if not (is_whole and 1 <= int(channel) <= info.n_channels):
        raise InputError(
            f"{info.path} has no channel {channel!r}; it has {info.n_channels}. Take 'mean' or a "
            f"number from 1 to {info.n_channels}."
        )


def _sample_range(info: AudioInfo, start: float, end: float | None, rate: int) -> tuple[int, int]:
    """Turn seconds into samples at ``rate``; what people's rounding adds past the end is cut."""
    if end is None:
        end = max(info.seconds, start)
    if not (np.isfinite(start) and np.isfinite(end) and 0 <= start <= end):
        raise InputError(
            f"Cannot read {info.path} from {start} s to {end} s: a stretch begins at 0 s or "
            "later and ends no sooner than it begins."
        )
    if end > info.seconds + EDGE_TOLERANCE_SECONDS:
        raise InputError(
            f"Cannot read {info.path} from {start:.9g} s to {end:.9g} s: it ends at "
            f"{info.seconds:.9g} s. Name a stretch within it."
        )
    n_available = -(-info.n_samples * rate // info.sample_rate)
    last = n_available if end >= info.seconds else min(round(end * rate), n_available)
    return min(round(start * rate), last), last


# --- samples ---------------------------------------------------------------------------------


def _decoded(
    stream: Any, info: AudioInfo, first: int, last: int, channel: Channel, n_block: int
) -> Iterator[NDArray[np.float64]]:
    import soundfile

    position = first
    try:
        if position < last and position:
            stream.seek(position)
        while position < last:
            block = stream.read(min(n_block, last - position), dtype="float64", always_2d=True)
            if not len(block):
                raise _damaged(info, position)
            yield _one_channel(block, channel, info, position)
            position += len(block)
    except soundfile.LibsndfileError as error:
        raise _damaged(info, position) from error


def _damaged(info: AudioInfo, position: int) -> InputError:
    return InputError(
        f"{info.path} is damaged or cut short: it promises {info.seconds:.3f} s and cannot be "
        f"read on from {position / info.sample_rate:.3f} s. Copy it again, or read a stretch "
        "before that."
    )


def _one_channel(
    block: NDArray[np.float64], channel: Channel, info: AudioInfo, position: int
) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        if block.shape[1] == 1:
            mono = block[:, 0]
        elif channel == "mean":
            mono = block.mean(axis=1)
        else:
            mono = np.ascontiguousarray(block[:, int(channel) - 1])
        # A sum is one pass and no mask; only if it is no number is the culprit looked for.
        is_doubtful = not np.isfinite(mono.sum())
    wrong = np.flatnonzero(~np.isfinite(mono)) if is_doubtful else np.zeros(0, dtype=np.intp)
    if len(wrong):
        raise InputError(
            f"{info.path} holds a sample that is no number at "
            f"{(position + wrong[0]) / info.sample_rate:.6f} s; repair it or cut it out."
        )
    return mono


def _after(
    before: NDArray[np.float64], blocks: Iterator[NDArray[np.float64]]
) -> Iterator[NDArray[np.float64]]:
    yield before
    yield from blocks


STRETCH_SECONDS = 60.0
# So much of the neighbours is heard too, so that no note is cut at a border.
MARGIN_SECONDS = 1.0


class Stretch(NamedTuple):
    """Samples, and which of them are its own.

    Attributes
    ----------
    samples : array of shape (n_samples,)
        With the margins.
    offset : int
        Place of the first of them in the recording.
    own_start, own_stop : int
        Place of the stretch without its margins, in the recording.
    """

    samples: NDArray[np.float64]
    offset: int
    own_start: int
    own_stop: int


def stretches(
    blocks: Iterable[NDArray[np.float64]], sample_rate: float, seconds: float = STRETCH_SECONDS
) -> Iterator[Stretch]:
    """Cut a recording into stretches; the last is up to twice as long as the others.

    Parameters
    ----------
    blocks : iterable of array
        The samples, in blocks of any size: the stretches do not depend on it.
    sample_rate : float
    seconds : float
        How long a stretch is without its margins.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.reading import stretches
    >>> [s.own_stop - s.own_start for s in stretches([np.zeros(1600)], 10.0)]
    [600, 1000]
    >>> [s.own_stop - s.own_start for s in stretches([np.zeros(1100)], 10.0)]
    [1100]
    """
    own, margin = round(seconds * sample_rate), round(MARGIN_SECONDS * sample_rate)
    waiting: list[NDArray[np.float64]] = []
    n_waiting = offset = own_start = 0
    for block in blocks:
        waiting.append(block)
        n_waiting += len(block)
        while offset + n_waiting - own_start > 2 * own:
            samples = np.concatenate(waiting)
            own_stop = own_start + own
            yield Stretch(samples[: own_stop + margin - offset], offset, own_start, own_stop)
            begin = max(own_stop - margin, 0)
            rest = samples[begin - offset :].copy()
            waiting, n_waiting = [rest], len(rest)
            offset, own_start = begin, own_stop
    if n_waiting and offset + n_waiting > own_start:
        samples = np.concatenate(waiting)
        yield Stretch(samples, offset, own_start, offset + n_waiting)
