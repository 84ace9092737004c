"""``kernova learn``: the classes of a labelled table, as a model to recognise them with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kernova.cli.console import MAX_SEED, answering, console, print_json, print_table, progress_bars
from kernova.cli.options import AsJson, Drop, IdColumn, Missing, check_targets

if TYPE_CHECKING:
    from kernova.workflows.learn import LearnResult

EXAMPLE = (
    "\b\nExample:\n"
    "  kernova learn labelled.csv --label-column species --id-column specimen -o model.kernova"
)


@answering
def learn(
    labelled: Annotated[
        Path,
        typer.Argument(
            metavar="LABELLED",
            help="Table of rows and their classes: CSV, TSV, Parquet, Arrow, NPY or NPZ.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Write the model here (.kernova).")
    ],
    label_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that holds the classes.")
    ] = None,
    reject: Annotated[
        float, typer.Option(help="Share of its own rows that each class may turn away.")
    ] = 0.05,
    scale: Annotated[
        Literal["feature", "common", "none"],
        typer.Option(
            help="Number columns: each by its own spread, all by one (pixels), or as they are."
        ),
    ] = "feature",
    max_rows_per_class: Annotated[
        int, typer.Option(min=1, help="Describe a class by at most so many rows.")
    ] = 1000,
    robust: Annotated[
        bool, typer.Option("--robust", help="Leave out rows that lie far from their class.")
    ] = False,
    missing: Missing = "refuse",
    id_column: IdColumn = None,
    drop: Drop = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Decides on which rows the width is fitted.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Learn what the classes of LABELLED look like, and how to tell rows of none of them.

    Each class is described in one space that all share, so that new rows can be recognised as one
    of them or, with kernova recognize, be called unknown. No row of an unknown class is needed
    here. Every class is tried on its own rows, each left out in turn.
    """
    from kernova.files import check_ending
    from kernova.persist.models import save_model
    from kernova.workflows.learn import LearnSettings, learn_classes, read_labelled

    check_ending(output, (".kernova",), "a model")
    check_targets(None, None, output, kept=[labelled])
    settings = LearnSettings(
        reject=reject,
        scale=scale,
        max_rows_per_class=max_rows_per_class,
        robust=robust,
        missing=missing,
        seed=seed,
    )
    table = read_labelled(
        labelled, label_column, id_column=id_column, drop=drop or (), missing=missing
    )
    with progress_bars():
        result = learn_classes(table, settings)
        save_model(result.model, output)
    if as_json:
        print_json({**result.to_json_dict(), "files": {"model": str(output)}})
    else:
        _print(result, output)


def _print(result: "LearnResult", output: Path) -> None:
    out = console()
    out.print(result.summary, markup=False)
    for note in result.notes:
        out.print(note, markup=False)
    out.print()
    # Thresholds are often within a thousandth of 1.
    classes = result.classes.assign(threshold=result.classes["threshold"].map("{:.6f}".format))
    print_table(classes, "Class by class, each row left out in turn")
    out.print()
    out.print(f"model: {output}", markup=False)
