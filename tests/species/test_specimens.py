import numpy as np
import pytest

from kernova.shapes import Landmarks
from kernova.species.space import SpeciesSettings
from kernova.species.specimens import judge_specimens
from tests.species.drawn_shapes import OUTLINE, drawn


def test_specimens_are_tested_one_by_one():
    known, groups = drawn({"a": 150, "b": 150, "unknown": 0})
    new, truth = drawn({"a": 15, "b": 15, "unknown": 10}, seed=1)

    tests = judge_specimens(known, groups, new, SpeciesSettings(components=5))

    is_new = (tests.rows["verdict"] == "new").to_numpy()
    assert is_new[truth == "unknown"].all()
    assert is_new[truth != "unknown"].mean() < 0.15
    assert tests.n_new == is_new.sum()
    assert list(tests.rows["id"]) == list(new.ids)
    closest = tests.rows["closest"].to_numpy()
    assert (closest[truth != "unknown"] == truth[truth != "unknown"]).mean() > 0.9
    p_values = tests.rows["p_value"].to_numpy()
    assert p_values.min() == pytest.approx(1 / 151)
    assert p_values[truth != "unknown"].mean() == pytest.approx(0.5, abs=0.15)
    assert tests.notes[0] == (
        "150 held-out specimens give no p-value below 0.00662: at a false discovery rate of 0.05, "
        "specimens are called new only where 6 or more of the 40 stand out together."
    )


@pytest.mark.parametrize("off", [0.6, 2.0, 20.0])
def test_a_landmark_out_of_place_is_named(off):
    known, groups = drawn({"a": 150, "b": 150})
    new, _ = drawn({"a": 18}, seed=2)
    rng = np.random.default_rng(3)
    wrong = np.tile(np.arange(9), 2)
    directions = rng.standard_normal((18, 2))
    directions *= off / np.linalg.norm(directions, axis=1, keepdims=True)
    sizes = np.linalg.norm(new.coordinates - new.coordinates.mean(axis=1)[:, None], axis=(1, 2))
    spoilt = new.coordinates.copy()
    spoilt[np.arange(18), wrong] += directions * sizes[:, None] / np.linalg.norm(OUTLINE)
    spoilt = np.concatenate([new.coordinates, spoilt])
    landmarks = Landmarks(tuple(f"t{k}" for k in range(36)), spoilt)

    rows = judge_specimens(known, groups, landmarks, SpeciesSettings(components=5)).rows

    assert (rows["landmark"][:18] > 0).mean() <= 0.12
    named = rows["landmark"][18:].to_numpy()
    assert (named == wrong + 1).mean() >= 0.85
    expected = [f"landmark {number} deviates" for number in wrong + 1]
    assert (rows["digitising"][18:].to_numpy() == expected).mean() >= 0.75
