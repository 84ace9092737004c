"""Sizes of categories by ranks of distances, and the random baseline, literally."""

import math

import numpy as np


def sizes_by_ranks(Z, labels):
    """Each unlabelled row is one row, divided among the 30 nearest labelled ones as 1, 1/4, 1/9."""
    labelled = [row for row, label in enumerate(labels) if label is not None]
    sizes = {}
    for row in labelled:
        sizes[labels[row]] = sizes.get(labels[row], 0) + 1
    for row in set(range(len(Z))) - set(labelled):
        nearest = sorted(labelled, key=lambda other: np.linalg.norm(Z[row] - Z[other]))[:30]
        shares = [1 / rank**2 for rank in range(1, len(nearest) + 1)]
        for other, share in zip(nearest, shares, strict=True):
            sizes[labels[other]] += share / sum(shares)
    return sizes


def chance_to_miss(size, n_rows, n_questions):
    """The fraction of samples without a row of the category, with factorials of fractions."""
    if n_questions == n_rows or n_rows - size - n_questions <= -1:
        return 0
    kinds = math.lgamma(n_rows - size + 1) - math.lgamma(n_rows - size - n_questions + 1)
    chance = kinds - math.lgamma(n_rows + 1) + math.lgamma(n_rows - n_questions + 1)
    return min(1, math.exp(chance))


def factor_at(n_labelled, knots, factors):
    """Between the logarithms of two knots on a straight line; the end's beyond the ends."""
    if n_labelled <= knots[0]:
        return factors[0]
    for left in range(len(knots) - 1):
        low, high = math.log(knots[left]), math.log(knots[left + 1])
        if n_labelled <= knots[left + 1]:
            part = (math.log(n_labelled) - low) / (high - low)
            return factors[left] + part * (factors[left + 1] - factors[left])
    return factors[-1]


def corrected_curve(Z, labels, n_questions, knots, factors):
    """The curve from the estimated sizes; what exceeds the first category times the factor."""
    sizes = sizes_by_ranks(Z, labels).values()
    n_labelled = sum(label is not None for label in labels)
    factor = factor_at(n_labelled, knots, factors) ** ((len(Z) - n_labelled) / len(Z))
    met = [
        sum(1 - chance_to_miss(size, len(Z), q) for size in sizes)
        for q in range(1, n_questions + 1)
    ]
    return [min(met[0] + factor * (value - met[0]), q) for q, value in enumerate(met, start=1)]
