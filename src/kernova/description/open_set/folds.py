"""Parts of the training rows that are held out in turn, and rows that are kept of very many."""

import warnings
from typing import Final

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from kernova.typing import Indices, Vector

# Few rows are worth more fits: parts of up to so many rows; three of more.
_FOLDS: Final = ((2000, 10), (10_000, 5))
_FOLDS_OF_MANY: Final = 3
# Rows that are kept in all, and their memory.
_MOST_ROWS: Final = 20_000
_MOST_BYTES: Final = 3 * 2**20


def n_folds_for(n_rows: int) -> int:
    """Return the number of parts: ten of up to 2,000 rows, five of up to 10,000, three of more."""
    for most, n_folds in _FOLDS:
        if n_rows <= most:
            return min(n_folds, n_rows)
    return _FOLDS_OF_MANY


def folds(codes: Indices, groups: Indices | None, n_folds: int, seed: int) -> Indices:
    """Return the part of each row: every class is spread over all parts, groups stay together.

    Examples
    --------
    >>> import numpy as np
    >>> parts = folds(np.array([0, 0, 0, 0, 1, 1]), None, 2, seed=0)
    >>> [sorted(np.array([0, 0, 0, 0, 1, 1])[parts == part].tolist()) for part in (0, 1)]
    [[0, 0, 1], [0, 0, 1]]
    """
    parts = np.empty(len(codes), dtype=np.intp)
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
        if n_folds < 2:
            return np.zeros(len(codes), dtype=np.intp)
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer rows than parts
            splits = list(splitter.split(codes, _frequent(codes, n_folds), groups))
        for part, (_, held_out) in enumerate(splits):
            parts[held_out] = part
        return parts
    random = np.random.RandomState(seed)
    start = 0
    for code in np.unique(codes):
        inside = random.permutation(np.flatnonzero(codes == code))
        parts[inside] = (start + np.arange(len(inside))) % n_folds
        start += len(inside)
    return parts


def _frequent(codes: Indices, n_folds: int) -> Indices:
    """Return the codes, or one class where all have fewer rows than parts, which raises."""
    return codes if np.bincount(codes).max() >= n_folds else np.zeros_like(codes)


def kept_rows(
    codes: Indices, n_columns: int, most_per_class: int | str | None
) -> tuple[Indices, Vector]:
    """Return the rows to learn from, and what each stands for.

    ``"auto"`` keeps 20,000 rows, or as many as 3 MB hold: small classes whole. A row kept of a
    class stands for several rows of it, so that the class keeps its prior probability.
    """
    n_rows = len(codes)
    if most_per_class is None:
        return np.arange(n_rows), np.ones(n_rows)
    if most_per_class == "auto":
        kept = spread_out_rows(codes, max(1, min(_MOST_ROWS, _MOST_BYTES // (8 * n_columns))))
    else:
        parts = [np.flatnonzero(codes == code) for code in np.unique(codes)]
        kept = np.sort(np.concatenate([_thinned(part, int(most_per_class)) for part in parts]))
    weights = np.bincount(codes) / np.maximum(np.bincount(codes[kept], minlength=1), 1)
    return kept, weights[codes[kept]]


def _thinned(rows: Indices, most: int) -> Indices:
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows), most, endpoint=False).astype(np.intp)]


def spread_out_rows(codes: Indices, most: int) -> Indices:
    """Return at most so many row numbers, evenly spread over the rows of every class.

    Examples
    --------
    >>> import numpy as np
    >>> spread_out_rows(np.array([0, 0, 0, 0, 0, 0, 1, 1]), 4)
    array([0, 3, 6, 7])
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    counts = np.bincount(codes)
    wanted = shares(counts, most)
    kept = []
    for code, n in enumerate(wanted.tolist()):
        inside = np.flatnonzero(codes == code)
        kept.append(inside[np.linspace(0, len(inside), n, endpoint=False).astype(np.intp)])
    return np.sort(np.concatenate(kept))


def shares(counts: Indices, most: int) -> Indices:
    """Divide a number of rows among classes: small classes whole, the others equally.

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([2, 100, 50]), 42)
    array([ 2, 20, 20])
    """
    wanted = np.zeros(len(counts), dtype=np.intp)
    left = most
    order = np.argsort(counts, kind="stable")
    for position, code in enumerate(order.tolist()):
        share = max(1, left // (len(order) - position))
        wanted[code] = min(int(counts[code]), share) if counts[code] else 0
        left = max(0, left - int(wanted[code]))
    return wanted
