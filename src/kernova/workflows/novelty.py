"""Novelty detection: known and new tables in, a verdict for every new row out.

The tables are read, encoded and scored; the scores of held-out known rows turn into a threshold
with a guarantee; every new row gets a novelty, a p-value and a verdict, in the input's order.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.calibration.detector import CalibratedDetector
from kernova.calibration.p_values import select_discoveries
from kernova.errors import InputError
from kernova.tables.encoding import align_columns
from kernova.tables.fill_values import FarCells, far_cell_notes, far_cells
from kernova.tables.records import dropped_rows_notes, json_rows, rows_with_ids
from kernova.tables.table import Table, read_table
from kernova.text import plural, quantity
from kernova.typing import Mask, Vector
from kernova.workflows.detectors import novelty_estimator
from kernova.workflows.settings import Missing, NoveltySettings, missing_when_reading
from kernova.workflows.verdicts import NOVEL, USUAL

__all__ = [
    "KnownAndNew",
    "NoveltyResult",
    "NoveltySettings",
    "find_novelties",
    "read_known_and_new",
]

# Rows that no kernel value reaches all have one depth; below this, differences are rounding.
_SAME_DEPTH = 1e-12


@dataclass(frozen=True)
class NoveltyResult:
    """Verdicts on all new rows, and the detector with its guarantee."""

    # One line per new row, in the input's order: its id, ``novelty`` (0 is the threshold, -1 an
    # ordinary known row), ``p_value``, ``verdict`` ("novel" or "usual"), and ``discovery`` if a
    # false discovery rate was asked for.
    rows: pd.DataFrame
    scores: Vector  # the detector's own scores of the new rows; high is ordinary
    detector: CalibratedDetector  # the fitted detector; it takes tables with the same columns
    known: Table  # the rows that the detector learnt from, and those that it judged
    new: Table
    settings: NoveltySettings  # method, scaling and the wanted guarantee
    far_cell_notes: list[str] = field(default_factory=list)  # cells far beyond their columns

    @property
    def is_novel(self) -> Mask:
        """Mask of the new rows called novel, in the input's order."""
        return (self.rows["verdict"] == NOVEL).to_numpy()

    @property
    def n_novel(self) -> int:
        """Number of new rows called novel."""
        return int(self.is_novel.sum())

    @property
    def most_novel_first(self) -> pd.DataFrame:
        """The rows in falling order of novelty; ties keep the input's order."""
        return self.rows.sort_values("novelty", ascending=False, kind="stable")

    @property
    def notes(self) -> list[str]:
        """Remarks for readers of the result: rows left out, rows that depth cannot separate."""
        notes = dropped_rows_notes(self.known, self.new) + self.far_cell_notes
        lowest = self.detector.holdout_scores_[0]
        n_hidden = int(np.sum((self.scores <= lowest + _SAME_DEPTH) & ~self.is_novel))
        if self.settings.method == "depth" and n_hidden:
            notes.append(
                f"{quantity(n_hidden, 'new row')} {plural(n_hidden, 'is', 'are')} as deep as the "
                "most isolated held-out rows and therefore not called novel; try a bandwidth above "
                f"{self.detector.estimator_[-1].bandwidth_:.3g}."
            )
        return notes

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        detector = self.detector
        return {
            "command": "novelty",
            "known": {"source": self.known.source, "rows": len(self.known.features)},
            "new": {"source": self.new.source, "rows": len(self.new.features)},
            "settings": asdict(self.settings),
            "guarantee": detector.guarantee(),
            "false_alarm_bound": detector.false_alarm_bound_,
            "observed_false_alarm": detector.observed_false_alarm_,
            "held_out_rows": len(detector.holdout_scores_),
            "threshold": detector.threshold_,
            "novel_rows": self.n_novel,
            "notes": self.notes,
            "rows": json_rows(self.rows),
        }

    @property
    def summary(self) -> str:
        """One sentence: how many rows are novel, and how many chance alone would flag."""
        n_rows = len(self.rows)
        expected = math.ceil(10 * n_rows * self.detector.false_alarm_bound_) / 10
        return (
            f"{self.n_novel} of {n_rows} new rows are novel; if all were ordinary, "
            f"{expected:.1f} or fewer would be expected."
        )


