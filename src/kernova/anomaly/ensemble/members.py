"""Members of an ensemble: each gives rows a novelty of its own, high for strange rows.

A member is fitted on reference rows. ``novelty`` takes rows to judge and, for those that are
reference rows themselves, their number: such a row is judged as if it had not been there. So the
novelties of reference rows, each without itself, say how novel ordinary rows look to the member.

Rows of the table itself are judged with ``among=True``. Outliers in a table may come in groups, in
which each is the other's near neighbour; so these rows are compared with more neighbours than new
rows, which are compared with rows known to be ordinary.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from kernova.anomaly.ensemble.columns import Rows
from kernova.anomaly.ensemble.views import RANGE, RANKS, STANDARD, SeenRows, decorrelated
from kernova.errors import InputError
from kernova.neighbors.products import kth_distances
from kernova.typing import Indices, Matrix, Vector

# Numbers are counted in so many bins of equal width; a column with fewer values needs none.
_BINS = 10
# Half a count for every bin, also for those without rows (Krichevsky and Trofimov).
_PRIOR = 0.5
_MOST_LEVERAGE = 0.999
# Halves that take longer to settle hardly change any more.
_MOST_STEPS = 10
# Directions in which half of the rows hardly vary have this part of the largest variance.
_SMALLEST_OF_HALF = 1e-6
# Rows with a smaller variance in units of the columns' ranges are alike, but for rounding.
_ALIKE = 1e-30


class Member(Protocol):
    """A fitted member."""

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the novelty of rows; ``own`` is their number among the reference rows, or -1."""


# --- distance to neighbours ----------------------------------------------------------------------


@dataclass(frozen=True)
class NeighborDistance:
    """Distance to the k-th nearest reference row, under one view; for several k, their mean."""

    view: str
    reference: Matrix  # the reference rows under the view
    for_new: tuple[int, ...]  # the numbers k for new rows
    among: tuple[int, ...]  # and for rows of the table itself
    is_large: bool  # the table has so many rows that speed counts more than the last digits

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the distances."""
        numbers = self.among if among else self.for_new
        distances = kth_distances(
            self.reference,
            numbers,
            seen.under(self.view),
            own,
            in_single_precision=self.is_large,
        )
        return np.hypot(distances.mean(axis=1), seen.departure(self.view))


# --- linear structure ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearStructure:
    """Squared Mahalanobis distance of Gaussian ranks, with a shrunken covariance matrix."""

    center: Vector
    rotation: Matrix
    shrinkage: float
    n_rows: int

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the squared distances."""
        rotated = (seen.under(RANKS) - self.center) @ self.rotation
        squares = np.einsum("ij,ij->i", rotated, rotated)
        # A row pulls mean and covariance towards itself: without it, the squared distance d would
        # be d / (1 - 1/n - d/n), the hat matrix's correction; exactly so without shrinkage, while
        # of a shrunken covariance matrix only the other part depends on the rows.
        leverage = (1 + (1 - self.shrinkage) * squares) / self.n_rows
        without = squares / (1 - np.minimum(leverage, _MOST_LEVERAGE))
        return np.where(own >= 0, without, squares) + seen.departure(RANKS) ** 2


def fit_linear_structure(seen: SeenRows) -> LinearStructure:
    """Learn mean and covariance of the Gaussian ranks."""
    X = seen.under(RANKS)
    rotation, shrinkage = decorrelated(X)
    return LinearStructure(X.mean(axis=0), rotation, shrinkage, len(X))


