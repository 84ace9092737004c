"""Blocks of rows under a memory budget, and threads that work on them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, TypeVar

from sklearn import get_config

from kernova._sklearn import openmp_effective_n_threads, threadpool_controller

_Block = TypeVar("_Block")

# Elementwise work runs at twice the speed while its operands stay in the cache.
_CACHED_NUMBERS = 1 << 17


def row_blocks(n_rows: int, numbers_per_row: int, *, share: float = 0.25) -> list[slice]:
    """Return slices whose blocks fit into a fraction of scikit-learn's ``working_memory``.

    Examples
    --------
    >>> import sklearn
    >>> with sklearn.config_context(working_memory=1):
    ...     row_blocks(5, numbers_per_row=16384)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    budget = share * float(get_config()["working_memory"]) * 2**20 / 8
    height = max(1, int(budget // max(1, numbers_per_row)))
    return slices(n_rows, height)


def cached_blocks(n_rows: int, numbers_per_row: int) -> list[slice]:
    """Return slices whose blocks stay in the processor's cache during elementwise work."""
    return slices(n_rows, max(1, _CACHED_NUMBERS // max(1, numbers_per_row)))


def slices(n_rows: int, height: int) -> list[slice]:
    """Return slices of ``height`` rows each; the last may have fewer."""
    return [slice(start, min(start + height, n_rows)) for start in range(0, n_rows, height)]


def in_threads(
    work: Callable[[_Block], None], blocks: Sequence[_Block], n_threads: int | None = None
) -> None:
    """Call ``work`` on each block in threads; NumPy and SciPy release the interpreter lock.

    By default there are as many threads as scikit-learn's compiled parts would use. Each block
    must write to memory of its own; then results do not depend on the number of threads.
    """
    n_threads = min(n_threads or openmp_effective_n_threads(), len(blocks))
    if n_threads < 2:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, blocks):
            pass


class _SharedLimit:
    """The limit on BLAS threads for all threads that want it: the last one lifts it."""

    def __init__(self) -> None:
        self._lock, self._n_users = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._limit = threadpool_controller().limit(limits=1, user_api="blas")
            self._n_users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limit.restore_original_limits()


# A block under it lets matrix products run in the thread that asks for them. Thin products gain
# nothing from more threads, and on a busy machine they take twenty times as long: each waits until
# all of its threads have had their turn.
single_blas_thread: Final = _SharedLimit()
