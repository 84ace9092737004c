"""Crash test: kill a server while experts answer, again and again, and compare the project file.

A fifth of the rows is asked to two experts, and every ninth request is an undo, some of an entry
that others have built on.

Run as a separate program that forks servers, without importing again, while it has one thread. A
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
from typing import NamedTuple

import numpy as np
import pandas as pd

from kernova.discover.events import OptionSet, RowLabelled
from kernova.discover.log import EffectiveEvents
from kernova.discover.store import open_project
from kernova.tables.table import Table
from kernova.web.serve import Endpoint, bind_endpoint, serve
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery

TOKEN = "a token for tests"
N_ROWS = 8000
OVERLAP = 0.2
_UNDO_EVERY = 9
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
        if discovery.session.n_records_ == 0:
            discovery.session.review.plan_overlap(OVERLAP)
        workbench = Workbench(discovery)
        workbench.prepare()
        serve(workbench, Endpoint(endpoint.listener.dup(), endpoint.host, endpoint.token))
    finally:
        os._exit(1)


class Client:
    """Connection of an expert, opened again for every server."""

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


class Sent(NamedTuple):
    """An answer as an expert sent it; an undo has neither row nor label."""

    key: str
    row: int | None = None
    label: str | None = None

    @property
    def request(self):
        """The address, and what is sent there."""
        if self.row is None:
            return "/api/undo", {"key": self.key}
        return "/api/answers", self._asdict()


class Expert:
    """An expert who answers until the server is killed, and continues with the next one."""

    def __init__(self, name, port):
        self.name = name
        self.client = Client(port)
        self.acknowledged = {}  # number of the log entry -> what was sent
        self.pending = None
        self.row = None

    def work(self, reached):
        """Answer until the server ends; call ``reached`` after every acknowledged answer."""
        self.client.forget()
        self.row = None
        while self.send():
            reached()

    def send(self):
        """Send an answer, or again the one without a reply; return whether there was a reply."""
        if self.pending is None:
            if self.row is None and not self.ask():
                return False
            number = len(self.acknowledged)
            key = f"{self.name}-{number}"
            is_undo = number % _UNDO_EVERY == _UNDO_EVERY - 1
            answer = Sent(key, self.row, f"category {number % 7}")
            self.pending = Sent(key) if is_undo else answer
        path, body = self.pending.request
        reply = self.client.post(path, {"expert": self.name, **body})
        if reply is None:
            return False
        status, body = reply
        if status != 200:
            raise LostError(f"{self.pending} was rejected: {status} {body}")
        self.acknowledged[body["saved"]["number"]] = self.pending
        question = body["question"]  # null until the table is prepared
        self.pending, self.row = None, None if question is None else question["row"]
        return True

    def ask(self):
        """Wait until the server has a question; return whether it has replied."""
        end = time.monotonic() + _NEVER
        while time.monotonic() < end:
            reply = self.client.post("/api/question", {"expert": self.name})
            if reply is None:
                return False
            status, body = reply
            if status == 200:
                self.row = body["question"]["row"]
                return True
            if status != 409:
                raise LostError(f"no question: {status} {body}")
            time.sleep(0.005)
        raise LostError("no question for two minutes")


def check(project, experts):
    """Compare the project with what experts sent; return how many pending answers it has."""
    with open_project(project) as store:
        kept = {
            number: (record.by, Sent(record.key, *_said(record.event)))
            for number, record in enumerate(store.records, start=1)
            if not isinstance(record.event, OptionSet)
        }
        check_comparisons(store.records)
    if len({sent.key for _, sent in kept.values()}) < len(kept):
        raise LostError("a request counts twice")
    for expert in experts:
        for number, sent in expert.acknowledged.items():
            if kept.pop(number, None) != (expert.name, sent):
                raise LostError(f"{sent} was acknowledged as entry {number}, and is not there")
    pending = [(expert.name, expert.pending) for expert in experts]
    if not all(one in pending for one in kept.values()):
        raise LostError(f"unexpected {kept}; {pending} were pending")
    return len(kept)


def _said(event):
    return getattr(event, "row", None), getattr(event, "label", None)


def check_comparisons(records):
    """Nobody compares a row twice, nor one that nobody else has labelled; return how many did."""
    effective = EffectiveEvents(records).events
    compared = [
        (one.by, one.event.row)
        for one in effective
        if isinstance(one.event, RowLabelled) and one.event.is_blind
    ]
    if len(set(compared)) < len(compared):
        raise LostError("an expert was asked twice about a row")
    return len(compared)


class CrashTest:
    """A project, a server that is killed repeatedly, and experts who continue."""

    def __init__(self, n_experts, seed):
        self.chance = random.Random(seed)
        self.project = Path(tempfile.mkdtemp()) / "rows.kernova-project"
        self.endpoint = bind_endpoint(port=0, token=TOKEN)
        names = [f"expert-{number}" for number in range(n_experts)]
        self.experts = [Expert(name, self.endpoint.port) for name in names]
        self.counts = {"kills": 0, "answers": 0, "without_reply": 0, "saved_without_reply": 0}

    def run_and_kill(self, n_answers):
        """Let experts answer, and kill the server some time after so many answers."""
        server = start_server(self.project, self.endpoint)
        threads, failures, done = self.start_experts(n_answers)
        if not done.wait(_NEVER):
            failures.append("experts do not get on")
        # Covers the time from before requests are read until after their replies are sent.
        time.sleep(self.chance.random() ** 2 * 0.03)
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        for thread in threads:
            thread.join()
        if failures:
            raise LostError(failures)
        self.counts["kills"] += 1
        self.counts["without_reply"] += sum(one.pending is not None for one in self.experts)
        self.counts["saved_without_reply"] += check(self.project, self.experts)

    def start_experts(self, n_answers):
        failures, done, n_left = [], threading.Event(), [n_answers]
        lock = threading.Lock()

        def reached():
            with lock:
                n_left[0] -= 1
                if n_left[0] <= 0:
                    done.set()

        def work(expert):
            try:
                expert.work(reached)
            except Exception as error:  # noqa: BLE001 - raised again by the main thread
                failures.append(repr(error))
                done.set()

        threads = [threading.Thread(target=work, args=(one,)) for one in self.experts]
        for thread in threads:
            thread.start()
        return threads, failures, done


def run(n_kills, n_experts, n_answers, seed=0):
    test = CrashTest(n_experts, seed)
    for _ in range(n_kills):
        test.run_and_kill(test.chance.randint(1, 2 * n_answers))
    test.counts["answers"] = sum(len(expert.acknowledged) for expert in test.experts)
    with open_project(test.project) as store:
        test.counts["compared"] = check_comparisons(store.records)
    return test.counts


if __name__ == "__main__":
    print(json.dumps(run(*map(int, sys.argv[1:]))))
