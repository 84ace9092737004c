"""Server of a workbench in a thread of this process, and its clients."""

import threading
from contextlib import contextmanager

import httpx
import numpy as np
import pandas as pd

from kernova.media.opening import open_discovery_data
from kernova.web.serve import bind_endpoint, new_server
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery

TOKEN = "a token for tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
N_ROWS = 60
KINDS = ("carp", "pike", "eel")


def fish(folder, n_rows=N_ROWS, **columns):
    """Write a table of fish: three kinds with different measurements."""
    rng = np.random.default_rng(0)
    kinds = rng.choice(len(KINDS), n_rows, p=(0.7, 0.2, 0.1))
    rows = pd.DataFrame({"fish": [f"{5877 * 10**14 + row}" for row in range(n_rows)]})
    rows["length"] = (10 * kinds + rng.normal(size=n_rows)).round(3)
    rows["width"] = (rng.normal(size=n_rows) - 7 * kinds).round(3)
    rows["sex"] = ["f", "m"] * (n_rows // 2)
    rows["kind"] = [KINDS[kind] for kind in kinds]
    for name, values in columns.items():
        rows[name] = values
    rows.to_csv(folder / "fish.csv", index=False)
    return rows


def opened(
    folder, *, data="fish.csv", project="fish", is_prepared=True, presence=None, strategy=None,
    **words,
):  # fmt: skip
    """Open a workbench over the fish of a folder."""
    words = {"id_column": "fish", "drop": ["kind"], **words}
    data = open_discovery_data(folder / data, **words)
    project = folder / f"{project}.kernova-project"
    discovery = open_discovery(data.table, project, strategy=strategy, notes=data.notes)
    bench = Workbench(discovery, data.media, presence)
    if is_prepared:
        bench.prepare()
        assert bench.preparation.wait(120)
        assert bench.is_ready(), bench.preparation.message
        # The version of the state changes once more when the map of rows is ready.
        assert bench.map.wait(120)
    return bench


@contextmanager
def served(bench):
    """Serve a workbench; yield a client that sends the token as a script does."""
    try:
        with served_at(bench, bind_endpoint(port=0, token=TOKEN)) as client:
            yield client
    finally:
        bench.close()


@contextmanager
def served_idle(folder):
    """Serve fish, for tests that change no state."""
    fish(folder)
    with served(opened(folder, strategy="random")) as client:
        yield client


@contextmanager
def served_at(bench, endpoint, limits=None):
    """Serve a workbench at an endpoint, which the client has as an attribute."""
    server = new_server(bench, endpoint, limits=limits)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with client_of(endpoint.address, **BEARER) as client:
            client.endpoint = endpoint
            yield client
    finally:
        server.should_exit = True
        thread.join()
        endpoint.listener.close()


def client_of(address, **headers):
    """Return a client, anonymous without headers."""
    # Loading certificates takes long, and nothing is encrypted here.
    return httpx.Client(base_url=address, headers=headers, timeout=120, verify=False)


class Expert:
    """An expert who asks and answers over HTTP."""

    def __init__(self, client, name=None):
        self.client = client
        self.name = name
        self.question = None

    def ask(self, **wish):
        reply = self.client.post("/api/question", json={"expert": self.name, **wish})
        assert reply.status_code == 200, reply.text
        self.question = reply.json()["question"]
        return self.question

    def say(self, path, **words):
        """Send a request and return its reply; the next question is open then."""
        method = "PATCH" if path.startswith("answers/") else "POST"
        reply = self.client.request(method, f"/api/{path}", json={"expert": self.name, **words})
        assert reply.status_code == 200, reply.text
        self.question = reply.json()["question"]
        return reply.json()

    def answer(self, label, **words):
        row = (self.question or self.ask())["row"]
        return self.say("answers", row=row, label=label, **words)


def rejected(reply, status):
    """Return the message of an error reply, after checking its form."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/json"
    error = reply.json()["error"]
    assert set(error) <= {"code", "message", "fields"}
    return error["message"]
