"""Small tables for the page: groups that are easily told apart, and things to see and hear."""

import numpy as np
import pandas as pd

GROUPS = ("left", "right", "far")
_CENTERS = ((0.0, 0.0, 0.0), (9.0, 0.0, 3.0), (4.0, 30.0, -9.0))


def write_groups(path, n_each=40):
    """Write three groups of points, far from each other; give the group of each row."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(center, 1.0, (n_each, 3)) for center in _CENTERS])
    groups = [group for group in GROUPS for _ in range(n_each)]
    # Eighteen digits, which no number in a browser holds: ids must stay text.
    ids = [f"{587722981741363297 + place}" for place in range(len(rows))]
    frame = pd.DataFrame(rows.round(3), columns=["length", "width", "depth"])
    frame.insert(0, "id", ids)
    frame.to_csv(path, index=False)
    return groups
