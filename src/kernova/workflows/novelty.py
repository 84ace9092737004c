"""Novelty detection: known and new tables in, a verdict for every new row out, with reasons.

The tables are read, encoded and scored; the scores of held-out known rows turn into a threshold
with a guarantee; every new row gets a novelty, a p-value and a verdict, in the input's order. The
most novel ones are explained by comparison with known ordinary rows.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline, make_pipeline

from kernova.calibration.detector import CalibratedDetector, Judgement
from kernova.calibration.discoveries import false_discovery_bound
from kernova.calibration.drift import drift_test
from kernova.calibration.p_values import select_discoveries
from kernova.calibration.splits import Wanted, check_holdout, fold_number, holdout_size
from kernova.errors import InputError
from kernova.tables.encoding import align_columns
from kernova.tables.fill_values import FarCells, far_cell_notes, far_cells, with_moved_cells
from kernova.tables.interpretation import day_features
from kernova.tables.records import dropped_rows_notes, json_rows, rows_with_ids
from kernova.tables.table import Table, read_table
from kernova.text import listed, percent
from kernova.typing import Mask, Vector
from kernova.workflows.detectors import (
    detector_named,
    novelty_estimator,
    table_encoder,
    unused_settings,
)
from kernova.workflows.effort import (
    Study,
    announce_duration,
    explaining_effort,
    most_fitted_rows,
    sample_note,
)
from kernova.workflows.landmarks.alignment import LandmarkColumns, alignment_step
from kernova.workflows.landmarks.reading import (
    AS_WRITTEN,
    HowDigitised,
    Roles,
    check_is_table,
    read_specimens,
    table_unless_landmarks,
)
from kernova.workflows.landmarks.tables import aligned_specimens, specimens_like
from kernova.workflows.media.reading import (
    BY_COLUMNS,
    HowCompared,
    MediaRoles,
    is_media,
    read_media_pair,
)
from kernova.workflows.members import chains_of, detector_notes, member_bits
from kernova.workflows.reasons import ExplainedRows, ModelRows, explain_rows, reason_texts
from kernova.workflows.settings import Missing, NoveltySettings, missing_when_reading
from kernova.workflows.verdicts import NOVEL, USUAL

__all__ = [
    "KnownAndNew",
    "NoveltyResult",
    "NoveltySettings",
    "find_novelties",
    "read_known_and_new",
]

# A warning of drift is false in one of a hundred tables at most; so many rows are compared.
_DRIFT_LEVEL = 0.01
_MOST_COMPARED = 2000
_BOUND_STAYS = "The bound is not affected: held-out rows are scored by the same detector."


@dataclass(frozen=True)
class NoveltyResult(ExplainedRows):
    """Verdicts on all new rows, reasons for some, and the detector with its guarantee."""

    # One line per new row, in the input's order: its id, ``novelty`` (0 is the threshold, -1 an
    # ordinary known row), ``p_value``, ``verdict`` ("novel" or "usual"), ``discovery`` if a
    # false discovery rate was asked for, and ``because`` (the features that contribute most, for
    # the most novel rows).
    rows: pd.DataFrame
    explanation: pd.DataFrame
    scores: Vector  # the detector's own scores of the new rows; high is ordinary
    detector: CalibratedDetector  # the fitted detector; it takes tables with the same columns
    known: Table  # the rows that the detector learnt from, and those that it judged
    new: Table
    settings: NoveltySettings  # method, scaling and the wanted guarantee
    # Cells far beyond their columns, samples, false discoveries, drift, and what could not be
    # explained.
    remarks: list[str] = field(default_factory=list)
    member_bits: pd.DataFrame | None = None

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
    def explained(self) -> list[int]:
        """Indices of the new rows that are explained, the most novel first."""
        return self.explained_in(self.most_novel_first.index)

    def id_of(self, row: int) -> Any:
        """Return the id of a new row."""
        return self.new.ids.iloc[row]

    def reference_id_of(self, row: int) -> Any:
        """Return the id of a known row."""
        return self.known.ids.iloc[row]

    @property
    def notes(self) -> list[str]:
        """Remarks for readers of the result, rows left out first."""
        return dropped_rows_notes(self.known, self.new) + self.remarks

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
            "explanations": self.json_explanations(self.explained),
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


class _Roles(NamedTuple):
    """Columns that are not features."""

    id_column: str | None
    label_column: str | None
    drop: tuple[str, ...]
    group_column: str | None

    @property
    def named(self) -> list[str]:
        names = (self.id_column, self.label_column, *self.drop)
        return [name for name in names if name is not None and name != self.group_column]

    def of_known(self) -> dict[str, Any]:
        """Return the arguments of ``read_table`` for the known rows; groups become labels."""
        if self.group_column is None:
            return self.of_new()
        others = [name for name in self.named if name != self.id_column]
        return {"id_column": self.id_column, "label_column": self.group_column, "drop": others}

    def of_new(self) -> dict[str, Any]:
        """Return the arguments of ``read_table`` for the new rows, which need no group."""
        is_named = self.group_column in (None, self.label_column, *self.drop)
        drop = self.drop if is_named else (*self.drop, self.group_column)
        return {"id_column": self.id_column, "label_column": self.label_column, "drop": drop}


def read_known_and_new(
    known: str | os.PathLike[str],
    new: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    missing: Missing = NoveltySettings.missing,
    group_column: str | None = None,
    raw_coordinates: bool = False,
    size: bool = False,
    digitised: HowDigitised = AS_WRITTEN,
    compared: HowCompared = BY_COLUMNS,
    new_embeddings: str | os.PathLike[str] | None = None,
) -> KnownAndNew:
    """Read both tables, the new one like the known one.

    A label or dropped column may be in one of them only. A column that has the same value in all
    known rows, and others in new ones, is a feature. ``keep`` names columns that are features in
    any case. The known table must have the group column, whose values become its labels.
    Specimens of files of landmarks are aligned, unless ``raw_coordinates`` asks for their columns
    as they are; ``size`` adds the logarithm of centroid size, and ``digitised`` says what the files
    do not. Pictures are described; ``compared`` may name embeddings that stand for the columns, and
    ``new_embeddings`` those of the new rows, if they are in another file.
    """
    how = _Roles(id_column, label_column, tuple(drop), group_column)
    given = {"keep": keep, "raw_coordinates": raw_coordinates, "size": size, **digitised.given}
    both = _read_both_media(known, new, how, missing, compared, new_embeddings, given)
    if both is not None:
        return both
    reading = missing_when_reading(missing)

    def read_known(kept: Sequence[str]) -> Table:
        roles = how.of_known()
        try:
            return read_table(known, optional=how.named, keep=kept, missing=reading, **roles)
        except InputError as error:
            # Groups are read as labels; users know them as groups.
            label, group = "to use as label column", "to use as group column"
            if group_column is None or label not in str(error):
                raise
            raise InputError(str(error).replace(label, group)) from None

    def read_new() -> Table:
        optional = [
            name
            for name in (*how.named, group_column)
            if name is not None and name in known_table.columns and name != id_column
        ]
        return read_table(new, optional=optional, like=known_table, missing=reading, **how.of_new())

    found = table_unless_landmarks(
        known, lambda: read_known(keep), raw_coordinates=raw_coordinates, digitised=digitised,
        size=size,
    )  # fmt: skip
    if found is None:
        return _read_both_specimens(known, new, how, keep, missing, size=size, digitised=digitised)
    known_table = found
    check_is_table(new, like=known_table.source)
    new_table = read_new()
    varied = [name for name in known_table.readings if _is_new_value(name, known_table, new_table)]
    if varied:
        known_table = read_known([*keep, *varied])
        new_table = read_new()
        note = (
            f"Columns with one value in all rows of {known_table.source} and others in "
            f"{new_table.source} are used: {listed(varied)}."
        )
        known_table = replace(known_table, notes=(*known_table.notes, note))
    return _without_later_dates(known_table, new_table, keep)


def _read_both_specimens(
    known: str | os.PathLike[str],
    new: str | os.PathLike[str],
    how: _Roles,
    keep: Sequence[str],
    missing: Missing,
    *,
    size: bool,
    digitised: HowDigitised,
) -> KnownAndNew:
    """Read and align specimens; the detector aligns them again, by the rows it learns from."""
    known_roles = Roles(**how.of_known(), keep=keep, optional=how.named, digitised=digitised)
    specimens = read_specimens(known, known_roles)
    known_table = aligned_specimens(specimens, missing=missing, size=size, keeps_missing=True)
    optional = [name for name in (*how.named, how.group_column) if name in specimens.names]
    new_roles = Roles(
        **how.of_new(), optional=optional, digitised=replace(digitised, dimensions=None),
        known_dimensions=specimens.landmarks.n_dimensions,
    )  # fmt: skip
    new_specimens = read_specimens(new, new_roles)
    assert isinstance(known_table.reader, LandmarkColumns)
    new_table = specimens_like(
        new_specimens,
        known_table.reader,
        f"{known_table.source} holds",
        missing=missing,
        keeps_missing=True,
    )
    return KnownAndNew(known_table, new_table)


def _read_both_media(
    known: str | os.PathLike[str],
    new: str | os.PathLike[str],
    how: _Roles,
    missing: Missing,
    compared: HowCompared,
    new_embeddings: str | os.PathLike[str] | None,
    given: dict[str, Any],
) -> KnownAndNew | None:
    """Read pictures, or tables with embeddings; None if the files are neither."""
    if not is_media(known, compared) and not is_media(new, compared):
        if new_embeddings is None:
            return None
        raise InputError(
            "`new_embeddings` stand for the new rows only if known ones have embeddings, too; name "
            "these with `embeddings`."
        )
    roles = MediaRoles(
        how.id_column, how.group_column or how.label_column, None, how.drop, missing=missing,
        may_lack_labels=how.group_column is None,
    )  # fmt: skip
    new_roles = MediaRoles(
        how.id_column, how.label_column, None, how.drop, missing=missing, may_lack_labels=True
    )
    both = (roles, new_roles)
    return KnownAndNew(*read_media_pair(known, new, compared, new_embeddings, both, given))


def _without_later_dates(known: Table, new: Table, keep: Sequence[str]) -> KnownAndNew:
    """Leave out the days of a column whose new dates are all later, or all earlier, than known."""
    later = [
        day
        for day in day_features(known.readings, keep)
        if day in known.features and day in new.features
        and (
            new.features[day].min() > known.features[day].max()
            or new.features[day].max() < known.features[day].min()
        )
    ]  # fmt: skip
    if not later or len(later) == known.features.shape[1]:
        return KnownAndNew(known, new)
    note = (
        f"No date of {new.source} is among those of {known.source}, so that all rows would be "
        f"novel; not used: {listed(later)}."
    )
    return KnownAndNew(
        replace(known, features=known.features.drop(columns=later)),
        replace(new, features=new.features.drop(columns=later), notes=(*new.notes, note)),
    )


def _is_new_value(name: str, known: Table, new: Table) -> bool:
    """Return whether a column with one known value has another one in new rows."""
    if known.readings[name].value is None or name not in new.readings:
        return False
    return new.readings[name].value is None


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
    known_rows = known.features.reset_index(drop=True)
    new_rows = _with_known_columns(known, new).reset_index(drop=True)
    cells, new_cells = far_cells(known_rows), far_cells(new_rows, beside=known_rows)
    notes = unused_settings(settings, "novelty")
    notes += _far_cell_notes(known, cells, new, new_cells)
    first = alignment_step(known.reader)
    most_fitted = _most_fitted(known_rows, new_rows, settings, first)
    if most_fitted is not None:
        notes.append(f"{sample_note(most_fitted, len(known_rows))} {_BOUND_STAYS}")
    chain = novelty_estimator(
        settings, has_far_cells=bool(cells or new_cells), most_fitted=most_fitted, first=first
    )
    groups = None if settings.group_column is None else known.labels
    detector = _calibrated_detector(settings, chain).fit(known_rows, groups=groups)
    chains = chains_of(detector)
    notes += detector_notes(chains)
    judgement = detector.judge(new_rows)
    columns: dict[str, Any] = {
        "novelty": judgement.novelty,
        "p_value": judgement.p_values,
        "verdict": np.where(judgement.is_novel, NOVEL, USUAL).astype(object),
    }
    if settings.false_discovery_rate is not None:
        columns["discovery"] = select_discoveries(judgement.p_values, settings.false_discovery_rate)
        notes.append(_discovery_note(detector, judgement, columns["discovery"], settings))
    if groups is None:  # rows of one group are not independent, as the test takes them to be
        encoder = _drift_encoder(settings, first)
        notes += _drift_notes(detector, known_rows, new_rows, judgement.is_novel, encoder)
    tables = _Features(known_rows, new_rows, cells, new_cells)
    explanation = _explained(detector, tables, judgement.novelty, settings, most_fitted, notes)
    columns["because"] = reason_texts(explanation, len(new_rows))
    explained = new_rows.loc[explanation["row"].astype(np.intp).unique()]
    return NoveltyResult(
        rows_with_ids(new, columns),
        explanation,
        judgement.scores,
        detector,
        known,
        new,
        settings,
        notes,
        member_bits(chains, explained),
    )


def _discovery_note(
    detector: CalibratedDetector, judgement: Judgement, chosen: Mask, settings: NoveltySettings
) -> str:
    """Return what is proven about the discoveries, besides the rate on average."""
    if settings.calibration == "cross" or settings.group_column is not None:
        return (
            "The rate of false discoveries is proven for single rows and hold-out calibration "
            "only; with groups or folds it is an estimate."
        )
    n_calibration = len(detector.holdout_scores_)
    bound = false_discovery_bound(judgement.p_values, chosen, n_calibration, settings.confidence)
    return bound.sentence()


def _drift_notes(
    detector: CalibratedDetector,
    known: pd.DataFrame,
    new: pd.DataFrame,
    is_novel: Mask,
    encoder: Pipeline,
) -> list[str]:
    """Return a warning if the new rows differ from the held-out ones, apart from novel rows.

    Rows called novel are left out of both tables, and a tenth of the other new rows may be
    anything: a few novel rows, found or missed, are no drift.
    """
    held_out = _sampled(known.iloc[detector.holdout_indices_])
    if not hasattr(detector, "folds_"):  # most of their detectors have seen these rows
        held_out, new = held_out[~detector.judge(held_out).is_novel], new[~is_novel]
    if min(len(held_out), len(new)) == 0:
        return []
    encode = encoder.fit(_sampled(known.iloc[detector.reference_indices_])).transform
    result = drift_test(encode(held_out), encode(_sampled(new)))
    if result.p_value > _DRIFT_LEVEL:
        return []
    return [
        "Even without the rows called novel, the new rows differ from the known ones: a region "
        f"with {percent(result.known_fraction)} of the held-out known rows has "
        f"{percent(result.new_fraction)} of the new ones (p = {result.p_value:.1g}; up to a tenth "
        "of novel rows would not explain this). The bound on false alarms is about rows drawn like "
        "the known ones, and may not hold for these."
    ]


def _drift_encoder(settings: NoveltySettings, first: BaseEstimator | None) -> Pipeline:
    encoder = table_encoder(settings.scaling, settings.missing, "auto")
    return make_pipeline(encoder) if first is None else make_pipeline(clone(first), encoder)


def _sampled(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sample(min(len(rows), _MOST_COMPARED), random_state=0)


class _Features(NamedTuple):
    """Features of the known and the new rows, and their far cells."""

    known: pd.DataFrame
    new: pd.DataFrame
    cells: list[FarCells]
    new_cells: list[FarCells]


def _explained(
    detector: CalibratedDetector,
    tables: _Features,
    novelty: Vector,
    settings: NoveltySettings,
    most_fitted: int | None,
    notes: list[str],
) -> pd.DataFrame:
    """Explain the most novel rows by comparison with known ones."""
    known, new, cells, new_cells = tables
    effort = explaining_effort(
        detector_named(settings.method, "novelty"),
        n_wanted=min(settings.top, len(new)),
        n_columns=known.shape[1],
        n_fitted=most_fitted or _n_fitted(len(known), settings),
        n_judged=len(known) + len(new),
    )
    first = np.argsort(-novelty, kind="stable")[: settings.top]
    if len(first) == 0:
        return explain_rows([], first, effort, [], settings.seed, notes)
    rows = with_moved_cells(new, new_cells).iloc[first]
    part = ModelRows(detector, rows, with_moved_cells(known, cells))
    return explain_rows([part], first, effort, new_cells, settings.seed, notes)


def _n_fitted(n_known: int, settings: NoveltySettings) -> int:
    """Return about how many rows the detector learns from."""
    check_holdout(settings.holdout)
    wanted = Wanted(settings.max_false_alarm, settings.confidence, settings.bound)
    if settings.calibration == "cross":
        return n_known - n_known // fold_number(n_known, settings.n_folds, wanted)
    return n_known - holdout_size(n_known, settings.holdout, wanted)


def _most_fitted(
    known: pd.DataFrame,
    new: pd.DataFrame,
    settings: NoveltySettings,
    first: BaseEstimator | None,
) -> int | None:
    """Return the size of the sample to learn from, None for all rows; announce a long study."""
    n_fitted, n_judged = _n_fitted(len(known), settings), len(known) + len(new)
    entry = detector_named(settings.method, "novelty")
    most_fitted = most_fitted_rows(entry, n_fitted, n_judged)
    announce_duration(
        lambda: novelty_estimator(settings, first=first),
        known,
        Study(entry, most_fitted or n_fitted, len(known) - n_fitted + len(new)),
    )
    return most_fitted


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


def _calibrated_detector(settings: NoveltySettings, chain: Pipeline) -> CalibratedDetector:
    """Return the calibrated chain from a table of features to verdicts, not yet fitted.

    The encoder is inside the calibration: scales learnt from held-out rows would make them look
    more ordinary than new rows do, and the guarantee would be false.
    """
    return CalibratedDetector(
        chain,
        max_false_alarm=settings.max_false_alarm,
        confidence=settings.confidence,
        bound=settings.bound,
        holdout=settings.holdout,
        random_state=settings.seed,
        calibration=settings.calibration,
        n_folds=settings.n_folds,
    )


def _with_known_columns(known: Table, new: Table) -> pd.DataFrame:
    try:
        return align_columns(new.features, list(known.features.columns))
    except InputError as error:
        raise InputError(f"{new.source} does not match {known.source}: {error}") from None
