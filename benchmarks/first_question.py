"""First question about large tables: time and memory, beside HDBSCAN on 50,000 of the rows.

    python -m benchmarks.first_question [--sizes 10000,20000,...,1000000]

Ten columns: one category has half of the rows, each other one half of those of the one before.
Each size has a process of its own, which measures scikit-learn's HDBSCAN on 50,000 rows (or all,
of fewer), the first question, the preparation of the rest, and a hundred more questions. Growth is
the power of n by which the preparation grew since the size before.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from benchmarks.measuring import peak_memory_mb, report, seconds

SIZES = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_000_000)
CLUSTERED_ROWS, N_QUESTIONS = 50_000, 100
_COLUMNS, _CATEGORIES, _FEWEST = 10, 12, 20


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in random order, and their categories."""
    random = np.random.default_rng(0)
    sizes = np.maximum(_FEWEST, n_rows >> np.arange(1, _CATEGORIES + 1))
    sizes[0] += n_rows - sizes.sum()
    centres = random.normal(0, 4, (_CATEGORIES, _COLUMNS))
    codes = random.permutation(np.repeat(np.arange(_CATEGORIES), sizes))
    spreads = random.uniform(0.3, 1.5, (_CATEGORIES, _COLUMNS))
    return centres[codes] + random.normal(size=(n_rows, _COLUMNS)) * spreads[codes], codes


def one_size(n_rows: int) -> dict[str, float]:
    """Measure a size, memory before HDBSCAN."""
    from kernova import CategoryDiscovery
    from kernova.discover.preparation import Preparation
    from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named

    X, codes = table(n_rows)
    strategy_named(DEFAULT_STRATEGY).start(Preparation(X[:25_000]))  # compile what is not
    begin = time.perf_counter()
    session = CategoryDiscovery().start(X)
    session.next_question()
    first = time.perf_counter() - begin
    session.prepare()
    prepared = time.perf_counter() - begin
    waits = []
    for _ in range(N_QUESTIONS):
        question = session.next_question()
        begin = time.perf_counter()
        session.answer(str(codes[question.row]))
        session.next_question()
        waits.append(time.perf_counter() - begin)
    measured = {
        "first_s": first,
        "prepared_s": prepared,
        "next_median_s": float(np.median(waits)),
        "next_longest_s": max(waits),
        "found": len(session.categories_),
        "peak_mb": peak_memory_mb(),
    }
    return measured | {"hdbscan_s": hdbscan_seconds(X)}


def hdbscan_seconds(X: np.ndarray) -> float:
    from sklearn.cluster import HDBSCAN

    rows = X[:CLUSTERED_ROWS]
    return seconds(lambda: HDBSCAN(min_cluster_size=10, copy=True, n_jobs=-1).fit(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--one-size", type=int)
    arguments = parser.parse_args()
    if arguments.one_size:
        print(json.dumps(one_size(arguments.one_size)))
        return
    rows: list[dict[str, object]] = []
    before: tuple[int, float] | None = None
    for n_rows in map(int, arguments.sizes.split(",")):
        command = [sys.executable, "-m", "benchmarks.first_question", "--one-size", str(n_rows)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(said.splitlines()[-1])
        prepared = found["prepared_s"]
        grown = np.log(prepared / before[1]) / np.log(n_rows / before[0]) if before else np.nan
        before = n_rows, prepared
        ratio = prepared / found["hdbscan_s"]
        rows.append({"n": n_rows, **found, "prepared_to_hdbscan": ratio, "growth": grown})
        print(rows[-1], flush=True)
    report("first question", rows)


if __name__ == "__main__":
    main()
