"""Landmarks of real specimens, where the data are at hand."""

import pandas as pd
import pytest

from tests.shapes.geomorph_results import read_plethodon


@pytest.fixture(scope="module")
def cichlids(data_folder):
    path = data_folder / "landmarks" / "tanganyika_cichlids" / "cichlids.csv"
    if not path.is_file():
        pytest.skip(f"no landmarks at {path}")
    table = pd.read_csv(path)
    return table.loc[:, "x1":"y21"].to_numpy(float).reshape(-1, 21, 2)


@pytest.fixture(scope="session")
def plethodon(data_folder):
    return read_plethodon(data_folder)
