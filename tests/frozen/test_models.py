"""Models that the landed version saved are loaded without being told to trust anything, and answer
as they did."""

import warnings
from importlib.util import find_spec

import pytest

import kernova

from .model_answers import answers, restored_input
from .storage import (
    DATA,
    ILL_CONDITIONED,
    RTOL,
    SINGLE_DIFFERENCES,
    SINGLE_PRECISION,
    differences,
    load_npz,
)

# Old names must go on working; that they say what they are called now is no fault here.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

MODELS = DATA / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.kernova"))
NEEDS_FAISS = {"lpf-approximate-many"}
# By the beginning of a model's name and the pattern of a path; what was fitted is loaded as it was.
TOLERANCES = {
    "description-literal": {"(?!attributes/).*": ILL_CONDITIONED},
    "notes-paper": {"scan/1": SINGLE_PRECISION, "scan/3|found/score": ILL_CONDITIONED},
    "notes-song": {
        "scan/1": SINGLE_PRECISION, "scan/3": SINGLE_DIFFERENCES, "found/score": 1e-5,
    },
}  # fmt: skip
TOLERANCES["notes-threshold"] = TOLERANCES["notes-song"]


def tolerance_of(name):
    """Give the tolerances of a model."""
    name = name.removeprefix("command-")
    return next((one for key, one in TOLERANCES.items() if name.startswith(key)), RTOL)


def stored(name):
    """Give the input of a model, and what it answered."""
    archive = load_npz(MODELS / f"{name}.npz")
    parts = {"input": {}, "output": {}}
    for key, array in archive.items():
        part, _, path = key.partition("|")
        parts[part][path] = array
    return restored_input(parts["input"]), parts["output"]


def loaded(path):
    """Load a model; that another scikit-learn saved it is no matter here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*scikit-learn", UserWarning)
        return kernova.load_model(path)


def test_there_are_models():
    assert len(NAMES) > 90


@pytest.mark.parametrize("name", NAMES)
def test_a_landed_model_answers_as_it_did(name):
    if name in NEEDS_FAISS and find_spec("faiss") is None:
        pytest.skip("the extra `fast` is not installed")
    value, expected = stored(name)
    now = answers(loaded(MODELS / f"{name}.kernova"), value)
    found = differences(now, expected, tolerance_of(name))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_landed_model_is_saved_and_loaded_again(name, tmp_path):
    if name in NEEDS_FAISS and find_spec("faiss") is None:
        pytest.skip("the extra `fast` is not installed")
    value, expected = stored(name)
    kernova.save_model(loaded(MODELS / f"{name}.kernova"), tmp_path / "again.kernova")
    now = answers(kernova.load_model(tmp_path / "again.kernova"), value)
    found = differences(now, expected, tolerance_of(name))
    assert not found, "\n".join(found)
