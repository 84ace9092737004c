"""Kill a server that is being answered, again and again, and see what is left of the answers.

Run as a program of its own, which has one thread and so can fork: importing once, each server is
there within a moment. The one who answers is a client like any other: a request without a reply is
sent again with its key, to the next server, until it is acknowledged. While no server runs, the
project is opened and compared with what was acknowledged. Prints one JSON line of counts.
"""

import http.client
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

from kernova.discover.events import Answered
from kernova.discover.store import open_project
from kernova.tables.table import Table
from kernova.web.serve import Place, find_place, serve
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery

TOKEN = "a token for tests"
N_ROWS = 3000
_NEVER = 120.0  # seconds; only something that hangs takes so long


class LostError(AssertionError):
    """An answer that was acknowledged is not there, or there twice, or out of order."""


def table():
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])
    ids = pd.Series([f"{row:018d}" for row in range(N_ROWS)], name="id")
    return Table(features, ids, None, "rows.csv")


def born(project, place):
    """Fork a server that listens at the place; give its process."""
    child = os.fork()
    if child:
        return child
    try:
        discovery = open_discovery(table(), project, strategy="random")
        workbench = Workbench(discovery)
        workbench.prepare()
        serve(workbench, Place(place.listener.dup(), place.host, place.token))
    finally:
        os._exit(1)


class Client:
    """Says one thing after another, each until it is acknowledged."""

    def __init__(self, port):
        self.port = port
        self.connection = None

    def post(self, path, body):
        """Send a request; None if the server went away before its reply."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_NEVER)
            self.connection.request("POST", path, json.dumps(body), headers)
            reply = self.connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException):
            self.forget()
            return None

    def forget(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def first_row(client):
    """Wait until the server has a question."""
    end = time.monotonic() + _NEVER
    while time.monotonic() < end:
        status, reply = client.post("/api/question", {"expert": "Ada"}) or (0, None)
        if status == 200:
            return reply["question"]["row"]
        if status not in (0, 409):
            raise LostError(f"no question: {status} {reply}")
        time.sleep(0.005)
    raise LostError("no question for two minutes")


def check(project, acknowledged, pending):
    """Compare the project with what was acknowledged; tell whether the pending one is in it."""
    with open_project(project) as store:
        kept = [
            (record.key, record.event.row, record.event.label)
            for record in store.records
            if isinstance(record.event, Answered)
        ]
        if len(kept) != len(store.records):
            raise LostError("there is something else than answers")
    if kept[: len(acknowledged)] != acknowledged:
        raise LostError(
            f"{len(acknowledged)} were acknowledged, {len(kept)} are there, or out of order"
        )
    unheard = kept[len(acknowledged) :]
    if unheard not in ([], [pending]):
        raise LostError(f"nobody said {unheard}; {pending} was on its way")
    return bool(unheard)


class Ordeal:
    """A project, the server that is killed over and over, and the client that goes on."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.project = Path(tempfile.mkdtemp()) / "rows.kernova-project"
        self.place = find_place(port=0, token=TOKEN)
        self.acknowledged = []
        self.pending = None
        self.counts = {"kills": 0, "on_their_way": 0, "saved_but_unheard": 0}
        self.server = born(self.project, self.place)
        self.client = Client(self.place.port)
        self.row = first_row(self.client)

    def answer(self):
        """Say the next thing, or once more what has had no reply."""
        if self.pending is None:
            number = len(self.acknowledged)
            self.pending = (f"key-{number}", self.row, f"category {number % 7}")
        key, row, label = self.pending
        said = {"expert": "Ada", "row": row, "label": label, "key": key}
        status, reply = self.client.post("/api/answers", said) or (0, None)
        if status == 200:
            self.acknowledged.append(self.pending)
            self.pending, self.row = None, reply["question"]["row"]
        elif status != 0:
            raise LostError(f"{self.pending} was refused: {status} {reply}")

    def answer_and_kill(self):
        # From before the request is read to after its reply is sent: some tens of milliseconds.
        moment = self.chance.random() ** 2 * 0.03
        bomb = threading.Timer(moment, os.kill, (self.server, signal.SIGKILL))
        bomb.start()
        self.answer()
        bomb.join()
        os.waitpid(self.server, 0)
        self.client.forget()
        self.counts["kills"] += 1
        self.counts["on_their_way"] += self.pending is not None
        is_kept = check(self.project, self.acknowledged, self.pending)
        self.counts["saved_but_unheard"] += is_kept
        self.server = born(self.project, self.place)
        self.row = first_row(self.client)

    def end(self):
        os.kill(self.server, signal.SIGTERM)
        os.waitpid(self.server, 0)
        check(self.project, self.acknowledged, None)
        for place, what in enumerate(("request", "row")):
            if len({said[place] for said in self.acknowledged}) < len(self.acknowledged):
                raise LostError(f"a {what} counts twice")


def run(n_kills, n_answers, seed=0):
    ordeal = Ordeal(seed)
    # Chosen by what has been answered, so that all kills come, however fast the machine is.
    moments = set(ordeal.chance.sample(range(n_answers), n_kills))
    while len(ordeal.acknowledged) < n_answers:
        number = len(ordeal.acknowledged)
        if number in moments:
            moments.remove(number)
            ordeal.answer_and_kill()
        else:
            ordeal.answer()
    ordeal.end()
    return {**ordeal.counts, "answers": len(ordeal.acknowledged)}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), int(sys.argv[2]))))
