"""Pictures of rows that a program hands over: arrays, PIL images and paths."""

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kernova.errors import InputError, MediaError
from kernova.media.contrast import Contrast
from kernova.media.pictures import Picture, reduced_picture
from kernova.media.row_media import ByteCache, MediaKind, RowMedia, standard_size
from kernova.media.thumbnails import PictureSize, size_of


class GivenPictures(RowMedia):
    """Pictures of rows given by a program.

    Parameters
    ----------
    ids : sequence of str
        Row ids.
    pictures : sequence
        For each row an array of shape (height, width), (height, width, 3) or (height, width, 4), an
        image of PIL, the path of a file, or None. Integers of eight bits are shown as they are,
        other numbers from their lowest to their highest.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.given import GivenPictures
    >>> media = GivenPictures(["a", "b"], [np.zeros((4, 4)), None])
    >>> media.has(0), media.has(1), media.picture(0).media_type
    (True, False, 'image/png')
    """

    kind: MediaKind = "picture"

    def __init__(self, ids: Sequence[str], pictures: Iterable[Any]) -> None:
        super().__init__(ids)
        self._given = list(pictures)
        if len(self._given) != len(self._ids):
            raise InputError(
                f"There are {len(self._given)} images for {len(self._ids)} rows; give one for each "
                "row, None where there is none."
            )
        for row, one in enumerate(self._given):
            _check(one, row)
        self._pictures: ByteCache[Picture] = ByteCache(lambda picture: len(picture.content))

    def has(self, row: int) -> bool:
        """Return whether the row has a picture."""
        return self._is_row(row) and self._given[row] is not None

    def captions(self, row: int) -> list[str]:
        """Return the name of the row's picture, empty where it is no file."""
        return [Path(self.file_name(row) or "").name] if self.has(row) else []

    def picture(
        self, row: int, largest: int = 256, file: int = 0, contrast: Contrast = "plain"
    ) -> Picture:
        """Return the row's picture, reduced in size and cached."""
        if not self.has(row):
            raise self._missing(row, "picture")
        if file != 0:
            raise self._no_file(row, file)
        size = standard_size(largest)
        return self._pictures.get((row, size, contrast), lambda: self._drawn(row, size, contrast))

    def file_name(self, row: int) -> str | None:
        """Return the path of the row's picture, None where it is no file."""
        one = self._given[row] if self._is_row(row) else None
        return os.fspath(one) if isinstance(one, str | os.PathLike) else None

    def picture_size(self, row: int) -> PictureSize | None:
        """Return the size of the row's picture file; None without one that can be read."""
        name = self.file_name(row)
        try:
            return None if name is None else size_of(Path(name).read_bytes())
        except OSError:
            return None

    def _drawn(self, row: int, largest: int, contrast: Contrast) -> Picture:
        one = self._given[row]
        if isinstance(one, str | os.PathLike):
            return _of_file(Path(one), largest, contrast)
        image = one if isinstance(one, Image.Image) else Image.fromarray(_eight_bits(one))
        stream = io.BytesIO()
        image.convert("RGBA" if "A" in image.getbands() else "RGB").save(stream, "PNG")
        return reduced_picture(stream.getvalue(), f"The picture of row {row}", largest, contrast)


def _of_file(path: Path, largest: int, contrast: Contrast) -> Picture:
    try:
        return reduced_picture(path.read_bytes(), str(path), largest, contrast)
    except OSError as error:
        raise MediaError(f"{path} cannot be read: {error.strerror}. Restore it.") from error


def _check(one: Any, row: int) -> None:
    if one is None or isinstance(one, str | os.PathLike | Image.Image):
        return
    array = np.asarray(one)
    is_picture = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if not is_picture or array.size == 0 or array.dtype.kind not in "buif":
        raise InputError(
            f"The image of row {row}, counted from 0, has shape {array.shape} and type "
            f"{array.dtype}; images are arrays of numbers of shape (height, width), (height, "
            "width, 3) or (height, width, 4), images of PIL, or paths."
        )


def _eight_bits(one: Any) -> NDArray[np.uint8]:
    array = np.asarray(one)
    if array.dtype == np.uint8:
        return array
    numbers = np.nan_to_num(array.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = float(numbers.min()), float(numbers.max())
    return np.rint(255 * (numbers - low) / (high - low or 1.0)).astype(np.uint8)
