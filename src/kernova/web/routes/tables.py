"""Routes of several rows at once: the table of all rows, rows side by side, and rows like some."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from kernova.web.routes.replies import binary_responses, json_reply, numbers_reply
from kernova.web.schemas import Limit, Offset, PathRow, RequestBody, Whole, reply_model
from kernova.workbench import Workbench
from kernova.workbench.alike import Alike, AlikeReply
from kernova.workbench.looking.comparing import (
    FEWEST_COMPARED,
    MOST_COMPARED,
    CompareReply,
    Comparing,
    ExamplesReply,
)
from kernova.workbench.looking.listing import Listing, TablePageReply, TableQuery, TableReply

_LONGEST: Final = 500
_MOST_GIVEN: Final = 1000
_Sort = Annotated[str, Query(max_length=20, description="Key of a column, from /api/table.")]
_Descending = Annotated[Literal["yes", "no"], Query(description="Whether the largest come first.")]
_Find = Annotated[
    str,
    Query(
        max_length=_LONGEST,
        description="Text that a row contains; for a column of numbers a comparison such as > 3, a "
        "range such as 1..5, or the word missing.",
    ),
]
_Within = Annotated[
    str, Query(max_length=20, description="Key of the column to look in; all texts without it.")
]
_Status = Annotated[str, Query(max_length=20, description="Only rows with this status.")]
_Label = Annotated[str, Query(max_length=200, description="Only rows with this label.")]


class Compared(RequestBody):
    """Rows to show side by side."""

    rows: Annotated[list[Whole], Field(min_length=FEWEST_COMPARED, max_length=MOST_COMPARED)]


class AlikeWanted(RequestBody):
    """Rows to find others like them."""

    rows: Annotated[list[Whole], Field(min_length=1, max_length=_MOST_GIVEN)]
    limit: Annotated[int, Field(ge=1, le=1000)] = 60


def comparison_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of a few rows together."""

    @router.post("/alike", response_model=reply_model(AlikeReply))
    def alike(body: AlikeWanted) -> Response:
        """Return the unlabelled rows that are like given ones, the most alike first."""
        return json_reply(workbench.part(Alike).more_like(body.rows, body.limit))

    @router.post("/compare", response_model=reply_model(CompareReply))
    def compare(body: Compared) -> Response:
        """Return rows side by side, with their values in the same order of columns."""
        return json_reply(workbench.part(Comparing).compare(body.rows, workbench.cards))

    @router.get("/rows/{row}/examples", response_model=reply_model(ExamplesReply))
    def examples(
        row: PathRow,
        label: Annotated[
            str | None,
            Query(max_length=200, description="Only rows of this category; else one of each."),
        ] = None,
        limit: Limit = 5,
    ) -> Response:
        """Return the labelled rows that are nearest to a row, to compare it with."""
        return json_reply(workbench.part(Comparing).examples(row, label, limit))


def table_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of the table of all rows."""

    @router.get("/table", response_model=reply_model(TableReply))
    def describe_table() -> Response:
        """Return the columns of the table."""
        return json_reply(workbench.part(Listing).description())

    @router.get("/table/rows", response_model=reply_model(TablePageReply))
    def table_rows(
        sort: _Sort = "",
        descending: _Descending = "no",
        find: _Find = "",
        within: _Within = "",
        status: _Status = "",
        label: _Label = "",
        columns: Annotated[
            str, Query(max_length=20_000, description="Keys of the columns, with commas between.")
        ] = "",
        offset: Offset = 0,
        limit: Limit = 100,
    ) -> Response:
        """Return some rows of the sorted and filtered table."""
        query = TableQuery(sort, descending == "yes", find, within, status, label)
        keys = [key for key in columns.split(",") if key]
        return json_reply(workbench.part(Listing).page(query, keys, offset, limit))

    @router.get(
        "/table/order",
        responses=binary_responses("application/octet-stream"),
        response_class=Response,
    )
    def table_order(
        sort: _Sort = "",
        descending: _Descending = "no",
        find: _Find = "",
        within: _Within = "",
        status: _Status = "",
        label: _Label = "",
    ) -> Response:
        """Return the row indices of the sorted and filtered table.

        They are little-endian unsigned 32-bit numbers.
        """
        query = TableQuery(sort, descending == "yes", find, within, status, label)
        return numbers_reply(*workbench.part(Listing).order(query))
