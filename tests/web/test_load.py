"""Load test: with many experts at once no answer is lost and no row is asked twice."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from kernova.discover.events import Answered
from kernova.discover.store import open_project
from tests.web.running import TOKEN, workbench

N_EXPERTS = 20


@pytest.fixture
def table(tmp_path, long_bar):
    rng = np.random.default_rng(0)
    n_rows = long_bar(20_000)
    centers = rng.normal(scale=4, size=(23, 12))
    rows = centers[rng.integers(23, size=n_rows)] + rng.normal(size=(n_rows, 12))
    frame = pd.DataFrame(rows.round(4), columns=[f"c{column}" for column in range(12)])
    frame.insert(0, "id", [f"{5877 * 10**14 + row}" for row in range(n_rows)])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


@pytest.mark.soak
def test_twenty_experts_at_once(table, long_bar):
    n_answers = long_bar(200)
    with workbench(table, "rows.csv", "--id-column", "id") as server:
        arguments = [str(server.port), TOKEN, str(N_EXPERTS), str(n_answers)]
        done = subprocess.run(
            [sys.executable, "-m", "tests.web.load_clients", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        peak = server.peak_megabytes
        project = table / server.project
    counts = json.loads(done.stdout)
    ratio = counts["answer_ms"][1] / counts["empty_ms"][1]
    print(f"\ntwenty experts: {counts}, p99 ratio {ratio:.1f}, peak {peak:.0f} MB")
    assert counts["errors"] == []
    assert counts["answers"] == N_EXPERTS * n_answers
    assert counts["rows_asked_twice"] == counts["rows_open_at_two"] == 0
    assert peak < 1500
    with open_project(project) as store:
        kept = [record.event for record in store.records]
    assert len(kept) == N_EXPERTS * n_answers
    assert all(isinstance(event, Answered) for event in kept)
    assert len({event.row for event in kept}) == len(kept)
