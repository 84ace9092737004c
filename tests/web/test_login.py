"""Login: one-time links, the form for the token, sessions, and delays after wrong tokens."""

import asyncio
import queue
import re
import stat
import threading
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from kernova.web import login
from kernova.web.access import Access
from kernova.web.hosts import Hosts
from kernova.web.login import Key, Throttle, address_group, login_link, open_browser
from kernova.web.serve import bind_endpoint
from tests.web import messages
from tests.web.in_process import BEARER, TOKEN, client_of, fish, opened, rejected, served_at

PAGE = {"Accept": "text/html,*/*"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("login")
    fish(folder)
    bench = opened(folder, strategy="random")
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def script(bench):
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as client:
        yield client


@pytest.fixture
def anybody(script):
    with client_of(script.base_url) as client:
        yield client


@pytest.fixture
def home(script):
    return str(script.base_url).rstrip("/")


def is_in(client):
    """Return whether a client gets the data of the page."""
    return client.get("/api/session").status_code == 200


# --- one-time links --------------------------------------------------------------------------


def test_a_link_is_exchanged_for_a_cookie_and_then_void(script, anybody):
    link = script.endpoint.new_link()
    assert re.fullmatch(rf"{script.base_url}login\?code=[\w-]{{22}}", link)
    reply = anybody.get(link)
    assert (reply.status_code, "location" in reply.headers) == (200, False)
    assert '<meta http-equiv="refresh" content="0; url=/">' in reply.text
    assert urlsplit(link).query.partition("=")[2] not in reply.text
    name = f"kernova-{script.base_url.port}"
    attributes = "HttpOnly; Path=/; SameSite=Strict"
    assert re.fullmatch(f"{name}=[0-9a-f]{{64}}; {attributes}", reply.headers["set-cookie"])
    assert TOKEN not in reply.headers["set-cookie"]
    assert is_in(anybody)
    with client_of(script.base_url) as other:
        assert rejected(other.get(link), 401) == messages.VOID_LINK
        assert not is_in(other)
        page = other.get(link, headers=PAGE)
        assert (page.status_code, messages.VOID_LINK in page.text) == (401, True)
        assert "set-cookie" not in page.headers


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_a_link_that_was_typed_redirects(script, anybody, site):
    reply = anybody.get(script.endpoint.new_link(), headers={"Sec-Fetch-Site": site})
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert is_in(anybody)


def test_a_link_opened_by_those_who_are_in_is_void_too(script, anybody):
    anybody.get(script.endpoint.new_link())
    link = script.endpoint.new_link()
    again = anybody.get(link)
    assert (again.status_code, "set-cookie" in again.headers) == (200, False)
    assert anybody.get(link).status_code == 200  # the page, whatever the link
    with client_of(script.base_url) as other:
        assert rejected(other.get(link), 401) == messages.VOID_LINK


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-Moz": "prefetch"}],
)
def test_a_link_that_is_only_prefetched_stays_valid(script, anybody, headers):
    link = script.endpoint.new_link()
    for reply in (anybody.get(link, headers=headers), anybody.head(link)):
        assert (reply.status_code, "set-cookie" in reply.headers) == (401, False)
    assert anybody.get(link).status_code == 200


def test_invalid_links_are_rejected(script, anybody):
    code = script.endpoint.key.new_code()
    for query in ("code=", "code=wrong", f"code={code}x", "code=%ff", f"code=a&code={code}"):
        assert rejected(anybody.get(f"/login?{query}"), 401) == messages.VOID_LINK
    assert rejected(anybody.get("/login"), 401) == messages.NOTICE
    assert rejected(anybody.post(f"/login?code={code}"), 401) == messages.WRONG_TOKEN
    assert rejected(anybody.put(f"/login?code={code}"), 401) == messages.NOTICE
    assert not is_in(anybody)
    assert anybody.get(f"/login?code={code}").status_code == 200


def test_a_link_expires():
    key = Key(TOKEN, link_seconds=0.05)
    code = key.new_code()
    time.sleep(0.1)
    assert not key.redeem(code)


def test_the_oldest_of_many_links_and_sessions_are_forgotten():
    key = Key(TOKEN, 1)
    codes = [key.new_code() for _ in range(101)]
    assert [key.redeem(code) for code in codes] == [False] + 100 * [True]
    cookies = [key.new_cookie().partition(";")[0] for _ in range(1000)]
    assert key.has_session(cookies[0])
    key.new_cookie()
    assert [key.has_session(cookie) for cookie in cookies[:3]] == [True, False, True]


def test_one_of_many_clients_gets_in_by_a_link(script):
    link = script.endpoint.new_link()
    gate, statuses = threading.Barrier(8), queue.Queue()

    def try_it():
        with client_of(script.base_url) as client:
            gate.wait()
            statuses.put(client.get(link).status_code)

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses.get() for _ in threads) == [200] + 7 * [401]


# --- the form --------------------------------------------------------------------------------


