"""MALICE, GRADE, GRADE-LI and SEDER, literally: He, "Rare Category Analysis", 2010."""

import numpy as np


def distance(x, y):
    return np.sqrt(((x - y) ** 2).sum())


def rare_classes(labels):
    """Rare classes from the largest to the smallest, their sizes, and the most frequent one."""
    names, sizes = np.unique(labels, return_counts=True)
    order = sorted(range(len(names)), key=lambda k: (-sizes[k], names[k]))
    return [(names[k], int(sizes[k])) for k in order[1:]], names[order[0]]


def malice(Z, labels, first_reach=2):
    """Rows asked until every rare class is met or no row is left, and the score of each."""
    n, (rare, common) = len(Z), rare_classes(labels)
    D = np.array([[distance(x, y) for y in Z] for x in Z])
    r = {c: min(sorted(D[i])[min(K, n - 1)] for i in range(n)) for c, K in rare}
    r[common] = max(r.values())
    counts = {c: [sum(D[i, k] <= r[c] for k in range(n)) for i in range(n)] for c, _ in rare}

    def score(c, t, i):
        return max(counts[c][i] - counts[c][k] for k in range(n) if D[i, k] <= t * r[c])

    def is_out(i, asked):
        return any(D[i, j] <= r[labels[j]] for j in asked)

    return _search(rare, common, labels, score, is_out, first_reach)


def _search(rare, common, labels, score, is_out, first_reach):
    asked, scores, met = [], [], set()
    for c, _ in rare:
        t = first_reach
        while c not in met:
            left = [i for i in range(len(labels)) if not is_out(i, asked)]
            if not left:
                return asked, scores
            of_rows = [score(c, t, i) for i in left]
            best = left[int(np.argmax(of_rows))]
            asked.append(best)
            scores.append(max(of_rows))
            label = labels[best]
            if label == common or label in met:
                t += 1
            met.add(label)
    return asked, scores


def grade_similarity(Z, sizes, alpha):
    """The matrix A for the largest of these sizes."""
    n, K = len(Z), max(sizes)
    D = np.array([[distance(x, y) for y in Z] for x in Z])
    sigma = min(sorted(D[i])[min(K, n - 1)] for i in range(n))
    W = np.exp(-(D**2) / (2 * sigma**2)) * (1 - np.eye(n))
    root = np.diag(1 / np.sqrt(W.sum(axis=1)))
    A = np.linalg.inv(np.eye(n) - alpha * root @ W @ root)
    return (A + A.T) / 2  # equal but for rounding


def grade(Z, labels, alpha):
    """Rows asked until every rare class is met or no row is left, and the score of each."""
    n, (rare, common) = len(Z), rare_classes(labels)
    A = grade_similarity(Z, [K for _, K in rare], alpha)
    a = {c: max(sorted(A[i], reverse=True)[K - 1] for i in range(n)) for c, K in rare}
    a[common] = min(a.values())
    counts = {c: [sum(A[k, i] >= a[c] for k in range(n)) for i in range(n)] for c, _ in rare}

    def score(c, t, i):
        near = [k for k in range(n) if A[k, i] >= a[c] / t]
        return max((counts[c][i] - counts[c][k] for k in near), default=0)

    def is_out(k, asked):
        return any(A[j, k] >= a[labels[j]] for j in asked)

    return _search(rare, common, labels, score, is_out, 2)


def grade_li(Z, labels, bound, alpha):
    """Rows asked until every class is met or no row is left."""
    n = len(Z)
    K = round(n * bound)
    A = grade_similarity(Z, [K], alpha)
    a = max(sorted(A[i], reverse=True)[K - 1] for i in range(n))
    counts = [sum(A[k, i] >= a for k in range(n)) for i in range(n)]
    asked, t = [], 2
    while set(labels[asked]) != set(labels):
        left = [k for k in range(n) if not any(A[j, k] >= a for j in asked)]
        if not left:
            return asked
        scores = [max(counts[i] - counts[k] for k in range(n) if A[k, i] >= a / t) for i in left]
        asked.append(left[int(np.argmax(scores))])
        t += 1
    return asked


def seder_contractions(Z, sigma):
    """The factor b of each column."""
    found = []
    for x, s in zip(Z.T, sigma, strict=True):
        smoothed = []
        for x_k in x:
            w = np.exp(-((x_k - x) ** 2) / (2 * s**2))
            smoothed.append((w * x**2).sum() / w.sum())
        A, B, C = np.mean(smoothed), s**2, np.mean(x**2)
        found.append((-B + np.sqrt(B**2 + 4 * A * C)) / (2 * A))
    return np.array(found)


def seder_scores(Z, sigma):
    """The norm of the gradient of the density at every row."""
    n, d = Z.shape
    b = seder_contractions(Z, sigma)
    scores = []
    for x_k in Z:
        D = np.ones(n) / n
        for j in range(d):
            D *= np.exp(-((x_k[j] - b[j] * Z[:, j]) ** 2) / (2 * sigma[j] ** 2 * b[j]))
            D /= np.sqrt(2 * np.pi * b[j]) * sigma[j]
        total = 0.0
        for column in range(d):
            slope = (D * (x_k[column] - b[column] * Z[:, column])).sum()
            total += slope**2 / (sigma[column] ** 2 * b[column]) ** 2
        scores.append(np.sqrt(total))
    return np.array(scores)


def seder(Z, labels, sigma):
    """Rows asked until every class is met or no row is left."""
    scores, asked = seder_scores(Z, sigma), []
    while set(labels[asked]) != set(labels):
        left = [
            k for k in range(len(Z)) if all((np.abs(Z[k] - Z[j]) > 3 * sigma).any() for j in asked)
        ]
        if not left:
            break
        asked.append(max(left, key=lambda k: scores[k]))
    return asked


def unbiased_cross_validation(x, h):
    """Integral of the squared density, less twice the mean density left out, by all pairs."""
    n = len(x)
    squared = (x[:, None] - x) ** 2
    whole = np.exp(-squared / (4 * h**2)).sum() / (n**2 * 2 * h * np.sqrt(np.pi))
    left_out = np.exp(-squared / (2 * h**2)).sum() - n
    return whole - 2 * left_out / (n * (n - 1) * h * np.sqrt(2 * np.pi))
