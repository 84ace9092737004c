"""What all routers share: known faults, strict parameters, and one queue for what is said.

Asking, answering and correcting: everything that changes what is known.

Files: pictures and sounds of rows, and what is taken home.

Looking: where the discovery stands, rows, history, map, and what was learnt.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Annotated, Any, Final, Literal, ParamSpec, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Path, Query, Request, params
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from kernova.web.schemas import (
    Answer,
    Card,
    Change,
    Delete,
    DisagreementsReply,
    ExpertReply,
    FaultReply,
    FoundReply,
    HistoryReply,
    Labels,
    Learn,
    LearnReply,
    LearntRowsReply,
    Limit,
    MapReply,
    Merge,
    NewExpert,
    Offset,
    PathRow,
    QuestionReply,
    QuestionWanted,
    Rename,
    SavedReply,
    SessionReply,
    Settle,
    Skip,
    StateReply,
    UnchangedReply,
    Undo,
)
from kernova.workbench import Workbench

_FAULTS: Final = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    403: "The server was addressed by a foreign name, or from a foreign page.",
    404: "There is no such thing.",
    405: "The address does not take this method.",
    409: "It cannot be done as things stand; the message says why.",
    413: "The request is too large.",
    422: "A field is missing, unknown or not of its kind.",
    503: "It could not be saved, for example because the disk is full. It does not count.",
}


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Queue:
    """Does one thing after another, first come first served.

    Threads that wait for one lock are let in by chance: with many experts at once, some would
    wait several times as long as others.
    """

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kernova-queue")

    async def run(
        self,
        work: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Wait for the turn, and give what comes of the work."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, partial(work, *args, **kwargs))


def new_router(tag: str) -> APIRouter:
    """Give a router whose addresses tell faults in the one shape, and take no stray parameters."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": FaultReply, "description": sentence}
        for status, sentence in _FAULTS.items()
    }
    return APIRouter(
        tags=[tag], responses=responses, dependencies=[Depends(_only_known_parameters)]
    )


def _only_known_parameters(request: Request) -> None:
    known = _parameters(request.scope["endpoint"])
    strays = [name for name in request.query_params if name not in known]
    if strays:
        message = "there is no such parameter"
        raise RequestValidationError([{"loc": ("query", name), "msg": message} for name in strays])


@cache
def _parameters(endpoint: Callable[..., Any]) -> frozenset[str]:
    """Name the parameters that an endpoint takes from the address."""
    hints = get_type_hints(endpoint, include_extras=True)
    return frozenset(
        name
        for name, hint in hints.items()
        if any(isinstance(one, params.Query) for one in getattr(hint, "__metadata__", ()))
    )


Plain = dict[str, Any]


def asking_routes(workbench: Workbench) -> APIRouter:
    """Give the addresses for questions, answers and corrections."""
    router, queue = new_router("asking"), Queue()
    _questions(router, workbench, queue)
    _corrections(router, workbench, queue)
    _categories(router, workbench, queue)
    return router


