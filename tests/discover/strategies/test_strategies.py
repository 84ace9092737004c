"""All strategies: the protocol of questions and answers, for one expert and for several."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES, strategy_named
from kernova.errors import InputError
from tests.discover import messages
from tests.discover.strategies.tables import asked_rows, groups


def test_the_default_is_one_of_the_strategies_and_names_are_their_own():
    assert DEFAULT_STRATEGY in STRATEGIES
    assert [strategy_named(name).name for name in STRATEGIES] == list(STRATEGIES)


def test_an_unknown_strategy_is_rejected():
    with pytest.raises(InputError) as caught:
        strategy_named("oracle")
    assert str(caught.value) == (messages.NO_SUCH_STRATEGY.format(name="oracle"))


@pytest.mark.parametrize("name", STRATEGIES)
def test_questions_are_complete_and_every_row_is_asked_once(name, preparation):
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
def test_tiny_tables_and_tables_of_duplicates(name, n_rows):
    for X in (np.arange(2.0 * n_rows).reshape(n_rows, 2), np.ones((n_rows, 2))):
        asker = strategy_named(name).start(Preparation(X))
        assert sorted(asked_rows(asker, ["a"] * n_rows)) == list(range(n_rows))


_RNG = np.random.default_rng(5)
X = np.concatenate([_RNG.normal(0, 1, (40, 2)), _RNG.normal(6, 0.3, (10, 2)), np.ones((3, 2))])
LABELS = ["bulk"] * 40 + ["rare"] * 10 + ["copies"] * 3


@pytest.fixture(scope="module")
def table():
    return Preparation(X)


def observed(name, table, n_answers):
    asker = strategy_named(name).start(table)
    for _ in range(n_answers):
        row = asker.propose().row
        asker.observe(Answer(row, LABELS[row]))
    return asker


def as_values(question):
    return (
        question.row,
        question.members.tolist(),
        question.reason,
        dict(question.evidence),
        question.alternatives,
    )


@pytest.mark.parametrize("n_answers", [0, 1, 7, 30])
@pytest.mark.parametrize("name", STRATEGIES)
def test_excluded_rows_are_not_proposed_and_not_remembered(name, table, n_answers):
    asker, alone = (observed(name, table, n_answers) for _ in range(2))
    asked = set()
    while len(asked) < 5:  # five experts at once
        question = asker.propose(besides=np.array(sorted(asked), dtype=np.intp))
        assert question.row not in asked
        assert question.row in question.members
        assert question.reason.endswith(".")
        assert "nan" not in question.reason
        assert all(np.isfinite(list(question.evidence.values())))
        again = asker.propose(besides=sorted(asked))
        assert as_values(again) == as_values(question)
        asked.add(question.row)
    assert as_values(asker.propose()) == as_values(alone.propose())
    for answer in (Answer(asker.propose().row, "bulk"), Answer(max(asked), None)):
        for one in (asker, alone):
            one.observe(answer)
        assert as_values(asker.propose()) == as_values(alone.propose())


@pytest.mark.parametrize("name", STRATEGIES)
def test_there_is_no_question_when_all_open_rows_are_excluded(name):
    few = Preparation(X[::5])
    asker, left = strategy_named(name).start(few), [1, 8, 9]
    for row in set(range(few.n_rows)) - set(left):
        asker.observe(Answer(row, LABELS[5 * row]))
    found = []
    for _ in range(3):
        found.append(asker.propose(besides=found).row)
    assert sorted(found) == left
    assert asker.propose(besides=found) is None
    assert asker.propose(besides=range(few.n_rows)) is None
    assert asker.propose() is not None


@pytest.mark.parametrize("name", ["hms-ci", "hms-out", "ms-interleave", "random"])
def test_a_fixed_order_continues_past_excluded_rows(name, table):
    order = strategy_named(name).first_rows(table, 6).tolist()
    asker = strategy_named(name).start(table)
    assert [asker.propose(besides=order[:n]).row for n in range(6)] == order


def test_the_default_sends_experts_to_different_regions(table):
    asker = observed(DEFAULT_STRATEGY, table, 1)
    first = asker.propose()
    second = asker.propose(besides=[first.row])
    third = asker.propose(besides=[first.row, second.row])
    assert len({LABELS[one.row] for one in (first, second, third)}) > 1
    Z = table.rows("half-sphere")
    gap = np.linalg.norm(Z[second.row] - Z[first.row])
    assert second.evidence["novelty"] <= gap


def test_before_any_answer_the_second_question_is_far_from_the_first(table):
    asker = observed(DEFAULT_STRATEGY, table, 0)
    first = asker.propose()
    second = asker.propose(besides=[first.row])
    assert LABELS[first.row] != LABELS[second.row]
    assert second.reason == (messages.FAR_FROM_OTHER_EXPERTS)
