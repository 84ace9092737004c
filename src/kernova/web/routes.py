"""HTTP routes of the workbench: questions, corrections, views, map, learning and files.

Each section registers the routes of one subject. A new view adds a section here, which takes its
part of the workbench with ``workbench.part(NewView)`` and declares its reply with ``reply_model``.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    get_type_hints,
)

from fastapi import APIRouter, Depends, Path, Query, Request, params
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from kernova.web.schemas import (
    Answer,
    Change,
    Delete,
    FaultReply,
    Labels,
    Learn,
    Limit,
    Merge,
    NewExpert,
    Offset,
    PathRow,
    QuestionWanted,
    Rename,
    Settle,
    Skip,
    SuggestedCategory,
    Undo,
    reply_json,
    reply_model,
)
from kernova.workbench import Workbench
from kernova.workbench.alike import Alike, AlikeReply
from kernova.workbench.asking import QuestionReply, SavedReply
from kernova.workbench.asking import Request as SaveRequest
from kernova.workbench.cards import Card, FoundReply
from kernova.workbench.history import DisagreementsReply, HistoryReply
from kernova.workbench.learning import (
    LearnReply,
    LearntRowsReply,
    PrecisionCurveReply,
    SuggestionsReply,
)
from kernova.workbench.overview import SessionReply, StateReply, UnchangedReply
from kernova.workbench.recognizer import LearntRow
from kernova.workbench.row_map import MapReply
from kernova.workbench.workbench import ExpertReply

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_LARGEST: Final = 2**53
# Entries that share a write, in which all of fifty experts find room; more would wait for long.
_MOST_TOGETHER: Final = 64
_BINARY: Final = {"schema": {"type": "string"}}
_SLOWNESSES: Final[dict[str, Literal[1, 2, 4, 8]]] = {"1": 1, "2": 2, "4": 4, "8": 8}
_FAULTS: Final = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    403: "The Host header or the origin of the request is not allowed.",
    404: "The resource does not exist.",
    405: "The address does not support this method.",
    409: "The request conflicts with the current state; the message gives the reason.",
    413: "The request is too large.",
    422: "A field is missing, unknown or invalid.",
    503: "The entry could not be saved, for example because the disk is full, and does not count.",
}

_SAVED: Final = reply_model(SavedReply)


class Queue:
    """Worker thread that handles one request after another, first come first served.

    Threads that wait for a lock are woken in no fixed order: with many experts at once, some would
    wait several times as long as others. Entries that wait together are saved with one write, and
    each is acknowledged after it.

    Parameters
    ----------
    workbench : Workbench
        Saves the entries.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._questions = workbench.questions
        self._waiting: deque[_Waiting] = deque()
        self._is_called = False  # whether the worker will take what waits
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kernova-queue")

    async def run(
        self,
        work: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Wait for the queue, run the work and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, partial(work, *args, **kwargs))

    async def save(self, request: SaveRequest) -> Response:
        """Wait for the queue and until the entry is on disk; return what was saved."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(request, loop.create_future())
        self._waiting.append(waiting)
        if not self._is_called:
            self._is_called = True
            self._worker.submit(self._save_waiting, loop)
        return _json(await waiting.reply)

    def _save_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_called = False  # before they are taken: whoever comes now calls again
        n_together = min(len(self._waiting), _MOST_TOGETHER)
        together = [self._waiting.popleft() for _ in range(n_together)]
        if self._waiting and not self._is_called:
            self._is_called = True
            self._worker.submit(self._save_waiting, loop)
        outcomes: list[SavedReply | Exception] = []
        try:
            self._questions.save_all(
                [one.request for one in together], lambda _, outcome: outcomes.append(outcome)
            )
        # Nobody must wait for ever, whatever happens.
        except Exception as error:  # noqa: BLE001
            outcomes += [error] * (len(together) - len(outcomes))
        loop.call_soon_threadsafe(_settle_all, together, outcomes)


class _Waiting(NamedTuple):
    request: SaveRequest
    reply: "asyncio.Future[SavedReply]"


def _settle_all(together: list[_Waiting], outcomes: list[SavedReply | Exception]) -> None:
    for one, outcome in zip(together, outcomes, strict=True):
        _settle(one.reply, outcome)


def _settle(reply: "asyncio.Future[SavedReply]", outcome: SavedReply | Exception) -> None:
    if reply.done():  # cancelled: its client has gone
        return
    if isinstance(outcome, Exception):
        reply.set_exception(outcome)
    else:
        reply.set_result(outcome)


def _json(reply: Any, status: int = 200) -> Response:
    """Return a reply as JSON; to validate it again would take longer than the work."""
    return Response(reply_json(reply), status, media_type="application/json")


def _new_router(tag: str) -> APIRouter:
    """Return a router with the common error replies that rejects unknown parameters."""
    responses: dict[int | str, dict[str, Any]] = {
        status: {"model": FaultReply, "description": sentence}
        for status, sentence in _FAULTS.items()
    }
    return APIRouter(
        tags=[tag], responses=responses, dependencies=[Depends(_only_known_parameters)]
    )


def all_routes(workbench: Workbench) -> list[APIRouter]:
    """Return the routers of all routes."""
    asking, looking, files = (_new_router(tag) for tag in ("asking", "looking", "files"))
    queue = Queue(workbench)
    for section in (_questions, _corrections, _categories):
        section(asking, workbench, queue)
    _overview(looking, workbench, queue)
    for view in (_rows, _map, _learning):
        view(looking, workbench)
    _media(files, workbench)
    _downloads(files, workbench)
    return [asking, looking, files]


async def _only_known_parameters(request: Request) -> None:
    # Not a plain function, which would run in a thread of its own for every request.
    known = _parameters(request.scope["endpoint"])
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        message = "there is no such parameter"
        raise RequestValidationError([{"loc": ("query", name), "msg": message} for name in unknown])


@cache
def _parameters(endpoint: Callable[..., Any]) -> frozenset[str]:
    """Return the names of an endpoint's query parameters."""
    hints = get_type_hints(endpoint, include_extras=True)
    return frozenset(
        name
        for name, hint in hints.items()
        if any(isinstance(one, params.Query) for one in getattr(hint, "__metadata__", ()))
    )


