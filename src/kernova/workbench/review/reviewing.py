"""Lists of rows to review: pages of a query, its row numbers, and what accepting would mean."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from kernova.typing import Indices
from kernova.workbench.learning import Learning, PrecisionCurveReply, precision_curve
from kernova.workbench.review.facts import RowFacts, row_facts
from kernova.workbench.review.label_sources import LabelSources, Source
from kernova.workbench.review.query import ReviewQuery, column_names, column_of, matching_rows
from kernova.workbench.shared import Part, SharedState, WorkbenchError

_ORDERS_KEPT: Final = 16
_FACTS_KEPT: Final = 4

RowStatus = Literal["hand", "accepted", "prior", "unsure", "skipped", "suggested", "unlabelled"]


@dataclass(frozen=True)
class ReviewRow:
    """A row in a list to review."""

    row: int
    id: str
    status: RowStatus
    label: str | None
    suggested: Annotated[str | None, "The suggested category of a row without a label."]
    probability: Annotated[
        float | None,
        "Of the suggestion; of an accepted one, when it was accepted; of a label by hand, by a "
        "model that was learnt without the row.",
    ]
    margin: Annotated[float | None, "Probability by which the suggestion leads the second."]
    other: Annotated[str | None, "Category that the model prefers to the label of the row."]
    other_probability: Annotated[float | None, "Its probability."]
    looks_wrong: Annotated[bool, "Whether the label looks wrong, by confident learning."]
    expert: Annotated[str | None, "Who gave the label, accepted it, or skipped the row."]
    at: Annotated[str | None, "When."]
    is_flagged: bool
    note: str | None


@dataclass(frozen=True)
class ReviewPage:
    """A part of the rows that match a query.

    With the next page, ``entries`` and ``learnt`` are sent back, so that the rows keep their order
    while others label.
    """

    total: Annotated[int, "Number of rows that match."]
    rows: list[ReviewRow]
    entries: Annotated[int, "Number of log entries that the order is from."]
    learnt: Annotated[int | None, "Run of learning that the suggestions are from."]
    newest: Annotated[int | None, "The last run of learning."]


@dataclass(frozen=True)
class ReviewNumbers:
    """Row numbers of a part of the rows that match a query."""

    total: int
    rows: list[int]
    entries: int
    learnt: int | None


@dataclass(frozen=True)
class ReviewColumn:
    """A column by which rows can be chosen."""

    name: str
    is_number: bool
    low: Annotated[float | None, "Its lowest value."]
    high: Annotated[float | None, "Its highest value."]


@dataclass(frozen=True)
class ReviewColumns:
    """Columns by which rows can be chosen; the first holds the ids."""

    columns: list[ReviewColumn]


class Ordered(NamedTuple):
    """Rows that match a query, in order, and the facts that they were chosen by."""

    rows: Indices
    facts: RowFacts


class Reviewing(Part):
    """Lists of rows to review."""

    def __init__(self, shared: SharedState) -> None:
        super().__init__(shared)
        self._learning = shared.part(Learning)
        self._sources = LabelSources(shared.session.results_)
        self._facts: OrderedDict[tuple[int, int | None], RowFacts] = OrderedDict()
        self._orders: OrderedDict[Any, Ordered] = OrderedDict()
        self._columns: ReviewColumns | None = None

    # --- lists -------------------------------------------------------------------------------

    def page(
        self,
        query: ReviewQuery,
        offset: int,
        limit: int,
        entries: int | None = None,
        learnt: int | None = None,
    ) -> ReviewPage:
        """Return a part of the rows that match a query.

        Parameters
        ----------
        query : ReviewQuery
            Conditions and order.
        offset, limit : int
            First place, and largest number of rows.
        entries, learnt : int, optional
            Of the page before, whose order is continued if it is still known.
        """
        with self._shared.lock:
            ordered = self._ordered(query, entries, learnt)
            facts = self._present_facts(ordered.facts.generation)
            some = ordered.rows[offset : offset + limit].tolist()
            rows = [self._described(row, facts) for row in some]
        return ReviewPage(
            len(ordered.rows),
            rows,
            ordered.facts.n_entries,
            ordered.facts.generation,
            self._learning.generation,
        )

    def numbers(
        self,
        query: ReviewQuery,
        offset: int,
        limit: int,
        entries: int | None = None,
        learnt: int | None = None,
    ) -> ReviewNumbers:
        """Return the row numbers of a part of the rows that match a query."""
        with self._shared.lock:
            ordered = self._ordered(query, entries, learnt)
        rows, facts = ordered.rows, ordered.facts
        some = rows[offset : offset + limit].tolist()
        return ReviewNumbers(len(rows), some, facts.n_entries, facts.generation)

    def columns(self) -> ReviewColumns:
        """Return the columns by which rows can be chosen."""
        if self._columns is None:
            discovery = self._shared.discovery
            names = column_names(discovery)
            self._columns = ReviewColumns(
                [_column(name, column_of(discovery, name)) for name in names]
            )
        return self._columns

    def precision(self, query: ReviewQuery, learnt: int | None = None) -> PrecisionCurveReply:
        """Return number and precision of the suggestions of a query from every probability on.

        The precision is that of all suggestions of the category, or of all categories: other
        conditions of the query only choose the rows.
        """
        query = replace(query, status="suggested", lowest=None, below=None, order="table")
        with self._shared.lock:
            ordered = self._ordered(query, None, learnt)
            found = self._learning.present_rows(ordered.facts.generation)
        if found is None:
            raise WorkbenchError(
                "Nothing has been learnt yet. Start with POST /api/learn.", "nothing learnt"
            )
        category = query.category if query.category in found.names else None
        return precision_curve(found.precision_of(category, ordered.rows), category)

    # --- for decisions, with the lock held ----------------------------------------------------

    def matching(self, query: ReviewQuery, learnt: int | None) -> Ordered | None:
        """Return the rows that match a query now, by the suggestions of a run of learning.

        Returns
        -------
        Ordered or None
            None if the run is not known any longer.
        """
        facts = self.facts(learnt)
        if facts is None:
            return None
        return Ordered(self._matching(query, facts), facts)

    def facts(self, learnt: int | None) -> RowFacts | None:
        """Return the present facts by a run of learning, by default the last.

        None if it is not known any longer.
        """
        facts = self._present_facts(learnt)
        return facts if learnt in (None, facts.generation) else None

    # --- internals -----------------------------------------------------------------------------

    def _ordered(self, query: ReviewQuery, entries: int | None, learnt: int | None) -> Ordered:
        """Return the rows in the order of a page before, if it is known, or by what holds now."""
        known = self._orders.get((query, entries, learnt))
        if known is not None:
            self._orders.move_to_end((query, entries, learnt))
            return known
        facts = self._present_facts(learnt)
        ordered = Ordered(self._matching(query, facts), facts)
        self._orders[query, facts.n_entries, facts.generation] = ordered
        while len(self._orders) > _ORDERS_KEPT:
            self._orders.popitem(last=False)
        return ordered

    def _matching(self, query: ReviewQuery, facts: RowFacts) -> Indices:
        known = self._orders.get((query, facts.n_entries, facts.generation))
        if known is not None:
            return known.rows
        return matching_rows(query, facts, self._shared.session.results_, self._shared.discovery)

    def _present_facts(self, learnt: int | None) -> RowFacts:
        """Return the facts of now, by the suggestions of a run if it is known, or of the last."""
        n_entries = self._shared.session.n_records_
        for generation in dict.fromkeys([learnt, self._learning.generation]):
            if (n_entries, generation) in self._facts and generation is not None:
                return self._facts[n_entries, generation]
        rows = None if learnt is None else self._learning.present_rows(learnt)
        if rows is None:
            rows = self._learning.present_rows()
        key = n_entries, None if rows is None else rows.generation
        if key not in self._facts:
            results = self._shared.session.results_
            self._facts[key] = row_facts(results, self._sources.read(), rows)
            while len(self._facts) > _FACTS_KEPT:
                self._facts.popitem(last=False)
        return self._facts[key]

    def _described(self, row: int, facts: RowFacts) -> ReviewRow:
        results, doubts = self._shared.session.results_, facts.doubts
        number = int(facts.sources.entry[row])
        record = results.record(number) if number > 0 else None
        label = facts.name_of(int(facts.label[row]))
        has_other = doubts.disagreement[row] > 0
        return ReviewRow(
            row=row,
            id=self._shared.id_of(row),
            status=_status(row, facts),
            label=label,
            suggested=facts.name_of(int(facts.suggestion[row])),
            probability=_finite(facts.probability[row]),
            margin=_finite(facts.margin[row]),
            other=facts.name_of(int(doubts.other[row])) if has_other else None,
            other_probability=_finite(doubts.other_probability[row]) if has_other else None,
            looks_wrong=bool(doubts.looks_wrong[row]),
            expert=facts.sources.expert[row],
            at=None if record is None else record.at or None,
            is_flagged=bool(facts.is_flagged[row]),
            note=results.annotations.notes.get(row),
        )


def _status(row: int, facts: RowFacts) -> RowStatus:
    sources = facts.sources
    source: Source | None = sources.name_of(row)
    if source is not None:
        return source
    if sources.is_unsure[row]:
        return "unsure"
    if sources.is_skipped[row]:
        return "skipped"
    return "suggested" if facts.suggestion[row] >= 0 else "unlabelled"


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _column(name: str, values: "pd.Series[Any]") -> ReviewColumn:
    if not pd.api.types.is_numeric_dtype(values):
        return ReviewColumn(name, is_number=False, low=None, high=None)
    low, high = _finite(values.min()), _finite(values.max())
    return ReviewColumn(name, is_number=True, low=low, high=high)
