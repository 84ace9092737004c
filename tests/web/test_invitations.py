"""Invitations: a link lets one expert in, once, until it expires or is revoked."""

import logging
import queue
import re
import threading
import time
from contextlib import contextmanager

import pytest

from kernova.web.invitations import Invitations, Reach
from kernova.web.login import Key
from kernova.web.serve import bind_endpoint
from tests.web import messages
from tests.web.in_process import (
    BEARER,
    TOKEN,
    client_of,
    fish,
    opened,
    rejected,
    served,
    served_at,
)

PAGE = {"Accept": "text/html,*/*;q=0.8"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("invitations")
    fish(folder)
    bench = opened(folder, strategy="random")
    yield bench
    bench.close()


@pytest.fixture
def script(bench):
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as client:
        yield client


@pytest.fixture
def new_browser(script):
    """A way to get browsers that share nothing."""
    made = []

    def browser():
        made.append(client_of(script.base_url, Origin=str(script.base_url).rstrip("/")))
        return made[-1]

    yield browser
    for one in made:
        one.close()


def invite(client, name, **words):
    reply = client.post("/api/invitations", json={"name": name, **words})
    assert reply.status_code == 201, reply.text
    return reply.json()


def link_for(client, name):
    [link] = invite(client, name, is_same=True)["links"]
    return link


def accept(browser, link):
    return browser.post("/invitation", data={"code": link.partition("code=")[2]})


def is_in(browser):
    return browser.get("/api/session").status_code == 200


def test_a_link_shows_a_button_that_lets_in_once(script, new_browser):
    link = link_for(script, "Anna")
    assert link.startswith(f"{script.endpoint.address}invitation?code=")
    anna, thief = new_browser(), new_browser()
    # Programs that look at links, whatever they send, use nothing up.
    for method, headers in (
        ("GET", PAGE),
        ("GET", {}),
        ("HEAD", {}),
        ("GET", {"Purpose": "prefetch"}),
    ):
        reply = thief.request(method, link, headers=headers)
        assert (reply.status_code, "set-cookie" in reply.headers) == (200, False)
    page = anna.get(link, headers=PAGE)
    assert "You are invited to label rows as <b>Anna</b>." in page.text
    assert "logged in already" not in page.text
    policy = page.headers["content-security-policy"]
    assert "form-action 'self'" in policy
    assert "script-src" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert not is_in(anna)
    reply = accept(anna, link)
    assert reply.status_code == 204
    assert is_in(anna)
    for attempt in (thief.get(link), accept(thief, link)):
        assert rejected(attempt, 401) == messages.VOID_INVITATION
    assert not is_in(thief)
    states = {
        one["name"]: one["state"] for one in script.get("/api/invitations").json()["invitations"]
    }
    assert states == {"Anna": "used"}


def test_a_form_on_the_page_redirects_to_the_page(script, new_browser):
    browser, link = new_browser(), link_for(script, "Anna")
    form = re.search(r'action="(.*?)".*name="code" value="(.*?)"', browser.get(link).text)
    reply = browser.post(form[1], data={"code": form[2]}, headers=PAGE)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"]
    assert cookie.endswith("; HttpOnly; Path=/; SameSite=Strict")
    assert form[2] not in cookie


def test_the_name_is_bound_to_the_cookie(script, new_browser):
    browser = new_browser()
    accept(browser, link_for(script, "Änna B."))
    assert browser.get("/api/invitations").json()["me"] == "Änna B."
    joined = browser.post("/api/experts", json={"name": "Änna B."})
    assert joined.json() == {"name": "Änna B.", "doubt": None}
    asked = browser.post("/api/question", json={"expert": " Änna  B. "}).json()["question"]
    row = asked["row"]
    as_bob = "This browser was invited as 'Änna B.', and can work under this name only; got 'Bob'."
    for method, path, body in (
        ("POST", "experts", {"name": "Bob"}),
        ("POST", "question", {"expert": "Bob"}),
        ("POST", "answers", {"expert": "Bob", "row": row, "label": "carp"}),
        ("POST", "skips", {"expert": "Bob", "row": row}),
        ("POST", "labels", {"expert": "Bob", "rows": [row], "label": "carp"}),
        ("POST", "undo", {"expert": "Bob"}),
        ("POST", "undo", {"expert": "Bob", "entry": 1, "others": [2]}),
        ("POST", "overlap", {"expert": "Bob", "fraction": 0.1}),
        ("POST", "categories/delete", {"expert": "Bob", "name": "carp"}),
        ("POST", f"disagreements/{row}", {"expert": "Bob", "label": "carp"}),
        ("GET", "state?expert=Bob", None),
    ):
        reply = browser.request(method, f"/api/{path}", json=body)
        assert rejected(reply, 403) == as_bob, path
    nameless = browser.post("/api/answers", json={"row": row, "label": "carp"})
    assert rejected(nameless, 403).endswith("got no name.")
    # With the token beside the cookie, a script may do everything.
    assert browser.post("/api/question", json={"expert": "Bob"}, headers=BEARER).status_code == 200
    saved = browser.post("/api/answers", json={"expert": "Änna B.", "row": row, "label": "carp"})
    assert saved.status_code == 200


def test_invited_experts_cannot_invite(script, new_browser):
    browser = new_browser()
    accept(browser, link_for(script, "Anna"))
    for path in ("invitations", "invitations/revoke"):
        reply = browser.post(f"/api/{path}", json={"name": "Bob"})
        assert rejected(reply, 403) == messages.ONLY_THE_HOST_INVITES
    told = browser.get("/api/invitations").json()
    assert (told["me"], told["can_invite"], told["invitations"]) == ("Anna", False, [])


def test_a_revoked_link_and_the_browsers_that_it_let_in_are_out(script, new_browser):
    used, unused, owner = new_browser(), new_browser(), new_browser()
    owner.get(script.endpoint.new_link())
    accept(used, link_for(script, "Anna"))
    link = link_for(script, "Anna")
    assert is_in(used)  # a second link is for a second browser
    left = script.post("/api/invitations/revoke", json={"name": " Anna "}).json()["invitations"]
    assert left == []
    assert rejected(accept(unused, link), 401) == messages.VOID_INVITATION
    assert not is_in(used)
    assert is_in(owner)
    again = script.post("/api/invitations/revoke", json={"name": "Anna"})
    assert rejected(again, 409) == "There is no invitation of 'Anna' to revoke."


def test_a_new_link_makes_the_earlier_one_void(script, new_browser):
    first, second = link_for(script, "Anna"), link_for(script, "Anna")
    browser = new_browser()
    assert rejected(accept(browser, first), 401) == messages.VOID_INVITATION
    assert accept(browser, second).status_code == 204


def test_a_link_expires():
    invitations = Invitations(Key(TOKEN), hours=0.05 / 3600)
    [link] = invitations.invite("Anna")
    time.sleep(0.1)
    assert invitations.redeem(link.partition("code=")[2]) is None
    assert [one.state for one in invitations.shown()] == ["expired"]


def test_invitations_end_with_their_server(bench, script, new_browser):
    browser, link = new_browser(), link_for(script, "Anna")
    accept(browser, link)
    (session,) = browser.cookies.values()
    with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as other:
        code = link.partition("code=")[2]
        with client_of(other.base_url) as thief:
            reply = thief.post("/invitation", data={"code": code})
            assert rejected(reply, 401) == messages.VOID_INVITATION
            cookie = {"Cookie": f"kernova-{other.base_url.port}={session}"}
            assert rejected(thief.get("/api/session", headers=cookie), 401) == messages.NOTICE


def test_a_browser_that_is_logged_in_is_warned_and_has_one_name(script, new_browser):
    owner = new_browser()
    owner.get(script.endpoint.new_link())
    (before,) = owner.cookies.values()
    link = link_for(script, "Anna")
    assert "This browser is logged in already." in owner.get(link, headers=PAGE).text
    accept(owner, link)
    assert owner.get("/api/invitations").json()["me"] == "Anna"
    with client_of(script.base_url) as old:
        cookie = {"Cookie": f"kernova-{script.base_url.port}={before}"}
        assert rejected(old.get("/api/session", headers=cookie), 401) == messages.NOTICE


def test_one_of_many_clients_gets_in_by_a_link(script):
    link = link_for(script, "Anna")
    gate, statuses = threading.Barrier(8), queue.Queue()

    def try_it():
        with client_of(script.base_url) as client:
            gate.wait()
            statuses.put(accept(client, link).status_code)

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses.get() for _ in threads) == [204] + 7 * [401]


