"""Recordings, read in blocks of constant memory.

All formats of libsndfile with one of the suffixes in :data:`AUDIO_SUFFIXES`, with any number of
channels, sample rate and sample width. Samples are numbers between -1 and 1 in one channel; silence
is zero. Files of floating-point samples keep their values, as long as they are finite.
:func:`chunks` cuts a recording of any length into overlapping chunks of a minute.
"""

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from kernova.audio.annotations.segments import EDGE_TOLERANCE_SECONDS
from kernova.audio.resampling import filter_bytes, inputs_for, resampled, resampling
from kernova.budget import budget_of
from kernova.errors import InputError, quoted
from kernova.textfiles import open_file
from kernova.typing import Samples

# The one list of audio formats: every folder search and help text uses it.
AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".aif", ".aiff", ".mp3")

_BYTES_PER_SAMPLE = {
    "PCM_U8": 1,
    "PCM_16": 2,
    "PCM_24": 3,
    "PCM_32": 4,
    "FLOAT": 4,
    "DOUBLE": 8,
}
# Sizes that recorders write to a pipe, where the number of bytes is not known.
_UNKNOWN_SIZES = frozenset({0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000})

Channel = int | Literal["mean"]
CHUNK_SECONDS = 60.0
# Overlap with the neighbours, so that no note is cut at a border.
_MARGIN_SECONDS = 1.0
# Number of frames that libsndfile reports if the header has none.
_UNKNOWN_LENGTH = 1 << 62
_MAX_NUMBERS_PER_BLOCK = 1 << 22
# A forged header may claim one sample per second, and hours of sound for a few bytes.
_MOST_SAMPLES_PER_SAMPLE = 64


class AudioInfo(NamedTuple):
    """Header of a recording.

    Attributes
    ----------
    path : Path
        The file.
    sample_rate : int
        Samples per second and channel.
    n_channels, n_samples : int
        Number of channels, and of samples in each of them.
    seconds : float
        Length of the recording.
    missing_samples : int
        Samples that the header promises and a truncated file does not hold.
    """

    path: Path
    sample_rate: int
    n_channels: int
    n_samples: int
    seconds: float
    missing_samples: int = 0

    @property
    def remark(self) -> str:
        """Remark on a truncated file; empty if the file is complete."""
        if not self.missing_samples:
            return ""
        promised = self.seconds + self.missing_samples / self.sample_rate
        return (
            f"{self.path} is truncated: its header promises {promised:.3f} s, of which "
            f"{self.seconds:.3f} s are in the file and are read."
        )


class Audio(NamedTuple):
    """Sound in memory: samples of one channel, and the sample rate."""

    samples: Samples
    sample_rate: int

    @property
    def seconds(self) -> float:
        """Length of the sound."""
        return len(self.samples) / self.sample_rate


class Chunk(NamedTuple):
    """Samples of a chunk with its margins, and the range of the chunk itself."""

    samples: Samples  # samples with the margins; shape (n_samples,)
    offset: int  # position of the first sample in the recording
    own_start: int  # range of the chunk without its margins, in the recording
    own_stop: int


