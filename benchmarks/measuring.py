"""Measure time and memory: on the same machine, at the same time, the best of a few runs."""

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parent / "results"


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Return the best wall time of a few runs: noise on a shared machine only adds time."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def peak_memory_mb() -> float:
    """Return the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(name: str, rows: list[dict[str, object]]) -> None:
    """Print a table and save it as JSON."""
    table = pd.DataFrame(rows)
    print(f"\n## {name}\n")
    print(table.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name.replace(' ', '-')}.json"
    path.write_text(json.dumps(rows, indent=2, default=float) + "\n")
