"""Approximate neighbours for very many rows in many columns, by faiss (the extra ``fast``)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernova.errors import InputError

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]

# Rows are sorted into about so many times sqrt(n) lists around centres.
_LISTS_PER_ROOT = 2
_TRAINING_ROWS_PER_LIST = 64
# More and more lists are searched until the recall on a sample is this good, or all are searched.
_WANTED_RECALL = 0.95
_SAMPLED_QUERIES = 256
_SEED = 0


class InvertedLists:
    """Rows in lists around centres; a query looks into the lists of the nearest centres only.

    Attributes
    ----------
    recall : float or None
        Share of the true nearest rows that the last tuned search finds, measured on a sample of
        rows against exact search; None before the first search.
    """

    recall: float | None = None

    def __init__(self, rows: Matrix) -> None:
        faiss = _faiss()
        self._centre = rows.mean(axis=0)  # single precision is finest around zero
        self._rows = self._single(rows)
        n_lists = max(1, min(len(rows) // 8, round(_LISTS_PER_ROOT * len(rows) ** 0.5)))
        quantizer = faiss.IndexFlatL2(rows.shape[1])
        self._index: Any = faiss.IndexIVFFlat(quantizer, rows.shape[1], n_lists)
        self._index.cp.seed = _SEED
        self._index.cp.min_points_per_centroid = 1  # few rows are no reason for a warning
        self._index.train(self._sample(_TRAINING_ROWS_PER_LIST * n_lists))
        self._index.add(self._rows)
        self._tuned_for = 0

    def nearest(self, queries: Matrix, n_wanted: int) -> Indices:
        """Give about the nearest rows of each query; what is missing is filled by exact search."""
        if n_wanted > self._tuned_for:
            self._tune(n_wanted)
        single = self._single(queries)
        indices = self._index.search(single, n_wanted)[1]
        is_short = (indices < 0).any(axis=1)  # the lists searched held too few rows
        if is_short.any():
            indices[is_short] = self._exact(single[is_short], n_wanted)
        return indices

    def _tune(self, n_wanted: int) -> None:
        sample = self._sample(_SAMPLED_QUERIES)
        true = self._exact(sample, n_wanted)
        self._index.nprobe = max(1, self._index.nprobe)
        while True:
            self.recall = _recall(self._index.search(sample, n_wanted)[1], true)
            if self.recall >= _WANTED_RECALL or self._index.nprobe >= self._index.nlist:
                break
            self._index.nprobe = min(2 * self._index.nprobe, self._index.nlist)
        self._tuned_for = n_wanted

    def _exact(self, single: NDArray[np.float32], n_wanted: int) -> Indices:
        return _faiss().knn(single, self._rows, n_wanted)[1]

    def _sample(self, n_wanted: int) -> NDArray[np.float32]:
        random = np.random.RandomState(_SEED)
        chosen = random.choice(len(self._rows), min(n_wanted, len(self._rows)), replace=False)
        return self._rows[chosen]

    def _single(self, rows: Matrix) -> NDArray[np.float32]:
        limit = float(np.sqrt(np.finfo(np.float32).max)) / 1e4
        return np.ascontiguousarray(np.clip(rows - self._centre, -limit, limit), np.float32)


def _recall(found: Indices, true: Indices) -> float:
    hits = sum(np.isin(one, other).sum() for one, other in zip(found, true, strict=True))
    return float(hits / true.size)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise InputError(
            'algorithm="approximate" needs faiss, which is not installed. '
            'Install it with pip install "kernova[fast]", or take another algorithm.'
        ) from None
    return faiss
