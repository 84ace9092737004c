"""``kernova outliers``: rows of one table that are unlike the others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli import options
from kernova.cli.console import finish_verdicts, progress_bars, reporting_errors
from kernova.workflows.detectors import ALL
from kernova.workflows.settings import OutlierKernel, OutlierSettings

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.tables.table import Table
    from kernova.workflows.agreement import MethodComparison
    from kernova.workflows.outliers import OutlierResult

EXAMPLE = options.examples(
    "kernova outliers wines.csv --id-column wine --top 10 -o outliers.csv --report page.html",
    "kernova outliers fish.tps --top 10",
)


@reporting_errors
def outliers(
    data: Annotated[Path, options.table_argument("DATA", "Table of rows", landmarks=True)],
    method: options.OutlierMethod = OutlierSettings.method,
    neighbors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K",
            help="Number of neighbours to compare each row with (auto: 80 and 320, fewer in small "
            "tables; lof: 20). With several, such as 10,20,40, the factor is the geometric mean.",
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
        OutlierKernel, typer.Option(help="Kernel for rkof.")
    ] = OutlierSettings.kernel,
    bandwidth: options.Bandwidth = str(OutlierSettings.bandwidth),
    max_false_alarm: Annotated[
        float | None,
        typer.Option(help="Set the threshold so that at most this fraction of rows is flagged."),
    ] = OutlierSettings.max_false_alarm,
    confidence: options.Confidence = OutlierSettings.confidence,
    contamination: Annotated[
        str,
        typer.Option(
            help="Call this fraction of the rows outliers, without a bound; auto: call none so."
        ),
    ] = str(OutlierSettings.contamination),
    scaling: options.Scaling = OutlierSettings.scaling,
    missing: options.Missing = OutlierSettings.missing,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
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
        int, typer.Option(min=0, help="Number of most unusual rows to print and explain.")
    ] = OutlierSettings.top,
    seed: options.SplittingSeed = OutlierSettings.seed,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Rank the rows of DATA by how unusual each is among the others, with reasons.

    Each row gets an outlier factor, high where it is unlike the others. The most unusual rows come
    first, with the features that contribute most to each factor. Rows are ranked, and called
    outliers only by a rule: with --contamination a fraction of them is; with --max-false-alarm,
    the threshold is set on rows that the detector has not seen, so that the bound is proven, and
    each row gets a p-value.
    """
    from kernova.workflows.landmarks.reading import HowDigitised
    from kernova.workflows.media.reading import HowCompared
    from kernova.workflows.outliers import find_outliers, read_rows

    options.check_targets(output, report, kept=[data])
    settings = OutlierSettings(
        method=method,
        n_neighbors="auto"
        if neighbors in (None, [], ["auto"])
        else _neighbor_numbers("--neighbors", neighbors),
        path=_neighbor_numbers("--path", path or []),
        kernel=kernel,
        bandwidth=options.number_or_name(bandwidth),
        scaling=scaling,
        missing=missing,
        contamination=options.number_or_name(contamination),
        max_false_alarm=max_false_alarm,
        confidence=confidence,
        top=top,
        seed=seed,
    )
    table = read_rows(
        data, id_column=id_column, label_column=label_column, drop=drop or (), keep=keep or (),
        missing=missing, raw_coordinates=raw_coordinates, size=size,
        digitised=HowDigitised(ids_from, negative, dimensions),
        compared=HowCompared(embeddings, rotation_invariant),
    )  # fmt: skip
    if method == ALL:
        _compare(table, settings, output, report, raw=raw, as_json=as_json)
        return
    with progress_bars():
        result = find_outliers(table, settings)
    finish_verdicts(
        result, output, report, _page, _show, as_json=as_json, table="outliers.csv", raw=raw
    )


def _compare(
    table: "Table",
    settings: OutlierSettings,
    output: Path | None,
    report: Path | None,
    *,
    raw: bool,
    as_json: bool,
) -> None:
    """Rank the rows by all methods, side by side."""
    from kernova.workflows.agreement import compare_methods
    from kernova.workflows.outliers_page import comparison_page

    with progress_bars():
        result = compare_methods(table, settings)
    finish_verdicts(
        result, output, report, comparison_page, _show_comparison, as_json=as_json,
        table="ranks.csv", raw=raw,
    )  # fmt: skip


def _neighbor_numbers(option: str, texts: list[str]) -> tuple[int, ...]:
    from kernova.errors import InputError, quoted

    numbers = [number for text in texts for number in text.split(",")]
    try:
        return tuple(int(number) for number in numbers)
    except ValueError:
        raise InputError(
            f"{option} takes whole numbers separated by commas, such as 10,20,40; "
            f"got {quoted(','.join(numbers))}."
        ) from None


def _page(result: "OutlierResult") -> str:
    from kernova.workflows.outliers_page import outliers_page

    return outliers_page(result)


def _show_comparison(out: "EscapingConsole", result: "MethodComparison") -> None:
    out.print_lines(result.summary, result.agreement.summary)
    out.print_notes(result.notes)
    if result.n_top:
        out.print()
        out.print_table(result.rows.head(result.n_top), "Ranks by each method")
        out.print()
        out.print_table(result.agreement.table(), "Correlation of the ranks over all rows")


def _show(out: "EscapingConsole", result: "OutlierResult") -> None:
    out.print_lines(result.summary)
    out.print_notes([result.worth, *result.notes])
    if result.n_top:
        out.print()
        out.print_table(result.rows.head(result.n_top), "Most outlying first")
