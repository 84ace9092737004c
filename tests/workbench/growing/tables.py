"""Tables that grow: groups of points in files, and further files of the same and of new groups."""

import numpy as np
import pandas as pd

CENTERS = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 2.0], [0.0, 7.0, -3.0]])
WEIGHTS = (0.6, 0.3, 0.1)
COLUMNS = ["length", "width", "depth"]


def points(rng, n_rows, n_new=0, center=None):
    """Draw rows of the usual groups, and further ones around a new centre; give their groups."""
    groups = rng.choice(len(CENTERS), n_rows, p=WEIGHTS)
    rows = CENTERS[groups] + rng.normal(size=(n_rows, 3))
    new = rng.normal(0, 0.6, (n_new, 3)) + (np.zeros(3) if center is None else center)
    return np.vstack([rows, new]), np.append(groups, np.full(n_new, len(CENTERS)))


def frame(rows, ids, groups):
    """Return rows as a table with ids and groups."""
    table = pd.DataFrame(np.round(rows, 4), columns=COLUMNS)
    table.insert(0, "id", ids)
    table["group"] = [f"group {group}" for group in groups]
    return table


def write_first(folder, n_rows=150, seed=0):
    """Write the table that a project is started with."""
    rows, groups = points(np.random.default_rng(seed), n_rows)
    table = frame(rows, [f"a{row}" for row in range(n_rows)], groups)
    table.to_csv(folder / "first.csv", index=False)
    return table


def write_batch(folder, number, n_rows=40, n_new=0, again=None, center=(30.0, 30.0, 30.0)):
    """Write a file of further rows, some of them rows that are there already."""
    rows, groups = points(np.random.default_rng(100 + number), n_rows, n_new, np.array(center))
    table = frame(rows, [f"b{number}-{row}" for row in range(len(rows))], groups)
    if again is not None:
        table = pd.concat([again, table], ignore_index=True)
    path = folder / f"batch-{number}.csv"
    table.to_csv(path, index=False)
    return path


OPTIONS = {"id_column": "id", "drop": ["group"]}
