"""Members of the open-set classifier: five that give probabilities, five that give novelties.

Probabilities come from discriminant analysis, logistic regression, kernel ridge regression and two
forests. Novelties come from the distance to the nearest known row, on the scale of the columns and
on the scale within classes; from the largest membership in a class (MDD-KM); and from how little
the trees and the kernel prefer one class.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from kernova.description.class_description import CenteredDescription, ClassDescription
from kernova.description.fitting import Described, described
from kernova.description.hyperparameters import (
    FeatureScaling,
    Hyperparameters,
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
from kernova.description.open_set.trees import Forest, grow_forest
from kernova.neighbors.products import kth_distances
from kernova.typing import Indices, Matrix, Vector

#: The members that give probabilities, and those that give novelties, in their order.
PROBABILITY_MEMBERS: Final = ("discriminant", "logistic", "kernel", "extra-trees", "random-forest")
NOVELTY_MEMBERS: Final = ("nearest", "nearest-within", "membership", "kernel", "extra-trees")

_RIDGE: Final = 1e-4  # of the descriptions
# A class is described by so many rows, and fewer of very many classes: a description takes rows².
_MOST_DESCRIBED: Final = 500
_MOST_NUMBERS: Final = 400_000
# The covariance matrix takes columns², its decomposition columns³.
_MOST_DIRECTIONS: Final = 400


class EvidenceSettings(NamedTuple):
    """What is chosen once, on all rows, and shared by the fits to parts of them."""

    scale: Scale
    robust: bool
    ridge: RidgeSettings
    length_scale: float
    n_directions: int  # to which very many columns are reduced
    seed: int


class Training(NamedTuple):
    """Rows to learn from; ``codes`` are those of all classes, of which some may be absent."""

    X: Matrix
    codes: Indices
    weights: Vector
    groups: Indices  # rows with one number are left out together
    unlabelled: Matrix  # rows that only help to scale the columns

    def part(self, rows: Any) -> "Training":
        """Return some of the rows."""
        return Training(
            self.X[rows], self.codes[rows], self.weights[rows], self.groups[rows], self.unlabelled
        )


class Evidence(NamedTuple):
    """The members' judgements of some rows."""

    log_probabilities: NDArray[np.float64]  # of shape (n_members, n_rows, n_classes)
    novelties: NDArray[np.float64]  # of shape (n_members, n_rows)


class Projection(NamedTuple):
    """Directions to which very many columns are reduced."""

    center: Vector
    directions: Matrix


@dataclass(frozen=True)
class Learnt:
    """What is learnt from rows: scales, linear members and forests."""

    present: Indices  # codes of the classes in the rows
    n_rows: int
    scaling: FeatureScaling
    projection: Projection | None
    rotation: Matrix  # to the scale within classes
    linear: tuple[LinearMember, ...]
    forests: tuple[Forest, Forest]

    def seen(self, X: Matrix) -> "SeenRows":
        """Return rows on both scales."""
        scaled = self.scaling(X)
        reduced = _projected(scaled, self.projection)
        return SeenRows(X, scaled, reduced, reduced @ self.rotation)

    def log_probabilities(self, rows: "SeenRows") -> list[Matrix]:
        """Return the log probabilities of the linear members and of the forests."""
        by_lines = [member.log_probabilities(rows.reduced) for member in self.linear]
        with np.errstate(divide="ignore"):
            by_trees = [np.log(forest.probabilities(rows.X)) for forest in self.forests]
        # No more extreme than one row, or one tree, more could make them.
        return [smoothed(log_p, self.n_rows) for log_p in by_lines] + [
            smoothed(log_p, len(forest.roots))
            for log_p, forest in zip(by_trees, self.forests, strict=True)
        ]


class SeenRows(NamedTuple):
    """Rows as they are, on the scale of the columns, reduced, and on the scale within classes."""

    X: Matrix
    scaled: Matrix
    reduced: Matrix
    turned: Matrix


@dataclass(frozen=True)
class EvidenceModel:
    """Fitted members; see the module."""

    n_classes: int
    learnt: Learnt
    kernel: KernelMember
    descriptions: tuple[ClassDescription | CenteredDescription, ...]

    def of(self, X: Matrix, known: Matrix) -> Evidence:
        """Return what all members say of new rows; ``known`` are the training rows."""
        rows, known_rows = self.learnt.seen(X), self.learnt.seen(known)
        memberships = [one.log_membership(rows.scaled) for one in self.descriptions]
        return assembled(
            self.n_classes,
            self.learnt,
            rows,
            smoothed(self.kernel.log_probabilities(rows.scaled), len(known)),
            [
                kth_distances(known_rows.scaled, [1], rows.scaled)[:, 0],
                kth_distances(known_rows.turned, [1], rows.turned)[:, 0],
                -np.max(memberships, axis=0),
            ],
        )


