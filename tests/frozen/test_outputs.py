"""Public names give the numbers that the landed version gave.

Run with ``KERNOVA_BIT_EQUAL=1 OMP_NUM_THREADS=1`` on the machine where the outputs were frozen to
compare bit for bit.
"""

import pytest

from . import outputs_media, outputs_tables
from .storage import DATA, differences, load_npz, split

CASES = {**outputs_tables.CASES, **outputs_media.CASES}
NEEDS_AUDIO = {"recordings_in_files"}


@pytest.fixture(scope="module")
def frozen():
    return split(load_npz(DATA / "frozen_outputs.npz"))


def test_every_case_is_frozen(frozen):
    assert set(frozen) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_outputs_are_those_of_the_landed_version(name, frozen):
    if name in NEEDS_AUDIO:
        pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    found = differences(CASES[name](), frozen[name])
    assert not found, "\n".join(found)
