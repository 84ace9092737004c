"""By which names the server may be spoken to, and from which pages.

A page elsewhere can have its own name point to this machine (DNS rebinding), and so speak to the
server as if to its own. The ``Host`` header gives it away: it still holds that page's name.

Who may speak to the server: one gate before everything, addresses that do not exist included.

Whoever knows the token may do everything. A browser gets it in the address it is opened with,
and keeps it as a cookie that no script can read and no other site can send; a script sends it
as ``Authorization: Bearer TOKEN``.
"""

import hashlib
import hmac
import ipaddress
import logging
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kernova.web.errors import fault

_HOST: Final = re.compile(r"(\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(:[0-9]{1,5})?")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Hosts:
    """The names that a request may address the server by.

    Parameters
    ----------
    names : iterable of str
        Names and addresses.
    any_address : bool
        Whether any numeric address will do, as where the server listens on every interface; a
        number cannot be pointed elsewhere.

    Examples
    --------
    >>> from kernova.web.access import LOOPBACK, Hosts
    >>> hosts = Hosts(LOOPBACK)
    >>> [hosts.takes(host) for host in ("localhost:8317", "[::1]:8317", "evil.example:8317")]
    [True, True, False]
    """

    def __init__(self, names: Iterable[str] = LOOPBACK, *, any_address: bool = False) -> None:
        self.names = {name.lower() for name in names}
        self.any_address = any_address

    def takes(self, host: str) -> bool:
        """Tell whether the value of a Host header is one of ours; the port may be another's."""
        written = _HOST.fullmatch(host)
        if written is None:
            return False
        name = (written["address"] or written["name"]).lower()
        return name in self.names or (self.any_address and _is_address(name))


def hosts_for(address: str) -> Hosts:
    """Give the names for a server that listens at an address.

    Examples
    --------
    >>> from kernova.web.access import hosts_for
    >>> sorted(hosts_for("127.0.0.1").names)
    ['127.0.0.1', '::1', 'localhost']
    """
    if is_loopback(address):
        return Hosts((*LOOPBACK, address))
    if _is_address(address) and ipaddress.ip_address(address).is_unspecified:
        return Hosts((*LOOPBACK, socket.gethostname(), socket.getfqdn()), any_address=True)
    return Hosts((address,))


def is_loopback(address: str) -> bool:
    """Tell whether an address cannot be reached from another machine."""
    if _is_address(address):
        return ipaddress.ip_address(address).is_loopback
    return address.lower() == "localhost"


def is_same_origin(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Tell whether a request comes from a page of this server.

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
    # A proxy may add TLS on the way: what names the page is the host, with its port.
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


Message = MutableMapping[str, Any]

LARGEST_BODY: Final = 1_000_000
_MOST_DRAINED: Final = 16 * LARGEST_BODY

CONTENT_SECURITY_POLICY: Final = "; ".join(
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
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
NOTICE: Final = (
    "This page needs the token that kernova printed when it was started. Open the address from "
    "that terminal, with ?token= in it; a script sends it as 'Authorization: Bearer TOKEN'."
)
_NOTICE_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova: token needed'
    '</title><meta name="viewport" content="width=device-width"></head><body><main>'
    f"<h1>Token needed</h1><p>{NOTICE}</p></main></body></html>"
)
_THRESHOLD: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova</title>'
    '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
    '<meta http-equiv="refresh" content="0; url={0}"></head><body><main>'
    '<p><a href="{0}">Go to the workbench</a></p></main></body></html>'
)
_SAFE_METHODS: Final = ("GET", "HEAD")


