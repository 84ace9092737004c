"""Pictures in FITS files, the format of astronomy, read by astropy where it is installed."""

import io
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kernova.budget import Budget
from kernova.errors import MediaError, shortened

FITS_SUFFIXES: Final = (".fits", ".fit", ".fz")
_MOST_MEGAPIXELS: Final = 50
# Decoding holds a tile, the values as stored and as floats.
_BYTES_PER_PIXEL: Final = 24


def fits_image(content: bytes, name: str) -> NDArray[Any]:
    """Return the first image of a FITS file, the first line at the top.

    Of a cube, the first plane is taken; tables are skipped.

    Parameters
    ----------
    content : bytes
        The file; compressed images (``.fits.fz``) are decompressed.
    name : str
        Its name, for messages.

    Raises
    ------
    MediaError
        If astropy is not installed, the file is damaged or too large, or there is no image in it.
    """
    try:
        from astropy.io import fits
    except ModuleNotFoundError as error:
        raise MediaError(
            f"{shortened(name)} is a FITS file, which is read by astropy, and astropy is not "
            "installed: pip install astropy, or save the pictures as PNG or TIFF."
        ) from error
    try:
        with fits.open(io.BytesIO(content), memmap=False) as parts:
            image = next((one for one in parts if one.is_image and len(one.shape) >= 2), None)
            if image is None:
                raise MediaError(
                    f"{shortened(name)} holds no image, only tables or headers; name a file that "
                    "does, or leave it out."
                )
            _check_size(image.shape, name, len(content))
            values = np.asarray(image.data)
    except MediaError:
        raise
    except Exception as error:  # astropy raises many kinds of errors for damaged files
        raise MediaError(
            f"{shortened(name)} cannot be read as FITS: it is damaged, or another kind of file. "
            "Save it again."
        ) from error
    plane = values.reshape(-1, *values.shape[-2:])[0]
    return plane[::-1]  # the first line of FITS is at the bottom


def _check_size(shape: tuple[int, ...], name: str, n_bytes: int) -> None:
    height, width = shape[-2:]
    if height * width > _MOST_MEGAPIXELS * 1_000_000:
        raise MediaError(
            f"{shortened(name)} has {width:,} × {height:,} pixels; the limit is "
            f"{_MOST_MEGAPIXELS} megapixels. Reduce it."
        )
    n_values = int(np.prod(shape, dtype=np.float64))
    Budget(name, n_bytes, MediaError).check(_BYTES_PER_PIXEL * n_values)
