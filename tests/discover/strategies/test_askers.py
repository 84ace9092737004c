"""Every strategy keeps the protocol; those over the hierarchy ask in the reference orders."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES, strategy_named
from kernova.discover.strategies.hierarchical import (
    FarthestAsker,
    HierarchyOrder,
    NodeAsker,
    RankedClusters,
)
from kernova.discover.strategies.interleave import Interleave
from kernova.discover.strategies.nndm import DensityJumps
from kernova.errors import InputError


def groups(seed=0, sizes=(40, 12, 5), places=(0.0, 6.0, -5.0), n_columns=2):
    rng = np.random.default_rng(seed)
    X = np.concatenate(
        [
            rng.normal(place, 0.7, (size, n_columns))
            for size, place in zip(sizes, places, strict=True)
        ]
    )
    return X, np.repeat([f"class {number}" for number in range(len(sizes))], sizes)


@pytest.fixture(scope="module")
def preparation():
    return Preparation(groups()[0])


def asked_rows(asker, labels, n=None):
    rows = []
    while (question := asker.propose()) is not None and len(rows) != n:
        rows.append(question.row)
        asker.observe(Answer(question.row, str(labels[question.row])))
    return rows


# --- the protocol, for all ---------------------------------------------------------------------


def test_the_default_is_one_of_the_strategies_and_names_are_their_own():
    assert DEFAULT_STRATEGY in STRATEGIES
    assert [strategy_named(name).name for name in STRATEGIES] == list(STRATEGIES)


def test_an_unknown_strategy_is_refused():
    with pytest.raises(InputError) as caught:
        strategy_named("oracle")
    assert str(caught.value) == (
        f"There is no strategy named 'oracle'. Take one of {', '.join(STRATEGIES)}."
    )


@pytest.mark.parametrize("name", STRATEGIES)
def test_questions_are_whole_and_every_row_is_asked_once(name, preparation):
    labels = groups()[1]
    asker = strategy_named(name).start(preparation)
    n_rows = preparation.n_rows
    is_open = np.ones(n_rows, dtype=bool)
    for _ in range(n_rows):
        question = asker.propose()
        assert asker.propose().row == question.row
        assert is_open[question.row]
        assert question.row in question.members
        assert np.array_equal(question.members, np.unique(question.members))
        assert question.reason[0].isupper() or question.reason[0].isdigit()
        assert question.reason.endswith(".")
        assert "nan" not in question.reason
        assert question.evidence
        assert all(np.isfinite(list(question.evidence.values())))
        assert question.row not in question.alternatives
        assert len(set(question.alternatives)) == len(question.alternatives)
        assert all(is_open[row] for row in question.alternatives)
        is_open[question.row] = False
        asker.observe(Answer(question.row, str(labels[question.row])))
    assert asker.propose() is None


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_replaying_answers_leads_to_the_same_question(name, preparation, data):
    """Whoever replays observes only: answers in turn, out of turn, and rows passed over."""
    labels = groups()[1]
    first = strategy_named(name).start(preparation)
    log = []
    for _ in range(data.draw(st.integers(0, 12))):
        question = first.propose()
        asked = {answer.row for answer in log}
        others = [row for row in range(preparation.n_rows) if row not in asked]
        row = data.draw(st.sampled_from([question.row, question.row, *others]))
        label = data.draw(st.sampled_from([str(labels[row]), None, "something else"]))
        log.append(Answer(row, label))
        first.observe(log[-1])
    second = strategy_named(name).start(preparation)
    for answer in log:
        second.observe(answer)
    again, before = second.propose(), first.propose()
    assert (again.row, again.reason, again.alternatives) == (
        before.row,
        before.reason,
        before.alternatives,
    )


@pytest.mark.parametrize("n_rows", [1, 2, 3])
@pytest.mark.parametrize("name", STRATEGIES)
def test_tiny_tables_and_tables_of_copies(name, n_rows):
    for X in (np.arange(2.0 * n_rows).reshape(n_rows, 2), np.ones((n_rows, 2))):
        asker = strategy_named(name).start(Preparation(X))
        assert sorted(asked_rows(asker, ["a"] * n_rows)) == list(range(n_rows))


# --- the hierarchy's orders --------------------------------------------------------------------

REFERENCES = {
    "ref_blobs_data.npz": ("sphere", "data"),
    "ref_digits300z_data.npz": ("zscore", "data"),
    "ref_blobs_weighted.npz": ("sphere", "weighted"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_askers_over_a_fitted_hierarchy_ask_in_the_reference_orders(name, reference_vectors):
    vectors = reference_vectors(name)
    standardize, reference = REFERENCES[name]
    model = HierarchicalMeanShift(
        standardize=standardize, reference=reference, precision="double"
    ).fit(vectors["X"])
    for short, criterion in (("out", "outlierness"), ("ci", "compactness_isolation")):
        clusters = RankedClusters.of(model, criterion)
        for end, asker in (("", NodeAsker(clusters)), ("_had", FarthestAsker(clusters))):
            rows = asked_rows(asker, vectors["y"])
            assert rows == vectors[f"order_{short}{end}"].tolist()


@pytest.mark.parametrize("name", ["hms-out", "hms-ci", "hms-out-had", "hms-ci-had"])
def test_first_rows_are_what_the_asker_asks(name, preparation):
    strategy = strategy_named(name)
    expected = asked_rows(strategy.start(preparation), groups()[1])
    for n in (3, 20, 10**6, 5):
        assert strategy.first_rows(preparation, n).tolist() == expected[:n]


def test_a_reason_says_what_the_numbers_say(preparation):
    asker = HierarchyOrder("compactness_isolation", farthest=True).start(preparation)
    labels = groups()[1]
    whole = asker.propose()
    assert whole.reason.startswith("All 57 rows are one cluster from bandwidth ")
    assert len(whole.members) == 57
    asker.observe(Answer(whole.row, "class 0"))
    question = asker.propose()
    known = question.evidence
    assert known["size"] == len(question.members)
    assert set(labels[question.members]) == {labels[question.row]}
    span = f"{known['from_bandwidth']:.3g} to {known['to_bandwidth']:.3g}"
    assert f"from bandwidth {span}" in question.reason
    assert f"of {known['n_tied']:.0f} clusters as good" in question.reason
    distance = known["mean_distance_to_asked"]
    assert question.reason.endswith(f"rows asked so far ({distance:.3g} on average).")
    Z = preparation.rows()
    mode = preparation.hierarchy().modes_
    nodes = preparation.hierarchy().nodes_
    place = nodes.index[
        (nodes["representative"] == question.row) & (nodes["size"] == known["size"])
    ][0]
    assert distance == pytest.approx(np.linalg.norm(mode[place] - Z[whole.row]))


# --- the baselines -----------------------------------------------------------------------------


def test_density_jumps_told_of_a_rare_class_ask_for_it_first():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(0, 1, (400, 2)), rng.normal(1.5, 0.02, (8, 2))])
    labels = np.repeat(["common", "rare"], [400, 8])
    strategy = DensityJumps({"common": 400 / 408, "rare": 8 / 408})
    assert labels[strategy.start(Preparation(X)).propose().row] == "rare"
    blind = asked_rows(DensityJumps().start(Preparation(X)), labels, 5)
    assert "rare" in labels[blind]


def test_density_jumps_turn_to_the_next_class_when_one_is_found():
    X, _ = groups(sizes=(300, 30, 6))
    shares = {"class 0": 300 / 336, "class 1": 30 / 336, "class 2": 6 / 336}
    asker = DensityJumps(shares).start(Preparation(X))
    assert asker.propose().evidence["size"] == 6
    asker.observe(Answer(asker.propose().row, "class 0"))
    assert asker.propose().evidence["size"] == 6
    asker.observe(Answer(asker.propose().row, "class 2"))
    assert asker.propose().evidence["size"] == 30


@pytest.mark.parametrize("priors", [{}, {"a": 0.0}, {"a": 1.5}])
def test_priors_that_are_no_shares_are_refused(priors):
    with pytest.raises(InputError) as caught:
        DensityJumps(priors)
    assert str(caught.value) == (
        "priors must give each category a share of the rows, above 0 and at most 1; "
        f"got {priors!r}."
    )


def test_interleave_gives_a_category_without_a_component_one_of_its_own():
    X, labels = groups(sizes=(60, 20, 10))
    asker = Interleave(n_components=1, seed=0).start(Preparation(X))
    assert " of 1 explains" in asker.propose().reason
    for row in (0, 60, 80):
        asker.observe(Answer(row, str(labels[row])))
    asker.observe(Answer(asker.propose().row, "class 0"))
    known = {0: 0, 1: 60, 2: 80}  # a row that was answered, by component
    seen = set()
    for _ in range(12):
        question = asker.propose()
        assert " of 3 explains" in question.reason
        component = int(question.evidence["component"])
        assert known[component] in question.members  # what was answered is held to its component
        seen.add(component)
        asker.observe(Answer(question.row, str(labels[question.row])))
    assert seen == {0, 1, 2}


def test_interleave_starts_elsewhere_with_another_seed():
    preparation = Preparation(groups()[0], random_state=3)
    rows = [
        asked_rows(Interleave(4, seed=seed).start(preparation), groups()[1], 8)
        for seed in (None, 3, 4)
    ]
    assert rows[0] == rows[1] != rows[2]


def test_density_jumps_pass_over_what_lies_near_an_answer(preparation):
    asker = DensityJumps().start(preparation)
    Z = preparation.rows()
    asked, n_passed = [], 0
    for _ in range(6):
        question = asker.propose()
        assert all(np.linalg.norm(Z[question.row] - Z[row]) > radius for row, radius in asked)
        near = np.linalg.norm(Z - Z[question.row], axis=1) <= question.evidence["radius"]
        n_passed += int(near.sum()) - 1
        asked.append((question.row, question.evidence["radius"]))
        asker.observe(Answer(question.row, "x"))
    assert n_passed > 0


def test_the_search_for_a_fall_widens_with_every_question(preparation):
    asker = DensityJumps({"common": 0.9, "rare": 0.1}).start(preparation)
    steps = []
    for _ in range(3):
        known = asker.propose().evidence
        steps.append(known["reach"] / known["radius"])
        asker.observe(Answer(asker.propose().row, "common"))
    assert steps == pytest.approx([2, 3, 4])


def test_interleave_asks_what_a_component_explains_worst(preparation):
    asker = Interleave(n_components=3, seed=1).start(preparation)
    asked, is_open = [], np.ones(preparation.n_rows, dtype=bool)
    for _ in range(3):
        question = asker.propose()
        asked.append(question.evidence["log_density"] < question.evidence["median_log_density"])
        is_open[question.row] = False
        asker.observe(Answer(question.row, None))
    assert asked == [True] * 3


def test_mean_shift_interleave_asks_the_row_farthest_from_its_centre(preparation):
    strategy = strategy_named("ms-interleave")
    clusters = strategy.clusters(preparation)
    model, Z = preparation.hierarchy(), preparation.rows()
    level = int(np.argmin(np.abs(model.bandwidths_ - clusters.bandwidth)))
    centres = model.modes_[model.nodes_at(level)]
    assert clusters.shifts == pytest.approx(np.linalg.norm(Z - centres, axis=1))
    question = strategy.start(preparation).propose()
    assert question.row == question.members[np.argmax(clusters.shifts[question.members])]
