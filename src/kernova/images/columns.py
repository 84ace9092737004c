"""Columns for pictures: principal components of their descriptors, named for what they follow.

The blocks of descriptors (colour, layout, edges, texture) are centred and scaled to the same total
variance, so that none counts more for being longer. The strongest components of all of them are
the columns; each is named for the descriptor that it follows most closely.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.images.descriptors import block_numbers, descriptor_names
from kernova.kernels.components import Components, component_scores, principal_components
from kernova.typing import Indices, Matrix, Vector

Described = NDArray[Any]

N_COMPONENTS: Final = 32
# Longest sides that pictures are brought to; larger ones show more detail than is compared.
SIDES: Final = (32, 64, 128)
# A block whose descriptors vary less than this varies by rounding.
_NEGLIGIBLE: Final = 1e-12


@dataclass(frozen=True, eq=False)
class PictureColumns:
    """A mapping from the descriptors of pictures to columns, learnt from pictures."""

    side: int  # longest side of the pictures in pixels when they are described
    rotation_invariant: bool  # whether the descriptors are those that do not depend on rotation
    center: Vector  # mean of each descriptor
    # Directions in the space of descriptors, with the scale of each block; shape (n_descriptors,
    # n_components).
    directions: Matrix
    followed: Indices  # the descriptor that each component follows most closely

    @property
    def names(self) -> list[str]:
        """Names of the columns, such as ``picture 1 (hue 3 of 8)``."""
        names = descriptor_names(rotation_invariant=self.rotation_invariant)
        return [
            f"picture {number} ({names[place]})"
            for number, place in enumerate(self.followed.tolist(), start=1)
        ]

    def rows(self, descriptors: Described) -> Matrix:
        """Return the columns of described pictures."""
        found = Components(self.center, self.directions, np.ones(self.directions.shape[1]))
        return component_scores(descriptors, found)


def working_side(sides: Vector) -> int:
    """Return the longest side that pictures are brought to: near the median of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.columns import working_side
    >>> [working_side(np.array([median])) for median in (8, 64, 423, 4000)]
    [32, 64, 128, 128]
    """
    median = float(np.median(sides))
    return max((side for side in SIDES if side <= median), default=SIDES[0])


def fit_picture_columns(
    descriptors: Described,
    side: int,
    *,
    rotation_invariant: bool = False,
    n_components: int = N_COMPONENTS,
) -> PictureColumns:
    """Learn the components of described pictures.

    Parameters
    ----------
    descriptors : ndarray of shape (n_pictures, n_descriptors)
        Result of :func:`~kernova.images.descriptors.picture_descriptors`.
    side : int
        The longest side that the pictures were brought to.
    rotation_invariant : bool
        As in the call that described them.
    n_components : int
        The largest number of columns.

    Raises
    ------
    InputError
        If all pictures have the same descriptors.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.columns import fit_picture_columns
    >>> from kernova.images.descriptors import picture_descriptors
    >>> pixels = np.zeros((20, 32, 32, 3), dtype=np.uint8)
    >>> pixels += np.arange(20, dtype=np.uint8)[:, None, None, None] * 12
    >>> descriptors = picture_descriptors(pixels)
    >>> columns = fit_picture_columns(descriptors, 32, n_components=2)
    >>> columns.names[0]
    'picture 1 (mean of lightness)'
    >>> columns.rows(descriptors).shape
    (20, 2)
    """
    blocks = block_numbers(rotation_invariant=rotation_invariant)
    scales = _block_scales(descriptors, blocks)
    found = principal_components(descriptors, n_components, lambda rows: rows * scales)
    if not found.directions.size:
        raise InputError(
            "All pictures have the same descriptors, so that there is nothing to compare. Add "
            "pictures that differ."
        )
    # Of a descriptor x and a component z = Σ d x: cov(x, z) = d var(z).
    spreads = np.maximum(_spreads(descriptors) * scales, _NEGLIGIBLE)
    correlations = found.directions * np.sqrt(found.variances) / spreads[:, None]
    correlations[spreads <= _NEGLIGIBLE] = 0.0
    # The first of descriptors that are followed equally well, to rounding.
    followed = np.abs(correlations).round(9).argmax(axis=0)
    signs = np.where(correlations[followed, np.arange(len(followed))] < 0, -1.0, 1.0)
    directions = found.directions * signs * scales[:, None]
    center = found.center / np.where(scales > 0, scales, 1.0)
    return PictureColumns(side, rotation_invariant, center, directions, followed)


def _spreads(descriptors: Described) -> Vector:
    return np.asarray(np.std(descriptors, axis=0, dtype=np.float64))


def _block_scales(descriptors: Described, blocks: Indices) -> Vector:
    """Return a factor for each descriptor that gives each block a total variance of one."""
    totals = np.bincount(blocks, _spreads(descriptors) ** 2)
    factors = np.where(totals > _NEGLIGIBLE, 1 / np.sqrt(np.maximum(totals, _NEGLIGIBLE)), 0.0)
    return np.asarray(factors[blocks])