def assembled(
    n_classes: int, learnt: Learnt, rows: SeenRows, by_kernel: Matrix, novelties: list[Vector]
) -> Evidence:
    """Put the members in their places; classes that were not learnt have no probability."""
    *by_lines, by_trees, by_forest = learnt.log_probabilities(rows)
    parts = [*by_lines, by_kernel, by_trees, by_forest]
    if len(learnt.present) > 1:
        novelties = [*novelties, -by_kernel.max(axis=1), -by_trees.max(axis=1)]
    whole = np.full((len(parts), len(rows.X), n_classes), -np.inf)
    for place, part in zip(whole, parts, strict=True):
        place[:, learnt.present] = part
    return Evidence(whole, np.array(novelties))


def smoothed(log_p: Matrix, n: int) -> Matrix:
    """Return log probabilities as if one more of n rows had been of no class in particular."""
    return np.asarray(np.log((n * np.exp(log_p) + 1 / log_p.shape[1]) / (n + 1)))


def _projected(scaled: Matrix, projection: Projection | None) -> Matrix:
    if projection is None:
        return scaled
    return np.asarray((scaled - projection.center) @ projection.directions)


def choose_settings(
    training: Training, *, scale: Scale, robust: bool, seed: int
) -> EvidenceSettings:
    """Choose the widths of the kernels on all rows, by left-out scores and by likelihood."""
    rows = column_scaling(training, scale, robust)(training.X)
    n_classes = int(training.codes.max()) + 1
    random = np.random.RandomState(seed)
    length_scale = fit_length_scale(rows, _RIDGE, random).length_scale
    ridge = choose_ridge(rows, training.codes, n_classes)
    # Half as many as rows: then they are much the same for any large part of the rows.
    n_directions = max(1, min(_MOST_DIRECTIONS, len(rows) // 2))
    return EvidenceSettings(scale, robust, ridge, length_scale, n_directions, seed)


def column_scaling(training: Training, scale: Scale, robust: bool) -> FeatureScaling:
    """Return the scaling of the columns, from labelled and unlabelled rows."""
    known = np.vstack([training.X, training.unlabelled])
    return feature_scaling(known, scale, is_robust=robust, is_checked=True)


def fit_evidence(training: Training, n_classes: int, settings: EvidenceSettings) -> EvidenceModel:
    """Fit all members to some rows."""
    learnt = learn(training, settings)
    rows = learnt.seen(training.X)
    classes = described_classes(rows.scaled, training, settings)
    return EvidenceModel(
        n_classes=n_classes,
        learnt=learnt,
        kernel=_kernel_of(rows.scaled, training, settings),
        descriptions=tuple(one.description for one in classes),
    )


def learn(training: Training, settings: EvidenceSettings) -> Learnt:
    """Learn the scales, the linear members and the forests."""
    present, codes = np.unique(training.codes, return_inverse=True)
    weights = training.weights / training.weights.mean()
    scaling = column_scaling(training, settings.scale, settings.robust)
    rows = scaling(training.X)
    projection = _projection(rows, settings)
    reduced = _projected(rows, projection)
    within = within_classes(reduced, codes, weights, len(present))
    log_priors = np.log(np.bincount(codes, weights) / weights.sum())
    return Learnt(
        present=present,
        n_rows=len(rows),
        scaling=scaling,
        projection=projection,
        rotation=within.rotation,
        linear=(
            discriminant(within, log_priors),
            logistic(reduced, codes, weights, len(present)),
        ),
        forests=(
            grow_forest("extra-trees", training.X, codes, weights, settings.seed),
            grow_forest("random-forest", training.X, codes, weights, settings.seed),
        ),
    )


def _kernel_of(rows: Matrix, training: Training, settings: EvidenceSettings) -> KernelMember:
    present, codes = np.unique(training.codes, return_inverse=True)
    weights = training.weights / training.weights.mean()
    return fit_kernel_ridge(rows, codes, weights, len(present), settings.ridge)


def described_classes(
    rows: Matrix, training: Training, settings: EvidenceSettings
) -> list[Described]:
    """Describe every class by all of its rows, or by the most informative of very many."""
    shared = Hyperparameters(settings.length_scale, 1.0, _RIDGE)
    random = np.random.RandomState(settings.seed)
    codes = np.unique(training.codes)
    most = min(_MOST_DESCRIBED, max(1, int((_MOST_NUMBERS / len(codes)) ** 0.5)))
    found = []
    for code in codes:
        inside = training.codes == code
        found.append(
            described(
                rows[inside], shared, max_rows=most, groups=training.groups[inside],
                random_state=random,
            )
        )  # fmt: skip
    return found


def _projection(rows: Matrix, settings: EvidenceSettings) -> Projection | None:
    if rows.shape[1] <= _MOST_DIRECTIONS:
        return None
    n, seed = min(settings.n_directions, len(rows)), settings.seed
    model = PCA(n, svd_solver="randomized", random_state=seed).fit(rows)
    return Projection(model.mean_, np.ascontiguousarray(model.components_.T))
