"""Forged models are rejected, or loaded, with little memory and in little time."""

import random
from pathlib import Path

import pytest

from tests.memory import readings

from .forgeries import FORGERIES, forge

MODELS = sorted((Path(__file__).parents[1] / "data" / "models").glob("*.kernova"))
N_FORGED = 500


@pytest.mark.soak
def test_forged_models_take_little_memory_and_time(tmp_path, long_bar):
    paths = []
    for seed in range(long_bar(N_FORGED)):
        choose = random.Random(seed)
        forgery = FORGERIES[seed % len(FORGERIES)]
        paths.append(tmp_path / f"{seed}-{forgery.__name__}.kernova")
        forge(choose.choice(MODELS), paths[-1], forgery, choose)

    found = readings("model", paths)

    assert len(found) == len(paths)
    assert [fault for reading in found for fault in reading.faults()] == []
    print(
        f"{len(found)} forged models: peak {max(r.peak for r in found) / 1e6:.0f} MB, "
        f"{max(r.seconds for r in found):.2f} s; {sum(r.kind != '' for r in found)} rejected"
    )
