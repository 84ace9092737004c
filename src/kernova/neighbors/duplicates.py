"""Duplicate rows: each distinct row once, with its number of occurrences."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.typing import Matrix

# Odd constants with bits all over, for mixing the columns of a row into one number.
_MIXERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


class DistinctRows(NamedTuple):
    """Distinct rows in the order of first appearance; ``rows[inverse]`` is the whole table."""

    rows: Matrix
    counts: NDArray[np.int64]
    inverse: NDArray[np.intp]


def distinct_rows(X: Matrix) -> DistinctRows:
    """Find duplicate rows by sorting one hash per row instead of whole rows.

    Examples
    --------
    >>> import numpy as np
    >>> distinct_rows(np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 1.0]])).counts
    array([2, 1])
    """
    X = np.ascontiguousarray(X) + 0.0  # which turns -0.0 into 0.0: equal rows have equal bits
    hashes = _hashes(X)
    order = np.argsort(hashes, kind="stable")
    is_first = np.ones(len(X), dtype=bool)
    is_first[1:] = np.diff(hashes[order]) != 0
    if is_first.all():
        return DistinctRows(X, np.ones(len(X), dtype=np.int64), np.arange(len(X)))
    group = np.cumsum(is_first) - 1
    firsts = order[is_first]  # stable sorting puts the earliest duplicate first
    if not np.array_equal(X[order], X[firsts][group]):
        return _distinct_by_sorting(X)  # two different rows with one hash
    return _in_order_of_appearance(X, firsts, order, group)


def _in_order_of_appearance(
    X: Matrix, firsts: NDArray[np.intp], order: NDArray[np.intp], group: NDArray[np.intp]
) -> DistinctRows:
    position = np.empty(len(firsts), dtype=np.intp)
    position[np.argsort(firsts)] = np.arange(len(firsts))
    inverse = np.empty(len(X), dtype=np.intp)
    inverse[order] = position[group]
    return DistinctRows(X[np.sort(firsts)], np.bincount(inverse), inverse)


def _hashes(X: Matrix) -> NDArray[np.uint64]:
    bits = X.view(np.uint64)
    hashes = np.zeros(len(X), dtype=np.uint64)
    for column in bits.T:
        hashes = (hashes ^ column) * _MIXERS[0]
        hashes = (hashes ^ (hashes >> np.uint64(32))) * _MIXERS[1]
    return hashes


def _distinct_by_sorting(X: Matrix) -> DistinctRows:
    _, firsts, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.ravel()  # one release of NumPy gave it a second axis
    order = np.argsort(inverse, kind="stable")
    return _in_order_of_appearance(X, firsts, order, inverse[order])
