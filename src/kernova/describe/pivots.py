"""Which rows say most about a class: chosen one by one, each where the others explain least."""

import numpy as np
from numpy.typing import NDArray

from kernova.describe.class_description import affinities

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

# Of very many rows, so many times the number wanted are looked at, drawn by lot.
_CANDIDATES = 20


def pivot_rows(
    rows: Matrix, n_wanted: int, length_scale: float, random_state: np.random.RandomState
) -> Indices:
    """Choose rows by pivoted Cholesky: largest residual variance first; of equal ones the first.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [0.1], [0.2], [5.0], [9.0]])
    >>> pivot_rows(rows, 3, 1.0, np.random.RandomState(0))
    array([0, 3, 4])
    """
    pool = np.arange(len(rows))
    if len(rows) > _CANDIDATES * n_wanted:
        pool = np.sort(random_state.choice(len(rows), _CANDIDATES * n_wanted, replace=False))
    candidates = rows[pool]
    n_wanted = min(n_wanted, len(pool))
    explained = np.zeros((n_wanted, len(pool)))
    residual = np.ones(len(pool))
    chosen: list[int] = []
    for step in range(n_wanted):
        pivot = int(np.argmax(residual))
        if residual[pivot] <= 1e-12:  # what is left are copies
            break
        line = affinities(candidates[[pivot]], candidates, length_scale)[0]
        line -= explained[:step, pivot] @ explained[:step]
        explained[step] = line / np.sqrt(residual[pivot])
        residual -= explained[step] ** 2
        residual[pivot] = 0.0
        chosen.append(pivot)
    return pool[np.sort(chosen)]
