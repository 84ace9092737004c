"""Regions of pictures: cells of a grid, and rings around the centre, which do not turn.

Cells say where in a picture something is. Rings say how far from the centre: they stay the same
when a picture is turned by a multiple of 90 degrees, and nearly so for other angles.
"""

from typing import NamedTuple

import numpy as np

from kernova.images.colours import LabPictures
from kernova.typing import Indices, Matrix

N_CELLS = 4  # along each side, for colours
N_RINGS = 6  # within the circle that fits into the picture, for colours
N_HARMONICS = 4
# Harmonics of nearly black rings would be noise; so much lightness counts as none.
_FAINT = 2.0
_CANCELLATION = 1e-8


class Region(NamedTuple):
    """Regions of a picture, and the words for each of them."""

    numbers: Indices  # of each pixel, from 0; shape (height, width)
    names: list[str]


class Polar(NamedTuple):
    """Position of each pixel around the centre of a picture, of shape (height, width)."""

    radius: Matrix  # 1 on the largest circle that fits into the picture
    angle: Matrix  # in radians, against the clock from the right


def polar_positions(height: int, width: int) -> Polar:
    """Return the position of each pixel around the centre.

    Examples
    --------
    >>> from kernova.images.regions import polar_positions
    >>> polar_positions(1, 3).radius
    array([[2., 0., 2.]])
    """
    up = (height - 1) / 2 - np.arange(height)[:, None]
    right = np.arange(width) - (width - 1) / 2
    radius = np.hypot(up, right) / (min(height, width) / 2)
    return Polar(radius, np.arctan2(up, right + np.zeros_like(up)))


def grid_cells(height: int, width: int, n_cells: int) -> Region:
    """Return a grid of cells over a picture.

    Examples
    --------
    >>> from kernova.images.regions import grid_cells
    >>> cells = grid_cells(2, 4, 2)
    >>> cells.numbers.tolist(), cells.names[1]
    ([[0, 0, 1, 1], [2, 2, 3, 3]], 'row 1, column 2 of 2')
    """
    rows = np.arange(height) * n_cells // height
    columns = np.arange(width) * n_cells // width
    names = [
        f"row {row}, column {column} of {n_cells}"
        for row in range(1, n_cells + 1)
        for column in range(1, n_cells + 1)
    ]
    return Region(rows[:, None] * n_cells + columns, names)


def rings(height: int, width: int, n_rings: int) -> Region:
    """Return rings around the centre of a picture; the last is all that lies beyond the circle.

    Examples
    --------
    >>> from kernova.images.regions import rings
    >>> rings(4, 4, 2).numbers.tolist()
    [[2, 1, 1, 2], [1, 0, 0, 1], [1, 0, 0, 1], [2, 1, 1, 2]]
    """
    radius = polar_positions(height, width).radius
    # Pixels of equal distance must not be divided by rounding.
    numbers = np.minimum((radius * n_rings + 1e-9).astype(np.intp), n_rings)
    names = [f"ring {number} of {n_rings}" for number in range(1, n_rings + 1)]
    return Region(numbers, [*names, "the corners"])


# --- colours by region -----------------------------------------------------------------------


def region_means(channel: Matrix, regions: Indices, n_regions: int) -> Matrix:
    """Return the mean of a channel in each region of each picture; 0 in regions without pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.regions import region_means
    >>> region_means(np.array([[[1.0, 3.0, 8.0]]]), np.array([[0, 0, 1]]), 2)
    array([[2., 8.]])
    """
    n = len(channel)
    places = (np.arange(n)[:, None, None] * n_regions + regions).ravel()
    sums = np.bincount(places, channel.ravel(), n * n_regions).reshape(n, n_regions)
    counts = np.bincount(regions.ravel(), minlength=n_regions)
    return sums / np.maximum(counts, 1)


def spread_of(means: Matrix, squares: Matrix) -> Matrix:
    """Return standard deviations of lightness from its mean and its mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.regions import spread_of
    >>> spread_of(np.array([50.0, 50.0]), np.array([2500.0, 2516.0]))
    array([0., 4.])
    """
    variances = squares - means**2
    # Where all pixels are equal, cancellation leaves 1e-12; different ones leave far more.
    return np.sqrt(np.where(variances > _CANCELLATION, variances, 0.0))


_CHANNELS = ("lightness", "green to red", "blue to yellow")


def cell_colour_names() -> list[str]:
    """Return the names of the descriptors of :func:`cell_colours`."""
    names = grid_cells(N_CELLS, N_CELLS, N_CELLS).names
    return [f"{channel} in {name}" for channel in _CHANNELS for name in names]


def cell_colours(pictures: LabPictures) -> Matrix:
    """Return the mean colour in each cell of a grid."""
    height, width = pictures.lightness.shape[1:]
    cells = grid_cells(height, width, N_CELLS)
    means = [region_means(channel, cells.numbers, len(cells.names)) for channel in pictures]
    return np.hstack(means) / 100


def ring_colour_names() -> list[str]:
    """Return the names of the descriptors of :func:`ring_colours`."""
    names = rings(1, 1, N_RINGS).names
    harmonics = range(1, N_HARMONICS + 1)
    return [
        *(f"{channel} in {name}" for channel in _CHANNELS for name in names),
        *(f"spread of lightness in {name}" for name in names),
        *(f"lobes of {number} in {name}" for number in harmonics for name in names[:-1]),
    ]


def ring_colours(pictures: LabPictures) -> Matrix:
    """Return the colours in rings around the centre, and how lightness varies along each ring.

    Around a ring, lightness is a sum of waves; the strength of the wave with ``number`` lobes does
    not depend on how the picture is turned. Two lobes are a bar or an ellipse, one is an offset.
    """
    height, width = pictures.lightness.shape[1:]
    around = rings(height, width, N_RINGS)
    n_regions = len(around.names)
    means = [region_means(channel, around.numbers, n_regions) for channel in pictures]
    squares = region_means(pictures.lightness**2, around.numbers, n_regions)
    spreads = spread_of(means[0], squares)
    angle = polar_positions(height, width).angle
    lobes = []
    for number in range(1, N_HARMONICS + 1):
        parts = [
            region_means(pictures.lightness * wave, around.numbers, n_regions)
            for wave in (np.cos(number * angle), np.sin(number * angle))
        ]
        strength = np.hypot(*parts) / (means[0] + _FAINT)
        lobes.append(strength[:, :-1])
    return np.hstack([*(mean / 100 for mean in means), spreads / 100, *lobes])
