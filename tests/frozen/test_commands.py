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
from kernova.papers.hms import experiments
from kernova.workflows.detectors import detector_named

from .landed_species import LANDED_OPTIONS, kept_outcomes
from .running import LANDED_STRATEGIES, LANDED_STRATEGY, outcome_of, unlike, working_in
from .scenes import prepare, scenes
from .storage import BIT_EQUAL, DATA, SEARCHED

# Old names must go on working; that they say what they are called now is no fault here.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

pytest.importorskip("soundfile", reason="the extra `audio` is not installed")

GOLDEN = json.loads((DATA / "golden_commands.json").read_text())
RUNS_ALL = os.environ.get("KERNOVA_FROZEN_ALL") == "1"


# Defaults that were changed on purpose: the landed ones are passed by name.
LANDED_METHOD = {"outliers": "rkof", "novelty": "depth", "learn": "mddkm"}
LANDED_DEFAULTS = {"n_neighbors": {"--neighbors": "20"}, "bandwidth": {"--bandwidth": "nearest"}}
LANDED_WHOLE = {
    "species": LANDED_OPTIONS,
    "discover": {"--strategy": LANDED_STRATEGY},
    "simulate": {"--strategies": ",".join(LANDED_STRATEGIES)},
}


def with_landed_defaults(words):
    """Add the options whose defaults have changed, unless they are given or it asks for help."""
    if not words or "--help" in words or len(words) == 1:
        return words
    changed = landed_defaults(words)
    return [*words, *(word for pair in changed.items() if pair[0] not in words for word in pair)]


def landed_defaults(words):
    """Give the options of a command whose defaults have changed, with the landed values."""
    if words[0] not in LANDED_METHOD:
        return LANDED_WHOLE.get(words[0], {})
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
    return given


def tolerance_of(one):
    """Give the relative tolerance of a command's numbers: as marked, or by what is searched for."""
    words = one["words"]
    if BIT_EQUAL:
        return 1e-9
    # Learning searches for a length-scale; models of the landed version keep the one they have.
    is_learnt = words[:1] == ["recognize"] and not words[1].startswith("models/")
    if words[:1] == ["learn"] or is_learnt or words[:2] == ["reproduce", "mddkm-tables"]:
        return SEARCHED
    if words[:2] == ["reproduce", "rkof"]:
        # With all rows as neighbours, the LOF of one pair of rows is equal but for rounding: one
        # of the 600 pairs of an area under the curve.
        return 1e-4
    return one.get("rtol", 1e-9)


@pytest.fixture(autouse=True)
def literal_depths(monkeypatch):
    """Make ``far_rows="literal"`` the default, as it was: commands have no option for it."""
    *others, _ = KernelSpatialDepth.__init__.__defaults__
    monkeypatch.setattr(KernelSpatialDepth.__init__, "__defaults__", (*others, "literal"))


@pytest.fixture(autouse=True)
def landed_strategies(monkeypatch):
    """Reproduce HMS with the strategies that there were: the command has no option for them."""
    ours = tuple(name for name in experiments.OURS if name in LANDED_STRATEGIES)
    assert ours == (LANDED_STRATEGY,)
    monkeypatch.setattr(experiments, "OURS", ours)


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
            expected = one["outcome"]
            if one["words"][:1] == ["species"]:
                outcome, expected = kept_outcomes(outcome, expected)
            unlikes = unlike(outcome, expected, tolerance_of(one))
            found += [f"kernova {' '.join(one['words'])}: {line}" for line in unlikes]
    assert not found, "\n".join(found)
