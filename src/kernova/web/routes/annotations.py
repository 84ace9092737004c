"""Routes of what is noted beside the labels: notes, flags, further labels, headings and keys."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, StrictBool, StrictStr
from starlette.responses import Response

from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import SAVED
from kernova.web.schemas import EntryBody, Name, Row, Rows
from kernova.workbench import Workbench
from kernova.workbench.remarks import Annotating

_LONGEST_NOTE = 10_000


class Note(EntryBody):
    """A remark on a row, in place of an earlier one."""

    row: Row
    text: Annotated[
        StrictStr | None,
        Field(max_length=_LONGEST_NOTE, description="The remark; null removes it."),
    ]


class Flag(EntryBody):
    """Rows that are flagged for later, or no longer."""

    rows: Rows
    is_on: StrictBool = True


class Tag(EntryBody):
    """A further label of rows, beside their category."""

    rows: Rows
    label: Name
    is_on: Annotated[StrictBool, Field(description="False removes the label.")] = True


class Group(EntryBody):
    """Categories and the heading that they are put under."""

    names: Annotated[list[Name], Field(min_length=1, max_length=1000)]
    under: Annotated[Name | None, Field(description="The heading; null for none.")]


class ChosenKey(EntryBody):
    """A category and its key."""

    name: Name
    letter: Annotated[
        StrictStr | None,
        Field(
            pattern=r"^(0?[a-z]|[1-9]|0[0-9])$",
            description="A digit from 1 to 9 or a letter; with a 0 before it, two keys are "
            "pressed. Null for no key.",
        ),
    ]


class FurtherLabels(EntryBody):
    """Whether rows may have labels beside their category."""

    is_on: StrictBool


def annotation_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of what is noted beside the labels."""
    annotating = workbench.part(Annotating)

    @router.post("/notes", response_model=SAVED)
    async def note(body: Note) -> Response:
        """Note something about a row; the note is shown with it, and exported."""
        return await queue.save(annotating.note(body.expert, body.row, body.text, body.key))

    @router.post("/flags", response_model=SAVED)
    async def flag(body: Flag) -> Response:
        """Flag rows for later, or remove their flags."""
        return await queue.save(annotating.flag(body.expert, body.rows, body.is_on, body.key))

    @router.post("/tags", response_model=SAVED)
    async def tag(body: Tag) -> Response:
        """Add a further label to rows, or remove it, where the project allows further labels."""
        return await queue.save(
            annotating.tag(body.expert, body.rows, body.label, body.is_on, body.key)
        )

    @router.post("/further-labels", response_model=SAVED)
    async def allow_further_labels(body: FurtherLabels) -> Response:
        """Let rows have labels beside their category, or no longer; those given stay."""
        return await queue.save(annotating.allow_further_labels(body.expert, body.is_on, body.key))

    @router.post("/categories/group", response_model=SAVED)
    async def group(body: Group) -> Response:
        """Put categories under a heading."""
        return await queue.save(annotating.group(body.expert, body.names, body.under, body.key))

    @router.post("/categories/key", response_model=SAVED)
    async def choose_key(body: ChosenKey) -> Response:
        """Choose the key of a category; one that had it gets the key that this one had."""
        return await queue.save(
            annotating.choose_key(body.expert, body.name, body.letter, body.key)
        )
