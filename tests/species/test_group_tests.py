"""Permutation tests of two samples: against literal formulas, their level, and their power."""

from itertools import permutations as orders

import numpy as np
import pytest

from kernova.shapes.anova import goodall_test
from kernova.species import group_tests
from kernova.species.group_tests import (
    adjusted_p_value,
    compare_means,
    nested_p_value,
    smallest_p_value,
    upper_tail,
)
from kernova.species.scatter import Scatter, scatter_of, scatter_within, shrunk_covariance

NONE = Scatter(np.zeros((4, 4)), 0)


def two_samples(n_first, n_second, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_first + n_second, 4)) * [3, 1, 1, 0.3]
    rows[:n_first, 3] += shift
    return rows, np.arange(len(rows)) < n_first


def literal_p_value(rows, is_first, others):
    """Every exchange of labels; the smaller of two ranks, compared with all of them."""
    scatter = scatter_of(rows).plus(others.limited())
    precision = np.linalg.inv(shrunk_covariance(scatter))
    n_first = int(is_first.sum())
    distances = []
    for order in orders(range(len(rows))):
        first, second = rows[list(order[:n_first])], rows[list(order[n_first:])]
        difference = first.mean(axis=0) - second.mean(axis=0)
        distances.append((difference @ difference, difference @ precision @ difference))
    distances = np.array(distances)
    slack = 1e-9 * distances.max(axis=0)
    ranks = np.array([(distances >= one - slack).mean(axis=0).min() for one in distances])
    return np.mean(ranks <= ranks[0] + 1e-12)


def test_the_p_value_is_that_of_all_exchanges(monkeypatch):
    rows, is_first = two_samples(3, 3, shift=1.0)
    every = np.array(list(orders(range(6))))
    monkeypatch.setattr(group_tests, "permutations", lambda *_: every)
    others = scatter_of(np.random.default_rng(1).standard_normal((9, 4)))
    found = compare_means(rows, is_first, others, np.random.default_rng(0))
    assert found.p_value == pytest.approx(literal_p_value(rows, is_first, others), abs=1e-12)


def test_equal_samples_are_rejected_at_the_level():
    p_values = [
        compare_means(*two_samples(6, 12, seed=seed), NONE, np.random.default_rng(seed)).p_value
        for seed in range(400)
    ]
    # 20 of 400 are expected; 36 or more have a probability of 1 in 2,000.
    assert 6 <= np.sum(np.array(p_values) <= 0.05) <= 35


def test_a_small_difference_in_a_steady_direction_is_seen_by_the_whitened_distance():
    rows, is_first = two_samples(12, 20, shift=0.7)
    others = scatter_within(*_others())
    found = compare_means(rows, is_first, others, np.random.default_rng(0))
    assert found.p_value <= 0.01
    assert found.distance < found.critical_distance  # the Procrustes distance alone misses it


def _others():
    rng = np.random.default_rng(5)
    return rng.standard_normal((60, 4)) * [3, 1, 1, 0.3], np.repeat(["a", "b", "c"], 20)


def test_the_distance_is_that_of_goodalls_test():
    rows, is_first = two_samples(7, 9, shift=2.0)
    found = compare_means(rows, is_first, NONE, np.random.default_rng(0))
    assert found.distance == pytest.approx(
        goodall_test(rows[is_first], rows[~is_first], 4).distance
    )


def test_a_wider_sample_differs_in_dispersion_not_in_mean():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((40, 4))
    is_first = np.arange(40) < 20
    rows[is_first] *= 3
    rows -= np.where(is_first[:, None], rows[is_first].mean(axis=0), rows[~is_first].mean(axis=0))
    found = compare_means(rows, is_first, NONE, np.random.default_rng(0))
    assert found.dispersion_p_value <= 0.01
    assert found.dispersion_ratio == pytest.approx(
        rows[is_first].var(axis=0, ddof=1).sum() / rows[~is_first].var(axis=0, ddof=1).sum()
    )
    assert found.p_value == 1.0


def test_one_specimen_or_identical_ones_have_no_dispersion():
    rows, is_first = two_samples(1, 8)
    found = compare_means(rows, is_first, NONE, np.random.default_rng(0))
    assert found.dispersion_p_value == 1.0
    found = compare_means(np.ones((6, 4)), np.arange(6) < 3, NONE, np.random.default_rng(0))
    assert (found.p_value, found.dispersion_p_value) == (1.0, 1.0)
    assert found.distance == pytest.approx(0, abs=1e-12)


def test_what_a_covariate_explains_is_no_evidence_for_the_grouping():
    rng = np.random.default_rng(0)
    is_first = np.arange(40) < 20
    size = np.where(is_first, 0.0, 1.0) + 0.2 * rng.standard_normal(40)
    rows = rng.standard_normal((40, 4)) * 0.1
    rows[:, 0] += size
    assert compare_means(rows, is_first, NONE, rng).p_value <= 0.01
    assert adjusted_p_value(rows, is_first, size[:, None], NONE, rng) > 0.05
    rows[is_first, 1] += 0.5  # beyond size
    assert adjusted_p_value(rows, is_first, size[:, None], NONE, rng) <= 0.01


def test_a_covariate_that_is_the_grouping_leaves_nothing():
    rows, is_first = two_samples(10, 10, shift=5.0)
    sex = is_first.astype(float)[:, None]
    assert adjusted_p_value(rows, is_first, sex, NONE, np.random.default_rng(0)) == 1.0


def test_populations_are_exchanged_whole():
    rng = np.random.default_rng(0)
    units = np.repeat([f"p{k}" for k in range(8)], 10)
    rows = rng.standard_normal((8, 4)).repeat(10, axis=0) + 0.05 * rng.standard_normal((80, 4))
    is_first = np.arange(80) < 40
    # Populations differ, groups do not: specimens exchanged one by one would tell otherwise.
    assert compare_means(rows, is_first, NONE, rng).p_value <= 0.01
    assert nested_p_value(rows, is_first, units, NONE, rng) > 0.05


@pytest.mark.parametrize(
    ("numbers", "smallest"), [((3, 3), 0.1), ((2, 5), 1 / 21), ((20, 20), 0.001), ((1, 1), 1.0)]
)
def test_the_smallest_p_value_follows_from_the_numbers(numbers, smallest):
    assert smallest_p_value(*numbers) == pytest.approx(smallest)


def test_ties_by_rounding_count_as_equal():
    statistics = np.array([1.0, 1.0 + 1e-13, 0.5])
    np.testing.assert_allclose(upper_tail(statistics), [2 / 3, 2 / 3, 1])
