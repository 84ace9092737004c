"""p-values from held-out scores, and discoveries among them."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernova.calibration.p_values import conformal_p_values, select_discoveries
from kernova.errors import InputError
from tests import oracles

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
    shares = []
    for _ in range(long_bar(2000)):
        scores = np.concatenate([random.normal(size=40), random.normal(-4, 1, size=10)])
        chosen = select_discoveries(conformal_p_values(random.normal(size=200), scores), 0.2)
        shares.append(chosen[:40].sum() / max(1, chosen.sum()))
    error = np.std(shares) / np.sqrt(len(shares))
    print(f"false discoveries: {np.mean(shares):.3f} +- {error:.3f}, 0.16 expected")
    # Four fifths of the rows are ordinary, so the expectation is at most 0.8 * 0.2. That it also
    # comes near it shows that the rule is not merely timid.
    assert 0.16 - 0.06 < np.mean(shares) < 0.16 + 4 * error


def test_nothing_asked_nothing_chosen():
    assert conformal_p_values([1.0], []).shape == (0,)
    assert select_discoveries([], 0.1).shape == (0,)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: conformal_p_values([], [1.0]),
            "The calibration scores are empty. Give at least one row.",
        ),
        (
            lambda: conformal_p_values([1.0], [np.nan]),
            "The scores must be finite; 1 of 1 are not, the first at position 0. "
            "Leave such rows out.",
        ),
        (
            lambda: select_discoveries([0.1, np.nan], 0.1),
            "The p-values must be finite; 1 of 2 are not, the first at position 1. "
            "Leave such rows out.",
        ),
        (
            lambda: select_discoveries([0.1, 1.5], 0.1),
            "p-values lie between 0 and 1; got 0.1 to 1.5.",
        ),
        (
            lambda: select_discoveries([0.1], 1),
            "false_discovery_rate must be a number above 0 and below 1; got 1.",
        ),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        call()
