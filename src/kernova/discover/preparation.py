"""Preparation of a table: standardised rows, hierarchies and other cached results of strategies.

Undoing an answer replays all others with a fresh asker, so starting one must be cheap: everything
costly is computed once per table and cached as long as its preparation lives.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.cluster.standardize import Standardization, standardized_rows
from kernova.neighbors.graph import NeighborGraph, neighbor_graph
from kernova.typing import Indices, Matrix

Value = TypeVar("Value")
Kind = TypeVar("Kind", bound=type)

# NamedTuples that a cache file may hold, by name.
SAVED_TYPES: dict[str, type] = {}

_cache: "WeakKeyDictionary[Preparation, dict[Hashable, object]]" = WeakKeyDictionary()


def saved_in_cache(kind: Kind) -> Kind:
    """Let a cache file hold values of a NamedTuple; strategies decorate what they cache."""
    SAVED_TYPES[kind.__name__] = kind
    return kind


saved_in_cache(NeighborGraph)


@saved_in_cache
class PreparedParts(NamedTuple):
    """Results computed so far, by the arguments they were requested with."""

    rows: dict[str, Matrix]
    hierarchies: dict[tuple[str, str, float], HierarchicalMeanShift]


class RowSample(NamedTuple):
    """A sample of the rows of a table, as a table of its own."""

    rows: Indices  # in ascending order
    preparation: "Preparation"


class Preparation:
    """Lazily standardised rows and hierarchies of one table, shared by all strategies.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Finite numbers.
    n_jobs : int or None
        Threads for building a hierarchy; the result does not depend on it.
    random_state : int
        Seed of strategies that use random numbers.
    columns : sequence of str
        Names of the columns, for reasons; empty if they have none.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.preparation import Preparation
    >>> table = Preparation(np.array([[0.0, 1.0], [0.1, 1.0], [5.0, 2.0]]))
    >>> table.hierarchy() is table.hierarchy()
    True
    """

    def __init__(
        self,
        X: Matrix,
        *,
        n_jobs: int | None = None,
        random_state: int = 0,
        columns: Sequence[str] = (),
    ) -> None:
        self.X = X
        self.columns = tuple(columns)
        self.n_jobs = n_jobs
        self.random_state = random_state
        self._rows: dict[str, Matrix] = {}
        self._hierarchies: dict[tuple[str, str, float], HierarchicalMeanShift] = {}
        self._samples: dict[int, RowSample] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.X)

    def rows(self, standardize: Standardization = "sphere") -> Matrix:
        """Return the standardised rows."""
        if standardize not in self._rows:
            self._rows[standardize] = standardized_rows(self.X, standardize)
        return self._rows[standardize]

    def hierarchy(
        self, standardize: Standardization = "sphere", reference: str = "data", growth: float = 1.1
    ) -> HierarchicalMeanShift:
        """Return the fitted hierarchy, built at the first call."""
        key = (standardize, reference, growth)
        if key not in self._hierarchies:
            model = HierarchicalMeanShift(
                growth=growth, reference=reference, standardize=standardize, n_jobs=self.n_jobs
            )
            self._hierarchies[key] = model.fit(self.X)
        return self._hierarchies[key]

    def neighbors(self, standardize: Standardization = "half-sphere", k: int = 10) -> NeighborGraph:
        """Return the ``k`` nearest distinct rows of each distinct row, found at the first call.

        Exact for few rows, nearly all of them for many: see
        :func:`~kernova.neighbors.graph.neighbor_graph`. Each ``k`` is searched on its own.
        """
        return cached(
            self,
            ("neighbors", standardize, k),
            lambda: neighbor_graph(self.rows(standardize), k, self.n_jobs),
        )

    def sample(self, n_rows: int) -> RowSample:
        """Return a random sample of the rows, drawn at the first call; the same for a seed."""
        if n_rows not in self._samples:
            random = np.random.RandomState(self.random_state)
            rows = np.sort(random.choice(self.n_rows, min(n_rows, self.n_rows), replace=False))
            table = Preparation(
                self.X[rows],
                n_jobs=self.n_jobs,
                random_state=self.random_state,
                columns=self.columns,
            )
            self._samples[n_rows] = RowSample(rows, table)
        return self._samples[n_rows]

    @property
    def parts(self) -> PreparedParts:
        """Results computed so far."""
        return PreparedParts(dict(self._rows), dict(self._hierarchies))

    def restore(self, parts: PreparedParts) -> None:
        """Add results computed earlier for the same table, without replacing any."""
        self._rows = parts.rows | self._rows
        self._hierarchies = parts.hierarchies | self._hierarchies


def cached(preparation: "Preparation", key: Hashable, make: Callable[[], Value]) -> Value:
    """Return the cached value of a table and key; the first call computes it by ``make``."""
    of_table = _cache.setdefault(preparation, {})
    if key not in of_table:
        of_table[key] = make()
    return cast(Value, of_table[key])


def cached_values(preparation: "Preparation") -> dict[Hashable, object]:
    """Return all cached values of a table, by key."""
    return dict(_cache.get(preparation, {}))


def restore(preparation: "Preparation", values: dict[Hashable, object]) -> None:
    """Add values cached earlier for the same table, without replacing any."""
    _cache[preparation] = values | _cache.get(preparation, {})
