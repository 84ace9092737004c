"""Answers per second of fifty scripted experts without pauses, against another version of kernova.

    python -m benchmarks.experts --against FOLDER

FOLDER is a checkout of the other version. The servers run in turn, several times, on the same
table. Each expert answers the question before it at once; with ``page``, it also reads the state
after every answer, as the page does.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import report

N_ROWS = 20_000
N_EXPERTS = 50
N_KINDS = 23
TOKEN = "a token for benchmarks"
_HERE = Path(__file__).parents[1]


def write_table(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=4, size=(N_KINDS, 12))
    rows = centers[rng.integers(N_KINDS, size=n_rows)] + rng.normal(size=(n_rows, 12))
    frame = pd.DataFrame(rows.round(4), columns=[f"c{column}" for column in range(12)])
    frame.insert(0, "id", [f"{5877 * 10**14 + row}" for row in range(n_rows)])
    frame.to_csv(path, index=False)


def measured(source: Path, table: Path, n_answers: int, *, is_page: bool) -> dict[str, float]:
    """Start a server of one version, let the experts answer, and return what they measured."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(table, folder / "rows.csv")
    command = [sys.executable, "-m", "kernova", "discover", "rows.csv", "--id-column", "id"]
    command += ["--json", "--no-browser", "--port", "0", "--token", TOKEN]
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        port = address.rstrip("/").rpartition(":")[2]
        arguments = [port, TOKEN, str(N_EXPERTS), str(n_answers), *(["page"] if is_page else [])]
        time.sleep(15)  # the map of a new project is drawn meanwhile
        cpu_before = _cpu_seconds(server.pid)
        done = subprocess.run(
            [sys.executable, "-m", "tests.web.load_clients", *arguments],
            cwd=_HERE, check=True, capture_output=True, text=True,
        )  # fmt: skip
        cpu = _cpu_seconds(server.pid) - cpu_before
        peak = Path(f"/proc/{server.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
        server.terminate()
        server.stdout.read()
    shutil.rmtree(folder)
    counts = json.loads(done.stdout)
    assert (counts["errors"], counts["rows_asked_twice"]) == ([], 0), counts
    median, p99 = counts["answer_ms"]
    return {
        "answers per second": counts["answers"] / counts["seconds"],
        "median ms": median,
        "p99 ms": p99,
        # Of all requests, those without a body included; it depends less on other programs.
        "server CPU ms per answer": 1000 * cpu / counts["answers"],
        "peak MB": int(peak) / 1024,
    }


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", type=Path, help="checkout of another version")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--answers", type=int, default=40, help="of each expert")
    options = parser.parse_args()
    versions = {"this": _HERE, "other": options.against}
    table = Path(tempfile.mkdtemp()) / "rows.csv"
    write_table(table, N_ROWS)
    rows: list[dict[str, object]] = []
    for is_page in (False, True):
        for run in range(options.runs):
            for name, source in versions.items():
                if source is not None:
                    found = measured(source, table, options.answers, is_page=is_page)
                    rows.append({"reads the state": is_page, "version": name, "run": run, **found})
                    print(rows[-1], flush=True)
    report("experts", rows)
    if options.against is not None:
        for is_page in (False, True):
            print(_ratios([row for row in rows if row["reads the state"] is is_page]))


def _ratios(rows: list[dict[str, object]]) -> str:
    def median(version: str, what: str) -> float:
        return statistics.median(float(row[what]) for row in rows if row["version"] == version)  # type: ignore[arg-type]

    faster = median("this", "answers per second") / median("other", "answers per second")
    p99 = median("this", "p99 ms") / median("other", "p99 ms")
    return f"answers per second: {faster:.2f} times as many; p99: {p99:.2f} times"


if __name__ == "__main__":
    main()
