"""Margins against plain classifiers, and turns against a plain count."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.discover.questions import Answer
from kernova.discover.strategies.novelty_groups.margins import Margins
from kernova.discover.strategies.novelty_groups.turns import Turns
from tests.discover.strategies.novelty_groups.tables import random_answers
from tests.oracles import novelty_groups as literal
from tests.oracles.description import linear_discriminant_log_probabilities


@pytest.mark.parametrize("n_labelled", [0, 1, 3, 25, 39, 40, 41, 42, 62, 63, 70])
def test_margins_are_those_of_logistic_regression(n_labelled):
    rng = np.random.default_rng(n_labelled)
    Z = rng.normal(size=(90, 3))
    answers = random_answers(rng, np.arange(90), 3)
    n_named = np.cumsum([one.label is not None for one in answers])
    answers = answers[: np.searchsorted(n_named, n_labelled) + 1]
    said, rows = [(one.row, one.label) for one in answers], np.arange(90)
    margins = Margins(Z)
    for n_answers in range(0, len(answers), 7):
        margins.of(rows, answers[:n_answers])  # what it was fitted to before makes no difference
    found = margins.of(rows, answers)
    np.testing.assert_allclose(found, literal.row_margins(Z, said, rows), rtol=0, atol=1e-9)
    assert Margins(Z).of(rows, answers).tolist() == found.tolist()
    probabilities = literal.row_probabilities(Z, said, [5])
    if probabilities is None:
        assert margins.likeliest(5, answers) is None
    else:
        names = sorted({label for _, label in literal.fitted_labels(said)})
        second, first = np.argsort(probabilities[0])[-2:]
        assert margins.likeliest(5, answers)[:2] == (names[first], names[second])


def test_of_many_labelled_rows_the_first_of_each_category_are_fitted():
    rng = np.random.default_rng(0)
    codes = rng.choice(4, 2400, p=[0.9, 0.06, 0.03, 0.01])
    Z = rng.normal(size=(2400, 2)) + codes[:, None]
    answers = [Answer(row, f"kind {code}") for row, code in enumerate(codes)]
    said = [(one.row, one.label) for one in answers]
    counts = Counter(label for _, label in literal.fitted_labels(said))
    assert counts.total() == 2000
    assert counts["kind 3"] == (codes[: literal.n_fitted(2400)] == 3).sum()
    wanted = literal.row_margins(Z, said, np.arange(100))
    found = Margins(Z).of(np.arange(100), answers)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def test_with_many_weights_margins_are_those_of_discriminant_analysis():
    rng = np.random.default_rng(1)
    n_rows, n_columns = literal.n_fitted(300), 140
    codes = np.arange(n_rows) % 145  # 20,300 weights
    Z = rng.normal(size=(n_rows, n_columns)) + 3 * rng.normal(size=(145, n_columns))[codes]
    answers = [Answer(row, f"kind {code:03}") for row, code in enumerate(codes)]
    between = (Z[:3] + Z[3:6]) / 2
    margins = Margins(np.concatenate([Z, between]))
    found = margins.of(np.arange(n_rows, n_rows + 3), answers)
    for margin, row in zip(found, between, strict=True):
        logs = linear_discriminant_log_probabilities(row, Z, codes, np.ones(n_rows))
        second, first = np.exp(np.sort(logs)[-2:])
        assert margin == pytest.approx(first - second, abs=1e-9)
    assert margins.likeliest(3, answers)[0] == "kind 003"


def test_of_more_categories_than_rows_that_are_fitted_the_first_are_known():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(2200, 11))  # enough columns for discriminant analysis
    answers = [Answer(row, f"kind {row:04}") for row in range(2200)]
    margins = Margins(Z)
    assert np.isfinite(margins.of(np.arange(2200), answers)).all()
    assert margins.likeliest(1999, answers)[0] == "kind 1999"


def test_where_all_rows_are_equal_nothing_is_sure():
    answers = [Answer(0, "a"), Answer(1, "b")]
    assert Margins(np.ones((3, 0))).of(np.arange(3), answers).tolist() == [0.0, 0.0, 0.0]
    assert Margins(np.ones((3, 2))).of(np.arange(3), answers).tolist() == [0.0, 0.0, 0.0]


# --- turns -------------------------------------------------------------------------------------


@given(st.lists(st.booleans(), max_size=60))
def test_turns_are_those_of_a_literal_count(news):
    turns = Turns(("novel", "group"))
    for place, is_new in enumerate(news):
        assert turns.current == literal.way_in_turn(news[:place])
        turns.record(is_new=is_new)
    assert turns.current == literal.way_in_turn(news)


def test_a_way_that_finds_more_asks_more_often_and_only_as_long_as_it_does():
    turns, taken = Turns(("novel", "group")), []
    for place in range(2200):
        taken.append(turns.current)
        turns.record(is_new=turns.current == "group" and place < 60)
    assert taken[:60].count("group") > 40
    assert 95 <= taken[2000:].count("group") <= 105  # what was found long ago is forgotten
