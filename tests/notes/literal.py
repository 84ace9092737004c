"""Slow, literal versions of decisions over time: every choice tried, one loop per step."""

from itertools import combinations, groupby

import numpy as np


def best_gain(starts, stops, gains):
    """The largest sum over all sets of intervals of which no two overlap."""
    everything = range(len(starts))
    best = 0
    for size in range(len(starts) + 1):
        for chosen in combinations(everything, size):
            pairs = combinations(chosen, 2)
            if all(stops[i] <= starts[j] or stops[j] <= starts[i] for i, j in pairs):
                best = max(best, sum(gains[i] for i in chosen))
    return best


def stretches(values):
    """Maximal runs of equal values: first place, place after the last, value."""
    place = 0
    for value, run in groupby(values):
        length = len(list(run))
        yield place, place + length, value
        place += length


def six_steps(scores, tau, n_short, n_sure):
    """The paper's six steps, one loop each; labels, -1 for none."""
    S = [[score if score >= tau else 0.0 for score in row] for row in scores]  # 1
    remove_short_scores(S, n_short)  # 2
    labels = [-1] * len(S)
    for start, stop, leader in stretches([strict_leader(row) for row in S]):  # 3
        if leader >= 0 and stop - start > n_sure:
            labels[start:stop] = [leader] * (stop - start)
    is_open = [labels[t] == -1 and any(S[t]) for t in range(len(S))]
    for start, stop, undecided in stretches(is_open):
        if undecided:
            means = [np.mean([row[c] for row in S[start:stop]]) for c in range(len(S[0]))]  # 4
            labels[start:stop] = [int(np.argmax(means))] * (stop - start)  # 5
    for start, stop, _ in list(stretches(labels)):  # 6
        if stop - start < n_short:
            labels[start:stop] = [-1] * (stop - start)
    return labels


def remove_short_scores(S, n_short):
    for c in range(len(S[0])):
        for start, stop, is_there in list(stretches([row[c] != 0 for row in S])):
            if is_there and stop - start < n_short:
                for t in range(start, stop):
                    S[t][c] = 0.0


def strict_leader(row):
    """The class whose score is larger than all others and than nothing, or -1."""
    for c, score in enumerate(row):
        if score > 0 and all(score > other for other in row[:c] + row[c + 1 :]):
            return c
    return -1


def best_total(gains, shortest, longest, gap, note_cost):
    """The largest total over all sequences of notes, by trying every last note."""
    n_frames, n_classes = len(gains), len(gains[0])
    best = [0.0]
    for stop in range(1, n_frames + 1):
        totals = [best[stop - 1]]
        for c in range(n_classes):
            for start in range(stop):
                if shortest[c] <= stop - start <= longest[c]:
                    own = sum(gains[t][c] for t in range(start, stop))
                    totals.append(best[max(start - gap, 0)] + own - note_cost)
        best.append(max(totals))
    return best[-1]
