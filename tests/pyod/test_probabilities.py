"""From scores to probabilities and confidence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernova.pyod import label_stability, linear_probabilities, moments, unified_probabilities

SCORES = arrays(
    np.float64, st.integers(1, 30), elements=st.floats(allow_nan=False, allow_infinity=False)
)


@given(SCORES, SCORES)
def test_any_scores_give_probabilities_in_order(training, scores):
    scores = np.sort(np.concatenate([scores, training]))
    mean, deviation = moments(training)
    assert np.isfinite([mean, deviation]).all()
    for found in (
        linear_probabilities(scores, training),
        unified_probabilities(scores, mean, deviation),
    ):
        assert ((found >= 0) & (found <= 1)).all()
        assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("n_outliers", [0, 2, 10])
def test_label_stability_is_its_binomial_sum(n_outliers):
    training = np.random.default_rng(0).permutation(20) * 1.0
    for score in (-1.0, 3.0, 11.5, 30.0):
        p = (1 + sum(other <= score for other in training)) / 22
        terms = [math.comb(20, k) * p**k * (1 - p) ** (20 - k) for k in range(21)]
        again = sum(terms[20 - n_outliers + 1 :])
        for label, expected in ((1, again), (0, 1 - again)):
            found = label_stability(np.array([score]), np.array([label]), training, n_outliers)
            assert found == pytest.approx([expected], abs=1e-12)
