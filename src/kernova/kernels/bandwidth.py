"""Bandwidth rules: a kernel's width chosen from the rows alone, without labels."""

from collections.abc import Callable
from numbers import Real

import numpy as np

from kernova.errors import InputError, quoted
from kernova.kernels.functions import squared_distances
from kernova.neighbors.index import from_unit, in_unit, unit_exponent
from kernova.neighbors.neighborhoods import nearest_distances
from kernova.parallel import row_blocks
from kernova.typing import Matrix, Vector

# Above this number of rows the median is taken over the distances of a sample to all rows.
_MANY_ROWS = 4000
_SAMPLED_ROWS = 1000


def nearest_bandwidth(X: Matrix) -> float:
    """Return the median distance to the nearest other row (Algorithm 2 of the KSD paper).

    If more than half of the rows have duplicates that median is zero; then it is taken over the
    distances to the nearest row that differs. Rows that are all equal have no scale, and get 1.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_bandwidth(np.array([[0.0], [1.0], [3.0], [3.0]]))
    0.5
    """
    bandwidth = _median(nearest_distances(X)) if len(X) > 1 else 0.0
    return bandwidth if bandwidth > 0 else _median(nearest_distinct_distances(X))


def half_nearest_bandwidth(X: Matrix) -> float:
    """Return half of the "nearest" bandwidth: depth then depends on the nearest known rows alone.

    At the median distance to the nearest row a Gaussian kernel is .02. Measured against the other
    rules in ``benchmarks/detector_defaults.py``.

    Examples
    --------
    >>> import numpy as np
    >>> half_nearest_bandwidth(np.array([[0.0], [1.0], [3.0], [3.0]]))
    0.25
    """
    return nearest_bandwidth(X) / 2


def reach_bandwidth(X: Matrix) -> float:
    """Return half of the distance within which nine rows of ten have another, distinct row.

    So nine rows of ten have a neighbour within two bandwidths, where a Gaussian kernel is still
    .02. Where rows are sparse at the edges this is wider than "nearest", and far rows remain
    comparable; where all rows are about equally far apart, as in many columns, it is narrower
    and sharper. Measured against "nearest" in ``benchmarks/bandwidth_rules.py``.

    Examples
    --------
    >>> import numpy as np
    >>> reach_bandwidth(np.array([[0.0], [1.0], [3.0], [3.0]]))
    1.0
    """
    return float(np.quantile(nearest_distinct_distances(X), 0.9)) / 2


def median_bandwidth(X: Matrix) -> float:
    """Return the median over the rows of their median distance to all rows, themselves included.

    Of more than 4,000 rows, a thousand at even distances in sorted order stand for all in the
    outer median: the same ones in every call, and in whatever order the rows are given.
    """
    rows = X
    if len(X) > _MANY_ROWS:
        places = (np.arange(_SAMPLED_ROWS) + 0.5) * (len(X) / _SAMPLED_ROWS)
        rows = X[np.lexsort(X.T[::-1])[places.astype(np.intp)]]
    X, rows, exponent = _to_unit_scale(X, rows)
    medians = np.empty(len(rows))
    for block in row_blocks(len(rows), len(X)):
        medians[block] = np.median(np.sqrt(squared_distances(rows[block], X)), axis=1)
    bandwidth = float(from_unit(np.asarray(np.median(medians)), exponent))
    # More than half of all pairs are duplicates; the nearest distinct rows have a distance.
    return bandwidth if bandwidth > 0 else nearest_bandwidth(from_unit(X, exponent))


def nearest_distinct_distances(X: Matrix) -> Vector:
    """Return the distance of each row to the nearest row that differs; 1 if all are equal."""
    if not np.any(X.min(axis=0) < X.max(axis=0)):
        return np.ones(len(X))
    return nearest_distances(X, skip_duplicates=True)


def _median(distances: Vector) -> float:
    """Return the median; the mean of the two in the middle does not overflow."""
    return float(np.median(distances / 2) * 2)


def _to_unit_scale(X: Matrix, rows: Matrix) -> tuple[Matrix, Matrix, int]:
    """Divide by a power of two, which is exact, so that squares neither overflow nor vanish."""
    exponent = unit_exponent(X)
    return in_unit(X, exponent), in_unit(rows, exponent), exponent


BANDWIDTH_RULES: dict[str, Callable[[Matrix], float]] = {
    "half-nearest": half_nearest_bandwidth,
    "nearest": nearest_bandwidth,
    "reach": reach_bandwidth,
    "median": median_bandwidth,
}


def chosen_bandwidth(bandwidth: "str | float", X: Matrix) -> float:
    """Apply a named rule to the rows, or check the number that was given."""
    if isinstance(bandwidth, str):
        if bandwidth not in BANDWIDTH_RULES:
            raise InputError(
                f"There is no bandwidth rule named {quoted(bandwidth)}. "
                f"Use one of {', '.join(BANDWIDTH_RULES)}, or a positive number."
            )
        return BANDWIDTH_RULES[bandwidth](X)
    is_positive = isinstance(bandwidth, Real) and np.isfinite(bandwidth) and bandwidth > 0
    if not is_positive or isinstance(bandwidth, bool):
        raise InputError(
            f"The bandwidth must be a positive number or the name of a rule "
            f"({', '.join(BANDWIDTH_RULES)}); got {quoted(bandwidth)}."
        )
    return float(bandwidth)
