"""FastAPI application of the workbench.

Access control (:mod:`kernova.web.access`) comes first. Then a request is validated
(:mod:`kernova.web.schemas`), routed (:mod:`kernova.web.routes`) and executed by
:mod:`kernova.workbench`, whose reply is returned as JSON.
"""

import json
import mimetypes
from collections.abc import Awaitable, Callable, Iterable, Sequence
from inspect import iscoroutinefunction, signature
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints
from urllib.parse import parse_qsl

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel, create_model
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from kernova._version import __version__
from kernova.web.access import Access, add_error_handlers
from kernova.web.hosts import Hosts
from kernova.web.invitations import Invitations
from kernova.web.login import Key, Throttle
from kernova.web.routes import all_routes
from kernova.workbench import Workbench

STATIC: Final = Path(__file__).parent / "static"
# Some systems register .js as text/plain, and browsers then refuse to run it.
_KINDS: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_PREFIX: Final = "/api"
_TRIED: Final = "kernova.short_route"
_JSON: Final = (b"content-type", b"application/json")
_DESCRIPTION: Final = (
    "Everything that the page does can be scripted. Send the token that kernova was started with "
    "as `Authorization: Bearer TOKEN`. Rows are given by their index in the table, counted from 0. "
    "All errors have the same JSON form."
)


def create_app(
    workbench: Workbench,
    key: Key,
    hosts: Hosts | None = None,
    throttle: Throttle | None = None,
    frame_ancestors: Sequence[str] = (),
    invitations: Invitations | None = None,
) -> FastAPI:
    """Return the application for a workbench.

    Parameters
    ----------
    workbench : Workbench
        The workbench to serve.
    key : Key
        The accepted credentials.
    hosts : Hosts, optional
        Allowed values of the Host header; by default, the loopback names.
    throttle : Throttle, optional
        Delays after wrong tokens; by default there are none.
    frame_ancestors : sequence of str
        Origins whose pages may show this one in a frame; by default none.
    invitations : Invitations, optional
        The links that let invited experts in; by default for this machine only.

    Returns
    -------
    FastAPI
        The application; its description is at ``/api/openapi.json``.
    """
    app = FastAPI(
        title="kernova workbench",
        version=__version__,
        description=_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # it would load scripts from another site
        redoc_url=None,
        redirect_slashes=False,
    )
    add_error_handlers(app)
    invitations = invitations or Invitations(key)
    routers = all_routes(workbench, invitations)
    app.router.routes.insert(0, _ShortRoute(routers, _PREFIX))
    for router in routers:
        app.include_router(router, prefix=_PREFIX)
    for ending, kind in _KINDS.items():
        mimetypes.add_type(kind, ending)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    _describe_access(app)
    app.add_middleware(
        Access,
        key=key,
        hosts=hosts or Hosts(),
        throttle=throttle,
        frame_ancestors=frame_ancestors,
        invitations=invitations,
    )
    return app


def _describe_access(app: FastAPI) -> None:
    """Add the token to the OpenAPI description."""
    made = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = made()
            schema.setdefault("components", {})["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"}
            }
            schema["security"] = [{"token": []}]
        return made()

    app.openapi = described  # type: ignore[method-assign]


class _ShortRoute(BaseRoute):
    """Short way to the requests that every answer needs.

    FastAPI's routing and dependencies take longer than the work of a short request. Valid requests
    go to their endpoint directly; any other takes FastAPI's way, which reports what is wrong.
    """

    def __init__(self, routers: Iterable[APIRouter], prefix: str) -> None:
        routes = [route for one in routers for route in one.routes if isinstance(route, APIRoute)]
        self._endpoints = {
            (method, prefix + route.path): _Endpoint.of(route.endpoint)
            for route in routes
            for method in route.methods or ()
            if _is_short(route)
        }

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request may take this way."""
        is_short = (
            _TRIED not in scope
            and (scope["method"], scope["path"]) in self._endpoints
            and (scope["method"] == "GET" or _JSON in scope["headers"])
        )
        return (Match.FULL if is_short else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the endpoint; if the request is not valid, take FastAPI's way."""
        endpoint = self._endpoints[scope["method"], scope["path"]]
        content = await _content(receive)
        if content is None:
            return
        try:
            given = endpoint.arguments(content, scope["query_string"].decode("latin-1"))
        except (ValueError, RecursionError):
            scope[_TRIED] = True
            await scope["router"](scope, _again(content, receive), send)
            return
        response = await endpoint.call(**given)
        await response(scope, receive, send)


class _Endpoint(NamedTuple):
    """Coroutine function of a request, and the models of its body and of its query."""

    call: Callable[..., Awaitable[Response]]
    body: type[BaseModel] | None
    query: type[BaseModel]

    @classmethod
    def of(cls, call: Callable[..., Any]) -> "_Endpoint":
        hints = get_type_hints(call, include_extras=True)
        fields = {
            name: (hints[name], one.default)
            for name, one in signature(call).parameters.items()
            if name != "body"
        }
        query = create_model("Query", __config__={"extra": "forbid"}, **fields)  # type: ignore[call-overload]
        return cls(call, hints.get("body"), query)

    def arguments(self, content: bytes, query: str) -> dict[str, Any]:
        """Return the arguments of the endpoint; raise a ValueError if they are not valid."""
        pairs = parse_qsl(query, keep_blank_values=True)
        if len(pairs) != len(dict(pairs)) or (content and self.body is None):
            raise ValueError("FastAPI decides what this means.")
        given = dict(self.query.model_validate(dict(pairs)))
        if self.body is not None:
            given["body"] = self.body.model_validate(json.loads(content))
        return given


def _is_short(route: APIRoute) -> bool:
    """Return whether a route needs no path, no thread and no conversion of its reply."""
    is_direct = get_type_hints(route.endpoint)["return"] is Response
    return is_direct and iscoroutinefunction(route.endpoint) and "{" not in route.path


async def _content(receive: Receive) -> bytes | None:
    """Read the body of a request; None if its client has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _again(content: bytes, receive: Receive) -> Receive:
    """Return a body that was read as one that can be received."""
    unread = [content]

    async def received() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return received
