"""A workbench in this process: a server in a thread, and someone who speaks to it."""

import threading
from contextlib import contextmanager

import httpx
import numpy as np
import pandas as pd
import uvicorn

from kernova.media.opening import open_discovery_data
from kernova.web.app import create_app
from kernova.web.serve import find_place
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery

TOKEN = "a token for tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
N_ROWS = 60
KINDS = ("carp", "pike", "eel")


def fish(folder, n_rows=N_ROWS, **columns):
    """Write a table of fish: three kinds, told apart by what was measured."""
    rng = np.random.default_rng(0)
    kinds = rng.choice(len(KINDS), n_rows, p=(0.7, 0.2, 0.1))
    rows = pd.DataFrame({"fish": [f"{5877 * 10**14 + place}" for place in range(n_rows)]})
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
    return bench


@contextmanager
def served(bench):
    """Serve a workbench, and give a client who knows the token and speaks as a script does."""
    place = find_place(port=0, token=TOKEN)
    app = create_app(bench, TOKEN, port=place.port)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place.listener]})
    thread.start()
    try:
        with client_of(place.address, **BEARER) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        place.listener.close()
        bench.close()


def client_of(address, **headers):
    """Give a client; without headers, nobody who is known."""
    # Certificates take long to load, and nothing here is encrypted.
    return httpx.Client(base_url=address, headers=headers, timeout=120, verify=False)


class Expert:
    """Someone at the workbench."""

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
        """Say something, and give the reply; whatever is asked next is open now."""
        method = "PATCH" if path.startswith("answers/") else "POST"
        reply = self.client.request(method, f"/api/{path}", json={"expert": self.name, **words})
        assert reply.status_code == 200, reply.text
        self.question = reply.json()["question"]
        return reply.json()

    def answer(self, label, **words):
        row = (self.question or self.ask())["row"]
        return self.say("answers", row=row, label=label, **words)


def refused(reply, status):
    """Give the sentence of a refusal, having seen that it has the one shape."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/json"
    error = reply.json()["error"]
    assert set(error) <= {"code", "message", "fields"}
    return error["message"]
