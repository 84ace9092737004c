"""Replies of all routes: JSON, numbers and files, and the errors that every request may get."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final, get_type_hints

from fastapi import APIRouter, Depends, Request, params
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from kernova.web.schemas import FaultReply, reply_json, reply_model
from kernova.workbench.asking import SavedReply

LARGEST: Final = 2**53
# A file of JSON is described as what it holds, not as text.
_JSON: Final = "application/json"
_BINARY: Final = {"schema": {"type": "string"}}
_FAULTS: Final = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    403: "The Host header or the origin of the request is not allowed.",
    404: "The resource does not exist.",
    405: "The address does not support this method.",
    409: "The request conflicts with the current state; the message gives the reason.",
    413: "The request is too large.",
    422: "A field is missing, unknown or invalid.",
    503: "The entry could not be saved, for example because the disk is full, and does not count.",
}

SAVED: Final = reply_model(SavedReply)


def json_reply(reply: Any, status: int = 200) -> Response:
    """Return a reply as JSON; to validate it again would take longer than the work."""
    return Response(reply_json(reply), status, media_type="application/json")


def new_router(tag: str) -> APIRouter:
    """Return a router with the common error replies that rejects unknown parameters."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": FaultReply, "description": sentence}
        for status, sentence in _FAULTS.items()
    }
    return APIRouter(
        tags=[tag], responses=responses, dependencies=[Depends(_only_known_parameters)]
    )


async def _only_known_parameters(request: Request) -> None:
    # Not a plain function, which would run in a thread of its own for every request.
    known = _parameters(request.scope["endpoint"])
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        message = "there is no such parameter"
        raise RequestValidationError([{"loc": ("query", name), "msg": message} for name in unknown])


@cache
def _parameters(endpoint: Callable[..., Any]) -> frozenset[str]:
    """Return the names of an endpoint's query parameters."""
    hints = get_type_hints(endpoint, include_extras=True)
    return frozenset(
        name
        for name, hint in hints.items()
        if any(isinstance(one, params.Query) for one in getattr(hint, "__metadata__", ()))
    )


def binary_responses(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """Return the description of a reply that is a file."""
    content: dict[str, Any] = {
        one: {"schema": {}} if one == _JSON else _BINARY for one in media_types
    }
    return {200: {"content": content}}


def numbers_reply(content: bytes, version: int) -> Response:
    """Return numbers of all rows, with the version that they hold for."""
    headers = {"X-Kernova-Version": str(version)}
    return Response(content, media_type="application/octet-stream", headers=headers)


def attachment(content: bytes, media_type: str, name: str) -> Response:
    """Return a file to be saved under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
