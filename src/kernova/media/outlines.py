"""Outlines of specimens: landmarks over the mean shape, with links and a border.

Landmark files do not tell which landmarks are connected. Two are linked if no third is nearer to
both (the relative neighbourhood graph), which follows eyes, jaws and curves and never crosses
itself. The border is the convex hull, extended inwards to landmarks that lie close to it.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import ConvexHull, QhullError

from kernova.media.row_media import MediaKind, RowMedia
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.procrustes import fit_similarity
from kernova.typing import Coordinates, Matrix

# With more landmarks than this, only the minimum spanning tree is drawn.
_MOST_COMPARED: Final = 300
# A landmark is on the border if its distance is below this fraction of the side next to it.
_DEPTH: Final = 0.12
_DECIMALS: Final = 5
_MARGIN: Final = 0.06


class OutlineRows(RowMedia):
    """Media of rows that are specimens with landmarks.

    Parameters
    ----------
    landmarks : Landmarks
        The specimens as read.
    aligned : ndarray of shape (n, n_landmarks, n_dimensions)
        The same, superimposed on the consensus.
    consensus : ndarray of shape (n_landmarks, n_dimensions)
        The mean shape.
    """

    kind: MediaKind = "outline"

    def __init__(self, landmarks: Landmarks, aligned: Coordinates, consensus: Matrix) -> None:
        super().__init__(landmarks.ids)
        self._landmarks = landmarks
        self._aligned = aligned
        mean = consensus[:, :2]
        border = border_of(mean)
        self._common = {
            "consensus": _shown(mean),
            "border": border,
            "links": links_between(mean, border),
            "box": _box(aligned[..., :2]),
        }

    def has(self, row: int) -> bool:
        """Return True for every row of the table."""
        return self._is_row(row)

    def outline(self, row: int) -> dict[str, Any]:
        """Return the specimen over the mean shape, with y growing downwards.

        Returns
        -------
        dict
            ``points`` and ``consensus``: [x, y] of each landmark, of unit centroid size;
            ``border``: landmarks, from 0, around the shape in order; ``links``: pairs of landmarks
            to connect inside it; ``curves``: lists of [x, y] digitised on this specimen;
            ``missing``: landmarks that were estimated; ``box``: [left, top, right, bottom] that
            holds nearly all specimens.
        """
        if not self._is_row(row):
            raise self._missing(row, "outline")
        raw = self._landmarks.coordinates[row]
        is_missing = np.isnan(raw).any(axis=1)
        curves = [*self._landmarks.curves[row], *self._landmarks.outlines[row]]
        return {
            "points": _shown(self._aligned[row, :, :2]),
            **self._common,
            "curves": _aligned_curves(curves, raw, self._aligned[row]),
            "missing": np.flatnonzero(is_missing).tolist(),
        }


# --- links and border ------------------------------------------------------------------------


def links_between(shape: Matrix, border: Sequence[int] = ()) -> list[list[int]]:
    """Return pairs of landmarks to connect, except for sides of the border.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.outlines import links_between
    >>> links_between(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.1], [1.0, 5.0]]))
    [[0, 1], [1, 2], [1, 3]]
    """
    distances = np.linalg.norm(shape[:, None] - shape[None], axis=2)
    is_linked = _spanning(distances) if len(shape) > _MOST_COMPARED else _neighbours(distances)
    around = list(border)
    for one, other in zip(around, around[1:] + around[:1], strict=True):
        is_linked[one, other] = is_linked[other, one] = False
    return np.argwhere(np.triu(is_linked, 1)).tolist()


def border_of(shape: Matrix) -> list[int]:
    """Return the landmarks around a shape in order; none if they lie on one line.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.media.outlines import border_of
    >>> square = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]
    >>> border_of(np.array([*square, [2.0, 0.2], [2.0, 2.0]]))
    [0, 4, 1, 2, 3]
    """
    try:
        around = ConvexHull(shape).vertices.tolist()
    except QhullError:
        return []
    side = 0
    while side < len(around):
        between = _near_side(shape, around, side)
        if between is None:
            side += 1
        else:
            around.insert(side + 1, between)
    first = around.index(min(around))
    return [int(landmark) for landmark in around[first:] + around[:first]]


def _near_side(shape: Matrix, around: list[int], side: int) -> int | None:
    """Return the landmark nearest to a side of the border, if it is close enough to lie on it."""
    start, end = shape[around[side]], shape[around[(side + 1) % len(around)]]
    direction = end - start
    length = float(np.linalg.norm(direction))
    inner = [landmark for landmark in range(len(shape)) if landmark not in around]
    if length == 0 or not inner:
        return None
    away = shape[inner] - start
    along = away @ direction / length**2
    depth = np.abs(away[:, 0] * direction[1] - away[:, 1] * direction[0]) / length**2
    # A landmark at the end of a side belongs to the corner.
    depth[(along < 0.1) | (along > 0.9)] = np.inf
    nearest = int(depth.argmin())
    return inner[nearest] if depth[nearest] < _DEPTH else None


def _neighbours(distances: Matrix) -> NDArray[np.bool_]:
    """Return which pairs have no third landmark nearer to both (relative neighbourhood graph)."""
    n = len(distances)
    is_linked = np.zeros((n, n), dtype=np.bool_)
    for one in range(n):
        farther = np.maximum(
            distances[one][None, :], distances
        )  # distance of a third to the farther one
        farther[:, one] = np.inf
        np.fill_diagonal(farther, np.inf)
        is_linked[one] = farther.min(axis=1, initial=np.inf) >= distances[one]
    np.fill_diagonal(is_linked, False)
    return is_linked & is_linked.T


def _spanning(distances: Matrix) -> NDArray[np.bool_]:
    # A distance of 0 would count as not connected.
    tree = minimum_spanning_tree(distances + 1e-12).toarray() > 0
    return np.asarray(tree | tree.T)


# --- numbers for a page ----------------------------------------------------------------------


def _shown(points: Matrix) -> list[list[float]]:
    return np.round(points * [1, -1] + 0.0, _DECIMALS).tolist()


def _box(aligned: Coordinates) -> list[float]:
    """Return limits that a few outlying specimens may cross, so that the others are not tiny."""
    low = np.quantile(aligned.min(axis=1), 0.005, axis=0)
    high = np.quantile(aligned.max(axis=1), 0.995, axis=0)
    margin = _MARGIN * float((high - low).max())
    (left, bottom), (right, top) = low - margin, high + margin
    return [round(float(side), _DECIMALS) for side in (left, -top, right, -bottom)]


def _aligned_curves(
    curves: Sequence[Matrix], raw: Matrix, aligned: Matrix
) -> list[list[list[float]]]:
    """Superimpose curves by the transformation of the specimen's landmarks."""
    is_seen = np.isfinite(raw).all(axis=1)
    if not curves or is_seen.sum() < raw.shape[1]:
        return []
    similarity = fit_similarity(raw[is_seen], aligned[is_seen], reflection=True)
    usable = [points[np.isfinite(points).all(axis=1)] for points in curves]
    return [
        _shown(similarity.apply(points)[:, :2])
        for points in usable
        if len(points) > 1 and points.shape[1] == raw.shape[1]
    ]
