"""SEDER: ask where a density of separate columns changes fastest; told nothing.

After He and Carbonell, "Prior-Free Rare Category Detection", SDM 2009, and He, "Rare Category
Analysis", PhD thesis, Carnegie Mellon University, 2010. A density estimate is fitted with Gaussians
around the rows, contracted towards the mean by a factor b in each column, so that its second
moments are those of the rows. Rows score the norm of its gradient: it is large at the edge of a
small dense category. Asked is the largest score of the rows that differ from every labelled one by
more than three bandwidths in some column.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Question
from kernova.parallel import row_blocks
from kernova.proving.baselines.asking import RowAsker, question_about
from kernova.typing import Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

BandwidthRule = Literal["unbiased", "biased", "reference"]

_BINS: Final = 1024
# Rows within so many bandwidths of a labelled one in every column are not asked.
_EXCLUDED_BANDWIDTHS: Final = 3.0


class ColumnDensity(NamedTuple):
    """Bandwidth and contraction of each column."""

    bandwidths: Vector
    contractions: Vector  # b


# --- bandwidths ------------------------------------------------------------------------------


def unbiased_score(h: float, lags: Vector, n_pairs: Vector, n: int) -> float:
    """Return Scott's unbiased (least-squares) cross-validation of a bandwidth.

    Parameters
    ----------
    h : float
        Bandwidth.
    lags : array of float
        Distances between pairs of rows.
    n_pairs : array of int
        Number of pairs at each distance.
    n : int
        Number of rows.
    """
    squared = (lags / h) ** 2
    terms = np.exp(-squared / 4) - np.sqrt(8.0) * np.exp(-squared / 2)
    return float((0.5 + (terms @ n_pairs) / n) / (n * h * np.sqrt(np.pi)))


def biased_score(h: float, lags: Vector, n_pairs: Vector, n: int) -> float:
    """Return Scott and Terrell's biased cross-validation of a bandwidth; see above."""
    squared = (lags / h) ** 2
    terms = np.exp(-squared / 4) * (squared**2 - 12 * squared + 12)
    return float((1 + (terms @ n_pairs) / (32 * n)) / (2 * n * h * np.sqrt(np.pi)))


def cross_validated_bandwidth(x: Vector, rule: BandwidthRule) -> float:
    """Return the bandwidth of a column by cross-validation, or by the normal reference.

    Distances are counted in 1,024 bins. The bandwidth is at least a bin and a tenth of the normal
    reference, since cross-validation of columns with equal values ends at 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.seder import cross_validated_bandwidth
    >>> x = np.random.default_rng(0).standard_normal(500)
    >>> [round(cross_validated_bandwidth(x, rule), 2) for rule in ("unbiased", "reference")]
    [0.34, 0.31]
    """
    n = len(x)
    reference = float(1.06 * x.std() * n**-0.2) or 1.0
    extent = float(np.ptp(x))
    if rule == "reference" or extent == 0:
        return reference
    step = extent / _BINS
    counts, _ = np.histogram(x, bins=_BINS)
    spectrum = np.fft.rfft(counts, 2 * _BINS)
    n_pairs = np.rint(np.fft.irfft(np.abs(spectrum) ** 2)[:_BINS])
    n_pairs[0] = (n_pairs[0] - n) / 2
    lags = step * np.arange(_BINS)
    score: Callable[..., float] = unbiased_score if rule == "unbiased" else biased_score
    lowest = max(step, 0.1 * reference)
    found = minimize_scalar(
        score, bounds=(lowest, 1.1 * reference), args=(lags, n_pairs, n), method="bounded"
    )
    return float(found.x)


# --- density and its gradient ----------------------------------------------------------------


def column_density(Z: Matrix, bandwidths: Vector) -> ColumnDensity:
    """Return the contraction of each column for given bandwidths.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.seder import column_density
    >>> column_density(np.array([[-1.0], [1.0]]), np.array([0.5])).contractions.round(4)
    array([0.8828])
    """
    contractions = np.empty(Z.shape[1])
    for column, (x, width) in enumerate(zip(Z.T, bandwidths, strict=True)):
        smoothed = _smoothed_squares(x, width).mean()  # A
        spread, second = width**2, np.mean(x**2)  # B, C
        root = np.sqrt(spread**2 + 4 * smoothed * second)
        contractions[column] = (root - spread) / (2 * smoothed) if smoothed > 0 else 1.0
    return ColumnDensity(bandwidths, contractions)


