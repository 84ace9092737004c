"""Login to the page: token, one-time links, sessions of browsers, and delays after wrong tokens.

The token is never part of an address. A browser is let in by a one-time link, which is void after
its first use, or by the token typed into the form of :class:`LoginPage`. It then holds a cookie
with the number of a session, which is valid at this server only and ends with it. Browsers also
send the cookie to servers at other ports of the same machine, which could use it until then.
"""

import contextlib
import hashlib
import hmac
import ipaddress
import os
import secrets
import shutil
import threading
import time
import webbrowser
from base64 import b64encode
from collections import OrderedDict
from html import escape
from typing import Final, NamedTuple

from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse

from kernova.files import process_folder

LOGIN_PATH: Final = "/login"
INVITATION_PATH: Final = "/invitation"
LINK_MINUTES: Final = 15
NOTICE: Final = (
    "This page requires a login. Open a one-time link from the terminal that runs kernova (press "
    "Enter there for a new one), or enter the token; scripts send 'Authorization: Bearer TOKEN'."
)
# Older than these, or more, and the oldest are forgotten.
_MAX_LINKS: Final = 100
_MAX_SESSIONS: Final = 1000
_MAX_ADDRESSES: Final = 1000


class Session(NamedTuple):
    """Login of a browser, the text that identifies it, and the name of an invited expert."""

    browser: str
    name: str | None = None


class _Link(NamedTuple):
    end: float  # of the monotonic clock
    is_used: threading.Event


class Key:
    """Credentials that a server accepts: its token, one-time codes, and sessions.

    Parameters
    ----------
    token : str
        The access token.
    port : int
        Port of the server, part of the cookie's name: browsers share cookies between ports.
    is_secure : bool
        Whether the cookie is restricted to HTTPS.
    link_seconds : float
        Time until an unused code expires.

    Examples
    --------
    >>> from kernova.web.login import Key
    >>> key = Key("open sesame", 8317)
    >>> code = key.new_code()
    >>> key.redeem(code), key.redeem(code)
    (True, False)
    """

    def __init__(
        self,
        token: str,
        port: int = 0,
        *,
        is_secure: bool = False,
        link_seconds: float = 60.0 * LINK_MINUTES,
    ) -> None:
        self._token = token.encode()
        self._link_seconds = link_seconds
        self._cookie_name = f"kernova-{port}"
        self._attributes = f"HttpOnly; Path=/; SameSite=Strict{'; Secure' if is_secure else ''}"
        # By hash: the time of a lookup reveals nothing about a code or a session.
        self._links: OrderedDict[bytes, _Link] = OrderedDict()
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()
        self._lock = threading.Lock()  # the terminal makes codes in a thread of its own

    # --- token

    def matches(self, token: bytes) -> bool:
        """Compare a token in constant time."""
        return hmac.compare_digest(token, self._token)

    def matches_bearer(self, authorization: str | None) -> bool:
        """Return whether an Authorization header contains the token."""
        token = bearer_token(authorization)
        return token is not None and self.matches(token)

    # --- one-time codes

    def new_code(self) -> str:
        """Return a new code that lets one browser in, once."""
        code = secrets.token_urlsafe(16)
        link = _Link(time.monotonic() + self._link_seconds, threading.Event())
        with self._lock:
            self._links[_hashed(code)] = link
            while len(self._links) > _MAX_LINKS:
                self._links.popitem(last=False)
        return code

    def redeem(self, code: str) -> bool:
        """Use a code up; return whether it was valid."""
        with self._lock:
            link = self._links.pop(_hashed(code), None)
        if link is None or time.monotonic() > link.end:
            return False
        link.is_used.set()
        return True

    def wait_for(self, code: str) -> None:
        """Wait until a code is used, or expires."""
        with self._lock:
            link = self._links.get(_hashed(code))
        if link is not None:
            link.is_used.wait(max(0.0, link.end - time.monotonic()))

    # --- sessions

    def new_cookie(self, name: str | None = None) -> str:
        """Start a session, with a name that of an invited expert; return the Set-Cookie value."""
        session = secrets.token_hex(32)
        with self._lock:
            self._sessions[_hashed(session)] = Session(secrets.token_hex(8), name)
            while len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)
        return f"{self._cookie_name}={session}; {self._attributes}"

    def has_session(self, cookies: str | None) -> bool:
        """Return whether a Cookie header names a session of this server."""
        return self.session_of(cookies) is not None

    def session_of(self, cookies: str | None) -> Session | None:
        """Return the session of this server that a Cookie header names, if there is one."""
        session = self._session_in(cookies)
        with self._lock:
            if session not in self._sessions:
                return None
            self._sessions.move_to_end(session)  # what is in use is not forgotten
            return self._sessions[session]

    def end_session(self, cookies: str | None) -> None:
        """End the session that a Cookie header names."""
        with self._lock:
            self._sessions.pop(self._session_in(cookies), None)

    def end_sessions_of(self, name: str) -> int:
        """End all sessions of an invited expert; return how many there were."""
        with self._lock:
            ended = [key for key, one in self._sessions.items() if one.name == name]
            for key in ended:
                del self._sessions[key]
        return len(ended)

    def _session_in(self, cookies: str | None) -> bytes:
        # Servers at other ports share the header. Python's own parser stops at the first
        # malformed cookie, Starlette's does not.
        return _hashed(cookie_parser(cookies or "").get(self._cookie_name, ""))


