"""``kernova recognize``: the known class of each new row, or "unknown"."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli.console import finish_verdicts, progress_bars, reporting_errors
from kernova.cli.options import AsJson, Drop, IdColumn, Output, Report, check_targets, examples
from kernova.workflows.settings import Missing, RecognizeSettings

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workflows.recognize import RecognizeResult

EXAMPLE = examples(
    "kernova recognize model.kernova new.csv --id-column specimen -o classes.csv "
    "--report page.html",
)


@reporting_errors
def recognize(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model from kernova learn (.kernova).")
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW",
            help="Table of rows to judge, with the columns of the training table; landmarks (TPS) "
            "or a table of sounds if the model was trained on those.",
        ),
    ],
    missing: Annotated[
        Missing | None,
        typer.Option(help="Treatment of missing values; by default as in training."),
    ] = None,
    id_column: IdColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of true classes, to compare verdicts with."),
    ] = None,
    drop: Drop = None,
    audio: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder of the recordings, if the model was trained on sounds."
        ),
    ] = None,
    nearest: Annotated[
        int, typer.Option(min=1, help="Number of nearest training rows to list for each row.")
    ] = RecognizeSettings.n_nearest,
    output: Output = None,
    report: Report = None,
    top: Annotated[
        int, typer.Option(min=0, help="Number of unknown rows to print, with reasons.")
    ] = RecognizeSettings.top,
    as_json: AsJson = False,
) -> None:
    """Assign each row of NEW to one of the model's classes, or to none ("unknown").

    Each row gets a class or "unknown", its membership in every class (from 0 to 1; they need not
    sum to one), whether several classes accept it, and the nearest training rows. Unknown rows
    that lie together are numbered as groups.
    """
    from kernova.workflows.recognize import load_recognizer, read_new, recognize_rows

    check_targets(output, report, kept=[model, new])
    recognizer = load_recognizer(model)
    table = read_new(
        new, recognizer, id_column=id_column, label_column=label_column, drop=drop or (),
        missing=missing, audio=audio,
    )  # fmt: skip
    with progress_bars():
        result = recognize_rows(recognizer, table, RecognizeSettings(n_nearest=nearest, top=top))
    finish_verdicts(
        result, output, report, _page, partial(_show, top=top), as_json=as_json, table="classes.csv"
    )


def _page(result: "RecognizeResult") -> str:
    from kernova.workflows.recognize_page import recognition_page

    return recognition_page(result)


def _show(out: "EscapingConsole", result: "RecognizeResult", top: int) -> None:
    out.print_notes(result.sentences)
    out.print()
    out.print_table(result.by_class, "Rows by class")
    if len(result.groups):
        out.print_table(result.groups, "Unknown rows that lie together")
    unknown = result.least_known_first.head(min(top, result.n_unknown))
    if len(unknown):
        out.print_table(result.shown(unknown), "Unknown rows, the farthest from all classes first")
