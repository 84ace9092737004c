"""Elementwise work on all cores: NumPy and SciPy let go of the interpreter while they compute."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from sklearn.utils._openmp_helpers import _openmp_effective_n_threads


def in_threads(work: Callable[[slice], None], blocks: Sequence[slice]) -> None:
    """Do the work on each block, on as many threads as scikit-learn's compiled parts would use.

    Each block must write to a place of its own; then results do not depend on how many there are.
    """
    n_threads = min(_openmp_effective_n_threads(), len(blocks))
    if n_threads < 2:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, blocks):
            pass
