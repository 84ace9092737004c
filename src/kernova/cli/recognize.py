"""``kernova learn`` and ``kernova recognize``: known classes, and the class of each new row."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernova.cli import options
from kernova.cli.console import (
    finish_verdicts,
    model_target,
    print_result,
    progress_bars,
    reporting_errors,
    write_targets,
)
from kernova.workflows.settings import (
    ClassWeight,
    LearnMethod,
    LearnSettings,
    Missing,
    RecognizeSettings,
    Scale,
)

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workflows.learn import LearnResult
    from kernova.workflows.recognize import RecognizeResult

LEARN_EXAMPLE = options.examples(
    "kernova learn labelled.csv --label-column species --id-column specimen -o model.kernova",
    "kernova learn fish.tps --labels species.csv --label-column species -o model.kernova",
)
RECOGNIZE_EXAMPLE = options.examples(
    "kernova recognize model.kernova new.csv --id-column specimen -o classes.csv "
    "--report page.html",
)


@reporting_errors
def learn(
    labelled: Annotated[
        Path,
        options.table_argument("LABELLED", "Table of rows with their classes", landmarks=True),
    ],
    output: options.ModelOutput,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that holds the classes. Rows without one only help to scale the columns.",
        ),
    ] = None,
    method: Annotated[
        LearnMethod,
        typer.Option(
            help="open-set: probabilities from pooled classifiers, and a rate of rejection for "
            "the table as a whole; mddkm: memberships, as published, and a threshold per class."
        ),
    ] = LearnSettings.method,
    reject: Annotated[
        float,
        typer.Option(
            help="Fraction of the rows of known classes that is called unknown: a larger one finds "
            "more rows of unknown classes. kernova recognize can change it."
        ),
    ] = LearnSettings.reject,
    per_class: Annotated[
        bool,
        typer.Option(
            "--per-class",
            help="Reject this fraction of the rows assigned to each class, not of all rows.",
        ),
    ] = LearnSettings.per_class,
    scale: Annotated[
        Scale,
        typer.Option(
            help="Scale each numeric column by its own spread, all by one spread (for similar "
            "columns such as pixels), or not."
        ),
    ] = LearnSettings.scale,
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(
            help="balanced: all classes are equally probable before a row is seen. By default a "
            "class is as probable as it is frequent in LABELLED."
        ),
    ] = LearnSettings.class_weight,
    max_rows_per_class: Annotated[
        str,
        typer.Option(
            metavar="AUTO|NUMBER",
            help="Largest number of rows of a class to learn from; auto keeps 20,000 rows in all, "
            "or 3 MB.",
        ),
    ] = str(LearnSettings.max_rows_per_class),
    robust: Annotated[
        bool,
        typer.Option(
            "--robust", help="Leave out rows that lie far from their class; scale by medians."
        ),
    ] = LearnSettings.robust,
    group_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column whose equal values mark rows that belong together, such as a specimen, "
            "recording or patient: they are held out together. It is not a feature.",
        ),
    ] = LearnSettings.group_column,
    missing: options.Missing = LearnSettings.missing,
    id_column: options.IdColumn = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    labels: options.SpecimenLabels = None,
    id_pattern: options.IdPattern = None,
    raw_coordinates: options.RawCoordinates = False,
    size: options.Size = False,
    ids_from: options.IdsFrom = "auto",
    negative: options.Negative = "values",
    dimensions: options.Dimensions = None,
    embeddings: options.Embeddings = None,
    rotation_invariant: options.RotationInvariant = False,
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=options.MAX_SEED, help="Random seed of the splits and of the classifiers."
        ),
    ] = LearnSettings.seed,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Train a model of the classes in LABELLED; it also detects rows that belong to no known class.

    kernova recognize assigns new rows to one of the classes or calls them unknown. No rows of
    unknown classes are needed. The model is tested: every row is judged by a model that was
    fitted without it, and every class is left out in turn, to see how many of its rows would be
    called unknown if nobody had known it.
    """
    from kernova.files import check_ending
    from kernova.workflows.landmarks.reading import HowDigitised
    from kernova.workflows.learn import learn_classes, read_labelled
    from kernova.workflows.media.reading import HowCompared

    check_ending(output, (".kernova",), "a model")
    options.check_targets(
        None, None, output, kept=[labelled, *([] if labels is None else [labels])]
    )
    settings = LearnSettings(
        method=method, reject=reject, per_class=per_class, scale=scale, class_weight=class_weight,
        max_rows_per_class=options.whole_number_or_name(max_rows_per_class), robust=robust,
        missing=missing, group_column=group_column, seed=seed,
    )  # fmt: skip
    table = read_labelled(
        labelled, label_column, id_column=id_column, group_column=group_column, drop=drop or (),
        keep=keep or (), missing=missing, labels=labels, id_pattern=id_pattern,
        raw_coordinates=raw_coordinates, size=size,
        digitised=HowDigitised(ids_from, negative, dimensions),
        compared=HowCompared(embeddings, rotation_invariant),
    )  # fmt: skip
    with progress_bars():
        result = learn_classes(table, settings)
    written = write_targets({"model": model_target(output, result.model)})
    print_result(result, written, as_json=as_json, show=lambda out: _show_classes(out, result))


