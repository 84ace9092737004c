"""``kernova novelty``: the new rows that are unlike all known ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    from kernova.workflows.novelty import NoveltyResult

EXAMPLE = (
    "\b\nExample:\n"
    "  kernova novelty known.csv new.csv --id-column specimen -o verdicts.csv --report page.html"
)

Method = Literal["depth", "spatial-depth", "isolation-forest", "one-class-svm", "lof"]


@answering
def novelty(
    known: Annotated[
        Path,
        typer.Argument(
            metavar="KNOWN", help="Table of ordinary rows: CSV, TSV, Parquet, Arrow, NPY or NPZ."
        ),
    ],
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="Table of rows to judge, with the same columns.")
    ],
    method: Annotated[
        Method, typer.Option(help="What scores the rows; depth is kernelized spatial depth.")
    ] = "depth",
    bandwidth: Bandwidth = "nearest",
    max_false_alarm: Annotated[
        float, typer.Option(help="Largest share of ordinary rows that may be called novel.")
    ] = 0.05,
    confidence: Confidence = 0.95,
    bound: Annotated[
        Literal["binomial", "hoeffding"],
        typer.Option(help="How it is proven; binomial needs far fewer rows."),
    ] = "binomial",
    holdout: Annotated[
        float, typer.Option(help="Share of the known rows held out for the proof.")
    ] = 0.5,
    false_discovery_rate: Annotated[
        float | None,
        typer.Option(help="Also mark discoveries, of which at most this share is ordinary."),
    ] = None,
    scaling: Scaling = "standard",
    missing: Missing = "refuse",
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    output: Output = None,
    report: Report = None,
    save_model: Annotated[
        Path | None, typer.Option(help="Keep the fitted detector here (.kernova).")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the most novel rows to show.")] = 10,
    seed: SplittingSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Say which rows of NEW are unlike all rows of KNOWN, with a bound on false alarms.

    KNOWN holds ordinary rows. Half of them are held out to set a threshold, so that, with the
    confidence you ask for, no more ordinary rows than you allow are ever called novel. Each row
    of NEW gets a novelty (0 is the threshold, -1 is typical of known rows), a p-value and a
    verdict.
    """
    from kernova.workflows.novelty import NoveltySettings, find_novelties, read_known_and_new

    check_targets(output, report, save_model, kept=[known, new])
    settings = NoveltySettings(
        method=method,
        bandwidth=number_or_name(bandwidth),
        scaling=scaling,
        missing=missing,
        max_false_alarm=max_false_alarm,
        confidence=confidence,
        bound=bound,
        holdout=holdout,
        false_discovery_rate=false_discovery_rate,
        seed=seed,
    )
    tables = read_known_and_new(
        known, new, id_column=id_column, label_column=label_column, drop=drop or (), missing=missing
    )
    files = {"output": output, "report": report, "model": save_model}
    with progress_bars():
        result = find_novelties(*tables, settings)
        _write(result, **files)
    written = {name: str(path) for name, path in files.items() if path is not None}
    if as_json:
        print_json({**result.to_json_dict(), "files": written})
    else:
        _print(result, top, written)


def _write(
    result: "NoveltyResult", output: Path | None, report: Path | None, model: Path | None
) -> None:
    if output is not None:
        from kernova.tables.formats import save_table

        save_table(result.rows, output)
    if model is not None:
        from kernova.persist.models import save_model

        save_model(result.detector, model)
    if report is not None:
        from kernova.report.page import save_page
        from kernova.workflows.novelty_page import novelty_page

        save_page(novelty_page(result), report)


def _print(result: "NoveltyResult", top: int, written: dict[str, Any]) -> None:
    out = console()
    out.print(result.summary, markup=False)
    out.print(result.detector.guarantee(), markup=False)
    for note in result.notes:
        out.print(note, markup=False)
    if top:
        out.print()
        print_table(result.most_novel_first.head(top), "Most novel first")
    out.print()
    for name, path in written.items():
        out.print(f"{name}: {path}", markup=False)
    if not written:
        out.print("Write them all with -o verdicts.csv; see them with --report report.html.")
