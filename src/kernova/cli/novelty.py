"""``kernova novelty``: new rows that are unlike all known ones."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli import options
from kernova.cli.console import finish_verdicts, model_target, progress_bars, reporting_errors
from kernova.workflows.settings import Bound, Calibration, NoveltySettings

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workflows.novelty import NoveltyResult

EXAMPLE = options.examples(
    "kernova novelty known.csv new.csv --id-column specimen -o verdicts.csv --report page.html",
    "kernova novelty known.tps new.tps -o verdicts.csv",
)


@reporting_errors
def novelty(
    known: Annotated[
        Path, options.table_argument("KNOWN", "Table of ordinary rows", landmarks=True)
    ],
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="Table of rows to judge, with the same columns.")
    ],
    method: options.NoveltyMethod = NoveltySettings.method,
    bandwidth: options.Bandwidth = str(NoveltySettings.bandwidth),
    max_false_alarm: Annotated[
        float, typer.Option(help="Largest fraction of ordinary rows that may be called novel.")
    ] = NoveltySettings.max_false_alarm,
    confidence: options.Confidence = NoveltySettings.confidence,
    bound: Annotated[
        Bound, typer.Option(help="Statistical bound; binomial needs far fewer rows.")
    ] = NoveltySettings.bound,
    holdout: Annotated[
        str,
        typer.Option(
            metavar="AUTO|FRACTION",
            help="Fraction of the known rows held out to set the threshold; auto chooses by their "
            "number.",
        ),
    ] = str(NoveltySettings.holdout),
    calibration: Annotated[
        Calibration,
        typer.Option(
            help="Hold out rows once, or (cross) each row in one of several folds, whose detectors "
            "must agree."
        ),
    ] = NoveltySettings.calibration,
    n_folds: Annotated[
        str, typer.Option("--folds", metavar="AUTO|NUMBER", help="Number of folds of cross.")
    ] = str(NoveltySettings.n_folds),
    group_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of KNOWN whose rows belong together, such as a site; groups are held out "
            "whole, and the bound is about rows of new groups.",
        ),
    ] = NoveltySettings.group_column,
    false_discovery_rate: Annotated[
        float | None,
        typer.Option(
            help="Also mark discoveries, of which at most this fraction is ordinary on average."
        ),
    ] = NoveltySettings.false_discovery_rate,
    scaling: options.Scaling = NoveltySettings.scaling,
    missing: options.Missing = NoveltySettings.missing,
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
    new_embeddings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Vectors of the rows of NEW; by default --embeddings has them, too.",
        ),
    ] = None,
    rotation_invariant: options.RotationInvariant = False,
    output: options.Output = None,
    raw: options.Raw = False,
    report: options.Report = None,
    save_model: Annotated[
        Path | None, typer.Option(help="Save the fitted detector here (.kernova).")
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, help="Number of most novel rows to print and explain.")
    ] = NoveltySettings.top,
    seed: options.SplittingSeed = NoveltySettings.seed,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the rows of NEW that are unlike all rows of KNOWN, with a bound on false alarms.

    KNOWN holds ordinary rows. Some of them are held out to set a threshold such that, with the
    chosen confidence, at most the chosen fraction of ordinary rows is called novel. Each row of
    NEW gets a novelty score (0 is the threshold, -1 is typical of known rows), a p-value and a
    verdict; the most novel ones also get reasons, by comparison with ordinary rows of KNOWN.
    """
    from kernova.workflows.landmarks.reading import HowDigitised
    from kernova.workflows.media.reading import HowCompared
    from kernova.workflows.novelty import find_novelties, read_known_and_new

    options.check_targets(output, report, save_model, kept=[known, new])
    settings = NoveltySettings(
        method=method, bandwidth=options.number_or_name(bandwidth), scaling=scaling,
        missing=missing, max_false_alarm=max_false_alarm, confidence=confidence, bound=bound,
        holdout=options.number_or_name(holdout), calibration=calibration,
        n_folds=options.whole_number_or_name(n_folds), group_column=group_column,
        false_discovery_rate=false_discovery_rate, top=top, seed=seed,
    )  # fmt: skip
    tables = read_known_and_new(
        known, new, id_column=id_column, label_column=label_column, drop=drop or (),
        keep=keep or (), missing=missing, group_column=group_column,
        raw_coordinates=raw_coordinates, size=size,
        digitised=HowDigitised(ids_from, negative, dimensions),
        compared=HowCompared(embeddings, rotation_invariant), new_embeddings=new_embeddings,
    )  # fmt: skip
    with progress_bars():
        result = find_novelties(*tables, settings)
    finish_verdicts(
        result,
        output,
        report,
        _page,
        partial(_show, top=top),
        as_json=as_json,
        table="verdicts.csv",
        model=model_target(save_model, result.detector),
        raw=raw,
    )


def _page(result: "NoveltyResult") -> str:
    from kernova.workflows.novelty_page import novelty_page

    return novelty_page(result)


def _show(out: "EscapingConsole", result: "NoveltyResult", top: int) -> None:
    out.print_lines(result.summary, result.detector.guarantee())
    out.print_notes(result.notes)
    if top:
        out.print()
        out.print_table(result.most_novel_first.head(top), "Most novel first")
