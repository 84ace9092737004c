"""Commands give the numbers, keys and tables that they gave in the landed version.

Sentences may be worded anew; the numbers in them may not change. A word that was renamed on
purpose, such as a verdict in a table, is listed in ``running.RENAMED``. Commands that take more
than a second run if ``KERNOVA_FROZEN_ALL`` is 1.
"""

import json
import os
import warnings

import pytest

from kernova import KernelSpatialDepth
from kernova.workflows.detectors import detector_named

from .running import outcome_of, unlike, working_in
from .scenes import prepare, scenes
from .storage import BIT_EQUAL, DATA

# Old names must go on working; that they say what they are called now is no fault here.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

GOLDEN = json.loads((DATA / "golden_commands.json").read_text())
RUNS_ALL = os.environ.get("KERNOVA_FROZEN_ALL") == "1"


# Defaults that were changed on purpose: the landed ones are passed by name.
LANDED_METHOD = {"outliers": "rkof", "novelty": "depth", "learn": "mddkm"}
LANDED_DEFAULTS = {"n_neighbors": {"--neighbors": "20"}, "bandwidth": {"--bandwidth": "nearest"}}


def with_landed_defaults(words):
    """Add the options whose defaults have changed, unless they are given or it asks for help."""
    if not words or words[0] not in LANDED_METHOD or "--help" in words or len(words) == 1:
        return words
    method = LANDED_METHOD[words[0]]
    given = {"--method": method, "--missing": "refuse"}
    if words[0] == "learn":
        given["--max-rows-per-class"] = "1000"
    if "--method" in words:
        method = words[words.index("--method") + 1]
    parameters = () if words[0] == "learn" else detector_named(method, words[0]).parameters
    for parameter in parameters:
        # As before, the novelty by LOF takes no number of neighbours.
        if words[0] == "outliers" or parameter == "bandwidth":
            given |= LANDED_DEFAULTS.get(parameter, {})
    return [*words, *(word for pair in given.items() if pair[0] not in words for word in pair)]


@pytest.fixture(autouse=True)
def literal_depths(monkeypatch):
    """Make ``far_rows="literal"`` the default, as it was: commands have no option for it."""
    *others, _ = KernelSpatialDepth.__init__.__defaults__
    monkeypatch.setattr(KernelSpatialDepth.__init__, "__defaults__", (*others, "literal"))


def test_every_scene_is_frozen():
    for name, commands in scenes().items():
        frozen = [(one["words"], one["stdin"]) for one in GOLDEN[name]]
        assert [tuple(one) for one in commands] == frozen, name


@pytest.mark.parametrize("scene", GOLDEN)
def test_commands_answer_as_the_landed_version(scene, tmp_path):
    prepare(tmp_path)
    found = []
    with working_in(tmp_path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in GOLDEN[scene]:
            if one.get("slow") and not RUNS_ALL:
                continue
            outcome = json.loads(
                json.dumps(outcome_of(with_landed_defaults(one["words"]), one["stdin"]))
            )
            rtol = 1e-9 if BIT_EQUAL else one.get("rtol", 1e-9)
            unlikes = unlike(outcome, one["outcome"], rtol)
            found += [f"kernova {' '.join(one['words'])}: {line}" for line in unlikes]
    assert not found, "\n".join(found)
