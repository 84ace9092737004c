"""Sizes of picture files, and pictures small enough for a page that holds many of them."""

import io
from typing import Final, NamedTuple

from PIL import Image

from kernova.media.pictures import Picture, png_picture

_QUALITY: Final = 80


class PictureSize(NamedTuple):
    """Number of pixels of a picture file, as it is stored."""

    width: int
    height: int


def size_of(content: bytes) -> PictureSize | None:
    """Return the size of a picture file from its header; None if it is not a picture.

    Examples
    --------
    >>> from kernova.media.pictures import pixel_picture
    >>> from kernova.media.thumbnails import size_of
    >>> size_of(pixel_picture([[0.0, 1.0]]).content), size_of(b"no picture")
    (PictureSize(width=2, height=1), None)
    """
    try:
        with Image.open(io.BytesIO(content)) as image:
            return PictureSize(*image.size)
    except Exception:  # noqa: BLE001 - decoders raise many kinds of errors for damaged files
        return None


def light_picture(picture: Picture, largest: int) -> Picture:
    """Return a picture no larger than ``largest``, as JPEG if that takes fewer bytes than PNG.

    Parameters
    ----------
    picture : Picture
        A picture of :class:`~kernova.media.row_media.RowMedia`.
    largest : int
        Longest side; smaller pictures are not enlarged.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.pictures import pixel_picture
    >>> from kernova.media.thumbnails import light_picture
    >>> noise = pixel_picture(np.random.default_rng(0).random((300, 300)))
    >>> light_picture(noise, 96).media_type
    'image/jpeg'
    """
    with Image.open(io.BytesIO(picture.content)) as image:
        image.load()
        image.thumbnail((largest, largest), Image.Resampling.LANCZOS)
        image.info = {}
        png = png_picture(image)
        if image.mode in ("RGBA", "LA", "P"):  # JPEG has no transparency
            return png
        stream = io.BytesIO()
        image.convert("RGB").save(stream, "JPEG", quality=_QUALITY)
    jpeg = Picture(stream.getvalue(), "image/jpeg")
    return min(png, jpeg, key=lambda one: len(one.content))
