"""Every request that records something: idempotent, gated, and the same after a restart.

All routes come from the server's description, so a new one is tested without being named here.
"""

import base64
import random
import threading
import time
from inspect import signature

import pytest

from kernova.discover.store import open_project
from tests.web import messages
from tests.web.in_process import client_of, fish, opened, rejected, served, served_idle
from tests.web.messages import NOTICE
from tests.web.recorded_requests import Requests, World, recorded_routes, writing_routes

# Routes that change something without recording an entry; a new one is added here with its reason.
UNRECORDED = {
    "POST /api/experts": "presence is forgotten when the server ends",
    "POST /api/question": "what is open is forgotten when the server ends",
    "POST /api/learn": "a model follows from the answers",
    "POST /api/alike": "it only reads",
    "POST /api/compare": "it only reads",
    "POST /api/imports/preview": "it only reads",
    "POST /api/invitations": "who may come in is not part of the project",
    "POST /api/invitations/revoke": "who may come in is not part of the project",
    "POST /api/review/numbers": "it only reads",
    "POST /api/review/precision": "it only reads",
    "POST /api/review/rows": "it only reads",
}
# The library ignores it while it learns; another thread may end that, since filters are global.
pytestmark = pytest.mark.filterwarnings("ignore:The least populated class")
# Enough tries for a valid body: some requests need rows or categories in a certain state.
_TRIES = 80
_EXPERTS = ("Anna", "Bob", "Cleo", None)


