"""What strategies need to know of a table before the first question, computed once and shared.

What a strategy works out for a table once, kept as long as the table's preparation lives.

Undoing an answer replays all others from a fresh start, so a start must cost next to nothing.
"""

from collections.abc import Callable, Hashable
from typing import NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.cluster.standardize import Standardization, standardized_rows


class PreparedParts(NamedTuple):
    """What was worked out so far, by what it was asked for with."""

    rows: dict[str, NDArray[np.float64]]
    hierarchies: dict[tuple[str, str, float], HierarchicalMeanShift]


class Preparation:
    """Lazily standardised rows and hierarchies of one table, shared by all strategies.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Finite numbers.
    n_jobs : int or None
        Threads for building a hierarchy; the result does not depend on it.
    random_state : int
        Seed for strategies that draw lots; kept here so that a replay draws the same.

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
        X: NDArray[np.float64],
        *,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.X = X
        self.n_jobs = n_jobs
        self.random_state = random_state
        self._rows: dict[str, NDArray[np.float64]] = {}
        self._hierarchies: dict[tuple[str, str, float], HierarchicalMeanShift] = {}

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return len(self.X)

    def rows(self, standardize: Standardization = "sphere") -> NDArray[np.float64]:
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

    @property
    def parts(self) -> PreparedParts:
        """What was worked out so far."""
        return PreparedParts(dict(self._rows), dict(self._hierarchies))

    def bring_back(self, parts: PreparedParts) -> None:
        """Take what was worked out for the same table before, and leave what is there."""
        self._rows = parts.rows | self._rows
        self._hierarchies = parts.hierarchies | self._hierarchies


Value = TypeVar("Value")

_kept: "WeakKeyDictionary[Preparation, dict[Hashable, object]]" = WeakKeyDictionary()


def kept(preparation: "Preparation", key: Hashable, make: Callable[[], Value]) -> Value:
    """Return what ``make`` gave when it was first called for this table and key."""
    of_table = _kept.setdefault(preparation, {})
    if key not in of_table:
        of_table[key] = make()
    return cast(Value, of_table[key])


def kept_values(preparation: "Preparation") -> dict[Hashable, object]:
    """Return everything that strategies have worked out for this table so far, by its key."""
    return dict(_kept.get(preparation, {}))


def bring_back(preparation: "Preparation", values: dict[Hashable, object]) -> None:
    """Keep values that were worked out for the same table before, unless there are some."""
    _kept[preparation] = values | _kept.get(preparation, {})
