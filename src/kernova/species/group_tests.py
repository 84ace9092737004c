"""Permutation tests of two groups: whether one sample is a draw from the other's group.

If both are draws from one group, the labels are exchangeable, and the permutation test is exact.
Two distances between mean shapes are taken, since each is blind where the other is not: the
Procrustes distance (its ranks are those of Goodall's F) and a Mahalanobis distance with shrunk
covariance. The smaller of their p-values is itself compared with its permutations.

With covariates such as size or sex, residuals of the model without the groups are rotated at
random (Langsrud 2005): of few rows, permuted residuals (Freedman and Lane 1983) are rejected too
often. What a covariate explains as well as the grouping is then no evidence for the grouping:
where all unknown specimens are smaller than all known ones, little is left.

Specimens of one population are no independent draws of its group; where populations are known,
their means are the rows of all these tests.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.shapes.anova import N_PERMUTATIONS, orthonormal_beyond, permutations
from kernova.species.scatter import Scatter, group_means, scatter_of, whitening
from kernova.typing import Mask, Matrix, Vector

# Statistics that differ only by rounding are equal.
_ROUNDING = 1e-9


class GroupTest(NamedTuple):
    """The test whether two samples are of one group."""

    p_value: float  # of a difference in mean shape as large, if both are of one group
    dispersion_p_value: float  # of a difference in dispersion as large
    distance: float  # Procrustes distance of the mean shapes
    critical_distance: float  # a smaller one is not significant by itself with these numbers
    dispersion_ratio: float  # mean squared distance from the mean, first over second sample


def compare_means(
    rows: Matrix, is_first: Mask, others: Scatter, rng: np.random.Generator, *, level: float = 0.05
) -> GroupTest:
    """Test whether two samples are of one group.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        Both samples.
    is_first : ndarray of bool of shape (n,)
        The rows of the first sample.
    others : Scatter
        Scatter within other groups, for the Mahalanobis distance.
    rng : Generator
        Draws the permutations.
    level : float, default=0.05
        Of the critical distance.
    """
    exchanged = exchanges(is_first, rng)
    contrasts = _contrasts(exchanged)
    distances = np.linalg.norm(contrasts @ rows, axis=1)
    critical = float(np.quantile(distances[1:], 1 - level)) if len(distances) > 1 else math.nan
    ratio, dispersion_p = _dispersion(rows, is_first, exchanged)
    p_value = _mean_p_value(rows, contrasts, others)
    return GroupTest(p_value, dispersion_p, float(distances[0]), critical, ratio)


def adjusted_p_value(
    rows: Matrix, is_first: Mask, covariates: Matrix, others: Scatter, rng: np.random.Generator
) -> float:
    """Return the p-value of a difference in mean shape beyond what covariates explain.

    NaN where the covariates and the grouping are the same thing, or too few rows separate them.
    Residuals have more rotations than few rows have exchanges; these give no smaller p-values.
    """
    constant = np.full((len(rows), 1), len(rows) ** -0.5)
    reduced = np.column_stack([constant, orthonormal_beyond(covariates, constant)])
    grouping = orthonormal_beyond(is_first.astype(np.float64)[:, None], reduced)
    if not grouping.shape[1] or reduced.shape[1] + 1 >= len(rows):
        return math.nan
    residuals = rows - reduced @ (reduced.T @ rows)
    found = _mean_p_value(residuals, _rotations(grouping[:, 0], reduced, rng), others)
    n_first = int(is_first.sum())
    return max(found, smallest_p_value(n_first, len(rows) - n_first))


def _rotations(grouping: Vector, reduced: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the grouping beyond the covariates, and random directions beyond them."""
    drawn = rng.standard_normal((N_PERMUTATIONS, len(grouping)))
    drawn -= (drawn @ reduced) @ reduced.T
    return np.vstack([grouping, drawn / np.linalg.norm(drawn, axis=1, keepdims=True)])


class Units(NamedTuple):
    """Means of whole populations, which are exchanged between two samples."""

    rows: Matrix
    is_first: Mask
    others: Matrix  # further columns, such as covariates


