"""Random baseline and stopping advice, fitted and measured where the categories are known.

    python -m benchmarks.curves_and_stops [choosing|confirming] [--draws 6] [--strategy NAME]
        [--problems NAME,NAME]

The default strategy asks up to 400 questions about each draw. ``choosing`` prints the numbers to
paste into ``discover/random_baseline.py`` and ``discover/stopping.py``, and figures of each problem
with numbers fitted on the others. ``confirming`` takes the numbers as they are in these files.

A problem counts once, by the mean over its draws; intervals are bootstrapped over problems. The
curve: by how much the expected number of categories after q random questions is wrong, estimated
from the first q answers, and how often it lies in the band; and by how much the same curve is wrong
after a quarter and a half of q. Stopping: how often a category larger
than stated was unmet, after fixed numbers of questions and where the advice is to stop.
``KERNOVA_DATA`` is the folder of the tables.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from benchmarks.measuring import report
from kernova.cluster.standardize import standardized_rows
from kernova.discover.preparation import Preparation
from kernova.discover.questions import Answer
from kernova.discover.random_baseline import (
    CORRECTIONS,
    Corrections,
    expected_by_random_sampling,
    random_baseline,
)
from kernova.discover.sampling import SampledFirst
from kernova.discover.stopping import (
    FEWEST_TO_STOP,
    SIZE_POWER,
    SMALL_CATEGORY,
    SPARE,
    UNMET_FIT,
    Progress,
    UnmetFit,
    expected_unmet,
    unmet_categories,
)
from kernova.discover.strategies import DEFAULT_STRATEGY, strategy_named
from kernova.proving.problems import drawn, problem_named, problem_names

MOST_QUESTIONS = 400
LABELLED = (5, 10, 20, 46, 100, 200, 400)
# Positions on the curve, as fractions of the labelled rows; the factors are fitted at the last.
POSITIONS = (0.25, 0.5, 1.0)
CHECKED = (20, 50, 100, 200, 400)
# To hold nine times out of ten on new tables, limits are fitted to hold more often on known ones.
KEPT = 0.95
# Four of five, and some more for the same reason.
_BAND = (0.09, 0.91)
_ROUNDS, _RESAMPLED = 6, 5000
_PLAIN = Corrections((1,), (1.0,), (1.0,), (1.0,))
_OF_ONE = UnmetFit(1.0, 0.0, 1.0, 1.0), UnmetFit(0.0, 1.0, 1.0, 1.0)


class Run(NamedTuple):
    """A run of the strategy: the category of each row, and the rows in the order of questions."""

    problem: str
    seed: int
    Z: np.ndarray
    codes: np.ndarray
    asked: np.ndarray


def runs(names: list[str], draws: int, strategy: str, folder: Path) -> Iterator[Run]:
    """Yield the runs on these problems."""
    for name in names:
        for seed in range(min(draws, problem_named(name).n_draws)):
            draw = drawn(name, seed, folder)
            preparation = Preparation(draw.X, random_state=seed)
            asker = SampledFirst(strategy_named(strategy)).start(preparation)
            asked: list[int] = []
            while len(asked) < min(MOST_QUESTIONS, len(draw.X)):
                asked.append(asker.propose().row)
                asker.observe(Answer(asked[-1], str(draw.labels[asked[-1]])))
            _, codes = np.unique(draw.labels, return_inverse=True)
            yield Run(name, seed, standardized_rows(draw.X, "zscore"), codes, np.array(asked))


# --- the curve -------------------------------------------------------------------------------


def curve_points(run: Run) -> Iterator[dict[str, object]]:
    """Yield truth and estimate, without correction, from the first answers of a run."""
    n_rows, sizes = len(run.codes), np.bincount(run.codes)
    for n_labelled in (n for n in LABELLED if n < min(n_rows, len(run.asked) + 1)):
        labels = np.full(n_rows, None, dtype=object)
        labels[run.asked[:n_labelled]] = run.codes[run.asked[:n_labelled]]
        curve = random_baseline(run.Z, labels, n_labelled, corrections=_PLAIN).expected
        for position in POSITIONS:
            n_questions = round(position * n_labelled)
            truth = expected_by_random_sampling(sizes, n_rows, [n_questions])[0]
            yield {
                "problem": run.problem, "seed": run.seed, "labelled": n_labelled,
                "position": position, "questions": n_questions, "truth": truth,
                "estimate": curve[n_questions - 1], "open": 1 - n_labelled / n_rows,
            }  # fmt: skip


def problem_weights(points: pd.DataFrame, by: list[str]) -> np.ndarray:
    """Return weights by which each problem counts once in each group."""
    return 1 / points.groupby([*by, "problem"]).seed.transform("size").to_numpy()


def weighted_quantile(values: np.ndarray, weights: np.ndarray, fraction: float) -> float:
    """Return the smallest value with this fraction of the weight at most as large."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    place = np.searchsorted(total, fraction * total[-1])
    return float(values[order][min(place, len(values) - 1)])


