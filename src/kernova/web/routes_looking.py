"""Looking: where the discovery stands, rows, history, map, and what was learnt."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kernova.studies.workbench import Workbench
from kernova.web.replies import (
    Card,
    DisagreementsReply,
    FoundReply,
    HistoryReply,
    LearnReply,
    LearntRowsReply,
    MapReply,
    SessionReply,
    StateReply,
    UnchangedReply,
)
from kernova.web.requests import Learn, Limit, Offset, PathRow
from kernova.web.routing import new_router

Plain = dict[str, Any]
_LARGEST = 2**53
_NUMBERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}


def looking_routes(workbench: Workbench) -> APIRouter:
    """Give the addresses that only tell, and the one that begins to learn."""
    router = new_router("looking")
    _standing(router, workbench)
    _rows(router, workbench)
    _map(router, workbench)
    _learning(router, workbench)
    return router


def _standing(router: APIRouter, workbench: Workbench) -> None:
    @router.get("/session", response_model=SessionReply)
    def session() -> Plain:
        """Say what is asked about, how, and how far the preparation is."""
        return workbench.overview.session()

    @router.get("/state", response_model=StateReply | UnchangedReply)
    def state(
        since: Annotated[
            int | None,
            Query(ge=0, le=_LARGEST, description="The version seen last: if it still holds, that "
                  "is all that is said."),
        ] = None,
        expert: Annotated[
            str | None,
            Query(min_length=1, max_length=100, description="Who asks: a sign of life."),
        ] = None,
    ) -> Plain:  # fmt: skip
        """Give everything that changes: categories, curve, advice, experts."""
        return workbench.state(since, expert)

    @router.get("/history", response_model=HistoryReply)
    def history(
        before: Annotated[
            int | None, Query(ge=1, le=_LARGEST, description="Only what has a lower number.")
        ] = None,
        limit: Limit = 50,
    ) -> Plain:
        """Give what was said, the newest first, also what was undone."""
        return workbench.history.page(before, limit)

    @router.get("/disagreements", response_model=DisagreementsReply)
    def disagreements() -> Plain:
        """Give the rows that experts name differently."""
        return workbench.history.disagreements()


def _rows(router: APIRouter, workbench: Workbench) -> None:
    @router.get("/rows/{row}", response_model=Card)
    def card(row: PathRow) -> Plain:
        """Give everything there is to see of a row."""
        return workbench.cards.card(row)

    @router.get("/rows", response_model=FoundReply)
    def find(
        find: Annotated[str, Query(max_length=500, description="Part of an id.")],
        limit: Limit = 20,
    ) -> Plain:
        """Find rows by their ids."""
        return {"rows": workbench.cards.find(find, limit)}


def _map(router: APIRouter, workbench: Workbench) -> None:
    @router.get("/map", response_model=MapReply)
    def describe_map() -> Plain:
        """Say what the map shows, and whether a better one is being drawn."""
        return workbench.map.description()

    @router.get("/map/points", responses=_NUMBERS, response_class=Response)
    def map_points(
        kind: Annotated[
            Literal["axes", "neighbours"] | None,
            Query(description="Which map; by default the better one that there is."),
        ] = None,
    ) -> Response:
        """Give x and y of each row, within -1 and 1: 32-bit floats, the lowest byte first."""
        return _numbers(workbench.map.points(kind), workbench.desk.version)

    @router.get("/map/labels", responses=_NUMBERS, response_class=Response)
    def map_labels(
        colour: Annotated[
            Literal["labels", "learnt"],
            Query(description="Colour by what was said, or by what was learnt from it."),
        ] = "labels",
    ) -> Response:
        """Give one unsigned 16-bit number for each row, the lowest byte first.

        0: none; 65535: skipped; else 1 and the category's place in the state of the version that
        the header X-Kernova-Version names. By what was learnt, rows have the place of the category
        that claims them, 0 if it was renamed or deleted since; 65534: ambiguous; 65533: unknown.
        """
        labels = workbench.learning.codes() if colour == "learnt" else workbench.map.labels()
        return _numbers(*labels)


def _numbers(content: bytes, version: int) -> Response:
    headers = {"X-Kernova-Version": str(version)}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _learning(router: APIRouter, workbench: Workbench) -> None:
    @router.post("/learn", status_code=202, response_model=LearnReply)
    def learn(wish: Learn) -> Plain:
        """Begin to learn from the answers so far; /api/learn says how far it is."""
        return workbench.learning.begin()

    @router.get("/learn", response_model=LearnReply)
    def learnt() -> Plain:
        """Say what was learnt."""
        return workbench.learning.state()

    @router.get("/learn/rows", response_model=LearntRowsReply)
    def learnt_rows(
        verdict: Annotated[Literal["known", "ambiguous", "unknown"], Query()] = "unknown",
        limit: Limit = 60,
        offset: Offset = 0,
    ) -> Plain:
        """Give rows of a verdict, those most worth asking first."""
        return workbench.learning.rows(verdict, limit, offset)
