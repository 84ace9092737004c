"""Drawn specimens of two species, laid anywhere before the camera, and the files that hold them."""

import numpy as np
import pandas as pd

CARP, PIKE, EEL = 0.0, 0.3, -0.8  # how far landmark 3 lies from its place in a carp
SPECIES = {"carp": CARP, "pike": PIKE, "eel": EEL}
N_LANDMARKS = 6


def shapes(species, seed=0, dimensions=2):
    """One specimen per name, all upright and of one size, with a little noise."""
    mean = np.random.default_rng(9).normal(size=(N_LANDMARKS, dimensions))
    noise = np.random.default_rng(seed).normal(scale=0.02, size=(len(species), *mean.shape))
    specimens = mean + noise
    specimens[:, 2] += np.array([SPECIES[name] for name in species])[:, np.newaxis]
    return specimens


def laid(specimens, seed):
    """The same specimens, each turned, enlarged and moved in its own way."""
    rng = np.random.default_rng(seed)
    n, _, d = specimens.shape
    turns = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, np.newaxis]
    sizes = rng.uniform(50, 200, size=(n, 1, 1))
    return specimens @ turns * sizes + rng.uniform(-500, 500, size=(n, 1, d))


def wide(specimens, **others):
    """Columns x1, y1, x2, ... after the others, which come by name."""
    n, n_landmarks, d = specimens.shape
    names = [f"{axis}{number}" for number in range(1, n_landmarks + 1) for axis in "xyz"[:d]]
    coordinates = pd.DataFrame(specimens.reshape(n, -1), columns=names)
    return pd.concat([pd.DataFrame(others, index=range(n)), coordinates], axis=1)


def tps(specimens, ids, scale=None, variables=None):
    """Text of a TPS file."""
    lines = []
    for row, (name, points) in enumerate(zip(ids, specimens, strict=True)):
        lines.append(f"LM{'' if points.shape[1] == 2 else 3}={len(points)}")
        lines += [
            " ".join("NA" if np.isnan(number) else f"{number:.9f}" for number in point)
            for point in points
        ]
        lines.append(f"ID={name}")
        if scale is not None:
            lines.append(f"SCALE={scale}")
        if variables is not None:
            lines.append(f"VARIABLES={variables[row]}")
    return "\n".join(lines) + "\n"


def nts(specimens, ids):
    """Text of an NTS file."""
    n, n_landmarks, d = specimens.shape
    rows = [" ".join(map(str, row)) for row in specimens.reshape(n, -1)]
    return "\n".join([f"1 {n}L {n_landmarks * d} 0 dim={d}", *ids, *rows]) + "\n"


def morphologika(specimens, ids, species):
    """Text of a Morphologika file, with the species as its labels."""
    n, n_landmarks, d = specimens.shape
    head = (
        f"[individuals]\n{n}\n[landmarks]\n{n_landmarks}\n[dimensions]\n{d}\n"
        "[names]\n{}\n[labels]\nspecies\n[labelvalues]\n{}\n[rawpoints]"
    ).format("\n".join(ids), "\n".join(species))
    points = [
        "\n".join([f"'{name}", *(" ".join(map(str, point)) for point in one)])
        for name, one in zip(ids, specimens, strict=True)
    ]
    return "\n".join([head, *points]) + "\n"


KNOWN = ["carp", "pike"] * 30
NEW = ["carp", "pike"] * 5 + ["eel"] * 3
KNOWN_IDS = [f"{name}_{row:03}" for row, name in enumerate(KNOWN)]
NEW_IDS = [f"{name}_n{row}" for row, name in enumerate(NEW)]


def known(dimensions=2):
    return laid(shapes(KNOWN, seed=1, dimensions=dimensions), seed=2)


def new(laid_by=4, dimensions=2):
    return laid(shapes(NEW, seed=3, dimensions=dimensions), seed=laid_by)


def with_gaps(specimens, every=7, landmark=3):
    """The same with one landmark missing in every so many specimens."""
    gaps = specimens.copy()
    gaps[::every, landmark] = np.nan
    return gaps
