"""Routes of the import of labels: a file is previewed, then imported in one step."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter
from pydantic import Base64Bytes, Field, StrictStr
from starlette.responses import Response

from kernova.web.routes.queue import Queue
from kernova.web.routes.replies import SAVED, json_reply
from kernova.web.schemas import EntryBody, Expert, RequestBody, reply_model
from kernova.workbench import Workbench
from kernova.workbench.importing.part import LARGEST_FILE, ImportPreview, Imports

# In base64, a file takes a third more.
_LARGEST_TEXT: Final = LARGEST_FILE * 4 // 3 + 4
_Column = Annotated[
    StrictStr | None,
    Field(max_length=1000, description="Column of a table; by default it is found."),
]


class LabelUpload(RequestBody):
    """A file of labels."""

    name: Annotated[
        StrictStr,
        Field(
            min_length=1,
            max_length=500,
            description="Name of the file; its ending determines the format: .csv, .tsv, .txt, "
            ".parquet, .arrow, .json (Label Studio, COCO) or .tps.",
        ),
    ]
    content: Annotated[
        Base64Bytes,
        Field(max_length=_LARGEST_TEXT, description="The file in base64, at most 16 MB."),
    ]
    id_column: _Column = None
    category_column: _Column = None


class Import(EntryBody):
    """A previewed file of labels that is to be imported."""

    upload: Annotated[StrictStr, Field(pattern="^[0-9a-f]{32}$", description="As in the preview.")]
    on_conflict: Annotated[
        Literal["keep", "take", "opinion"],
        Field(
            description="Rows that have another label: keep that, take the one of the file, or "
            "record it as a further opinion."
        ),
    ] = "keep"
    as_expert: Annotated[
        Expert,
        Field(
            description="Whose the labels are where the file does not say it; null for the expert "
            "who imports them."
        ),
    ] = None


def import_routes(router: APIRouter, workbench: Workbench, queue: Queue) -> None:
    """Register the routes of the import of labels."""
    imports = workbench.part(Imports)

    @router.post("/imports/preview", response_model=reply_model(ImportPreview))
    def preview(body: LabelUpload) -> Response:
        """Read a file of labels and return what it would change; nothing is changed."""
        return json_reply(
            imports.preview(body.name, body.content, body.id_column, body.category_column)
        )

    @router.post("/imports", response_model=SAVED)
    async def import_labels(body: Import) -> Response:
        """Import a previewed file in one step, which undo takes back as a whole."""
        return await queue.save(
            imports.request(body.expert, body.upload, body.on_conflict, body.as_expert, body.key)
        )
