"""Levels of the hierarchy: repeated mean shift with a growing bandwidth, and cluster criteria.

Level 0 is the rows themselves. At level l the centres of the previous level climb the density at
bandwidth h_l = h_min k^(l-1), and those that end together are merged. A node is one distinct
cluster: it is born where centres merge (single rows: level 0) and persists until its own centre
merges with others. The last level has one centre, the root.

With e(x, p) = exp(-|x - p|^2 / (2 h_l^2)) and p_C the centre of cluster C at level l, the criteria
of a cluster are

- isolation:   sum over C of e(x, p_C), as a fraction of the sum over all rows,
- compactness: the same, as a fraction of the sum over all centres of the level and the rows of C,
- outlierness: lifetime of the cluster, in log bandwidth, per row.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.cluster.mean_shift import FEW_ROWS, Reference, groups_within, warm_up
from kernova.neighbors.index import DistinctRows, distinct_rows
from kernova.neighbors.neighborhoods import nearest_distances
from kernova.progress import track
from kernova.typing import Indices, Mask, Matrix, Vector

# Rows nearer than this fraction of the widest column are duplicates but for rounding.
_ROUNDING = 1e-9
# A centre at a row without another row within this many bandwidths cannot move by more than 1e-7.
_RESTING = 6.0
# Paths that differ by less, relatively, are equal: symmetric pairs tie.
_PATH_TIE = 1e-9
# A bandwidth this many times the extent of the data leaves one mode; a wider one changes nothing.
_WIDEST_WINDOW = 1e4


class Criteria(NamedTuple):
    """Compactness and isolation of clusters, and the level of each."""

    compactness: Vector
    isolation: Vector
    level: Indices

    @property
    def total(self) -> Vector:
        """Compactness plus isolation."""
        return self.compactness + self.isolation

    def of(self, which: "Indices | slice") -> "Criteria":
        """Return the criteria of some clusters."""
        return Criteria(self.compactness[which], self.isolation[which], self.level[which])


def outlierness(lifetime: Indices, size: Indices, growth: float) -> Vector:
    """Return (merge level - birth level) log k / size, from integers for exact ties.

    Examples
    --------
    >>> import numpy as np
    >>> outlierness(np.array([7, 14]), np.array([1, 2]), growth=1.1)
    array([0.66717126, 0.66717126])
    """
    shared = np.gcd(lifetime, size)
    shared[shared == 0] = 1
    return (lifetime // shared) * math.log(growth) / (size // shared)


def _level_zero_criteria(
    reference: Reference, rows: Matrix, nearest_row: Vector, bandwidth: float
) -> Criteria:
    """Return the criteria of single rows, where every row is a centre; duplicates share mass."""
    everyone = reference.kernel_sums(
        rows, np.arange(len(rows)), bandwidth, nearest_row=nearest_row
    ).everyone
    # At level 0 both sums run over all rows around one of them.
    return Criteria(1 / everyone, 1 / everyone, np.zeros(len(rows), dtype=np.intp))


def _merged_criteria(
    reference: Reference,
    centers: Matrix,
    owner: Indices,
    counts: Vector,
    bandwidth: float,
    level: int,
    nearest_row: Vector,
    n_jobs: int | None = None,
) -> Criteria:
    """Return the criteria of all clusters of a level; ``owner`` is the centre of each row."""
    sums = reference.kernel_sums(centers, owner, bandwidth, nearest_row=nearest_row, n_jobs=n_jobs)
    if len(centers) == 1:  # the root: both fractions are 1 whatever the order of sums
        claimed = sums.own
        return Criteria(_fraction(claimed, claimed), _fraction(claimed, claimed), np.full(1, level))
    claimed = np.zeros(len(centers))
    np.add.at(claimed, owner, counts * sums.by_row)
    return Criteria(
        _fraction(sums.own, claimed),
        _fraction(sums.own, sums.everyone),
        np.full(len(centers), level, dtype=np.intp),
    )


def _best_of(before: Criteria, now: Criteria) -> Criteria:
    """Return, for each cluster, the better of two criteria; of equal ones the later."""
    is_better = now.total >= before.total
    return Criteria(*(np.where(is_better, b, a) for a, b in zip(before, now, strict=True)))


def _fraction(part: Vector, whole: Vector) -> Vector:
    """Return part / whole, and 0 for 0 / 0: a centre out of reach of all its rows.

    Sums of the same terms differ in the last digits, depending on the processor. The bound of 1
    lets clusters without neighbours tie on every machine.
    """
    fraction = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return np.minimum(fraction, 1.0)


class Rules(NamedTuple):
    """Settings of a hierarchy."""

    growth: float = 1.1
    reference: str = "data"
    tol: float = 1e-4
    merge: float = 1e-2
    n_jobs: int | None = None
    few_rows: int = FEW_ROWS


class Nodes(NamedTuple):
    """Columns over nodes: the n single rows first, then by level of birth and first member."""

    born: Indices
    last: Indices
    size: Indices
    representative: Indices
    first_member: Indices
    parent: Indices  # -1 for the root
    mode: Matrix  # the centre at the node's last level
    criteria: Criteria


class Hierarchy(NamedTuple):
    """Bandwidth and number of clusters per level, the nodes, and the path length of each row."""

    bandwidths: Vector
    n_clusters: Indices
    nodes: Nodes
    path: Vector


class _Level(NamedTuple):
    """The centres of one level, the node of each, and the centre of each row."""

    centers: Matrix
    node: Indices
    owner: Indices  # distinct row -> centre
    nearest_row: Vector  # distance of a row's nearest other row; 0 for a centre of several rows


def build_hierarchy(rows: Matrix, rules: Rules, away: Vector | None = None) -> Hierarchy:
    """Build the hierarchy of finite rows.

    With ``away``, rows are micro-clusters: it is the distance between each and the row it replaces.
    Equal rows are then not duplicates but members of one micro-cluster: they form a cluster at
    level 0, represented by the member nearest to the centre.
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
    """Return a power of two and an origin that keep distances finite and precise."""
    largest = float(np.abs(rows).max(initial=0.0))
    unit = math.ldexp(1.0, min(max(math.frexp(largest)[1], -1021), 1022)) if largest else 1.0
    scaled = rows / unit
    extent = float(np.ptp(scaled, axis=0).max(initial=0.0))
    if extent:
        # For small data far from zero, the widest column gets a range near one.
        exponent = math.frexp(unit)[1] - 1 + max(math.frexp(extent)[1], -60)
        unit = math.ldexp(1.0, min(exponent, 1023))
    scaled = rows / unit
    return unit, scaled.min(axis=0) / 2 + scaled.max(axis=0) / 2


