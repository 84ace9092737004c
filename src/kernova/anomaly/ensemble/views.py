"""Views of the rows: the scalings under which members of an ensemble compare them.

``"standard"``
    Columns of mean 0 and standard deviation 1.
``"range"``
    Columns from 0 to 1: those with heavy tails count less.
``"ranks"``
    Ranks of the values, as quantiles of a Gaussian: the shape of a column does not matter.
``"decorrelated"``
    Standard columns, rotated and scaled so that they are uncorrelated; their covariance is
    shrunken (Ledoit and Wolf, 2004).

A category is a set of indicators which together have the mean variance of the view's columns of
numbers: 400 levels weigh no more than one number. Only frequent levels have an indicator of their
own; all others share one, so that rows of a level which is not rare are never farther from the
others than rows of a rare one.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.covariance import ledoit_wolf

from kernova.anomaly.ensemble.columns import Rows
from kernova.tables.encoding import NumberScaling, number_scaling, scaled_numbers
from kernova.typing import Indices, Matrix, Vector

STANDARD: Final = "standard"
RANGE: Final = "range"
RANKS: Final = "ranks"
DECORRELATED: Final = "decorrelated"

# A level of at least this fraction of the rows has an indicator of its own.
_FREQUENT = 0.05
# Ranks are interpolated between so many values of a column.
_MOST_QUANTILES = 10_000
# Numbers beyond this many standard deviations are drawn in, in order, so that squares stay exact.
_FAR = 1e6
# Directions with a smaller fraction of the largest variance are rounding errors.
_SMALLEST_VARIANCE = 1e-9
# The covariance matrix takes columns², its decomposition columns³.
MOST_CORRELATED_COLUMNS: Final = 400


class Indicators(NamedTuple):
    """Indicators of one category: the levels with one of their own, and the weight of all."""

    code: int  # column of ``Rows.codes``
    frequent: Indices  # codes of the levels
    weight: float  # so that the total variance is 1


class RankScaling(NamedTuple):
    """Sorted values of one column, and the Gaussian quantile of each distinct one."""

    values: Vector
    n: int
    scale: float


@dataclass(frozen=True)
class Views:
    """The scalings learnt from the rows of a table."""

    standard: NumberScaling
    range: NumberScaling
    range_spread: float  # root mean variance of the columns in the view "range"
    ranks: tuple[RankScaling, ...]
    indicators: tuple[Indicators, ...]
    single: Indices  # columns of ``Rows.codes`` with one level
    n_rows: int
    center: Vector  # of the standard view
    rotation: Matrix | None  # None if there are too many columns

    def seen(self, rows: Rows) -> "SeenRows":
        """Return rows of which every view can be asked for; each is computed once."""
        return SeenRows(self, rows)


class SeenRows:
    """Rows under every view."""

    def __init__(self, views: Views, rows: Rows) -> None:
        self.rows = rows
        self._views = views
        self._computed: dict[str, Matrix] = {}

    def __len__(self) -> int:
        return len(self.rows.numbers)

    def under(self, view: str) -> Matrix:
        """Return the rows as numbers between which distances are meaningful."""
        if view not in self._computed:
            self._computed[view] = self._compute(view)
        return self._computed[view]

    def departure(self, view: str) -> Vector:
        """Return how far rows are from all reference rows in columns in which those are equal.

        Such a column has no scale. One row in n that differs would give it the variance 1/n, so
        that it were sqrt(n) standard deviations away from the others.
        """
        n_departures = np.sum(self.rows.codes[:, self._views.single] != 0, axis=1)
        spread = self._views.range_spread if view == RANGE else 1.0
        departure: Vector = spread * np.sqrt(self._views.n_rows * n_departures)
        return departure

    def _compute(self, view: str) -> Matrix:
        views, numbers = self._views, self.rows.numbers
        if view == DECORRELATED:
            assert views.rotation is not None  # or the member would have been left out
            return (self.under(STANDARD) - views.center) @ views.rotation
        if view == STANDARD:
            scaled, spread = _drawn_in(scaled_numbers(numbers, views.standard)), 1.0
        elif view == RANGE:
            scaled, spread = _drawn_in(scaled_numbers(numbers, views.range)), views.range_spread
        else:
            scaled, spread = _gaussian_ranks(numbers, views.ranks), 1.0
        return np.hstack([scaled, spread * _indicated(self.rows.codes, views.indicators)])


def learn_views(rows: Rows, n_levels: list[int]) -> Views:
    """Learn all scalings from the rows of a table."""
    standard = number_scaling(rows.numbers, "standard")
    by_range = number_scaling(rows.numbers, "minmax")
    ranged = _drawn_in(scaled_numbers(rows.numbers, by_range))
    partial = Views(
        standard,
        by_range,
        float(np.sqrt(np.mean(np.var(ranged, axis=0)))) if ranged.size else 1.0,
        tuple(_rank_scaling(column) for column in rows.numbers.T),
        tuple(
            _indicators(j, codes, n)
            for j, (codes, n) in enumerate(zip(rows.codes.T, n_levels, strict=True))
            if n > 1
        ),
        np.flatnonzero(np.array(n_levels) == 1),
        len(rows.codes),
        np.zeros(0),
        None,
    )
    seen = partial.seen(rows).under(STANDARD)
    return Views(
        *(partial.standard, partial.range, partial.range_spread, partial.ranks),
        *(partial.indicators, partial.single, partial.n_rows),
        seen.mean(axis=0),
        decorrelated(seen).rotation if seen.shape[1] <= MOST_CORRELATED_COLUMNS else None,
    )


class Decorrelation(NamedTuple):
    """The matrix that makes columns uncorrelated, each of variance 1."""

    rotation: Matrix
    shrinkage: float  # the fraction of the covariance matrix that is not from the rows


def decorrelated(X: Matrix, smallest: float = _SMALLEST_VARIANCE) -> Decorrelation:
    """Return the rotation that belongs to the shrunken covariance matrix of some rows."""
    if not X.shape[1]:
        return Decorrelation(np.empty((0, 0)), 0.0)
    covariance, shrinkage = ledoit_wolf(X)
    variances, directions = np.linalg.eigh(np.atleast_2d(covariance))
    floor = smallest * max(float(variances[-1]), np.finfo(np.float64).tiny)
    return Decorrelation(directions / np.sqrt(np.maximum(variances, floor)), float(shrinkage))


def _drawn_in(X: Matrix) -> Matrix:
    """Return numbers with those that are extremely far away logarithmically closer."""
    size = np.abs(X)
    if not (size > _FAR).any():
        return X
    return np.where(size > _FAR, np.sign(X) * _FAR * (1 + np.log(np.maximum(size, _FAR) / _FAR)), X)


# --- ranks -------------------------------------------------------------------------------------


def _rank_scaling(column: Vector) -> RankScaling:
    values = np.sort(column)
    if len(values) > _MOST_QUANTILES:
        values = values[np.linspace(0, len(values) - 1, _MOST_QUANTILES).round().astype(np.intp)]
    scale = float(np.std(_gaussian_rank(column, values)))
    return RankScaling(values, len(values), scale if scale > 0 else 1.0)


def _gaussian_rank(column: Vector, values: Vector) -> Vector:
    """Return the Gaussian quantiles of the mid-ranks of a column among sorted values."""
    n_below = np.searchsorted(values, column, side="left")
    n_up_to = np.searchsorted(values, column, side="right")
    quantiles: Vector = ndtri(((n_below + n_up_to) / 2 + 0.5) / (len(values) + 1))
    return quantiles


def _gaussian_ranks(numbers: Matrix, scalings: tuple[RankScaling, ...]) -> Matrix:
    ranks = np.empty_like(numbers)
    for j, scaling in enumerate(scalings):
        ranks[:, j] = _gaussian_rank(numbers[:, j], scaling.values) / scaling.scale
    return ranks


# --- categories --------------------------------------------------------------------------------


def _indicators(position: int, codes: Indices, n_levels: int) -> Indicators:
    fractions = np.bincount(codes, minlength=n_levels)[:n_levels] / len(codes)
    frequent = np.flatnonzero(fractions >= _FREQUENT)
    # The variances of all indicators sum to 1 - sum(p²), whether a level shares one or not.
    variance = 1 - float(np.sum(fractions**2))
    return Indicators(position, frequent, 1 / np.sqrt(max(variance, 1 / len(codes))))


def _indicated(codes: Indices, indicators: tuple[Indicators, ...]) -> NDArray[np.float64]:
    """Return the weighted indicators: one for each frequent level, one for all other levels."""
    columns = []
    for position, frequent, weight in indicators:
        is_level = codes[:, [position]] == frequent
        columns.append(weight * np.column_stack([is_level, ~is_level.any(axis=1)]))
    return np.hstack(columns) if columns else np.empty((len(codes), 0))
