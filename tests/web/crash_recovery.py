"""Crash test: kill a server while experts work, again and again, and compare the project file.

Experts answer, and send requests of every route that records something, which come from the
server's description. Run as a separate program that forks servers, without importing again, while
it has one thread. A request without a reply is sent again with its key to the next server, until it
is acknowledged or rejected. Between two servers, the project file is compared with the acknowledged
requests. Prints one JSON line of counts.
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

from kernova.discover.store import open_project
from kernova.tables.table import Table
from kernova.web.serve import Endpoint, bind_endpoint, serve
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery
from tests.web.recorded_requests import Requests, Wish, World

TOKEN = "a token for tests"
N_ROWS = 8000
_NEVER = 120.0  # seconds; a timeout for hangs
_CATEGORIES = [f"category {number}" for number in range(7)]
_ANSWERS = "/api/answers"
# Of all requests, so many answer the open question.
_ANSWERED = 0.6


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
            discovery.session.review.plan_overlap(0.2)
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
        """Send a POST request; return None if the server ended before its reply."""
        return self.send("POST", path, body)

    def send(self, method, path, body=None):
        """Send a request; return None if the server ended before its reply."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_NEVER)
            self.connection.request(method, path, json.dumps(body), headers)
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
    """A request as an expert sent it."""

    key: str
    wish: Wish

    @property
    def answer(self):
        """Row and label of an answer; None for other requests."""
        is_answer = self.wish.path == _ANSWERS
        return (self.wish.body["row"], self.wish.body["label"]) if is_answer else None


class Expert:
    """An expert who works until the server is killed, and continues with the next one."""

    def __init__(self, name, port):
        self.name = name
        self.client = Client(port)
        self.acknowledged = {}  # number of the log entry -> what was sent
        self.routes = {}  # number of acknowledged requests of each
        self.pending = None
        self.row = None
        self.n_sent = 0
        self.chance = random.Random(name)
        self.requests = None

    def work(self, reached):
        """Work until the server ends; call ``reached`` after every acknowledged request."""
        self.client.forget()
        self.row = None
        while (is_saved := self.send()) is not None:
            if is_saved:
                reached()

    def send(self):
        """Send a request, or again the one without a reply; return whether it was recorded.

        None if there was no reply.
        """
        if self.pending is None:
            wish = self.wish()
            if wish is None:
                return None
            self.pending = Sent(f"{self.name}-{self.n_sent}", wish)
            self.n_sent += 1
        method, path, body = self.pending.wish
        words = {**body, "expert": self.name, "key": self.pending.key}
        reply = self.client.send(method, path, words)
        if reply is None:
            return None
        return self.acknowledge(*reply)

    def acknowledge(self, status, body):
        """Remember what was recorded; a rejected request leaves no trace."""
        sent, self.pending = self.pending, None
        if status in (404, 409, 422) and sent.answer is None:
            return False
        if status != 200:
            raise LostError(f"{sent} was rejected: {status} {body}")
        self.acknowledged[body["saved"]["number"]] = sent
        route = sent.wish.path.rstrip("0123456789")
        self.routes[route] = self.routes.get(route, 0) + 1
        question = body["question"]  # null until the table is prepared
        self.row = None if question is None else question["row"]
        return True

    def wish(self):
        """Return what to send next; None if the server has ended."""
        if self.requests is None and not self.read_description():
            return None
        if self.chance.random() >= _ANSWERED:
            return self.requests.any_request(World(N_ROWS, _CATEGORIES, len(self.acknowledged)))
        if self.row is None and not self.ask():
            return None
        label = self.chance.choice(_CATEGORIES)
        return Wish("POST", _ANSWERS, {"row": self.row, "label": label})

    def read_description(self):
        reply = self.client.send("GET", "/api/openapi.json")
        if reply is not None:
            self.requests = Requests(reply[1], self.chance)
        return reply is not None

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
        # The plan of the overlap was no request, nor are entries that were undone with another.
        kept = {n: one for n, one in enumerate(store.records, start=1) if one.key is not None}
    if len({record.key for record in kept.values()}) < len(kept):
        raise LostError("a request counts twice")
    for expert in experts:
        for number, sent in expert.acknowledged.items():
            record = kept.pop(number, None)
            if record is None or not is_of(record, expert.name, sent):
                raise LostError(f"{sent} was acknowledged as entry {number}, which is {record}")
    pending = [(expert.name, expert.pending) for expert in experts if expert.pending]
    for record in kept.values():
        if not any(is_of(record, name, sent) for name, sent in pending):
            raise LostError(f"unexpected {record}; {pending} were pending")
    return len(kept)


def is_of(record, name, sent):
    """Return whether a record is what an expert sent."""
    if (record.by, record.key) != (name, sent.key):
        return False
    return sent.answer is None or sent.answer == (record.event.row, record.event.label)


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
    routes = {}
    for expert in test.experts:
        for route, count in expert.routes.items():
            routes[route] = routes.get(route, 0) + count
    test.counts |= {"answers": routes.get(_ANSWERS, 0), "routes": routes}
    described = {route.path for expert in test.experts for route in expert.requests.routes}
    test.counts["routes_of_description"] = len(described)
    with open_project(test.project) as store:
        blind = [getattr(record.event, "is_blind", None) for record in store.records]
    test.counts["compared"] = sum(map(bool, blind))
    return test.counts


if __name__ == "__main__":
    print(json.dumps(run(*map(int, sys.argv[1:]))))
