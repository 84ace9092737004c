"""Approximate neighbours of many rows in many columns, by faiss (the extra ``fast``)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from kernova.errors import InputError
from kernova.typing import Indices, Matrix, Vector

# Rows are sorted into lists around centres, about this many times sqrt(n).
_LISTS_PER_ROOT = 2
_TRAINING_ROWS_PER_LIST = 64
# More and more lists are searched until the recall on a sample is this good, or all are searched.
_WANTED_RECALL = 0.95
_SAMPLED_QUERIES = 128
_SEED = 0
_ROUNDING = 1e-12


class InvertedLists:
    """Inverted file index: rows in lists around centres; a query searches the nearest lists only.

    Attributes
    ----------
    recall : float
        Fraction of the true nearest other rows that the last tuned search finds, measured on a
        sample of the rows; a row as near as the true one is as good. 0 before the first search.
    """

    recall: float = 0.0

    def __init__(self, rows: Matrix) -> None:
        faiss = require_faiss()
        self._rows = rows
        n_rows, n_columns = rows.shape
        self._centre = rows.mean(axis=0)  # single precision is finest around zero
        n_lists = max(1, min(n_rows // 8, round(_LISTS_PER_ROOT * n_rows**0.5)))
        self._index: Any = faiss.IndexIVFFlat(faiss.IndexFlatL2(n_columns), n_columns, n_lists)
        self._index.cp.seed = _SEED
        self._index.cp.min_points_per_centroid = 1  # few rows are no reason for a warning
        self._index.train(self._single(self._sample(_TRAINING_ROWS_PER_LIST * n_lists)))
        self._index.add(self._single(rows))
        self._tuned_for = 0

    def nearest(self, queries: Matrix, n_wanted: int) -> Indices:
        """Return about the nearest rows of each query; missing ones are found by exact search."""
        if n_wanted > self._tuned_for:
            self._tune(n_wanted)
        indices = self._found(queries, n_wanted)
        is_short = (indices < 0).any(axis=1)  # the lists searched held too few rows
        for number in np.flatnonzero(is_short):
            distances = self._distances(queries[number])
            indices[number] = np.argpartition(distances, n_wanted - 1)[:n_wanted]
        return indices

    def _tune(self, n_wanted: int) -> None:
        sample = self._sample(_SAMPLED_QUERIES)
        radii = [np.partition(self._distances(one), n_wanted - 1)[n_wanted - 1] for one in sample]
        while True:
            self.recall = self._recall_on(sample, n_wanted, radii)
            if self.recall >= _WANTED_RECALL or self._index.nprobe >= self._index.nlist:
                break
            self._index.nprobe = min(2 * self._index.nprobe, self._index.nlist)
        self._tuned_for = n_wanted

    def _recall_on(self, sample: Matrix, n_wanted: int, radii: list[float]) -> float:
        n_found = 0
        for one, indices, radius in zip(sample, self._found(sample, n_wanted), radii, strict=True):
            distances = self._distances(one, indices[indices >= 0])
            # The row itself is always found.
            n_found += int(np.count_nonzero(distances <= radius * (1 + _ROUNDING))) - 1
        return n_found / (len(sample) * max(1, n_wanted - 1))

    def _distances(self, query: Vector, indices: "Indices | slice" = slice(None)) -> Vector:
        return cdist(query[None, :], self._rows[indices])[0]

    def _found(self, queries: Matrix, n_wanted: int) -> Indices:
        return self._index.search(self._single(queries), n_wanted)[1]

    def _sample(self, n_wanted: int) -> Matrix:
        random = np.random.RandomState(_SEED)
        n_rows = len(self._rows)
        return self._rows[random.choice(n_rows, min(n_wanted, n_rows), replace=False)]

    def _single(self, rows: Matrix) -> NDArray[np.float32]:
        limit = float(np.sqrt(np.finfo(np.float32).max)) / 1e4
        return np.ascontiguousarray(np.clip(rows - self._centre, -limit, limit), np.float32)


def require_faiss() -> Any:
    """Return the library, or raise InputError with how to install it."""
    try:
        import faiss
    except ImportError:
        raise InputError(
            'algorithm="approximate" needs faiss, which is not installed. '
            'Install it with pip install "kernova[fast]", or take another algorithm.'
        ) from None
    return faiss
