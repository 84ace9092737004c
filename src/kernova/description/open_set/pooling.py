"""Members' probabilities pooled into one, with weights learnt from rows that were held out.

The pool is logarithmic: log p is a weighted sum of the members' log p, normalised. The weights
minimise the log loss on held-out rows, so that they calibrate the pool, too: weights that sum to
less than one make it less sure. With few rows they stay near equal weights, by a normal prior on
their logarithms.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from kernova.typing import Indices, Mask, Matrix, Vector

# Log probabilities below this tell no more.
_LEAST: Final = -50.0
_ENOUGH_ROWS: Final = 5000


def pooled(log_probabilities: NDArray[np.float64], weights: Vector) -> Matrix:
    """Return the pooled log probability of each class, for members first, rows second.

    Examples
    --------
    >>> import numpy as np
    >>> members = np.log([[[0.5, 0.5]], [[0.9, 0.1]]])
    >>> np.exp(pooled(members, np.array([0.5, 0.5]))).round(3)
    array([[0.75, 0.25]])
    """
    return np.asarray(log_softmax(np.tensordot(weights, _bounded(log_probabilities), 1), axis=1))


def _bounded(log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(log_probabilities, _LEAST)


def pool_weights(
    log_probabilities: NDArray[np.float64], codes: Indices, row_weights: Vector
) -> Vector:
    """Return the weights of the members that minimise the log loss of held-out rows."""
    members = _bounded(log_probabilities)
    n_members, n_rows = members.shape[:2]
    equal = np.full(n_members, np.log(1 / n_members))
    if n_rows == 0 or members.shape[2] == 1:
        return np.exp(equal)
    rows = np.arange(n_rows)
    of_truth = members[:, rows, codes] @ row_weights

    def loss(logs: Vector) -> tuple[float, Vector]:
        weights = np.exp(logs)
        log_p = log_softmax(np.tensordot(weights, members, 1), axis=1)
        expected = np.einsum("mnk,nk->m", members, np.exp(log_p) * row_weights[:, None])
        away = logs - equal
        value = -float(log_p[rows, codes] @ row_weights) + float(away @ away)
        return value, weights * (expected - of_truth) + 2 * away

    return np.exp(minimize(loss, equal, jac=True, method="L-BFGS-B").x)


class Pool(NamedTuple):
    """Weights of the members, and pooled log probabilities of rows that had no say in them."""

    weights: Vector
    held_out: Matrix


def learn_pool(
    log_probabilities: NDArray[np.float64],
    codes: Indices,
    row_weights: Vector,
    parts: Indices,
    is_judged: Mask,
) -> Pool:
    """Learn the weights from rows that can be judged, and pool every row without its part."""

    def weights_without(part: int | None) -> Vector:
        used = np.flatnonzero(is_judged if part is None else is_judged & (parts != part))
        used = used[:: 1 + len(used) // _ENOUGH_ROWS]
        return pool_weights(log_probabilities[:, used], codes[used], row_weights[used])

    held_out = np.empty(log_probabilities.shape[1:])
    for part in np.unique(parts).tolist():
        inside = parts == part
        held_out[inside] = pooled(log_probabilities[:, inside], weights_without(part))
    return Pool(weights_without(None), held_out)
