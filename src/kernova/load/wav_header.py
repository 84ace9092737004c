"""What the header of a WAV file promises; libsndfile counts only what is there."""

import struct
from pathlib import Path

from kernova.errors import InputError

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
