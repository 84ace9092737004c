"""Runs and their measures: against literal counts."""

import numpy as np
import pytest

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Question
from kernova.discover.strategies import strategy_named
from kernova.proving.runs import (
    RANDOM_ORDERS,
    Measures,
    continued_at_random,
    course_of_run,
    enough_of,
    measured_run,
    random_course,
    random_measures,
)


class InOrder:
    """A fixed order: the rows of the table from the first to the last."""

    name = "in-order"

    def first_rows(self, preparation, n):
        return np.arange(min(n, preparation.n_rows))


class OneByOne:
    """The same order from an asker, which remembers what it observed."""

    name = "one-by-one"

    def __init__(self):
        self.observed = []

    def start(self, preparation):
        return self

    def propose(self):
        row = len(self.observed)
        return Question(row, np.array([row]), "It is next.")

    def observe(self, answer):
        self.observed.append((answer.row, answer.label))


@pytest.fixture
def labels():
    return np.array(list("aabac") + ["a"] * 15)


@pytest.fixture
def table(labels):
    return Preparation(np.arange(float(len(labels)))[:, None], random_state=3)


@pytest.mark.parametrize("strategy", [InOrder(), OneByOne()], ids=["fixed", "asker"])
def test_measures_are_those_counted_by_hand(table, labels, strategy):
    course = course_of_run(table, labels, strategy)
    assert course.meetings == (1.0, 3.0, 5.0)
    # Two questions with one of three categories, two with two, and 196 with all.
    area = (2 * 1 + 2 * 2 + 196 * 3) / 3 / 200
    assert course.measures == Measures(5.0, 5.0, pytest.approx(area), True)
    assert measured_run(table, labels, strategy if strategy.name == "in-order" else OneByOne()) == (
        course.measures
    )


@pytest.mark.parametrize(("n", "enough"), [(1, 1), (3, 3), (9, 9), (10, 9), (11, 10), (20, 18)])
def test_ninety_percent_of_the_categories(n, enough):
    assert enough_of(n) == enough


def test_ninety_percent_come_before_all():
    labels = np.array([str(min(row, 9)) for row in range(30)])
    labels[[9, 29]] = labels[[29, 9]]
    labels[9:29] = "0"
    labels[29] = "9"
    course = course_of_run(Preparation(np.zeros((30, 1))), labels, InOrder())
    assert course.measures[:2] == (30.0, 9.0)


@pytest.mark.parametrize("strategy", [InOrder(), OneByOne()], ids=["fixed", "asker"])
def test_a_run_goes_on_at_random(table, strategy):
    from kernova.discover.simulation import simulate

    apart = np.arange(table.n_rows)
    asked = simulate(table, apart, continued_at_random(strategy, 4)).asked.tolist()
    assert asked[:4] == [0, 1, 2, 3]
    assert sorted(asked) == list(range(table.n_rows))
    assert asked[4:] != sorted(asked[4:])
    if isinstance(strategy, OneByOne):
        assert len(strategy.observed) == 4


def test_a_category_that_is_never_met_counts_all_rows(table):
    labels = np.array(["a"] * 19 + ["b"])
    runs = [
        course_of_run(Preparation(table.X, random_state=seed), labels, InOrder(), error_rate=0.6)
        for seed in range(12)
    ]
    never = [run for run in runs if not run.measures.is_complete]
    assert 0 < len(never) < 12
    assert {run.meetings[-1] for run in runs} == {20.0}
    assert {run.measures.questions for run in never} == {20.0}


# --- random sampling -------------------------------------------------------------------------


def literal_random(labels, seed, error_rate):
    """Return counts and area of each order, counted row by row."""
    random = np.random.default_rng([seed, 2])
    courses = []
    for _ in range(RANDOM_ORDERS):
        places = random.permutation(len(labels))
        is_wrong = random.random(len(labels)) < error_rate if error_rate else places < 0
        met, course = set(), []
        for question in range(len(labels)):
            row = int(np.flatnonzero(places == question)[0])
            if not is_wrong[row] and labels[row] not in met:
                met.add(labels[row])
                course.append(question + 1)
        courses.append(course)
    return courses


@pytest.mark.parametrize("error_rate", [0.0, 0.3])
def test_random_sampling_agrees_with_counting(error_rate):
    labels = np.array(["a"] * 20 + ["b"] * 5 + ["c"] * 2)
    courses = literal_random(labels, 7, error_rate)
    n_rows, n_categories = len(labels), 3
    filled = np.array([[*course, *[n_rows] * (n_categories - len(course))] for course in courses])
    areas = [
        sum(sum(first <= question for first in course) for question in range(1, 201))
        / (200 * n_categories)
        for course in courses
    ]
    found = random_course(labels, 7, error_rate=error_rate)
    assert found.meetings == pytest.approx(np.exp(np.log(filled).mean(axis=0)))
    assert found.measures.area == pytest.approx(np.mean(areas))
    assert found.measures.is_complete == all(len(course) == 3 for course in courses)
    assert found.measures.questions == found.meetings[-1]


def test_random_sampling_depends_on_the_seed_alone():
    labels = np.array(["a"] * 20 + ["b"] * 5)
    assert random_measures(labels, 1) == random_measures(labels, 1)
    assert random_measures(labels, 1) != random_measures(labels, 2)


def test_random_sampling_agrees_with_single_runs_on_average(labels):
    X = np.arange(float(len(labels)))[:, None]
    single = [
        measured_run(Preparation(X, random_state=seed), labels, strategy_named("random")).questions
        for seed in range(300)
    ]
    mean = np.exp(np.log(single).mean())
    assert mean == pytest.approx(random_measures(labels, 0).questions, rel=0.1)
