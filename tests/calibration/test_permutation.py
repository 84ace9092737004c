from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm, rankdata

from kernova import InputError
from kernova.calibration.p_values import (
    MOST_COUNTED,
    combined_p_value,
    rank_sum_p_value,
    smallest_p_value,
)


def share_of_choices(known, unknown):
    """Every way to choose the unknown ones, one after the other."""
    ranks = rankdata([*unknown, *known])
    observed = ranks[: len(unknown)].sum()
    sums = [sum(choice) for choice in combinations(ranks, len(unknown))]
    return sum(total <= observed for total in sums) / len(sums)


few_scores = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9]), min_size=1, max_size=6)


@given(known=few_scores, unknown=few_scores)
def test_counts_every_choice_ties_included(known, unknown):
    assert rank_sum_p_value(known, unknown) == pytest.approx(share_of_choices(known, unknown))


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
    with pytest.raises(InputError) as refusal:
        combined_p_value([0.5, 1.5])
    assert str(refusal.value) == "p-values lie between 0 and 1; got 0.5 to 1.5."