@dataclass(frozen=True)
class CentralHalf:
    """Squared Mahalanobis distance by the half of the reference rows nearest to their centre.

    Outliers in a table widen its covariance in their direction and hide themselves; half of the
    rows, chosen so that it is compact, has few of them (Rousseeuw and van Driessen, 1999). The rows
    of that half are a little too near, since they were fitted to. A column of which half of the
    rows have one value would be constant in such a half, and any other value infinitely far: it is
    not used, and neither are categories.
    """

    columns: Indices  # of the view
    center: Vector
    rotation: Matrix

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the squared distances."""
        return self.squares(seen.under(RANGE)[:, self.columns]) + seen.departure(RANGE) ** 2

    def squares(self, X: Matrix) -> Vector:
        """Return the squared distances of rows in the columns that are used."""
        rotated = (X - self.center) @ self.rotation
        squares: Vector = np.einsum("ij,ij->i", rotated, rotated)
        return squares


def fit_central_half(seen: SeenRows) -> CentralHalf:
    """Take mean and covariance of the half with the smallest distances, until it stays the same."""
    columns = np.flatnonzero([_most_common(column) < 0.5 for column in seen.rows.numbers.T])
    if not len(columns):
        raise InputError("In all columns of numbers, half of the rows have one value.")
    X = seen.under(RANGE)[:, columns]
    n_half = max(len(X) // 2, min(len(X), X.shape[1] + 1))
    distances = np.linalg.norm(X - np.median(X, axis=0), axis=1)
    half = _nearest(distances, n_half)
    for _ in range(_MOST_STEPS):
        if np.var(X[half], axis=0).max() < _ALIKE:
            raise InputError("Beside the others, half of the rows are alike.")
        rotation = decorrelated(X[half], smallest=_SMALLEST_OF_HALF).rotation
        found = CentralHalf(columns, X[half].mean(axis=0), rotation)
        nearest = _nearest(found.squares(X), n_half)
        if np.array_equal(nearest, half):
            break
        half = nearest
    return found


def _most_common(column: Vector) -> float:
    """Return the fraction of rows that have the most common value."""
    return float(np.unique(column, return_counts=True)[1].max() / len(column))


def _nearest(distances: Vector, n: int) -> Indices:
    return np.sort(np.argsort(distances, kind="stable")[:n])


# --- single columns ------------------------------------------------------------------------------


class CountedColumn(NamedTuple):
    """How often the values of one column occur, one by one or in bins of equal width."""

    values: Vector  # sorted distinct values; of bins, their lower edges
    counts: NDArray[np.int64]
    highest: float  # rows above it are in no bin; NaN for counted values


@dataclass(frozen=True)
class SingleColumns:
    """Rarity of the values of single columns: their tails, and how often they occur.

    The tails of a column of numbers are the fractions of rows beyond a value on either side. The
    least likely column decides, so that one wrong cell is enough; how often values occur is summed
    over all columns.
    """

    ordered: tuple[Vector, ...]  # the sorted values of each column of numbers
    counted: tuple[CountedColumn, ...]  # of columns of numbers
    level_counts: tuple[NDArray[np.int64], ...]  # of categories; the last is for unknown levels
    n_rows: int

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the sum of both rarities, in nats."""
        is_own = (own >= 0).astype(np.intp)
        return self.tails(seen.rows, is_own) + self.rarity(seen.rows, is_own)

    def tails(self, rows: Rows, is_own: Indices) -> Vector:
        """Return -log of the smallest two-sided tail of any column of numbers."""
        least = np.full(len(is_own), 0.5)
        for values, column in zip(self.ordered, rows.numbers.T, strict=True):
            n_up_to = np.searchsorted(values, column, side="right") - is_own
            n_from = len(values) - np.searchsorted(values, column, side="left") - is_own
            tail = (np.minimum(n_up_to, n_from) + 1) / (len(values) + 1 - is_own)
            np.minimum(least, tail, out=least)
        return -np.log(2 * least)

    def rarity(self, rows: Rows, is_own: Indices) -> Vector:
        """Return the sum over all columns of -log of how often the value occurs."""
        total = np.zeros(len(is_own))
        for counted, column in zip(self.counted, rows.numbers.T, strict=True):
            n_bins = len(counted.counts)
            total -= self._log_fraction(_occurrences(counted, column), n_bins, is_own)
        for counts, codes in zip(self.level_counts, rows.codes.T, strict=True):
            total -= self._log_fraction(counts[codes], len(counts) - 1, is_own)
        return total

    def _log_fraction(self, n_equal: Indices, n_bins: int, is_own: Indices) -> Vector:
        n_others = self.n_rows - is_own
        logs: Vector = np.log((n_equal - is_own + _PRIOR) / (n_others + _PRIOR * n_bins))
        return logs


def fit_single_columns(rows: Rows, n_levels: list[int]) -> SingleColumns:
    """Count the values of each column."""
    return SingleColumns(
        tuple(np.sort(column) for column in rows.numbers.T),
        tuple(_counted(column) for column in rows.numbers.T),
        tuple(
            np.bincount(codes, minlength=n + 1)
            for codes, n in zip(rows.codes.T, n_levels, strict=True)
        ),
        len(rows.codes),
    )


def _counted(column: Vector) -> CountedColumn:
    values, counts = np.unique(column, return_counts=True)
    if len(values) <= _BINS:
        return CountedColumn(values, counts, np.nan)
    edges = np.linspace(values[0] / 2, values[-1] / 2, _BINS + 1)[:-1] * 2
    bins = np.searchsorted(edges, column, side="right") - 1
    return CountedColumn(edges, np.bincount(bins, minlength=_BINS), float(values[-1]))


def _occurrences(counted: CountedColumn, column: Vector) -> Indices:
    """Return how many reference rows have the value of a row, or one in the same bin."""
    if np.isnan(counted.highest):
        places = np.minimum(
            np.searchsorted(counted.values, column, side="left"), len(counted.values) - 1
        )
        return np.where(counted.values[places] == column, counted.counts[places], 0)
    bins = np.searchsorted(counted.values, column, side="right") - 1
    is_inside = (bins >= 0) & (column <= counted.highest)
    return np.where(is_inside, counted.counts[np.maximum(bins, 0)], 0)


# --- isolation -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Isolation:
    """Isolation forest: how few random cuts separate a row from the reference rows."""

    forest: IsolationForest

    def novelty(self, seen: SeenRows, own: Indices, *, among: bool) -> Vector:
        """Return the forest's scores; one row in 256 hardly changes them."""
        return -self.forest.score_samples(seen.under(STANDARD))


def fit_isolation(seen: SeenRows, random: np.random.RandomState) -> Isolation:
    """Grow the forest."""
    seed = int(random.randint(np.iinfo(np.int32).max))
    return Isolation(IsolationForest(random_state=seed).fit(seen.under(STANDARD)))
