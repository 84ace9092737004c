"""Files: pictures and sounds of rows, and what is taken home."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kernova.studies.workbench import Workbench
from kernova.web.requests import PathRow
from kernova.web.routing import new_router

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
