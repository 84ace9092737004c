"""What all routers share: known faults, strict parameters, and one queue for what is said."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Final, ParamSpec, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.params import Query

from kernova.web.replies import FaultReply

_FAULTS: Final = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    403: "The server was addressed by a foreign name, or from a foreign page.",
    404: "There is no such thing.",
    405: "The address does not take this method.",
    409: "It cannot be done as things stand; the message says why.",
    413: "The request is too large.",
    422: "A field is missing, unknown or not of its kind.",
    503: "It could not be saved, for example because the disk is full. It does not count.",
}


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Queue:
    """Does one thing after another, first come first served.

    Threads that wait for one lock are let in by chance: with many experts at once, some would
    wait several times as long as others.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kernova-queue")

    async def run(
        self,
        work: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Wait for the turn, and give what comes of the work."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, partial(work, *args, **kwargs))


def new_router(tag: str) -> APIRouter:
    """Give a router whose addresses tell faults in the one shape, and take no stray parameters."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": FaultReply, "description": sentence}
        for status, sentence in _FAULTS.items()
    }
    return APIRouter(
        tags=[tag], responses=responses, dependencies=[Depends(_only_known_parameters)]
    )


def _only_known_parameters(request: Request) -> None:
    known = _parameters(request.scope["endpoint"])
    strays = [name for name in request.query_params if name not in known]
    if strays:
        message = "there is no such parameter"
        raise RequestValidationError([{"loc": ("query", name), "msg": message} for name in strays])


@cache
def _parameters(endpoint: Callable[..., Any]) -> frozenset[str]:
    """Name the parameters that an endpoint takes from the address."""
    hints = get_type_hints(endpoint, include_extras=True)
    return frozenset(
        name
        for name, hint in hints.items()
        if any(isinstance(one, Query) for one in getattr(hint, "__metadata__", ()))
    )
