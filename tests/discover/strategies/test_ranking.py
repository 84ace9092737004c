"""Ranking: the best by bounds are the best of all, and costly scores are computed of few rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.discover.strategies import ranking
from kernova.discover.strategies.ranking import MOST_SCORED, best_by_bound, best_rows


def literal_best(scores, rows, n):
    """The rows in the order of their scores, from the highest on; of ties the first row first."""
    places = sorted(range(len(rows)), key=lambda place: (-scores[place], rows[place]))
    return [int(rows[place]) for place in places[:n]]


class Scores:
    """Scores that record for which places they were asked."""

    def __init__(self, values):
        self.values, self.asked = values, []

    def __call__(self, places):
        assert np.array_equal(places, np.unique(places))
        self.asked.append(places)
        return self.values[places]

    @property
    def n_asked(self):
        return max(map(len, self.asked))


@given(
    st.lists(st.integers(-3, 3).map(float) | st.just(-np.inf), min_size=1, max_size=30),
    st.integers(1, 40),
    st.integers(0, 10**6),
)
def test_the_best_rows_are_those_of_a_plain_sort(scores, n, seed):
    rows = np.sort(np.random.default_rng(seed).choice(100, len(scores), replace=False))
    assert best_rows(np.array(scores), rows, n).tolist() == literal_best(scores, rows, n)


@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.integers(1, 12),
    st.sampled_from([0, 1, 8]),
    st.sampled_from(["far", "near", "tight", "one for all"]),
)
def test_the_best_by_bounds_are_those_of_all_scores(seed, n_rows, n, digits, kind):
    """Few digits make ties, of scores and of bounds; ties across the rows scored first included."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(2 * n_rows, n_rows, replace=False))
    scores = rng.normal(size=n_rows).round(digits)
    slack = {"far": 3.0, "near": 0.3, "tight": 0.0, "one for all": 0.0}[kind]
    bounds = scores + (slack * rng.random(n_rows)).round(digits)
    if kind == "one for all":
        bounds = np.full(n_rows, scores.max())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_FIRST_SCORED", 4)
        found = best_by_bound(bounds, rows, lambda some: scores[some], n)
    assert found.tolist() == literal_best(scores, rows, n)


def test_a_tied_row_is_not_missed_because_its_bound_is_lower(monkeypatch):
    monkeypatch.setattr(ranking, "_FIRST_SCORED", 2)
    scores, bounds = np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 3.0])
    assert best_by_bound(bounds, np.arange(3), lambda some: scores[some], 1).tolist() == [1]


def test_few_scores_are_computed_where_bounds_are_tight():
    scores = np.random.default_rng(0).normal(size=5000)
    counted = Scores(scores)
    found = best_by_bound(scores + 0.01, np.arange(5000), counted, 6)
    assert found.tolist() == literal_best(scores, np.arange(5000), 6)
    assert counted.n_asked == 256


def test_more_scores_are_computed_until_no_bound_is_higher():
    scores = np.random.default_rng(1).normal(size=5000)
    bounds = scores.copy()
    bounds[np.argsort(scores)[:1020]] += 10.0  # so many low rows look good
    counted = Scores(scores)
    found = best_by_bound(bounds, np.arange(5000), counted, 6)
    assert found.tolist() == literal_best(scores, np.arange(5000), 6)
    assert [len(places) for places in counted.asked] == [256, 1024, 4096]


def test_of_more_rows_than_the_most_those_with_the_highest_bounds_are_ranked():
    n_rows = MOST_SCORED + 100
    bounds = np.ones(n_rows)
    bounds[:50] = 0.9  # the only ones that are not ranked, beside the last 50 tied ones
    scores = np.zeros(n_rows)
    scores[[3, 60, n_rows - 51, n_rows - 50]] = [0.8, 0.5, 0.7, 0.75]
    counted = Scores(scores)
    found = best_by_bound(bounds, np.arange(n_rows), counted, 3)
    assert MOST_SCORED == 65_536
    assert counted.n_asked == MOST_SCORED
    assert found.tolist() == [n_rows - 51, 60, 50]


def test_just_as_many_rows_as_the_most_are_all_ranked():
    scores = np.zeros(MOST_SCORED)
    scores[[-1, 5]] = [0.7, 0.6]
    bounds = np.ones(MOST_SCORED)
    bounds[-1] = 0.7
    assert best_by_bound(bounds, np.arange(MOST_SCORED), Scores(scores), 3).tolist() == [
        MOST_SCORED - 1,
        5,
        0,
    ]