# --- questions and answers -------------------------------------------------------------------


def _questions(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    @router.post("/experts", status_code=201, response_model=reply_model(ExpertReply))
    async def join(body: NewExpert) -> ExpertReply:
        """Register an expert under a name; a known name resumes that expert's work."""
        return await queue.run(workbench.join, body.name)

    @router.post("/question", response_model=reply_model(QuestionReply))
    async def question(body: QuestionWanted) -> Response:
        """Return the expert's open question, the same until it is answered.

        No row is open at two experts at the same time. A question is released to others after
        its expert has been inactive for 15 minutes.
        """
        return _json(await queue.run(workbench.question, body.expert, body.row, body.source))

    @router.post("/answers", response_model=_SAVED)
    async def answer(body: Answer) -> Response:
        """Label the row of a question; the reply is sent after the answer is on disk.

        If another expert has labelled the row meanwhile, the answer is recorded as an opinion.
        """
        return await queue.save(
            workbench.questions.answer(body.expert, body.row, body.label, body.members, body.key)
        )

    @router.post("/skips", response_model=_SAVED)
    async def skip(body: Skip) -> Response:
        """Skip a row; it is not asked again."""
        return await queue.save(workbench.questions.skip(body.expert, body.row, body.key))


# --- corrections -----------------------------------------------------------------------------


def _corrections(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    corrections = workbench.corrections

    @router.post("/undo", response_model=_SAVED)
    async def undo(body: Undo) -> Response:
        """Undo the expert's last entry of any kind; can be repeated.

        Without a name, the last entry of all experts is undone.
        """
        return await queue.save(corrections.undo(body.expert, body.key))

    @router.patch("/answers/{number}", response_model=_SAVED)
    async def change(
        number: Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the question.")],
        body: Change,
    ) -> Response:
        """Change the answer to an earlier question, also for the rows labelled with it."""
        return await queue.save(
            corrections.change(body.expert, number, body.label, body.key, body.row)
        )

    @router.post("/labels", response_model=_SAVED)
    async def label(body: Labels) -> Response:
        """Label rows directly, or again, in one step."""
        return await queue.save(corrections.label(body.expert, body.rows, body.label, body.key))

    @router.post("/disagreements/{row}", response_model=_SAVED)
    async def settle(row: PathRow, body: Settle) -> Response:
        """Settle a disagreement about a row."""
        return await queue.save(corrections.settle(body.expert, row, body.label, body.key))


def _categories(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    corrections = workbench.corrections

    @router.post("/categories/rename", response_model=_SAVED)
    async def rename(body: Rename) -> Response:
        """Rename a category; no other may have the new name."""
        return await queue.save(workbench.rename(body.expert, body.old, body.new, body.key))

    @router.post("/categories/merge", response_model=_SAVED)
    async def merge(body: Merge) -> Response:
        """Merge several categories into one."""
        return await queue.save(corrections.merge(body.expert, body.into, body.others, body.key))

    @router.post("/categories/delete", response_model=_SAVED)
    async def delete(body: Delete) -> Response:
        """Delete a category."""
        return await queue.save(corrections.delete(body.expert, body.name, body.key))


# --- views -----------------------------------------------------------------------------------


def _overview(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    @router.get("/session", response_model=reply_model(SessionReply))
    def session() -> Response:
        """Return the table, the strategy and the progress of the preparation."""
        return _json(workbench.overview.session())

    @router.get("/state", response_model=reply_model(StateReply) | reply_model(UnchangedReply))
    async def state(
        since: Annotated[
            int | None,
            Query(ge=0, le=_LARGEST, description="The last version seen; if it is current, only "
                  "that is returned."),
        ] = None,
        expert: Annotated[
            str | None,
            Query(min_length=1, max_length=100, description="The expert, who is marked active."),
        ] = None,
    ) -> Response:  # fmt: skip
        """Return everything that changes: categories, curve, advice, experts."""
        unchanged = workbench.unchanged(since, expert)
        if unchanged is not None:
            return _json(unchanged)
        # In the queue, not in threads that compete with it for the session.
        return await queue.run(lambda: _json(workbench.state(since, expert)))

    @router.get("/history", response_model=reply_model(HistoryReply))
    def history(
        before: Annotated[
            int | None, Query(ge=1, le=_LARGEST, description="Only entries with a lower number.")
        ] = None,
        limit: Limit = 50,
    ) -> Response:
        """Return log entries, the newest first, including those that were undone."""
        return _json(workbench.history.page(before, limit))

    @router.get("/disagreements", response_model=reply_model(DisagreementsReply))
    def disagreements() -> Response:
        """Return the rows that experts label differently."""
        return _json(workbench.history.disagreements())


def _rows(router: APIRouter, workbench: Workbench) -> None:
    @router.get("/rows/{row}", response_model=reply_model(Card))
    def card(row: PathRow) -> Response:
        """Return everything there is to see of a row."""
        return _json(workbench.cards.card(row))

    @router.get("/rows", response_model=reply_model(FoundReply))
    def find(
        find: Annotated[str, Query(max_length=500, description="Part of an id.")],
        limit: Limit = 20,
    ) -> Response:
        """Find rows by their ids."""
        return _json(workbench.cards.find(find, limit))

    @router.get("/rows/{row}/alike", response_model=reply_model(AlikeReply))
    def alike(row: PathRow, limit: Limit = 60) -> Response:
        """Return the unlabelled rows that are like a row, the most alike first, up to a cut."""
        return _json(workbench.part(Alike).more_like(row, limit))


# --- map -------------------------------------------------------------------------------------


def _map(router: APIRouter, workbench: Workbench) -> None:
    numbers = _binary_responses("application/octet-stream")

    @router.get("/map", response_model=reply_model(MapReply))
    def describe_map() -> Response:
        """Return what the map shows, and the progress of the neighbour map."""
        return _json(workbench.map.description())

    @router.get("/map/points", responses=numbers, response_class=Response)
    def map_points(
        kind: Annotated[
            Literal["axes", "neighbours"] | None,
            Query(description="Kind of map; by default the best one available."),
        ] = None,
    ) -> Response:
        """Return x and y of each row, between -1 and 1, as little-endian 32-bit floats."""
        return _numbers(workbench.map.points(kind), workbench.shared.version)

    @router.get("/map/labels", responses=numbers, response_class=Response)
    def map_labels(
        colour: Annotated[
            Literal["labels", "learnt"],
            Query(description="Colour by labels, or by the verdicts of the learnt model."),
        ] = "labels",
    ) -> Response:
        """Return one little-endian unsigned 16-bit code per row.

        0 is unlabelled and 65535 skipped; other codes are the position of the category, from 1, in
        the state of the version in the header X-Kernova-Version. By the learnt model, rows have the
        position of the category that claims them, 0 if it has been renamed or deleted since; 65534
        is ambiguous and 65533 unknown.
        """
        labels = workbench.learning.codes() if colour == "learnt" else workbench.map.labels()
        return _numbers(*labels)


def _numbers(content: bytes, version: int) -> Response:
    headers = {"X-Kernova-Version": str(version)}
    return Response(content, media_type="application/octet-stream", headers=headers)


# --- learning --------------------------------------------------------------------------------


def _learning(router: APIRouter, workbench: Workbench) -> None:
    @router.post("/learn", status_code=202, response_model=reply_model(LearnReply))
    def learn(body: Learn) -> Response:
        """Start learning from the answers so far; GET /api/learn returns the progress.

        With fewer than two labelled rows nothing starts, and the message says what is missing.
        """
        return _json(workbench.learning.begin(), 202)

    @router.get("/learn", response_model=reply_model(LearnReply))
    def learnt() -> Response:
        """Return the progress and the result of learning."""
        return _json(workbench.learning.state())

    @router.get("/learn/rows", response_model=reply_model(LearntRowsReply))
    def learnt_rows(
        verdict: Annotated[Literal["known", "ambiguous", "unknown"], Query()] = "unknown",
        limit: Limit = 60,
        offset: Offset = 0,
    ) -> Response:
        """Return the rows with a verdict, the most informative first."""
        return _json(workbench.learning.rows(verdict, limit, offset))

    @router.get("/learn/rows/{row}", response_model=reply_model(LearntRow))
    def learnt_row(row: PathRow) -> Response:
        """Return the suggestion for a row, with a ranking of the categories."""
        return _json(workbench.learning.row(row))

    @router.get("/learn/suggestions", response_model=reply_model(SuggestionsReply))
    def suggestions(
        threshold: Annotated[
            float | None,
            Query(ge=0, le=1, description="Lowest probability; by default the one from which on a "
                  "precision of 0.9 is promised, or 0."),
        ] = None,
        category: SuggestedCategory = None,
        limit: Limit = 60,
        offset: Offset = 0,
    ) -> Response:  # fmt: skip
        """Return rows with a suggested category, the most probable first, and their precision."""
        return _json(workbench.learning.suggestions(threshold, category, limit, offset))

    @router.get("/learn/precision", response_model=reply_model(PrecisionCurveReply))
    def precision(category: SuggestedCategory = None) -> Response:
        """Return number and precision of the suggestions from every probability on."""
        return _json(workbench.learning.precision(category))


# --- files -----------------------------------------------------------------------------------


def _binary_responses(*media_types: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": dict.fromkeys(media_types, _BINARY)}}


def _media(router: APIRouter, workbench: Workbench) -> None:
    media = workbench.media

    @router.get(
        "/media/{row}/picture",
        responses=_binary_responses("image/png", "image/jpeg"),
        response_class=Response,
    )
    def picture(
        row: PathRow,
        largest: Annotated[int, Query(ge=16, le=2048, description="The longest side.")] = 256,
    ) -> Response:
        """Return the row's picture, reduced in size."""
        found = media.picture(row, largest)
        return Response(found.content, media_type=found.media_type)

    @router.get(
        "/media/{row}/sound", responses=_binary_responses("audio/wav"), response_class=Response
    )
    def sound(
        row: PathRow,
        slowness: Annotated[
            # Strings, since query parameters are not converted to numbers of a Literal.
            Literal["1", "2", "4", "8"], Query(description="Factor by which it plays slower.")
        ] = "1",
    ) -> Response:
        """Return the row's sound."""
        return Response(media.sound(row, _SLOWNESSES[slowness]), media_type="audio/wav")

    @router.get(
        "/media/{row}/spectrogram",
        responses=_binary_responses("image/png"),
        response_class=Response,
    )
    def spectrogram(row: PathRow) -> Response:
        """Return the spectrogram of the row's sound; headers give the ranges of its axes."""
        drawn = media.spectrogram(row)
        headers = {
            "X-Kernova-Start": f"{drawn.start:.6g}",
            "X-Kernova-Seconds": f"{drawn.seconds:.6g}",
            "X-Kernova-Lowest-Hz": f"{drawn.lowest_hz:.6g}",
            "X-Kernova-Highest-Hz": f"{drawn.highest_hz:.6g}",
        }
        return Response(drawn.png, media_type="image/png", headers=headers)


def _downloads(router: APIRouter, workbench: Workbench) -> None:
    exports = workbench.exports

    @router.get(
        "/downloads/labels.csv", responses=_binary_responses("text/csv"), response_class=Response
    )
    def labels_csv() -> Response:
        """Return every row with its category, question, expert and time, as CSV."""
        return _attachment(exports.labels_csv(), "text/csv", "labels.csv")

    @router.get(
        "/downloads/labels.parquet",
        responses=_binary_responses("application/vnd.apache.parquet"),
        response_class=Response,
    )
    def labels_parquet() -> Response:
        """Return the same as Parquet."""
        content = exports.labels_parquet()
        return _attachment(content, "application/vnd.apache.parquet", "labels.parquet")

    @router.get(
        "/downloads/model.kernova",
        responses=_binary_responses("application/zip"),
        response_class=Response,
    )
    def model() -> Response:
        """Return the learnt model, for `kernova recognize`."""
        content = workbench.learning.model_file()
        return _attachment(content, "application/zip", "model.kernova")


def _attachment(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)
