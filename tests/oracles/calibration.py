"""Bounds, thresholds and p-values, literally."""

import math

import numpy as np


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
