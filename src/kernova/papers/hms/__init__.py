"""The paper on hierarchical mean shift, remade: questions, areas, curves, growth and references.

Vatturi and Wong, "Category Detection Using Hierarchical Mean Shift", KDD 2009.
:mod:`kernova.papers.hms.claims` says what counts as reproduced, :mod:`~kernova.papers.hms.data`
how the six sets are made ready.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from kernova.errors import check_count
from kernova.papers.claims import Claim
from kernova.papers.hms.claims import all_claims
from kernova.papers.hms.data import SET_NAMES, discovery_sets
from kernova.papers.hms.experiments import (
    METHODS,
    MOST_QUESTIONS,
    Draw,
    Effort,
    SetResults,
    measure_draws,
    summary_of,
)
from kernova.tables.records import json_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QUICK: Final = Effort(starts=3, growths=(1.1, 1.5), references=("data", "weighted"))


@dataclass(frozen=True, eq=False)
class HmsReproduction:
    """Everything that was measured.

    Attributes
    ----------
    sets : tuple of str
        The sets taken.
    seeds : tuple of int
        What each draw of a set was seeded with.
    results : SetResults
        All runs, curves, times.
    notes : tuple of str
        What a reader should also know.
    """

    sets: tuple[str, ...]
    seeds: tuple[int, ...]
    results: SetResults
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Claim by claim: what the paper says, what came out here, and the verdict."""
        return pd.DataFrame(all_claims(self.results), columns=list(Claim._fields))

    def summary(self) -> pd.DataFrame:
        """Median, fewest and most questions, and the median area, by set and method."""
        return summary_of(self.results.runs)

    def questions(self) -> pd.DataFrame:
        """Table 2: median questions, and in brackets their range, by set and method."""
        summary = self.summary()
        words = [_spread(line) for line in summary.to_dict("records")]
        return _wide(summary.assign(words=words), "words")

    def areas(self) -> pd.DataFrame:
        """Table 3: the median area by set and method."""
        return _wide(self.summary(), "area")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything as tables, by the name under which a file of it would be kept."""
        return {
            "claims": self.table(),
            "questions": self.questions(),
            "areas": self.areas(),
            "runs": self.results.runs,
            "growth": self.results.growth,
            "references": self.results.references,
            "modes": self.results.modes,
        }

    def to_json_dict(self) -> dict[str, Any]:
        """Give all tables as plain lists of plain values; what is missing or infinite is None."""
        return {
            "paper": "Vatturi and Wong, KDD 2009",
            "seeds": list(self.seeds),
            "notes": list(self.notes),
            **{name: json_rows(table) for name, table in self.tables().items()},
        }

    def figures(self) -> "dict[str, Figure]":
        """Draw the curves of each set (Table 4), and what growth does."""
        from kernova.papers.hms.report import pictures_of

        classes = self.results.runs.groupby("set", sort=False)["classes"].first()
        return pictures_of(self.results, {str(name): int(n) for name, n in classes.items()})


def reproduce_hms(
    data: "str | PathLike[str]",
    *,
    sets: Iterable[str] = SET_NAMES,
    seeds: int = 5,
    starts: int = 10,
    quick: bool = False,
) -> HmsReproduction:
    """Remake the experiments of the paper on hierarchical mean shift.

    Parameters
    ----------
    data : path
        A folder with ``abalone.parquet``, ``shuttle.parquet``, ``optdigits.parquet``,
        ``letter.parquet``, ``segment.parquet`` and ``yeast.parquet``, or those of them that
        ``sets`` names; each with its classes in a column ``label``.
    sets : iterable of str, default=all six
        Which sets to take.
    seeds : int, default=5
        How many draws of each set; abalone and yeast are taken whole, once.
    starts : int, default=10
        How often Interleave starts, and lots are drawn, for each draw of a set.
    quick : bool, default=False
        Three starts, two growths and two references only.

    Returns
    -------
    HmsReproduction
        The measurements, with :meth:`~HmsReproduction.table`,
        :meth:`~HmsReproduction.to_json_dict` and :meth:`~HmsReproduction.figures`.
    """
    check_count(seeds, "seeds", 1)
    check_count(starts, "starts", 1)
    names = [sets] if isinstance(sets, str) else list(dict.fromkeys(sets))
    effort = _QUICK if quick else Effort(starts=starts)
    draws = [
        Draw(one, seed)
        for seed in range(seeds)
        for one in discovery_sets(Path(data), seed, names).values()
        if seed == 0 or one.is_drawn
    ]
    draws.sort(key=lambda draw: names.index(draw.data.name))
    results = measure_draws(draws, effort)
    return HmsReproduction(tuple(names), tuple(range(seeds)), results, _notes(draws, effort))


def _notes(draws: list[Draw], effort: Effort) -> tuple[str, ...]:
    whole = sorted({draw.data.name for draw in draws if not draw.data.is_drawn})
    once = [f"Taken whole, so drawn once: {', '.join(whole)}."] if whole else []
    return (
        *once,
        f"Interleave starts {effort.starts} times on each draw and knows the number of classes; "
        f"a run ends after {MOST_QUESTIONS} questions. NNDM knows the share of every class.",
    )


def _wide(summary: pd.DataFrame, values: str) -> pd.DataFrame:
    wide = summary.pivot_table(
        values, index="set", columns="method", sort=False, aggfunc="first", dropna=False
    )
    columns = [method for method in METHODS if method in wide.columns]
    return wide[columns].rename_axis(columns=None).reset_index()


def _spread(line: dict[Any, Any]) -> str:
    middle, low, high = (_n(line[name]) for name in ("questions", "fewest", "most"))
    return middle if low == high else f"{middle} ({low}-{high})"


def _n(questions: float) -> str:
    return f"{questions:g}" if np.isfinite(questions) else f">{MOST_QUESTIONS}"
