"""Route of batches: rows that were added to the project."""

from fastapi import APIRouter
from starlette.responses import Response

from kernova.web.routes.replies import json_reply
from kernova.web.schemas import reply_model
from kernova.workbench import Workbench
from kernova.workbench.growing.view import Batches, BatchesReply


def batch_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the route of the rows that were added."""

    @router.get("/batches", response_model=reply_model(BatchesReply))
    def batches() -> Response:
        """Return the batches of new rows, the newest first, with those that look new."""
        return json_reply(workbench.part(Batches).all())
