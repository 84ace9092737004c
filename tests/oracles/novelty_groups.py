"""The novelty-groups strategy, literally: groups, novelty, margins, turns and the next question.

Answers are objects with ``row``, ``label`` (None when skipped) and ``is_asked``, each about another
row; where labels alone matter, they are pairs of a row and a label.
"""

import math
import warnings
from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.linalg import sqrtm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

# --- groups ------------------------------------------------------------------------------------


def core_distances(distances):
    """Distance of each distinct row to its second neighbour, or to the only one."""
    return [line[min(2, len(line)) - 1] if len(line) else 0.0 for line in distances]


def link_lengths(distances, indices):
    """max(d, core_i, core_j) for each pair of which one row is a neighbour of the other."""
    core = core_distances(distances)
    return {
        frozenset((i, int(j))): max(d, core[i], core[j])
        for i, (others, line) in enumerate(zip(indices, distances, strict=True))
        for j, d in zip(others, line, strict=True)
    }


def merged(parts, pairs):
    """Parts of a set, and what is left of them when each of some pairs merges two."""
    for pair in pairs:
        touched = {part for part in parts if part & pair}
        parts = (parts - touched) | {frozenset().union(*touched)}
    return parts


def single_linkage(distances, indices):
    """Each group that links up to some length connect: by that length, and by that it merges at."""
    lengths = link_lengths(distances, indices)
    parts = {frozenset([row]) for row in range(len(distances))}
    born, spans, last = dict.fromkeys(parts, 0.0), {}, 0.0
    for length in sorted(set(lengths.values())):
        after = merged(parts, [pair for pair, one in lengths.items() if one == length])
        for part in parts - after:
            spans[part], last = (born[part], length), length
        born |= dict.fromkeys(after - parts, length)
        parts = after
    # What no links connect merges at the longest length at which anything did.
    return spans | {part: (born[part], last) for part in parts}


def mean_dimension(distances):
    """1 / mean of log(T_k / T_j) over rows and neighbours j < k, from 1 to 100; else 1."""
    logs = [
        math.log(line[-1] / one) for line in distances for one in line[:-1] if 0 < one < line[-1]
    ]
    return min(max(len(logs) / sum(logs), 1.0), 100.0) if logs else 1.0


def group_bits(distances, indices):
    """-log2 (h / H)^(d (s - 1)), H at most 16 h, less log2(n / s): groups of 3 rows to a half."""
    n, d = len(distances), mean_dimension(distances)
    bits = {}
    for group, (h, H) in single_linkage(distances, indices).items():
        if 3 <= len(group) <= n / 2 and h < H:
            doublings = math.log2(min(H / h, 16.0)) if h > 0 else 4.0
            bits[group] = (len(group) - 1) * doublings * d - math.log2(n / len(group))
    return {group: one for group, one in bits.items() if one > 0}


# --- novelty -----------------------------------------------------------------------------------


def row_spacings(X):
    """Geometric mean of the distances to the two nearest other points."""
    spacings = []
    for row in X:
        others = {tuple(other) for other in X} - {tuple(row)}
        nearest = sorted(math.dist(row, other) for other in others)[:2] or [1.0]
        spacings.append(math.sqrt(nearest[0] * nearest[-1]))
    return spacings


def taught_metric(X, said):
    """The root of v S^-1: S the covariance within categories, with ten answers that say v."""
    named = [(row, label) for row, label in said if label is not None]
    n_used = max((n for n in (16, 32, 64) if n <= len(named)), default=0)
    n_columns = X.shape[1]
    scatter, n_free = np.zeros((n_columns, n_columns)), n_used
    for category in {label for _, label in named[:n_used]}:
        rows = X[[row for row, label in named[:n_used] if label == category]]
        scatter += len(rows) * np.cov(rows.T, bias=True).reshape(n_columns, n_columns)
        n_free -= 1
    if np.trace(scatter) == 0:
        return np.eye(n_columns)
    mean = np.trace(scatter) / n_free / n_columns
    covariance = (scatter + 10 * mean * np.eye(n_columns)) / (n_free + 10)
    return sqrtm(mean * np.linalg.inv(covariance))


def nearest_distance(row, others, X, metric):
    """Distance of a row to the nearest of some others."""
    away = [X[row] - X[other] for other in others]
    return min((math.sqrt(one @ metric @ one) for one in away), default=math.inf)


def row_novelty(row, X, said, metric):
    """Least over the categories of the distance over the cube root of their number of rows."""
    novelty = math.inf
    for label in {label for _, label in said}:
        rows = [other for other, one in said if one == label]
        extent = 1.0 if label is None else len(rows) ** (1 / 3)
        novelty = min(novelty, nearest_distance(row, rows, X, metric) / extent)
    return novelty


# --- margins, turns and doubts -----------------------------------------------------------------


def n_fitted(n_labelled):
    """Number of labelled rows fitted to: all up to 40, then after each growth by a twentieth."""
    n = min(n_labelled, 40)
    while n >= 40 and n + n // 20 <= n_labelled:
        n += n // 20
    return n


