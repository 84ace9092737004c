"""The ordinary rows most like a row, as the model itself compares rows where that is known."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from kernova.blocks import row_blocks
from kernova.explain.tables import Rows
from kernova.explain.verdicts import Route
from kernova.represent.columns import category_columns
from kernova.represent.encoding import TableEncoder

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
RowNumbers = NDArray[np.intp]

# Of so many nearest rows one is taken (measured: an isolation forest in ten dimensions names the
# one outlying feature first in 30 % of trials with 1, in 95 % with 4; depths hardly mind).
CANDIDATES_PER_ROW = 4
# Squares of such numbers, summed over millions of columns, stay finite.
_FARTHEST = 1e150


def comparable(route: Route, ordinary: Rows, others: Rows) -> tuple[Any, Any]:
    """Give the ordinary rows, and others, as numbers on which a distance makes sense.

    Behind a pipeline's transformers it is what these give. A bare detector that measures
    distances between rows as they come (kernova's own, LocalOutlierFactor, OneClassSVM) has them
    compared as they come. For any other, columns of numbers are divided by the interquartile
    range of the ordinary rows, and a differing category counts as much as one such range.
    """
    if route.transformers:
        return _plain(route.transformed(ordinary)), _plain(route.transformed(others))
    if _measures_as_it_comes(route.detector):
        return _plain(ordinary), _plain(others)
    return _on_common_scale(ordinary, others)


def nearest_rows(row: Any, ordinary: Any, n_nearest: int, leave_out: int | None) -> RowNumbers:
    """Give the numbers of the nearest ordinary rows, nearest first; of equals the first.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.explain.nearest import nearest_rows
    >>> ordinary = np.array([[0.0], [5.0], [1.0], [5.0]])
    >>> nearest_rows(np.array([[4.0]]), ordinary, 3, leave_out=None)
    array([1, 3, 2])
    """
    if issparse(ordinary):
        distances = euclidean_distances(row, ordinary).ravel()
    else:
        distances = _distances(row, ordinary)
    if leave_out is not None:
        distances[leave_out] = np.inf
    n_there = len(distances) - (leave_out is not None)
    return np.argsort(distances, kind="stable")[: min(n_nearest, n_there)]


def most_ordinary(candidates: RowNumbers, novelty: Vector, n: int) -> RowNumbers:
    """Choose the ``n`` rows of lowest novelty and leave them in their order."""
    return candidates[np.sort(np.argsort(novelty[candidates], kind="stable")[:n])]


def _distances(row: Matrix, ordinary: Matrix) -> Vector:
    distances = np.empty(len(ordinary))
    for block in row_blocks(len(ordinary), 3 * ordinary.shape[1]):
        # A power of two, so that nothing is rounded and no square overflows or vanishes.
        halves = ordinary[block] / 2 - row / 2
        exponent = np.frexp(np.abs(halves).max(axis=1))[1]
        np.ldexp(halves, -exponent[:, np.newaxis], out=halves)
        with np.errstate(over="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", halves, halves))
            distances[block] = np.ldexp(lengths, exponent)
    return distances


def _plain(rows: Any) -> Any:
    return rows.tocsr() if issparse(rows) else np.asarray(rows, dtype=np.float64)


def _measures_as_it_comes(detector: Any) -> bool:
    is_ours = type(detector).__module__.startswith("kernova.score.")
    return is_ours or isinstance(detector, LocalOutlierFactor | OneClassSVM)


def _on_common_scale(ordinary: Rows, others: Rows) -> tuple[Matrix, Matrix]:
    names = [f"x{j}" for j in range(ordinary.shape[1])]
    frame, other_frame = (pd.DataFrame(rows).set_axis(names, axis=1) for rows in (ordinary, others))
    # A column without any value says nothing of who is near.
    kept = frame.columns[frame.notna().any()]
    frame, other_frame = frame[kept], other_frame[kept]
    spreads = {name: _spread(_numbers(frame[name])) for name in kept[~category_columns(frame)]}
    divided, other_divided = (_divided(rows, spreads) for rows in (frame, other_frame))
    encoder = TableEncoder(scaling="none", missing="fill").fit(divided)
    return encoder.transform(divided), encoder.transform(other_divided)


def _divided(frame: pd.DataFrame, spreads: dict[str, float]) -> pd.DataFrame:
    columns: dict[Any, Any] = dict(frame.items())
    for name, spread in spreads.items():
        with np.errstate(over="ignore"):
            scaled = _numbers(frame[name]) / spread
        columns[name] = np.clip(scaled, -_FARTHEST, _FARTHEST)
    return pd.DataFrame(columns, index=frame.index)


def _numbers(column: "pd.Series[Any]") -> Vector:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _spread(numbers: Vector) -> float:
    """Give the interquartile range; where half of the values are one value, the whole range."""
    quarters = np.nanquantile(numbers / 2, [0.25, 0.75])
    whole = np.nanmax(numbers / 2) - np.nanmin(numbers / 2)
    spread = quarters[1] - quarters[0] if quarters[1] > quarters[0] else whole
    return 2 * float(spread) if spread > 0 else 1.0
