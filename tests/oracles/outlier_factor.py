"""Local densities and outlier factors, literally."""

import math

import numpy as np

# Local outlier factors. Distances within this of each other, relative to themselves, are tied.
TIE = 1e-12


def neighborhood(p, X, k, left_out=None):
    """k-dist(p), and N_k(p) as pairs of a row's number and its distance, ties included.

    ``left_out`` is the number of the row that p is itself, if it is one.
    """
    pairs = [(j, math.dist(p, o)) for j, o in enumerate(X) if j != left_out or len(X) == 1]
    kth = sorted(distance for _, distance in pairs)[min(k, len(pairs)) - 1]
    return kth, [(j, distance) for j, distance in pairs if distance <= kth * (1 + TIE)]


def kth_distances(X, k):
    """k-dist(o) of every row; where it is zero, the smallest that is not stands in."""
    kth = [neighborhood(o, X, k, left_out=j)[0] for j, o in enumerate(X)]
    pairs = [math.dist(a, b) for a in X for b in X]
    smallest = [d for d in kth if d > 0] or [d for d in pairs if d > 0] or [1.0]
    return [d or min(smallest) for d in kth]


def volcano(u):
    """Flat up to one width, then an exponential slope."""
    return 1.0 if u <= 1 else math.exp(1 - u)


def gaussian_profile(u):
    return math.exp(-(u**2) / 2)


def epanechnikov(u):
    """Zero from one width on; a neighbour at one width but for rounding is at one width."""
    return 1 - u**2 if u < 1 - TIE else 0.0


def kernel_density(p, X, k, left_out, kth, kernel, alpha, gamma, scale):
    """kde(p) = mean over N_k(p) of w_o^(-gamma) K(|p - o| / w_o), w_o = C k-dist(o)^alpha."""
    total, count = 0.0, 0
    for o, distance in neighborhood(p, X, k, left_out)[1]:
        width = scale * kth[o] ** alpha
        total += width**-gamma * kernel(distance / width)
        count += 1
    return total / count


def outlier_factors(
    X, k, kernel=volcano, *, alpha=1.0, gamma=2.0, scale=1.0, sigma=1.0, queries=None, places=None
):
    """RKOF(p) = wde(p) / kde(p) of every row, or of other rows.

    With ``places``, each query stands in the place of that row: it does not see it.
    Where a density is zero, as only the Epanechnikov kernel has it, there is no factor but nan.
    """
    X = [tuple(map(float, row)) for row in X]
    kth = kth_distances(X, k)
    settings = (kth, kernel, alpha, gamma, scale)
    density = [kernel_density(o, X, k, j, *settings) for j, o in enumerate(X)]
    if queries is None:
        queries, places = X, range(len(X))
    factors = []
    for i, p in enumerate(queries):
        left_out = None if places is None else places[i]
        near = [o for o, _ in neighborhood(p, X, k, left_out)[1]]
        least = min(kth[o] for o in near)
        weights = [math.exp(-((kth[o] / least - 1) ** 2) / (2 * sigma**2)) for o in near]
        own = kernel_density(p, X, k, left_out, *settings)
        mean = sum(w * density[o] for w, o in zip(weights, near, strict=True)) / sum(weights)
        is_defined = own > 0 and all(density[o] > 0 for o in near)
        factors.append(mean / own if is_defined else math.nan)
    return np.array(factors)


def local_density_factors(X, k, h=1.0, c=0.1, queries=None):
    """LDF(p) = m / (lde(p) + c m), m the mean of lde over N_k(p)."""
    X = [tuple(map(float, row)) for row in X]
    kth, d = kth_distances(X, k), len(X[0])

    def estimate(p, left_out):
        total, near = 0.0, neighborhood(p, X, k, left_out)[1]
        for o, distance in near:
            width, reach = h * kth[o], max(distance, kth[o])
            height = (2 * math.pi) ** (-d / 2) * width**-d
            total += height * math.exp(-(reach**2) / (2 * width**2))
        return total / len(near)

    density = [estimate(o, j) for j, o in enumerate(X)]
    factors = []
    for p, left_out in (
        [(o, j) for j, o in enumerate(X)] if queries is None else [(q, None) for q in queries]
    ):
        near = [o for o, _ in neighborhood(p, X, k, left_out)[1]]
        mean = sum(density[o] for o in near) / len(near)
        factors.append(mean / (estimate(p, left_out) + c * mean))
    return np.array(factors)


def local_peculiarity_factors(X, k, alpha=0.5, queries=None):
    """Sum over o in N_k(p) and over the columns j of |p_j - o_j|^alpha."""
    X = [tuple(map(float, row)) for row in X]
    rows = [(o, j) for j, o in enumerate(X)] if queries is None else [(q, None) for q in queries]
    factors = []
    for p, left_out in rows:
        total = 0.0
        for o, _ in neighborhood(p, X, k, left_out)[1]:
            for own, other in zip(p, X[o], strict=True):
                total += abs(own - other) ** alpha
        factors.append(total)
    return np.array(factors)
