"""Flood test: an expert works on while thousands of half-open connections are tried."""

import json
import subprocess
import sys
import uuid
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from kernova.discover.events import Answered
from kernova.discover.store import open_project
from tests.web.in_process import fish
from tests.web.load_clients import Connection
from tests.web.running import TOKEN, workbench

PER_SECOND = 400  # connections opened


@contextmanager
def flood(port, n_connections):
    """Flood a server; yield a function that ends it and returns the counts."""
    command = [sys.executable, "-m", "tests.web.flood_client", str(port), str(n_connections)]
    process = subprocess.Popen(
        [*command, str(PER_SECOND)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


class Expert:
    """An expert who answers on one connection, and notes how long each answer takes."""

    def __init__(self, port):
        self.line = Connection(port, TOKEN)
        self.question = self.line.say("/api/question", expert="Ada")[0]["question"]
        self.rows = []

    def answer(self):
        row = self.question["row"]
        body = {"expert": "Ada", "row": row, "label": f"category {row % 7}"}
        reply, seconds = self.line.say("/api/answers", **body, key=str(uuid.uuid4()))
        self.rows.append(row)
        self.question = reply["question"]
        return seconds

    def answers(self, n):
        return [self.answer() for _ in range(n)]


@pytest.mark.soak
def test_an_expert_works_on_during_a_flood(tmp_path, long_bar):
    n_connections, n_answers = long_bar(2000), long_bar(1000)
    fish(tmp_path, n_rows=4 * n_answers)
    with workbench(tmp_path, "fish.csv", "--id-column", "fish", "--drop", "kind") as server:
        expert = Expert(server.port)
        expert.answers(n_answers // 10)
        before = expert.answers(n_answers // 2)
        with flood(server.port, n_connections) as flooding:
            during = expert.answers(n_answers // 2)
            assert flooding.stdout.readline() == "full\n"
            during += expert.answers(n_answers - n_answers // 2)
            n_descriptors = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
            flooding.stdin.write("\n")
            flooding.stdin.close()
            counts = json.loads(flooding.stdout.read())
        after = expert.answers(n_answers // 2)
        expert.line._line.close()
        project = tmp_path / server.project
    p99 = [1000 * float(np.percentile(one, 99)) for one in ([*before, *after], during)]
    print(f"\nflood: {counts}, p99 {p99[0]:.1f} ms without and {p99[1]:.1f} ms with, "
          f"ratio {p99[1] / p99[0]:.1f}, {n_descriptors} descriptors")  # fmt: skip
    assert counts["opened"] >= n_connections
    assert n_descriptors <= 200 + 100
    if long_bar(10) == 10:
        assert p99[1] <= 3 * p99[0]
    with open_project(project) as store:
        kept = [record.event for record in store.records]
    assert [event.row for event in kept] == expert.rows
    assert all(isinstance(event, Answered) for event in kept)
    written = (tmp_path / "server.log").read_text()
    assert len(written.splitlines()) <= 2, written[:2000]
