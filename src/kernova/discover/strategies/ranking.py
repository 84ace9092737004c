"""Ranking of rows: the best of many, and the best where scores are costly but bounded."""

from collections.abc import Callable
from typing import Final

import numpy as np

from kernova.typing import Indices, Vector

# Scores are computed for so many rows at first, then for four times as many, and so on to the most.
_FIRST_SCORED: Final = 256
_GROWTH: Final = 4
MOST_SCORED: Final = _FIRST_SCORED * _GROWTH**4


def best_rows(scores: Vector, rows: Indices, n: int) -> Indices:
    """Return the ``n`` rows with the highest scores, the best first; ties go to the first.

    Examples
    --------
    >>> import numpy as np
    >>> best_rows(np.array([0.5, 2.0, 2.0]), np.array([4, 7, 9]), 2).tolist()
    [7, 9]
    """
    n = min(n, len(rows))
    lowest = np.partition(scores, len(scores) - n)[len(scores) - n]
    positions = np.flatnonzero(scores >= lowest)
    return rows[positions[np.argsort(-scores[positions], kind="stable")[:n]]]


def best_by_bound(
    bounds: Vector, rows: Indices, score: Callable[[Indices], Vector], n: int
) -> Indices:
    """Return the ``n`` rows with the highest scores, where few scores need be computed.

    At most 65,536 scores are: of more rows, those with the highest bounds are ranked.

    Parameters
    ----------
    bounds : array of float
        A number that the score of each row does not exceed.
    rows : array of int
        The rows, in ascending order.
    score : callable
        Returns the scores of some of the rows, given positions among them in ascending order.
    n : int
        Number of rows wanted.

    Returns
    -------
    array of int
        The rows, the best first; ties go to the first.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([1.0, 5.0, 3.0])
    >>> best_by_bound(scores + 1, np.arange(3), lambda some: scores[some], 2).tolist()
    [1, 2]
    """
    n = min(n, len(rows))
    n_scored = max(n, _FIRST_SCORED)
    candidates = _highest(bounds, min(MOST_SCORED, len(rows)))
    while n_scored < len(candidates):
        places = candidates[_highest(bounds[candidates], n_scored)]
        scores = score(places)
        # Rows that tie with others are wanted in their own order, hence >.
        if np.partition(scores, n_scored - n)[n_scored - n] > bounds[places].min():
            return best_rows(scores, rows[places], n)
        n_scored *= _GROWTH
    return best_rows(score(candidates), rows[candidates], n)


def _highest(bounds: Vector, n: int) -> Indices:
    """Return the places of the ``n`` highest bounds, in ascending order; ties go to the first."""
    if n >= len(bounds):
        return np.arange(len(bounds))
    lowest = np.partition(bounds, len(bounds) - n)[len(bounds) - n]
    above = np.flatnonzero(bounds > lowest)
    tied = np.flatnonzero(bounds == lowest)[: n - len(above)]
    return np.sort(np.concatenate([above, tied]))
