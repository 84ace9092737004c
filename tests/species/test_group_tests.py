"""Permutation tests of two samples: against literal formulas, their level, and their power."""

import math
from itertools import permutations as orders

import numpy as np
import pytest
from scipy.stats import binom

from kernova.shapes.anova import goodall_test
from kernova.species.group_tests import (
    adjusted_p_value,
    compare_means,
    exchanges,
    smallest_p_value,
    unit_means,
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


def test_the_p_value_is_that_of_all_exchanges():
    rows, is_first = two_samples(3, 3, shift=1.0)
    others = scatter_of(np.random.default_rng(1).standard_normal((9, 4)))
    found = compare_means(rows, is_first, others, np.random.default_rng(0))
    assert found.p_value == pytest.approx(literal_p_value(rows, is_first, others), abs=1e-12)


@pytest.mark.parametrize(("n_first", "n_second"), [(1, 6), (2, 6), (3, 3), (5, 6)])
def test_few_exchanges_are_all_made_once_the_true_one_first(n_first, n_second):
    is_first = np.random.default_rng(0).permutation(np.arange(n_first + n_second) < n_first)
    found = exchanges(is_first, np.random.default_rng(0))
    assert len(found) == math.comb(n_first + n_second, n_first)
    assert len(np.unique(found, axis=0)) == len(found)
    assert (found.sum(axis=1) == n_first).all()
    assert found[0].tolist() == is_first.tolist()
    # Nothing is drawn: the seed has no say.
    assert exchanges(is_first, np.random.default_rng(1)).tolist() == found.tolist()


def test_many_exchanges_are_drawn():
    is_first = np.arange(20) < 8
    found = exchanges(is_first, np.random.default_rng(0))
    assert found.shape == (1000, 20)
    assert found[0].tolist() == is_first.tolist()
    assert (found.sum(axis=1) == 8).all()


@pytest.mark.parametrize("numbers", [(1, 4), (2, 5), (3, 3), (4, 4), (3, 9), (12, 12)])
def test_no_p_value_is_below_the_smallest(numbers):
    n_first, n_second = numbers
    rows, is_first = two_samples(n_first, n_second)
    rows[is_first] += 50
    rng = np.random.default_rng(0)
    found = compare_means(rows, is_first, NONE, rng)
    assert found.p_value == pytest.approx(smallest_p_value(n_first, n_second))
    assert found.dispersion_p_value >= smallest_p_value(n_first, n_second) - 1e-12
    depth = rng.standard_normal((n_first + n_second, 1))
    assert adjusted_p_value(rows, is_first, depth, NONE, rng) >= found.p_value - 1e-12


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
    rng = np.random.default_rng(0)
    assert np.isnan(adjusted_p_value(rows, is_first, is_first.astype(float)[:, None], NONE, rng))
    # Neither do as many covariates as rows.
    many = rng.standard_normal((20, 18))
    assert np.isnan(adjusted_p_value(rows, is_first, many, NONE, rng))
    assert 0 < adjusted_p_value(rows, is_first, many[:, :5], NONE, rng) <= 1


def test_an_adjusted_test_of_many_rows_keeps_its_level():
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows, is_first = two_samples(12, 20, seed=seed)
        size = rng.standard_normal(32) + is_first
        rows += 2 * size[:, None]
        covariates = np.column_stack([size, size**2])
        p_values.append(adjusted_p_value(rows, is_first, covariates, NONE, rng))
    assert 1 <= np.sum(np.array(p_values) <= 0.05) <= binom.ppf(0.999, 200, 0.05)


def test_means_of_populations_are_the_rows():
    rows = np.array([[0.0, 1], [2, 3], [4, 4], [8, 0], [0, 0]])
    units = np.array(["q", "q", "p", "r", "r"])
    is_first = np.array([True, True, True, False, False])
    depth = np.array([[1.0], [3], [5], [7], [9]])
    found = unit_means(rows, is_first, units, depth)
    assert found.rows.tolist() == [[4, 4], [1, 2], [4, 0]]  # p, q, r
    assert found.is_first.tolist() == [True, True, False]
    assert found.others.tolist() == [[5], [2], [8]]
    assert unit_means(rows, is_first, units, np.empty((5, 0))).others.shape == (3, 0)


def populations(n_first, n_second, seed, apart=0.0):
    """Two groups of populations of eight; populations differ, and groups if asked to."""
    rng = np.random.default_rng(seed)
    n_units = n_first + n_second
    units = np.repeat([f"p{k:02}" for k in range(n_units)], 8)
    means = rng.standard_normal((n_units, 4))
    means[:n_first] += apart
    rows = means.repeat(8, axis=0) + 0.2 * rng.standard_normal((8 * n_units, 4))
    return unit_means(rows, np.arange(len(rows)) < 8 * n_first, units, np.empty((len(rows), 0)))


def exchanged_whole(n_first, n_second, seed, apart=0.0):
    rows, is_first, _ = populations(n_first, n_second, seed, apart)
    return compare_means(rows, is_first, NONE, np.random.default_rng(seed)).p_value


@pytest.mark.parametrize("numbers", [(2, 6), (5, 6), (3, 8)])
def test_populations_exchanged_whole_are_rejected_at_the_level(numbers):
    p_values = np.array([exchanged_whole(*numbers, seed) for seed in range(300)])
    assert p_values.min() >= smallest_p_value(*numbers) - 1e-12
    assert 1 <= (p_values <= 0.05).sum() <= binom.ppf(0.999, 300, 0.05)


def test_groups_of_populations_that_differ_are_seen():
    p_values = np.array([exchanged_whole(5, 6, seed, apart=2.0) for seed in range(40)])
    assert (p_values <= 0.05).mean() >= 0.8


@pytest.mark.parametrize(
    ("numbers", "smallest"),
    [((3, 3), 0.1), ((2, 5), 1 / 21), ((1, 6), 1 / 7), ((20, 20), 0.001), ((1, 1), 1.0)],
)
def test_the_smallest_p_value_follows_from_the_numbers(numbers, smallest):
    assert smallest_p_value(*numbers) == pytest.approx(smallest)


def test_ties_by_rounding_count_as_equal():
    statistics = np.array([1.0, 1.0 + 1e-13, 0.5])
    np.testing.assert_allclose(upper_tail(statistics), [2 / 3, 2 / 3, 1])