@pytest.fixture
def folder(tmp_path):
    fish(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder):
    with served(opened(folder, strategy="random")) as client:
        yield client


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A server that records nothing."""
    with served_idle(tmp_path_factory.mktemp("idle")) as client:
        yield client


@pytest.fixture(scope="module")
def description(idle):
    return idle.get("/api/openapi.json").json()


def pytest_generate_tests(metafunc):
    """Give a test one recorded route at a time, read from the application itself."""
    if "route" in metafunc.fixturenames:
        routes = recorded_routes(_description())
        metafunc.parametrize("route", routes, ids=lambda route: route.name)


def _description():
    from fastapi import FastAPI

    from kernova.web.routes import all_routes

    app = FastAPI()
    # Whatever else it takes: nothing of it is used while routes are registered.
    for router in all_routes(*(_Anything() for _ in signature(all_routes).parameters)):
        app.include_router(router, prefix="/api")
    return app.openapi()


class _Anything:
    """Stands for a workbench while routes are registered: none is called."""

    def __getattr__(self, name):
        return _Anything()

    def __call__(self, *args, **words):
        return _Anything()


def world_of(client):
    state = client.get("/api/state").json()
    names = [one["name"] for one in state["categories"]]
    return World(state["rows"], names, state["asked"])


def send(client, wish, **words):
    return client.request(wish.method, wish.path, json={**wish.body, **words})


def begin(client):
    """Answer some questions, and let two experts dispute rows, so that any request can succeed."""
    for number in range(8):
        name = _EXPERTS[number % 2]
        row = client.post("/api/question", json={"expert": name}).json()["question"]["row"]
        label = ("carp", "pike", "eel", "cod")[number % 4]
        body = {"expert": name, "row": row, "label": label}
        assert client.post("/api/answers", json=body).status_code == 200
    for name, label in (("Anna", "carp"), ("Bob", "pike")):
        body = {"expert": name, "rows": list(range(20)), "label": label}
        assert client.post("/api/labels", json=body).status_code == 200


def _previewed(client):
    """Return the fields of an import of a small file."""
    rows = client.get("/api/rows?find=5&limit=3").json()["rows"]
    text = "fish,category\n" + "".join(f"{one['id']},perch\n" for one in rows)
    upload = {"name": "labels.csv", "content": base64.b64encode(text.encode()).decode()}
    reply = client.post("/api/imports/preview", json=upload)
    assert reply.status_code == 200, reply.text
    return {"upload": reply.json()["upload"]}


def _learnt(client):
    """Return the fields of a review of rows that have a suggestion, once there is a model."""
    client.post("/api/learn", json={})
    end = time.monotonic() + 120
    while client.get("/api/learn").json()["state"] != "ready":
        assert time.monotonic() < end
        time.sleep(0.02)
    body = {"query": {"status": "suggested"}, "limit": 3}
    rows = client.post("/api/review/numbers", json=body).json()["rows"]
    assert rows
    return {"rows": rows, "query": None, "count": None, "learnt": None}


# What some requests need beforehand, and fields that follow from it.
PREPARED = {"POST /api/imports": _previewed, "POST /api/review/accept": _learnt}


# --- which routes there are ------------------------------------------------------------------


def test_every_route_that_changes_something_is_recorded_or_listed(description):
    routes = writing_routes(description)
    others = {route.name for route in routes if not route.is_recorded}
    assert others <= set(UNRECORDED), (
        "A route that records an entry replies with SAVED from kernova.web.routes.replies and goes "
        "through queue.save; another one is listed in UNRECORDED with its reason."
    )
    for route in routes:
        if route.is_recorded:
            assert route.body is not None, f"{route.name} takes no JSON"


def test_every_recorded_route_takes_expert_and_key(description, route):
    schemas = description["components"]["schemas"]
    body = schemas[route.body["$ref"].rpartition("/")[2]]
    assert {"expert", "key"} <= set(body["properties"])
    assert body["additionalProperties"] is False


# --- each route ------------------------------------------------------------------------------


def accepted(client, route, requests, **words):
    """Return a request that was recorded, and its reply; rejected ones must leave no trace."""
    replies = []
    given = PREPARED.get(route.name, lambda _: {})(client)
    for _ in range(_TRIES):
        n_before = client.get("/api/history?limit=1").json()["total"]
        wish = requests.request(route, world_of(client), **given)
        reply = send(client, wish, **words)
        if reply.status_code == 200:
            return wish, reply.json()
        replies.append(rejected(reply, reply.status_code))
        assert reply.status_code in (404, 409, 422), (wish, reply.text)
        assert client.get("/api/history?limit=1").json()["total"] == n_before
    raise AssertionError(
        f"No generated request to {route.name} was accepted; the last was rejected: {replies[-1]} "
        "Give the fields of its body `examples`, or say in PREPARED what it needs."
    )


def test_a_request_is_recorded_once_under_its_key(client, description, route):
    begin(client)
    requests = Requests(description, random.Random(1))
    wish, first = accepted(client, route, requests, expert="Anna", key="once")
    again = send(client, wish, expert="Anna", key="once")
    assert again.status_code == 200, again.text
    assert again.json()["repeated"]
    assert again.json()["saved"]["number"] == first["saved"]["number"]
    assert client.get("/api/history?limit=1").json()["total"] == first["saved"]["number"]
    other = send(client, wish, expert="Bob", key="once")
    assert rejected(other, 409) == messages.KEY_USED.replace("'1'", "'once'")


def test_it_can_be_undone_and_survives_a_restart(folder, description, route):
    bench = opened(folder, strategy="random")
    with served(bench) as client:
        begin(client)
        before = seen(bench)
        requests = Requests(description, random.Random(2))
        wish, reply = accepted(client, route, requests, expert="Anna")
        after = seen(bench)
        sentence = reply["saved"]["words"]
        assert sentence.endswith((".", "!", "?")) or "note" in sentence.lower()
        assert client.post("/api/undo", json={"expert": "Anna"}).status_code == 200
        if not wish.path.endswith("/undo"):
            assert seen(bench) == before
            assert send(client, wish, expert="Anna").status_code == 200
            assert seen(bench) == after
        kept = seen(bench)
    again = opened(folder, strategy="random", is_prepared=False)
    assert seen(again) == kept
    again.close()


def test_it_needs_the_token_and_the_own_origin(idle, description, route):
    requests = Requests(description, random.Random(3))
    wish = requests.request(route, World(60, ["carp"], 1))
    with client_of(idle.base_url) as anonymous:
        assert rejected(send(anonymous, wish), 401) == NOTICE
    reply = idle.request(
        wish.method, wish.path, json=wish.body, headers={"Origin": "http://evil.example"}
    )
    assert rejected(reply, 403) == messages.OTHER_ORIGIN
    assert idle.get("/api/history").json()["total"] == 0


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1, 2]", b'"text"', b"null", b"[" * 100_000, b'{"\\ud800": 1}', b"\xff"]
)
def test_invalid_bodies_get_a_message(idle, description, route, body):
    wish = Requests(description, random.Random(4)).request(route, World(60, ["carp"], 1))
    headers = {"Content-Type": "application/json"}
    reply = idle.request(wish.method, wish.path, content=body, headers=headers)
    assert reply.status_code in (400, 422)
    assert rejected(reply, reply.status_code).endswith(".")
    more = send(idle, wish, unknown_field=1)
    assert rejected(more, 422) == messages.INVALID.format(field="unknown_field")


# --- all of them at once ---------------------------------------------------------------------


def seen(bench):
    """Return everything that the events in effect lead to, except what is open."""
    session = bench.discovery.session
    results, notes = session.results_, session.results_.annotations
    return (
        results.labels.tolist(),
        [results.status_of(row) for row in range(len(results.ids))],
        [results.confidence_of(row) for row in range(len(results.ids))],
        results.categories,
        results.curve,
        results.asked,
        {one.row: one.opinions for one in results.disagreements},
        *({**kept} for kept in (notes.notes, notes.flagged, notes.headings, notes.keys)),
        *(
            {row: set(names) for row, names in kept.items()}
            for kept in (notes.tags, notes.rejected)
        ),
    )


def test_experts_send_requests_of_every_route_at_once(folder, description, long_bar):
    bench = opened(folder, strategy="random")
    acknowledged, failures = {}, []
    with served(bench) as client:
        begin(client)
        threads = [
            threading.Thread(
                target=_work,
                args=(client, description, number, long_bar(400), acknowledged, failures),
            )
            for number in range(len(_EXPERTS))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = seen(bench)
    assert failures == []
    with open_project(folder / "fish.kernova-project") as store:
        by_key = {record.key: (number, record.by) for number, record in enumerate(store.records, 1)}
    assert {key: by_key.get(key) for key in acknowledged} == acknowledged
    again = opened(folder, strategy="random", is_prepared=False)
    assert seen(again) == kept
    again.close()
    print(f"\nevery route at once: {len(acknowledged)} entries")
    assert len(acknowledged) >= long_bar(100)


def _work(client, description, number, n_requests, acknowledged, failures):
    """Send random requests as one expert; remember what was acknowledged."""
    expert, chance = _EXPERTS[number], random.Random(number)
    requests = Requests(description, chance)
    try:
        with client_of(client.base_url, **client.headers) as own:
            for turn in range(n_requests):
                if turn % 5 == 0:
                    own.post("/api/question", json={"expert": expert})
                wish = requests.any_request(world_of(own))
                key = f"{number}-{turn}"
                reply = send(own, wish, expert=expert, key=key)
                if reply.status_code == 200:
                    acknowledged[key] = (reply.json()["saved"]["number"], expert)
                else:
                    assert reply.status_code in (404, 409, 422), (wish, reply.text)
    except Exception as error:  # noqa: BLE001 - raised again by the main thread
        failures.append(repr(error))
