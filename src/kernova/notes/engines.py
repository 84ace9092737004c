"""Find notes as published: frames, the hierarchy's top layer, soft scores, six steps.

Frames of 96 samples at 22,050 Hz, half of them shared with the next; their |DCT| goes through
layers of 96, 24 and 12 states; every frame of a known note is a row to learn from; the scores of a
recording's frames are decided by six steps (:func:`kernova.notes.decoding.decode_six_steps`).

Find known notes in real song: one row per note, every stretch tried, kin told from strangers.

The way of a piece of recording: band powers, levels above its own floor, stretches that are like a
known class, the best of them that do not overlap, and of these the kin of their class.

The two ways to hear notes, behind one face: see the presets of ``NoteFinder``.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernova.audio.frames import (
    PAPER_FRAMING,
    SONG_BANDS,
    Bands,
    Framing,
    band_edges,
    band_powers,
    dct_magnitudes,
    frames,
    framing,
)
from kernova.audio.linear_dynamics import HierarchicalLinearDynamics
from kernova.description.multiclass import MulticlassDataDescription
from kernova.description.possibilistic import PossibilisticNeighbors
from kernova.errors import InputError
from kernova.notes.candidates import Candidates, best_nonoverlapping, note_candidates, note_lengths
from kernova.notes.decoding import decode_six_steps, decode_viterbi
from kernova.notes.description import NoteDescription, describe_notes, possible_notes
from kernova.notes.features import (
    MARGIN,
    NoteLook,
    framed_powers,
    levels_above,
    note_rows,
    quiet_floor,
    single_note_row,
)
from kernova.notes.verification import kin_threshold, known_classes, strangeness
from kernova.typing import Indices, Matrix, Samples, Vector

PAPER_LAYERS = (96, 24, 12)
# The share of training frames, each note left out in turn, that lie below the threshold.
_BELOW_THRESHOLD = 0.3


@dataclass(frozen=True)
class KnownFrames:
    """A description of the frames of known notes, and the threshold of their scores."""

    description: Any
    threshold: float


def frame_rows(samples: NDArray[np.float64]) -> Matrix:
    """Give the top layer's states for each frame of a piece of sound."""
    heard = frames(samples, PAPER_FRAMING)
    if len(heard) == 0:
        return np.empty((0, PAPER_LAYERS[-1]))
    dynamics = HierarchicalLinearDynamics(layers=PAPER_LAYERS, output="top")
    magnitudes = dct_magnitudes(heard)
    return np.asarray(dynamics.fit(magnitudes).transform(magnitudes))


def learn_frames(clips: list[NDArray[np.float64]], codes: Indices, method: str) -> KnownFrames:
    """Describe the frames of notes that were cut out at their borders.

    The threshold is what all but so many frames of a note reach when the note itself is not known:
    the published 1.8 / (largest score of a training row) depends on the loudness of recordings.
    """
    rows_of = [frame_rows(clip) for clip in clips]
    counts = [len(rows) for rows in rows_of]
    labels, notes = np.repeat(codes, counts), np.repeat(np.arange(len(clips)), counts)
    description: Any = PossibilisticNeighbors(scale="common", reject=_BELOW_THRESHOLD)
    if method == "mddkm":
        # To the letter: rows as they are, and all three hyperparameters fitted together.
        description = MulticlassDataDescription(
            scale="none", length_scale="literal", reject=_BELOW_THRESHOLD, random_state=0
        )
    with warnings.catch_warnings():
        # A class of one note takes the threshold of all classes together, and need not say so.
        warnings.simplefilter("ignore", UserWarning)
        description.fit(np.vstack(rows_of), labels, groups=notes)
    reached = np.asarray(description.thresholds_, dtype=np.float64)
    if method == "mddkm":
        reached = -np.log1p(-reached) / 2  # s_c of a membership q
    return KnownFrames(description, float(reached.mean()))


def soft_scores(known: KnownFrames, rows: Matrix) -> Matrix:
    """Give each frame's score for each class: high is like the class."""
    if len(rows) == 0:
        return np.empty((0, len(known.description.classes_)))
    if isinstance(known.description, MulticlassDataDescription):
        return known.description.soft_scores(rows)
    return np.asarray(known.description.membership(rows))


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


# Power below which the picture of a spectrum is black.
_DARK = 1e-10


class HeardNote(NamedTuple):
    """A note in a piece of sound, in seconds from its start."""

    start: float
    stop: float
    code: int
    score: float


