"""Simulated questions on the sets of the HMS paper: every strategy, growth and reference."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Strategy
from kernova.discover.simulation import Simulation, simulate
from kernova.discover.strategies import STRATEGIES, strategy_named
from kernova.discover.strategies.hierarchical import HierarchyOrder
from kernova.discover.strategies.interleave import Interleave
from kernova.discover.strategies.mean_shift_interleave import MeanShiftInterleave, ShiftedClusters
from kernova.discover.strategies.nndm import DensityJumps
from kernova.discover.strategies.random import RandomOrder
from kernova.papers.hms.data import DiscoverySet
from kernova.progress import track

OUT, CI, OUT_HAD, CI_HAD = "hms-out", "hms-ci", "hms-out-had", "hms-ci-had"
HIERARCHICAL: Final = (OUT, CI, OUT_HAD, CI_HAD)
NNDM, INTERLEAVE, MS_INTERLEAVE, RANDOM = "nndm", "interleave", "ms-interleave", "random"
# The paper reports Interleave's best start; a user has but one.
BEST_INTERLEAVE: Final = "interleave, best"
_PAPERS: Final = (*HIERARCHICAL, NNDM, BEST_INTERLEAVE, INTERLEAVE, MS_INTERLEAVE, RANDOM)
# Strategies that go beyond the paper.
OURS: Final = tuple(name for name in STRATEGIES if name not in _PAPERS)
METHODS: Final = (*OURS, *_PAPERS)

GROWTHS: Final = (1.1, 1.3, 1.5, 1.9)
REFERENCES: Final = ("data", "weighted", "centres")
# Strategies that work between questions stop here; the paper's curves end at 300 or before.
MOST_QUESTIONS: Final = 400


class Effort(NamedTuple):
    """How much to run."""

    starts: int = 10
    growths: tuple[float, ...] = GROWTHS
    references: tuple[str, ...] = REFERENCES


class SetResults(NamedTuple):
    """What came of some draws of some sets.

    Attributes
    ----------
    runs : DataFrame
        One line for each run: set, seed, method, start, questions (infinite if not every class
        was met), area, classes.
    curves : dict
        Classes seen after each question, by set and method: one curve for each seed and start.
    growth : DataFrame
        set, seed, growth, method, questions, area, hierarchy_seconds, asking_seconds (of the
        processor), levels.
    references : DataFrame
        set, seed, reference, method, questions, area, seconds.
    modes : DataFrame
        Clusters of mean shift at Silverman's bandwidth: set, seed, classes, clusters, bandwidth.
    """

    runs: pd.DataFrame
    curves: dict[tuple[str, str], list[NDArray[np.intp]]]
    growth: pd.DataFrame
    references: pd.DataFrame
    modes: pd.DataFrame


class Draw(NamedTuple):
    """One set as one seed draws it."""

    data: DiscoverySet
    seed: int


def measure_draws(draws: Sequence[Draw], effort: Effort) -> SetResults:
    """Run everything on every draw."""
    _compile()
    runs: list[dict[str, Any]] = []
    curves: dict[tuple[str, str], list[NDArray[np.intp]]] = {}
    growth: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []
    modes: list[dict[str, Any]] = []
    for draw in track(draws, "data sets"):
        preparation = Preparation(draw.data.X)
        growth += _growth(draw, preparation, effort.growths)
        references += _references(draw, preparation, effort.references)
        for method, start, run in _all_runs(draw, preparation, effort.starts):
            runs.append({**_line(draw, method, run), "start": start})
            curves.setdefault((draw.data.name, method), []).append(run.classes_seen)
        modes.append(_modes(draw, preparation))
    return SetResults(
        pd.DataFrame(runs),
        curves,
        pd.DataFrame(growth),
        pd.DataFrame(references),
        pd.DataFrame(modes),
    )


def _compile() -> None:
    """Build a hierarchy of a few rows, so that compiling is not taken for work on the first set."""
    rows = np.random.default_rng(0).standard_normal((30, 3))
    for reference in REFERENCES:
        Preparation(rows).hierarchy(reference=reference)


def _line(draw: Draw, method: str, run: Simulation) -> dict[str, Any]:
    needed = run.questions_to_all
    return {
        "set": draw.data.name,
        "seed": draw.seed,
        "method": method,
        "questions": np.inf if needed is None else float(needed),
        "area": run.area,
        "classes": run.n_classes,
    }


def _all_runs(
    draw: Draw, preparation: Preparation, starts: int
) -> list[tuple[str, int, Simulation]]:
    labels = draw.data.labels
    names, sizes = np.unique(labels, return_counts=True)
    priors = dict(zip(names.tolist(), (sizes / len(labels)).tolist(), strict=True))
    fixed: dict[str, Strategy] = {name: strategy_named(name) for name in (*OURS, *HIERARCHICAL)}
    fixed |= {NNDM: DensityJumps(priors), MS_INTERLEAVE: MeanShiftInterleave()}
    found = []
    for name, strategy in track(list(fixed.items()), "strategies"):
        limit = None if name in HIERARCHICAL else 5 * MOST_QUESTIONS
        found.append((name, 0, simulate(preparation, labels, strategy, max_questions=limit)))
    for start in track(range(starts), "starts of Interleave"):
        drawn = Interleave(len(names), seed=start)
        run = simulate(preparation, labels, drawn, max_questions=MOST_QUESTIONS)
        found.append((INTERLEAVE, start, run))
        lots = RandomOrder(1000 * draw.seed + start)
        found.append((RANDOM, start, simulate(preparation, labels, lots)))
    best = min(
        (one for one in found if one[0] == INTERLEAVE),
        key=lambda one: (one[2].questions_to_all or np.inf, -one[2].area),
    )
    return [*found, (BEST_INTERLEAVE, best[1], best[2])]


def _growth(draw: Draw, preparation: Preparation, growths: Sequence[float]) -> list[dict[str, Any]]:
    lines = []
    for growth in growths:
        started = time.process_time()
        model = preparation.hierarchy(growth=growth)
        built = time.process_time()
        for had in (False, True):
            strategy = HierarchyOrder(farthest=had, growth=growth)
            asking = time.process_time()
            run = simulate(preparation, draw.data.labels, strategy)
            lines.append(
                {
                    **_line(draw, strategy.name, run),
                    "growth": growth,
                    "hierarchy_seconds": built - started,
                    "asking_seconds": time.process_time() - asking,
                    "levels": len(model.bandwidths_),
                }
            )
    return lines


def _references(
    draw: Draw, preparation: Preparation, references: Sequence[str]
) -> list[dict[str, Any]]:
    lines = []
    for reference in references:
        # The hierarchy of "data" is there already, and would seem to take no time.
        alone = Preparation(draw.data.X)
        started = time.process_time()
        alone.hierarchy(reference=reference)
        seconds = time.process_time() - started
        for name in HIERARCHICAL:
            strategy = strategy_named(name)
            assert isinstance(strategy, HierarchyOrder)
            run = simulate(alone, draw.data.labels, replace(strategy, reference=reference))
            lines.append({**_line(draw, name, run), "reference": reference, "seconds": seconds})
    return lines


def _modes(draw: Draw, preparation: Preparation) -> dict[str, Any]:
    clusters: ShiftedClusters = MeanShiftInterleave().clusters(preparation)
    return {
        "set": draw.data.name,
        "seed": draw.seed,
        "classes": len(np.unique(draw.data.labels)),
        "clusters": len(np.unique(clusters.owners)),
        "bandwidth": clusters.bandwidth,
    }


def summary_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Give for each set and method the median over draws and starts, and the extremes."""
    grouped = runs.groupby(["set", "method"], sort=False)
    return pd.DataFrame(
        {
            "questions": grouped["questions"].median(),
            "fewest": grouped["questions"].min(),
            "most": grouped["questions"].max(),
            "area": grouped["area"].median(),
        }
    ).reset_index()


def middle_questions(summary: pd.DataFrame) -> pd.DataFrame:
    """Give the median number of questions, one line for each set, one column for each method."""
    wide = summary.pivot_table(
        "questions", index="set", columns="method", sort=False, aggfunc="first", dropna=False
    )
    return wide[[method for method in METHODS if method in wide.columns]]


def questions_until(curves: Sequence[NDArray[np.intp]], n_classes: int) -> float:
    """Give the median number of questions until so many classes had been seen."""
    needed = [
        float(np.argmax(curve >= n_classes)) + 1 if curve[-1] >= n_classes else np.inf
        for curve in curves
    ]
    return float(np.median(needed))