def unit_means(rows: Matrix, is_first: Mask, units: NDArray[np.str_], others: Matrix) -> Units:
    """Return the mean of each population, which lies in one of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> found = unit_means(np.arange(4.0)[:, None], np.array([True, True, False, False]),
    ...                    np.array(["p", "p", "q", "r"]), np.empty((4, 0)))
    >>> found.rows.ravel().tolist(), found.is_first.tolist()
    ([0.5, 2.0, 3.0], [True, False, False])
    """
    _, first_rows, member, counts = np.unique(
        units, return_index=True, return_inverse=True, return_counts=True
    )
    numbers, sizes = member.astype(np.intp), counts.astype(np.intp)
    return Units(
        group_means(rows, numbers, sizes),
        is_first[first_rows],
        group_means(others, numbers, sizes) if others.shape[1] else np.empty((len(sizes), 0)),
    )


def exchanges(is_first: Mask, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return memberships of the first sample, the true one first: all of them if they are few.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> exchanges(np.array([True, False, False]), rng).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    n, n_first = len(is_first), int(is_first.sum())
    if math.comb(n, n_first) > N_PERMUTATIONS + 1:
        return is_first[permutations(n, N_PERMUTATIONS, rng)]
    chosen = np.array(list(combinations(range(n), n_first)), dtype=np.intp)
    every = np.zeros((len(chosen), n), dtype=np.bool_)
    every[np.arange(len(chosen))[:, None], chosen] = True
    is_true = (every == is_first).all(axis=1)
    return np.concatenate([every[is_true], every[~is_true]])


def smallest_p_value(n_first: int, n_second: int) -> float:
    """Return the smallest p-value that the numbers of specimens and permutations allow."""
    n_ways = math.comb(n_first + n_second, n_first)
    # Equal samples exchanged as a whole give the same distance.
    n_same = 2 if n_first == n_second else 1
    return max(1 / (N_PERMUTATIONS + 1), min(n_same / n_ways, 1.0))


def _contrasts(exchanged: NDArray[np.bool_]) -> Matrix:
    """Return weights whose products with the rows are differences of the two means."""
    n_first = int(exchanged[0].sum())
    return np.where(exchanged, 1 / n_first, -1 / (exchanged.shape[1] - n_first))


def _mean_p_value(rows: Matrix, contrasts: Matrix, others: Scatter) -> float:
    """Return the p-value of the first contrast of rows, among all of them."""
    # About the mean, since rounding errors grow with what all rows have in common.
    centred = rows - rows.mean(axis=0)
    effects = contrasts @ np.where(np.abs(centred) > _ROUNDING * np.abs(rows), centred, 0)
    # The scatter of all rows about one mean does not depend on the labels.
    white = effects @ whitening(scatter_of(rows).plus(others.limited()))
    squared = np.stack([np.square(effects).sum(axis=1), np.square(white).sum(axis=1)])
    ranks = np.stack([upper_tail(one) for one in squared])
    return float(upper_tail(-ranks.min(axis=0))[0])


def _dispersion(rows: Matrix, is_first: Mask, exchanged: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the ratio of dispersions, and the p-value of one as far from 1.

    Distances are taken from each sample's own mean, whose error the smaller sample feels more.
    """
    residuals = np.where(
        is_first[:, None], rows - rows[is_first].mean(axis=0), rows - rows[~is_first].mean(axis=0)
    )
    squared = np.square(residuals).sum(axis=1)
    n_first, n_second = int(is_first.sum()), int((~is_first).sum())
    if min(n_first, n_second) < 2:
        return math.nan, 1.0
    squared = squared * np.where(is_first, n_first / (n_first - 1), n_second / (n_second - 1))
    first = exchanged @ squared / n_first
    second = ~exchanged @ squared / n_second
    if min(first.min(), second.min()) <= 0:
        return math.nan, 1.0
    logs = np.log(first / second)
    return float(np.exp(logs[0])), float(upper_tail(np.abs(logs))[0])


def upper_tail(statistics: Vector) -> Vector:
    """Return, for each statistic, the fraction of all that are at least as large.

    Examples
    --------
    >>> import numpy as np
    >>> upper_tail(np.array([3.0, 1.0, 2.0, 3.0]))
    array([0.5 , 1.  , 0.75, 0.5 ])
    """
    ordered = np.sort(statistics)
    slack = _ROUNDING * max(abs(ordered[0]), abs(ordered[-1]))
    n_below = np.searchsorted(ordered, statistics - slack, side="left")
    return np.asarray((len(statistics) - n_below) / len(statistics))