class Heard(NamedTuple):
    """What was heard in a piece of sound.

    ``candidates`` are those of the preset "song", ``scores`` those of "paper": what
    ``frame_scores`` is made of.
    """

    levels: Matrix
    band_hz: Matrix
    frame_seconds: float
    notes: list[HeardNote]
    candidates: Candidates | None = None
    scores: Matrix | None = None


class NoteEngine(Protocol):
    """What hears notes."""

    def hear(self, samples: Samples, threshold: float | None) -> Heard:
        """Find the notes of a piece of sound."""

    def frame_scores(self, heard: Heard) -> Matrix:
        """Give each frame's score for each class."""


def engine_of(
    preset: str, method: str, decoder: str, clips: list[Samples], codes: Indices, rate: int
) -> NoteEngine:
    """Learn notes in the way of a preset."""
    cut = PAPER_FRAMING if preset == "paper" else framing(rate)
    _check_lengths(clips, cut)
    if preset == "paper":
        return PaperEngine(learn_frames(clips, codes, method), decoder)
    if rate / 2 <= SONG_BANDS.low_hz * 2:
        raise InputError(
            f"Sound of {rate} samples per second holds nothing above {rate / 2:g} Hz; notes need "
            f"recordings of at least {round(4 * SONG_BANDS.low_hz) + 1} samples per second."
        )
    bands = Bands(SONG_BANDS.n_bands, SONG_BANDS.low_hz, min(SONG_BANDS.high_hz, rate / 2))
    return SongEngine(learn_notes(clips, codes, NoteLook(cut, bands), method))


def _check_lengths(clips: list[Samples], cut: Framing) -> None:
    shortest = min(len(clip) for clip in clips)
    if shortest < cut.width:
        raise InputError(
            f"A note lasts {shortest / cut.sample_rate * 1000:.1f} ms, which is less than one "
            f"frame of {cut.width / cut.sample_rate * 1000:.1f} ms; leave it out."
        )


@dataclass(frozen=True)
class SongEngine:
    """Whole notes: see :mod:`kernova.notes.engines`."""

    known: KnownNotes

    def hear(self, samples: Samples, threshold: float | None) -> Heard:
        """Find the notes of a piece of sound."""
        look = self.known.look
        seconds = look.framing.hop_seconds
        piece = search_piece(samples, self.known, threshold)
        found = piece.found
        notes = [
            HeardNote(start * seconds, stop * seconds, code, round(score, 6))
            for start, stop, code, score, is_kin in zip(
                found.starts.tolist(),
                found.stops.tolist(),
                found.codes.tolist(),
                found.scores.tolist(),
                found.is_kin.tolist(),
                strict=True,
            )
            if is_kin
        ]
        middles = band_edges(look.bands, look.framing.sample_rate)[1:-1]
        return Heard(piece.levels, middles, seconds, notes, candidates=piece.candidates)

    def frame_scores(self, heard: Heard) -> Matrix:
        """Give, for each frame, the likeness of the stretch around it that is most like a class."""
        scores = np.zeros((len(heard.levels), self.known.n_classes))
        if heard.candidates is not None:
            for start, stop, code, likeness in zip(*heard.candidates, strict=True):
                part = scores[start:stop, code]
                np.maximum(part, likeness, out=part)
        return scores


@dataclass(frozen=True)
class PaperEngine:
    """Frames: see :mod:`kernova.notes.engines`."""

    known: KnownFrames
    decoder: str

    def hear(self, samples: Samples, threshold: float | None) -> Heard:
        """Find the notes of a piece of sound."""
        scores = soft_scores(self.known, frame_rows(samples))
        if not samples.any():
            # The states start at zero and stay there; so do those of notes that begin softly.
            scores = np.zeros_like(scores)
        least = self.known.threshold if threshold is None else threshold
        decode = decode_viterbi if self.decoder == "viterbi" else decode_six_steps
        segments = decode(scores, least).segments if len(scores) else []
        notes = [
            HeardNote(float(start), float(stop), one.label, one.score)
            for one in segments
            for start, stop in [PAPER_FRAMING.seconds([one.start, one.stop])]
        ]
        bands = Bands(SONG_BANDS.n_bands, SONG_BANDS.low_hz, PAPER_FRAMING.sample_rate / 2)
        levels = np.log(band_powers(samples, PAPER_FRAMING, bands) + _DARK)
        middles = band_edges(bands, PAPER_FRAMING.sample_rate)[1:-1]
        return Heard(levels, middles, PAPER_FRAMING.hop_seconds, notes, scores=scores)

    def frame_scores(self, heard: Heard) -> Matrix:
        """Give the soft scores, which are frame by frame already."""
        return heard.scores if heard.scores is not None else np.empty((0, 0))