def test_the_form_takes_the_token_in_its_body(script, anybody, home):
    page = anybody.get("/", headers=PAGE)
    assert (page.status_code, page.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert page.headers["www-authenticate"] == 'Bearer realm="kernova"'
    assert messages.NOTICE_ON_PAGE in page.text
    assert re.search('<form method="post" action="/login">', page.text)
    headers = {**PAGE, "Origin": home, "Sec-Fetch-Site": "same-origin"}
    reply = anybody.post("/login", data={"token": TOKEN}, headers=headers)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert is_in(anybody)


def test_the_page_itself_logs_in_without_a_redirect(script, anybody, home):
    reply = anybody.post("/login", data={"token": TOKEN}, headers={"Origin": home})
    assert (reply.status_code, reply.content) == (204, b"")
    assert is_in(anybody)


@pytest.mark.parametrize(
    "body", ["", "token=", "token=wrong", "tokens=1", f"token={TOKEN}&token={TOKEN}", "a" * 20_000,
             "token=%ff%fe", f"token={TOKEN}x"]
)  # fmt: skip
def test_wrong_forms_are_rejected(anybody, body):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = anybody.post("/login", content=body, headers=headers)
    assert rejected(reply, 401) == messages.WRONG_TOKEN
    page = anybody.post("/login", content=body, headers={**headers, **PAGE})
    assert (page.status_code, messages.WRONG_TOKEN in page.text) == (401, True)
    assert not is_in(anybody)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"},
    ],
)
def test_forms_of_other_pages_are_rejected(anybody, headers):
    for token in (TOKEN, "wrong"):
        reply = anybody.post("/login", data={"token": token}, headers=headers)
        assert rejected(reply, 403) == messages.OTHER_ORIGIN
    assert not is_in(anybody)


def test_a_token_of_any_letters_can_be_typed(bench):
    token = "пароль à la carte +&=% "
    with (
        served_at(bench, bind_endpoint(port=0, token=token)) as script,
        client_of(script.base_url) as anybody,
    ):
        assert anybody.post("/login", data={"token": token}).status_code == 204
        assert is_in(anybody)
        bearer = {"Authorization": b"Bearer " + token.strip().encode()}
        assert anybody.get("/api/session", headers=bearer).status_code == 200


