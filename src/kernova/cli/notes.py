"""``kernova notes``: known notes in long recordings, learnt, found and checked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kernova.cli import notes_find, options
from kernova.cli.console import (
    console,
    model_target,
    print_json,
    print_result,
    progress_bars,
    reporting_errors,
    write_targets,
)

if TYPE_CHECKING:
    import pandas as pd

    from kernova.cli.terminal import EscapingConsole
    from kernova.notes.check import CheckedFinder
    from kernova.notes.training import LearntNotes

LEARN_EXAMPLE = options.examples(
    "kernova notes learn song.wav song.selections.txt -o model.kernova",
    "kernova notes learn monday.wav monday.TextGrid tuesday.wav tuesday.TextGrid -o model.kernova",
    "kernova notes learn index.csv --labels trill,whistle -o model.kernova",
)
CHECK_EXAMPLE = options.examples(
    "kernova notes check model.kernova song.wav song.selections.txt",
    "kernova notes check model.kernova songs/annotations.csv --tolerance 0.01 -o checked",
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help=(
        "Find every occurrence of known notes in recordings.\n\n"
        "Annotate a few examples of each note; kernova finds the others, and ignores every other "
        "sound."
    ),
    epilog="\b\nTry it on synthetic bird song:\n  kernova notes demo\n"
    "  kernova notes learn notes-demo/lesson.wav notes-demo/lesson.selections.txt "
    "-o notes.kernova\n"
    "  kernova notes find notes.kernova notes-demo/night -o found --plot",
)


@app.callback()
def _notes() -> None:
    pass


@app.command("learn", short_help="Learn notes from annotated examples.", epilog=LEARN_EXAMPLE)
@reporting_errors
def learn(
    sources: options.Sources,
    output: options.ModelOutput,
    labels: options.Labels = None,
    annotation_format: options.AnnotationFormat = None,
    column: options.Columns = None,
    tier: options.Tier = None,
    channel: options.ChannelToLearn = "mean",
    preset: Annotated[
        Literal["song", "paper"],
        typer.Option(help="Settings: song for real recordings, paper for those of the paper."),
    ] = "song",
    as_json: options.AsJson = False,
) -> None:
    """Learn notes from a few examples of each, for kernova notes find.

    SOURCES are recordings, each followed by its annotation: a Raven selection table, Audacity
    labels, a Praat TextGrid or CSV. Or a table of clips, or of notes in several recordings, with
    the columns file, label, start and end; its file names are relative to its folder.
    """
    from kernova.files import check_ending
    from kernova.notes.finder import NoteFinder
    from kernova.notes.training import learn_notes

    check_ending(output, (".kernova",), "a model")
    options.check_targets(None, None, output, kept=sources)
    finder = NoteFinder(preset=preset, channel=options.read_channel(channel))
    training = options.read_sources(
        sources, annotation_format, column, tier, options.split_labels(labels)
    )
    with progress_bars():
        learnt = learn_notes(training, finder)
    print_result(
        learnt,
        write_targets({"model": model_target(output, learnt.finder)}),
        as_json=as_json,
        show=lambda out: _show_learnt(out, learnt, training.remarks),
    )


def _show_learnt(out: "EscapingConsole", learnt: "LearntNotes", remarks: list[str]) -> None:
    out.print_lines(learnt.summary)
    out.print_notes(remarks)
    out.print()
    out.print_table(learnt.classes, "Class by class, durations in seconds")


app.command("find", short_help="Find learnt notes in recordings.", epilog=notes_find.EXAMPLE)(
    notes_find.find
)


@app.command("check", short_help="Compare detections with an annotation.", epilog=CHECK_EXAMPLE)
@reporting_errors
def check(
    model: options.Model,
    sources: options.Sources,
    tolerance: Annotated[
        float, typer.Option(help="Largest difference between matching onsets, in seconds.")
    ] = 0.02,
    threshold: options.Threshold = None,
    labels: options.Labels = None,
    channel: options.ChannelToSearch = None,
    annotation_format: options.AnnotationFormat = None,
    column: options.Columns = None,
    tier: options.Tier = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Folder for tables and figures; created if it does not exist."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Find notes in annotated recordings, and count correct and wrong detections.

    A detection is correct if its onset is close to that of an annotated note of its class, one to
    one; windows are compared separately, every 2 ms. Labels that the model does not know count as
    none. The mean F1 score over windows includes the class none; that over notes does not.
    """
    from kernova.files import made_folder
    from kernova.notes.check import check_finder, save_check
    from kernova.notes.training import known_labels, load_note_finder

    finder = load_note_finder(model)
    classes = known_labels(finder, options.split_labels(labels))
    options.configure_finder(finder, threshold, channel)
    annotated = options.read_sources(sources, annotation_format, column, tier, may_be_empty=True)
    folder = None if output is None else made_folder(output)
    with progress_bars():
        checked = check_finder(finder, annotated, classes, tolerance=tolerance)
        written = [] if folder is None else save_check(checked, folder)
    if as_json:
        print_json({**checked.to_json_dict(), "files": [str(path) for path in written]})
    else:
        _show_checked(console(), checked, written)


def _show_checked(out: "EscapingConsole", checked: "CheckedFinder", written: list[Path]) -> None:
    out.print_notes(checked.sentences)
    out.print()
    tolerance = f"{1000 * checked.check.tolerance:.6g} ms"
    out.print_table(checked.check.notes, f"Note by note (onset within {tolerance})")
    out.print_table(checked.check.windows, "Window by window")
    out.print_table(
        _with_labels(checked.check.confusion), "Notes: annotated (rows) and found (columns)"
    )
    out.print()
    out.print_lines(
        *(f"written: {path}" for path in written)
        if written
        else ("Write tables and figures with -o FOLDER.",)
    )


def _with_labels(confusion: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    columns: dict[str, Any] = {"annotated": [str(label) for label in confusion.index]}
    for label in confusion.columns:
        columns[f"as {label}"] = confusion[label].tolist()
    return pd.DataFrame(columns)


@app.command(
    "demo",
    short_help="Write synthetic bird song to try it on.",
    epilog=options.examples("kernova notes demo --folder notes-demo"),
)
@reporting_errors
def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder for the recordings; created if it does not exist.")
    ] = Path("notes-demo"),
) -> None:
    """Write synthetic recordings of three known birds and an unknown one.

    One recording is annotated, for learning the notes of the three birds; two others are for
    searching. Their own annotations are written, too, for comparison.
    """
    from kernova.files import made_folder
    from kernova.notes.demo import write_note_demo

    files = write_note_demo(made_folder(folder))
    out = console()
    out.print_section(
        "Files written", map(str, (files.training, files.annotations, files.night, *files.truth))
    )
    out.print()
    out.print_section(
        "Commands to try next",
        (
            f"kernova notes learn {files.training} {files.annotations} -o notes.kernova",
            f"kernova notes find notes.kernova {files.night} -o found --plot",
            f"kernova notes check notes.kernova {files.night / 'dusk.wav'} {files.truth[0]}",
        ),
    )
