"""Tables of a million rows through the commands, and the time and growth of the ensemble.

``python -m benchmarks.million_rows`` makes the files in a temporary folder, runs each command in a
process of its own, and reports time, memory and what was announced when; as ratios to reading the
file with pandas and one isolation forest (fit and scores) in the same run, the mean of before and
after. ``--rows 20000`` tries it quickly; ``--only ensemble`` leaves the commands out, ``--only
methods`` compares announced durations with real ones.
"""

import argparse
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.measuring import peak_memory_mb, report, seconds

_COLUMNS = 10
_LEVELS, _DAYS = 40, 1500
_UNITS = {"second": 1, "minute": 60, "hour": 3600}
_METHODS = ("ensemble", "isolation-forest", "rkof", "depth", "lof")


# --- tables --------------------------------------------------------------------------------------


def numbers_table(n_rows: int) -> pd.DataFrame:
    """Return correlated columns; one row in a thousand is four times as far out."""
    random = np.random.default_rng(0)
    mixing = np.eye(_COLUMNS) + 0.3 * random.normal(size=(_COLUMNS, _COLUMNS))
    X = random.normal(size=(n_rows, _COLUMNS)) @ mixing
    X[random.random(n_rows) < 0.001] *= 4
    return pd.DataFrame(X.round(5), columns=[f"x{j}" for j in range(_COLUMNS)])


def mixed_table(n_rows: int) -> pd.DataFrame:
    """Return columns of numbers, a text with forty levels, and dates."""
    random = np.random.default_rng(1)
    levels = np.array([f"kind {i}" for i in range(_LEVELS)])
    days = pd.to_timedelta(random.integers(0, _DAYS, n_rows), unit="D")
    return (
        numbers_table(n_rows)
        .iloc[:, : _COLUMNS - 2]
        .assign(
            kind=levels[np.minimum(random.geometric(0.2, n_rows), _LEVELS) - 1],
            day=(pd.Timestamp("2020-01-01") + days).strftime("%Y-%m-%d"),
        )
    )


def write(table: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    return path


# --- one process ---------------------------------------------------------------------------------


class Run(NamedTuple):
    """What a child process took, and the first that it said on standard error."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    said_after_s: float | None
    said: str


def run(command: Sequence[str]) -> Run:
    """Run a command to its end; its own peak of memory, not that of earlier ones."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said, said_after = "", None
    for line in process.stderr:
        if said_after is None:
            said, said_after = line.strip(), time.perf_counter() - started
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said}")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(wall, cpu, usage.ru_maxrss / 1024, said_after, said)


def announced_seconds(sentence: str) -> float | None:
    """Return the duration in a sentence, in seconds."""
    found = re.search(r"about ([\d.]+) (second|minute|hour)", sentence)
    return None if found is None else float(found[1]) * _UNITS[found[2]]


def baseline(files: Sequence[Path]) -> Run:
    """Read the files and fit a forest on the first, in a process of its own."""
    return run([sys.executable, "-m", "benchmarks.million_rows", "--baseline", *map(str, files)])


def read_and_isolate(files: Sequence[str]) -> None:
    from sklearn.ensemble import IsolationForest

    tables = [
        pd.read_csv(file) if file.endswith(".csv") else pd.read_parquet(file) for file in files
    ]
    X = [table.select_dtypes("number").to_numpy() for table in tables]
    IsolationForest(random_state=0).fit(X[0]).score_samples(X[-1])


# --- commands ------------------------------------------------------------------------------------


class Study(NamedTuple):
    """A command, the files that it reads, and its options."""

    name: str
    command: str
    files: list[Path]
    options: list[str]
    output: str  # ending of the table of results


