"""Serving the page on this machine: from a free port to the last answer."""

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
class Place:
    """Where a server listens, and what must be known to speak to it; a context manager.

    Parameters
    ----------
    listener : socket
        Bound to a port.
    host : str
        The address it is bound to.
    token : str
        What must be known.
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
        """Where the page is, without the token."""
        name = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"

    @property
    def url(self) -> str:
        """Where the page is; whoever has this may do everything."""
        return f"{self.address}?token={quote(self.token, safe='')}"


def find_place(host: str = "127.0.0.1", port: int | None = None, token: str | None = None) -> Place:
    """Bind a port, before any work is done.

    Parameters
    ----------
    host : str
        An address of this machine. One that others can reach demands a token of your own.
    port : int, optional
        The port, 0 for any; by default 8317, or one of the next few if that is taken.
    token : str, optional
        What must be known; by default it is drawn by lot.

    Returns
    -------
    Place
        Bound; :func:`serve` listens there.

    Examples
    --------
    >>> from kernova.web.serve import find_place
    >>> with find_place(port=0, token="open sesame") as place:
    ...     place.url == f"http://127.0.0.1:{place.port}/?token=open%20sesame"
    True
    """
    if token is None and not is_loopback(host):
        raise InputError(
            f"Whoever can reach {host} could try to get in: choose a token of your own with "
            "--token, or leave --host as it is."
        )
    if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isprintable()):
        raise InputError(
            f"A token is a readable text of at least {_SHORTEST_TOKEN} characters, so that nobody "
            f"guesses it; got {len(token)}."
        )
    ports = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED)
    return Place(_bound(host, list(ports)), host, token or secrets.token_urlsafe(24))


def serve(
    workbench: Workbench, place: Place, *, on_ready: Callable[[], None] | None = None
) -> None:
    """Serve the page until someone leaves with Ctrl-C, or the process is told to end.

    Parameters
    ----------
    workbench : Workbench
        What is worked on; the caller closes it.
    place : Place
        Where to listen.
    on_ready : callable, optional
        Called when a browser can be opened.
    """
    app = create_app(workbench, place.token, hosts_for(place.host), place.port)
    config = uvicorn.Config(
        app,
        lifespan="off",
        ws="none",
        http="h11",
        log_config=None,
        # What strangers send, or leave unsent, is no concern of who sits at the terminal; what is
        # broken in the app is told by the gate.
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=3,
    )
    # What is there by now stays: looking through it again and again would hold up answers.
    gc.collect()
    gc.freeze()
    server = _Server(config, on_ready)
    server.run(sockets=[place.listener])


def open_browser(url: str) -> threading.Thread:
    """Open the page, if there is a browser; where there is none, the address was printed.

    Browsers in a terminal do not return before they are left, and wait for the page meanwhile: they
    must not hold up who serves it.
    """

    def open_it() -> None:
        with contextlib.suppress(Exception):
            webbrowser.open(url)

    opening = threading.Thread(target=open_it, name="kernova-browser", daemon=True)
    opening.start()
    return opening


class _Server(uvicorn.Server):
    """A server that leaves quietly: signals end it, and are not raised again."""

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
    """Bind the first port that is free."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a machine"
        raise InputError(f"{host} is no address of this machine: {reason}.") from error
    for port in ports:
        # With its protocol named: only then does asyncio send small replies without delay.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        # Only what was left a moment ago may be taken over, not what another server listens on.
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
            f"Ports {ports[0]} to {ports[-1]} of {host} are all taken. Name a free one with --port."
        )
    return InputError(
        f"Cannot listen on port {ports[0]} of {host}: {error.strerror}. Name another with --port, "
        "or leave it out."
    )
