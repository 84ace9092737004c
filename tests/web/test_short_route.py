"""The short way of frequent requests: the same replies as by FastAPI's way, in one packet."""

import socket

import pytest

from kernova.web.app import create_app
from kernova.web.login import Key
from tests.web.in_process import TOKEN, fish, opened, served_idle

SHORT = {"Content-Type": "application/json"}
LONG = {"Content-Type": "application/json; charset=utf-8"}


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    with served_idle(tmp_path_factory.mktemp("short")) as client:
        yield client


def test_these_requests_take_the_short_way(tmp_path):
    fish(tmp_path)
    app = create_app(opened(tmp_path, strategy="random"), Key(TOKEN, 1))
    paths = {f"{method} {path}" for method, path in app.router.routes[0]._endpoints}
    assert {"POST /api/answers", "POST /api/question", "GET /api/state"} <= paths
    assert not any("{" in path for path in paths)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("question", b'{"expert": "Ann", "row": 3}'),
        ("question", b'{"expert": "Ann", "row": "3"}'),
        ("question?more=1", b'{"expert": "Ann", "row": 3}'),
        ("question", b'{"row": 600}'),
        ("question", b""),
        ("question", b"{"),
        ("question", b"[" * 100_000),
        ("answers", b'{"row": 1, "label": "\xff"}'),
        ("answers", b'{"row": 1, "label": " "}'),
        ("answers", b'{"row": 1' + b"0" * 5000 + b', "label": "x"}'),
        ("answers", b'{"row": 1, "label": "' + b"x" * 2_000_000 + b'"}'),
    ],
)
def test_the_reply_does_not_depend_on_the_way(idle, path, body):
    short, long = (
        idle.post(f"/api/{path}", content=body, headers=headers) for headers in (SHORT, LONG)
    )
    assert (short.status_code, short.json()) == (long.status_code, long.json())
    names = {*short.headers} ^ {*long.headers}
    assert not names


@pytest.mark.parametrize(
    "query", ["since=x", "since=", "expert=", "more=1", "since=-1", "since=%FF"]
)
def test_an_invalid_query_takes_the_long_way(idle, query):
    assert idle.get(f"/api/state?{query}").status_code == 422


def test_a_query_may_be_encoded(idle):
    reply = idle.get("/api/state?since=0&expert=J%C3%BCrgen+%26+Co")
    assert "Jürgen & Co" in {one["name"] for one in reply.json()["experts"]}


def test_a_client_that_goes_in_the_middle_of_a_body_leaves_no_message(idle, caplog):
    header = (
        f"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", idle.base_url.port), timeout=60) as line:
        line.sendall(f'{header}{{"row": 1'.encode())
    # On another connection, and later: the server has seen the end of the first one.
    assert [idle.get("/api/state").json()["asked"] for _ in range(20)] == [0] * 20
    assert caplog.records == []


def test_a_reply_is_sent_at_once(idle):
    request = (
        f"GET /api/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", idle.base_url.port), timeout=60) as line:
        for _ in range(30):
            line.sendall(request.encode())
            assert line.recv(1 << 20).endswith(b"}")
