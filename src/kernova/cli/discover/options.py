"""Options of ``kernova discover`` for projects that grow."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Add = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE|DIR",
        help="Add the rows of this file to the project, and judge them; may be repeated.",
    ),
]
SameId = Annotated[
    Literal["error", "skip", "rename"] | None,
    typer.Option(
        help="With --add: rows whose id a row with other values has: report an error (default), "
        "leave them out, or add them under other ids. Rows with the same values are left out."
    ),
]
MissingColumns = Annotated[
    Literal["error", "fill"] | None,
    typer.Option(
        help="With --add: columns that the file lacks: report an error (default), or count their "
        "values as missing and fill them."
    ),
]
Moved = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        metavar="FILE|DIR",
        help="Place where a file of the project is now, or a folder with such files, if they were "
        "moved; may be repeated.",
    ),
]
BatchReport = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="With --add: write a page on the new rows here (HTML), and ask nobody.",
    ),
]
