"""Scanned recordings to draw, made up at random."""

from typing import Any, NamedTuple

import numpy as np

HOP = 0.002


class Scan(NamedTuple):
    times: Any
    levels: Any
    band_hz: Any
    scores: Any
    classes: Any
    segments: Any


def scan_of(seconds=1.0, classes=("a", "b"), segments=(), start=0.0, n_bands=20):
    times = start + HOP * (np.arange(round(seconds / HOP)) + 0.5)
    random = np.random.default_rng(0)
    levels = random.random((len(times), n_bands))
    scores = random.random((len(times), len(classes)))
    return Scan(times, levels, np.linspace(500, 11000, n_bands), scores, classes, segments)
