"""From scores of strangeness to the labels, probabilities and confidences that PyOD gives."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from scipy.stats import binom

Vector = NDArray[np.float64]
Labels = NDArray[np.int64]


def labels_above(threshold: float, scores: Vector) -> Labels:
    """Give 1 for scores above the threshold, and 0 for the others."""
    return (scores > threshold).astype(np.int64)


def linear_probabilities(scores: Vector, training_scores: Vector) -> Vector:
    """Place scores between the lowest (0) and the highest (1) of the rows of ``fit``.

    Where those are alike but for rounding, one unit above them is as far as it goes.
    """
    low, high = training_scores.min(), training_scores.max()
    # Halves first: the difference of two large scores need not be a number.
    half_spread = high / 2 - low / 2
    is_rounding = half_spread <= 10 * np.finfo(np.float64).eps * max(abs(low), abs(high))
    with np.errstate(over="ignore"):
        shares = (scores / 2 - low / 2) / (0.5 if is_rounding else half_spread)
    return np.clip(shares, 0.0, 1.0)


def unified_probabilities(scores: Vector, mean: float, deviation: float) -> Vector:
    """Turn scores into probabilities as if those of ``fit`` were normal; 0 up to their mean."""
    if deviation == 0:
        return np.where(scores > mean, 1.0, 0.0)
    with np.errstate(over="ignore"):
        standard = (scores / 2 - mean / 2) / (deviation / np.sqrt(2))  # (s - m) / (d sqrt 2)
    return np.clip(erf(standard), 0.0, 1.0)


def label_stability(
    scores: Vector, labels: Labels, training_scores: Vector, n_outliers: int
) -> Vector:
    """Probability that a row keeps its label if the rows of ``fit`` were drawn anew.

    The share of those rows that score no higher tells the chance that a row drawn anew does so.
    A row is labelled an outlier when all but fewer than ``n_outliers`` of them do, which is
    a binomial probability.

    References
    ----------
    Perini, Vercruyssen and Davis, "Quantifying the Confidence of Anomaly Detectors in Their
    Example-Wise Predictions", ECML PKDD 2020.
    """
    n_rows = len(training_scores)
    n_lower = np.searchsorted(np.sort(training_scores), scores, side="right")
    chance_of_lower = (1 + n_lower) / (2 + n_rows)
    n_usual = n_rows - n_outliers
    outlier_again = binom.sf(n_usual, n_rows, chance_of_lower)
    usual_again = binom.cdf(n_usual, n_rows, chance_of_lower)
    return np.where(labels == 1, outlier_again, usual_again)


def moments(scores: Vector) -> tuple[float, float]:
    """Mean and standard deviation, finite even where squares are not."""
    largest = float(np.abs(scores).max()) or 1.0
    shares = scores / largest
    return float(shares.mean()) * largest, float(shares.std()) * largest