def test_the_login_page_may_send_its_form_and_nothing_else(anybody):
    headers = anybody.get("/", headers=PAGE).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    style = policy.pop("style-src")
    assert re.fullmatch(r"'sha256-[\w+/=]{44}'", style)
    assert policy == {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"


# --- sessions --------------------------------------------------------------------------------


def test_a_cookie_is_worth_nothing_at_another_server(bench, script, anybody):
    anybody.get(script.endpoint.new_link())
    (session,) = anybody.cookies.values()
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as other:
        for name in (f"kernova-{script.base_url.port}", f"kernova-{other.base_url.port}"):
            with client_of(other.base_url) as thief:
                reply = thief.get("/api/session", headers={"Cookie": f"{name}={session}"})
                assert rejected(reply, 401) == messages.NOTICE


def test_a_cookie_ends_with_its_server(bench):
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as first:
        port = first.endpoint.port
        with client_of(first.base_url) as browser:
            browser.get(first.endpoint.new_link())
            assert is_in(browser)
            cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    with (
        served_at(bench, bind_endpoint(port=port, token=TOKEN)) as second,
        client_of(second.base_url) as browser,
    ):
        reply = browser.get("/api/session", headers={"Cookie": cookie})
        assert rejected(reply, 401) == messages.NOTICE


@pytest.mark.parametrize(
    "other", ['prefs={"a": 1}', "a[b]=1", "flag", "=1", 'a="1', "path=/x", "a=\xe9"]
)
def test_malformed_cookies_of_other_servers_are_ignored(script, anybody, other):
    reply = anybody.get(script.endpoint.new_link())
    cookie = reply.headers["set-cookie"].partition(";")[0]
    anybody.cookies.clear()
    for together in (f"{other}; {cookie}", f"{cookie}; {other}"):
        headers = {"Cookie": together.encode("latin-1")}
        assert anybody.get("/api/session", headers=headers).status_code == 200
    alone = {"Cookie": other.encode("latin-1")}
    assert anybody.get("/api/session", headers=alone).status_code == 401


def test_the_cookie_is_for_https_where_there_is_https():
    assert Key(TOKEN, is_secure=True).new_cookie().endswith("; Secure")


# --- the browser -----------------------------------------------------------------------------


def test_a_browser_gets_the_name_of_a_private_file(script, anybody, monkeypatch):
    seen = queue.Queue()
    monkeypatch.setattr(login.webbrowser, "open", lambda url: seen.put(url) or True)
    opening = open_browser(script.endpoint.address, script.endpoint.key)
    url = seen.get(timeout=60)
    assert url.startswith("file://")
    assert not re.search(r"code|token|127\.0\.0\.1", url)
    page = Path(unquote(urlsplit(url).path))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    link = re.search('url=([^"]+)', page.read_text())[1]
    assert link.startswith(login_link(script.endpoint.address, ""))
    assert opening.is_alive()  # the file stays until it has been used
    anybody.get(link)
    opening.join(60)
    assert (is_in(anybody), page.exists(), page.parent.exists()) == (True, False, False)


def test_without_a_browser_no_file_is_left(script, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(login.webbrowser, "open", lambda url: False)
    open_browser(script.endpoint.address, script.endpoint.key).join(60)
    assert list(tmp_path.iterdir()) == []


# --- delays ----------------------------------------------------------------------------------


def test_delays_double_up_to_a_limit_and_are_forgotten():
    throttle = Throttle(0.25, 10, memory_seconds=0.2)
    seen = []
    for _ in range(9):
        seen.append(throttle.delay("10.0.0.1"))
        throttle.count("10.0.0.1")
    assert seen == [0, 0.25, 0.5, 1, 2, 4, 8, 10, 10]
    time.sleep(0.3)
    assert throttle.delay("10.0.0.1") == 0


def test_the_number_of_addresses_is_bounded():
    throttle = Throttle()
    for number in range(1500):
        throttle.count(f"10.0.{number // 250}.{number % 250}")
    assert throttle.delay("10.0.5.249") > 0
    assert throttle.delay("10.0.0.0") == 0
    assert len(throttle._failures) == 1000


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_network_count_together(address, group):
    assert address_group(address) == group


async def _seconds(access, address, token, *, cookie=None, leaves_after=None):
    """Send a request to the middleware; return its status and how long it took."""
    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer " + token.encode())]
    if cookie:
        headers.append((b"cookie", cookie.encode()))
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers,
             "client": (address, 1), "state": {}}  # fmt: skip
    statuses = []

    async def receive():
        await asyncio.sleep(3600 if leaves_after is None else leaves_after)
        return {"type": "http.disconnect"}

    async def send(message):
        statuses.append(message.get("status"))

    start = time.monotonic()
    await access(scope, receive, send)
    return statuses[0], time.monotonic() - start


async def _welcome(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def test_wrong_tokens_are_slowed_down_and_right_ones_never_rejected():
    async def attack():
        key = Key(TOKEN, 1)
        access = Access(_welcome, key, Hosts(), Throttle(0.2, 0.4))
        wrong = [await _seconds(access, "10.0.0.1", "wrong") for _ in range(4)]
        assert [status for status, _ in wrong] == 4 * [401]
        assert wrong[0][1] < 0.2 <= wrong[1][1]
        assert wrong[3][1] >= 0.4
        # All at once, from the same address: each waits for itself, and others do not wait.
        flood = [asyncio.create_task(_seconds(access, "10.0.0.1", "no")) for _ in range(100)]
        await asyncio.sleep(0)
        status, seconds = await _seconds(access, "10.0.0.1", TOKEN)
        assert (status, seconds >= 0.4) == (200, True)  # or its reply would reveal the others
        assert {(await one)[0] for one in flood} == {401}
        elsewhere = await _seconds(access, "10.0.0.2", TOKEN)
        cookie = key.new_cookie().partition(";")[0]
        session = await _seconds(access, "10.0.0.1", "wrong", cookie=cookie)
        assert (elsewhere[0], session[0]) == (200, 200)
        assert max(elsewhere[1], session[1]) < 0.2
        gone = await _seconds(access, "10.0.0.1", "wrong", leaves_after=0.01)
        assert gone[1] < 0.4  # nothing waits for those who left

    asyncio.run(attack())


def test_wrong_tokens_are_reported_in_one_line(caplog):
    async def attack():
        access = Access(_welcome, Key(TOKEN, 1), Hosts(), Throttle(0, 0))
        for number in range(50):
            await _seconds(access, f"10.0.0.{number}", "wrong")

    asyncio.run(attack())
    (record,) = caplog.records
    assert record.getMessage() == (
        "Wrong tokens are being sent, most recently from 10.0.0.4; replies to them are delayed."
    )


def test_only_servers_for_other_machines_slow_down(bench):
    wrong = {"Authorization": "Bearer wrong"}
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as local:
        start = time.monotonic()
        for _ in range(6):
            assert local.get("/", headers=wrong).status_code == 401
        assert time.monotonic() - start < 2
    with (
        served_at(bench, bind_endpoint("0.0.0.0", port=0, token=TOKEN)) as public,
        client_of(public.base_url) as attacker,
    ):
        assert public.get("/api/session").status_code == 200
        start = time.monotonic()
        for _ in range(3):
            assert attacker.get("/", headers=wrong).status_code == 401
            assert public.get("/api/session").status_code == 200  # on its own connection
        assert time.monotonic() - start >= 0.75
        start = time.monotonic()
        assert attacker.get("/api/session", headers=BEARER).status_code == 200
        assert time.monotonic() - start >= 1
