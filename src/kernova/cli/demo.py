"""``kernova demo``: the main jobs on data that comes with scikit-learn."""

from pathlib import Path
from typing import Annotated

import typer

from kernova.cli.console import answering, console, print_table, progress_bars

EXAMPLE = "\b\nExample:\n  kernova demo --folder demo"


@answering
def demo(
    folder: Annotated[
        Path, typer.Option(help="Where tables, pictures and the page go; made if need be.")
    ] = Path("demo"),
) -> None:
    """Show kernova at work on digits and wines; needs no data and under two minutes.

    Nine digits are known, the tenth is not. The new table mixes ordinary digits with the unknown
    one; kernova finds it, promises how rarely it cries wolf, and writes a page with pictures. Then
    it finds mistakes made in typing a table of wines, and says what is wrong with each. Last, it
    meets every digit of a table, rare ones too, by asking few questions.
    """
    from kernova.cli.console import made_folder
    from kernova.workflows.demo import run_demo

    target = made_folder(folder)
    out = console()
    with progress_bars():
        result = run_demo(target)
    for chapter in result.chapters:
        out.print(chapter.title, style="bold")
        for sentence in chapter.sentences:
            out.print(sentence, markup=False)
        print_table(chapter.table, chapter.table_title)
    out.print("\nWhat is there now", style="bold")
    for path in result.files:
        out.print(f"  {path}", markup=False)
    out.print("\nWhat to try next", style="bold")
    for command in result.next_commands:
        out.print(f"  {command}", markup=False)
