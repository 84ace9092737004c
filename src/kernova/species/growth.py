"""Growth: whether a difference in shape between two samples may be one in size.

Young and adult specimens of one species differ in shape. How much is expected from growth is
learnt within groups: the pooled regression of shape on log centroid size.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from kernova.shapes.anova import N_PERMUTATIONS, permutations
from kernova.species.scatter import Labels, group_means, scatter_of
from kernova.typing import Mask, Matrix, Vector

# From this probability that a specimen of one sample is smaller than one of the other, the sizes
# of the samples overlap too little to adjust for size without extrapolating.
_APART = 0.9


class SizeDifference(NamedTuple):
    """Difference in size between two samples, and the difference in shape expected from it."""

    p_value: float  # of a difference in size as large, by the rank-sum test
    # The probability that a specimen of the second sample is larger than one of the first.
    first_smaller: float
    expected: float  # Procrustes distance expected from growth
    distance: float  # Procrustes distance of the means, without what sampling errors add
    remaining: float  # the same after removing expected growth

    @property
    def is_apart(self) -> bool:
        """Whether sizes hardly overlap, so that adjusting for them is extrapolating."""
        return max(self.first_smaller, 1 - self.first_smaller) >= _APART

    @property
    def is_growth(self) -> bool:
        """Whether growth accounts for half of the squared difference in shape, or more."""
        return self.remaining**2 <= self.distance**2 / 2


def size_difference(
    rows: Matrix, is_first: Mask, log_sizes: Vector, slope: Vector
) -> SizeDifference:
    """Compare the sizes of two samples, and their shapes after removing expected growth.

    Parameters
    ----------
    rows : ndarray of shape (n, n_columns)
        Both samples.
    is_first : ndarray of bool of shape (n,)
        The rows of the first sample.
    log_sizes : ndarray of shape (n,)
        Logarithms of centroid size.
    slope : ndarray of shape (n_columns,)
        Change of shape per unit of log size within groups.
    """
    first, second = log_sizes[is_first], log_sizes[~is_first]
    ranks = mannwhitneyu(second, first)
    shift = float(first.mean() - second.mean())
    difference = rows[is_first].mean(axis=0) - rows[~is_first].mean(axis=0)
    noise = sum(_variance_of_mean(rows[side]) for side in (is_first, ~is_first))
    return SizeDifference(
        p_value=float(ranks.pvalue) if np.isfinite(ranks.pvalue) else 1.0,
        first_smaller=float(ranks.statistic) / (len(first) * len(second)),
        expected=abs(shift) * float(np.linalg.norm(slope)),
        distance=_length(difference, noise),
        remaining=_length(difference - slope * shift, noise),
    )


def _variance_of_mean(sample: Matrix) -> float:
    """Return the expected squared distance of a sample's mean from that of its group."""
    scatter = scatter_of(sample)
    return float(np.trace(scatter.products)) / scatter.df / len(sample) if scatter.df else 0.0


def _length(difference: Vector, noise: float) -> float:
    """Return the length of a difference of means, less what their sampling errors add to it."""
    return float(np.sqrt(max(float(difference @ difference) - noise, 0.0)))


def growth_terms(log_sizes: Vector) -> Matrix:
    """Return the columns of log size and its square, since growth need not be straight."""
    centred = log_sizes - log_sizes.mean()
    return np.column_stack([centred, centred**2])


def growth_p_value(
    rows: Matrix, log_sizes: Vector, groups: Labels, rng: np.random.Generator
) -> float:
    """Return the p-value of a change of shape with size within groups as large as that found.

    Residuals from group means are permuted.
    """
    _, member, counts = np.unique(groups, return_inverse=True, return_counts=True)
    both = np.column_stack([log_sizes, rows])
    residuals = both - group_means(both, member.astype(np.intp), counts.astype(np.intp))[member]
    sizes = residuals[:, 0][permutations(len(rows), N_PERMUTATIONS, rng)]
    squares = np.square(sizes @ residuals[:, 1:]).sum(axis=1)
    return float(np.mean(squares >= squares[0] * (1 - 1e-9)))
