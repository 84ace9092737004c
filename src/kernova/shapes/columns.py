"""Shape components of specimens: principal components of aligned landmarks, as columns."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernova.errors import InputError
from kernova.kernels.gram import principal_directions
from kernova.shapes.procrustes import GeneralizedProcrustes
from kernova.typing import Coordinates, Matrix

# The default of the species study.
N_COMPONENTS = 12
# Of unit centroid size: far below measurement error, far above rounding differences.
_DECIMALS = 6


class PlacedShapes(NamedTuple):
    """Specimens aligned to the consensus, and their columns."""

    # Landmarks without position, size and direction; missing ones are estimated; shape (n,
    # n_landmarks, n_dimensions).
    aligned: Coordinates
    rows: Matrix  # shape components; shape (n, n_components)


@dataclass(frozen=True, eq=False)
class ShapeColumns:
    """A mapping from landmarks to columns, learnt from specimens."""

    procrustes: GeneralizedProcrustes  # fitted; holds the consensus
    center: Matrix  # the mean of the aligned rows
    # Principal directions of the aligned rows, the strongest first; shape (n_landmarks *
    # n_dimensions, n_components).
    components: Matrix

    @property
    def names(self) -> list[str]:
        """Names of the columns: ``shape 1`` and so on."""
        return [f"shape {number}" for number in range(1, self.components.shape[1] + 1)]

    @property
    def landmarks_shape(self) -> tuple[int, int]:
        """Number of landmarks, and of coordinates of a landmark."""
        n_landmarks, n_dimensions = self.procrustes.consensus_.shape
        return int(n_landmarks), int(n_dimensions)

    def place(self, coordinates: Coordinates) -> PlacedShapes:
        """Align specimens to the consensus and return their columns.

        Parameters
        ----------
        coordinates : ndarray of shape (n, n_landmarks, n_dimensions)
            NaN where a landmark is missing.
        """
        if coordinates.shape[1:] != self.landmarks_shape:
            got, known = (
                f"{n} landmarks in {'space' if d == 3 else 'the plane'}"
                for n, d in (coordinates.shape[1:], self.landmarks_shape)
            )
            raise InputError(
                f"The specimens have {got}, but those of the training set have {known}; digitise "
                "the same landmarks in the same order."
            )
        aligned = self.procrustes.align(coordinates).coordinates
        rows = (aligned.reshape(len(aligned), -1) - self.center) @ self.components
        return PlacedShapes(aligned, np.round(rows, _DECIMALS))


def fit_shape_columns(coordinates: Coordinates, n_components: int = N_COMPONENTS) -> ShapeColumns:
    """Learn the shape components of specimens.

    Parameters
    ----------
    coordinates : ndarray of shape (n, n_landmarks, n_dimensions)
        NaN where a landmark is missing.
    n_components : int
        The number of columns; fewer if the specimens vary in fewer directions.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.shapes.columns import fit_shape_columns
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> specimens = square + np.random.default_rng(0).normal(0, 0.05, size=(30, 4, 2))
    >>> columns = fit_shape_columns(specimens)
    >>> columns.names
    ['shape 1', 'shape 2', 'shape 3', 'shape 4']
    >>> columns.place(specimens).rows.shape
    (30, 4)
    """
    procrustes = GeneralizedProcrustes(coordinates.shape[2], tolerance=1e-7)
    aligned = procrustes.fit(coordinates).align(coordinates).coordinates
    rows = aligned.reshape(len(aligned), -1)
    center = rows.mean(axis=0)
    n_possible = max(1, _n_shape_directions(*coordinates.shape[1:]))
    directions = principal_directions(rows - center, min(n_components, n_possible))
    spread = ((rows - center) @ directions).std(axis=0)
    is_real = spread > 10.0**-_DECIMALS
    is_real[0] = True  # identical specimens still get one column
    return ShapeColumns(procrustes, center, directions[:, is_real])


def _n_shape_directions(n_landmarks: int, n_dimensions: int) -> int:
    """Return the dimension of shape space: without position, size and direction."""
    n_turns = n_dimensions * (n_dimensions - 1) // 2
    return n_landmarks * n_dimensions - n_dimensions - 1 - n_turns
