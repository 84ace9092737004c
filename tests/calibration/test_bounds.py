"""Thresholds with a proven false-alarm bound: the highest valid one, honest, with exact advice."""

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc
from scipy.stats import binomtest

from kernova.calibration.bounds import (
    allowed_false_alarms,
    binomial_upper_bound,
    critical_false_alarm,
    equal_error_rate,
    false_alarm_threshold,
    finite_scores,
    hoeffding_upper_bound,
)
from kernova.errors import InputError, TooFewRowsError
from tests import oracles
from tests.calibration.messages import ADVICE, BAD_ARGUMENTS, TOO_FEW_ROWS

BOUNDS = {"hoeffding": oracles.hoeffding_upper, "binomial": oracles.clopper_pearson_upper}
CONFIDENCES = [0.5, 0.8, 0.95, 0.999]

# Few distinct values, so that ties fall on every side of the budget; and wild ones.
tied_scores = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40)
wild_scores = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12)
samples = tied_scores | wild_scores


@settings(deadline=None)
@given(
    samples,
    st.floats(0.01, 0.99),
    st.sampled_from(CONFIDENCES),
    st.sampled_from(["hoeffding", "binomial"]),
)
def test_the_threshold_is_the_highest_that_keeps_the_bound(scores, limit, confidence, bound):
    expected = oracles.highest_threshold(scores, limit, confidence, BOUNDS[bound])
    if expected is None:
        with pytest.raises(TooFewRowsError):
            false_alarm_threshold(scores, limit, confidence, bound)
        return
    result = false_alarm_threshold(scores, limit, confidence, bound)
    assert result.threshold == expected
    assert result.observed_rate == oracles.share_at_most(scores, expected)
    assert result.n == len(scores)
    assert result.bound <= limit
    assert result.observed_rate < result.bound


@settings(deadline=None)
@given(samples, st.floats(0.01, 0.99), st.sampled_from(CONFIDENCES))
def test_what_hoeffding_proves_is_the_observed_rate_and_the_margin(scores, limit, confidence):
    try:
        result = false_alarm_threshold(scores, limit, confidence)
    except TooFewRowsError:
        return
    n_alarms = sum(score <= result.threshold for score in scores)
    expected = oracles.hoeffding_upper(n_alarms, len(scores), confidence)
    assert result.bound == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_rows", [5, 59, 200, 1000])
@pytest.mark.parametrize("confidence", [0.3, *CONFIDENCES])
def test_the_binomial_bound_is_exact_for_continuous_scores(n_rows, confidence):
    # The false alarms below the (r+1)-th of m uniform scores are Beta(r+1, m-r); the bound must
    # be passed with probability 1 - confidence, neither more nor less.
    limit = 0.9
    r = allowed_false_alarms(n_rows, limit, confidence, "binomial")
    result = false_alarm_threshold(np.arange(n_rows), limit, confidence, "binomial")
    assert result.observed_rate == r / n_rows
    assert betainc(r + 1, n_rows - r, result.bound) == pytest.approx(confidence, abs=1e-12)
    assert oracles.clopper_pearson_upper(r + 1, n_rows, confidence) > limit


def test_ties_at_the_budget_do_not_shrink_the_binomial_bound():
    # The budget was fixed before the ties were seen: none of 200 rows is an alarm, yet only the
    # limit at the budget is proven.
    result = false_alarm_threshold(np.zeros(200), 0.1, bound="binomial")
    budget = allowed_false_alarms(200, 0.1)
    assert result.threshold == np.nextafter(0, -1)
    assert result.observed_rate == 0
    assert budget == 12
    assert result.bound == pytest.approx(oracles.clopper_pearson_upper(budget, 200, 0.95))


def test_the_binomial_bound_is_never_looser():
    for n_rows in [1, 2, 3, 5, 8, 13, 30, 59, 100, 299, 1000, 5000]:
        counts = np.unique(np.linspace(0, n_rows - 1, 120).astype(int)).tolist()
        for confidence in [*CONFIDENCES, 0.6, 0.99, 1 - 1e-9]:
            for n_alarms in counts:
                hoeffding = hoeffding_upper_bound(n_alarms, n_rows, confidence)
                assert binomial_upper_bound(n_alarms, n_rows, confidence) <= min(hoeffding, 1.0)


@settings(deadline=None)
@given(samples, st.floats(0.01, 0.99), st.sampled_from(CONFIDENCES))
def test_the_binomial_threshold_is_never_lower(scores, limit, confidence):
    try:
        hoeffding = false_alarm_threshold(scores, limit, confidence, "hoeffding")
    except TooFewRowsError:
        return
    binomial = false_alarm_threshold(scores, limit, confidence, "binomial")
    assert binomial.threshold >= hoeffding.threshold


