"""What all local outlier factors share: neighbours, verdicts, and one row at a time anew.

Factors that are the ratio of two densities: the neighbourhood's to the row's own.
"""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from kernova.anomaly.local_densities import (
    DensitySettings,
    LocalDensities,
    bounded_exp,
    known_log_factors,
    learn_densities,
    log_factors,
)
from kernova.errors import InputError
from kernova.neighbors.index import NeighborIndex, build_index
from kernova.neighbors.neighborhoods import NeighborBlock, find_neighborhoods, neighbor_blocks
from kernova.typing import Indices, Matrix, Vector

# Logarithms of factors as near as this to the fence are rounding.
_ROUNDING = 1e-9


def _is_for_new_rows(detector: "LocalFactorDetector") -> bool:
    if not detector.novelty:
        raise AttributeError(
            f"{type(detector).__name__} judges new rows only with novelty=True. Set it before "
            "fitting, or call fit_predict to judge the rows themselves."
        )
    return True


def _is_for_its_own_rows(detector: "LocalFactorDetector") -> bool:
    if detector.novelty:
        raise AttributeError(
            f"{type(detector).__name__} judges the rows it is fitted to only with novelty=False. "
            "Set it, or call fit on the known rows and predict on new ones."
        )
    return True


class LocalFactorDetector(OutlierMixin, BaseEstimator):
    """A detector whose score is how a row compares with its neighbours.

    A subclass says how to learn log factors from the known rows, and how to give those of others.
    With several numbers of neighbours the factor is the geometric mean over them.
    """

    novelty: bool
    n_neighbors: "int | Iterable[int]"
    contamination: "str | float"
    algorithm: str
    n_jobs: int | None
    _index: NeighborIndex
    _has_widths = False  # do neighbours at distance zero need a stand-in?

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Compare each row of ``X`` with its neighbours among the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``novelty=True``, the known ones.
        y : ignored
            Here for scikit-learn's convention.

        Returns
        -------
        self
        """
        wanted = checked_neighbor_numbers(self.n_neighbors)
        share = _checked_contamination(self.contamination)
        self._check_parameters()
        rows = validate_data(self, X, dtype=np.float64, order="C")
        numbers = np.clip(wanted, 1, max(1, len(rows) - 1))
        self._index = build_index(rows, self.algorithm, self.n_jobs, int(numbers.max()))
        self.n_neighbors_ = numbers if _is_several(self.n_neighbors) else int(numbers[0])
        self.algorithm_ = self._index.engine
        logs = _mean_over_numbers(self._learn(np.unique(numbers)))[self._index.inverse]
        _warn_once(self, wanted)
        self.neighbor_recall_ = self._index.recall
        self.negative_outlier_factor_ = 0.0 - self._factors(logs)  # no minus zero
        self.offset_ = self._offset(logs, share)
        return self

    @available_if(_is_for_its_own_rows)
    def fit_predict(self, X: ArrayLike, y: object = None, **kwargs: Any) -> NDArray[np.int64]:
        """Fit, and call each of the same rows ordinary (+1) or an outlier (-1)."""
        self.fit(X)
        return np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)

    @available_if(_is_for_new_rows)
    def score_samples(self, X: ArrayLike) -> Vector:
        """Negated factor of each new row among the known ones; high is usual.

        A known row given again has itself among its neighbours, unlike in
        ``negative_outlier_factor_``.
        """
        return self._scores(X, None)

    @available_if(_is_for_new_rows)
    def decision_function(self, X: ArrayLike) -> Vector:
        """Score minus the threshold ``offset_``: negative where a row is called novel."""
        return self.score_samples(X) - self.offset_

    @available_if(_is_for_new_rows)
    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """+1 for usual rows and -1 for novel ones."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _scores_in_place(self, X: ArrayLike, row_numbers: ArrayLike) -> Vector:
        """Score rows as if each stood in the place of one of the rows fitted to."""
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

    def _offset(self, logs: Vector, share: float | None) -> float:
        if share is not None:
            return float(np.quantile(self.negative_outlier_factor_, share))
        return float(-self._factors(np.array([upper_fence(logs) + _ROUNDING]))[0])

    def _factors(self, log_factors: Vector) -> Vector:
        return bounded_exp(log_factors)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse wrong parameters, before any work."""

    @abstractmethod
    def _learn(self, numbers: Indices) -> Matrix:
        """Give log factors of the index's distinct rows, one line for each k."""

    @abstractmethod
    def _log_factors(self, block: NeighborBlock, queries: Matrix) -> Matrix:
        """Give log factors of some new rows, one line for each k."""


