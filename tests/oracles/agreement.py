"""Literal, slow coefficients of agreement, from the opinions one by one."""

from itertools import permutations

import numpy as np


def usable(rows):
    """Keep the rows with at least two opinions; a row is a list of categories."""
    return [row for row in rows if len(row) >= 2]


def cohen(pairs):
    """Cohen (1960), from the categories that two raters gave to each row."""
    n = len(pairs)
    categories = {one for pair in pairs for one in pair}
    observed = sum(a == b for a, b in pairs) / n
    chance = sum(
        (sum(a == c for a, _ in pairs) / n) * (sum(b == c for _, b in pairs) / n)
        for c in categories
    )
    return (observed - chance) / (1 - chance)


def fleiss(rows):
    """Fleiss (1971), every row counting the same, whatever the number of its raters."""
    rows = usable(rows)
    categories = {one for row in rows for one in row}
    observed = np.mean([np.mean([a == b for a, b in permutations(row, 2)]) for row in rows])
    chance = sum(np.mean([row.count(c) / len(row) for row in rows]) ** 2 for c in categories)
    return (observed - chance) / (1 - chance)


def alpha(rows):
    """Krippendorff (2011), by the matrix of coincidences."""
    rows = usable(rows)
    categories = sorted({one for row in rows for one in row})
    coincidences = {(c, k): 0.0 for c in categories for k in categories}
    for row in rows:
        for a, b in permutations(row, 2):
            coincidences[a, b] += 1 / (len(row) - 1)
    totals = {c: sum(coincidences[c, k] for k in categories) for c in categories}
    n = sum(totals.values())
    observed = sum(coincidences[c, k] for c in categories for k in categories if c != k)
    expected = sum(totals[c] * totals[k] for c in categories for k in categories if c != k)
    return 1 - (n - 1) * observed / expected


def specific(rows, category):
    """Probability that another rater of a row gives a category that one rater gave."""
    agreeing = possible = 0.0
    for row in usable(rows):
        for a, b in permutations(row, 2):
            if a == category:
                possible += 1
                agreeing += b == category
    return agreeing / possible if possible else float("nan")
