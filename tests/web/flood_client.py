"""Flood of half-open connections: most are closed by the server, and opened anew at once.

Run as a separate program, until its standard input is closed. Prints a line when all connections
have been opened for the first time, and at the end a JSON line of counts.
"""

import contextlib
import json
import resource
import selectors
import socket
import sys
import time

HALF = b"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nX-Long: "


class Flood:
    """Half-open connections to a server on this machine.

    Parameters
    ----------
    port : int
        The port of the server.
    n_connections : int
        The number of connections that are tried to hold.
    """

    def __init__(self, port, n_connections):
        self.port, self.n_connections = port, n_connections
        self.selector = selectors.DefaultSelector()
        self.counts = {"opened": 0, "closed": 0, "most_open": 0}

    @property
    def n_open(self):
        return len(self.selector.get_map())

    def open_one(self):
        line = socket.socket()
        line.setblocking(False)
        line.connect_ex(("127.0.0.1", self.port))
        self.selector.register(line, selectors.EVENT_READ | selectors.EVENT_WRITE)
        self.counts["opened"] += 1
        self.counts["most_open"] = max(self.counts["most_open"], self.n_open)

    def attend(self):
        """Send the halves of headers, and see which connections were closed."""
        for key, events in self.selector.select(0):
            line = key.fileobj
            try:
                if events & selectors.EVENT_WRITE:
                    line.send(HALF)
                    self.selector.modify(line, selectors.EVENT_READ)
                if events & selectors.EVENT_READ and not line.recv(1000):
                    raise ConnectionError
            except OSError:
                self.selector.unregister(line)
                line.close()
                self.counts["closed"] += 1

    def run(self, per_second):
        """Open connections at a rate until the end of the standard input."""
        reading = selectors.DefaultSelector()
        reading.register(sys.stdin, selectors.EVENT_READ)
        start, is_full = time.monotonic(), False
        while not reading.select(0.005):
            n_due = int((time.monotonic() - start) * per_second) - self.counts["opened"]
            for _ in range(min(n_due, self.n_connections - self.n_open)):
                with contextlib.suppress(OSError):
                    self.open_one()
            self.attend()
            if not is_full and self.counts["opened"] >= self.n_connections:
                is_full = True
                print("full", flush=True)
        seconds = time.monotonic() - start
        return {**self.counts, "still_open": self.n_open, "seconds": round(seconds, 1)}


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    port, n_connections, per_second = map(int, sys.argv[1:])
    print(json.dumps(Flood(port, n_connections).run(per_second)))
