"""Models of version 0.1.0, whose classes have moved since, are loaded under their new names."""

import json
import pickle
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

from kernova import load_model
from kernova._moved import moved_classes
from kernova.persist.trust import foreign_types

from .forging import Parts, load_error, node, put
from .messages import not_trusted

MODELS = Path(__file__).parents[1] / "data" / "models"
MOVED = moved_classes()


@pytest.fixture
def model_path():
    return MODELS / "calibrated-default.kernova"


@pytest.mark.parametrize("old", MOVED)
def test_every_moved_class_has_a_new_name_that_is_trusted(old):
    module, _, name = MOVED[old].rpartition(".")
    assert getattr(import_module(module), name).__module__ == module
    assert foreign_types([MOVED[old]]) == []
    assert foreign_types([old]) == [old]


def test_every_class_of_the_old_models_is_known():
    for path in sorted(MODELS.glob("*.kernova")):
        schema = json.dumps(Parts.of(path).schema)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # no stand-in is needed
            load_model(path)
        assert "kernova." in schema


def test_names_that_are_not_in_the_table_are_not_translated(model_path, tmp_path):
    path = tmp_path / "m.kernova"
    parts = Parts.of(model_path)
    put(parts.schema, "bound", node("TypeNode", "kernova.decide.calibrated.InputError"))
    parts.write(path)
    assert load_error(path) == not_trusted(path, ["kernova.decide.calibrated.InputError"])


def test_pickles_of_the_old_modules_are_read_with_a_warning(monkeypatch):
    monkeypatch.delitem(sys.modules, "kernova.score.spatial_depth", raising=False)
    pickled = b"ckernova.score.spatial_depth\nKernelSpatialDepth\n."
    with pytest.warns(DeprecationWarning, match=r"kernova\.score\.spatial_depth has moved to"):
        found = pickle.loads(pickled)
    assert found.__module__ == "kernova.anomaly.spatial_depth"
