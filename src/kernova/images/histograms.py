"""Histograms of pixels in which a value between two bins counts for both, by their distance."""

from typing import NamedTuple

import numpy as np

from kernova.typing import Indices, Matrix


class Histogram(NamedTuple):
    """Bins of values from 0 to 1, their centres equally far apart, in each of some regions."""

    n_bins: int
    n_regions: int = 1
    # Values are angles in turns: the first bin is at 0 and the neighbour of the last. Otherwise the
    # first bin is at 0 and the last at 1, and values beyond them count as they do.
    is_circular: bool = False


def soft_histogram(values: Matrix, weights: Matrix, regions: Indices, bins: Histogram) -> Matrix:
    """Return weighted histograms of the pixels in each region of each picture.

    Parameters
    ----------
    values, weights : ndarray of shape (n_pictures, height, width)
        The values of the pixels, and how much each counts.
    regions : ndarray of int of shape (height, width)
        The region of each pixel, from 0.
    bins : Histogram
        The bins.

    Returns
    -------
    ndarray of shape (n_pictures, n_regions * n_bins)
        Sums of weights, region by region.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.images.histograms import Histogram, soft_histogram
    >>> values, ones = np.array([[[0.0, 0.25, 1.0]]]), np.ones((1, 1, 3))
    >>> soft_histogram(values, ones, np.zeros((1, 3), dtype=int), Histogram(3))
    array([[1.5, 0.5, 1. ]])
    """
    n, n_bins, n_regions = len(values), bins.n_bins, bins.n_regions
    scaled = values % 1.0 * n_bins if bins.is_circular else np.clip(values, 0, 1) * (n_bins - 1)
    lower = np.floor(scaled)
    upper_part = scaled - lower
    first = lower.astype(np.intp)
    # A value of exactly the last bin, or just below a whole turn after rounding.
    second = (first + 1) % n_bins if bins.is_circular else np.minimum(first + 1, n_bins - 1)
    first %= n_bins
    start = (np.arange(n)[:, None, None] * n_regions + regions) * n_bins
    size = n * n_regions * n_bins
    sums = np.bincount((start + first).ravel(), (weights * (1 - upper_part)).ravel(), size)
    sums += np.bincount((start + second).ravel(), (weights * upper_part).ravel(), size)
    return np.asarray(sums.reshape(n, n_regions * n_bins), dtype=np.float64)
