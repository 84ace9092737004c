"""The hierarchy of mean-shift clusters against scikit-learn's MeanShift and HDBSCAN."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, MeanShift, estimate_bandwidth

from benchmarks.measuring import peak_memory_mb, report
from kernova import HierarchicalMeanShift
from kernova.cluster.mean_shift import Reference
from kernova.cluster.standardize import standardized_rows
from kernova.discover.preparation import Preparation
from kernova.discover.simulation import simulate

DATA = Path(os.environ.get("KERNOVA_DATA", Path(__file__).parents[2] / "shared" / "data"))
RARE = (50, 100, 200, 350, 500)


def cpu_seconds(work):
    """Return the processor time of this thread: one thread is used, and the machine is shared."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


def mixture(n, rare=(), seed=0):
    """Draw six normal groups of different size and spread in eight columns, and rare ones."""
    rng = np.random.default_rng(seed)
    fractions = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    spreads = np.array([1.0, 0.7, 1.5, 0.5, 1.0, 0.3])
    centers = 4 * rng.normal(size=(6, 8))
    group = rng.choice(6, n - sum(rare), p=fractions)
    parts = [centers[group] + spreads[group, None] * rng.normal(size=(len(group), 8))]
    labels = [group]
    for number, size in enumerate(rare, start=6):
        parts.append(4 * rng.normal(size=8) + 0.3 * rng.normal(size=(size, 8)))
        labels.append(np.full(size, number))
    order = rng.permutation(n)
    return np.concatenate(parts)[order], np.concatenate(labels)[order]


def exact(n_jobs=1):
    """Return a hierarchy without a coreset, for rows that are already standardised."""
    return HierarchicalMeanShift(standardize="none", coreset=None, n_jobs=n_jobs)


def abalone(repeats=3):
    """Bars: .1 x of one MeanShift, 14 x of HDBSCAN, on sphered abalone."""
    table = pd.read_parquet(DATA / "abalone.parquet")
    Z = standardized_rows(table.drop(columns=["label", "sex"]).to_numpy(float))
    exact().fit(Z[:300])
    ours = min(cpu_seconds(lambda: exact().fit(Z)) for _ in range(repeats))
    hdbscan = min(cpu_seconds(lambda: HDBSCAN(copy=True).fit(Z)) for _ in range(repeats))
    width = estimate_bandwidth(Z, quantile=0.1)
    mean_shift = cpu_seconds(lambda: MeanShift(bandwidth=width).fit(Z))
    report("hierarchy of abalone", [{
        "hierarchy_s": ours, "mean_shift_s": mean_shift, "hdbscan_s": hdbscan,
        "ratio_to_mean_shift": ours / mean_shift, "ratio_to_hdbscan": ours / hdbscan,
    }])  # fmt: skip


def growth(sizes=(4000, 8000, 16_000, 32_000)):
    """Bars: 14 x of HDBSCAN at each size, and less than 600 MB at 32,000 rows."""
    rows = []
    for n in sizes:
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.hierarchy", "exact", str(n)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        ours, hdbscan, peak = map(float, said.split()[-3:])
        rows.append({"n": n, "hierarchy_s": ours, "hdbscan_s": hdbscan, "ratio": ours / hdbscan,
                     "peak_mb": peak})  # fmt: skip
        if len(rows) > 1:
            rows[-1]["exponent"] = np.log2(ours / rows[-2]["hierarchy_s"])
        print(rows[-1], flush=True)
    report("hierarchy growth", rows)


def _measure_exact(n):
    Z = standardized_rows(mixture(n)[0])
    exact().fit(Z[:300])
    ours = cpu_seconds(lambda: exact().fit(Z))
    peak = peak_memory_mb()
    print(ours, cpu_seconds(lambda: HDBSCAN(copy=True).fit(Z)), peak)


