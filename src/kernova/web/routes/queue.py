"""Queue of requests: first come first served, and entries that wait together share a write."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, NamedTuple, ParamSpec, TypeVar

from starlette.responses import Response

from kernova.web.routes.replies import json_reply
from kernova.web.visitors import check_expert, visitor
from kernova.workbench import Workbench
from kernova.workbench.asking import Request as SaveRequest
from kernova.workbench.asking import SavedReply

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Entries that share a write, in which all of fifty experts find room; more would wait for long.
_MOST_TOGETHER: Final = 64


class Queue:
    """Worker thread that handles one request after another, first come first served.

    Threads that wait for a lock are woken in no fixed order: with many experts at once, some would
    wait several times as long as others. Entries that wait together are saved with one write, and
    each is acknowledged after it.

    Parameters
    ----------
    workbench : Workbench
        Saves the entries.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._questions = workbench.questions
        self._browsers = workbench.browsers
        self._waiting: deque[_Waiting] = deque()
        self._is_called = False  # whether the worker will take what waits
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kernova-queue")

    async def run(
        self,
        work: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Wait for the queue, run the work and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, partial(work, *args, **kwargs))

    def identify(self, expert: str | None) -> None:
        """Note that an expert works in the browser that sends the request, if this is allowed."""
        check_expert(expert)
        self._browsers.mark(expert, visitor().browser)

    async def save(self, request: SaveRequest) -> Response:
        """Wait for the queue and until the entry is on disk; return what was saved."""
        self.identify(request.expert)
        loop = asyncio.get_running_loop()
        waiting = _Waiting(request, loop.create_future())
        self._waiting.append(waiting)
        if not self._is_called:
            self._is_called = True
            self._worker.submit(self._save_waiting, loop)
        return json_reply(await waiting.reply)

    def _save_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_called = False  # before they are taken: whoever comes now calls again
        n_together = min(len(self._waiting), _MOST_TOGETHER)
        together = [self._waiting.popleft() for _ in range(n_together)]
        if self._waiting and not self._is_called:
            self._is_called = True
            self._worker.submit(self._save_waiting, loop)
        outcomes: list[SavedReply | Exception] = []
        try:
            self._questions.save_all(
                [one.request for one in together], lambda _, outcome: outcomes.append(outcome)
            )
        # Nobody must wait for ever, whatever happens.
        except Exception as error:  # noqa: BLE001
            outcomes += [error] * (len(together) - len(outcomes))
        loop.call_soon_threadsafe(_settle_all, together, outcomes)


class _Waiting(NamedTuple):
    request: SaveRequest
    reply: "asyncio.Future[SavedReply]"


def _settle_all(together: list[_Waiting], outcomes: list[SavedReply | Exception]) -> None:
    for one, outcome in zip(together, outcomes, strict=True):
        _settle(one.reply, outcome)


def _settle(reply: "asyncio.Future[SavedReply]", outcome: SavedReply | Exception) -> None:
    if reply.done():  # cancelled: its client has gone
        return
    if isinstance(outcome, Exception):
        reply.set_exception(outcome)
    else:
        reply.set_result(outcome)
