"""From one table to its strangest rows: ranked, judged, and with what speaks against each."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernova.errors import InputError
from kernova.explain.explanation import explain, top_features
from kernova.tables.records import dropped_rows_notes, json_rows, json_value, rows_with_ids
from kernova.tables.table import Table, read_table
from kernova.workflows.outlier_verdicts import (
    OutlierSettings,
    Proof,
    Verdicts,
    judge_rows,
    warnings_as_notes,
)

FEATURES_NAMED = 3
# A feature with less than this part of the largest share is not worth a word.
_TELLING = 0.1
# About how many hypothetical rows explain one row, and the ordinary rows it is compared with.
_BUDGET, _FEWEST = 1000, 100
_NEAREST, _FEWEST_NEAREST = 5, 3
# Explaining may take as many nanoseconds, or twice the time of judging, whichever is more.
_EXPLAINING_TIME = 1e10
# Nanoseconds to make one cell of a hypothetical row, and to encode it.
_MAKING_A_CELL = 500
# Factors are divided by no smaller threshold, so that none becomes infinite.
_SMALLEST = 1e-6


@dataclass(frozen=True)
class OutlierResult:
    """Every row ranked and judged, and what speaks against the strangest.

    Attributes
    ----------
    rows : DataFrame
        One line for each row, the strangest first: its id, ``rank``, ``factor`` (high is
        strange), ``verdict`` ("outlier" or "usual"), ``because`` (what speaks against it, for the
        first rows), and the label if there is one. If a bound was asked for, also ``p_value``,
        and outliers rank before others, whose half may have a higher threshold. The index holds
        the rows' places in the table.
    explanation : DataFrame
        What :func:`kernova.explain.explain` says of the first rows, by their places.
    thresholds : tuple of float
        The factor that it takes to be called an outlier; with a proof, one for each half.
    relative_factors : ndarray
        The rows' factors over their own threshold, in the order of the table.
    proof : Proof or None
        What is proven of the threshold, if that was asked for.
    table : Table
        What was judged.
    settings : OutlierSettings
        How.
    notes : list of str
        What a reader should also know.
    """

    rows: pd.DataFrame
    explanation: pd.DataFrame
    thresholds: tuple[float, ...]
    relative_factors: NDArray[np.float64]
    proof: Proof | None
    table: Table
    settings: OutlierSettings
    notes: list[str]

    @property
    def n_outliers(self) -> int:
        """Number of rows called outliers."""
        return int((self.rows["verdict"] == "outlier").sum())

    @property
    def n_top(self) -> int:
        """Number of rows to be looked at."""
        return min(self.settings.top, len(self.rows))

    @property
    def ids(self) -> "pd.Series[Any]":
        """The rows' ids, the strangest row's first, by their places in the table."""
        return self.rows.iloc[:, 0]

    @property
    def summary(self) -> str:
        """Say in one sentence how many rows are outliers, and what it takes to be one."""
        if self.proof is None:
            condition = f"it takes a factor above {self.thresholds[0]:.4g} to be one"
        elif self.proof.largest_p_value > 0:
            reach = f"{self.proof.largest_p_value:.3g}"
            condition = f"it takes a p-value of {reach} or less to be one"
        else:
            condition = "with so few rows none can be one"
        return f"{self.n_outliers} of {len(self.rows)} rows are outliers; {condition}."

    @property
    def worth(self) -> str:
        """Say in one sentence what the threshold is worth."""
        if self.proof is not None:
            return self.proof.sentence()
        share = self.settings.contamination
        if share != "auto":
            return f"The threshold was set so that {100 * float(share):.12g} % of the rows pass it."
        return (
            "This threshold is the method's convention; nothing is proven about how many ordinary "
            "rows pass it."
        )

    def to_json_dict(self) -> dict[str, Any]:
        """Give everything as plain numbers and texts, for programs."""
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
            "explanations": [self._json_explanation(place) for place in self.explained],
        }

    @property
    def explained(self) -> list[int]:
        """Places of the rows that are explained, the strangest first."""
        return [place for place in self.rows.index if place in set(self.explanation["row"])]

    def features_against(self, place: int) -> pd.DataFrame:
        """Give the features that speak against a row, the strongest first."""
        lines = self.explanation[self.explanation["row"] == place]
        return lines[lines["share"] > 0]

    def telling_features(self, place: int) -> pd.DataFrame:
        """Give the few of them that are worth a word."""
        return _telling(self.features_against(place)).head(FEATURES_NAMED)

    def nearest_ids(self, place: int) -> list[str]:
        """Give the ids of the ordinary rows that a row was compared with, nearest first."""
        nearest = self.explanation.loc[self.explanation["row"] == place, "nearest"]
        return [str(self.ids[other]) for other in nearest.iloc[0]]

    def _json_explanation(self, place: int) -> dict[str, Any]:
        lines = self.features_against(place)
        columns = ["feature", "value", "ordinary_value", "share"]
        return {
            "id": json_value(self.ids[place]),
            "features": json_rows(lines[columns]),
            "nearest": self.nearest_ids(place),
        }


def read_rows(
    data: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    drop: Sequence[str] = (),
    missing: Literal["refuse", "drop", "fill"] = "refuse",
) -> Table:
    """Read the table; missing values that are to be filled in are kept as such."""
    return read_table(
        data,
        id_column=id_column,
        label_column=label_column,
        drop=drop,
        missing="keep" if missing == "fill" else missing,
    )


def find_outliers(table: Table, settings: OutlierSettings | None = None) -> OutlierResult:
    """Rank all rows of a table by how strange each is among the others.

    Parameters
    ----------
    table : Table
        The rows.
    settings : OutlierSettings, optional
        Method, scaling, what sets the threshold, and how many rows to explain.

    Returns
    -------
    OutlierResult
        The strangest row first.
    """
    settings = settings or OutlierSettings()
    features = table.features.reset_index(drop=True)
    verdicts = judge_rows(features, settings)
    factors = _factors(verdicts.scores, settings)
    thresholds = _factors(np.array([part.threshold for part in verdicts.parts]), settings)
    relative = np.empty(len(factors))
    for part, threshold in zip(verdicts.parts, thresholds, strict=True):
        relative[part.places] = factors[part.places] / max(threshold, _SMALLEST)
    ranking = _ranking(factors, verdicts.is_outlier)
    notes = dropped_rows_notes(table) + verdicts.notes
    explanation = _explained(features, verdicts, ranking.order, settings, notes)
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


def _factors(scores: NDArray[np.float64], settings: OutlierSettings) -> NDArray[np.float64]:
    """Turn scores, high for usual rows, into factors; depth is turned from 1 to 0."""
    return (1.0 if settings.method == "depth" else 0.0) - scores


class _Ranking(NamedTuple):
    """The rows' places in falling order of strangeness, and each row's rank."""

    order: NDArray[np.intp]
    ranks: NDArray[np.intp]


def _ranking(factors: NDArray[np.float64], is_outlier: NDArray[np.bool_]) -> _Ranking:
    """Rank outliers before others, and each by falling factor; ties share the better rank."""
    order = np.lexsort((-factors, ~is_outlier))
    keys = np.column_stack([is_outlier, factors])[order]
    is_new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = 1 + np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    return _Ranking(order, ranks)


def _columns(
    ranks: NDArray[np.intp],
    factors: NDArray[np.float64],
    verdicts: Verdicts,
    explanation: pd.DataFrame,
) -> dict[str, Any]:
    columns: dict[str, Any] = {"rank": ranks, "factor": factors}
    if verdicts.p_values is not None:
        columns["p_value"] = verdicts.p_values
    columns["verdict"] = ["outlier" if one else "usual" for one in verdicts.is_outlier]
    texts = np.full(len(factors), "", dtype=object)
    if len(explanation):
        said = top_features(_telling(explanation), FEATURES_NAMED)
        texts[said.index.to_numpy(dtype=np.intp)] = said.to_numpy()
    columns["because"] = texts
    return columns


def _telling(explanation: pd.DataFrame) -> pd.DataFrame:
    """Leave out features that say nothing, or next to nothing beside the first of their row."""
    first = explanation.groupby("row")["share"].transform("max")
    differs = explanation["value"].astype(object) != explanation["ordinary_value"].astype(object)
    return explanation[differs & (explanation["share"] >= _TELLING * first)]


class _Effort(NamedTuple):
    """How many rows to explain, and how thoroughly."""

    n_rows: int
    n_nearest: int
    budget: int


def _effort(features: pd.DataFrame, settings: OutlierSettings) -> _Effort:
    """Explain all rows asked for if that takes no longer than about twice the judging.

    First fewer hypothetical rows are spent on each, then fewer rows are explained: with d
    columns, at least 2 d hypothetical rows lie between a row and each ordinary one.
    """
    n_rows, n_columns = features.shape
    wanted = min(settings.top, n_rows)
    if wanted == 0:
        return _Effort(0, _NEAREST, _BUDGET)
    scoring = n_rows**2 if settings.method == "depth" else n_rows * (5 + n_columns / 10)
    affordable = max(2 * n_rows, int(_EXPLAINING_TIME / (scoring + _MAKING_A_CELL * n_columns)))
    budget = int(np.clip(affordable // wanted, _FEWEST, _BUDGET))
    n_nearest = int(np.clip(budget // (2 * n_columns), _FEWEST_NEAREST, _NEAREST))
    needed = n_nearest * min(2 * n_columns, 2 ** min(n_columns, 20))
    return _Effort(max(1, min(wanted, affordable // needed)), n_nearest, budget)


def _explained(
    features: pd.DataFrame,
    verdicts: Verdicts,
    order: NDArray[np.intp],
    settings: OutlierSettings,
    notes: list[str],
) -> pd.DataFrame:
    """Explain the strangest rows, each by the model that scored it; notes say what was left out."""
    effort = _effort(features, settings)
    n_wanted = min(settings.top, len(features))
    if effort.n_rows < n_wanted:
        notes.append(
            f"Reasons are given for {effort.n_rows} of {n_wanted} rows only: with "
            f"{features.shape[1]} columns and {len(features)} rows, more would take long."
        )
    explained = []
    for part in verdicts.parts:
        top = np.flatnonzero(np.isin(part.places, order[: effort.n_rows]))
        if len(top) == 0:
            continue
        try:
            with warnings_as_notes(notes):
                found = explain(
                    part.model,
                    features.iloc[part.places],
                    top,
                    n_nearest=effort.n_nearest,
                    budget=effort.budget,
                    random_state=settings.seed,
                )
        except InputError as error:
            notes.append(f"Rows could not be explained: {error}")
            continue
        explained.append(found)
    return pd.concat(explained, ignore_index=True) if explained else _no_explanation()


def _no_explanation() -> pd.DataFrame:
    columns = ["row", "feature", "value", "ordinary_value", "share", "nearest"]
    return pd.DataFrame({name: [] for name in columns})
