"""How far the best class must lead the next one before a row counts as clear.

Thresholds say whether a class claims a row. Where classes are known by a few odd rows, such as
those that an expert was asked about, they are so low that several classes claim nearly every row.
Which of them is right is then told by how far the best leads; and how far is far enough is told by
rows whose class is known, each judged by descriptions without it.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

# A share of fewer rows than these says nothing.
_FEWEST: Final = 5


def leads(log_membership: Matrix) -> Vector:
    """Give by how much the best class leads the next, in logarithms of membership.

    Examples
    --------
    >>> import numpy as np
    >>> leads(np.log([[0.8, 0.2, 0.1], [0.5, 0.5, 0.1]])).round(3)
    array([1.386, 0.   ])
    """
    if log_membership.shape[1] < 2:
        return np.full(len(log_membership), np.inf)
    second, best = np.partition(log_membership, -2, axis=1)[:, -2:].T
    # Two classes that know nothing of a row are equally far from it.
    return np.where(np.isneginf(best), 0.0, best - np.where(np.isneginf(best), 0.0, second))


def clear_lead(left_out: Matrix, codes: Indices, wanted: float = 0.9) -> float:
    """Find the smallest lead from which on rows are recognised rightly often enough.

    Parameters
    ----------
    left_out : array of shape (n_rows, n_classes)
        Memberships of rows whose class is known, each without itself.
    codes : array of int of shape (n_rows,)
        Their classes.
    wanted : float
        The share of rows with such a lead, or a larger one, that are to be right.

    Returns
    -------
    float
        The lead; infinite if no lead will do, or too few rows tell.

    Examples
    --------
    >>> import numpy as np
    >>> of_first = np.array([0.9, 0.8, 0.2, 0.1, 0.2, 0.5])
    >>> left_out = np.column_stack([of_first, [0.1, 0.1, 0.7, 0.9, 0.8, 0.6]])
    >>> round(clear_lead(left_out, np.array([0, 0, 1, 1, 1, 0])), 3)
    1.253
    """
    if left_out.shape[1] < 2:
        return 0.0
    with np.errstate(divide="ignore"):  # a class that knows nothing of a row
        logarithms = np.log(left_out)
    lead = leads(logarithms)
    largest_first = np.argsort(-lead, kind="stable")
    is_right = (logarithms.argmax(axis=1) == codes)[largest_first]
    share = np.cumsum(is_right) / np.arange(1, len(codes) + 1)
    lead = lead[largest_first]
    # Rows with the same lead are clear together, or not at all.
    is_last = np.append(lead[1:] < lead[:-1], True)
    enough = np.flatnonzero((share >= wanted) & is_last)
    return float(lead[enough[-1]]) if len(enough) and enough[-1] + 1 >= _FEWEST else float("inf")
