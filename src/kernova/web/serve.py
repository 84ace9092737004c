"""Server of the page: a free port, TLS, and uvicorn."""

import asyncio
import contextlib
import gc
import secrets
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Self

import uvicorn

from kernova.errors import InputError
from kernova.web.app import create_app
from kernova.web.connections import Connection, Guard, Limits, default_limits
from kernova.web.hosts import hosts_for, is_loopback
from kernova.web.invitations import Invitations, Reach, network_address
from kernova.web.login import Key, Throttle, login_link
from kernova.workbench import Workbench

DEFAULT_PORT: Final = 8317
_PORTS_TRIED: Final = 20
_SHORTEST_TOKEN: Final = 8
_KEEP_ALIVE_SECONDS: Final = 60
# Connections that wait in the kernel: those of experts wait behind a flood, but are not lost.
_BACKLOG: Final = 1024
# The thread that talks to browsers waits this long for the one that finds questions.
_SWITCH_SECONDS: Final = 0.0005


@dataclass(frozen=True)
class Endpoint:
    """Listening socket of a server and its access token; a context manager.

    Parameters
    ----------
    listener : socket
        Bound to a port.
    host : str
        The address it is bound to.
    token : str
        The access token.
    tls : SSLContext, optional
        Certificate and key for HTTPS.
    """

    listener: socket.socket
    host: str
    token: str
    tls: ssl.SSLContext | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.listener.close()

    @cached_property
    def key(self) -> Key:
        """The credentials that its server accepts."""
        return Key(self.token, self.port, is_secure=self.tls is not None)

    @cached_property
    def port(self) -> int:
        """The port it is bound to."""
        return int(self.listener.getsockname()[1])

    @property
    def is_for_all(self) -> bool:
        """Whether it listens at all addresses of this machine."""
        return self.host in ("0.0.0.0", "::")

    @property
    def address(self) -> str:
        """URL of the page, without a login."""
        return self.address_at("127.0.0.1" if self.is_for_all else self.host)

    def address_at(self, name: str) -> str:
        """Return the URL of the page under a name of this machine."""
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://{f'[{name}]' if ':' in name else name}:{self.port}/"

    @cached_property
    def invitations(self) -> Invitations:
        """The links that let invited experts in."""
        return Invitations(self.key, self.reach)

    @property
    def reach(self) -> Reach:
        """The addresses to send to others, and whether other machines can reach them."""
        if is_loopback(self.host):
            return Reach((self.address,))
        if not self.is_for_all:
            return Reach((self.address,), is_for_others=True)
        names = [network_address(), socket.gethostname()]
        if self.tls is not None:  # a certificate is for a name
            names.reverse()
        addresses = [self.address_at(name) for name in dict.fromkeys(names) if name]
        return Reach(tuple(addresses), is_for_others=True)

    def new_link(self) -> str:
        """Return a new one-time link, which lets one browser in."""
        return login_link(self.address, self.key.new_code())


def bind_endpoint(
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    *,
    tls: ssl.SSLContext | None = None,
) -> Endpoint:
    """Bind a port, before any work is done.

    Parameters
    ----------
    host : str
        An address of this machine. One that other machines can reach requires ``token``.
    port : int, optional
        The port, 0 for any; by default 8317, or one of the next twenty if that is taken.
    token : str, optional
        The access token; random by default.
    tls : SSLContext, optional
        Certificate and key for HTTPS, from :func:`tls_context`.

    Returns
    -------
    Endpoint
        A bound socket, for :func:`serve`.

    Examples
    --------
    >>> from kernova.web.serve import bind_endpoint
    >>> with bind_endpoint(port=0, token="open sesame") as endpoint:
    ...     endpoint.new_link().startswith(f"http://127.0.0.1:{endpoint.port}/login?code=")
    True
    """
    if token is None and not is_loopback(host):
        raise InputError(
            f"The address {host} can be reached from other machines, so it needs an access token. "
            "Set `token`, or leave `host` at its default."
        )
    if token is not None:
        check_token(token, "`token`")
    ports = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED)
    return Endpoint(_bound(host, list(ports)), host, token or secrets.token_urlsafe(24), tls)


def check_token(token: str, name: str) -> None:
    """Reject a token that is too short, or cannot be typed."""
    if len(token) < _SHORTEST_TOKEN or not token.isprintable():
        raise InputError(
            f"{name} must have at least {_SHORTEST_TOKEN} characters, all of them printable; its "
            f"length is {len(token)}."
        )


