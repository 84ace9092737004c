"""Choosing intervals, against every possible choice."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernova.errors import InputError
from kernova.notes.candidates import best_nonoverlapping
from tests.calibration import literal

# Sixteenths add up without rounding, so that totals can be compared exactly.
INTERVALS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8), st.integers(-16, 48).map(lambda g: g / 16)),
    max_size=9,
)


@given(INTERVALS, st.sampled_from([1, 0.25]))
def test_no_other_choice_gains_more(intervals, unit):
    starts = [start * unit for start, _, _ in intervals]
    stops = [(start + length) * unit for start, length, _ in intervals]
    gains = [gain for _, _, gain in intervals]
    chosen = best_nonoverlapping(starts, stops, gains)
    for a, b in pairwise(chosen):
        assert stops[a] <= starts[b]
    assert all(gains[i] > 0 for i in chosen)
    assert sum(gains[i] for i in chosen) == literal.best_gain(starts, stops, gains)


def test_ties_go_to_what_stops_first_and_was_given_first():
    assert best_nonoverlapping([0, 0, 0], [6, 5, 5], [1.0, 1.0, 1.0]).tolist() == [1]
    assert best_nonoverlapping([0, 0, 3], [6, 3, 6], [2.0, 1.0, 1.0]).tolist() == [0]
    assert best_nonoverlapping([0, 3, 0], [3, 6, 6], [1.0, 1.0, 2.0]).tolist() == [0, 1]


def test_many_intervals_cross_blocks():
    # Tiles of one frame beside longer intervals that gain a little less than their tiles.
    n = 70_000
    starts = np.r_[np.arange(n), np.arange(0, n - 10, 3)]
    stops = np.r_[np.arange(1, n + 1), np.arange(0, n - 10, 3) + 10]
    gains = np.r_[np.ones(n), np.full(len(starts) - n, 9.75)]
    np.testing.assert_array_equal(best_nonoverlapping(starts, stops, gains), np.arange(n))


def test_nothing_to_choose():
    assert best_nonoverlapping([], [], []).tolist() == []
    assert best_nonoverlapping([0.0], [1.0], [0.0]).tolist() == []


@pytest.mark.parametrize(
    ("intervals", "sentence"),
    [
        (([0, 1], [1], [1.0]), r"Intervals have starts, stops and gains of shapes \(2,\), \(1,\) "
         r"and \(1,\); give three lists of one length\."),
        (([0.0], [np.nan], [1.0]),
         r"Intervals have starts, stops or gains that are NaN or infinite\."),
        (([0, 3], [1, 3], [1.0, 1.0]),
         r"Interval 1 starts at 3 and stops at 3; it must stop later than it starts\."),
    ],
)  # fmt: skip
def test_what_is_no_interval_is_refused(intervals, sentence):
    with pytest.raises(InputError, match=f"^{sentence}$"):
        best_nonoverlapping(*intervals)