def _smoothed_squares(x: Vector, width: float) -> Vector:
    """Return the mean of the squares around each value, weighted by a Gaussian."""
    values, which, n_equal = np.unique(x, return_inverse=True, return_counts=True)
    smoothed = np.empty(len(values))
    for block in row_blocks(len(values), 3 * len(values)):
        weights = np.exp(-0.5 * ((values[block, None] - values) / width) ** 2) * n_equal
        smoothed[block] = weights @ values**2 / weights.sum(axis=1)
    return smoothed[which]


def gradient_norms(Z: Matrix, density: ColumnDensity) -> Vector:
    """Return the norm of the gradient of the density at every row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.seder import ColumnDensity, gradient_norms
    >>> gradient_norms(np.array([[0.0], [1.0]]), ColumnDensity(np.ones(1), np.ones(1))).round(4)
    array([0.121, 0.121])
    """
    sigma, b = density
    scale = sigma * np.sqrt(b)
    volume = float(np.exp(-np.log(np.sqrt(2 * np.pi) * scale).sum())) / len(Z)
    ones_and_rows = np.column_stack([np.ones(len(Z)), Z])
    norms = np.empty(len(Z))
    for block in row_blocks(len(Z), 2 * len(Z)):
        densities = np.exp(-0.5 * cdist(Z[block] / scale, b * Z / scale, "sqeuclidean"))
        sums = densities @ ones_and_rows
        gradient = (Z[block] * sums[:, :1] - b * sums[:, 1:]) / scale**2
        norms[block] = volume * np.sqrt((gradient**2).sum(axis=1))
    return norms


# --- the strategy ----------------------------------------------------------------------------


class GradientScores(NamedTuple):
    """Score of every row, and the bandwidths within which rows count as near."""

    scores: Vector
    bandwidths: Vector


@dataclass
class Seder:
    """SEDER, told nothing.

    The thesis stops when every row is near a labelled one; here exclusions are then lifted.

    Parameters
    ----------
    rule : {"unbiased", "biased", "reference"}
        How bandwidths are chosen: by least-squares or by biased cross-validation (Scott, 1992), or
        by the normal reference. The thesis names Scott's book without the rule; biased
        cross-validation comes closest to its counts.

    Examples
    --------
    >>> from kernova.proving.baselines.seder import Seder
    >>> Seder().name
    'seder'
    """

    rule: BandwidthRule = "biased"
    name: str = "seder"

    def start(self, preparation: "Preparation") -> "GradientAsker":
        """Return a fresh asker; scores are cached in the preparation."""
        Z = preparation.rows("zscore")
        scores = cached(preparation, ("seder", self.rule), lambda: self._scores(Z))
        return GradientAsker(Z, scores)

    def _scores(self, Z: Matrix) -> GradientScores:
        bandwidths = np.array([cross_validated_bandwidth(x, self.rule) for x in Z.T])
        return GradientScores(gradient_norms(Z, column_density(Z, bandwidths)), bandwidths)


class GradientAsker(RowAsker):
    """One run: the scores, and the rows near a labelled one."""

    def __init__(self, Z: Matrix, known: GradientScores) -> None:
        super().__init__(len(Z))
        self._Z, self._known = Z, known
        self._is_near = np.zeros(len(Z), dtype=np.bool_)

    def _question(self, is_free: Mask) -> Question:
        is_open = is_free & ~self._is_near
        is_open = is_open if is_open.any() else is_free
        rows = np.flatnonzero(is_open)
        row = int(rows[np.argmax(self._known.scores[rows])])
        score = float(self._known.scores[row])
        n_steeper = int(np.count_nonzero(self._known.scores > score))
        reason = (
            f"The density changes faster at {n_steeper:,} other rows only, and this row is not "
            "near a labelled one."
            if is_open is not is_free
            else f"The density changes faster at {n_steeper:,} other rows only."
        )
        return question_about(row, reason, gradient=score)

    def _learn(self, answer: Answer) -> None:
        if answer.label is not None:
            differences = np.abs(self._Z - self._Z[answer.row])
            limits = _EXCLUDED_BANDWIDTHS * self._known.bandwidths
            self._is_near |= (differences <= limits).all(axis=1)
