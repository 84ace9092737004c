"""One scale for all members: how rarely an ordinary row looks so novel, in bits.

A novelty becomes -log2 of the fraction p of ordinary rows that look at least as novel; 5 bits is
one row in 32. The fractions of several members are combined by the mean of their logarithms, as in
Fisher's method: a row that one member finds very strange stands out, and so does a row that all
find somewhat strange. Beyond the most novel ordinary row nothing is known about p but that it
falls, so it is continued by a Pareto tail, whose logarithm grows slowly: no member outvotes all
others.
"""

from typing import NamedTuple

import numpy as np

from kernova.typing import Indices, Vector

# The tail is as wide as the mean excess of the highest tenth.
_TAIL = 0.9
# Copies of a row, or two rows at one distance from each other, may differ by rounding, which
# depends on the processor: novelties this near to each other, relative to themselves, are tied.
_TIE = 1e-12


class Surprise(NamedTuple):
    """The scale of one novelty: bits at distinct values of it, and the width of its tail."""

    values: Vector  # increasing
    bits: Vector
    tail: float

    def of(self, novelty: Vector) -> Vector:
        """Return the surprise of each novelty in bits, 0 or more."""
        bits = np.interp(novelty, self.values, self.bits)
        excess = np.maximum(novelty - self.values[-1], 0) / self.tail
        return bits + np.log2(1 + excess)


def learn_surprise(novelty: Vector) -> Surprise:
    """Learn the scale from the novelties of ordinary rows.

    Of n rows, the i-th largest novelty stands for p = (i - 1/2) / n; ties share the mean rank.

    Examples
    --------
    >>> import numpy as np
    >>> scale = learn_surprise(np.arange(100.0))
    >>> scale.of(np.array([-1.0, 49.5, 99.0, 1e6])).round(1)
    array([ 0. ,  1. ,  7.6, 25.4])
    """
    values, counts = _distinct(novelty)
    n_above = len(novelty) - np.cumsum(counts)
    bits = -np.log2((n_above + counts / 2) / len(novelty))
    high = values[values > np.quantile(novelty, _TAIL)]
    tail = float(np.mean(high - high[0])) if len(high) > 1 else 0.0
    if not tail > 0:
        tail = float(np.ptp(values)) or max(abs(float(values[-1])), 1.0)
    return Surprise(values, bits, tail)


class _Distinct(NamedTuple):
    values: Vector
    counts: Indices


def _distinct(novelty: Vector) -> _Distinct:
    """Return the lowest of each group of tied novelties, and how many there are of each."""
    ordered = np.sort(novelty)
    is_first = np.append(True, np.diff(ordered) > _TIE * np.abs(ordered[1:]))
    starts = np.flatnonzero(is_first)
    return _Distinct(ordered[starts], np.diff(np.append(starts, len(ordered))))
