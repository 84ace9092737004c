"""``kernova simulate``: the number of questions that each strategy needs on labelled data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli.console import (
    Target,
    print_result,
    progress_bars,
    reporting_errors,
    table_target,
    write_targets,
)
from kernova.cli.options import (
    AsJson,
    Drop,
    IdColumn,
    MemoryMb,
    Missing,
    Raw,
    check_targets,
    examples,
    split_names,
    table_argument,
)
from kernova.workflows.settings import SimulationSettings

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workflows.simulate import SimulationResult

EXAMPLE = examples(
    "kernova simulate rare.csv --label-column digit --strategies hms-ci,hms-ci-had,random "
    "--picture curves.png",
)


@reporting_errors
def simulate(
    data: Annotated[Path, table_argument("DATA", "Table of labelled rows")],
    label_column: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column with the class of each row.")
    ],
    strategies: Annotated[
        str, typer.Option(metavar="NAMES", help="Strategies, separated by commas, or all.")
    ] = "all",
    error_rate: Annotated[
        float, typer.Option(help="Fraction of rows that the simulated expert mislabels.")
    ] = SimulationSettings.error_rate,
    seeds: Annotated[
        int, typer.Option(min=1, help="Number of runs of each strategy, each with its own seed.")
    ] = SimulationSettings.seeds,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Stop a run after this number of questions.")
    ] = SimulationSettings.questions,
    missing: Missing = SimulationSettings.missing,
    id_column: IdColumn = None,
    drop: Drop = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a table with a row per run here.")
    ] = None,
    raw: Raw = False,
    picture: Annotated[
        Path | None,
        typer.Option(help="Plot classes found against questions asked here (.png, .svg, .pdf)."),
    ] = None,
    memory_mb: MemoryMb = None,
    as_json: AsJson = False,
) -> None:
    """Count the questions each strategy needs, with the labels of DATA as answers.

    Every strategy asks about one row after another until each class has been found. The table shows
    the number of questions needed (median, fewest and most over the runs) and the area: the
    fraction of classes found, averaged over the first 200 questions.
    """
    from kernova.discover.strategies import STRATEGIES
    from kernova.files import check_ending
    from kernova.workflows.simulate import read_labelled_rows, simulate_strategies

    check_targets(output, None, picture, kept=[data])
    if picture is not None:
        check_ending(picture, (".png", ".svg", ".pdf"), "a picture")
    settings = SimulationSettings(
        strategies=STRATEGIES if strategies == "all" else tuple(split_names(strategies)),
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
    written = write_targets(
        {
            "output": table_target(output, result.lines(), raw=raw),
            "picture": Target(picture, lambda path: _save_picture(result, path)),
        }
    )
    print_result(result, written, as_json=as_json, show=lambda out: _show(out, result))


def _save_picture(result: "SimulationResult", path: Path) -> None:
    from kernova.report.figures import save_picture

    save_picture(result.figure(), path)


def _show(out: "EscapingConsole", result: "SimulationResult") -> None:
    out.print_lines(result.summary)
    out.print_notes(result.notes)
    out.print()
    out.print_table(result.overview(), "Questions until every class was found")
