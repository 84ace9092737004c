"""``kernova demo``: the main commands on data that comes with scikit-learn."""

from pathlib import Path
from typing import Annotated

import typer

from kernova.cli.console import console, progress_bars, reporting_errors

EXAMPLE = "\b\nExample:\n  kernova demo --folder demo"


@reporting_errors
def demo(
    folder: Annotated[
        Path,
        typer.Option(help="Folder for tables, figures and reports; created if it does not exist."),
    ] = Path("demo"),
) -> None:
    """Run the main commands on handwritten digits and wines; takes under two minutes.

    Nine digits are known, the tenth is not. kernova novelty finds the unknown digit in a new
    table, bounds the rate of false alarms, and writes a report with figures. kernova outliers
    finds errors that were made in a table of wines, and reports which values are wrong. kernova
    discover finds every digit of a table, rare ones too, in few questions.
    """
    from kernova.files import made_folder
    from kernova.workflows.demo import run_demo

    target = made_folder(folder)
    with progress_bars():
        result = run_demo(target)
    out = console()
    for chapter in result.chapters:
        out.print(chapter.title, style="bold")
        out.print_lines(*chapter.sentences)
        out.print_table(chapter.table, chapter.table_title)
    out.print()
    out.print_section("Files written", map(str, result.files))
    out.print()
    out.print_section("Commands to try next", result.next_commands)
