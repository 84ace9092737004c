"""How much a cluster stands out: outlierness, compactness and isolation.

With e(x, p) = exp(-|x - p|^2 / (2 h_l^2)) and p_C the centre of cluster C at level l:

- isolation:   sum over C of e(x, p_C), as a share of the sum over all rows,
- compactness: the same, as a share of what all centres of the level get from the rows of C,
- outlierness: how long the cluster lives, in log bandwidth, per row.

Mean shift again and again with a growing window: the tree of clusters that comes of it.

Level 0 is the rows themselves. At level l the centres of the level before climb the density at
bandwidth h_l = h_min k^(l-1), and those that end together become one. A node is one distinct
cluster: it is born where centres merge (single rows: level 0) and lives until its own centre
merges with others. The last level has one centre, the root's.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.cluster.mean_shift import FEW_ROWS, Reference, groups_within, warm_up
from kernova.neighbors.duplicates import DistinctRows, distinct_rows
from kernova.neighbors.neighborhoods import nearest_distances
from kernova.progress import track
from kernova.typing import Indices, Matrix, Vector


class Criteria(NamedTuple):
    """Compactness and isolation of clusters, and the level at which each was measured."""

    compactness: Vector
    isolation: Vector
    level: Indices

    @property
    def total(self) -> Vector:
        """Compactness plus isolation."""
        return self.compactness + self.isolation

    def of(self, which: "Indices | slice") -> "Criteria":
        """Return some of the clusters."""
        return Criteria(self.compactness[which], self.isolation[which], self.level[which])


def outlierness(lifetime: Indices, size: Indices, growth: float) -> Vector:
    """Return (merge level - birth level) log k / size, from integers so that ties are exact.

    Examples
    --------
    >>> import numpy as np
    >>> outlierness(np.array([7, 14]), np.array([1, 2]), growth=1.1)
    array([0.66717126, 0.66717126])
    """
    shared = np.gcd(lifetime, size)
    shared[shared == 0] = 1
    return (lifetime // shared) * math.log(growth) / (size // shared)


def level_zero_criteria(
    reference: Reference, rows: Matrix, nearest_row: Vector, bandwidth: float
) -> Criteria:
    """Measure the single rows, where every row is a centre: copies share the mass."""
    everyone = reference.kernel_sums(
        rows, np.arange(len(rows)), bandwidth, nearest_row=nearest_row
    ).everyone
    # At level 0 both sums run over all rows around one of them.
    return Criteria(1 / everyone, 1 / everyone, np.zeros(len(rows), dtype=np.intp))


def merged_criteria(
    reference: Reference,
    centers: Matrix,
    owner: Indices,
    counts: Vector,
    bandwidth: float,
    level: int,
    nearest_row: Vector,
    n_jobs: int | None = None,
) -> Criteria:
    """Measure all clusters of a level; ``owner`` gives the centre of each distinct row."""
    sums = reference.kernel_sums(centers, owner, bandwidth, nearest_row=nearest_row, n_jobs=n_jobs)
    if len(centers) == 1:  # the root: both shares are of itself, whatever order sums are taken in
        claimed = sums.own
        return Criteria(_share(claimed, claimed), _share(claimed, claimed), np.full(1, level))
    claimed = np.zeros(len(centers))
    np.add.at(claimed, owner, counts * sums.by_row)
    return Criteria(
        _share(sums.own, claimed),
        _share(sums.own, sums.everyone),
        np.full(len(centers), level, dtype=np.intp),
    )


def best_of(before: Criteria, now: Criteria) -> Criteria:
    """Keep, for each cluster, the better of two measurements; of equal ones the later."""
    is_better = now.total >= before.total
    return Criteria(*(np.where(is_better, b, a) for a, b in zip(before, now, strict=True)))


def _share(part: Vector, whole: Vector) -> Vector:
    """Return part / whole, and 0 for 0 / 0: a centre so far from its rows that none counts.

    Two sums of the same terms differ in their last digits, and how depends on the processor; but
    no part is more than the whole, and clusters that nothing touches shall tie on every machine.
    """
    share = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return np.minimum(share, 1.0)


# Rows nearer than this share of the widest column are copies but for rounding.
_ROUNDING = 1e-9
# A centre on a row without another row within so many bandwidths cannot move by more than 1e-7.
_ASLEEP = 6.0
# Paths that differ by less, relatively, are equal: symmetric pairs tie.
_PATH_TIE = 1e-9
# A window so many times wider than the data has one mode; nothing is gained by going on.
_WIDEST_WINDOW = 1e4


class Rules(NamedTuple):
    """How a hierarchy is built."""

    growth: float = 1.1
    reference: str = "data"
    tol: float = 1e-4
    merge: float = 1e-2
    n_jobs: int | None = None
    few_rows: int = FEW_ROWS


class Nodes(NamedTuple):
    """One entry per node; the first n are the single rows, then by level of birth, first member."""

    born: Indices
    last: Indices
    size: Indices
    representative: Indices
    first_member: Indices
    parent: Indices  # -1 for the root
    mode: Matrix  # the centre at the node's last level
    criteria: Criteria


class Hierarchy(NamedTuple):
    """Bandwidth and number of clusters per level, the nodes, and how far each row climbed."""

    bandwidths: Vector
    n_clusters: Indices
    nodes: Nodes
    path: Vector


class _Level(NamedTuple):
    """The centres of one level: where they are, which node each is, which centre carries a row."""

    centers: Matrix
    node: Indices
    owner: Indices  # distinct row -> centre
    nearest_row: Vector  # distance of a row's nearest other row; 0 for a centre of several rows


def build_hierarchy(rows: Matrix, rules: Rules, away: Vector | None = None) -> Hierarchy:
    """Build the whole hierarchy of finite rows.

    ``away`` tells that rows stand for others: it is the distance between each and the row it
    replaces. Equal rows are then no copies, but neighbours taken together: at level 0 they are one
    cluster already, and the one least far away represents it.
    """
    unit, origin = unit_and_origin(rows)
    distinct = distinct_rows(rows / unit - origin)
    smallest = _smallest_distance(distinct.rows)
    warm_up()
    builder = _Builder(distinct, smallest, rules, away)
    for level in _levels(distinct.rows, smallest, rules.growth):
        if builder.is_finished():
            break
        builder.climb_to(level, smallest * rules.growth ** (level - 1))
    result = builder.result()
    mode = (result.nodes.mode + origin) * unit
    return result._replace(
        bandwidths=result.bandwidths * unit, path=result.path * unit,
        nodes=result.nodes._replace(mode=mode),
    )  # fmt: skip


def unit_and_origin(rows: Matrix) -> tuple[float, Vector]:
    """Return a power of two and a point that make distances finite, and offsets harmless."""
    largest = float(np.abs(rows).max(initial=0.0))
    unit = math.ldexp(1.0, min(max(math.frexp(largest)[1], -1021), 1022)) if largest else 1.0
    scaled = rows / unit
    extent = float(np.ptp(scaled, axis=0).max(initial=0.0))
    if extent:
        # Small data far from zero: let the widest column have a range near one.
        unit = math.ldexp(unit, max(math.frexp(extent)[1], -60))
    scaled = rows / unit
    return unit, scaled.min(axis=0) / 2 + scaled.max(axis=0) / 2


def _smallest_distance(rows: Matrix) -> float:
    """h_min: the smallest distance between two rows that are not copies but for rounding."""
    negligible = _ROUNDING * float(np.ptp(rows, axis=0).max(initial=0.0))
    if len(rows) < 2:
        return 1.0
    nearest = nearest_distances(rows)
    if nearest.min() <= negligible:
        rows = rows[np.unique(groups_within(rows, negligible))]
        if len(rows) < 2:
            return negligible / _ROUNDING or 1.0
        nearest = nearest_distances(rows)
    return float(nearest.min())


def _levels(rows: Matrix, smallest: float, growth: float) -> Iterator[int]:
    """Count the levels from 1 on, telling how many there are at most but for rare cases."""
    diameter = float(np.linalg.norm(np.ptp(rows, axis=0)))
    # One mode is left when the window is about half as wide as the data.
    expected = 2 + math.ceil(max(0.0, math.log(max(diameter, smallest) / smallest))
                             / math.log(growth))  # fmt: skip
    yield from track(range(1, expected + 1), "building the hierarchy")
    yield from itertools.count(expected + 1)


class _Builder:
    """Level by level; keeps what is needed of earlier levels and nothing more."""

    def __init__(
        self, distinct: DistinctRows, smallest: float, rules: Rules, away: Vector | None
    ) -> None:
        self.rules = rules
        self.rows = distinct.rows
        self.counts = distinct.counts.astype(float)
        self.inverse = distinct.inverse
        self.reference = Reference(self.rows, self.counts)
        self.bandwidths = [smallest / rules.growth]
        self.n_clusters = [len(self.inverse)]
        self.path = np.zeros(len(self.rows))
        self.extent = float(np.ptp(self.rows, axis=0).max(initial=0.0))
        self.first_copy = _firsts(self.inverse, np.zeros(len(self.inverse)))
        self.shown_copy = self.first_copy if away is None else _firsts(self.inverse, away)
        nearest = nearest_distances(self.rows) if len(self.rows) > 1 else np.full(1, np.inf)
        self.level = _Level(self.rows, self.first_copy.copy(), np.arange(len(self.rows)), nearest)
        self.copies = self.counts
        self.nodes = self._single_rows()
        self.n_nodes = len(self.inverse)
        if away is not None:
            self._start_together()

    def _start_together(self) -> None:
        """Let equal rows be one cluster at level 0, instead of copies that merge at level 1."""
        nodes, counts = self.nodes, self.counts
        together = np.flatnonzero(counts > 1)
        numbers = self.n_nodes + np.arange(len(together))
        self.n_nodes += len(together)
        self.level.node[together] = numbers
        nodes.size[numbers] = counts[together]
        nodes.first_member[numbers] = self.first_copy[together]
        nodes.representative[numbers] = self.shown_copy[together]
        inside = np.flatnonzero(counts[self.inverse] > 1)
        nodes.parent[inside] = self.level.node[self.inverse[inside]]
        nodes.last[inside] = -1  # never clusters of their own
        for column in nodes.criteria:
            column[inside] = 0
        self.n_clusters[0] = len(self.rows)
        self.copies = np.ones(len(self.rows))
        self._judge(0, self.bandwidths[0])

    def _single_rows(self) -> Nodes:
        """Make room for all nodes: every birth takes two nodes or more, so 2 n are enough."""
        n = len(self.inverse)
        room = max(2 * n - 1, 1)
        row_numbers = np.zeros(room, dtype=np.intp)
        row_numbers[:n] = np.arange(n)
        mode = np.zeros((room, self.rows.shape[1]))
        mode[:n] = self.rows[self.inverse]
        criteria = Criteria(np.zeros(room), np.zeros(room), np.zeros(room, dtype=np.intp))
        at_rows = level_zero_criteria(
            self.reference, self.rows, self.level.nearest_row, self.bandwidths[0]
        )
        for column, values in zip(criteria, at_rows, strict=True):
            column[:n] = values[self.inverse]
        return Nodes(
            born=np.zeros(room, dtype=np.intp), last=np.zeros(room, dtype=np.intp),
            size=np.ones(room, dtype=np.intp), representative=row_numbers,
            first_member=row_numbers.copy(), parent=np.full(room, -1), mode=mode,
            criteria=criteria,
        )  # fmt: skip

    def is_finished(self) -> bool:
        return self.n_clusters[-1] == 1

    def climb_to(self, level: int, bandwidth: float) -> None:
        """Let the centres climb at this bandwidth, merge, and write down what came of it."""
        before = self.level
        ends = self._ends(bandwidth)
        groups = self._groups(ends, bandwidth)
        # Copies are centres of their own before they merge at level 1.
        votes = self.copies if level == 1 else np.ones(len(ends))
        total = np.bincount(groups, weights=votes)
        node = np.empty(len(total), dtype=np.intp)
        node[groups] = before.node
        asleep = np.zeros(len(total))
        asleep[groups] = before.nearest_row
        asleep[np.bincount(groups) > 1] = 0.0
        self.level = _Level(_means(ends, groups, votes, total), node, groups[before.owner], asleep)
        self._give_birth(level, groups, total > 1, before)
        self.bandwidths.append(bandwidth)
        self.n_clusters.append(len(total))
        self._judge(level, bandwidth)

    def _ends(self, bandwidth: float) -> Matrix:
        before, rules = self.level, self.rules
        reference = self.reference
        is_awake = np.ones(len(before.centers), dtype=bool)
        if rules.reference == "data":
            is_awake = before.nearest_row <= _ASLEEP * bandwidth
        elif len(self.bandwidths) > 1:  # at level 1 the centres are the rows
            rows_behind = np.bincount(before.owner, weights=self.counts).astype(float)
            reference = Reference(
                before.centers, rows_behind if rules.reference == "weighted" else None
            )
        ends = before.centers.copy()
        paths = np.zeros(len(ends))
        ends[is_awake], paths[is_awake] = reference.climb(
            before.centers[is_awake], bandwidth, tol=rules.tol, few_rows=rules.few_rows,
            n_jobs=rules.n_jobs,
        )  # fmt: skip
        self.path += paths[before.owner]
        return ends

    def _groups(self, ends: Matrix, bandwidth: float) -> Indices:
        if bandwidth > _WIDEST_WINDOW * self.extent:
            return np.zeros(len(ends), dtype=np.intp)
        names = groups_within(ends, self.rules.merge * bandwidth)
        return np.unique(names, return_inverse=True)[1]

    def _give_birth(
        self, level: int, groups: Indices, is_merged: NDArray[np.bool_], before: _Level
    ) -> None:
        """Make a node of each merged group, in the order of their first members."""
        owner, nodes = self.level.owner, self.nodes
        inside = np.flatnonzero(is_merged[owner])
        firsts = np.full(len(is_merged), len(self.inverse))
        np.minimum.at(firsts, owner[inside], self.first_copy[inside])
        newborn = np.flatnonzero(is_merged)
        newborn = newborn[np.argsort(firsts[newborn])]
        numbers = self.n_nodes + np.arange(len(newborn))
        self.n_nodes += len(newborn)
        self._bury(level, groups, is_merged, before)
        self.level.node[newborn] = numbers
        nodes.born[numbers] = nodes.last[numbers] = level
        nodes.first_member[numbers] = firsts[newborn]
        sizes = np.bincount(owner[inside], weights=self.counts[inside], minlength=len(is_merged))
        nodes.size[numbers] = sizes[newborn]
        nodes.representative[numbers] = self._shortest_paths(inside, len(is_merged))[newborn]
        self._adopt(groups, is_merged, before)

    def _bury(
        self, level: int, groups: Indices, is_merged: NDArray[np.bool_], before: _Level
    ) -> None:
        """Note that nodes whose centres have merged lived until the level before."""
        ended = is_merged[groups]
        self.nodes.mode[before.node[ended]] = before.centers[ended]
        is_alive = np.zeros(self.n_nodes, dtype=bool)
        is_alive[self.level.node[~is_merged]] = True
        self.nodes.last[np.flatnonzero(is_alive)] = level

    def _adopt(self, groups: Indices, is_merged: NDArray[np.bool_], before: _Level) -> None:
        ended = is_merged[groups]
        self.nodes.parent[before.node[ended]] = self.level.node[groups[ended]]
        if len(self.bandwidths) == 1 and self.copies.max() > 1:  # copies of a row end with it
            owner = self.level.owner[self.inverse]
            copies = np.flatnonzero(is_merged[owner])
            self.nodes.parent[copies] = self.level.node[owner[copies]]

    def _shortest_paths(self, inside: Indices, n_groups: int) -> Indices:
        """Return the row of each group that climbed the least; of equal ones the first."""
        owner = self.level.owner[inside]
        shortest = np.full(n_groups, np.inf)
        np.minimum.at(shortest, owner, self.path[inside])
        is_shortest = self.path[inside] <= shortest[owner] * (1 + _PATH_TIE)
        rows = np.full(n_groups, len(self.inverse))
        inside, owner = inside[is_shortest], owner[is_shortest]
        np.minimum.at(rows, owner, self.first_copy[inside])
        # Rows that stand for several are shown by the one nearest to where they stand.
        shown = np.full(len(self.inverse), -1)
        shown[self.first_copy] = self.shown_copy
        rows[owner] = shown[rows[owner]]
        return rows

    def _judge(self, level: int, bandwidth: float) -> None:
        now = merged_criteria(
            self.reference, self.level.centers, self.level.owner, self.counts, bandwidth, level,
            self.level.nearest_row, self.rules.n_jobs,
        )  # fmt: skip
        best = best_of(self.nodes.criteria.of(self.level.node), now)
        for column, values in zip(self.nodes.criteria, best, strict=True):
            column[self.level.node] = values

    def result(self) -> Hierarchy:
        self.nodes.mode[self.level.node] = self.level.centers
        kept = slice(self.n_nodes)
        parts = {name: column[kept] for name, column in self.nodes._asdict().items()
                 if name != "criteria"}  # fmt: skip
        nodes = Nodes(**parts, criteria=self.nodes.criteria.of(kept))
        return Hierarchy(
            np.array(self.bandwidths), np.array(self.n_clusters), nodes, self.path[self.inverse]
        )


def _firsts(group: Indices, value: Vector) -> Indices:
    """Return the member of each group with the smallest value; of equal ones the first."""
    order = np.lexsort((np.arange(len(group)), value, group))
    is_first = np.r_[True, np.diff(group[order]) != 0]
    return order[is_first]


def _means(ends: Matrix, groups: Indices, votes: Vector, total: NDArray[Any]) -> Matrix:
    """Return the mean of each group's end points; a lone one stays as it is, to the last bit."""
    means = np.column_stack([np.bincount(groups, weights=votes * e) / total for e in ends.T])
    alone = np.bincount(groups)[groups] == 1
    means[groups[alone]] = ends[alone]
    return means
