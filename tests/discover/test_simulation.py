"""The simulated expert: curves by literal counting, errors, limits, one hierarchy for many runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer, Question
from kernova.discover.simulation import Simulation, simulate
from kernova.discover.strategies import STRATEGIES
from kernova.discover.strategies.hierarchical import HierarchyOrder
from kernova.discover.strategies.random import RandomOrder
from kernova.errors import InputError
from tests.discover import messages


class InTurn:
    """Ask the rows as they come, through the loop of question and answer; remember the answers."""

    name = "in turn"

    def start(self, preparation):
        self.answers = []
        self.n_rows = preparation.n_rows
        return self

    def propose(self):
        row = len(self.answers)
        if row == self.n_rows:
            return None
        return Question(row, np.array([row]), "It comes next.")

    def observe(self, answer):
        self.answers.append(answer)


class InTurnFixed:
    name = "in turn"

    def start(self, preparation):
        raise AssertionError("a fixed order needs no asker")

    def first_rows(self, preparation, n):
        return np.arange(min(n, preparation.n_rows))


def table(labels):
    return Preparation(np.arange(2.0 * len(labels)).reshape(-1, 2))


@settings(deadline=None)
@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.integers(0, 50),
    st.one_of(st.none(), st.integers(1, 40)),
)
def test_both_ways_of_running_agree_with_a_literal_count(labels, error_rate, seed, limit):
    strategy = InTurn()
    options = {"error_rate": error_rate, "random_state": seed, "max_questions": limit}
    result = simulate(table(labels), labels, strategy, **options)
    seen, curve = set(), []
    for answer in strategy.answers:
        if answer.label == labels[answer.row]:
            seen.add(answer.label)
        curve.append(len(seen))
        assert answer.label in set(labels)
    n_classes = len(set(labels))
    assert result.classes_seen.tolist() == curve
    assert result.asked.tolist() == list(range(len(curve)))
    assert result.n_classes == n_classes
    is_done = curve[-1] == n_classes
    assert result.questions_to_all == (len(curve) if is_done else None)
    if is_done:
        assert n_classes not in curve[:-1]
    else:
        assert len(curve) == min(len(labels), limit or len(labels))
    mean = np.mean([curve[min(question, len(curve) - 1)] for question in range(200)])
    assert result.area == pytest.approx(mean / n_classes)

    fixed = simulate(table(labels), labels, InTurnFixed(), **options)
    assert fixed.asked.tolist() == result.asked.tolist()
    assert fixed.classes_seen.tolist() == result.classes_seen.tolist()


def test_errors_have_the_given_rate_and_are_never_the_correct_label():
    labels = np.repeat(["a", "b", "c"], 2000)
    strategy = InTurn()
    # The last class has no rightly named row before its own, so all rows up to it are asked.
    simulate(table(labels), labels, strategy, error_rate=0.2, random_state=1)
    said = np.array([answer.label for answer in strategy.answers[:4000]])
    wrong = said != labels[:4000]
    assert wrong.mean() == pytest.approx(0.2, abs=0.03)
    among = said[:2000][wrong[:2000]]
    assert set(among) == {"b", "c"}
    assert np.mean(among == "b") == pytest.approx(0.5, abs=0.1)


def test_a_single_class_cannot_be_confused():
    assert simulate(table("aaa"), list("aaa"), InTurn(), error_rate=0.99).questions_to_all == 1


def test_the_curve_is_constant_after_the_end():
    run = Simulation("x", np.array([4, 2, 0]), np.array([1, 1, 2]), 2)
    assert run.curve(5).tolist() == [1, 1, 2, 2, 2]
    assert run.curve(2).tolist() == [1, 1]
    assert run.area == pytest.approx((2 * 0.5 + 198) / 200)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_finds_every_class_reproducibly(name):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(6, 0.3, (6, 2))])
    labels = np.repeat([7, 3], [50, 6])
    first = simulate(X, labels, name, random_state=5)
    assert first.strategy == name
    assert first.questions_to_all == len(first.asked) == len(set(first.asked.tolist()))
    again = simulate(Preparation(X, random_state=5), labels, name, random_state=5)
    assert again.asked.tolist() == first.asked.tolist()


def test_many_simulations_share_one_hierarchy(monkeypatch):
    from kernova.discover import preparation as module

    n_fits = []
    fit = module.HierarchicalMeanShift.fit
    monkeypatch.setattr(
        module.HierarchicalMeanShift, "fit", lambda self, X: n_fits.append(1) or fit(self, X)
    )
    rng = np.random.default_rng(0)
    shared = Preparation(rng.standard_normal((60, 2)))
    labels = rng.integers(0, 3, 60)
    for seed in range(20):
        for had in (False, True):
            simulate(shared, labels, HierarchyOrder(farthest=had), random_state=seed)
    assert len(n_fits) == 1


def test_the_seed_is_that_of_the_preparation_or_the_strategy():
    shared, labels = table(range(40)), np.arange(40)
    one = simulate(shared, labels, RandomOrder(), max_questions=10).asked.tolist()
    assert simulate(shared, labels, RandomOrder(0), max_questions=10).asked.tolist() == one
    assert simulate(shared, labels, RandomOrder(1), max_questions=10).asked.tolist() != one


BAD = [
    ({"labels": ["a"]}, messages.ONE_LABEL_PER_ROW),
    ({"error_rate": 1.0}, messages.BAD_ERROR_RATE.format(value=1.0)),
    ({"error_rate": -0.1}, messages.BAD_ERROR_RATE.format(value=-0.1)),
    ({"max_questions": 0}, messages.BAD_MAX_QUESTIONS),
    ({"X": [[1.0], [np.nan], [2.0]]}, "X must be a table of finite numbers. Input contains NaN."),
    ({"strategy": "guess"}, messages.NO_SUCH_STRATEGY.format(name="guess")),
]


@pytest.mark.parametrize(("change", "sentence"), BAD)
def test_bad_input_is_rejected(change, sentence):
    arguments = {"X": [[1.0], [2.0], [3.0]], "labels": list("abc"), **change}
    with pytest.raises(InputError) as caught:
        simulate(arguments.pop("X"), arguments.pop("labels"), **arguments)
    assert str(caught.value).startswith(sentence)


def test_answers_are_names():
    strategy = InTurn()
    simulate(table([10, 20]), [10, 20], strategy)
    assert strategy.answers == [Answer(0, "10"), Answer(1, "20")]
