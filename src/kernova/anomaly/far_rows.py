"""Depths of rows beyond a kernel's reach, which the kernel alone cannot order.

Let k_i be the kernel's value at a query x and the i-th of n reference rows, m the mean of the
kernel over all pairs of reference rows, and r_i its mean over the pairs of row i. To first order
in k_i,

    depth(x) = P + Σ_i k_i (1 - r_i) / (4 n √((1 + m) / 2)),     P = 1 - √((1 + m) / 2).

So depth falls to P as x moves away, and of two far rows the nearer one is deeper. But k falls so
fast that all far rows have the depth P in floating-point numbers. Here the order that arithmetic
loses is restored: a row whose kernel values are all at most κ = 1e-9, because it is r > r₀ away
from every other reference row, gets

    P' - κ L / (1 + L),        L = log(r / r₀),

which falls strictly with r and stays above P' - κ. P' is P without one reference row that is as
far from all others, so a reference row, which is scored among the others, and a new row have one
scale. Since m >= 1/n, P' <= P, by at most m / n + 1 / n².

No other order changes. Kernel values of at most κ < 1/4 change each term of Q by factors between
1 - 2κ and 1 / (1 - κ), so that |depth(x) - P| <= 2κ, and the result differs from the depth by at
most P - P' + 3κ: two rows keep their order if their depths differ by more than that, and any two
rows within the kernel's reach keep it in any case.
"""

from typing import NamedTuple

import numpy as np

from kernova.kernels.functions import Stationary
from kernova.neighbors.index import NeighborIndex, build_index
from kernova.parallel import row_blocks
from kernova.typing import Matrix, Vector

# κ: smaller kernel values are negligible. Depths are accurate to 1e-13 or so, far below it.
NEGLIGIBLE = 1e-9


class Plateau(NamedTuple):
    """The depth of rows that a kernel does not reach, and where they begin."""

    level: float  # P'
    horizon: float  # r₀


def plateau_of(kernel: Stationary, mean_similarity: float, n_rows: int) -> Plateau:
    """Return the plateau of a reference set from the mean of the kernel over all its pairs.

    Examples
    --------
    >>> from kernova.kernels import Gaussian
    >>> plateau = plateau_of(Gaussian(2.0), mean_similarity=0.1, n_rows=10)  # ten distant rows
    >>> [round(number, 4) for number in plateau]
    [0.2546, 9.1046]
    """
    others = 1.0
    if n_rows > 1:  # m without a row that is similar to itself alone
        others = min((mean_similarity * n_rows**2 - 1) / (n_rows - 1) ** 2, 1.0)
    with np.errstate(over="ignore"):
        horizon = float(np.float64(kernel.reach(NEGLIGIBLE)) * kernel.bandwidth)
    return Plateau(1.0 - float(np.sqrt((1.0 + others) / 2)), horizon)


def mean_similarity(reference: Matrix, kernel: Stationary) -> float:
    """Return the mean of the kernel over all pairs of reference rows, each with itself included."""
    total = 0.0
    for block in row_blocks(len(reference), len(reference)):
        total += float(kernel.squared_distance(reference[block], reference).sum())
    return 1.0 - 0.5 * total / len(reference) ** 2


def with_far_rows_ordered(
    depths: Vector, queries: Matrix, reference: Matrix, plateau: Plateau
) -> Vector:
    """Replace the depths of rows beyond the horizon by those that fall with the distance."""
    index = build_index(reference)
    with np.errstate(over="ignore"):  # an infinite horizon: no row is beyond it
        horizon = np.ldexp(plateau.horizon, -index.exponent)
    is_far = (nearest := _distances_to_others(index, index.in_units(queries))) > horizon
    logs = np.log(nearest[is_far] / horizon)
    extended = depths.copy()
    extended[is_far] = plateau.level - NEGLIGIBLE * (logs / (1.0 + logs))
    return extended


def _distances_to_others(index: NeighborIndex, queries: Matrix) -> Vector:
    """Return the distance to the nearest reference row, in the index's unit.

    One occurrence of the query itself is left out, as from its depth; zero if there is no other.
    """
    found = index.nearest(queries, 2)
    nearest, rows = found.distances[:, 0], found.indices[:, 0]
    is_itself = (nearest == 0) & (index.counts[rows] == 1)
    if found.distances.shape[1] == 1:
        return nearest
    return np.where(is_itself, found.distances[:, 1], nearest)
