"""Server of the page: a free port, TLS, limits on connections, and uvicorn."""

import asyncio
import contextlib
import errno
import gc
import logging
import secrets
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kernova.errors import InputError
from kernova.web.access import hosts_for, is_loopback
from kernova.web.app import create_app
from kernova.web.login import Key, Throttle, address_group, login_link
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


# --- limits on connections -------------------------------------------------------------------


class Limits(NamedTuple):
    """Limits on the connections of a server.

    Parameters
    ----------
    n_connections : int
        The most connections at a time.
    seconds : float
        Time for the header of a request, for a TLS handshake, and without a login also between
        requests.
    bytes_per_second : float
        The slowest body of a request.
    """

    n_connections: int = 200
    seconds: float = 10.0
    bytes_per_second: float = 500.0


class _Connection(H11Protocol):
    """HTTP connection that is closed if its client is too slow."""

    def __init__(self, config: uvicorn.Config, state: Any, guard: "_Guard", address: str) -> None:
        super().__init__(config, state, {"connection": self})
        self.network = address_group(address)
        self.is_trusted = False
        self.opening: asyncio.Task[None] | None = None
        self._guard = guard
        self._stage: tuple[str, int] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._n_requests = self._n_bytes = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def trust(self) -> None:
        """Exempt it from closing in a flood: its client has logged in."""
        self.is_trusted = True
        self._guard.touch(self)

    def abort(self) -> None:
        """Close it at once."""
        self._stop_watching()
        if self.transport is not None:
            self.transport.abort()
        elif self.opening is not None:
            self.opening.cancel()
        self._guard.discard(self)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch("header")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()
        self._guard.discard(self)
        self.app_state = {}  # which refers to this object

    def data_received(self, data: bytes) -> None:
        self._n_bytes += len(data)
        super().data_received(data)
        # Also after a reply: the body of a rejected request may still be coming.
        their_state = self.conn.their_state
        if their_state is h11.SEND_BODY:
            self._watch("body")
        elif their_state is h11.IDLE and self.is_idle:
            self._watch("header")
        else:
            self._stop_watching()

    def on_response_complete(self) -> None:
        self._n_requests += 1
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and self.is_idle and not self.is_trusted:
            self._watch("pause")

    def _watch(self, stage: str) -> None:
        """Start the clock of a stage, unless it is running."""
        if self._stage != (stage, self._n_requests):
            self._stop_watching()
            self._stage = (stage, self._n_requests)
            self._start_clock()

    def _start_clock(self) -> None:
        self._n_bytes = 0
        self._timer = self.loop.call_later(self._guard.limits.seconds, self._check_progress)

    def _stop_watching(self) -> None:
        self._stage = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_progress(self) -> None:
        limits = self._guard.limits
        is_fast = self._n_bytes >= limits.seconds * limits.bytes_per_second
        # If the server has stopped reading, the client is not to blame.
        if self._stage and self._stage[0] == "body" and (is_fast or self.flow.read_paused):
            self._start_clock()
        else:
            self.abort()


