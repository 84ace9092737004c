"""Notes scored by how possible each class is, with possibilistic neighbours (PKNN).

The same rows and weights as :mod:`kernova.describe.note_description`; what differs is the scorer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernova.describe.note_description import NoteDescription
from kernova.describe.possibilistic import Prototypes, log_possibilities_of, prototypes_of
from kernova.kernels.distances import squared_distances

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Single = NDArray[np.float32]

# A map of the paper's size has more places than there are notes; each note is then a prototype.
_GRID = (5, 5)
_NEIGHBORS = 5
_MEMBERSHIP_NEIGHBORS = 10
# Notes that are left out in turn: each costs new prototypes of all classes.
_MOST_LEFT_OUT = 40


@dataclass(frozen=True)
class PossibleNotes:
    """Prototypes of known notes."""

    rows: Matrix
    weights: Vector
    typical_scores: Vector
    prototypes: Prototypes

    def scorer(self) -> Callable[[Single], Single]:
        """Give what turns squared distances to all prototypes into possibilities."""

        def scores(squared: Single) -> Single:
            logs = log_possibilities_of(squared.astype(np.float64), self.prototypes, _NEIGHBORS)
            return np.asarray(np.exp(logs), dtype=np.float32)

        return scores


def possible_notes(known: NoteDescription) -> PossibleNotes:
    """Find prototypes of notes, and the mean possibility of notes that are not among them."""
    found = prototypes_of(known.rows, known.codes, _GRID, _MEMBERSHIP_NEIGHBORS)
    n_notes = len(known.rows)
    some = np.unique(np.linspace(0, n_notes - 1, min(n_notes, _MOST_LEFT_OUT)).astype(int))
    left_out = [_left_out(known, note) for note in some.tolist()]
    typical = float(np.mean([one for one in left_out if one is not None] or [0.5]))
    typical_scores = np.full(len(known.classes), max(typical, 1e-6))
    return PossibleNotes(found.rows, known.weights, typical_scores, found)


def _left_out(known: NoteDescription, note: int) -> float | None:
    others = np.arange(len(known.rows)) != note
    code = known.codes[note]
    if not (known.codes[others] == code).any():
        return None
    found = prototypes_of(known.rows[others], known.codes[others], _GRID, _MEMBERSHIP_NEIGHBORS)
    squared = squared_distances(known.rows[[note]], found.rows)
    place = int(np.searchsorted(np.unique(known.codes[others]), code))
    return float(np.exp(log_possibilities_of(squared, found, _NEIGHBORS))[0, place])
