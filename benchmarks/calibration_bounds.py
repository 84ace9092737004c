"""The bound on false alarms, measured: how often it is broken, and what is detected under it.

Simulated: known rows are drawn with replacement from populations of 10,000 rows, so that the true
rate of false alarms is counted, not estimated. The bound is broken where that rate is above it.

Real: the ordinary rows of one table, known and new ones together, are divided at random into some
known rows and a remainder. The true rate is not known; but for distinct scores the number of
alarms in the remainder has a known law (beta-binomial), whatever the detector. It exceeds the
bound a little more often than in 5 % because the remainder is finite. This chance is reported
beside the count. For folds it is that of one of them, which is an upper limit.

Detection at the bound of 5 %, in comparison with a threshold that was chosen on the truth, i.e. on
the remainder. Four definitions of the truth are reported:

- same: the calibrated detector itself, at the rate of false alarms that it really has. Only ties
  can make a difference, so this checks the threshold and not the cost of calibration.
- whole: the detector is fitted to all known rows, for the truth needs no held-out ones; again at
  the rate that the calibrated detector has. This is the bar: a ratio of at least 0.9.
- same at 5 %, whole at 5 %: the same two detectors at a rate of exactly 5 %. No bound can reach
  this with few rows: with 95 % confidence the rate must be below 5 %, so on average it is lower.

Few rows: 200 known rows of each table, and whether depth or the ensemble call no row novel where
an isolation forest calls some.

Only novelty tables at even places of the index are read; those at odd places confirm other
choices. ``python -m benchmarks.calibration_bounds`` prints everything, ``--quick`` a tenth of it.
"""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import betabinom, binomtest
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.measuring import report
from kernova import CalibratedDetector, DetectorEnsemble, KernelSpatialDepth
from kernova.calibration.bounds import allowed_false_alarms

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

DATA = Path(os.environ.get("KERNOVA_DATA", Path(__file__).parents[2] / "shared" / "data"))
WAYS = ("holdout", "cross")
RATE = 0.05
_POPULATION = 10_000
_SIMULATED_ROWS = (100, 400, 2000)
_KNOWN_ROWS = (400, 1000)
# A table takes part if so many ordinary rows remain, and if it has so many novel ones.
_FEWEST_REMAINING = 1000
_FEWEST_NOVEL = 100
_FEW_ROWS = 200


def detectors() -> dict[str, Any]:
    """Return the detectors; the ensemble scales columns itself."""
    return {
        "ensemble": DetectorEnsemble(),
        "forest": make_pipeline(StandardScaler(), IsolationForest()),
        "lof": make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
    }


# --- simulated rows ------------------------------------------------------------------------------


class Simulated(NamedTuple):
    """One repetition: the bound, and the true rate of false alarms."""

    way: str
    detector: str
    n_rows: int
    population: str
    bound: float
    rate: float


def populations(n_rows: int = _POPULATION) -> dict[str, Matrix]:
    """Draw populations: correlated, of two skewed groups and a discrete column, heavy-tailed."""
    random = np.random.default_rng(17)
    correlated = random.normal(size=(n_rows, 5)) @ random.normal(size=(5, 5))
    is_rare = random.random(n_rows) < 0.1
    skewed = random.gamma(2.0, size=(n_rows, 2)) + 6.0 * is_rare[:, np.newaxis]
    groups = np.column_stack([skewed, random.integers(0, 4, size=n_rows)])
    return {
        "correlated": correlated,
        "groups": groups,
        "heavy-tailed": random.standard_t(2.5, size=(n_rows, 3)),
    }


