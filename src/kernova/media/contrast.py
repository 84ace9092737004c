"""Contrast of pictures: pixel values to eight bits, linear, logarithmic or by inverse sinh.

The limits are quantiles of all values, so that a few hot or dead pixels do not darken the rest. The
curves are those that astronomers use: faint structure becomes visible beside a bright core.
"""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kernova.typing import Vector

Contrast = Literal["plain", "linear", "asinh", "log"]
CONTRASTS: Final[tuple[Contrast, ...]] = ("plain", "linear", "asinh", "log")

_QUANTILES: Final = (0.005, 0.995)
# Of so many values, the quantiles are as good as of all.
_SAMPLED: Final = 500_000
# Fraction of the range up to which asinh is nearly linear, and the steepness of the logarithm.
_SOFTENING: Final = 0.1
_STEEPNESS: Final = 1000.0


def eight_bits(values: NDArray[Any], contrast: Contrast) -> NDArray[np.uint8]:
    """Return pixel values as eight bits; those that are not finite become 0.

    Parameters
    ----------
    values : array
        Numbers of any kind and shape.
    contrast : {"plain", "linear", "asinh", "log"}
        "plain" takes the lowest to the highest value; all others their middle 99 %, "asinh" and
        "log" with more contrast among dark values.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.contrast import eight_bits
    >>> eight_bits(np.array([[0.0, 50.0, 100.0]]), "plain")
    array([[  0, 128, 255]], dtype=uint8)
    >>> eight_bits(np.array([[0.0, 50.0, 100.0]]), "log")
    array([[  0, 229, 255]], dtype=uint8)
    """
    low, high = _limits(values, contrast)
    scaled = np.empty(values.shape, dtype=np.uint8)
    # Line by line: a copy of a large picture in floats would take eight times its memory.
    for line, numbers in zip(scaled, values, strict=True):
        known = np.nan_to_num(numbers.astype(np.float64), nan=low, posinf=high, neginf=low)
        # Halves, since the span of the largest numbers would overflow.
        fractions = (np.clip(known, low, high) / 2 - low / 2) / (high / 2 - low / 2 or 1.0)
        line[...] = np.rint(255 * _curved(fractions, contrast))
    return scaled


def with_contrast(image: Image.Image, contrast: Contrast) -> Image.Image:
    """Return a picture of eight bits with another contrast; its colours have common limits.

    Examples
    --------
    >>> import numpy as np
    >>> from PIL import Image
    >>> from kernova.media.contrast import with_contrast
    >>> dark = Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8))
    >>> with_contrast(dark, "linear").getextrema()
    (0, 255)
    """
    if contrast == "plain":
        return image
    pixels = np.asarray(image)
    if image.mode != "RGBA":
        return Image.fromarray(eight_bits(pixels, contrast))
    colours = eight_bits(pixels[..., :3], contrast)
    return Image.fromarray(np.dstack([colours, pixels[..., 3]]))


def _limits(values: NDArray[Any], contrast: Contrast) -> tuple[float, float]:
    if contrast == "plain":
        ends = [(line.min(), line.max()) for line in map(_finite, values) if len(line)]
        return (min(ends)[0], max(end[1] for end in ends)) if ends else (0.0, 0.0)
    flat = values.reshape(-1)
    known = _finite(flat[:: max(1, flat.size // _SAMPLED)])
    if known.size == 0:
        return 0.0, 0.0
    low, high = np.quantile(known, _QUANTILES)
    if low == high:  # nearly all pixels are equal: a small source on an even background
        low, high = known.min(), known.max()
    return float(low), float(high)


def _curved(fractions: Vector, contrast: Contrast) -> Vector:
    if contrast == "asinh":
        return np.arcsinh(fractions / _SOFTENING) / np.arcsinh(1 / _SOFTENING)
    if contrast == "log":
        return np.log1p(_STEEPNESS * fractions) / np.log1p(_STEEPNESS)
    return fractions


def _finite(values: NDArray[Any]) -> Vector:
    numbers = values.astype(np.float64).ravel()
    return numbers[np.isfinite(numbers)]
