"""Routes of files: pictures and sounds of rows, labels and the learnt model."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kernova.media.contrast import Contrast
from kernova.media.sounds import SpectrogramContrast, SpectrogramView
from kernova.web.routes.replies import attachment, binary_responses, json_reply
from kernova.web.schemas import PathRow, reply_model
from kernova.workbench import Workbench
from kernova.workbench.exports.formats import FORMATS, ExportFormat
from kernova.workbench.exports.part import FormatsReply

_HIGHEST_HZ: Final = 1e6
_File = Annotated[int, Query(ge=0, le=9999, description="Position among the row's files, from 0.")]
_SLOWNESSES: Final[dict[str, Literal[1, 2, 4, 8]]] = {"1": 1, "2": 2, "4": 4, "8": 8}


def media_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of pictures and sounds."""
    media = workbench.media

    @router.get(
        "/media/{row}/picture",
        responses=binary_responses("image/png", "image/jpeg"),
        response_class=Response,
    )
    def picture(
        row: PathRow,
        largest: Annotated[int, Query(ge=16, le=2048, description="The longest side.")] = 256,
        file: _File = 0,
        contrast: Annotated[
            Contrast,
            Query(
                description="The picture's own, or the middle 99 % of its values, linear or with "
                "more contrast among dark ones."
            ),
        ] = "plain",
    ) -> Response:
        """Return a picture of the row, reduced in size."""
        found = media.picture(row, largest, file, contrast)
        return Response(found.content, media_type=found.media_type)

    @router.get(
        "/media/{row}/sound", responses=binary_responses("audio/wav"), response_class=Response
    )
    def sound(
        row: PathRow,
        slowness: Annotated[
            # Strings, since query parameters are not converted to numbers of a Literal.
            Literal["1", "2", "4", "8"], Query(description="Factor by which it plays slower.")
        ] = "1",
        file: _File = 0,
    ) -> Response:
        """Return a sound of the row."""
        return Response(media.sound(row, _SLOWNESSES[slowness], file), media_type="audio/wav")


def spectrogram_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the route of spectrograms."""

    @router.get(
        "/media/{row}/spectrogram",
        responses=binary_responses("image/png"),
        response_class=Response,
    )
    def spectrogram(
        row: PathRow,
        file: _File = 0,
        lowest: Annotated[
            float | None,
            Query(ge=0, le=_HIGHEST_HZ, description="Frequency at the lower edge, in hertz."),
        ] = None,
        highest: Annotated[
            float | None,
            Query(gt=0, le=_HIGHEST_HZ, description="Frequency at the upper edge; by default one "
                  "that holds the sounds of all rows."),
        ] = None,
        contrast: Annotated[
            SpectrogramContrast, Query(description="How fast it becomes bright with the loudness.")
        ] = "normal",
    ) -> Response:  # fmt: skip
        """Return the spectrogram of a sound of the row; headers give the ranges of its axes."""
        drawn = workbench.media.spectrogram(row, file, SpectrogramView(lowest, highest, contrast))
        headers = {
            "X-Kernova-Start": f"{drawn.start:.6g}",
            "X-Kernova-Seconds": f"{drawn.seconds:.6g}",
            "X-Kernova-Lowest-Hz": f"{drawn.lowest_hz:.6g}",
            "X-Kernova-Highest-Hz": f"{drawn.highest_hz:.6g}",
        }
        return Response(drawn.png, media_type="image/png", headers=headers)


def download_routes(router: APIRouter, workbench: Workbench) -> None:
    """Register the routes of files to download."""
    exports = workbench.exports

    @router.get("/downloads", response_model=reply_model(FormatsReply))
    def formats() -> Response:
        """Return the formats of the labels, with the reason where one does not apply."""
        return json_reply(exports.formats())

    @router.get(
        "/downloads/report.html", responses=binary_responses("text/html"), response_class=Response
    )
    def report() -> Response:
        """Return a report of the session: one page to print, which needs no other file."""
        return attachment(workbench.report.page(), "text/html", "report.html")

    @router.get(
        "/downloads/labels.csv", responses=binary_responses("text/csv"), response_class=Response
    )
    def labels_csv() -> Response:
        """Return every row with its category, question, expert and time, as CSV."""
        return attachment(exports.labels_csv(), "text/csv", "labels.csv")

    @router.get(
        "/downloads/labels.parquet",
        responses=binary_responses("application/vnd.apache.parquet"),
        response_class=Response,
    )
    def labels_parquet() -> Response:
        """Return the same as Parquet."""
        content = exports.labels_parquet()
        return attachment(content, "application/vnd.apache.parquet", "labels.parquet")

    for one in FORMATS:
        if one.name not in ("csv", "parquet"):
            _format_route(router, workbench, one)

    @router.get(
        "/downloads/model.kernova",
        responses=binary_responses("application/zip"),
        response_class=Response,
    )
    def model() -> Response:
        """Return the learnt model, for `kernova recognize`."""
        content = workbench.learning.model_file()
        return attachment(content, "application/zip", "model.kernova")


def _format_route(router: APIRouter, workbench: Workbench, format: ExportFormat) -> None:
    """Register the route of one format of the labels."""

    @router.get(
        f"/downloads/{format.file}",
        responses=binary_responses(format.media_type),
        response_class=Response,
        name=f"labels_{format.name}",
        summary=format.title,
    )
    def labels_in_format() -> Response:
        """Return the labels in a format of another program, if it applies to this project."""
        content = workbench.exports.file(format.name)
        return attachment(content, format.media_type, format.file)
