"""Time left of a computation: only ever less, in words, and silent while it is unknown."""

import itertools

import numpy as np
import pytest

from kernova.progress import Stage, Step, TimeLeft, time_left_words
from kernova.workbench.shared import BackgroundJob


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def told(steps, stages=()):
    """Return the seconds left after steps, each with the time at which it comes."""
    clock = Clock()
    left = TimeLeft(stages, clock)
    found = []
    for at, step in steps:
        clock.now = at
        left.note(step)
        found.append(left.seconds)
    return found


def test_nothing_is_stated_at_the_beginning():
    steps = [
        (0, Step("drawing", 0, 100)),
        (1.9, Step("drawing", 50, 100)),
        (9, Step("other", 9, 9)),
    ]
    assert told(steps) == [None, None, None]
    assert told([(50, Step("drawing", 9, 100))]) == [None]


def test_an_even_pace_is_estimated_exactly():
    steps = [(second, Step("drawing", second, 100)) for second in range(101)]
    found = told(steps)
    assert found[:10] == [None] * 10
    assert found[10:] == pytest.approx([100 - second for second in range(10, 101)])


@pytest.mark.parametrize("seed", range(20))
def test_it_never_increases(seed):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.lognormal(0, 1.5, 60))
    clock = Clock()
    left = TimeLeft(clock=clock)
    stated = []
    for number, time in enumerate(times):
        # Looked at more often than there are steps.
        for now in np.linspace(clock.now, time, 4).tolist():
            clock.now = now
            if left.seconds is not None:
                stated.append((clock.now, left.seconds))
        left.note(Step("drawing", number, 60))
    ends = [at + seconds for at, seconds in stated if seconds > 0]
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(ends))


def test_a_wrong_estimate_is_withdrawn():
    clock = Clock()
    left = TimeLeft(clock=clock)
    for now, done in ((10, 25), (20, 50)):
        clock.now = now
        left.note(Step("drawing", done, 100))
    assert left.words == "about half a minute left"
    clock.now = 45
    assert left.words == "a few seconds left"
    clock.now = 80
    assert (left.words, left.seconds) == ("", None)


def test_stages_count_by_their_weights():
    stages = [Stage("", 1), Stage("searching", 4), Stage("drawing", 5)]
    steps = [
        (10, Step("searching", 0, 6)),  # a tenth
        (30, Step("searching", 3, 6)),
        (30, Step("searching", 0, 2)),  # a second loop of the same task
        (50, Step("drawing", 0, 9)),
        (60, Step("cleaning", 1, 2)),  # in no stage
        (50, Step("searching", 1, 6)),  # of an earlier stage
    ]
    assert told(steps, stages) == pytest.approx([90, 70, 70, 50, 40, 50])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds left"),
        (44, "about half a minute left"),
        (45, "about a minute left"),
        (95, "about 2 minutes left"),
        (3600, "about 60 minutes left"),
        (7200, "about 2 hours left"),
        (9000, "about 3 hours left"),
    ],
)
def test_times_in_words(seconds, words):
    assert time_left_words(seconds) == words


def test_a_job_that_has_ended_states_nothing():
    job = BackgroundJob(lambda: None)
    assert job.left == ""
    job.start(lambda: 7)
    assert job.wait(60)
    assert (job.left, job.result) == ("", 7)
