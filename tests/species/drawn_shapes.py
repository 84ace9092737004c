"""Groups of shapes to study, drawn at random."""

import numpy as np

from kernova.shapes import Landmarks
from tests.shapes.drawn_shapes import moved

OUTLINE = np.array(
    [[-3, 0], [-2, 1], [-1, 1.4], [0, 1.5], [2, 0.6], [3, 0.9], [3, -0.8], [1, -0.7], [-1, -1.2]]
)


def drawn(sizes, seed=0, distance=0.6, noise=0.08, population=0):
    """Groups of shapes, each the outline deformed in its own way, in every position and size.

    ``population`` seeds what the groups look like, ``seed`` the specimens.
    """
    ways = np.random.default_rng([population, 7]).standard_normal((12, *OUTLINE.shape))
    rng = np.random.default_rng(seed)
    shapes, groups = [], []
    for way, (name, size) in zip(ways, sizes.items(), strict=False):
        bent = OUTLINE + distance * way / np.linalg.norm(way)
        shapes.append(bent + noise * rng.standard_normal((size, *OUTLINE.shape)))
        groups += [name] * size
    coordinates = moved(np.concatenate(shapes), seed)
    return Landmarks(tuple(f"s{k}" for k in range(len(groups))), coordinates), np.array(groups)
