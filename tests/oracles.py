"""Slow, literal versions of the formulas: one loop per sum sign, nothing clever.

The fast code must agree with these to 1e-9 or better.
"""

import math
from itertools import pairwise

import numpy as np
from scipy.special import gamma, kv, ndtri


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


def kernel_spatial_depth_by_distance(x, X, kernel, horizon):
    """The same, but beyond the horizon P' - 1e-9 L / (1 + L), with L = log(r / horizon).

    r is the distance to the nearest row, one row equal to x left out; P' is the depth of a row
    among n - 1 others whose kernel values with each other add up to 1'K1 - 1.
    """
    n = len(X)
    distances = sorted(np.linalg.norm(x - row) for row in X)
    others = distances[1:] if distances[0] == 0 else distances
    if not others or others[0] <= horizon:
        return kernel_spatial_depth(x, X, kernel)
    total = sum(kernel(a, b) for a in X for b in X)
    similarity = 1.0 if n == 1 else min((total - 1) / (n - 1) ** 2, 1.0)
    logarithm = np.log(others[0] / horizon)
    return 1 - np.sqrt((1 + similarity) / 2) - 1e-9 * logarithm / (1 + logarithm)


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


# The hierarchy of mean-shift clusters, one centre, one row and one node at a time.


def mean_shift_climb(y, Z, weights, h, tol):
    """Where one point ends when it climbs, and how long its path was."""
    path = 0.0
    for _ in range(1000):
        squared = ((Z - y) ** 2).sum(axis=1)
        w = weights * np.exp(-(squared - squared.min()) / (2 * h * h))
        step = w @ Z / w.sum() - y
        y = y + step
        path += np.sqrt(step @ step)
        if np.sqrt(step @ step) <= tol * h:
            break
    return y, path


def connected(points, radius):
    """Lists of points linked by hops of at most the radius, each sorted, by smallest member."""
    groups = []
    left = set(range(len(points)))
    while left:
        group, fresh = set(), {min(left)}
        while fresh:
            group |= fresh
            fresh = {
                j
                for j in left - group
                if any(np.sqrt(((points[i] - points[j]) ** 2).sum()) <= radius for i in fresh)
            }
        left -= group
        groups.append(sorted(group))
    return groups


def smallest_distance(Z):
    """h_min: the smallest distance between two rows that is more than rounding."""
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    real = distances[distances > 1e-9 * np.ptp(Z, axis=0).max()]
    return real.min() if len(real) else 1.0


def compactness_and_isolation(Z, members, centers, j, h):
    """Both criteria of the cluster with these members and the j-th centre."""
    e = np.exp(-((Z[:, None] - centers[None]) ** 2).sum(axis=2) / (2 * h * h))
    own = e[members, j].sum()
    claimed, everyone = e[members].sum(), e[:, j].sum()
    return (own / claimed if claimed else 0.0), (own / everyone if everyone else 0.0)


def mean_shift_hierarchy(Z, growth=1.1, reference="data", tol=1e-4, merge=1e-2):
    """All nodes of the hierarchy as dictionaries, and the labels of the rows at each level."""
    n = len(Z)
    h = smallest_distance(Z) / growth
    nodes = [
        {"members": [i], "born": 0, "last": 0, "representative": i, "parent": -1} for i in range(n)
    ]
    centers, alive, path = [z for z in Z], list(range(n)), np.zeros(n)
    bandwidths, labels = [h], [list(range(n))]
    _judge(Z, nodes, alive, centers, h, level=0)
    for level in range(1, 10_000):
        if len(centers) == 1:
            break
        h *= growth
        rows, weights = _reference_rows(Z, nodes, alive, centers, reference)
        climbs = [mean_shift_climb(y, rows, weights, h, tol) for y in centers]
        for node, (_, length) in zip(alive, climbs, strict=True):
            path[nodes[node]["members"]] += length
        ends = np.array([end for end, _ in climbs])
        alive, centers = _merge(nodes, alive, centers, ends, merge * h, path, level)
        bandwidths.append(h)
        _judge(Z, nodes, alive, centers, h, level)
        owner = {row: nodes[a]["members"][0] for a in alive for row in nodes[a]["members"]}
        labels.append([owner[row] for row in range(n)])
    return {"nodes": nodes, "bandwidths": bandwidths, "labels": np.array(labels), "path": path}