def _bound(host: str, ports: list[int]) -> socket.socket:
    """Return a socket bound to the first free port."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "unknown host name"
        raise InputError(f"{host} is not an address of this machine: {reason}.") from error
    for port in ports:
        # With IPPROTO_TCP given, asyncio sets TCP_NODELAY, and small replies are not delayed.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        # Reuses a port in TIME_WAIT, not one that another server listens on.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address[0], port, *address[2:]))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            last = error
        else:
            return listener
    raise _not_free(host, ports, last)


def _not_free(host: str, ports: list[int], error: OSError) -> InputError:
    if len(ports) > 1:
        return InputError(
            f"Ports {ports[0]} to {ports[-1]} of {host} are all in use. Set `port` to a free one."
        )
    return InputError(
        f"Cannot listen on port {ports[0]} of {host}: {error.strerror}. Set `port` to another one, "
        "or leave it out."
    )


# --- TLS -------------------------------------------------------------------------------------


def tls_context(cert: Path, key: Path | None = None) -> ssl.SSLContext:
    """Return the TLS settings of a server.

    Parameters
    ----------
    cert : path
        Certificate in PEM form, followed by those of its issuers, if any.
    key : path, optional
        Its private key, not encrypted; by default in the file of the certificate.

    Returns
    -------
    SSLContext
        Settings for :func:`bind_endpoint`.
    """
    for path, what in ((cert, "certificate"), (key, "key")):
        if path is not None:
            _check_readable(path, what)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    passwords_asked = []

    def password() -> str:
        passwords_asked.append(True)
        return ""

    try:
        # Without a password, OpenSSL would ask for one at the terminal.
        context.load_cert_chain(cert, key, password)
    except (ssl.SSLError, ValueError) as error:
        raise _unusable(cert, key or cert, error, bool(passwords_asked)) from error
    return context


def _check_readable(path: Path, what: str) -> None:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise InputError(f"Cannot read the TLS {what} {path}: {error.strerror}.") from error


def _unusable(cert: Path, key: Path, error: Exception, is_encrypted: bool) -> InputError:
    if is_encrypted:
        return InputError(
            f"The TLS key {key} is encrypted, and the server cannot ask for its password. Decrypt "
            "it with `openssl pkey -in KEY -out PLAIN_KEY`, and make PLAIN_KEY private."
        )
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        return InputError(f"The TLS key {key} does not belong to the certificate {cert}.")
    return InputError(
        f"{cert} and {key} are not a TLS certificate and its private key in PEM form. Such files "
        "contain BEGIN CERTIFICATE and BEGIN PRIVATE KEY."
    )


# --- the server ------------------------------------------------------------------------------


def serve(
    workbench: Workbench,
    endpoint: Endpoint,
    *,
    on_ready: Callable[[], None] | None = None,
    on_signal: Callable[[], None] | None = None,
) -> None:
    """Serve the page until Ctrl-C or a signal ends the process.

    Parameters
    ----------
    workbench : Workbench
        The workbench to serve; the caller closes it.
    endpoint : Endpoint
        The socket to listen on.
    on_ready : callable, optional
        Called when the server accepts requests.
    on_signal : callable, optional
        Called at the signal SIGUSR1, where the system has it.
    """
    # Long-lived objects are excluded from garbage collection, which would delay answers.
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH_SECONDS)
    new_server(workbench, endpoint, on_ready=on_ready, on_signal=on_signal).run()


def new_server(
    workbench: Workbench,
    endpoint: Endpoint,
    *,
    on_ready: Callable[[], None] | None = None,
    on_signal: Callable[[], None] | None = None,
    limits: Limits | None = None,
    frame_ancestors: Sequence[str] = (),
) -> uvicorn.Server:
    """Return the server of a workbench; :func:`serve` runs it.

    Parameters
    ----------
    workbench, endpoint, on_ready, on_signal
        As of :func:`serve`.
    limits : Limits, optional
        Limits on connections.
    frame_ancestors : sequence of str
        Origins whose pages may show this one in a frame; by default none.
    """
    # On this machine alone, tokens are not guessed over a network.
    throttle = None if is_loopback(endpoint.host) else Throttle()
    config = uvicorn.Config(
        create_app(
            workbench,
            endpoint.key,
            hosts_for(endpoint.host),
            throttle,
            frame_ancestors,
            endpoint.invitations,
        ),
        lifespan="off",
        ws="none",
        http=Connection,
        log_config=None,
        # Malformed requests need no message in the terminal; the middleware logs internal errors.
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=3,
    )
    return _Server(config, endpoint, limits or default_limits(), on_ready, on_signal)


class _Server(uvicorn.Server):
    """Uvicorn server that limits connections, and exits without re-raising signals."""

    def __init__(
        self,
        config: uvicorn.Config,
        endpoint: Endpoint,
        limits: Limits,
        on_ready: Callable[[], None] | None,
        on_signal: Callable[[], None] | None,
    ) -> None:
        super().__init__(config)
        self._endpoint, self._limits = endpoint, limits
        self._on_ready, self._on_signal = on_ready, on_signal

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        # On Windows, the default loop cannot watch a listening socket.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self.serve())

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        guard = Guard(
            self.config,
            self.server_state,
            self._endpoint.listener,
            self._endpoint.tls,
            self._limits,
        )
        self.servers = [guard]  # type: ignore[list-item]
        self.started = True
        is_main = threading.current_thread() is threading.main_thread()
        if self._on_signal is not None and is_main and hasattr(signal, "SIGUSR1"):
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._on_signal)
        if self._on_ready is not None:
            self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with contextlib.suppress(KeyboardInterrupt), super().capture_signals():
            yield
            self._captured_signals.clear()
