"""Crash test: what eight experts were acknowledged survives kills of the server, each once."""

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.soak
def test_killed_servers_lose_no_answers(long_bar):
    n_kills, n_experts, n_answers = long_bar(100), 8, 20  # answers between two kills
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.web.crash_recovery",
            *map(str, (n_kills, n_experts, n_answers)),
        ],
        capture_output=True,
        text=True,
        timeout=1800,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    print(f"\nkilled servers: {counts}")
    assert counts["kills"] == n_kills
    assert counts["answers"] >= n_kills
    assert counts["compared"] > 0
    # Requests of nearly every route were acknowledged, beside the answers.
    assert len(counts["routes"]) >= 0.6 * counts["routes_of_description"]
