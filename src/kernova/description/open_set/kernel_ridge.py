"""Kernel ridge classification: regression of class indicators with a Gaussian kernel.

With K the kernel matrix of the rows and Y their class indicators minus the class priors, the
scores of a row are prior + k' (K + ridge)^-1 Y: far from all rows they fall back to the priors.
The left-out scores of the training rows follow from one decomposition, F_i - h_i Y_i over 1 - h_i
with h the diagonal of K (K + ridge)^-1; they choose width and ridge, and the temperature at which
scores become probabilities.

With more rows than landmarks, scores are combinations of the kernels at the landmarks alone
(Nystroem): the cost grows linearly with the rows.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import log_softmax

from kernova.description.open_set.folds import spread_out_rows
from kernova.kernels.functions import squared_distances
from kernova.parallel import row_blocks
from kernova.typing import Indices, Matrix, Vector

# Widths in units of the root of the median squared distance, and ridges.
_WIDTHS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
_RIDGES: Final = tuple(10.0**power for power in range(-5, 2))
_TEMPERATURES: Final = tuple(np.exp(np.linspace(-1.0, 5.0, 25)).tolist())
# Width and ridge are chosen on at most so many rows: the decomposition takes rows³.
_MOST_TO_CHOOSE: Final = 1000
MOST_LANDMARKS: Final = 2000
# Added to the landmarks' kernel matrix, which copies of rows make singular.
_JITTER: Final = 1e-10


class RidgeSettings(NamedTuple):
    """Width of the kernel, ridge, and factor of the scores in the softmax."""

    gamma: float  # of exp(-gamma |a - b|^2)
    ridge: float
    sharpness: float


@dataclass(frozen=True)
class KernelMember:
    """Scores of the classes from kernels at landmarks, whose softmax are probabilities."""

    landmarks: Matrix
    coefficients: Matrix
    priors: Vector
    settings: RidgeSettings

    def log_probabilities(self, rows: Matrix) -> Matrix:
        """Return the logarithm of the probability of each class."""
        scores = np.empty((len(rows), len(self.priors)))
        for block in row_blocks(len(rows), 2 * len(self.landmarks)):
            scores[block] = self.affinities(rows[block]) @ self.coefficients
        return _log_probabilities(scores + self.priors, self.settings.sharpness)

    def affinities(self, rows: Matrix) -> Matrix:
        """Return the kernel between rows and landmarks."""
        return _kernel(squared_distances(rows, self.landmarks), self.settings.gamma)


def _kernel(squared: Matrix, gamma: float) -> Matrix:
    np.multiply(squared, -gamma, out=squared)
    return np.asarray(np.exp(squared, out=squared))


def _log_probabilities(scores: Matrix, sharpness: float) -> Matrix:
    return np.asarray(log_softmax(sharpness * scores, axis=1))


def _indicators(codes: Indices, n_classes: int) -> Matrix:
    return np.eye(n_classes)[codes]


class _Choice(NamedTuple):
    error: float
    gamma: float
    ridge: float
    left_out: Matrix


def choose_ridge(rows: Matrix, codes: Indices, n_classes: int) -> RidgeSettings:
    """Choose width and ridge by the squared error of left-out scores, then the sharpness."""
    sample = spread_out_rows(codes, _MOST_TO_CHOOSE)
    rows, codes = rows[sample], codes[sample]
    squared = squared_distances(rows, rows)
    apart = squared[np.triu_indices(len(rows), 1)]
    apart = apart[apart > 0]
    middle = float(np.median(apart)) if len(apart) else 1.0
    targets = _indicators(codes, n_classes)
    priors = targets.mean(axis=0)
    best = min(
        (
            choice
            for width in _WIDTHS
            for choice in _left_out_scores(squared, 1 / (2 * middle * width**2), targets, priors)
        ),
        key=lambda choice: choice.error,
    )
    sharpness = min(_TEMPERATURES, key=lambda factor: _smoothed_loss(best.left_out, codes, factor))
    return RidgeSettings(best.gamma, best.ridge, float(sharpness))


def _left_out_scores(
    squared: Matrix, gamma: float, targets: Matrix, priors: Vector
) -> list[_Choice]:
    """Return the left-out scores at every ridge, from one decomposition."""
    values, vectors = np.linalg.eigh(_kernel(squared.copy(), gamma))
    values = np.maximum(values, 0.0)
    centred = targets - priors
    rotated = vectors.T @ centred
    choices = []
    for ridge in _RIDGES:
        shrunken = values / (values + ridge)
        leverage = np.minimum((vectors**2) @ shrunken, 1 - 1e-9)[:, None]
        fitted = vectors @ (shrunken[:, None] * rotated)
        left_out = (fitted - leverage * centred) / (1 - leverage) + priors
        error = float(np.sum((left_out - targets) ** 2))
        choices.append(_Choice(error, gamma, ridge, left_out))
    return choices


def _smoothed_loss(scores: Matrix, codes: Indices, sharpness: float) -> float:
    """Return the log loss if each class had a small fraction of one row everywhere."""
    n_rows, n_classes = scores.shape
    p = np.exp(_log_probabilities(scores, sharpness)[np.arange(n_rows), codes])
    return float(-np.mean(np.log((n_rows * p + 1 / n_classes) / (n_rows + 1))))


class _Sums(NamedTuple):
    """Sums over rows from which the coefficients of the landmarks follow."""

    gram: Matrix
    toward: Matrix

    def without(self, other: "_Sums") -> "_Sums":
        return _Sums(self.gram - other.gram, self.toward - other.toward)


def fit_kernel_ridge(
    rows: Matrix, codes: Indices, weights: Vector, n_classes: int, settings: RidgeSettings
) -> KernelMember:
    """Fit the coefficients of the landmarks."""
    targets, priors = _targets(codes, weights, n_classes)
    landmarks = rows[spread_out_rows(codes, MOST_LANDMARKS)]
    if len(landmarks) == len(rows):
        K = _kernel(squared_distances(rows, rows), settings.gamma)
        K[np.diag_indices_from(K)] = 1 + settings.ridge / weights
        coefficients = cho_solve(cho_factor(K, lower=True, check_finite=False), targets)
        return KernelMember(rows, coefficients, priors, settings)
    coefficients = _solved(_sums(rows, landmarks, targets, weights, settings), landmarks, settings)
    return KernelMember(landmarks, coefficients, priors, settings)


def _targets(codes: Indices, weights: Vector, n_classes: int) -> tuple[Matrix, Vector]:
    targets = _indicators(codes, n_classes)
    priors = np.average(targets, axis=0, weights=weights)
    return targets - priors, priors


def _sums(
    rows: Matrix, landmarks: Matrix, targets: Matrix, weights: Vector, settings: RidgeSettings
) -> _Sums:
    gram = np.zeros((len(landmarks), len(landmarks)))
    toward = np.zeros((len(landmarks), targets.shape[1]))
    for block in row_blocks(len(rows), 3 * len(landmarks)):
        features = _kernel(squared_distances(rows[block], landmarks), settings.gamma)
        features *= np.sqrt(weights[block, None])
        gram += features.T @ features
        toward += features.T @ (np.sqrt(weights[block, None]) * targets[block])
    return _Sums(gram, toward)


def _solved(sums: _Sums, landmarks: Matrix, settings: RidgeSettings) -> Matrix:
    penalty = _kernel(squared_distances(landmarks, landmarks), settings.gamma)
    A = sums.gram + settings.ridge * penalty
    A[np.diag_indices_from(A)] += _JITTER * float(np.trace(A))
    return np.asarray(cho_solve(cho_factor(A, lower=True, check_finite=False), sums.toward))


def held_out_log_probabilities(
    rows: Matrix,
    codes: Indices,
    weights: Vector,
    n_classes: int,
    settings: RidgeSettings,
    parts: Indices,
) -> Matrix:
    """Return the log probabilities of training rows, each by a fit without its part.

    The sums of a part are taken from those of all rows, so that each is computed once.
    """
    targets, priors = _targets(codes, weights, n_classes)
    landmarks = rows[spread_out_rows(codes, MOST_LANDMARKS)]
    inside = [np.flatnonzero(parts == part) for part in np.unique(parts)]
    sums = [_sums(rows[i], landmarks, targets[i], weights[i], settings) for i in inside]
    whole = _Sums(sum(one.gram for one in sums), sum(one.toward for one in sums))  # type: ignore[arg-type]
    log_p = np.empty((len(rows), n_classes))
    for chosen, own in zip(inside, sums, strict=True):
        coefficients = _solved(whole.without(own), landmarks, settings)
        member = KernelMember(landmarks, coefficients, priors, settings)
        log_p[chosen] = member.log_probabilities(rows[chosen])
    return log_p


def left_out_log_probabilities(
    rows: Matrix,
    codes: Indices,
    weights: Vector,
    n_classes: int,
    settings: RidgeSettings,
    groups: Indices,
) -> Matrix:
    """Return the log probabilities of training rows, each by a fit without the rows of its group.

    With A the inverse of K + ridge and g a group, the residuals of its rows without them are
    A_gg^-1 a_g, with a the coefficients of all rows.
    """
    targets, priors = _targets(codes, weights, n_classes)
    K = _kernel(squared_distances(rows, rows), settings.gamma)
    K[np.diag_indices_from(K)] = 1 + settings.ridge / weights
    A = cho_solve(cho_factor(K, lower=True, check_finite=False), np.eye(len(K)))
    coefficients = A @ targets
    residuals = coefficients / np.diag(A)[:, None]
    shared = np.flatnonzero(np.bincount(groups) > 1)
    for group in shared.tolist():
        inside = np.flatnonzero(groups == group)
        residuals[inside] = np.linalg.solve(A[np.ix_(inside, inside)], coefficients[inside])
    return _log_probabilities(targets + priors - residuals, settings.sharpness)