def fitted_corrections(points: pd.DataFrame) -> Corrections:
    """Return the factors that leave no relative bias, and those of the band."""
    factors = []
    for _, group in points[points.position == 1].groupby("labelled"):
        weights = problem_weights(group, [])
        truth, beyond = group.truth.to_numpy() - 1, group.estimate.to_numpy() - 1
        needed = np.clip((truth + 1e-6) / (beyond + 1e-6), 0.1, 10) ** (1 / group.open.to_numpy())
        candidates = np.linspace(0.3, 3, 2701)[:, None] ** group.open.to_numpy()
        bias = ((1 + candidates * beyond) / (truth + 1) - 1) @ weights
        low, high = (weighted_quantile(needed, weights, fraction) for fraction in _BAND)
        factors.append((float(np.linspace(0.3, 3, 2701)[np.abs(bias).argmin()]), low, high))
    middle, low, high = zip(*factors, strict=True)
    return Corrections(LABELLED[: len(middle)], middle, low, high)


def corrected(points: pd.DataFrame, corrections: Corrections) -> pd.DataFrame:
    """Return the points with the relative error, and whether the band holds the truth."""
    factors = (
        np.array([corrections.at(n) for n in points.labelled]) ** points.open.to_numpy()[:, None]
    )
    most = points.questions.to_numpy()[:, None]
    bands = np.minimum(1 + factors * (points.estimate.to_numpy() - 1)[:, None], most)
    truth = points.truth.to_numpy()
    return points.assign(
        error=bands[:, 1] / truth - 1,
        uncorrected=points.estimate / points.truth - 1,
        width=(bands[:, 2] - bands[:, 0]) / truth,
        inside=(bands[:, 0] <= truth + 1e-9) & (truth <= bands[:, 2] + 1e-9),
    )


def curve_summary(points: pd.DataFrame, random: np.random.Generator) -> list[dict[str, object]]:
    """Return bias and coverage by the number of labelled rows."""
    measures = ["error", "uncorrected", "width", "inside"]
    lines: list[dict[str, object]] = []
    for n_labelled, group in points.groupby("labelled"):
        quarter, half, of = (
            group[group.position == position].groupby("problem")[measures].mean()
            for position in POSITIONS
        )
        lines.append({
            "labelled": n_labelled, "problems": len(of),
            "bias %": interval(100 * of.error.to_numpy(), random),
            "spread %": 100 * of.error.std(),
            "uncorrected %": 100 * of.uncorrected.mean(),
            "at half %": interval(100 * half.error.to_numpy(), random),
            "at a quarter %": interval(100 * quarter.error.to_numpy(), random),
            "in band %": interval(100 * of.inside.to_numpy(), random),
            "band's width %": 100 * of.width.median(),
        })  # fmt: skip
    return lines


# --- stopping --------------------------------------------------------------------------------


def stop_points(run: Run) -> pd.DataFrame:
    """Return counts and truth after each number of questions of a run."""
    n_rows, found = len(run.codes), run.codes[run.asked]
    sizes = np.bincount(run.codes)
    times = np.zeros(len(sizes), dtype=int)
    sum_of_firsts, lines = 0, []
    for n_named, code in enumerate(found, start=1):
        times[code] += 1
        sum_of_firsts += n_named * (times[code] == 1)
        unmet = sizes[times == 0]
        lines.append(
            (n_named, (times == 1).sum(), sum_of_firsts, len(unmet), max(unmet, default=0))
        )
    columns = ["n_named", "n_once", "sum_of_firsts", "unmet", "largest"]
    points = pd.DataFrame(lines, columns=columns)
    points = points[(points.n_named >= 10) & (points.n_named < n_rows)]
    return points.assign(problem=run.problem, seed=run.seed, n_rows=n_rows)


