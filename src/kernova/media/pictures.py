"""Pictures for the page: decoded, reduced in size and encoded again.

The page never receives the file itself, so scripts, comments and metadata such as coordinates are
removed. Only raster formats are opened.
"""

import io
import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from kernova.budget import Budget
from kernova.errors import MediaError, shortened
from kernova.media.contrast import Contrast, eight_bits, with_contrast
from kernova.media.fits import FITS_SUFFIXES, fits_image

PICTURE_SUFFIXES: Final = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".pgm", ".ppm",
    *FITS_SUFFIXES,
)  # fmt: skip
_MOST_MEGAPIXELS: Final = 50
_BYTES_PER_PIXEL: Final = {"1": 1.5, "L": 1, "P": 5, "RGB": 4, "RGBA": 8, "I;16": 6, "CMYK": 8}

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM")
# Lossless pictures up to this size are sent as PNG; larger ones as JPEG, which is faster.
_LARGEST_LOSSLESS: Final = 512
_QUALITY: Final = 90
# Masks are averaged to at least this multiple of their final size, about so many lines at a time.
_MASK_GAP: Final = 1.5
_STRIP: Final = 256
# Decoding one picture may need hundreds of megabytes.
_DECODING = threading.BoundedSemaphore(2)


# The shortest side of pixels, so that long and narrow pictures have some of each direction.
_SHORTEST: Final = 8

_Result = TypeVar("_Result")


class Picture(NamedTuple):
    """Encoded picture."""

    content: bytes  # PNG or JPEG
    media_type: str  # ``"image/png"`` or ``"image/jpeg"``


def reduced_picture(
    content: bytes, name: str, largest: int, contrast: Contrast = "plain"
) -> Picture:
    """Decode a picture and encode it again, no side longer than ``largest`` pixels.

    Parameters
    ----------
    content : bytes
        A PNG, JPEG, GIF, WebP, BMP, TIFF, PPM or FITS file; only the first page is used.
    name : str
        The file, for messages.
    largest : int
        Longest side; smaller pictures are not enlarged.
    contrast : {"plain", "linear", "asinh", "log"}
        As for :func:`~kernova.media.contrast.eight_bits`; the "plain" contrast of pictures of eight
        bits is their own, and that of FITS files "linear".

    Returns
    -------
    Picture
        Rotated by its EXIF orientation, in eight bits; deeper ones are scaled from their lowest
        to their highest value.

    Raises
    ------
    MediaError
        If it is not a picture, damaged, or has more than 50 megapixels.

    Examples
    --------
    >>> from kernova.media.pictures import pixel_picture, reduced_picture
    >>> small = pixel_picture([[0.0, 1.0], [1.0, 0.0]])
    >>> reduced_picture(small.content, "small.png", 256).media_type
    'image/png'
    """
    return _decoded(content, name, largest, contrast, _written)


def picture_pixels(content: bytes, name: str, side: int) -> NDArray[np.uint8]:
    """Decode a picture to red, green and blue with a longest side of exactly ``side`` pixels.

    Small pictures are enlarged, transparent parts are white, and the shorter side has eight pixels
    at least.

    Parameters
    ----------
    content, name
        As for :func:`reduced_picture`, which also says what is raised.
    side : int
        The longest side.

    Examples
    --------
    >>> from kernova.media.pictures import picture_pixels, pixel_picture
    >>> picture_pixels(pixel_picture([[0.0, 1.0]]).content, "small.png", 32).shape
    (16, 32, 3)
    """
    return _decoded(content, name, side, "plain", lambda image, _: _pixels(image, side))


def _pixels(image: Image.Image, side: int) -> NDArray[np.uint8]:
    scale = side / max(image.size)
    width, height = (max(_SHORTEST, round(length * scale)) for length in image.size)
    if image.mode == "RGBA":
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image)
    colours = image.convert("RGB")
    if colours.size != (width, height):
        colours = colours.resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(colours)


def _decoded(
    content: bytes,
    name: str,
    largest: int,
    contrast: Contrast,
    finish: Callable[[Image.Image, str | None], _Result],
) -> _Result:
    """Decode a picture, reduce it, and finish it while its memory counts."""
    if name.lower().endswith(FITS_SUFFIXES):
        with _DECODING:
            return finish(_reduced_fits(content, name, largest, contrast), "FITS")
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            _check_pixels(image, name)
            coefficients = _coefficient_bytes(image)
            if image.format == "JPEG":
                image.draft("RGB", (2 * largest, 2 * largest))  # decodes at reduced size
            with _DECODING:
                _check_memory(image, coefficients, Budget(name, len(content), MediaError))
                return finish(_reduced(image, largest, contrast), image.format)
    except MediaError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels(name) from error
    except Exception as error:  # decoders raise many kinds of errors for damaged files
        raise MediaError(
            f"{shortened(name)} cannot be read as a picture: it is damaged, or not PNG, JPEG, GIF, "
            "WebP, BMP, TIFF or PPM. Save it again."
        ) from error


def _reduced_fits(content: bytes, name: str, largest: int, contrast: Contrast) -> Image.Image:
    values = fits_image(content, name)
    image = Image.fromarray(eight_bits(values, "linear" if contrast == "plain" else contrast))
    image.thumbnail((largest, largest), Image.Resampling.LANCZOS, reducing_gap=2.0)
    return image


