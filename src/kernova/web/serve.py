"""Server of the page: a free port, an access token, and uvicorn."""

import contextlib
import gc
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import quote

import uvicorn

from kernova.errors import InputError
from kernova.web.access import hosts_for, is_loopback
from kernova.web.app import create_app
from kernova.workbench import Workbench

DEFAULT_PORT: Final = 8317
_PORTS_TRIED: Final = 20
_SHORTEST_TOKEN: Final = 8


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
    """

    listener: socket.socket
    host: str
    token: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.listener.close()

    @property
    def port(self) -> int:
        """The port it is bound to."""
        return int(self.listener.getsockname()[1])

    @property
    def address(self) -> str:
        """URL of the page, without the token."""
        name = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"

    @property
    def url(self) -> str:
        """URL of the page with the token, which gives full access."""
        return f"{self.address}?token={quote(self.token, safe='')}"


def bind_endpoint(
    host: str = "127.0.0.1", port: int | None = None, token: str | None = None
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

    Returns
    -------
    Endpoint
        A bound socket, for :func:`serve`.

    Examples
    --------
    >>> from kernova.web.serve import bind_endpoint
    >>> with bind_endpoint(port=0, token="open sesame") as endpoint:
    ...     endpoint.url == f"http://127.0.0.1:{endpoint.port}/?token=open%20sesame"
    True
    """
    if token is None and not is_loopback(host):
        raise InputError(
            f"The address {host} can be reached from other machines, so it needs an access token. "
            "Set `token`, or leave `host` at its default."
        )
    if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isprintable()):
        raise InputError(
            f"`token` must have at least {_SHORTEST_TOKEN} printable characters; got {len(token)}."
        )
    ports = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED)
    return Endpoint(_bound(host, list(ports)), host, token or secrets.token_urlsafe(24))


def serve(
    workbench: Workbench, endpoint: Endpoint, *, on_ready: Callable[[], None] | None = None
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
    """
    app = create_app(workbench, endpoint.token, hosts_for(endpoint.host), endpoint.port)
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        http="h11",
        log_config=None,
        # Malformed requests need no message in the terminal; the middleware logs internal errors.
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=3,
    )
    # Long-lived objects are excluded from garbage collection, which would delay answers.
    gc.collect()
    gc.freeze()
    server = _Server(config, on_ready)
    server.run(sockets=[endpoint.listener])


def open_browser(url: str) -> threading.Thread:
    """Open the page in a browser, if there is one, from a thread of its own.

    A browser that runs in the terminal blocks until it is closed, and waits for the page meanwhile,
    so it must not block the server.
    """

    def open_it() -> None:
        with contextlib.suppress(Exception):
            webbrowser.open(url)

    opening = threading.Thread(target=open_it, name="kernova-browser", daemon=True)
    opening.start()
    return opening


class _Server(uvicorn.Server):
    """Uvicorn server that exits without re-raising signals."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self._on_ready is not None:
            self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        with contextlib.suppress(KeyboardInterrupt), super().capture_signals():
            yield
            self._captured_signals.clear()


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
            listener.listen(128)
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
