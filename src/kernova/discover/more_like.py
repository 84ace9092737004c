"""Rows like a few given ones: the rest of a rare category, ranked, with a cut.

Random walks that restart at the given rows meet rows of the same dense region more often than
their number of neighbours explains. This is the personalised PageRank of a graph of nearest
neighbours, divided by each row's degree. What else was tried, and how it compared, stands in
``docs/decisions/037-more-like-one-row.md``.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from kernova.cluster.standardize import standardized_rows
from kernova.discover.rows import finite_numbers
from kernova.discover.strategies.spacing import nearest_point
from kernova.errors import InputError, quoted
from kernova.neighbors.graph import NeighborGraph, neighbor_graph
from kernova.text import quantity
from kernova.typing import Indices, Matrix, Vector

N_NEIGHBORS: Final = 10
# A walk goes on with this probability and else restarts; after so many steps little is left.
_GOES_ON: Final = 0.95
_STEPS: Final = 50
# A row whose neighbours are all very near still has some width, relative to the median.
_SMALLEST_WIDTH: Final = 1e-3
# Neighbours stay connected however far apart they are.
_WEAKEST_LINK: Final = 1e-9
# Log of the arrivals at rows that no walk reaches.
_UNREACHED: Final = -60.0
# A rare category has at most this fraction of the rows.
_LARGEST_FRACTION: Final = 0.2
_FEWEST_TO_CUT: Final = 3
# Fraction of rows that belonged, on 31 tables with known categories, by the binary logarithm of
# the rank over the cut. What else is known of a ranking adds little to it.
_LOG_RANKS: Final = np.array([-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
_FRACTIONS: Final = np.array(
    [0.66, 0.63, 0.585, 0.525, 0.3, 0.12, 0.08, 0.056, 0.042, 0.033, 0.025, 0.012]
)


class AlikeRows(NamedTuple):
    """The rows of a table by how much they are like some given ones."""

    ranking: Indices  # all rows but the given ones, the most alike first
    # Estimated probability that each row belongs to the category of the given rows: 1 for these,
    # 0 for rows given as not belonging; shape (n_rows,).
    likeness: Vector
    cut: int  # number of rows of the ranking to take for the category
    # How often walks from the given rows are at each row, over how often any walk is there.
    arrivals: Vector

    @property
    def found(self) -> Indices:
        """The rows before the cut, the most alike first."""
        return self.ranking[: self.cut]


class WalkGraph(NamedTuple):
    """Graph on which walks go from row to row; duplicates are one vertex."""

    rows: Matrix  # the standardised rows; shape (n_rows, n_axes)
    weights: sparse.csr_matrix  # symmetric; shape (n_distinct, n_distinct)
    inverse: Indices  # vertex of each row; shape (n_rows,)


def more_like(
    X: ArrayLike | pd.DataFrame, rows: Iterable[int], not_rows: Iterable[int] = ()
) -> AlikeRows:
    """Rows like a few given ones: rank all others by how likely they belong to the same category.

    Parameters
    ----------
    X : array or DataFrame of shape (n_rows, n_columns)
        Finite numbers; encode other tables with :class:`~kernova.TableEncoder`. Units do not
        matter.
    rows : iterable of int
        Positions of the rows to search from, counted from 0: members of one rare category.
    not_rows : iterable of int
        Positions of rows that are known not to belong to it. They are left out, and so is what
        can only be reached through them.

    Returns
    -------
    AlikeRows
        ``ranking``, the positions of all other rows, the most alike first; ``likeness``, an
        estimated probability for each row of the table; ``cut``, how many of the ranking to take,
        and ``found``, these rows; and ``arrivals``, by which they are ranked.

    Examples
    --------
    Five rows are near one another, and one of them is known:

    >>> import numpy as np
    >>> from kernova import more_like
    >>> random = np.random.default_rng(0)
    >>> X = np.vstack([random.normal(0, 1, (200, 2)), random.normal(7, 0.2, (5, 2))])
    >>> alike = more_like(X, [200])
    >>> sorted(alike.found.tolist())
    [201, 202, 203, 204]
    """
    numbers = finite_numbers(X)
    starts = given_positions(rows, "rows", len(numbers))
    ends = given_positions(not_rows, "not_rows", len(numbers))
    return alike_rows(walk_graph(standardized_rows(numbers, "half-sphere")), starts, ends)


def given_positions(rows: Iterable[int], name: str, n_rows: int) -> Indices:
    """Return row positions in ascending order, each once, or raise if one is not of the table."""
    given = list(rows)
    for one in given:
        is_whole = isinstance(one, int | np.integer) and not isinstance(one, bool)
        if not (is_whole and 0 <= one < n_rows):
            raise InputError(
                f"{name} must be positions of rows, from 0 to {n_rows - 1}; got {quoted(one)}."
            )
    return np.unique(np.array(given, dtype=np.intp))


def walk_graph(Z: Matrix, graph: NeighborGraph | None = None) -> WalkGraph:
    """Return the graph of the walks: each row is linked to its neighbours, and they to it.

    A link weighs ``exp(-d**2 / (w * w'))``, where ``w`` and ``w'`` are the distances of the two
    rows to their tenth neighbours: within sparse regions and dense ones walks are alike.

    Parameters
    ----------
    Z : array of shape (n_rows, n_axes)
        Standardised rows.
    graph : NeighborGraph, optional
        Their nearest neighbours, if they are known already.
    """
    if Z.shape[1] == 0:  # no column varies
        Z = np.zeros((len(Z), 1))
    graph = neighbor_graph(Z, N_NEIGHBORS) if graph is None else graph
    n_distinct, k = graph.indices.shape
    if k == 0:
        return WalkGraph(Z, sparse.csr_matrix((n_distinct, n_distinct)), graph.inverse)
    widths = graph.distances[:, -1]
    widths = np.maximum(widths, _SMALLEST_WIDTH * np.median(widths))
    # Quotients first: products of distances may overflow.
    exponent = (graph.distances / widths[:, None]) * (graph.distances / widths[graph.indices])
    links = sparse.csr_matrix(
        (
            (np.exp(-exponent) + _WEAKEST_LINK).ravel(),
            graph.indices.ravel(),
            np.arange(0, n_distinct * k + 1, k),
        ),
        shape=(n_distinct, n_distinct),
    )
    return WalkGraph(Z, links.maximum(links.T).tocsr(), graph.inverse)


def arrivals(graph: WalkGraph, starts: Indices, ends: Indices) -> Vector:
    """Return how often walks from some vertices are at each vertex, over how often any walk is.

    Walks that come to one of ``ends`` go no further.

    Examples
    --------
    Two pairs of rows, of which walks cannot leave either:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from kernova.discover.more_like import WalkGraph, arrivals
    >>> weights = sparse.csr_matrix(np.kron(np.eye(2), 1 - np.eye(2)))
    >>> graph = WalkGraph(np.zeros((4, 1)), weights, np.arange(4))
    >>> arrivals(graph, np.array([0]), np.array([], dtype=int)).round(2)
    array([2.2, 1.8, 0. , 0. ])
    """
    degrees = np.asarray(graph.weights.sum(axis=1)).ravel()
    if not degrees.any():
        return np.ones_like(degrees)
    restarts = np.zeros_like(degrees)
    restarts[starts] = 1 / len(starts)
    places = restarts
    for _ in range(_STEPS):
        places = _GOES_ON * (graph.weights @ (places / degrees)) + (1 - _GOES_ON) * restarts
        places[ends] = 0.0
    return np.asarray(places / degrees * degrees.sum())


def alike_rows(graph: WalkGraph, starts: Indices, ends: Indices) -> AlikeRows:
    """Return the rows of a graph by how much they are like some of them; see :func:`more_like`."""
    n_rows = len(graph.rows)
    _check_given(starts, ends, n_rows)
    start_vertices = np.unique(graph.inverse[starts])
    end_vertices = np.setdiff1d(graph.inverse[ends], start_vertices)
    reached = arrivals(graph, start_vertices, end_vertices)[graph.inverse]
    log_arrivals = np.full(n_rows, _UNREACHED)
    np.log(reached, out=log_arrivals, where=reached > np.exp(_UNREACHED))
    others = np.setdiff1d(np.arange(n_rows), np.union1d(starts, ends))
    distances = nearest_point(graph.rows, graph.rows[starts])
    # Rows that no walk reaches come last, by their distance.
    order = np.lexsort((distances[others], -log_arrivals[others]))
    ranking = others[order]
    likeness = np.zeros(n_rows)
    likeness[starts] = 1.0
    falling = log_arrivals[ranking]
    cut = cut_at_drop(falling)
    likeness[ranking] = _probabilities(falling, cut)
    return AlikeRows(ranking, likeness, cut, reached)


def _check_given(starts: Indices, ends: Indices, n_rows: int) -> None:
    if len(starts) == 0:
        raise InputError("rows is empty; give the position of at least one row to search from.")
    both = np.intersect1d(starts, ends)
    if len(both):
        raise InputError(
            f"Row {both[0]} is both in rows and in not_rows; leave it out of one of them."
        )
    if len(starts) + len(ends) == n_rows:
        raise InputError(
            f"The table has {quantity(n_rows, 'row')}, and all of them were given; there is none "
            "to rank."
        )


def cut_at_drop(falling: Vector) -> int:
    """Return after how many values the largest drop is, each times the root of its rank.

    Only the first fifth of the values is looked at, a rare category being no larger; the square
    root makes up for drops that are the smaller the more values there are.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.more_like import cut_at_drop
    >>> cut_at_drop(np.array([9.0, 8.5, 8.0, 5.0] + [4.0] * 20))
    3
    """
    n_first = max(_FEWEST_TO_CUT, int(_LARGEST_FRACTION * len(falling)))
    drops = -np.diff(falling[: n_first + 1])
    if not (drops > 0).any():  # many duplicates of the given rows
        return int((falling == falling[0]).sum())
    return int(np.argmax(drops * np.sqrt(np.arange(1, len(drops) + 1)))) + 1


def _probabilities(falling: Vector, cut: int) -> Vector:
    """Return the probability of each row of a ranking; rows with equal values have the same."""
    ranks = np.searchsorted(-falling, -falling, side="right")
    return np.interp(np.log2(ranks / cut), _LOG_RANKS, _FRACTIONS)
