"""Number of rows of a batch that would look new by chance, and the threshold it follows from.

Of the rows before a batch some are held out, and the detector is fitted on the others. A row looks
new if fewer than k of the m held-out rows score as low as it does. If the n rows of the batch are
drawn like those before, all orders of the n + m scores are equally likely, so that the number that
look new follows the beta-binomial law with n, k and m + 1 - k, whatever the detector and the
distribution; ties make it smaller. Rows of a new category change nothing about the others.
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from kernova.calibration import CONFIDENCE

# About one row of a batch may look new by chance; of a large batch, this fraction of the rows.
_ROWS_BY_CHANCE: Final = 1.0
_LOWEST_RATE: Final = 0.001
_HIGHEST_RATE: Final = 0.05


class Chance(NamedTuple):
    """The threshold of a batch, and the number of rows beyond it that chance explains."""

    rank: int  # k: a row looks new if fewer held-out rows score as low
    most: int  # with the confidence, no more rows look new by chance
    expected: float  # number of rows that look new by chance, on average
    confidence: float


def chance_of(n_new: int, n_held_out: int, confidence: float = CONFIDENCE) -> Chance:
    """Return the threshold for a batch and the number of rows that would look new by chance.

    Both depend on the numbers of rows alone, and not on the scores.

    Parameters
    ----------
    n_new : int
        Rows of the batch.
    n_held_out : int
        Held-out rows.
    confidence : float
        Probability with which no more than ``most`` of the rows look new, over the draw of the
        held-out rows and of the batch.

    Examples
    --------
    >>> from kernova.workbench.growing.chance import chance_of
    >>> chance_of(12_000, 20_000)
    Chance(rank=20, most=20, expected=12.0, confidence=0.95)
    >>> chance_of(50, 500).rank, chance_of(50, 500).most
    (10, 3)
    """
    rate = min(max(_LOWEST_RATE, _ROWS_BY_CHANCE / n_new), _HIGHEST_RATE)
    rank = max(1, int(rate * (n_held_out + 1) + 1e-9))
    expected = n_new * rank / (n_held_out + 1)
    return Chance(rank, most_by_chance(n_new, n_held_out, rank, confidence), expected, confidence)


def most_by_chance(n_new: int, n_held_out: int, rank: int, confidence: float) -> int:
    """Return the quantile of the number of rows that look new by chance.

    Examples
    --------
    >>> from kernova.workbench.growing.chance import most_by_chance
    >>> most_by_chance(100, 99, 1, 0.95), most_by_chance(100, 99, 1, 0.5)
    (4, 1)
    """
    counts = np.arange(n_new + 1)
    a, b = rank, n_held_out + 1 - rank
    log_choices = gammaln(n_new + 1) - gammaln(counts + 1) - gammaln(n_new - counts + 1)
    below = np.cumsum(np.exp(log_choices + betaln(counts + a, n_new - counts + b) - betaln(a, b)))
    return int(np.searchsorted(below, confidence - 1e-12))
