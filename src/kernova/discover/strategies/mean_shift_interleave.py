"""Interleave with mean shift instead of a mixture (MS-Interleave).

Vatturi and Wong, KDD 2009, Section 4, as a step towards the hierarchy: clusters come from mean
shift at one bandwidth, a cluster owns a row the less the farther it is from the mode, and in each
round every cluster proposes the open row it owns least. The authors found that textbook bandwidths
give too many clusters, and so too many questions about the same category.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kernova.cluster.standardize import Standardization
from kernova.discover.preparation import cached
from kernova.discover.questions import Answer, Question, free_rows
from kernova.typing import Indices, Vector

if TYPE_CHECKING:
    from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
    from kernova.discover.preparation import Preparation


@dataclass
class MeanShiftInterleave:
    """Each cluster of mean shift asks in turn about its row farthest from the centre.

    Clusters are those of the hierarchy at the level nearest to Silverman's bandwidth; the shift
    of a row is its distance to the centre of its cluster. Answers do not change the order.

    Examples
    --------
    >>> from kernova.discover.strategies.mean_shift_interleave import MeanShiftInterleave
    >>> MeanShiftInterleave().name
    'ms-interleave'
    """

    standardize: Standardization = "sphere"
    name: str = "ms-interleave"

    def start(self, preparation: "Preparation") -> "ShiftAsker":
        """Return a fresh asker over the clusters of one level."""
        return ShiftAsker(self.clusters(preparation))

    def first_rows(self, preparation: "Preparation", n: int) -> Indices:
        """Return the first ``n`` rows to be asked, which no answer changes."""
        return self.clusters(preparation).order[:n]

    def clusters(self, preparation: "Preparation") -> "ShiftedClusters":
        """Return the clusters, cached in the preparation."""
        model = preparation.hierarchy(self.standardize)
        level = nearest_level(model.bandwidths_, silverman_bandwidth(model.standardized_))
        key = ("shifts", self.standardize)
        return cached(preparation, key, lambda: ShiftedClusters(model, level))


def silverman_bandwidth(Z: Vector) -> float:
    """Return the optimal bandwidth for one Gaussian with the spread of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.mean_shift_interleave import silverman_bandwidth
    >>> round(silverman_bandwidth(np.array([[-1.0], [1.0]] * 50)), 3)
    0.422
    """
    n_rows, n_columns = Z.shape
    spread = float(np.sqrt(Z.var(axis=0).mean()))
    return spread * float((4 / (n_rows * (n_columns + 2))) ** (1 / (n_columns + 4)))


def nearest_level(bandwidths: Vector, bandwidth: float) -> int:
    """Return the level whose bandwidth is nearest in ratio."""
    if bandwidth <= 0:
        return 0
    return int(np.argmin(np.abs(np.log(bandwidths / bandwidth))))


def round_robin(owners: Indices, shifts: Vector) -> Indices:
    """Return rows in rounds: in each, the remaining row with the largest shift of every owner.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.discover.strategies.mean_shift_interleave import round_robin
    >>> round_robin(np.array([0, 0, 2, 0]), np.array([0.1, 0.7, 0.2, 0.4])).tolist()
    [1, 2, 3, 0]
    """
    by_owner = np.lexsort((np.arange(len(owners)), -shifts, owners))
    _, starts, sizes = np.unique(owners[by_owner], return_index=True, return_counts=True)
    rounds = np.arange(len(owners)) - np.repeat(starts, sizes)
    return by_owner[np.lexsort((owners[by_owner], rounds))]


class ShiftedClusters:
    """Clusters of one level, the distance of every row from its centre, and the order to ask."""

    def __init__(self, model: "HierarchicalMeanShift", level: int) -> None:
        self.bandwidth = float(model.bandwidths_[level])
        self.owners: Indices = np.asarray(model.labels_at(level), dtype=np.intp)
        nodes = model.nodes_
        is_present = ((nodes["born"] <= level) & (nodes["last"] >= level)).to_numpy()
        node_of_first = np.zeros(len(self.owners), dtype=np.intp)
        present = np.flatnonzero(is_present)
        node_of_first[nodes["first_member"].to_numpy()[present]] = present
        offsets = model.standardized_ - model.modes_[node_of_first[self.owners]]
        self.shifts: Vector = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
        self.order = round_robin(self.owners, self.shifts)


class ShiftAsker:
    """One run through the order of the clusters."""

    def __init__(self, clusters: ShiftedClusters) -> None:
        self._clusters = clusters
        self._is_asked = np.zeros(len(clusters.order), dtype=np.bool_)

    def propose(self, besides: Collection[int] = ()) -> Question | None:
        """Return the next question, the same until an answer comes; None when no row is left."""
        order = self._clusters.order
        waiting = order[free_rows(self._is_asked, besides)[order]]
        if len(waiting) == 0:
            return None
        row = int(waiting[0])
        members = np.flatnonzero(self._clusters.owners == self._clusters.owners[row])
        shift = float(self._clusters.shifts[row])
        return Question(
            row=row,
            members=members,
            reason=(
                f"Of the open rows in its cluster of {len(members):,}, at bandwidth "
                f"{self._clusters.bandwidth:.3g}, this one is farthest from the centre "
                f"({shift:.3g})."
            ),
            evidence={"shift": shift, "size": float(len(members))},
            alternatives=tuple(waiting[1:6].tolist()),
        )

    def observe(self, answer: Answer) -> None:
        """Mark a row as asked; the answer changes nothing."""
        self._is_asked[answer.row] = True
