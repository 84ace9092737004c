"""p-values from held-out scores, discoveries among them, and the rank-sum test."""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm, rankdata

from kernova.calibration.p_values import (
    MOST_COUNTED,
    combined_p_value,
    conformal_p_values,
    rank_sum_p_value,
    select_discoveries,
    smallest_p_value,
)
from kernova.errors import InputError
from tests import oracles
from tests.calibration.messages import BAD_P_VALUES

tied_scores = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30)


@settings(deadline=None)
@given(tied_scores, tied_scores)
def test_p_values_count_the_calibration_rows_that_score_as_low(calibration, scores):
    expected = [oracles.conformal_p_value(calibration, score) for score in scores]
    np.testing.assert_array_equal(conformal_p_values(calibration, scores), expected)


def test_p_values_of_ordinary_rows_are_never_too_small():
    # Each of m + 1 exchangeable rows is as likely as any other to be the new one: count over all
    # of them how often p <= a. At most a of the times, for every a and whatever the ties.
    random = np.random.default_rng(3)
    for n_distinct in (1, 2, 7, 1000):
        scores = random.integers(0, n_distinct, size=60).astype(float)
        p = np.array(
            [conformal_p_values(np.delete(scores, i), scores[i : i + 1])[0] for i in range(60)]
        )
        for level in np.linspace(0, 1, 61):
            assert np.mean(p <= level) <= level + 1e-12


@settings(deadline=None)
@given(
    st.integers(1, 120),
    st.lists(st.floats(0, 1), max_size=40),
    st.integers(1, 99),
)
def test_discoveries_follow_the_step_up_rule_exactly(n_calibration, where, percent):
    # Conformal p-values are fractions of m + 1, so that equality with a limit is common; the
    # oracle decides it without rounding.
    exact = [Fraction(1 + round(w * n_calibration), n_calibration + 1) for w in where]
    expected = oracles.benjamini_hochberg(exact, Fraction(percent, 100))
    chosen = select_discoveries([float(p) for p in exact], percent / 100)
    assert chosen.dtype == np.bool_
    assert chosen.tolist() == expected


def test_a_p_value_equal_to_its_limit_is_chosen():
    # 0.3 / 3 is 0.09999999999999999 in floating point.
    assert select_discoveries([0.1, 0.9, 0.9], 0.3).tolist() == [True, False, False]


@pytest.mark.soak
def test_few_discoveries_are_ordinary_on_average(long_bar):
    random = np.random.default_rng(5)
    fractions = []
    for _ in range(long_bar(2000)):
        scores = np.concatenate([random.normal(size=40), random.normal(-4, 1, size=10)])
        chosen = select_discoveries(conformal_p_values(random.normal(size=200), scores), 0.2)
        fractions.append(chosen[:40].sum() / max(1, chosen.sum()))
    error = np.std(fractions) / np.sqrt(len(fractions))
    print(f"false discoveries: {np.mean(fractions):.3f} +- {error:.3f}, 0.16 expected")
    # Four fifths of the rows are ordinary, so the expectation is at most 0.8 * 0.2. That it also
    # comes near it shows that the rule is not merely timid.
    assert 0.16 - 0.06 < np.mean(fractions) < 0.16 + 4 * error


def test_no_scores_give_no_p_values():
    assert conformal_p_values([1.0], []).shape == (0,)
    assert select_discoveries([], 0.1).shape == (0,)


# --- rank-sum test -------------------------------------------------------------------------------


def fraction_of_choices(known, unknown):
    """Every way to choose the unknown ones, one after the other."""
    ranks = rankdata([*unknown, *known])
    observed = ranks[: len(unknown)].sum()
    sums = [sum(choice) for choice in combinations(ranks, len(unknown))]
    return sum(total <= observed for total in sums) / len(sums)


few_scores = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9]), min_size=1, max_size=6)


@given(known=few_scores, unknown=few_scores)
def test_counts_every_choice_ties_included(known, unknown):
    assert rank_sum_p_value(known, unknown) == pytest.approx(fraction_of_choices(known, unknown))


@pytest.mark.parametrize(("n_known", "n_unknown"), [(400, 30), (35, 30), (9, 60)])
def test_many_scores_agree_with_scipy(n_known, n_unknown):
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(0.2, 1, n_known), rng.normal(0, 1, n_unknown)
    assert n_known + n_unknown > MOST_COUNTED

    theirs = mannwhitneyu(unknown, known, alternative="less", method="asymptotic").pvalue

    assert rank_sum_p_value(known, unknown) == pytest.approx(theirs, rel=1e-9)


def test_counting_and_gaussian_meet():
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(0.5, 1, 31), rng.normal(0, 1, 30)

    counted = mannwhitneyu(unknown, known, alternative="less", method="exact").pvalue

    assert rank_sum_p_value(known, unknown) == pytest.approx(counted, rel=0.03)


def test_no_p_value_is_smaller_than_that_of_full_separation():
    for n_known, n_unknown in [(1, 1), (4, 3), (10, 9)]:
        known, unknown = 1 + np.arange(n_known), -np.arange(n_unknown)
        assert rank_sum_p_value(known, unknown) == smallest_p_value(n_known, n_unknown)
    assert 0 < rank_sum_p_value(1 + np.arange(3000), -np.arange(3000)) < 1e-200
    assert rank_sum_p_value(np.ones(70), np.ones(5)) == 1


def test_combined_p_values_keep_the_level_however_they_depend(long_bar):
    rng = np.random.default_rng(0)
    n_studies = long_bar(20000)
    shared = rng.normal(size=(n_studies, 1))
    for weight in (0.0, 0.5, 0.9, 1.0):
        scores = weight * shared + np.sqrt(1 - weight**2) * rng.normal(size=(n_studies, 20))
        p_values = norm.sf(scores)
        combined = np.array([combined_p_value(row) for row in p_values])
        for level in (0.05, 0.2):
            allowed = level + 3 * np.sqrt(level / n_studies)
            assert np.mean(combined <= level) <= allowed


def test_half_of_the_p_values_must_be_small():
    assert combined_p_value([0.01, 0.01, 0.4, 0.5]) == 0.8
    assert combined_p_value([0.01, 0.01, 0.01, 0.5]) == 0.02
    assert combined_p_value([0.9, 0.8]) == 1


@pytest.mark.parametrize(("call", "message"), BAD_P_VALUES)
def test_bad_p_values(call, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        call()
