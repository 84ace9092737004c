"""Routes of what is looked at: overview, history, single rows and the map."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kernova.discover.names import expert_name
from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import LARGEST, binary_responses, json_reply, numbers_reply
from kernova.web.schemas import Limit, PathRow, reply_model
from kernova.web.visitors import visitor
from kernova.workbench import Workbench
from kernova.workbench.alike import Alike, AlikeReply
from kernova.workbench.cards import Card, FoundReply
from kernova.workbench.growing.view import Batches
from kernova.workbench.history import DisagreementsReply, HistoryReply
from kernova.workbench.overview import SessionReply, StateReply, UnchangedReply
from kernova.workbench.row_map import MapReply


def overview_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of everything that changes."""

    @router.get("/session", response_model=reply_model(SessionReply))
    def session() -> Response:
        """Return the table, the strategy and the progress of the preparation."""
        return json_reply(workbench.overview.session())

    @router.get("/state", response_model=reply_model(StateReply) | reply_model(UnchangedReply))
    async def state(
        since: Annotated[
            int | None,
            Query(ge=0, le=LARGEST, description="The last version seen; if it is current, only "
                  "that is returned."),
        ] = None,
        expert: Annotated[
            str | None,
            Query(min_length=1, max_length=100, description="The expert, who is marked active."),
        ] = None,
    ) -> Response:  # fmt: skip
        """Return everything that changes: categories, curve, advice, experts."""
        if expert is not None:
            queue.identify(expert_name(expert))
        unchanged = workbench.unchanged(since, expert)
        if unchanged is not None:
            return json_reply(unchanged)
        # In the queue, not in threads that compete with it for the session.
        return await queue.run(lambda: json_reply(workbench.state(since, expert)))

    @router.get("/history", response_model=reply_model(HistoryReply))
    def history(
        before: Annotated[
            int | None, Query(ge=1, le=LARGEST, description="Only entries with a lower number.")
        ] = None,
        limit: Limit = 50,
    ) -> Response:
        """Return log entries, the newest first, including those that were undone."""
        return json_reply(workbench.history.page(before, limit))

    @router.get("/disagreements", response_model=reply_model(DisagreementsReply))
    def disagreements() -> Response:
        """Return the rows that experts label differently."""
        return json_reply(workbench.history.disagreements())


def row_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of single rows."""

    @router.get("/rows/{row}", response_model=reply_model(Card))
    def card(row: PathRow) -> Response:
        """Return everything there is to see of a row.

        While an expert is asked about a row for comparison, the expert's browser does not get its
        label and opinions.
        """
        experts = workbench.browsers.experts_in(visitor().browser)
        is_hidden = row in workbench.overlap.hidden_rows(experts)
        return json_reply(workbench.cards.card(row, is_hidden=is_hidden))

    @router.get("/rows", response_model=reply_model(FoundReply))
    def find(
        find: Annotated[str, Query(max_length=500, description="Part of an id.")],
        limit: Limit = 20,
    ) -> Response:
        """Find rows by their ids."""
        return json_reply(workbench.cards.find(find, limit))

    @router.get("/rows/{row}/alike", response_model=reply_model(AlikeReply))
    def alike(row: PathRow, limit: Limit = 60) -> Response:
        """Return the unlabelled rows that are like a row, the most alike first, up to a cut."""
        return json_reply(workbench.part(Alike).more_like([row], limit))


def map_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of the map."""
    numbers = binary_responses("application/octet-stream")

    @router.get("/map", response_model=reply_model(MapReply))
    def describe_map() -> Response:
        """Return what the map shows, and the progress of the neighbour map."""
        return json_reply(workbench.map.description())

    @router.get("/map/points", responses=numbers, response_class=Response)
    def map_points(
        kind: Annotated[
            Literal["axes", "neighbours"] | None,
            Query(description="Kind of map; by default the best one available."),
        ] = None,
    ) -> Response:
        """Return x and y of each row, between -1 and 1, as little-endian 32-bit floats."""
        return numbers_reply(workbench.map.points(kind), workbench.shared.version)

    @router.get("/map/labels", responses=numbers, response_class=Response)
    def map_labels(
        colour: Annotated[
            Literal["labels", "learnt", "added", "accepted"],
            Query(description="Colour by labels, by the verdicts of the learnt model, or by the "
                  "last batch of new rows; or which labels are accepted suggestions."),
        ] = "labels",
    ) -> Response:  # fmt: skip
        """Return one little-endian unsigned 16-bit code per row.

        0 is unlabelled and 65535 skipped; other codes are the position of the category, from 1, in
        the state of the version in the header X-Kernova-Version. By the learnt model, rows have the
        position of the category that claims them, 0 if it has been renamed or deleted since; 65534
        is ambiguous and 65533 unknown. By the last batch, unlabelled rows of it have the code
        65534, or 65533 if they look new. Accepted suggestions are 1 and all other rows 0.
        """
        read = {
            "labels": workbench.map.labels,
            "learnt": workbench.learning.codes,
            "added": workbench.part(Batches).codes,
            "accepted": workbench.map.accepted,
        }
        return numbers_reply(*read[colour]())