def pixel_picture(values: Any, enlargement: int = 1) -> Picture:
    r"""Return numbers as a grey picture, 0 black and 1 white.

    Parameters
    ----------
    values : array-like of shape (height, width)
        Between 0 and 1.
    enlargement : int
        Factor of enlargement, interpolated.

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
    """Return an image as PNG."""
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=False)
    return Picture(stream.getvalue(), "image/png")


# --- sizes -----------------------------------------------------------------------------------


def _check_pixels(image: Image.Image, name: str) -> None:
    """Reject a picture with too many pixels by its header, before decoding."""
    if image.width * image.height > _MOST_MEGAPIXELS * 1_000_000:
        raise _too_many_pixels(name, f"{image.width:,} × {image.height:,} pixels")


def _too_many_pixels(name: str, got: str = "too many pixels") -> MediaError:
    name = shortened(name)
    return MediaError(f"{name} has {got}; the limit is {_MOST_MEGAPIXELS} megapixels. Reduce it.")


def _check_memory(image: Image.Image, coefficients: int, budget: Budget) -> None:
    """Reject a picture whose pixels take too much memory for the size of its file."""
    pixels = image.width * image.height * _bytes_per_pixel(image)
    budget.check(pixels + coefficients)
    is_turned = image.getexif().get(ExifTags.Base.Orientation, 1) != 1
    if is_turned and image.format != "WEBP":
        budget.check(2 * pixels + coefficients)  # a turned copy


def _bytes_per_pixel(image: Image.Image) -> float:
    """Return the memory at the peak of decoding and conversion, as measured."""
    if image.format == "WEBP":
        return 12  # two canvases of the decoder and the pixels, four bytes each
    if image.mode == "P" and "transparency" in image.info:
        return 9
    mode = "I;16" if image.mode.startswith("I;16") else image.mode
    # TIFF files may be one strip, which is held beside the pixels.
    strip = {"1": 0, "L": 1, "P": 1, "I;16": 2}.get(mode, 4) if image.format == "TIFF" else 0
    return _BYTES_PER_PIXEL.get(mode, 12) + strip


def _coefficient_bytes(image: Any) -> int:
    """Return the memory of the coefficients that a progressive JPEG holds at full size."""
    if image.format != "JPEG" or "progressive" not in image.info:
        return 0
    shares = [(across, down) for _, across, down, _ in image.layer]
    whole = max(across for across, _ in shares) * max(down for _, down in shares)
    per_pixel = 2 * sum(across * down for across, down in shares) / max(1, whole)
    return int(per_pixel * image.width * image.height)


def _reduced(image: Image.Image, largest: int, contrast: Contrast) -> Image.Image:
    if image.format == "WEBP":
        image = _webp_frame(image)
    ImageOps.exif_transpose(image, in_place=True)  # without a copy if it is upright
    if image.mode.startswith(("I", "F")):  # before eight bits are left of it
        image = Image.fromarray(eight_bits(np.asarray(image), contrast))
        contrast = "plain"
    image = _grey(image, largest) if image.mode == "1" else _eight_bits(image)
    image.thumbnail((largest, largest), Image.Resampling.LANCZOS, reducing_gap=2.0)
    return with_contrast(image, contrast)


def _webp_frame(image: Any) -> Image.Image:
    """Return the first frame of a WebP file without a copy, and release its decoder.

    Pillow would hold the decoder's two canvases, the pixels and a copy of them at once.
    """
    pixels, _ = image._decoder.get_next()
    image._decoder = None
    frame = Image.frombuffer(image.rawmode, image.size, pixels, "raw", image.rawmode, 0, 1)
    frame.info = image.info
    return frame


def _grey(image: Image.Image, largest: int) -> Image.Image:
    """Return a black and white picture in grey; a large one is reduced, without a grey copy."""
    factor = int(max(image.size) / largest / _MASK_GAP)
    if factor <= 1:
        return image.convert("L")
    width, height = image.size
    small = Image.new("L", (-(-width // factor), -(-height // factor)))
    step = factor * max(1, _STRIP // factor)
    for top in range(0, height, step):
        strip = image.crop((0, top, width, min(top + step, height))).convert("L")
        small.paste(strip.reduce(factor), (0, top // factor))
    scale = largest / max(width, height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return small.resize(size, Image.Resampling.LANCZOS, (0, 0, width / factor, height / factor))


# --- colours ---------------------------------------------------------------------------------


def _eight_bits(image: Image.Image) -> Image.Image:
    """Return a grey, RGB or RGBA image of eight bits per channel."""
    if image.mode in ("L", "RGB", "RGBA"):
        return image
    is_clear = image.mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info
    return image.convert("RGBA" if is_clear else "RGB")


def _written(image: Image.Image, source_format: str | None) -> Picture:
    is_small = max(image.size) <= _LARGEST_LOSSLESS
    if image.mode == "RGBA" or (source_format != "JPEG" and is_small):
        return png_picture(_plain(image))
    stream = io.BytesIO()
    _plain(image).save(stream, "JPEG", quality=_QUALITY)
    return Picture(stream.getvalue(), "image/jpeg")


def _plain(image: Image.Image) -> Image.Image:
    """Return a copy without profiles, comments and other metadata."""
    plain = image.copy()
    plain.info = {}
    return plain
