"""Stand-ins for the suite: tiny problems, and strategies that fail or stop."""

import numpy as np

from kernova.proving import problems
from kernova.proving.baselines import BASELINES, Baseline
from kernova.proving.problems import Problem
from kernova.proving.suite import SuitePlan
from kernova.proving.tables import LabelledRows, MissingDataError


def tiny_rows(folder, random):
    """Draw 40 common rows and two rare groups of four and three."""
    sizes = (40, 4, 3)
    centres = random.uniform(-4, 4, (3, 2))
    X = np.concatenate(
        [
            centre + scale * random.standard_normal((n, 2))
            for n, centre, scale in zip(sizes, centres, (1, 0.1, 0.1), strict=True)
        ]
    )
    return LabelledRows(X, np.repeat(["common", "rare", "scarce"], sizes))


def missing_rows(folder, random):
    raise MissingDataError(f"There is no file tiny.parquet in {folder}.")


def broken_rows(folder, random):
    raise RuntimeError("The generator\nis broken.")


PROBLEMS = {
    name: Problem(name, "generator", make, n_draws)
    for name, make, n_draws in (
        ("tiny-a", tiny_rows, 3),
        ("tiny-b", tiny_rows, 2),
        ("tiny-missing", missing_rows, 3),
        ("tiny-broken", broken_rows, 1),
    )
}


def use_tiny_problems(monkeypatch, *names):
    """Let these be the only problems; return a function that makes plans of them."""
    chosen = {name: PROBLEMS[name] for name in names or ("tiny-a", "tiny-b")}
    monkeypatch.setattr(problems, "_PROBLEMS", chosen)

    def plan(*strategies, **settings):
        wanted = (*(strategies or ("farthest-first", "nndm")), "random")
        return SuitePlan(tuple(chosen), wanted, **{"draws": 3, **settings})

    return plan


class Failing:
    """A strategy that cannot start."""

    name = "failing"

    def start(self, preparation):
        raise ValueError("There are too\nmany rows.")


class Stopping:
    """A strategy that is interrupted on its n-th start, as if by Ctrl-C."""

    name = "stopping"

    def __init__(self, strategy, starts, n):
        def start(preparation):
            starts.append(1)
            if len(starts) == n:
                raise KeyboardInterrupt
            return strategy.start(preparation)

        self.start = start


def add_baseline(monkeypatch, name, strategy, told="nothing"):
    monkeypatch.setitem(BASELINES, name, Baseline(lambda labels: strategy, told))
