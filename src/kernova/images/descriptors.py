"""Descriptors of pictures: colour, layout, edges and texture side by side, in named blocks.

Nothing is learnt here, and no objects are recognised: the descriptors see which colours a picture
has and where, in which directions its edges run, and how fine its texture is.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernova.images.colours import (
    LabPictures,
    Pixels,
    colour_descriptors,
    colour_names,
    lab_pictures,
)
from kernova.images.gradients import (
    edge_descriptors,
    edge_names,
    turned_edge_descriptors,
    turned_edge_names,
)
from kernova.images.regions import (
    cell_colour_names,
    cell_colours,
    ring_colour_names,
    ring_colours,
)
from kernova.images.texture import texture_descriptors, texture_names
from kernova.typing import Indices, Matrix


class Block(NamedTuple):
    """Descriptors of one kind."""

    name: str
    names: list[str]
    describe: Callable[[LabPictures], Matrix]


def descriptor_blocks(*, rotation_invariant: bool) -> list[Block]:
    """Return the kinds of descriptors.

    Examples
    --------
    >>> from kernova.images.descriptors import descriptor_blocks
    >>> {one.name: len(one.names) for one in descriptor_blocks(rotation_invariant=True)}
    {'colour': 26, 'layout': 52, 'edges': 111, 'texture': 36}
    """
    if rotation_invariant:
        layout = Block("layout", ring_colour_names(), ring_colours)
        edges = Block(
            "edges", turned_edge_names(), lambda of: turned_edge_descriptors(of.lightness)
        )
    else:
        layout = Block("layout", cell_colour_names(), cell_colours)
        edges = Block("edges", edge_names(), lambda of: edge_descriptors(of.lightness))
    texture = Block(
        "texture",
        texture_names(rotation_invariant=rotation_invariant),
        lambda of: texture_descriptors(of.lightness, rotation_invariant=rotation_invariant),
    )
    return [Block("colour", colour_names(), colour_descriptors), layout, edges, texture]


def descriptor_names(*, rotation_invariant: bool) -> list[str]:
    """Return the name of each descriptor."""
    blocks = descriptor_blocks(rotation_invariant=rotation_invariant)
    return [name for block in blocks for name in block.names]


def block_numbers(*, rotation_invariant: bool) -> Indices:
    """Return the number of each descriptor's kind, from 0."""
    sizes = [len(one.names) for one in descriptor_blocks(rotation_invariant=rotation_invariant)]
    return np.repeat(np.arange(len(sizes)), sizes)


def picture_descriptors(pixels: Pixels, *, rotation_invariant: bool = False) -> Matrix:
    """Return the descriptors of pictures of one size.

    Parameters
    ----------
    pixels : ndarray of uint8 of shape (n_pictures, height, width, 3)
        Red, green and blue in sRGB.
    rotation_invariant : bool, default=False
        Use descriptors that do not depend on how a picture is turned about its centre.

    Returns
    -------
    ndarray of shape (n_pictures, n_descriptors)
        With the names of :func:`descriptor_names`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.descriptors import picture_descriptors
    >>> pixels = np.random.default_rng(0).integers(0, 256, size=(1, 32, 32, 3), dtype=np.uint8)
    >>> turned = np.rot90(pixels, axes=(1, 2))
    >>> one, other = (picture_descriptors(of, rotation_invariant=True) for of in (pixels, turned))
    >>> one.shape, bool(np.allclose(one, other))
    ((1, 225), True)
    """
    pictures = lab_pictures(pixels)
    blocks = descriptor_blocks(rotation_invariant=rotation_invariant)
    return np.hstack([block.describe(pictures) for block in blocks])
