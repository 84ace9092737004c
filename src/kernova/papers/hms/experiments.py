"""Data sets and simulated questions of the HMS paper.

Three of the six data sets are balanced in the source, so their classes are thinned out to sizes
that halve from one to the next; the seed determines which class becomes rare and which of its rows
are drawn. Abalone and yeast are used whole, so every seed gives the same rows.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Strategy
from kernova.discover.simulation import Simulation, simulate
from kernova.discover.strategies import DEFAULT_STRATEGY, STRATEGIES, strategy_named
from kernova.discover.strategies.hierarchical import HierarchyOrder
from kernova.discover.strategies.interleave import Interleave
from kernova.discover.strategies.mean_shift_interleave import MeanShiftInterleave, ShiftedClusters
from kernova.discover.strategies.nndm import DensityJumps
from kernova.discover.strategies.random import RandomOrder
from kernova.errors import InputError, quoted
from kernova.papers.claims import check_data_folder, checked_names, read_labelled_file
from kernova.progress import track
from kernova.typing import Indices, Matrix

Labels = NDArray[np.str_]

SHUTTLE_ROWS: Final = 4_000
_RINGS: Final = (3, 22)

OUT, CI, OUT_HAD, CI_HAD = "hms-out", "hms-ci", "hms-out-had", "hms-ci-had"
HIERARCHICAL: Final = (OUT, CI, OUT_HAD, CI_HAD)
NNDM, INTERLEAVE, MS_INTERLEAVE, RANDOM = "nndm", "interleave", "ms-interleave", "random"
# The paper reports Interleave's best start; a user has only one.
BEST_INTERLEAVE: Final = "interleave, best"
_PAPERS: Final = (*HIERARCHICAL, NNDM, BEST_INTERLEAVE, INTERLEAVE, MS_INTERLEAVE, RANDOM)
# Strategies that the paper does not have, the default first.
OURS: Final = tuple(
    dict.fromkeys((DEFAULT_STRATEGY, *(name for name in STRATEGIES if name not in _PAPERS)))
)
METHODS: Final = (*OURS, *_PAPERS)

GROWTHS: Final = (1.1, 1.3, 1.5, 1.9)
REFERENCES: Final = ("data", "weighted", "centres")
# Strategies that work between questions stop here; the paper's curves end at 300 or before.
MOST_QUESTIONS: Final = 400


# --- data sets -------------------------------------------------------------------------------


class DiscoverySet(NamedTuple):
    """Rows of a data set, and the labels that an expert without errors would give.

    Attributes
    ----------
    name : str
        The set.
    X : ndarray of shape (n_rows, n_columns)
        Finite numbers, as in the file.
    labels : ndarray of shape (n_rows,)
        The category of each row, as text.
    is_drawn : bool
        Whether the rows depend on the seed.
    """

    name: str
    X: Matrix
    labels: Labels
    is_drawn: bool


class _Source(NamedTuple):
    """Selection of rows, columns and labels that turns a file into a data set."""

    rows: Callable[[Labels, np.random.Generator], Indices] | None = None  # None: all, in order
    left_out: tuple[str, ...] = ()
    relabel: Callable[["pd.Series[str]"], "pd.Series[str]"] = lambda labels: labels


def discovery_sets(
    folder: Path, seed: int, names: Sequence[str] | None = None
) -> dict[str, DiscoverySet]:
    """Return the named sets, or all six, from a folder of Parquet files with a column "label".

    Parameters
    ----------
    folder : Path
        The folder of ``abalone.parquet``, ``letter.parquet`` and the others.
    seed : int
        Random seed; the rows of a set do not depend on which other sets are read.
    names : sequence of str, optional
        Names of the data sets; all of :data:`SET_NAMES` by default.
    """
    check_data_folder(folder)
    wanted = checked_names(SET_NAMES if names is None else names, SET_NAMES)
    return {name: _drawn(folder, name, seed) for name in track(wanted, "reading data")}


def _drawn(folder: Path, name: str, seed: int) -> DiscoverySet:
    source = _SOURCES[name]
    table = read_labelled_file(folder / f"{name}.parquet")
    X = table.features.drop(columns=list(source.left_out)).to_numpy(dtype=np.float64)
    labels = source.relabel(table.labels).to_numpy(dtype=np.str_)
    if source.rows is None:
        return DiscoverySet(name, X, labels, is_drawn=False)
    # The name is part of the seed, so that draws of different sets are independent.
    rng = np.random.default_rng([seed, *name.encode()])
    kept = source.rows(labels, rng)
    return DiscoverySet(name, X[kept], labels[kept], is_drawn=True)


def thinned_rows(labels: Labels, sizes: Sequence[int], rng: np.random.Generator) -> Indices:
    """Draw rows of each class, of sizes that are assigned to the classes at random.

    The rows come in random order: of tied rows the first is asked about, so the order must not
    depend on the class.

    Examples
    --------
    >>> import numpy as np
    >>> from kernova.papers.hms.experiments import thinned_rows
    >>> labels = np.repeat(["a", "b", "c"], 50)
    >>> rows = thinned_rows(labels, (32, 8, 4), np.random.default_rng(0))
    >>> sorted(int(size) for size in np.unique(labels[rows], return_counts=True)[1])
    [4, 8, 32]
    """
    classes = np.unique(labels)
    if len(classes) != len(sizes):
        raise InputError(
            f"There are {len(sizes)} sizes for {len(classes)} classes; use the published set, "
            "with all its rows."
        )
    kept = []
    for label, size in zip(rng.permutation(classes), sizes, strict=True):
        rows = np.flatnonzero(labels == label)
        if len(rows) < size:
            raise InputError(
                f"Class {quoted(str(label))} has {len(rows)} rows, but {size} are to be drawn; use "
                "the published set, with all its rows."
            )
        kept.append(rng.choice(rows, size, replace=False))
    return rng.permutation(np.concatenate(kept))


def rows_of_every_class(labels: Labels, n_rows: int, rng: np.random.Generator) -> Indices:
    """Draw ``n_rows`` at random, repeatedly, until every class is among them."""
    n_classes = len(np.unique(labels))
    for _ in range(10_000):
        kept = rng.permutation(len(labels))[:n_rows]
        if len(np.unique(labels[kept])) == n_classes:
            return kept
    raise InputError(
        f"{n_rows} random rows of {len(labels)} do not hold all {n_classes} classes; use the "
        "published set, with all its rows."
    )


def _clipped_rings(labels: "pd.Series[str]") -> "pd.Series[str]":
    return labels.astype(int).clip(*_RINGS).astype(str)


_SEGMENT_SIZES: Final = (256, 128, 64, 32, 16, 8, 8)
_DIGIT_SIZES: Final = (512, 256, 128, 64, 32, 16, 8, 8, 8, 8)
_LETTER_SIZES: Final = (512, 512, 256, 256, 128, 128, 64, 64, 32, 32, 16, 16, *[8] * 14)
_SOURCES: Final = {
    "abalone": _Source(left_out=("sex",), relabel=_clipped_rings),
    "shuttle": _Source(lambda labels, rng: rows_of_every_class(labels, SHUTTLE_ROWS, rng)),
    "optdigits": _Source(lambda labels, rng: thinned_rows(labels, _DIGIT_SIZES, rng)),
    "letter": _Source(lambda labels, rng: thinned_rows(labels, _LETTER_SIZES, rng)),
    "segment": _Source(lambda labels, rng: thinned_rows(labels, _SEGMENT_SIZES, rng)),
    "yeast": _Source(),
}
SET_NAMES: Final = tuple(_SOURCES)


# --- simulated questions ---------------------------------------------------------------------


class Effort(NamedTuple):
    """Number of starts, growth factors and references to run."""

    starts: int = 10
    growths: tuple[float, ...] = GROWTHS
    references: tuple[str, ...] = REFERENCES


class SetResults(NamedTuple):
    """Results of all runs on all draws.

    Attributes
    ----------
    runs : DataFrame
        One line for each run: set, seed, method, start, questions (infinite if not every class
        was found), area, classes.
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
    """A data set, and the seed of its draw."""

    data: DiscoverySet
    seed: int