def checked_neighbor_numbers(n_neighbors: "int | Iterable[int]") -> Indices:
    """Give one or several numbers of neighbours as an array; each must be positive and whole."""
    given: list[Any] = list(n_neighbors) if _is_several(n_neighbors) else [n_neighbors]
    are_whole = all(isinstance(k, Integral) and not isinstance(k, bool) for k in given)
    if not given or not are_whole or min(given) < 1:
        raise InputError(
            "n_neighbors must be a whole number of 1 or more, or a list of such numbers; "
            f"got {n_neighbors!r}."
        )
    largest = np.iinfo(np.intp).max  # no table has more rows
    return np.array([min(int(k), largest) for k in given], dtype=np.intp)


def _is_several(n_neighbors: object) -> TypeGuard[Iterable[int]]:
    return isinstance(n_neighbors, Iterable) and not isinstance(n_neighbors, str)


def checked_positive(name: str, value: Any, *, or_infinite: bool = False) -> float:
    """Give a parameter as a number; it must be above zero."""
    if _is_number(value) and float(value) > 0 and (or_infinite or np.isfinite(value)):
        return float(value)
    ending = " or infinity" if or_infinite else ""
    raise InputError(f"{name} must be a positive number{ending}; got {value!r}.")


def checked_exponent(name: str, value: Any, instead: str = "") -> float:
    """Give a parameter as a number; it must be zero or more."""
    if _is_number(value) and 0 <= float(value) < np.inf:
        return float(value)
    raise InputError(f"{name} must be a number of 0 or more{instead}; got {value!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _checked_contamination(contamination: object) -> float | None:
    if isinstance(contamination, str) and contamination == "auto":
        return None
    if isinstance(contamination, Real) and 0 < float(contamination) <= 0.5:
        return float(contamination)
    raise InputError(
        f'The contamination must be "auto" or a number above 0 and at most 0.5; '
        f"got {contamination!r}."
    )


def _mean_over_numbers(log_factors: Matrix) -> Vector:
    return log_factors[0] if len(log_factors) == 1 else log_factors.mean(axis=0)


def upper_fence(logs: Vector) -> float:
    """Give the upper quartile plus one and a half times the distance between the quartiles."""
    lower, upper = np.quantile(logs, [0.25, 0.75])
    return float(upper + 1.5 * (upper - lower))


def _warn_once(detector: LocalFactorDetector, wanted: Indices) -> None:
    """Tell what a user should know about the neighbours, in one warning at most."""
    index, n_others = detector._index, detector._index.n_rows - 1
    least = min(int(wanted.min()), max(1, n_others))
    n_piled = int(index.counts[index.counts > least].sum())
    said = []
    if wanted.max() > max(1, n_others):
        others = {0: "no other", 1: "1 other"}.get(n_others, f"{n_others} others")
        said.append(
            f"{wanted.max()} neighbours were asked for, but each row has {others}; all are taken."
        )
    if n_piled and detector._has_widths:
        said.append(
            f"{n_piled} of {index.n_rows} rows stand more than {least} times: their neighbours "
            "are copies at distance zero, and the smallest positive distance takes its place. "
            "More neighbours than a row has copies would compare it with other rows."
        )
    if said:
        warnings.warn(f"{type(detector).__name__}: {' '.join(said)}", UserWarning, stacklevel=3)


def learnt_factors(
    index: NeighborIndex, numbers: Indices, settings: DensitySettings
) -> Iterator[tuple[LocalDensities, Vector]]:
    """Give densities and log factors of the distinct rows for each k, from one neighbour search."""
    neighborhoods = find_neighborhoods(index, int(numbers.max()))
    for k in numbers:
        known = learn_densities(neighborhoods, int(k), settings)
        yield known, known_log_factors(neighborhoods, known, settings)


class DensityRatioDetector(LocalFactorDetector):
    """A detector whose factor is such a ratio; a subclass gives the kernel and its parameters."""

    _known: tuple[LocalDensities, ...]
    _has_widths = True

    @abstractmethod
    def _settings(self, n_columns: int) -> DensitySettings:
        """Give the kernel and its parameters, once they are checked."""

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