def bearer_token(authorization: str | None) -> bytes | None:
    """Return the token of an Authorization header, None where there is none.

    Examples
    --------
    >>> from kernova.web.login import bearer_token
    >>> bearer_token("Bearer abc"), bearer_token("Basic abc")
    (b'abc', None)
    """
    scheme, _, token = (authorization or "").partition(" ")
    # Starlette decodes headers as Latin-1, whatever their encoding.
    return token.strip(" \t").encode("latin-1", "replace") if scheme.lower() == "bearer" else None


def _hashed(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


# --- delays ----------------------------------------------------------------------------------


class Throttle:
    """Delays of addresses that have sent wrong tokens, doubled with each.

    A right token waits as well, or an attacker would take a missing reply for an error and go on;
    but it is never rejected, and sessions do not wait. So nobody can lock others out.

    Parameters
    ----------
    first_seconds, max_seconds : float
        Delay after one wrong token, and the longest.
    memory_seconds : float
        Time after which an address is forgotten.

    Examples
    --------
    >>> from kernova.web.login import Throttle
    >>> throttle = Throttle()
    >>> for _ in range(3):
    ...     throttle.count("192.168.1.7")
    >>> throttle.delay("192.168.1.7"), throttle.delay("192.168.1.8")
    (1.0, 0.0)
    """

    def __init__(
        self,
        first_seconds: float = 0.25,
        max_seconds: float = 10.0,
        memory_seconds: float = 600.0,
    ) -> None:
        self.first_seconds = first_seconds
        self.max_seconds = max_seconds
        self.memory_seconds = memory_seconds
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def delay(self, address: str) -> float:
        """Return the seconds that the next attempt of an address must wait."""
        n_failures = self._n_failures(address)
        if n_failures == 0:
            return 0.0
        return min(self.first_seconds * 2.0 ** min(n_failures - 1, 30), self.max_seconds)

    def count(self, address: str) -> None:
        """Count a wrong token."""
        n_failures = self._n_failures(address) + 1
        self._failures[address_group(address)] = (n_failures, time.monotonic())
        self._failures.move_to_end(address_group(address))
        while len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)

    def _n_failures(self, address: str) -> int:
        n_failures, last = self._failures.get(address_group(address), (0, 0.0))
        return n_failures if time.monotonic() - last < self.memory_seconds else 0


