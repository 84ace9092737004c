"""Simulation of strategies: the questions that each would have needed on a labelled table."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Strategy
from kernova.discover.simulation import AREA_QUESTIONS, Simulation, simulate
from kernova.discover.strategies import strategy_named
from kernova.errors import InputError, check_count
from kernova.progress import track
from kernova.tables.fill_values import far_cell_notes, far_cells, with_moved_cells
from kernova.tables.records import dropped_rows_notes, json_rows
from kernova.tables.table import Table
from kernova.text import percent, plural, quantity
from kernova.typing import Matrix
from kernova.workflows.detectors import table_encoder
from kernova.workflows.learn import read_labelled
from kernova.workflows.settings import Missing, SimulationSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOVED = "Strategies see such rows as if they had the nearest of the other values."


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """All runs of all strategies."""

    runs: dict[str, list[Simulation]]  # by strategy, one for each seed
    table: Table  # the labelled rows
    settings: SimulationSettings  # strategies, number of runs and error rate
    notes: list[str]  # remarks for readers of the result

    @property
    def n_classes(self) -> int:
        """Number of classes to be found."""
        return next(iter(self.runs.values()))[0].n_classes

    @property
    def summary(self) -> str:
        """One sentence: rows, classes and runs."""
        n_rows = len(self.table.features)
        smallest = int(self._labels().value_counts().min())
        errors = self.settings.error_rate
        wrong = f"; {percent(errors, '.6g')} of the rows are labelled wrongly" if errors else ""
        return (
            f"{n_rows:,} rows of {self.n_classes} classes, the rarest with {smallest:,}; "
            f"{quantity(self.settings.seeds, 'run')} of each strategy{wrong}."
        )

    def overview(self) -> pd.DataFrame:
        """One line for each strategy: questions until every class was found, and the area."""
        lines = []
        for name, runs in self.runs.items():
            needed = [run.questions_to_all for run in runs]
            found = [n for n in needed if n is not None]
            lines.append(
                {
                    "strategy": name,
                    "questions": _middle(needed),
                    "fewest": str(min(found)) if found else "-",
                    "most": str(max(found)) if len(found) == len(needed) else "-",
                    "complete": f"{len(found)} of {len(needed)}",
                    "area": float(np.mean([run.area for run in runs])),
                }
            )
        return pd.DataFrame(lines)

    def lines(self) -> pd.DataFrame:
        """One line for each run; questions are missing where not every class was found."""
        return pd.DataFrame(
            [
                {
                    "strategy": name,
                    "seed": seed,
                    "questions_to_all": np.nan if needed is None else float(needed),
                    "questions_asked": len(run.asked),
                    "classes_seen": int(run.classes_seen[-1]),
                    "classes": run.n_classes,
                    "area": run.area,
                }
                for name, runs in self.runs.items()
                for seed, run in enumerate(runs)
                for needed in [run.questions_to_all]
            ]
        )

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, curves included."""
        return {
            "command": "simulate",
            "data": {"source": self.table.source, "rows": len(self.table.features)},
            "classes": {str(name): int(n) for name, n in self._labels().value_counts().items()},
            "settings": {**asdict(self.settings), "area_questions": AREA_QUESTIONS},
            "notes": self.notes,
            "runs": [
                {
                    **line,
                    "asked": self.table.ids.iloc[run.asked].tolist(),
                    "curve": run.classes_seen.tolist(),
                }
                for line, run in zip(json_rows(self.lines()), self._all_runs(), strict=True)
            ],
        }

    def figure(self) -> "Figure":
        """Draw the discovery curves of all runs."""
        from matplotlib.figure import Figure

        from kernova.report.figures import plot_discovery_curves

        curves = {name: [run.classes_seen for run in runs] for name, runs in self.runs.items()}
        figure = Figure(figsize=(7.2, 5.6), layout="constrained")
        plot_discovery_curves(curves, self.n_classes, ax=figure.subplots())
        return figure

    def _all_runs(self) -> list[Simulation]:
        return [run for runs in self.runs.values() for run in runs]

    def _labels(self) -> "pd.Series[str]":
        assert self.table.labels is not None  # or nothing could have been simulated
        return self.table.labels.astype(str)


def read_labelled_rows(
    data: str | os.PathLike[str],
    label_column: str,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing = "refuse",
) -> Table:
    """Read a table in which every row has a label."""
    table = read_labelled(
        data, label_column, id_column=id_column, drop=drop, missing=missing, reading="strict"
    )
    assert table.labels is not None
    n_missing = int(table.labels.isna().sum())
    if n_missing:
        raise InputError(
            f"{n_missing} of {len(table.labels)} rows in {table.source} "
            f"{plural(n_missing, 'has', 'have')} no {label_column}, so a simulated expert cannot "
            "label them. Leave them out."
        )
    return table


def simulate_strategies(
    table: Table, settings: SimulationSettings | None = None
) -> SimulationResult:
    """Simulate each strategy with the labels of a table as the expert's answers.

    Parameters
    ----------
    table : Table
        Rows with labels, as from :func:`read_labelled_rows`.
    settings : SimulationSettings, optional
        Which strategies, how many runs, how many mistakes.
    """
    settings = settings or SimulationSettings()
    check_count(settings.seeds, "seeds", 1)
    strategies = [strategy_named(name) for name in dict.fromkeys(settings.strategies)]
    if not strategies:
        raise InputError("There is no strategy to simulate. Name at least one.")
    if table.labels is None:
        raise InputError(
            f"{table.source} was read without labels, so there are no answers to simulate. Read it "
            "with label_column."
        )
    labels = table.labels.astype(str).to_numpy()
    cells = far_cells(table.features)
    moved = replace(table, features=with_moved_cells(table.features, cells))
    preparation = Preparation(encoded_rows(moved, settings.missing))
    runs = {
        strategy.name: _runs(preparation, labels, strategy, settings)
        for strategy in track(strategies, "strategies")
    }
    notes = dropped_rows_notes(table) + far_cell_notes(table, cells, _MOVED, _MOVED)
    return SimulationResult(runs, table, settings, notes)


def encoded_rows(table: Table, missing: str) -> Matrix:
    """Return a table's features as numbers; strategies scale them themselves."""
    return table_encoder("none", missing).fit_transform(table.features)


def _runs(
    preparation: Preparation,
    labels: "NDArray[Any]",
    strategy: Strategy,
    settings: SimulationSettings,
) -> list[Simulation]:
    """Run a strategy once for each seed; a run without random numbers stands for all."""
    is_drawn = hasattr(strategy, "seed")
    runs: list[Simulation] = []
    for seed in track(range(settings.seeds), f"{strategy.name}, runs"):
        if seed and not is_drawn and settings.error_rate == 0:
            runs.append(runs[0])
            continue
        runs.append(
            simulate(
                preparation,
                labels,
                _with_seed(strategy, seed),
                error_rate=settings.error_rate,
                random_state=seed,
                max_questions=settings.questions,
            )
        )
    return runs


def _with_seed(strategy: Strategy, seed: int) -> Strategy:
    """Return the strategy with another random seed, if it has one."""
    if not hasattr(strategy, "seed"):
        return strategy
    drawn: Strategy = replace(strategy, seed=seed)  # type: ignore[type-var]
    return drawn


def _middle(needed: Sequence[int | None]) -> str:
    """Return the median number of questions; an unfinished run counts as infinitely many."""
    middle = float(np.median([np.inf if n is None else n for n in needed]))
    return "never" if np.isinf(middle) else f"{middle:g}"
