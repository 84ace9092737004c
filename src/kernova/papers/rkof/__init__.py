"""The paper on the robust kernel outlier factor, remade: synthetic sets, Theorem 1, real data.

Gao, Hu, Zhang, Zhang and Wu, "RKOF: Robust Kernel-Based Local Outlier Detection", PAKDD 2011.
:mod:`kernova.papers.rkof.claims` says what counts as reproduced; :mod:`~kernova.papers.rkof.data`
where the real data can be had, and how their columns are scaled.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from kernova.errors import InputError, check_count
from kernova.papers.claims import Claim
from kernova.papers.rkof.claims import all_claims
from kernova.papers.rkof.data import SOURCES, load_sets
from kernova.papers.rkof.experiments import RealResults, best_numbers, measure_sets
from kernova.papers.rkof.synthetic import (
    METHODS,
    all_found_from,
    coverage_experiment,
    theorem_experiment,
    theoretical_curves,
)
from kernova.tables.records import json_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATASETS = tuple(SOURCES)


@dataclass(frozen=True)
class RkofReproduction:
    """Everything that was measured.

    Attributes
    ----------
    seeds : tuple of int
        What seeded each draw of the synthetic sets.
    coverage : DataFrame
        Synthetic-1 and -2: share of the outliers found, by set, seed, method and k.
    theorem_curves : DataFrame
        Theorem 1: factor by share of outliers in the neighbourhood and their weight.
    theorem : DataFrame
        Theorem 1 by experiment: the same for a growing group of outliers, by method.
    real : RealResults
        Areas under ROC curves, the curves, and times, on real data.
    notes : tuple of str
        Data sets that could not be read, and what else was left out.
    """

    seeds: tuple[int, ...]
    coverage: pd.DataFrame
    theorem_curves: pd.DataFrame
    theorem: pd.DataFrame
    real: RealResults
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Claim by claim: what the paper prints, what came out here, and the verdict."""
        claims = all_claims(self.coverage, self.theorem, self.real.areas, self.real.times)
        return pd.DataFrame(claims, columns=list(Claim._fields))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything as tables, by the name under which a file of it would be kept."""
        best = best_numbers(self.real.areas) if len(self.real.areas) else self.real.areas
        return {
            "claims": self.table(),
            "coverage": self.coverage_over_k(),
            "coverage_draws": all_found_from(self.coverage),
            "theorem": self.theorem,
            "theorem_curves": self.theorem_curves,
            "areas": self.real.areas,
            "best_k": best,
            "roc": self.real.curves,
            "times": self.real.times,
        }

    def coverage_over_k(self) -> pd.DataFrame:
        """Mean share of the outliers found, over the draws: one line for each set and k."""
        means = self.coverage.pivot_table("found", index=["set", "k"], columns="method")
        return means[list(METHODS)].rename_axis(columns=None).reset_index()

    def to_json_dict(self) -> dict[str, Any]:
        """Give all tables as plain lists of plain values; what is missing is None."""
        return {
            "paper": "Gao, Hu, Zhang, Zhang and Wu, PAKDD 2011",
            "seeds": list(self.seeds),
            "notes": list(self.notes),
            **{name: json_rows(table) for name, table in self.tables().items()},
        }

    def figures(self) -> "dict[str, Figure]":
        """Draw "synthetic-1", "synthetic-2", "theorem" and, of real data, the others."""
        from kernova.papers.rkof.report import pictures_of

        return pictures_of(self)


def reproduce_rkof(
    data: "str | PathLike[str] | None" = None,
    *,
    datasets: Iterable[str] = DATASETS,
    seeds: int = 20,
    quick: bool = False,
    random_state: "int | np.random.RandomState | None" = 0,
) -> RkofReproduction:
    """Remake the experiments of the paper on the robust kernel outlier factor.

    Parameters
    ----------
    data : path, default=None
        A folder with ``kdd_u2r.parquet``, ``mammography.parquet``, ``ann_thyroid.parquet`` and
        ``shuttle_test.parquet`` (a column ``label`` in each), or with the files of the UCI
        repository: ``corrected.gz``, ``ann-test.data``, ``shuttle.tst``. Without it, OpenML is
        asked for those that it has. What cannot be had is left out, and a note says so.
    datasets : iterable of str, default=all of them
        Which of "kdd_u2r", "kdd_u2r_idf" (the same rows, rare values of categories weighing
        more), "mammography", "ann_thyroid" and "shuttle" to take; may be empty.
    seeds : int, default=20
        How often to draw the synthetic sets; at least 2.
    quick : bool, default=False
        On real data a few k only, no times, no feature bagging, no LPF with k in the thousands.
    random_state : int, RandomState instance or None, default=0
        Seeds all draws. The first draws are the same for any number of them.

    Returns
    -------
    RkofReproduction
        The measurements, with :meth:`~RkofReproduction.table`,
        :meth:`~RkofReproduction.to_json_dict` and :meth:`~RkofReproduction.figures`.
    """
    check_count(seeds, "seeds", 2)
    names = _checked_names(datasets)
    drawn = check_random_state(random_state).randint(2**31 - 1, size=seeds)
    seed_values = tuple(int(seed) for seed in drawn)
    # Data first: a folder that is not there should be told before minutes of work.
    loaded = load_sets(None if data is None else Path(data), names)
    coverage = coverage_experiment(seed_values)
    theorem = theorem_experiment(seed_values)
    real = measure_sets(loaded.sets, quick=quick)
    return RkofReproduction(
        seeds=seed_values,
        coverage=coverage,
        theorem_curves=theoretical_curves(),
        theorem=theorem,
        real=real,
        notes=(*loaded.notes, *real.notes),
    )


def _checked_names(datasets: Iterable[str]) -> list[str]:
    names = [datasets] if isinstance(datasets, str) else list(dict.fromkeys(datasets))
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        raise InputError(
            f"There is no data set named {unknown[0]!r} here. Take some of {', '.join(SOURCES)}."
        )
    return names
