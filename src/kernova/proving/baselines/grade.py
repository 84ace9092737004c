"""GRADE and GRADE-LI: ask where the number of similar rows drops, by similarity over a graph.

After He, Liu and Lawrence, "Graph-Based Rare Category Detection", ICDM 2008, and He, "Rare Category
Analysis", PhD thesis, Carnegie Mellon University, 2010. Rows are linked by a Gaussian of their
distance, of the width of the smallest ball that holds the largest rare category; links are divided
by the roots of both rows' sums; the similarity A = (I - alpha W)^-1 adds all paths along links.
Then categories are sought as MALICE does, with similarity in place of distance: the threshold a of
a category of K rows is the largest similarity of any row to its K-th most similar row, n(i) the
number of rows at least so similar to row i, and t lowers the threshold to a / t.

GRADE is told the fraction of each category, GRADE-LI one upper bound on those of the rare ones. A
dense n x n matrix is inverted, so tables have at most 6,000 rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import cdist

from kernova.discover.preparation import cached
from kernova.errors import InputError
from kernova.parallel import row_blocks, slices
from kernova.proving.baselines.asking import Drop, Sizes
from kernova.proving.baselines.malice import SearchByCategory
from kernova.text import quantity
from kernova.typing import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from kernova.discover.preparation import Preparation

MOST_ROWS: Final = 6_000
# The thesis takes .6 on real tables and .8 on synthetic ones.
ALPHA: Final = 0.6
# Similarities are rounded: a row on the threshold counts.
_EDGE: Final = 1 - 1e-9
_MIRRORED_AT_ONCE: Final = 256


class Similarities(NamedTuple):
    """Neighbourhoods by similarity, in place of the distances of MALICE."""

    A: Matrix
    thresholds: Vector  # by scale
    counts: Indices  # rows at least so similar to each row; (n_scales, n_rows)

    def near(self, rows: Indices, scale: int, reach: float) -> Mask:
        """Return the rows at least as similar to each of these as the threshold over ``reach``."""
        found: Mask = self.A[rows] >= self.thresholds[scale] / reach * _EDGE
        return found

    def within(self, row: int, scale: int | None) -> Mask:
        """Return the rows at least as similar as a category's threshold; the common has the least.

        The thesis leaves the threshold of the common category open; the smallest corresponds to
        the largest radius in MALICE.
        """
        threshold = self.thresholds.min() if scale is None else self.thresholds[scale]
        found: Mask = self.A[row] >= threshold * _EDGE
        return found

    def sentence(self, drop: Drop, scale: int, reach: float) -> str:
        """Return why a row is asked."""
        threshold = self.thresholds[scale]
        return (
            f"{quantity(int(self.counts[scale, drop.row]), 'row')} with a similarity to this row "
            f"of at least {threshold:.3g}, and {max(drop.size, 0):,} fewer for a row with a "
            f"similarity of at least {threshold / reach:.3g}."
        )


# --- similarity over the graph ---------------------------------------------------------------


def graph_width(Z: Matrix, size: int) -> float:
    """Return the smallest distance of any row to its neighbour of this rank, but not 0.

    Where so many rows are equal, it is the smallest distance between rows that differ.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.grade import graph_width
    >>> graph_width(np.array([[0.0], [0.1], [0.25], [3.0]]), 2)
    0.15
    """
    rank = min(size, len(Z) - 1)
    width = smallest = np.inf
    for block in row_blocks(len(Z), 3 * len(Z)):
        distances = cdist(Z[block], Z)
        width = min(width, float(np.partition(distances, rank, axis=1)[:, rank].min()))
        smallest = min(smallest, float(distances.min(where=distances > 0, initial=np.inf)))
    if width > 0:
        return width
    return smallest if np.isfinite(smallest) else 1.0


def graph_similarity(Z: Matrix, width: float, alpha: float) -> Matrix:
    """Return (I - alpha W)^-1 of the graph of rows, made in place in one n x n array.

    A row so far away that all its links are 0 is similar to itself only.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.proving.baselines.grade import graph_similarity
    >>> graph_similarity(np.array([[0.0], [1.0]]), 1.0, 0.6).round(4)
    array([[1.5625, 0.9375],
           [0.9375, 1.5625]])
    """
    A = _links(Z, width)
    sums = A.sum(axis=1)
    scale = np.divide(1.0, np.sqrt(sums), out=np.zeros_like(sums), where=sums > 0)
    A *= -alpha * scale
    A *= scale[:, None]
    A[np.diag_indices_from(A)] += 1.0
    # LAPACK works on the transpose of a C-ordered array in place; the matrix is symmetric.
    factor, failed = dpotrf(A.T, lower=1, overwrite_a=1, clean=0)
    inverse, singular = dpotri(factor, lower=1, overwrite_c=1)
    if failed or singular:
        raise InputError(
            f"alpha must be at least 0 and below 1, so that similarities exist; got {alpha}."
        )
    return _mirrored(inverse.T)


def _links(Z: Matrix, width: float) -> Matrix:
    links = np.empty((len(Z), len(Z)))
    for block in row_blocks(len(Z), 2 * len(Z)):
        cdist(Z[block], Z, "sqeuclidean", out=links[block])
        links[block] /= -2 * width * width
        np.exp(links[block], out=links[block])
    links[np.diag_indices_from(links)] = 0.0
    return links


def _mirrored(upper: Matrix) -> Matrix:
    """Copy the upper triangle onto the lower one, in place."""
    for block in slices(len(upper), _MIRRORED_AT_ONCE):
        square = upper[block, block]
        square[:] = np.triu(square) + np.triu(square, 1).T
        upper[block.stop :, block] = upper[block, block.stop :].T
    return upper


def similar_rows(A: Matrix, sizes: Sequence[int]) -> Similarities:
    """Return the threshold of each size, and the number of rows above it of every row.

    Parameters
    ----------
    A : array of shape (n_rows, n_rows)
        Similarities.
    sizes : sequence of int
        Numbers of similar rows, the row itself included.
    """
    ranks = len(A) - np.minimum(np.asarray(sizes, dtype=np.intp), len(A))
    thresholds = np.full(len(ranks), -np.inf)
    distinct = np.unique(ranks)
    for block in row_blocks(len(A), 2 * len(A)):
        highest = np.partition(A[block], distinct, axis=1)[:, ranks].max(axis=0)
        thresholds = np.maximum(thresholds, highest)
    counts = np.empty((len(ranks), len(A)), dtype=np.intp)
    for block in row_blocks(len(A), 2 * len(A)):
        for scale, threshold in enumerate(thresholds):
            counts[scale, block] = np.count_nonzero(A[block] >= threshold * _EDGE, axis=1)
    return Similarities(A, thresholds, counts)


def _similarities(preparation: "Preparation", sizes: tuple[int, ...], alpha: float) -> Similarities:
    n_rows = preparation.n_rows
    if n_rows > MOST_ROWS:
        raise InputError(
            f"GRADE compares all pairs of at most {MOST_ROWS:,} rows at once; the table has "
            f"{n_rows:,}. Draw a sample of its rows."
        )
    Z = preparation.rows("zscore")
    width = cached(preparation, ("width", max(sizes)), lambda: graph_width(Z, max(sizes)))
    key = ("similarity", width, alpha)
    A = cached(preparation, key, lambda: graph_similarity(Z, width, alpha))
    return cached(preparation, (*key, sizes), lambda: similar_rows(A, sizes))


# --- the two strategies ----------------------------------------------------------------------


@dataclass
class GradeByPriors:
    """GRADE, told the fraction of each category.

    Parameters
    ----------
    priors : mapping of str to float
        Fraction of the rows of each category, by name.
    alpha : float
        How far similarity reaches over the graph, at least 0 and below 1.
    rarest_first : bool
        Whether categories are sought from the rarest on, instead of from the largest.

    Examples
    --------
    >>> from kernova.proving.baselines.grade import GradeByPriors
    >>> GradeByPriors({"common": 0.98, "rare": 0.02}).name
    'grade'
    """

    priors: Mapping[str, float]
    alpha: float = ALPHA
    rarest_first: bool = False
    name: str = "grade"

    def start(self, preparation: "Preparation") -> SearchByCategory:
        """Return a fresh asker; similarities are cached in the preparation."""
        n_rows = preparation.n_rows
        sizes = Sizes.of(self.priors, n_rows, rarest_first=self.rarest_first)
        return SearchByCategory(_similarities(preparation, sizes.rows, self.alpha), sizes)


@dataclass
class GradeByBound:
    """GRADE-LI, told an upper bound on the fractions of the rare categories.

    There is one threshold, which also excludes the rows around every labelled one, and t grows
    with every question.

    Parameters
    ----------
    bound : float
        The largest fraction of the rows that a rare category may have.
    alpha : float
        How far similarity reaches over the graph, at least 0 and below 1.

    Examples
    --------
    >>> from kernova.proving.baselines.grade import GradeByBound
    >>> GradeByBound(0.02).name
    'grade-li'
    """

    bound: float
    alpha: float = ALPHA
    name: str = "grade-li"

    def start(self, preparation: "Preparation") -> SearchByCategory:
        """Return a fresh asker; similarities are cached in the preparation."""
        size = max(1, round(self.bound * preparation.n_rows))
        # No answer has the name of the one category sought: it is never found.
        sizes = Sizes(("",), (size,))
        return SearchByCategory(_similarities(preparation, sizes.rows, self.alpha), sizes)
