"""Labels that look wrong: by hand, and against labels that were changed on purpose."""

import numpy as np
import pytest

from kernova.workbench.review.doubts import doubts_about

RANKING = np.array([[0, 1, 2]] * 6)


def doubts(labels, p, by_hand=True):
    p, labels = np.array(p, dtype=float), np.array(labels)
    order = np.argsort(-p, axis=1, kind="stable")
    chosen = np.full(len(labels), by_hand)
    return doubts_about(labels, order, np.take_along_axis(p, order, axis=1), chosen)


def test_a_label_looks_wrong_where_the_model_is_as_sure_as_usual_of_another():
    labels = [0, 0, 0, 1, 1, 1]
    p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9], [0.45, 0.55], [0.52, 0.48]]
    # Usual probabilities: (.9 + .8 + .3) / 3 = .67 for the first, .64 for the second.
    found = doubts(labels, p)
    assert found.looks_wrong.tolist() == [False, False, True, False, False, False]
    assert found.other[2] == 1
    assert found.disagreement[5] == pytest.approx(0.04)


def test_rows_without_label_or_judgement_are_not_doubted():
    found = doubts([-1, 0, 0], [[0.2, 0.8], [0.0, 0.0], [0.9, 0.1]])
    assert not found.looks_wrong.any()
    assert np.isnan(found.disagreement).tolist() == [True, True, False]


def test_accepted_rows_are_judged_but_do_not_say_how_sure_the_model_is():
    labels = np.array([0, 0, 1, 1])
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2], [0.05, 0.95]])
    order = np.argsort(-p, axis=1, kind="stable")
    ranked = np.take_along_axis(p, order, axis=1)
    by_hand = np.array([True, True, False, True])
    found = doubts_about(labels, order, ranked, by_hand)
    assert found.looks_wrong.tolist() == [False, False, True, False]


def test_a_rival_that_is_gone_is_none():
    labels, ranking = np.array([0, 0]), np.array([[-1, 0], [0, -1]])
    found = doubts_about(labels, ranking, np.array([[0.9, 0.1], [0.9, 0.1]]), labels >= 0)
    assert not found.looks_wrong.any()
    assert (found.other == -1).all()


def test_exchanged_labels_are_found_among_random_ones():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=600)
    p = np.full((600, 3), 0.1)
    p[np.arange(600), truth] = 0.8
    p = p + rng.normal(scale=0.05, size=p.shape).clip(-0.1, 0.1)
    p /= p.sum(axis=1, keepdims=True)
    labels = truth.copy()
    wrong = rng.choice(600, 30, replace=False)
    labels[wrong] = (labels[wrong] + 1) % 3
    found = doubts(labels, p)
    first = np.argsort(-found.disagreement, kind="stable")[:30]
    assert set(first.tolist()) == set(wrong.tolist())
    # As sure as usual of another category is what most rows of that category are.
    assert found.looks_wrong[wrong].mean() > 0.3
    assert not found.looks_wrong[np.setdiff1d(np.arange(600), wrong)].any()