# --- honesty -------------------------------------------------------------------------------------


def _continuous(random, size):
    return random.uniform(size=size)


def _discrete(random, size):
    return np.floor(random.uniform(size=size) * 100) / 100


def _true_false_alarm(draw, threshold):
    """P(score <= t), known in full: both distributions live on [0, 1)."""
    if draw is _continuous:
        return float(np.clip(threshold, 0, 1))
    return sum(step / 100 <= threshold for step in range(100)) / 100


def _is_within_sampling_error(n_failures, n_repetitions, allowed=0.05):
    test = binomtest(n_failures, n_repetitions, allowed, alternative="greater")
    return test.pvalue > 1e-3


@pytest.mark.soak
@pytest.mark.parametrize("draw", [_continuous, _discrete], ids=["continuous", "tied"])
@pytest.mark.parametrize("bound", ["hoeffding", "binomial"])
@pytest.mark.parametrize(("n_rows", "limit"), [(50, 0.3), (200, 0.15), (1000, 0.05)])
def test_the_stated_bound_fails_no_more_often_than_it_says(long_bar, draw, bound, n_rows, limit):
    random = np.random.default_rng(20070)
    n_repetitions = long_bar(1000)
    failures = naive_failures = 0
    for scores in draw(random, (n_repetitions, n_rows)):
        result = false_alarm_threshold(scores, limit, bound=bound)
        truth = _true_false_alarm(draw, result.threshold)
        failures += truth > result.bound
        naive_failures += truth > result.observed_rate
    print(f"{bound} m={n_rows} {draw.__name__}: {failures} of {n_repetitions} failed")
    assert _is_within_sampling_error(failures, n_repetitions)
    # The same test must be able to fail: without its margin the bound is wrong far too often.
    assert not _is_within_sampling_error(naive_failures, n_repetitions)


@pytest.mark.soak
def test_e_star_is_honest_although_its_threshold_is_chosen_by_looking(long_bar):
    random = np.random.default_rng(20071)
    n_repetitions = long_bar(1000)
    failures = naive_failures = 0
    for known in random.uniform(size=(n_repetitions, 100)):
        unknown = random.uniform(0, 0.6, size=40)
        critical = critical_false_alarm(known, unknown)
        failures += critical.threshold > critical.e_star
        naive = equal_error_rate(known, unknown)
        naive_failures += naive.threshold > naive.rate
    print(f"e*: {failures} of {n_repetitions} failed")
    assert _is_within_sampling_error(failures, n_repetitions)
    assert not _is_within_sampling_error(naive_failures, n_repetitions)


# --- e* and the equal error rate -----------------------------------------------------------------


@settings(deadline=None)
@given(samples, samples, st.sampled_from(CONFIDENCES))
def test_e_star_is_the_smallest_larger_error(known, unknown, confidence):
    margin = oracles.hoeffding_upper(0, len(known), confidence)
    expected, _, _ = oracles.smallest_larger_error(known, unknown, margin)
    result = critical_false_alarm(known, unknown, confidence)
    assert result.e_star == pytest.approx(min(expected, 1.0), rel=1e-12)
    assert result.e_star >= min(margin, 1.0) * (1 - 1e-12)
    assert result.detection_rate == pytest.approx(oracles.share_at_most(unknown, result.threshold))
    if result.e_star < 1:
        assert result.detection_rate >= 1 - result.e_star
        bound = oracles.share_at_most(known, result.threshold) + margin
        assert bound <= result.e_star * (1 + 1e-12)


@settings(deadline=None)
@given(samples, samples)
def test_the_equal_error_rate_is_the_mean_error_where_the_larger_is_smallest(known, unknown):
    _, sum_of_errors, threshold = oracles.smallest_larger_error(known, unknown, 0)
    result = equal_error_rate(known, unknown)
    assert result.rate == sum_of_errors / 2
    assert result.threshold == threshold


@settings(deadline=None)
@given(tied_scores, tied_scores)
def test_only_the_order_of_the_scores_matters(known, unknown):
    known, unknown = np.array(known), np.array(unknown)
    result = equal_error_rate(known, unknown)
    assert equal_error_rate(np.exp(known), np.exp(unknown)).rate == result.rate
    # Turned over, the two samples change places.
    assert equal_error_rate(-unknown, -known).rate == pytest.approx(result.rate, abs=1e-15)
    critical = critical_false_alarm(known, unknown)
    assert critical_false_alarm(np.exp(known), np.exp(unknown))[:2] == critical[:2]


