"""Outlier detection in one table: rows ranked by outlier factor, with reasons and verdicts."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernova.explain.explanation import MAX_ORDINARY
from kernova.tables.fill_values import far_cell_notes, single_rows, with_moved_cells
from kernova.tables.records import dropped_rows_notes, json_rows, rows_with_ids
from kernova.tables.table import Table, read_table
from kernova.text import percent, quantity
from kernova.typing import Indices, Mask, Vector
from kernova.workflows.agreement import Agreement, member_agreement
from kernova.workflows.detectors import detector_named
from kernova.workflows.effort import SampledDetector, explaining_effort
from kernova.workflows.landmarks.alignment import alignment_step
from kernova.workflows.landmarks.reading import (
    AS_WRITTEN,
    HowDigitised,
    Roles,
    read_specimens,
    table_unless_landmarks,
)
from kernova.workflows.landmarks.tables import aligned_specimens
from kernova.workflows.media.reading import (
    BY_COLUMNS,
    HowCompared,
    MediaRoles,
    is_media,
    read_media,
)
from kernova.workflows.members import bits_of_parts
from kernova.workflows.reasons import ExplainedRows, ModelRows, explain_rows, reason_texts
from kernova.workflows.settings import Missing, OutlierSettings, missing_when_reading
from kernova.workflows.verdicts import OUTLIER, USUAL, Proof, Verdicts, judge_rows

__all__ = ["OutlierResult", "OutlierSettings", "find_outliers", "read_rows"]

# Factors are divided by no smaller threshold, so that none becomes infinite.
_SMALLEST = 1e-6
# A larger fraction of outliers is worth a note.
_MANY_OUTLIERS = 0.1
# A copy that explains rows is fitted on so many others at least.
_FEWEST_TO_LEARN_FROM = 5


@dataclass(frozen=True)
class OutlierResult(ExplainedRows):
    """Ranks of all rows, verdicts if there is a rule, and reasons for the most outlying ones."""

    # One line for each row, the highest factor first: its id, ``rank``, ``factor`` (high is
    # outlying), ``verdict`` ("outlier" or "usual", only if a rule was asked for), ``because`` (the
    # features that contribute most, for the first rows), and the label if there is one. If a bound
    # was asked for, also ``p_value``, and outliers rank before others, whose half may have a higher
    # threshold. The index holds the row indices of the table.
    rows: pd.DataFrame
    explanation: pd.DataFrame
    # Rows with a factor above it are called outliers; with a proof, one for each half; without a
    # rule, none.
    thresholds: tuple[float, ...]
    # The rows' factors over their own threshold, in the order of the table; factors without a rule.
    relative_factors: Vector
    proof: Proof | None  # the proven bound, if one was asked for
    table: Table  # the rows that were judged
    settings: OutlierSettings  # method, scaling and what sets the threshold
    notes: list[str]  # remarks for readers of the result
    # How far the members of an ensemble agree on the rows; None for other methods.
    members: Agreement | None = None
    member_bits: pd.DataFrame | None = None

    @property
    def has_rule(self) -> bool:
        """Whether rows are called outliers by some rule, or only ranked."""
        return "verdict" in self.rows

    @property
    def is_outlier(self) -> Mask:
        """Mask of the rows called outliers, the highest factor first; none without a rule."""
        if not self.has_rule:
            return np.zeros(len(self.rows), dtype=np.bool_)
        return np.asarray(self.rows["verdict"] == OUTLIER)

    @property
    def n_outliers(self) -> int | None:
        """Number of rows called outliers; None without a rule."""
        return int(self.is_outlier.sum()) if self.has_rule else None

    @property
    def n_top(self) -> int:
        """Number of rows to show first."""
        return min(self.settings.top, len(self.rows))

    @property
    def ids(self) -> "pd.Series[Any]":
        """The rows' ids, the highest factor first, by their row indices in the table."""
        return self.rows.iloc[:, 0]

    @property
    def summary(self) -> str:
        """One sentence: how many rows were ranked by what, or are outliers by which threshold."""
        if not self.has_rule:
            title = detector_named(self.settings.method, "outliers").title
            return f"{quantity(len(self.rows), 'row')} ranked by {title}, the most outlying first."
        if self.proof is None:
            rule = f"rows with a factor above {self.thresholds[0]:.4g} are called outliers"
        elif self.proof.largest_p_value > 0:
            limit = f"{self.proof.largest_p_value:.3g}"
            rule = f"rows with a p-value of {limit} or less are called outliers"
        else:
            rule = "with so few rows none can be called an outlier"
        return f"{self.n_outliers} of {len(self.rows)} rows are outliers; {rule}."

    @property
    def worth(self) -> str:
        """One sentence: what is proven about the threshold, or where it comes from."""
        if self.proof is not None:
            return self.proof.sentence()
        fraction = self.settings.contamination
        if fraction != "auto":
            above = percent(float(fraction), ".12g")
            return f"The threshold was set so that {above} of the rows are above it."
        return (
            "No row is called an outlier without a rule: max_false_alarm=0.05 would set a "
            "threshold with a proven bound, contamination=0.05 one by a fraction of the rows."
        )

    def to_json_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts, for programs."""
        proof = None if self.proof is None else self.proof._asdict()
        return {
            "command": "outliers",
            "data": {"source": self.table.source, "rows": len(self.rows)},
            "settings": asdict(self.settings),
            "thresholds": list(self.thresholds),
            "worth": self.worth,
            "proof": proof,
            "outlier_rows": self.n_outliers,
            "notes": self.notes,
            "rows": json_rows(self.rows),
            "explanations": self.json_explanations(self.explained),
            "members": None if self.members is None else self.members.to_json_dict(self.id_of),
        }

    @property
    def explained(self) -> list[int]:
        """Indices of the rows that are explained, the highest factor first."""
        return self.explained_in(self.rows.index)

    def id_of(self, row: int) -> Any:
        """Return the id of a row."""
        return self.table.ids.iloc[row]

    def reference_id_of(self, row: int) -> Any:
        """Return the id of a row that others are compared with: they are of the same table."""
        return self.table.ids.iloc[row]


def read_rows(
    data: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    missing: Missing = OutlierSettings.missing,
    raw_coordinates: bool = False,
    size: bool = False,
    digitised: HowDigitised = AS_WRITTEN,
    compared: HowCompared = BY_COLUMNS,
) -> Table:
    """Read the table; missing values that are to be filled in stay missing for now.

    ``keep`` names columns that are features even if they seem to be ids or constant. Specimens of
    a file of landmarks are aligned, unless ``raw_coordinates`` asks for their columns as they are;
    ``size`` adds the logarithm of centroid size, and ``digitised`` says what the file does not.
    Pictures are described, and ``compared`` may name embeddings that stand for the columns.
    """
    if is_media(data, compared):
        roles = MediaRoles(id_column, label_column, drop=drop, missing=missing)
        others = {"keep": keep, "raw_coordinates": raw_coordinates, "size": size}
        return read_media(data, compared, roles, others={**others, **digitised.given})
    table = table_unless_landmarks(
        data,
        lambda: read_table(
            data,
            id_column=id_column,
            label_column=label_column,
            drop=drop,
            keep=keep,
            missing=missing_when_reading(missing),
        ),
        raw_coordinates=raw_coordinates,
        digitised=digitised,
        size=size,
    )
    if table is not None:
        return table
    of_landmarks = Roles(id_column, label_column, drop=drop, keep=keep, digitised=digitised)
    specimens = read_specimens(data, of_landmarks)
    return aligned_specimens(specimens, missing=missing, size=size, keeps_missing=True)


def find_outliers(table: Table, settings: OutlierSettings | None = None) -> OutlierResult:
    """Rank all rows of a table by their outlier factor among the others.

    Parameters
    ----------
    table : Table
        The rows.
    settings : OutlierSettings, optional
        Method, scaling, what sets the threshold, and how many rows to explain.

    Returns
    -------
    OutlierResult
        The row with the highest factor first.
    """
    settings = settings or OutlierSettings()
    features = table.features.reset_index(drop=True)
    verdicts = judge_rows(features, settings, alignment_step(table.reader))
    factors = detector_named(settings.method, "outliers").factors(verdicts.scores)
    is_far = np.isin(np.arange(len(factors)), single_rows(verdicts.far_cells))
    ranking = _ranking(factors, verdicts.is_outlier, is_far)
    notes = dropped_rows_notes(table) + _far_cell_notes(table, verdicts) + verdicts.notes
    notes += _many_outliers(verdicts.is_outlier)
    explanation = _explained(features, verdicts, ranking.order, settings, notes)
    first = ranking.order[: settings.top]
    bits = bits_of_parts(verdicts.parts, features, first, notes)
    columns = _columns(ranking.ranks, factors, verdicts)
    columns["because"] = reason_texts(explanation, len(factors))
    return OutlierResult(
        rows_with_ids(table, columns).iloc[ranking.order],
        explanation,
        *_relative(factors, verdicts, settings),
        verdicts.proof,
        table,
        settings,
        notes,
        member_agreement(bits, first),
        None if bits is None else bits.loc[first],
    )


class _Relative(NamedTuple):
    """The thresholds on the factor, and the factors over their own threshold."""

    thresholds: tuple[float, ...]
    factors: Vector


def _relative(factors: Vector, verdicts: Verdicts, settings: OutlierSettings) -> _Relative:
    given = [part.threshold for part in verdicts.parts if part.threshold is not None]
    if not given:
        return _Relative((), factors)
    thresholds = detector_named(settings.method, "outliers").factors(np.array(given))
    relative = np.empty(len(factors))
    for part, threshold in zip(verdicts.parts, thresholds, strict=True):
        relative[part.row_indices] = factors[part.row_indices] / max(threshold, _SMALLEST)
    return _Relative(tuple(thresholds.tolist()), relative)


def _many_outliers(is_outlier: Mask | None) -> list[str]:
    """Return a note if so many rows are outliers that the word loses its meaning."""
    if is_outlier is None or is_outlier.mean() <= _MANY_OUTLIERS:
        return []
    return [
        f"{percent(float(is_outlier.mean()))} of the rows are called outliers, which is a lot: "
        "the rule allows so many whether or not they are errors. Look at the first ones, or set a "
        "smaller fraction; a table that mixes several kinds of rows is better split by kind."
    ]


def _far_cell_notes(table: Table, verdicts: Verdicts) -> list[str]:
    come_first = "come first" if verdicts.proof is None else "are judged as they are"
    return far_cell_notes(
        table,
        verdicts.far_cells,
        f"The column is scaled by its other values, and such rows {come_first}.",
        "The column is scaled by its other values, and such rows are judged by other columns.",
    )


class _Ranking(NamedTuple):
    """The row indices in falling order of the factor, and each row's rank."""

    order: Indices
    ranks: Indices