def address_group(address: str) -> str:
    """Return the network of a client: its address, for IPv6 the first 64 bits.

    Examples
    --------
    >>> from kernova.web.login import address_group
    >>> address_group("::ffff:192.168.1.7"), address_group("2001:db8::1:2")
    ('192.168.1.7', '2001:db8::/64')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


# --- pages -----------------------------------------------------------------------------------

_STYLE: Final = (
    ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}"
    "main{max-width:34rem;margin:12vh auto;padding:0 1rem}"
    "input,button{font:inherit;padding:.4rem .6rem}"
    "[role=alert]{font-weight:600}"
)
_STYLE_HASH: Final = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
# The page of the form may send it, to this server, and has its style inside: whoever is not logged
# in can load nothing else. With "no-referrer", browsers would hide the origin of the form.
LOGIN_HEADERS: Final = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
}
_LOGIN_HEAD: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova: login</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    f"<style>{_STYLE}</style></head><body><main><h1>Log in to kernova</h1>"
)
_LOGIN_FORM: Final = (
    "<p>Open a one-time link from the terminal that runs kernova (press Enter there for a new "
    "one), or enter the token:</p>"
    f'<form method="post" action="{LOGIN_PATH}"><label for="token">Token</label> '
    '<input id="token" name="token" type="password" autocomplete="current-password" required '
    'autofocus> <button type="submit">Log in</button></form>'
    '<p>If you are already logged in, <a href="/">go to the workbench</a>. Scripts send '
    "'Authorization: Bearer TOKEN'.</p></main></body></html>"
)
_INVITATION_HEAD: Final = _LOGIN_HEAD.replace("kernova: login", "kernova: invitation").replace(
    "Log in to", "Welcome to"
)
_ALREADY_IN: Final = (
    "<p>This browser is logged in already. If you continue, it can work under this name only, "
    "until it is closed.</p>"
)
REDIRECT_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova</title>'
    '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
    '<meta http-equiv="refresh" content="0; url=/"></head><body><main>'
    '<p><a href="/">Go to the workbench</a></p></main></body></html>'
)
_OPENING_PAGE: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kernova</title>'
    '<meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={0}"></head><body>'
    '<p><a href="{0}">Open the workbench</a></p></body></html>'
)


class FormPage(HTMLResponse):
    """Page for those who are not logged in; sent with :data:`LOGIN_HEADERS`."""


class LoginPage(FormPage):
    """Page with the form for the token.

    Parameters
    ----------
    sentence : str
        The reason why it is shown, empty where none is needed.
    headers : dict, optional
        Headers of the response.
    """

    def __init__(self, sentence: str, headers: dict[str, str] | None = None) -> None:
        alert = f'<p role="alert">{escape(sentence)}</p>' if sentence else ""
        super().__init__(_LOGIN_HEAD + alert + _LOGIN_FORM, 401, headers=headers)


class InvitationPage(FormPage):
    """Page that lets an invited expert in by a button.

    Programs that look at links before a person does, such as those of mail and chat, press no
    button; so the link is still valid when the person opens it.

    Parameters
    ----------
    name : str
        The invited expert.
    code : str
        The code of the link.
    is_logged_in : bool
        Whether the browser is logged in already.
    """

    def __init__(self, name: str, code: str, *, is_logged_in: bool) -> None:
        super().__init__(
            f"{_INVITATION_HEAD}<p>You are invited to label rows as <b>{escape(name)}</b>. Your "
            f"answers are stored under this name.</p>{_ALREADY_IN if is_logged_in else ''}"
            f'<form method="post" action="{INVITATION_PATH}"><input type="hidden" name="code" '
            f'value="{escape(code)}"><button type="submit" autofocus>Continue as {escape(name)}'
            "</button></form><p>The link works once; this browser stays logged in until it is "
            "closed.</p></main></body></html>"
        )


def open_browser(address: str, key: Key) -> threading.Thread:
    """Open the page in a browser, if there is one, from a thread of its own.

    The arguments of a process can be read by every user of the machine. So the browser is given
    the name of a private file, which leads it to a one-time link and is then removed. A browser
    that runs in the terminal blocks until it is closed, and waits for the page meanwhile, so it
    must not block the server.

    Parameters
    ----------
    address : str
        URL of the page.
    key : Key
        Makes the code of the link.
    """

    def open_it() -> None:
        code = key.new_code()
        # A folder that only this user can enter; it is removed at exit in any case.
        with contextlib.suppress(Exception), contextlib.ExitStack() as stack:
            folder = process_folder()
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            page = folder / "open.html"
            text = _OPENING_PAGE.format(escape(login_link(address, code)))
            with open(page, "x", encoding="utf-8", opener=_private) as file:
                file.write(text)
            if webbrowser.open(page.as_uri()):
                key.wait_for(code)

    opening = threading.Thread(target=open_it, name="kernova-browser", daemon=True)
    opening.start()
    return opening


def login_link(address: str, code: str) -> str:
    """Return the one-time link with a code.

    Examples
    --------
    >>> from kernova.web.login import login_link
    >>> login_link("http://127.0.0.1:8317/", "abc")
    'http://127.0.0.1:8317/login?code=abc'
    """
    return f"{address.rstrip('/')}{LOGIN_PATH}?code={code}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
