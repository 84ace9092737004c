"""The value that readers of landmarks return."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernova import shapes
from kernova.shapes import (
    Landmarks,
    read_tps,
)
from tests.shapes.bad_inputs import (
    BAD_LANDMARKS,
    error,
)
from tests.shapes.tps_samples import SNAILS, assert_same


def test_scales_are_applied_only_when_asked_for(tmp_path):
    (tmp_path / "a.tps").write_text(SNAILS.replace("SCALE=\n", "SCALE=2\n"))
    snails = read_tps(tmp_path / "a.tps")
    scaled = read_tps(tmp_path / "a.tps", scaled=True)

    np.testing.assert_array_equal(scaled.coordinates[0], snails.coordinates[0] * 0.5)
    np.testing.assert_array_equal(scaled.coordinates[1], snails.coordinates[1] * 2)
    np.testing.assert_array_equal(scaled.curves[0][0], snails.curves[0][0] * 0.5)
    assert scaled.scales.tolist() == [1, 1]
    assert_same(scaled, scaled.in_real_units())


def test_selected_specimens_keep_all_their_entries(tmp_path):
    (tmp_path / "a.tps").write_text(SNAILS)
    snails = read_tps(tmp_path / "a.tps")
    assert_same(snails.take([1, 0]).take([1, 0]), snails)
    assert_same(snails.take([False, True]), snails.take([1]))
    assert snails.take([1]).ids == ("008",)
    assert snails.take(np.array([], dtype=int)).coordinates.shape == (0, 3, 2)


@pytest.mark.parametrize(("fields", "message"), BAD_LANDMARKS)
def test_invalid_landmarks_raise(fields, message):
    with error(message):
        Landmarks(**{"ids": ("a",), "coordinates": np.zeros((1, 2, 2)), **fields})


def test_every_exported_name_is_found():
    for name in shapes.__all__:
        assert getattr(shapes, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'wings'"):
        _ = shapes.wings


def test_type_checkers_see_the_names_that_are_imported_on_first_use():
    tree = ast.parse(Path(shapes.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name: node.module for node in block.body for alias in node.names}
    assert imported == {name: f"kernova.shapes.{home}" for name, home in shapes._HOME_OF.items()}
    assert set(imported) < set(shapes.__all__)


def test_reading_landmarks_does_not_load_scikit_learn():
    code = "import sys, kernova.shapes\nsys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
