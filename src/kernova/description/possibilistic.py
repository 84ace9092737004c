"""Possibilistic K-nearest neighbours (PKNN) over the prototypes of a self-organizing map.

The map has its prototypes on a small grid. Each row pulls its closest prototype and, less, the
neighbours of that prototype on the grid; the neighbourhood shrinks from round to round. The grid
starts spread over the plane of the two largest principal components, so the map is deterministic.
"""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernova._sklearn import Interval, validate_data
from kernova.description.fitting import (
    REJECT_CONSTRAINT,
    SCALE_CONSTRAINT,
    RejectingClassifier,
    group_codes,
    thresholds_of,
    warn_of_single_rows,
)
from kernova.description.hyperparameters import Scale, feature_scaling, median_distance
from kernova.errors import InputError, quoted
from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.typing import Indices, Matrix, Vector

_ROUNDS = 30
# Neighbourhoods shrink from half of the grid's longer side to well below the next prototype.
_LAST_RADIUS = 0.5
# Keller's rule: a prototype has at least this membership in its own class.
_OWN_MEMBERSHIP = 0.51
# Thresholds are found on rows left out in turn, in this number of parts.
_PARTS = 5


def self_organizing_map(rows: Matrix, grid: tuple[int, int]) -> Matrix:
    """Return the prototypes of these rows, at most one for each node of the grid.

    Distinct rows are their own prototypes if there are no more of them than nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.description.possibilistic import self_organizing_map
    >>> rows = np.repeat(np.linspace(0.0, 9.0, 10), 3)[:, None]
    >>> self_organizing_map(rows, (3, 1)).ravel().round(1)
    array([1.7, 4.5, 7.3])
    >>> self_organizing_map(rows[:6], (5, 5))
    array([[0.],
           [1.]])
    """
    different = np.unique(rows, axis=0)
    if len(different) <= grid[0] * grid[1]:
        return different
    nodes = grid_nodes(grid)
    prototypes = linear_start(rows, grid)
    first = max(max(grid) / 2, _LAST_RADIUS)
    for radius in np.geomspace(first, _LAST_RADIUS, _ROUNDS):
        pull = np.exp(-squared_distances(nodes, nodes) / (2 * radius**2))
        prototypes = batch_update(rows, closest(rows, prototypes), pull)
    return prototypes


def grid_nodes(grid: tuple[int, int]) -> Matrix:
    """Return the coordinates of the nodes of a grid, line by line."""
    return np.array(list(np.ndindex(*grid)), dtype=np.float64)


def linear_start(rows: Matrix, grid: tuple[int, int]) -> Matrix:
    """Spread a grid over two standard deviations of the two largest principal components."""
    center = rows.mean(axis=0)
    _, lengths, axes = np.linalg.svd(rows - center, full_matrices=False)
    # An axis may point either way; its largest coordinate decides.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    spreads = lengths / np.sqrt(len(rows))
    # The longer side of the grid lies along the longer axis.
    sides = np.argsort([-side for side in grid], kind="stable")
    start = np.tile(center, (grid[0] * grid[1], 1))
    for axis, side in zip(range(min(2, len(axes))), sides, strict=False):
        along = grid_nodes(grid)[:, side]
        unit = 2 * along / max(grid[side] - 1, 1) - (grid[side] > 1)
        start += 2 * spreads[axis] * unit[:, None] * axes[axis]
    return start


def closest(rows: Matrix, prototypes: Matrix) -> Indices:
    """Return the index of the prototype closest to each row; of equally close ones the first."""
    found = np.empty(len(rows), dtype=np.intp)
    for block in row_blocks(len(rows), len(prototypes)):
        found[block] = squared_distances(rows[block], prototypes).argmin(axis=1)
    return found


def batch_update(rows: Matrix, winners: Indices, pull: Matrix) -> Matrix:
    """Move each prototype to the mean of all rows, weighted by how near their winner is to it."""
    sums = np.zeros((len(pull), rows.shape[1]))
    np.add.at(sums, winners, rows)
    counts = np.bincount(winners, minlength=len(pull))
    return np.asarray((pull @ sums) / (pull @ counts)[:, None])


class TypicalDistance(NamedTuple):
    """Mean (eta1) and deviation (eta2) of a row's distance to the closest prototype of its class.

    Up to the mean a row is as possible as on a prototype; beyond it, every ``deviation`` divides
    the possibility by e.
    """

    mean: float
    deviation: float


class Prototypes(NamedTuple):
    """Prototypes, their class memberships, and the typical distance to them."""

    rows: Matrix
    memberships: Matrix
    typical: TypicalDistance


