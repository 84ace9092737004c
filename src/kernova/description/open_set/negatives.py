"""Rows that are known not to be of a class: "this is not b".

They tell what a row is not, but not what it is, so that no member can learn from them. Instead they
veto the class near themselves. A row closer to such a negative than to any row of the class loses
the class's probability; the veto ends at about the distance r between the negative and the nearest
row of the class. With the distances n and c of a row to the nearest negative and to the nearest
row of the class, the fraction vetoed is exp(-(n / r)^2) c^2 / (c^2 + n^2): 1 at the negative, 1/2
if a row of the class is its copy, and 0 far away.
"""

from typing import NamedTuple

import numpy as np

from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.typing import Indices, Matrix, Vector


class Negatives(NamedTuple):
    """Rows, as they were given, and the code of the class that each is not."""

    X: Matrix
    codes: Indices


def vetoes(rows: Matrix, negatives: Matrix, members: Matrix) -> Vector:
    """Return the fraction of a class's probability that each row loses.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0], [1.0], [2.0], [50.0]])
    >>> vetoes(rows, negatives=np.array([[1.0]]), members=np.array([[0.0]])).round(2)
    array([0.  , 1.  , 0.29, 0.  ])
    """
    reach = squared_distances(negatives, members).min(axis=1)
    found = np.empty(len(rows))
    for block in row_blocks(len(rows), 3 * (len(negatives) + len(members))):
        to_negative = squared_distances(rows[block], negatives)
        nearest = to_negative.argmin(axis=1)
        n = to_negative[np.arange(len(nearest)), nearest]
        c = squared_distances(rows[block], members).min(axis=1)
        found[block] = _fraction(n, c, reach[nearest])
    return found


def _fraction(n: Vector, c: Vector, reach: Vector) -> Vector:
    """Return the fraction vetoed, from squared distances."""
    both = n + c
    # At a negative that is a copy of a row of the class both are 0, and so is the reach.
    nearer = np.divide(c, both, out=np.full(len(both), 0.5), where=both > 0)
    decay = np.divide(n, reach, out=np.where(n > 0, np.inf, 0.0), where=reach > 0)
    return np.exp(-decay) * nearer
