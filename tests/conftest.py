"""What every test may ask for: the data folder, the reference vectors, the length of a long bar."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A busy machine is no fault: no test of random inputs fails for the time it took.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

_VECTORS = Path(__file__).parent / "data" / "vectors"
_DEFAULT_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_collection_modifyitems(config, items):
    """Long bars run whole only when asked for by `make soak`."""
    if os.environ.get("KERNOVA_SOAK"):
        return
    wanted = config.getoption("-m")
    if "soak" not in wanted:
        return
    raise pytest.UsageError("Set KERNOVA_SOAK=1 (or run `make soak`) to run the long bars whole.")


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data, or a skip that says how to name one."""
    folder = Path(os.environ.get("KERNOVA_DATA", _DEFAULT_DATA))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}; set KERNOVA_DATA to run this test")
    return folder


@pytest.fixture(scope="session")
def reference_vectors():
    """Load a file of reference vectors by name."""

    def load(name):
        with np.load(_VECTORS / name) as stored:
            return dict(stored)

    return load


@pytest.fixture(scope="session")
def long_bar():
    """Give the length of a long bar: all of it under `make soak`, else a tenth."""

    def length(whole):
        return whole if os.environ.get("KERNOVA_SOAK") else max(1, whole // 10)

    return length


@pytest.fixture
def few_trees(monkeypatch):
    """Grow a tenth of the trees, for tests of sentences, files and states, not of judgements.

    Growing trees is nearly all of the time that learning from a hundred rows takes.
    """
    from kernova.description.open_set import trees

    monkeypatch.setattr(trees, "N_TREES", 10)