def keller_memberships(
    prototypes: Matrix, owners: Indices, rows: Matrix, codes: Indices, n_neighbors: int
) -> Matrix:
    """Return u_c = .51 [own class] + .49 n_c / K over the K rows nearest to each prototype.

    Examples
    --------
    >>> import numpy as np
    >>> rows, codes = np.array([[0.0], [1.0], [9.0]]), np.array([0, 1, 1])
    >>> keller_memberships(rows[:1], codes[:1], rows, codes, 2)
    array([[0.755, 0.245]])
    """
    n_classes = int(codes.max()) + 1
    n_neighbors = min(n_neighbors, len(rows))
    memberships = np.empty((len(prototypes), n_classes))
    for block in row_blocks(len(prototypes), 2 * len(rows)):
        squared = squared_distances(prototypes[block], rows)
        near = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
        for code in range(n_classes):
            fractions = (codes[near] == code).mean(axis=1)
            memberships[block, code] = (1 - _OWN_MEMBERSHIP) * fractions
    memberships[np.arange(len(prototypes)), owners] += _OWN_MEMBERSHIP
    return memberships


def distances_to_own(
    rows: Matrix, codes: Indices, prototypes: Matrix, owners: Indices
) -> Vector:  # fmt: skip
    """Return the distance of each row to the closest prototype of its class.

    In a small class every row is a prototype itself; there the closest other prototype counts,
    since 0 is not informative of new rows.
    """
    distances = np.zeros(len(rows))
    for code in np.unique(codes):
        inside, own = codes == code, prototypes[owners == code]
        squared = squared_distances(rows[inside], own)
        if len(own) > 1 and not squared.min(axis=1).any():
            squared[squared == 0] = np.inf
        nearest = squared.min(axis=1)
        nearest[np.isinf(nearest)] = 0.0  # all prototypes are duplicates of the row
        distances[inside] = np.sqrt(nearest)
    return distances


def typical_distance(distances: Vector, rows: Matrix) -> TypicalDistance:
    """Return eta1 and eta2: mean and standard deviation of the rows' distances.

    Where all are equal the deviation would be 0, and only the nearest rows possible; then the
    distance itself is taken for it, or half of the median distance between rows.
    """
    mean, deviation = float(distances.mean()), float(distances.std())
    if deviation > 1e-9 * mean:
        return TypicalDistance(mean, deviation)
    return TypicalDistance(mean, mean or 0.5 * median_distance(squared_distances(rows, rows)))


def log_possibilities(X: Matrix, prototypes: Prototypes, n_neighbors: int) -> Matrix:
    """Return the logarithm of the possibility of each row in each class.

    Over the K nearest prototypes of any class, the possibility is the mean of
    u_c exp(-max(0, distance - eta1) / eta2). In logarithms far rows stay comparable.
    """
    found = np.empty((len(X), prototypes.memberships.shape[1]))
    for block in row_blocks(len(X), 2 * len(prototypes.rows)):
        squared = squared_distances(X[block], prototypes.rows)
        found[block] = log_possibilities_of(squared, prototypes, n_neighbors)
    return found


def log_possibilities_of(squared: Matrix, prototypes: Prototypes, n_neighbors: int) -> Matrix:
    """Return the log possibilities from squared distances to all prototypes."""
    eta1, eta2 = prototypes.typical
    n_neighbors = min(n_neighbors, len(prototypes.rows))
    near = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
    distances = np.sqrt(np.take_along_axis(squared, near, axis=1))
    beyond = np.maximum(0.0, distances - eta1) / eta2
    least = beyond[:, :1]  # neighbours come nearest first
    weights = np.exp(least - beyond)
    total = np.einsum("ik,ikc->ic", weights, prototypes.memberships[near])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total / n_neighbors) - least)


def prototypes_of(
    rows: Matrix, codes: Indices, grid: tuple[int, int], n_membership_neighbors: int
) -> Prototypes:
    """Compute the prototypes of each class by a self-organizing map."""
    present, codes = np.unique(codes, return_inverse=True)
    maps = [self_organizing_map(rows[codes == code], grid) for code in range(len(present))]
    owners = np.repeat(np.arange(len(maps)), [len(one) for one in maps])
    prototypes = np.concatenate(maps)
    memberships = keller_memberships(prototypes, owners, rows, codes, n_membership_neighbors)
    distances = distances_to_own(rows, codes, prototypes, owners)
    return Prototypes(prototypes, memberships, typical_distance(distances, prototypes))


