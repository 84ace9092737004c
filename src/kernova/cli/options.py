"""Options that several commands share, worded once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kernova.cli.console import MAX_SEED

Scaling = Annotated[
    Literal["standard", "minmax", "none"], typer.Option(help="How number columns are scaled.")
]
Missing = Annotated[
    Literal["refuse", "drop", "fill"],
    typer.Option(help="Missing values: refuse the file, drop such rows, or fill them in."),
]
IdColumn = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that names the rows.")]
LabelColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column kept out of the features and carried along."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column that is no feature; may be repeated."),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write every row's verdict here.")
]
Report = Annotated[
    Path | None, typer.Option(help="Write a page with pictures here (one HTML file).")
]
Confidence = Annotated[float, typer.Option(help="How sure that promise is to be, below 1.")]
Bandwidth = Annotated[
    str, typer.Option(help="Kernel width for depth: nearest, reach, median, or a number.")
]
SplittingSeed = Annotated[
    int, typer.Option(min=0, max=MAX_SEED, help="Decides which rows are held out.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def number_or_name(text: str) -> "str | float":
    """Read an option that takes a number or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def check_targets(
    output: Path | None, report: Path | None, *others: Path | None, kept: list[Path]
) -> None:
    """Refuse, before the work and not after it, files that can never be written."""
    from kernova.files import check_ending, ensure_distinct, ensure_writable
    from kernova.report.tables import check_table_path

    if output is not None:
        check_table_path(output)
    if report is not None:
        check_ending(report, (".html", ".htm"), "a page")
    wanted = [path for path in (output, report, *others) if path is not None]
    ensure_distinct(wanted, kept=kept)
    for path in wanted:
        ensure_writable(path)
