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

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

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
