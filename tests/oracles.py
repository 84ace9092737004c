"""Slow, literal versions of the formulas: one loop per sum sign, nothing clever.

The fast code must agree with these to 1e-9 or better.
"""

import numpy as np


def spatial_depth(x, X):
    """D(x, X) = 1 - |sum_i S(x - x_i)| / (n - [x is one of the rows])."""
    total = np.zeros(len(x))
    is_row = False
    for row in X:
        difference = x - row
        length = np.sqrt(np.sum(difference**2))
        if length == 0:
            is_row = True
        else:
            total += difference / length
    denominator = len(X) - is_row
    return 1.0 if denominator == 0 else 1 - np.sqrt(np.sum(total**2)) / denominator


def kernel_spatial_depth(x, X, kernel):
    """The pair-by-pair sum; ``kernel(a, b)`` takes two rows and gives a number."""
    n = len(X)
    is_row = any(np.array_equal(x, row) for row in X)
    if n - is_row == 0:
        return 1.0
    z = np.zeros(n)
    for i in range(n):
        squared = kernel(x, x) + kernel(X[i], X[i]) - 2 * kernel(x, X[i])
        if not np.array_equal(x, X[i]):
            z[i] = 1 / np.sqrt(squared)
    total = 0.0
    for i in range(n):
        for j in range(n):
            inner = kernel(x, x) + kernel(X[i], X[j]) - kernel(x, X[i]) - kernel(x, X[j])
            total += z[i] * z[j] * inner
    return 1 - np.sqrt(max(total, 0.0)) / (n - is_row)


def gaussian(a, b, bandwidth):
    """k(x, y) = exp(-|x - y|^2 / bandwidth^2); no 2 in the denominator."""
    return np.exp(-np.sum((a - b) ** 2) / bandwidth**2)