class _Guard:
    """Accepts the connections of a server, and closes some where there are too many."""

    def __init__(self, config: uvicorn.Config, state: Any, endpoint: Endpoint, limits: Limits):
        self.limits = limits
        self._config, self._state, self._endpoint = config, state, endpoint
        # Dictionaries keep the order: of arrival, or of the last use.
        self._unknown: dict[_Connection, None] = {}
        self._trusted: dict[_Connection, None] = {}
        self._n_closed = 0
        self._loop = asyncio.get_running_loop()
        self._pausing: asyncio.TimerHandle | None = None
        endpoint.listener.setblocking(False)
        self._resume()

    # As uvicorn calls those of asyncio's servers.
    def close(self) -> None:
        self._loop.remove_reader(self._endpoint.listener)
        if self._pausing is not None:
            self._pausing.cancel()
        for connection in [*self._unknown, *self._trusted]:
            if connection.transport is None:
                connection.abort()
        if self._n_closed:
            logging.getLogger("kernova.web").warning(
                "Connections closed because there were too many: %d.",
                self._n_closed,
            )
            self._n_closed = 0

    async def wait_closed(self) -> None:
        """Return: nothing is accepted any more."""

    def touch(self, connection: _Connection) -> None:
        """Note that a trusted connection is in use."""
        if connection in self._unknown or connection in self._trusted:
            self.discard(connection)
            self._trusted[connection] = None

    def discard(self, connection: _Connection) -> None:
        """Forget a closed connection."""
        self._unknown.pop(connection, None)
        self._trusted.pop(connection, None)

    def _resume(self) -> None:
        self._loop.add_reader(self._endpoint.listener, self._accept)

    def _pause(self, seconds: float) -> None:
        """Let newcomers wait in the kernel."""
        self._loop.remove_reader(self._endpoint.listener)
        self._pausing = self._loop.call_later(seconds, self._resume)

    def _accept(self) -> None:
        """Accept one connection; requests that have come meanwhile are next."""
        try:
            client, address = self._endpoint.listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # the client has gone again
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE) and self._make_room():
                self._count_closed()
            self._pause(0.05)
            return
        if self._take(client, str(address[0]) if address else ""):
            self._pause(0.002)

    def _take(self, client: socket.socket, address: str) -> bool:
        """Take a new connection; return whether there were too many."""
        is_flooded = len(self._unknown) + len(self._trusted) >= self.limits.n_connections
        if is_flooded:
            self._count_closed()
            if not self._make_room():
                client.close()
                return True
        connection = _Connection(self._config, self._state, self, address)
        self._unknown[connection] = None
        opening = connection.loop.create_task(self._open(client, connection))
        opening.add_done_callback(lambda _: self._clean_up(client, connection))
        connection.opening = opening
        return is_flooded

    async def _open(self, client: socket.socket, connection: _Connection) -> None:
        """Let asyncio handle a connection, after the TLS handshake if there is one."""
        tls = self._endpoint.tls
        seconds = None if tls is None else self.limits.seconds
        # Without TLS on the other side, or if it has gone, this raises one of many OSErrors.
        with contextlib.suppress(OSError):
            await connection.loop.connect_accepted_socket(
                lambda: connection,
                client,
                ssl=tls,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )

    def _clean_up(self, client: socket.socket, connection: _Connection) -> None:
        if connection.transport is None:  # it never began
            self.discard(connection)
            client.close()

    def _make_room(self) -> bool:
        """Close the connection that is missed least; return whether there was one."""
        connection = self._oldest_unknown() or next(
            (one for one in self._trusted if one.is_idle), None
        )
        if connection is None:
            return False
        connection.abort()
        return True

    def _oldest_unknown(self) -> _Connection | None:
        """Return the oldest connection without a login, of the network that has most."""
        n_of_network: dict[str, int] = {}
        for one in self._unknown:
            n_of_network[one.network] = n_of_network.get(one.network, 0) + 1
        if not n_of_network:
            return None
        largest = max(n_of_network, key=n_of_network.__getitem__)
        return next(one for one in self._unknown if one.network == largest)

    def _count_closed(self) -> None:
        """Report a flood once; the number follows at the end."""
        self._n_closed += 1
        if self._n_closed == 1:
            logging.getLogger("kernova.web").warning(
                "There are more than %d connections, or no file descriptors are left: connections "
                "without a login are being closed, the oldest first.",
                self.limits.n_connections,
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
) -> uvicorn.Server:
    """Return the server of a workbench; :func:`serve` runs it.

    Parameters
    ----------
    workbench, endpoint, on_ready, on_signal
        As of :func:`serve`.
    limits : Limits, optional
        Limits on connections.
    """
    # On this machine alone, tokens are not guessed over a network.
    throttle = None if is_loopback(endpoint.host) else Throttle()
    config = uvicorn.Config(
        create_app(workbench, endpoint.key, hosts_for(endpoint.host), throttle),
        lifespan="off",
        ws="none",
        http=_Connection,
        log_config=None,
        # Malformed requests need no message in the terminal; the middleware logs internal errors.
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=3,
    )
    return _Server(config, endpoint, limits or _default_limits(), on_ready, on_signal)


def _default_limits() -> Limits:
    """Return limits that leave most file descriptors of this process to other uses."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return Limits()
    n_descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    is_unlimited = n_descriptors in (resource.RLIM_INFINITY, -1)
    most = Limits().n_connections
    return Limits(n_connections=most if is_unlimited else min(most, max(8, n_descriptors // 4)))


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
        guard = _Guard(self.config, self.server_state, self._endpoint, self._limits)
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
