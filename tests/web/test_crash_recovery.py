"""Crash test: acknowledged answers survive kills of the server, in order and once."""

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.soak
def test_killed_servers_lose_no_answers(long_bar):
    n_kills, n_answers = long_bar(100), long_bar(2000)
    done = subprocess.run(
        [sys.executable, "-m", "tests.web.crash_recovery", str(n_kills), str(n_answers)],
        capture_output=True,
        text=True,
        timeout=1800,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    print(f"\nkilled servers: {counts}")
    assert (counts["kills"], counts["answers"]) == (n_kills, n_answers)
