"""Outlier detection in one table: rows ranked by outlier factor, with verdicts and reasons."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernova.errors import InputError
from kernova.explain.explanation import explain, top_features
from kernova.tables.fill_values import FarCells, far_cell_notes, single_rows, with_moved_cells
from kernova.tables.records import (
    dropped_rows_notes,
    json_rows,
    json_value,
    rows_with_ids,
    warnings_as_notes,
)
from kernova.tables.table import Table, read_table
from kernova.text import percent
from kernova.typing import Indices, Mask, Vector
from kernova.workflows.detectors import detector_named
from kernova.workflows.settings import Missing, OutlierSettings, missing_when_reading
from kernova.workflows.verdicts import OUTLIER, USUAL, JudgedPart, Proof, Verdicts, judge_rows

__all__ = ["OutlierResult", "OutlierSettings", "find_outliers", "read_rows"]

_FEATURES_NAMED = 3
# Features with less than this fraction of the largest contribution are not named.
_MIN_CONTRIBUTION = 0.1
# About how many hypothetical rows explain one row, and the ordinary rows it is compared with.
_BUDGET, _FEWEST = 1000, 100
_NEAREST, _FEWEST_NEAREST = 5, 3
# Explaining may take so many nanoseconds, or twice the time of judging, whichever is more.
_EXPLAINING_TIME = 1e10
# Nanoseconds to make one cell of a hypothetical row, and to encode it.
_MAKING_A_CELL = 500
# Factors are divided by no smaller threshold, so that none becomes infinite.
_SMALLEST = 1e-6


@dataclass(frozen=True)
class OutlierResult:
    """Ranks and verdicts of all rows, and reasons for the most outlying ones."""

    # One line for each row, the highest factor first: its id, ``rank``, ``factor`` (high is
    # outlying), ``verdict`` ("outlier" or "usual"), ``because`` (the features that contribute most,
    # for the first rows), and the label if there is one. If a bound was asked for, also
    # ``p_value``, and outliers rank before others, whose half may have a higher threshold. The
    # index holds the row indices of the table.
    rows: pd.DataFrame
    # Result of :func:`kernova.explain.explain` for the first rows, by their indices.
    explanation: pd.DataFrame
    # Rows with a factor above it are called outliers; with a proof, one for each half.
    thresholds: tuple[float, ...]
    # The rows' factors over their own threshold, in the order of the table.
    relative_factors: Vector
    proof: Proof | None  # the proven bound, if one was asked for
    table: Table  # the rows that were judged
    settings: OutlierSettings  # method, scaling and what sets the threshold
    notes: list[str]  # remarks for readers of the result

    @property
    def n_outliers(self) -> int:
        """Number of rows called outliers."""
        return int((self.rows["verdict"] == OUTLIER).sum())

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
        """One sentence: how many rows are outliers, and by which threshold."""
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
            "This threshold is the method's convention; nothing is proven about how many ordinary "
            "rows are above it."
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
            "explanations": [self._json_explanation(row) for row in self.explained],
        }

    @property
    def explained(self) -> list[int]:
        """Indices of the rows that are explained, the highest factor first."""
        explained = set(self.explanation["row"])
        return [row for row in self.rows.index if row in explained]

    def contributing_features(self, row: int) -> pd.DataFrame:
        """Return the features that make a row outlying, the largest contribution first."""
        lines = self.explanation[self.explanation["row"] == row]
        return lines[lines["share"] > 0]

    def main_features(self, row: int) -> pd.DataFrame:
        """Return the few of them that contribute most."""
        return _main(self.contributing_features(row)).head(_FEATURES_NAMED)

    def nearest_ids(self, row: int) -> list[str]:
        """Return the ids of the ordinary rows that a row was compared with, nearest first."""
        nearest = self.explanation.loc[self.explanation["row"] == row, "nearest"]
        return [str(self.ids[other]) for other in nearest.iloc[0]]

    def _json_explanation(self, row: int) -> dict[str, Any]:
        columns = ["feature", "value", "ordinary_value", "share"]
        return {
            "id": json_value(self.ids[row]),
            "features": json_rows(self.contributing_features(row)[columns]),
            "nearest": self.nearest_ids(row),
        }


def read_rows(
    data: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Missing = "refuse",
) -> Table:
    """Read the table; missing values that are to be filled in stay missing for now."""
    return read_table(
        data,
        id_column=id_column,
        label_column=label_column,
        drop=drop,
        missing=missing_when_reading(missing),
    )


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
    verdicts = judge_rows(features, settings)
    detector = detector_named(settings.method, "outliers")
    factors = detector.factors(verdicts.scores)
    thresholds = detector.factors(np.array([part.threshold for part in verdicts.parts]))
    relative = np.empty(len(factors))
    for part, threshold in zip(verdicts.parts, thresholds, strict=True):
        relative[part.row_indices] = factors[part.row_indices] / max(threshold, _SMALLEST)
    cells = verdicts.far_cells
    is_far = np.isin(np.arange(len(factors)), single_rows(cells))
    ranking = _ranking(factors, verdicts.is_outlier, is_far)
    notes = dropped_rows_notes(table) + _far_cell_notes(table, verdicts) + verdicts.notes
    explanation = _explained(
        with_moved_cells(features, cells), verdicts, ranking.order, settings, notes
    )
    explanation = _with_far_cells(explanation, cells)
    columns = _columns(ranking.ranks, factors, verdicts, explanation)
    rows = rows_with_ids(table, columns).iloc[ranking.order]
    return OutlierResult(
        rows,
        explanation,
        tuple(thresholds.tolist()),
        relative,
        verdicts.proof,
        table,
        settings,
        notes,
    )


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


def _ranking(factors: Vector, is_outlier: Mask, is_far: Mask) -> _Ranking:
    """Rank outliers before others, and each by falling factor; ties share the better rank.

    Of the outliers, rows with far cells come first: bounded factors do not tell how far they are.
    """
    is_first = is_outlier & is_far
    order = np.lexsort((-factors, ~is_first, ~is_outlier))
    keys = np.column_stack([is_outlier, is_first, factors])[order]
    is_new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = 1 + np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    return _Ranking(order, ranks)


def _columns(
    ranks: Indices, factors: Vector, verdicts: Verdicts, explanation: pd.DataFrame
) -> dict[str, Any]:
    columns: dict[str, Any] = {"rank": ranks, "factor": factors}
    if verdicts.p_values is not None:
        columns["p_value"] = verdicts.p_values
    columns["verdict"] = [OUTLIER if one else USUAL for one in verdicts.is_outlier]
    texts = np.full(len(factors), "", dtype=object)
    if len(explanation):
        reasons = top_features(_main(explanation), _FEATURES_NAMED)
        texts[reasons.index.to_numpy(dtype=np.intp)] = reasons.to_numpy()
    columns["because"] = texts
    return columns


def _main(explanation: pd.DataFrame) -> pd.DataFrame:
    """Leave out features that contribute nothing, or little beside the first of their row."""
    first = explanation.groupby("row")["share"].transform("max")
    differs = explanation["value"].astype(object) != explanation["ordinary_value"].astype(object)
    return explanation[differs & (explanation["share"] >= _MIN_CONTRIBUTION * first)]


class Effort(NamedTuple):
    """Number of rows to explain, and the hypothetical rows to spend on each."""

    n_rows: int
    n_nearest: int
    budget: int


def explaining_effort(features: pd.DataFrame, settings: OutlierSettings) -> Effort:
    """Plan to explain all rows asked for if that takes at most about twice the judging.

    First fewer hypothetical rows are spent on each, then fewer rows are explained: with d
    columns, at least 2 d hypothetical rows lie between a row and each ordinary one.
    """
    n_rows, n_columns = features.shape
    wanted = min(settings.top, n_rows)
    if wanted == 0:
        return Effort(0, _NEAREST, _BUDGET)
    is_depth = detector_named(settings.method, "outliers").is_depth
    scoring = n_rows**2 if is_depth else n_rows * (5 + n_columns / 10)
    affordable = max(2 * n_rows, int(_EXPLAINING_TIME / (scoring + _MAKING_A_CELL * n_columns)))
    budget = int(np.clip(affordable // wanted, _FEWEST, _BUDGET))
    n_nearest = int(np.clip(budget // (2 * n_columns), _FEWEST_NEAREST, _NEAREST))
    needed = n_nearest * min(2 * n_columns, 2 ** min(n_columns, 20))
    return Effort(max(1, min(wanted, affordable // needed)), n_nearest, budget)


def _explained(
    features: pd.DataFrame,
    verdicts: Verdicts,
    order: Indices,
    settings: OutlierSettings,
    notes: list[str],
) -> pd.DataFrame:
    """Explain the first rows, each by the model that scored it; append what was left out."""
    effort = explaining_effort(features, settings)
    n_wanted = min(settings.top, len(features))
    if effort.n_rows < n_wanted:
        notes.append(
            f"Reasons are given for {effort.n_rows} of {n_wanted} rows only: with "
            f"{features.shape[1]} columns and {len(features)} rows, more would take long."
        )
    first = order[: effort.n_rows]
    found = [
        _explained_part(features, part, first, effort, settings.seed, notes)
        for part in verdicts.parts
    ]
    explained = [one for one in found if one is not None]
    return pd.concat(explained, ignore_index=True) if explained else _no_explanation()


def _explained_part(
    features: pd.DataFrame,
    part: JudgedPart,
    first: Indices,
    effort: Effort,
    seed: int,
    notes: list[str],
) -> pd.DataFrame | None:
    """Explain those of the first rows that one model scored, if there are any."""
    top = np.flatnonzero(np.isin(part.row_indices, first))
    if len(top) == 0:
        return None
    try:
        with warnings_as_notes(notes):
            return explain(
                part.model,
                features.iloc[part.row_indices],
                top,
                n_nearest=effort.n_nearest,
                budget=effort.budget,
                random_state=seed,
            )
    except InputError as error:
        notes.append(f"Rows could not be explained: {error}")
        return None


def _with_far_cells(explanation: pd.DataFrame, cells: list[FarCells]) -> pd.DataFrame:
    """Explain rows that have far cells by these alone: nothing else compares with them."""
    far = {
        (row, one.column): value
        for one in cells
        for row, value in zip(
            one.rows[one.is_single].tolist(), one.numbers[one.is_single], strict=True
        )
    }
    if not far or explanation.empty:
        return explanation
    keys = list(zip(explanation["row"], explanation["feature"].astype(str), strict=True))
    is_far = np.array([key in far for key in keys])
    of_far_row = explanation["row"].isin([row for row, _ in far]).to_numpy()
    values = [far.get(key, value) for key, value in zip(keys, explanation["value"], strict=True)]
    explained = explanation.assign(value=pd.Series(values, explanation.index, dtype=object))
    n_far = pd.Series(is_far).groupby(explanation["row"].to_numpy()).transform("sum").to_numpy()
    explained.loc[of_far_row, "share"] = (is_far / np.maximum(n_far, 1))[of_far_row]
    order = np.lexsort((np.where(of_far_row, ~is_far, False), _first_lines(explanation)))
    return explained.iloc[order].reset_index(drop=True)


def _first_lines(explanation: pd.DataFrame) -> Indices:
    """Return, for each line, the number of its row in order of appearance."""
    return np.asarray(pd.factorize(explanation["row"])[0])


def _no_explanation() -> pd.DataFrame:
    columns = ["row", "feature", "value", "ordinary_value", "share", "nearest"]
    return pd.DataFrame({name: [] for name in columns})
