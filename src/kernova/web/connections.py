"""Connections of the server: limits on their number and their pace, and one write a reply."""

import asyncio
import contextlib
import errno
import logging
import socket
import ssl
from typing import Any, Final, NamedTuple

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kernova.web.login import address_group

# Between two newcomers of a flood, answers come first; those of experts wait a few seconds at most.
_FLOODED_SECONDS: Final = 0.004


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


class _Joined:
    """Transport that sends the header and the body of a reply together, in one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self.send)
        self._parts.append(data)

    def send(self) -> None:
        self._transport.write(b"".join(self._parts))
        self._parts.clear()

    def close(self) -> None:
        self.send()
        self._transport.close()


class Connection(H11Protocol):
    """HTTP connection that is closed if its client is too slow."""

    def __init__(self, config: uvicorn.Config, state: Any, guard: "Guard", address: str) -> None:
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
        """Begin, and wait for the header of a request."""
        super().connection_made(_Joined(transport, self.loop))  # type: ignore[arg-type]
        self._watch("header")

    def eof_received(self) -> None:
        """Send what is left before asyncio closes the connection."""
        self.transport.send()  # type: ignore[attr-defined]

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and leave the guard's lists."""
        super().connection_lost(exc)
        self._stop_watching()
        self._guard.discard(self)
        self.app_state = {}  # which refers to this object

    def data_received(self, data: bytes) -> None:
        """Handle bytes, and start the clock of what is still to come."""
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
        """Wait for the next request."""
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


class Guard:
    """Accepts the connections of a server, and closes some where there are too many."""

    def __init__(
        self,
        config: uvicorn.Config,
        state: Any,
        listener: socket.socket,
        tls: ssl.SSLContext | None,
        limits: Limits,
    ) -> None:
        self.limits = limits
        self._config, self._state = config, state
        self._listener, self._tls = listener, tls
        # Dictionaries keep the order: of arrival, or of the last use.
        self._unknown: dict[Connection, None] = {}
        self._trusted: dict[Connection, None] = {}
        self._n_closed = 0
        self._loop = asyncio.get_running_loop()
        self._pausing: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        self._resume()

    def close(self) -> None:
        """Stop accepting; uvicorn calls this and the next one as of a server of asyncio."""
        self._loop.remove_reader(self._listener)
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

    def touch(self, connection: Connection) -> None:
        """Note that a trusted connection is in use."""
        if connection in self._unknown or connection in self._trusted:
            self.discard(connection)
            self._trusted[connection] = None

    def discard(self, connection: Connection) -> None:
        """Forget a closed connection."""
        self._unknown.pop(connection, None)
        self._trusted.pop(connection, None)

    def _resume(self) -> None:
        self._loop.add_reader(self._listener, self._accept)

    def _pause(self, seconds: float) -> None:
        """Let newcomers wait in the kernel."""
        self._loop.remove_reader(self._listener)
        self._pausing = self._loop.call_later(seconds, self._resume)

    def _accept(self) -> None:
        """Accept one connection; requests that have come meanwhile are next."""
        try:
            client, address = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # the client has gone again
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE) and self._make_room():
                self._count_closed()
            self._pause(0.05)
            return
        if self._take(client, str(address[0]) if address else ""):
            self._pause(_FLOODED_SECONDS)

    def _take(self, client: socket.socket, address: str) -> bool:
        """Take a new connection; return whether there were too many."""
        is_flooded = len(self._unknown) + len(self._trusted) >= self.limits.n_connections
        if is_flooded:
            self._count_closed()
            if not self._make_room():
                client.close()
                return True
        connection = Connection(self._config, self._state, self, address)
        self._unknown[connection] = None
        opening = connection.loop.create_task(self._open(client, connection))
        opening.add_done_callback(lambda _: self._clean_up(client, connection))
        connection.opening = opening
        return is_flooded

    async def _open(self, client: socket.socket, connection: Connection) -> None:
        """Let asyncio handle a connection, after the TLS handshake if there is one."""
        seconds = None if self._tls is None else self.limits.seconds
        # Without TLS on the other side, or if it has gone, this raises one of many OSErrors.
        with contextlib.suppress(OSError):
            await connection.loop.connect_accepted_socket(
                lambda: connection,
                client,
                ssl=self._tls,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )

    def _clean_up(self, client: socket.socket, connection: Connection) -> None:
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

    def _oldest_unknown(self) -> Connection | None:
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


def default_limits() -> Limits:
    """Return limits that leave most file descriptors of this process to other uses."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return Limits()
    n_descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    is_unlimited = n_descriptors in (resource.RLIM_INFINITY, -1)
    most = Limits().n_connections
    return Limits(n_connections=most if is_unlimited else min(most, max(8, n_descriptors // 4)))