class PossibilisticNeighbors(RejectingClassifier):
    """Possibilistic K-nearest neighbours (PKNN): the possibility of each class, by prototypes.

    Each class is represented by the prototypes of a small self-organizing map. Unlike
    probabilities, possibilities need not sum to one: all are low for a row of no known class,
    several are high where classes overlap. No rows of unknown classes are needed to fit, and the
    fit is deterministic.

    Parameters
    ----------
    n_prototypes : pair of int, default=(5, 5)
        Sides of each class's grid of prototypes.
    n_neighbors : int, default=5
        Number of nearest prototypes that decide the possibilities of a row.
    n_membership_neighbors : int, default=10
        Number of rows around a prototype that decide its membership in each class.
    scale : {"feature", "common", "none"}, default="feature"
        Scaling of the columns, as in :class:`kernova.MulticlassDataDescription`.
    reject : float, default=0.05
        Fraction of a class's own rows, left out in turn, that its threshold rejects.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    prototypes_ : array of shape (n_prototypes, n_columns)
        In scaled units.
    prototype_memberships_ : array of shape (n_prototypes, n_classes)
    typical_distance_ : pair of float
        Mean and standard deviation of the distance from a row to its class's closest prototype.
    thresholds_ : array of shape (n_classes,)
        A row is recognised as a class if its possibility is at least this.

    References
    ----------
    Frigui and Gader, "Detection and Discrimination of Land Mines in Ground-Penetrating Radar Based
    on Edge Histogram Descriptors and a Possibilistic K-Nearest Neighbor Classifier", IEEE
    Transactions on Fuzzy Systems, 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from kernova import PossibilisticNeighbors
    >>> X, y = make_blobs(100, centers=[[0.0, 0.0], [6.0, 6.0]], random_state=0)
    >>> PossibilisticNeighbors().fit(X, y).recognize([[0.5, 0.0], [6.0, 5.5], [40.0, -9.0]])
    array([0, 1, 'unknown'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_prototypes": [tuple, list],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_membership_neighbors": [Interval(Integral, 1, None, closed="left")],
        "scale": SCALE_CONSTRAINT,
        "reject": REJECT_CONSTRAINT,
    }

    def __init__(
        self,
        n_prototypes: tuple[int, int] = (5, 5),
        n_neighbors: int = 5,
        n_membership_neighbors: int = 10,
        scale: Scale = "feature",
        reject: float = 0.05,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.n_neighbors = n_neighbors
        self.n_membership_neighbors = n_membership_neighbors
        self.scale = scale
        self.reject = reject

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Find prototypes and thresholds of the classes of these rows.

        The parameters are those of :meth:`kernova.MulticlassDataDescription.fit`.
        """
        self._validate_params()
        grid = _checked_grid(self.n_prototypes)
        X = np.asarray(validate_data(self, X, y, dtype=np.float64)[0])
        codes = self._encode(y)
        grouped = group_codes(groups, len(X))
        self._scaling = feature_scaling(X, self.scale)
        rows = self._scaling(X)
        found = self._prototypes_of(rows, codes, grid)
        self.prototypes_, self.prototype_memberships_, self.typical_distance_ = found
        self.thresholds_ = self._thresholds(rows, codes, grid, grouped)
        return self

    def _prototypes_of(self, rows: Matrix, codes: Indices, grid: tuple[int, int]) -> Prototypes:
        return prototypes_of(rows, codes, grid, self.n_membership_neighbors)

    def _thresholds(
        self, rows: Matrix, codes: Indices, grid: tuple[int, int], groups: Indices | None
    ) -> Vector:
        """Return quantiles of the possibilities of rows that are left out of the prototypes."""
        left_out = np.full(len(rows), np.nan)
        parts = _parts(codes, np.arange(len(rows)) if groups is None else groups)
        for part in range(_PARTS):
            outside = parts == part
            # A class that would lose all of its rows keeps them.
            outside &= np.isin(codes, codes[~outside])
            if not outside.any():
                continue
            present = np.unique(codes[~outside])
            found = self._prototypes_of(rows[~outside], codes[~outside], grid)
            logs = log_possibilities(rows[outside], found, self.n_neighbors)
            own = np.searchsorted(present, codes[outside])
            left_out[outside] = np.exp(logs[np.arange(len(own)), own])
        by_class = [left_out[codes == code] for code in range(len(self.classes_))]
        warn_of_single_rows(self.classes_, by_class)
        return thresholds_of(by_class, self.reject)

    def _log_membership(self, X: ArrayLike) -> Matrix:
        """Return the logarithm of the possibility of each row in each class."""
        rows = self.scaled(X)
        found = Prototypes(self.prototypes_, self.prototype_memberships_, self.typical_distance_)
        return log_possibilities(rows, found, self.n_neighbors)

    def recognize(self, X: ArrayLike, reject_label: Any = "unknown") -> NDArray[Any]:
        """Return the class of each row, or ``reject_label`` where no class claims it."""
        membership = self.membership(X)
        return self._claimed(membership >= self.thresholds_, membership, reject_label)


def _checked_grid(n_prototypes: Any) -> tuple[int, int]:
    sides = tuple(n_prototypes)
    if len(sides) != 2 or not all(isinstance(side, Integral) and int(side) > 0 for side in sides):
        raise InputError(
            "n_prototypes must be two whole numbers above 0, the sides of a grid; "
            f"got {quoted(n_prototypes)}."
        )
    return int(sides[0]), int(sides[1])


def _parts(codes: Indices, groups: Indices) -> Indices:
    """Deal the groups of each class out to the parts in turn."""
    parts = np.empty(len(codes), dtype=np.intp)
    for code in np.unique(codes):
        inside = codes == code
        parts[inside] = np.unique(groups[inside], return_inverse=True)[1] % _PARTS
    return parts
