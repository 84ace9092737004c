"""In which order the nodes of a hierarchy are worth a question: pure functions over node arrays.

Larger criterion first; among equals the node that reaches the higher level, then the one with
the smallest member. HAD, the "highest average distance" of the paper, breaks ties otherwise: by
how far a node's mode is from the rows asked so far.

Why a cluster of the hierarchy is worth a question, in a sentence and in numbers.

Ask in the order of the hierarchy's criteria: HMS-Out and HMS-CI, with and without HAD.

Vatturi and Wong, "Category Detection Using Hierarchical Mean Shift", KDD 2009. Every node of the
hierarchy stands for a possible category; its representative is asked. Outlierness favours small
clusters that stay by themselves over a wide range of bandwidths, CI (compactness plus isolation)
those that no other cluster touches.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import kept
from kernova.discover.questions import Answer, Question, free_rows
from kernova.typing import Indices, Matrix, Vector

if TYPE_CHECKING:
    import pandas as pd

    from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
    from kernova.discover.preparation import Preparation


class NodeRanking(NamedTuple):
    """Nodes from the best to the worst; the other fields are in that order, too.

    Attributes
    ----------
    nodes : array of int
        The nodes' numbers in the hierarchy.
    criterion_values : array of float
        The criterion, decreasing.
    levels : array of int
        Which level decides between equals.
    first_members : array of int
        The smallest row of each node.
    representatives : array of int
        The row to ask for each node.
    """

    nodes: Indices
    criterion_values: Vector
    levels: Indices
    first_members: Indices
    representatives: Indices


def ranked_nodes(
    values: ArrayLike, levels: ArrayLike, first_members: ArrayLike, representatives: ArrayLike
) -> NodeRanking:
    """Rank nodes by a criterion, larger first.

    Examples
    --------
    >>> from kernova.discover.strategies.hierarchical import ranked_nodes
    >>> ranked_nodes([0.5, 2.0, 2.0], [0, 0, 3], [0, 1, 2], [0, 1, 2]).nodes.tolist()
    [2, 1, 0]
    """
    value = np.asarray(values, dtype=np.float64)
    level = np.asarray(levels, dtype=np.intp)
    first = np.asarray(first_members, dtype=np.intp)
    nodes = np.lexsort((first, -level, -value)).astype(np.intp)
    asked = np.asarray(representatives, dtype=np.intp)[nodes]
    return NodeRanking(nodes, value[nodes], level[nodes], first[nodes], asked)


def rows_in_order(ranking: NodeRanking) -> Indices:
    """Give the representatives in the order of their best nodes, each once."""
    _, places = np.unique(ranking.representatives, return_index=True)
    return ranking.representatives[np.sort(places)]


def tied_until(ranking: NodeRanking, place: int, tolerance: float) -> int:
    """Give the end of the run of nodes, from a place on, that are as good as the one there."""
    lowest = ranking.criterion_values[place] - tolerance
    return int(np.searchsorted(-ranking.criterion_values, -lowest, side="right"))


def farthest_place(ranking: NodeRanking, places: Indices, total_distances: Vector) -> int:
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


_NUMBERS: Final = ("size", "outlierness", "compactness", "isolation", "compactness_isolation")


def evidence_of(
    nodes: "pd.DataFrame", bandwidths: NDArray[np.float64], node: int
) -> dict[str, float]:
    """Give the numbers that the hierarchy holds of a node."""
    line = nodes.iloc[node]
    return {
        **{name: float(line[name]) for name in _NUMBERS},
        "from_bandwidth": float(bandwidths[int(line["born"])]),
        "to_bandwidth": float(bandwidths[int(line["last"])]),
    }


def reason_of(known: dict[str, float], criterion: str, n_rows: int) -> str:
    """Say why a node is asked, without the full stop: more may follow."""
    size = int(known["size"])
    is_root = size == n_rows > 1
    span = f"from bandwidth {known['from_bandwidth']:.3g} to {known['to_bandwidth']:.3g}"
    if size == 1:
        start = f"This row stands alone {span}"
    elif is_root:
        start = f"All {size:,} rows are one cluster from bandwidth {known['from_bandwidth']:.3g} on"
    else:
        start = f"The {size:,} rows of this cluster stay together, and apart from others, {span}"
    return start + _merit(known, criterion, is_root)


def _merit(known: dict[str, float], criterion: str, is_root: bool) -> str:
    if is_root:
        return ", and this one lies nearest its centre"
    if criterion == "outlierness":
        return f": an outlierness of {known['outlierness']:.3g}, long for its size"
    its = "it holds" if known["size"] == 1 else "they hold"
    return (
        f", and {its} {_share(known['isolation'])} of the density at the centre "
        f"(compactness {_share(known['compactness'])})"
    )


def _share(value: float) -> str:
    """Write a share in percent; all but a little is not all."""
    percent = 100 * value
    return "over 99 %" if 99 < percent < 100 - 1e-7 else f"{percent:.0f} %"


Criterion = Literal["outlierness", "compactness_isolation"]

# Outlierness comes from whole numbers, where ties are exact; CI from sums of exponentials.
_TIE_TOLERANCE: Final = {"outlierness": 0.0, "compactness_isolation": 1e-9}
_SHORT_NAME: Final = {"outlierness": "hms-out", "compactness_isolation": "hms-ci"}
_ALTERNATIVES: Final = 5


@dataclass
class HierarchyOrder:
    """Ask the representatives of all nodes, best criterion first (HMS-Out, HMS-CI).

    The order does not depend on what is answered. With ``farthest`` (the paper's HAD), nodes
    that tie are asked by how far their mode is from the rows asked so far.

    Parameters
    ----------
    criterion : {"outlierness", "compactness_isolation"}
        What makes a node worth a question.
    farthest : bool
        Whether ties go to the mode with the highest average distance to the rows asked so far.
    standardize, reference, growth
        How the hierarchy is built, see :class:`~kernova.HierarchicalMeanShift`.

    Examples
    --------
    >>> from kernova.discover.strategies.hierarchical import HierarchyOrder
    >>> HierarchyOrder("outlierness", farthest=True).name
    'hms-out-had'
    """

    criterion: Criterion = "compactness_isolation"
    farthest: bool = False
    standardize: Standardization = "sphere"
    reference: str = "data"
    growth: float = 1.1
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = _SHORT_NAME[self.criterion] + ("-had" if self.farthest else "")

    def start(self, preparation: "Preparation") -> "NodeAsker":
        """Return a fresh asker over the table's hierarchy."""
        model = preparation.hierarchy(self.standardize, self.reference, self.growth)
        key = ("nodes", self.criterion, self.standardize, self.reference, self.growth)
        clusters = kept(preparation, key, lambda: RankedClusters.of(model, self.criterion))
        return FarthestAsker(clusters) if self.farthest else NodeAsker(clusters)

    def first_rows(self, preparation: "Preparation", n: int) -> Indices:
        """Return the first ``n`` rows to be asked: no answer changes them."""
        key = ("order", self.name, self.standardize, self.reference, self.growth)
        if self.farthest:
            growing = kept(preparation, key, lambda: GrowingOrder(self.start(preparation)))
            return growing.first(n)
        return kept(preparation, key, lambda: rows_in_order(self.start(preparation).ranking))[:n]


class RankedClusters(NamedTuple):
    """The clusters of a fitted hierarchy, and in which order one criterion puts them."""

    model: "HierarchicalMeanShift"
    nodes: "pd.DataFrame"
    criterion: Criterion
    ranking: NodeRanking

    @classmethod
    def of(cls, model: "HierarchicalMeanShift", criterion: Criterion) -> Self:
        """Rank the nodes of a hierarchy."""
        nodes = model.nodes_
        ranking = ranked_nodes(
            nodes[criterion],
            nodes["last" if criterion == "outlierness" else "ci_level"],
            nodes["first_member"],
            nodes["representative"],
        )
        return cls(model, nodes, criterion, ranking)


class NodeAsker:
    """Ask node after node as they are ranked; a node whose representative was asked is skipped."""

    def __init__(self, clusters: RankedClusters) -> None:
        self._clusters = clusters
        self._model = clusters.model
        self.ranking = clusters.ranking
        self._is_asked = np.zeros(len(self._model.standardized_), dtype=np.bool_)
        self._place = 0  # nothing before it is open
        self._question: Question | None = None

    def next_row(self) -> int | None:
        """Return the row to ask, without the words around it."""
        place = self._best_place()
        return None if place is None else int(self.ranking.representatives[place])

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        place = self._best_place()
        if place is None:
            return None
        if len(besides):
            is_free = free_rows(self._is_asked, besides)
            if not is_free[self.ranking.representatives[place]]:
                return self._question_among(is_free)
        if self._question is None:
            self._question = self._question_at(place)
        return self._question

    def _question_among(self, is_free: NDArray[np.bool_]) -> Question | None:
        """Ask what an asker would that was told of all other rows only that they are not open."""
        place = self._first_free(is_free)
        return None if place is None else self._question_at(place)

    def _first_free(self, is_free: NDArray[np.bool_]) -> int | None:
        is_open = is_free[self.ranking.representatives[self._place :]]
        return self._place + int(np.argmax(is_open)) if is_open.any() else None

    def observe(self, answer: Answer) -> None:
        """Take in that a row was asked; what was answered changes nothing."""
        self._is_asked[answer.row] = True
        self._question = None

    def _best_place(self) -> int | None:
        representatives = self.ranking.representatives
        while self._place < len(representatives) and self._is_asked[representatives[self._place]]:
            self._place += 1
        return self._place if self._place < len(representatives) else None

    def _question_at(self, place: int) -> Question:
        node = int(self.ranking.nodes[place])
        row = int(self.ranking.representatives[place])
        known = evidence_of(self._clusters.nodes, self._model.bandwidths_, node)
        reason = reason_of(known, self._clusters.criterion, len(self._is_asked))
        return Question(
            row=row,
            members=self._model.members_of(node),
            reason=reason + self._why_among_equals(place),
            evidence={**known, **self._evidence_among_equals(place)},
            alternatives=self._alternatives_to(row),
        )

    def _alternatives_to(self, row: int) -> tuple[int, ...]:
        return self._open_rows_from(self._place, besides=[row])

    def _open_rows_from(self, place: int, besides: list[int]) -> tuple[int, ...]:
        """Give the rows named, without the first of them, then open rows as they are ranked."""
        found = dict.fromkeys(besides)
        for row in map(int, self.ranking.representatives[place:]):
            if len(found) > _ALTERNATIVES:
                break
            if not self._is_asked[row]:
                found.setdefault(row)
        return tuple(found)[1 : 1 + _ALTERNATIVES]

    def _why_among_equals(self, place: int) -> str:
        return "."

    def _evidence_among_equals(self, place: int) -> dict[str, float]:
        return {}


class FarthestAsker(NodeAsker):
    """The same, but among equal nodes the one farthest from all rows asked so far (HAD).

    The sum of distances from every mode to the rows asked is carried on from answer to answer:
    one pass over the modes each time.
    """

    def __init__(self, clusters: RankedClusters) -> None:
        super().__init__(clusters)
        self._total_distance = np.zeros(len(self.ranking.nodes))  # by node
        self._n_asked = 0
        self._tied: Indices = np.empty(0, dtype=np.intp)
        self._chosen: int | None = None

    def observe(self, answer: Answer) -> None:
        """Take in that a row was asked, and measure how far every mode is from it."""
        if not self._is_asked[answer.row]:
            row = self._model.standardized_[answer.row]
            self._total_distance += distances_to(self._model.modes_, row)
            self._n_asked += 1
        super().observe(answer)
        self._chosen = None

    def _best_place(self) -> int | None:
        first = super()._best_place()
        if first is None or self._chosen is not None:
            return first if first is None else self._chosen
        self._tied = self._tied_from(first, ~self._is_asked)
        self._chosen = self._farthest(self._tied)
        return self._chosen

    def _question_among(self, is_free: NDArray[np.bool_]) -> Question | None:
        first = self._first_free(is_free)
        if first is None:
            return None
        tied, self._tied = self._tied, self._tied_from(first, is_free)
        question = self._question_at(self._farthest(self._tied))
        self._tied = tied
        return question

    def _tied_from(self, first: int, is_free: NDArray[np.bool_]) -> Indices:
        end = tied_until(self.ranking, first, _TIE_TOLERANCE[self._clusters.criterion])
        places = np.arange(first, end)
        return places[is_free[self.ranking.representatives[first:end]]]

    def _farthest(self, places: Indices) -> int:
        return farthest_place(self.ranking, places, self._totals_of(places))

    def _totals_of(self, places: Indices) -> Vector:
        return self._total_distance[self.ranking.nodes[places]]

    def _alternatives_to(self, row: int) -> tuple[int, ...]:
        totals = self._totals_of(self._tied)
        n_seen = min(len(totals), 4 * _ALTERNATIVES)  # some nodes share a representative
        farthest = np.argpartition(-totals, n_seen - 1)[:n_seen]
        by_distance = farthest[np.argsort(-totals[farthest], kind="stable")]
        nearby = self.ranking.representatives[self._tied[by_distance]]
        return self._open_rows_from(self._place, besides=[row, *map(int, nearby)])

    def _why_among_equals(self, place: int) -> str:
        if len(self._tied) < 2 or self._n_asked == 0:
            return "."
        mean = self._totals_of(np.array([place]))[0] / self._n_asked
        return (
            f"; of {len(self._tied):,} clusters as good, its centre is farthest from the rows "
            f"asked so far ({mean:.3g} on average)."
        )

    def _evidence_among_equals(self, place: int) -> dict[str, float]:
        evidence = {"n_tied": float(len(self._tied))}
        if self._n_asked:
            mean = self._totals_of(np.array([place]))[0] / self._n_asked
            evidence["mean_distance_to_asked"] = float(mean)
        return evidence


class GrowingOrder:
    """The rows an asker would ask whatever the answers, worked out as far as somebody looks."""

    def __init__(self, asker: NodeAsker) -> None:
        self._asker = asker
        self._rows: list[int] = []
        self._is_whole = False

    def first(self, n: int) -> Indices:
        """Give the first ``n`` rows, or all if there are fewer."""
        while len(self._rows) < n and not self._is_whole:
            row = self._asker.next_row()
            self._is_whole = row is None
            if row is not None:
                self._rows.append(row)
                self._asker.observe(Answer(row, None))
        return np.array(self._rows[:n], dtype=np.intp)
