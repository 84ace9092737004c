"""Spatial depth and the kernels of it, literally."""

import numpy as np
from scipy.special import gamma, kv


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


def kernel_spatial_depth_by_distance(x, X, kernel, horizon):
    """The same, but beyond the horizon P' - 1e-9 L / (1 + L), with L = log(r / horizon).

    r is the distance to the nearest row, one row equal to x left out; P' is the depth of a row
    among n - 1 others whose kernel values with each other add up to 1'K1 - 1.
    """
    n = len(X)
    distances = sorted(np.linalg.norm(x - row) for row in X)
    others = distances[1:] if distances[0] == 0 else distances
    if not others or others[0] <= horizon:
        return kernel_spatial_depth(x, X, kernel)
    total = sum(kernel(a, b) for a in X for b in X)
    similarity = 1.0 if n == 1 else min((total - 1) / (n - 1) ** 2, 1.0)
    logarithm = np.log(others[0] / horizon)
    return 1 - np.sqrt((1 + similarity) / 2) - 1e-9 * logarithm / (1 + logarithm)


def gaussian(a, b, bandwidth):
    """k(x, y) = exp(-|x - y|^2 / bandwidth^2); no 2 in the denominator."""
    return np.exp(-np.sum((a - b) ** 2) / bandwidth**2)


def matern(a, b, bandwidth, nu):
    """The Matérn kernel by its definition with a Bessel function."""
    r = np.sqrt(2 * nu) * np.sqrt(np.sum((a - b) ** 2)) / bandwidth
    return 1.0 if r == 0 else 2 ** (1 - nu) / gamma(nu) * r**nu * kv(nu, r)
