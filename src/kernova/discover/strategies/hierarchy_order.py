"""Ask in the order of the hierarchy's criteria: HMS-Out and HMS-CI, with and without HAD.

Vatturi and Wong, "Category Detection Using Hierarchical Mean Shift", KDD 2009. Every node of the
hierarchy stands for a possible category; its representative is asked. Outlierness favours small
clusters that stay by themselves over a wide range of bandwidths, CI (compactness plus isolation)
those that no other cluster touches.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernova.discover.questions import Answer, Question, Rows, free_rows
from kernova.discover.standardize import Standardization
from kernova.discover.strategies.kept import kept
from kernova.discover.strategies.node_ranking import (
    NodeRanking,
    Vector,
    distances_to,
    farthest_place,
    ranked_nodes,
    rows_in_order,
    tied_until,
)
from kernova.discover.strategies.node_reasons import evidence_of, reason_of

if TYPE_CHECKING:
    import pandas as pd

    from kernova.discover.hierarchy import HierarchicalMeanShift
    from kernova.discover.preparation import Preparation

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
    >>> from kernova.discover.strategies.hierarchy_order import HierarchyOrder
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

    def first_rows(self, preparation: "Preparation", n: int) -> Rows:
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
        self._tied: Rows = np.empty(0, dtype=np.intp)
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

    def _tied_from(self, first: int, is_free: NDArray[np.bool_]) -> Rows:
        end = tied_until(self.ranking, first, _TIE_TOLERANCE[self._clusters.criterion])
        places = np.arange(first, end)
        return places[is_free[self.ranking.representatives[first:end]]]

    def _farthest(self, places: Rows) -> int:
        return farthest_place(self.ranking, places, self._totals_of(places))

    def _totals_of(self, places: Rows) -> Vector:
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

    def first(self, n: int) -> Rows:
        """Give the first ``n`` rows, or all if there are fewer."""
        while len(self._rows) < n and not self._is_whole:
            row = self._asker.next_row()
            self._is_whole = row is None
            if row is not None:
                self._rows.append(row)
                self._asker.observe(Answer(row, None))
        return np.array(self._rows[:n], dtype=np.intp)
