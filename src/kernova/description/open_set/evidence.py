"""What rows tell about classes: probabilities by five members, and how novel a row looks to five.

Probabilities come from discriminant analysis, logistic regression, kernel ridge regression and two
forests. Novelties come from the distance to the nearest known row, on the scale of the columns and
on the scale within classes; from the largest membership in a class (MDD-KM); and from how little
the trees and the kernel prefer one class. Everything is learnt from the rows given, scaling
included, so that rows that were held out are judged as new ones will be.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from kernova.description.class_description import (
    ClassDescription,
    describe_class,
    pivot_rows,
)
from kernova.description.hyperparameters import (
    FeatureScaling,
    Scale,
    feature_scaling,
    fit_length_scale,
)
from kernova.description.open_set.kernel_ridge import (
    KernelMember,
    RidgeSettings,
    choose_ridge,
    fit_kernel_ridge,
)
from kernova.description.open_set.linear import (
    LinearMember,
    discriminant,
    logistic,
    within_classes,
)
from kernova.description.open_set.trees import N_TREES, Forest, grow_forest
from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.typing import Indices, Matrix, Vector

#: The members that give probabilities, and those that give novelties, in their order.
PROBABILITY_MEMBERS: Final = ("discriminant", "logistic", "kernel", "extra-trees", "random-forest")
NOVELTY_MEMBERS: Final = ("nearest", "nearest-within", "membership", "kernel", "extra-trees")

_RIDGE: Final = 1e-4  # of the descriptions
_MOST_DESCRIBED: Final = 500  # rows of a class that describe it
# The covariance matrix takes columns², its decomposition columns³.
_MOST_DIRECTIONS: Final = 400


class EvidenceSettings(NamedTuple):
    """What is chosen once, on all rows, and shared by the fits to parts of them."""

    scale: Scale
    robust: bool
    ridge: RidgeSettings
    length_scale: float
    seed: int


class Training(NamedTuple):
    """Rows to learn from; ``codes`` are those of all classes, of which some may be absent."""

    X: Matrix
    codes: Indices
    weights: Vector
    unlabelled: Matrix  # rows that only help to scale the columns

    def part(self, rows: Any) -> "Training":
        """Return some of the rows."""
        return Training(self.X[rows], self.codes[rows], self.weights[rows], self.unlabelled)


class Evidence(NamedTuple):
    """The members' judgements of some rows."""

    log_probabilities: NDArray[np.float64]  # of shape (n_members, n_rows, n_classes)
    novelties: NDArray[np.float64]  # of shape (n_members, n_rows)


class Projection(NamedTuple):
    """Directions to which very many columns are reduced."""

    center: Vector
    directions: Matrix


@dataclass(frozen=True)
class EvidenceModel:
    """Fitted members; see the module."""

    n_classes: int
    present: Indices  # codes of the classes in the training rows
    n_rows: int
    scaling: FeatureScaling
    projection: Projection | None
    rotation: Matrix  # to the scale within classes
    rows: Matrix  # the training rows, scaled
    turned: Matrix  # the same on the scale within classes
    linear: tuple[LinearMember, ...]
    kernel: KernelMember
    forests: tuple[Forest, Forest]
    descriptions: tuple[ClassDescription, ...]

    def of(self, X: Matrix, held_out: Indices | None = None) -> Evidence:
        """Return what all members say of rows.

        Rows that were held out of a fit come with their groups: each may be the nearest row of
        the others then, so that as many rows are near as there will be for new rows.
        """
        scaled = self.scaling(X)
        reduced = _projected(scaled, self.projection)
        turned = reduced @ self.rotation
        members = [member.log_probabilities(reduced) for member in self.linear]
        members.append(self.kernel.log_probabilities(scaled))
        parts = [_smoothed(log_p, self.n_rows) for log_p in members]
        with np.errstate(divide="ignore"):
            by_trees = [np.log(forest.probabilities(X)) for forest in self.forests]
        # No more extreme than one tree more could make them.
        parts += [_smoothed(log_p, N_TREES) for log_p in by_trees]
        nearest = [nearest_distances(scaled, self.rows), nearest_distances(turned, self.turned)]
        if held_out is not None:
            mates = [distances_between(rows, held_out) for rows in (scaled, turned)]
            nearest = [np.minimum(*pair) for pair in zip(nearest, mates, strict=True)]
        novelties = [*nearest, -self._log_memberships(scaled)]
        if len(self.present) > 1:
            # The first forest: its trees are grown from all rows, without repetitions.
            novelties += [-parts[2].max(axis=1), -parts[3].max(axis=1)]
        whole = np.full((len(parts), len(X), self.n_classes), -np.inf)
        for place, part in zip(whole, parts, strict=True):
            place[:, self.present] = part
        return Evidence(whole, np.array(novelties))

    def _log_memberships(self, scaled: Matrix) -> Vector:
        """Return the logarithm of each row's largest membership."""
        return np.max([one.log_membership(scaled) for one in self.descriptions], axis=0)


