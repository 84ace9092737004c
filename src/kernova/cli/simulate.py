"""``kernova simulate``: how many questions each strategy needs where the labels are known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli.console import answering, console, print_json, print_table, progress_bars
from kernova.cli.options import AsJson, Drop, IdColumn, Missing, check_targets

if TYPE_CHECKING:
    from kernova.workflows.simulate import SimulationResult

EXAMPLE = (
    "\b\nExample:\n"
    "  kernova simulate rare.csv --label-column digit --strategies hms-ci,hms-ci-had,random "
    "--picture curves.png"
)


@answering
def simulate(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="Table of labelled rows: CSV, TSV, Parquet, Arrow, NPY or NPZ."
        ),
    ],
    label_column: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column with the class of each row.")
    ],
    strategies: Annotated[
        str, typer.Option(metavar="NAMES", help="Which strategies, by commas, or all.")
    ] = "all",
    error_rate: Annotated[
        float, typer.Option(help="Share of rows that the expert takes for another class.")
    ] = 0.0,
    seeds: Annotated[
        int, typer.Option(min=1, help="Runs of each strategy, with other lots and mistakes.")
    ] = 5,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Stop a run after so many questions.")
    ] = None,
    missing: Missing = "refuse",
    id_column: IdColumn = None,
    drop: Drop = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a line for each run here.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw classes met against questions asked here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let the labels of DATA play the expert, and count the questions of each strategy.

    Every strategy asks row after row until it has met each class at least once. Shown are the
    number of questions that took (median, fewest and most over the runs) and the area: the share
    of classes met, averaged over the first 200 questions.
    """
    from kernova.discover.strategies import STRATEGIES
    from kernova.files import check_ending
    from kernova.workflows.simulate import (
        SimulationSettings,
        read_labelled_rows,
        simulate_strategies,
    )

    check_targets(output, None, picture, kept=[data])
    if picture is not None:
        check_ending(picture, (".png", ".svg", ".pdf"), "a picture")
    named = tuple(name.strip() for name in strategies.split(","))
    settings = SimulationSettings(
        strategies=STRATEGIES if strategies == "all" else named,
        error_rate=error_rate,
        seeds=seeds,
        questions=questions,
        missing=missing,
    )
    table = read_labelled_rows(
        data, label_column, id_column=id_column, drop=drop or (), missing=missing
    )
    with progress_bars():
        result = simulate_strategies(table, settings)
        _write(result, output, picture)
    files = {"output": output, "picture": picture}
    written = {name: str(path) for name, path in files.items() if path is not None}
    if as_json:
        print_json({**result.to_json_dict(), "files": written})
        return
    out = console()
    out.print(result.summary, markup=False)
    for note in result.notes:
        out.print(note, markup=False)
    out.print()
    print_table(result.overview(), "Questions until every class was met")
    for name, path in written.items():
        out.print(f"{name}: {path}", markup=False)


def _write(result: "SimulationResult", output: Path | None, picture: Path | None) -> None:
    if output is not None:
        from kernova.tables.formats import save_table

        save_table(result.lines(), output)
    if picture is not None:
        from kernova.report.figures import save_picture

        save_picture(result.figure(), picture)
