"""Questions of the novelty-groups strategy: against a literal version, and on plain tables."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer, observe_answers
from kernova.discover.simulation import simulate
from kernova.discover.strategies.novelty_groups import NoveltyGroupsStrategy
from tests.discover.strategies.novelty_groups.tables import (
    TABLES,
    as_values,
    asker_for,
    is_group,
    mixed_table,
    observed,
    random_answers,
    several_groups,
)
from tests.oracles import novelty_groups as literal

# Margins are rounded to nine digits; log(1.1 - m) makes up to ten times as much of that.
ROUNDED = 1e-8


def check_question(question, way, candidates, bits, inverse):
    """Check that a question is the best of those that may be asked, up to rounding."""
    assert is_group(question) is (way == "group")
    own = [one for one in candidates if one.row == question.row]
    if way == "group":
        group = frozenset(inverse[question.members].tolist())
        own = [one for one in own if one.group == group]
        assert question.members.tolist() == np.flatnonzero(np.isin(inverse, list(group))).tolist()
        assert question.evidence["group_bits"] == pytest.approx(bits[group], rel=1e-9)
    assert own[0].score >= max(one.score for one in candidates) - ROUNDED


def check_run(X, seed, n_labels, standardize="none", most=25, n_experts=1):
    """Check each question of a run against the literal best; return how often each way asked.

    Some rows are labelled besides that were not asked, and labels are random, so that many of them
    contradict others.
    """
    rng = np.random.default_rng(seed)
    table = Preparation(X)
    graph, Z = table.neighbors(standardize, 10), table.rows(standardize)
    bits = literal.group_bits(graph.distances, graph.indices)
    asker = NoveltyGroupsStrategy(standardize).start(table)
    answers, ways = [], Counter()
    while len(answers) < min(most, len(X)):
        besides = []
        for _ in range(n_experts):
            question = asker.propose(besides)
            if question is None:
                assert len(answers) + len(besides) == len(X)
                break
            if answers or besides:
                way, candidates = literal.next_candidates(Z, graph, bits, answers, besides)
                check_question(question, way, candidates, bits, graph.inverse)
                ways[way] += 1
            besides.append(question.row)
        left = sorted(set(range(len(X))) - {one.row for one in answers} - {besides[0]})
        others = rng.permutation(left)[: int(rng.random() < 0.2)]
        new = random_answers(rng, [besides[0], *others.astype(int)], n_labels)
        new[0] = new[0]._replace(is_asked=True)
        for one in new:
            asker.observe(one)
        answers += new
    return ways


@given(TABLES, st.integers(0, 10**6), st.integers(1, 4))
@settings(max_examples=40)
def test_every_question_is_the_best_by_a_literal_count(X, seed, n_labels):
    check_run(X, seed, n_labels)


@pytest.mark.parametrize("standardize", ["none", "half-sphere", "zscore"])
def test_every_way_of_asking_is_checked_under_a_learned_metric(standardize):
    rng = np.random.default_rng(0)
    tight = [rng.normal(place, 0.02, (6, 3)) for place in (1.0, -2.0, 2.5)]
    X = np.concatenate([rng.normal(size=(40, 3)) * [3.0, 1.0, 0.3], *tight])
    ways = check_run(X, 0, 4, standardize, most=40)
    assert min(ways[way] for way in ("novel", "group", "dense")) > 0


@pytest.mark.parametrize("seed", range(4))
def test_among_many_groups_the_best_is_asked(seed):
    X = several_groups(np.random.default_rng(seed), 12)
    assert check_run(X, seed, 3, most=30)["group"] >= 6


@pytest.mark.parametrize("seed", range(4))
def test_with_several_experts_each_question_is_the_best_of_those_left(seed):
    check_run(mixed_table(seed, 40, 2), seed, 3, most=10, n_experts=3)
    check_run(several_groups(np.random.default_rng(seed)), seed, 3, most=10, n_experts=3)


def test_unasked_labels_change_novelty_but_not_the_turn():
    X = np.concatenate([np.arange(0.0, 60.0, 3.0), [100.0, 100.1, 100.2, 200.0, 200.1, 200.2]])
    asker = asker_for(X[:, None])
    asker.observe(Answer(asker.propose().row, "common"))
    first = asker.propose()
    assert is_group(first)
    asker.observe(Answer(first.row, "rare", is_asked=False))  # out of turn
    second = asker.propose()
    assert is_group(second)
    assert not set(first.members) & set(second.members)
    asker.observe(Answer(second.row, "told twice"))
    third = asker.propose()
    assert not is_group(third)
    asker.observe(Answer(second.row, "told again"))
    assert asker.propose() is third


# --- many answers, copies, many experts --------------------------------------------------------


@given(TABLES, st.integers(0, 10**6), st.integers(0, 60))
@settings(max_examples=50)
def test_many_answers_at_once_are_the_same_as_one_by_one(X, seed, n_answers):
    rng = np.random.default_rng(seed)
    answers = random_answers(rng, rng.integers(len(X), size=n_answers), 3)
    single, together = asker_for(X), asker_for(X)
    for answer in answers:
        single.observe(answer)
    observe_answers(together, answers[: n_answers // 2])
    observe_answers(together, answers[n_answers // 2 :])
    for _ in range(3):
        question = single.propose()
        found = together.propose()
        assert (question is None) == (found is None)
        if question is None:
            break
        assert found.evidence == pytest.approx(question.evidence, rel=1e-9)
        assert as_values(found)[:3] == as_values(question)[:3]
        assert found.alternatives == question.alternatives
        for asker in (single, together):
            asker.observe(Answer(question.row, "kind 1"))


def check_same_questions(one, other, seed, n_questions=15):
    """Check that two askers ask the same, alone and for two experts, of random answers."""
    rng = np.random.default_rng(seed)
    for _ in range(n_questions):
        question = one.propose()
        assert as_values(question) == as_values(other.propose())
        besides = [question.row]
        assert as_values(one.propose(besides)) == as_values(other.propose(besides))
        (answer,) = random_answers(rng, besides, 3, asked=1.0)
        for asker in (one, other):
            asker.observe(answer)


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_does_not_follow_the_asker(seed):
    rng = np.random.default_rng(seed)
    X = several_groups(rng)
    answers = random_answers(rng, rng.permutation(len(X))[:10], 3)
    asker, fresh = observed(X, answers), observed(X, answers)
    copied = asker.copy()
    check_same_questions(asker, asker.copy(), seed + 1)
    check_same_questions(copied, fresh, seed)


@pytest.mark.parametrize("seed", range(4))
def test_an_asker_can_be_revised(seed, monkeypatch):
    monkeypatch.setattr("kernova.discover.strategies.novelty._MOST_REVISED", 1.0)
    rng = np.random.default_rng(seed)
    X = np.concatenate([mixed_table(seed, 200, 2), several_groups(rng, 20)])
    answers = random_answers(rng, rng.permutation(len(X))[:160], 9, asked=0.9)
    asker = observed(X, answers)
    # The metric is learnt from the first 64 labels, which are the same.
    others = [one for one in answers if rng.random() > 0.02 or one in answers[:80]]
    others[100:] = [
        one._replace(label="kind 3" if rng.random() < 0.05 else one.label) for one in others[100:]
    ]
    assert others != answers
    revised, fresh = asker.revised(others), observed(X, others)
    check_same_questions(revised.copy(), fresh.copy(), seed)
    check_same_questions(revised, fresh, seed + 1)


def test_an_asker_is_not_revised_where_a_fresh_one_is_as_fast():
    rng = np.random.default_rng(0)
    answers = random_answers(rng, np.arange(80), 5)
    asker = observed(rng.normal(size=(90, 2)), answers)
    assert asker.revised([one._replace(label="all others") for one in answers]) is None


def test_experts_are_asked_about_different_groups_and_alone_about_the_first():
    rng = np.random.default_rng(3)
    places = [(6, 6), (-6, 6), (6, -6)]
    X = np.concatenate(
        [rng.normal(size=(60, 2)), *(rng.normal(one, 0.01, (8, 2)) for one in places)]
    )
    asker = observed(X, [Answer(0, "common")])
    alone = as_values(asker.propose())
    groups, besides = [], []
    for _ in range(3):
        question = asker.propose(np.array(besides, dtype=np.intp))
        groups.append((question.row - 60) // 8)
        # As in a session: the rows of their questions, then of their clusters.
        besides = [question.row, *besides, *question.members.tolist()]
    assert sorted(groups) == [0, 1, 2]
    assert as_values(asker.propose()) == alone
    assert asker.propose(range(len(X))) is None


def test_a_group_whose_densest_row_is_open_elsewhere_is_left_to_others_however_many_there_are():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(80, 2)), *(rng.normal(x, 0.01, (8, 2)) for x in (6, -6))])
    asker = observed(X, [Answer(79, "common")])
    first = asker.propose()
    second = asker.propose([*range(70), first.row])
    assert is_group(first)
    assert is_group(second)
    assert (first.row < 88) is not (second.row < 88)
    assert min(first.row, second.row) >= 80


# --- whole tables ------------------------------------------------------------------------------


@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(1, 4),
    st.sampled_from([1e-150, 1.0, 1e150]),
)
@settings(max_examples=40)
def test_any_table_is_asked_to_the_end_with_finite_numbers(seed, n_rows, n_columns, scale):
    X = mixed_table(seed, n_rows, n_columns) * scale
    answers = np.random.default_rng(seed).choice(np.array(["a", "b", None]), n_rows)
    columns = [f"column {number}" for number in range(n_columns)]
    asker = NoveltyGroupsStrategy().start(Preparation(X, columns=columns))
    rows = []
    while (question := asker.propose()) is not None:
        rows.append(question.row)
        assert question.row in question.members
        assert np.isfinite(list(question.evidence.values())).all()
        assert "nan" not in question.reason
        assert len(re.findall(r"\.(?= |$)", question.reason)) in (1, 2)
        asker.observe(Answer(question.row, answers[question.row]))
    assert sorted(rows) == list(range(n_rows))


@pytest.mark.parametrize("seed", range(3))
def test_a_dense_group_in_the_bulk_and_a_far_isolated_one_are_found_early(seed):
    rng = np.random.default_rng(seed)
    bulk, dense = rng.normal(0, 1, (800, 3)), rng.normal(0.3, 0.02, (12, 3))
    X = np.concatenate([bulk, dense, rng.normal(20, 1, (3, 3))])
    labels = np.repeat(["common", "dense", "isolated"], [800, 12, 3])
    assert simulate(X, labels, "novelty-groups").questions_to_all <= 5


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_several_sizes_in_the_bulk_are_found_early(seed):
    rng = np.random.default_rng(seed)
    sizes = [900, 5, 8, 12, 18, 25]
    groups = [rng.normal(rng.normal(size=3), 0.03, (size, 3)) for size in sizes[1:]]
    X = np.concatenate([rng.normal(size=(900, 3)), *groups])
    labels = np.repeat([f"category {size}" for size in sizes], sizes)
    assert simulate(X, labels, "novelty-groups").questions_to_all <= 15
