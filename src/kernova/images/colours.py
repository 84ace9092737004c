"""Colours of pictures in CIE L*a*b*, where distances are about as large as they look.

Lightness is between 0 (black) and 100 (white); ``a`` and ``b`` are 0 in greys, and their length is
the chroma. Hue is the angle of ``a`` and ``b``. The white point is D65, as that of sRGB.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.images.histograms import Histogram, soft_histogram
from kernova.typing import Matrix

Pixels = NDArray[np.uint8]

N_LIGHTNESS = 8
N_HUES = 8
N_CHROMAS = 4
# Chroma of bright sRGB colours is about 100 at most; few pictures exceed half of it.
_HIGHEST_CHROMA = 80.0
_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE = _TO_XYZ.sum(axis=1)  # of D65
_LINEAR_BELOW = (6 / 29) ** 3
_VALUES = np.arange(256) / 255
# Intensity of each of the 256 values of an sRGB channel.
_INTENSITIES = np.where(_VALUES <= 0.04045, _VALUES / 12.92, ((_VALUES + 0.055) / 1.055) ** 2.4)


class LabPictures(NamedTuple):
    """Pictures of one size in CIE L*a*b*, each array of shape (n_pictures, height, width)."""

    lightness: Matrix
    a: Matrix
    b: Matrix

    @property
    def chroma(self) -> Matrix:
        """Colourfulness of each pixel; 0 in greys."""
        return np.asarray(np.hypot(self.a, self.b))


def lab_pictures(pixels: Pixels) -> LabPictures:
    """Convert sRGB pixels to CIE L*a*b*.

    Parameters
    ----------
    pixels : ndarray of uint8 of shape (n_pictures, height, width, 3)
        Red, green and blue.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.colours import lab_pictures
    >>> white_and_red = np.array([[[[255, 255, 255], [255, 0, 0]]]], dtype=np.uint8)
    >>> [channel.round(1).tolist() for channel in lab_pictures(white_and_red)]
    [[[[100.0, 53.2]]], [[[0.0, 80.1]]], [[[0.0, 67.2]]]]
    """
    relative = _INTENSITIES[pixels] @ (_TO_XYZ.T / _WHITE)
    linear = relative * (841 / 108) + 4 / 29
    x, y, z = np.moveaxis(np.where(relative > _LINEAR_BELOW, np.cbrt(relative), linear), -1, 0)
    return LabPictures(116 * y - 16, 500 * (x - y), 200 * (y - z))


def colour_names() -> list[str]:
    """Return the names of the descriptors of :func:`colour_descriptors`."""
    return [
        *(f"lightness {number} of {N_LIGHTNESS}" for number in range(1, N_LIGHTNESS + 1)),
        *(f"hue {number} of {N_HUES}" for number in range(1, N_HUES + 1)),
        *(f"chroma {number} of {N_CHROMAS}" for number in range(1, N_CHROMAS + 1)),
        *(
            f"{what} of {channel}"
            for channel in ("lightness", "green to red", "blue to yellow")
            for what in ("mean", "spread")
        ),
    ]


def colour_descriptors(pictures: LabPictures) -> Matrix:
    """Return histograms and moments of the colours of whole pictures.

    The lightness and the chroma of pixels are counted in bins. Hues are counted by chroma, so that
    greys have none. Square roots of the frequencies are returned: rare colours matter, too.

    Parameters
    ----------
    pictures : LabPictures
        Pictures of one size.

    Returns
    -------
    ndarray of shape (n_pictures, n_descriptors)
        With the names of :func:`colour_names`.
    """
    lightness, a, b = pictures
    n, n_pixels = len(lightness), lightness[0].size
    chroma = pictures.chroma
    whole = np.zeros(lightness.shape[1:], dtype=np.intp)
    ones = np.ones_like(lightness)
    turns = np.arctan2(b, a) / (2 * np.pi)
    counted = [
        soft_histogram(lightness / 100, ones, whole, Histogram(N_LIGHTNESS)) / n_pixels,
        soft_histogram(turns, chroma / 100, whole, Histogram(N_HUES, is_circular=True)) / n_pixels,
        soft_histogram(chroma / _HIGHEST_CHROMA, ones, whole, Histogram(N_CHROMAS)) / n_pixels,
    ]
    flat = [channel.reshape(n, -1) / 100 for channel in (lightness, a, b)]
    moments = [moment for one in flat for moment in (one.mean(axis=1), one.std(axis=1))]
    return np.column_stack([*(np.sqrt(one) for one in counted), *moments])