def _reference_rows(Z, nodes, alive, centers, reference):
    if reference == "data":
        return Z, np.ones(len(Z))
    sizes = np.array([len(nodes[a]["members"]) for a in alive], dtype=float)
    return np.array(centers), sizes if reference == "weighted" else np.ones(len(alive))


def _merge(nodes, alive, centers, ends, radius, path, level):
    groups = connected(ends, radius)
    new_centers = [ends[group].mean(axis=0) for group in groups]
    members = [sorted(r for c in group for r in nodes[alive[c]]["members"]) for group in groups]
    survivors = []
    for group, rows in sorted(zip(groups, members, strict=True), key=lambda pair: pair[1][0]):
        if len(group) == 1:
            continue
        shortest = path[rows].min()
        shown = next(r for r in rows if path[r] <= shortest * (1 + 1e-9))
        for c in group:
            nodes[alive[c]]["parent"] = len(nodes)
        nodes.append({"members": rows, "born": level, "representative": shown, "parent": -1})
    for group, rows in zip(groups, members, strict=True):
        born_now = next((k for k, node in enumerate(nodes) if node["members"] == rows
                         and (len(group) == 1 or node["born"] == level)
                         and node["parent"] == -1), None)  # fmt: skip
        survivors.append(born_now)
        nodes[born_now]["last"] = level
    return survivors, new_centers


def _judge(Z, nodes, alive, centers, h, level):
    """Keep the largest compactness + isolation of each living node; of equal ones the later."""
    for j, node in enumerate(alive):
        nodes[node]["mode"] = centers[j]
        both = compactness_and_isolation(Z, nodes[node]["members"], np.array(centers), j, h)
        if sum(both) >= nodes[node].get("ci", -1.0):
            nodes[node].update(ci=sum(both), compactness=both[0], isolation=both[1])


# Descriptions of classes.


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


def surprise_bits(value, reference, has_outliers=False):
    """-log2 of the fraction of reference values that are as high; ties (to 1e-12) count half.

    Linear between two reference values; beyond the highest one a Pareto tail, as wide as the mean
    excess of the distinct values above the 0.9 quantile. With outliers, that quantile q has
    log2(10) bits, and each median excess above it adds one up to 10 bits, fewer beyond.
    """
    ordered = sorted(reference)
    groups = [[ordered[0]]]
    for low, high in pairwise(ordered):
        if high - low > 1e-12 * abs(high):
            groups.append([])
        groups[-1].append(high)
    distinct = [group[0] for group in groups]

    def bits(known):
        above = sum(len(group) for group in groups if group[0] > known)
        equal = len(groups[distinct.index(known)])
        by_rank = -math.log2((above + equal / 2) / len(reference))
        return _bits_in_the_tail(known, reference, by_rank) if has_outliers else by_rank

    if value <= distinct[0]:
        return bits(distinct[0])
    for low, high in pairwise(distinct):
        if low <= value <= high:
            return bits(low) + (bits(high) - bits(low)) * (value - low) / (high - low)
    highest = [known for known in distinct if known > np.quantile(reference, 0.9)]
    tail = sum(known - highest[0] for known in highest) / len(highest) if highest else 0
    tail = tail or (distinct[-1] - distinct[0]) or max(abs(distinct[-1]), 1)
    return bits(distinct[-1]) + math.log2(1 + (value - distinct[-1]) / tail)


def _bits_in_the_tail(known, reference, by_rank):
    q = np.quantile(reference, 0.9)
    excess = [x - q for x in reference if x > q]
    if not excess:
        return by_rank
    if known <= q:
        return min(by_rank, math.log2(10))
    widths, steady = (known - q) / np.median(excess), 10 - math.log2(10)
    if widths > steady:
        widths = steady + steady * math.log(widths / steady)
    return math.log2(10) + widths


def kth_distance(x, X, k, own=None):
    """Distance to the k-th nearest row; a row of X is compared with the others."""
    distances = sorted(math.dist(x, row) for i, row in enumerate(X) if i != own)
    return distances[k - 1]