def simulate(
    way: str,
    number: int,
    n_population: int = _POPULATION,
    sizes: tuple[int, ...] = _SIMULATED_ROWS,
) -> Simulated:
    """Run one repetition; its number gives the detector, the population and the rows."""
    made, drawn = detectors(), populations(n_population)
    name = list(made)[number % len(made)]
    n_rows = sizes[number // len(made) % len(sizes)]
    kind = list(drawn)[number // (len(made) * len(sizes)) % len(drawn)]
    random = np.random.default_rng([number, WAYS.index(way)])
    rows = drawn[kind][random.integers(0, n_population, size=n_rows)]
    calibrated = CalibratedDetector(made[name], calibration=way, random_state=number).fit(rows)
    rate = float(np.mean(calibrated.judge(drawn[kind]).is_novel))
    return Simulated(way, name, n_rows, kind, calibrated.false_alarm_bound_, rate)


def simulated_summary(found: list[Simulated]) -> list[dict[str, object]]:
    """Count, for each way and in all and for each kind of repetition, how often it was broken."""
    table = pd.DataFrame(found)
    lines = []
    for way, of_way in table.groupby("way", sort=False):
        parts = [("all", of_way)]
        for column in ("detector", "n_rows", "population"):
            parts += [(f"{column} {key}", part) for key, part in of_way.groupby(column, sort=False)]
        for what, part in parts:
            n_broken = int((part.rate > part.bound).sum())
            lines.append(
                {
                    "way": way,
                    "of": what,
                    **_broken(n_broken, len(part)),
                    "mean rate": part.rate.mean(),
                    "mean bound": part.bound.mean(),
                }
            )
    return lines


def _broken(n_broken: int, n_all: int) -> dict[str, object]:
    """Return the fraction broken with its exact interval."""
    low, high = binomtest(n_broken, n_all).proportion_ci()
    return {
        "repetitions": n_all,
        "broken": n_broken,
        "fraction": n_broken / n_all,
        "low": low,
        "high": high,
    }


# --- real rows -----------------------------------------------------------------------------------


class Ordinary(NamedTuple):
    """All ordinary rows of a table, and its novel ones."""

    name: str
    ordinary: Matrix
    novel: Matrix


class Scores(NamedTuple):
    """Scores of the ordinary rows that remain, and of the novel ones; high is ordinary."""

    rest: Vector
    novel: Vector


class Split(NamedTuple):
    """What one split of ordinary rows gave."""

    way: str
    detector: str
    table: str
    n_rows: int
    is_broken: bool  # more alarms in the remainder than the bound allows
    chance: float  # that this happens, by the law of the held-out rows
    rate: float  # of false alarms in the remainder
    detected: float  # fraction of the novel rows, and what the truth reaches
    same: float
    whole: float
    same_at_rate: float
    whole_at_rate: float


def even_tables(folder: Path) -> Iterator[Ordinary]:
    """Read the novelty tables at even places of the index."""
    for one in pd.read_csv(folder / "index.csv").iloc[::2].itertuples():
        with np.load(folder / f"{one.source}-{one.name}.npz") as table:
            known, new, is_novel = table["known"], table["new"], table["is_novel"] == 1
        ordinary = np.vstack([known, new[~is_novel]]).astype(float)
        yield Ordinary(one.name, ordinary, new[is_novel].astype(float))


def large_tables(folder: Path) -> list[Ordinary]:
    """Return the tables with enough ordinary and novel rows."""
    fewest = max(_KNOWN_ROWS) + _FEWEST_REMAINING
    return [
        table
        for table in even_tables(folder)
        if len(table.ordinary) >= fewest and len(table.novel) >= _FEWEST_NOVEL
    ]


def split_table(table: Ordinary, number: int) -> list[Split]:
    """Draw known rows once, and judge the remainder and the novel rows in all ways."""
    return [split_once(table, number, name, way) for name in detectors() for way in WAYS]


def split_once(table: Ordinary, number: int, name: str, way: str) -> Split:
    """Draw known rows, and judge the remainder and the novel rows by one detector."""
    random = np.random.default_rng(number)
    shuffled = table.ordinary[random.permutation(len(table.ordinary))]
    n_rows = _KNOWN_ROWS[number % len(_KNOWN_ROWS)]
    rows, rest = shuffled[:n_rows], shuffled[n_rows:]
    calibrated = CalibratedDetector(detectors()[name], calibration=way, random_state=number)
    return _measured(calibrated.fit(rows), name, table, rows, rest)


def _measured(
    calibrated: CalibratedDetector, name: str, table: Ordinary, rows: Matrix, rest: Matrix
) -> Split:
    whole = clone(calibrated.estimator_).fit(rows)
    same_scores, whole_scores = (
        Scores(detector.score_samples(rest), detector.score_samples(table.novel))
        for detector in (calibrated, whole)
    )
    # A row is called novel if its score is at most the threshold; with folds as well.
    alarms, found = (scores <= calibrated.threshold_ for scores in same_scores)
    n_alarms, n_at_rate = int(alarms.sum()), int(RATE * len(rest))
    n_held_out = len(calibrated.holdout_indices_)
    return Split(
        way=calibrated.calibration,
        detector=name,
        table=table.name,
        n_rows=len(rows),
        is_broken=n_alarms > calibrated.false_alarm_bound_ * len(rest),
        chance=chance_of_breaking(n_held_out, len(rest), calibrated.false_alarm_bound_),
        rate=n_alarms / len(rest),
        detected=float(found.mean()),
        same=detected_by_truth(same_scores, n_alarms),
        whole=detected_by_truth(whole_scores, n_alarms),
        same_at_rate=detected_by_truth(same_scores, n_at_rate),
        whole_at_rate=detected_by_truth(whole_scores, n_at_rate),
    )


def chance_of_breaking(n_held_out: int, n_rest: int, bound: float) -> float:
    """Return the chance that the remainder has more alarms than the bound allows.

    With distinct scores, r allowed alarms and m held-out rows, the true rate is distributed as
    Beta(r + 1, m - r), and the number of alarms in the remainder as a binomial of that rate.
    """
    r = allowed_false_alarms(n_held_out, RATE)
    return float(betabinom.sf(np.floor(bound * n_rest), n_rest, r + 1, n_held_out - r))


def detected_by_truth(scores: Scores, n_alarms: int) -> float:
    """Return the fraction detected with the highest threshold that gives so few alarms."""
    limit = np.sort(scores.rest)[n_alarms]  # the threshold is just below this score
    return float(np.mean(scores.novel < limit))


def split_summary(found: list[Split]) -> list[dict[str, object]]:
    """Summarize the splits of each way and detector; detection as the mean over all tables."""
    lines = []
    for (way, detector), part in pd.DataFrame(found).groupby(["way", "detector"], sort=False):
        means = part[["detected", "same", "whole", "same_at_rate", "whole_at_rate"]].mean()
        ratios = means["detected"] / means.drop("detected")
        lines.append(
            {
                "way": way,
                "detector": detector,
                **_broken(int(part.is_broken.sum()), len(part)),
                "by law": part.chance.mean(),
                "mean rate": part.rate.mean(),
                "detected": means["detected"],
                **{f"/ {name}": ratio for name, ratio in ratios.items()},
            }
        )
    return lines


# --- few rows ------------------------------------------------------------------------------------


class Called(NamedTuple):
    """Numbers of rows called novel after 200 known rows: any rows, and novel ones."""

    table: str
    any_row: dict[str, int]
    novel: dict[str, int]


def few_rows(table: Ordinary, number: int) -> Called:
    """Draw 200 known rows, and judge all other rows of the table."""
    random = np.random.default_rng(number)
    shuffled = table.ordinary[random.permutation(len(table.ordinary))]
    rows, rest = shuffled[:_FEW_ROWS], shuffled[_FEW_ROWS:]
    judged = {
        "forest": detectors()["forest"],
        "depth": make_pipeline(StandardScaler(), KernelSpatialDepth()),
        "ensemble": DetectorEnsemble(),
    }
    any_row, novel = {}, {}
    for name, detector in judged.items():
        calibrated = CalibratedDetector(detector, random_state=number).fit(rows)
        novel[name] = int(calibrated.judge(table.novel).is_novel.sum())
        any_row[name] = novel[name] + int(calibrated.judge(rest).is_novel.sum())
    return Called(table.name, any_row, novel)


def few_rows_summary(found: list[Called]) -> list[dict[str, object]]:
    """Count the draws in which a detector has no answer, and those where the forest has one."""
    lines = []
    for what in ("any_row", "novel"):
        counts = pd.DataFrame([getattr(one, what) for one in found])
        for name in ("depth", "ensemble"):
            is_empty, forest_is_empty = counts[name] == 0, counts["forest"] == 0
            lines.append(
                {
                    "called": what,
                    "detector": name,
                    "draws": len(counts),
                    "empty": int(is_empty.sum()),
                    "forest empty": int(forest_is_empty.sum()),
                    "empty, forest not": int((is_empty & ~forest_is_empty).sum()),
                    "forest empty, it not": int((~is_empty & forest_is_empty).sum()),
                    "mean called": counts[name].mean(),
                    "mean by forest": counts["forest"].mean(),
                }
            )
    return lines


# --- all of it -----------------------------------------------------------------------------------


def quietly(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run work without warnings, such as those of duplicate rows."""
    with warnings.catch_warnings(action="ignore"):
        return work(*arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of all repetitions")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    options = parser.parse_args()
    part, parallel = 10 if options.quick else 1, Parallel(options.jobs)
    tasks = [
        delayed(quietly)(simulate, way, number) for way in WAYS for number in range(1000 // part)
    ]
    report("calibration bounds simulated", simulated_summary(parallel(tasks)))
    folder = DATA / "novelty_tables"
    if not folder.is_dir():
        print(f"There are no tables at {folder}; set KERNOVA_DATA to the folder of real data.")
        return
    large = large_tables(folder)
    splits = parallel(
        delayed(quietly)(split_table, large[number % len(large)], number)
        for number in range(300 // part)
    )
    report("calibration bounds real", split_summary([one for split in splits for one in split]))
    tables = [table for table in even_tables(folder) if len(table.ordinary) > 2 * _FEW_ROWS]
    called = parallel(
        delayed(quietly)(few_rows, tables[number % len(tables)], number)
        for number in range(300 // part)
    )
    report("calibration few rows", few_rows_summary(called))


if __name__ == "__main__":
    main()
