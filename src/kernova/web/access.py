"""Access control of the server, and its error replies: token, cookie, Host header and origin.

The middleware :class:`Access` checks every request, also for addresses that do not exist. The token
gives full access. A browser receives it in the address it is opened with and stores a cookie, which
no script can read and no other site can send; a script sends ``Authorization: Bearer TOKEN``.

A foreign site can let its own name resolve to this machine (DNS rebinding) and send requests as if
to itself. Its name is then in the ``Host`` header, so only known names are accepted.

Errors have one JSON form,
``{"error": {"code": "refused", "message": "There is nothing to undo."}}``; where
fields of a request are invalid, ``fields`` gives the error of each.
"""

import hashlib
import hmac
import ipaddress
import json
import logging
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

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
    >>> from kernova.web.access import fault
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
    """Return the methods of an address, over all its routes."""
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


Message = MutableMapping[str, Any]

_HOST: Final = re.compile(r"(\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(:[0-9]{1,5})?")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LARGEST_BODY: Final = 1_000_000
_MOST_DRAINED: Final = 16 * _LARGEST_BODY

_CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
NOTICE: Final = (
    "This page needs the token that kernova printed at startup. Open the address from that "
    "terminal, including ?token=; a script sends 'Authorization: Bearer TOKEN'."
)
_NOTICE_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova: token needed'
    '</title><meta name="viewport" content="width=device-width"></head><body><main>'
    f"<h1>Token needed</h1><p>{NOTICE}</p></main></body></html>"
)
_REDIRECT_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova</title>'
    '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
    '<meta http-equiv="refresh" content="0; url={0}"></head><body><main>'
    '<p><a href="{0}">Go to the workbench</a></p></main></body></html>'
)
_SAFE_METHODS: Final = ("GET", "HEAD")


class Hosts:
    """Allowed values of the Host header.

    Parameters
    ----------
    names : iterable of str
        Names and addresses.
    any_address : bool
        Whether any numeric address is allowed, as for a server on all interfaces; DNS rebinding
        needs a name.

    Examples
    --------
    >>> from kernova.web.access import _LOOPBACK, Hosts
    >>> hosts = Hosts(_LOOPBACK)
    >>> [hosts.takes(host) for host in ("localhost:8317", "[::1]:8317", "evil.example:8317")]
    [True, True, False]
    """

    def __init__(self, names: Iterable[str] = _LOOPBACK, *, any_address: bool = False) -> None:
        self.names = {name.lower() for name in names}
        self.any_address = any_address

    def takes(self, host: str) -> bool:
        """Return whether the value of a Host header is allowed, with any port."""
        written = _HOST.fullmatch(host)
        if written is None:
            return False
        name = (written["address"] or written["name"]).lower()
        return name in self.names or (self.any_address and _is_address(name))


def hosts_for(address: str) -> Hosts:
    """Return the allowed names of a server that listens at an address.

    Examples
    --------
    >>> from kernova.web.access import hosts_for
    >>> sorted(hosts_for("127.0.0.1").names)
    ['127.0.0.1', '::1', 'localhost']
    """
    if is_loopback(address):
        return Hosts((*_LOOPBACK, address))
    if _is_address(address) and ipaddress.ip_address(address).is_unspecified:
        return Hosts((*_LOOPBACK, socket.gethostname(), socket.getfqdn()), any_address=True)
    return Hosts((address,))


