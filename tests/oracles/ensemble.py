"""Members of the detector ensemble, literally."""

import math
from itertools import pairwise

import numpy as np
from scipy.special import ndtri


def surprise_bits(value, reference, has_outliers=False):
    """-log2 of the fraction of reference values that are as high; ties (to 1e-12) count half.

    Linear between two reference values; beyond the highest one a Pareto tail, as wide as the mean
    excess of the distinct values above the 0.9 quantile. With outliers, that quantile q has
    log2(10) bits, and each median excess above it adds one up to 10 bits, fewer beyond.
    """
    ordered = sorted(reference)
    groups = [[ordered[0]]]
    for low, high in pairwise(ordered):
        if high - low > 1e-12 * abs(high):
            groups.append([])
        groups[-1].append(high)
    distinct = [group[0] for group in groups]

    def bits(known):
        above = sum(len(group) for group in groups if group[0] > known)
        equal = len(groups[distinct.index(known)])
        by_rank = -math.log2((above + equal / 2) / len(reference))
        return _bits_in_the_tail(known, reference, by_rank) if has_outliers else by_rank

    if value <= distinct[0]:
        return bits(distinct[0])
    for low, high in pairwise(distinct):
        if low <= value <= high:
            return bits(low) + (bits(high) - bits(low)) * (value - low) / (high - low)
    highest = [known for known in distinct if known > np.quantile(reference, 0.9)]
    tail = sum(known - highest[0] for known in highest) / len(highest) if highest else 0
    tail = tail or (distinct[-1] - distinct[0]) or max(abs(distinct[-1]), 1)
    return bits(distinct[-1]) + math.log2(1 + (value - distinct[-1]) / tail)


def _bits_in_the_tail(known, reference, by_rank):
    q = np.quantile(reference, 0.9)
    excess = [x - q for x in reference if x > q]
    if not excess:
        return by_rank
    if known <= q:
        return min(by_rank, math.log2(10))
    widths, steady = (known - q) / np.median(excess), 10 - math.log2(10)
    if widths > steady:
        widths = steady + steady * math.log(widths / steady)
    return math.log2(10) + widths


def kth_distance(x, X, k, own=None):
    """Distance to the k-th nearest row; a row of X is compared with the others."""
    distances = sorted(math.dist(x, row) for i, row in enumerate(X) if i != own)
    return distances[k - 1]


def gaussian_rank(x, column):
    """The Gaussian quantile of the mid-rank of a value, for columns of standard deviation 1."""

    def quantile(value):
        below = sum(other < value for other in column)
        equal = sum(other == value for other in column)
        return ndtri((below + equal / 2 + 0.5) / (len(column) + 1))

    return quantile(x) / np.std([quantile(value) for value in column])


def shrunken_covariance(X):
    """(1 - a) S + a m 1, with Ledoit and Wolf's a = min(b², d²) / d², and a."""
    n, p = X.shape
    centered = X - X.mean(axis=0)
    S = sum(np.outer(row, row) for row in centered) / n
    m = np.trace(S) / p
    d2 = np.sum((S - m * np.eye(p)) ** 2)
    b2 = sum(np.sum((np.outer(row, row) - S) ** 2) for row in centered) / n**2
    a = min(b2, d2) / d2
    return (1 - a) * S + a * m * np.eye(p), a


def central_half(X):
    """The half of the rows nearest to its own mean by its own covariance, found step by step."""
    n_half = max(len(X) // 2, min(len(X), X.shape[1] + 1))
    distances = [math.dist(x, np.median(X, axis=0)) for x in X]
    for _ in range(10):
        half = X[sorted(np.argsort(distances, kind="stable")[:n_half])]
        covariance = shrunken_covariance(half)[0]
        distances = [squared_mahalanobis(x, half, covariance) for x in X]
    return half


def squared_mahalanobis(x, X, covariance):
    """(x - mean)' C⁻¹ (x - mean)."""
    difference = x - X.mean(axis=0)
    return difference @ np.linalg.inv(covariance) @ difference


def left_out_squared_mahalanobis(i, X):
    """The distance of row i from the mean of all others, under their covariance matrix."""
    others = np.delete(X, i, axis=0)
    centered = others - others.mean(axis=0)
    return squared_mahalanobis(X[i], others, centered.T @ centered / len(others))


def smallest_tail(row, numbers, own):
    """-log of twice the smallest fraction of rows beyond a value on either side, of any column."""
    least = 0.5
    for value, column in zip(row, np.delete(numbers, own, axis=0).T, strict=True):
        up, down = sum(column <= value), sum(column >= value)
        least = min(least, (min(up, down) + 1) / (len(column) + 1))
    return -math.log(2 * least)


def summed_rarity(row, numbers, own):
    """The sum over columns of -log of the fraction of rows in the bin of a value.

    Values are bins if there are ten or fewer; otherwise the range has ten equal ones. Half a row is
    added to each bin.
    """
    total = 0.0
    for value, column in zip(row, numbers.T, strict=True):
        distinct = sorted(set(column.tolist()))
        others = np.delete(column, own)
        if len(distinct) <= 10:
            n_bins, equal = len(distinct), sum(others == value)
        else:
            n_bins, low, width = 10, distinct[0], (distinct[-1] - distinct[0]) / 10
            place = min(math.floor((value - low) / width), 9) if value <= distinct[-1] else -1
            places = [min(math.floor((other - low) / width), 9) for other in others]
            equal = sum(other == place for other in places if place >= 0)
        total -= math.log((equal + 0.5) / (len(others) + 0.5 * n_bins))
    return total


def summed_level_rarity(row, categories, own):
    """The same for categories, whose bins are the levels."""
    total = 0.0
    for j, value in enumerate(row):
        levels = {other[j] for other in categories}
        others = [other[j] for i, other in enumerate(categories) if i not in own]
        total -= math.log((others.count(value) + 0.5) / (len(others) + 0.5 * len(levels)))
    return total


def weighted_indicators(row, categories):
    """One indicator for each level of 5 % of the rows, one for all others; the variance is 1."""
    indicators = []
    for j, value in enumerate(row):
        column = [other[j] for other in categories]
        fractions = {level: column.count(level) / len(column) for level in sorted(set(column))}
        frequent = [level for level, fraction in fractions.items() if fraction >= 0.05]
        set_ones = [value == level for level in frequent] + [value not in frequent]
        variance = 1 - sum(fraction**2 for fraction in fractions.values())
        indicators += [one / math.sqrt(variance) for one in set_ones]
    return indicators