def _questions(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    @router.post("/experts", status_code=201, response_model=ExpertReply)
    async def join(wish: NewExpert) -> Plain:
        """Sit down at the workbench under a name; one that was used before goes on as before."""
        return await queue.run(workbench.join, wish.name)

    @router.post("/question", response_model=QuestionReply)
    async def question(wish: QuestionWanted) -> Plain:
        """Give the expert's open question, the same until it is answered.

        No row is open at two experts at the same time. A question goes to others when nothing
        was heard of its expert for 15 minutes.
        """
        return await queue.run(workbench.question, wish.expert, wish.row, wish.source)

    @router.post("/answers", response_model=SavedReply)
    async def answer(said: Answer) -> Plain:
        """Say to which category a row belongs; it is on the disk when this is answered.

        If the row was named by someone else meanwhile, the answer is kept as another opinion.
        """
        return await queue.run(
            workbench.questions.answer, said.expert, said.row, said.label, said.members, said.key
        )

    @router.post("/skips", response_model=SavedReply)
    async def skip(said: Skip) -> Plain:
        """Pass over a row; it is not asked again."""
        return await queue.run(workbench.questions.skip, said.expert, said.row, said.key)


def _corrections(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    corrections = workbench.corrections

    @router.post("/undo", response_model=SavedReply)
    async def undo(said: Undo) -> Plain:
        """Take back what this expert said last, whatever it was; can be repeated.

        Without a name, it is what anybody said last.
        """
        return await queue.run(corrections.undo, said.expert, said.key)

    @router.patch("/answers/{number}", response_model=SavedReply)
    async def change(
        number: Annotated[int, Path(ge=1, le=2**31 - 1, description="The question's number.")],
        said: Change,
    ) -> Plain:
        """Answer an earlier question differently; what was named with its row changes, too."""
        return await queue.run(
            corrections.change, said.expert, number, said.label, said.key, said.row
        )

    @router.post("/labels", response_model=SavedReply)
    async def label(said: Labels) -> Plain:
        """Name rows out of turn, or once more, in one step."""
        return await queue.run(corrections.label, said.expert, said.rows, said.label, said.key)

    @router.post("/disagreements/{row}", response_model=SavedReply)
    async def settle(row: PathRow, said: Settle) -> Plain:
        """End a disagreement about a row."""
        return await queue.run(corrections.settle, said.expert, row, said.label, said.key)


def _categories(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    corrections = workbench.corrections

    @router.post("/categories/rename", response_model=SavedReply)
    async def rename(said: Rename) -> Plain:
        """Give a category a name that no other has."""
        return await queue.run(workbench.rename, said.expert, said.old, said.new, said.key)

    @router.post("/categories/merge", response_model=SavedReply)
    async def merge(said: Merge) -> Plain:
        """Make several categories one."""
        return await queue.run(corrections.merge, said.expert, said.into, said.others, said.key)

    @router.post("/categories/delete", response_model=SavedReply)
    async def delete(said: Delete) -> Plain:
        """Let a category go."""
        return await queue.run(corrections.delete, said.expert, said.name, said.key)


_BINARY: Final = {"schema": {"type": "string"}}
_SLOWNESSES: Final[dict[str, Literal[1, 2, 4, 8]]] = {"1": 1, "2": 2, "4": 4, "8": 8}


def _gives(*media_types: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": dict.fromkeys(media_types, _BINARY)}}


def file_routes(workbench: Workbench) -> APIRouter:
    """Give the addresses of files."""
    router = new_router("files")
    _media(router, workbench)
    _downloads(router, workbench)
    return router


def _media(router: APIRouter, workbench: Workbench) -> None:
    media = workbench.media

    @router.get(
        "/media/{row}/picture",
        responses=_gives("image/png", "image/jpeg"),
        response_class=Response,
    )
    def picture(
        row: PathRow,
        largest: Annotated[int, Query(ge=16, le=2048, description="The longest side.")] = 256,
    ) -> Response:
        """Give the row's picture, made small."""
        found = media.picture(row, largest)
        return Response(found.content, media_type=found.media_type)

    @router.get("/media/{row}/sound", responses=_gives("audio/wav"), response_class=Response)
    def sound(
        row: PathRow,
        slowness: Annotated[
            # Texts: what stands in an address is text, and no number is equal to it.
            Literal["1", "2", "4", "8"], Query(description="How many times as slowly it plays.")
        ] = "1",
    ) -> Response:
        """Give the row's sound."""
        return Response(media.sound(row, _SLOWNESSES[slowness]), media_type="audio/wav")

    @router.get("/media/{row}/spectrogram", responses=_gives("image/png"), response_class=Response)
    def spectrogram(row: PathRow) -> Response:
        """Give the picture of the row's sound; headers say what its axes span."""
        drawn = media.spectrogram(row)
        headers = {
            "X-Kernova-Start": f"{drawn.start:.6g}",
            "X-Kernova-Seconds": f"{drawn.seconds:.6g}",
            "X-Kernova-Lowest-Hz": f"{drawn.lowest_hz:.6g}",
            "X-Kernova-Highest-Hz": f"{drawn.highest_hz:.6g}",
        }
        return Response(drawn.png, media_type="image/png", headers=headers)


def _downloads(router: APIRouter, workbench: Workbench) -> None:
    downloads = workbench.downloads

    @router.get("/downloads/labels.csv", responses=_gives("text/csv"), response_class=Response)
    def labels_csv() -> Response:
        """Give every row with its category, question, expert and time, as CSV."""
        return _attachment(downloads.labels_csv(), "text/csv", "labels.csv")

    @router.get(
        "/downloads/labels.parquet",
        responses=_gives("application/vnd.apache.parquet"),
        response_class=Response,
    )
    def labels_parquet() -> Response:
        """Give the same as Parquet."""
        content = downloads.labels_parquet()
        return _attachment(content, "application/vnd.apache.parquet", "labels.parquet")

    @router.get(
        "/downloads/model.kernova", responses=_gives("application/zip"), response_class=Response
    )
    def model() -> Response:
        """Give what was learnt, for `kernova recognize`."""
        content = workbench.learning.model_file()
        return _attachment(content, "application/zip", "model.kernova")


def _attachment(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


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