def _smoothed(log_p: Matrix, n: int) -> Matrix:
    """Return log probabilities as if one more of n rows had been of no class in particular."""
    return np.asarray(np.log((n * np.exp(log_p) + 1 / log_p.shape[1]) / (n + 1)))


def _projected(scaled: Matrix, projection: Projection | None) -> Matrix:
    if projection is None:
        return scaled
    return np.asarray((scaled - projection.center) @ projection.directions)


def nearest_distances(rows: Matrix, known: Matrix) -> Vector:
    """Return the distance of each row to the nearest known one."""
    found = np.empty(len(rows))
    for block in row_blocks(len(rows), 2 * len(known)):
        found[block] = squared_distances(rows[block], known).min(axis=1)
    return np.sqrt(found)


def distances_between(rows: Matrix, groups: Indices) -> Vector:
    """Return the distance of each row to the nearest of another group; infinite without one.

    Examples
    --------
    >>> import numpy as np
    >>> distances_between(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1]))
    array([5., 4., 4.])
    """
    found = np.empty(len(rows))
    for block in row_blocks(len(rows), 3 * len(rows)):
        squared = squared_distances(rows[block], rows)
        squared[groups[block, None] == groups] = np.inf
        found[block] = squared.min(axis=1)
    return np.sqrt(found)


def choose_settings(
    training: Training, *, scale: Scale, robust: bool, seed: int
) -> EvidenceSettings:
    """Choose the widths of the kernels on all rows, by left-out scores and by likelihood."""
    rows = _scaling(training, scale, robust)(training.X)
    n_classes = int(training.codes.max()) + 1
    random = np.random.RandomState(seed)
    length_scale = fit_length_scale(rows, _RIDGE, random).length_scale
    ridge = choose_ridge(rows, training.codes, n_classes)
    return EvidenceSettings(scale, robust, ridge, length_scale, seed)


def _scaling(training: Training, scale: Scale, robust: bool) -> FeatureScaling:
    known = np.vstack([training.X, training.unlabelled])
    return feature_scaling(known, scale, is_robust=robust, is_checked=True)


def fit_evidence(training: Training, n_classes: int, settings: EvidenceSettings) -> EvidenceModel:
    """Fit all members to some rows."""
    present, codes = np.unique(training.codes, return_inverse=True)
    weights = training.weights / training.weights.mean()
    scaling = _scaling(training, settings.scale, settings.robust)
    rows = scaling(training.X)
    projection = _projection(rows, settings.seed)
    reduced = _projected(rows, projection)
    within = within_classes(reduced, codes, weights, len(present))
    log_priors = np.log(np.bincount(codes, weights) / weights.sum())
    random = np.random.RandomState(settings.seed)
    return EvidenceModel(
        n_classes=n_classes,
        present=present,
        n_rows=len(rows),
        scaling=scaling,
        projection=projection,
        rotation=within.rotation,
        rows=rows,
        turned=reduced @ within.rotation,
        linear=(
            discriminant(within, log_priors),
            logistic(reduced, codes, weights, len(present)),
        ),
        kernel=fit_kernel_ridge(rows, codes, weights, len(present), settings.ridge),
        forests=(
            grow_forest("extra-trees", training.X, codes, weights, settings.seed),
            grow_forest("random-forest", training.X, codes, weights, settings.seed),
        ),
        descriptions=tuple(
            _description(rows[codes == code], settings.length_scale, random)
            for code in range(len(present))
        ),
    )


def _projection(rows: Matrix, seed: int) -> Projection | None:
    if rows.shape[1] <= _MOST_DIRECTIONS:
        return None
    n = min(_MOST_DIRECTIONS, len(rows))
    model = PCA(n, svd_solver="randomized", random_state=seed).fit(rows)
    return Projection(model.mean_, np.ascontiguousarray(model.components_.T))


def _description(
    rows: Matrix, length_scale: float, random: np.random.RandomState
) -> ClassDescription:
    if len(rows) > _MOST_DESCRIBED:
        rows = rows[pivot_rows(rows, _MOST_DESCRIBED, length_scale, random)]
    return describe_class(rows, length_scale, _RIDGE)
