"""All rows in two dimensions: by their main axes at once, and by their neighbours where it pays."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Points = NDArray[np.float32]

# Axes of more columns than this are found without a full decomposition.
_MANY_COLUMNS: Final = 400
# Up to so many times the radius that holds nearly all rows, a map keeps all proportions.
_PLAIN_REACH: Final = 3.0
_NEARLY_ALL: Final = 0.98


@dataclass(frozen=True, eq=False)
class RowMap:
    """Every row as a point.

    Attributes
    ----------
    kind : {"axes", "neighbours"}
        What nearness on the map stands for.
    points : ndarray of shape (n_rows, 2)
        Single precision, each number within -1 and 1.
    words : str
        What a reader of the map should know.
    """

    kind: Literal["axes", "neighbours"]
    points: Points
    words: str


def axes_map(encoded: Matrix) -> RowMap:
    """Draw the rows along the two axes in which they differ most (principal components, PCA).

    Rows far out are drawn nearer, in their direction, where they would squeeze all others.

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
    >>> from kernova.studies.discovery_map import axes_map
    >>> drawn = axes_map(np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]))
    >>> drawn.points[:, 0].tolist()
    [-1.0, 0.0, 1.0]
    >>> drawn.words
    'The two axes along which rows differ most: 100 % of all differences.'
    """
    scores, share = main_axes(encoded, 2)
    points, is_bent = fitted_points(scores)
    words = f"The two axes along which rows differ most: {100 * share:.0f} % of all differences."
    if is_bent:
        words += " Rows far out are drawn nearer."
    return RowMap("axes", points, words)


def main_axes(encoded: Matrix, n_axes: int) -> tuple[Matrix, float]:
    """Give the rows along their strongest axes, and which share of all variance these hold."""
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
    """Give directions with signs of their own: the column with the largest part counts up."""
    n_axes = min(n_axes, *rows.shape)
    if rows.shape[1] <= _MANY_COLUMNS:
        directions = np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :n_axes]
    else:
        from sklearn.utils.extmath import randomized_svd

        directions = randomized_svd(rows, n_axes, random_state=0)[2].T
    strongest = np.abs(directions).argmax(axis=0)
    signs = np.sign(directions[strongest, np.arange(n_axes)])
    return np.asarray(directions * signs)


def fitted_points(scores: Matrix) -> tuple[Points, bool]:
    """Fit points into the square from -1 to 1, and tell whether far ones had to be drawn nearer.

    Proportions stay as they are unless a few rows are so far out that nothing else could be seen;
    then distances from the middle grow by their logarithm beyond the radius of nearly all rows.
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
    # Centred by the extremes, so that the square is well used.
    low, high = offsets.min(axis=0), offsets.max(axis=0)
    centred = offsets - (low + high) / 2
    scaled = centred / np.abs(centred).max()
    return np.clip(scaled, -1, 1).astype(np.float32), is_bent
