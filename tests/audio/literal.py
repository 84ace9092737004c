"""Slow, literal versions of frames and linear dynamics: one loop per formula, nothing clever."""

import math
from itertools import pairwise

import numpy as np


def coupling(n_lower, n_upper):
    """B[i, s] = 2 S / N where i div (N / S) == s, else 0."""
    B = np.zeros((n_lower, n_upper))
    for i in range(n_lower):
        for s in range(n_upper):
            if i // (n_lower // n_upper) == s:
                B[i, s] = 2 * n_upper / n_lower
    return B


def whole_system(layers, factor=1.0, state_noise=None):
    """F, H, Q, R of all states, top layer first; r is the size of a layer unless given."""
    sizes = list(layers)[::-1]
    noise = list(layers if state_noise is None else state_noise)[::-1]
    n = sum(sizes)
    F = np.eye(n)
    start = 0
    for upper, lower in pairwise(sizes):
        rows = slice(start + upper, start + upper + lower)
        F[rows, start : start + upper] = coupling(lower, upper)
        start += upper
    H = np.hstack([np.zeros((layers[0], n - layers[0])), np.eye(layers[0])])
    Q = np.diag(np.repeat(np.array(noise, dtype=float), sizes))
    return F, H, Q, factor * layers[0] * np.eye(layers[0])


def kalman(Y, F, H, Q, R, x, P):
    """Predict, then update, frame by frame; give the filtered means and covariances."""
    means, covariances = [], []
    for y in Y:
        x, P = F @ x, F @ P @ F.T + Q
        K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
        x = x + K @ (y - H @ x)
        P = (np.eye(len(x)) - K @ H) @ P
        means.append(x)
        covariances.append(P)
    return np.array(means), np.array(covariances)


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
    for i, share in enumerate(couplings):
        F[i, i + 1] = share
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
    """Every stretch of ``width`` samples that starts at a multiple of ``hop`` and fits."""
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
