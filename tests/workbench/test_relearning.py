"""Learning by itself: when it begins, and that it stays within its part of the processor."""

import threading

import numpy as np
import pytest

from kernova.workbench.learnt.relearning import Relearning


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def relearning(clock):
    found = Relearning(lambda: (1, 1), lambda: None, clock)
    found._first_change = found._last_change = clock.now
    return found


@pytest.mark.parametrize(
    ("seconds", "since_end", "n_new", "expected"),
    [
        (0.0, 60.0, 1, 1.0),  # a moment after the first change
        (2.0, 1.0, 1, 7.0),  # four times as long as it took
        (2.0, 60.0, 1, 1.0),
        (10.0, 60.0, 1, 4.0),  # what takes long waits until nobody answers
        (10.0, 60.0, 20, 1.0),  # or until a tenth is new
        (10.0, 5.0, 20, 35.0),
    ],
)
def test_when_it_begins(clock, seconds, since_end, n_new, expected):
    one = relearning(clock)
    one.took(seconds)
    one._ended_at -= since_end
    assert one.seconds_left(n_new=n_new, n_all=100) == expected


def test_it_learns_once_after_several_changes_and_not_after_the_end():
    done, count = threading.Event(), []

    def learn():
        count.append(1)
        done.set()

    one = Relearning(lambda: (3 - 3 * len(count), 10), learn)
    one.changed()  # nobody follows yet
    one.start()
    for _ in range(5):
        one.changed()
    assert done.wait(20)
    one.stop()
    one.changed()
    assert one._timer is None
    assert len(count) == 1


def test_learning_all_the_time_takes_a_fifth(clock):
    """Simulate an answer every two seconds for an hour."""
    one, busy, started = relearning(clock), 0.0, 0
    while clock.now < 3700:
        clock.now += 2.0
        one._last_change = clock.now
        if one.seconds_left(n_new=5, n_all=100) == 0:
            busy, started = busy + 2.5, started + 1
            clock.now += 2.5
            one.took(2.5)
            one._first_change = clock.now
    assert busy / 3600 < 0.21
    assert started > 200
    assert np.isfinite(busy)
