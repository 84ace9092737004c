"""Routes of the review: lists of rows, and decisions about many rows at once."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, StrictBool, StrictStr
from starlette.responses import Response

from kernova.errors import InputError, quoted
from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import LARGEST, SAVED, json_reply
from kernova.web.schemas import (
    MOST_ROWS,
    EntryBody,
    Expert,
    Name,
    RequestBody,
    Whole,
    reply_model,
)
from kernova.workbench import Workbench
from kernova.workbench.learning import PrecisionCurveReply
from kernova.workbench.review.decisions import Decisions, Selection
from kernova.workbench.review.query import ColumnFilter, Order, ReviewQuery, Status
from kernova.workbench.review.reviewing import (
    ReviewColumns,
    Reviewing,
    ReviewNumbers,
    ReviewPage,
)

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Fraction = Annotated[float, Field(strict=True, ge=0, le=1)]
_Time = Annotated[
    StrictStr,
    Field(pattern=r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2}))?$"),
]
_Run = Annotated[
    int | None,
    Field(strict=True, ge=0, le=LARGEST, description="Run of learning, from an earlier reply."),
]


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"There is no time {quoted(text)}. Write it like 2031-05-30 or 2031-05-30T14:00:00Z."
        ) from None


class Condition(RequestBody):
    """A condition on a column: a range of numbers, or a text that is contained."""

    column: Annotated[StrictStr, Field(min_length=1, max_length=1000)]
    low: _Number | None = None
    high: _Number | None = None
    contains: Annotated[StrictStr, Field(max_length=1000)] | None = None


class RowQuery(RequestBody):
    """Rows to list, and their order."""

    category: Annotated[
        Name | None,
        Field(description="Rows with this label or, without one, with this suggestion."),
    ] = None
    without_category: Annotated[
        StrictBool, Field(description="Rows with neither label nor suggestion.")
    ] = False
    status: Annotated[
        Status,
        Field(description='"suggested": may be accepted; "doubtful": the label looks wrong.'),
    ] = "all"
    expert: Annotated[
        Expert, Field(description="Rows that this expert labelled, accepted or skipped.")
    ] = None
    since: Annotated[
        _Time | None,
        Field(description="Earliest time of the label."),
    ] = None
    before: Annotated[_Time | None, Field(description="Labelled before this time.")] = None
    lowest: Annotated[_Fraction | None, Field(description="Lowest probability.")] = None
    below: Annotated[_Fraction | None, Field(description="Rows with a lower probability.")] = None
    columns: Annotated[tuple[Condition, ...], Field(max_length=20)] = ()
    order: Annotated[
        Order,
        Field(
            description="Probability and disagreement: the highest first; margin: the lowest "
            "first; date: the newest first."
        ),
    ] = "probability"
    reverse: Annotated[StrictBool, Field(description="Reverse the order.")] = False

    def wanted(self) -> ReviewQuery:
        """Return the query for the workbench."""
        return ReviewQuery(
            category=self.category,
            is_without_category=self.without_category,
            status=self.status,
            expert=self.expert,
            since=_time(self.since),
            before=_time(self.before),
            lowest=self.lowest,
            below=self.below,
            columns=tuple(
                ColumnFilter(one.column, one.low, one.high, one.contains) for one in self.columns
            ),
            order=self.order,
            is_reversed=self.reverse,
        )


class ReviewedPart(RequestBody):
    """A part of the rows that match a query."""

    query: RowQuery = RowQuery()
    offset: Whole = 0
    entries: Annotated[
        int | None,
        Field(strict=True, ge=0, le=LARGEST, description="Log entries, from an earlier reply."),
    ] = None
    learnt: _Run = None


class PageWanted(ReviewedPart):
    """A page of the rows that match a query."""

    limit: Annotated[Whole, Field(ge=1, le=1000)] = 100


class NumbersWanted(ReviewedPart):
    """Row numbers of rows that match a query."""

    limit: Annotated[Whole, Field(ge=1, le=MOST_ROWS)] = MOST_ROWS


class PrecisionWanted(RequestBody):
    """The suggestions whose precision is wanted."""

    query: RowQuery = RowQuery()
    learnt: _Run = None


class SelectedRows(EntryBody):
    """Selected rows: by their numbers, or all that match a query with the number they had."""

    rows: Annotated[list[Whole], Field(min_length=1, max_length=MOST_ROWS)] | None = None
    query: RowQuery | None = None
    count: Annotated[
        Whole | None,
        Field(description="Number of rows that match; if it has changed, nothing is recorded."),
    ] = None
    learnt: Annotated[_Run, Field(description="Run of learning whose suggestions were shown.")] = (
        None
    )

    def selection(self) -> Selection:
        """Return the selection for the workbench."""
        rows = None if self.rows is None else tuple(self.rows)
        query = None if self.query is None else self.query.wanted()
        return Selection(rows, query, self.count, self.learnt)


class MovedRows(SelectedRows):
    """Rows to label by hand."""

    label: Name


class RejectedRows(SelectedRows):
    """Rows that are not of a category."""

    label: Name


class FlaggedRows(SelectedRows):
    """Rows to flag, or to remove the flag from."""

    is_on: StrictBool = True


def review_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of the review."""
    reviewing = workbench.part(Reviewing)

    @router.get("/review/columns", response_model=reply_model(ReviewColumns))
    def columns() -> Response:
        """Return the columns by which rows can be chosen."""
        return json_reply(reviewing.columns())

    @router.post("/review/rows", response_model=reply_model(ReviewPage))
    def rows(body: PageWanted) -> Response:
        """Return a page of the rows that match a query, in its order.

        A further page of the same list keeps the order if `entries` and `learnt` of the first
        reply are sent back.
        """
        query = body.query.wanted()
        return json_reply(reviewing.page(query, body.offset, body.limit, body.entries, body.learnt))

    @router.post("/review/numbers", response_model=reply_model(ReviewNumbers))
    def numbers(body: NumbersWanted) -> Response:
        """Return the row numbers of a part of the rows that match a query."""
        query = body.query.wanted()
        return json_reply(
            reviewing.numbers(query, body.offset, body.limit, body.entries, body.learnt)
        )

    @router.post("/review/precision", response_model=reply_model(PrecisionCurveReply))
    def precision(body: PrecisionWanted) -> Response:
        """Return number and precision of suggested rows from every probability on."""
        return json_reply(reviewing.precision(body.query.wanted(), body.learnt))

    _decision_routes(router, workbench, queue)


