"""Specimens drawn at random: outlines of fish in every position, size and direction."""

import numpy as np
from scipy.spatial.transform import Rotation

OUTLINE = np.array([[-3, 0], [-2, 1], [0, 1.5], [2, 0.6], [3, 0.9], [3, -0.8], [0, -1.2]])


def fish(n_specimens, seed=0, noise=0.2, d=2, scaling=True):
    """Outlines that vary, each in another position and direction and, with scaling, size."""
    rng = np.random.default_rng(seed)
    base = np.hstack([OUTLINE, 0.3 * rng.standard_normal((len(OUTLINE), d - 2))])
    shapes = base + noise * rng.standard_normal((n_specimens, *base.shape))
    return moved(shapes, seed, scaling)


def moved(shapes, seed, scaling=True, mirrored=False):
    rng = np.random.default_rng([seed, 1])
    n, _, d = shapes.shape
    if d == 2:
        angles = rng.uniform(-np.pi, np.pi, n)
        turns = np.array([[[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]] for a in angles])
    else:
        turns = Rotation.random(n, rng=rng).as_matrix()
    sizes = rng.uniform(0.1, 10, (n, 1, 1)) if scaling else 1
    if mirrored:
        shapes = shapes * np.where(rng.random((n, 1, 1)) < 0.5, [-1] + [1] * (d - 1), 1)
    return sizes * shapes @ turns + rng.uniform(-9, 9, (n, 1, d))
