"""One scale for all members: how rarely an ordinary row looks so novel, in bits.

A novelty becomes -log2 of the fraction p of ordinary rows that look at least as novel; 5 bits is
one row in 32. The fractions of several members are combined by the mean of their logarithms, as in
Fisher's method: a row that one member finds very strange stands out, and so does a row that all
find somewhat strange. Beyond the most novel ordinary row nothing is known about p but that it
falls, so it is continued by a Pareto tail, whose logarithm grows slowly: no member outvotes all
others.

Where the rows that the scale is learnt from may be outliers themselves, their ranks do not show how
far out they are: the highest of ten gross errors and of ten ordinary rows have the same p. There
the highest tenth gets an exponential tail instead, one bit for each median excess, and a Pareto
tail beyond p = 1/1024.
"""

from typing import NamedTuple

import numpy as np

from kernova.typing import Indices, Vector

# The tail is as wide as the mean excess of the highest tenth.
_TAIL = 0.9
# An exponential tail goes so far, where outliers are possible.
_STEADY_BITS = 10.0
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


def learn_surprise(novelty: Vector, *, has_outliers: bool = False) -> Surprise:
    """Learn the scale from the novelties of ordinary rows, or of rows that may be outliers.

    Of n rows, the i-th largest novelty stands for p = (i - 1/2) / n; ties share the mean rank.

    Examples
    --------
    >>> import numpy as np
    >>> scale = learn_surprise(np.arange(100.0))
    >>> scale.of(np.array([-1.0, 49.5, 99.0, 1e6])).round(1)
    array([ 0. ,  1. ,  7.6, 25.4])
    >>> errors = np.append(np.arange(90.0), [1000.0, 2000.0])
    >>> scale = learn_surprise(errors, has_outliers=True)
    >>> scale.of(np.array([45.5, 89.0, 1000.0, 2000.0])).round(1)
    array([ 1. ,  4.9, 32.7, 37.6])
    """
    values, counts = _distinct(novelty)
    n_above = len(novelty) - np.cumsum(counts)
    bits = -np.log2((n_above + counts / 2) / len(novelty))
    high = values[values > np.quantile(novelty, _TAIL)]
    tail = float(np.mean(high - high[0])) if len(high) > 1 else 0.0
    if has_outliers:
        bits = _with_tail(novelty, values, bits)
    if not tail > 0:
        tail = float(np.ptp(values)) or max(abs(float(values[-1])), 1.0)
    return Surprise(values, bits, tail)


def _with_tail(novelty: Vector, values: Vector, bits: Vector) -> Vector:
    """Replace the bits of the highest tenth by those of a tail with its median excess."""
    start = float(np.quantile(novelty, _TAIL))
    excess = novelty[novelty > start] - start
    width = float(np.median(excess)) if len(excess) else 0.0
    if not width > 0:
        return bits
    first, steady = -np.log2(1 - _TAIL), _STEADY_BITS + np.log2(1 - _TAIL)
    n_widths = np.maximum(values - start, 0) / width
    slowed = steady * (1 + np.log(np.maximum(n_widths, steady) / steady))
    tail = first + np.where(n_widths > steady, slowed, n_widths)
    return np.where(values > start, tail, np.minimum(bits, first))


class _Distinct(NamedTuple):
    values: Vector
    counts: Indices


def _distinct(novelty: Vector) -> _Distinct:
    """Return the lowest of each group of tied novelties, and how many there are of each."""
    ordered = np.sort(novelty)
    is_first = np.append(True, np.diff(ordered) > _TIE * np.abs(ordered[1:]))
    starts = np.flatnonzero(is_first)
    return _Distinct(ordered[starts], np.diff(np.append(starts, len(ordered))))