@pytest.mark.parametrize(
    "body",
    ["", "code=", "code=wrong", "codes=CODE", "code=CODE&code=CODE", "code=CODEx", "a" * 20_000,
     "code=%ff%fe", "code=%00", '{"code": "CODE"}', f"token={TOKEN}"],
)  # fmt: skip
def test_wrong_codes_are_rejected(script, new_browser, body):
    browser, code = new_browser(), link_for(script, "Anna").partition("code=")[2]
    wrong = body.replace("CODE", code)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = browser.post("/invitation", content=wrong, headers=headers)
    assert rejected(reply, 401) == messages.VOID_INVITATION
    if "=" in body and "&" not in body:
        assert browser.get(f"/invitation?{wrong[:300]}x").status_code == 401
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert rejected(browser.request(method, f"/invitation?code={code}"), 401) == messages.NOTICE
    assert rejected(browser.post(f"/invitation?code={code}"), 401) == messages.VOID_INVITATION
    assert not is_in(browser)
    assert accept(browser, f"code={code}").status_code == 204


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:1"},
    ],
)
def test_forms_of_other_pages_are_rejected(script, new_browser, headers):
    browser, link = new_browser(), link_for(script, "Anna")
    reply = browser.post("/invitation", data={"code": link.partition("code=")[2]}, headers=headers)
    assert rejected(reply, 403) == messages.OTHER_ORIGIN
    assert accept(browser, link).status_code == 204  # it is still valid