def fitted_labels(said):
    """Labelled rows fitted to; of over 2,000 the first of each category, then the second, ..."""
    named = [(row, label) for row, label in said if label is not None]
    named = named[: n_fitted(len(named))]
    seen, ranked = Counter(), []
    for place, (_, label) in enumerate(named):
        ranked.append((seen[label], place))
        seen[label] += 1
    return [named[place] for place in sorted(place for _, place in sorted(ranked)[:2000])]


def row_probabilities(Z, said, rows):
    """Probabilities of the categories in alphabetical order; None until two are known."""
    fitted = fitted_labels(said)
    if len({label for _, label in fitted}) < 2 or Z.shape[1] == 0:
        return None
    model = LogisticRegression(C=1, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(Z[[row for row, _ in fitted]], [label for _, label in fitted])
    return model.predict_proba(Z[rows])


def row_margins(Z, said, rows):
    """Difference of the two highest probabilities of each row; 0 until two categories are known."""
    probabilities = row_probabilities(Z, said, rows) if len(rows) else None
    if probabilities is None:
        return [0.0] * len(rows)
    return [float(sorted(one)[-1] - sorted(one)[-2]) for one in probabilities]


def way_in_turn(news):
    """The way that is due, given for each question asked so far whether its category was new."""
    ways = ("novel", "group")
    due, history = dict.fromkeys(ways, 0.0), []
    for step in range(len(news) + 1):
        asked, found = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
        for earlier, (way, is_new) in enumerate(history):
            asked[way] += 0.995 ** (step - earlier)
            found[way] += 0.995 ** (step - earlier) * is_new
        common = (sum(found.values()) + 1) / (sum(asked.values()) + 2)
        rates = {way: (found[way] + 3 * common) / (asked[way] + 3) for way in ways}
        for way in ways:
            due[way] += rates[way] / sum(rates.values())
        taken = max(ways, key=due.get)
        due[taken] -= 1
        if step < len(news):
            history.append((taken, news[step]))
    return taken


def asked_news(answers):
    """For each answer that was asked for, whether no earlier answer had its category."""
    return [
        answer.label is not None and answer.label not in {one.label for one in answers[:place]}
        for place, answer in enumerate(answers)
        if answer.is_asked
    ]


def is_contradicted(answer, asked, Z):
    """Whether a category known from rows asked before is not that of the nearest of them."""
    if answer.label is None or answer.label not in {one.label for one in asked}:
        return False
    nearest = min(asked, key=lambda one: math.dist(Z[one.row], Z[answer.row]))
    return nearest.label != answer.label


def open_groups(groups, inverse, Z, answers, besides=()):
    """Groups without a row that was shown, but for those contradicted, or open elsewhere."""
    closed, asked = set(), []
    for answer in answers:
        if not (answer.is_asked and is_contradicted(answer, asked, Z)):
            closed.add(int(inverse[answer.row]))
        if answer.is_asked:
            asked.append(answer)
    closed |= {int(inverse[row]) for row in besides}
    return [group for group in groups if not group & closed]


# --- the next question -------------------------------------------------------------------------


class Candidate(NamedTuple):
    """A row that may be asked, the logarithm of its score, and its group of distinct rows."""

    row: int
    score: float
    group: frozenset | None = None


def logarithm(number):
    return math.log(number) if number > 0 else -math.inf


def scored_rows(Z, said, way, is_free, besides=()):
    """v r^(1/2) (1.1 - m) of each row, or v r^(-2/3) (1.1 - m) of each row where it is dense."""
    rows = [row for row in range(len(Z)) if is_free[row]]
    spacings, metric = row_spacings(Z), taught_metric(Z, said)
    power = 1 / 2 if way == "novel" else -2 / 3
    scored = []
    for row, margin in zip(rows, row_margins(Z, said, rows), strict=True):
        v = min(row_novelty(row, Z, said, metric), nearest_distance(row, besides, Z, metric))
        scored.append(Candidate(row, logarithm(v * spacings[row] ** power * (1.1 - margin))))
    return scored


def scored_groups(Z, said, bits, opened, core, firsts, is_free):
    """log(1 + b) + log(1.1 - m) of each group, where its densest row that is free is asked."""
    ordered = [sorted(group, key=lambda one: (core[one], one)) for group in opened]
    margins = row_margins(Z, said, [int(firsts[rows[0]]) for rows in ordered])
    scored = []
    for group, rows, margin in zip(opened, ordered, margins, strict=True):
        score = math.log(1 + bits[group]) + math.log(1.1 - margin)
        free = [int(firsts[one]) for one in rows if is_free[firsts[one]]]
        scored += [Candidate(row, score, group) for row in free[:1]]
    return scored


def next_candidates(Z, graph, bits, answers, besides=()):
    """The way in turn, and all that it may ask: the strategy asks the one of the highest score."""
    said = [(one.row, one.label) for one in answers]
    is_free = np.ones(len(Z), dtype=bool)
    is_free[[*[row for row, _ in said], *besides]] = False
    way = way_in_turn(asked_news(answers)) if answers else "novel"
    if way == "group":
        core = core_distances(graph.distances)
        opened = open_groups(list(bits), graph.inverse, Z, answers, besides)
        scored = scored_groups(Z, said, bits, opened, core, graph.firsts, is_free)
        if scored:
            return "group", scored
        way = "dense"
    return way, scored_rows(Z, said, way, is_free, besides)
