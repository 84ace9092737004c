"""Map of the first two principal components of all rows, and how any map is fitted to a square."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from kernova.text import percent
from kernova.typing import Matrix
from kernova.typing import Single as Points

MapKind = Literal["axes", "sample", "neighbours"]

# With more columns than this, the axes come from a randomised decomposition.
_MANY_COLUMNS: Final = 400
# Rows beyond this multiple of the radius that holds nearly all rows are drawn nearer.
_PLAIN_REACH: Final = 3.0
_NEARLY_ALL: Final = 0.98

BENT: Final = " Outlying rows are drawn nearer."


@dataclass(frozen=True, eq=False)
class RowMap:
    """Coordinates of every row.

    Attributes
    ----------
    kind : {"axes", "sample", "neighbours"}
        Principal components, the layout of nearest neighbours, or a coarse one of a sample.
    points : ndarray of shape (n_rows, 2)
        Single precision, between -1 and 1.
    words : str
        Note for the reader of the map.
    """

    kind: MapKind
    points: Points
    words: str


def axes_map(encoded: Matrix) -> RowMap:
    """Return the map of the first two principal components (PCA).

    Outlying rows are drawn nearer, in their direction, where they would squeeze all others.

    Parameters
    ----------
    encoded : array of shape (n_rows, n_columns)
        The rows as finite numbers.

    Returns
    -------
    RowMap
        The same for the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.row_map import axes_map
    >>> drawn = axes_map(np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    >>> drawn.points[:, 0].tolist()
    [-1.0, 0.0, 1.0]
    >>> drawn.words
    'The first two principal components: 100 % of the variance.'
    """
    scores, variance = principal_scores(encoded, 2)
    points, is_bent = fit_to_square(scores)
    words = f"The first two principal components: {percent(variance)} of the variance."
    return RowMap("axes", points, words + BENT * is_bent)


def principal_scores(encoded: Matrix, n_axes: int) -> tuple[Matrix, float]:
    """Return the scores on the first principal components, and their fraction of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.row_map.axes import principal_scores
    >>> scores, variance = principal_scores(np.array([[0.0, 3.0], [2.0, 3.0]]), 1)
    >>> variance, scores.tolist()
    (1.0, [[-0.25], [0.25]])
    """
    largest = np.abs(encoded).max(initial=0.0)
    rows = encoded / (np.ldexp(1.0, int(np.clip(np.frexp(largest)[1], -1021, 1023))))
    rows = rows - rows.mean(axis=0)
    scores = np.zeros((len(rows), n_axes))
    total = float(np.einsum("ij,ij->", rows, rows))
    if total == 0:
        return scores, 1.0
    directions = _strongest_directions(rows, n_axes)
    found = rows @ directions
    scores[:, : found.shape[1]] = found
    return scores, min(1.0, float(np.einsum("ij,ij->", found, found)) / total)


def _strongest_directions(rows: Matrix, n_axes: int) -> Matrix:
    """Return principal directions; the largest entry of each is positive.

    Unlike :func:`~kernova.kernels.gram.principal_directions`, it never factorises all rows: a
    table may have a million.
    """
    n_axes = min(n_axes, *rows.shape)
    if rows.shape[1] <= _MANY_COLUMNS:
        directions = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :n_axes]
    else:
        from sklearn.utils.extmath import randomized_svd

        directions = randomized_svd(rows, n_axes, random_state=0)[2].T
    strongest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[strongest, np.arange(n_axes)])
    return np.asarray(directions * signs)


def fit_to_square(scores: Matrix) -> tuple[Points, bool]:
    """Scale points to the square from -1 to 1; return whether outlying ones were drawn nearer.

    Proportions are kept unless a few rows are so far out that nothing else could be seen. Then
    distances from the middle are logarithmic beyond the radius of nearly all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.workbench.row_map.axes import fit_to_square
    >>> points, is_bent = fit_to_square(np.array([[0.0, 0.0], [3.0, 1.0]]))
    >>> points[:, 0].tolist(), is_bent
    ([-1.0, 1.0], False)
    """
    if len(scores) == 0:
        return np.zeros((0, 2), dtype=np.float32), False
    middle = np.median(scores, axis=0)
    offsets = scores - middle
    radii = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    usual, farthest = float(np.quantile(radii, _NEARLY_ALL)), float(radii.max())
    if farthest == 0:
        return np.zeros(scores.shape, dtype=np.float32), False
    usual = usual or float(radii[radii > 0].min())
    is_bent = farthest > _PLAIN_REACH * usual
    if is_bent:
        ratio = np.maximum(radii / usual, 1.0)
        offsets = offsets * ((1 + np.log(ratio)) / ratio)[:, None]
    # Centred between the extremes, to use the whole square.
    low, high = offsets.min(axis=0), offsets.max(axis=0)
    centred = offsets - (low + high) / 2
    scaled = centred / np.abs(centred).max()
    return np.clip(scaled, -1, 1).astype(np.float32), is_bent
