"""Known classes, and rows that are none of these: MDD-KM against five others on public data.

Kalantari, Principe and Sieving, "Uncertainty quantification for multiclass data description".
:mod:`kernova.papers.mddkm.claims` says what counts as reproduced,
:mod:`~kernova.papers.mddkm.experiments` which classes are held out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kernova.errors import InputError, check_count
from kernova.papers.claims import Claim
from kernova.papers.mddkm.claims import all_claims
from kernova.papers.mddkm.experiments import (
    BUILT_IN,
    METHODS,
    MOST_ROWS,
    SET_NAMES,
    Results,
    draws,
    labelled_sets,
    means_of,
    measure,
)
from kernova.tables.records import json_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class MddkmReproduction:
    """Everything that was measured.

    Attributes
    ----------
    sets : tuple of str
        The sets taken.
    seeds : int
        How often each was split.
    results : Results
        All runs, and the map of length-scale and ridge.
    notes : tuple of str
        What a reader should also know.
    """

    sets: tuple[str, ...]
    seeds: int
    results: Results
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Claim by claim: what a literal implementation gave, what came out here, the verdict."""
        claims = pd.DataFrame(all_claims(self.results), columns=list(Claim._fields))
        return claims.rename(columns={"paper": "literal"})

    def means(self) -> pd.DataFrame:
        """Area, accuracy and accepted share by set and method, means over seeds."""
        return means_of(self.results.runs)

    def comparison(self) -> pd.DataFrame:
        """Write the same in words: area / accuracy, one line for each set."""
        means = self.means()
        words = [
            f"{area:.3f} / {hit:.3f}"
            for area, hit in zip(means["auroc"], means["accuracy"], strict=True)
        ]
        wide = means.assign(words=words).pivot_table(
            "words", index="set", columns="method", sort=False, aggfunc="first"
        )
        return wide[list(METHODS)].rename_axis(columns=None).reset_index()

    def heat_table(self) -> pd.DataFrame:
        """Area by q and by d, by length-scale and ridge, where the two differ by 0.001 or more."""
        keys = ["length_scale", "ridge"]
        both = self.results.heat.groupby(keys)[["auroc", "auroc_by_d"]].mean().reset_index()
        both = both[(both["auroc"] - both["auroc_by_d"]).abs() >= 0.001]
        return both.rename(columns={"auroc": "by q", "auroc_by_d": "by d"})

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything as tables, by the name under which a file of it would be kept."""
        return {
            "claims": self.table(),
            "means": self.means(),
            "runs": self.results.runs,
            "heat": self.results.heat,
        }

    def to_json_dict(self) -> dict[str, Any]:
        """Give all tables as plain lists of plain values; what is missing is None."""
        return {
            "paper": "Kalantari, Principe and Sieving",
            "sets": list(self.sets),
            "seeds": self.seeds,
            "notes": list(self.notes),
            **{name: json_rows(table) for name, table in self.tables().items()},
        }

    def figures(self) -> "dict[str, Figure]":
        """Draw "areas" by set and method, and the "heat-map" of length-scale and ridge."""
        from kernova.papers.mddkm.report import pictures_of

        return pictures_of(self.results)


def reproduce_mddkm(
    data: "str | PathLike[str] | None" = None,
    *,
    sets: Iterable[str] | None = None,
    seeds: int = 10,
) -> MddkmReproduction:
    """Compare six ways to know classes and to say "none of these".

    Parameters
    ----------
    data : path, default=None
        A folder with ``optdigits.parquet``, ``letter.parquet``, ``segment.parquet`` and
        ``yeast.parquet``, each with its classes in a column ``label``.
    sets : iterable of str, default=iris, wine and digits, and with ``data`` the other four
        Which sets to take.
    seeds : int, default=10
        How often to split each set.

    Returns
    -------
    MddkmReproduction
        The measurements, with :meth:`~MddkmReproduction.table`,
        :meth:`~MddkmReproduction.to_json_dict` and :meth:`~MddkmReproduction.figures`.
    """
    check_count(seeds, "seeds", 1)
    if sets is None:
        sets = BUILT_IN if data is None else SET_NAMES
    names = [sets] if isinstance(sets, str) else list(dict.fromkeys(sets))
    if not names:
        raise InputError(f"No set was named; choose from {', '.join(SET_NAMES)}.")
    drawn = draws(labelled_sets(None if data is None else Path(data), names), seeds)
    return MddkmReproduction(tuple(names), seeds, measure(drawn), _notes(names))


def _notes(names: list[str]) -> tuple[str, ...]:
    thinned = [name for name in names if name not in BUILT_IN]
    notes = [
        "Half of the rows of each known class train; the other half and all foreign rows are "
        "judged. Each class of iris and wine is foreign in turn, and three at once of larger sets."
    ]
    if thinned:
        notes.append(f"At most {MOST_ROWS:,} rows, by lot, are taken of {', '.join(thinned)}.")
    return tuple(notes)
