"""What answers teach about directions: along which of them a category spreads by itself."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

# Before any answer all directions matter alike; that weighs as much as so many answers.
_PRIOR_ANSWERS: Final = 10
_POWER: Final = 1 / 4


def taught_axes(rows: Matrix, labels: Sequence[str]) -> Matrix | None:
    """Give axes along which categories spread more equally, learnt from rows that were named.

    These are the axes of the covariance within categories, shrunk towards equal variances, each
    scaled by its variance to the power -1/4; an axis with the mean variance stays as it is. Along a
    direction in which rows of one category differ much, distances then count for less. The power
    -1/2 would make them count equally, but a few dozen answers, some of them wrong, do not tell
    directions well enough for that.

    Parameters
    ----------
    rows : array of shape (n_named, n_axes)
    labels : sequence of str
        The category of each.

    Returns
    -------
    array of shape (n_axes, n_axes), or None
        To be multiplied with rows from the right; None while no category varies.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.taught_axes import taught_axes
    >>> rows = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> axes = taught_axes(rows, ["a", "a", "b"])  # the first axis varies within a category
    >>> np.abs(rows @ axes).max(axis=0).round(2)
    array([4.1 , 2.94])
    """
    _, codes, counts = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, codes, rows)
    centred = rows - (sums / counts[:, None])[codes]
    scatter = centred.T @ centred
    n_free = len(rows) - len(counts)
    if n_free == 0 or np.trace(scatter) == 0:
        return None
    variance = np.trace(scatter) / n_free / len(scatter)
    prior = _PRIOR_ANSWERS * variance * np.eye(len(scatter))
    variances, directions = np.linalg.eigh((scatter + prior) / (n_free + _PRIOR_ANSWERS))
    return np.asarray(directions * (variance / variances) ** _POWER)
