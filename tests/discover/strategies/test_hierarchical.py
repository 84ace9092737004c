"""HMS-Out and HMS-CI: rankings by literal loops, and the reference orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernova.cluster.hierarchical_mean_shift import HierarchicalMeanShift
from kernova.discover.questions import Answer
from kernova.discover.strategies import strategy_named
from kernova.discover.strategies.hierarchical import (
    FarthestAsker,
    HierarchyOrder,
    NodeAsker,
    RankedClusters,
    farthest_tied,
    ranked_nodes,
    rows_in_order,
    tied_until,
)
from kernova.discover.strategies.spacing import distances_to
from tests.discover.strategies.tables import asked_rows, groups

VECTORS = ["ref_blobs_data.npz", "ref_digits300z_data.npz", "ref_blobs_weighted.npz"]
CRITERIA = {
    "out": ("outlierness", "node_last", 0.0),
    "ci": ("ci_max", "ci_max_level", 1e-9),
}


def ranking_from(vectors, criterion):
    value, level, _ = CRITERIA[criterion]
    return ranked_nodes(
        vectors[value], vectors[level], vectors["node_first_member"], vectors["node_rep"]
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", VECTORS)
def test_orders_without_had_are_the_reference(name, criterion, reference_vectors):
    vectors = reference_vectors(name)
    order = rows_in_order(ranking_from(vectors, criterion))
    assert order.tolist() == vectors[f"order_{criterion}"].tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", VECTORS)
def test_orders_with_had_are_the_reference(name, criterion, reference_vectors):
    vectors = reference_vectors(name)
    ranking = ranking_from(vectors, criterion)
    tolerance = CRITERIA[criterion][2]
    totals = np.zeros(len(ranking.nodes))
    is_asked = np.zeros(len(vectors["X"]), dtype=bool)
    asked = []
    while not is_asked.all():
        first = int(np.argmin(is_asked[ranking.representatives]))
        positions = np.arange(first, tied_until(ranking, first, tolerance))
        positions = positions[~is_asked[ranking.representatives[positions]]]
        chosen = farthest_tied(ranking, positions, totals[ranking.nodes[positions]])
        row = ranking.representatives[chosen]
        asked.append(row)
        is_asked[row] = True
        totals += distances_to(vectors["node_mode"], vectors["Z"][row])
    assert np.array_equal(asked, vectors[f"order_{criterion}_had"])


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 25), st.just(4)), elements=st.integers(0, 3)),
    st.sampled_from([0.0, 1.0]),
)
def test_ranking_follows_its_rules_literally(numbers, tolerance):
    values, levels, firsts, representatives = numbers.T
    ranking = ranked_nodes(values, levels, firsts, representatives)
    keys = [(-values[node], -levels[node], firsts[node], node) for node in ranking.nodes]
    assert keys == sorted(keys)
    expected = list(dict.fromkeys(int(representatives[node]) for node in ranking.nodes))
    assert rows_in_order(ranking).tolist() == expected
    for position in range(len(values)):
        end = tied_until(ranking, position, tolerance)
        good = [
            ranking.criterion_values[position] - value <= tolerance
            for value in ranking.criterion_values
        ]
        assert end == sum(good)


def test_the_farthest_mode_wins_and_ties_go_by_level_then_row():
    ranking = ranked_nodes([1.0] * 4, [0, 2, 1, 2], [0, 5, 1, 3], [0, 5, 1, 3])
    positions = np.arange(4)  # nodes 3, 1, 2, 0: the higher level first, then the smaller row
    assert ranking.nodes.tolist() == [3, 1, 2, 0]
    assert farthest_tied(ranking, positions, np.array([1.0, 2.0, 5.0, 3.0])) == 2
    assert farthest_tied(ranking, positions, np.array([1.0, 2.0, 2.0, 2.0])) == 1
    assert farthest_tied(ranking, positions[1:], np.array([2.0, 2.0, 0.0])) == 1


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


def test_a_reason_agrees_with_its_evidence(preparation):
    asker = HierarchyOrder("compactness_isolation", farthest=True).start(preparation)
    labels = groups()[1]
    whole = asker.propose()
    assert whole.reason.startswith("All 57 rows form one cluster from bandwidth ")
    assert len(whole.members) == 57
    asker.observe(Answer(whole.row, "class 0"))
    question = asker.propose()
    known = question.evidence
    assert known["size"] == len(question.members)
    assert set(labels[question.members]) == {labels[question.row]}
    span = f"{known['from_bandwidth']:.3g} to {known['to_bandwidth']:.3g}"
    assert f"from bandwidth {span}" in question.reason
    assert f"of {known['n_tied']:.0f} tied clusters" in question.reason
    distance = known["mean_distance_to_asked"]
    assert question.reason.endswith(f"rows asked so far ({distance:.3g} on average).")
    Z = preparation.rows()
    mode = preparation.hierarchy().modes_
    nodes = preparation.hierarchy().nodes_
    position = nodes.index[
        (nodes["representative"] == question.row) & (nodes["size"] == known["size"])
    ][0]
    assert distance == pytest.approx(np.linalg.norm(mode[position] - Z[whole.row]))
