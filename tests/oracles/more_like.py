"""Arrivals of restarting walks on a graph of neighbours, literally; without duplicate rows."""

import numpy as np


def linked_rows(Z, k=10):
    """Weights of links between rows and their nearest neighbours, as a dense matrix."""
    n = len(Z)
    k = min(k, n - 1)
    distances = np.array([[np.linalg.norm(x - y) for y in Z] for x in Z])
    widths = np.array([np.sort(np.delete(distances[i], i))[k - 1] for i in range(n)])
    widths = np.maximum(widths, 1e-3 * np.median(widths))
    weights = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j in sorted(others, key=lambda other: distances[i, other])[:k]:
            weight = np.exp(-(distances[i, j] ** 2) / (widths[i] * widths[j])) + 1e-9
            weights[i, j] = max(weights[i, j], weight)
            weights[j, i] = max(weights[j, i], weight)
    return weights


def walked(weights, starts, ends, steps=50, goes_on=0.95):
    """How often walks are at each row, over how often a walk from anywhere is."""
    n = len(weights)
    degrees = weights.sum(axis=1)
    places = np.zeros(n)
    places[starts] = 1 / len(starts)
    for _ in range(steps):
        after = np.zeros(n)
        for i in range(n):
            for j in range(n):
                after[j] += goes_on * places[i] * weights[i, j] / degrees[i]
        after[starts] += (1 - goes_on) / len(starts)
        after[ends] = 0
        places = after
    return places / (degrees / degrees.sum())


def literal_cut(falling):
    """After how many values the largest drop times the root of its rank is, in the first fifth."""
    n_first = max(3, int(0.2 * len(falling)))
    drops = {
        k: (falling[k - 1] - falling[k]) * np.sqrt(k)
        for k in range(1, n_first + 1)
        if k < len(falling)
    }
    return max(drops, key=drops.get)
