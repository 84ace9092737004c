"""Rows like one: precision and recall of ``more_like`` on tables with known categories.

    python -m benchmarks.find_like [choosing|confirming] [--draws 3]

From one row of a rare category, or three, all other rows are ranked and cut. Compared are the
nearest neighbours in z-scores, cut at the largest gap among the first fifth. A category counts if
it has three rows at least, and a fifth of the table at most. A problem counts once, by the mean
over its draws, categories and given rows; intervals are bootstrapped over problems.
``KERNOVA_DATA`` is the folder of the tables.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from benchmarks.measuring import report
from kernova.cluster.standardize import standardized_rows
from kernova.discover.more_like import alike_rows, walk_graph
from kernova.proving.problems import Drawn, drawn, problem_named, problem_names

N_GIVEN = (1, 3)
_FEWEST, _LARGEST = 3, 0.2
_MOST_CATEGORIES, _REPEATS = 10, 2
_RESAMPLED = 5000
_MEASURES = ["average_precision", "precision", "recall", "f1"]


class Task(NamedTuple):
    """A category of a table, and the rows of it that are given."""

    category: str
    given: np.ndarray


def tasks(labels: np.ndarray, n_given: int, random: np.random.Generator) -> Iterator[Task]:
    """Yield tasks for rare categories, of many of them for a random choice."""
    names, sizes = np.unique(labels, return_counts=True)
    is_rare = (sizes >= max(_FEWEST, n_given + 1)) & (sizes <= _LARGEST * len(labels))
    for name in random.permutation(names[is_rare])[:_MOST_CATEGORIES]:
        for _ in range(_REPEATS):
            yield Task(name, random.choice(np.flatnonzero(labels == name), n_given, replace=False))


def nearest_and_gap(Z: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the baseline: rows by their distance to the nearest given one, and the largest gap."""
    others = np.setdiff1d(np.arange(len(Z)), given)
    distances = cdist(Z[others], Z[given]).min(axis=1)
    order = np.argsort(distances, kind="stable")
    gaps = np.diff(distances[order][: max(4, int(_LARGEST * len(others)) + 1)])
    return others[order], int(np.argmax(gaps)) + 1


def measures(is_right: np.ndarray, cut: int) -> dict[str, float]:
    """Return what a ranking and its cut are worth; the given rows do not count."""
    places = np.flatnonzero(is_right) + 1
    n_right = is_right[:cut].sum()
    values = (
        np.mean(np.arange(1, len(places) + 1) / places),
        n_right / cut,
        n_right / len(places),
        2 * n_right / (cut + len(places)),
    )
    return dict(zip(_MEASURES, map(float, values), strict=True))


def measured(draw: Drawn) -> Iterator[dict[str, object]]:
    """Yield a line for each task of a draw and each way to rank."""
    random = np.random.default_rng([draw.seed, 1])
    graph = walk_graph(standardized_rows(draw.X, "half-sphere"))
    Z = standardized_rows(draw.X, "zscore")
    for n_given in N_GIVEN:
        for task in tasks(draw.labels, n_given, random):
            alike = alike_rows(graph, np.sort(task.given), np.array([], dtype=np.intp))
            belongs = draw.labels == task.category
            key = {"problem": draw.problem, "given": n_given}
            others = alike.ranking
            brier = float(np.mean((alike.likeness[others] - belongs[others]) ** 2))
            first = others[: alike.cut]
            yield {
                **key, "way": "walks", **measures(belongs[others], alike.cut), "brier": brier,
                "expected_precision": float(alike.likeness[first].mean()),
            }  # fmt: skip
            ranking, cut = nearest_and_gap(Z, task.given)
            yield {**key, "way": "nearest", **measures(belongs[ranking], cut)}


def with_interval(values: np.ndarray, random: np.random.Generator) -> str:
    """Return a mean with its bootstrap interval."""
    means = values[random.integers(len(values), size=(_RESAMPLED, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def summary(lines: pd.DataFrame) -> list[dict[str, object]]:
    """Return means over problems with intervals, and the difference between the two ways."""
    random = np.random.default_rng(0)
    by_problem = lines.groupby(["given", "way", "problem"])[_MEASURES].mean()
    rows: list[dict[str, object]] = []
    for n_given in N_GIVEN:
        walks, nearest = (by_problem.loc[(n_given, way)] for way in ("walks", "nearest"))
        shown = {"walks": walks, "nearest": nearest, "difference": walks - nearest}
        for way, values in shown.items():
            row = {"given": n_given, "way": way, "problems": len(values)}
            row |= {name: with_interval(values[name].to_numpy(), random) for name in _MEASURES}
            rows.append(row | {"median average precision": values["average_precision"].median()})
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("part", nargs="?", default="choosing")
    arguments.add_argument("--draws", type=int, default=3)
    given = arguments.parse_args()
    folder = Path(os.environ["KERNOVA_DATA"])
    lines: list[dict[str, object]] = []
    for name in problem_names(given.part):
        for seed in range(min(given.draws, problem_named(name).n_draws)):
            lines += measured(drawn(name, seed, folder))
    table = pd.DataFrame(lines)
    mean = table.groupby(["given", "way", "problem"]).mean(numeric_only=True)
    print(mean.round(3).to_string())
    print(mean.groupby(["given", "way"]).mean().round(4).to_string())
    report(f"find like {given.part}", summary(table))


if __name__ == "__main__":
    main()
