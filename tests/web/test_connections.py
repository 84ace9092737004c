"""Limits on connections: slow clients, too many at a time, and no file descriptors left."""

import contextlib
import gc
import http.client
import logging
import resource
import shutil
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest

from kernova.web.connections import Limits
from kernova.web.serve import bind_endpoint, tls_context
from tests.web.in_process import BEARER, TOKEN, fish, opened, served_at
from tests.web.running import workbench

HALF = b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nX-Long: "
POST = (
    f"POST /api/question HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n"
)
GET = f"GET /api/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
SECONDS = 0.5
FLOOD = (
    "There are more than 10 connections, or no file descriptors are left: connections without a "
    "login are being closed, the oldest first."
)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connections")
    fish(folder)
    bench = opened(folder, strategy="random")
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def hasty(bench):
    """A server that waits half a second."""
    limits = Limits(seconds=SECONDS)
    with served_at(bench, bind_endpoint(port=0, token=TOKEN), limits) as client:
        yield client.endpoint


@pytest.fixture
def small(bench):
    """A server of ten connections."""
    limits = Limits(n_connections=10, seconds=60)
    with served_at(bench, bind_endpoint(port=0, token=TOKEN), limits) as client:
        yield client.endpoint


def line_to(endpoint):
    return socket.create_connection(("127.0.0.1", endpoint.port), timeout=60)


def seconds_open(line, trickle=b"", pause=0.05):
    """Send a byte now and then; return how long the server keeps the connection."""
    start = time.monotonic()
    line.settimeout(pause)
    while time.monotonic() - start < 20 * SECONDS:
        try:
            if trickle:
                line.sendall(trickle)
            if not line.recv(1000):
                break
        except TimeoutError:
            pass
        except OSError:  # closed with a reset
            break
    return time.monotonic() - start


def is_open(line):
    """Return whether the server has not closed a connection that it sends nothing on."""
    line.setblocking(False)
    try:
        return bool(line.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False


class Expert:
    """An expert with one connection, which must stay open."""

    def __init__(self, port):
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.work()
        self.socket = self.line.sock

    def work(self):
        self.line.request("GET", "/api/session", headers=BEARER)
        reply = self.line.getresponse()
        assert (reply.status, bool(reply.read())) == (200, True)

    def is_on_the_same_line(self):
        return self.line.sock is self.socket


# --- slow clients ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "trickle"),
    [
        (b"", b""),
        (b"", b"G"),
        (HALF, b""),
        (HALF, b"x"),
        (POST.format(10_000).encode(), b""),
        (POST.format(10_000).encode(), b"  "),
        # Rejected at once; what follows is read and thrown away.
        (POST.replace("Authorization", "No").format(10_000).encode(), b" "),
        (GET.encode() + HALF, b"x"),
        (GET.replace("Authorization", "No").encode(), b""),
    ],
    ids=["silent", "letters", "half a header", "slow header", "no body", "slow body",
         "slow body without a login", "slow second header", "pause without a login"],
)  # fmt: skip
def test_slow_clients_are_cut_off(hasty, sent, trickle):
    with line_to(hasty) as line:
        if sent:
            line.sendall(sent)
        assert SECONDS - 0.1 < seconds_open(line, trickle) < 16 * SECONDS


def test_a_slow_but_steady_body_is_read(hasty):
    body = b'{"expert": "Ada"' + b" " * 5000 + b"}"
    with line_to(hasty) as line:
        line.sendall(POST.format(len(body)).encode())
        for start in range(0, len(body), 500):
            line.sendall(body[start : start + 500])
            time.sleep(SECONDS / 5)
        assert line.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"


def test_pauses_of_those_who_logged_in_are_longer(hasty):
    expert = Expert(hasty.port)
    time.sleep(3 * SECONDS)
    expert.work()
    assert expert.is_on_the_same_line()
    expert.line.close()