def shuttle():
    """Bar: 100 x of HDBSCAN on all 58,000 rows."""
    table = pd.read_parquet(DATA / "shuttle.parquet")
    Z = standardized_rows(table.drop(columns="label").to_numpy(float))
    exact().fit(Z[:300])
    ours = cpu_seconds(lambda: exact().fit(Z))
    hdbscan = cpu_seconds(lambda: HDBSCAN(copy=True).fit(Z))
    report("hierarchy of shuttle", [{
        "hierarchy_s": ours, "hdbscan_s": hdbscan, "ratio": ours / hdbscan,
        "peak_mb": peak_memory_mb(),
    }])  # fmt: skip


def coreset(sizes=(125_000, 250_000, 500_000, 1_000_000)):
    """Bars: a million rows in 60 x of HDBSCAN on 50,000, n^1.2, rare groups in 60 questions."""
    X, _ = mixture(1_000_000, RARE)
    few = standardized_rows(X[:50_000])
    hdbscan = cpu_seconds(lambda: HDBSCAN(copy=True).fit(few))
    rows = []
    for n in sizes:
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.hierarchy", "coreset", str(n)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        tree, default, error, questions, peak = map(float, said.split()[-5:])
        ours = tree + default
        rows.append(
            {
                "n": n,
                "hierarchy_s": tree,
                "default_s": default,
                "prepared_s": ours,
                "ratio_to_hdbscan_of_50000": ours / hdbscan,
                "coreset_error": error,
                "questions_to_rare": questions,
                "peak_mb": peak,
            }
        )
        if len(rows) > 1:
            rows[-1]["exponent"] = np.log2(ours / rows[-2]["prepared_s"])
        print(rows[-1], flush=True)
    report("hierarchy by coreset", rows)


def _measure_coreset(n):
    X, labels = mixture(n, RARE)
    Preparation(X[:300]).hierarchy()
    table = Preparation(X, n_jobs=1)
    start = time.process_time()
    model = table.hierarchy()
    middle = time.process_time()
    asked = simulate(table, labels, max_questions=200).asked
    end = time.process_time()
    seen = labels[np.asarray(asked)]
    first = [np.flatnonzero(seen == group) for group in range(6, 6 + len(RARE))]
    questions = max((f[0] + 1 if len(f) else np.inf) for f in first)
    print(middle - start, end - middle, model.coreset_error_, questions, peak_memory_mb())


def numba_pays():
    """Bar: numba is worth its installation at 3 x the speed of the same climb in NumPy."""
    table = pd.read_parquet(DATA / "abalone.parquet")
    Z = standardized_rows(table.drop(columns=["label", "sex"]).to_numpy(float))
    reference = Reference(Z)
    reference.climb(Z[:10], 0.3)
    rows = []
    for bandwidth in (0.2, 0.4, 0.8):
        ours = cpu_seconds(lambda h=bandwidth: reference.climb(Z[:1000], h))
        blocked = cpu_seconds(lambda h=bandwidth: numpy_climb(Z[:1000], Z, h))
        rows.append({"bandwidth": bandwidth, "numba_s": ours, "numpy_s": blocked,
                     "ratio": blocked / ours})  # fmt: skip
    report("climb compiled", rows)


def numpy_climb(starts, Z, h, tol=1e-4):
    """Climb from all starts together; converged ones are dropped."""
    y, moving = starts.copy(), np.arange(len(starts))
    norms = (Z**2).sum(axis=1)
    while len(moving):
        present = y[moving]
        squared = norms - 2 * present @ Z.T + (present**2).sum(axis=1)[:, None]
        weights = np.exp(-squared / (2 * h * h))
        there = weights @ Z / weights.sum(axis=1)[:, None]
        y[moving] = there
        moving = moving[np.linalg.norm(there - present, axis=1) > tol * h]
    return y


def main() -> None:
    if len(sys.argv) > 2:
        {"exact": _measure_exact, "coreset": _measure_coreset}[sys.argv[1]](int(sys.argv[2]))
        return
    growth()
    coreset()
    if DATA.is_dir():
        numba_pays()
        abalone()
        shuttle()


if __name__ == "__main__":
    main()
