"""Texture of pictures: local binary patterns (LBP) at three scales, and local contrast.

Eight points on a circle around each pixel are compared with it: the pattern says which of them are
lighter. In a uniform pattern the lighter points are neighbours (at most two changes around the
circle). Patterns are counted over the picture. Those that do not depend on rotation are counted by
the number of lighter points alone (Ojala, Pietikäinen and Mäenpää, 2002).
"""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from kernova.images.gradients import SCALES
from kernova.images.regions import spread_of
from kernova.typing import Indices, Matrix

_N_POINTS = 8
# A point is lighter if its lightness exceeds the pixel's by more than this; less is noise.
_LIGHTER_BY = 1.0
# Lightness of local contrast below which differences look alike.
_FAINT = 0.5


class _Uniform(NamedTuple):
    """Numbers of the bins of all 256 patterns, and the words for each bin."""

    bins: Indices
    names: list[str]


def _uniform_patterns(*, by_angle: bool) -> _Uniform:
    """Return the bins of patterns: by number of lighter points, and by the angle of the first."""
    bins = np.empty(2**_N_POINTS, dtype=np.intp)
    numbers: dict[tuple[int, int], int] = {}
    others = _N_POINTS * (_N_POINTS - 1) + 2 if by_angle else _N_POINTS + 1
    for pattern in range(2**_N_POINTS):
        bits = [pattern >> point & 1 for point in range(_N_POINTS)]
        starts = [point for point in range(_N_POINTS) if bits[point] and not bits[point - 1]]
        if len(starts) > 1:
            bins[pattern] = others
            continue
        n_lighter = sum(bits)
        first = starts[0] if by_angle and starts else 0
        bins[pattern] = numbers.setdefault((n_lighter, first), len(numbers))
    if not by_angle:  # ordered by number of lighter points
        bins[bins < others] = np.array([n for n, _ in numbers])[bins[bins < others]]
        names = [f"{n} of {_N_POINTS} points lighter" for n in range(_N_POINTS + 1)]
        return _Uniform(bins, [*names, "mixed points"])
    names = [
        f"{n} of {_N_POINTS} points lighter from {360 * first / _N_POINTS:g}°"
        if 0 < n < _N_POINTS
        else f"{n} of {_N_POINTS} points lighter"
        for n, first in numbers
    ]
    return _Uniform(bins, [*names, "mixed points"])


_BY_ANGLE = _uniform_patterns(by_angle=True)
_BY_NUMBER = _uniform_patterns(by_angle=False)


def binary_patterns(lightness: Matrix, radius: float) -> Indices:
    """Return the local binary pattern of every pixel, from 0 to 255.

    Points between pixels are interpolated linearly; the picture is mirrored at its borders.

    Parameters
    ----------
    lightness : ndarray of shape (n_pictures, height, width)
        From 0 to 100.
    radius : float
        Of the circle, in pixels. The first point is on the right, the others follow against the
        clock.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.texture import binary_patterns
    >>> lightness = np.zeros((1, 3, 3))
    >>> lightness[0, 1, 2] = 50.0
    >>> int(binary_patterns(lightness, 1.0)[0, 1, 1])
    131
    """
    height, width = lightness.shape[1:]
    margin = int(np.ceil(radius)) + 1
    padded = np.pad(lightness, [(0, 0), (margin, margin), (margin, margin)], mode="symmetric")
    patterns = np.zeros(lightness.shape, dtype=np.intp)
    for point in range(_N_POINTS):
        angle = 2 * np.pi * point / _N_POINTS
        # Rounded, so that points on pixels are not interpolated.
        down, right = (round(float(radius * part), 9) for part in (-np.sin(angle), np.cos(angle)))
        top, left = int(np.floor(down)), int(np.floor(right))
        y, x = down - top, right - left
        value = np.zeros_like(lightness)
        for dy, dx, part in (
            (0, 0, (1 - y) * (1 - x)), (0, 1, (1 - y) * x), (1, 0, y * (1 - x)), (1, 1, y * x),
        ):  # fmt: skip
            if part:
                rows = slice(margin + top + dy, margin + top + dy + height)
                columns = slice(margin + left + dx, margin + left + dx + width)
                value += part * padded[:, rows, columns]
        patterns += (value - lightness > _LIGHTER_BY).astype(np.intp) << point
    return patterns


def texture_names(*, rotation_invariant: bool) -> list[str]:
    """Return the names of the descriptors of :func:`texture_descriptors`."""
    patterns = _BY_NUMBER if rotation_invariant else _BY_ANGLE
    return [
        name
        for scale in SCALES
        for name in [
            *(f"texture: {pattern}, {scale}" for pattern in patterns.names),
            f"contrast, {scale}",
            f"spread of contrast, {scale}",
        ]
    ]


def texture_descriptors(lightness: Matrix, *, rotation_invariant: bool) -> Matrix:
    """Return histograms of local binary patterns, and the local contrast, at three scales.

    Parameters
    ----------
    lightness : ndarray of shape (n_pictures, height, width)
        From 0 to 100.
    rotation_invariant : bool
        Count patterns by the number of lighter points only.

    Returns
    -------
    ndarray of shape (n_pictures, n_descriptors)
        With the names of :func:`texture_names`.
    """
    uniform = _BY_NUMBER if rotation_invariant else _BY_ANGLE
    n, n_bins, n_pixels = len(lightness), len(uniform.names), lightness[0].size
    start = np.arange(n)[:, None, None] * n_bins
    parts = []
    for radius in SCALES.values():
        places = start + uniform.bins[binary_patterns(lightness, radius)]
        counts = np.bincount(places.ravel(), minlength=n * n_bins).reshape(n, n_bins)
        contrast = np.log(_local_contrast(lightness, int(radius)) + _FAINT).reshape(n, -1)
        parts += [np.sqrt(counts / n_pixels), contrast.mean(axis=1)[:, None]]
        parts.append(contrast.std(axis=1)[:, None])
    return np.hstack(parts)


def _local_contrast(lightness: Matrix, radius: int) -> Matrix:
    """Return the standard deviation of lightness in the square around each pixel."""
    size = (1, 2 * radius + 1, 2 * radius + 1)
    mean = uniform_filter(lightness, size)
    squares = uniform_filter(lightness**2, size)
    return spread_of(mean, squares)