def test_a_slow_handshake_is_cut_off(bench, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes certificates, is not installed")
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem "
    words += "-out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(["openssl", *words.split()], check=True, capture_output=True, cwd=tmp_path)
    endpoint = bind_endpoint(
        port=0, token=TOKEN, tls=tls_context(tmp_path / "cert.pem", tmp_path / "key.pem")
    )
    context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with contextlib.ExitStack() as stack:
        limits = Limits(n_connections=10, seconds=SECONDS)
        stack.enter_context(served_at(bench, endpoint, limits))
        line = http.client.HTTPSConnection("127.0.0.1", endpoint.port, context=context, timeout=60)
        line.request("GET", "/api/session", headers=BEARER)
        assert line.getresponse().read()
        # Those in the handshake count as well, and are closed first.
        others = [stack.enter_context(line_to(endpoint)) for _ in range(30)]
        with line_to(endpoint) as last:
            last.sendall(b"\x16\x03\x01")
            assert SECONDS - 0.1 < seconds_open(last) < 16 * SECONDS
        assert not any(map(is_open, others))
        line.request("GET", "/api/session", headers=BEARER)
        assert line.getresponse().status == 200
        line.close()


# --- too many --------------------------------------------------------------------------------


def wait_until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_flood_closes_its_own_connections(bench, caplog):
    caplog.set_level(logging.WARNING, "kernova.web")
    limits = Limits(n_connections=10, seconds=60)
    endpoint = bind_endpoint(port=0, token=TOKEN)
    with contextlib.ExitStack() as stack, served_at(bench, endpoint, limits):
        expert = Expert(endpoint.port)
        flood = []
        for _ in range(100):
            flood.append(stack.enter_context(line_to(endpoint)))
            with contextlib.suppress(OSError):
                flood[-1].sendall(HALF)
        wait_until(lambda: sum(map(is_open, flood)) == 9)
        assert [is_open(line) for line in flood] == 91 * [False] + 9 * [True]
        expert.work()
        assert expert.is_on_the_same_line()
        newcomer = Expert(endpoint.port)
        expert.work()
        newcomer.work()
        assert expert.is_on_the_same_line()
        assert newcomer.is_on_the_same_line()
        expert.line.close()
        newcomer.line.close()
    lines = [record.getMessage() for record in caplog.records if record.name == "kernova.web"]
    assert lines[0] == FLOOD
    assert lines[1:] == ["Connections closed because there were too many: 92."]


def test_where_all_have_logged_in_the_one_that_paused_longest_is_closed(small):
    experts = [Expert(small.port) for _ in range(10)]
    experts[0].work()
    newcomer = Expert(small.port)
    assert [is_open(one.socket) for one in experts] == [True, False, *8 * [True]]
    for one in (*experts, newcomer):
        one.line.close()


def test_networks_are_closed_by_the_number_of_their_connections(small):
    others = [socket.create_connection(("127.0.0.1", small.port), 60, (f"127.0.0.{n}", 0))
              for n in range(2, 5)]  # fmt: skip
    flood = [line_to(small) for _ in range(40)]
    wait_until(lambda: sum(map(is_open, flood)) == 7)
    assert all(map(is_open, others))
    for line in (*others, *flood):
        line.close()


def test_without_file_descriptors_the_server_goes_on(tmp_path):
    fish(tmp_path)
    words = ("fish.csv", "--id-column", "fish", "--drop", "kind", "--strategy", "random")
    with workbench(tmp_path, *words) as server:
        server.wait_for_the_map()  # which opens files, too
        pid = server.process.pid
        expert = Expert(server.port)
        n_used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (n_used + 8, n_used + 8))
        flood = [line_to(server) for _ in range(60)]
        wait_until(lambda: sum(map(is_open, flood)) <= 40)
        expert.work()
        assert expert.is_on_the_same_line()
        expert.line.close()
        for line in flood:
            line.close()
    written = (tmp_path / "server.log").read_text()
    assert len(written.splitlines()) == 2
    assert "no file descriptors are left" in written


@pytest.mark.filterwarnings("error")
def test_a_server_that_ends_during_a_flood_leaves_no_connection(bench, caplog):
    for _ in range(5):
        with contextlib.ExitStack() as stack:
            endpoint = bind_endpoint(port=0, token=TOKEN)
            with served_at(bench, endpoint):
                stop = threading.Event()
                lines = stack.enter_context(flooding(endpoint, stop))
                wait_until(lambda lines=lines: len(lines) > 20)
            stop.set()
        gc.collect()
    assert [record for record in caplog.records if record.name == "asyncio"] == []


@contextlib.contextmanager
def flooding(endpoint, stop):
    """Open connections in a thread; yield those that are open."""
    lines = []

    def connect():
        while not stop.is_set():
            with contextlib.suppress(OSError):
                lines.append(line_to(endpoint))
            time.sleep(0.001)

    thread = threading.Thread(target=connect)
    thread.start()
    try:
        yield lines
    finally:
        stop.set()
        thread.join()
        for line in lines:
            line.close()
