"""P-values, evidence against known classes, pooling and vetoes against their literal versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from kernova.description.open_set.folds import folds, kept_rows
from kernova.description.open_set.held_out import left_out_distances
from kernova.description.open_set.negatives import vetoes
from kernova.description.open_set.pooling import learn_pool, pool_weights, pooled
from kernova.description.open_set.rejection import (
    by_class,
    evidence_against,
    held_out_novelties,
)
from tests import oracles

numbers = st.integers(0, 6).map(float)


@given(st.lists(numbers, min_size=1, max_size=15), st.floats(-1, 6))
def test_p_values_are_the_literal_ones(known, value):
    value = min(value, max(known))  # beyond them is an extrapolation
    found = held_out_novelties(np.array(known), np.ones(len(known))).p_values(np.array([value]))
    assert found[0] == pytest.approx(oracles.interpolated_p_value(value, known), rel=1e-9)


@given(st.lists(numbers, min_size=2, max_size=15))
def test_p_values_fall_with_novelty(known):
    grid = np.linspace(-1, 20, 200)
    p = held_out_novelties(np.array(known), np.ones(len(known))).p_values(grid)
    assert np.all(np.diff(p) <= 1e-12)
    assert np.all((p > 0) & (p <= 1))


def test_the_rate_is_exact_in_expectation_however_few_rows_are_held_out():
    rng = np.random.default_rng(0)
    for n in (19, 50):
        p = np.concatenate(
            [
                held_out_novelties(rng.exponential(size=n), np.ones(n)).p_values(
                    rng.exponential(size=20)
                )
                for _ in range(2000)
            ]
        )
        for rate in (0.1, 0.2, 0.5):
            assert np.mean(p <= rate) == pytest.approx(rate, abs=0.008)


def test_weights_count_as_rows():
    known = np.array([1.0, 2.0, 3.0])
    weighted = held_out_novelties(known, np.array([2.0, 2.0, 2.0]))
    plain = held_out_novelties(known, np.ones(3))
    grid = np.array([0.0, 1.5, 2.2, 9.0])
    np.testing.assert_allclose(weighted.p_values(grid), plain.p_values(grid))
    heavy = held_out_novelties(known, np.array([1.0, 1.0, 10.0]))
    assert heavy.p_values(np.array([2.5]))[0] > plain.p_values(np.array([2.5]))[0]


def test_the_threshold_is_where_rejection_begins():
    known = held_out_novelties(np.arange(100.0), np.ones(100))
    threshold = known.threshold(0.05)
    assert known.p_values(np.array([threshold]))[0] <= 0.05
    assert known.p_values(np.array([threshold - 1.5]))[0] > 0.05
    assert known.threshold(0.0) == np.inf


def test_evidence_against_is_a_bet_that_breaks_even():
    literal = lambda p: quad(lambda k: k * p ** (k - 1), 0, 1)[0]  # noqa: E731
    for p in (0.9, 0.3, 0.01, 1e-4):
        assert evidence_against(np.array([p]))[0] == pytest.approx(literal(p), rel=1e-6)
    total, _ = quad(
        lambda u: float(evidence_against(np.array([np.exp(-u)]))[0]) * np.exp(-u), 0, 700
    )
    assert total == pytest.approx(1, abs=0.01)
    assert evidence_against(np.array([1.0, 1 - 1e-7])).tolist() == [0.5, 0.5]


def test_a_class_without_held_out_rows_takes_those_of_all():
    novelty, codes = np.arange(10.0), np.repeat([0, 1], 5)
    parts = by_class(novelty, codes, np.ones(10), 3)
    p = parts.p_values(np.array([4.5, 4.5, 4.5]), np.array([0, 1, 2]))
    assert p[0] < p[2] < p[1]


def test_pooling_is_the_literal_product():
    rng = np.random.default_rng(0)
    members = np.log(rng.dirichlet(np.ones(3), size=(4, 5)))
    weights = np.array([0.2, 0.7, 0.1, 0.4])
    found = pooled(members, weights)
    for i in range(5):
        expected = oracles.pooled_log_probabilities(members[:, i], weights)
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


def test_weights_prefer_the_member_that_is_right():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=400)
    right = np.full((400, 3), 0.1)
    right[np.arange(400), codes] = 0.8
    wrong = rng.dirichlet(np.ones(3), size=400)
    weights = pool_weights(np.log([right, wrong]), codes, np.ones(400))
    assert weights[0] > 5 * weights[1]
    few = pool_weights(np.log([right, wrong])[:, :2], codes[:2], np.ones(2))
    assert abs(np.log(few[0] / few[1])) < 2
    none = pool_weights(np.log([right, wrong])[:, :0], codes[:0], np.ones(0))
    np.testing.assert_allclose(none, 0.5)


def test_rows_are_pooled_by_weights_that_were_learnt_without_their_part():
    rng = np.random.default_rng(0)
    members = np.log(rng.dirichlet(np.ones(3), size=(2, 40)))
    codes, parts = rng.integers(0, 3, size=40), np.arange(40) % 4
    is_judged = np.ones(40, dtype=bool)
    pool = learn_pool(members, codes, np.ones(40), parts, is_judged)
    others = parts != 2
    weights = pool_weights(members[:, others], codes[others], np.ones(30))
    np.testing.assert_allclose(pool.held_out[parts == 2], pooled(members[:, ~others], weights))


def test_a_veto_is_whole_at_the_row_and_ends_beyond_the_class():
    members = np.array([[0.0, 0.0], [0.5, 0.0]])
    negatives = np.array([[3.0, 0.0]])
    rows = np.array([[3.0, 0.0], [0.0, 0.0], [3.2, 0.0], [60.0, 0.0]])
    found = vetoes(rows, negatives, members)
    assert found[0] == 1
    assert found[1] == 0
    assert found[2] > 0.9
    assert found[3] < 1e-6
    copy = vetoes(np.zeros((1, 2)), np.zeros((1, 2)), members)
    assert copy.tolist() == [0.5]


def test_parts_keep_groups_together_and_spread_classes():
    codes = np.repeat([0, 1, 2], [30, 9, 1])
    parts = folds(codes, None, 5, seed=0)
    for code, most in ((0, 6), (1, 2)):
        assert np.bincount(parts[codes == code], minlength=5).max() <= most
    groups = np.arange(40) // 4
    grouped = folds(codes, groups, 5, seed=0)
    assert all(len(set(grouped[groups == group])) == 1 for group in range(10))
    assert folds(codes, np.zeros(40, dtype=int), 5, seed=0).tolist() == [0] * 40


def test_kept_rows_stand_for_all_rows_of_their_class():
    codes = np.repeat([0, 1], [100, 7])
    for most in (10, "auto", None):
        kept, weights = kept_rows(codes, 3, most)
        np.testing.assert_allclose(np.bincount(codes[kept], weights), [100, 7])
    assert len(kept_rows(codes, 3, 10)[0]) == 17


def test_left_out_distances_ignore_the_own_group():
    rng = np.random.default_rng(0)
    rows, groups = rng.normal(size=(12, 2)), np.arange(12) // 3
    chosen = np.array([1, 5, 11])
    expected = [
        min(np.linalg.norm(rows[i] - rows[j]) for j in range(12) if groups[j] != groups[i])
        for i in chosen
    ]
    np.testing.assert_allclose(left_out_distances(rows, chosen, groups), expected)