def _ranking(factors: Vector, is_outlier: Mask | None, is_far: Mask) -> _Ranking:
    """Rank outliers before others, and each by falling factor; ties share the better rank.

    Of the outliers, or of all rows without a rule, those with far cells come first: bounded factors
    do not tell how far they are.
    """
    if is_outlier is None:
        is_outlier = np.ones(len(factors), dtype=np.bool_)
    is_first = is_outlier & is_far
    order = np.lexsort((-factors, ~is_first, ~is_outlier))
    keys = np.column_stack([is_outlier, is_first, factors])[order]
    is_new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = 1 + np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    return _Ranking(order, ranks)


def _columns(ranks: Indices, factors: Vector, verdicts: Verdicts) -> dict[str, Any]:
    columns: dict[str, Any] = {"rank": ranks, "factor": factors}
    if verdicts.p_values is not None:
        columns["p_value"] = verdicts.p_values
    if verdicts.is_outlier is not None:
        columns["verdict"] = np.where(verdicts.is_outlier, OUTLIER, USUAL).astype(object)
    return columns


def _explained(
    features: pd.DataFrame,
    verdicts: Verdicts,
    order: Indices,
    settings: OutlierSettings,
    notes: list[str],
) -> pd.DataFrame:
    """Explain the first rows, each by the model that scored it; append what was left out."""
    n_rows, n_columns = features.shape
    entry = detector_named(settings.method, "outliers")
    last = verdicts.parts[0].model[-1]
    is_sampled = isinstance(last, SampledDetector)
    effort = explaining_effort(
        entry,
        n_wanted=min(settings.top, n_rows),
        n_columns=n_columns,
        n_fitted=len(last.sample_indices_) if is_sampled else n_rows // len(verdicts.parts),
        n_judged=n_rows,
    )
    if effort.n_rows == 0:
        return explain_rows([], order[:0], effort, [], settings.seed, notes)
    moved = with_moved_cells(features, verdicts.far_cells)
    first = order[: min(settings.top, n_rows)]
    if len(verdicts.parts) > 1:
        parts = [
            ModelRows(part.model, moved.iloc[part.row_indices], None) for part in verdicts.parts
        ]
    else:
        model = verdicts.parts[0].model
        if entry.is_explained_apart:
            model = _fitted_without(model, moved, first[: effort.n_rows], settings.seed)
        parts = [ModelRows(model, moved, None)]
    return explain_rows(parts, first, effort, verdicts.far_cells, settings.seed, notes)


def _fitted_without(model: Pipeline, features: pd.DataFrame, rows: Indices, seed: int) -> Pipeline:
    """Fit a copy on the other rows, or on as many of them as rows are compared with.

    Hypothetical rows between an outlier and an ordinary row are near the outlier. To a detector
    that knows the outlier itself they would look ordinary.
    """
    others = features.drop(pd.Index(rows[: len(features) // 2]))
    if len(others) < _FEWEST_TO_LEARN_FROM:
        return model
    return clone(model).fit(others.sample(min(len(others), MAX_ORDINARY), random_state=seed))
