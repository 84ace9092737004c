"""What a request that cannot be met is told: one shape for every fault.

``{"error": {"code": "refused", "message": "There is nothing to undo."}}``; where fields of a
request are at fault, ``fields`` says of each what is wrong with it.
"""

import json
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Mount

from kernova.errors import InputError, MissingMediaError, NotSavedError
from kernova.workbench import WorkbenchError

# What went wrong, by status, where nothing closer is known.
_CODES: Final = {
    400: "unreadable",
    401: "token",
    403: "forbidden",
    404: "not found",
    405: "method",
    409: "refused",
    413: "too large",
    422: "fields",
    500: "broken",
    503: "unavailable",
}
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_STATUSES: Final = {"not found": 404}
_SENTENCES: Final = {
    404: "There is nothing at this address.",
    405: "This address does not take requests of this method; the Allow header lists those it "
    "takes.",
    413: "The request is larger than 1 MB. Send less at a time.",
}


def fault(
    status: int,
    message: str | None = None,
    code: str | None = None,
    *,
    fields: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Give the response for a fault.

    Examples
    --------
    >>> from kernova.web.errors import fault
    >>> fault(409, "There is nothing to undo.").body
    b'{"error": {"code": "refused", "message": "There is nothing to undo."}}'
    """
    error: dict[str, Any] = {
        "code": code or _CODES.get(status, "refused"),
        "message": message or _SENTENCES.get(status, "The request cannot be met."),
    }
    if fields:
        error["fields"] = fields
    # Escaped to plain ASCII: what was sent may hold half a character, and is told of anyway.
    body = json.dumps({"error": error}).encode()
    return Response(body, status, headers=headers, media_type="application/json")


def tell_faults(app: FastAPI) -> None:
    """Let every fault of the app be told in the one shape."""
    app.add_exception_handler(RequestValidationError, _bad_fields)
    app.add_exception_handler(HTTPException, _bad_request)
    app.add_exception_handler(InputError, _refused)


async def _bad_fields(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = {_place(one["loc"]): str(one["msg"]) for one in error.errors()}
    names = ", ".join(fields)
    return fault(422, f"The request cannot be read as it is: see {names}.", fields=fields)


def _place(location: tuple[Any, ...]) -> str:
    """Name the field at fault; what kind of field it is says the first part of its place."""
    names = [str(part) for part in location[1:]] or [str(part) for part in location]
    # A field's name may be anything that was sent.
    return ".".join(names)[:80].encode("ascii", "backslashreplace").decode()


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        taken = _methods_taken(request)
        headers["Allow"] = ", ".join([*taken, "HEAD"] if "GET" in taken else taken)
    message = "The body cannot be read: it is no JSON." if error.status_code == 400 else None
    return fault(error.status_code, message, headers=headers)


def _methods_taken(request: Request) -> list[str]:
    """List what an address takes: several routes may share it, and each knows of itself only."""
    # Where the app is, not where a folder of files within it is.
    scope = {**request.scope, "root_path": request.scope.get("app_root_path", "")}
    return [
        method
        for method in _METHODS
        if any(
            route.matches({**scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
            if not isinstance(route, Mount) or method == "GET"
        )
    ]


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, WorkbenchError):
        return fault(_STATUSES.get(error.code, 409), str(error), error.code)
    if isinstance(error, MissingMediaError):
        return fault(404, str(error))
    if isinstance(error, NotSavedError):
        return fault(503, str(error), "not saved")
    return fault(409, str(error))
