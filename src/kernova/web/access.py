"""Access control of the server, and its error replies: login, cookie, Host header and origin.

The middleware :class:`Access` checks every request, also for addresses that do not exist. A browser
logs in by a one-time link or by the token (:mod:`kernova.web.login`) and stores a cookie, which no
script can read and no other site can send; a script sends ``Authorization: Bearer TOKEN``. The
token is not accepted in an address, which browsers would remember.

A foreign site can let its own name resolve to this machine (DNS rebinding) and send requests as if
to itself. Its name is then in the ``Host`` header, so only known names are accepted.

Errors have one JSON form,
``{"error": {"code": "refused", "message": "There is nothing to undo."}}``; where
fields of a request are invalid, ``fields`` gives the error of each.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from kernova.errors import InputError, MissingMediaError, NotSavedError
from kernova.web.hosts import Hosts, is_same_origin
from kernova.web.invitations import INVITATION_HOURS, Invitations
from kernova.web.login import (
    INVITATION_PATH,
    LINK_MINUTES,
    LOGIN_HEADERS,
    LOGIN_PATH,
    NOTICE,
    REDIRECT_PAGE,
    FormPage,
    InvitationPage,
    Key,
    LoginPage,
    Throttle,
    bearer_token,
)
from kernova.web.visitors import Visitor, welcome
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
_STATUSES: Final = {"not found": 404, "forbidden": 403}
_SENTENCES: Final = {
    404: "There is nothing at this address.",
    405: "This address does not support this method; the Allow header lists those it supports.",
    413: "The request is larger than 1 MB (a file of labels: 16 MB). Send less at a time.",
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

_LARGEST_BODY: Final = 1_000_000
# Files of labels come in base64, within JSON.
_LARGEST_OF: Final = {"/api/imports/preview": 22_000_000}
_MOST_DRAINED: Final = 16 * _LARGEST_BODY


def _raw(headers: dict[str, str]) -> dict[bytes, bytes]:
    return {name.lower().encode(): value.encode() for name, value in headers.items()}


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
# As ASGI has them: names in lower case, all in bytes.
_COMMON_HEADERS: Final = _raw(_HEADERS)
_LOGIN_HEADERS: Final = _raw(_HEADERS | LOGIN_HEADERS)


def framed_headers(ancestors: Sequence[str]) -> dict[bytes, bytes]:
    """Return the headers of a page that pages of some origins may show in a frame.

    Parameters
    ----------
    ancestors : sequence of str
        Origins as a content security policy has them; none for no frame at all.

    Examples
    --------
    >>> from kernova.web.access import framed_headers
    >>> headers = framed_headers(["http://localhost:*"])
    >>> b"frame-ancestors http://localhost:*" in headers[b"content-security-policy"]
    True
    >>> b"x-frame-options" in headers, b"x-frame-options" in framed_headers([])
    (False, True)
    """
    if not ancestors:
        return _COMMON_HEADERS
    policy = _CONTENT_SECURITY_POLICY.replace(
        "frame-ancestors 'none'", f"frame-ancestors {' '.join(ancestors)}"
    )
    headers = _HEADERS | {"Content-Security-Policy": policy}
    del headers["X-Frame-Options"]  # it knows one origin at most, and none with any port
    return _raw(headers)


_TOKEN_IN_ADDRESS: Final = (
    "A token in an address is not accepted, since browsers remember addresses. Enter it on the "
    "login page; scripts send 'Authorization: Bearer TOKEN'."
)
_VOID_LINK: Final = (
    f"This link has already been used, or is older than {LINK_MINUTES} minutes. Press Enter in the "
    "terminal that runs kernova for a new one."
)
_WRONG_TOKEN: Final = "This token is wrong."
_VOID_INVITATION: Final = (
    f"This invitation has been used, was revoked, or is older than {INVITATION_HOURS} hours. Ask "
    "whoever sent it for a new link."
)
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="kernova"'}
_LARGEST_FORM: Final = 10_000
_WRONG_TOKENS_TO_REPORT: Final = 5
_SAFE_METHODS: Final = ("GET", "HEAD")


class Access:
    """ASGI middleware that rejects unauthorised requests and adds security headers.

    Parameters
    ----------
    app : ASGI app
        The protected application.
    key : Key
        The accepted credentials.
    hosts : Hosts
        Allowed values of the Host header.
    throttle : Throttle, optional
        Delays after wrong tokens; by default there are none.
    frame_ancestors : sequence of str
        Origins whose pages may show this one in a frame; by default none. The login page may never
        be shown in one.
    invitations : Invitations, optional
        The links that let invited experts in.
    """

    def __init__(
        self,
        app: ASGIApp,
        key: Key,
        hosts: Hosts,
        throttle: Throttle | None = None,
        frame_ancestors: Sequence[str] = (),
        invitations: Invitations | None = None,
    ) -> None:
        self._headers = framed_headers(frame_ancestors)
        self.app = app
        self.key = key
        self.hosts = hosts
        self.throttle = throttle
        self.invitations = invitations or Invitations(key)
        self._n_wrong = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        reply = _Reply(send, self._headers, is_head=scope["method"] == "HEAD")
        inner = {**scope, "method": "GET"} if reply.is_head else scope
        rejection = await self._rejection(scope, receive)
        if rejection is not None:
            reply.is_login = isinstance(rejection, FormPage)
            await rejection(inner, receive, reply)
            return
        body = _Body(receive, _LARGEST_OF.get(scope["path"], _LARGEST_BODY))
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

    async def _rejection(self, scope: Scope, receive: Receive) -> Response | None:
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
        if any(name == "token" for name, _ in query):
            return _notice(headers, _TOKEN_IN_ADDRESS)
        if scope["path"] == LOGIN_PATH and scope["method"] in (*_SAFE_METHODS, "POST"):
            return await self._login(scope, receive, query)
        if scope["path"] == INVITATION_PATH and scope["method"] in (*_SAFE_METHODS, "POST"):
            return await self._invitation(scope, receive, query)
        by_token = self.key.matches_bearer(headers.get("authorization"))
        session = self.key.session_of(headers.get("cookie"))
        by_cookie = session is not None
        if bearer_token(headers.get("authorization")) is not None and not by_cookie:
            await self._slow_down(scope, receive, is_right=by_token)
        if not (by_token or by_cookie):
            return _notice(headers)
        _trust(scope)
        # Whoever sends the token may do everything, whatever cookie is sent with it.
        welcome(Visitor() if by_token or session is None else Visitor(*session))
        return self._foreign(scope, headers, by_cookie=not by_token)

    # --- login

    async def _login(
        self, scope: Scope, receive: Receive, query: list[tuple[str, str]]
    ) -> Response:
        headers = Headers(scope=scope)
        if scope["method"] == "POST":
            return await self._login_by_token(scope, receive)
        if scope["method"] == "HEAD" or _is_prefetched(headers):
            return _notice(headers)  # nobody sees the reply yet: the link stays valid
        codes = [value for name, value in query if name == "code"]
        # A link that was opened is void, also where its browser needed none.
        is_valid = len(codes) == 1 and self.key.redeem(codes[0])
        if is_valid or self.key.has_session(headers.get("cookie")):
            return self._entered(scope)
        return _notice(headers, _VOID_LINK if codes else None)

    async def _login_by_token(self, scope: Scope, receive: Receive) -> Response:
        headers = Headers(scope=scope)
        if _is_foreign_form(headers):
            return _foreign_fault()
        tokens = await _form_values(receive, "token")
        is_right = len(tokens) == 1 and self.key.matches(tokens[0].encode("latin-1"))
        await self._slow_down(scope, receive, is_right=is_right)
        return self._entered(scope) if is_right else _notice(headers, _WRONG_TOKEN)

    async def _invitation(
        self, scope: Scope, receive: Receive, query: list[tuple[str, str]]
    ) -> Response:
        """Show an invitation, which uses nothing up, or let the expert in who accepted it."""
        headers = Headers(scope=scope)
        is_accepted = scope["method"] == "POST"
        if is_accepted and _is_foreign_form(headers):
            return _foreign_fault()
        codes = [value for name, value in query if name == "code"]
        if is_accepted:
            codes = await _form_values(receive, "code")
        name = self.invitations.name_of(codes[0]) if len(codes) == 1 else None
        await self._slow_down(scope, receive, is_right=name is not None)
        if name is not None and is_accepted:
            name = self.invitations.redeem(codes[0])
        if name is None:
            return _notice(headers, _VOID_INVITATION)
        if is_accepted:
            self.key.end_session(headers.get("cookie"))  # the browser has one name from now on
            return self._entered(scope, name)
        is_logged_in = self.key.has_session(headers.get("cookie"))
        return InvitationPage(name, codes[0], is_logged_in=is_logged_in)

    def _entered(self, scope: Scope, name: str | None = None) -> Response:
        """Return the response to a login: the cookie, and the way to the page."""
        _trust(scope)
        given = Headers(scope=scope)
        headers = {}
        if not self.key.has_session(given.get("cookie")):
            headers["Set-Cookie"] = self.key.new_cookie(name)
        if scope["method"] == "POST":
            if "text/html" not in given.get("accept", ""):
                return Response(status_code=204, headers=headers)  # to the script of the page
            return Response(status_code=303, headers={**headers, "Location": "/"})
        if given.get("sec-fetch-site") in ("none", "same-origin"):
            return Response(status_code=303, headers={**headers, "Location": "/"})
        # Perhaps a link on another site or in a local file: browsers withhold the SameSite cookie
        # also after a redirect, but send it when a page of this server refreshes.
        return HTMLResponse(REDIRECT_PAGE, headers=headers)

    async def _slow_down(self, scope: Scope, receive: Receive, *, is_right: bool) -> None:
        """Wait, if wrong tokens came from this address before."""
        if self.throttle is None or (is_right and _is_trusted(scope)):
            return
        address = (scope.get("client") or ("",))[0]
        seconds = self.throttle.delay(address)
        if is_right:
            await asyncio.sleep(seconds)
            return
        self.throttle.count(address)
        self._n_wrong += 1
        if self._n_wrong == _WRONG_TOKENS_TO_REPORT:
            logging.getLogger("kernova.web").warning(
                "Wrong tokens are being sent, most recently from %s; replies to them are delayed.",
                address,
            )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await _disconnection(receive)

    def _foreign(self, scope: Scope, headers: Headers, *, by_cookie: bool) -> Response | None:
        """Reject requests that a page of another origin lets a browser send."""
        site, origin = headers.get("sec-fetch-site"), _origin(headers)
        is_ours = is_same_origin(origin, site, headers["host"])
        if scope["method"] in _SAFE_METHODS:
            is_typed = site in (None, "none", "same-origin")
            is_navigation = headers.get("sec-fetch-mode") == "navigate"
            is_fine = is_ours or not by_cookie or is_typed or is_navigation
        else:
            is_fine = is_ours or (origin is None and not by_cookie)
        return None if is_fine else _foreign_fault()


def _origin(headers: Headers) -> str | None:
    # Browsers send one; two joined ones match no origin.
    return ", ".join(headers.getlist("origin")) or None


def _foreign_fault() -> Response:
    return fault(403, "Only kernova's own page may send this request.", "origin")


def _notice(headers: Headers, sentence: str | None = None) -> Response:
    """Return the notice that a login is needed, as a page if the client accepts one."""
    if "text/html" in headers.get("accept", ""):
        return LoginPage(sentence or "", _CHALLENGE)
    return fault(401, sentence or NOTICE, headers=_CHALLENGE)


def _is_prefetched(headers: Headers) -> bool:
    """Return whether a browser loads an address before anyone opens it."""
    names = ("sec-purpose", "purpose", "x-moz", "x-purpose")
    return any("prefetch" in headers.get(name, "").lower() for name in names)


def _trust(scope: Scope) -> None:
    """Mark the connection of an authorised request, where the server limits connections."""
    connection = scope.get("state", {}).get("connection")
    if connection is not None:
        connection.trust()


def _is_trusted(scope: Scope) -> bool:
    return bool(getattr(scope.get("state", {}).get("connection"), "is_trusted", False))


def _is_foreign_form(headers: Headers) -> bool:
    """Return whether a page of another origin sends a form."""
    # Or any page could let the browsers of its visitors try tokens, or log in as somebody else.
    site, origin = headers.get("sec-fetch-site"), _origin(headers)
    is_script = origin is None and site is None
    return not is_script and not is_same_origin(origin, site, headers["host"])


async def _form_values(receive: Receive, name: str) -> list[str]:
    """Return the values that a form has under a name."""
    form = parse_qsl(await _form(receive), keep_blank_values=True, encoding="latin-1")
    return [value for one, value in form if one == name]


async def _form(receive: Receive) -> str:
    """Read the body of a form; of a long one, the beginning."""
    body = b""
    while len(body) < _LARGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body[:_LARGEST_FORM].decode("latin-1")


async def _disconnection(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Reply:
    """Sends a response with the headers that are common to all."""

    def __init__(self, send: Send, headers: dict[bytes, bytes], *, is_head: bool) -> None:
        self._send = send
        self._headers = headers
        self.is_head = is_head
        self.is_login = False
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            common = _LOGIN_HEADERS if self.is_login else self._headers
            own = [pair for pair in message["headers"] if pair[0] not in common]
            message = {**message, "headers": [*own, *common.items()]}
        elif self.is_head and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


class _Body:
    """Passes on a request's body up to a number of bytes."""

    def __init__(self, receive: Callable[[], Awaitable[Message]], largest: int) -> None:
        self._receive = receive
        self._largest = largest
        self._n_bytes = 0

    def is_too_large(self, declared: str | None) -> bool:
        """Return whether the declared length exceeds the limit."""
        if declared is None or not declared.isdecimal():
            return False
        return len(declared) > 12 or int(declared) > self._largest

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
        if self._n_bytes > self._largest:
            raise HTTPException(413)
        return message
