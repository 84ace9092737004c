"""Factors that are the ratio of two densities: the neighbourhood's to the row's own."""

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kernova.neighbors.index import NeighborIndex
from kernova.neighbors.neighborhoods import NeighborBlock, find_neighborhoods
from kernova.score.local_densities import (
    DensitySettings,
    LocalDensities,
    known_log_factors,
    learn_densities,
    log_factors,
)
from kernova.score.local_factor import LocalFactorDetector

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]


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
