"""Folders of pictures for tests: four kinds of shapes, in one folder each."""

import numpy as np
from PIL import Image

KINDS = ("bars", "discs", "rings", "stripes")


def shape(kind, seed, side=40):
    """Return a picture of a kind, with its own size, place, colour and noise."""
    random = np.random.default_rng([KINDS.index(kind), seed])
    y, x = np.mgrid[:side, :side] - side / 2 + random.normal(0, 2, size=(2, 1, 1))
    radius, size = np.hypot(x, y), random.uniform(8, 12)
    light = {
        "bars": (np.abs(y) < 3) & (np.abs(x) < 1.4 * size),
        "discs": radius < size,
        "rings": (radius < 1.2 * size) & (radius > 0.8 * size),
        "stripes": np.sin(x) > 0,
    }[kind]
    colour = {"bars": (9, 1, 1), "discs": (2, 6, 1), "rings": (2, 3, 8), "stripes": (5, 5, 5)}[kind]
    pixels = 20 + 22.0 * light[..., None] * np.array(colour) + random.normal(0, 8, (side, side, 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def album(folder, n=12, kinds=KINDS, suffix=".png", first=0):
    """Save pictures of each kind into its own folder, and return the folder of all."""
    for kind in kinds:
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for number in range(first, first + n):
            shape(kind, number).save(folder / kind / f"{kind[0]}{number:02d}{suffix}")
    return folder


def vectors(n, n_numbers=64, seed=0):
    """Return embeddings of rows of four kinds, one after another in equal numbers."""
    random = np.random.default_rng(seed)
    middles = random.normal(size=(4, n_numbers)) * 3
    return (np.repeat(middles, n // 4, axis=0) + random.normal(size=(n, n_numbers))).astype(
        np.float32
    )
