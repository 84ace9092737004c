"""Precision of suggestions: intervals, promises, and the threshold for a precision."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binomtest

from kernova.workbench.suggestions import HeldOutAnswers, Precision, wilson_interval


def held_out_answers(probability, is_right, weights=None, suggested=None):
    n = len(probability)
    return HeldOutAnswers(
        np.asarray(probability, dtype=float),
        np.zeros(n, dtype=np.intp) if suggested is None else np.asarray(suggested),
        np.asarray(is_right, dtype=bool),
        np.ones(n) if weights is None else np.asarray(weights, dtype=float),
    )


@pytest.mark.parametrize(("n_right", "n_all"), [(0, 3), (3, 3), (9, 10), (60, 100)])
def test_the_interval_is_wilsons(n_right, n_all):
    expected = binomtest(n_right, n_all).proportion_ci(0.95, method="wilson")
    found = wilson_interval(n_right, n_all)
    assert found.estimate == n_right / n_all
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_without_answers_nothing_is_known():
    interval = wilson_interval(0, 0)
    assert np.isnan(interval.estimate)
    assert interval[1:] == (0.0, 1.0)
    precision = Precision(held_out_answers([], []), np.array([0.2, 0.99]))
    assert precision.at(0.5).rows == 1
    assert precision.at(0.5).answers == 0
    assert precision.threshold_for(0.9) is None


def test_the_promise_by_hand():
    # Twelve answers above 0.8, all right; below, every other one.
    p = np.append(np.linspace(0.81, 0.95, 12), np.linspace(0.3, 0.79, 20))
    answers = held_out_answers(p, [*[True] * 12, *[True, False] * 10])
    as_hard = Precision(answers, p)
    at = as_hard.at(0.81)
    assert (at.rows, at.answers, at.precision) == (12, 12, 1.0)
    assert at.promised == pytest.approx(12 / (12 + 1.15**2))  # Wilson's bound, none wrong
    assert as_hard.threshold_for(0.9) == 0.81
    assert as_hard.threshold_for(0.95) is None
    # Half of the unlabelled rows are above, but only 12 of 52 answers: those are harder.
    p = np.append(p, np.full(20, 0.2))
    more = held_out_answers(p, [*[True] * 12, *[True, False] * 10, *[False] * 20])
    easier = Precision(more, np.append(np.full(100, 0.81), np.full(100, 0.2)))
    calibrated = easier.calibrated(np.array([0.81]))[0]
    together = (5 * calibrated + 12) / (5 + 12)
    assert easier.at(0.81).promised == pytest.approx(max(12 / (12 + 1.15**2), together))


def test_the_model_is_not_trusted_where_answers_are_easier():
    def promised(n_right, n_wrong, unlabelled):
        p = [*[0.97] * n_right, *[0.4] * n_wrong]
        answers = held_out_answers(p, [*[True] * n_right, *[False] * n_wrong])
        return Precision(answers, np.array(unlabelled)).at(0.97).promised

    easier, harder = [*[0.97] * 90, 0.4], [0.97, *[0.4] * 90]
    assert promised(8, 44, easier) > 0.9
    assert promised(8, 44, harder) < 0.87
    assert promised(3, 49, easier) < 0.85  # too few answers above the threshold
    assert promised(8, 4, easier) < 0.87  # and too few in all


def test_the_promise_does_not_fall_with_the_threshold():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=200)
    precision = Precision(held_out_answers(p, rng.uniform(size=200) < p), p)
    thresholds = np.linspace(0, 1, 101)
    assert (np.diff(precision.promised(thresholds)) >= 0).all()
    threshold = precision.threshold_for(0.8)
    assert precision.at(threshold).promised >= 0.8
    assert precision.at(threshold - 0.02).promised < 0.8


def test_rows_labelled_in_one_step_count_as_one_answer():
    p = np.full(60, 0.9)
    alone = Precision(held_out_answers(p, [True] * 60), p)
    together = Precision(held_out_answers(p, [True] * 60, weights=np.full(60, 1 / 30)), p)
    assert alone.at(0.9).answers == 60
    assert together.at(0.9).answers == pytest.approx(2)
    assert together.at(0.9).promised < 0.9 < alone.at(0.9).promised


def test_probabilities_that_are_too_high_are_calibrated():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.5, 1, 400)
    precision = Precision(held_out_answers(p, rng.uniform(size=400) < expit(logit(p) - 1)), p)
    assert precision.calibrated(np.array([0.9]))[0] == pytest.approx(
        expit(logit(0.9) - 1), abs=0.05
    )


def test_held_out_answers_of_one_category():
    held_out = held_out_answers([0.9, 0.8, 0.7], [True, False, True], suggested=[0, 1, 0])
    assert held_out.of(0).probability.tolist() == [0.9, 0.7]
    assert held_out.of(None) is held_out


@pytest.mark.parametrize("n_answers", [20, 46, 100, 300])
def test_the_promise_is_kept_where_answers_are_a_sample(n_answers):
    """Of 200 simulated projects, about one in eight may miss the promise, as the interval says."""
    rng = np.random.default_rng(n_answers)
    n_missed = 0
    for _ in range(200):
        p = rng.beta(2, 1, n_answers + 2000)
        is_right = rng.uniform(size=len(p)) < p
        held_out = held_out_answers(p[:n_answers], is_right[:n_answers])
        threshold = Precision(held_out, p[n_answers:]).threshold_for(0.9)
        if threshold is not None:
            inside = p[n_answers:] >= threshold
            n_missed += is_right[n_answers:][inside].mean() < 0.87
    assert n_missed <= 30
