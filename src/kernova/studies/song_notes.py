"""Find known notes in real song: one row per note, every stretch tried, kin told from strangers.

The way of a piece of recording: band powers, levels above its own floor, stretches that are like a
known class, the best of them that do not overlap, and of these the kin of their class.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernova.decide.intervals import best_nonoverlapping
from kernova.decide.kinship import kin_threshold, known_classes, strangeness
from kernova.describe.note_candidates import Candidates, note_candidates, note_lengths
from kernova.describe.note_description import NoteDescription, describe_notes
from kernova.describe.possible_notes import possible_notes
from kernova.represent.note_rows import (
    MARGIN,
    NoteLook,
    framed_powers,
    levels_above,
    note_rows,
    quiet_floor,
    single_note_row,
)

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

# Known notes are made as loud as those found, if these are louder or softer by more than this.
_LOUDER = 2.0
_MOST_TRIALS = 3
_LOUD = 0.99
# Stretches less like a class than this are not looked at again.
_LEAST_LIKENESS = 0.3


@dataclass(frozen=True)
class KnownNotes:
    """Notes to learn from, as band powers: their rows depend on the quiet of what is searched."""

    powers: list[Matrix]
    n_frames: Indices
    codes: Indices
    look: NoteLook
    method: str = "mddkm"

    def described(self, floor: Vector) -> NoteDescription:
        """Describe the classes as they would look above this floor."""
        rows = [
            single_note_row(powers, n, floor, self.look)
            for powers, n in zip(self.powers, self.n_frames.tolist(), strict=True)
        ]
        return describe_notes(np.array(rows), self.codes, self.look.bands.n_bands)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.codes.max()) + 1


class FoundNotes(NamedTuple):
    """Notes of one piece of recording, in frames.

    ``scores`` are 1 / (1 + strangeness): at most 1, and the lower the stranger a find is.
    """

    starts: Indices
    stops: Indices
    codes: Indices
    scores: Vector
    is_kin: NDArray[np.bool_]


class Piece(NamedTuple):
    """A piece of recording as it was heard, and what was found in it."""

    levels: Matrix
    candidates: Candidates
    found: FoundNotes


def learn_notes(
    clips: list[NDArray[np.float64]], codes: Indices, look: NoteLook, method: str = "mddkm"
) -> KnownNotes:
    """Learn notes from clips that were cut out at their borders."""
    hop = look.framing.hop
    n_frames = np.array([max(1, round(len(clip) / hop)) for clip in clips], dtype=np.intp)
    powers = [framed_powers(clip, look, margin=MARGIN) for clip in clips]
    return KnownNotes(powers, n_frames, codes, look, method)


def search_piece(
    samples: NDArray[np.float64], known: KnownNotes, threshold: float | None = None
) -> Piece:
    """Find notes in a piece of recording.

    Parameters
    ----------
    samples : array of shape (n_samples,)
    known : KnownNotes
    threshold : float, optional
        The least score of a note. By default each class has its own, from the piece itself.
    """
    look = known.look
    powers = framed_powers(samples, look)
    floor = quiet_floor(powers, look)
    levels = levels_above(powers, floor, look)
    for _ in range(_MOST_TRIALS):
        piece = _searched(levels, floor, known, threshold)
        louder = _loudness(powers, floor, piece.found, known)
        if 1 / _LOUDER < louder < _LOUDER:
            break
        known = replace(known, powers=[one * louder for one in known.powers])
    return piece


def _loudness_of_known(known: KnownNotes) -> Vector:
    lengths = known.n_frames.tolist()
    return np.array([one.sum() / n for one, n in zip(known.powers, lengths, strict=True)])


def _searched(levels: Matrix, floor: Vector, known: KnownNotes, threshold: float | None) -> Piece:
    look = known.look
    description = known.described(floor)
    compared = possible_notes(description) if known.method == "pknn" else description
    candidates = note_candidates(
        levels, compared, note_lengths(known.n_frames), look, least_likeness=_LEAST_LIKENESS
    )
    return Piece(levels, candidates, _decided(levels, candidates, description, look, threshold))


def _loudness(powers: Matrix, floor: Vector, found: FoundNotes, known: KnownNotes) -> float:
    """Give how many times as powerful the notes found are as the known ones of their class.

    Where nothing is found, known notes may have vanished in the quiet of a loud recording; then
    its loud frames are taken for notes.
    """
    if len(found.starts) == 0:
        loud = np.quantile((powers - floor).sum(axis=1), _LOUD) if len(powers) else 0.0
        return max(float(loud / np.median(_loudness_of_known(known))), 1.0)
    heard = np.concatenate([[0.0], np.cumsum((powers - floor).sum(axis=1))])
    means = (heard[found.stops] - heard[found.starts]) / (found.stops - found.starts)
    usual = _loudness_of_known(known)
    by_class = [np.median(usual[known.codes == code]) for code in range(known.n_classes)]
    ratios = means / np.array(by_class)[found.codes]
    return float(np.median(np.maximum(ratios, 1e-6)))


def _decided(
    levels: Matrix,
    candidates: Candidates,
    description: NoteDescription,
    look: NoteLook,
    threshold: float | None,
) -> FoundNotes:
    lengths = candidates.stops - candidates.starts
    chosen = best_nonoverlapping(
        candidates.starts, candidates.stops, (candidates.likeness - _LEAST_LIKENESS) * lengths
    )
    starts, stops, codes = (column[chosen] for column in candidates[:3])
    rows = note_rows(levels, starts, stops, look) * description.weights
    known = known_classes(description.rows, description.codes)
    strange = strangeness(rows, codes, known)
    if threshold is None:
        limits = [
            min(kin_threshold(strange[codes == code]), one.strangers)
            for code, one in enumerate(known)
        ]
        is_kin = strange < np.array(limits)[codes]
    else:
        is_kin = 1 / (1 + strange) >= threshold
    return FoundNotes(starts, stops, codes, 1 / (1 + strange), is_kin)
