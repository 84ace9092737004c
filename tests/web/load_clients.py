"""Load test: scripted experts who answer a server as fast as possible.

Run as a separate program, so that clients do not share the server's interpreter lock. Each expert
has a thread and one connection. Prints one JSON line: the times of answers and of empty requests in
the same run, and counts of rows that were asked twice.
"""

import http.client
import json
import sys
import threading
import time
import uuid
from collections import Counter
from urllib.parse import quote

import numpy as np

_NEVER = 300.0  # seconds; a timeout for hangs


class Connection:
    """One expert's connection to the server."""

    def __init__(self, port, token):
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=_NEVER)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, path, body):
        start = time.perf_counter()
        self._line.request("POST", path, body, self._headers)
        reply = self._line.getresponse()
        text = reply.read()
        return reply.status, text, time.perf_counter() - start

    def get(self, path):
        self._line.request("GET", path, headers=self._headers)
        reply = self._line.getresponse()
        text = reply.read()
        assert reply.status == 200, (reply.status, text)
        return json.loads(text)

    def say(self, path, **body):
        status, text, seconds = self.post(path, json.dumps(body))
        assert status in (200, 201), (status, text)
        return json.loads(text), seconds


class Load:
    """Concurrent experts and the results of their threads."""

    def __init__(self, port, token, n_experts):
        self.port, self.token, self.n_experts = port, token, n_experts
        self.seconds, self.rows, self.clashes, self.errors = [], [], [], []
        self.open_rows = Counter()
        self.lock = threading.Lock()

    def together(self, work):
        """Let all experts do the work at the same time."""
        gate = threading.Barrier(self.n_experts)

        def run(number):
            line = Connection(self.port, self.token)
            gate.wait()
            try:
                work(line, f"expert {number:02d}")
            except Exception as error:  # noqa: BLE001 - reported by the main thread
                self.errors.append(repr(error))

        threads = [threading.Thread(target=run, args=(n,)) for n in range(self.n_experts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def send_nothing(self, n):
        """Send empty requests, which are rejected at once, and return their times."""
        taken = []

        def work(line, expert):
            mine = [line.post("/api/answers", "")[2] for _ in range(n)]
            with self.lock:
                taken.extend(mine)

        self.together(work)
        return taken

    def answer(self, n, *, is_page=False):
        """Answer ``n`` questions each; record rows that were open at two experts at once.

        As a page does, experts may read the state after every answer.
        """

        def work(line, expert):
            version = 0
            question = line.say("/api/question", expert=expert)[0]["question"]
            self.take(question["row"])
            for number in range(n):
                row = question["row"]
                # Released before the request: the server may reassign the row from then on.
                with self.lock:
                    self.open_rows[row] -= 1
                reply, seconds = line.say(
                    "/api/answers",
                    expert=expert,
                    row=row,
                    label=f"category {(row * 7919 + number) % 23}",
                    key=str(uuid.uuid4()),
                )
                with self.lock:
                    self.seconds.append(seconds)
                    self.rows.append(row)
                question = reply["question"]
                self.take(question["row"])
                if is_page:
                    name = quote(expert)
                    version = line.get(f"/api/state?since={version}&expert={name}")["version"]

        began = time.perf_counter()
        self.together(work)
        return time.perf_counter() - began

    def take(self, row):
        with self.lock:
            self.open_rows[row] += 1
            if self.open_rows[row] > 1:
                self.clashes.append(row)


def percentiles(seconds):
    return [round(1000 * float(np.percentile(seconds, share)), 2) for share in (50, 99)]


def wait_until_ready(port, token):
    line = Connection(port, token)
    while line.get("/api/session")["preparation"]["state"] == "preparing":
        time.sleep(0.1)


def run(port, token, n_experts, n_answers, *, is_page=False):
    wait_until_ready(port, token)
    load = Load(port, token, n_experts)
    before = load.send_nothing(n_answers)
    seconds = load.answer(n_answers, is_page=is_page)
    after = load.send_nothing(n_answers)
    return {
        "answers": len(load.rows),
        "seconds": seconds,
        "rows_asked_twice": len(load.rows) - len(set(load.rows)),
        "rows_open_at_two": len(load.clashes),
        "errors": load.errors,
        "answer_ms": percentiles(load.seconds),
        "empty_ms": percentiles([*before, *after]),
    }


if __name__ == "__main__":
    port, token, n_experts, n_answers, *page = sys.argv[1:]
    print(json.dumps(run(int(port), token, int(n_experts), int(n_answers), is_page=bool(page))))
