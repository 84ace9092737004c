"""A table of twelve fish, one of them odd, in a folder of its own."""

import numpy as np
import pandas as pd
import pytest

COLUMNS = ["--id-column", "fish", "--drop", "kind"]
RANDOM = ["--strategy", "random"]
N_ROWS = 12


@pytest.fixture
def twelve_fish(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(N_ROWS, 2)).round(3), columns=["length", "width"])
    rows.loc[3, "width"] = -30.0
    rows["sex"] = ["f", "m"] * 6
    rows.insert(0, "fish", [f"{i:03d}" for i in range(N_ROWS)])
    rows["kind"] = ["carp", None, None, "[odd]"] + [None] * 8
    rows.to_csv("fish.csv", index=False)
    return tmp_path