def is_loopback(address: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    if _is_address(address):
        return ipaddress.ip_address(address).is_loopback
    return address.lower() == "localhost"


def is_same_origin(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Return whether a request comes from a page of this server.

    Examples
    --------
    >>> from kernova.web.access import is_same_origin
    >>> is_same_origin("http://localhost:8317", None, "localhost:8317")
    True
    >>> is_same_origin("http://localhost:9999", "same-site", "localhost:8317")
    False
    """
    if origin is None:
        return fetch_site == "same-origin"
    # A proxy may add TLS, so the scheme may differ.
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Key:
    """Token of a server, and the cookie derived from it.

    Parameters
    ----------
    token : str
        The access token.
    port : int
        Port of the server, part of the cookie's name: browsers share cookies between ports.
    """

    def __init__(self, token: str, port: int = 0) -> None:
        self._token = token.encode()
        self.cookie_name = f"kernova-{port}"
        # Not the token itself, which may contain characters that are invalid in cookies.
        self.cookie = hmac.new(self._token, b"kernova cookie", hashlib.sha256).hexdigest()

    def matches(self, token: str) -> bool:
        """Compare a token in constant time."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)

    def matches_bearer(self, authorization: str | None) -> bool:
        """Return whether an Authorization header contains the token."""
        if authorization is None:
            return False
        scheme, _, token = authorization.partition(" ")
        # Starlette decodes headers as Latin-1, whatever their encoding.
        given = token.strip().encode("latin-1", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token)

    def matches_cookie(self, cookies: str | None) -> bool:
        """Return whether a Cookie header contains the cookie."""
        # Servers at other ports share the header. Python's own parser stops at the first
        # malformed cookie, Starlette's does not.
        given = cookie_parser(cookies or "").get(self.cookie_name, "")
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.cookie.encode())

    @property
    def set_cookie(self) -> str:
        """Value of the Set-Cookie header."""
        return f"{self.cookie_name}={self.cookie}; HttpOnly; Path=/; SameSite=Strict"


class Access:
    """ASGI middleware that rejects unauthorised requests and adds security headers.

    Parameters
    ----------
    app : ASGI app
        The protected application.
    key : Key
        The access token.
    hosts : Hosts
        Allowed values of the Host header.
    """

    def __init__(self, app: ASGIApp, key: Key, hosts: Hosts) -> None:
        self.app = app
        self.key = key
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        reply = _Reply(send, is_head=scope["method"] == "HEAD")
        inner = {**scope, "method": "GET"} if reply.is_head else scope
        rejection = self._rejection(scope)
        if rejection is not None:
            await rejection(inner, receive, reply)
            return
        body = _Body(receive)
        if body.is_too_large(Headers(scope=scope).get("content-length")):
            await body.drain()
            await fault(413)(inner, receive, reply)
            return
        try:
            await self.app(inner, body, reply)
        except Exception:
            # Any bug is reported in the common form, and the server keeps running.
            logging.getLogger("kernova.web").exception("A request failed.")
            if not reply.has_begun:
                message = "Internal error in kernova; see the terminal for details."
                await fault(500, message)(inner, receive, reply)

    def _rejection(self, scope: Scope) -> Response | None:
        """Return the response to an unauthorised request, None for an authorised one."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.hosts.takes(hosts[0]):
            return fault(
                403,
                "This host name is not allowed. Use the address that kernova printed.",
                "host",
            )
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == "token"]
        if tokens:
            return self._login(scope, tokens, query)
        if self.key.matches_bearer(headers.get("authorization")):
            return self._foreign(scope, headers, by_cookie=False)
        if self.key.matches_cookie(headers.get("cookie")):
            return self._foreign(scope, headers, by_cookie=True)
        return _notice(headers)

    def _login(
        self, scope: Scope, tokens: list[str], query: list[tuple[str, str]]
    ) -> Response | None:
        given = Headers(scope=scope)
        if scope["method"] not in _SAFE_METHODS or not all(map(self.key.matches, tokens)):
            return _notice(given)
        # A single slash, since // would redirect to another host.
        path = "/" + quote(scope["path"].lstrip("/"))
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        location = f"{path}?{rest}" if rest else path
        headers = {"Set-Cookie": self.key.set_cookie}
        if given.get("sec-fetch-site") in ("cross-site", "same-site"):
            # A link on another site, such as a web terminal: browsers withhold the SameSite cookie
            # also after a redirect, but send it when a page of this server refreshes.
            return HTMLResponse(_REDIRECT_PAGE.format(escape(location)), headers=headers)
        return Response(status_code=303, headers={**headers, "Location": location})

    def _foreign(self, scope: Scope, headers: Headers, *, by_cookie: bool) -> Response | None:
        """Reject requests that a page of another origin lets a browser send."""
        site = headers.get("sec-fetch-site")
        # Browsers send one; two joined ones match no origin.
        origin = ", ".join(headers.getlist("origin")) or None
        is_ours = is_same_origin(origin, site, headers["host"])
        if scope["method"] in _SAFE_METHODS:
            is_typed = site in (None, "none", "same-origin")
            is_navigation = headers.get("sec-fetch-mode") == "navigate"
            is_fine = is_ours or not by_cookie or is_typed or is_navigation
        else:
            is_fine = is_ours or (origin is None and not by_cookie)
        if is_fine:
            return None
        return fault(403, "Only kernova's own page may send this request.", "origin")


def _notice(headers: Headers) -> Response:
    """Return the notice that the token is missing, as HTML if the client accepts it."""
    challenge = {"WWW-Authenticate": 'Bearer realm="kernova"'}
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse(_NOTICE_PAGE, 401, headers=challenge)
    return fault(401, NOTICE, headers=challenge)


class _Reply:
    """Sends a response with the headers that are common to all."""

    def __init__(self, send: Send, *, is_head: bool) -> None:
        self._send = send
        self.is_head = is_head
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        elif self.is_head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


class _Body:
    """Passes on a request's body up to the size limit."""

    def __init__(self, receive: Callable[[], Awaitable[Message]]) -> None:
        self._receive = receive
        self._n_bytes = 0

    @staticmethod
    def is_too_large(declared: str | None) -> bool:
        """Return whether the declared length exceeds the limit."""
        if declared is None or not declared.isdecimal():
            return False
        return len(declared) > 12 or int(declared) > _LARGEST_BODY

    async def drain(self) -> None:
        """Read the rest of the body, since a client reads no reply while it is sending."""
        while self._n_bytes < _MOST_DRAINED:
            message = await self._receive()
            self._n_bytes += len(message.get("body", b""))
            if not message.get("more_body", False):
                return

    async def __call__(self) -> Message:
        message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > _LARGEST_BODY:
            raise HTTPException(413)
        return message
