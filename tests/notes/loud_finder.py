"""A quick and exact finder for tests: everything louder than a tenth is a note."""

import itertools

import numpy as np
import pytest

from kernova.audio.annotations.segments import Segment
from kernova.audio.reading import read_audio

soundfile = pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

RATE = 8000


class LoudFinder:
    """Loud intervals are notes: "high" where the samples are positive, "low" where negative."""

    def __init__(self):
        self.searched = []

    def find(self, recording):
        self.searched.append(recording)
        samples = read_audio(recording).samples
        level = np.where(np.abs(samples) > 0.1, np.sign(samples), 0)
        borders = [0, *(np.flatnonzero(np.diff(level)) + 1), len(level)]
        return [
            Segment(a / RATE, b / RATE, "high" if level[a] > 0 else "low", score=0.5)
            for a, b in itertools.pairwise(borders)
            if level[a]
        ]


def write_song(path, *notes, seconds=1.0, format=None):
    """Write silence with notes: (start, end, label)."""
    samples = np.zeros(round(seconds * RATE))
    for start, end, label in notes:
        samples[round(start * RATE) : round(end * RATE)] = 0.5 if label == "high" else -0.5
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, RATE, format=format)
