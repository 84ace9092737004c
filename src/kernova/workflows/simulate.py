"""From a labelled table to how many questions each strategy would have needed on it."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.discover.preparation import Preparation
from kernova.discover.questions import Strategy
from kernova.discover.simulation import AREA_QUESTIONS, Simulation, simulate
from kernova.discover.strategies import STRATEGIES, strategy_named
from kernova.errors import InputError, check_count
from kernova.progress import track
from kernova.tables.encoding import TableEncoder
from kernova.tables.records import dropped_rows_notes, json_rows
from kernova.tables.table import Table, read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SimulationSettings:
    """What to simulate.

    Attributes
    ----------
    strategies : tuple of str
        Names of strategies; all by default.
    error_rate : float
        Share of rows that the expert takes for another class.
    seeds : int
        How many runs of each strategy, with other lots and other mistakes.
    questions : int or None
        Stop a run after so many questions.
    missing : {"refuse", "drop", "fill"}
        What to do with missing values.
    """

    strategies: tuple[str, ...] = STRATEGIES
    error_rate: float = 0.0
    seeds: int = 5
    questions: int | None = None
    missing: Literal["refuse", "drop", "fill"] = "refuse"


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """All runs of all strategies.

    Attributes
    ----------
    runs : dict of str to list of Simulation
        By strategy, one for each seed.
    table : Table
        What was asked about.
    settings : SimulationSettings
        How.
    notes : list of str
        What a reader should also know.
    """

    runs: dict[str, list[Simulation]]
    table: Table
    settings: SimulationSettings
    notes: list[str]

    @property
    def n_classes(self) -> int:
        """How many classes there are to be met."""
        return next(iter(self.runs.values()))[0].n_classes

    @property
    def summary(self) -> str:
        """Say in a sentence what was simulated."""
        n_rows = len(self.table.features)
        smallest = int(self._labels().value_counts().min())
        errors = self.settings.error_rate
        wrong = f"; {100 * errors:.6g} % of the rows are named wrongly" if errors else ""
        return (
            f"{n_rows:,} rows of {self.n_classes} classes, the rarest with {smallest:,}; "
            f"{_counted(self.settings.seeds, 'run')} of each strategy{wrong}."
        )

    def overview(self) -> pd.DataFrame:
        """One line for each strategy: questions until every class was met, and the area."""
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
        """One line for each run; questions are missing where not every class was met."""
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
        """Give everything as plain numbers and texts, curves included."""
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
        """Draw all curves."""
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
    missing: Literal["refuse", "drop", "fill"] = "refuse",
) -> Table:
    """Read a table in which every row has a label."""
    table = read_table(
        data,
        id_column=id_column,
        label_column=label_column,
        drop=drop,
        missing="keep" if missing == "fill" else missing,
    )
    assert table.labels is not None
    n_missing = int(table.labels.isna().sum())
    if n_missing:
        raise InputError(
            f"{n_missing} of {len(table.labels)} rows in {table.source} have no {label_column}, so "
            "nobody could name them. Leave them out."
        )
    return table


def simulate_strategies(
    table: Table, settings: SimulationSettings | None = None
) -> SimulationResult:
    """Let the labels of a table play the expert for each strategy in turn.

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
        raise InputError(f"{table.source} was read without labels, so nobody can answer.")
    labels = table.labels.astype(str).to_numpy()
    preparation = Preparation(encoded_rows(table, settings.missing))
    runs = {
        strategy.name: _runs(preparation, labels, strategy, settings)
        for strategy in track(strategies, "strategies")
    }
    return SimulationResult(runs, table, settings, dropped_rows_notes(table))


def encoded_rows(table: Table, missing: str) -> NDArray[np.float64]:
    """Give a table's features as numbers; strategies bring them to one scale themselves."""
    encoder = TableEncoder(scaling="none", missing="fill" if missing == "fill" else "refuse")
    return encoder.fit_transform(table.features)


def _runs(
    preparation: Preparation,
    labels: "NDArray[Any]",
    strategy: Strategy,
    settings: SimulationSettings,
) -> list[Simulation]:
    """Run a strategy once for each seed; where no lots are drawn, one run stands for all."""
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
                with_seed(strategy, seed),
                error_rate=settings.error_rate,
                random_state=seed,
                max_questions=settings.questions,
            )
        )
    return runs


def with_seed(strategy: Strategy, seed: int) -> Strategy:
    """Give the strategy other lots, if it draws any."""
    if not hasattr(strategy, "seed"):
        return strategy
    drawn: Strategy = replace(strategy, seed=seed)  # type: ignore[type-var]
    return drawn


def _middle(needed: Sequence[int | None]) -> str:
    """Write the median number of questions; a run without an end needs more than any other."""
    middle = float(np.median([np.inf if n is None else n for n in needed]))
    return "never" if np.isinf(middle) else f"{middle:g}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