@pytest.mark.parametrize(
    ("known", "unknown", "rate"),
    [
        ([1, 2, 3], [-1, 0], 0.0),
        ([1, 2, 3], [1, 2, 3], 0.5),
        ([1, 1, 1], [1, 1], 0.5),
        ([0], [1], 0.5),
        (range(100), range(100), 0.5),
    ],
)
def test_equal_error_rates_known_by_hand(known, unknown, rate):
    assert equal_error_rate(known, unknown).rate == rate


def test_e_star_of_separable_samples_is_the_margin_alone():
    for n_known, expected in [(50, 0.1731), (475, 0.0562)]:
        result = critical_false_alarm(np.ones(n_known), np.zeros(9))
        assert result.e_star == pytest.approx(expected, abs=5e-5)
        assert result[1:] == (1.0, 0.0)


def test_where_nothing_is_proven_e_star_is_one_and_no_known_row_is_an_alarm():
    deeper = critical_false_alarm(np.arange(50), np.arange(60, 70))
    assert deeper.e_star == 1
    assert deeper.detection_rate == 0
    assert deeper.threshold < 0
    assert critical_false_alarm([1.0], [0.0]) == (1.0, 1.0, 0.0)


# --- too few rows ------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "limit", "bound", "message"), TOO_FEW_ROWS)
def test_too_few_rows_raise_with_the_number_needed(n_rows, limit, bound, message):
    with pytest.raises(TooFewRowsError, match=f"^{re.escape(message)}$"):
        false_alarm_threshold(np.arange(n_rows), limit, bound=bound)


@settings(deadline=None)
@given(
    st.integers(1, 300),
    st.floats(0.001, 0.9),
    st.sampled_from(CONFIDENCES),
    st.sampled_from(["hoeffding", "binomial"]),
)
def test_advice_works_when_followed(n_rows, limit, confidence, bound):
    try:
        allowed_false_alarms(n_rows, limit, confidence, bound)
    except TooFewRowsError as error:
        needed, advice = error.rows_needed, ADVICE.search(str(error))
        smallest = error.smallest_provable
    else:
        return
    assert smallest == pytest.approx(min(BOUNDS[bound](0, n_rows, confidence), 1.0))
    assert allowed_false_alarms(needed, limit, confidence, bound) == 0
    with pytest.raises(TooFewRowsError):
        allowed_false_alarms(needed - 1, limit, confidence, bound)
    assert (advice is not None) == (smallest < 1)
    if advice:
        assert smallest * 0.999999 < Decimal(advice[1]) < 1
        assert allowed_false_alarms(n_rows, float(advice[1]), confidence, bound) >= 0


@pytest.mark.parametrize(
    ("n_rows", "confidence", "limit"),
    [(1, 0.95, 0.95), (2, 0.91, 0.7), (3, 0.657, 0.3), (4, 0.9999, 0.9), (2, 0.9975, 0.95)],
)
def test_a_bound_equal_to_the_limit_passes(n_rows, confidence, limit):
    # 1 - delta**(1/m) equals the limit on paper; the last bit must not decide.
    result = false_alarm_threshold(np.arange(n_rows), limit, confidence, "binomial")
    assert result.threshold == np.nextafter(0, -1)
    assert result.bound == pytest.approx(limit, rel=1e-12)
    assert result.bound <= limit
    with pytest.raises(TooFewRowsError) as caught:
        allowed_false_alarms(n_rows, limit - 1e-9, confidence)
    assert caught.value.rows_needed == n_rows + 1
    with pytest.raises(TooFewRowsError) as caught:
        allowed_false_alarms(n_rows - 1, limit, confidence)
    assert caught.value.rows_needed == n_rows


def test_a_tiny_rate_raises_with_a_number_and_no_overflow():
    for bound, digits in [("hoeffding", 401), ("binomial", 201)]:
        with pytest.raises(TooFewRowsError) as caught:
            false_alarm_threshold([1.0], 1e-200, bound=bound)
        assert len(str(caught.value.rows_needed)) == digits


@pytest.mark.parametrize(("arguments", "message"), BAD_ARGUMENTS)
def test_bad_arguments(arguments, message):
    usable = {"holdout_scores": range(500), "max_false_alarm": 0.1}
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        false_alarm_threshold(**{**usable, **arguments})


@pytest.mark.parametrize("function", [critical_false_alarm, equal_error_rate])
def test_both_samples_must_be_usable(function):
    with pytest.raises(InputError, match=r"^The known scores are empty\. Give at least one row\.$"):
        function([], [1.0])
    with pytest.raises(InputError, match=r"^The unknown scores must be finite; 1 of 1 are not, "):
        function([1.0], [np.nan])


def test_scores_may_be_any_vector_of_numbers():
    for scores in [(1, 2), np.array([1, 2], dtype=np.float32), np.array([True, False]), range(2)]:
        assert finite_scores(scores, "scores").dtype == np.float64
