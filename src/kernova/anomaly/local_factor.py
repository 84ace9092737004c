"""Base classes of the local outlier factors: neighbour search, thresholds and predictions.

:class:`DensityRatioDetector` is for factors that divide the density of a row's neighbourhood by
the density of the row itself.
"""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.anomaly.local_densities import (
    DensitySettings,
    LocalDensities,
    bounded_exp,
    known_log_factors,
    learn_densities,
    log_factors,
)
from kernova.anomaly.parameters import (
    automatic_neighbor_numbers,
    checked_contamination,
    checked_neighbor_numbers,
    is_several,
)
from kernova.neighbors.index import NeighborIndex, build_index
from kernova.neighbors.neighborhoods import NeighborBlock, find_neighborhoods, neighbor_blocks
from kernova.typing import Indices, Matrix, Vector

# Log factors as near as this to the upper fence differ from it by rounding only.
_ROUNDING = 1e-9


def _is_for_new_rows(detector: "LocalFactorDetector") -> bool:
    if not detector.novelty:
        raise AttributeError(
            f"{type(detector).__name__} scores new rows only with novelty=True. Set it before "
            "fitting, or call fit_predict on the training rows."
        )
    return True


def _is_for_its_own_rows(detector: "LocalFactorDetector") -> bool:
    if detector.novelty:
        raise AttributeError(
            f"{type(detector).__name__} scores its training rows only with novelty=False. "
            "Set it, or call fit on the known rows and predict on new ones."
        )
    return True


