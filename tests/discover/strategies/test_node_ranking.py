"""Orders over node tables: the paper's rules by literal loops, and the reference orders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernova.discover.strategies.hierarchical import (
    distances_to,
    farthest_place,
    ranked_nodes,
    rows_in_order,
    tied_until,
)

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
        places = np.arange(first, tied_until(ranking, first, tolerance))
        places = places[~is_asked[ranking.representatives[places]]]
        chosen = farthest_place(ranking, places, totals[ranking.nodes[places]])
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
    for place in range(len(values)):
        end = tied_until(ranking, place, tolerance)
        good = [ranking.criterion_values[place] - value <= tolerance for value in ranking.criterion_values]
        assert end == sum(good)


def test_the_farthest_mode_wins_and_equals_go_by_level_then_row():
    ranking = ranked_nodes([1.0] * 4, [0, 2, 1, 2], [0, 5, 1, 3], [0, 5, 1, 3])
    places = np.arange(4)  # nodes 3, 1, 2, 0: the higher level first, then the smaller row
    assert ranking.nodes.tolist() == [3, 1, 2, 0]
    assert farthest_place(ranking, places, np.array([1.0, 2.0, 5.0, 3.0])) == 2
    assert farthest_place(ranking, places, np.array([1.0, 2.0, 2.0, 2.0])) == 1
    assert farthest_place(ranking, places[1:], np.array([2.0, 2.0, 0.0])) == 1
