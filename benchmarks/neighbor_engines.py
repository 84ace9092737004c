"""Exact engines for neighbour searches: their speed, and the choice of "auto"."""

from functools import partial

import numpy as np

from benchmarks.measuring import report, seconds
from kernova.neighbors.index import build_index
from kernova.neighbors.neighborhoods import find_neighborhoods


def problems():
    """Yield rows of different shapes: clouds, clusters, a plane in many columns, duplicates."""
    rng = np.random.default_rng(0)
    for n, d in ((5_000, 6), (5_000, 10), (20_000, 6), (20_000, 8), (20_000, 10), (20_000, 14)):
        yield f"cloud, n = {n:,}, d = {d}", rng.normal(size=(n, d))
    for n, d in ((20_000, 10), (30_000, 30)):
        centres = 3 * rng.normal(size=(20, d))
        yield (
            f"20 clusters, n = {n:,}, d = {d}",
            centres[rng.integers(0, 20, n)] + rng.normal(size=(n, d)),
        )
    sheet = rng.normal(size=(20_000, 4)) @ rng.normal(size=(4, 30))
    yield "sheet of 4 dimensions, n = 20,000, d = 30", sheet
    yield "integers, n = 20,000, d = 3", rng.integers(0, 40, size=(20_000, 3)).astype(float)


def engines(k=20):
    rows = []
    for name, X in problems():
        chosen = build_index(X, k=k).engine
        times = {
            engine: seconds(partial(_search, X, engine, k), repeats=2)
            for engine in ("kd_tree", "brute", "approximate")
        }
        rows.append(
            {
                "problem": name,
                **{f"{engine}_s": time for engine, time in times.items()},
                "recall": _search(X, "approximate", k).recall,
                "auto": chosen,
                "auto_over_faster": times[chosen] / min(times["kd_tree"], times["brute"]),
            }
        )
        print(rows[-1], flush=True)
    report("neighbour engines", rows)


def _search(X, engine, k):
    index = build_index(X, engine)
    find_neighborhoods(index, k)
    return index


if __name__ == "__main__":
    engines()