class LocalFactorDetector(OutlierMixin, BaseEstimator):
    """Detector whose score compares a row with its neighbours.

    A subclass computes the log factors of the training rows and of new rows. With several numbers
    of neighbours the factor is the geometric mean over them.
    """

    _index: NeighborIndex
    _has_widths = False  # is a k-th distance of zero replaced by a positive one?

    def __init__(
        self,
        n_neighbors: "int | Iterable[int] | str",
        contamination: "str | float",
        novelty: bool,
        algorithm: str,
        n_jobs: int | None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.contamination = contamination
        self.novelty = novelty
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compare each row of ``X`` with its neighbours among the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``novelty=True``, the training rows.
        y : ignored
            Accepted for scikit-learn's convention.

        Returns
        -------
        self : LocalFactorDetector
            With the factors of these rows in ``negative_outlier_factor_``.
        """
        wanted = checked_neighbor_numbers(self.n_neighbors)
        fraction = checked_contamination(self.contamination)
        self._check_parameters()
        rows = validate_data(self, X, dtype=np.float64, order="C")
        is_automatic = wanted is None
        wanted = automatic_neighbor_numbers(len(rows)) if wanted is None else wanted
        numbers = np.clip(wanted, 1, max(1, len(rows) - 1))
        self._index = build_index(rows, self.algorithm, self.n_jobs, int(numbers.max()))
        has_list = is_automatic or is_several(self.n_neighbors)
        self.n_neighbors_ = numbers if has_list else int(numbers[0])
        self.algorithm_ = self._index.engine
        logs = _mean_over_numbers(self._learn(np.unique(numbers)))[self._index.inverse]
        _warn_once(self, wanted)
        self.neighbor_recall_ = self._index.recall
        self.negative_outlier_factor_ = 0.0 - self._factors(logs)  # no minus zero
        self.offset_ = self._offset(logs, fraction)
        return self

    @available_if(_is_for_its_own_rows)
    def fit_predict(self, X: ArrayLike, y: object = None, **kwargs: Any) -> NDArray[np.int64]:
        """Fit, and return +1 for the inliers and -1 for the outliers among the same rows."""
        self.fit(X)
        return np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)

    @available_if(_is_for_new_rows)
    def score_samples(self, X: ArrayLike) -> Vector:
        """Return the negated factor of each new row among the training rows; high is an inlier.

        A training row has itself among its neighbours here, unlike in
        ``negative_outlier_factor_``.
        """
        return self._scores(X, None)

    @available_if(_is_for_new_rows)
    def decision_function(self, X: ArrayLike) -> Vector:
        """Return the score minus ``offset_``: negative where a row is novel."""
        return self.score_samples(X) - self.offset_

    @available_if(_is_for_new_rows)
    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return +1 for inliers and -1 for novel rows."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def score_replaced(self, X: ArrayLike, row_numbers: ArrayLike) -> Vector:
        """Return the score that training row ``row_numbers[i]`` would have if it were ``X[i]``."""
        check_is_fitted(self, "offset_")
        return self._scores(X, self._index.inverse[np.asarray(row_numbers)])

    def _scores(self, X: ArrayLike, left_out: Indices | None) -> Vector:
        check_is_fitted(self, "offset_")
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = self._index.in_units(rows)
        k = int(np.max(self.n_neighbors_))
        logs = np.empty(len(queries))
        for block in neighbor_blocks(self._index, k, queries, left_out):
            logs[block.numbers] = _mean_over_numbers(self._log_factors(block, queries))
        return 0.0 - self._factors(logs)

    def _offset(self, logs: Vector, fraction: float | None) -> float:
        if fraction is not None:
            return float(np.quantile(self.negative_outlier_factor_, fraction))
        return float(-self._factors(np.array([upper_fence(logs) + _ROUNDING]))[0])

    def _factors(self, log_factors: Vector) -> Vector:
        return bounded_exp(log_factors)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise InputError for wrong parameters, before any work."""

    @abstractmethod
    def _learn(self, numbers: Indices) -> Matrix:
        """Return the log factors of the index's distinct rows, one line for each k."""

    @abstractmethod
    def _log_factors(self, block: NeighborBlock, queries: Matrix) -> Matrix:
        """Return the log factors of some new rows, one line for each k."""


def _mean_over_numbers(log_factors: Matrix) -> Vector:
    return log_factors[0] if len(log_factors) == 1 else log_factors.mean(axis=0)


def upper_fence(logs: Vector) -> float:
    """Return the upper quartile plus one and a half times the interquartile range."""
    lower, upper = np.quantile(logs, [0.25, 0.75])
    return float(upper + 1.5 * (upper - lower))


def _warn_once(detector: LocalFactorDetector, wanted: Indices) -> None:
    """Warn of too many neighbours and of duplicate rows, in one warning at most."""
    index, n_others = detector._index, detector._index.n_rows - 1
    least = min(int(wanted.min()), max(1, n_others))
    n_duplicated = int(index.counts[index.counts > least].sum())
    messages = []
    if wanted.max() > max(1, n_others):
        others = {0: "no other", 1: "1 other"}.get(n_others, f"{n_others} others")
        messages.append(
            f"{wanted.max()} neighbours were asked for, but each row has {others}; all are taken."
        )
    if n_duplicated and detector._has_widths:
        messages.append(
            f"{n_duplicated} of {index.n_rows} rows have {least} or more duplicates: their k-th "
            "neighbour is at distance zero, and the smallest positive distance is used instead. "
            "With more neighbours than duplicates they are compared with other rows."
        )
    if messages:
        warnings.warn(f"{type(detector).__name__}: {' '.join(messages)}", UserWarning, stacklevel=3)


def learnt_factors(
    index: NeighborIndex, numbers: Indices, settings: DensitySettings
) -> Iterator[tuple[LocalDensities, Vector]]:
    """Yield densities and log factors of the distinct rows for each k, from one search."""
    neighborhoods = find_neighborhoods(index, int(numbers.max()))
    for k in numbers:
        known = learn_densities(neighborhoods, int(k), settings)
        yield known, known_log_factors(neighborhoods, known, settings)


class DensityRatioDetector(LocalFactorDetector):
    """Detector whose factor is a ratio of two densities; a subclass defines the kernel."""

    _known: tuple[LocalDensities, ...]
    _has_widths = True

    @abstractmethod
    def _settings(self, n_columns: int) -> DensitySettings:
        """Return the checked parameters of the kernel."""

    def _check_parameters(self) -> None:
        self._settings(n_columns=1)

    def _learn(self, numbers: Indices) -> Matrix:
        settings = self._settings(self._index.rows.shape[1])
        learnt = list(learnt_factors(self._index, numbers, settings))
        self._known = tuple(known for known, _ in learnt)
        return np.array([factors for _, factors in learnt])

    def _log_factors(self, block: NeighborBlock, queries: Matrix) -> Matrix:
        settings = self._settings(queries.shape[1])
        return np.array(
            [log_factors(block.nearest(known.k), known, settings) for known in self._known]
        )