def progress_of(point: NamedTuple) -> Progress:
    """Return the counts of one line of the points."""
    counts = int(point.n_once), int(point.sum_of_firsts)
    return Progress(int(point.n_named), 0, 0, int(point.n_named), 0, *counts)


def spared(points: pd.DataFrame, fit: UnmetFit) -> np.ndarray:
    """Return the number that both limits are multiples of."""
    unit = UnmetFit(fit.once, fit.late, 1.0, 1.0)
    expected = expected_unmet(points.n_named, points.n_once, points.sum_of_firsts, unit)
    return ((expected + SPARE) * (1 - points.n_named / points.n_rows)).to_numpy()


def stops(points: pd.DataFrame, fit: UnmetFit) -> pd.DataFrame:
    """Return the first point of each run at which the advice is to stop."""
    largest = np.floor(
        fit.largest * spared(points, fit) / points.n_named**SIZE_POWER * points.n_rows
    )
    is_enough = largest <= np.maximum(1, SMALL_CATEGORY * points.n_rows)
    is_enough &= points.n_named >= FEWEST_TO_STOP
    return points[is_enough].groupby(["problem", "seed"]).first().reset_index()


def moments(points: pd.DataFrame, fit: UnmetFit) -> pd.DataFrame:
    """Return the points after fixed numbers of questions, and those at stops."""
    fixed = points[points.n_named.isin(CHECKED)]
    parts = [fixed.assign(when=fixed.n_named.astype(str)), stops(points, fit).assign(when="stop")]
    return pd.concat(parts, ignore_index=True)


def fitted_unmet(points: pd.DataFrame) -> UnmetFit:
    """Return the fitted numbers; where the advice is to stop depends on them, hence the rounds."""
    grid = np.unique(np.geomspace(10, MOST_QUESTIONS, 12).astype(int))
    early = points[points.n_named.isin(grid)]
    parts = [
        expected_unmet(early.n_named, early.n_once, early.sum_of_firsts, one) for one in _OF_ONE
    ]
    columns = np.column_stack(parts) * (1 - early.n_named / early.n_rows).to_numpy()[:, None]
    # The variance rises with the number, as a count's does.
    spread = 0.3 + 0.5 * early.n_once + 0.3 * early.sum_of_firsts / early.n_named
    weights = np.sqrt(problem_weights(early, ["n_named"]) / spread.to_numpy())
    once, late = nnls(columns * weights[:, None], early.unmet.to_numpy() * weights)[0]
    fit = UnmetFit(float(once), float(late), 3.0, 3.0)
    for _ in range(_ROUNDS):
        at = moments(points, fit)
        each = at.assign(weight=problem_weights(at, ["when"]))
        weight = (each.weight / each.groupby("when").weight.transform("sum")).to_numpy()
        base = spared(at, fit)
        most = weighted_quantile((at.unmet / base).to_numpy(), weight, KEPT)
        sizes = (at.largest / at.n_rows * at.n_named**SIZE_POWER / base).to_numpy()
        fit = fit._replace(most=most, largest=weighted_quantile(sizes, weight, KEPT))
    return fit


def judged(points: pd.DataFrame, fit: UnmetFit) -> pd.DataFrame:
    """Return the moments with what would have been said, and whether it was right."""
    at = moments(points, fit)
    said = [
        unmet_categories(progress_of(one), one.n_rows, one.n_rows - one.n_named, fit)
        for one in at.itertuples()
    ]
    of = pd.DataFrame(said, columns=["expected", "at_most", "stated"])
    return pd.concat([at, of], axis=1).assign(
        larger=at.largest > of.stated, more=at.unmet > np.maximum(of.at_most, of.expected.round())
    )


