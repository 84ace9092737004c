"""Routes of questions and answers, corrections and categories."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from kernova.discover.names import expert_name
from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import SAVED, json_reply
from kernova.web.schemas import (
    Answer,
    Change,
    Delete,
    Labels,
    Merge,
    PathRow,
    QuestionWanted,
    Rename,
    Settle,
    Skip,
    reply_model,
)
from kernova.workbench import Workbench
from kernova.workbench.asking import QuestionReply


def question_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of questions and answers."""

    @router.post("/question", response_model=reply_model(QuestionReply))
    async def question(body: QuestionWanted) -> Response:
        """Return the expert's open question, the same until it is answered.

        No row is open at two experts at the same time. A question is released to others after
        its expert has been inactive for 15 minutes.
        """
        queue.identify(expert_name(body.expert))
        return json_reply(await queue.run(workbench.question, body.expert, body.row, body.source))

    @router.post("/answers", response_model=SAVED)
    async def answer(body: Answer) -> Response:
        """Label the row of a question; the reply is sent after the answer is on disk.

        If another expert has labelled the row meanwhile, the answer is recorded as an opinion.
        """
        return await queue.save(
            workbench.questions.answer(
                body.expert, body.row, body.label, body.members, body.key, body.confidence
            )
        )

    @router.post("/skips", response_model=SAVED)
    async def skip(body: Skip) -> Response:
        """Skip a row, or record that the expert is unsure about it; it is not asked again."""
        return await queue.save(
            workbench.questions.skip(body.expert, body.row, body.key, unsure=body.unsure)
        )


def correction_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of corrections."""
    corrections = workbench.corrections

    @router.patch("/answers/{number}", response_model=SAVED)
    async def change(
        number: Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the question.")],
        body: Change,
    ) -> Response:
        """Change the answer to an earlier question, also for the rows labelled with it."""
        return await queue.save(
            corrections.change(body.expert, number, body.label, body.key, body.row)
        )

    @router.post("/labels", response_model=SAVED)
    async def label(body: Labels) -> Response:
        """Label rows directly, or again, in one step."""
        return await queue.save(
            corrections.label(body.expert, body.rows, body.label, body.key, body.confidence)
        )

    @router.post("/disagreements/{row}", response_model=SAVED)
    async def settle(row: PathRow, body: Settle) -> Response:
        """Settle a disagreement about a row."""
        return await queue.save(corrections.settle(body.expert, row, body.label, body.key))


def category_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of categories."""
    corrections = workbench.corrections

    @router.post("/categories/rename", response_model=SAVED)
    async def rename(body: Rename) -> Response:
        """Rename a category; no other may have the new name."""
        return await queue.save(workbench.rename(body.expert, body.old, body.new, body.key))

    @router.post("/categories/merge", response_model=SAVED)
    async def merge(body: Merge) -> Response:
        """Merge several categories into one."""
        return await queue.save(corrections.merge(body.expert, body.into, body.others, body.key))

    @router.post("/categories/delete", response_model=SAVED)
    async def delete(body: Delete) -> Response:
        """Delete a category."""
        return await queue.save(corrections.delete(body.expert, body.name, body.key))
