"""Descriptions of note classes by the feature rows of a few examples.

Bands are weighted by how little they vary within a class, over all classes. The length-scale is a
multiple of the median distance between notes: with rows of hundreds of columns and two notes of a
class, the likelihood of the rows' norms carries no information about it.

:class:`NoteDescription` scores rows by data description with the kernel Mahalanobis distance
(MDD-KM), :class:`NotePrototypes` by possibilistic neighbours (PKNN), on the same rows and weights.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from kernova.description.class_description import ClassDescription, describe_class
from kernova.description.possibilistic import Prototypes, log_possibilities_of, prototypes_of
from kernova.kernels.functions import squared_distances
from kernova.typing import Indices, Matrix, Single, Vector

# In units of the median distance between notes.
_LENGTH_SCALE = 1.0
_RIDGE = 1e-3
# Weight of the mean variance in each band's own, so that steady bands do not dominate.
_SHRINK_BANDS = 0.2
# Weight of the mean over all classes in the typical score of a class, in notes.
_POOLED_NOTES = 5.0

# A map of the paper's size has more units than there are notes; each note is then a prototype.
_GRID = (5, 5)
_NEIGHBORS = 5
_MEMBERSHIP_NEIGHBORS = 10
# Limit of the leave-one-out notes: each needs new prototypes of all classes.
_MOST_LEFT_OUT = 40


@dataclass(frozen=True)
class NoteDescription:
    """Known notes, and the score of a row for each class."""

    rows: Matrix  # weighted; shape (n_notes, n_columns)
    codes: Indices  # class of each note; shape (n_notes,)
    weights: Vector  # factors of the columns; shape (n_columns,)
    classes: list[ClassDescription]
    typical_scores: Vector  # mean leave-one-out soft score of a class's notes; shape (n_classes,)

    def scorer(self) -> Callable[[Single], Single]:
        """Return the function from squared distances to all rows to s_c = -log(1 - q_c) / 2.

        q_c = |L^-1 r|^2, with r the affinities and LL' the matrix of a class; all classes at once.
        """
        order = np.argsort(self.codes, kind="stable")
        whitener = np.zeros((len(order), len(order)))
        triangles = block_diag(*(np.linalg.inv(one.factor).T for one in self.classes))
        whitener[order] = triangles
        whitener = whitener.astype(np.float32)
        members = (self.codes[order][:, None] == np.arange(len(self.classes))).astype(np.float32)
        nearness = np.float32(-1 / self.classes[0].length_scale ** 2)
        # Even on a duplicate of a row, a fraction of about the ridge stays unexplained.
        most = np.array([1 - one.ridge / (len(one.rows) + one.ridge) for one in self.classes])
        most = most.astype(np.float32)

        def scores(squared: Single) -> Single:
            explained = np.exp(squared * nearness) @ whitener
            explained *= explained
            return np.asarray(-np.log1p(-np.minimum(explained @ members, most)) / 2)

        return scores


@dataclass(frozen=True)
class NotePrototypes:
    """Prototypes of known notes."""

    rows: Matrix
    weights: Vector
    typical_scores: Vector
    prototypes: Prototypes

    def scorer(self) -> Callable[[Single], Single]:
        """Return the function from squared distances to all prototypes to possibilities."""

        def scores(squared: Single) -> Single:
            logs = log_possibilities_of(squared.astype(np.float64), self.prototypes, _NEIGHBORS)
            return np.asarray(np.exp(logs), dtype=np.float32)

        return scores


def band_weights(rows: Matrix, codes: Indices, n_bands: int) -> Vector:
    """Return the weight of each column: bands count by how little they vary within a class."""
    levels = rows[:, :-1]
    residuals = np.vstack([
        levels[codes == code] - levels[codes == code].mean(axis=0) for code in np.unique(codes)
    ])  # fmt: skip
    variances = (residuals**2).mean(axis=0).reshape(-1, n_bands).mean(axis=0)
    mean = variances.mean()
    if mean == 0:
        return np.ones(rows.shape[1])
    weights = 1 / np.sqrt((1 - _SHRINK_BANDS) * variances + _SHRINK_BANDS * mean)
    weights /= np.sqrt((weights**2).mean())
    return np.append(np.tile(weights, levels.shape[1] // n_bands), 1.0)


def describe_notes(rows: Matrix, codes: Indices, n_bands: int) -> NoteDescription:
    """Describe classes of notes by their rows (:mod:`kernova.notes.features`)."""
    weights = band_weights(rows, codes, n_bands)
    rows = rows * weights
    distances = np.sqrt(squared_distances(rows, rows)[np.triu_indices(len(rows), 1)])
    median = float(np.median(distances)) if len(distances) else 0.0
    length_scale = _LENGTH_SCALE * (median or 1.0)
    classes = [
        describe_class(rows[codes == code], length_scale, _RIDGE)
        for code in range(int(codes.max()) + 1)
    ]
    return NoteDescription(rows, codes, weights, classes, _typical_scores(classes))


def note_prototypes(known: NoteDescription) -> NotePrototypes:
    """Return prototypes of notes, and the mean leave-one-out possibility of notes."""
    found = prototypes_of(known.rows, known.codes, _GRID, _MEMBERSHIP_NEIGHBORS)
    n_notes = len(known.rows)
    some = np.unique(np.linspace(0, n_notes - 1, min(n_notes, _MOST_LEFT_OUT)).astype(int))
    left_out = [_left_out(known, note) for note in some.tolist()]
    typical = float(np.mean([one for one in left_out if one is not None] or [0.5]))
    typical_scores = np.full(len(known.classes), max(typical, 1e-6))
    return NotePrototypes(found.rows, known.weights, typical_scores, found)


def _typical_scores(classes: list[ClassDescription]) -> Vector:
    means, counts = np.zeros(len(classes)), np.zeros(len(classes))
    for code, one in enumerate(classes):
        left_out = one.left_out[~np.isnan(one.left_out)]
        if len(left_out):
            means[code] = (-np.log1p(-np.minimum(left_out, 1 - one.ridge)) / 2).mean()
            counts[code] = len(left_out)
    if not counts.any():
        # Classes of one note each: the score of half of the variance explained.
        return np.full(len(classes), np.log(2.0) / 2)
    overall = means[counts > 0].mean()
    shrunken = (counts * means + _POOLED_NOTES * overall) / (counts + _POOLED_NOTES)
    return np.asarray(np.maximum(shrunken, 1e-3))


def _left_out(known: NoteDescription, note: int) -> float | None:
    others = np.arange(len(known.rows)) != note
    code = known.codes[note]
    if not (known.codes[others] == code).any():
        return None
    found = prototypes_of(known.rows[others], known.codes[others], _GRID, _MEMBERSHIP_NEIGHBORS)
    squared = squared_distances(known.rows[[note]], found.rows)
    column = int(np.searchsorted(np.unique(known.codes[others]), code))
    return float(np.exp(log_possibilities_of(squared, found, _NEIGHBORS))[0, column])
