"""Small tables for the tests of workflows."""

import numpy as np
import pandas as pd


def two_kinds(n=60, apart=9.0, seed=0):
    """Two clouds, ``apart`` in the first column."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["kind"] = np.where(np.arange(n) % 2, "pike", "carp")
    frame.loc[frame["kind"] == "pike", "a"] += apart
    return frame