class KnownAndNew(NamedTuple):
    """The two tables of a novelty study."""

    known: Table
    new: Table


def read_known_and_new(
    known: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing = "refuse",
) -> KnownAndNew:
    """Read both tables; a label or dropped column may be in one of them only."""
    keep = missing_when_reading(missing)
    named = [name for name in (id_column, label_column, *drop) if name is not None]
    roles: dict[str, Any] = {"id_column": id_column, "label_column": label_column, "drop": drop}
    known_table = read_table(known, missing=keep, optional=named, **roles)
    in_known = [name for name in named if name in known_table.columns and name != id_column]
    # Columns are categories if they are in the known rows; the new ones may be too few to tell.
    texts = known_table.features.select_dtypes(exclude="number").columns
    new_table = read_table(new, missing=keep, optional=in_known, categories=list(texts), **roles)
    return KnownAndNew(known_table, new_table)


def find_novelties(
    known: Table, new: Table, settings: NoveltySettings | None = None
) -> NoveltyResult:
    """Fit a calibrated detector on ``known`` and judge every row of ``new``.

    Parameters
    ----------
    known : Table
        Ordinary rows. Some of them are held out to prove the false-alarm bound.
    new : Table
        Rows to judge, with the same columns in any order.
    settings : NoveltySettings, optional
        Method, scaling and the wanted guarantee.

    Returns
    -------
    NoveltyResult
        Verdicts in the input's order, and the fitted detector.
    """
    settings = settings or NoveltySettings()
    aligned = _with_known_columns(known, new)
    cells, new_cells = far_cells(known.features), far_cells(aligned, beside=known.features)
    detector = _calibrated_detector(settings, bool(cells or new_cells)).fit(known.features)
    judgement = detector.judge(aligned)
    columns: dict[str, Any] = {
        "novelty": judgement.novelty,
        "p_value": judgement.p_values,
        "verdict": [NOVEL if is_novel else USUAL for is_novel in judgement.is_novel],
    }
    if settings.false_discovery_rate is not None:
        columns["discovery"] = select_discoveries(judgement.p_values, settings.false_discovery_rate)
    rows = rows_with_ids(new, columns)
    notes = _far_cell_notes(known, cells, new, new_cells)
    return NoveltyResult(rows, judgement.scores, detector, known, new, settings, notes)


def _far_cell_notes(
    known: Table, cells: Sequence[FarCells], new: Table, new_cells: Sequence[FarCells]
) -> list[str]:
    learnt = "The detector learns from such rows as if they had the nearest of the other values."
    by_others = "Such rows are judged by their other columns."
    coded = {one.column for one in cells if len(one.codes)}
    return [
        *far_cell_notes(known, cells, learnt, by_others),
        *(
            one.note(new, by_others if one.column in coded else "Such rows are judged as they are.")
            for one in new_cells
        ),
    ]


def _calibrated_detector(settings: NoveltySettings, has_far_cells: bool) -> CalibratedDetector:
    """Return the whole chain from a table of features to verdicts, not yet fitted.

    The encoder is inside the calibration: scales learnt from held-out rows would make them look
    more ordinary than new rows do, and the guarantee would be false.
    """
    return CalibratedDetector(
        novelty_estimator(settings, has_far_cells=has_far_cells),
        max_false_alarm=settings.max_false_alarm,
        confidence=settings.confidence,
        bound=settings.bound,
        holdout=settings.holdout,
        random_state=settings.seed,
    )


def _with_known_columns(known: Table, new: Table) -> pd.DataFrame:
    try:
        return align_columns(new.features, list(known.features.columns))
    except InputError as error:
        raise InputError(f"{new.source} does not match {known.source}: {error}") from None