def measure_draws(draws: Sequence[Draw], effort: Effort) -> SetResults:
    """Run every strategy, growth factor and reference on every draw."""
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
    """Build a hierarchy of a few rows, so that compilation is not timed with the first set."""
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
        baseline = RandomOrder(1000 * draw.seed + start)
        found.append((RANDOM, start, simulate(preparation, labels, baseline)))
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
        # A new preparation: the hierarchy of "data" is cached, and would seem to take no time.
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
    """Return the median and the extremes over draws and starts, for each set and method."""
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
    """Return the median number of questions, one line for each set, one column for each method."""
    return wide_by_method(summary, "questions")


def wide_by_method(summary: pd.DataFrame, values: str) -> pd.DataFrame:
    """Return a column of the summary with one line for each set, one column for each method."""
    wide = summary.pivot_table(
        values, index="set", columns="method", sort=False, aggfunc="first", dropna=False
    )
    return wide[[method for method in METHODS if method in wide.columns]]


def questions_until(curves: Sequence[NDArray[np.intp]], n_classes: int) -> float:
    """Return the median number of questions until ``n_classes`` classes were found."""
    needed = [
        float(np.argmax(curve >= n_classes)) + 1 if curve[-1] >= n_classes else np.inf
        for curve in curves
    ]
    return float(np.median(needed))
