"""Rows and fitted detectors that the tests of explanations share."""

import numpy as np
import pandas as pd

from kernova import MulticlassDataDescription, OpenSetClassifier, SpatialDepth

_random = np.random.default_rng(3)
X = _random.normal(size=(80, 3))
X[4] = 0.0, 8.0, 0.0
X[9] = 5.0, 5.0, 5.0
TABLE = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"r{i}" for i in range(80)])
DEPTH = SpatialDepth().fit(X)
FRAME_DEPTH = SpatialDepth().fit(TABLE)

CENTRES = {"carp": [0, 0, 0, 0], "pike": [8, 0, 0, 0], "eel": [0, 8, 0, 0]}


def fish(n=25, seed=0):
    """Three clouds in four columns; the last two do not separate the classes."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(size=(n, 4)) + centre for centre in CENTRES.values()])
    return pd.DataFrame(rows, columns=["a", "b", "c", "d"]), np.repeat(list(CENTRES), n)


KNOWN, KINDS = fish()
CLASSES = MulticlassDataDescription().fit(KNOWN, KINDS)
OPEN_SET = OpenSetClassifier().fit(KNOWN, KINDS)


def one(**values):
    return pd.DataFrame([{"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0, **values}])
