"""Reasons of a study: the features that make its first rows unusual, and rows to compare with."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from kernova.errors import InputError
from kernova.explain.explanation import MAX_ORDINARY, explain, top_features
from kernova.tables.fill_values import FarCells
from kernova.tables.records import json_rows, json_value, warnings_as_notes
from kernova.text import quantity
from kernova.typing import Indices
from kernova.workflows.effort import Effort
from kernova.workflows.members import speaking_sentence

_FEATURES_NAMED = 3
# Features with less than this fraction of the largest contribution are not named.
_MIN_CONTRIBUTION = 0.1


class ModelRows(NamedTuple):
    """A fitted model, some rows that it judges, and the rows to compare them with."""

    model: BaseEstimator
    rows: pd.DataFrame  # the index holds the row indices of the judged table
    known: pd.DataFrame | None  # ordinary rows by their indices; None: the others of ``rows``


class ExplainedRows(ABC):
    """Reasons for the first rows of a result, for its table, its JSON and its page."""

    # Result of :func:`kernova.explain.explain` for the first rows, by their indices.
    explanation: pd.DataFrame
    # Surprise of the explained rows for each member of an ensemble, in bits; None without members.
    member_bits: pd.DataFrame | None

    @abstractmethod
    def id_of(self, row: int) -> Any:
        """Return the id of a judged row."""

    @abstractmethod
    def reference_id_of(self, row: int) -> Any:
        """Return the id of a row that others are compared with."""

    def contributing_features(self, row: int) -> pd.DataFrame:
        """Return the features that make a row unusual, the largest contribution first."""
        lines = self.explanation[self.explanation["row"] == row]
        return lines[lines["share"] > 0]

    def main_features(self, row: int) -> pd.DataFrame:
        """Return the few of them that contribute most."""
        return _main(self.contributing_features(row)).head(_FEATURES_NAMED)

    def nearest_ids(self, row: int) -> list[str]:
        """Return the ids of the ordinary rows that a row was compared with, nearest first."""
        nearest = self.explanation.loc[self.explanation["row"] == row, "nearest"]
        return [str(self.reference_id_of(other)) for other in nearest.iloc[0]]

    def members_sentence(self, row: int) -> str:
        """Return which members of an ensemble speak for an explained row; empty without any."""
        if self.member_bits is None or row not in self.member_bits.index:
            return ""
        return speaking_sentence(self._bits_of(row))

    def _json_members(self, row: int) -> dict[str, Any]:
        if self.member_bits is None:
            return {}
        return {"members": self._bits_of(row).round(6).to_dict()}

    def _bits_of(self, row: int) -> "pd.Series[float]":
        assert self.member_bits is not None
        return self.member_bits.loc[[row]].iloc[0].dropna()

    def explained_in(self, order: "pd.Index[Any]") -> list[int]:
        """Return the indices of the rows that are explained, in the order of an index."""
        explained = pd.Index(self.explanation["row"].astype(np.intp).unique())
        return explained[np.argsort(order.get_indexer(explained))].tolist()

    def json_explanations(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """Return the explanations of rows as plain numbers and texts."""
        columns = ["feature", "value", "ordinary_value", "share"]
        return [
            {
                "id": json_value(self.id_of(row)),
                "features": json_rows(self.contributing_features(row)[columns]),
                "nearest": self.nearest_ids(row),
                **self._json_members(row),
            }
            for row in rows
        ]


def reason_texts(explanation: pd.DataFrame, n_rows: int) -> Any:
    """Return a short text for each row of a table: empty for those without an explanation."""
    texts = np.full(n_rows, "", dtype=object)
    if len(explanation):
        reasons = top_features(_main(explanation), _FEATURES_NAMED)
        texts[reasons.index.to_numpy(dtype=np.intp)] = reasons.to_numpy()
    return texts


def explain_rows(
    parts: list[ModelRows],
    first: Indices,
    effort: Effort,
    far: list[FarCells],
    seed: int,
    notes: list[str],
) -> pd.DataFrame:
    """Explain rows, each by the model that judged it.

    Parameters
    ----------
    parts : list of ModelRows
        The models and their rows, with far cells moved to the others.
    first : ndarray of int
        Indices of the rows to explain, the most unusual first; fewer if that would take long.
    effort : Effort
        How many rows to explain, and how thoroughly.
    far : list of FarCells
        The far cells of the judged table.
    seed : int
        Seed of random orders and samples.
    notes : list of str
        What readers of the result should know is appended.

    Returns
    -------
    DataFrame
        As :func:`~kernova.explain.explain` returns it.
    """
    if effort.n_rows < len(first):
        notes.append(_few_explained(effort.n_rows, len(first), parts))
    found = [_explained_part(part, first[: effort.n_rows], effort, seed, notes) for part in parts]
    explained = [one for one in found if one is not None]
    if not explained:
        return _no_explanation()
    n_searched = max(len(one.rows if one.known is None else one.known) for one in parts)
    if n_searched > MAX_ORDINARY:
        notes.append(
            f"Reasons compare rows with the nearest of {MAX_ORDINARY:,} rows, drawn at random from "
            f"{n_searched:,}."
        )
    return _with_far_cells(pd.concat(explained, ignore_index=True), far)


def _few_explained(n_explained: int, n_wanted: int, parts: list[ModelRows]) -> str:
    n_columns = parts[0].rows.shape[1]
    n_rows = sum(len(part.rows if part.known is None else part.known) for part in parts)
    return (
        f"Reasons are given for {n_explained} of {n_wanted} rows only: with "
        f"{quantity(n_columns, 'column')} and {quantity(n_rows, 'row')}, more would take long."
    )


def _explained_part(
    part: ModelRows, first: Indices, effort: Effort, seed: int, notes: list[str]
) -> pd.DataFrame | None:
    """Explain those of the first rows that one model judged, if there are any."""
    positions = part.rows.index.get_indexer(pd.Index(first))
    positions = positions[positions >= 0]
    if len(positions) == 0:
        return None
    try:
        with warnings_as_notes(notes):
            return explain(
                part.model,
                part.rows,
                positions,
                known=part.known,
                n_nearest=effort.n_nearest,
                budget=effort.budget,
                random_state=seed,
            )
    except InputError as error:
        notes.append(f"Rows could not be explained: {error}")
        return None


def _main(explanation: pd.DataFrame) -> pd.DataFrame:
    """Leave out features that contribute nothing, or little beside the first of their row."""
    first = explanation.groupby("row")["share"].transform("max")
    differs = explanation["value"].astype(object) != explanation["ordinary_value"].astype(object)
    return explanation[differs & (explanation["share"] >= _MIN_CONTRIBUTION * first)]


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
