"""Crash test: kill a server during answers, again and again, and compare the project file.

Run as a separate program with one thread, so that it can fork servers without importing again. A
request without a reply is sent again with its key to the next server, until it is acknowledged.
Between two servers, the project file is compared with the acknowledged answers. Prints one JSON
line of counts.
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
from kernova.web.serve import Endpoint, bind_endpoint, serve
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery

TOKEN = "a token for tests"
N_ROWS = 3000
_NEVER = 120.0  # seconds; a timeout for hangs


class LostError(AssertionError):
    """An acknowledged answer is missing, duplicated or out of order."""


def table():
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])
    ids = pd.Series([f"{row:018d}" for row in range(N_ROWS)], name="id")
    return Table(features, ids, None, "rows.csv")


def start_server(project, endpoint):
    """Fork a server that listens at the endpoint; return its process id."""
    child = os.fork()
    if child:
        return child
    try:
        discovery = open_discovery(table(), project, strategy="random")
        workbench = Workbench(discovery)
        workbench.prepare()
        serve(workbench, Endpoint(endpoint.listener.dup(), endpoint.host, endpoint.token))
    finally:
        os._exit(1)


class Client:
    """Client that reconnects after a crash."""

    def __init__(self, port):
        self.port = port
        self.connection = None

    def post(self, path, body):
        """Send a request; return None if the server ended before its reply."""
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
    """Compare the project with the acknowledged answers; return whether it has the pending one."""
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
    pending_kept = kept[len(acknowledged) :]
    if pending_kept not in ([], [pending]):
        raise LostError(f"unexpected {pending_kept}; {pending} was pending")
    return bool(pending_kept)


class CrashTest:
    """A project, a server that is killed repeatedly, and a client that continues."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.project = Path(tempfile.mkdtemp()) / "rows.kernova-project"
        self.endpoint = bind_endpoint(port=0, token=TOKEN)
        self.acknowledged = []
        self.pending = None
        self.counts = {"kills": 0, "without_reply": 0, "saved_without_reply": 0}
        self.server = start_server(self.project, self.endpoint)
        self.client = Client(self.endpoint.port)
        self.row = first_row(self.client)

    def answer(self):
        """Send the next answer, or again the one without a reply."""
        if self.pending is None:
            number = len(self.acknowledged)
            self.pending = (f"key-{number}", self.row, f"category {number % 7}")
        key, row, label = self.pending
        body = {"expert": "Ada", "row": row, "label": label, "key": key}
        status, reply = self.client.post("/api/answers", body) or (0, None)
        if status == 200:
            self.acknowledged.append(self.pending)
            self.pending, self.row = None, reply["question"]["row"]
        elif status != 0:
            raise LostError(f"{self.pending} was rejected: {status} {reply}")

    def answer_and_kill(self):
        # Covers the time from before the request is read until after its reply is sent.
        moment = self.chance.random() ** 2 * 0.03
        bomb = threading.Timer(moment, os.kill, (self.server, signal.SIGKILL))
        bomb.start()
        self.answer()
        bomb.join()
        os.waitpid(self.server, 0)
        self.client.forget()
        self.counts["kills"] += 1
        self.counts["without_reply"] += self.pending is not None
        is_kept = check(self.project, self.acknowledged, self.pending)
        self.counts["saved_without_reply"] += is_kept
        self.server = start_server(self.project, self.endpoint)
        self.row = first_row(self.client)

    def end(self):
        os.kill(self.server, signal.SIGTERM)
        os.waitpid(self.server, 0)
        check(self.project, self.acknowledged, None)
        for position, what in enumerate(("request", "row")):
            if len({entry[position] for entry in self.acknowledged}) < len(self.acknowledged):
                raise LostError(f"a {what} counts twice")


def run(n_kills, n_answers, seed=0):
    test = CrashTest(seed)
    # By number of answers, so that all kills happen whatever the speed of the machine.
    moments = set(test.chance.sample(range(n_answers), n_kills))
    while len(test.acknowledged) < n_answers:
        number = len(test.acknowledged)
        if number in moments:
            moments.remove(number)
            test.answer_and_kill()
        else:
            test.answer()
    test.end()
    return {**test.counts, "answers": len(test.acknowledged)}


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), int(sys.argv[2]))))
