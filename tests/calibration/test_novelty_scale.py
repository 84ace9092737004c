"""The scale for people: high is strange, 0 is the threshold, -1 the median held-out row."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernova.calibration.bounds import false_alarm_threshold
from kernova.calibration.detector import novelty_of, novelty_scale
from kernova.errors import TooFewRowsError

LARGEST = np.finfo(np.float64).max
finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(
    st.lists(finite | st.integers(0, 3).map(float), min_size=1, max_size=20),
    st.lists(finite, min_size=1, max_size=20),
    st.floats(0.1, 0.9),
)
@example([-LARGEST] * 5, [LARGEST, 0.0], 0.2)
@example([-LARGEST] + [0.0] * 9, [LARGEST, 0.0, -LARGEST], 0.1)
@example([-LARGEST] * 3 + [LARGEST] * 20, [0.0], 0.2)
@example([0.0] * 10 + [9.0] * 20, [5e-324, -5e-324], 0.2)
def test_novelty_is_finite_falls_with_the_score_and_is_0_at_the_threshold(holdout, new, limit):
    try:
        threshold = false_alarm_threshold(holdout, limit, 0.5, "binomial").threshold
    except TooFewRowsError:
        return
    holdout = np.sort(holdout)
    scale = novelty_scale(holdout, threshold)
    assert 0 < scale < np.inf
    scores = np.sort(np.concatenate([new, holdout]))
    novelty = novelty_of(scores, threshold, scale)
    assert np.isfinite(novelty).all()
    assert (np.diff(novelty) <= 0).all()
    np.testing.assert_array_equal(novelty >= 0, scores <= threshold)
    if np.isfinite(threshold):
        assert novelty_of(np.array([threshold]), threshold, scale) == 0


@pytest.mark.parametrize(
    ("holdout", "threshold", "scale"),
    [
        ([1, 2, 3, 4, 9], 1.5, 1.5),  # from the threshold to the median
        ([1, 2, 3, 4, 9], np.nextafter(3, 0), 8),  # the median is the row just above: the range
        ([1, 2, 3, 4, 9], 4, 8),  # more than half are alarms: the range
        ([5, 5, 5], np.nextafter(5, 0), 1),  # no range either
    ],
)
def test_the_unit_of_novelty(holdout, threshold, scale):
    assert novelty_scale(np.array(holdout, dtype=float), threshold) == scale
