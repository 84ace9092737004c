"""Access control: token, Host header, origin, and security headers."""

import mimetypes
import re
import socket

import pytest

from kernova.web.hosts import hosts_for
from tests.web import messages
from tests.web.in_process import BEARER, TOKEN, client_of, fish, opened, rejected, served
from tests.web.messages import NOTICE

PATHS = (
    "/", "/static/index.html", "/static/../app.py", "/api/session", "/api/openapi.json",
    "/api/media/0/picture", "/api/downloads/labels.csv", "/docs", "/no/such/thing",
)  # fmt: skip
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    folder = tmp_path_factory.mktemp("access")
    fish(folder)
    with served(opened(folder, strategy="random")) as client:
        yield client


@pytest.fixture
def anonymous(script):
    """A client of the same server without the token."""
    with client_of(script.base_url) as anybody:
        yield anybody


@pytest.fixture
def home(script):
    return f"http://127.0.0.1:{script.base_url.port}"


@pytest.fixture
def browser(script, anonymous):
    """A client that opened a one-time link."""
    assert "set-cookie" in anonymous.get(script.endpoint.new_link()).headers
    return anonymous


def ask(client, **headers):
    return client.post("/api/question", json={}, headers=headers)


# --- the token -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", PATHS)
def test_requests_without_the_token_get_only_the_notice(anonymous, method, path):
    assert rejected(anonymous.request(method, path), 401) == NOTICE


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer \xff"},
        {"Authorization": "Bearer"},
        {"Cookie": f"kernova-PORT={TOKEN}"},
        {"Cookie": "kernova-PORT="},
        {"Cookie": 'kernova-PORT="\\377'},
        {"Cookie": "=;;=,[]"},
    ],
)
def test_a_wrong_token_is_rejected(anonymous, headers):
    port = str(anonymous.base_url.port)
    encoded = {
        name: value.replace("PORT", port).encode("latin-1") for name, value in headers.items()
    }
    assert rejected(anonymous.get("/api/session", headers=encoded), 401) == NOTICE


@pytest.mark.parametrize("value", [TOKEN, "wrong", ""])
def test_a_token_in_the_address_is_not_accepted(script, anonymous, browser, value):
    for client in (anonymous, browser, script):
        for path in ("/", "/api/session", "/login", "//evil.example/"):
            reply = client.get(f"{client.base_url}{path}", params={"token": value})
            assert rejected(reply, 401) == messages.TOKEN_IN_ADDRESS
            assert "set-cookie" not in reply.headers
        reply = client.post("/api/question", params={"token": value}, json={})
        assert rejected(reply, 401) == messages.TOKEN_IN_ADDRESS


# --- the Host header -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:8317", "localhost:9999", "[::1]:8317", "LOCALHOST"]
)
def test_loopback_names_are_allowed(script, host):
    assert script.get("/api/session", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8317", "127.0.0.1.evil.example", "localhost.evil.example",
        "127.0.0.1@evil.example", "evil.example#127.0.0.1", "192.168.1.7", "0.0.0.0", "", "[::1",
        "[::1]evil", "127.0.0.1:x", "127.0.0.1:8317:1", "127.0.0.1/x", "a@127.0.0.1",
    ],
)  # fmt: skip
def test_other_host_names_are_rejected_even_with_the_token(script, host):
    reply = script.get(f"/api/session?token={TOKEN}", headers={"Host": host})
    assert rejected(reply, 403) == messages.OTHER_HOST
    assert reply.json()["error"]["code"] == "host"


