"""Distances to the k-th nearest rows from products of all pairs, where few rows are searched.

|q - x|² - |q|² = |x|² - 2 q·x is one matrix product for a block of queries. It decides which row
is the k-th nearest; the distance to that row is then computed from differences, in which nothing
cancels. So distances are exact but for rows that are tied to 15 digits. In single precision, which
is several times as fast, two rows may change places whose squared distances differ by less than
about 1e-5 of |q|².
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernova.parallel import in_threads, single_blas_thread, slices
from kernova.typing import Indices, Matrix

# Products of a block stay in the processor's cache.
_BLOCK_PRODUCTS = 1 << 20


def kth_distances(
    rows: Matrix,
    numbers: Sequence[int],
    queries: Matrix,
    left_out: Indices | None = None,
    *,
    in_single_precision: bool = False,
) -> Matrix:
    """Return the distances of queries to their k-th nearest rows, a column for each number k.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows among which to look; duplicates count as often as they occur.
    numbers : sequence of int
        The numbers k; those beyond the number of rows count as that number.
    queries : ndarray of shape (n_queries, n_features)
        The rows whose neighbours are wanted.
    left_out : ndarray of shape (n_queries,), optional
        The row that is not a neighbour of a query, itself; -1 where all may be.
    in_single_precision : bool
        Take products in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.neighbors.products import kth_distances
    >>> rows = np.array([[0.0], [1.0], [1.0], [5.0]])
    >>> kth_distances(rows, [1, 3], np.array([[1.0]]))
    array([[0., 1.]])
    >>> kth_distances(rows, [1, 3], np.array([[1.0]]), np.array([1]))
    array([[0., 4.]])
    """
    if left_out is None or len(rows) == 1:  # a row that is alone is its own neighbour
        left_out = np.full(len(queries), -1)
    n_others = max(1, len(rows) - int(left_out.max(initial=-1) >= 0))
    places = [min(k, n_others) - 1 for k in numbers]
    dtype = np.float32 if in_single_precision else np.float64
    centre, factor = rows.mean(axis=0), _right_factor(rows, dtype)
    distances = np.empty((len(queries), len(places)))

    def search(block: slice) -> None:
        products = _products(queries[block] - centre, factor)
        is_own = left_out[block] >= 0
        products[is_own, left_out[block][is_own]] = np.inf
        for column, chosen in enumerate(_kth_smallest(products, places)):
            difference = queries[block] - rows[chosen]
            distances[block, column] = np.sqrt(np.einsum("ij,ij->i", difference, difference))

    with single_blas_thread:
        in_threads(search, slices(len(queries), max(1, _BLOCK_PRODUCTS // len(rows))))
    return distances


def _right_factor(rows: Matrix, dtype: type[np.floating]) -> NDArray[np.floating]:
    """Return the matrix whose product with (q, 1) is |x|² - 2 q·x for every row x."""
    centred = rows - rows.mean(axis=0)  # near the centre, products cancel least
    squares = np.einsum("ij,ij->i", centred, centred)
    return np.vstack([-2 * centred.T, squares]).astype(dtype)


def _products(centred: Matrix, factor: NDArray[np.floating]) -> NDArray[np.floating]:
    left = np.column_stack([centred, np.ones(len(centred))]).astype(factor.dtype)
    products: NDArray[np.floating] = left @ factor
    return products


def _kth_smallest(products: NDArray[np.floating], places: list[int]) -> list[Indices]:
    """Return the columns with the smallest, second smallest, ... number of each row."""
    if places == [0]:
        return [products.argmin(axis=1)]
    # Partitioning values and finding them again is faster than partitioning positions, and from
    # the largest place on each one has only the smaller values to look at.
    part, values = products, {}
    for place in sorted(set(places), reverse=True):
        part = np.partition(part, place, axis=1)[:, : place + 1]
        values[place] = part[:, place, None]
    return [(products == values[place]).argmax(axis=1) for place in places]
