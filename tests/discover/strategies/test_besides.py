"""What a strategy asks when other experts have some rows before them."""

import numpy as np
import pytest

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.strategies import STRATEGIES, strategy_named

RNG = np.random.default_rng(5)
X = np.concatenate([RNG.normal(0, 1, (40, 2)), RNG.normal(6, 0.3, (10, 2)), np.ones((3, 2))])
LABELS = ["bulk"] * 40 + ["rare"] * 10 + ["copies"] * 3


@pytest.fixture(scope="module")
def preparation():
    return Preparation(X)


def told(name, preparation, n_answers):
    asker = strategy_named(name).start(preparation)
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
def test_rows_elsewhere_are_not_proposed_and_nothing_is_remembered(name, preparation, n_answers):
    asker, alone = (told(name, preparation, n_answers) for _ in range(2))
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
def test_when_all_open_rows_are_elsewhere_there_is_nothing_to_ask(name):
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
def test_what_heeds_no_answer_goes_on_down_its_order(name, preparation):
    order = strategy_named(name).first_rows(preparation, 6).tolist()
    asker = strategy_named(name).start(preparation)
    assert [asker.propose(besides=order[:n]).row for n in range(6)] == order


def test_the_default_sends_experts_apart(preparation):
    asker = told("strangers-and-crowds", preparation, 2)
    first = asker.propose()
    second = asker.propose(besides=[first.row])
    third = asker.propose(besides=[first.row, second.row])
    assert len({LABELS[one.row] for one in (first, second, third)}) > 1
    Z = preparation.rows("half-sphere")
    gap = np.linalg.norm(Z[second.row] - Z[first.row])
    assert second.evidence["novelty"] <= gap


def test_before_any_answer_the_second_expert_looks_far_from_the_first(preparation):
    asker = told("strangers-and-crowds", preparation, 0)
    first = asker.propose()
    second = asker.propose(besides=[first.row])
    assert LABELS[first.row] != LABELS[second.row]
    assert second.reason == (
        "Nothing was named yet, and it lies far from the rows that others look at."
    )
