"""Media of a table that was read from several files."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from kernova.media.contrast import Contrast
from kernova.media.pictures import Picture
from kernova.media.row_media import RecordedInterval, RowMedia
from kernova.media.sounds import Spectrogram, SpectrogramView
from kernova.media.thumbnails import PictureSize
from kernova.typing import Indices


class MediaPart(NamedTuple):
    """Media of some rows: those at these places of a file, in this order."""

    media: RowMedia
    places: Indices


class JoinedMedia(RowMedia):
    """Media of rows that follow one another in several files.

    Parameters
    ----------
    ids : sequence of str
        Row ids.
    parts : sequence of MediaPart
        The media of each file; the first that has any says of what kind they are.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.joined import JoinedMedia, MediaPart
    >>> from kernova.media.row_media import RowMedia, pixel_pictures
    >>> images = pixel_pictures(["b", "c"], np.arange(128.0).reshape(2, 64))
    >>> parts = [MediaPart(RowMedia(["a"]), np.array([0])), MediaPart(images, np.array([1]))]
    >>> media = JoinedMedia(["a", "c"], parts)
    >>> media.kind, media.has(0), media.has(1)
    ('picture', False, True)
    """

    def __init__(self, ids: Sequence[str], parts: Sequence[MediaPart]) -> None:
        super().__init__(ids)
        self._parts = list(parts)
        self._firsts = [0, *accumulate(len(part.places) for part in parts)][:-1]
        kinds = (part.media.kind for part in parts if part.media.kind != "none")
        self.kind = next(kinds, "none")

    def has(self, row: int) -> bool:
        """Return whether the row has media of the table's kind."""
        if not self._is_row(row):
            return False
        media, own = self._of(row)
        return media.kind == self.kind and media.has(own)

    def captions(self, row: int) -> list[str]:
        """Return the name of each of the row's files."""
        media, own = self._of(row)
        return media.captions(own) if media.kind == self.kind else []

    def picture(
        self, row: int, largest: int = 256, file: int = 0, contrast: Contrast = "plain"
    ) -> Picture:
        """Return one of the row's pictures."""
        media, own = self._of(row, "picture")
        return media.picture(own, largest, file, contrast)

    def sound(self, row: int, slowness: int = 1, file: int = 0) -> bytes:
        """Return a sound of the row as a WAV file."""
        media, own = self._of(row, "sound")
        return media.sound(own, slowness, file)

    def spectrogram(
        self, row: int, file: int = 0, view: SpectrogramView | None = None
    ) -> Spectrogram:
        """Return the spectrogram of a sound of the row."""
        media, own = self._of(row, "sound")
        return media.spectrogram(own, file, view)

    def outline(self, row: int) -> dict[str, Any]:
        """Return the row's landmarks over the mean shape."""
        media, own = self._of(row, "outline")
        return media.outline(own)

    def file_name(self, row: int) -> str | None:
        """Return the name of the row's file within its folder or archive, None without one."""
        media, own = self._of(row)
        return media.file_name(own)

    def picture_size(self, row: int) -> PictureSize | None:
        """Return the size of the row's picture file; None without one that can be read."""
        media, own = self._of(row)
        return media.picture_size(own)

    def interval(self, row: int) -> RecordedInterval | None:
        """Return where the row's sound is recorded; None without one that can be read."""
        media, own = self._of(row)
        return media.interval(own)

    def close(self) -> None:
        """Close the files of all parts."""
        for part in self._parts:
            part.media.close()

    def _of(self, row: int, what: str = "media") -> tuple[RowMedia, int]:
        """Return the media of the row's file, and the row's place in it."""
        if not self._is_row(row):
            raise self._missing(row, what)
        number = bisect_right(self._firsts, row) - 1
        part = self._parts[number]
        return part.media, int(part.places[row - self._firsts[number]])