def studies(n_rows: int, folder: Path) -> list[Study]:
    numbers, mixed = numbers_table(n_rows), mixed_table(n_rows)
    made = []
    for name, table in (("numbers", numbers), ("mixed", mixed)):
        for ending in (".csv", ".parquet"):
            whole = write(table, folder / f"{name}{ending}")
            known = write(table[: n_rows // 2], folder / f"{name}-known{ending}")
            new = write(table[n_rows // 2 :], folder / f"{name}-new{ending}")
            what = f"{name}{ending}"
            bound = ["--max-false-alarm", "0.01"]
            made += [
                Study(f"outliers {what}", "outliers", [whole], [], ending),
                Study(f"outliers {what}, bound", "outliers", [whole], bound, ending),
                Study(f"novelty {what}", "novelty", [known, new], [], ending),
            ]
    return made


def command_line(study: Study, folder: Path) -> list[str]:
    results = ["-o", str(folder / f"out{study.output}"), "--report", str(folder / "page.html")]
    files = map(str, study.files)
    return [sys.executable, "-m", "kernova", study.command, *files, *study.options, *results]


def commands(n_rows: int) -> None:
    """Report each command beside reading the file and one isolation forest."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for study in studies(n_rows, folder):
            before = baseline(study.files)
            found = run(command_line(study, folder))
            after = baseline(study.files)
            rows.append(_line(study.name, found, (before, after)))
            print(rows[-1], flush=True)
    report(f"{n_rows} rows through the commands", rows)


def _line(name: str, found: Run, baselines: Sequence[Run]) -> dict[str, Any]:
    wall = float(np.mean([one.wall_s for one in baselines]))
    cpu = float(np.mean([one.cpu_s for one in baselines]))
    return {
        "study": name,
        "wall_s": found.wall_s,
        "cpu_s": found.cpu_s,
        "peak_mb": found.peak_mb,
        "announced_s": announced_seconds(found.said),
        "announced_after_s": found.said_after_s,
        "read_and_forest_s": wall,
        "wall_ratio": found.wall_s / wall,
        "cpu_ratio": found.cpu_s / cpu,
    }


def methods(sizes: Sequence[int]) -> None:
    """Report announced and real durations of each method; a factor of two is the bar."""
    from kernova.progress import announcing
    from kernova.workflows import effort
    from kernova.workflows.settings import OutlierSettings
    from kernova.workflows.verdicts import judge_rows

    effort._SECONDS_WORTH_SAYING = 0.0
    rows = []
    for n_rows, method in itertools.product(sizes, _METHODS):
        table, said = numbers_table(n_rows), []
        settings = OutlierSettings(method=method)

        def hear(sentence: str, said: list[tuple[float, str]] = said) -> None:
            said.append((time.perf_counter(), sentence))

        with announcing(hear):
            judge_rows(table, settings)
        real = time.perf_counter() - said[0][0]
        announced = announced_seconds(said[0][1])
        rows.append({"method": method, "n": n_rows, "announced_s": announced, "real_s": real})
        print(rows[-1], flush=True)
    report("announced durations", rows)


# --- the ensemble against an isolation forest ----------------------------------------------------


def ensemble_and_forest(sizes: Sequence[tuple[int, int]], repeats: int = 3) -> None:
    """Bars: fit and scores in 5 times a forest's at 2,000 x 3,000, 10 times at 100,000²."""
    rows = []
    for n_known, n_new in sizes:
        # One process each, so that memory peaks are separate.
        arguments = ["--one-size", str(n_known), str(n_new), str(repeats)]
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.million_rows", *arguments],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        forest, ensemble, own, peak = map(float, said.split())
        rows.append(
            {
                "known": n_known,
                "new": n_new,
                "forest_s": forest,
                "ensemble_s": ensemble,
                "ratio": ensemble / forest,
                "own_rows_s": own,
                "peak_mb": peak,
            }
        )
        print(rows[-1], flush=True)
    report("ensemble against isolation forest", rows)


def growth(smallest: int, repeats: int = 1) -> None:
    """Bar: no worse than n^1.2 from n to 8 n known and new rows."""
    from kernova import DetectorEnsemble

    sizes = [smallest * 2**doubling for doubling in range(4)]
    random = np.random.default_rng(0)
    X, new = random.normal(size=(2, sizes[-1], _COLUMNS))

    def judged_new(n_rows: int) -> None:
        DetectorEnsemble().fit(X[:n_rows]).score_samples(new[:n_rows])

    def judged_own(n_rows: int) -> None:
        _ = DetectorEnsemble().fit(X[:n_rows]).training_scores_

    rows: list[dict[str, Any]] = [
        {
            "n": n,
            "new_rows_s": seconds(lambda n=n: judged_new(n), repeats),
            "own_rows_s": seconds(lambda n=n: judged_own(n), repeats),
        }
        for n in sizes
    ]
    for kind in ("new_rows", "own_rows"):
        for smaller, larger in itertools.pairwise(rows):
            larger[f"{kind}_exponent"] = np.log2(larger[f"{kind}_s"] / smaller[f"{kind}_s"])
        rows[-1][f"{kind}_over_all"] = np.log2(rows[-1][f"{kind}_s"] / rows[0][f"{kind}_s"]) / 3
    rows[-1]["peak_mb"] = peak_memory_mb()
    report("growth of the ensemble", rows)


def _one_size(n_known: int, n_new: int, repeats: int) -> None:
    from sklearn.ensemble import IsolationForest

    from kernova import DetectorEnsemble

    random = np.random.default_rng(0)
    X, new = random.normal(size=(n_known, _COLUMNS)), random.normal(size=(n_new, _COLUMNS))
    jobs = {
        "forest": lambda: IsolationForest(random_state=0).fit(X).score_samples(new),
        "ensemble": lambda: DetectorEnsemble().fit(X).score_samples(new),
        "own": lambda: DetectorEnsemble().fit(X).training_scores_,
    }
    # In turns, so that a busy moment of the machine affects all equally.
    turns = [{name: seconds(job) for name, job in jobs.items()} for _ in range(repeats)]
    best = [min(turn[name] for turn in turns) for name in jobs]
    print(*best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("commands", "ensemble", "methods"))
    parser.add_argument("--baseline", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--one-size", nargs=3, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.baseline:
        read_and_isolate(given.baseline)
    elif given.one_size:
        _one_size(*given.one_size)
    else:
        if given.only in (None, "commands"):  # first: a process inherits its parent's memory peak
            commands(given.rows)
        if given.only in (None, "ensemble"):
            large = min(100_000, given.rows)
            ensemble_and_forest([(2_000, 3_000), (large, large)])
            growth(max(given.rows // 8, 1_000))
        if given.only in (None, "methods"):
            methods([min(100_000, given.rows), given.rows])


if __name__ == "__main__":
    main()
