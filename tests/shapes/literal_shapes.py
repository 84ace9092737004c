"""Alignment the slow way: scipy's pairwise procrustes repeated, one specimen after the other."""

import numpy as np
from scipy.spatial import procrustes


def iterated_consensus(specimens, rounds=60):
    """Turn every specimen to the mean of all, take the mean, and again.

    scipy brings both shapes to unit size and then shrinks the second one to fit best; unit size
    is restored, since only the rotation is wanted. It also centres, and allows mirror images.
    """
    mean = specimens[0]
    for _ in range(rounds):
        total = np.zeros(mean.shape)
        for specimen in specimens:
            turned = procrustes(mean, specimen)[1]
            total += turned / np.linalg.norm(turned)
        mean = total / len(specimens)
    return mean


def distance_up_to_rotation(shape, other):
    """The largest difference of a coordinate once one shape is turned to the other."""
    left, _, right = np.linalg.svd(shape.T @ other)
    return np.abs(shape @ left @ right - other).max()


def conditional_mean(row, is_known, mean, covariance):
    """E(missing | known) of a Gaussian, by the formula with the covariance of the known."""
    filled = row.copy()
    known, missing = np.flatnonzero(is_known), np.flatnonzero(~is_known)
    weights = covariance[np.ix_(missing, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
    filled[missing] = mean[missing] + weights @ (row[known] - mean[known])
    return filled
