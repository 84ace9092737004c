"""Engines of the note finder: from the samples of a chunk of sound to detected notes.

:class:`SongEngine`, the preset "song", works on whole notes. Band powers become levels above the
noise floor of the chunk; every interval of the chunk is compared with the known classes; the best
intervals that do not overlap are kept, and of these the ones that belong to their class
(:mod:`kernova.notes.verification`).

:class:`PaperEngine`, the preset "paper", works on frames, as published: frames of 96 samples at
22,050 Hz with an overlap of one half; their |DCT| passes through layers of 96, 24 and 12 states;
every frame of a known note is a training row; and the frame scores of a recording are decoded by
six steps (:func:`kernova.notes.decoding.decode_six_steps`).
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
from kernova.notes.description import NoteDescription, describe_notes, note_prototypes
from kernova.notes.features import (
    MARGIN_FRAMES,
    FeatureSettings,
    framed_powers,
    levels_above,
    noise_floor,
    note_rows,
    single_note_row,
)
from kernova.notes.verification import acceptance_threshold, class_distances, known_classes
from kernova.typing import Indices, Matrix, Samples, Vector

_PAPER_LAYERS = (96, 24, 12)
# Fraction of the leave-one-note-out training frames below the threshold.
_BELOW_THRESHOLD = 0.3

# Known notes are rescaled to the detected ones if their power differs by more than this factor.
_MAX_POWER_RATIO = 2.0
_MAX_TRIALS = 3
# Quantile of the power of frames that are taken for notes where none is detected.
_LOUD_QUANTILE = 0.99
# Intervals less similar to every class are no candidates.
_MIN_SIMILARITY = 0.3

# Smallest power of a level, so that silence has a logarithm.
_MIN_POWER = 1e-10


@dataclass(frozen=True)
class KnownFrames:
    """Description of the frames of known notes, and the threshold of their scores."""

    description: Any
    threshold: float


@dataclass(frozen=True)
class KnownNotes:
    """Band powers of training notes; their rows depend on the noise floor of the recording.

    ``look`` holds the settings of the features; saved models store it under this name.
    """

    powers: list[Matrix]
    n_frames: Indices
    codes: Indices
    look: FeatureSettings
    method: str = "mddkm"

    def described(self, floor: Vector) -> NoteDescription:
        """Describe the classes as they are above this noise floor."""
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
    """Candidate notes of one chunk, in frames, and whether each is accepted.

    ``scores`` are 1 / (1 + distance from the class), at most 1.
    """

    starts: Indices
    stops: Indices
    codes: Indices
    scores: Vector
    is_accepted: NDArray[np.bool_]


class SearchedChunk(NamedTuple):
    """Levels of one chunk, with its candidates and its notes."""

    levels: Matrix
    candidates: Candidates
    found: FoundNotes


class DetectedNote(NamedTuple):
    """A note in a chunk of sound, in seconds from the start of the chunk."""

    start: float
    stop: float
    code: int
    score: float


class Detections(NamedTuple):
    """Notes detected in a chunk of sound, and the levels of its frames.

    ``candidates`` (preset "song") or ``scores`` (preset "paper") hold what ``frame_scores`` needs.
    """

    levels: Matrix
    band_hz: Matrix
    frame_seconds: float
    notes: list[DetectedNote]
    candidates: Candidates | None = None
    scores: Matrix | None = None


class NoteEngine(Protocol):
    """Detector of notes: one class for each preset."""

    def detect(self, samples: Samples, threshold: float | None) -> Detections:
        """Return the notes of a chunk of sound."""

    def frame_scores(self, found: Detections) -> Matrix:
        """Return the score of each frame for each class."""


@dataclass(frozen=True)
class SongEngine:
    """Detector of whole notes: see :mod:`kernova.notes.engines`."""

    known: KnownNotes

    def detect(self, samples: Samples, threshold: float | None) -> Detections:
        """Return the notes of a chunk of sound."""
        settings = self.known.look
        seconds = settings.framing.hop_seconds
        chunk = _search_chunk(samples, self.known, threshold)
        found = chunk.found
        notes = [
            DetectedNote(start * seconds, stop * seconds, code, round(score, 6))
            for start, stop, code, score, is_accepted in zip(
                found.starts.tolist(),
                found.stops.tolist(),
                found.codes.tolist(),
                found.scores.tolist(),
                found.is_accepted.tolist(),
                strict=True,
            )
            if is_accepted
        ]
        middles = band_edges(settings.bands, settings.framing.sample_rate)[1:-1]
        return Detections(chunk.levels, middles, seconds, notes, candidates=chunk.candidates)

    def frame_scores(self, found: Detections) -> Matrix:
        """Return, for each frame and class, the largest similarity of the candidates around it."""
        scores = np.zeros((len(found.levels), self.known.n_classes))
        if found.candidates is not None:
            for start, stop, code, similarity in zip(*found.candidates, strict=True):
                part = scores[start:stop, code]
                np.maximum(part, similarity, out=part)
        return scores


@dataclass(frozen=True)
class PaperEngine:
    """Detector that scores frames: see :mod:`kernova.notes.engines`."""

    known: KnownFrames
    decoder: str

    def detect(self, samples: Samples, threshold: float | None) -> Detections:
        """Return the notes of a chunk of sound."""
        scores = soft_scores(self.known, _frame_rows(samples))
        if not samples.any():
            # The states stay at zero, where they are also in notes that begin softly.
            scores = np.zeros_like(scores)
        min_score = self.known.threshold if threshold is None else threshold
        decode = decode_viterbi if self.decoder == "viterbi" else decode_six_steps
        segments = decode(scores, min_score).segments if len(scores) else []
        notes = [
            DetectedNote(float(start), float(stop), one.label, one.score)
            for one in segments
            for start, stop in [PAPER_FRAMING.seconds([one.start, one.stop])]
        ]
        bands = Bands(SONG_BANDS.n_bands, SONG_BANDS.low_hz, PAPER_FRAMING.sample_rate / 2)
        levels = np.log(band_powers(samples, PAPER_FRAMING, bands) + _MIN_POWER)
        middles = band_edges(bands, PAPER_FRAMING.sample_rate)[1:-1]
        return Detections(levels, middles, PAPER_FRAMING.hop_seconds, notes, scores=scores)

    def frame_scores(self, found: Detections) -> Matrix:
        """Return the soft scores, which are frame by frame already."""
        return found.scores if found.scores is not None else np.empty((0, 0))


def _frame_rows(samples: Samples) -> Matrix:
    """Return the states of the top layer for each frame of sound."""
    windows = frames(samples, PAPER_FRAMING)
    if len(windows) == 0:
        return np.empty((0, _PAPER_LAYERS[-1]))
    dynamics = HierarchicalLinearDynamics(layers=_PAPER_LAYERS, output="top")
    magnitudes = dct_magnitudes(windows)
    return np.asarray(dynamics.fit(magnitudes).transform(magnitudes))


def _learn_frames(clips: list[Samples], codes: Indices, method: str) -> KnownFrames:
    """Describe the frames of notes that were cut out at their borders.

    The threshold is a leave-one-note-out quantile of the scores. The published one,
    1.8 / (largest score of a training row), depends on the loudness of recordings.
    """
    rows_of = [_frame_rows(clip) for clip in clips]
    counts = [len(rows) for rows in rows_of]
    labels, notes = np.repeat(codes, counts), np.repeat(np.arange(len(clips)), counts)
    description: Any = PossibilisticNeighbors(scale="common", reject=_BELOW_THRESHOLD)
    if method == "mddkm":
        # As published: unscaled rows, and all three hyperparameters fitted together.
        description = MulticlassDataDescription(
            scale="none", length_scale="literal", reject=_BELOW_THRESHOLD, random_state=0
        )
    with warnings.catch_warnings():
        # A class of one note takes the threshold of all classes together.
        warnings.simplefilter("ignore", UserWarning)
        description.fit(np.vstack(rows_of), labels, groups=notes)
    thresholds = np.asarray(description.thresholds_, dtype=np.float64)
    if method == "mddkm":
        thresholds = -np.log1p(-thresholds) / 2  # s_c of a membership q
    return KnownFrames(description, float(thresholds.mean()))


def soft_scores(known: KnownFrames, rows: Matrix) -> Matrix:
    """Return the score of each frame for each class; higher is more similar."""
    if len(rows) == 0:
        return np.empty((0, len(known.description.classes_)))
    if isinstance(known.description, MulticlassDataDescription):
        return known.description.soft_scores(rows)
    return np.asarray(known.description.membership(rows))


def _measure_notes(
    clips: list[Samples], codes: Indices, settings: FeatureSettings, method: str = "mddkm"
) -> KnownNotes:
    """Measure the band powers of clips that were cut out at their borders."""
    hop = settings.framing.hop
    n_frames = np.array([max(1, round(len(clip) / hop)) for clip in clips], dtype=np.intp)
    powers = [framed_powers(clip, settings, margin=MARGIN_FRAMES) for clip in clips]
    return KnownNotes(powers, n_frames, codes, settings, method)


def _search_chunk(
    samples: Samples, known: KnownNotes, threshold: float | None = None
) -> SearchedChunk:
    """Find the notes of one chunk of a recording.

    Parameters
    ----------
    samples : array of shape (n_samples,)
    known : KnownNotes
    threshold : float, optional
        Smallest score of a note. By default each class has its own, set from the chunk itself.
    """
    settings = known.look
    powers = framed_powers(samples, settings)
    floor = noise_floor(powers, settings)
    levels = levels_above(powers, floor, settings)
    for _ in range(_MAX_TRIALS):
        chunk = _searched(levels, floor, known, threshold)
        ratio = _power_ratio(powers, floor, chunk.found, known)
        if 1 / _MAX_POWER_RATIO < ratio < _MAX_POWER_RATIO:
            break
        known = replace(known, powers=[one * ratio for one in known.powers])
    return chunk


def fit_engine(
    preset: str, method: str, decoder: str, clips: list[Samples], codes: Indices, rate: int
) -> NoteEngine:
    """Return the engine of a preset, fitted to clips of notes."""
    cut = PAPER_FRAMING if preset == "paper" else framing(rate)
    _check_lengths(clips, cut)
    if preset == "paper":
        return PaperEngine(_learn_frames(clips, codes, method), decoder)
    if rate / 2 <= SONG_BANDS.low_hz * 2:
        raise InputError(
            f"Sound of {rate} samples per second holds no frequencies above {rate / 2:g} Hz; notes "
            f"need recordings of at least {round(4 * SONG_BANDS.low_hz) + 1} samples per second."
        )
    bands = Bands(SONG_BANDS.n_bands, SONG_BANDS.low_hz, min(SONG_BANDS.high_hz, rate / 2))
    return SongEngine(_measure_notes(clips, codes, FeatureSettings(cut, bands), method))


def _powers_of_known(known: KnownNotes) -> Vector:
    lengths = known.n_frames.tolist()
    return np.array([one.sum() / n for one, n in zip(known.powers, lengths, strict=True)])


def _searched(
    levels: Matrix, floor: Vector, known: KnownNotes, threshold: float | None
) -> SearchedChunk:
    settings = known.look
    description = known.described(floor)
    compared = note_prototypes(description) if known.method == "pknn" else description
    candidates = note_candidates(
        levels, compared, note_lengths(known.n_frames), settings, min_similarity=_MIN_SIMILARITY
    )
    return SearchedChunk(
        levels, candidates, _decided(levels, candidates, description, settings, threshold)
    )


def _power_ratio(powers: Matrix, floor: Vector, found: FoundNotes, known: KnownNotes) -> float:
    """Return the median ratio of the power of detected notes to that of known ones of their class.

    Where nothing is detected, known notes may lie below the noise floor of a loud recording; then
    its loudest frames are taken for notes.
    """
    if len(found.starts) == 0:
        loud = np.quantile((powers - floor).sum(axis=1), _LOUD_QUANTILE) if len(powers) else 0.0
        return max(float(loud / np.median(_powers_of_known(known))), 1.0)
    sums = np.concatenate([[0.0], np.cumsum((powers - floor).sum(axis=1))])
    means = (sums[found.stops] - sums[found.starts]) / (found.stops - found.starts)
    powers_of_known = _powers_of_known(known)
    by_class = [np.median(powers_of_known[known.codes == code]) for code in range(known.n_classes)]
    ratios = means / np.array(by_class)[found.codes]
    return float(np.median(np.maximum(ratios, 1e-6)))


def _decided(
    levels: Matrix,
    candidates: Candidates,
    description: NoteDescription,
    settings: FeatureSettings,
    threshold: float | None,
) -> FoundNotes:
    lengths = candidates.stops - candidates.starts
    chosen = best_nonoverlapping(
        candidates.starts, candidates.stops, (candidates.similarity - _MIN_SIMILARITY) * lengths
    )
    starts, stops, codes = (column[chosen] for column in candidates[:3])
    rows = note_rows(levels, starts, stops, settings) * description.weights
    known = known_classes(description.rows, description.codes)
    distances = class_distances(rows, codes, known)
    if threshold is None:
        limits = [
            min(acceptance_threshold(distances[codes == code]), one.rejection_limit)
            for code, one in enumerate(known)
        ]
        is_accepted = distances < np.array(limits)[codes]
    else:
        is_accepted = 1 / (1 + distances) >= threshold
    return FoundNotes(starts, stops, codes, 1 / (1 + distances), is_accepted)


def _check_lengths(clips: list[Samples], cut: Framing) -> None:
    shortest = min(len(clip) for clip in clips)
    if shortest < cut.width:
        raise InputError(
            f"A note lasts {shortest / cut.sample_rate * 1000:.1f} ms, which is less than one "
            f"frame of {cut.width / cut.sample_rate * 1000:.1f} ms; leave it out."
        )
