"""Four data sets on which no strategy was chosen, each difficult in its own way."""

import numpy as np
from sklearn.datasets import load_digits

from kernova.papers.hms.experiments import DiscoverySet, thinned_rows


def held_out_sets(seed):
    """Return the four sets.

    ``bulk`` is one heavy-tailed class with rare ones outside, at its edge and inside it;
    ``chains`` has spirals, rings and groups inside them; ``heavy tails`` has categories whose own
    outliers are farther out than the rare ones; ``digits`` are scikit-learn's, thinned out.
    """
    makers = {"bulk": _bulk, "chains": _chains, "heavy tails": _heavy_tails, "digits": _digits}
    sets = {}
    for name, make in makers.items():
        rng = np.random.default_rng([seed, *name.encode()])
        groups = make(rng)
        X = np.concatenate(groups)
        labels = np.repeat([f"c{j}" for j in range(len(groups))], [len(rows) for rows in groups])
        order = rng.permutation(len(X))
        sets[name] = DiscoverySet(name, X[order], labels[order], is_drawn=True)
    return sets


def _bulk(rng):
    mixing = rng.standard_normal((6, 6)) / 2 + np.eye(6)
    sizes = (100, 50, 40, 25, 15, 10, 10)
    groups = [rng.standard_t(3, (3000 - sum(sizes), 6)) @ mixing]
    for size, reach in zip(sizes, (3, 2, 1, 0.3, 5, 3, 1.5), strict=True):
        direction = rng.standard_normal(6)
        centre = reach * np.sqrt(6) * direction / np.linalg.norm(direction)
        groups.append((centre + rng.uniform(0.08, 0.3) * rng.standard_normal((size, 6))) @ mixing)
    return groups


def _chains(rng):
    turns = rng.uniform(0.5, 3.0, 900) * np.pi
    spiral = np.column_stack([turns * np.cos(turns), turns * np.sin(turns), 0 * turns])
    angles = rng.uniform(0, 2 * np.pi, 300)
    ring = np.column_stack([12 + 4 * np.cos(angles), 4 * np.sin(angles), np.cos(angles)])
    line = np.linspace(-9, 9, 150)
    chain = np.column_stack([line, 0.1 * line**2 - 14, 3 + 0 * line])
    sites = ((12, 0, 0), (0, 0, 0), (12, 0, 4), (-6, -6, 6), (4.5, 0, 0.8))
    spots = [
        np.array(site) + rng.normal(0, 0.35, (size, 3))
        for site, size in zip(sites, (70, 40, 20, 12, 8), strict=True)
    ]
    return [rows + rng.normal(0, 0.3, rows.shape) for rows in (spiral, ring, chain)] + spots


def _heavy_tails(rng):
    sizes = (900, 450, 250, 150, 90, 60, 40, 25, 15, 10, 10)
    return [
        rng.normal(0, 4, 5) + rng.uniform(0.2, 1.0) * rng.standard_t(2, (size, 5)) for size in sizes
    ]


def _digits(rng):
    X, y = load_digits(return_X_y=True)
    sizes = (160, 80, 40, 20, 10, 6, 6, 6, 6, 6)
    rows = thinned_rows(y.astype(str), sizes, rng)
    return [X[rows][y[rows] == digit] for digit in range(10)]
