"""``kernova find-like``: the rest of a category, from one or a few of its rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli import options
from kernova.cli.console import finish_verdicts, progress_bars, reporting_errors
from kernova.workflows.settings import FindLikeSettings

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workflows.find_like.search import FindLikeResult

EXAMPLE = options.examples(
    "kernova find-like wines.csv --id-column wine --row wine017 --top 10 -o alike.csv",
    "kernova find-like fish.tps --row 12 --row 15 --not 40 --report page.html",
)


@reporting_errors
def find_like(
    data: Annotated[Path, options.table_argument("DATA", "Table of rows", landmarks=True)],
    row: Annotated[
        list[str],
        typer.Option(
            metavar="ID",
            help="Row to search from, by its id, or its number from 1 without an id column; may "
            "be repeated.",
        ),
    ],
    ruled_out: Annotated[
        list[str] | None,
        typer.Option(
            "--not",
            metavar="ID",
            help="Row that is known not to belong; may be repeated.",
        ),
    ] = None,
    missing: options.Missing = FindLikeSettings.missing,
    id_column: options.IdColumn = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    raw_coordinates: options.RawCoordinates = False,
    size: options.Size = False,
    ids_from: options.IdsFrom = "auto",
    negative: options.Negative = "values",
    dimensions: options.Dimensions = None,
    embeddings: options.Embeddings = None,
    rotation_invariant: options.RotationInvariant = False,
    output: options.Output = None,
    raw: options.Raw = False,
    report: options.Report = None,
    top: Annotated[
        int, typer.Option(min=0, help="Number of most alike rows to print and explain.")
    ] = FindLikeSettings.top,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Rank the rows of DATA by how likely they belong to the category of a given row.

    From one row of a rare category, or a few, all other rows are ranked, the most alike first.
    The rows before the cut are called alike: a guess at the rest of the category, to be looked
    at. Drop columns that name the category.
    """
    from kernova.workflows.find_like.search import find_like as find_rows
    from kernova.workflows.landmarks.reading import HowDigitised
    from kernova.workflows.media.reading import HowCompared
    from kernova.workflows.outliers import read_rows

    options.check_targets(output, report, kept=[data])
    table = read_rows(
        data, id_column=id_column, drop=drop or (), keep=keep or (), missing=missing,
        raw_coordinates=raw_coordinates, size=size,
        digitised=HowDigitised(ids_from, negative, dimensions),
        compared=HowCompared(embeddings, rotation_invariant),
    )  # fmt: skip
    with progress_bars():
        result = find_rows(table, row, ruled_out or (), FindLikeSettings(missing, top))
    finish_verdicts(
        result, output, report, _page, _show, as_json=as_json, table="alike.csv", raw=raw
    )


def _page(result: "FindLikeResult") -> str:
    from kernova.workflows.find_like.page import find_like_page

    return find_like_page(result)


def _show(out: "EscapingConsole", result: "FindLikeResult") -> None:
    out.print_lines(result.summary)
    out.print_notes([result.worth, *result.notes])
    if result.n_top:
        out.print()
        out.print_table(result.rows.head(result.n_top), "Most alike first")
