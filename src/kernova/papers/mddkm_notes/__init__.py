"""Known notes among others: who finds them, and calls everything else nothing.

Kalantari, Principe and Sieving, "Uncertainty quantification for multiclass data description":
Tables 1 and 2, on notes that anybody can have. :mod:`kernova.papers.mddkm_notes.claims` says what
counts as reproduced, :mod:`~kernova.papers.mddkm_notes.protocols` how it is measured.
"""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from kernova.errors import check_count
from kernova.papers.claims import Claim
from kernova.papers.mddkm_notes.claims import all_claims
from kernova.papers.mddkm_notes.data import NoteSet, note_folders, read_note_set, synthetic_notes
from kernova.papers.mddkm_notes.experiments import (
    NoteResults,
    class_means,
    means_of,
    measure,
    paired_tests,
)
from kernova.papers.mddkm_notes.protocols import FIRST_SEED
from kernova.tables.records import json_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Short names of sets that are known; any other folder of notes keeps its own.
KNOWN_SETS: Final = {
    "bengalese_finch_bird0": "finch",
    "warbler_flight_calls": "warblers",
}
SEEDS: Final = 20


@dataclass(frozen=True, eq=False)
class NoteReproduction:
    """Everything that was measured.

    Attributes
    ----------
    sets : tuple of str
        The sets of notes taken.
    seeds : int
        How often classes, notes and their order were drawn.
    results : NoteResults
        All runs.
    notes : tuple of str
        What a reader should also know.
    """

    sets: tuple[str, ...]
    seeds: int
    results: NoteResults
    notes: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Claim by claim: what the paper prints, what came out here, the verdict."""
        return pd.DataFrame(all_claims(self.results), columns=list(Claim._fields))

    def means(self) -> pd.DataFrame:
        """F in the paper's protocol by set, preset and method, over seeds."""
        return means_of(self.results.joined)

    def comparison(self) -> pd.DataFrame:
        """Write Table 2 in words: F by window / by note, and p of MDD-KM against PKNN."""
        keys = ["set", "preset"]
        means = self.means()
        words = [
            f"{window:.3f} / {note:.3f}"
            for window, note in zip(means["window_f"], means["note_f"], strict=True)
        ]
        wide = means.assign(words=words).pivot_table(
            "words", index=keys, columns="method", sort=False, aggfunc="first"
        )
        tests = paired_tests(self.results.joined).set_index(keys)
        p_values = tests.apply(
            lambda line: f"{line['window_p']:.3f} / {line['note_p']:.3f}", axis=1
        )
        return wide.assign(p=p_values).rename_axis(columns=None).reset_index()

    def song_comparison(self) -> pd.DataFrame:
        """Write how whole songs were searched: three classes, and all of them."""
        keys = ["set", "preset", "method"]
        if not len(self.results.songs):
            return pd.DataFrame(columns=keys)
        three = means_of(self.results.songs).set_index(keys)
        every = self.results.whole.set_index(keys)
        return pd.DataFrame(
            {
                "three classes": [
                    f"{f:.3f} (worst {worst:.3f})"
                    for f, worst in zip(three["note_f"], three["worst_note_f"], strict=True)
                ],
                "all classes": every["note_f"].map("{:.3f}".format).reindex(three.index),
                "wrong windows": every["frame_error"].map("{:.1%}".format).reindex(three.index),
            },
            index=three.index,
        ).reset_index()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything as tables, by the name under which a file of it would be kept."""
        found = self.results
        return {
            "claims": self.table(),
            "means": self.means(),
            "classes": class_means(found.joined),
            "paired-tests": paired_tests(found.joined),
            "confusion": found.confusion,
            "runs": found.joined,
            "songs": found.songs,
            "all-classes": found.whole,
            "false-alarms": found.alarms,
            "thresholds": found.sweep,
            "score-curve": found.curve,
        }

    def to_json_dict(self) -> dict[str, Any]:
        """Give all tables as plain lists of plain values; what is missing is None."""
        return {
            "paper": "Kalantari, Principe and Sieving",
            "sets": list(self.sets),
            "seeds": self.seeds,
            "first_seed": FIRST_SEED,
            "notes": list(self.notes),
            **{name.replace("-", "_"): json_rows(table) for name, table in self.tables().items()},
        }

    def figures(self) -> "dict[str, Figure]":
        """Draw "f-by-class", "song" and, where there are whole songs, "thresholds"."""
        from kernova.papers.mddkm_notes.report import pictures_of

        return pictures_of(self.results)


def reproduce_mddkm_notes(
    data: "str | PathLike[str] | None" = None, *, seeds: int = SEEDS
) -> NoteReproduction:
    """Find notes by MDD-KM and PKNN, in the paper's way and in the default one.

    Parameters
    ----------
    data : path, default=None
        A folder of notes (see :func:`~.data.read_note_set`), or one that holds
        such folders, in ``notes`` or itself. Without it there are synthetic notes alone.
    seeds : int, default=20
        How often to draw classes, notes and their order; the paper drew 50 times.

    Returns
    -------
    NoteReproduction
        The measurements, with :meth:`~NoteReproduction.table`,
        :meth:`~NoteReproduction.to_json_dict` and :meth:`~NoteReproduction.figures`.
    """
    check_count(seeds, "seeds", 1)
    folders = [] if data is None else note_folders(Path(data))
    real = [read_note_set(one, KNOWN_SETS.get(one.name)) for one in folders]
    sets = [*real, synthetic_notes()]
    names = tuple(one.name for one in sets)
    return NoteReproduction(names, seeds, measure(sets, seeds), _notes(sets))


def _notes(sets: list[NoteSet]) -> tuple[str, ...]:
    names = {one.name for one in sets}
    notes = [
        "The paper's recordings are not public; other notes stand in for them.",
        "Each seed draws three classes to learn, two notes of each, and the order of all others; "
        "notes of a recording that was learnt from are not searched.",
        "p is that of the paired t-test over seeds (two-sided), MDD-KM against PKNN.",
    ]
    missing = [f"{name} ({folder})" for folder, name in KNOWN_SETS.items() if name not in names]
    if missing:
        notes.append(f"Not there, and left out: {', '.join(missing)}.")
    if not any(one.songs for one in sets):
        notes.append("No set has whole songs, so none was searched.")
    return tuple(notes)
