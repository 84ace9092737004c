"""Pictures of sound: time to the right, frequency upwards, the louder the brighter."""

from typing import NamedTuple


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
