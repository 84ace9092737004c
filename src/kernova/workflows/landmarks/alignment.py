"""Alignment of specimens as a step before a detector: from landmarks to shape coordinates."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import validate_data
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.shapes.tangent import tangent_projection
from kernova.typing import Coordinates, Mask, Matrix, Vector

Rows = TypeVar("Rows", pd.DataFrame, Matrix)
LOG_SIZE = "log centroid size"
# Of unit centroid size: far below measurement error, far above rounding differences.
_DECIMALS = 6
_TOLERANCE = 1e-7


class _Split(NamedTuple):
    coordinates: Matrix  # a specimen per row
    log_factors: Vector  # of size


class _Placed(NamedTuple):
    aligned: Coordinates  # without position, size and rotation; missing landmarks are estimated
    log_sizes: Vector  # in the unit of the input, and multiplied by its factors
    is_missing: Mask  # specimens × landmarks


class ShapeCoordinates(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Shape coordinates: specimens aligned by GPA, projected onto the tangent plane.

    The columns are [x1 y1 x2 y2 ...]; missing landmarks (NaN) are estimated. Position, size and
    rotation of a specimen have no effect, so that specimens may be aligned to something else
    before, for example to show them. As the first step of a pipeline, the consensus is learnt
    from the same rows as the detector, and held-out specimens are aligned as new ones are.

    Parameters
    ----------
    dimensions : int, default=2
        Coordinates per landmark.
    size : bool, default=False
        Whether the last column is the logarithm of a factor of size: a specimen's centroid size
        is multiplied by it, and the logarithm becomes one more feature.

    Attributes
    ----------
    procrustes_ : GeneralizedProcrustes
        The fitted alignment, with the consensus.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from kernova.workflows.landmarks.alignment import ShapeCoordinates
    >>> triangle = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0]])
    >>> turned = 10 + 3 * triangle @ [[0, 1], [-1, 0]]
    >>> rows = pd.DataFrame(np.stack([triangle, turned]).reshape(2, 6))
    >>> first, second = ShapeCoordinates().fit_transform(rows).to_numpy()
    >>> bool(np.allclose(first, second))
    True
    """

    def __init__(self, dimensions: int = 2, size: bool = False) -> None:
        self.dimensions = dimensions
        self.size = size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Rows, y: object = None) -> Self:
        """Compute the consensus of specimens, one per row."""
        validate_data(self, X, skip_check_array=True)  # names and number of features only
        procrustes = GeneralizedProcrustes(self.dimensions, tolerance=_TOLERANCE)
        self.procrustes_ = procrustes.fit(self._split(X).coordinates)
        return self

    def transform(self, X: Rows) -> Rows:
        """Return the tangent coordinates of specimens, and their log size if asked for."""
        placed = self._placed(X)
        tangent = tangent_projection(placed.aligned, self.procrustes_.consensus_)
        return self._like(X, np.round(tangent, _DECIMALS), np.round(placed.log_sizes, _DECIMALS))

    def align(self, X: Rows) -> Rows:
        """Return aligned coordinates, of the same shapes as given; missing ones stay missing."""
        placed = self._placed(X)
        aligned = np.where(placed.is_missing[..., np.newaxis], np.nan, placed.aligned)
        return self._like(X, aligned, placed.log_sizes)

    @property
    def n_landmarks(self) -> int:
        """Number of landmarks of each specimen."""
        check_is_fitted(self)
        return int(self.procrustes_.consensus_.shape[0])

    def _placed(self, X: Rows) -> _Placed:
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        points, log_factors = self._split(X)
        found = self.procrustes_.align(points)
        is_missing = np.isnan(points).reshape(found.coordinates.shape).any(axis=2)
        log_sizes = log_factors + np.log(found.centroid_sizes)
        return _Placed(found.coordinates, log_sizes, np.asarray(is_missing))

    def _split(self, X: Rows) -> _Split:
        rows = np.asarray(X, dtype=np.float64)
        return _Split(rows[:, :-1], rows[:, -1]) if self.size else _Split(rows, np.zeros(len(rows)))

    def _like(self, X: Rows, points: Coordinates, log_sizes: Vector) -> Rows:
        rows = points.reshape(len(points), -1)
        if self.size:
            rows = np.column_stack([rows, log_sizes])
        if not isinstance(X, pd.DataFrame):
            return rows
        return pd.DataFrame(rows, index=X.index, columns=X.columns)


@dataclass(frozen=True)
class LandmarkColumns:
    """How specimens became columns of a table, kept in a model so that new ones become the same."""

    alignment: ShapeCoordinates  # fitted to the specimens of the table
    has_scales: bool  # whether sizes are in real units, by the scales of the file
    id_column: str | None  # of a wide table
    label_column: str | None

    @property
    def layout(self) -> tuple[int, int]:
        """Number of landmarks, and of coordinates of each."""
        return self.alignment.n_landmarks, self.alignment.dimensions


def alignment_step(reader: object) -> ShapeCoordinates | None:
    """Return the first step of a pipeline for a table of specimens, None for any other table."""
    if not isinstance(reader, LandmarkColumns):
        return None
    return ShapeCoordinates(reader.alignment.dimensions, reader.alignment.size)