def audio_info(path: str | Path) -> AudioInfo:
    """Return the header of a recording.

    Parameters
    ----------
    path : path
        A file of a format in :data:`AUDIO_SUFFIXES`.

    Returns
    -------
    AudioInfo
        Its ``remark`` is not empty if the file is truncated.

    Raises
    ------
    InputError
        If there is no such file, or it is not a recording.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, soundfile
    >>> from kernova.audio.reading import audio_info
    >>> song = pathlib.Path(tempfile.mkdtemp(), "song.wav")
    >>> soundfile.write(song, np.zeros((48000, 2)), 32000)
    >>> audio_info(song).n_channels, audio_info(song).seconds
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
) -> Iterator[Samples]:
    """Yield the samples of a recording in blocks, in constant memory.

    Parameters
    ----------
    path : path
        A file of a format in :data:`AUDIO_SUFFIXES`.
    start, end : float
        The interval to read, in seconds; all of it by default.
    sample_rate : int, optional
        Sample rate of the result; that of the file by default. Resampling is by a streamed
        polyphase filter.
    channel : "mean" or int
        The mean of all channels, or one of them, counted from 1.
    block_seconds : float, default=10
        Approximate length of the blocks, up to four million samples. The samples do not depend on
        it.

    Yields
    ------
    ndarray of float64
        At least one sample each.

    Raises
    ------
    InputError
        If the file cannot be read, has no such channel, ends before the interval does, holds
        samples that are NaN or infinite, or has less than a 64th of the sample rate.

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
        budget_of(path).check(filter_bytes(info.sample_rate, rate))
        _check_multiple(info, rate)
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
    """Read a recording, or an interval of it, into memory.

    Parameters
    ----------
    path, start, end, sample_rate, channel
        As for :func:`audio_blocks`. An interval has the same samples as that part of the whole
        recording, at any rate.

    Returns
    -------
    Audio
        Samples and their rate.

    Raises
    ------
    InputError
        As for :func:`audio_blocks`, or if the samples take more memory than is allowed for a file
        of its size (see :mod:`kernova.budget`).

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
    info = audio_info(path)
    rate = _whole_rate(sample_rate, info)
    first, last = _sample_range(info, start, end, rate)
    # A few bytes of compressed silence, or of a forged header, may stand for hours.
    budget_of(path).check((last - first) * np.dtype(np.float64).itemsize)
    samples = np.empty(0)
    for block in audio_blocks(path, start=start, end=end, sample_rate=rate, channel=channel):
        n_before = len(samples)
        samples.resize(n_before + len(block), refcheck=False)
        samples[n_before:] = block
    return Audio(samples, rate)


def sound_library() -> Any:
    """Return the module soundfile; raise InputError if the extra ``audio`` is not installed."""
    try:
        import soundfile
    except ImportError as error:
        raise InputError(
            "Reading recordings needs soundfile, which is not installed: "
            "pip install 'kernova[audio]'."
        ) from error
    return soundfile


def chunks(
    blocks: Iterable[Samples], sample_rate: float, seconds: float = CHUNK_SECONDS
) -> Iterator[Chunk]:
    """Cut a recording into chunks; the last is up to twice as long as the others.

    Parameters
    ----------
    blocks : iterable of array
        Samples, in blocks of any size; the chunks do not depend on it.
    sample_rate : float
    seconds : float
        Length of a chunk, without its margins.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.audio.reading import chunks
    >>> [chunk.own_stop - chunk.own_start for chunk in chunks([np.zeros(1600)], 10.0)]
    [600, 1000]
    >>> [chunk.own_stop - chunk.own_start for chunk in chunks([np.zeros(1100)], 10.0)]
    [1100]
    """
    own, margin = round(seconds * sample_rate), round(_MARGIN_SECONDS * sample_rate)
    waiting: list[Samples] = []
    n_waiting = offset = own_start = 0
    for block in blocks:
        waiting.append(block)
        n_waiting += len(block)
        while offset + n_waiting - own_start > 2 * own:
            samples = np.concatenate(waiting)
            own_stop = own_start + own
            yield Chunk(samples[: own_stop + margin - offset], offset, own_start, own_stop)
            begin = max(own_stop - margin, 0)
            rest = samples[begin - offset :].copy()
            waiting, n_waiting = [rest], len(rest)
            offset, own_start = begin, own_stop
    if n_waiting and offset + n_waiting > own_start:
        samples = np.concatenate(waiting)
        yield Chunk(samples, offset, own_start, offset + n_waiting)


def _missing_wav_samples(path: Path, subtype: str, n_channels: int, n_samples: int) -> int:
    """Return the number of samples per channel that the header of a WAV file promises in excess.

    Parameters
    ----------
    path : Path
        Any file; 0 for other formats.
    subtype : str
        Sample format, as libsndfile names it.
    n_channels, n_samples : int
        Numbers that libsndfile found.

    Raises
    ------
    InputError
        If the header has a size of zero and sound follows, as when a recorder lost power before it
        wrote the size. The recording would otherwise be taken for an empty one.
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
            # An empty chunk may be followed by the name of another one; samples are rarely letters.
            is_sound = any(not 0x20 <= byte < 0x7F for byte in content.read(4))
            if size == 0 and is_sound:
                raise InputError(
                    f"The header of {path} has a size of zero, but sound follows: the recorder did "
                    "not finish the file. Repair the header with a sound editor."
                )
            return None if size in _UNKNOWN_SIZES else size
    return None


