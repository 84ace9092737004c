"""Groups of near rows at all scales: a tree of mergers, and how unlikely each group is by chance.

Rows are linked to their nearest ones, and merged from the shortest link on (single linkage, of
distances of at least the distance to the second neighbour). A group of s rows that stays separate
from a link of length h to one of length H > h would come about by chance with probability
(h / H)^(d (s - 1)) where rows are spread evenly over d dimensions: the other s - 1 rows would have
to be within h of the first, where they are within H. The bits of that probability, less those of
choosing among n / s groups, say how surprising the group is.
"""

from copy import copy
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from kernova.discover.preparation import saved_in_cache
from kernova.discover.strategies.novelty_groups.merging import mergers, places
from kernova.neighbors.graph import NeighborGraph
from kernova.typing import Indices, Mask, Matrix, Vector

# A link is at least as long as the distances of both rows to this neighbour.
_CORE_NEIGHBOR: Final = 2
_FEWEST: Final = 3
_LARGEST_FRACTION: Final = 0.5
# Lengths of links more than 16 times apart say no more than that: columns may be rounded.
_MOST_DOUBLINGS: Final = 4.0
_LARGEST_DIMENSION: Final = 100.0
_TINY: Final = 1e-300


@saved_in_cache
class GroupTree(NamedTuple):
    """The groups of a table's distinct rows: first the rows, then each merger of two groups."""

    parents: Indices  # the group that each one merges into; the last one is its own
    bits: Vector  # how surprising each group is, at least 0
    ranking: Indices  # the groups with any bits, the most surprising first
    core: Vector  # distance of each distinct row to its second neighbour
    densest: Indices  # the distinct row of each group with the smallest core distance
    order: Indices  # the distinct rows, so that those of each group stand together
    starts: Indices  # where those of each group begin
    sizes: Indices  # and how many they are


def group_tree(graph: NeighborGraph) -> GroupTree:
    """Return the groups of the rows of a graph of neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.novelty_groups.groups import group_tree, members_of
    >>> from kernova.neighbors.graph import neighbor_graph
    >>> rows = np.array([[0.0], [0.1], [0.2], [9.0], [12.0], [15.0], [18.0], [22.0]])
    >>> tree = group_tree(neighbor_graph(rows, 3))
    >>> members_of(tree, tree.ranking[0]).tolist()
    [0, 1, 2]
    """
    n, k = graph.distances.shape
    core = graph.distances[:, min(_CORE_NEIGHBOR, k) - 1] if k else np.zeros(n)
    links = _links(graph, core)
    parents, sizes, densest = mergers(links[0], links[1], core)
    own = np.concatenate([core, links[2]])  # the length within which a group is connected
    outer = own[parents]
    doublings = np.log2(np.maximum(outer, _TINY)) - np.log2(np.maximum(own, _TINY))
    doublings = np.clip(doublings, 0.0, _MOST_DOUBLINGS)
    bits = (sizes - 1) * doublings * local_dimension(graph.distances) - np.log2(n / sizes)
    is_group = (sizes >= _FEWEST) & (sizes <= _LARGEST_FRACTION * n)
    bits = np.where(is_group, np.maximum(bits, 0.0), 0.0)
    ranking = np.argsort(-bits, kind="stable")[: np.count_nonzero(bits)]
    order, starts = places(parents, sizes, n)
    return GroupTree(parents, bits, ranking, core, densest, order, starts, sizes)


def local_dimension(distances: Matrix) -> float:
    """Return the mean dimension of the rows around each row (Levina and Bickel 2004).

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.novelty_groups.groups import local_dimension
    >>> round(local_dimension(np.arange(1.0, 21.0)[None, :]), 2)  # rows along a line
    1.08
    """
    k = distances.shape[1]
    if k < 2:
        return 1.0
    inner = np.maximum(distances[:, : k - 1], _TINY)
    logs = np.log(np.maximum(distances[:, k - 1 : k], _TINY) / inner)
    logs = logs[(logs > 0) & (inner > _TINY)]
    return float(np.clip(1 / logs.mean(), 1.0, _LARGEST_DIMENSION)) if len(logs) else 1.0


def members_of(tree: GroupTree, group: int) -> Indices:
    """Return the distinct rows of a group, in ascending order."""
    start = int(tree.starts[group])
    return np.sort(tree.order[start : start + int(tree.sizes[group])])


class OpenGroups:
    """The groups none of whose rows was shown.

    Parameters
    ----------
    tree : GroupTree
        All groups.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.novelty_groups.groups import OpenGroups, group_tree
    >>> from kernova.neighbors.graph import neighbor_graph
    >>> rows = np.array([[0.0], [0.1], [0.2], [9.0], [12.0], [15.0], [18.0], [22.0]])
    >>> groups = OpenGroups(group_tree(neighbor_graph(rows, 3)))
    >>> groups.close(1)
    >>> len(groups.ranking)
    0
    """

    def __init__(self, tree: GroupTree) -> None:
        self._tree = tree
        self._is_met: Mask = np.zeros(len(tree.parents), dtype=np.bool_)

    @property
    def ranking(self) -> Indices:
        """The open groups, the most surprising first."""
        return self._tree.ranking[~self._is_met[self._tree.ranking]]

    def is_among(self, row: int) -> bool:
        """Return whether a distinct row belongs to an open group with any bits."""
        parents, bits, group = self._tree.parents, self._tree.bits, row
        while not self._is_met[group]:
            if bits[group] > 0:
                return True
            if parents[group] == group:
                break
            group = int(parents[group])
        return False

    def close(self, row: int) -> None:
        """Close all groups of a distinct row."""
        parents, group = self._tree.parents, row
        while not self._is_met[group]:
            self._is_met[group] = True
            group = int(parents[group])

    def copy(self) -> "OpenGroups":
        """Return the same groups, which do not follow these."""
        other = copy(self)
        other._is_met = self._is_met.copy()
        return other


# --- links ------------------------------------------------------------------------------------


def _links(graph: NeighborGraph, core: Vector) -> tuple[Indices, Indices, Vector]:
    """Return the links of the minimum spanning tree, the shortest first."""
    n, k = graph.distances.shape
    firsts = np.repeat(np.arange(n), k)
    seconds = graph.indices.ravel().astype(np.intp)
    lengths = np.maximum(graph.distances.ravel(), np.maximum(core[firsts], core[seconds]))
    # A length of 0 would be no link.
    pairs = sparse.csr_matrix((np.maximum(lengths, _TINY), (firsts, seconds)), shape=(n, n))
    tree = minimum_spanning_tree(pairs.maximum(pairs.T)).tocoo()
    order = np.lexsort((tree.col, tree.row, tree.data))
    links = tree.row[order], tree.col[order], tree.data[order]
    n_parts, parts = connected_components(tree, directed=False)
    if n_parts > 1:
        # Parts that no neighbours connect are merged last, at the longest link of all.
        _, heads = np.unique(parts, return_index=True)
        lengths = np.full(n_parts - 1, float(links[2].max(initial=_TINY)))
        links = (
            np.concatenate([links[0], heads[:-1]]),
            np.concatenate([links[1], heads[1:]]),
            np.concatenate([links[2], lengths]),
        )
    return links[0].astype(np.intp), links[1].astype(np.intp), links[2]
