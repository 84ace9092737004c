"""Landmarks of real specimens, where the data are at hand."""

import pandas as pd
import pytest


@pytest.fixture(scope="module")
def cichlids(data_folder):
    path = data_folder / "landmarks" / "tanganyika_cichlids" / "cichlids.csv"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    table = pd.read_csv(path)
    return table.loc[:, "x1":"y21"].to_numpy(float).reshape(-1, 21, 2)
