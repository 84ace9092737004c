"""Progress of long computations, reported to a listener.

Library code calls :func:`track` around its loops and does not depend on terminals. A caller who
wants to see progress wraps the call in :func:`reporting`; otherwise tracking costs nothing.

>>> from kernova.progress import reporting, track
>>> seen = []
>>> with reporting(lambda step: seen.append((step.done, step.total))):
...     for block in track(["a", "b"], "scoring"):
...         pass
>>> seen
[(0, 2), (1, 2), (2, 2)]
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, TypeVar

_Item = TypeVar("_Item")


class Step(NamedTuple):
    """Progress of one task: how many of its items are done."""

    task: str
    done: int
    total: int


Listener = Callable[[Step], None]

_listener: ContextVar[Listener | None] = ContextVar("kernova_progress", default=None)
_audience: ContextVar[Callable[[str], None] | None] = ContextVar("kernova_audience", default=None)


@contextmanager
def reporting(listener: Listener) -> Iterator[None]:
    """Send every :class:`Step` made inside the block to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def announcing(listener: Callable[[str], None]) -> Iterator[None]:
    """Send every sentence announced inside the block to ``listener``."""
    token = _audience.set(listener)
    try:
        yield
    finally:
        _audience.reset(token)


def announce(sentence: Callable[[], str | None]) -> None:
    """Pass the listener a sentence about the work ahead; without one nothing is computed.

    Examples
    --------
    >>> from kernova.progress import announce, announcing
    >>> with announcing(print):
    ...     announce(lambda: "This will take about 3 minutes.")
    This will take about 3 minutes.
    """
    listener = _audience.get()
    text = None if listener is None else sentence()
    if listener is not None and text is not None:
        listener(text)


def track(items: Collection[_Item], task: str) -> Iterator[_Item]:
    """Yield the items one by one, reporting a step before the first and after each.

    A single item is not reported: it has no progress between its beginning and its end.
    """
    listener = _listener.get()
    if listener is None or len(items) < 2:
        yield from items
        return
    listener(Step(task, 0, len(items)))
    for done, item in enumerate(items, start=1):
        yield item
        listener(Step(task, done, len(items)))


# --- time left -------------------------------------------------------------------------------

# Before so much is done, and so many seconds have passed, the time left is unknown.
_LEAST_DONE: Final = 0.1
_LEAST_SECONDS: Final = 2.0
# An estimate that has been exceeded by this fraction of the time taken so far was wrong.
_OVERDUE: Final = 0.25
_OVERDUE_SECONDS: Final = 10.0
_NEWEST: Final = 0.5  # weight of the newest estimate among all so far


class Stage(NamedTuple):
    """A task of a computation, and about which part of the whole time it takes."""

    task: str
    weight: float


class TimeLeft:
    """Time left of a computation, estimated from the steps that it reports.

    What is stated only decreases: where an estimate grows, the former one stands until it is
    reached, and where it has been exceeded by far, nothing is stated.

    Parameters
    ----------
    stages : sequence of Stage
        The tasks in order, with one named "" for what reports no steps. Without any, the first
        task that is reported counts as the whole.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> from kernova.progress import Step, TimeLeft
    >>> now = 0.0
    >>> left = TimeLeft(clock=lambda: now)
    >>> left.note(Step("drawing", 0, 100))
    >>> now = 30.0
    >>> left.note(Step("drawing", 20, 100))
    >>> left.words
    'about 2 minutes left'
    """

    def __init__(
        self, stages: Sequence[Stage] = (), clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stages = list(stages)
        self._clock = clock
        self._began = clock()
        self._place = 0  # of the stage that was reported last
        self._done = 0.0  # fraction of the whole
        self._end: float | None = None  # as estimated
        self._stated: float | None = None  # as stated: it never becomes later

    def note(self, step: Step) -> None:
        """Use the next step; tasks that are in no stage say nothing about the time left."""
        if not self._stages:
            self._stages = [Stage(step.task, 1.0)]
        names = [stage.task for stage in self._stages[self._place :]]
        if step.task not in names or step.total <= 0:
            return
        self._place += names.index(step.task)
        total = sum(stage.weight for stage in self._stages)
        earlier = sum(stage.weight for stage in self._stages[: self._place])
        done = earlier + self._stages[self._place].weight * step.done / step.total
        elapsed = self._clock() - self._began
        # A task may report several loops: what is done does not decrease.
        self._done = max(self._done, min(1.0, done / total))
        if self._done >= _LEAST_DONE and elapsed >= _LEAST_SECONDS:
            self._estimate(self._began + elapsed / self._done)

    def _estimate(self, end: float) -> None:
        before = end if self._end is None else self._end
        self._end = _NEWEST * end + (1 - _NEWEST) * before
        self._stated = self._end if self._stated is None else min(self._stated, self._end)

    @property
    def seconds(self) -> float | None:
        """The seconds left; None while they are unknown."""
        if self._stated is None:
            return None
        now = self._clock()
        overdue = now - self._stated
        if overdue > max(_OVERDUE_SECONDS, _OVERDUE * (now - self._began)):
            return None
        return max(0.0, -overdue)

    @property
    def words(self) -> str:
        """The time left in words; empty while it is unknown."""
        seconds = self.seconds
        return "" if seconds is None else time_left_words(seconds)


def time_left_words(seconds: float) -> str:
    """Return a time left in words, no more exact than such estimates are.

    Examples
    --------
    >>> from kernova.progress import time_left_words
    >>> for seconds in (4, 30, 70, 130, 5400):
    ...     print(time_left_words(seconds))
    a few seconds left
    about half a minute left
    about a minute left
    about 2 minutes left
    about 2 hours left
    """
    if seconds < 15:
        return "a few seconds left"
    if seconds < 45:
        return "about half a minute left"
    if seconds < 90:
        return "about a minute left"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"about {minutes} minutes left"
    return f"about {round(minutes / 60 + 0.01)} hours left"
