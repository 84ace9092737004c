"""The page of ``kernova discover`` answers over HTTP as it did in the landed version."""

import json
import shutil

import pytest

from .page import played
from .running import LANDED_STRATEGY, unlike
from .storage import BIT_EQUAL, DATA, SEARCHED

# Old names must go on working; that they say what they are called now is no fault here.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

pytest.importorskip("fastapi", reason="the extra `web` is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

# What learning leads to: its members have a length-scale, and weights, that are searched for.
LEARNT = {"learnt", "known", "ambiguous", "unknown", "recognized"}
GOLDEN = json.loads((DATA / "golden_page.json").read_text())


def test_a_session_at_the_page_is_that_of_the_landed_version(tmp_path):
    shutil.copyfile(DATA / "tables" / "rare.csv", tmp_path / "rare.csv")
    # It was the default, which was changed on purpose.
    now, found = played(tmp_path, ("--strategy", LANDED_STRATEGY)), []
    assert set(now) == set(GOLDEN)
    for name, then in GOLDEN.items():
        rtol = SEARCHED if name in LEARNT and not BIT_EQUAL else 1e-9
        found += unlike(now[name], then, rtol, path=f"/{name}")
    assert not found, "\n".join(found)