class Key:
    """The token of one server, and the cookie that stands for it.

    Parameters
    ----------
    token : str
        What must be known.
    port : int
        Where the server listens: cookies do not keep ports apart, so the name has to.
    """

    def __init__(self, token: str, port: int = 0) -> None:
        self._token = token.encode()
        self.cookie_name = f"kernova-{port}"
        # Not the token itself: it may hold letters that a cookie cannot, and stays unknown.
        self.cookie = hmac.new(self._token, b"kernova cookie", hashlib.sha256).hexdigest()

    def fits(self, token: str) -> bool:
        """Compare a token, in a time that tells nothing."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)

    def fits_bearer(self, authorization: str | None) -> bool:
        """Tell whether an Authorization header holds the token."""
        if authorization is None:
            return False
        scheme, _, token = authorization.partition(" ")
        # Headers are read as Latin-1, whatever they were written in.
        given = token.strip().encode("latin-1", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token)

    def fits_cookie(self, cookies: str | None) -> bool:
        """Tell whether a Cookie header holds our cookie."""
        # Servers at other ports of this machine share the header, and write what they like:
        # Python's own reader would give up at the first cookie that is not by the book.
        given = cookie_parser(cookies or "").get(self.cookie_name, "")
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.cookie.encode())

    @property
    def set_cookie(self) -> str:
        """Give the header that makes a browser keep the cookie."""
        return f"{self.cookie_name}={self.cookie}; HttpOnly; Path=/; SameSite=Strict"


class Access:
    """Lets through who may speak to the app, and adds what browsers need to be told.

    Parameters
    ----------
    app : ASGI app
        What is behind the gate.
    key : Key
        The token.
    hosts : Hosts
        Names by which the server may be addressed.
    """

    def __init__(self, app: ASGIApp, key: Key, hosts: Hosts) -> None:
        self.app = app
        self.key = key
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        reply = _Reply(send, is_head=scope["method"] == "HEAD")
        inner = {**scope, "method": "GET"} if reply.is_head else scope
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(inner, receive, reply)
            return
        body = _Body(receive)
        if body.is_too_large(Headers(scope=scope).get("content-length")):
            await body.drain()
            await fault(413)(inner, receive, reply)
            return
        try:
            await self.app(inner, body, reply)
        except Exception:
            # Whatever it was, the one who asked is told in the usual shape, and the rest goes on.
            logging.getLogger("kernova.web").exception("A request failed.")
            if not reply.has_begun:
                message = "Something is broken in kernova; the terminal says what."
                await fault(500, message)(inner, receive, reply)

    def _refusal(self, scope: Scope) -> Response | None:
        """Give what to answer to someone who is not let through."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.hosts.takes(hosts[0]):
            return fault(
                403,
                "This server is not known by that name. Use the address that kernova printed.",
                "host",
            )
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == "token"]
        if tokens:
            return self._login(scope, tokens, query)
        if self.key.fits_bearer(headers.get("authorization")):
            return self._foreign(scope, headers, by_cookie=False)
        if self.key.fits_cookie(headers.get("cookie")):
            return self._foreign(scope, headers, by_cookie=True)
        return _notice(headers)

    def _login(
        self, scope: Scope, tokens: list[str], query: list[tuple[str, str]]
    ) -> Response | None:
        given = Headers(scope=scope)
        if scope["method"] not in _SAFE_METHODS or not all(map(self.key.fits, tokens)):
            return _notice(given)
        # Slashes are one, or the way would lead to another host.
        path = "/" + quote(scope["path"].lstrip("/"))
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        location = f"{path}?{rest}" if rest else path
        headers = {"Set-Cookie": self.key.set_cookie}
        if given.get("sec-fetch-site") in ("cross-site", "same-site"):
            # A link on another page, such as a terminal in a browser: what it leads to may not send
            # the cookie, not even when told to go on. From a page of ours, one may.
            return HTMLResponse(_THRESHOLD.format(escape(location)), headers=headers)
        return Response(status_code=303, headers={**headers, "Location": location})

    def _foreign(self, scope: Scope, headers: Headers, *, by_cookie: bool) -> Response | None:
        """Refuse what a page of another origin makes a browser send."""
        site = headers.get("sec-fetch-site")
        # Browsers send one; of two, each would have to be ours.
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
        return fault(403, "Only kernova's own page may ask for this.", "origin")


def _notice(headers: Headers) -> Response:
    """Say what is missing, as a page to who wants pages."""
    challenge = {"WWW-Authenticate": 'Bearer realm="kernova"'}
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse(_NOTICE_PAGE, 401, headers=challenge)
    return fault(401, NOTICE, headers=challenge)


class _Reply:
    """Sends a response on, with the headers that every one carries."""

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
    """Hands on a request's body, as far as it may be long."""

    def __init__(self, receive: Callable[[], Awaitable[Message]]) -> None:
        self._receive = receive
        self._n_bytes = 0

    @staticmethod
    def is_too_large(declared: str | None) -> bool:
        """Tell whether more is announced than is taken."""
        if declared is None or not declared.isdecimal():
            return False
        return len(declared) > 12 or int(declared) > LARGEST_BODY

    async def drain(self) -> None:
        """Read what is being sent: who is still sending does not listen yet."""
        while self._n_bytes < _MOST_DRAINED:
            message = await self._receive()
            self._n_bytes += len(message.get("body", b""))
            if not message.get("more_body", False):
                return

    async def __call__(self) -> Message:
        message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > LARGEST_BODY:
            raise HTTPException(413)
        return message