def test_names_are_escaped_on_the_page(script, new_browser):
    name = "<script>alert(1)</script>"
    page = new_browser().get(link_for(script, name), headers=PAGE).text
    assert name not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_wrong_invitations_are_slowed_down_with_host(bench):
    with (
        served_at(bench, bind_endpoint("0.0.0.0", port=0, token=TOKEN)) as public,
        client_of(public.base_url) as attacker,
    ):
        start = time.monotonic()
        for _ in range(2):
            assert attacker.get("/invitation?code=wrong").status_code == 401
            assert attacker.post("/invitation", data={"code": "wrong"}).status_code == 401
        assert time.monotonic() - start >= 1.5
        links = invite(public, "Anna", is_same=True)["links"]
        assert all(f":{public.endpoint.port}/invitation?code=" in link for link in links)
        assert not any("0.0.0.0" in link or "127.0.0.1" in link for link in links)
        told = public.get("/api/invitations").json()
        assert told["is_for_others"]
        assert told["words"].startswith("Other machines can reach this page")


def test_on_this_machine_only_the_page_says_so(script):
    told = script.get("/api/invitations").json()
    assert not told["is_for_others"]
    assert told["words"].startswith("Other machines cannot reach this page")
    assert "--host" in told["words"]


def test_no_code_is_logged(script, new_browser, caplog):
    caplog.set_level(logging.DEBUG)
    link = link_for(script, "Anna")
    browser = new_browser()
    browser.get(link)
    accept(browser, link)
    browser.get(link)
    ours = [one for one in caplog.records if not one.name.startswith(("httpx", "httpcore"))]
    assert not any(link.partition("code=")[2] in one.getMessage() for one in ours)


def test_the_number_of_invitations_is_bounded():
    invitations = Invitations(Key(TOKEN), Reach())
    for number in range(100):
        invitations.invite(f"expert {number}")
    invitations.invite("expert 7")
    with pytest.raises(ValueError, match=r"There are 100 invitations already\. Revoke one first\."):
        invitations.invite("one more")


# --- names that collide ----------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path):
    fish(tmp_path)
    with served(opened(tmp_path, strategy="random")) as client:
        yield client


@contextmanager
def browser_at(client):
    with client_of(client.base_url, Origin=str(client.base_url).rstrip("/")) as browser:
        browser.get(client.endpoint.new_link())
        yield browser


def join(browser, name, **words):
    reply = browser.post("/api/experts", json={"name": name, **words})
    assert reply.status_code == 201, reply.text
    return reply.json()


def test_a_name_in_use_in_another_browser_is_noticed(fresh):
    with browser_at(fresh) as first, browser_at(fresh) as second:
        assert join(first, "Anna")["doubt"] is None
        doubt = join(second, "Anna")["doubt"]
        assert doubt == {
            "kind": "taken",
            "words": "Anna is working here from another browser. Are you the same person?",
            "names": ["Anna"],
        }
        assert join(second, "ANNA")["doubt"]["kind"] == "alike"
        assert join(first, "Anna")["doubt"] is None  # the same browser, in another tab
        assert join(second, "Anna", is_same=True) == {"name": "Anna", "doubt": None}
        assert join(second, "Anna")["doubt"] is None
        names = [one["name"] for one in fresh.get("/api/state").json()["experts"]]
        assert names == ["Anna"]


def test_an_invited_name_cannot_be_taken(fresh):
    with browser_at(fresh) as first:
        link_for(fresh, "Cleo")
        for is_same in (False, True):
            doubt = join(first, "Cleo", is_same=is_same)["doubt"]
            assert doubt["kind"] == "invited"
        assert join(first, "cleo")["doubt"]["names"] == ["Cleo"]


def test_invitations_under_a_name_that_exists_are_questioned(fresh):
    with browser_at(fresh) as first:
        join(first, "Anna")
        reply = invite(fresh, "Anna")
        assert (reply["doubt"]["kind"], reply["links"]) == ("taken", [])
        assert invite(fresh, "anna")["doubt"]["kind"] == "alike"
        assert len(invite(fresh, "Anna", is_same=True)["links"]) == 1
        # Whoever had the name before keeps it in that browser.
        assert join(first, "Anna")["doubt"] is None