@pytest.mark.parametrize(
    "request_text",
    [
        "GET /api/session HTTP/1.0\r\n",
        "GET /api/session HTTP/1.0\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n",
        "GET http://evil.example/api/session HTTP/1.1\r\nHost: evil.example\r\n",
    ],
)
def test_exactly_one_host_header_is_required(script, request_text):
    with socket.create_connection(("127.0.0.1", script.base_url.port), timeout=120) as line:
        line.sendall(f"{request_text}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        line.shutdown(socket.SHUT_WR)
        assert line.makefile("rb").readline().split()[1] in (b"400", b"403")


@pytest.mark.parametrize(
    ("address", "taken", "rejected"),
    [
        ("127.0.0.1", ["localhost:1", "127.0.0.1"], ["192.168.1.7", "evil.example"]),
        ("0.0.0.0", ["192.168.1.7:8317", "[fe80::1]", "localhost"], ["evil.example"]),
        ("::", ["192.168.1.7", "[::1]:8317"], ["evil.example"]),
        ("bench.example", ["bench.example:8317"], ["localhost", "192.168.1.7"]),
    ],
)
def test_allowed_names_depend_on_the_address(address, taken, rejected):
    hosts = hosts_for(address)
    assert [host for host in (*taken, *rejected) if hosts.takes(host)] == taken


# --- the origin ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "HOME"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "HOME", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_the_own_page_may_send_changes(browser, home, headers):
    ours = {name: value.replace("HOME", home) for name, value in headers.items()}
    assert ask(browser, **ours).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_other_origins_are_rejected(browser, headers):
    assert rejected(ask(browser, **headers), 403) == messages.OTHER_ORIGIN


def test_two_origins_are_rejected(browser, home):
    two = [("Origin", home), ("Origin", "http://evil.example")]
    reply = browser.post("/api/question", json={}, headers=two)
    assert rejected(reply, 403) == messages.OTHER_ORIGIN


def test_scripts_need_no_origin_but_pages_with_the_token_do(script):
    assert ask(script).status_code == 200
    assert rejected(ask(script, Origin="http://evil.example"), 403)


def test_other_local_servers_may_not_read(browser):
    reads = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    assert rejected(browser.get("/api/session", headers=reads), 403)
    links = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}
    assert browser.get("/", headers=links).status_code == 200
    assert browser.get("/", headers={"Sec-Fetch-Site": "none"}).status_code == 200


# --- security headers ------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("headers", [{}, BEARER])
def test_every_reply_has_the_security_headers(anonymous, path, headers):
    told = anonymous.get(path, headers=headers).headers
    policy = dict(part.split(" ", 1) for part in told["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' blob:",
        "media-src": "'self' blob:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert told["x-content-type-options"] == "nosniff"
    assert told["referrer-policy"] == "no-referrer"
    assert told["cross-origin-resource-policy"] == "same-origin"
    assert told["cache-control"] == "no-store"
    assert not any(name.startswith("access-control-") for name in told)


def test_the_page_has_no_inline_script_or_style(script):
    page = script.get("/").text
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", page) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) == []
    assert set(re.findall(r"(?:src|href)=\"((?:https?:)?//[^\"]*)", page)) == set()


# --- size and method -------------------------------------------------------------------------


def test_a_body_of_more_than_a_megabyte_is_rejected(script):
    body = b'{"expert": "' + b"x" * 1_000_000 + b'"}'
    reply = script.post("/api/question", content=body, headers=JSON)
    assert rejected(reply, 413) == messages.TOO_LARGE

    def in_pieces():
        for _ in range(30):
            yield b" " * 50_000

    reply = script.post("/api/question", content=in_pieces(), headers=JSON)
    assert rejected(reply, 413) == messages.TOO_LARGE


def test_head_requests_return_the_headers_only(script):
    whole, head = script.get("/api/session"), script.head("/api/session")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/api/learn", "GET, POST, HEAD"), ("/api/skips", "POST"), ("/static/index.html", "GET, HEAD"),
     ("/api/rows/1", "GET, HEAD"), ("/api/answers/3", "PATCH")],
)  # fmt: skip
def test_unsupported_methods_are_rejected_with_the_allowed_ones(script, path, allowed):
    reply = script.put(path)
    assert rejected(reply, 405).startswith(messages.OTHER_METHOD)
    assert reply.headers["allow"] == allowed


# --- media types -----------------------------------------------------------------------------


def test_scripts_are_served_as_javascript_whatever_the_system_says(tmp_path, monkeypatch):
    mimetypes.init()
    fish(tmp_path)
    monkeypatch.setitem(mimetypes.types_map, ".js", "text/plain")  # as Windows may have it
    with served(opened(tmp_path, strategy="random")) as script:
        for path, kind in (
            ("js/main.js", "text/javascript; charset=utf-8"),
            ("css/base.css", "text/css; charset=utf-8"),
            ("icon.svg", "image/svg+xml"),
        ):
            assert script.get(f"/static/{path}").headers["content-type"] == kind
