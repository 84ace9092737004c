"""Routes of learning: the model of the categories, its suggestions and their precision."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kernova.web.routes.replies import json_reply
from kernova.web.schemas import Learn, Limit, Offset, PathRow, SuggestedCategory, reply_model
from kernova.workbench import Workbench
from kernova.workbench.learning import (
    LearnReply,
    LearntRowsReply,
    PrecisionCurveReply,
    SuggestionsReply,
)
from kernova.workbench.recognizer import LearntRow


def learning_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of the learnt model and its suggestions."""

    @router.post("/learn", status_code=202, response_model=reply_model(LearnReply))
    def learn(body: Learn) -> Response:
        """Start learning from the answers so far; GET /api/learn returns the progress.

        With fewer than two labelled rows nothing starts, and the message says what is missing.
        """
        return json_reply(workbench.learning.begin(), 202)

    @router.get("/learn", response_model=reply_model(LearnReply))
    def learnt() -> Response:
        """Return the progress and the result of learning."""
        return json_reply(workbench.learning.state())

    @router.get("/learn/rows", response_model=reply_model(LearntRowsReply))
    def learnt_rows(
        verdict: Annotated[Literal["known", "ambiguous", "unknown"], Query()] = "unknown",
        limit: Limit = 60,
        offset: Offset = 0,
    ) -> Response:
        """Return the rows with a verdict, the most informative first."""
        return json_reply(workbench.learning.rows(verdict, limit, offset))

    @router.get("/learn/rows/{row}", response_model=reply_model(LearntRow))
    def learnt_row(row: PathRow) -> Response:
        """Return the suggestion for a row, with a ranking of the categories."""
        return json_reply(workbench.learning.row(row))

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
        return json_reply(workbench.learning.suggestions(threshold, category, limit, offset))

    @router.get("/learn/precision", response_model=reply_model(PrecisionCurveReply))
    def precision(category: SuggestedCategory = None) -> Response:
        """Return number and precision of the suggestions from every probability on."""
        return json_reply(workbench.learning.precision(category))
