"""Learning again by itself after changes, so that suggestions stay fresh, at a bounded cost."""

import threading
import time
from collections.abc import Callable
from typing import Final

# After the first change that is not learnt; a few answers given quickly are learnt together.
_WAIT_SECONDS: Final = 1.0
# Pause after learning, in multiples of the time that it took: a fifth of one processor at most.
_PAUSE: Final = 4.0
# What takes longer waits until nobody answers, or until a tenth of the labels are new.
_QUICK_SECONDS: Final = 3.0
_IDLE_SECONDS: Final = 4.0
_NEW_FRACTION: Final = 0.1


class Relearning:
    """Timer that starts learning after changes.

    Parameters
    ----------
    n_new : callable
        Returns the number of entries that were not looked at yet, and of all labelled rows.
    learn : callable
        Looks at what is new, and starts learning if labels have changed. Both are called in the
        thread of the timer.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from kernova.workbench.learnt.relearning import Relearning
    >>> relearning = Relearning(lambda: (3, 100), lambda: None, clock=lambda: 0.0)
    >>> relearning.took(0.5)
    >>> relearning.seconds_left(n_new=1, n_all=100)
    2.0
    >>> relearning.took(10.0)
    >>> relearning.seconds_left(n_new=1, n_all=100)
    40.0
    """

    def __init__(
        self,
        n_new: Callable[[], tuple[int, int]],
        learn: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._n_new = n_new
        self._learn = learn
        self._clock = clock
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._is_on = False
        self._seconds = 0.0  # that learning took last
        self._ended_at = -float("inf")
        self._first_change = self._last_change = -float("inf")

    def start(self) -> None:
        """Begin to follow changes, with those before."""
        self._is_on = True
        self.changed()

    def stop(self) -> None:
        """End for good."""
        with self._lock:
            self._is_on = False
            if self._timer is not None:
                self._timer.cancel()

    def changed(self) -> None:
        """Take notice of a change; return at once."""
        if not self._is_on:
            return
        with self._lock:
            self._last_change = self._clock()
            if self._timer is None:
                self._first_change = self._last_change
                self._set_timer(_WAIT_SECONDS)

    def took(self, seconds: float) -> None:
        """Take notice of the end of learning, and of the time that it took."""
        self._seconds, self._ended_at = seconds, self._clock()

    def seconds_left(self, n_new: int, n_all: int) -> float:
        """Return how long to wait before learning starts."""
        now = self._clock()
        due = max(self._first_change + _WAIT_SECONDS, self._ended_at + _PAUSE * self._seconds)
        if self._seconds > _QUICK_SECONDS and n_new < _NEW_FRACTION * n_all:
            due = max(due, self._last_change + _IDLE_SECONDS)
        return max(0.0, due - now)

    def _set_timer(self, seconds: float) -> None:
        if self._is_on:
            self._timer = threading.Timer(seconds, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        """Learn if enough is new and it is time, or look again later."""
        n_new, n_all = self._n_new()
        with self._lock:
            self._timer = None
            left = self.seconds_left(n_new, n_all)
            if n_new and left > 0:
                self._set_timer(left)
        if n_new and left <= 0:
            self._learn()
