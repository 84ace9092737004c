"""In which order the nodes of a hierarchy are worth a question: pure functions over node arrays.

Larger criterion first; among equals the node that reaches the higher level, then the one with
the smallest member. HAD, the "highest average distance" of the paper, breaks ties otherwise: by
how far a node's mode is from the rows asked so far.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.discover.questions import Rows

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class NodeRanking(NamedTuple):
    """Nodes from the best to the worst; the other fields are in that order, too.

    Attributes
    ----------
    nodes : array of int
        The nodes' numbers in the hierarchy.
    values : array of float
        The criterion, decreasing.
    levels : array of int
        Which level decides between equals.
    first_members : array of int
        The smallest row of each node.
    representatives : array of int
        The row to ask for each node.
    """

    nodes: Rows
    values: Vector
    levels: Rows
    first_members: Rows
    representatives: Rows


def ranked_nodes(
    values: ArrayLike, levels: ArrayLike, first_members: ArrayLike, representatives: ArrayLike
) -> NodeRanking:
    """Rank nodes by a criterion, larger first.

    Examples
    --------
    >>> from kernova.discover.strategies.node_ranking import ranked_nodes
    >>> ranked_nodes([0.5, 2.0, 2.0], [0, 0, 3], [0, 1, 2], [0, 1, 2]).nodes.tolist()
    [2, 1, 0]
    """
    value = np.asarray(values, dtype=np.float64)
    level = np.asarray(levels, dtype=np.intp)
    first = np.asarray(first_members, dtype=np.intp)
    nodes = np.lexsort((first, -level, -value)).astype(np.intp)
    asked = np.asarray(representatives, dtype=np.intp)[nodes]
    return NodeRanking(nodes, value[nodes], level[nodes], first[nodes], asked)


def rows_in_order(ranking: NodeRanking) -> Rows:
    """Give the representatives in the order of their best nodes, each once."""
    _, places = np.unique(ranking.representatives, return_index=True)
    return ranking.representatives[np.sort(places)]


def tied_until(ranking: NodeRanking, place: int, tolerance: float) -> int:
    """Give the end of the run of nodes, from a place on, that are as good as the one there."""
    lowest = ranking.values[place] - tolerance
    return int(np.searchsorted(-ranking.values, -lowest, side="right"))


def farthest_place(ranking: NodeRanking, places: Rows, total_distances: Vector) -> int:
    """Choose among tied places the one whose mode is farthest from the rows asked so far.

    Parameters
    ----------
    ranking : NodeRanking
        All nodes.
    places : array of int
        The places in the ranking to choose from.
    total_distances : array of float
        For each of them the sum of distances from its mode to the rows asked so far: as many
        for all, so that the largest sum is the largest mean.
    """
    best = places[total_distances == total_distances.max()]
    order = np.lexsort((ranking.first_members[best], -ranking.levels[best]))
    return int(best[order[0]])


def distances_to(points: Matrix, row: Vector) -> Vector:
    """Give the distance of every point to one row, by differences: exact zero for equal ones."""
    difference = points - row
    return np.sqrt(np.einsum("ij,ij->i", difference, difference))
