"""``kernova notes check``: how well learnt notes are found, against an annotation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernova.cli.console import answering, console, print_json, print_table
from kernova.cli.note_bars import bars_by_file
from kernova.cli.note_options import (
    AnnotationFormat,
    ChannelToSearch,
    Columns,
    Labels,
    Model,
    Sources,
    Threshold,
    Tier,
    read_sources,
    set_channel,
    set_threshold,
    split_labels,
)
from kernova.cli.options import AsJson

if TYPE_CHECKING:
    import pandas as pd

    from kernova.studies.note_checking import CheckedFinder

EXAMPLE = (
    "\b\nExamples:\n"
    "  kernova notes check model.kernova song.wav song.selections.txt\n"
    "  kernova notes check model.kernova songs/annotations.csv --tolerance 0.01 -o checked"
)


@answering
def check(
    model: Model,
    sources: Sources,
    tolerance: Annotated[
        float, typer.Option(help="How far onsets may be apart, in seconds.")
    ] = 0.02,
    threshold: Threshold = None,
    labels: Labels = None,
    channel: ChannelToSearch = None,
    annotation_format: AnnotationFormat = None,
    column: Columns = None,
    tier: Tier = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for tables and pictures, made if need be."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find notes where it is known where they are, and count what is right and what is wrong.

    A found note is right if its onset is close to that of a true note of its class, one to one;
    windows are right or wrong on their own, every 2 ms. Labels that were never learnt count as
    none. The mean F over windows is over the classes and none, that over notes over the classes.
    """
    from kernova.cli.folders import made_folder
    from kernova.studies.note_checking import check_finder, save_check
    from kernova.studies.note_learning import known_labels, load_note_finder

    finder = load_note_finder(model)
    classes = known_labels(finder, split_labels(labels))
    set_threshold(finder, threshold)
    set_channel(finder, channel)
    lessons = read_sources(sources, annotation_format, column, tier, may_be_empty=True)
    folder = None if output is None else made_folder(output)
    with bars_by_file():
        checked = check_finder(finder, lessons, classes, tolerance=tolerance)
        written = [] if folder is None else save_check(checked, folder)
    if as_json:
        files = [str(path) for path in written]
        print_json({**checked.to_json_dict(), "files": files})
    else:
        _print(checked, written)


def _print(checked: "CheckedFinder", written: list[Path]) -> None:
    out = console()
    for sentence in checked.sentences:
        out.print(sentence, markup=False)
    out.print()
    tolerance = f"{1000 * checked.check.tolerance:.6g} ms"
    print_table(checked.check.notes, f"Note by note (onset within {tolerance})")
    print_table(checked.check.windows, "Window by window")
    print_table(
        _with_names(checked.check.confusion), "Notes: annotated (lines) and found (columns)"
    )
    out.print()
    for path in written:
        out.print(f"written: {path}", markup=False)
    if not written:
        out.print("Write tables and pictures with -o FOLDER.")


def _with_names(confusion: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    columns: dict[str, Any] = {"annotated": [str(name) for name in confusion.index]}
    for name in confusion.columns:
        columns[f"as {name}"] = confusion[name].tolist()
    return pd.DataFrame(columns)
