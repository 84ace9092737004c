"""Pictures as a page may show them: decoded, made small, and written anew.

What reaches the page is never the file itself: whatever else it holds (scripts, places where it
was taken) stays behind, and only formats that are nothing but pixels are opened at all.
"""

import io
import threading
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from kernova.errors import MediaError

PICTURE_ENDINGS: Final = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pgm", ".ppm",
)  # fmt: skip
MOST_MEGAPIXELS: Final = 50

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM")
# Lossless pictures stay so up to this size; beyond it they would be slow to send.
_LARGEST_LOSSLESS: Final = 512
_QUALITY: Final = 90
# Each may need hundreds of megabytes for a moment.
_DECODING = threading.BoundedSemaphore(2)


class Picture(NamedTuple):
    """A picture as a page shows it.

    Attributes
    ----------
    content : bytes
        PNG or JPEG.
    media_type : str
        ``"image/png"`` or ``"image/jpeg"``.
    """

    content: bytes
    media_type: str


def reduced_picture(content: bytes, name: str, largest: int) -> Picture:
    """Decode a picture and write it anew, no side longer than ``largest`` pixels.

    Parameters
    ----------
    content : bytes
        A file of pixels: PNG, JPEG, GIF, WebP, BMP, TIFF or PPM. Of several pages, the first.
    name : str
        The file, for sentences.
    largest : int
        A smaller picture stays as it is.

    Returns
    -------
    Picture
        Turned as its camera says, in eight bits; deeper ones are stretched from their lowest to
        their highest value.

    Raises
    ------
    MediaError
        If it is no picture, damaged, or has more than 50 megapixels.

    Examples
    --------
    >>> from kernova.media.pictures import pixel_picture, reduced_picture
    >>> small = pixel_picture([[0.0, 1.0], [1.0, 0.0]])
    >>> reduced_picture(small.content, "small.png", 256).media_type
    'image/png'
    """
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            _refuse_vast(image, name)
            with _DECODING:
                return _written(_reduced(image, largest), image.format)
    except MediaError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_vast(name) from error
    except Exception as error:  # what decoders throw at damaged files has no bounds
        raise MediaError(
            f"{name} cannot be read as a picture; it is damaged, or none of PNG, JPEG, GIF, WebP, "
            "BMP, TIFF and PPM. Save it anew."
        ) from error


def pixel_picture(values: Any, enlargement: int = 1) -> Picture:
    r"""Write numbers as a grey picture, the lowest black and the highest white.

    Parameters
    ----------
    values : array-like of shape (height, width)
        Between 0 and 1.
    enlargement : int
        Make it so many times larger, smoothly: people read shapes, not squares.

    Examples
    --------
    >>> from kernova.media.pictures import pixel_picture
    >>> pixel_picture([[0.0, 1.0]]).content[:4]
    b'\x89PNG'
    """
    grey = np.rint(255 * np.clip(np.asarray(values, dtype=np.float64), 0, 1)).astype(np.uint8)
    small = Image.fromarray(grey)
    size = (small.width * enlargement, small.height * enlargement)
    return png_picture(small.resize(size, Image.Resampling.BICUBIC))


def png_picture(image: Image.Image) -> Picture:
    """Write an image without loss."""
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=False)
    return Picture(stream.getvalue(), "image/png")


# --- sizes -----------------------------------------------------------------------------------


def _refuse_vast(image: Image.Image, name: str) -> None:
    """Look at the header alone: nothing is decoded yet."""
    if image.width * image.height > MOST_MEGAPIXELS * 1_000_000:
        raise _too_vast(name, f"{image.width:,} × {image.height:,} pixels")


def _too_vast(name: str, got: str = "far too many pixels") -> MediaError:
    return MediaError(
        f"{name} has {got}; pictures of up to {MOST_MEGAPIXELS} megapixels are shown. Make it "
        "smaller."
    )


def _reduced(image: Image.Image, largest: int) -> Image.Image:
    if image.format == "JPEG":
        image.draft("RGB", (2 * largest, 2 * largest))  # decodes large ones at a part of the cost
    image = _eight_bits(ImageOps.exif_transpose(image))
    image.thumbnail((largest, largest), Image.Resampling.LANCZOS, reducing_gap=2.0)
    return image


# --- colours ---------------------------------------------------------------------------------


def _eight_bits(image: Image.Image) -> Image.Image:
    """Give grey, colour, or colour with transparency in eight bits each."""
    if image.mode.startswith(("I", "F")):
        return Image.fromarray(_stretched(np.asarray(image)))
    if image.mode in ("L", "RGB", "RGBA"):
        return image
    if image.mode == "1":
        return image.convert("L")
    is_clear = image.mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info
    return image.convert("RGBA" if is_clear else "RGB")


def _stretched(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Bring sixteen bits, or numbers of any size, to eight, from the lowest to the highest."""
    numbers = values.astype(np.float64)
    usual = numbers[np.isfinite(numbers)]
    if len(usual) == 0:
        return np.zeros(numbers.shape, dtype=np.uint8)
    low, high = float(usual.min()), float(usual.max())
    # Halves: the whole span of the largest numbers would be infinite.
    span = high / 2 - low / 2 or 1.0
    shares = (np.clip(np.nan_to_num(numbers, nan=low), low, high) / 2 - low / 2) / span
    return np.rint(255 * shares).astype(np.uint8)


def _written(image: Image.Image, source_format: str | None) -> Picture:
    is_small = max(image.size) <= _LARGEST_LOSSLESS
    if image.mode == "RGBA" or (source_format != "JPEG" and is_small):
        return png_picture(_plain(image))
    stream = io.BytesIO()
    _plain(image).save(stream, "JPEG", quality=_QUALITY)
    return Picture(stream.getvalue(), "image/jpeg")


def _plain(image: Image.Image) -> Image.Image:
    """Leave behind all that is not pixels: profiles, comments, places."""
    plain = image.copy()
    plain.info = {}
    return plain
