"""The two ways to hear notes, behind one face: see the presets of ``NoteFinder``."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernova.decide.segments import decode_six_steps, decode_viterbi
from kernova.describe.note_candidates import Candidates
from kernova.errors import InputError
from kernova.represent.frames import (
    PAPER_FRAMING,
    SONG_BANDS,
    Bands,
    Framing,
    band_edges,
    band_powers,
    framing,
)
from kernova.represent.note_rows import NoteLook
from kernova.studies.paper_notes import KnownFrames, frame_rows, learn_frames, soft_scores
from kernova.studies.song_notes import KnownNotes, learn_notes, search_piece

Matrix = NDArray[np.float64]
Samples = NDArray[np.float64]
Indices = NDArray[np.intp]

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
    """Whole notes: see :mod:`kernova.studies.song_notes`."""

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
    """Frames: see :mod:`kernova.studies.paper_notes`."""

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
