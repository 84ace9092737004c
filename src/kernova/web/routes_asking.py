"""Asking, answering and correcting: everything that changes what is known."""

from typing import Annotated, Any

from fastapi import APIRouter, Path

from kernova.studies.workbench import Workbench
from kernova.web.replies import ExpertReply, QuestionReply, SavedReply
from kernova.web.requests import (
    Answer,
    Change,
    Delete,
    Labels,
    Merge,
    NewExpert,
    PathRow,
    QuestionWanted,
    Rename,
    Settle,
    Skip,
    Undo,
)
from kernova.web.routing import Queue, new_router

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
