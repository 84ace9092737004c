"""Formats that a project's labels can be exported to: one registry for page and command line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kernova.errors import InputError, quoted
from kernova.text import listed
from kernova.workbench.exports.coco import coco_json, coco_reason_against
from kernova.workbench.exports.label_studio import label_studio_interface, label_studio_tasks
from kernova.workbench.exports.labels import labels_csv, labels_parquet
from kernova.workbench.exports.raven import raven_reason_against, raven_text
from kernova.workbench.exports.snapshot import Snapshot
from kernova.workbench.exports.specimens import tps_reason_against, tps_text


def _always(_: Snapshot) -> str | None:
    return None


@dataclass(frozen=True)
class ExportFormat:
    """A format of labels for other programs.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
        Its name in the page.
    file : str
        Name of the file.
    media_type : str
        MIME type of the content.
    content : callable
        Returns the file of a snapshot.
    reason_against : callable
        Returns why a project has no such file, None if it has one.
    """

    name: str
    title: str
    file: str
    media_type: str
    content: Callable[[Snapshot], bytes]
    reason_against: Callable[[Snapshot], str | None] = _always


#: All formats, in the order in which they are offered.
FORMATS: Final[Sequence[ExportFormat]] = (
    ExportFormat("csv", "Labels as CSV", "labels.csv", "text/csv", labels_csv),
    ExportFormat(
        "parquet", "Labels as Parquet", "labels.parquet", "application/vnd.apache.parquet",
        labels_parquet,
    ),
    ExportFormat(
        "coco", "COCO (pictures)", "coco.json", "application/json", coco_json, coco_reason_against
    ),
    ExportFormat(
        "raven", "Raven selection table (sounds)", "raven.txt", "text/tab-separated-values",
        raven_text, raven_reason_against,
    ),
    ExportFormat(
        "tps", "TPS with categories (specimens)", "specimens.tps", "text/plain", tps_text,
        tps_reason_against,
    ),
    ExportFormat(
        "label-studio", "Label Studio tasks", "label-studio.json", "application/json",
        label_studio_tasks,
    ),
    ExportFormat(
        "label-studio-interface", "Label Studio interface", "label-studio.xml", "application/xml",
        label_studio_interface,
    ),
)  # fmt: skip


def format_named(name: str) -> ExportFormat:
    """Return a format by its name.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> from kernova.workbench.exports.formats import format_named
    >>> format_named("raven").file
    'raven.txt'
    """
    found = next((one for one in FORMATS if one.name == name), None)
    if found is None:
        raise InputError(
            f"There is no export format {quoted(name)}; choose one of "
            f"{listed([one.name for one in FORMATS])}."
        )
    return found


def exported(snapshot: Snapshot, format: ExportFormat) -> bytes:
    """Return a file of a project in a format.

    Raises
    ------
    InputError
        If the project has no such file; the message gives the reason.
    """
    reason = format.reason_against(snapshot)
    if reason is not None:
        raise InputError(f"The labels cannot be exported as {format.name}. {reason}")
    return format.content(snapshot)