def _decision_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    decisions = workbench.part(Decisions)

    @router.post("/review/accept", response_model=SAVED)
    async def accept(body: SelectedRows) -> Response:
        """Accept suggestions; labels given by hand stay, and accepted rows are marked as such."""
        return await queue.save(decisions.accept(body.expert, body.selection(), body.key))

    @router.post("/review/move", response_model=SAVED)
    async def move(body: MovedRows) -> Response:
        """Label rows by hand."""
        selection = body.selection()
        return await queue.save(decisions.move(body.expert, selection, body.label, body.key))

    @router.post("/review/reject", response_model=SAVED)
    async def reject(body: RejectedRows) -> Response:
        """Record that rows are not of a category; those with its label lose it."""
        selection = body.selection()
        return await queue.save(decisions.reject(body.expert, selection, body.label, body.key))

    @router.post("/review/unsure", response_model=SAVED)
    async def unsure(body: SelectedRows) -> Response:
        """Leave rows undecided; they lose their labels, and are not asked about."""
        return await queue.save(decisions.mark_unsure(body.expert, body.selection(), body.key))

    @router.post("/review/reopen", response_model=SAVED)
    async def reopen(body: SelectedRows) -> Response:
        """Remove the labels of rows, for example of accepted ones that match a rule."""
        return await queue.save(decisions.reopen(body.expert, body.selection(), body.key))

    @router.post("/review/flag", response_model=SAVED)
    async def flag(body: FlaggedRows) -> Response:
        """Flag rows, or remove their flags."""
        selection = body.selection()
        return await queue.save(decisions.flag(body.expert, selection, body.key, is_on=body.is_on))
