"""Hierarchical strategies: HMS-Out and HMS-CI, with and without HAD.

Vatturi and Wong, "Category Detection Using Hierarchical Mean Shift", KDD 2009. Every node of the
hierarchy is a possible category, and its representative is asked. Outlierness favours small
clusters that stay separate over a wide range of bandwidths, CI (compactness plus isolation) those
that no other cluster touches. Nodes with a larger criterion come first; ties go to the node that
reaches the higher level, then to the one with the smallest member. HAD, the "highest average
distance" of the paper, breaks ties by the distance of a node's mode to the rows asked so far.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Need, Question, free_rows
from kernova.discover.strategies.spacing import distances_to
from kernova.text import percent
from kernova.typing import Indices, Mask, Vector

if TYPE_CHECKING:
    import pandas as pd

    from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
    from kernova.discover.preparation import Preparation


Criterion = Literal["outlierness", "compactness_isolation"]

# Outlierness is computed from integers, where ties are exact; CI from sums of exponentials.
_TIE_TOLERANCE: Final = {"outlierness": 0.0, "compactness_isolation": 1e-9}
_SHORT_NAME: Final = {"outlierness": "hms-out", "compactness_isolation": "hms-ci"}
_ALTERNATIVES: Final = 5
_EVIDENCE: Final = ("size", "outlierness", "compactness", "isolation", "compactness_isolation")


class NodeRanking(NamedTuple):
    """Nodes from best to worst; all fields are in that order."""

    nodes: Indices  # node numbers of the hierarchy
    criterion_values: Vector  # values of the criterion, decreasing
    levels: Indices  # level that breaks ties
    first_members: Indices  # the smallest row of each node
    representatives: Indices  # the row to ask for each node


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
    """Return the representatives in the order of their best nodes, each once."""
    _, positions = np.unique(ranking.representatives, return_index=True)
    return ranking.representatives[np.sort(positions)]


def tied_until(ranking: NodeRanking, position: int, tolerance: float) -> int:
    """Return the end of the run of nodes that tie with the one at a position."""
    lowest = ranking.criterion_values[position] - tolerance
    return int(np.searchsorted(-ranking.criterion_values, -lowest, side="right"))


def farthest_tied(ranking: NodeRanking, positions: Indices, total_distances: Vector) -> int:
    """Return the tied position whose mode is farthest from the rows asked so far.

    Parameters
    ----------
    ranking : NodeRanking
        All nodes.
    positions : array of int
        Positions in the ranking to choose from.
    total_distances : array of float
        For each, the sum of distances from its mode to the rows asked so far. The number of rows is
        the same for all, so the largest sum is the largest mean.
    """
    best = positions[total_distances == total_distances.max()]
    order = np.lexsort((ranking.first_members[best], -ranking.levels[best]))
    return int(best[order[0]])


def _evidence_of(nodes: "pd.DataFrame", bandwidths: Vector, node: int) -> dict[str, float]:
    """Return the numbers that the hierarchy has for a node."""
    line = nodes.iloc[node]
    return {
        **{name: float(line[name]) for name in _EVIDENCE},
        "from_bandwidth": float(bandwidths[int(line["born"])]),
        "to_bandwidth": float(bandwidths[int(line["last"])]),
    }


def _node_reason(known: dict[str, float], criterion: str, n_rows: int) -> str:
    """Return why a node is asked, without the full stop, so that more may follow."""
    size = int(known["size"])
    is_root = size == n_rows > 1
    span = f"from bandwidth {known['from_bandwidth']:.3g} to {known['to_bandwidth']:.3g}"
    if size == 1:
        start = f"This row is a cluster of its own {span}"
    elif is_root:
        start = (
            f"All {size:,} rows form one cluster from bandwidth {known['from_bandwidth']:.3g} on"
        )
    else:
        start = f"The {size:,} rows of this cluster stay together and separate {span}"
    return start + _merit(known, criterion, is_root)


def _merit(known: dict[str, float], criterion: str, is_root: bool) -> str:
    if is_root:
        return ", and this row is nearest to its centre"
    if criterion == "outlierness":
        return f": an outlierness of {known['outlierness']:.3g}, high for its size"
    subject = "it makes" if known["size"] == 1 else "they make"
    return (
        f", and {subject} up {_percent(known['isolation'])} of the density at the centre "
        f"(compactness {_percent(known['compactness'])})"
    )


def _percent(fraction: float) -> str:
    """Return a fraction in percent, with values just below 1 as "over 99 %"."""
    return "over 99 %" if 0.99 < fraction < 1 - 1e-9 else percent(fraction)


@dataclass
class HierarchyOrder:
    """Ask the representatives of all nodes, best criterion first (HMS-Out, HMS-CI).

    The order does not depend on the answers. With ``farthest`` (the paper's HAD), ties go to the
    node whose mode is farthest from the rows asked so far.

    Parameters
    ----------
    criterion : {"outlierness", "compactness_isolation"}
        Criterion that ranks the nodes.
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
    needs: ClassVar[tuple[Need, ...]] = ("rows", "hierarchy")

    def __post_init__(self) -> None:
        self.name = _SHORT_NAME[self.criterion] + ("-had" if self.farthest else "")

    def start(self, preparation: "Preparation") -> "NodeAsker":
        """Return a fresh asker over the table's hierarchy."""
        model = preparation.hierarchy(self.standardize, self.reference, self.growth)
        key = ("nodes", self.criterion, self.standardize, self.reference, self.growth)
        clusters = cached(preparation, key, lambda: RankedClusters.of(model, self.criterion))
        return FarthestAsker(clusters) if self.farthest else NodeAsker(clusters)

    def first_rows(self, preparation: "Preparation", n: int) -> Indices:
        """Return the first ``n`` rows to be asked, which no answer changes."""
        key = ("order", self.name, self.standardize, self.reference, self.growth)
        if self.farthest:
            growing = cached(preparation, key, lambda: GrowingOrder(self.start(preparation)))
            return growing.first(n)
        return cached(preparation, key, lambda: rows_in_order(self.start(preparation).ranking))[:n]


class RankedClusters(NamedTuple):
    """Clusters of a fitted hierarchy, and their ranking by one criterion."""

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
    """Ask the nodes as ranked; a node whose representative was asked is skipped."""

    def __init__(self, clusters: RankedClusters) -> None:
        self._clusters = clusters
        self._model = clusters.model
        self.ranking = clusters.ranking
        self._is_asked = np.zeros(len(self._model.standardized_), dtype=np.bool_)
        self._position = 0  # nothing before it is open
        self._question: Question | None = None

    def next_row(self) -> int | None:
        """Return the row to ask, without building the question."""
        position = self._best_position()
        return None if position is None else int(self.ranking.representatives[position])

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        position = self._best_position()
        if position is None:
            return None
        if len(besides):
            is_free = free_rows(self._is_asked, besides)
            if not is_free[self.ranking.representatives[position]]:
                return self._question_among(is_free)
        if self._question is None:
            self._question = self._question_at(position)
        return self._question

    def _question_among(self, is_free: Mask) -> Question | None:
        """Return the question of an asker for which only these rows are open."""
        position = self._first_free(is_free)
        return None if position is None else self._question_at(position)

    def _first_free(self, is_free: Mask) -> int | None:
        is_open = is_free[self.ranking.representatives[self._position :]]
        return self._position + int(np.argmax(is_open)) if is_open.any() else None

    def observe(self, answer: Answer) -> None:
        """Mark a row as asked; the answer changes nothing."""
        self._is_asked[answer.row] = True
        self._question = None

    def _best_position(self) -> int | None:
        representatives = self.ranking.representatives
        while (
            self._position < len(representatives)
            and self._is_asked[representatives[self._position]]
        ):
            self._position += 1
        return self._position if self._position < len(representatives) else None

    def _question_at(self, position: int) -> Question:
        node = int(self.ranking.nodes[position])
        row = int(self.ranking.representatives[position])
        known = _evidence_of(self._clusters.nodes, self._model.bandwidths_, node)
        reason = _node_reason(known, self._clusters.criterion, len(self._is_asked))
        return Question(
            row=row,
            members=self._model.members_of(node),
            reason=reason + self._tie_reason(position),
            evidence={**known, **self._tie_evidence(position)},
            alternatives=self._alternatives_to(row),
        )

    def _alternatives_to(self, row: int) -> tuple[int, ...]:
        return self._open_rows_from(self._position, besides=[row])

    def _open_rows_from(self, position: int, besides: list[int]) -> tuple[int, ...]:
        """Return the given rows without the first of them, then open rows as ranked."""
        found = dict.fromkeys(besides)
        for row in map(int, self.ranking.representatives[position:]):
            if len(found) > _ALTERNATIVES:
                break
            if not self._is_asked[row]:
                found.setdefault(row)
        return tuple(found)[1 : 1 + _ALTERNATIVES]

    def _tie_reason(self, position: int) -> str:
        return "."

    def _tie_evidence(self, position: int) -> dict[str, float]:
        return {}


class FarthestAsker(NodeAsker):
    """The same, with ties broken by the distance to the rows asked so far (HAD).

    The sum of distances from every mode to the rows asked is updated with each answer.
    """

    def __init__(self, clusters: RankedClusters) -> None:
        super().__init__(clusters)
        self._total_distance = np.zeros(len(self.ranking.nodes))  # by node
        self._n_asked = 0
        self._tied: Indices = np.empty(0, dtype=np.intp)
        self._chosen: int | None = None

    def observe(self, answer: Answer) -> None:
        """Mark a row as asked, and add the distance of every mode to it."""
        if not self._is_asked[answer.row]:
            row = self._model.standardized_[answer.row]
            self._total_distance += distances_to(self._model.modes_, row)
            self._n_asked += 1
        super().observe(answer)
        self._chosen = None

    def _best_position(self) -> int | None:
        first = super()._best_position()
        if first is None or self._chosen is not None:
            return first if first is None else self._chosen
        self._tied = self._tied_from(first, ~self._is_asked)
        self._chosen = self._farthest(self._tied)
        return self._chosen

    def _question_among(self, is_free: Mask) -> Question | None:
        first = self._first_free(is_free)
        if first is None:
            return None
        tied, self._tied = self._tied, self._tied_from(first, is_free)
        question = self._question_at(self._farthest(self._tied))
        self._tied = tied
        return question

    def _tied_from(self, first: int, is_free: Mask) -> Indices:
        end = tied_until(self.ranking, first, _TIE_TOLERANCE[self._clusters.criterion])
        positions = np.arange(first, end)
        return positions[is_free[self.ranking.representatives[first:end]]]

    def _farthest(self, positions: Indices) -> int:
        return farthest_tied(self.ranking, positions, self._totals_of(positions))

    def _totals_of(self, positions: Indices) -> Vector:
        return self._total_distance[self.ranking.nodes[positions]]

    def _alternatives_to(self, row: int) -> tuple[int, ...]:
        totals = self._totals_of(self._tied)
        n_seen = min(len(totals), 4 * _ALTERNATIVES)  # nodes may share a representative
        farthest = np.argpartition(-totals, n_seen - 1)[:n_seen]
        by_distance = farthest[np.argsort(-totals[farthest], kind="stable")]
        nearby = self.ranking.representatives[self._tied[by_distance]]
        return self._open_rows_from(self._position, besides=[row, *map(int, nearby)])

    def _tie_reason(self, position: int) -> str:
        if len(self._tied) < 2 or self._n_asked == 0:
            return "."
        mean = self._totals_of(np.array([position]))[0] / self._n_asked
        return (
            f"; of {len(self._tied):,} tied clusters, its centre is farthest from the rows asked "
            f"so far ({mean:.3g} on average)."
        )

    def _tie_evidence(self, position: int) -> dict[str, float]:
        evidence = {"n_tied": float(len(self._tied))}
        if self._n_asked:
            mean = self._totals_of(np.array([position]))[0] / self._n_asked
            evidence["mean_distance_to_asked"] = float(mean)
        return evidence


class GrowingOrder:
    """The rows that an asker would ask whatever the answers, computed as far as needed."""

    def __init__(self, asker: NodeAsker) -> None:
        self._asker = asker
        self._rows: list[int] = []
        self._is_complete = False

    def first(self, n: int) -> Indices:
        """Return the first ``n`` rows, or all if there are fewer."""
        while len(self._rows) < n and not self._is_complete:
            row = self._asker.next_row()
            self._is_complete = row is None
            if row is not None:
                self._rows.append(row)
                self._asker.observe(Answer(row, None))
        return np.array(self._rows[:n], dtype=np.intp)