def gaussian_rank(x, column):
    """The Gaussian quantile of the mid-rank of a value, for columns of standard deviation 1."""

    def quantile(value):
        below = sum(other < value for other in column)
        equal = sum(other == value for other in column)
        return ndtri((below + equal / 2 + 0.5) / (len(column) + 1))

    return quantile(x) / np.std([quantile(value) for value in column])


def shrunken_covariance(X):
    """(1 - a) S + a m 1, with Ledoit and Wolf's a = min(b², d²) / d², and a."""
    n, p = X.shape
    centered = X - X.mean(axis=0)
    S = sum(np.outer(row, row) for row in centered) / n
    m = np.trace(S) / p
    d2 = np.sum((S - m * np.eye(p)) ** 2)
    b2 = sum(np.sum((np.outer(row, row) - S) ** 2) for row in centered) / n**2
    a = min(b2, d2) / d2
    return (1 - a) * S + a * m * np.eye(p), a


def central_half(X):
    """The half of the rows nearest to its own mean by its own covariance, found step by step."""
    n_half = max(len(X) // 2, min(len(X), X.shape[1] + 1))
    distances = [math.dist(x, np.median(X, axis=0)) for x in X]
    for _ in range(10):
        half = X[sorted(np.argsort(distances, kind="stable")[:n_half])]
        covariance = shrunken_covariance(half)[0]
        distances = [squared_mahalanobis(x, half, covariance) for x in X]
    return half


def squared_mahalanobis(x, X, covariance):
    """(x - mean)' C⁻¹ (x - mean)."""
    difference = x - X.mean(axis=0)
    return difference @ np.linalg.inv(covariance) @ difference


def left_out_squared_mahalanobis(i, X):
    """The distance of row i from the mean of all others, under their covariance matrix."""
    others = np.delete(X, i, axis=0)
    centered = others - others.mean(axis=0)
    return squared_mahalanobis(X[i], others, centered.T @ centered / len(others))


def smallest_tail(row, numbers, own):
    """-log of twice the smallest fraction of rows beyond a value on either side, of any column."""
    least = 0.5
    for value, column in zip(row, np.delete(numbers, own, axis=0).T, strict=True):
        up, down = sum(column <= value), sum(column >= value)
        least = min(least, (min(up, down) + 1) / (len(column) + 1))
    return -math.log(2 * least)


def summed_rarity(row, numbers, own):
    """The sum over columns of -log of the fraction of rows in the bin of a value.

    Values are bins if there are ten or fewer; otherwise the range has ten equal ones. Half a row is
    added to each bin.
    """
    total = 0.0
    for value, column in zip(row, numbers.T, strict=True):
        distinct = sorted(set(column.tolist()))
        others = np.delete(column, own)
        if len(distinct) <= 10:
            n_bins, equal = len(distinct), sum(others == value)
        else:
            n_bins, low, width = 10, distinct[0], (distinct[-1] - distinct[0]) / 10
            place = min(math.floor((value - low) / width), 9) if value <= distinct[-1] else -1
            places = [min(math.floor((other - low) / width), 9) for other in others]
            equal = sum(other == place for other in places if place >= 0)
        total -= math.log((equal + 0.5) / (len(others) + 0.5 * n_bins))
    return total


def summed_level_rarity(row, categories, own):
    """The same for categories, whose bins are the levels."""
    total = 0.0
    for j, value in enumerate(row):
        levels = {other[j] for other in categories}
        others = [other[j] for i, other in enumerate(categories) if i not in own]
        total -= math.log((others.count(value) + 0.5) / (len(others) + 0.5 * len(levels)))
    return total


def weighted_indicators(row, categories):
    """One indicator for each level of 5 % of the rows, one for all others; the variance is 1."""
    indicators = []
    for j, value in enumerate(row):
        column = [other[j] for other in categories]
        fractions = {level: column.count(level) / len(column) for level in sorted(set(column))}
        frequent = [level for level, fraction in fractions.items() if fraction >= 0.05]
        set_ones = [value == level for level in frequent] + [value not in frequent]
        variance = 1 - sum(fraction**2 for fraction in fractions.values())
        indicators += [one / math.sqrt(variance) for one in set_ones]
    return indicators


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
