"""Literal method of explain: one order after the other, one row scored at a time."""

from functools import cache
from itertools import permutations

import numpy as np
import pandas as pd


def shapley_values(worth, n_players):
    """Average what each player adds over all orders; ``worth`` takes a set of players."""
    values = np.zeros(n_players)
    orders = list(permutations(range(n_players)))
    for order in orders:
        joined = frozenset()
        for player in order:
            values[player] += worth(joined | {player}) - worth(joined)
            joined |= {player}
    return values / len(orders)


def tempered(novelty, ordinary_novelty):
    """Count in interquartile ranges above the median, beyond ten or so by the logarithm."""
    first, median, third = np.quantile(ordinary_novelty, [0.25, 0.5, 0.75])
    return 10 * np.arcsinh((novelty - median) / (third - first) / 10)


def contributions(novelty, row, ordinary_rows, ordinary_novelty):
    """Return each feature's contribution; ``novelty`` takes one row, a list of values."""
    d = len(row)

    def against(other):
        @cache  # the same row again scores the same
        def worth(joined):
            hypothetical = [row[j] if j in joined else other[j] for j in range(d)]
            return tempered(novelty(hypothetical), ordinary_novelty)

        return shapley_values(worth, d)

    return np.mean([against(other) for other in ordinary_rows], axis=0)


def shares(contributed):
    """Divide by what speaks against the row."""
    return contributed / sum(part for part in contributed if part > 0)


def rows_as_lists(X):
    """Return the values of a table, row by row."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    return [list(row) for row in frame.itertuples(index=False)]