@contextmanager
def _opened(path: str | Path) -> Iterator[Any]:
    soundfile = sound_library()
    with open_file(path) as content:
        if not content.read(1):
            raise InputError(f"{path} is an empty file; record or copy it again.")
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
            f"The header of {path} has no length, as in FLAC files written to a pipe; save it "
            "again with a sound editor."
        )
    return AudioInfo(
        path,
        stream.samplerate,
        stream.channels,
        stream.frames,
        stream.frames / stream.samplerate,
        _missing_wav_samples(path, stream.subtype, stream.channels, stream.frames),
    )


def _positive(value: float, name: str) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a number above zero; got {quoted(value)}.")
    return value


def _block_length(info: AudioInfo, block_seconds: float) -> int:
    # A damaged header may claim any rate and any number of channels.
    most = max(1, _MAX_NUMBERS_PER_BLOCK // info.n_channels)
    wanted = _positive(block_seconds, "block_seconds") * info.sample_rate
    return max(1, round(min(wanted, most)))


def _whole_rate(sample_rate: int | None, info: AudioInfo) -> int:
    if sample_rate is None:
        return info.sample_rate
    if not (_positive(sample_rate, "sample_rate") == int(sample_rate)):
        raise InputError(f"sample_rate must be a whole number; got {quoted(sample_rate)}.")
    return int(sample_rate)


def _check_multiple(info: AudioInfo, rate: int) -> None:
    if rate > _MOST_SAMPLES_PER_SAMPLE * info.sample_rate:
        raise InputError(
            f"{info.path} has {info.sample_rate:,} samples per second, less than a "
            f"{_MOST_SAMPLES_PER_SAMPLE}th of the {rate:,} to resample it to; correct its header, "
            "or record it at a higher rate."
        )


def _check_channel(channel: Channel, info: AudioInfo) -> None:
    if channel == "mean":
        return
    is_whole = isinstance(channel, int | np.integer) and not isinstance(channel, bool)
    if not (is_whole and 1 <= int(channel) <= info.n_channels):
        raise InputError(
            f"{info.path} has no channel {quoted(channel)}; it has {info.n_channels}. Use 'mean' "
            f"or a number from 1 to {info.n_channels}."
        )


def _sample_range(info: AudioInfo, start: float, end: float | None, rate: int) -> tuple[int, int]:
    """Convert seconds to samples at ``rate``; an end within the tolerance is that of the file."""
    if end is None:
        end = max(info.seconds, start)
    if not (np.isfinite(start) and np.isfinite(end) and 0 <= start <= end):
        raise InputError(
            f"Cannot read {info.path} from {start} s to {end} s: an interval starts at 0 s or "
            "later and does not end before it starts."
        )
    if end > info.seconds + EDGE_TOLERANCE_SECONDS:
        raise InputError(
            f"Cannot read {info.path} from {start:.9g} s to {end:.9g} s: it ends at "
            f"{info.seconds:.9g} s. Choose an interval within it."
        )
    n_available = -(-info.n_samples * rate // info.sample_rate)
    last = n_available if end >= info.seconds else min(round(end * rate), n_available)
    return min(round(start * rate), last), last


def _decoded(
    stream: Any, info: AudioInfo, first: int, last: int, channel: Channel, n_block: int
) -> Iterator[Samples]:
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
        f"{info.path} is damaged or truncated: its header promises {info.seconds:.3f} s, and it "
        f"cannot be read from {position / info.sample_rate:.3f} s on. Copy it again, or read an "
        "interval before that."
    )


def _one_channel(block: Samples, channel: Channel, info: AudioInfo, position: int) -> Samples:
    with np.errstate(over="ignore", invalid="ignore"):
        if block.shape[1] == 1:
            mono = block[:, 0]
        elif channel == "mean":
            mono = block.mean(axis=1)
        else:
            mono = np.ascontiguousarray(block[:, int(channel) - 1])
        # A sum is one pass without a mask; only if it is not finite are the samples searched.
        may_be_wrong = not np.isfinite(mono.sum())
    wrong = np.flatnonzero(~np.isfinite(mono)) if may_be_wrong else np.zeros(0, dtype=np.intp)
    if len(wrong):
        raise InputError(
            f"{info.path} holds a sample that is NaN or infinite at "
            f"{(position + wrong[0]) / info.sample_rate:.6f} s; repair it or cut it out."
        )
    return mono


def _after(before: Samples, blocks: Iterator[Samples]) -> Iterator[Samples]:
    yield before
    yield from blocks
