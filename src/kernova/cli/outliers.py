"""``kernova outliers``: the rows of one table that are unlike the others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kernova.cli.console import answering, console, print_json, print_table, progress_bars
from kernova.cli.options import (
    AsJson,
    Bandwidth,
    Confidence,
    Drop,
    IdColumn,
    LabelColumn,
    Missing,
    Output,
    Report,
    Scaling,
    SplittingSeed,
    check_targets,
    number_or_name,
)

if TYPE_CHECKING:
    from kernova.workflows.outliers import OutlierResult

EXAMPLE = (
    "\b\nExample:\n"
    "  kernova outliers wines.csv --id-column wine --top 10 -o outliers.csv --report page.html"
)

Method = Literal["rkof", "lof", "ldf", "lpf", "depth"]


@answering
def outliers(
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="Table of rows: CSV, TSV, Parquet, Arrow, NPY or NPZ."),
    ],
    method: Annotated[
        Method,
        typer.Option(help="What scores the rows; rkof is the robust kernel outlier factor."),
    ] = "rkof",
    neighbors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K",
            help="Neighbours to compare each row with (20); of several, such as 10,20,40, the "
            "factor is the geometric mean.",
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K",
            help="Show in the report how ranks change over these numbers of neighbours, such as "
            "5,10,20,40,80.",
        ),
    ] = None,
    kernel: Annotated[
        Literal["volcano", "gaussian", "epanechnikov"], typer.Option(help="Kernel for rkof.")
    ] = "volcano",
    bandwidth: Bandwidth = "nearest",
    max_false_alarm: Annotated[
        float | None,
        typer.Option(help="Set the threshold so that no larger share of such rows is flagged."),
    ] = None,
    confidence: Confidence = 0.95,
    contamination: Annotated[
        str,
        typer.Option(help="Or so that this share is; auto is the method's own convention."),
    ] = "auto",
    scaling: Scaling = "minmax",
    missing: Missing = "refuse",
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    output: Output = None,
    report: Report = None,
    top: Annotated[
        int, typer.Option(min=0, help="How many of the strangest rows to show and explain.")
    ] = 50,
    seed: SplittingSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Rank the rows of DATA by how strange each is among the others, and say why.

    Each row gets an outlier factor: about 1 inside a cluster, larger the sparser it is around a
    row than around its neighbours. The strangest rows come first, with the features that speak
    most against each. With --max-false-alarm, the threshold is proven on rows that the detector
    had not seen, and each row gets a p-value.
    """
    from kernova.workflows.outlier_verdicts import OutlierSettings
    from kernova.workflows.outliers import find_outliers, read_rows

    check_targets(output, report, kept=[data])
    settings = OutlierSettings(
        method=method,
        n_neighbors=_neighbor_numbers("--neighbors", neighbors or ["20"]),
        path=_neighbor_numbers("--path", path or []),
        kernel=kernel,
        bandwidth=number_or_name(bandwidth),
        scaling=scaling,
        missing=missing,
        contamination=number_or_name(contamination),
        max_false_alarm=max_false_alarm,
        confidence=confidence,
        top=top,
        seed=seed,
    )
    table = read_rows(
        data, id_column=id_column, label_column=label_column, drop=drop or (), missing=missing
    )
    with progress_bars():
        result = find_outliers(table, settings)
        _write(result, output, report)
    files = {"output": output, "report": report}
    written = {name: str(path) for name, path in files.items() if path is not None}
    if as_json:
        print_json({**result.to_json_dict(), "files": written})
    else:
        _print(result, written)


def _neighbor_numbers(option: str, texts: list[str]) -> tuple[int, ...]:
    from kernova.errors import InputError

    words = [word for text in texts for word in text.split(",")]
    try:
        return tuple(int(word) for word in words)
    except ValueError:
        raise InputError(
            f"{option} takes whole numbers with commas between them, such as 10,20,40; "
            f"got {','.join(words)!r}."
        ) from None


def _write(result: "OutlierResult", output: Path | None, report: Path | None) -> None:
    if output is not None:
        from kernova.tables.formats import save_table

        save_table(result.rows, output)
    if report is not None:
        from kernova.report.page import save_page
        from kernova.workflows.outliers_page import outliers_page

        save_page(outliers_page(result), report)


def _print(result: "OutlierResult", written: dict[str, str]) -> None:
    out = console()
    out.print(result.summary, markup=False)
    out.print(result.worth, markup=False)
    for note in result.notes:
        out.print(note, markup=False)
    if result.n_top:
        out.print()
        print_table(result.rows.head(result.n_top), "Strangest first")
    out.print()
    for name, path in written.items():
        out.print(f"{name}: {path}", markup=False)
    if not written:
        out.print("Write them all with -o outliers.csv; see them with --report report.html.")
