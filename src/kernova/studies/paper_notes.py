"""Find notes as published: frames, the hierarchy's top layer, soft scores, six steps.

Frames of 96 samples at 22,050 Hz, half of them shared with the next; their |DCT| goes through
layers of 96, 24 and 12 states; every frame of a known note is a row to learn from; the scores of a
recording's frames are decided by six steps (:func:`kernova.decide.segments.decode_six_steps`).
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernova.describe.data_description import MulticlassDataDescription
from kernova.describe.possibilistic import PossibilisticNeighbors
from kernova.represent.frames import PAPER_FRAMING, dct_magnitudes, frames
from kernova.represent.linear_dynamics import HierarchicalLinearDynamics

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

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