def stop_summary(at: pd.DataFrame, random: np.random.Generator) -> list[dict[str, object]]:
    """Return coverage and usefulness, by when the advice was read."""
    lines: list[dict[str, object]] = []
    for when in (*map(str, CHECKED), "stop"):
        group = at[at.when == when]
        group = group.assign(bound=100 * group.stated / group.n_rows, complete=group.unmet == 0)
        of = group.groupby("problem")[["larger", "more", "expected", "unmet", "complete"]].mean()
        lines.append({
            "when": when, "problems": len(of), "moments": len(group),
            "larger unmet %": interval(100 * of.larger.to_numpy(), random),
            "times": int(group.larger.sum()),
            "bound % of rows": group.bound.median(),
            "more unmet %": interval(100 * of.more.to_numpy(), random),
            "expected": of.expected.mean(), "unmet": of.unmet.mean(),
            "all met %": 100 * of.complete.mean(),
            "questions": group.n_named.median(),
        })  # fmt: skip
    return lines


# --- both ------------------------------------------------------------------------------------


def interval(values: np.ndarray, random: np.random.Generator) -> str:
    """Return a mean with its bootstrap interval."""
    means = values[random.integers(len(values), size=(_RESAMPLED, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{values.mean():.1f} ({low:.1f} to {high:.1f})"


def of_others(
    points: pd.DataFrame,
    fitted: Callable[[pd.DataFrame], object],
    applied: Callable[[pd.DataFrame, object], pd.DataFrame],
) -> pd.DataFrame:
    """Return each problem's points with what was fitted on all other problems."""
    return pd.concat(
        [
            applied(own, fitted(points[points.problem != name]))
            for name, own in points.groupby("problem")
        ],
        ignore_index=True,
    )


def print_fits(curves: pd.DataFrame, counts: pd.DataFrame) -> None:
    """Print the numbers to paste."""
    factors = fitted_corrections(curves)
    print("CORRECTIONS: Final = Corrections(")
    print(f"    labelled={factors.labelled},")
    for name in ("middle", "low", "high"):
        print(f"    {name}=({', '.join(f'{value:.3g}' for value in getattr(factors, name))}),")
    print(")")
    numbers = fitted_unmet(counts)._asdict().items()
    print(f"UNMET_FIT: Final = UnmetFit({', '.join(f'{name}={v:.3g}' for name, v in numbers)})")


def print_trial(stopped: pd.DataFrame) -> None:
    """Print how often limits were wrong at stops, to paste."""
    wrong = f"n_larger={int(stopped.larger.sum())}, n_more={int(stopped.more.sum())}"
    print(f"TRIAL: Final = Trial(n_stops={len(stopped)}, {wrong})")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "part", nargs="?", default="choosing", choices=["choosing", "confirming"]
    )
    arguments.add_argument("--draws", type=int, default=6)
    arguments.add_argument("--problems", default="", help="some problems of the part, to try it")
    arguments.add_argument("--strategy", default=DEFAULT_STRATEGY)
    given = arguments.parse_args()
    folder, random = Path(os.environ["KERNOVA_DATA"]), np.random.default_rng(0)
    curves, counts = [], []
    of_part = problem_names(given.part)
    names = given.problems.split(",") if given.problems else of_part
    if not set(names) <= set(of_part):
        arguments.error(f"problems of this part are {', '.join(of_part)}")
    for run in runs(names, given.draws, given.strategy, folder):
        curves += curve_points(run)
        counts.append(stop_points(run))
    curve, points = pd.DataFrame(curves), pd.concat(counts, ignore_index=True)
    if given.part == "choosing":
        estimates = of_others(curve, fitted_corrections, corrected)
        advised = of_others(points, fitted_unmet, judged)
        print_fits(curve, points)
    else:
        estimates, advised = corrected(curve, CORRECTIONS), judged(points, UNMET_FIT)
        print_trial(advised[advised.when == "stop"])
    n_runs = curve.groupby(["problem", "seed"]).ngroups
    print(f"\n{n_runs} runs of {given.strategy}, {(advised.when == 'stop').sum()} stops")
    report(f"curves {given.part}", curve_summary(estimates, random))
    report(f"stops {given.part}", stop_summary(advised, random))


if __name__ == "__main__":
    main()
