"""Slow, literal versions of decisions over time: every choice tried, one loop per step."""

from itertools import combinations


def best_gain(starts, stops, gains):
    """The largest sum over all sets of intervals of which no two overlap."""
    everything = range(len(starts))
    best = 0
    for size in range(len(starts) + 1):
        for chosen in combinations(everything, size):
            pairs = combinations(chosen, 2)
            if all(stops[i] <= starts[j] or stops[j] <= starts[i] for i, j in pairs):
                best = max(best, sum(gains[i] for i in chosen))
    return best
