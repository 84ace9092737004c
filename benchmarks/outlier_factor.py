"""The robust kernel outlier factor against LOF of scikit-learn and PyOD, and its growth."""

import itertools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.measuring import peak_memory_mb, report, seconds
from kernova import RobustKernelOutlierFactor, TableEncoder, outlier_factor_path, read_table

DATA = Path(os.environ.get("KERNOVA_DATA", Path(__file__).parents[2] / "shared" / "data"))
PATH = (5, 10, 20)


def against_lof(n_jobs=(None, 2)):
    """Bars: .35 x of scikit-learn's LOF in ten columns, .7 x in three, .75 x on kdd_u2r."""
    rng = np.random.default_rng(0)
    problems = {
        "n = 20,000, d = 10, k = 20": (rng.normal(size=(20_000, 10)), 20, 3),
        "n = 100,000, d = 3, k = 20": (rng.normal(size=(100_000, 3)), 20, 3),
    }
    if (DATA / "kdd_u2r.parquet").exists():
        problems["kdd_u2r, k = 320"] = (_encoded_kdd(), 320, 1)
    rows = []
    for name, (X, k, repeats) in problems.items():
        for jobs in n_jobs:
            rows.append({"problem": name, **_compared(X, k, jobs, repeats)})
            print(rows[-1], flush=True)
    report("outlier factor against lof", rows)


def _compared(X, k, n_jobs, repeats):
    from pyod.models.lof import LOF

    ours = RobustKernelOutlierFactor(k, n_jobs=n_jobs)
    jobs = {
        "kernova": lambda: ours.fit(X),
        "scikit-learn": lambda: LocalOutlierFactor(k, n_jobs=n_jobs).fit(X),
        "PyOD": lambda: LOF(k, n_jobs=n_jobs or 1).fit(X),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about duplicate rows
        # In turns, so that a busy moment of the machine affects all equally.
        turns = [{name: seconds(job) for name, job in jobs.items()} for _ in range(repeats)]
    best = {name: min(turn[name] for turn in turns) for name in jobs}
    return {
        "n_jobs": n_jobs,
        "engine": ours.algorithm_,
        **{f"{name}_s": time for name, time in best.items()},
        "ratio": best["kernova"] / best["scikit-learn"],
        "ratio_to_pyod": best["kernova"] / best["PyOD"],
    }


def _encoded_kdd():
    table = read_table(DATA / "kdd_u2r.parquet", label_column="label")
    switches = ["land", "logged_in", "is_host_login", "is_guest_login"]
    features = table.features.astype(dict.fromkeys(switches, str))
    return TableEncoder(scaling="minmax").fit_transform(features)


def growth(sizes=(125_000, 250_000, 500_000, 1_000_000)):
    """Bar: no worse than n^1.15 in three columns; a path of three k takes O(n k) memory."""
    rows = []
    for n in sizes:
        # One process each, so that memory peaks are separate.
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.outlier_factor", str(n)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        _, fit, path, peak = map(float, said.split())
        rows.append({"n": n, "fit_s": fit, "path_s": path, "peak_mb": peak})
        rows[-1]["peak_numbers_per_neighbour"] = rows[-1]["peak_mb"] * 2**17 / (n * max(PATH))
        print(rows[-1], flush=True)
    for smaller, larger in itertools.pairwise(rows):
        larger["growth_exponent"] = np.log2(larger["fit_s"] / smaller["fit_s"])
    rows[-1]["growth_over_all"] = np.log(rows[-1]["fit_s"] / rows[0]["fit_s"]) / np.log(
        sizes[-1] / sizes[0]
    )
    report("growth of the outlier factor in three columns", rows)


def _one_size(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    fit = seconds(lambda: RobustKernelOutlierFactor(20).fit(X), repeats=2)
    path = seconds(lambda: outlier_factor_path(X, PATH))
    print(n, fit, path, peak_memory_mb())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _one_size(int(sys.argv[1]))
    else:
        growth()  # first: a process inherits the memory peak of the one that starts it
        against_lof()
