"""Landmarks of cichlids, where the data are at hand."""

import numpy as np
import pytest

from kernova.shapes import groups_from_table, read_tps


@pytest.fixture(scope="module")
def cichlids(data_folder):
    folder = data_folder / "landmarks" / "tanganyika_cichlids"
    if not folder.is_dir():
        pytest.skip(f"no landmarks at {folder}")
    landmarks = read_tps(folder / "cichlids.tps")
    return landmarks, np.array(
        groups_from_table(folder / "cichlids.csv", landmarks.ids, group_column="tribe")
    )


@pytest.fixture(scope="session")
def landmark_folder(data_folder):
    folder = data_folder / "landmarks"
    if not (folder / "turtles").is_dir():
        pytest.skip(f"no landmarks at {folder}")
    return folder
