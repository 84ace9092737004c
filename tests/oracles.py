"""Slow, literal versions of the formulas: one loop per sum sign, nothing clever.

The fast code must agree with these to 1e-9 or better.
"""

import math

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


def gaussian(a, b, bandwidth):
    """k(x, y) = exp(-|x - y|^2 / bandwidth^2); no 2 in the denominator."""
    return np.exp(-np.sum((a - b) ** 2) / bandwidth**2)


def matern(a, b, bandwidth, nu):
    """The Matérn kernel by its definition with a Bessel function."""
    r = np.sqrt(2 * nu) * np.sqrt(np.sum((a - b) ** 2)) / bandwidth
    return 1.0 if r == 0 else 2 ** (1 - nu) / gamma(nu) * r**nu * kv(nu, r)


def clopper_pearson_upper(n_alarms, n_rows, confidence):
    """The largest p under which ``n_alarms`` or fewer alarms still have probability 1 - c."""
    from scipy.stats import beta

    return 1.0 if n_alarms == n_rows else beta.ppf(confidence, n_alarms + 1, n_rows - n_alarms)


def hoeffding_upper(n_alarms, n_rows, confidence):
    """Rate + sqrt(ln(1/delta) / 2m)."""
    return n_alarms / n_rows + np.sqrt(np.log(1 / (1 - confidence)) / (2 * n_rows))


def thresholds_to_try(*samples):
    """Every score and every last number below one: all that a threshold can tell apart."""
    scores = [score for sample in samples for score in sample]
    return sorted({*scores, *(math.nextafter(score, -math.inf) for score in scores)})


def share_at_most(scores, threshold):
    """The share of rows called novel."""
    return sum(score <= threshold for score in scores) / len(scores)


def highest_threshold(scores, max_false_alarm, confidence, upper_bound):
    """The highest t with so few alarms that their bound keeps within the limit; None if none."""
    best = None
    for threshold in thresholds_to_try(scores):
        n_alarms = sum(score <= threshold for score in scores)
        if upper_bound(n_alarms, len(scores), confidence) <= max_false_alarm:
            best = threshold if best is None else max(best, threshold)
    return best


def smallest_larger_error(known, unknown, margin):
    """Give min over t of max(false alarms + margin, misses), the smallest sum there, and the t."""
    best = None
    for threshold in thresholds_to_try(known, unknown):
        false_alarm = share_at_most(known, threshold) + margin
        miss = sum(score > threshold for score in unknown) / len(unknown)
        candidate = (max(false_alarm, miss), false_alarm + miss, threshold)
        best = candidate if best is None else min(best, candidate)
    return best


def conformal_p_value(calibration, score):
    """(1 + #{calibration <= score}) / (m + 1)."""
    return (1 + sum(other <= score for other in calibration)) / (len(calibration) + 1)


def benjamini_hochberg(p_values, rate):
    """Literal step-up rule; exact if the p-values and the rate are Fractions."""
    n = len(p_values)
    largest = 0
    for k, p in enumerate(sorted(p_values), start=1):
        if p * n <= k * rate:
            largest = k
    limit = sorted(p_values)[largest - 1] if largest else -1
    return [p <= limit for p in p_values]
