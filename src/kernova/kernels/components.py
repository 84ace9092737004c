"""Principal components of many wide rows, such as embeddings, in blocks of constant memory."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import eigh

from kernova.parallel import row_blocks
from kernova.progress import track
from kernova.typing import Matrix, Vector

# Components with less than this fraction of the largest variance are rounding or redundant.
_NEGLIGIBLE = 1e-6
# With fewer rows for each component, rows would be about equally far from each other.
_ROWS_PER_COMPONENT = 5


class WideRows(Protocol):
    """Rows of numbers in memory, or in a file that is mapped to memory."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and of columns."""

    def __getitem__(self, rows: slice, /) -> Matrix:
        """Return some rows."""


class JoinedRows:
    """Rows of several arrays, one after another.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.kernels.components import JoinedRows
    >>> rows = JoinedRows([np.zeros((2, 3)), np.ones((2, 3))])
    >>> rows.shape, rows[1:3].tolist()
    ((4, 3), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    """

    def __init__(self, parts: Sequence[WideRows]) -> None:
        self._parts = list(parts)
        self.shape = (sum(part.shape[0] for part in parts), parts[0].shape[1])

    def __getitem__(self, rows: slice, /) -> Matrix:
        start, stop, _ = rows.indices(self.shape[0])
        found, first = [], 0
        for part in self._parts:
            begin, end = max(start - first, 0), min(stop - first, part.shape[0])
            if begin < end:
                found.append(part[begin:end])
            first += part.shape[0]
        return np.concatenate(found)


class Components(NamedTuple):
    """Principal components: rows become ``(row - center) @ directions``."""

    center: Vector
    directions: Matrix  # of length one, the strongest first; shape (n_columns, n_components)
    variances: Vector  # of the components


def principal_components(
    rows: WideRows,
    n_components: int,
    prepare: Callable[[Matrix], Matrix] = np.asarray,
    task: str = "learning components",
) -> Components:
    """Return the first principal components of rows, read twice in blocks.

    There are fewer where rows vary in fewer directions, or where there are fewer than five rows for
    each; none if all rows are equal. The largest entry of each direction is positive.

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_columns)
        Finite numbers of any type.
    n_components : int
        The largest number of components.
    prepare : callable, optional
        Turns a block of rows into the numbers to analyse, row by row.
    task : str
        Name of the work, for progress.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.kernels.components import principal_components
    >>> rows = np.random.default_rng(0).normal(size=(100, 3)) * [1, 10, 0]
    >>> found = principal_components(rows.astype(np.float32), 5)
    >>> found.directions.round(1).T.tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    n_rows, n_columns = rows.shape
    blocks = row_blocks(n_rows, 4 * n_columns)
    center = np.zeros(n_columns)
    for block in blocks:
        center += _numbers(rows[block], prepare).sum(axis=0) / n_rows
    covariance = np.zeros((n_columns, n_columns))
    for block in track(blocks, task):
        centred = _numbers(rows[block], prepare) - center
        covariance += centred.T @ centred / n_rows
    n_wanted = min(n_components, max(1, n_rows // _ROWS_PER_COMPONENT), n_columns)
    variances, directions = eigh(
        covariance, subset_by_index=(n_columns - n_wanted, n_columns - 1), check_finite=False
    )
    variances, directions = variances[::-1], directions[:, ::-1]
    # Rounding of the mean leaves a variance in rows that are all equal.
    rounding = n_columns * (8 * np.finfo(np.float64).eps * np.abs(center).max(initial=0.0)) ** 2
    is_real = variances > max(_NEGLIGIBLE * max(float(variances[0]), 0.0), rounding)
    variances, directions = variances[is_real], directions[:, is_real]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return Components(center, directions * np.where(largest < 0, -1.0, 1.0), variances)


def _numbers(block: Matrix, prepare: Callable[[Matrix], Matrix]) -> Matrix:
    return prepare(np.asarray(block, dtype=np.float64))


def component_scores(
    rows: WideRows,
    components: Components,
    prepare: Callable[[Matrix], Matrix] = np.asarray,
    decimals: int = 6,
) -> Matrix:
    """Return the scores of rows on principal components, rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.kernels.components import component_scores, principal_components
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> found = principal_components(rows, 2)
    >>> component_scores(rows, found).shape
    (100, 2)
    """
    n_rows, n_columns = rows.shape
    scores = np.empty((n_rows, components.directions.shape[1]))
    for block in row_blocks(n_rows, 4 * n_columns):
        scores[block] = (_numbers(rows[block], prepare) - components.center) @ components.directions
    return np.round(scores, decimals) + 0.0
