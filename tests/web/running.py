"""Server of a workbench in a process of its own, started by the command line."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from typing import NamedTuple

TOKEN = "a token for tests"
# Without proxies: the server is on this machine.
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Running(NamedTuple):
    """A running server and its address."""

    process: subprocess.Popen
    new_link: Callable[[], str]
    address: str  # without a login
    project: str

    @property
    def url(self):
        """A new one-time link."""
        return self.new_link()

    @property
    def port(self):
        return int(self.address.rstrip("/").rpartition(":")[2])

    @property
    def peak_megabytes(self):
        """Peak memory of the server."""
        with open(f"/proc/{self.process.pid}/status") as status:  # noqa: PTH123
            line = next(line for line in status if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def get(self, path):
        """Return the JSON reply to a GET request."""
        return json.loads(self.fetch(path))

    def post(self, path, **body):
        """Return the JSON reply to a POST request."""
        return json.loads(self.fetch(path, json.dumps(body).encode()))

    def fetch(self, path, body=None):
        """Return the body of a reply."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        wish = urllib.request.Request(f"{self.address}{path}", body, headers)
        with _DIRECTLY.open(wish, timeout=120) as reply:
            return reply.read()

    def wait_until_ready(self):
        """Wait until the first question can be asked."""
        self._wait_while(("preparing",), lambda: self.get("api/session")["preparation"]["state"])

    def wait_for_the_map(self):
        """Wait for the neighbour map, after which points do not move."""
        self._wait_while(("running",), lambda: self.get("api/map")["better"]["state"])

    def wait_while_learning(self):
        """Wait for the end of learning."""
        self._wait_while(("running",), lambda: self.get("api/learn")["state"])

    def _wait_while(self, waiting, read):
        end = time.monotonic() + 300
        while (state := read()) in waiting:
            assert time.monotonic() < end, state
            time.sleep(0.05)
        assert state in ("ready", "none"), state

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def workbench(folder, *arguments, port=0):
    """Start ``kernova discover`` in a folder, wait until it listens, and end it afterwards."""
    command = [sys.executable, "-m", "kernova", "discover", *map(str, arguments), "--json"]
    command += ["--no-browser", "--port", str(port), "--token", TOKEN]
    with (folder / "server.log").open("a") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    try:
        first = process.stdout.readline()  # returns at the latest when the process ends
        assert first, (folder / "server.log").read_text()
        told = json.loads(first)

        def new_link():
            process.send_signal(signal.SIGUSR1)
            return json.loads(process.stdout.readline())["url"]

        server = Running(process, new_link, told["address"], told["project"])
        server.wait_until_ready()
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.stdout.read()
        process.wait(timeout=120)
        process.stdout.close()
