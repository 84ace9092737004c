"""Query of a review: which rows are listed, and in which order."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from kernova.discover.results import SessionResults
from kernova.errors import InputError, quoted
from kernova.text import first_few
from kernova.typing import Indices, Mask, Vector
from kernova.workbench.discovery import Discovery
from kernova.workbench.review.facts import RowFacts

Status = Literal[
    "all", "suggested", "unlabelled", "hand", "accepted", "prior", "unsure", "skipped", "flagged",
    "noted", "doubtful",
]  # fmt: skip
Order = Literal["probability", "margin", "disagreement", "date", "table", "random"]

_SEED: Final = 0
_NAMED: Final = 8


@dataclass(frozen=True)
class ColumnFilter:
    """Rows whose value in a column is in a range, or contains a text."""

    column: str
    low: float | None = None
    high: float | None = None
    contains: str | None = None


@dataclass(frozen=True)
class ReviewQuery:
    """Rows to list, and their order.

    Attributes
    ----------
    category : str or None
        Rows with this label or, without one, with this suggestion; None for all.
    is_without_category : bool
        Rows with neither label nor suggestion.
    status : str
        Rows of one status: "suggested" ones may be accepted, "doubtful" are labels that look
        wrong.
    expert : str or None
        Rows whose label this expert gave or accepted, or which this expert skipped.
    since, before : datetime or None
        Time of the label.
    lowest, below : float or None
        Probability that rows have at least, and that they are below.
    columns : tuple of ColumnFilter
        Conditions on columns, all of which hold.
    order : str
        What rows are sorted by: probability and disagreement, the highest first; margin, the
        lowest first; date, the newest first; the order of the table; at random.
    is_reversed : bool
        Whether the order is reversed.
    """

    category: str | None = None
    is_without_category: bool = False
    status: Status = "all"
    expert: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    lowest: float | None = None
    below: float | None = None
    columns: tuple[ColumnFilter, ...] = ()
    order: Order = "probability"
    is_reversed: bool = False


def matching_rows(
    query: ReviewQuery, facts: RowFacts, results: SessionResults, discovery: Discovery
) -> Indices:
    """Return the rows that match a query, in its order.

    Parameters
    ----------
    query : ReviewQuery
        Conditions and order.
    facts : RowFacts
        Facts about every row.
    results : SessionResults
        Results of the session, for experts and times of its records.
    discovery : Discovery
        The table and what is shown beside it, for conditions on columns.
    """
    inside = _of_category(query, facts) & _of_status(query.status, facts)
    with np.errstate(invalid="ignore"):
        if query.lowest is not None:
            inside &= facts.probability >= query.lowest
        if query.below is not None:
            inside &= facts.probability < query.below
    if query.expert is not None or query.since is not None or query.before is not None:
        inside &= _by_entries(query, facts, results)
    for condition in query.columns:
        inside &= _in_column(condition, discovery)
    rows = np.flatnonzero(inside)
    return _sorted(rows, query, facts)


def _of_category(query: ReviewQuery, facts: RowFacts) -> Mask:
    if query.is_without_category:
        return facts.category < 0
    if query.category is None:
        return np.ones(len(facts.label), dtype=np.bool_)
    if query.category not in facts.names:
        return np.zeros(len(facts.label), dtype=np.bool_)
    return facts.category == facts.names.index(query.category)


def _of_status(status: Status, facts: RowFacts) -> Mask:
    sources = facts.sources
    masks = {
        "all": np.ones(len(facts.label), dtype=np.bool_),
        "suggested": facts.is_suggested,
        "unlabelled": ~sources.is_labelled,
        "hand": sources.is_by_hand,
        "accepted": sources.is_accepted,
        "prior": sources.is_prior,
        "unsure": sources.is_unsure,
        "skipped": sources.is_skipped,
        "flagged": facts.is_flagged,
        "noted": facts.is_noted,
        "doubtful": facts.doubts.looks_wrong,
    }
    return masks[status].copy()


def _by_entries(query: ReviewQuery, facts: RowFacts, results: SessionResults) -> Mask:
    """Return which rows were decided by an expert, or in a time."""
    entry = facts.sources.entry
    inside = entry > 0
    if query.expert is not None:
        inside &= facts.sources.expert == query.expert
    if query.since is not None or query.before is not None:
        is_wanted = np.zeros(results.n_records + 1, dtype=np.bool_)
        for number in np.unique(entry[inside]).tolist():
            is_wanted[number] = _is_in_time(results.record(number).at, query)
        inside &= is_wanted[entry]
    return inside


def _is_in_time(at: str, query: ReviewQuery) -> bool:
    if not at:  # in logs of early versions
        return False
    time = _aware(datetime.fromisoformat(at))
    is_after = query.since is None or time >= _aware(query.since)
    return is_after and (query.before is None or time < _aware(query.before))


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _in_column(condition: ColumnFilter, discovery: Discovery) -> Mask:
    values = column_of(discovery, condition.column)
    if condition.contains is not None:
        texts = values.astype("string").fillna("")
        return texts.str.contains(condition.contains, case=False, regex=False).to_numpy(bool)
    if condition.low is None and condition.high is None:
        return np.ones(len(values), dtype=np.bool_)
    if not pd.api.types.is_numeric_dtype(values):
        raise InputError(
            f"The column {quoted(condition.column)} holds texts, which have no lowest and highest "
            "value. Give a text that it contains instead."
        )
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    inside = ~np.isnan(numbers)
    with np.errstate(invalid="ignore"):
        if condition.low is not None:
            inside &= numbers >= condition.low
        if condition.high is not None:
            inside &= numbers <= condition.high
    return inside


def column_names(discovery: Discovery) -> list[str]:
    """Return the columns by which rows can be chosen: ids, features, and what is shown besides."""
    table = discovery.table
    names = [str(table.ids.name), *map(str, table.features.columns), *discovery.context.names]
    return list(dict.fromkeys(names))


def column_of(discovery: Discovery, name: str) -> "pd.Series[Any]":
    """Return a column by its name.

    Raises
    ------
    InputError
        If there is no such column.
    """
    table, context = discovery.table, discovery.context
    if name in table.features:
        return table.features[name]
    if name == table.ids.name:
        return table.ids
    if name in context.names:
        values = context.column(name)
        is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        return (values if is_number else context.texts(name)).to_pandas()
    names = first_few(map(quoted, column_names(discovery)), _NAMED)
    raise InputError(f"There is no column {quoted(name)}. Columns: {names}.")


def _sorted(rows: Indices, query: ReviewQuery, facts: RowFacts) -> Indices:
    if query.order == "table":
        return rows[::-1] if query.is_reversed else rows
    if query.order == "random":
        # A row keeps its place when others are left out.
        key: Vector = np.random.default_rng(_SEED).random(len(facts.label))
    else:
        key = {
            "probability": -facts.probability,
            "margin": facts.margin,
            "disagreement": -facts.doubts.disagreement,
            "date": -np.where(facts.sources.entry > 0, facts.sources.entry, np.nan),
        }[query.order]
    key = -key[rows] if query.is_reversed else key[rows]
    return rows[np.argsort(key, kind="stable")]  # NaN comes last
