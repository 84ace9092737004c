"""Groups of rows against plain single linkage, and how long doubtful answers keep them open."""

import numpy as np
import pytest
from hypothesis import given, settings

from kernova.discover.questions import Answer
from kernova.discover.strategies.novelty_groups import merging
from kernova.discover.strategies.novelty_groups.groups import group_tree, members_of
from kernova.neighbors.graph import neighbor_graph
from tests.discover.strategies.novelty_groups.tables import TABLES, is_group, mixed_table, observed
from tests.oracles import novelty_groups as literal


def check_tree(X):
    graph = neighbor_graph(X, 10)
    tree = group_tree(graph)
    members = [members_of(tree, group).tolist() for group in range(len(tree.parents))]
    assert members == [sorted(rows) for rows in members]
    groups = [frozenset(rows) for rows in members]
    found = {groups[group]: tree.bits[group] for group in tree.ranking.tolist()}
    wanted = literal.group_bits(graph.distances, graph.indices)
    for group in found | wanted:
        assert found.get(group, 0.0) == pytest.approx(wanted.get(group, 0.0), rel=1e-9, abs=1e-9)
    assert set(literal.single_linkage(graph.distances, graph.indices)) <= set(groups)
    core = literal.core_distances(graph.distances)
    assert core == tree.core.tolist()
    for group, rows in enumerate(groups):
        assert tree.sizes[group] == len(rows)
        assert tree.densest[group] == min(rows, key=lambda row: (core[row], row))
        assert rows <= groups[tree.parents[group]]
    assert groups[-1] == set(range(len(core)))
    assert (np.diff(tree.bits[tree.ranking]) <= 0).all()
    return wanted


@given(TABLES)
@settings(max_examples=60)
def test_groups_and_their_bits_are_those_of_plain_single_linkage(X):
    check_tree(X)


def test_parts_that_no_neighbours_connect_merge_at_the_longest_link():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1.0, (15, 2)) for place in (0.0, 50.0, 90.0)])
    X[:15] *= 0.1  # tight beside the longest link, which is in another part
    parts = [frozenset(range(start, start + 15)) for start in (0, 15, 30)]
    graph = neighbor_graph(X, 10)
    spans = literal.single_linkage(graph.distances, graph.indices)
    longest = max(spans[part][0] for part in parts)
    assert [spans[part][1] for part in parts] == [longest] * 3
    assert parts[0] in check_tree(X)


@pytest.mark.parametrize("seed", range(3))
def test_compiled_loops_give_the_same_tree(seed, monkeypatch):
    graph = neighbor_graph(mixed_table(seed, 200, 2), 10)
    plain = group_tree(graph)
    monkeypatch.setattr(merging, "_FEW_ROWS", 0)
    for one, other in zip(plain, group_tree(graph), strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


# --- doubts ------------------------------------------------------------------------------------

_RNG = np.random.default_rng(0)
# A common category, a tight group, and another one that is known from the second answer on.
TWO_GROUPS = np.concatenate(
    [
        _RNG.normal(size=(60, 2)),
        _RNG.normal((6, 6), 0.01, (8, 2)),
        _RNG.normal((-6, 6), 0.01, (8, 2)),
    ]
)
FIRST_ANSWERS = [Answer(0, "common"), Answer(70, "other")]


def labels_of_first_group(labels):
    """Give these labels to rows of the first group; return how many of them are asked for."""
    asker, left = observed(TWO_GROUPS, FIRST_ANSWERS), list(labels)
    for _ in range(20):
        question = asker.propose()
        label = "common"
        if is_group(question) and question.row in range(60, 68):
            label = left.pop(0)
        asker.observe(Answer(question.row, label))
    return len(labels) - len(left)


@pytest.mark.parametrize(
    ("labels", "n_asked"),
    [
        (["rare", "rare"], 1),  # a new category contradicts nothing
        (["common", "rare"], 1),  # the nearest row asked before is the first
        ([None, "rare"], 1),
        (["other", "other", "rare"], 2),  # the second label agrees with the first
        (["other", "rare", "rare"], 2),
        (["other", None, "rare"], 2),
        (["other", "common", "common", "rare"], 3),
    ],
)
def test_a_group_stays_open_until_its_labels_do_not_contradict_others(labels, n_asked):
    assert labels_of_first_group(labels) == n_asked


def test_the_second_row_of_a_doubted_group_is_the_densest_one_left():
    graph = neighbor_graph(TWO_GROUPS, 10)
    core = np.array(literal.core_distances(graph.distances))
    first, second = 60 + np.argsort(core[60:68])[:2]
    asker = observed(TWO_GROUPS, [*FIRST_ANSWERS, Answer(int(first), "other")])
    while not is_group(question := asker.propose()):
        asker.observe(Answer(question.row, "common"))
    assert question.row == second
    assert question.members.tolist() == list(range(60, 68))


def test_a_label_that_was_not_asked_for_closes_a_group_even_if_it_contradicts_others():
    asker = observed(TWO_GROUPS, [*FIRST_ANSWERS, Answer(60, "other", is_asked=False)])
    for _ in range(20):
        question = asker.propose()
        assert not is_group(question) or question.row < 60
        asker.observe(Answer(question.row, "common"))
