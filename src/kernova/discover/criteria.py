"""How much a cluster stands out: outlierness, compactness and isolation.

With e(x, p) = exp(-|x - p|^2 / (2 h_l^2)) and p_C the centre of cluster C at level l:

- isolation:   sum over C of e(x, p_C), as a share of the sum over all rows,
- compactness: the same, as a share of what all centres of the level get from the rows of C,
- outlierness: how long the cluster lives, in log bandwidth, per row.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.discover.mean_shift import Reference

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


class Criteria(NamedTuple):
    """Compactness and isolation of clusters, and the level at which each was measured."""

    compactness: Vector
    isolation: Vector
    level: Indices

    @property
    def total(self) -> Vector:
        """Compactness plus isolation."""
        return self.compactness + self.isolation

    def of(self, which: "Indices | slice") -> "Criteria":
        """Return some of the clusters."""
        return Criteria(self.compactness[which], self.isolation[which], self.level[which])


def outlierness(lifetime: Indices, size: Indices, growth: float) -> Vector:
    """Return (merge level - birth level) log k / size, from integers so that ties are exact.

    Examples
    --------
    >>> import numpy as np
    >>> outlierness(np.array([7, 14]), np.array([1, 2]), growth=1.1)
    array([0.66717126, 0.66717126])
    """
    shared = np.gcd(lifetime, size)
    shared[shared == 0] = 1
    return (lifetime // shared) * math.log(growth) / (size // shared)


def level_zero_criteria(
    reference: Reference, rows: Matrix, nearest_row: Vector, bandwidth: float
) -> Criteria:
    """Measure the single rows, where every row is a centre: copies share the mass."""
    everyone = reference.kernel_sums(
        rows, np.arange(len(rows)), bandwidth, nearest_row=nearest_row
    ).everyone
    # At level 0 both sums run over all rows around one of them.
    return Criteria(1 / everyone, 1 / everyone, np.zeros(len(rows), dtype=np.intp))


def merged_criteria(
    reference: Reference,
    centers: Matrix,
    owner: Indices,
    counts: Vector,
    bandwidth: float,
    level: int,
    nearest_row: Vector,
    n_jobs: int | None = None,
) -> Criteria:
    """Measure all clusters of a level; ``owner`` gives the centre of each distinct row."""
    sums = reference.kernel_sums(centers, owner, bandwidth, nearest_row=nearest_row, n_jobs=n_jobs)
    if len(centers) == 1:  # the root: both shares are of itself, whatever order sums are taken in
        claimed = sums.own
        return Criteria(_share(claimed, claimed), _share(claimed, claimed), np.full(1, level))
    claimed = np.zeros(len(centers))
    np.add.at(claimed, owner, counts * sums.by_row)
    return Criteria(
        _share(sums.own, claimed),
        _share(sums.own, sums.everyone),
        np.full(len(centers), level, dtype=np.intp),
    )


def best_of(before: Criteria, now: Criteria) -> Criteria:
    """Keep, for each cluster, the better of two measurements; of equal ones the later."""
    is_better = now.total >= before.total
    return Criteria(*(np.where(is_better, b, a) for a, b in zip(before, now, strict=True)))


def _share(part: Vector, whole: Vector) -> Vector:
    """Return part / whole, and 0 for 0 / 0: a centre so far from its rows that none counts.

    Two sums of the same terms differ in their last digits, and how depends on the processor; but
    no part is more than the whole, and clusters that nothing touches shall tie on every machine.
    """
    share = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return np.minimum(share, 1.0)
