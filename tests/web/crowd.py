"""Twenty experts at once: scripted clients that answer a server as fast as it goes.

Run as a program of its own, so that clients do not take turns with the server for one interpreter.
Each expert has a thread and one connection. Prints one JSON line: how long answers took, how long
empty requests took in the same run, and what was asked of whom.
"""

import http.client
import json
import sys
import threading
import time
import uuid
from collections import Counter

import numpy as np

_NEVER = 300.0  # seconds; only something that hangs takes so long


class Connection:
    """One expert's line to the server."""

    def __init__(self, port, token):
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=_NEVER)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, path, body):
        start = time.perf_counter()
        self._line.request("POST", path, body, self._headers)
        reply = self._line.getresponse()
        text = reply.read()
        return reply.status, text, time.perf_counter() - start

    def say(self, path, **body):
        status, text, seconds = self.post(path, json.dumps(body))
        assert status in (200, 201), (status, text)
        return json.loads(text), seconds


class Crowd:
    """What all experts did, gathered from their threads."""

    def __init__(self, port, token, n_experts):
        self.port, self.token, self.n_experts = port, token, n_experts
        self.seconds, self.rows, self.clashes, self.errors = [], [], [], []
        self.open_rows = Counter()
        self.lock = threading.Lock()

    def together(self, work):
        """Let every expert do the work at the same time."""
        gate = threading.Barrier(self.n_experts)

        def run(number):
            line = Connection(self.port, self.token)
            gate.wait()
            try:
                work(line, f"expert {number:02d}")
            except Exception as error:  # noqa: BLE001 - told in the main thread
                self.errors.append(repr(error))

        threads = [threading.Thread(target=run, args=(n,)) for n in range(self.n_experts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def send_nothing(self, n):
        """Send empty requests, which are refused as soon as they are read."""
        taken = []

        def work(line, expert):
            mine = [line.post("/api/answers", "")[2] for _ in range(n)]
            with self.lock:
                taken.extend(mine)

        self.together(work)
        return taken

    def answer(self, n):
        """Answer so many questions each; note which rows were open at two experts at once."""

        def work(line, expert):
            question = line.say("/api/question", expert=expert)[0]["question"]
            self.take(question["row"])
            for number in range(n):
                row = question["row"]
                # No longer ours once the server has read this: nobody else may have it before.
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

        self.together(work)

    def take(self, row):
        with self.lock:
            self.open_rows[row] += 1
            if self.open_rows[row] > 1:
                self.clashes.append(row)


def percentiles(seconds):
    return [round(1000 * float(np.percentile(seconds, share)), 2) for share in (50, 99)]


def run(port, token, n_experts, n_answers):
    crowd = Crowd(port, token, n_experts)
    before = crowd.send_nothing(n_answers)
    crowd.answer(n_answers)
    after = crowd.send_nothing(n_answers)
    return {
        "answers": len(crowd.rows),
        "rows_asked_twice": len(crowd.rows) - len(set(crowd.rows)),
        "rows_open_at_two": len(crowd.clashes),
        "errors": crowd.errors,
        "answer_ms": percentiles(crowd.seconds),
        "empty_ms": percentiles([*before, *after]),
    }


if __name__ == "__main__":
    port, token, n_experts, n_answers = sys.argv[1:]
    print(json.dumps(run(int(port), token, int(n_experts), int(n_answers))))
