"""``kernova learn``: a model of the classes of a labelled table, for ``kernova recognize``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli import options
from kernova.cli.console import (
    model_target,
    print_result,
    progress_bars,
    reporting_errors,
    write_targets,
)
from kernova.workflows.settings import LearnSettings, Scale

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workflows.learn import LearnResult

EXAMPLE = options.examples(
    "kernova learn labelled.csv --label-column species --id-column specimen -o model.kernova",
)


@reporting_errors
def learn(
    labelled: Annotated[
        Path, options.table_argument("LABELLED", "Table of rows with their classes")
    ],
    output: options.ModelOutput,
    label_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that holds the classes.")
    ] = None,
    reject: Annotated[
        float, typer.Option(help="Fraction of its own rows that each class may reject.")
    ] = LearnSettings.reject,
    scale: Annotated[
        Scale,
        typer.Option(
            help="Scale each numeric column by its own spread, all by one spread (for similar "
            "columns such as pixels), or not."
        ),
    ] = LearnSettings.scale,
    max_rows_per_class: Annotated[
        int | None, typer.Option(min=1, help="Largest number of rows that describe a class.")
    ] = LearnSettings.max_rows_per_class,
    robust: Annotated[
        bool, typer.Option("--robust", help="Leave out rows that lie far from their class.")
    ] = LearnSettings.robust,
    missing: options.Missing = LearnSettings.missing,
    id_column: options.IdColumn = None,
    drop: options.Drop = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=options.MAX_SEED,
            help="Random seed of the sample of rows that the kernel width is fitted to.",
        ),
    ] = LearnSettings.seed,
    as_json: options.AsJson = False,
) -> None:
    """Train a model of the classes in LABELLED that also detects rows of no known class.

    All classes are described in one kernel space, so that kernova recognize can assign new rows
    to one of them or call them unknown. No rows of unknown classes are needed. Every class is
    tested on its own rows by leaving each out in turn.
    """
    from kernova.files import check_ending
    from kernova.workflows.learn import learn_classes, read_labelled

    check_ending(output, (".kernova",), "a model")
    options.check_targets(None, None, output, kept=[labelled])
    settings = LearnSettings(
        reject=reject, scale=scale, max_rows_per_class=max_rows_per_class, robust=robust,
        missing=missing, seed=seed,
    )  # fmt: skip
    table = read_labelled(
        labelled, label_column, id_column=id_column, drop=drop or (), missing=missing
    )
    with progress_bars():
        result = learn_classes(table, settings)
    written = write_targets({"model": model_target(output, result.model)})
    print_result(result, written, as_json=as_json, show=lambda out: _show(out, result))


def _show(out: "EscapingConsole", result: "LearnResult") -> None:
    out.print_lines(result.summary)
    out.print_notes(result.notes)
    out.print()
    # Thresholds are often within a thousandth of 1.
    classes = result.classes.assign(threshold=result.classes["threshold"].map("{:.6f}".format))
    out.print_table(classes, "Class by class, each row left out in turn")
