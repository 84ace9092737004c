"""Error replies, all in one JSON form.

``{"error": {"code": "refused", "message": "There is nothing to undo."}}``; where fields of a
request are invalid, ``fields`` gives the error of each.
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

# Error code by status, where nothing more specific is known.
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
    405: "This address does not support this method; the Allow header lists those it supports.",
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
    """Return the response for an error.

    Examples
    --------
    >>> from kernova.web.errors import fault
    >>> fault(409, "There is nothing to undo.").body
    b'{"error": {"code": "refused", "message": "There is nothing to undo."}}'
    """
    error: dict[str, Any] = {
        "code": code or _CODES.get(status, "refused"),
        "message": message or _SENTENCES.get(status, "The request failed."),
    }
    if fields:
        error["fields"] = fields
    # Escaped to ASCII: a request may contain lone surrogates, which UTF-8 cannot encode.
    body = json.dumps({"error": error}).encode()
    return Response(body, status, headers=headers, media_type="application/json")


def add_error_handlers(app: FastAPI) -> None:
    """Let the application return all errors in the one form."""
    app.add_exception_handler(RequestValidationError, _bad_fields)
    app.add_exception_handler(HTTPException, _bad_request)
    app.add_exception_handler(InputError, _rejected)


async def _bad_fields(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = {_field_name(one["loc"]): str(one["msg"]) for one in error.errors()}
    names = ", ".join(fields)
    return fault(422, f"The request is invalid: see {names}.", fields=fields)


def _field_name(location: tuple[Any, ...]) -> str:
    """Return the name of an invalid field, without its kind (body, query ...)."""
    names = [str(part) for part in location[1:]] or [str(part) for part in location]
    # The name comes from the request and may contain anything.
    return ".".join(names)[:80].encode("ascii", "backslashreplace").decode()


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        allowed = _allowed_methods(request)
        headers["Allow"] = ", ".join([*allowed, "HEAD"] if "GET" in allowed else allowed)
    message = "The body is not valid JSON." if error.status_code == 400 else None
    return fault(error.status_code, message, headers=headers)


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods of an address, over all routes that share it."""
    # The path of the application, not that of the mounted static files.
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


async def _rejected(request: Request, error: Exception) -> Response:
    if isinstance(error, WorkbenchError):
        return fault(_STATUSES.get(error.code, 409), str(error), error.code)
    if isinstance(error, MissingMediaError):
        return fault(404, str(error))
    if isinstance(error, NotSavedError):
        return fault(503, str(error), "not saved")
    return fault(409, str(error))