def _smallest_distance(rows: Matrix) -> float:
    """Return h_min: the smallest distance between rows, apart from rounding."""
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
    """Return the levels from 1 on, with a progress bar over the expected number of them."""
    diameter = float(np.linalg.norm(np.ptp(rows, axis=0)))
    # One mode is left when the bandwidth is about half the extent of the data.
    expected = 2 + math.ceil(max(0.0, math.log(max(diameter, smallest) / smallest))
                             / math.log(growth))  # fmt: skip
    yield from track(range(1, expected + 1), "building the hierarchy")
    yield from itertools.count(expected + 1)


class _Builder:
    """Builds the hierarchy level by level, keeping only what later levels need."""

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
        self.first_row = _firsts(self.inverse, np.zeros(len(self.inverse)))
        self.shown_row = self.first_row if away is None else _firsts(self.inverse, away)
        nearest = nearest_distances(self.rows) if len(self.rows) > 1 else np.full(1, np.inf)
        self.level = _Level(self.rows, self.first_row.copy(), np.arange(len(self.rows)), nearest)
        self.multiplicity = self.counts
        self.nodes = self._single_rows()
        self.n_nodes = len(self.inverse)
        if away is not None:
            self._merge_equal_rows()

    def _merge_equal_rows(self) -> None:
        """Merge equal rows at level 0, instead of as duplicates at level 1."""
        nodes, counts = self.nodes, self.counts
        together = np.flatnonzero(counts > 1)
        numbers = self.n_nodes + np.arange(len(together))
        self.n_nodes += len(together)
        self.level.node[together] = numbers
        nodes.size[numbers] = counts[together]
        nodes.first_member[numbers] = self.first_row[together]
        nodes.representative[numbers] = self.shown_row[together]
        inside = np.flatnonzero(counts[self.inverse] > 1)
        nodes.parent[inside] = self.level.node[self.inverse[inside]]
        nodes.last[inside] = -1  # never clusters of their own
        for column in nodes.criteria:
            column[inside] = 0
        self.n_clusters[0] = len(self.rows)
        self.multiplicity = np.ones(len(self.rows))
        self._update_criteria(0, self.bandwidths[0])

    def _single_rows(self) -> Nodes:
        """Return the single rows as nodes, with room for all later ones."""
        n = len(self.inverse)
        room = max(2 * n - 1, 1)
        row_numbers = np.zeros(room, dtype=np.intp)
        row_numbers[:n] = np.arange(n)
        mode = np.zeros((room, self.rows.shape[1]))
        mode[:n] = self.rows[self.inverse]
        criteria = Criteria(np.zeros(room), np.zeros(room), np.zeros(room, dtype=np.intp))
        at_rows = _level_zero_criteria(
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
        """Climb at this bandwidth, merge centres, and record the new level."""
        before = self.level
        ends = self._ends(bandwidth)
        groups = self._groups(ends, bandwidth)
        # Duplicates are separate centres before they merge at level 1.
        votes = self.multiplicity if level == 1 else np.ones(len(ends))
        total = np.bincount(groups, weights=votes)
        node = np.empty(len(total), dtype=np.intp)
        node[groups] = before.node
        nearest_row = np.zeros(len(total))
        nearest_row[groups] = before.nearest_row
        nearest_row[np.bincount(groups) > 1] = 0.0
        self.level = _Level(
            _means(ends, groups, votes, total), node, groups[before.owner], nearest_row
        )
        self._add_nodes(level, groups, total > 1, before)
        self.bandwidths.append(bandwidth)
        self.n_clusters.append(len(total))
        self._update_criteria(level, bandwidth)

    def _ends(self, bandwidth: float) -> Matrix:
        before, rules = self.level, self.rules
        reference = self.reference
        is_moving = np.ones(len(before.centers), dtype=bool)
        if rules.reference == "data":
            is_moving = before.nearest_row <= _RESTING * bandwidth
        elif len(self.bandwidths) > 1:  # at level 1 the centres are the rows
            rows_behind = np.bincount(before.owner, weights=self.counts).astype(float)
            reference = Reference(
                before.centers, rows_behind if rules.reference == "weighted" else None
            )
        ends = before.centers.copy()
        paths = np.zeros(len(ends))
        ends[is_moving], paths[is_moving] = reference.climb(
            before.centers[is_moving], bandwidth, tol=rules.tol, few_rows=rules.few_rows,
            n_jobs=rules.n_jobs,
        )  # fmt: skip
        self.path += paths[before.owner]
        return ends

    def _groups(self, ends: Matrix, bandwidth: float) -> Indices:
        if bandwidth > _WIDEST_WINDOW * self.extent:
            return np.zeros(len(ends), dtype=np.intp)
        names = groups_within(ends, self.rules.merge * bandwidth)
        return np.unique(names, return_inverse=True)[1]

    def _add_nodes(self, level: int, groups: Indices, is_merged: Mask, before: _Level) -> None:
        """Add a node for each merged group, in the order of first members."""
        owner, nodes = self.level.owner, self.nodes
        inside = np.flatnonzero(is_merged[owner])
        firsts = np.full(len(is_merged), len(self.inverse))
        np.minimum.at(firsts, owner[inside], self.first_row[inside])
        newborn = np.flatnonzero(is_merged)
        newborn = newborn[np.argsort(firsts[newborn])]
        numbers = self.n_nodes + np.arange(len(newborn))
        self.n_nodes += len(newborn)
        self._end_nodes(level, groups, is_merged, before)
        self.level.node[newborn] = numbers
        nodes.born[numbers] = nodes.last[numbers] = level
        nodes.first_member[numbers] = firsts[newborn]
        sizes = np.bincount(owner[inside], weights=self.counts[inside], minlength=len(is_merged))
        nodes.size[numbers] = sizes[newborn]
        nodes.representative[numbers] = self._shortest_paths(inside, len(is_merged))[newborn]
        self._set_parents(groups, is_merged, before)

    def _end_nodes(self, level: int, groups: Indices, is_merged: Mask, before: _Level) -> None:
        """Record the last level of all nodes: those that merged ended at the previous one."""
        ended = is_merged[groups]
        self.nodes.mode[before.node[ended]] = before.centers[ended]
        is_alive = np.zeros(self.n_nodes, dtype=bool)
        is_alive[self.level.node[~is_merged]] = True
        self.nodes.last[np.flatnonzero(is_alive)] = level

    def _set_parents(self, groups: Indices, is_merged: Mask, before: _Level) -> None:
        ended = is_merged[groups]
        self.nodes.parent[before.node[ended]] = self.level.node[groups[ended]]
        if (
            len(self.bandwidths) == 1 and self.multiplicity.max() > 1
        ):  # duplicates end with their row
            owner = self.level.owner[self.inverse]
            duplicates = np.flatnonzero(is_merged[owner])
            self.nodes.parent[duplicates] = self.level.node[owner[duplicates]]

    def _shortest_paths(self, inside: Indices, n_groups: int) -> Indices:
        """Return the row with the shortest path of each group; of tied ones the first."""
        owner = self.level.owner[inside]
        shortest = np.full(n_groups, np.inf)
        np.minimum.at(shortest, owner, self.path[inside])
        is_shortest = self.path[inside] <= shortest[owner] * (1 + _PATH_TIE)
        rows = np.full(n_groups, len(self.inverse))
        inside, owner = inside[is_shortest], owner[is_shortest]
        np.minimum.at(rows, owner, self.first_row[inside])
        # A micro-cluster is represented by its row nearest to the centre.
        shown = np.full(len(self.inverse), -1)
        shown[self.first_row] = self.shown_row
        rows[owner] = shown[rows[owner]]
        return rows

    def _update_criteria(self, level: int, bandwidth: float) -> None:
        now = _merged_criteria(
            self.reference, self.level.centers, self.level.owner, self.counts, bandwidth, level,
            self.level.nearest_row, self.rules.n_jobs,
        )  # fmt: skip
        best = _best_of(self.nodes.criteria.of(self.level.node), now)
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
    """Return the mean of the ends of each group; a single one is unchanged, to the last bit."""
    means = np.column_stack([np.bincount(groups, weights=votes * e) / total for e in ends.T])
    alone = np.bincount(groups)[groups] == 1
    means[groups[alone]] = ends[alone]
    return means
