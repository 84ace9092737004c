"""Loops over the links of a tree of groups, compiled where there are many; groups.py uses them."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar, cast

import numpy as np

from kernova.typing import Indices, Vector

Loop = TypeVar("Loop", bound=Callable[..., object])

# Up to so many rows a loop takes less time than importing what compiles it.
_FEW_ROWS: Final = 20_000


class Mergers(NamedTuple):
    """Each row and each merger of two groups: what becomes of it, and what it consists of."""

    parents: Indices  # the group that each one merges into; the last one is its own
    sizes: Indices
    densest: Indices  # the row of each with the smallest core distance, the first of tied ones


def mergers(firsts: Indices, seconds: Indices, core: Vector) -> Mergers:
    """Merge rows along links that span them, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> mergers(np.array([1, 0]), np.array([2, 1]), np.array([0.3, 0.2, 0.1])).parents.tolist()
    [4, 3, 3, 4, 4]
    """
    return Mergers(*_compiled(_mergers, len(core))(firsts, seconds, core))


def places(parents: Indices, sizes: Indices, n_rows: int) -> tuple[Indices, Indices]:
    """Return the rows in an order in which groups stand together, and where each group begins.

    Examples
    --------
    >>> import numpy as np
    >>> order, starts = places(np.array([4, 3, 3, 4, 4]), np.array([1, 1, 1, 2, 3]), 3)
    >>> order.tolist(), starts.tolist()
    ([2, 1, 0], [2, 1, 0, 0, 0])
    """
    return _compiled(_places, n_rows)(parents, sizes, n_rows)


def _compiled(loop: Loop, n_rows: int) -> Loop:
    if n_rows <= _FEW_ROWS:
        return loop
    from numba import njit

    return cast(Loop, njit(cache=True)(loop))


def _mergers(firsts: Indices, seconds: Indices, core: Vector) -> tuple[Indices, Indices, Indices]:
    n_rows = len(core)
    parents = np.arange(2 * n_rows - 1)
    sizes = np.ones(2 * n_rows - 1, dtype=np.intp)
    densest = np.arange(2 * n_rows - 1)
    leaders = np.arange(n_rows)  # union-find, with halving of paths
    group_of = np.arange(n_rows)  # the group that the rows of a leader are at present
    for link in range(len(firsts)):
        new, one, other = n_rows + link, firsts[link], seconds[link]
        while leaders[one] != one:
            leaders[one] = leaders[leaders[one]]
            one = leaders[one]
        while leaders[other] != other:
            leaders[other] = leaders[leaders[other]]
            other = leaders[other]
        if sizes[group_of[one]] < sizes[group_of[other]]:
            one, other = other, one
        first, second = group_of[one], group_of[other]
        leaders[other], group_of[one] = one, new
        parents[first] = parents[second] = new
        sizes[new] = sizes[first] + sizes[second]
        row, rival = densest[first], densest[second]
        if core[rival] < core[row] or (core[rival] == core[row] and rival < row):
            row = rival
        densest[new] = row
    return parents, sizes, densest


def _places(parents: Indices, sizes: Indices, n_rows: int) -> tuple[Indices, Indices]:
    starts = np.zeros(len(parents), dtype=np.intp)
    used = np.zeros(len(parents), dtype=np.intp)
    for group in range(len(parents) - 2, -1, -1):  # parents come after their parts
        above = parents[group]
        starts[group] = starts[above] + used[above]
        used[above] += sizes[group]
    order = np.empty(n_rows, dtype=np.intp)
    for row in range(n_rows):
        order[starts[row]] = row
    return order, starts
