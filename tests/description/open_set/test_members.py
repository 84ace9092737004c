"""Members of the open-set classifier against their literal versions."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import DecisionTreeClassifier

from kernova.description.open_set.folds import shares, spread_out_rows
from kernova.description.open_set.kernel_ridge import (
    MOST_LANDMARKS,
    RidgeSettings,
    choose_ridge,
    fit_kernel_ridge,
    held_out_log_probabilities,
    left_out_log_probabilities,
)
from kernova.description.open_set.linear import discriminant, logistic, within_classes
from kernova.description.open_set.trees import grow_forest
from tests import oracles

SETTINGS = RidgeSettings(gamma=0.3, ridge=0.05, sharpness=4.0)


def three_classes(n, seed=0, n_columns=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    centers = np.array([[0.0, 0, 0], [2, 1, 0], [0, 3, 1]])[:, :n_columns]
    return centers[codes] + rng.normal(size=(n, n_columns)), codes, rng.uniform(0.5, 2, size=n)


def test_discriminant_is_the_literal_one():
    X, codes, weights = three_classes(25)
    new = np.random.default_rng(1).normal(size=(6, 3)) * 3
    within = within_classes(X, codes, weights, 3)
    log_priors = np.log(np.bincount(codes, weights) / weights.sum())
    found = discriminant(within, log_priors).log_probabilities(new)
    for row, log_p in zip(new, found, strict=True):
        expected = oracles.linear_discriminant_log_probabilities(row, X, codes, weights)
        np.testing.assert_allclose(log_p, expected, rtol=1e-9, atol=1e-9)


def test_logistic_regression_of_two_and_of_three_classes():
    X, codes, weights = three_classes(60)
    for n_classes in (1, 2, 3):
        inside = codes < n_classes
        member = logistic(X[inside], codes[inside], weights[inside], n_classes)
        log_p = member.log_probabilities(X[inside])
        assert log_p.shape == (inside.sum(), n_classes)
        np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1)
        assert np.mean(log_p.argmax(axis=1) == codes[inside]) > 0.7


def test_kernel_ridge_is_the_literal_one():
    X, codes, weights = three_classes(20)
    new = np.vstack([X[:2], np.random.default_rng(1).normal(size=(4, 3)) * 4])
    found = fit_kernel_ridge(X, codes, weights, 3, SETTINGS).log_probabilities(new)
    for row, log_p in zip(new, found, strict=True):
        scores = oracles.kernel_ridge_scores(row, X, codes, weights, 3, 0.3, 0.05)
        np.testing.assert_allclose(log_p, log_softmax(4 * scores), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_groups", [20, 7])
def test_left_out_scores_are_those_of_fits_without_the_group(n_groups):
    X, codes, weights = three_classes(20)
    weights = np.ones(20)  # the priors of all rows are kept, which weights would change
    groups = np.arange(20) % n_groups
    found = left_out_log_probabilities(X, codes, weights, 3, SETTINGS, groups)
    prior = np.eye(3)[codes].mean(axis=0)
    for i in range(20):
        others = groups != groups[i]
        own = np.eye(3)[codes[others]].mean(axis=0)
        scores = oracles.kernel_ridge_scores(
            X[i], X[others], codes[others], weights[others], 3, 0.3, 0.05
        )
        # The literal fit centres by the priors of the others.
        K = np.exp(-0.3 * ((X[others][:, None] - X[others]) ** 2).sum(axis=2))
        k = np.exp(-0.3 * ((X[i] - X[others]) ** 2).sum(axis=1))
        shift = (prior - own) * (1 - k @ np.linalg.inv(K + 0.05 * np.eye(len(K))).sum(axis=1))
        np.testing.assert_allclose(found[i], log_softmax(4 * (scores + shift)), atol=1e-9)


def test_sums_of_a_part_are_taken_from_those_of_all_rows(monkeypatch):
    X, codes, _ = three_classes(60)
    parts = np.arange(60) % 5
    module = "kernova.description.open_set.kernel_ridge.MOST_LANDMARKS"
    monkeypatch.setattr(module, 59)
    found = held_out_log_probabilities(X, codes, np.ones(60), 3, SETTINGS, parts)
    monkeypatch.setattr(module, MOST_LANDMARKS)
    exact = left_out_log_probabilities(X, codes, np.ones(60), 3, SETTINGS, parts)
    # One landmark is missing, and the priors are those of all rows in both.
    assert np.abs(np.exp(found) - np.exp(exact)).max() < 0.02


def test_width_and_ridge_follow_the_scale_of_the_classes():
    X, codes, _ = three_classes(90)
    fine = choose_ridge(X, codes, 3)
    coarse = choose_ridge(10 * X, codes, 3)
    assert coarse.gamma == pytest.approx(fine.gamma / 100)
    assert coarse.ridge == fine.ridge


def test_a_forest_judges_as_scikit_learns_does():
    X, codes, _ = three_classes(150)
    X[:40] = np.round(X[:40])  # copies, some with another class: leaves of several classes
    X[40:60] = X[:20]
    new = three_classes(50, seed=5)[0]
    ours = grow_forest("extra-trees", X, codes, np.ones(150), seed=3)
    theirs = ExtraTreesClassifier(100, random_state=0).fit(X, codes)
    difference = ours.probabilities(new) - theirs.predict_proba(new)
    assert np.abs(difference).mean() < 0.03  # other random numbers
    np.testing.assert_allclose(ours.probabilities(new).sum(axis=1), 1, rtol=1e-6)
    assert np.mean(ours.probabilities(X).argmax(axis=1) == codes) > 0.85


def test_the_nodes_of_a_forest_are_those_of_its_trees():
    X, codes, weights = three_classes(80)
    new = three_classes(40, seed=9)[0]
    forest = grow_forest("random-forest", X, codes, weights, seed=1)
    seeds = np.random.RandomState(1).randint(np.iinfo(np.int32).max, size=100)
    total = np.zeros((40, 3))
    for seed in seeds:
        rows = np.random.RandomState(seed).randint(80, size=80)
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(seed))
        tree.fit(X[rows].astype(np.float32), codes[rows], weights[rows])
        total[:, tree.classes_] += tree.predict_proba(new.astype(np.float32))
    np.testing.assert_allclose(forest.probabilities(new), total / 100, atol=1e-6)


def test_numbers_beyond_32_bits_are_judged():
    X, codes, weights = three_classes(30)
    forest = grow_forest("extra-trees", X * 1e300, codes, weights, seed=0)
    assert np.isfinite(forest.probabilities(np.array([[1e308, -1e308, 0.0]]))).all()


def test_few_rows_of_very_many_are_spread_over_the_classes():
    codes = np.repeat([0, 1, 2], [1000, 30, 4])
    kept = spread_out_rows(codes, 100)
    assert np.bincount(codes[kept]).tolist() == [66, 30, 4]
    assert shares(np.array([5, 0, 5]), 4).tolist() == [2, 0, 2]
    assert spread_out_rows(codes, 5000).tolist() == list(range(1034))
