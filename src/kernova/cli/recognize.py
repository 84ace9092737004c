"""``kernova recognize``: of which known class new rows are, or that they are of none."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kernova.cli.console import answering, console, print_json, print_table, progress_bars
from kernova.cli.options import AsJson, Drop, IdColumn, Output, Report, check_targets

if TYPE_CHECKING:
    from kernova.workflows.recognize import RecognizeResult

EXAMPLE = (
    "\b\nExample:\n"
    "  kernova recognize model.kernova new.csv --id-column specimen -o classes.csv "
    "--report page.html"
)


@answering
def recognize(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model that kernova learn wrote (.kernova).")
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW",
            help="Table of rows to judge, with the columns learnt from; or landmarks (TPS), or a "
            "table of sounds, where the model was learnt from such.",
        ),
    ],
    missing: Annotated[
        Literal["refuse", "drop", "fill"] | None,
        typer.Option(help="Missing values: refuse, drop or fill; by default as in learning."),
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
            metavar="FOLDER", help="Where the recordings are, if the model was learnt from sounds."
        ),
    ] = None,
    nearest: Annotated[
        int, typer.Option(min=1, help="How many of the nearest training rows to name.")
    ] = 3,
    output: Output = None,
    report: Report = None,
    top: Annotated[
        int, typer.Option(min=0, help="How many of the unknown rows to show, with reasons.")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Say of which known class each row of NEW is, or that it is unknown.

    Each row gets a class or "unknown", its membership in every class (from 0 to 1; they need not
    sum to one), whether several classes claim it, and the nearest training rows. Unknown rows
    that lie together are numbered as groups.
    """
    from kernova.workflows.recognize import (
        RecognizeSettings,
        load_recognizer,
        read_new,
        recognize_rows,
    )

    check_targets(output, report, kept=[model, new])
    learnt = load_recognizer(model)
    table = read_new(
        new, learnt, id_column=id_column, label_column=label_column, drop=drop or (),
        missing=missing, audio=audio,
    )  # fmt: skip
    with progress_bars():
        result = recognize_rows(learnt, table, RecognizeSettings(n_nearest=nearest, top=top))
        _write(result, output, report)
    files = {"output": output, "report": report}
    written = {name: str(path) for name, path in files.items() if path is not None}
    if as_json:
        print_json({**result.to_json_dict(), "files": written})
    else:
        _print(result, top, written)


def _write(result: "RecognizeResult", output: Path | None, report: Path | None) -> None:
    if output is not None:
        from kernova.tables.formats import save_table

        save_table(result.rows, output)
    if report is not None:
        from kernova.report.page import save_page
        from kernova.workflows.recognize_page import recognition_page

        save_page(recognition_page(result), report)


def _print(result: "RecognizeResult", top: int, written: dict[str, str]) -> None:
    out = console()
    for sentence in result.sentences:
        out.print(sentence, markup=False)
    out.print()
    print_table(result.by_class, "Rows by class")
    if len(result.groups):
        print_table(result.groups, "Unknown rows that lie together")
    unknown = result.least_known_first.head(min(top, result.n_unknown))
    if len(unknown):
        print_table(result.shown(unknown), "Unknown rows, the farthest from all classes first")
    out.print()
    for name, path in written.items():
        out.print(f"{name}: {path}", markup=False)
    if not written:
        out.print("Write them all with -o classes.csv; see them with --report report.html.")