def _show_classes(out: "EscapingConsole", result: "LearnResult") -> None:
    out.print_lines(*result.sentences)
    out.print_notes(result.notes)
    out.print()
    classes = result.classes
    if "threshold" in classes:  # thresholds are often within a thousandth of 1
        classes = classes.assign(threshold=classes["threshold"].map("{:.6f}".format))
    out.print_table(classes, "Class by class, each row judged without it")


@reporting_errors
def recognize(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model from kernova learn (.kernova).")
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW",
            help="Table of rows to judge, with the columns of the training table; landmarks if the "
            "model was trained on landmarks, pictures if it was trained on pictures; or a table of "
            "sounds if it was downloaded from the page of kernova discover for such data.",
        ),
    ],
    missing: Annotated[
        Missing | None,
        typer.Option(help="Treatment of missing values; by default as in training."),
    ] = None,
    id_column: options.IdColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of true classes, to compare verdicts with."),
    ] = None,
    drop: options.Drop = None,
    labels: options.SpecimenLabels = None,
    id_pattern: options.IdPattern = None,
    ids_from: options.IdsFrom = "auto",
    negative: options.Negative = "values",
    reject: Annotated[
        float | None,
        typer.Option(
            help="Fraction of the rows of known classes that is called unknown; by default as in "
            "training."
        ),
    ] = RecognizeSettings.reject,
    audio: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder of the recordings, if the model was trained on sounds."
        ),
    ] = None,
    embeddings: options.Embeddings = None,
    nearest: Annotated[
        int, typer.Option(min=1, help="Number of nearest training rows to list for each row.")
    ] = RecognizeSettings.n_nearest,
    output: options.Output = None,
    raw: options.Raw = False,
    report: options.Report = None,
    top: Annotated[
        int, typer.Option(min=0, help="Number of unknown rows to print, with reasons.")
    ] = RecognizeSettings.top,
    memory_mb: options.MemoryMb = None,
    as_json: options.AsJson = False,
) -> None:
    """Assign each row of NEW to one of the model's classes, or to none ("unknown").

    Each row gets a class or "unknown", the probability of every class, the probability that it
    belongs to none, a p-value, a ranking of the classes, what would change the verdict, and the
    nearest training rows. Unknown rows that lie together are numbered as groups. Columns that were
    no features in training are none here, and columns that the model does not know are ignored; its
    id and label columns are used if NEW has them.
    """
    from kernova.workflows.landmarks.reading import HowDigitised
    from kernova.workflows.media.reading import HowCompared
    from kernova.workflows.recognize import load_recognizer, read_new, recognize_rows

    options.check_targets(output, report, kept=[model, new, *([] if labels is None else [labels])])
    settings = RecognizeSettings(reject=reject, n_nearest=nearest, top=top)
    recognizer = load_recognizer(model)
    table = read_new(
        new, recognizer, id_column=id_column, label_column=label_column, drop=drop or (),
        missing=missing, audio=audio, labels=labels, id_pattern=id_pattern,
        digitised=HowDigitised(ids_from, negative), compared=HowCompared(embeddings),
    )  # fmt: skip
    with progress_bars():
        result = recognize_rows(recognizer, table, settings)
    finish_verdicts(
        result,
        output,
        report,
        _page,
        partial(_show, top=top),
        as_json=as_json,
        table="classes.csv",
        raw=raw,
    )


def _page(result: "RecognizeResult") -> str:
    from kernova.workflows.recognize_page import recognition_page

    return recognition_page(result)


def _show(out: "EscapingConsole", result: "RecognizeResult", top: int) -> None:
    out.print_notes(result.sentences)
    out.print()
    out.print_table(result.by_class, "Rows by class")
    if len(result.groups):
        out.print_table(result.groups, "Unknown rows that lie together")
    unknown = result.least_known_first.head(min(top, result.n_unknown))
    if len(unknown):
        out.print_table(result.shown(unknown), "Unknown rows, the farthest from all classes first")
