"""Slow, literal versions of frames and smoothing: one loop per formula, nothing clever."""

import math

import numpy as np


def steady_covariance(F, H, Q, R):
    """The covariance before an update, after so many frames that it no longer changes."""
    P = Q.copy()
    for _ in range(1000):
        S = H @ P @ H.T + R
        P = F @ (P - P @ H.T @ np.linalg.inv(S) @ H @ P) @ F.T + Q
    return P


def smoothed_level(y, couplings, observation_noise):
    """Rauch, Tung and Striebel with constant gains, one column, at rest at y[0] before."""
    F = np.eye(len(couplings) + 1)
    for i, factor in enumerate(couplings):
        F[i, i + 1] = factor
    H = np.eye(len(F))[:1]
    P = steady_covariance(F, H, np.eye(len(F)), observation_noise * np.eye(1))
    K = P @ H.T / (P[0, 0] + observation_noise)
    J = (P - K @ H @ P) @ F.T @ np.linalg.inv(P)
    expected, filtered = [np.array([y[0], *np.zeros(len(couplings))])], []
    for value in y:
        filtered.append(expected[-1] + K[:, 0] * (value - expected[-1][0]))
        expected.append(F @ filtered[-1])
    smoothed = [filtered[-1]]
    for t in range(len(y) - 2, -1, -1):
        smoothed.insert(0, filtered[t] + J @ (smoothed[0] - expected[t + 1]))
    return np.array([state[0] for state in smoothed])


def frames(samples, width, hop):
    """Every window of ``width`` samples that starts at a multiple of ``hop`` and fits."""
    starts = range(0, len(samples) - width + 1, hop)
    return np.array([samples[a : a + width] for a in starts]).reshape(len(starts), width)


def dct_magnitudes(frame):
    """|DCT-II|, orthonormal: one sum per frequency."""
    n = len(frame)
    magnitudes = []
    for k in range(n):
        total = sum(x * math.cos(math.pi * (i + 0.5) * k / n) for i, x in enumerate(frame))
        magnitudes.append(abs(total) * math.sqrt((1 if k == 0 else 2) / n))
    return np.array(magnitudes)


def band_powers(frame, sample_rate, n_fft, edges, n_points=4000):
    """Hann window, power per frequency, mean under each triangle; integrals as fine sums."""
    n = len(frame)
    window = np.array([0.5 - 0.5 * math.cos(2 * math.pi * i / n) for i in range(n)])
    seen = frame * window / math.sqrt(sum(window**2))
    turns = np.exp(-2j * np.pi * np.outer(np.arange(n_fft // 2 + 1), np.arange(n)) / n_fft)
    power = np.abs(turns @ seen) ** 2
    found = []
    for low, top, high in zip(edges, edges[1:], edges[2:], strict=False):
        points = low + (high - low) * (np.arange(n_points) + 0.5) / n_points
        height = np.minimum((points - low) / (top - low), (high - points) / (high - top))
        nearest = np.rint(points * n_fft / sample_rate).astype(int)
        # Beyond the last frequency there is none to stand for.
        height[nearest >= len(power)] = 0
        found.append(np.average(power[np.minimum(nearest, len(power) - 1)], weights=height))
    return np.array(found)
