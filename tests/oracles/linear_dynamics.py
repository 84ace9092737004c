"""Hierarchical linear dynamics, literally."""

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


def hierarchical_system(layers, factor=1.0, state_noise=None, H=None):
    """F, H, Q, R of all states (HLDS), top layer first; r is the size of a layer unless given."""
    sizes = list(layers)[::-1]
    noise = list(layers if state_noise is None else state_noise)[::-1]
    n = sum(sizes)
    F = np.eye(n)
    start = 0
    for upper, lower in pairwise(sizes):
        rows = slice(start + upper, start + upper + lower)
        F[rows, start : start + upper] = coupling(lower, upper)
        start += upper
    H = np.eye(layers[0]) if H is None else H
    H_all = np.hstack([np.zeros((len(H), n - layers[0])), H])
    Q = np.diag(np.repeat(np.array(noise, dtype=float), sizes))
    return F, H_all, Q, factor * len(H) * np.eye(len(H))


def kalman(Y, F, H, Q, R, x, P):
    """Predict, then update, frame by frame; return the filtered means and covariances."""
    means, covariances = [], []
    for y in Y:
        x, P = F @ x, F @ P @ F.T + Q
        K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
        x = x + K @ (y - H @ x)
        P = (np.eye(len(x)) - K @ H) @ P
        means.append(x)
        covariances.append(P)
    return np.array(means), np.array(covariances)


def hierarchical_states(Y, layers, factor=1.0, state_noise=None, H=None):
    """The filtered states of all layers, top layer first: x starts at 0 with covariance 1."""
    F, H, Q, R = hierarchical_system(layers, factor, state_noise, H)
    return kalman(Y, F, H, Q, R, np.zeros(len(F)), np.eye(len(F)))[0]
