"""``kernova discover``: meet every category of a table in few questions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli.console import MAX_SEED, answering, console, print_json
from kernova.cli.options import Drop, IdColumn, Missing, check_targets

if TYPE_CHECKING:
    from rich.console import Console

    from kernova.studies.discovery import Discovery

EXAMPLE = (
    "\b\nExample:\n"
    "  kernova discover wines.csv --id-column wine --drop cultivar --terminal -o categories.csv"
)


@answering
def discover(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="Table of rows: CSV, TSV, Parquet, Arrow, NPY or NPZ."),
    ],
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Ask here, at the terminal, or from a pipe.")
    ] = False,
    project: Annotated[
        Path | None,
        typer.Option(
            help="File that keeps the answers; if it is there, go on where it stands "
            "(DATA's name with .kernova-project, in this folder)."
        ),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help="How questions are chosen; a project remembers it.")
    ] = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Ask so many questions at most, this time.")
    ] = None,
    id_column: IdColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of categories known before, empty where none is; no feature.",
        ),
    ] = None,
    drop: Drop = None,
    missing: Missing = "refuse",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write every row's category here.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=MAX_SEED, help="For strategies that draw lots; a project remembers it (0)."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON at the end; ask on stderr.")
    ] = False,
) -> None:
    """Ask about the rows of DATA, one at a time, so that every category is met soon.

    Each question shows a row: what stands out in it, why it is asked, and which rows it stands
    for. Type the name of its category, a known one or a new one; ? lists what else can be said.
    Each answer is on the disk before the next question; leave when you like, and the same command
    goes on from there.
    """
    from kernova.errors import InputError
    from kernova.load.tables import read_table
    from kernova.studies.discovery import default_project, open_discovery

    if not terminal:
        raise InputError(
            "Questions can be asked at the terminal only: pass --terminal. A page for the browser "
            "comes with a later version."
        )
    kept_in = default_project(data) if project is None else project
    check_targets(output, None, kept=[data, kept_in])
    table = read_table(
        data,
        id_column=id_column,
        label_column=label_column,
        drop=drop or (),
        missing="keep" if missing == "fill" else missing,
    )
    discovery = open_discovery(table, kept_in, strategy=strategy, seed=seed, missing=missing)
    try:
        _converse(discovery, _speaker(as_json), questions)
        _finish(discovery, output, as_json)
    finally:
        discovery.session.close()


def _speaker(as_json: bool) -> "Console":
    """Give the console for the dialogue: JSON has standard output to itself."""
    from rich.console import Console

    if not as_json:
        return console()
    is_piped = not sys.stderr.isatty()
    return Console(
        stderr=True, highlight=False, soft_wrap=is_piped, width=160 if is_piped else None
    )


def _converse(discovery: "Discovery", out: "Console", questions: int | None) -> None:
    from kernova.cli.dialogue import Dialogue, line_reader

    for note in discovery.notes:
        out.print(note, markup=False)
    if discovery.is_resumed:
        out.print(f"Going on with {discovery.project}: {discovery.summary}", markup=False)
    else:
        out.print(f"Answers are kept in {discovery.project}.", markup=False)
    is_person = sys.stdin.isatty()
    if is_person:
        out.print("Choosing the first question; the first time ever, that takes a while longer.")
    dialogue = Dialogue(discovery, out, line_reader(discovery, out), is_person=is_person)
    dialogue.run(questions)
    out.print()
    out.print(discovery.summary, markup=False)
    for sentence in (*discovery.advice.known, *discovery.advice.guessed):
        out.print(sentence, markup=False)
    out.print(
        f"Everything is saved in {discovery.project}; the same command goes on from here.",
        markup=False,
    )


def _finish(discovery: "Discovery", output: Path | None, as_json: bool) -> None:
    from kernova.report.tables import save_table

    if output is not None:
        save_table(discovery.rows, output)
    if as_json:
        files = {} if output is None else {"output": str(output)}
        print_json({**discovery.to_json_dict(), "files": files})
    elif output is not None:
        console().print(f"output: {output}", markup=False)
