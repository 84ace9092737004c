"""Descriptions of classes, and the open-set classifier, literally."""

import math

import numpy as np


def class_uncertainty(x, rows, sigma, ell, noise):
    """d(x) = sigma^2 - k' (K + sigma_reg^2 I)^-1 k, by a plain inverse."""
    K = np.array([[sigma**2 * np.exp(-((a - b) @ (a - b)) / ell**2) for b in rows] for a in rows])
    k = np.array([sigma**2 * np.exp(-((x - a) @ (x - a)) / ell**2) for a in rows])
    return sigma**2 - k @ np.linalg.inv(K + noise**2 * np.eye(len(rows))) @ k


def centered_class_uncertainty(x, rows, sigma, ell, noise):
    """The same with the kernel centred over the rows."""

    def kernel(a, b):
        return sigma**2 * np.exp(-((a - b) @ (a - b)) / ell**2)

    def mean_to(a):
        return np.mean([kernel(a, row) for row in rows])

    overall = np.mean([mean_to(row) for row in rows])

    def centered(a, b):
        return kernel(a, b) - mean_to(a) - mean_to(b) + overall

    K = np.array([[centered(a, b) for b in rows] for a in rows])
    k = np.array([centered(x, a) for a in rows])
    return centered(x, x) - k @ np.linalg.inv(K + noise**2 * np.eye(len(rows))) @ k


def left_out_memberships(rows, ell, ridge, groups=None):
    """q of each row under the rows of other groups (each row its own, unless groups are given)."""
    groups = np.arange(len(rows)) if groups is None else groups
    return np.array(
        [
            1 - class_uncertainty(x, rows[groups != group], 1.0, ell, np.sqrt(ridge))
            for x, group in zip(rows, groups, strict=True)
        ]
    )


def linear_discriminant_log_probabilities(x, X, codes, weights):
    """log pi_c - (x - m_c)' S^-1 (x - m_c) / 2, normalised; S shrunken, over n - C rows."""
    classes = sorted(set(codes))
    residuals, means, priors = [], [], []
    for c in classes:
        rows = [(row, w) for row, code, w in zip(X, codes, weights, strict=True) if code == c]
        total = sum(w for _, w in rows)
        mean = sum(w * row for row, w in rows) / total
        means.append(mean)
        priors.append(total / sum(weights))
    for row, code, w in zip(X, codes, weights, strict=True):
        residuals.append(math.sqrt(w) * (row - means[classes.index(code)]))
    covariance = shrunken_uncentred_covariance(np.array(residuals))
    S = covariance * len(X) / max(len(X) - len(classes), 1)
    scores = [
        math.log(p) - 0.5 * (x - m) @ np.linalg.inv(S) @ (x - m)
        for p, m in zip(priors, means, strict=True)
    ]
    largest = max(scores)
    total = largest + math.log(sum(math.exp(s - largest) for s in scores))
    return np.array([s - total for s in scores])


def shrunken_uncentred_covariance(R):
    """Ledoit and Wolf's estimate for rows whose mean is zero, pair by pair."""
    n, d = R.shape
    S = sum(np.outer(r, r) for r in R) / n
    mu = np.trace(S) / d
    delta = sum((S[i, j] - (mu if i == j else 0)) ** 2 for i in range(d) for j in range(d)) / d
    beta = sum(np.sum((np.outer(r, r) - S) ** 2) for r in R) / (n * n * d)
    shrinkage = 0.0 if delta == 0 else min(beta, delta) / delta
    return (1 - shrinkage) * S + shrinkage * mu * np.eye(d)


def kernel_ridge_scores(x, X, codes, weights, n_classes, gamma, ridge):
    """prior + k' (K + ridge / w)^-1 (Y - prior)."""
    Y = np.array([[1.0 if c == k else 0.0 for k in range(n_classes)] for c in codes])
    prior = sum(w * y for w, y in zip(weights, Y, strict=True)) / sum(weights)
    K = np.array([[math.exp(-gamma * np.sum((a - b) ** 2)) for b in X] for a in X])
    k = np.array([math.exp(-gamma * np.sum((x - b) ** 2)) for b in X])
    return prior + k @ np.linalg.inv(K + np.diag(ridge / np.array(weights))) @ (Y - prior)


def pooled_log_probabilities(members, weights):
    """log of prod_m p_m^w_m, normalised, for one row."""
    products = np.array(
        [math.prod(math.exp(m[k]) ** w for m, w in zip(members, weights, strict=True))
         for k in range(len(members[0]))]
    )  # fmt: skip
    return np.log(products / products.sum())


def interpolated_p_value(value, held_out):
    """(rows above + what is left of the gap to the next) / (n + 1); 1 below all of them."""
    known = sorted(held_out)
    n_above = sum(one >= value for one in known)
    below = [one for one in known if one < value]
    above = [one for one in known if one >= value]
    if not below or not above:
        return (n_above + 1) / (len(known) + 1)
    left = (above[0] - value) / (above[0] - below[-1])
    return (n_above + left) / (len(known) + 1)


def expected_calibration_error(p, is_right, n_bins=15):
    """Sum over bins of (rows in the bin / rows) |mean p - fraction right|."""
    error = 0.0
    for b in range(n_bins):
        inside = [i for i in range(len(p)) if min(int(p[i] * n_bins), n_bins - 1) == b]
        if inside:
            gap = np.mean([p[i] for i in inside]) - np.mean([is_right[i] for i in inside])
            error += len(inside) / len(p) * abs(gap)
    return error
