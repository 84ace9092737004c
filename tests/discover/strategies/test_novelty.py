"""Novelty of rows: the metric that answers teach, on tables of few and of many columns."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kernova.discover.questions import Answer
from kernova.discover.strategies import novelty
from kernova.discover.strategies.novelty import RowNovelty, in_learned_metric, noted_answers
from kernova.discover.strategies.spacing import spacing_of


@pytest.mark.parametrize("n_columns", [3, 40])
def test_many_axes_are_scaled_as_few_ones_up_to_a_rotation(n_columns, monkeypatch):
    Z = np.random.default_rng(0).normal(size=(60, n_columns)) * np.arange(1, n_columns + 1)
    rows, labels = np.arange(25), [str(row % 4) for row in range(25)]
    usual = in_learned_metric(Z, rows, labels)
    monkeypatch.setattr(novelty, "_MANY_AXES", 2)
    np.testing.assert_allclose(pdist(in_learned_metric(Z, rows, labels)), pdist(usual), rtol=1e-9)


@pytest.mark.parametrize("most", [2, 300])
def test_categories_that_do_not_vary_teach_no_metric(most, monkeypatch):
    monkeypatch.setattr(novelty, "_MANY_AXES", most)
    Z = np.eye(4)
    assert in_learned_metric(Z, np.arange(3), ["a", "b", "c"]) is None
    assert in_learned_metric(np.zeros((4, 4)), np.arange(3), ["a", "a", "b"]) is None


def test_the_metric_is_not_learnt_where_measuring_again_takes_long(monkeypatch):
    Z = np.random.default_rng(1).normal(size=(80, 2)) * [1, 9]
    answers = [Answer(row, "ab"[row % 2]) for row in range(40)]

    def learned():
        values = RowNovelty(spacing_of(Z))
        values.lower(values.note(answers))
        return values.rows is not values._spacing.rows

    assert learned()
    monkeypatch.setattr(novelty, "_MOST_MEASURED_AGAIN", 80 * 15)
    assert not learned()


def test_answers_are_noted_as_they_come():
    answers = [Answer(0, "a"), Answer(1, None), Answer(2, "a"), Answer(3, "b", is_asked=False)]
    assert [one.is_new for one in noted_answers(answers)] == [True, False, False, True]
    values = RowNovelty(spacing_of(np.arange(5.0)[:, None]))
    assert values.note([*answers, Answer(2, "b")]) == list(noted_answers(answers))
    assert values.counts == {"a": 2, "b": 1}
